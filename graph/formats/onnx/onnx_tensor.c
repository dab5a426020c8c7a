// SPDX-License-Identifier: Apache-2.0
// Reads the elements of ONNX tensors: raw, typed, or in another file; one by one, or as constants
// of a graph that stay where they are.
#include "graph/formats/onnx/onnx_tensor.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/formats/onnx/file/onnx_decode.h"
#include "runtime/numerics/dtype.h"

//---- Types ------------------------------------------------------------------

typedef enum typed_field { NO_FIELD, FLOATS, INT32S, INT64S, DOUBLES, UINT64S } typed_field;

// `bits` of an element in a file; the field for elements that are not raw.
static const struct {
    const char *name;
    qdq_dtype dtype;
    unsigned char bits;
    typed_field field;
} elems[ONNX_ELEM_COUNT] = {
    [ONNX_UNDEFINED] = {"no type", QDQ_DTYPE_NONE, 0, NO_FIELD},
    [ONNX_FLOAT] = {"float32", QDQ_FLOAT32, 32, FLOATS},
    [ONNX_UINT8] = {"uint8", QDQ_UINT8, 8, INT32S},
    [ONNX_INT8] = {"int8", QDQ_INT8, 8, INT32S},
    [ONNX_UINT16] = {"uint16", QDQ_UINT16, 16, INT32S},
    [ONNX_INT16] = {"int16", QDQ_INT16, 16, INT32S},
    [ONNX_INT32] = {"int32", QDQ_INT32, 32, INT32S},
    [ONNX_INT64] = {"int64", QDQ_INT64, 64, INT64S},
    [ONNX_STRING] = {"string", QDQ_DTYPE_NONE, 0, NO_FIELD},
    [ONNX_BOOL] = {"bool", QDQ_BOOL, 8, INT32S},
    [ONNX_FLOAT16] = {"float16", QDQ_FLOAT16, 16, INT32S},
    [ONNX_DOUBLE] = {"float64", QDQ_FLOAT64, 64, DOUBLES},
    [ONNX_UINT32] = {"uint32", QDQ_UINT32, 32, UINT64S},
    [ONNX_UINT64] = {"uint64", QDQ_UINT64, 64, UINT64S},
    [ONNX_COMPLEX64] = {"complex64", QDQ_DTYPE_NONE, 0, NO_FIELD},
    [ONNX_COMPLEX128] = {"complex128", QDQ_DTYPE_NONE, 0, NO_FIELD},
    [ONNX_BFLOAT16] = {"bfloat16", QDQ_BFLOAT16, 16, INT32S},
    [ONNX_FLOAT8E4M3FN] = {"float8_e4m3fn", QDQ_FLOAT8_E4M3FN, 8, INT32S},
    [ONNX_FLOAT8E4M3FNUZ] = {"float8_e4m3fnuz", QDQ_FLOAT8_E4M3FNUZ, 8, INT32S},
    [ONNX_FLOAT8E5M2] = {"float8_e5m2", QDQ_FLOAT8_E5M2, 8, INT32S},
    [ONNX_FLOAT8E5M2FNUZ] = {"float8_e5m2fnuz", QDQ_FLOAT8_E5M2FNUZ, 8, INT32S},
    [ONNX_UINT4] = {"uint4", QDQ_UINT4, 4, INT32S},
    [ONNX_INT4] = {"int4", QDQ_INT4, 4, INT32S},
    [ONNX_FLOAT4E2M1] = {"float4_e2m1", QDQ_FLOAT4_E2M1, 4, INT32S},
    [ONNX_FLOAT8E8M0] = {"float8_e8m0", QDQ_FLOAT8_E8M0, 8, INT32S},
    [ONNX_UINT2] = {"uint2", QDQ_UINT2, 2, INT32S},
    [ONNX_INT2] = {"int2", QDQ_INT2, 2, INT32S},
};

static int legal(int elem) { return elem > 0 && elem < ONNX_ELEM_COUNT ? elem : ONNX_UNDEFINED; }

qdq_dtype qdq_onnx_dtype(int elem) { return elems[legal(elem)].dtype; }

const char *qdq_onnx_elem_name(int elem) {
    return elem > 0 && elem < ONNX_ELEM_COUNT ? elems[elem].name : "of an unknown type";
}

int qdq_onnx_elem_of(qdq_dtype dtype) {
    for (int i = 1; i < ONNX_ELEM_COUNT; i++)
        if (elems[i].dtype == dtype) return i;
    return ONNX_UNDEFINED;
}

