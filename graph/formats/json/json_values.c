// SPDX-License-Identifier: Apache-2.0
// Reads the inputs and constants of a qdq/1 file: types, inline elements, and tensors of other
// files.
#include "graph/formats/json/json_values.h"

#include <math.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/formats/json/json_attrs.h"
#include "graph/formats/json/json_base64.h"
#include "graph/formats/json/json_memory_read.h"
#include "graph/formats/tensor_file/safetensors.h"
#include "runtime/numerics/dtype.h"

//---- Declarations -----------------------------------------------------------

typedef struct declaration {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_given_layout memory;
} declaration;

static qdq_status read_declaration(const qdq_reader *r, const qdq_item *at, const char *kind,
                                   declaration *out) {
    const char *dtype;
    QDQ_TRY(qdq_item_string(r, at, "name", &out->name));
    QDQ_TRY(qdq_item_string(r, at, "dtype", &dtype));
    QDQ_TRY(qdq_item_shape(r, at, "shape", &out->shape));
    QDQ_TRY(qdq_json_read_memory(r, at, (qdq_subject){out->name, NULL, NULL, kind}, &out->memory));
    out->dtype =
        qdq_json_read_dtype(r->graph, dtype, (qdq_subject){out->name, NULL, "dtype", kind});
    return QDQ_OK;
}

// Replaces the shape of an input by the shape that the options give.
static void take_given_shape(const qdq_reader *r, declaration *input) {
    const qdq_graph_options *options = r->options;
    for (size_t i = 0; options && i < options->shape_count; i++)
        if (!options->shapes[i].tentative && strcmp(options->shapes[i].name, input->name) == 0)
            input->shape = options->shapes[i].shape;
}

qdq_status qdq_json_read_input(qdq_reader *r, const qdq_item *at) {
    static const char *const keys[] = {"name", "dtype", "shape", QDQ_JSON_MEMORY_KEYS, NULL};
    declaration d;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, "input", &d));
    take_given_shape(r, &d);
    if (d.dtype == QDQ_DTYPE_NONE)
        (void)qdq_graph_add_invalid(r->graph, d.name);
    else
        qdq_json_give_memory(r->graph, qdq_input(r->graph, d.name, d.dtype, d.shape), &d.memory);
    return QDQ_OK;
}

//---- Elements ---------------------------------------------------------------

static void bad_data(const qdq_reader *r, const declaration *d, const char *found,
                     const char *wanted) {
    qdq_graph_report_core(r->graph, QDQ_RULE_CONSTANT_DATA,
                          (qdq_subject){d->name, NULL, "data", "constant"}, found, wanted);
}

// Stores an integer of 64 bits, or a uint32, exactly; a double would not hold all of them.
static bool store_wide(const qdq_reader *r, const declaration *d, const qdq_json_item *json,
                       size_t i, char *out) {
    const qdq_dtype_info *info = qdq_dtype_get(d->dtype);
    qdq_findings *f = &r->graph->findings;
    int64_t wide = 0;
    uint64_t bits = 0;
    bool whole =
        d->dtype == QDQ_UINT64 ? qdq_json_uint64(json, &bits) : qdq_json_int64(json, &wide);
    if (d->dtype != QDQ_UINT64) {
        whole = whole && wide >= info->least && wide <= info->greatest;
        bits = (uint64_t)wide;
    }
    if (whole)
        qdq_encode_wide(d->dtype, &bits, out, 1);
    else
        bad_data(r, d, qdq_text(f, "has no such number at index %zu", i),
                 d->dtype == QDQ_INT64 ? "whole numbers of at most 64 bits"
                                       : qdq_text(f, "whole numbers that %s can hold", info->name));
    return whole;
}

