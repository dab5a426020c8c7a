// SPDX-License-Identifier: Apache-2.0
// Writes and reads states. A file has the tensors that every state has, the columns of the kind's
// tables, and a hash of all of these.
#include "tools/lab/dataset/state_file.h"

#include <inttypes.h>
#include <qdq/fingerprint.h>
#include <qdq/tensor_file.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/file_kind.h"
#include "tools/io/zip/byte_source.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/dataset/kinds.h"

// Order of the numbers in the tensor "numbers".
enum { NUMBER_VERSION, NUMBER_SAMPLES, NUMBER_TAKEN, NUMBER_NEXT, NUMBER_SHARDS, NUMBERS };

enum { MOST_TENSORS = 12 + MOST_TABLES * MOST_COLUMNS, TEXT_BYTES = 1 << 28 };

// The tensors of a file. Empty tensors are not written.
typedef struct tensor_list {
    qdq_tensor items[MOST_TENSORS];
    size_t count;
    char *packed[MOST_TENSORS];  // packed lists of texts; owned
    size_t packed_count;
    bool complete;  // false: memory ran out
} tensor_list;

static void put(tensor_list *list, const char *name, qdq_dtype dtype, qdq_shape shape,
                const void *data) {
    if (qdq_shape_count(shape)) list->items[list->count++] = (qdq_tensor){name, dtype, shape, data};
}

static void put_vector(tensor_list *list, const char *name, qdq_dtype dtype, size_t count,
                       const void *data) {
    put(list, name, dtype, QDQ_SHAPE((int64_t)count), data);
}

static void put_texts(tensor_list *list, const char *name, const text_list *texts) {
    size_t bytes;
    char *packed = text_list_pack(texts, &bytes);
    if (!packed) list->complete = false;
    if (!packed) return;
    list->packed[list->packed_count++] = packed;
    put_vector(list, name, QDQ_UINT8, bytes, packed);
}

static void put_table(tensor_list *list, const state_table *t) {
    for (size_t c = 0; c < t->kind->column_count; c++) {
        const state_column *column = &t->kind->columns[c];
        if (column->dtype == QDQ_UINT8)
            put_texts(list, column->name, &t->texts[c]);
        else
            put(list, column->name, column->dtype,
                QDQ_SHAPE((int64_t)t->rows, (int64_t)column->width), t->numbers[c]);
    }
}

// Lists all tensors except the hash.
static void list_tensors(const state *s, const int64_t *numbers, tensor_list *list) {
    *list = (tensor_list){.complete = true};
    put_vector(list, "numbers", QDQ_INT64, NUMBERS, numbers);
    put_vector(list, "kind", QDQ_UINT8, strlen(s->kind->command), s->kind->command);
    put_texts(list, "fingerprints", &s->fingerprints);
    put_texts(list, "targets", &s->targets);
    put_texts(list, "refused", &s->refused);
    put_vector(list, "listing", QDQ_UINT8, sizeof s->listing, s->listing);
    put_vector(list, "samples", QDQ_UINT8, sizeof s->samples, s->samples);
    put_vector(list, "shards", QDQ_INT64, s->shards_held, s->shards);
    put_texts(list, "unreadable", &s->unreadable);
    for (size_t i = 0; i < s->kind->table_count; i++) put_table(list, &s->tables[i]);
}

static void release_tensors(tensor_list *list) {
    for (size_t i = 0; i < list->packed_count; i++) free(list->packed[i]);
}

static void hash_tensors(const tensor_list *list, unsigned char out[QDQ_SHA256_BYTES]) {
    qdq_sha256 hash;
    qdq_sha256_begin(&hash);
    for (size_t i = 0; i < list->count; i++) {
        const qdq_tensor *t = &list->items[i];
        qdq_sha256_add(&hash, t->name, strlen(t->name) + 1);
        qdq_sha256_add(&hash, t->data, qdq_shape_count(t->shape) * qdq_dtype_size(t->dtype));
    }
    qdq_sha256_end(&hash, out);
}

qdq_status state_write(const state *s, const char *path, qdq_error *err) {
    int64_t numbers[NUMBERS] = {STATE_VERSION, s->sample_count, s->taken, s->next, s->shard_count};
    unsigned char hash[QDQ_SHA256_BYTES];
    tensor_list list;
    list_tensors(s, numbers, &list);
    qdq_status status = QDQ_ERR_MEMORY;
    if (list.complete) {
        hash_tensors(&list, hash);
        put_vector(&list, "sha256", QDQ_UINT8, sizeof hash, hash);
        status = qdq_tensor_file_write(path, list.items, list.count, NULL, err);
    } else {
        (void)source_fail(err, status, "%.500s: no memory to write it", path);
    }
    release_tensors(&list);
    return status;
}

