// SPDX-License-Identifier: Apache-2.0
// Reads the tensors of a model: dtypes, shapes, names, quantization, and where the elements of
// constants lie.
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/tflite/tflite_import.h"
#include "runtime/base/error.h"
#include "runtime/numerics/dtype.h"

enum { NAME_BYTES = 255 };  // read of a name

qdq_dtype qdq_tflite_dtype(int64_t type) {
    static const qdq_dtype dtypes[] = {
        [0] = QDQ_FLOAT32,  [1] = QDQ_FLOAT16,   [2] = QDQ_INT32,   [3] = QDQ_UINT8,
        [4] = QDQ_INT64,    [6] = QDQ_BOOL,      [7] = QDQ_INT16,   [9] = QDQ_INT8,
        [10] = QDQ_FLOAT64, [12] = QDQ_UINT64,   [15] = QDQ_UINT32, [16] = QDQ_UINT16,
        [17] = QDQ_INT4,    [18] = QDQ_BFLOAT16, [19] = QDQ_INT2,   [20] = QDQ_UINT4};
    bool known = type >= 0 && (size_t)type < sizeof dtypes / sizeof dtypes[0];
    return known ? dtypes[type] : QDQ_DTYPE_NONE;
}

//---- Names ------------------------------------------------------------------

static bool is_claimed(const qdq_tflite_import *im, const char *name) {
    return qdq_symbols_find(im->claimed, name, strlen(name), NULL);
}

// Numbers `name` until nobody has it. No number is tried twice.
static const char *numbered(qdq_tflite_import *im, char *name) {
    size_t length = name ? strlen(name) : 0;
    while (name && (is_claimed(im, name) || !qdq_graph_name_is_free(im->graph, name)))
        snprintf(name + length, 24, "~%u", ++im->renamed);
    return name;
}

const char *qdq_tflite_free_name(qdq_tflite_import *im, const char *wanted) {
    if (qdq_graph_name_is_legal(wanted) && !is_claimed(im, wanted) &&
        qdq_graph_name_is_free(im->graph, wanted))
        return wanted;
    return numbered(im, qdq_graph_legal_name(im->mempool, wanted));
}

// Reads the name, which need not be unique in the file, and claims one for the graph.
static qdq_status read_name(qdq_tflite_import *im, const qdq_flat_table *table,
                            qdq_tflite_tensor *tensor) {
    qdq_flat_list bytes = qdq_flat_list_of(im->flat, table, 3, 1);
    char text[NAME_BYTES + 1] = {0};
    size_t count = bytes.count < NAME_BYTES ? bytes.count : NAME_BYTES;
    if (count && !qdq_flat_bytes(im->flat, bytes.at, text, count)) return im->err->status;
    for (size_t i = 0; i < count; i++)
        if (!text[i]) text[i] = '_';
    tensor->original = qdq_mempool_strdup(im->mempool, text);
    tensor->name = tensor->original ? qdq_tflite_free_name(im, text) : NULL;
    if (tensor->name == text) tensor->name = tensor->original, tensor->original = NULL;
    if (!tensor->name) return qdq_fail_memory(im->err, 1);
    if (tensor->type == QDQ_TFLITE_RESOURCE) return QDQ_OK;  // a variable may have this name
    return qdq_symbols_add(im->claimed, tensor->name, strlen(tensor->name), 0, im->err);
}

//---- Quantization -----------------------------------------------------------

