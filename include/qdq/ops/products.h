// SPDX-License-Identifier: Apache-2.0
// Products: MatMul, Convolution and ConvTranspose, and ONNX's integer and QLinear products.
#ifndef QDQ_OPS_PRODUCTS_H
#define QDQ_OPS_PRODUCTS_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

// How many of the four phases of a Tenstorrent chip's product are computed
// (docs/device_arithmetic.md 7).
typedef enum qdq_math_fidelity {
    QDQ_FIDELITY_UNSET = 0,  // HiFi4, with a warning
    QDQ_LOFI,
    QDQ_HIFI2,
    QDQ_HIFI3,
    QDQ_HIFI4,
} qdq_math_fidelity;

typedef struct qdq_matmul_attrs {
    const char *name;
    qdq_value a, b;  // of one dtype. [M, K] x [K, N], with numpy broadcasting of the leading dims;
                     // rank 1: a vector
    qdq_value bias;  // broadcast to the shape of the result
    qdq_bool transpose_a, transpose_b;  // the last two dims; ignored for rank 1. Default false
    qdq_dtype dtype;                    // of y: a's dtype (the default) or float32
    // Versions of target ttnn that stand for a chip; others warn that they ignore them.
    qdq_math_fidelity math_fidelity;  // default HiFi4
    qdq_bool fp32_dest_acc_en;        // sums in float32; false: in bfloat16. Default true
} qdq_matmul_attrs;

// a * b + bias. The sum starts at 0 and adds products in order of K with one rounding each (fma),
// then the bias. A NaN result is always the quiet NaN without a sign.
static inline qdq_value qdq_matmul(qdq_graph *graph, qdq_value a, qdq_value b,
                                   qdq_matmul_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MatMul", &attrs, sizeof attrs);
}

// The order of the weights' dims. X: spatial, I: input channels, O: output channels.
typedef enum qdq_weights_format { QDQ_XIO = 0, QDQ_OIX } qdq_weights_format;

typedef struct qdq_convolution_attrs {
    const char *name;
    qdq_value x, weights;           // of one dtype; 1 to 3 spatial dims
    qdq_value bias;                 // [output channels], of that dtype
    qdq_ints strides, dilations;    // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // one per spatial dim; required; empty: zeros
    qdq_auto_pad auto_pad;
    qdq_int groups;  // default 1
    qdq_data_format data_format;
    qdq_weights_format weights_format;
    qdq_int channel_block;  // input channels of a block of the sum, float32 only; default: none
    qdq_value addend;       // of the shape of y, with which the sum begins; float32, without bias
} qdq_convolution_attrs;

// Like the sum of MatMul, over the input channels of the group and, within a channel, over the
// kernel's spatial dims in order. Elements beyond the border are left out of the sum, as if the
// kernel ended there. With channel_block, the input channels of each block are added under the
// first position of the kernel, then under the next, in one chain of fma from 0; then the sums of
// the blocks are added in order (ONNX Runtime's NCHWc). An addend is the first of these summands.
// With either, elements beyond the border are zeros.
static inline qdq_value qdq_convolution(qdq_graph *graph, qdq_value x, qdq_value weights,
                                        qdq_convolution_attrs attrs) {
    attrs.x = x, attrs.weights = weights;
    return qdq_add_node(graph, "Convolution", &attrs, sizeof attrs);
}

// The order of the weights' dims: spatial, output channels of a group, input channels (XOI), or
// input channels, output channels of a group, spatial (IOX).
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

// Adds x[i] * weights[k] to y[i * stride + k * dilation - pads_begin]; each element of y is summed
// in the same order as in Convolution.
static inline qdq_value qdq_conv_transpose(qdq_graph *graph, qdq_value x, qdq_value weights,
                                           qdq_conv_transpose_attrs attrs) {
    attrs.x = x, attrs.weights = weights;
    return qdq_add_node(graph, "ConvTranspose", &attrs, sizeof attrs);
}

// ONNX: integer products, exact in int32 (sums wrap around).
typedef struct qdq_matmul_integer_attrs {
    const char *name;
    qdq_value a, b;          // int8 or uint8
    qdq_value a_zero_point;  // of a's dtype: [], [1], or per row: [M], [..., M, 1]
    qdq_value b_zero_point;  // of b's dtype: [], [1], or per column: [N], [..., 1, N]
} qdq_matmul_integer_attrs;

// (a - a_zero_point) * (b - b_zero_point), int32.
static inline qdq_value qdq_matmul_integer(qdq_graph *graph, qdq_value a, qdq_value b,
                                           qdq_matmul_integer_attrs attrs) {
    attrs.a = a, attrs.b = b;
    return qdq_add_node(graph, "MatMulInteger", &attrs, sizeof attrs);
}

