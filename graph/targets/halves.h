// SPDX-License-Identifier: Apache-2.0
// A Requantize as the Dequantize and the Quantize that a target computes for it.
#ifndef QDQ_GRAPH_TARGETS_HALVES_H
#define QDQ_GRAPH_TARGETS_HALVES_H

#include "include/qdq/ops/quantize.h"
#include "ops/op.h"

typedef struct qdq_half {
    qdq_op_context ctx;  // of a Dequantize or a Quantize; its findings name the Requantize
    qdq_quantize_attrs attrs;
} qdq_half;

// Derives the Dequantize of a Requantize, with a float32 result, or the Quantize behind it.
void qdq_half_of(const qdq_op_context *ctx, bool quantizes, qdq_half *half);

#endif
