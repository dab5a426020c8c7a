// SPDX-License-Identifier: Apache-2.0
// The QLinear ops of ONNX's domain com.microsoft: elementwise ops on codes that stand for
// (code - zero_point) * scale. All operands and y are int8, or all are uint8; a scale is float32
// and has one element, a zero point has the dtype of the codes and one element (default 0).
//
// Results are the bits of ONNX Runtime 1.31's CPU kernels; `qlinear` of qdq_numerics chooses the
// CPU. docs/ops_neural_network.md has the formulas.
#ifndef QDQ_OPS_QLINEAR_H
#define QDQ_OPS_QLINEAR_H

#include <qdq/ops/spatial.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct qdq_qlinear_binary_attrs {
    const char *name;
    qdq_value a, a_scale, a_zero_point;
    qdq_value b, b_scale, b_zero_point;  // a and b are broadcast to each other
    qdq_value y_scale, y_zero_point;
} qdq_qlinear_binary_attrs;

// With x86's FMA: y = saturate(round(fma(a, r, fma(b, s, f)))), r = fl(a_scale / y_scale),
// s = fl(b_scale / y_scale), f = fl(y_zero_point - fma(r, a_zero_point, fl(s * b_zero_point))).
// a and b are exchanged if one code of a meets a run of codes of b. Source: MLAS, qladd_avx2.cpp.
static inline qdq_value qdq_qlinear_add(qdq_graph *graph, qdq_qlinear_binary_attrs attrs) {
    return qdq_add_node(graph, "QLinearAdd", &attrs, sizeof attrs);
}

// y = saturate(round(fl(fl(p * r) + y_zero_point))), p = (a - a_zero_point) * (b - b_zero_point),
// r = fl(fl(a_scale * b_scale) / y_scale). Source: MLAS, qlmul.cpp.
static inline qdq_value qdq_qlinear_mul(qdq_graph *graph, qdq_qlinear_binary_attrs attrs) {
    return qdq_add_node(graph, "QLinearMul", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_pool_attrs {
    const char *name;
    qdq_value x, x_scale, x_zero_point;
    qdq_value y_scale, y_zero_point;
    qdq_ints strides, kernel;       // one per spatial dim; required
    qdq_ints pads_begin, pads_end;  // empty: zeros
    qdq_bool exclude_pad;           // required; true: divide by the elements inside x
    qdq_pool_rounding rounding_type;
    qdq_auto_pad auto_pad;
    qdq_data_format data_format;
} qdq_qlinear_pool_attrs;

// y = saturate(round(fl(fl(fl(sum / count) / y_scale) + y_zero_point))), where sum adds the
// fl(x_scale * (x - x_zero_point)) of a window in float32. A kernel of the size of the image,
// without pads, is a QLinearGlobalAveragePool. Source: ONNX Runtime, qlinear_pool.cc.
static inline qdq_value qdq_qlinear_average_pool(qdq_graph *graph, qdq_qlinear_pool_attrs attrs) {
    return qdq_add_node(graph, "QLinearAveragePool", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_global_pool_attrs {
    const char *name;
    qdq_value x, x_scale, x_zero_point;
    qdq_value y_scale, y_zero_point;
    qdq_data_format data_format;
} qdq_qlinear_global_pool_attrs;

// y = saturate(round(sum * r) + y_zero_point), where sum adds x - x_zero_point over the n elements
// of an image, and r = fl(x_scale / fl(y_scale * n)). Source: MLAS, qlgavgpool.cpp.
static inline qdq_value qdq_qlinear_global_average_pool(qdq_graph *graph,
                                                        qdq_qlinear_global_pool_attrs attrs) {
    return qdq_add_node(graph, "QLinearGlobalAveragePool", &attrs, sizeof attrs);
}

typedef struct qdq_qlinear_softmax_attrs {
    const char *name;
    qdq_value x, x_scale, x_zero_point;
    qdq_value y_scale, y_zero_point;
    qdq_int axis;      // default -1
    qdq_bool flatten;  // the sum runs over all dims from axis on
} qdq_qlinear_softmax_attrs;

// y = saturate(round(fl(fl(e * k) / sum)) + y_zero_point), k = floor(fl(1 / y_scale)), where sum
// adds the exponentials e, which are float32, in their order. Source: ONNX Runtime,
// qlinear_softmax.cc.
static inline qdq_value qdq_qlinear_softmax(qdq_graph *graph, qdq_qlinear_softmax_attrs attrs) {
    return qdq_add_node(graph, "QLinearSoftmax", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