// Stores one number of a constant. False after a finding if the dtype cannot hold it.
static bool store_number(const qdq_reader *r, const declaration *d, const qdq_json_item *json,
                         size_t i, char *out) {
    const qdq_dtype_info *info = qdq_dtype_get(d->dtype);
    qdq_findings *f = &r->graph->findings;
    double number;
    if (!qdq_json_any_number(json, &number)) {
        bad_data(r, d, qdq_text(f, "has %s at index %zu", qdq_json_kind_text(json), i), "a number");
        return false;
    }
    if (info->kind == QDQ_KIND_WIDE_INT) return store_wide(r, d, json, i, out);
    if (info->kind == QDQ_KIND_WIDE_FLOAT) {
        qdq_encode_wide(d->dtype, &number, out, 1);
        return true;
    }
    if (qdq_dtype_is_real(d->dtype)) {
        float real = (float)number, stored;
        static const qdq_numerics overflow = {.float_overflow = QDQ_FLOAT_OVERFLOW};
        qdq_encode_float(d->dtype, &real, out, 1, &overflow);
        qdq_decode_float(d->dtype, out, &stored, 1);
        bool held = isnan(number)   ? isnan(stored)
                    : isinf(number) ? isinf(stored)
                                    : isfinite(stored);
        if (held) return true;
        bad_data(r, d, qdq_text_number(f, number, i, false),
                 qdq_text(f, "numbers that %s can hold", info->name));
        return false;
    }
    if (!(number >= (double)info->least && number <= (double)info->greatest) ||
        number != floor(number)) {
        bad_data(r, d, qdq_text_number(f, number, i, false),
                 qdq_text(f, "whole numbers from %lld to %lld of %s", (long long)info->least,
                          (long long)info->greatest, info->name));
        return false;
    }
    int32_t whole = (int32_t)number;
    qdq_encode_int(d->dtype, &whole, out, 1);
    return true;
}

// Returns the element count of a legal shape; SIZE_MAX for a shape that the graph will refuse.
static size_t count_of(qdq_shape shape) {
    size_t count = 1;
    if (shape.rank > QDQ_MAX_RANK) return SIZE_MAX;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i] < 1 || __builtin_mul_overflow(count, (size_t)shape.dims[i], &count))
            return SIZE_MAX;
    return count;
}

// Reads inline elements: `data` is a list, or a single number for a scalar.
static void read_inline(const qdq_reader *r, const declaration *d, const qdq_json_item *data) {
    bool is_list = qdq_json_is_array(data);
    size_t count = is_list ? qdq_json_count(data) : 1, wanted = count_of(d->shape), i = 0;
    qdq_findings *f = &r->graph->findings;
    if (wanted != SIZE_MAX && (count != wanted || count > QDQ_MAX_INLINE_ELEMENTS)) {
        bad_data(r, d, qdq_text(f, "has %zu elements", count),
                 count != wanted ? qdq_text(f, "%zu, as many as the shape", wanted)
                                 : "at most 4096; more are base64, or in a .safetensors file");
        (void)qdq_graph_add_invalid(r->graph, d->name);
        return;
    }
    qdq_value value;
    char *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
    if (!memory) return;
    if (!is_list) (void)store_number(r, d, data, 0, memory);
    QDQ_JSON_EACH(json, data) {
        if (!store_number(r, d, json, i, memory + i * qdq_dtype_size(d->dtype))) return;
        i++;
    }
}

//---- Files ------------------------------------------------------------------

// Finds the index of the file called `name`, which stays open for further constants.
static qdq_status open_tensors(qdq_reader *r, const char *name, size_t *number) {
    uint32_t index = 0;
    bool is_open = qdq_symbols_find(r->file_names, name, strlen(name), &index);
    *number = is_open ? index : r->file_count;
    if (is_open) return QDQ_OK;
    if (!r->folder)
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "a graph that is read from memory without a folder cannot name files");
    qdq_constant_file *files =
        qdq_mempool_grow(r->mempool, r->files, r->file_count, &r->file_capacity, sizeof *files);
    if (!files) return qdq_fail_memory(r->err, sizeof *files);
    r->files = files;
    QDQ_TRY(qdq_symbols_add(r->file_names, name, strlen(name), (uint32_t)r->file_count, r->err));
    qdq_tensor_file *file =
        qdq_tensor_file_open_beneath(r->folder, name, r->graph->allocator, r->err);
    if (!file) return r->err->status;
    files[r->file_count++] = (qdq_constant_file){.file = file};
    return QDQ_OK;
}

