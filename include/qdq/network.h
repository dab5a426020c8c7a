// SPDX-License-Identifier: Apache-2.0
// Neural-network ops: what stands between quantizing ops. Names, attributes and defaults are those
// of the oneDNN Graph operations, except where a comment says ONNX.
//
// As in ops.h, the struct of an op is a node as the JSON has it. Unless said otherwise values are
// floats (float32, float16, bfloat16), arithmetic is float32 with one rounding to the dtype of the
// result, and a result has the dtype of the first input and its shape. Results have the same bits
// on every instruction set and with any number of threads.
#ifndef QDQ_NETWORK_H
#define QDQ_NETWORK_H

#include <qdq/ops.h>

#ifdef __cplusplus
extern "C" {
#endif

// Where the channels are: [N, spatial..., C] or [N, C, spatial...].
typedef enum qdq_data_format { QDQ_NXC = 0, QDQ_NCX } qdq_data_format;

// Padding by rule: SAME makes ceil(in / stride) elements, with the odd one of the padding at the
// end (UPPER) or at the beginning (LOWER); VALID has none. NONE: pads_begin and pads_end.
typedef enum qdq_auto_pad {
    QDQ_PAD_NONE = 0,
    QDQ_PAD_SAME_UPPER,
    QDQ_PAD_SAME_LOWER,
    QDQ_PAD_VALID,
} qdq_auto_pad;

// How shapes are brought together: numpy's rule (right-aligned, sizes equal or 1), or not at all.
typedef enum qdq_broadcast { QDQ_BROADCAST_NUMPY = 0, QDQ_BROADCAST_NONE } qdq_broadcast;

// An op with one float input and nothing to set.
typedef struct qdq_unary_attrs {
    const char *name;
    qdq_value x;
} qdq_unary_attrs;

#define QDQ_UNARY_CALL(call, op)                                                         \
    static inline qdq_value call(qdq_graph *graph, qdq_value x, qdq_unary_attrs attrs) { \
        attrs.x = x;                                                                     \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                            \
    }

//---- Elements: one input ----------------------------------------------------

QDQ_UNARY_CALL(qdq_abs, "Abs")
QDQ_UNARY_CALL(qdq_exp, "Exp")
QDQ_UNARY_CALL(qdq_log, "Log")
QDQ_UNARY_CALL(qdq_sqrt, "Sqrt")
QDQ_UNARY_CALL(qdq_square, "Square")
QDQ_UNARY_CALL(qdq_tanh, "Tanh")
QDQ_UNARY_CALL(qdq_sigmoid, "Sigmoid")  // 1 / (1 + e^-x)
QDQ_UNARY_CALL(qdq_relu, "ReLU")        // max(x, 0); NaN stays NaN
QDQ_UNARY_CALL(qdq_reciprocal, "Reciprocal")
QDQ_UNARY_CALL(qdq_round, "Round")           // half to even
QDQ_UNARY_CALL(qdq_hard_swish, "HardSwish")  // x * max(0, min(1, x / 6 + 0.5))
QDQ_UNARY_CALL(qdq_mish, "Mish")             // x * tanh(ln(1 + e^x))

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
    qdq_dtype dtype;  // of y; default that of a. Not for Minimum, Maximum, GreaterEqual
} qdq_binary_attrs;

#define QDQ_BINARY_CALL(call, op)                                            \
    static inline qdq_value call(qdq_graph *graph, qdq_value a, qdq_value b, \
                                 qdq_binary_attrs attrs) {                   \
        attrs.a = a, attrs.b = b;                                            \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                \
    }

// Add and Subtract also take int32, and may give it: exact, clamped to int32, where both inputs
// are int32; else in float32, rounded half to even and clamped.
QDQ_BINARY_CALL(qdq_add, "Add")
QDQ_BINARY_CALL(qdq_subtract, "Subtract")
QDQ_BINARY_CALL(qdq_multiply, "Multiply")
QDQ_BINARY_CALL(qdq_divide, "Divide")
// Both of one dtype. NaN wins.
QDQ_BINARY_CALL(qdq_minimum, "Minimum")
QDQ_BINARY_CALL(qdq_maximum, "Maximum")
// Both of one dtype, float or int32; y is bool. False where there is a NaN.
QDQ_BINARY_CALL(qdq_greater_equal, "GreaterEqual")

