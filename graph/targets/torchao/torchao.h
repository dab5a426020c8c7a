// SPDX-License-Identifier: Apache-2.0
// Releases of torchao, and questions that its rules and its numerics ask about a node.
#ifndef QDQ_GRAPH_TARGETS_TORCHAO_TORCHAO_H
#define QDQ_GRAPH_TARGETS_TORCHAO_TORCHAO_H

#include "graph/core/target.h"

enum { QDQ_TORCHAO_0_11 = 11, QDQ_TORCHAO_0_12 = 12, QDQ_TORCHAO_0_18 = 18 };

// The ideal variant leaves nothing to the CPU: integers saturate, NaN is the least, and powers of
// two are those of torchao's tests since 0.18.
enum { QDQ_TORCHAO_ON_X86, QDQ_TORCHAO_IDEAL };

// Returns the scheme of a DynamicQuantize.
qdq_scheme qdq_torchao_scheme(const qdq_op_context *ctx);

// Returns the dtype to which PyTorch promotes two float dtypes; NONE stands for float32.
qdq_dtype qdq_torchao_promoted(qdq_dtype a, qdq_dtype b);

// True for results of quantize_affine: integers, and float8 with bounds. The float8 functions have
// no bounds.
bool qdq_torchao_is_affine(const qdq_op_context *ctx);

extern const qdq_evidence_row qdq_torchao_evidence[];

qdq_numerics qdq_torchao_numerics(const qdq_op_context *ctx, const qdq_target_version *version);

#endif
