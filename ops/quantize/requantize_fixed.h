// SPDX-License-Identifier: Apache-2.0
// Requantize in fixed point: by the attributes `multiplier` and `shift`, or by a multiplier and
// a shift that numerics choose for its scales.
#ifndef QDQ_OPS_QUANTIZE_REQUANTIZE_FIXED_H
#define QDQ_OPS_QUANTIZE_REQUANTIZE_FIXED_H

#include "ops/quantize/quant_params.h"

// True if a node is a Requantize that has a multiplier or a shift.
bool qdq_is_fixed_requantize(const qdq_op_context *ctx);

// True if `multiplier` or `shift` has more than one number.
bool qdq_fixed_has_channels(const qdq_requantize_attrs *attrs);

// Checks that multiplier and shift are given together and in place of scales, their counts and
// ranges, and the dtype of x. `channels` is the granularity of more than one number.
void qdq_check_fixed(const qdq_op_context *ctx, const qdq_granularity *channels);

// Sets parameters 0 and 2 of a stage from the attributes, and its kernel. False when memory runs
// out.
bool qdq_use_fixed(const qdq_requantize_attrs *attrs, const qdq_granularity *channels,
                   const qdq_lowering *to, qdq_quant_params *params, qdq_stage *stage);

// The same from scales, if they are known, x is an integer and the numerics are a form in fixed
// point; otherwise it changes nothing.
bool qdq_use_fixed_scales(const qdq_lowering *to, qdq_quant_params *params, qdq_stage *stage);

#endif