typedef struct qdq_select_attrs {
    const char *name;
    qdq_value condition;  // bool; broadcast onto the others, which are broadcast to each other
    qdq_value a, b;       // of one dtype
    qdq_broadcast auto_broadcast;
} qdq_select_attrs;

// condition ? a : b, of the dtype of a.
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

// x + bias of its channel.
static inline qdq_value qdq_bias_add(qdq_graph *graph, qdq_value x, qdq_value bias,
                                     qdq_bias_add_attrs attrs) {
    attrs.x = x, attrs.bias = bias;
    return qdq_add_node(graph, "BiasAdd", &attrs, sizeof attrs);
}

typedef struct qdq_prelu_attrs {
    const char *name;
    qdq_value x;
    qdq_value slope;  // of x's dtype; [channels], or broadcast onto x
    qdq_data_format data_format;
    qdq_bool per_channel_broadcast;  // default true; false: a slope of rank 1 is for the last dim
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
    qdq_value probability;   // float, rank 0; outside of [0, 1] clamped
    qdq_bool keep_mask;      // also makes `mask`: uint8, 1 where an element was kept. Default false
} qdq_dropout_attrs;

// Philox4x32-10 decides what is kept; y = kept ? x * (1 / (1 - probability)) : 0.
static inline qdq_value qdq_dropout(qdq_graph *graph, qdq_value x, qdq_dropout_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Dropout", &attrs, sizeof attrs);
}

//---- Products ---------------------------------------------------------------

typedef struct qdq_matmul_attrs {
    const char *name;
    qdq_value a, b;  // of one dtype. [M, K] x [K, N] with numpy broadcasting of what is before;
                     // rank 1: a vector
    qdq_value bias;  // broadcast onto the result
    qdq_bool transpose_a, transpose_b;  // the last two dims; ignored for rank 1. Default false
    qdq_dtype dtype;                    // of y: that of a, or float32; default that of a
} qdq_matmul_attrs;

// a * b + bias. Products are added in order of K with one rounding each (fma), from 0 on; then the
// bias. A NaN is the quiet one without a sign.
static inline qdq_value qdq_matmul(qdq_graph *graph, qdq_value a, qdq_value b,
                                   qdq_matmul_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MatMul", &attrs, sizeof attrs);
}

// Order of the dims of weights: spatial, input channels, output channels.
typedef enum qdq_weights_format { QDQ_XIO = 0, QDQ_OIX } qdq_weights_format;

typedef struct qdq_convolution_attrs {
    const char *name;
    qdq_value x, weights;           // of one dtype; 1 to 3 spatial dims
    qdq_value bias;                 // [output channels], of that dtype
    qdq_ints strides, dilations;    // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // the same; empty: zeros
    qdq_auto_pad auto_pad;
    qdq_int groups;  // default 1
    qdq_data_format data_format;
    qdq_weights_format weights_format;
} qdq_convolution_attrs;

// As a product of matrices, the sum over the input channels of the group and, within a channel,
// over the kernel's spatial dims in order. What is beyond the border has no product: it is as if
// the kernel ended there.
static inline qdq_value qdq_convolution(qdq_graph *graph, qdq_value x, qdq_value weights,
                                        qdq_convolution_attrs attrs) {
    attrs.x = x, attrs.weights = weights;
    return qdq_add_node(graph, "Convolution", &attrs, sizeof attrs);
}

// Order of the dims of weights: spatial, output channels of a group, input channels; or input
// channels, output channels of a group, spatial.
typedef enum qdq_transposed_format { QDQ_XOI = 0, QDQ_IOX } qdq_transposed_format;

typedef struct qdq_conv_transpose_attrs {
    const char *name;
    qdq_value x, weights, bias;
    qdq_ints strides, dilations, pads_begin, pads_end;
    qdq_ints output_padding;  // default zeros
    qdq_auto_pad auto_pad;
    qdq_int groups;
    qdq_data_format data_format;
    qdq_transposed_format weights_format;
} qdq_conv_transpose_attrs;

// y[i * stride + k * dilation - pads_begin] gets x[i] * weights[k]; of each element of y the sum
// runs in the same order as that of Convolution.
static inline qdq_value qdq_conv_transpose(qdq_graph *graph, qdq_value x, qdq_value weights,
                                           qdq_conv_transpose_attrs attrs) {
    attrs.x = x, attrs.weights = weights;
    return qdq_add_node(graph, "ConvTranspose", &attrs, sizeof attrs);
}

