// SPDX-License-Identifier: Apache-2.0
// Quantize: y = clamp(round(x / scale) + zero_point).
#include <math.h>

#include "ops/kernels/kernel.h"
#include "ops/quantize/lookup_stages.h"
#include "ops/quantize/quant_params.h"
#include "runtime/numerics/dtype.h"

static const qdq_port_desc inputs[] = {
    QDQ_QUANTIZE_PORTS(qdq_quantize_attrs, , QDQ_SET_REALS | QDQ_SET(INT32))};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_QUANTIZED}};
static const qdq_attr_desc attrs[] = {
    QDQ_QUANTIZE_ATTRS(qdq_quantize_attrs, , "int8", QDQ_REQUIRED),
    QDQ_TTNN_ATTRS(qdq_quantize_attrs)};

static bool complete(const qdq_op_context *ctx, void *attributes, qdq_mempool *mempool) {
    return qdq_infer_qtype(ctx, attributes, mempool);
}

static void infer(qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = ctx->attrs;
    qdq_dtype y = qdq_check_result(ctx, a->dtype ? a->dtype : QDQ_INT8, QDQ_SET_QUANTIZED);
    qdq_infer_given(ctx, a, y, y);
}

//---- Codes ------------------------------------------------------------------

static bool is_byte(qdq_dtype dtype) { return dtype == QDQ_INT8 || dtype == QDQ_UINT8; }

static bool is_known_number(const qdq_op_context *ctx, size_t port, size_t attr_count) {
    const qdq_operand *v = &ctx->inputs[port];
    if (!v->given) return attr_count == 1 || (port == QDQ_PORT_ZERO_POINT && !attr_count);
    return v->data && qdq_shape_count(v->type.shape) == 1;
}

// Codes that an op moved, or chose by their order, become other codes by a table. Codes straight
// from a Dequantize need no table, because its link fuses with the link of this op.
static uint64_t accepts_quantized(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = ctx->attrs;
    const qdq_operand *x = &ctx->inputs[QDQ_PORT_X];
    bool moved = x->maker.op && qdq_fusion_of(x->maker.op)->passes_quantized;
    return moved && x->quantized && x->quantized->count == 1 && is_byte(x->quantized->dtype) &&
           is_byte(ctx->outputs[0].dtype) && a->zero_point_domain != QDQ_DOMAIN_FLOAT &&
           is_known_number(ctx, QDQ_PORT_SCALE, a->scales.count) &&
           is_known_number(ctx, QDQ_PORT_ZERO_POINT, a->zps.count);
}

static bool lower_on_codes(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stage) {
    qdq_op_context of_reals = *ctx;
    of_reals.inputs[QDQ_PORT_X].type.dtype = QDQ_FLOAT32;
    return qdq_lower_given(&of_reals, ctx->attrs, QDQ_FAMILY_QUANTIZE, to, stage) &&
           qdq_use_lookup_of_codes(stage, ctx->inputs[QDQ_PORT_X].quantized, ctx->outputs[0].dtype,
                                   to);
}

//---- Lowering ---------------------------------------------------------------

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    if (ctx->inputs[QDQ_PORT_X].quantized) return lower_on_codes(ctx, to, &stages[0]) ? 1 : 0;
    return qdq_lower_given(ctx, ctx->attrs, QDQ_FAMILY_QUANTIZE, to, &stages[0]) ? 1 : 0;
}

static bool are_known(const qdq_param *v) { return v->fetch == QDQ_FETCH_KNOWN && v->values; }

// True if the code of 0 is the least code, that of `most` the greatest, and all scales are
// positive.
static bool ignores_cut(const qdq_link *link, float most) {
    const qdq_quant_params *p = link->params;
    const qdq_param *scale = &link->stage_params[0], *zero = &link->stage_params[1];
    qdq_numerics plain = {0}, own;
    if (link->stage_param_count != 2) return false;  // a table
    own = qdq_numerics_that_matter(QDQ_FAMILY_QUANTIZE, p->y_dtype, &p->numerics);
    if (qdq_dtype_get(p->y_dtype)->kind != QDQ_KIND_INT || p->float_zero_point || p->scales_twice ||
        !qdq_numerics_equal(&own, &plain) || !are_known(scale) || !are_known(zero))
        return false;
    for (size_t i = 0; i < scale->count; i++) {
        float s = qdq_float_from_bits(scale->values[i]);
        if (!(s > 0) || isinf(s)) return false;
        double code = (double)qdq_round_half_even(most / s) + (double)p->range.least;
        if (most < INFINITY && (code < (double)p->range.quant_max || p->range.fractions != 0))
            return false;
    }
    for (size_t i = 0; i < zero->count; i++)
        if ((int32_t)zero->values[i] != p->range.least) return false;
    return true;
}

static bool quantizes(const qdq_link *link, qdq_stage_quantize *to) {
    const qdq_quant_params *p = link->params;
    const qdq_param *scale = &link->stage_params[0], *zero = &link->stage_params[1];
    if (link->stage_param_count != 2 || !is_byte(p->y_dtype) || p->x_dtype != QDQ_FLOAT32 ||
        !are_known(scale) || !are_known(zero) || scale->count != 1 || zero->count != 1)
        return false;
    *to = (qdq_stage_quantize){link->fn, p, {{scale->values, 0}, {zero->values, 0}}, p->y_dtype};
    return true;
}

static const qdq_op_fusion fusion = {
    .accepts_quantized = accepts_quantized, .ignores_cut = ignores_cut, .quantizes = quantizes};

const qdq_op qdq_op_quantize = {
    .name = "Quantize",
    .summary = "y = clamp(round(x / scale) + zero_point)",
    .attrs_size = sizeof(qdq_quantize_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .complete = complete,
    .infer = infer,
    .infers_without_x = true,
    .looks_at = 1u << QDQ_PORT_SCALE | 1u << QDQ_PORT_ZERO_POINT,
    .lower = lower,
    .by_target = true,
    .fusion = &fusion,
};
