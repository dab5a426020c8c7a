// SPDX-License-Identifier: Apache-2.0
// Converts operators that move elements: CONCATENATION, PAD, RESHAPE and its like, TRANSPOSE,
// DEPTH_TO_SPACE, SPACE_TO_DEPTH. Codes move unchanged.
#include <stdio.h>

#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/numerics/dtype.h"

//---- Concatenation ----------------------------------------------------------

// True if two tensors have the same scale and zero point.
static bool same_parameters(const qdq_tflite_tensor *a, const qdq_tflite_tensor *b) {
    if (a->scale_count != b->scale_count) return false;
    if (!a->scale_count) return true;
    return a->scales[0] == b->scales[0] &&
           (a->zp_count ? a->zps[0] : 0.0) == (b->zp_count ? b->zps[0] : 0.0);
}

// Returns input i in the parameters of the output: codes with others become floats, then codes.
static qdq_value joined_part(qdq_tflite_node *node, size_t i, const char *helper) {
    const qdq_tflite_tensor *part = node->inputs[i], *out = node->outputs[0];
    qdq_value codes = qdq_tflite_ref(node, i, QDQ_TFLITE_AS_STORED);
    if (same_parameters(part, out)) return codes;
    if (!qdq_tflite_is_codes(part) || !qdq_tflite_is_codes(out)) {
        qdq_tflite_refuse(node, NULL, "joins codes and floats", NULL);
        return codes;
    }
    qdq_value real = qdq_tflite_dequantized(node, part, codes, helper);
    return qdq_tflite_quantized(node, real, helper);
}

void qdq_tflite_concatenation(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    bool known = false;
    int axis;
    qdq_value *parts = qdq_mempool_array(node->im->mempool, node->input_count, sizeof *parts);
    if (!parts) return;
    bool codes = qdq_tflite_is_codes(node->outputs[0]);
    if (codes && node->activation) {
        qdq_tflite_refuse(node, "activation", TFLITE_TEXT(node, "is %d", node->activation),
                          "0 for codes");
        return;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        char helper[32];
        snprintf(helper, sizeof helper, "part_%zu", i);
        if (!node->inputs[i]) qdq_tflite_refuse(node, NULL, "joins an absent tensor", NULL);
        if (node->refused) return;
        parts[i] = joined_part(node, i, helper);
    }
    qdq_shape shape = qdq_tflite_shape(node, parts[0], &known);
    int64_t given = qdq_tflite_int(node, 0, QDQ_FLAT_I32, 0);
    if (node->refused || !known || !qdq_tflite_axis(node, given, shape.rank, &axis)) return;
    qdq_concat_attrs attrs = {.name = codes ? node->name : qdq_tflite_op_name(node),
                              .xs = {parts, node->input_count},
                              .axis = QDQ_INT(axis)};
    qdq_value y = qdq_concat(node->im->graph, attrs);
    if (codes)
        qdq_tflite_bind(node, 0, y);
    else
        qdq_tflite_finish(node, y);
}

//---- Padding ----------------------------------------------------------------

// Returns the element that PAD adds: real 0, which is the zero point of codes.
static qdq_value pad_value(qdq_tflite_node *node) {
    const qdq_tflite_tensor *x = node->inputs[0];
    if (qdq_tflite_input(node, 2)) return qdq_tflite_ref(node, 2, QDQ_TFLITE_AS_STORED);
    int64_t zero = qdq_tflite_is_codes(x) && x->zp_count ? (int64_t)x->zps[0] : 0;
    if (!zero) return (qdq_value){0};
    unsigned char element[8] = {0};
    int32_t code = (int32_t)zero;
    const qdq_dtype_info *info = qdq_dtype_get(x->dtype);
    if (zero < info->least || zero > info->greatest) {
        qdq_tflite_refuse(node, "zero_point", TFLITE_TEXT(node, "is %lld", (long long)zero),
                          TFLITE_TEXT(node, "a code of %s", info->name));
        return (qdq_value){0};
    }
    qdq_encode_int(x->dtype, &code, element, 1);
    return qdq_constant(node->im->graph, qdq_tflite_helper(node, "zero_point"), x->dtype,
                        (qdq_shape){0}, element);
}

void qdq_tflite_pad(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    bool known;
    int64_t sizes[2 * QDQ_MAX_RANK], pads[2 * QDQ_MAX_RANK];
    size_t count;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !qdq_tflite_ints(node, 1, "paddings", 2 * QDQ_MAX_RANK, sizes, &count)) return;
    if (count != 2 * (size_t)shape.rank) {
        qdq_tflite_refuse(node, "paddings", TFLITE_TEXT(node, "has %zu numbers", count),
                          TFLITE_TEXT(node, "%d", 2 * shape.rank));
        return;
    }
    for (int i = 0; i < shape.rank; i++)
        pads[i] = sizes[2 * i], pads[shape.rank + i] = sizes[2 * i + 1];
    qdq_value value = pad_value(node);
    if (node->refused) return;
    qdq_tflite_bind(
        node, 0,
        qdq_pad(node->im->graph, x,
                (qdq_pad_attrs){.name = node->name, .value = value, .pads = {pads, count}}));
}

//---- Shapes -----------------------------------------------------------------

// Binds the output to the input with other dims; one of them may be -1.
static void reshape(qdq_tflite_node *node, const int64_t *dims, size_t count) {
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    if (node->refused) return;
    qdq_tflite_bind(node, 0,
                    qdq_reshape(node->im->graph, x,
                                (qdq_reshape_attrs){.name = node->name,
                                                    .shape = {dims, count},
                                                    .special_zero = QDQ_FALSE}));
}