// ONNX: integer products, exact in int32 (sums wrap around).
typedef struct qdq_matmul_integer_attrs {
    const char *name;
    qdq_value a, b;          // int8 or uint8
    qdq_value a_zero_point;  // of a's dtype: [], [1], or of rows: [M], [..., M, 1]
    qdq_value b_zero_point;  // of b's dtype: [], [1], or of columns: [N], [..., 1, N]
} qdq_matmul_integer_attrs;

// (a - a_zero_point) * (b - b_zero_point), int32.
static inline qdq_value qdq_matmul_integer(qdq_graph *graph, qdq_value a, qdq_value b,
                                           qdq_matmul_integer_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MatMulInteger", &attrs, sizeof attrs);
}

typedef struct qdq_conv_integer_attrs {
    const char *name;
    qdq_value x, w;          // int8 or uint8; [N, C, spatial...] and [O, I, spatial...]
    qdq_value x_zero_point;  // [] or [1]
    qdq_value w_zero_point;  // [], [1] or [O]
    qdq_ints strides, dilations, pads_begin, pads_end;  // default 1, 1, 0, 0
    qdq_auto_pad auto_pad;
    qdq_int groups;
} qdq_conv_integer_attrs;

// int32; what is beyond the border counts as x_zero_point.
static inline qdq_value qdq_conv_integer(qdq_graph *graph, qdq_value x, qdq_value w,
                                         qdq_conv_integer_attrs attrs) {
    attrs.x = x, attrs.w = w;
    return qdq_add_node(graph, "ConvInteger", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_matmul_attrs {
    const char *name;
    qdq_value a, a_scale, a_zero_point;  // [], [1] or per row, as for MatMulInteger
    qdq_value b, b_scale, b_zero_point;  // [], [1] or per column
    qdq_value y_scale, y_zero_point;     // [] or [1]; y has the dtype of y_zero_point
} qdq_qlinear_matmul_attrs;

// clamp(round(sum * (a_scale * b_scale / y_scale)) + y_zero_point): the sum is int32, the factor
// and the product are float32, round is half to even. ONNX Runtime gives the same bits; ONNX's
// Python reference adds the zero point before it rounds.
static inline qdq_value qdq_qlinear_matmul(qdq_graph *graph, qdq_qlinear_matmul_attrs attrs) {
    return qdq_add_node(graph, "QLinearMatMul", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_conv_attrs {
    const char *name;
    qdq_value x, x_scale, x_zero_point;
    qdq_value w, w_scale, w_zero_point;  // [], [1] or [O]
    qdq_value y_scale, y_zero_point;     // y has the dtype of y_zero_point
    qdq_value bias;                      // int32 [O], of scale x_scale * w_scale
    qdq_ints strides, dilations, pads_begin, pads_end;
    qdq_auto_pad auto_pad;
    qdq_int groups;
} qdq_qlinear_conv_attrs;

// As QLinearMatMul; the bias is added to the sum.
static inline qdq_value qdq_qlinear_conv(qdq_graph *graph, qdq_qlinear_conv_attrs attrs) {
    return qdq_add_node(graph, "QLinearConv", &attrs, sizeof attrs);
}

//---- Softmax and normalization ----------------------------------------------

typedef enum qdq_softmax_mode { QDQ_SOFTMAX_NONE = 0, QDQ_SOFTMAX_INF_AS_ZERO } qdq_softmax_mode;

typedef struct qdq_softmax_attrs {
    const char *name;
    qdq_value x;
    qdq_int axis;           // default 1
    qdq_softmax_mode mode;  // inf_as_zero: a slice of -infinities alone gives zeros (stats: 0)
    qdq_dtype dtype;        // of y: that of x, or any float where one of the two is float32
    qdq_bool keep_stats;    // also makes `stats`: float32, max + ln(sum e^(x - max)), the axis 1
                            // long. Default false
} qdq_softmax_attrs;

// e^(x - max) / sum, along the axis.
static inline qdq_value qdq_softmax(qdq_graph *graph, qdq_value x, qdq_softmax_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "SoftMax", &attrs, sizeof attrs);
}

typedef struct qdq_log_softmax_attrs {
    const char *name;
    qdq_value x;
    qdq_int axis;  // default -1
} qdq_log_softmax_attrs;

// x - max - ln(sum e^(x - max))
static inline qdq_value qdq_log_softmax(qdq_graph *graph, qdq_value x,
                                        qdq_log_softmax_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "LogSoftmax", &attrs, sizeof attrs);
}

typedef struct qdq_layer_norm_attrs {
    const char *name;
    qdq_value x;
    qdq_value gamma, beta;    // both or none: [the dims from begin_norm_axis on], or that many
                              // elements in one dim; float32, or bfloat16 where x is
    qdq_int begin_norm_axis;  // default -1
    qdq_float epsilon;        // default 1e-5
    qdq_bool use_affine;      // default true; gamma and beta are used if they are given
    qdq_bool keep_stats;      // also makes `mean` and `variance` (biased), of the dims before
                              // begin_norm_axis; float32 or gamma's dtype. Default true
} qdq_layer_norm_attrs;

static inline qdq_value qdq_layer_norm(qdq_graph *graph, qdq_value x, qdq_layer_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "LayerNorm", &attrs, sizeof attrs);
}

typedef struct qdq_rms_norm_attrs {
    const char *name;
    qdq_value x, gamma;       // gamma as for LayerNorm; float32, or x's dtype
    qdq_int begin_norm_axis;  // default -1
    qdq_float epsilon;        // default 1e-5
} qdq_rms_norm_attrs;

// x / sqrt(mean(x^2) + epsilon) * gamma
static inline qdq_value qdq_rms_norm(qdq_graph *graph, qdq_value x, qdq_rms_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "RMSNorm", &attrs, sizeof attrs);
}

