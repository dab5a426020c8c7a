// SPDX-License-Identifier: Apache-2.0
// Checks of rules of target ort about aarch64.
#ifndef QDQ_GRAPH_TARGETS_ORT_ORT_ARM_H
#define QDQ_GRAPH_TARGETS_ORT_ORT_ARM_H

#include "graph/targets/checks.h"

// Reports products of signed bytes that wrap around on NEON without dot products.
void ort_check_wrapped_products(const qdq_op_context *ctx, const qdq_rule *rule);
// Reports float ops with another order on aarch64.
void ort_check_float_order(const qdq_op_context *ctx, const qdq_rule *rule);

#endif