int qdq_onnx_elem_bits(int elem) { return elems[legal(elem)].bits; }

bool qdq_onnx_elem_is_real(int elem) {
    qdq_dtype dtype = qdq_onnx_dtype(elem);
    return dtype != QDQ_DTYPE_NONE && qdq_dtype_is_real(dtype);
}

//---- Shapes -----------------------------------------------------------------

const char *qdq_onnx_tensor_shape(qdq_onnx_import *im, const qdq_onnx_tensor *tensor,
                                  qdq_shape *out) {
    qdq_findings *f = &im->graph->findings;
    size_t count = 1;
    *out = (qdq_shape){0};
    if (tensor->has_strings || elems[legal(tensor->elem)].bits == 0)
        return qdq_text(f, "is %s, which graphs do not have",
                        tensor->has_strings ? "string" : qdq_onnx_elem_name(tensor->elem));
    if (tensor->dims.count > QDQ_MAX_RANK)
        return qdq_text(f, "has %zu dims, wanted at most %d", tensor->dims.count, QDQ_MAX_RANK);
    for (size_t i = 0; i < tensor->dims.count; i++) {
        int64_t dim = tensor->dims.items[i];
        if (dim < 0) return qdq_text(f, "has the dim %lld", (long long)dim);
        if (__builtin_mul_overflow(count, (size_t)dim, &count) ||
            count > im->graph->limits.elements)
            return qdq_text(f, "has more than %zu elements, the limit of a tensor (--max-elements)",
                            im->graph->limits.elements);
        out->dims[i] = dim;
    }
    out->rank = (int)tensor->dims.count;
    return NULL;
}

//---- Places -----------------------------------------------------------------

// The place of the raw bytes of a tensor: in the model, or in another file.
typedef struct place {
    qdq_onnx_file *file;  // NULL: in memory
    uint64_t at, length;
} place;

static qdq_status fail_tensor(qdq_onnx_import *im, const qdq_onnx_tensor *tensor,
                              const char *what) {
    return qdq_fail(im->err, QDQ_ERR_PARSE, "tensor '%.200s' %s", tensor->name, what);
}

static const char *external_value(const qdq_onnx_tensor *tensor, const char *key) {
    for (size_t i = 0; i < tensor->keys.count; i++)
        if (strcmp(tensor->keys.items[i], key) == 0) return tensor->values.items[i];
    return NULL;
}

// Reads a whole number of an entry; `otherwise` if the entry is missing.
static bool external_number(const qdq_onnx_tensor *tensor, const char *key, uint64_t otherwise,
                            uint64_t *out) {
    const char *text = external_value(tensor, key);
    *out = otherwise;
    if (!text) return true;
    *out = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '9' || c - text > 18) return false;
        *out = *out * 10 + (uint64_t)(*c - '0');
    }
    return *text != '\0';
}

// NULL with an error if it cannot be opened.
static qdq_onnx_file *open_external(qdq_onnx_import *im, const char *name) {
    uint32_t index;
    if (qdq_symbols_find(im->file_names, name, strlen(name), &index)) return im->files[index];
    if (!im->folder) {
        qdq_fail(im->err, QDQ_ERR_PARSE,
                 "a model that is read from memory without a folder cannot name files");
        return NULL;
    }
    qdq_onnx_file *file = QDQ_MEMPOOL_NEW(im->mempool, qdq_onnx_file);
    qdq_onnx_file **files = qdq_mempool_grow(im->mempool, im->files, im->file_count,
                                             &im->file_capacity, sizeof(qdq_onnx_file *));
    if (files) im->files = files;
    if (!file || !files) {
        qdq_fail_memory(im->err, sizeof *file);
        return NULL;
    }
    index = (uint32_t)im->file_count;
    file->name = name;
    if (qdq_open_beneath(im->folder, name, &file->open, im->err) != QDQ_OK) return NULL;
    files[im->file_count++] = file;
    qdq_status status = qdq_symbols_add(im->file_names, name, strlen(name), index, im->err);
    return status == QDQ_OK ? file : NULL;
}