// Finds the first byte that is no element of the dtype; SIZE_MAX if there is none. False if the
// file cannot be read.
static bool find_beyond(const qdq_graph_value *v, size_t *beyond) {
    char part[16 << 10];
    size_t count = qdq_shape_count(v->type.shape);
    *beyond = SIZE_MAX;
    for (size_t at = 0; at < count && *beyond == SIZE_MAX; at += sizeof part) {
        size_t n = count - at < sizeof part ? count - at : sizeof part;
        const char *elements = v->stored ? part : (const char *)v->data + at;
        if (v->stored && !v->stored->read(v->stored, at, n, part)) return false;
        *beyond = qdq_first_beyond(v->type.dtype, elements, n);
        if (*beyond != SIZE_MAX) *beyond += at;
    }
    return true;
}

// Refuses a constant of a dtype narrower than a byte if it has bytes outside that dtype.
static qdq_status check_elements(const qdq_reader *r, const declaration *d,
                                 const qdq_graph_value *v) {
    size_t beyond;
    if (!qdq_dtype_is_packed(d->dtype)) return QDQ_OK;
    if (!find_beyond(v, &beyond))
        return qdq_fail(r->err, r->graph->failure->status, "%s", r->graph->failure->text);
    if (beyond != SIZE_MAX)
        bad_data(r, d,
                 qdq_text(&r->graph->findings, "has a byte at index %zu that is no %s", beyond,
                          qdq_dtype_name(d->dtype)),
                 NULL);
    return QDQ_OK;
}

// Reads small constants now; the elements of large constants stay in the file until they are
// needed.
static qdq_status add_from_file(qdq_reader *r, const declaration *d, size_t number,
                                const qdq_tensor_info *info) {
    qdq_tensor_file *tensors = r->files[number].file;
    const qdq_held_file **held = &r->files[number].held;
    qdq_value value;
    if (qdq_shape_count(d->shape) <= QDQ_MAX_INLINE_ELEMENTS) {
        void *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
        if (!memory) return QDQ_OK;
        QDQ_TRY(qdq_tensor_file_read(tensors, info, memory, r->err));
    } else {
        const char *path;
        uint64_t at;
        const qdq_open_file *open = qdq_tensor_file_place(tensors, info, &path, &at);
        if (!*held) *held = qdq_hold_file(r->graph, open, path, r->err);
        if (!*held) return r->err->status;
        value = qdq_graph_add_held(r->graph, d->name, (qdq_type){d->dtype, d->shape}, *held, at);
    }
    const qdq_graph_value *added = &r->graph->values[value.id];
    return value.id && added->valid ? check_elements(r, d, added) : QDQ_OK;
}

static qdq_status read_from_file(qdq_reader *r, const qdq_item *at, const declaration *d) {
    const char *file, *tensor;
    QDQ_TRY(qdq_item_string(r, at, "file", &file));
    QDQ_TRY(qdq_item_string(r, at, "tensor", &tensor));
    size_t number = 0;
    QDQ_TRY(open_tensors(r, file, &number));
    const qdq_tensor_file *tensors = r->files[number].file;
    const qdq_tensor_info *info = qdq_tensor_file_find(tensors, tensor);
    if (!info)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "file '%.200s' has no tensor '%.200s'", file,
                        tensor);
    const char *held = qdq_dtype_get(d->dtype)->safetensors;
    if (strcmp(qdq_tensor_file_dtype(tensors, info), held) != 0 ||
        !qdq_shape_equal(info->shape, d->shape))
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "tensor '%.200s' of file '%.200s' has another dtype (%s) or shape than "
                        "constant '%.200s' declares (%s)",
                        tensor, file, qdq_tensor_file_dtype(tensors, info), d->name, held);
    return add_from_file(r, d, number, info);
}

static qdq_status read_file_constant(qdq_reader *r, const qdq_item *at, const declaration *d) {
    qdq_status status = read_from_file(r, at, d);
    if (strncmp(r->err->text, at->where, strlen(at->where)) != 0)
        qdq_error_prefix(r->err, at->where);
    return status;
}

// True if `data` is the single number of a constant of rank 0, which needs no list.
static bool is_scalar(const declaration *d, const qdq_json_item *data) {
    double number;
    return d->shape.rank == 0 && qdq_json_any_number(data, &number);
}

// The forms in which a constant may have its elements; absent ones have no json.
typedef struct content {
    qdq_item data, base64, file;
} content;

