// SPDX-License-Identifier: Apache-2.0
// Ops on integers alone, as the integer profile of TOSA 1.0 has them. Their results are integers
// computed exactly; products lie in ops/products.h, Requantize and Table in ops/quantize.h.
#ifndef QDQ_OPS_INTEGER_H
#define QDQ_OPS_INTEGER_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qdq_avg_pool_integer_attrs {
    const char *name;
    qdq_value x;                    // int8, uint8 or int16: [N, spatial..., C]
    qdq_value x_zero_point;         // of x's dtype, [] or [1]; default 0
    qdq_value y_zero_point;         // likewise
    qdq_ints strides, kernel;       // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // empty: zeros
    qdq_data_format data_format;
} qdq_avg_pool_integer_attrs;

// y = the sum of x - x_zero_point over the n elements of a window that lie in x, times 1 / n, plus
// y_zero_point, clamped. 1 / n is the multiplier floor((2^30 + 1) * 2^k / n), k the bits of n - 1,
// and the shift 30 + k of a Requantize of rounding `single`.
static inline qdq_value qdq_avg_pool_integer(qdq_graph *graph, qdq_value x,
                                             qdq_avg_pool_integer_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "AvgPoolInteger", &attrs, sizeof attrs);
}

//---- Products ---------------------------------------------------------------

typedef struct qdq_matmul_integer64_attrs {
    const char *name;
    qdq_value a, b;                        // int8 or int16
    qdq_value a_zero_point, b_zero_point;  // of the dtype of a, of b; [] or [1]; default 0
} qdq_matmul_integer64_attrs;

// (a - a_zero_point) * (b - b_zero_point) of the shapes of numpy's matmul, int64.
static inline qdq_value qdq_matmul_integer64(qdq_graph *graph, qdq_value a, qdq_value b,
                                             qdq_matmul_integer64_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MatMulInteger64", &attrs, sizeof attrs);
}

typedef struct qdq_conv_integer64_attrs {
    const char *name;
    qdq_value x, w;                        // int8 or int16; w is [O, I, spatial...]
    qdq_value x_zero_point, w_zero_point;  // of the dtype of x, of w; [] or [1]; default 0
    qdq_ints strides, dilations, pads_begin, pads_end;  // default 1, 1, 0, 0
    qdq_auto_pad auto_pad;
    qdq_int groups;
    qdq_data_format data_format;  // of x and y
} qdq_conv_integer64_attrs;

// y is int64; elements beyond the border count as x_zero_point.
static inline qdq_value qdq_conv_integer64(qdq_graph *graph, qdq_value x, qdq_value w,
                                           qdq_conv_integer64_attrs attrs) {
    attrs.x = x, attrs.w = w;
    return qdq_add_node(graph, "ConvInteger64", &attrs, sizeof attrs);
}

//---- Elements ---------------------------------------------------------------

typedef struct qdq_multiply_shift_attrs {
    const char *name;
    qdq_value a, b;  // both int8, int16 or int32; broadcast to each other
    qdq_int shift;   // 0 to 63; default 0
} qdq_multiply_shift_attrs;

// y = (a * b + 2^(shift - 1)) >> shift, int32, half up; shift 0 drops nothing. Wraps around.
static inline qdq_value qdq_multiply_shift(qdq_graph *graph, qdq_value a, qdq_value b,
                                           qdq_multiply_shift_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MultiplyShift", &attrs, sizeof attrs);
}

typedef struct qdq_arithmetic_shift_right_attrs {
    const char *name;
    qdq_value a, b;  // both int8, int16 or int32; broadcast to each other
    qdq_bool round;  // half up; default false: down
} qdq_arithmetic_shift_right_attrs;

// y = a >> b. A b below 0 counts as 0, one of the bits of a or more as these bits less 1.
static inline qdq_value qdq_arithmetic_shift_right(qdq_graph *graph, qdq_value a, qdq_value b,
                                                   qdq_arithmetic_shift_right_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "ArithmeticShiftRight", &attrs, sizeof attrs);
}

typedef struct qdq_clamp_integer_attrs {
    const char *name;
    qdq_value x;       // an integer of at most 32 bits but uint32
    qdq_int min, max;  // of x's dtype, min <= max; required
} qdq_clamp_integer_attrs;

// y = min(max(x, min), max), of x's dtype.
static inline qdq_value qdq_clamp_integer(qdq_graph *graph, qdq_value x,
                                          qdq_clamp_integer_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "ClampInteger", &attrs, sizeof attrs);
}

typedef struct qdq_neg_integer_attrs {
    const char *name;
    qdq_value x;             // int8, uint8, int16 or uint16
    qdq_value x_zero_point;  // of x's dtype, [] or [1]; default 0
    qdq_value y_zero_point;  // likewise
} qdq_neg_integer_attrs;

// y = y_zero_point - (x - x_zero_point), clamped to x's dtype.
static inline qdq_value qdq_neg_integer(qdq_graph *graph, qdq_value x,
                                        qdq_neg_integer_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "NegInteger", &attrs, sizeof attrs);
}

typedef struct qdq_count_leading_zeros_attrs {
    const char *name;
    qdq_value x;  // int32
} qdq_count_leading_zeros_attrs;

// y = the zero bits above the first bit of x that is set, int32: 32 for 0, 0 for a negative x.
static inline qdq_value qdq_count_leading_zeros(qdq_graph *graph, qdq_value x,
                                                qdq_count_leading_zeros_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "CountLeadingZeros", &attrs, sizeof attrs);
}

//---- Reductions -------------------------------------------------------------

typedef struct qdq_reduce_integer_attrs {
    const char *name;
    qdq_value x;         // int8, int16 or int32; of the sum int32
    qdq_int axis;        // required, in [-rank, rank - 1]
    qdq_bool keep_dims;  // default false
} qdq_reduce_integer_attrs;

#define QDQ_REDUCE_INTEGER_CALL(call, op)                                                         \
    static inline qdq_value call(qdq_graph *graph, qdq_value x, qdq_reduce_integer_attrs attrs) { \
        attrs.x = x;                                                                              \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                                     \
    }

QDQ_REDUCE_INTEGER_CALL(qdq_reduce_max_integer, "ReduceMaxInteger")
QDQ_REDUCE_INTEGER_CALL(qdq_reduce_min_integer, "ReduceMinInteger")
QDQ_REDUCE_INTEGER_CALL(qdq_reduce_sum_integer, "ReduceSumInteger")  // wraps around

#ifdef __cplusplus
}
#endif
#endif
