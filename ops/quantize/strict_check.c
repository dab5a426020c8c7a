// SPDX-License-Identifier: Apache-2.0
// Checks of parameters that the core leaves to the target: PyTorch promotes float64 and int64, and
// reads the parameters of blocks in row-major order from any shape.
#include "ops/quantize/quant_params.h"

static bool check_dtype(const qdq_op_context *ctx, size_t port, qdq_dtype_set set) {
    const qdq_operand *in = &ctx->inputs[port];
    return !in->given || qdq_check_port_dtype(ctx, ctx->op->inputs[port].name, in->type.dtype, set);
}

bool qdq_check_strict_parameters(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs) {
    bool scale = check_dtype(ctx, QDQ_PORT_SCALE, QDQ_SET_SCALES);
    bool zero_point = check_dtype(ctx, QDQ_PORT_ZERO_POINT, QDQ_SET_ZERO_POINTS);
    if (attrs->qtype != QDQ_PER_GROUP) return scale && zero_point;
    qdq_granularity g = qdq_granularity_of(ctx, attrs);
    scale &= qdq_check_port_shape(ctx, QDQ_RULE_SCALE_COUNT, QDQ_PORT_SCALE, &g);
    zero_point &= qdq_check_port_shape(ctx, QDQ_RULE_ZERO_POINT_COUNT, QDQ_PORT_ZERO_POINT, &g);
    return scale && zero_point;
}