// Reads scales and zero points; a tensor without scales is not quantized.
static qdq_status read_quantization(qdq_tflite_import *im, const qdq_flat_table *table,
                                    qdq_tflite_tensor *tensor) {
    qdq_flat *flat = im->flat;
    qdq_flat_table q = qdq_flat_table_of(flat, table, 4);
    qdq_flat_list scales = qdq_flat_list_of(flat, &q, 2, 4);
    qdq_flat_list zps = qdq_flat_list_of(flat, &q, 3, 8);
    if (qdq_flat_int(flat, &q, 4, QDQ_FLAT_U8, 0))
        tensor->why_not = "is quantized by blocks or in another form than scales and zero points";
    tensor->axis = (int)qdq_flat_int(flat, &q, 6, QDQ_FLAT_I32, 0);
    if (!scales.count || im->err->status) return im->err->status;
    float *all = qdq_mempool_array(im->mempool, scales.count, sizeof *all);
    double *zeros = qdq_mempool_array(im->mempool, zps.count, sizeof *zeros);
    if (!all || !zeros) return qdq_fail_memory(im->err, scales.count * sizeof *all);
    QDQ_TRY(qdq_flat_bytes(flat, scales.at, all, scales.count * sizeof *all) ? QDQ_OK
                                                                             : im->err->status);
    for (size_t i = 0; i < zps.count; i++)
        zeros[i] = (double)qdq_flat_int_at(flat, zps, i, QDQ_FLAT_I64);
    tensor->scales = all, tensor->scale_count = scales.count;
    tensor->zps = zeros, tensor->zp_count = zps.count;
    return im->err->status;
}

//---- Elements ---------------------------------------------------------------

// Returns the bytes of the elements in the file; UINT64_MAX if no number counts them.
static uint64_t bytes_of(const qdq_tflite_tensor *tensor) {
    uint64_t count = 1, bits = (uint64_t)qdq_dtype_get(tensor->dtype)->bits;
    for (int i = 0; i < tensor->shape.rank; i++)
        if (__builtin_mul_overflow(count, (uint64_t)tensor->shape.dims[i], &count))
            return UINT64_MAX;
    return count > UINT64_MAX / 64 ? UINT64_MAX : (count * bits + 7) / 8;
}

// Finds the elements of a constant: in a buffer, or in the file outside of the FlatBuffer.
static qdq_status find_elements(qdq_tflite_import *im, const qdq_flat_table *table,
                                qdq_tflite_tensor *tensor) {
    qdq_flat *flat = im->flat;
    int64_t index = qdq_flat_int(flat, table, 2, QDQ_FLAT_U32, 0);
    if (qdq_flat_int(flat, table, 10, QDQ_FLAT_U32, 0))
        tensor->why_not = "has its elements in another file";
    if (index == 0 || im->err->status) return im->err->status;
    if ((uint64_t)index >= im->buffers.count)
        return qdq_fail(im->err, QDQ_ERR_PARSE, "tensor '%.200s' has buffer %lld of %zu",
                        tensor->name, (long long)index, im->buffers.count);
    qdq_flat_table buffer = qdq_flat_table_at(flat, im->buffers, (size_t)index);
    qdq_flat_list data = qdq_flat_list_of(flat, &buffer, 0, 1);
    uint64_t offset = (uint64_t)qdq_flat_int(flat, &buffer, 1, QDQ_FLAT_I64, 0);
    uint64_t size = (uint64_t)qdq_flat_int(flat, &buffer, 2, QDQ_FLAT_I64, 0);
    tensor->at = data.at, tensor->bytes = data.count;
    if (!data.count && offset > 1) tensor->at = offset, tensor->bytes = size;
    if (im->err->status || !tensor->bytes) return im->err->status;
    if (tensor->at > flat->size || tensor->bytes > flat->size - tensor->at)
        return qdq_fail(im->err, QDQ_ERR_PARSE, "tensor '%.200s' lies beyond the end of the file",
                        tensor->name);
    if (tensor->why_not || tensor->dtype == QDQ_DTYPE_NONE) return QDQ_OK;
    uint64_t wanted = bytes_of(tensor);
    if (tensor->bytes == wanted) return QDQ_OK;
    return qdq_fail(im->err, QDQ_ERR_PARSE,
                    "tensor '%.200s' has %llu bytes of data, wanted %llu for its dims and type",
                    tensor->name, (unsigned long long)tensor->bytes, (unsigned long long)wanted);
}

