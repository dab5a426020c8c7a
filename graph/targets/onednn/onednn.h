// SPDX-License-Identifier: Apache-2.0
// The checks of oneDNN's rules about neural-network ops (onednn_network.c). onednn.c has the rules,
// whose summaries state the conditions.
#ifndef QDQ_GRAPH_TARGETS_ONEDNN_ONEDNN_H
#define QDQ_GRAPH_TARGETS_ONEDNN_ONEDNN_H

#include "graph/targets/checks.h"

typedef void qdq_check(const qdq_op_context *ctx, const qdq_rule *rule);

//---- Limits of the specification --------------------------------------------

qdq_check qdq_onednn_moved_dtype, qdq_onednn_element_dtypes, qdq_onednn_dropout_dtypes;

//---- Gaps of the CPU backend ------------------------------------------------

qdq_check qdq_onednn_round_dtype, qdq_onednn_norm_dtype, qdq_onednn_norm_axis;
qdq_check qdq_onednn_norm_rank, qdq_onednn_half_pixel, qdq_onednn_not_alone;

#endif