typedef struct qdq_group_norm_attrs {
    const char *name;
    qdq_value x, gamma, beta;  // both or none: [channels]; dtypes as for LayerNorm
    qdq_int groups;            // required; divides the channels
    qdq_float epsilon;         // default 1e-5
    qdq_bool use_affine;       // default true
    qdq_bool keep_stats;       // also makes `mean` and `variance`, [N, groups]. Default true
    qdq_data_format data_format;
} qdq_group_norm_attrs;

static inline qdq_value qdq_group_norm(qdq_graph *graph, qdq_value x, qdq_group_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "GroupNorm", &attrs, sizeof attrs);
}

typedef struct qdq_batch_norm_attrs {
    const char *name;
    qdq_value x, gamma, beta, mean, variance;  // [channels]; float32, or all bfloat16 where x is
    qdq_float epsilon;                         // required
    qdq_data_format data_format;
} qdq_batch_norm_attrs;

// gamma * (x - mean) / sqrt(variance + epsilon) + beta, of the channel.
static inline qdq_value qdq_batch_norm(qdq_graph *graph, qdq_value x, qdq_batch_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "BatchNormInference", &attrs, sizeof attrs);
}

typedef struct qdq_batch_norm_training_attrs {
    const char *name;
    qdq_value x, mean, variance, gamma, beta;  // in this order; gamma and beta: both or none
    qdq_float epsilon;                         // required
    qdq_float momentum;                        // default 0.5
    qdq_data_format data_format;
} qdq_batch_norm_training_attrs;

// By the statistics of x. Also makes running_mean and running_variance, momentum * old +
// (1 - momentum) * batch, and batch_mean and batch_variance (biased).
static inline qdq_value qdq_batch_norm_training(qdq_graph *graph, qdq_value x,
                                                qdq_batch_norm_training_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "BatchNormForwardTraining", &attrs, sizeof attrs);
}

//---- Pooling, resampling, reduction -----------------------------------------

typedef enum qdq_pool_rounding { QDQ_POOL_ROUND_FLOOR = 0, QDQ_POOL_ROUND_CEIL } qdq_pool_rounding;

typedef struct qdq_pool_attrs {
    const char *name;
    qdq_value x;
    qdq_ints strides, kernel;       // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // required; empty: zeros
    qdq_ints dilations;             // MaxPool only; default 1
    qdq_bool exclude_pad;           // AvgPool only; required: divide by the elements that there are
    qdq_pool_rounding rounding_type;
    qdq_auto_pad auto_pad;
    qdq_data_format data_format;
} qdq_pool_attrs;

static inline qdq_value qdq_avg_pool(qdq_graph *graph, qdq_value x, qdq_pool_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "AvgPool", &attrs, sizeof attrs);
}

// Padding never wins; a NaN does.
static inline qdq_value qdq_max_pool(qdq_graph *graph, qdq_value x, qdq_pool_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "MaxPool", &attrs, sizeof attrs);
}