static qdq_status place_external(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, uint64_t bytes,
                                 place *out) {
    const char *location = external_value(tensor, "location");
    uint64_t length;
    if (!location) return fail_tensor(im, tensor, "has external data without a location");
    if (strncmp(location, "./", 2) == 0) location += 2;
    if (!external_number(tensor, "offset", 0, &out->at) ||
        !external_number(tensor, "length", bytes, &length))
        return fail_tensor(im, tensor, "has an offset or length that is no whole number");
    out->file = open_external(im, location);
    if (!out->file) {
        char where[320];
        snprintf(where, sizeof where, "tensor '%.100s': file '%.200s'", tensor->name, location);
        qdq_error_prefix(im->err, where);
        return im->err->status;
    }
    uint64_t size = out->file->open.bytes;
    if (out->at > size || length > size - out->at)
        return fail_tensor(im, tensor, "lies beyond the end of its file");
    out->length = length;
    return QDQ_OK;
}

static uint64_t raw_bytes(int elem, size_t count) {
    return ((uint64_t)count * elems[legal(elem)].bits + 7) / 8;
}

static qdq_status find_raw(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t count,
                           place *out) {
    uint64_t bytes = raw_bytes(tensor->elem, count);
    *out = (place){.file = im->source->memory ? NULL : &im->own,
                   .at = tensor->raw.at,
                   .length = tensor->raw.length};
    if (tensor->external) QDQ_TRY(place_external(im, tensor, bytes, out));
    if (out->length == bytes) return QDQ_OK;
    return qdq_fail(im->err, QDQ_ERR_PARSE,
                    "tensor '%.200s' has %llu bytes of data, wanted %llu for its dims and type",
                    tensor->name, (unsigned long long)out->length, (unsigned long long)bytes);
}

static qdq_status read_place(const qdq_onnx_import *im, const place *from, void *out) {
    if (!from->file)
        return qdq_onnx_read_at(im->source, from->at, out, (size_t)from->length, im->err);
    return qdq_open_file_read(from->file->open.descriptor, out, (size_t)from->length, from->at,
                              im->err);
}

//---- Typed elements ---------------------------------------------------------

// Bytes that typed elements are stored to. An entry of int32_data has the bytes of one element, or
// one byte of packed elements.
typedef struct typed_sink {
    unsigned char *next, *end;
    size_t size;
} typed_sink;

static bool take_number(void *self, uint64_t number) {
    typed_sink *sink = self;
    if ((size_t)(sink->end - sink->next) < sink->size) return false;
    memcpy(sink->next, &number, sink->size);
    sink->next += sink->size;
    return true;
}

static qdq_status read_typed(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, uint64_t bytes,
                             void *out) {
    const qdq_onnx_spans *lists[] = {
        [FLOATS] = &tensor->floats,   [INT32S] = &tensor->int32s,   [INT64S] = &tensor->int64s,
        [DOUBLES] = &tensor->doubles, [UINT64S] = &tensor->uint64s,
    };
    typed_field field = elems[legal(tensor->elem)].field;
    size_t size = elems[legal(tensor->elem)].bits / 8u;
    unsigned char *first = out;
    typed_sink sink = {first, first + bytes, size ? size : 1};
    const qdq_onnx_spans *spans = lists[field];
    for (size_t i = 0; i < spans->count; i++) {
        qdq_onnx_span span = spans->items[i];
        bool fine = true;
        if (field == FLOATS || field == DOUBLES) {
            fine = span.length <= (size_t)(sink.end - sink.next);
            if (fine)
                QDQ_TRY(qdq_onnx_read_at(im->source, span.at, sink.next, span.length, im->err));
            if (fine) sink.next += span.length;
        } else {
            fine = qdq_onnx_each_varint(im->source, span, take_number, &sink, im->err);
        }
        if (!fine && im->err->status) return im->err->status;
        if (!fine) return fail_tensor(im, tensor, "has more elements than its dims say");
    }
    if (sink.next != sink.end)
        return fail_tensor(im, tensor, "has fewer elements than its dims say");
    return QDQ_OK;
}

//---- Elements ---------------------------------------------------------------

static bool is_raw(const qdq_onnx_tensor *tensor) { return tensor->has_raw || tensor->external; }

// Spreads packed elements to a byte each.
static void unpack(qdq_dtype dtype, const unsigned char *packed, unsigned char *out, size_t count,
                   unsigned bits) {
    size_t each = 8 / bits, full = count / each * each;
    unsigned char last[8];
    qdq_unpack_bits(dtype, packed, out, full);
    if (full == count) return;
    qdq_unpack_bits(dtype, packed + full / each, last, each);
    memcpy(out + full, last, count - full);
}

