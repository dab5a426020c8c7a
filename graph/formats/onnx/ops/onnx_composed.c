// SPDX-License-Identifier: Apache-2.0
// Converts normalizations and quantized ops of com.microsoft that are formulas of our ops and need
// lists or words that a row of the table cannot say.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_formula.h"

static void bind_formula(qdq_onnx_node *node, const qdq_onnx_op *row, const char *text,
                         const qdq_onnx_term *terms, size_t count) {
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, terms, count));
}

// Returns the spatial dims of [N, C, spatial...].
static qdq_ints spatial_axes(const qdq_onnx_node *node) {
    static const int64_t dims[] = {2, 3, 4, 5, 6, 7};
    int rank = node->inputs[0]->shape.rank;
    return (qdq_ints){dims, rank > 2 ? (size_t)rank - 2 : 0};
}

//---- Norms ------------------------------------------------------------------

// Returns the formula of the p-norm of the elements along axes; p is 1, 2 or any other positive
// number.
static const char *norm_text(double p) {
    return p == 1.0   ? "norm = ReduceL1(x, axes: axes, keep_dims: 1)"
           : p == 2.0 ? "norm = ReduceL2(x, axes: axes, keep_dims: 1)"
                      : "norm = Pow(ReduceSum(Pow(Abs(x), p), axes: axes, keep_dims: 1), root)";
}

static double norm_order(const qdq_onnx_node *node) {
    const qdq_onnx_attr *p = qdq_onnx_attr_find(node, "p");
    return p && p->has_f ? (double)p->f : (double)qdq_onnx_int(node, "p", 2);
}

static void bind_norm(qdq_onnx_node *node, const qdq_onnx_op *row, qdq_ints axes,
                      const char *then) {
    double p = norm_order(node);
    char text[160];
    const qdq_onnx_term terms[] = {{.name = "axes", .ints = axes},
                                   qdq_onnx_exponent(node, p),
                                   {.name = "root", .number = 1.0 / p}};
    if (!(p > 0.0)) {
        qdq_onnx_refuse(node, "p", qdq_text_is(&node->im->graph->findings, p), "a positive number");
        return;
    }
    snprintf(text, sizeof text, "%s; %s", norm_text(p), then);
    bind_formula(node, row, text, terms, 3);
}

// Converts LpNormalization; a slice of zeros stays.
void qdq_onnx_lp_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    const int64_t axis = qdq_onnx_int(node, "axis", -1);
    bind_norm(node, row, (qdq_ints){&axis, 1}, "Select(Equal(norm, 0), 0, Divide(x, norm))");
}

void qdq_onnx_global_lp_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bind_norm(node, row, spatial_axes(node), "norm");
}

// Converts InstanceNormalization; each channel is a group.
void qdq_onnx_instance_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape x = node->inputs[0]->shape;
    const qdq_onnx_term terms[] = {
        {.name = "groups", .number = x.rank > 1 ? (double)x.dims[1] : 1.0}};
    bind_formula(node, row,
                 "GroupNorm(x, Cast(gamma, dtype: float32), Cast(beta, dtype: float32), groups: "
                 "groups, epsilon: epsilon, keep_stats: 0, data_format: NCX)",
                 terms, 1);
}

void qdq_onnx_mean_variance(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const int64_t usual[] = {0, 2, 3};
    qdq_ints axes;
    if (!qdq_onnx_int_list(node, "axes", &axes)) axes = (qdq_ints){usual, 3};
    const qdq_onnx_term terms[] = {{.name = "axes", .ints = axes}};
    bind_formula(node, row, row->ours, terms, 1);
}

// Converts LRN: the mean of squares over neighbouring channels is an AvgPool of [N, 1, C, pixels].
void qdq_onnx_lrn(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape x = node->inputs[0]->shape;
    int64_t size = qdq_onnx_int(node, "size", 0), pixels = 1;
    if (size < 1 || size > INT32_MAX || x.rank < 2) {
        qdq_onnx_refuse(node, "size", ONNX_TEXT(node, "is %lld", (long long)size),
                        "1 or more, for [N, C, ...]");
        return;
    }
    for (int i = 2; i < x.rank; i++) pixels *= x.dims[i];
    const int64_t rows[] = {x.dims[0], 1, x.dims[1], pixels}, kernel[] = {size, 1};
    const int64_t begin[] = {(size - 1) / 2, 0}, end[] = {size / 2, 0};
    const qdq_onnx_term terms[] = {{.name = "rows", .ints = {rows, 4}},
                                   {.name = "kernel", .ints = {kernel, 2}},
                                   {.name = "begin", .ints = {begin, 2}},
                                   {.name = "end", .ints = {end, 2}},
                                   {.name = "dims", .ints = {x.dims, (size_t)x.rank}}};
    bind_formula(node, row, row->ours, terms, 5);
}

