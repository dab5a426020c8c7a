// SPDX-License-Identifier: Apache-2.0
// The evidence for the numbers of target onnx.
#ifndef QDQ_GRAPH_TARGETS_ONNX_ONNX_EVIDENCE_H
#define QDQ_GRAPH_TARGETS_ONNX_ONNX_EVIDENCE_H

#include "graph/core/target.h"

// Up to a row of zeros.
extern const qdq_evidence_row qdq_onnx_evidence[];

// True for a result of float8 that is asked to overflow, whose least numbers beyond the largest
// ONNX Runtime takes for others.
bool qdq_onnx_overflows_float8(const qdq_op_context *ctx);

// True for a GroupNorm of float32 that the reader made of InstanceNormalization.
bool qdq_runtime_is_instance_norm(const qdq_op_context *ctx);

#endif
