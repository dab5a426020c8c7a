// SPDX-License-Identifier: Apache-2.0
// The checks of oneDNN's rules about neural-network ops (onednn_network.c) about kernels of the
// CPU (onednn_cpu.c) and about groups (onednn_groups.c). onednn.c has the rules, whose summaries
// state the conditions.
#ifndef QDQ_GRAPH_TARGETS_ONEDNN_ONEDNN_H
#define QDQ_GRAPH_TARGETS_ONEDNN_ONEDNN_H

#include "graph/targets/checks.h"

typedef void qdq_check(const qdq_op_context *ctx, const qdq_rule *rule);

//---- Limits of the specification --------------------------------------------

qdq_check qdq_onednn_moved_dtype, qdq_onednn_concat_inputs, qdq_onednn_element_dtypes,
    qdq_onednn_dropout_dtypes;

//---- Gaps of the CPU backend ------------------------------------------------

qdq_check qdq_onednn_round_dtype, qdq_onednn_norm_dtype, qdq_onednn_norm_axis;
qdq_check qdq_onednn_norm_rank, qdq_onednn_half_pixel, qdq_onednn_not_alone;

// Scales of an attribute that are all this close to 1 are dropped.
#define QDQ_ONEDNN_UNIT_TOLERANCE 1e-6

// Up to a row of zeros.
extern const qdq_evidence_row qdq_onednn_evidence[];

static inline bool qdq_onednn_is_grouped(const qdq_op_context *ctx) {
    return qdq_quantize_attrs_of(ctx)->qtype == QDQ_PER_GROUP;
}

static inline bool qdq_onednn_is_dequantize(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize");
}

// Returns a parameter as a oneDNN Graph has it, where it may be an attribute: a constant zero point
// of zeros is not given then.
qdq_argument qdq_onednn_parameter(const qdq_op_context *ctx, const char *port);

// True if NaN becomes 0: a Quantize of three or four dims that has neither scales nor zero points
// to apply.
bool qdq_onednn_converts_nan(const qdq_op_context *ctx);

qdq_check qdq_onednn_nibbles_per_tensor, qdq_onednn_nibble_pairs, qdq_onednn_uint8_to_float16;
qdq_check qdq_onednn_half_scale, qdq_onednn_nan_without_scale, qdq_onednn_scale_near_one;

//---- Groups -----------------------------------------------------------------

qdq_check qdq_onednn_grouped_op, qdq_onednn_masked_quantize, qdq_onednn_group_scale;
qdq_check qdq_onednn_group_zero_point, qdq_onednn_one_group_zero_point, qdq_onednn_group_dims;
qdq_check qdq_onednn_leading_groups, qdq_onednn_masked_scale;

#endif
