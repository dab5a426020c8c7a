// SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm of float32 as ONNX Runtime computes it, for targets whose float ops are
// ONNX Runtime's. Every operation rounds to float32 unless it is said otherwise. With n elements in
// a slice:
//
//     n >= 8  mean = sum / n in double, rounded to float32; c = x - mean; q = sum of c^2 by fma in
//             eight lanes, ((l0 + l4) + (l2 + l6)) + ((l1 + l5) + (l3 + l7)), then the elements
//             left: four at once as q + c * c, others by fma; y = fma(c * r, gamma, beta) with r =
//             1 / sqrt(q / n + epsilon)
//     n < 8   mean and q in one pass by Welford's method; y = c / sqrt(q / n + epsilon) * gamma +
//             beta. SkipLayerNormalization does so for any n.
//
// RMSNorm is the same with a mean of 0, but n < 16 are few, and their q is the sum of x * x in
// order.
//
// Found by experiment with ONNX Runtime 1.31 and 1.32.
#ifndef QDQ_OPS_REDUCE_ORDER_LAYER_NORM_ORDER_H
#define QDQ_OPS_REDUCE_ORDER_LAYER_NORM_ORDER_H

#include "ops/reduce/norm.h"

// Returns the passes for slices of n elements; `in_one_pass`: by Welford's method.
const qdq_slice_op *qdq_layer_norm_order_of(size_t n, bool in_one_pass);

const qdq_slice_op *qdq_rms_norm_order_of(size_t n);

#endif
