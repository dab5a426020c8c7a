// SPDX-License-Identifier: Apache-2.0
// Parses and checks the header of a .safetensors file.
#include "graph/formats/tensor_file/safetensors_header.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/formats/json/json_tree.h"
#include "include/qdq/inspect.h"
#include "runtime/base/did_you_mean.h"
#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "runtime/base/utf8.h"

enum { SHOWN_BYTES = 80 };
#define MOST_EXACT 9007199254740991.0  // 2^53 - 1: a double is exact up to here

typedef qdq_safetensors_header header;
typedef qdq_safetensors_entry entry;

static const char *show(char out[SHOWN_BYTES], const char *text) {
    return qdq_utf8_show(out, SHOWN_BYTES, text, strlen(text));
}

//---- One tensor of the header ----

// Dtypes narrower than a byte are stored as whole bytes, and each has the word of a dtype of bytes.
static qdq_dtype dtype_of(const char *word) {
    if (word[0] == '\0') return QDQ_DTYPE_NONE;
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const qdq_dtype_info *row = qdq_dtype_get((qdq_dtype)d);
        if (row->bits >= 8 && strcmp(row->safetensors, word) == 0) return (qdq_dtype)d;
    }
    return QDQ_DTYPE_NONE;
}

static bool get_integer(const cJSON *item, uint64_t *out) {
    if (!cJSON_IsNumber(item)) return false;
    double value = item->valuedouble;
    if (!(value >= 0 && value <= MOST_EXACT)) return false;
    *out = (uint64_t)value;
    return (double)*out == value;
}

static const char *keep_string(header *h, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *kept = h->strings + h->strings_used;
    memcpy(kept, text, bytes);
    h->strings_used += bytes;
    return kept;
}

static qdq_status read_shape(const cJSON *shape, qdq_shape *out, uint64_t *count, qdq_error *err) {
    if (!cJSON_IsArray(shape))
        return qdq_fail(err, QDQ_ERR_PARSE, "shape is not an array, wanted an array of dims");
    const cJSON *item;
    cJSON_ArrayForEach(item, shape) {
        uint64_t dim;
        if (out->rank == QDQ_MAX_RANK)
            return qdq_fail(err, QDQ_ERR_PARSE, "shape has more than %d dims", QDQ_MAX_RANK);
        if (!get_integer(item, &dim))
            return qdq_fail(err, QDQ_ERR_PARSE, "dim %d of shape is no integer from 1 to 2^53 - 1",
                            out->rank);
        if (dim == 0)
            return qdq_fail(err, QDQ_ERR_PARSE, "dim %d of shape is 0, wanted at least 1",
                            out->rank);
        if (__builtin_mul_overflow(*count, dim, count) || *count > INT64_MAX)
            return qdq_fail(err, QDQ_ERR_PARSE, "shape has more than 2^63 elements");
        out->dims[out->rank++] = (int64_t)dim;
    }
    return QDQ_OK;
}

static qdq_status read_offsets(const cJSON *offsets, uint64_t data_bytes, entry *e,
                               qdq_error *err) {
    const cJSON *begin = offsets && cJSON_IsArray(offsets) ? offsets->child : NULL;
    const cJSON *end = begin ? begin->next : NULL;
    if (!end || end->next || !get_integer(begin, &e->begin) || !get_integer(end, &e->end))
        return qdq_fail(
            err, QDQ_ERR_PARSE,
            "data_offsets are not two integers from 0 to 2^53 - 1, wanted [begin, end]");
    if (e->begin > e->end)
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "data_offsets are [%" PRIu64 ", %" PRIu64 "], wanted begin <= end",
                        e->begin, e->end);
    if (e->end > data_bytes)
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "data_offsets are [%" PRIu64 ", %" PRIu64 "], but the file has %" PRIu64
                        " bytes of data",
                        e->begin, e->end, data_bytes);
    if (e->end - e->begin > SIZE_MAX)
        return qdq_fail(err, QDQ_ERR_UNSUPPORTED, "the tensor is larger than the address space");
    e->info.bytes = (size_t)(e->end - e->begin);
    return QDQ_OK;
}

