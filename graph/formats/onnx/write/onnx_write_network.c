// SPDX-License-Identifier: Apache-2.0
// Writes elementwise ops and products whose attributes or shapes ONNX has in another form.
#include <string.h>

#include "graph/formats/onnx/write/onnx_writers.h"
#include "runtime/numerics/dtype.h"

bool qdq_onnx_keeps_dtype(qdq_onnx_writer *w) {
    qdq_dtype x = w->draft->graph->values[w->node->inputs[0].id].type.dtype;
    qdq_dtype y = qdq_onnx_result_type(w).dtype;
    (void)qdq_onnx_given_dtype(w, "dtype");
    if (x == y) return true;
    qdq_onnx_cannot(w, "dtype", WRITE_TEXT(w, "is %s", qdq_dtype_name(y)), qdq_dtype_name(x),
                    "cast the result instead");
    return false;
}

//---- Channels in dim 1 ------------------------------------------------------

qdq_onnx_channels qdq_onnx_find_channels(qdq_onnx_writer *w) {
    const char *format = qdq_onnx_given_word(w, "data_format");
    int rank = w->draft->graph->values[w->node->inputs[0].id].type.shape.rank;
    return (qdq_onnx_channels){format && strcmp(format, "NXC") == 0 && rank > 2, rank};
}

const char *qdq_onnx_first_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c, const char *x) {
    int64_t order[QDQ_MAX_RANK] = {0, c->rank - 1};
    for (int i = 2; i < c->rank; i++) order[i] = i - 1;
    return c->last ? qdq_onnx_with_order(w, x, "channels_first", order, c->rank) : x;
}

qdq_onnx_new_node *qdq_onnx_emit_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c,
                                          const char *op, int since) {
    return qdq_onnx_emit(w, op, since, c->last ? "made" : NULL);
}

void qdq_onnx_yield_channels(qdq_onnx_writer *w, const qdq_onnx_channels *c, qdq_onnx_new_node *n) {
    int64_t order[QDQ_MAX_RANK] = {0};
    if (!c->last) {
        qdq_onnx_yield(w, n, 0);
        return;
    }
    for (int i = 1; i < c->rank; i++) order[i] = i + 1 < c->rank ? i + 1 : 1;
    const char *made = qdq_onnx_part(w, n);
    qdq_onnx_new_node *turned = qdq_onnx_emit(w, "Transpose", 1, NULL);
    qdq_onnx_add_input(w, turned, made);
    qdq_onnx_add_ints(w, turned, "perm", (qdq_ints){order, (size_t)c->rank});
    qdq_onnx_yield(w, turned, 0);
}

//---- Elementwise ------------------------------------------------------------

void qdq_onnx_write_square(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Mul", 13, NULL);
    (void)name;
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_yield(w, n, 0);
}

// Adds a node of one or two operands before the last node; returns its result.
static const char *pair(qdq_onnx_writer *w, const char *op, const char *helper, const char *a,
                        const char *b) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, op, 13, helper);
    qdq_onnx_add_input(w, n, a);
    if (b) qdq_onnx_add_input(w, n, b);
    return qdq_onnx_part(w, n);
}

// Refuses: Swish is a function of ONNX that rounds the sigmoid, and then the product.
void qdq_onnx_write_silu(qdq_onnx_writer *w, const char *name) {
    (void)name;
    qdq_onnx_cannot(w, NULL, "rounds once, and ONNX's Swish twice", NULL,
                    "compute it by Sigmoid and Multiply");
}

// Unlike Clip and Relu, Max makes +0 of -0.
void qdq_onnx_write_relu6(qdq_onnx_writer *w, const char *name) {
    qdq_type scalar = {qdq_onnx_result_type(w).dtype, {0}};
    const char *zero = qdq_onnx_new_fill(w, "zero", scalar, 0);
    const char *least = pair(w, "Max", "least", qdq_onnx_port_name(w, "x"), zero);
    (void)name;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Min", 13, NULL);
    qdq_onnx_add_input(w, n, least);
    qdq_onnx_add_input(w, n, qdq_onnx_new_fill(w, "six", scalar, 6));
    qdq_onnx_yield(w, n, 0);
}

