// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: each element of y is computed from one element of each input.
#ifndef QDQ_OPS_ELEMENTWISE_H
#define QDQ_OPS_ELEMENTWISE_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

// How shapes are broadcast: by numpy's rule (right-aligned, sizes equal or 1), or not at all.
typedef enum qdq_broadcast { QDQ_BROADCAST_NUMPY = 0, QDQ_BROADCAST_NONE } qdq_broadcast;

//---- Elements: one input ----------------------------------------------------

// Abs and Neg take every number of 32 bits or more, Sqrt float64 too. Integers wrap around:
// INT32_MIN and INT64_MIN stay.
QDQ_UNARY_CALL(qdq_abs, "Abs")
QDQ_UNARY_CALL(qdq_neg, "Neg")  // -x
QDQ_UNARY_CALL(qdq_exp, "Exp")
QDQ_UNARY_CALL(qdq_log, "Log")
QDQ_UNARY_CALL(qdq_log1p, "Log1p")  // ln(1 + x)
QDQ_UNARY_CALL(qdq_sqrt, "Sqrt")
QDQ_UNARY_CALL(qdq_rsqrt, "Rsqrt")  // 1 / sqrt(x), rounded once
QDQ_UNARY_CALL(qdq_square, "Square")
QDQ_UNARY_CALL(qdq_tanh, "Tanh")
QDQ_UNARY_CALL(qdq_sigmoid, "Sigmoid")  // 1 / (1 + e^-x)
QDQ_UNARY_CALL(qdq_silu, "SiLU")        // x / (1 + e^-x)
QDQ_UNARY_CALL(qdq_relu, "ReLU")        // max(x, 0); NaN stays NaN
QDQ_UNARY_CALL(qdq_relu6, "ReLU6")      // min(max(x, 0), 6); NaN stays NaN
QDQ_UNARY_CALL(qdq_reciprocal, "Reciprocal")
QDQ_UNARY_CALL(qdq_round, "Round")           // half to even
QDQ_UNARY_CALL(qdq_hard_swish, "HardSwish")  // x * max(0, min(1, x / 6 + 0.5))
QDQ_UNARY_CALL(qdq_mish, "Mish")             // x * tanh(ln(1 + e^x))
QDQ_UNARY_CALL(qdq_sign, "Sign")             // 1, 0 or -1; -0 and NaN stay
QDQ_UNARY_CALL(qdq_floor, "Floor")           // a whole number, rounded down
QDQ_UNARY_CALL(qdq_ceil, "Ceil")             // rounded up
QDQ_UNARY_CALL(qdq_trunc, "Trunc")           // rounded toward zero; the sign stays
QDQ_UNARY_CALL(qdq_erf, "Erf")               // the error function
QDQ_UNARY_CALL(qdq_softplus, "Softplus")     // ln(1 + e^x)
QDQ_UNARY_CALL(qdq_sin, "Sin")
QDQ_UNARY_CALL(qdq_cos, "Cos")
QDQ_UNARY_CALL(qdq_tan, "Tan")
QDQ_UNARY_CALL(qdq_asin, "Asin")
QDQ_UNARY_CALL(qdq_acos, "Acos")
QDQ_UNARY_CALL(qdq_atan, "Atan")
QDQ_UNARY_CALL(qdq_sinh, "Sinh")
QDQ_UNARY_CALL(qdq_cosh, "Cosh")
QDQ_UNARY_CALL(qdq_asinh, "Asinh")
QDQ_UNARY_CALL(qdq_acosh, "Acosh")
QDQ_UNARY_CALL(qdq_atanh, "Atanh")
QDQ_UNARY_CALL(qdq_is_nan, "IsNaN")            // bool; of floats, float64, float8
QDQ_UNARY_CALL(qdq_not, "Not")                 // of bool
QDQ_UNARY_CALL(qdq_bitwise_not, "BitwiseNot")  // of integers of 8 bits or more

// Erf, Exp, Log, Log1p, Mish, Rsqrt, Sigmoid and Sqrt with their attribute, for qdq_add_node.
typedef struct qdq_approximate_attrs {
    const char *name;
    qdq_value x;
    qdq_value unused;  // keeps the next field out of the padding of qdq_unary_attrs
    // Target ttnn on a chip: its faster kernel, if it has one. Others ignore it.
    qdq_bool fast_and_approximate_mode;
} qdq_approximate_attrs;

// Tanh with its attributes, for qdq_add_node.
typedef struct qdq_tanh_attrs {
    const char *name;
    qdq_value x;
    qdq_value unused;  // as above
    // Targets onnx and ort: as in the GRU of ONNX Runtime, which rounds each product of its
    // polynomial. Others ignore it.
    qdq_bool recurrent;
    qdq_bool fast_and_approximate_mode;  // as above
} qdq_tanh_attrs;