qdq_status qdq_tflite_read_elements(qdq_tflite_import *im, const qdq_tflite_tensor *tensor,
                                    void *out) {
    unsigned bits = (unsigned)qdq_dtype_get(tensor->dtype)->bits;
    unsigned char *bytes = out, last[8];
    size_t count = qdq_shape_count(tensor->shape), each = bits < 8 ? 8 / bits : 1;
    size_t full = count / each * each, raw = (size_t)tensor->bytes;
    if (bits < 8) bytes = qdq_mempool_array(im->mempool, raw, 1);
    if (!bytes) return qdq_fail_memory(im->err, raw);
    if (!qdq_flat_bytes(im->flat, tensor->at, bytes, raw)) return im->err->status;
    for (size_t i = 0; tensor->dtype == QDQ_BOOL && i < count; i++) bytes[i] = bytes[i] != 0;
    if (bits >= 8) return QDQ_OK;
    qdq_unpack_bits(tensor->dtype, bytes, out, full);
    if (full == count) return QDQ_OK;
    qdq_unpack_bits(tensor->dtype, bytes + full / each, last, each);
    memcpy((unsigned char *)out + full, last, count - full);
    return QDQ_OK;
}

//---- Tensors ----------------------------------------------------------------

static qdq_status read_shape(qdq_tflite_import *im, const qdq_flat_table *table,
                             qdq_tflite_tensor *tensor) {
    qdq_flat_list dims = qdq_flat_list_of(im->flat, table, 0, 4);
    qdq_flat_list open = qdq_flat_list_of(im->flat, table, 7, 4);
    if (dims.count > QDQ_MAX_RANK) tensor->why_not = "has more than 8 dims";
    tensor->shape.rank = dims.count > QDQ_MAX_RANK ? 0 : (int)dims.count;
    for (int i = 0; i < tensor->shape.rank; i++) {
        int64_t dim = qdq_flat_int_at(im->flat, dims, (size_t)i, QDQ_FLAT_I32);
        bool given = (size_t)i < open.count;
        tensor->shape.dims[i] = dim < 0 ? 0 : dim;
        if (dim < 0) tensor->why_not = "has a dim below 0";
        if (given && qdq_flat_int_at(im->flat, open, (size_t)i, QDQ_FLAT_I32) < 0)
            tensor->open |= 1u << i;
    }
    return im->err->status;
}

static qdq_status read_tensor(qdq_tflite_import *im, const qdq_flat_table *table,
                              qdq_tflite_tensor *tensor) {
    tensor->type = (int)qdq_flat_int(im->flat, table, 1, QDQ_FLAT_I8, 0);
    tensor->dtype = qdq_tflite_dtype(tensor->type);
    if (tensor->dtype == QDQ_DTYPE_NONE)
        tensor->why_not = tensor->type == QDQ_TFLITE_STRING     ? "is of strings"
                          : tensor->type == QDQ_TFLITE_RESOURCE ? "is a resource"
                                                                : "has a type that graphs lack";
    QDQ_TRY(read_name(im, table, tensor));
    QDQ_TRY(read_shape(im, table, tensor));
    QDQ_TRY(read_quantization(im, table, tensor));
    if (qdq_flat_table_of(im->flat, table, 6).at) tensor->why_not = "is sparse";
    return find_elements(im, table, tensor);
}

qdq_status qdq_tflite_read_tensors(qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_list list = qdq_flat_list_of(im->flat, subgraph, 0, 4);
    if (im->err->status) return im->err->status;
    im->tensors = qdq_mempool_array(im->mempool, list.count, sizeof *im->tensors);
    if (!im->tensors) return qdq_fail_memory(im->err, list.count * sizeof *im->tensors);
    im->tensor_count = list.count;
    for (size_t i = 0; i < list.count; i++) {
        qdq_flat_table table = qdq_flat_table_at(im->flat, list, i);
        if (im->err->status) return im->err->status;
        qdq_status status = read_tensor(im, &table, &im->tensors[i]);
        if (status != QDQ_OK) return status;
    }
    return QDQ_OK;
}
