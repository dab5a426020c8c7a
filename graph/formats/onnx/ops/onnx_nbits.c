// SPDX-License-Identifier: Apache-2.0
// Converts MatMulNBits of com.microsoft: Dequantize of packed weights in blocks, and MatMul. Codes
// are packed as ONNX packs uint2, uint4 and uint8, so the bytes of the model stay where they are.
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

// Packed weights [n, depth], `blocks` of them in a row, each with a scale.
typedef struct packed {
    int64_t n, k, depth, blocks, block, bits;
    int elem;
} packed;

static bool read_sizes(qdq_onnx_node *node, packed *w) {
    *w = (packed){.n = qdq_onnx_int(node, "N", 0),
                  .k = qdq_onnx_int(node, "K", 0),
                  .block = qdq_onnx_int(node, "block_size", 0),
                  .bits = qdq_onnx_int(node, "bits", 4)};
    w->elem = w->bits == 2 ? ONNX_UINT2 : w->bits == 4 ? ONNX_UINT4 : ONNX_UINT8;
    if (w->bits != 2 && w->bits != 4 && w->bits != 8) {
        qdq_onnx_refuse(node, "bits", ONNX_TEXT(node, "is %lld", (long long)w->bits), "2, 4 or 8");
        return false;
    }
    if (w->n < 1 || w->k < 1 || w->block < 16 || w->n > INT32_MAX || w->k > INT32_MAX ||
        w->block > INT32_MAX) {
        qdq_onnx_refuse(node, "block_size", "does not go with N and K",
                        "16 or more, and N and K of 1 or more");
        return false;
    }
    w->blocks = (w->k - 1) / w->block + 1;
    w->depth = w->blocks * w->block;
    return true;
}

// Returns the bytes of a constant as codes [rows, columns]; NULL after a refusal.
static qdq_onnx_value *as_codes(qdq_onnx_node *node, size_t i, const char *name, const packed *w,
                                int64_t rows, int64_t columns) {
    const qdq_onnx_value *bytes = node->inputs[i];
    const qdq_onnx_tensor *from = bytes->tensor;
    int64_t wanted = rows * columns * w->bits;
    if (!from || !(from->has_raw || from->external) || bytes->elem != ONNX_UINT8 ||
        (int64_t)qdq_onnx_count(bytes->shape) * 8 != wanted) {
        qdq_onnx_refuse(node, name, ONNX_TEXT(node, "is '%.128s'", bytes->name),
                        ONNX_TEXT(node, "a raw constant of %lld bytes", (long long)(wanted / 8)));
        return NULL;
    }
    const int64_t dims[] = {rows, columns};
    qdq_onnx_tensor *tensor = qdq_mempool_copy(node->im->mempool, from, 1, sizeof *from);
    qdq_onnx_value *codes = qdq_onnx_new_value(node->im, bytes->name);
    if (!tensor || !codes) return NULL;
    tensor->elem = w->elem;
    tensor->dims.items = qdq_mempool_copy(node->im->mempool, dims, 2, sizeof *dims);
    tensor->dims.count = 2;
    codes->elem = w->elem, codes->tensor = tensor;
    codes->shape = (qdq_shape){2, {rows, columns}};
    return tensor->dims.items ? codes : NULL;
}

// Unpacks zero points whose rows end within a byte, one by one; NULL after a refusal.
static qdq_onnx_value *unpacked_zeros(qdq_onnx_node *node, const packed *w) {
    qdq_onnx_value *bytes = node->inputs[3];
    size_t in_byte = (size_t)(8 / w->bits), blocks = (size_t)w->blocks, n = (size_t)w->n;
    size_t row = (blocks + in_byte - 1) / in_byte;
    if (bytes->elem != ONNX_UINT8 || !qdq_onnx_known(node->im, bytes) ||
        qdq_onnx_count(bytes->shape) != n * row) {
        qdq_onnx_refuse(
            node, "zero_points", ONNX_TEXT(node, "is '%.128s'", bytes->name),
            ONNX_TEXT(node, "a constant of %zu bytes, at most %d", n * row, QDQ_ONNX_MOST_NUMBERS));
        return NULL;
    }
    double *zeros = qdq_mempool_array(node->im->mempool, n * blocks, sizeof *zeros);
    for (size_t i = 0; zeros && i < n * blocks; i++) {
        size_t column = i % blocks, shift = column % in_byte * (size_t)w->bits;
        int64_t byte = qdq_onnx_int_at(bytes, i / blocks * row + column / in_byte);
        zeros[i] = (double)(byte >> shift & ((1 << w->bits) - 1));
    }
    return zeros ? qdq_onnx_list_value(node, "zero_points", w->elem, zeros, n * blocks) : NULL;
}