// A shift that is not given is zero.
void qdq_onnx_skip_norm(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_shape x = node->inputs[0]->shape;
    size_t count = x.rank ? (size_t)x.dims[x.rank - 1] : 1;
    double *zeros = qdq_mempool_array(node->im->mempool, count, sizeof *zeros);
    if (!zeros) return;
    qdq_onnx_term beta = {.name = "beta", .input = qdq_onnx_input(node, 3)};
    if (!beta.input)
        beta.input = qdq_onnx_list_value(node, "beta", node->inputs[2]->elem, zeros, count);
    bind_formula(node, row, row->ours, &beta, 1);
}

//---- Quantized --------------------------------------------------------------

void qdq_onnx_qlinear_global_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool last = qdq_onnx_int(node, "channels_last", 0) != 0;
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_word(&call, "data_format", last ? "NXC" : "NCX");
    qdq_onnx_finish(&call);
}

void qdq_onnx_qlinear_softmax(qdq_onnx_node *node, const qdq_onnx_op *row) {
    bool flatten = qdq_onnx_int(node, "opset", 13) < 13;
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_set_int(&call, "axis", qdq_onnx_int(node, "axis", flatten ? 1 : -1));
    qdq_onnx_set_bool(&call, "flatten", flatten);
    qdq_onnx_finish(&call);
}

// Reads scale and zero point of y, then element, scale and zero point of each part.
void qdq_onnx_qlinear_concat(qdq_onnx_node *node, const qdq_onnx_op *row) {
    size_t parts = node->input_count > 2 ? (node->input_count - 2) / 3 : 0;
    if (parts == 0 || node->input_count != 2 + 3 * parts) {
        qdq_onnx_refuse(node, NULL, ONNX_TEXT(node, "has %zu inputs", node->input_count),
                        "2, and 3 for each part");
        return;
    }
    qdq_value *reals = qdq_mempool_array(node->im->mempool, parts, sizeof *reals);
    for (size_t i = 0; reals && i < parts; i++) {
        const qdq_onnx_term terms[] = {{.name = "part", .input = node->inputs[2 + 3 * i]},
                                       {.name = "scale", .input = node->inputs[3 + 3 * i]},
                                       {.name = "zero", .input = node->inputs[4 + 3 * i]}};
        reals[i] = qdq_onnx_formula(
            node, row, "real = Dequantize(part, scale, zero?, dtype: float32)", terms, 3);
        if (!reals[i].id) return;
    }
    if (!reals) return;
    int64_t axis = qdq_onnx_int(node, "axis", 0);
    const qdq_onnx_term terms[] = {
        {.name = "reals", .value = qdq_onnx_join(node, "reals", reals, parts, axis)},
        {.name = "x", .input = node->inputs[2]},
        {.name = "scale", .input = node->inputs[0]},
        {.name = "zero", .input = node->inputs[1]}};
    if (terms[0].value.id)
        bind_formula(node, row, "Quantize(reals, scale, zero?, dtype: x)", terms, 4);
}

//---- Products ---------------------------------------------------------------

void qdq_onnx_fused_matmul(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const char *const refused[] = {"transBatchA", "transBatchB"};
    for (size_t i = 0; i < 2; i++)
        if (qdq_onnx_int(node, refused[i], 0)) {
            qdq_onnx_refuse(node, refused[i], "is 1", "0");
            return;
        }
    bool scales = qdq_onnx_float(node, "alpha", 1) != 1.0;
    bind_formula(node, row,
                 scales ? "Multiply(MatMul(a, b, transpose_a: transA, transpose_b: transB), alpha)"
                        : "MatMul(a, b, transpose_a: transA, transpose_b: transB)",
                 NULL, 0);
}
