// SPDX-License-Identifier: Apache-2.0
// Decides which Dequantize the compiler may replace by its codes. For integer execution: codes of
// at most 8 bits, dequantized to float32 by the plain formula, so that differences are exact and
// only the product rounds. For weight codes: constant codes of 4 or 8 bits under the same formula,
// to any float dtype.
#include <math.h>

#include "ops/quantize/quant_params.h"
#include "runtime/numerics/quantize_one.h"

// A difference of 8-bit numbers is exact in float32, however it is computed. On a chip the product
// is not, and its own products want numbers.
static bool is_plain(const qdq_numerics *n) {
    return n->dequantize_step_dtype == QDQ_DTYPE_NONE && !n->flush_denormals && !qdq_is_device(n);
}

static bool scales_are_finite(const qdq_quantized *c) {
    for (size_t i = 0; i < c->count; i++)
        if (c->scales[i] == 0 || !isfinite(c->scales[i])) return false;
    return true;
}

static bool zero_points_are_codes(const qdq_quantized *c) {
    const qdq_dtype_info *info = qdq_dtype_get(c->dtype);
    for (size_t i = 0; i < c->count; i++)
        if (c->zero_points[i] < info->least || c->zero_points[i] > info->greatest) return false;
    return true;
}

// Expands a parameter to `count` numbers; it has `count` of them, or one.
static void *spread(const qdq_stage_param *v, size_t count, qdq_mempool *mempool) {
    uint32_t *out = qdq_mempool_array(mempool, count, sizeof *out);
    for (size_t i = 0; out && i < count; i++) out[i] = v->values[v->count == 1 ? 0 : i];
    return out;
}

static bool set_axis(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs, qdq_quantized *c) {
    int rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    c->axis = -1;
    if (c->count == 1) return true;
    if (attrs->qtype != QDQ_PER_CHANNEL) return false;
    c->axis = attrs->axis.set != 0 ? (int)attrs->axis.value : 1;
    if (c->axis < 0) c->axis += rank;
    return true;
}

bool qdq_quantized_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                         const qdq_lowering *to, qdq_quantized *c) {
    const qdq_operand *x = &ctx->inputs[QDQ_PORT_X];
    qdq_stage stage;
    const qdq_dtype_info *info = qdq_dtype_get(x->type.dtype);
    if (info->kind != QDQ_KIND_INT || info->bits > 8) return false;
    if (ctx->outputs[0].dtype != QDQ_FLOAT32 || attrs->zero_point_domain == QDQ_DOMAIN_FLOAT ||
        !is_plain(&to->numerics) || !qdq_lower_given(ctx, attrs, QDQ_FAMILY_DEQUANTIZE, to, &stage))
        return false;
    const qdq_stage_param *scale = &stage.stage_params[0], *zero = &stage.stage_params[1];
    if (stage.stage_param_count != 2) return false;  // a float64 scale
    if (scale->origin != QDQ_FROM_NUMBERS || zero->origin != QDQ_FROM_NUMBERS) return false;
    *c = (qdq_quantized){.dtype = x->type.dtype, .data = x->data, .stored = x->stored};
    c->count = scale->count > zero->count ? scale->count : zero->count;
    if (!set_axis(ctx, attrs, c)) return false;
    c->scales = spread(scale, c->count, to->mempool);
    c->zero_points = spread(zero, c->count, to->mempool);
    return c->scales && c->zero_points && scales_are_finite(c) && zero_points_are_codes(c);
}

//---- Links ------------------------------------------------------------------

bool qdq_dequantizes_given(const qdq_link *link, qdq_code_operand *operand) {
    const qdq_quant_params *p = link->params;
    const qdq_param *scale = &link->stage_params[0], *zero = &link->stage_params[1];
    if (link->stage_param_count != 2 || p->y_dtype != QDQ_FLOAT32 || p->float_zero_point ||
        (p->x_dtype != QDQ_INT8 && p->x_dtype != QDQ_UINT8) || !is_plain(&p->numerics) ||
        scale->count != 1 || zero->count != 1 || scale->fetch != QDQ_FETCH_KNOWN ||
        zero->fetch != QDQ_FETCH_KNOWN || !scale->values || !zero->values)
        return false;
    *operand = (qdq_code_operand){p->x_dtype, qdq_float_from_bits(scale->values[0]),
                                  (int32_t)zero->values[0]};
    return isfinite(operand->scale) && operand->zero_point >= p->range.least &&
           operand->zero_point <= p->range.greatest;
}

//---- Constants --------------------------------------------------------------

// Within this bound code - zero_point does not round.
static bool zero_points_are_near(const qdq_stage_param *v) {
    enum { MOST = 1 << 14 };
    for (size_t i = 0; i < v->count; i++)
        if ((int32_t)v->values[i] < -MOST || (int32_t)v->values[i] > MOST) return false;
    return true;
}

bool qdq_weight_codes_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                            const qdq_lowering *to, qdq_weight_codes *c) {
    const qdq_operand *x = &ctx->inputs[QDQ_PORT_X];
    const qdq_numerics *n = &to->numerics;
    qdq_stage stage;
    if ((!x->data && !x->stored) ||
        !qdq_set_has(QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT4) | QDQ_SET(UINT4),
                     x->type.dtype))
        return false;
    if (!qdq_set_has(QDQ_SET_FLOATS, ctx->outputs[0].dtype) ||
        attrs->zero_point_domain == QDQ_DOMAIN_FLOAT || !is_plain(n) ||
        n->bfloat16_store != QDQ_BFLOAT16_HALF_EVEN ||
        !qdq_lower_given(ctx, attrs, QDQ_FAMILY_DEQUANTIZE, to, &stage))
        return false;
    *c = (qdq_weight_codes){x->type.dtype, x->data, x->stored, stage.stage_params[0],
                            stage.stage_params[1]};
    return stage.stage_param_count == 2 && c->scale.origin == QDQ_FROM_NUMBERS &&
           c->zero_point.origin == QDQ_FROM_NUMBERS && zero_points_are_near(&c->zero_point);
}