typedef struct qdq_is_inf_attrs {
    const char *name;
    qdq_value x;
    qdq_bool detect_negative, detect_positive;  // default true: this infinity counts
} qdq_is_inf_attrs;

// Returns true where x is an infinity: bool.
static inline qdq_value qdq_is_inf(qdq_graph *graph, qdq_value x, qdq_is_inf_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "IsInf", &attrs, sizeof attrs);
}

typedef struct qdq_alpha_attrs {
    const char *name;
    qdq_value x;
    qdq_float alpha;  // required
} qdq_alpha_attrs;

// x > 0 ? x : alpha * x
static inline qdq_value qdq_leaky_relu(qdq_graph *graph, qdq_value x, qdq_alpha_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "LeakyReLU", &attrs, sizeof attrs);
}

// x > 0 ? x : alpha * (e^x - 1)
static inline qdq_value qdq_elu(qdq_graph *graph, qdq_value x, qdq_alpha_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Elu", &attrs, sizeof attrs);
}

typedef struct qdq_hard_sigmoid_attrs {
    const char *name;
    qdq_value x;
    qdq_float alpha, beta;  // required
} qdq_hard_sigmoid_attrs;

// max(0, min(1, alpha * x + beta))
static inline qdq_value qdq_hard_sigmoid(qdq_graph *graph, qdq_value x,
                                         qdq_hard_sigmoid_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "HardSigmoid", &attrs, sizeof attrs);
}

typedef struct qdq_clamp_attrs {
    const char *name;
    qdq_value x;
    qdq_float min, max;  // required, min <= max
    // Targets onnx and ort: NaN gives max, as in the LSTM and GRU of ONNX Runtime. Others ignore
    // it.
    qdq_bool recurrent;
} qdq_clamp_attrs;

// min(max(x, min), max)
static inline qdq_value qdq_clamp(qdq_graph *graph, qdq_value x, qdq_clamp_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Clamp", &attrs, sizeof attrs);
}

typedef enum qdq_gelu_mode { QDQ_GELU_ERF = 0, QDQ_GELU_TANH } qdq_gelu_mode;

typedef struct qdq_gelu_attrs {
    const char *name;
    qdq_value x;
    qdq_gelu_mode mode;
    qdq_bool fast_and_approximate_mode;  // target ttnn on a chip: segments; others ignore it
} qdq_gelu_attrs;

// x / 2 * (1 + erf(x / sqrt 2)), or x / 2 * (1 + tanh(0.7978845608 * (x + 0.044715 * x^3)))
static inline qdq_value qdq_gelu(qdq_graph *graph, qdq_value x, qdq_gelu_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "GELU", &attrs, sizeof attrs);
}

//---- Elements: two and three inputs -----------------------------------------

typedef struct qdq_binary_attrs {
    const char *name;
    qdq_value a, b;
    qdq_broadcast auto_broadcast;
    qdq_dtype dtype;          // of y; default: a's dtype. For Add, Subtract, Multiply, Divide
    qdq_value output_tensor;  // target ttnn: the value in whose buffer y is written; it has the
                              // dtype, the shape and the layout of y
} qdq_binary_attrs;

#define QDQ_BINARY_CALL(call, op)                                            \
    static inline qdq_value call(qdq_graph *graph, qdq_value a, qdq_value b, \
                                 qdq_binary_attrs attrs) {                   \
        attrs.a = a, attrs.b = b;                                            \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                \
    }

// Numbers of 32 bits or more. int32 wraps around if both inputs and y are int32; with
// floats it is computed in float32, rounded half to even and clamped. uint32, int64 and uint64 wrap
// around, float64 is computed in double; with these dtypes both inputs and y have one dtype.
// Division of integers truncates, and division by zero gives 0. Sums, differences and products take
// block floats too; y may be one if a is.
QDQ_BINARY_CALL(qdq_add, "Add")
QDQ_BINARY_CALL(qdq_subtract, "Subtract")
QDQ_BINARY_CALL(qdq_multiply, "Multiply")
QDQ_BINARY_CALL(qdq_divide, "Divide")
// Both inputs have one dtype. If either element is NaN, so is y.
QDQ_BINARY_CALL(qdq_minimum, "Minimum")
QDQ_BINARY_CALL(qdq_maximum, "Maximum")
// Both inputs have one dtype, a float, int32 or another integer of 32 bits or more. x^2 and x^3 are
// products. Powers of integers to a negative exponent have their fraction cut off.
QDQ_BINARY_CALL(qdq_pow, "Pow")
// Both inputs have one dtype, a float, float64 or an integer; Equal also takes bool. y is bool,
// false if either element is NaN.
QDQ_BINARY_CALL(qdq_equal, "Equal")
QDQ_BINARY_CALL(qdq_greater, "Greater")
QDQ_BINARY_CALL(qdq_greater_equal, "GreaterEqual")
QDQ_BINARY_CALL(qdq_less, "Less")
QDQ_BINARY_CALL(qdq_less_or_equal, "LessOrEqual")
// a and b are bool.
QDQ_BINARY_CALL(qdq_and, "And")
QDQ_BINARY_CALL(qdq_or, "Or")
QDQ_BINARY_CALL(qdq_xor, "Xor")
// Both inputs have one dtype, an integer of 8 bits or more.
QDQ_BINARY_CALL(qdq_bitwise_and, "BitwiseAnd")
QDQ_BINARY_CALL(qdq_bitwise_or, "BitwiseOr")
QDQ_BINARY_CALL(qdq_bitwise_xor, "BitwiseXor")

