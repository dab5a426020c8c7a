// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of integer products: building their nodes, and rescaling sums in the exact
// arithmetic of oracle.h.
#ifndef QDQ_TESTS_OPS_PRODUCTS_INTEGER_PRODUCTS_H
#define QDQ_TESTS_OPS_PRODUCTS_INTEGER_PRODUCTS_H

#include "tests/ops/products.h"

static inline int64_t value(const tensor *t, size_t i) { return (int64_t)tensor_at(t, i); }

// The scale or zero point of element i: the parameter has one element or many.
static inline double of_index(const tensor *t, size_t i) {
    return t->name ? tensor_at(t, tensor_count(t) == 1 ? 0 : i) : 0;
}

static inline int32_t wrapped(int64_t sum) { return (int32_t)(uint32_t)(uint64_t)sum; }

// clamp(rne(acc * (a * b / y)) + zero), each step in float32.
static inline double requantized(int32_t acc, double a, double b, double y, int64_t zero,
                                 qdq_dtype dtype) {
    double m = oracle_div(oracle_mul(a, b), y);
    int64_t q = oracle_to_integer(oracle_mul(oracle_of_integer(acc), m), QDQ_ROUND_HALF_EVEN);
    return (double)oracle_overflow(q + zero, oracle_range_of(dtype, &oracle_core),
                                   QDQ_OVERFLOW_SATURATE);
}

// Scales that spread the results over y's range, or powers of two, which make ties.
static inline void fill_scales(tensor *t, uint64_t *seed, double about, bool powers) {
    for (size_t i = 0; i < tensor_count(t); i++) {
        double r = (double)(unit_random(seed) >> 20 & 1023) / 1024.0 + 0.5;
        tensor_put(t, i, powers ? ldexp(1, (int)(r * 2) - 6) : r * about);
    }
}

//---- Matrices ---------------------------------------------------------------

enum { A, B, A_ZERO, B_ZERO, A_SCALE, B_SCALE, Y_SCALE, Y_ZERO, MATMUL_PORTS };

static inline qdq_value build_matmul_integer(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    return qdq_matmul_integer(g, v[A], v[B],
                              (qdq_matmul_integer_attrs){.name = "y",
                                                         .a_zero_point = v[A_ZERO],
                                                         .b_zero_point = v[B_ZERO]});
}

static inline qdq_value build_qlinear_matmul(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    return qdq_qlinear_matmul(g, (qdq_qlinear_matmul_attrs){.name = "y",
                                                            .a = v[A],
                                                            .a_scale = v[A_SCALE],
                                                            .a_zero_point = v[A_ZERO],
                                                            .b = v[B],
                                                            .b_scale = v[B_SCALE],
                                                            .b_zero_point = v[B_ZERO],
                                                            .y_scale = v[Y_SCALE],
                                                            .y_zero_point = v[Y_ZERO]});
}

//---- Convolutions -----------------------------------------------------------

enum { X, W, X_ZERO, W_ZERO, X_SCALE, W_SCALE, CONV_Y_SCALE, CONV_Y_ZERO, BIAS, CONV_PORTS };

typedef struct conv_example {
    int64_t batch, groups, inputs, outputs, in[2], kernel[2], strides[2], dilations[2], begin[2],
        end[2];
    qdq_dtype x, w;
    bool per_channel, powers;
} conv_example;

#define CONV_ATTRS(e)                                                                              \
    .strides = {(e)->strides, 2}, .dilations = {(e)->dilations, 2}, .pads_begin = {(e)->begin, 2}, \
    .pads_end = {(e)->end, 2}, .groups = QDQ_INT((e)->groups)

static inline qdq_value build_conv_integer(qdq_graph *g, const qdq_value *v, const void *self) {
    const conv_example *e = self;
    return qdq_conv_integer(
        g, v[X], v[W],
        (qdq_conv_integer_attrs){
            .name = "y", .x_zero_point = v[X_ZERO], .w_zero_point = v[W_ZERO], CONV_ATTRS(e)});
}

// The same with the channels last.
static inline qdq_value build_conv_integer_last(qdq_graph *g, const qdq_value *v,
                                                const void *self) {
    static const int64_t last[] = {0, 2, 3, 1}, first[] = {0, 3, 1, 2};
    const conv_example *e = self;
    qdq_value x = qdq_transpose(g, v[X], (qdq_transpose_attrs){.order = {last, 4}});
    x = qdq_conv_integer(g, x, v[W],
                         (qdq_conv_integer_attrs){.name = "channels_last",
                                                  .x_zero_point = v[X_ZERO],
                                                  .w_zero_point = v[W_ZERO],
                                                  .data_format = QDQ_INTEGER_NXC,
                                                  CONV_ATTRS(e)});
    return qdq_transpose(g, x, (qdq_transpose_attrs){.name = "y", .order = {first, 4}});
}

static inline qdq_value build_qlinear_conv(qdq_graph *g, const qdq_value *v, const void *self) {
    const conv_example *e = self;
    return qdq_qlinear_conv(g, (qdq_qlinear_conv_attrs){.name = "y",
                                                        .x = v[X],
                                                        .x_scale = v[X_SCALE],
                                                        .x_zero_point = v[X_ZERO],
                                                        .w = v[W],
                                                        .w_scale = v[W_SCALE],
                                                        .w_zero_point = v[W_ZERO],
                                                        .y_scale = v[CONV_Y_SCALE],
                                                        .y_zero_point = v[CONV_Y_ZERO],
                                                        .bias = v[BIAS],
                                                        CONV_ATTRS(e)});
}

#endif