// The position of the channels of ConvInteger, whose default is ONNX's.
typedef enum qdq_integer_format { QDQ_INTEGER_NCX = 0, QDQ_INTEGER_NXC } qdq_integer_format;

typedef struct qdq_conv_integer_attrs {
    const char *name;
    qdq_value x, w;          // int8 or uint8; x as data_format says, w [O, I, spatial...]
    qdq_value x_zero_point;  // [] or [1]
    qdq_value w_zero_point;  // [], [1] or [O]
    qdq_ints strides, dilations, pads_begin, pads_end;  // default 1, 1, 0, 0
    qdq_auto_pad auto_pad;
    qdq_int groups;
    qdq_integer_format data_format;  // of x and y
} qdq_conv_integer_attrs;

// y is int32; elements beyond the border count as x_zero_point.
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

typedef struct qdq_qgemm_attrs {
    const char *name;
    qdq_value a, a_scale, a_zero_point;  // [], [1] or per row; no zero point: 0
    qdq_value b, b_scale, b_zero_point;  // [], [1] or per column
    qdq_value bias;          // int32, broadcast to y, with the scale alpha * a_scale * b_scale
    qdq_value y_scale;       // [] or [1]; without it y is float32
    qdq_value y_zero_point;  // [] or [1]; y has its dtype, else the dtype of a
    qdq_bool transpose_a, transpose_b;  // the last two dims; default false
    qdq_float alpha;                    // default 1
} qdq_qgemm_attrs;

// ONNX Runtime: like QLinearMatMul with the factor alpha * a_scale * b_scale / y_scale, each step
// rounded, of the sum and its bias; without y_scale y = sum * (alpha * a_scale * b_scale).
static inline qdq_value qdq_qgemm(qdq_graph *graph, qdq_qgemm_attrs attrs) {
    return qdq_add_node(graph, "QGemm", &attrs, sizeof attrs);
}

typedef struct qdq_matmul_integer_to_float_attrs {
    const char *name;
    qdq_value a, b, a_scale, b_scale;      // as for QLinearMatMul
    qdq_value a_zero_point, b_zero_point;  // no zero point: 0
    qdq_value bias;                        // float32, broadcast to y
} qdq_matmul_integer_to_float_attrs;

// ONNX Runtime: sum * (a_scale * b_scale) + bias, each step rounded to float32, on aarch64 the last
// two steps rounded at once.
static inline qdq_value qdq_matmul_integer_to_float(qdq_graph *graph,
                                                    qdq_matmul_integer_to_float_attrs attrs) {
    return qdq_add_node(graph, "MatMulIntegerToFloat", &attrs, sizeof attrs);
}

typedef struct qdq_matmul_nbits_attrs {
    const char *name;
    qdq_value a;             // float32 [..., K]
    qdq_value b;             // of 2, 4 or 8 bits [K, N]; K may fill up the last block
    qdq_value b_scale;       // [] or [1]: one; [N]; or [blocks, N]
    qdq_value b_zero_point;  // likewise, of b's dtype; default: the middle of the codes
    qdq_value bias;          // float32 [N]
    qdq_bool transpose_b;    // b is [N, K], and parameters of blocks [N, blocks]
    qdq_int block_size;      // of k: a power of two from 16 on, default 32
    qdq_int accuracy_level;  // 4 (default): a becomes int8; 0: products of floats
} qdq_matmul_nbits_attrs;

// a * dequantized b + bias, float32, with each block of a row of a quantized to int8, or with
// floats: MatMulNBits of ONNX Runtime (docs/ops_neural_network.md).
static inline qdq_value qdq_matmul_nbits(qdq_graph *graph, qdq_matmul_nbits_attrs attrs) {
    return qdq_add_node(graph, "MatMulNBits", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_conv_attrs {
    const char *name;
    qdq_value x, x_scale, x_zero_point;
    qdq_value w, w_scale, w_zero_point;  // [], [1] or [O]
    qdq_value y_scale, y_zero_point;     // y has the dtype of y_zero_point
    qdq_value bias;                      // int32 [O], with the scale x_scale * w_scale
    qdq_ints strides, dilations, pads_begin, pads_end;
    qdq_auto_pad auto_pad;
    qdq_int groups;
} qdq_qlinear_conv_attrs;

// Like QLinearMatMul; the bias is added to the sum.
static inline qdq_value qdq_qlinear_conv(qdq_graph *graph, qdq_qlinear_conv_attrs attrs) {
    return qdq_add_node(graph, "QLinearConv", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
