// SPDX-License-Identifier: Apache-2.0
// The checks of TensorRT's rules; tensorrt.c has the rules, whose summaries state the conditions.
// tensorrt_dynamic.c has the checks of DynamicQuantize, tensorrt_checks.c all others.
#ifndef QDQ_GRAPH_TARGETS_TENSORRT_TENSORRT_H
#define QDQ_GRAPH_TARGETS_TENSORRT_TENSORRT_H

#include "graph/targets/products.h"
#include "graph/targets/tensorrt/tensorrt_shared.h"

typedef void qdq_check(const qdq_op_context *ctx, const qdq_rule *rule);

//---- Dtypes, scales, zero points ---------------------------------------------

qdq_check qdq_trt_quantized_dtype, qdq_trt_no_uint8, qdq_trt_no_float4, qdq_trt_static_float4;
qdq_check qdq_trt_scale_dtype, qdq_trt_no_e8m0_scale, qdq_trt_e8m0_is_mxfp8, qdq_trt_one_dtype;
qdq_check qdq_trt_run_time_scale, qdq_trt_scale_rank, qdq_trt_single_scale_rank;
qdq_check qdq_trt_zero_point_is_zero, qdq_trt_zero_point_is_constant;
qdq_check qdq_trt_zero_point_shape, qdq_trt_zero_point_dtype;

//---- Shapes -----------------------------------------------------------------

qdq_check qdq_trt_volume, qdq_trt_channels_of_weights, qdq_trt_axis_alone;
qdq_check qdq_trt_even_last_dim;
qdq_check qdq_trt_block_rank_2, qdq_trt_no_blocks_of_a_list, qdq_trt_one_blocked_dim;
qdq_check qdq_trt_blocked_dim_is_late, qdq_trt_needs_block_shape;
qdq_check qdq_trt_no_int8_blocks, qdq_trt_no_float8_blocks, qdq_trt_weight_block_size;

//---- Use --------------------------------------------------------------------

qdq_check qdq_trt_int4_is_for_weights, qdq_trt_dynamic_activations, qdq_trt_equal_scales;
qdq_check qdq_trt_both_quantized;

//---- Cast -------------------------------------------------------------------

qdq_check qdq_trt_element_dtypes, qdq_trt_cast_dtype, qdq_trt_cast_uint8, qdq_trt_cast_int8;

//---- Defaults ---------------------------------------------------------------

// Returns the dtype of a layer's result by default; NONE: as in the core.
qdq_dtype qdq_trt_own_dtype(const qdq_op_context *ctx);
qdq_check qdq_trt_default_dtype;

//---- DynamicQuantize without a scale ------------------------------------------

qdq_check qdq_trt_given_scale;
qdq_check qdq_trt_scheme, qdq_trt_no_mxfp8, qdq_trt_no_float_scale, qdq_trt_dynamic_dtype;
qdq_check qdq_trt_dynamic_result, qdq_trt_dynamic_float_scale, qdq_trt_dynamic_granularity,
    qdq_trt_dynamic_rank;
qdq_check qdq_trt_dynamic_nvfp4, qdq_trt_dynamic_block_size, qdq_trt_no_eps, qdq_trt_computed_scale;
qdq_check qdq_trt_global_scale_given, qdq_trt_global_scale_dtype, qdq_trt_global_scale_constant;
qdq_check qdq_trt_global_scale_positive, qdq_trt_global_scale_rank, qdq_trt_global_scale_list;

#endif