// Adds a Cast to a dtype; with `helper` it is a part, whose name is returned.
static const char *cast_to(qdq_onnx_writer *w, const char *helper, const char *x, qdq_dtype dtype) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Cast", 13, helper);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_int(w, n, "to", qdq_onnx_elem_of(dtype));
    if (helper) return qdq_onnx_part(w, n);
    qdq_onnx_yield(w, n, 0);
    return NULL;
}

// Writes the definition: root and quotient in double, rounded to float32, and then to the dtype.
void qdq_onnx_write_rsqrt(qdq_onnx_writer *w, const char *name) {
    const qdq_type wide = {QDQ_FLOAT64, {0}};
    qdq_dtype dtype = qdq_onnx_result_type(w).dtype;
    const char *x = cast_to(w, "wide", qdq_onnx_port_name(w, "x"), QDQ_FLOAT64);
    const char *y = pair(w, "Div", "quotient", qdq_onnx_new_fill(w, "one", wide, 1),
                         pair(w, "Sqrt", "root", x, NULL));
    (void)name;
    if (dtype != QDQ_FLOAT32) y = cast_to(w, "float32", y, QDQ_FLOAT32);
    (void)cast_to(w, NULL, y, dtype);
}

// ONNX Runtime's Where turns a chosen -0 of its second input into +0. Therefore the second input
// gives the floors of positive numbers alone.
void qdq_onnx_write_trunc(qdq_onnx_writer *w, const char *name) {
    qdq_type scalar = {qdq_onnx_result_type(w).dtype, {0}};
    const char *x = qdq_onnx_port_name(w, "x"), *zero = qdq_onnx_new_fill(w, "zero", scalar, 0);
    const char *positive = pair(w, "Greater", "positive", x, zero);
    const char *down = pair(w, "Floor", "down", x, NULL), *up = pair(w, "Ceil", "up", x, NULL);
    (void)name;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Where", 9, NULL);
    qdq_onnx_add_input(w, n, positive);
    qdq_onnx_add_input(w, n, down);
    qdq_onnx_add_input(w, n, up);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_gelu(qdq_onnx_writer *w, const char *name) {
    bool tanh = strcmp(qdq_onnx_given_word(w, "mode"), "gelu_tanh") == 0;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 20, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_word(w, n, "approximate", tanh ? "tanh" : "none");
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_pow(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "a");
    qdq_onnx_add_port(w, n, "b");
    qdq_onnx_yield(w, n, 0);
}

// Writes a float Mod: ONNX's result has the sign of a. If b has the other sign, b is added.
static void write_float_mod(qdq_onnx_writer *w, const char *rest) {
    qdq_type scalar = {qdq_onnx_result_type(w).dtype, {0}};
    const char *b = qdq_onnx_port_name(w, "b"), *zero = qdq_onnx_new_fill(w, "zero", scalar, 0);
    const char *exact = pair(w, "Not", "not_zero", pair(w, "Equal", "is_zero", rest, zero), NULL);
    const char *signs = pair(w, "Xor", "signs_differ", pair(w, "Less", "rest_sign", rest, zero),
                             pair(w, "Less", "b_sign", b, zero));
    const char *moves = pair(w, "And", "moves", exact, signs);
    const char *moved = pair(w, "Add", "moved", rest, b);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Where", 9, NULL);
    qdq_onnx_add_input(w, n, moves);
    qdq_onnx_add_input(w, n, moved);
    qdq_onnx_add_input(w, n, rest);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_mod(qdq_onnx_writer *w, const char *name) {
    bool fmod = qdq_onnx_given_bool(w, "fmod");
    bool floats = qdq_dtype_is_real(qdq_onnx_result_type(w).dtype);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, floats && !fmod ? "rest" : NULL);
    qdq_onnx_add_port(w, n, "a");
    qdq_onnx_add_port(w, n, "b");
    qdq_onnx_add_int(w, n, "fmod", floats || fmod);
    if (floats && !fmod)
        write_float_mod(w, qdq_onnx_part(w, n));
    else
        qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_is_inf(qdq_onnx_writer *w, const char *name) {
    qdq_dtype x = qdq_onnx_at_port(w, "x")->type.dtype;
    bool wide = x == QDQ_FLOAT32 || x == QDQ_FLOAT64;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, wide ? 10 : 20, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_int(w, n, "detect_negative", qdq_onnx_given_bool(w, "detect_negative"));
    qdq_onnx_add_int(w, n, "detect_positive", qdq_onnx_given_bool(w, "detect_positive"));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_bit_shift(qdq_onnx_writer *w, const char *name) {
    bool right = strcmp(qdq_onnx_given_word(w, "direction"), "right") == 0;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 11, NULL);
    qdq_onnx_add_port(w, n, "a");
    qdq_onnx_add_port(w, n, "b");
    qdq_onnx_add_word(w, n, "direction", right ? "RIGHT" : "LEFT");
    qdq_onnx_yield(w, n, 0);
}

// Returns a parameter of channels, as an operand that is broadcast to x.
static const char *channel_operand(qdq_onnx_writer *w, const char *port,
                                   const qdq_onnx_channels *c) {
    qdq_shape dims = qdq_onnx_at_port(w, port)->type.shape;
    const char *name = qdq_onnx_port_name(w, port);
    if (c->last || c->rank <= 2) return name;
    for (dims.rank = 1; dims.rank < c->rank - 1; dims.rank++) dims.dims[dims.rank] = 1;
    return qdq_onnx_with_shape(w, name, port, dims);
}

void qdq_onnx_write_bias_add(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    const char *bias = channel_operand(w, "bias", &c);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Add", 13, NULL);
    (void)name;
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, bias);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_prelu(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    bool channels = qdq_onnx_given_bool(w, "per_channel_broadcast") &&
                    qdq_onnx_at_port(w, "slope")->type.shape.rank == 1;
    const char *slope = channels ? channel_operand(w, "slope", &c) : qdq_onnx_port_name(w, "slope");
    if (qdq_onnx_at_port(w, "slope")->type.dtype != qdq_onnx_result_type(w).dtype)
        qdq_onnx_cannot(w, "slope", "has another dtype than x", "the same", NULL);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 9, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, slope);
    qdq_onnx_yield(w, n, 0);
}

//---- Products ---------------------------------------------------------------

static const char *transposed(qdq_onnx_writer *w, const char *port, bool turn) {
    int rank = qdq_onnx_at_port(w, port)->type.shape.rank;
    const char *name = qdq_onnx_port_name(w, port);
    int64_t order[QDQ_MAX_RANK];
    if (!turn || rank < 2) return name;
    for (int i = 0; i < rank; i++) order[i] = i;
    order[rank - 2] = rank - 1, order[rank - 1] = rank - 2;
    return qdq_onnx_with_order(w, name, port, order, rank);
}

// Writes Gemm. A with more dims, or one, becomes a matrix before it, and the result gets them back:
// target onnx adds the products of Gemm and of MatMul in other orders, so the form has to stay.
static void write_gemm(qdq_onnx_writer *w, bool turn_a, bool turn_b) {
    qdq_shape a = qdq_onnx_at_port(w, "a")->type.shape, y = qdq_onnx_result_type(w).shape;
    qdq_shape rows = {2, {1, a.dims[a.rank - 1]}};
    const char *left = qdq_onnx_port_name(w, "a");
    bool matrix = a.rank == 2;
    for (int i = 0; i + 1 < a.rank; i++) rows.dims[0] *= a.dims[i];
    if (!matrix) left = qdq_onnx_with_shape(w, left, "rows", rows);
    const qdq_graph_value *added = qdq_onnx_at_port(w, "bias");
    const char *bias = added ? qdq_onnx_port_name(w, "bias") : NULL;
    if (added && added->type.shape.rank > 2) {
        qdq_shape all = {2, {rows.dims[0], y.dims[y.rank - 1]}};
        bias = qdq_onnx_with_shape(w, bias, "bias", all);
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Gemm", 13, matrix ? NULL : "product");
    qdq_onnx_add_input(w, n, left);
    qdq_onnx_add_port(w, n, "b");
    if (bias) qdq_onnx_add_input(w, n, bias);
    if (turn_a) qdq_onnx_add_int(w, n, "transA", 1);
    if (turn_b) qdq_onnx_add_int(w, n, "transB", 1);
    if (!matrix) {
        const char *product = qdq_onnx_part(w, n);
        qdq_ints dims = {y.dims, (size_t)y.rank};
        const char *shape = qdq_onnx_new_ints(w, "shape", dims);
        n = qdq_onnx_emit(w, "Reshape", 13, NULL);
        qdq_onnx_add_input(w, n, product);
        qdq_onnx_add_input(w, n, shape);
    }
    qdq_onnx_yield(w, n, 0);
}

// True if Gemm computes the node: a product with one matrix b, and a bias that is broadcast to
// rows, or has the shape of the result.
static bool is_gemm(const qdq_onnx_writer *w, const qdq_graph_value *a, const qdq_graph_value *b,
                    const qdq_graph_value *bias, bool turn_a) {
    if (b->type.shape.rank != 2) return false;
    if (a->type.shape.rank == 2) return !bias || bias->type.shape.rank <= 2;
    return !turn_a && (!bias || bias->type.shape.rank <= 1 ||
                       qdq_shape_equal(bias->type.shape, qdq_onnx_result_type(w).shape));
}

void qdq_onnx_write_matmul(qdq_onnx_writer *w, const char *name) {
    bool turn_a = qdq_onnx_given_bool(w, "transpose_a");
    bool turn_b = qdq_onnx_given_bool(w, "transpose_b");
    const qdq_graph_value *a = qdq_onnx_at_port(w, "a"), *b = qdq_onnx_at_port(w, "b");
    const qdq_graph_value *bias = qdq_onnx_at_port(w, "bias");
    qdq_dtype dtype = a->type.dtype;
    if (!qdq_onnx_keeps_dtype(w)) return;
    if (b->type.dtype != dtype || (bias && bias->type.dtype != dtype)) {
        qdq_onnx_cannot(w, NULL, "has operands of two dtypes", "one dtype", "cast one of them");
        return;
    }
    if ((bias || turn_a || turn_b) && is_gemm(w, a, b, bias, turn_a)) {
        write_gemm(w, turn_a, turn_b);
        return;
    }
    if (bias && dtype != QDQ_FLOAT32) {
        qdq_onnx_cannot(w, "bias", WRITE_TEXT(w, "is added to sums of %s", qdq_dtype_name(dtype)),
                        "matrices, or float32", "add it by a node of its own, which rounds");
        return;
    }
    const char *left = transposed(w, "a", turn_a), *right = transposed(w, "b", turn_b);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, bias ? "product" : NULL);
    qdq_onnx_add_input(w, n, left);
    qdq_onnx_add_input(w, n, right);
    if (bias) {
        const char *product = qdq_onnx_part(w, n);
        n = qdq_onnx_emit(w, "Add", 13, NULL);
        qdq_onnx_add_input(w, n, product);
        qdq_onnx_add_port(w, n, "bias");
    }
    qdq_onnx_yield(w, n, 0);
}

// Writes MatMulInteger and QLinearMatMul: the ports in their order.
void qdq_onnx_write_integer_matmul(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 10, NULL);
    for (size_t i = 0; i < w->node->input_count; i++)
        qdq_onnx_add_input(w, n, qdq_onnx_input_name(w, i));
    qdq_onnx_yield(w, n, 0);
}