// Finds the one form that a constant has.
static qdq_status read_content(const qdq_reader *r, const qdq_item *at, const declaration *d,
                               content *out) {
    static const char wanted[] = "data, base64, or file and tensor";
    qdq_item tensor;
    QDQ_TRY(qdq_item_member(r, at, "data", false, &out->data));
    if (out->data.json && !qdq_json_is_array(out->data.json) && !is_scalar(d, out->data.json))
        return qdq_item_wrong_kind(r, &out->data, "an array");
    QDQ_TRY(qdq_item_member(r, at, "base64", false, &out->base64));
    if (out->base64.json && !qdq_json_text(out->base64.json))
        return qdq_item_wrong_kind(r, &out->base64, "a string");
    QDQ_TRY(qdq_item_member(r, at, "file", false, &out->file));
    QDQ_TRY(qdq_item_member(r, at, "tensor", false, &tensor));
    const char *first = out->data.json ? "data" : "base64";
    const char *second = out->data.json && out->base64.json ? "base64"
                         : out->file.json                   ? "file"
                         : tensor.json                      ? "tensor"
                                                            : NULL;
    bool inline_elements = out->data.json || out->base64.json;
    if (inline_elements && second)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s has both %s and %s, wanted %s", at->where, first,
                        second, wanted);
    if (!inline_elements && !out->file.json)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s has no content, wanted %s", at->where, wanted);
    return QDQ_OK;
}

qdq_status qdq_json_read_constant(qdq_reader *r, const qdq_item *at) {
    static const char *const keys[] = {
        "name", "dtype", "shape", "data", "base64", "file", "tensor", QDQ_JSON_MEMORY_KEYS, NULL};
    declaration d;
    content c;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, "constant", &d));
    QDQ_TRY(read_content(r, at, &d, &c));
    if (d.dtype == QDQ_DTYPE_NONE) {
        (void)qdq_graph_add_invalid(r->graph, d.name);
        return QDQ_OK;
    }
    size_t before = r->graph->value_count;
    if (c.file.json)
        QDQ_TRY(read_file_constant(r, at, &d));
    else if (c.base64.json)
        qdq_json_add_base64(r->graph, d.name, (qdq_type){d.dtype, d.shape}, count_of(d.shape),
                            qdq_json_text(c.base64.json));
    else
        read_inline(r, &d, c.data.json);
    bool added = r->graph->value_count > before;
    qdq_json_give_memory(r->graph, (qdq_value){added ? (uint32_t)before : 0}, &d.memory);
    return QDQ_OK;
}

//---- States -----------------------------------------------------------------

// Reads the first elements of a state: one number for all of them, or a list. False after a
// finding or an error.
static bool read_initial(qdq_reader *r, const declaration *d, const qdq_item *at, void **out) {
    size_t count = qdq_json_count(at->json), wanted = count_of(d->shape), i = 0;
    size_t size = qdq_dtype_size(d->dtype);
    if (!qdq_json_is_array(at->json)) return qdq_item_wrong_kind(r, at, "an array") == QDQ_OK;
    if (count != 1 && count != wanted) {
        bad_data(r, d, qdq_text(&r->graph->findings, "has %zu first elements", count),
                 qdq_text(&r->graph->findings, "one, or %zu", wanted));
        return false;
    }
    char *memory = qdq_mempool_array(r->mempool, wanted, size);
    if (!memory) return qdq_fail_memory(r->err, wanted * size) == QDQ_OK;
    QDQ_JSON_EACH(json, at->json) {
        if (!store_number(r, d, json, i, memory + i * size)) return false;
        i++;
    }
    for (; count == 1 && i < wanted; i++) memcpy(memory + i * size, memory, size);
    *out = memory;
    return true;
}

qdq_status qdq_json_read_state(qdq_reader *r, const qdq_item *at) {
    static const char *const keys[] = {"input", "output", "initial", NULL};
    const char *input, *output;
    qdq_item initial;
    void *first = NULL;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(qdq_item_string(r, at, "input", &input));
    QDQ_TRY(qdq_item_string(r, at, "output", &output));
    QDQ_TRY(qdq_item_member(r, at, "initial", false, &initial));
    qdq_value value = qdq_graph_find(r->graph, input);
    declaration d = {.name = input};
    bool known = qdq_value_type(r->graph, value, &d.dtype, &d.shape);
    if (known && initial.json && !read_initial(r, &d, &initial, &first)) return r->err->status;
    qdq_state(r->graph, value, output, first);
    return QDQ_OK;
}
