// SPDX-License-Identifier: Apache-2.0
// Writes Tanh and Clamp. A node with `recurrent` becomes the operations that ONNX Runtime computes
// within a recurrent op.
#include "graph/formats/onnx/write/onnx_writers.h"

// True for the float32 node of a recurrent op. Other dtypes ignore the attribute.
static bool is_recurrent(qdq_onnx_writer *w) {
    bool recurrent = qdq_onnx_given_bool(w, "recurrent");
    return recurrent && qdq_onnx_result_type(w).dtype == QDQ_FLOAT32;
}

static const char *number(qdq_onnx_writer *w, const char *helper, double value) {
    qdq_type scalar = {qdq_onnx_result_type(w).dtype, {0}};
    return qdq_onnx_new_fill(w, helper, scalar, value);
}

// Adds a node of up to three operands before the last node; returns its result.
static const char *node(qdq_onnx_writer *w, const char *op, const char *helper, const char *a,
                        const char *b, const char *c) {
    const char *operands[] = {a, b, c};
    qdq_onnx_new_node *n = qdq_onnx_emit(w, op, 13, helper);
    for (int i = 0; i < 3 && operands[i]; i++) qdq_onnx_add_input(w, n, operands[i]);
    return qdq_onnx_part(w, n);
}

// NaN gives the upper bound.
static void write_bounds(qdq_onnx_writer *w, const char *least, const char *most) {
    const char *x = qdq_onnx_port_name(w, "x");
    const char *below = node(w, "Less", "below", x, most, NULL);
    const char *v = node(w, "Where", "bounded", below, x, most);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Max", 13, NULL);
    qdq_onnx_add_input(w, n, v);
    qdq_onnx_add_input(w, n, least);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_clamp(qdq_onnx_writer *w, const char *name) {
    const char *least = number(w, "min", qdq_onnx_given_real(w, "min", 0));
    const char *most = number(w, "max", qdq_onnx_given_real(w, "max", 0));
    if (is_recurrent(w)) {
        write_bounds(w, least, most);
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, least);
    qdq_onnx_add_input(w, n, most);
    qdq_onnx_yield(w, n, 0);
}

static const char *polynomial(qdq_onnx_writer *w, const char *s, const double *c, size_t n) {
    const char *y = number(w, "factor", c[0]);
    for (size_t i = 1; i < n; i++) {
        const char *product = node(w, "Mul", "product", y, s, NULL);
        y = node(w, "Add", "sum", product, number(w, "factor", c[i]), NULL);
    }
    return y;
}

// The quotient of runtime/numerics/onnx_runtime.h.
static void write_quotient(qdq_onnx_writer *w) {
    static const double p[] = {-2.76076847742355e-16, 2.00018790482477e-13, -8.60467152213735e-11,
                               5.12229709037114e-08,  1.48572235717979e-05, 6.37261928875436e-04,
                               4.89352455891786e-03};
    static const double q[] = {1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03,
                               4.89352518554385e-03};
    const char *x = node(w, "Clip", "bounded", qdq_onnx_port_name(w, "x"), number(w, "min", -10),
                         number(w, "max", 10));
    const char *s = node(w, "Mul", "square", x, x, NULL);
    const char *above = node(w, "Mul", "above", x, polynomial(w, s, p, sizeof p / sizeof *p), NULL);
    const char *below = polynomial(w, s, q, sizeof q / sizeof *q);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "Div", 13, NULL);
    qdq_onnx_add_input(w, n, above);
    qdq_onnx_add_input(w, n, below);
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_tanh(qdq_onnx_writer *w, const char *name) {
    if (is_recurrent(w)) {
        write_quotient(w);
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_yield(w, n, 0);
}