static qdq_status check_bytes(const entry *e, uint64_t count, qdq_error *err) {
    uint64_t bytes;
    if (e->info.dtype == QDQ_DTYPE_NONE) return QDQ_OK;
    if (__builtin_mul_overflow(count, (uint64_t)qdq_dtype_size(e->info.dtype), &bytes))
        return qdq_fail(err, QDQ_ERR_PARSE, "shape has more than 2^63 bytes");
    if (bytes != e->info.bytes)
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "data_offsets span %zu bytes, but %" PRIu64 " elements of %s take %" PRIu64,
                        e->info.bytes, count, e->dtype, bytes);
    return QDQ_OK;
}

enum { DTYPE, SHAPE, OFFSETS, KEY_COUNT };
static const char *const keys[KEY_COUNT] = {"dtype", "shape", "data_offsets"};

static qdq_status find_members(const cJSON *tensor, const cJSON *found[KEY_COUNT], qdq_error *err) {
    const cJSON *item;
    if (!cJSON_IsObject(tensor))
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "the tensor is not an object, wanted dtype, shape and data_offsets");
    cJSON_ArrayForEach(item, tensor) {
        int key = 0;
        while (key < KEY_COUNT && strcmp(item->string, keys[key]) != 0) key++;
        if (key < KEY_COUNT) {
            found[key] = item;
            continue;
        }
        char shown[SHOWN_BYTES];
        const char *near = qdq_did_you_mean(item->string, keys, KEY_COUNT);
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "unknown key '%s', wanted dtype, shape and data_offsets%s%s%s",
                        show(shown, item->string), near ? "; did you mean '" : "", near ? near : "",
                        near ? "'?" : "");
    }
    for (int key = 0; key < KEY_COUNT; key++)
        if (!found[key]) return qdq_fail(err, QDQ_ERR_PARSE, "key '%s' is missing", keys[key]);
    return QDQ_OK;
}

static qdq_status read_tensor(header *h, const cJSON *tensor, entry *e, qdq_error *err) {
    const cJSON *found[KEY_COUNT] = {NULL};
    uint64_t count = 1;
    QDQ_TRY(find_members(tensor, found, err));
    const char *dtype = cJSON_GetStringValue(found[DTYPE]);
    if (!dtype)
        return qdq_fail(err, QDQ_ERR_PARSE, "dtype is not a string, wanted one such as \"F32\"");
    e->dtype = keep_string(h, dtype);
    e->info.dtype = dtype_of(e->dtype);
    QDQ_TRY(read_shape(found[SHAPE], &e->info.shape, &count, err));
    QDQ_TRY(read_offsets(found[OFFSETS], h->data_bytes, e, err));
    return check_bytes(e, count, err);
}

//---- The whole header ----

static qdq_status check_metadata(const cJSON *metadata, qdq_error *err) {
    const cJSON *item;
    if (!cJSON_IsObject(metadata))
        return qdq_fail(err, QDQ_ERR_PARSE, "__metadata__ is not an object, wanted one of strings");
    cJSON_ArrayForEach(item, metadata) {
        char shown[SHOWN_BYTES];
        if (!cJSON_IsString(item))
            return qdq_fail(err, QDQ_ERR_PARSE, "__metadata__: '%s' is not a string",
                            show(shown, item->string));
    }
    return QDQ_OK;
}

static qdq_status read_entries(header *h, const cJSON *root, qdq_error *err) {
    const cJSON *item;
    cJSON_ArrayForEach(item, root) {
        if (strcmp(item->string, "__metadata__") == 0) {
            QDQ_TRY(check_metadata(item, err));
            continue;
        }
        entry *e = &h->entries[h->count];
        *e = (entry){.info.name = keep_string(h, item->string)};
        qdq_error own = {0};
        qdq_status status = read_tensor(h, item, e, &own);
        char shown[SHOWN_BYTES];
        if (status != QDQ_OK)
            return qdq_fail(err, status, "tensor '%s': %s", show(shown, item->string), own.text);
        QDQ_TRY(
            qdq_symbols_add(h->names, e->info.name, strlen(e->info.name), (uint32_t)h->count, err));
        h->count++;
    }
    return QDQ_OK;
}

