// SPDX-License-Identifier: Apache-2.0
// Dequantize: y = (x - zero_point) * scale.
#include "ops/kernels/kernel.h"
#include "ops/quantize/lookup_stages.h"
#include "ops/quantize/quant_params.h"

static const qdq_port_desc inputs[] = {
    QDQ_QUANTIZE_PORTS(qdq_dequantize_attrs, , QDQ_SET_QUANTIZED)};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_REALS}};
static const qdq_attr_desc attrs[] = {
    QDQ_QUANTIZE_ATTRS(qdq_dequantize_attrs, , "bfloat16", QDQ_REQUIRED),
    QDQ_TTNN_ATTRS(qdq_dequantize_attrs)};

static bool complete(const qdq_op_context *ctx, void *attributes, qdq_mempool *mempool) {
    return qdq_infer_qtype(ctx, attributes, mempool);
}

static void infer(qdq_op_context *ctx) {
    const qdq_dequantize_attrs *a = ctx->attrs;
    qdq_dtype y = qdq_check_result(ctx, a->dtype ? a->dtype : QDQ_BFLOAT16, QDQ_SET_REALS);
    qdq_infer_given(ctx, a, y, ctx->inputs[QDQ_PORT_X].type.dtype);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_operand *x = &ctx->inputs[QDQ_PORT_X];
    bool done = qdq_lower_given(ctx, ctx->attrs, QDQ_FAMILY_DEQUANTIZE, to, &stages[0]) &&
                qdq_use_lookup_of_floats(&stages[0], x->type.dtype, ctx->outputs[0].dtype,
                                         qdq_shape_count(x->type.shape), to);
    return done ? 1 : 0;
}

static bool quantized_input(const qdq_op_context *ctx, const qdq_lowering *to,
                            qdq_quantized *quantized) {
    return qdq_quantized_given(ctx, ctx->attrs, to, quantized);
}

static bool weight_codes(const qdq_op_context *ctx, const qdq_lowering *to,
                         qdq_weight_codes *weight_codes) {
    return qdq_weight_codes_given(ctx, ctx->attrs, to, weight_codes);
}

static const qdq_op_fusion fusion = {
    .quantized_input = quantized_input,
    .weight_codes = weight_codes,
    .dequantizes = qdq_dequantizes_given,
};

const qdq_op qdq_op_dequantize = {
    .name = "Dequantize",
    .summary = "y = (x - zero_point) * scale",
    .attrs_size = sizeof(qdq_dequantize_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .complete = complete,
    .infer = infer,
    .infers_without_x = true,
    .looks_at = 1u << QDQ_PORT_SCALE | 1u << QDQ_PORT_ZERO_POINT,
    .lower = lower,
    .by_target = true,
    .fusion = &fusion,
};