//---- Reading ----------------------------------------------------------------

typedef struct reader {
    qdq_tensor_file *file;
    qdq_error *err;
} reader;

static bool is_wrong(const reader *r, const char *tensor) {
    if (r->err->status != QDQ_ERR_MEMORY)
        (void)source_fail(r->err, QDQ_ERR_PARSE,
                          "is no state, or a damaged one: tensor '%s' is missing or wrong", tensor);
    return false;
}

static bool no_memory(const reader *r, size_t bytes) {
    (void)source_fail(r->err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", bytes);
    return false;
}

// Reads a tensor of `count` elements (0: of any number up to TEXT_BYTES) and a NUL behind it into
// memory from malloc. Sets *found to their number.
static void *read_tensor(const reader *r, const char *name, qdq_dtype dtype, size_t count,
                         size_t *found) {
    const qdq_tensor_info *info = qdq_tensor_file_find(r->file, name);
    size_t has = info ? qdq_shape_count(info->shape) : 0;
    if (found) *found = has;
    if (!info || info->dtype != dtype || (count ? has != count : has > TEXT_BYTES)) {
        is_wrong(r, name);
        return NULL;
    }
    char *data = malloc(info->bytes + 1);
    if (!data) no_memory(r, info->bytes);
    if (!data) return NULL;
    data[info->bytes] = '\0';
    if (qdq_tensor_file_read(r->file, info, data, r->err) == QDQ_OK) return data;
    free(data);
    return NULL;
}

static bool read_into(const reader *r, const char *name, qdq_dtype dtype, void *out, size_t count) {
    void *data = read_tensor(r, name, dtype, count, NULL);
    if (data) memcpy(out, data, count * qdq_dtype_size(dtype));
    free(data);
    return data != NULL;
}

// Reads a list of texts. A missing tensor is an empty list.
static bool read_texts(const reader *r, const char *name, text_list *out) {
    size_t bytes;
    if (!qdq_tensor_file_find(r->file, name)) return true;
    char *packed = read_tensor(r, name, QDQ_UINT8, 0, &bytes);
    if (!packed) return false;
    bool whole = bytes > 0 && packed[bytes - 1] == '\0';
    bool done =
        whole ? text_list_unpack(out, packed, bytes) || no_memory(r, bytes) : is_wrong(r, name);
    free(packed);
    return done;
}

static bool read_kind(const reader *r, state *s) {
    size_t bytes;
    char *name = read_tensor(r, "kind", QDQ_UINT8, 0, &bytes);
    const state_kind *kind = name ? state_kind_find(name) : NULL;
    free(name);
    if (kind) state_open(s, kind);
    return kind || is_wrong(r, "kind");
}

static bool read_numbers(const reader *r, state *s) {
    int64_t numbers[NUMBERS];
    if (!read_into(r, "numbers", QDQ_INT64, numbers, NUMBERS)) return false;
    if (numbers[NUMBER_VERSION] != STATE_VERSION) {
        (void)source_fail(r->err, QDQ_ERR_UNSUPPORTED,
                          "is a state of version %" PRId64
                          ", wanted %d: write it again with this qdq",
                          numbers[NUMBER_VERSION], (int)STATE_VERSION);
        return false;
    }
    if (!read_kind(r, s)) return false;
    s->sample_count = numbers[NUMBER_SAMPLES];
    s->taken = numbers[NUMBER_TAKEN];
    s->next = numbers[NUMBER_NEXT];
    s->shard_count = numbers[NUMBER_SHARDS];
    bool good = s->sample_count >= 0 && s->taken >= 0 &&
                (!s->sample_count || s->taken <= s->sample_count) && s->next >= COMPLETE &&
                s->next <= s->sample_count && s->shard_count >= 1 && s->shard_count <= MOST_SHARDS;
    return good || is_wrong(r, "numbers");
}

static bool read_shards(const reader *r, state *s) {
    s->shards = read_tensor(r, "shards", QDQ_INT64, 0, &s->shards_held);
    if (!s->shards) return false;
    for (size_t i = 0; i < s->shards_held; i++)
        if (s->shards[i] < 1 || s->shards[i] > s->shard_count ||
            (i > 0 && s->shards[i] <= s->shards[i - 1]))
            return is_wrong(r, "shards");
    return true;
}

// Checks the rows of a growing table: they name rows of the first table, and are in order.
static bool check_rows(const reader *r, const state *s, const state_table *t) {
    const char *name = t->kind->columns[1].name;
    for (size_t row = 0; t->kind->grows && row < t->rows; row++) {
        int64_t number = *state_ints(t, 1, row);
        if (number < 0 || (size_t)number >= s->tables[0].rows) return is_wrong(r, name);
        if (row == 0) continue;
        int64_t before = *state_ints(t, 1, row - 1);
        int order = strcmp(state_text(t, 0, row - 1), state_text(t, 0, row));
        if (before > number || (before == number && order >= 0)) return is_wrong(r, name);
    }
    return true;
}

static bool read_column(const reader *r, state_table *t, size_t c) {
    const state_column *column = &t->kind->columns[c];
    if (column->dtype == QDQ_UINT8) {
        if (!read_texts(r, column->name, &t->texts[c])) return false;
        if (c == 0) t->rows = t->capacity = t->texts[c].count;
        return t->texts[c].count == t->rows || is_wrong(r, column->name);
    }
    if (t->rows == 0) return true;
    t->numbers[c] = read_tensor(r, column->name, column->dtype, column->width * t->rows, NULL);
    for (size_t row = 0; t->numbers[c] && column->digits && row < t->rows; row++)
        if (!exact_is_carried(state_ints(t, c, row), column->width))
            return is_wrong(r, column->name);
    return t->numbers[c] != NULL;
}

static bool read_tables(const reader *r, state *s) {
    for (size_t i = 0; i < s->kind->table_count; i++) {
        for (size_t c = 0; c < s->kind->tables[i].column_count; c++)
            if (!read_column(r, &s->tables[i], c)) return false;
        if (!check_rows(r, s, &s->tables[i])) return false;
    }
    return s->tables[0].rows || is_wrong(r, s->kind->tables[0].columns[0].name);
}

static bool check_hash(const reader *r, const state *s) {
    int64_t numbers[NUMBERS] = {STATE_VERSION, s->sample_count, s->taken, s->next, s->shard_count};
    unsigned char hash[QDQ_SHA256_BYTES], stored[QDQ_SHA256_BYTES];
    tensor_list list;
    if (!read_into(r, "sha256", QDQ_UINT8, stored, sizeof stored)) return false;
    list_tensors(s, numbers, &list);
    if (list.complete) hash_tensors(&list, hash);
    release_tensors(&list);
    if (!list.complete) return no_memory(r, 0);
    return memcmp(hash, stored, sizeof hash) == 0 || is_wrong(r, "sha256");
}

static bool check_fingerprints(const reader *r, const state *s) {
    for (size_t i = 0; i < s->fingerprints.count; i++) {
        const char *text = s->fingerprints.items[i];
        if (strlen(text) != QDQ_FINGERPRINT_TEXT - 1 || !strchr(text, '-'))
            return is_wrong(r, "fingerprints");
    }
    bool named = s->targets.count > 0 && s->fingerprints.count == s->targets.count;
    return named || is_wrong(r, "targets");
}

static bool read_all(const reader *r, state *s) {
    return read_numbers(r, s) && read_texts(r, "fingerprints", &s->fingerprints) &&
           read_texts(r, "targets", &s->targets) && read_texts(r, "refused", &s->refused) &&
           read_into(r, "listing", QDQ_UINT8, s->listing, sizeof s->listing) &&
           read_into(r, "samples", QDQ_UINT8, s->samples, sizeof s->samples) && read_shards(r, s) &&
           read_texts(r, "unreadable", &s->unreadable) && read_tables(r, s) && check_hash(r, s) &&
           check_fingerprints(r, s);
}

qdq_status state_read(state *out, const char *path, qdq_error *err) {
    qdq_error own = {0};
    *out = (state){0};
    if (is_no_state_file(path, err)) return err->status;
    reader r = {qdq_tensor_file_open(path, NULL, err), &own};
    if (!r.file) return err->status;
    bool good = read_all(&r, out);
    qdq_tensor_file_close(r.file);
    if (good) return QDQ_OK;
    state_release(out);
    return source_fail(err, own.status, "%.500s: %.500s", path, own.text);
}