typedef struct span {
    uint64_t begin, end;
    const char *name;
} span;

static int compare_spans(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

// Checks that every byte of the data belongs to exactly one tensor. `spans` has room for all
// tensors.
static qdq_status check_tiling(const header *h, span *spans, qdq_error *err) {
    uint64_t at = 0;
    for (size_t i = 0; i < h->count; i++)
        spans[i] = (span){h->entries[i].begin, h->entries[i].end, h->entries[i].info.name};
    qsort(spans, h->count, sizeof *spans, compare_spans);
    for (size_t i = 0; i < h->count && spans[i].begin <= at; i++) {
        char shown[SHOWN_BYTES];
        if (spans[i].begin < at)
            return qdq_fail(err, QDQ_ERR_PARSE,
                            "tensor '%s' begins at byte %" PRIu64
                            " of the data, where another reaches to byte %" PRIu64,
                            show(shown, spans[i].name), spans[i].begin, at);
        at = spans[i].end;
    }
    if (at == h->data_bytes) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_PARSE,
                    "byte %" PRIu64 " of the %" PRIu64 " bytes of data belongs to no tensor", at,
                    h->data_bytes);
}

static qdq_status read_root(header *h, const cJSON *root, qdq_error *err) {
    size_t most = (size_t)cJSON_GetArraySize(root) + 1;  // at least 1
    h->entries = qdq_alloc_array(h->allocator, most, sizeof *h->entries, _Alignof(entry));
    if (!h->entries) return qdq_fail_memory(err, most * sizeof *h->entries);
    h->capacity = most;
    QDQ_TRY(read_entries(h, root, err));
    span *spans = qdq_alloc_array(h->allocator, most, sizeof *spans, _Alignof(span));
    if (!spans) return qdq_fail_memory(err, most * sizeof *spans);
    qdq_status status = check_tiling(h, spans, err);
    qdq_free_array(h->allocator, spans, most, sizeof *spans);
    return status;
}

qdq_status qdq_safetensors_header_read(header *out, const char *text, size_t length,
                                       uint64_t data_bytes, const qdq_allocator *allocator,
                                       qdq_error *err) {
    *out = (header){.allocator = qdq_allocator_or_default(allocator), .data_bytes = data_bytes};
    if (text[0] != '{')
        return qdq_fail(err, QDQ_ERR_PARSE, "the header begins with byte 0x%02X, wanted '{'",
                        (unsigned)(unsigned char)text[0]);
    out->names = qdq_symbols_create(out->allocator, err);
    if (!out->names) return QDQ_ERR_MEMORY;
    // A string without quotes, with its NUL, is never longer than in the text.
    out->strings = qdq_alloc_array(out->allocator, length, 1, 1);
    if (!out->strings) return qdq_fail_memory(err, length);
    out->strings_bytes = length;
    qdq_error own = {0};
    cJSON *root =
        qdq_json_tree_parse(text, length, out->allocator, QDQ_SAFETENSORS_MAX_VALUES, &own);
    if (!root) return qdq_fail(err, own.status, "%s", own.text);
    qdq_status status = read_root(out, root, err);
    qdq_json_tree_free(root);
    return status;
}

void qdq_safetensors_header_release(header *h) {
    qdq_symbols_destroy(h->names);
    qdq_free_array(h->allocator, h->entries, h->capacity, sizeof *h->entries);
    qdq_free_array(h->allocator, h->strings, h->strings_bytes, 1);
}

void qdq_safetensors_list_dtypes(char *out, size_t capacity) {
    size_t used = 0;
    out[0] = '\0';
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        const char *word = qdq_dtype_get((qdq_dtype)d)->safetensors;
        if (dtype_of(word) != (qdq_dtype)d) continue;
        int count = snprintf(out + used, capacity - used, "%s%s", used ? ", " : "", word);
        if (count < 0 || (size_t)count >= capacity - used) return;
        used += (size_t)count;
    }
}