// Reads the option new_shape, in place of the second input. False after a refusal.
static bool new_shape(qdq_tflite_node *node, unsigned slot, const char *name, int64_t *out,
                      size_t *count) {
    qdq_flat_list list = qdq_flat_list_of(node->im->flat, &node->options, slot, 4);
    *count = list.count;
    if (list.count > QDQ_MAX_RANK) {
        qdq_tflite_refuse(node, name, TFLITE_TEXT(node, "has %zu numbers", list.count),
                          "at most 8");
        return false;
    }
    for (size_t i = 0; i < list.count; i++)
        out[i] = qdq_flat_int_at(node->im->flat, list, i, QDQ_FLAT_I32);
    return !node->im->err->status;
}

// The shape is the second input, or an option, where old files have [0] for a scalar.
void qdq_tflite_reshape(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t dims[QDQ_MAX_RANK] = {0};
    size_t count;
    bool given = qdq_tflite_input(node, 1) != NULL;
    if (given ? !qdq_tflite_ints(node, 1, "shape", QDQ_MAX_RANK, dims, &count)
              : !new_shape(node, 0, "new_shape", dims, &count))
        return;
    if (!given && count == 1 && dims[0] == 0) count = 0;
    reshape(node, dims, count);
}

// Drops dims of 1: the ones that an option lists, or all.
void qdq_tflite_squeeze(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t axes[QDQ_MAX_RANK], dims[QDQ_MAX_RANK];
    size_t count, kept = 0;
    bool known, drop[QDQ_MAX_RANK] = {false};
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !new_shape(node, 0, "squeeze_dims", axes, &count)) return;
    for (size_t i = 0; i < count; i++) {
        int axis;
        if (!qdq_tflite_axis(node, axes[i], shape.rank, &axis)) return;
        drop[axis] = true;
        if (shape.dims[axis] == 1) continue;
        qdq_tflite_refuse(
            node, "squeeze_dims",
            TFLITE_TEXT(node, "name dim %d, which is %lld", axis, (long long)shape.dims[axis]),
            "dims of 1");
        return;
    }
    for (int i = 0; i < shape.rank; i++)
        if (count ? !drop[i] : shape.dims[i] != 1) dims[kept++] = shape.dims[i];
    reshape(node, dims, kept);
}

// Adds a dim of 1 before an axis.
void qdq_tflite_expand_dims(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t given, dims[QDQ_MAX_RANK];
    size_t count;
    bool known;
    int axis;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || !qdq_tflite_ints(node, 1, "axis", 1, &given, &count)) return;
    if (count != 1 || shape.rank == QDQ_MAX_RANK) {
        qdq_tflite_refuse(node, count != 1 ? "axis" : "x",
                          count != 1 ? "has no element" : "has 8 dims",
                          count != 1 ? "one" : "at most 7");
        return;
    }
    if (!qdq_tflite_axis(node, given, shape.rank + 1, &axis)) return;
    for (int i = 0; i <= shape.rank; i++)
        dims[i] = i == axis ? 1 : shape.dims[i < axis ? i : i - 1];
    reshape(node, dims, (size_t)shape.rank + 1);
}

//---- Dims in another order --------------------------------------------------

void qdq_tflite_transpose(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t order[QDQ_MAX_RANK];
    size_t count;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    if (node->refused || !qdq_tflite_ints(node, 1, "perm", QDQ_MAX_RANK, order, &count)) return;
    qdq_tflite_bind(
        node, 0,
        qdq_transpose(node->im->graph, x,
                      (qdq_transpose_attrs){.name = node->name, .order = {order, count}}));
}

// Moves the pixels of a block of [N, H, W, C] between channels, where they come first, and rows and
// columns.
void qdq_tflite_block(qdq_tflite_node *node, const qdq_tflite_op *row) {
    bool known, to_space = row->code == QDQ_TFLITE_DEPTH_TO_SPACE;
    int64_t block = qdq_tflite_int(node, 0, QDQ_FLAT_I32, 0);
    qdq_graph *graph = node->im->graph;
    qdq_value x = qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known) return;
    const int64_t *d = shape.dims;
    bool fits = shape.rank == 4 && block >= 1 && block <= 1 << 15 &&
                (to_space ? d[3] % (block * block) == 0 : d[1] % block == 0 && d[2] % block == 0);
    if (!fits) {
        qdq_tflite_refuse(node, "block_size", TFLITE_TEXT(node, "is %lld", (long long)block),
                          TFLITE_TEXT(node, "a divisor of dims of 4 in x, which is %s",
                                      qdq_shape_text(&graph->findings, shape)));
        return;
    }
    const int64_t cut[2][6] = {{d[0], d[1] / block, block, d[2] / block, block, d[3]},
                               {d[0], d[1], d[2], block, block, d[3] / (block * block)}};
    static const int64_t order[6] = {0, 1, 3, 2, 4, 5};
    const int64_t to[2][4] = {{d[0], d[1] / block, d[2] / block, d[3] * block * block},
                              {d[0], d[1] * block, d[2] * block, d[3] / (block * block)}};
    qdq_value y = qdq_reshape(graph, x,
                              (qdq_reshape_attrs){.name = qdq_tflite_helper(node, "blocks"),
                                                  .shape = {cut[to_space], 6},
                                                  .special_zero = QDQ_FALSE});
    y = qdq_transpose(
        graph, y,
        (qdq_transpose_attrs){.name = qdq_tflite_helper(node, "moved"), .order = {order, 6}});
    qdq_tflite_bind(node, 0,
                    qdq_reshape(graph, y,
                                (qdq_reshape_attrs){.name = node->name,
                                                    .shape = {to[to_space], 4},
                                                    .special_zero = QDQ_FALSE}));
}