// Writes MatMulIntegerToFloat and QGemm of com.microsoft: the ports in their order.
void qdq_onnx_write_microsoft_matmul(qdq_onnx_writer *w, const char *name) {
    bool gemm = strcmp(name, "QGemm") == 0;
    const qdq_graph_value *a = qdq_onnx_at_port(w, "a"), *b = qdq_onnx_at_port(w, "b");
    if (gemm && (a->type.shape.rank != 2 || b->type.shape.rank != 2)) {
        qdq_onnx_cannot(w, a->type.shape.rank != 2 ? "a" : "b", "is no matrix", "two dims",
                        "reshape it");
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 10, NULL);
    qdq_onnx_set_domain(w, n, QDQ_ONNX_MICROSOFT);
    for (size_t i = 0; i < w->node->input_count; i++)
        qdq_onnx_add_input(w, n, qdq_onnx_input_name(w, i));
    if (gemm) {
        qdq_onnx_add_int(w, n, "transA", qdq_onnx_given_bool(w, "transpose_a"));
        qdq_onnx_add_int(w, n, "transB", qdq_onnx_given_bool(w, "transpose_b"));
        qdq_onnx_add_real(w, n, "alpha", qdq_onnx_given_real(w, "alpha", 1));
    }
    qdq_onnx_yield(w, n, 0);
}