// Returns the zero points, which are packed by row; without them the middle of the codes.
static qdq_onnx_value *zero_points(qdq_onnx_node *node, const packed *w) {
    if (qdq_onnx_input(node, 3)) {
        if (w->blocks * w->bits % 8 == 0)
            return as_codes(node, 3, "zero_points", w, w->n, w->blocks);
        qdq_onnx_value *rows = unpacked_zeros(node, w);
        if (rows) rows->shape = (qdq_shape){2, {w->n, w->blocks}};
        return rows;
    }
    size_t count = (size_t)(w->n * w->blocks);
    double *middle = qdq_mempool_array(node->im->mempool, count, sizeof *middle);
    if (!middle) return NULL;
    for (size_t i = 0; i < count; i++) middle[i] = (double)(1 << (w->bits - 1));
    qdq_onnx_value *zeros = qdq_onnx_list_value(node, "zero_points", w->elem, middle, count);
    if (zeros) zeros->shape = (qdq_shape){2, {w->n, w->blocks}};
    return zeros;
}

// Adds the product of accuracy level 4: the activations become int8 in blocks.
static void bind_level_4(qdq_onnx_node *node, const qdq_onnx_op *row, const packed *w,
                         qdq_onnx_value *codes, qdq_onnx_value *zeros) {
    qdq_shape grid = {2, {w->n, w->blocks}};
    const qdq_onnx_term terms[] = {
        {.name = "codes", .input = codes},
        {.name = "zeros", .input = zeros},
        {.name = "scales", .value = qdq_onnx_reshaped(node, node->inputs[2], "scales", grid)},
        {.name = "block", .number = (double)w->block},
        {.name = "bias", .input = qdq_onnx_input(node, 5)}};
    qdq_onnx_bind(node, 0,
                  qdq_onnx_formula(node, row,
                                   "MatMulNBits(a, codes, scales, zeros?, bias?, transpose_b: 1, "
                                   "block_size: block)",
                                   terms, 5));
}

void qdq_onnx_matmul_nbits(qdq_onnx_node *node, const qdq_onnx_op *row) {
    packed w;
    if (!read_sizes(node, &w)) return;
    if (qdq_onnx_input(node, 4)) {
        qdq_onnx_refuse(node, "g_idx", "is given", "none");
        return;
    }
    qdq_onnx_value *codes = as_codes(node, 1, "B", &w, w.n, w.depth);
    bool level_4 = qdq_onnx_int(node, "accuracy_level", 0) == 4 &&
                   (w.bits != 2 || (w.block >= 32 && w.block <= 128)) &&
                   qdq_onnx_dtype(node->inputs[0]->elem) == QDQ_FLOAT32;
    bool wants_zeros = !level_4 || qdq_onnx_input(node, 3);
    qdq_onnx_value *zeros = codes && wants_zeros ? zero_points(node, &w) : NULL;
    if (!codes || (wants_zeros && !zeros)) return;
    if ((int64_t)qdq_onnx_count(node->inputs[2]->shape) != w.n * w.blocks) {
        qdq_onnx_refuse(node, "scales", "have another size", "one scale for each block");
        return;
    }
    if (level_4) {
        bind_level_4(node, row, &w, codes, zeros);
        return;
    }
    qdq_shape grid = {2, {w.n, w.blocks}};
    const int64_t group[] = {1, w.block};
    const qdq_onnx_term terms[] = {
        {.name = "codes", .input = codes},
        {.name = "zeros", .input = zeros},
        {.name = "scales", .value = qdq_onnx_reshaped(node, node->inputs[2], "scales", grid)},
        {.name = "group", .ints = {group, 2}},
        {.name = "k", .ints = {&w.k, 1}},
        {.name = "bias", .input = qdq_onnx_input(node, 5)}};
    qdq_onnx_bind(node, 0,
                  qdq_onnx_formula(
                      node, row,
                      w.depth == w.k
                          ? "Add(MatMul(a, Dequantize(codes, scales, zeros, qtype: per_group, "
                            "group_shape: group, dtype: a), transpose_b: 1), bias?)"
                          : "Add(MatMul(a, Slice(Dequantize(codes, scales, zeros, qtype: "
                            "per_group, group_shape: group, dtype: a), starts: [0], ends: k, axes: "
                            "[1]), transpose_b: 1), bias?)",
                      terms, 6));
}