// Reads `count` elements, all of them, in the form of graphs: row-major, packed types in a byte
// each.
static qdq_status read_elements(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t count,
                                unsigned char *out) {
    int elem = legal(tensor->elem);
    unsigned bits = elems[elem].bits;
    uint64_t bytes = raw_bytes(elem, count);
    unsigned char *raw = out;
    if (bits < 8) raw = qdq_mempool_array(im->mempool, (size_t)bytes, 1);
    if (!raw) return qdq_fail_memory(im->err, (size_t)bytes);
    place from;
    if (is_raw(tensor)) {
        QDQ_TRY(find_raw(im, tensor, count, &from));
        QDQ_TRY(read_place(im, &from, raw));
    } else {
        QDQ_TRY(read_typed(im, tensor, bytes, raw));
    }
    if (bits < 8) unpack(elems[elem].dtype, raw, out, count, bits);
    for (size_t i = 0; elem == ONNX_BOOL && i < count; i++) out[i] = out[i] != 0;
    return QDQ_OK;
}

qdq_status qdq_onnx_tensor_numbers(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t count,
                                   int64_t *ints, double *reals) {
    qdq_dtype dtype = elems[legal(tensor->elem)].dtype;
    size_t size = qdq_dtype_size(dtype);
    unsigned char *bytes = qdq_mempool_array(im->mempool, count, size);
    if (!bytes) return qdq_fail_memory(im->err, count * size);
    QDQ_TRY(read_elements(im, tensor, count, bytes));
    qdq_decode_wide(dtype, bytes, ints ? (void *)ints : reals, count);
    return QDQ_OK;
}

//---- Constants --------------------------------------------------------------

// True if the file holds the elements in the same bytes as the graph, or packed.
static bool may_stay(const qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t count) {
    bool in_file = tensor->external || !im->source->memory;
    return is_raw(tensor) && in_file && count > QDQ_MAX_INLINE_ELEMENTS &&
           tensor->elem != ONNX_BOOL;
}

static size_t elements_of(const qdq_onnx_tensor *tensor) {
    size_t count = 1;
    for (size_t i = 0; i < tensor->dims.count; i++) count *= (size_t)tensor->dims.items[i];
    return count;
}

static qdq_status hold(qdq_onnx_import *im, const char *name, const qdq_onnx_tensor *tensor,
                       size_t first, qdq_shape shape, qdq_value *out) {
    qdq_dtype dtype = elems[legal(tensor->elem)].dtype;
    place from;
    QDQ_TRY(find_raw(im, tensor, elements_of(tensor), &from));
    qdq_onnx_file *file = from.file;
    if (file && !file->held)
        file->held = qdq_hold_file(im->graph, &file->open, file->name, im->err);
    if (!file || !file->held) return im->err->status;
    const qdq_type type = {dtype, shape};
    *out = elems[legal(tensor->elem)].bits < 8
               ? qdq_graph_add_packed(im->graph, name, type, file->held, from.at, first)
               : qdq_graph_add_held(im->graph, name, type, file->held,
                                    from.at + first * qdq_dtype_size(dtype));
    return QDQ_OK;
}

// Reads all elements and keeps `count` of them.
static qdq_status read_part(qdq_onnx_import *im, const qdq_onnx_tensor *tensor, size_t first,
                            size_t count, unsigned char *out) {
    size_t all = elements_of(tensor), size = qdq_dtype_size(elems[legal(tensor->elem)].dtype);
    if (count == all) return read_elements(im, tensor, all, out);
    unsigned char *whole = qdq_mempool_array(im->mempool, all, size);
    if (!whole) return qdq_fail_memory(im->err, all * size);
    QDQ_TRY(read_elements(im, tensor, all, whole));
    memcpy(out, whole + first * size, count * size);
    return QDQ_OK;
}

qdq_status qdq_onnx_tensor_add(qdq_onnx_import *im, const char *name, const qdq_onnx_tensor *tensor,
                               size_t first, qdq_shape shape, qdq_value *out) {
    size_t count = qdq_onnx_count(shape);
    if (may_stay(im, tensor, count)) return hold(im, name, tensor, first, shape, out);
    if (is_raw(tensor)) {  // before memory is taken for elements that are not there
        place from;
        QDQ_TRY(find_raw(im, tensor, elements_of(tensor), &from));
    }
    void *memory =
        qdq_graph_add_constant(im->graph, name, elems[legal(tensor->elem)].dtype, shape, out);
    return memory ? read_part(im, tensor, first, count, memory) : QDQ_OK;
}
