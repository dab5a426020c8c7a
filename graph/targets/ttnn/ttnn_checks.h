// SPDX-License-Identifier: Apache-2.0
// The checks of ttnn's rules, and the path that a Requantize takes.
#ifndef QDQ_GRAPH_TARGETS_TTNN_TTNN_CHECKS_H
#define QDQ_GRAPH_TARGETS_TTNN_TTNN_CHECKS_H

#include "graph/targets/checks.h"
#include "runtime/tenstorrent/sfpu_ops.h"

typedef enum qdq_ttnn_way { QDQ_TTNN_FUSED, QDQ_TTNN_EXPANDED, QDQ_TTNN_MIXED } qdq_ttnn_way;

// Returns the scale or zero point of a port as a ttnn program writes it: a number or a tensor.
qdq_argument qdq_ttnn_argument(const qdq_op_context *ctx, const char *port);
qdq_ttnn_way qdq_ttnn_path(const qdq_op_context *ctx);

void qdq_ttnn_quantize_input(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_integer_input(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_integer_output(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_float_output(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_zero_point_dtype(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_zeros_left_out(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_page_shows_bfloat16(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_page_ranks(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_cast_dtypes(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_cast_to_unsigned(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_narrow_output(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_channel_scale(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_channel_zero_point(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_int8_input(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_sides_agree(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_channel_rank(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_mixed_arguments(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_composite_truncates(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_int32_range(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_int32_range_rne(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_matmul_configuration(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_matmul_k_blocks(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_matmul_bias(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_chip_cast(const qdq_op_context *ctx, const qdq_rule *rule);
// Returns how well the program is known by which a chip's vector unit computes a node;
// QDQ_SFPU_UNKNOWN if no program does.
qdq_sfpu_evidence qdq_ttnn_sfpu_evidence(const qdq_op_context *ctx, qdq_multiply_add chip);
// True if a reduction's order and rounding on a chip are known, and no release since 2026-03 has
// another order.
bool qdq_ttnn_reduces(const qdq_op_context *ctx, qdq_multiply_add chip);
// The same of a SoftMax, and of a LayerNorm or RMSNorm.
bool qdq_ttnn_softmaxes(const qdq_op_context *ctx);
bool qdq_ttnn_normalizes(const qdq_op_context *ctx);
void qdq_ttnn_chip_block_float(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_chip_elementwise(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_chip_quotient(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_chip_division(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_uint8_sign(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_bfloat16_zero_point(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_expanded_truncates(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_through_bfloat16(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_axis_ignored(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_expanded_output(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_ttnn_mlir_mixes(const qdq_op_context *ctx, const qdq_rule *rule);

#endif