typedef enum qdq_interpolate_mode {
    QDQ_NEAREST = 0,
    QDQ_LINEAR,
    QDQ_BILINEAR,  // the last two are other words for linear
    QDQ_TRILINEAR,
} qdq_interpolate_mode;

// A mode that may be left out: QDQ_MODE(QDQ_LINEAR).
typedef struct qdq_maybe_interpolate_mode {
    bool set;
    qdq_interpolate_mode value;
} qdq_maybe_interpolate_mode;

#ifndef __cplusplus
#define QDQ_MODE(v) ((qdq_maybe_interpolate_mode){true, (v)})
#else
#define QDQ_MODE(v) (qdq_maybe_interpolate_mode{true, (v)})
#endif

typedef enum qdq_coordinates { QDQ_HALF_PIXEL = 0, QDQ_ALIGN_CORNERS } qdq_coordinates;

typedef struct qdq_interpolate_attrs {
    const char *name;
    qdq_value x;
    qdq_maybe_interpolate_mode mode;  // required
    qdq_ints sizes;                   // one per spatial dim; exactly one of sizes and scales
    qdq_floats scales;                // one per spatial dim; a result is trunc(in * scale) long
    qdq_coordinates coordinate_transformation_mode;
    qdq_data_format data_format;
} qdq_interpolate_attrs;

static inline qdq_value qdq_interpolate(qdq_graph *graph, qdq_value x,
                                        qdq_interpolate_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "Interpolate", &attrs, sizeof attrs);
}

typedef struct qdq_reduce_attrs {
    const char *name;
    qdq_value x;
    qdq_ints axes;       // required, in [-rank, rank - 1], each once
    qdq_bool keep_dims;  // default false
} qdq_reduce_attrs;

#define QDQ_REDUCE_CALL(call, op)                                                         \
    static inline qdq_value call(qdq_graph *graph, qdq_value x, qdq_reduce_attrs attrs) { \
        attrs.x = x;                                                                      \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                             \
    }

QDQ_REDUCE_CALL(qdq_reduce_l1, "ReduceL1")
QDQ_REDUCE_CALL(qdq_reduce_l2, "ReduceL2")
QDQ_REDUCE_CALL(qdq_reduce_max, "ReduceMax")
QDQ_REDUCE_CALL(qdq_reduce_mean, "ReduceMean")
QDQ_REDUCE_CALL(qdq_reduce_min, "ReduceMin")
QDQ_REDUCE_CALL(qdq_reduce_prod, "ReduceProd")
QDQ_REDUCE_CALL(qdq_reduce_sum, "ReduceSum")

//---- Data movement: any dtype -----------------------------------------------

typedef struct qdq_concat_attrs {
    const char *name;
    qdq_values xs;  // 1 to 64, of one dtype, alike in all dims but the axis
    qdq_int axis;   // required
} qdq_concat_attrs;

static inline qdq_value qdq_concat(qdq_graph *graph, qdq_concat_attrs attrs) {
    return qdq_add_node(graph, "Concat", &attrs, sizeof attrs);
}

typedef struct qdq_reshape_attrs {
    const char *name;
    qdq_value x;
    qdq_ints shape;         // required; one dim may be -1
    qdq_bool special_zero;  // required: 0 is the dim of x; else 0 is refused
} qdq_reshape_attrs;

static inline qdq_value qdq_reshape(qdq_graph *graph, qdq_value x, qdq_reshape_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "StaticReshape", &attrs, sizeof attrs);
}

typedef struct qdq_transpose_attrs {
    const char *name;
    qdq_value x;
    qdq_ints order;  // dim i of y is dim order[i] of x; empty: reversed
} qdq_transpose_attrs;

static inline qdq_value qdq_transpose(qdq_graph *graph, qdq_value x, qdq_transpose_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "StaticTranspose", &attrs, sizeof attrs);
}

QDQ_UNARY_CALL(qdq_reorder, "Reorder")  // y = x: layouts are not the graph's

typedef struct qdq_gen_index_attrs {
    const char *name;
    qdq_value x;   // its values are not used
    qdq_int axis;  // required
} qdq_gen_index_attrs;

// The coordinate on the axis, int32.
static inline qdq_value qdq_gen_index(qdq_graph *graph, qdq_value x, qdq_gen_index_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "GenIndex", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