typedef enum qdq_shift_direction { QDQ_SHIFT_LEFT = 0, QDQ_SHIFT_RIGHT } qdq_shift_direction;

typedef struct qdq_bit_shift_attrs {
    const char *name;
    qdq_value a, b;  // of one dtype: uint8, uint16, uint32 or uint64
    qdq_broadcast auto_broadcast;
    qdq_shift_direction direction;
} qdq_bit_shift_attrs;

// a shifted by b bits; 0 if b is the width of a or more.
static inline qdq_value qdq_bit_shift(qdq_graph *graph, qdq_value a, qdq_value b,
                                      qdq_bit_shift_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "BitShift", &attrs, sizeof attrs);
}

typedef struct qdq_mod_attrs {
    const char *name;
    qdq_value a, b;  // of one dtype: a float, float64, or an integer of 8 bits or more
    qdq_broadcast auto_broadcast;
    qdq_bool fmod;  // y has the sign of a; default false: that of b
} qdq_mod_attrs;

// a - b * n for a whole number n, exact, less than b in size. An integer b of 0 gives 0.
static inline qdq_value qdq_mod(qdq_graph *graph, qdq_value a, qdq_value b, qdq_mod_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "Mod", &attrs, sizeof attrs);
}

typedef struct qdq_select_attrs {
    const char *name;
    qdq_value condition;  // bool; broadcast to the shape of a and b, which broadcast together
    qdq_value a, b;       // of one dtype
    qdq_broadcast auto_broadcast;
} qdq_select_attrs;

// condition ? a : b, with a's dtype.
static inline qdq_value qdq_select(qdq_graph *graph, qdq_value condition, qdq_value a, qdq_value b,
                                   qdq_select_attrs attrs) {
    attrs.condition = condition, attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "Select", &attrs, sizeof attrs);
}

typedef struct qdq_bias_add_attrs {
    const char *name;
    qdq_value x;     // rank 2 or more
    qdq_value bias;  // [channels], of x's dtype
    qdq_data_format data_format;
} qdq_bias_add_attrs;

// x + bias[channel of x]
static inline qdq_value qdq_bias_add(qdq_graph *graph, qdq_value x, qdq_value bias,
                                     qdq_bias_add_attrs attrs) {
    attrs.x = x, attrs.bias = bias;
    return qdq_add_node(graph, "BiasAdd", &attrs, sizeof attrs);
}

typedef struct qdq_prelu_attrs {
    const char *name;
    qdq_value x;
    qdq_value slope;  // of x's dtype; [channels], or broadcast to x's shape
    qdq_data_format data_format;
    qdq_bool per_channel_broadcast;  // default true; false: a rank-1 slope goes with the last dim
} qdq_prelu_attrs;

// x > 0 ? x : slope * x
static inline qdq_value qdq_prelu(qdq_graph *graph, qdq_value x, qdq_value slope,
                                  qdq_prelu_attrs attrs) {
    attrs.x = x, attrs.slope = slope;
    return qdq_add_node(graph, "PReLU", &attrs, sizeof attrs);
}

typedef struct qdq_dropout_attrs {
    const char *name;
    qdq_value x;
    qdq_value seed, offset;  // int64 or int32, rank 0
    qdq_value probability;   // float, rank 0; clamped to [0, 1]
    qdq_bool keep_mask;      // also returns `mask`: uint8, 1 where an element was kept. Default
                             // false
} qdq_dropout_attrs;

// Philox4x32-10 decides which elements are kept; y = kept ? x * (1 / (1 - probability)) : 0.
static inline qdq_value qdq_dropout(qdq_graph *graph, qdq_value x, qdq_dropout_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Dropout", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
