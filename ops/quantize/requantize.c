// SPDX-License-Identifier: Apache-2.0
// Requantize: from one set of parameters to another, each per tensor or per channel.
#include "ops/kernels/kernel.h"
#include "ops/quantize/lookup_stages.h"
#include "ops/quantize/requantize_fixed.h"

typedef qdq_requantize_attrs attrs_type;

enum { IN_SCALE = 1, IN_ZERO_POINT, OUT_SCALE, OUT_ZERO_POINT };

static const qdq_port_desc inputs[] = {
    // NOLINTNEXTLINE(misc-redundant-expression): both sets come from one list
    {"x", offsetof(attrs_type, x), false, QDQ_SET_INTS | QDQ_SET_REALS | QDQ_SET(INT64)},
    {"in_scale", offsetof(attrs_type, in_scale), true, QDQ_SET_FLOATS},
    {"in_zero_point", offsetof(attrs_type, in_zero_point), true, QDQ_SET_INTS},
    {"out_scale", offsetof(attrs_type, out_scale), true, QDQ_SET_FLOATS},
    {"out_zero_point", offsetof(attrs_type, out_zero_point), true, QDQ_SET_INTS},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_INTS}};

_Static_assert(sizeof(qdq_maybe_qtype) == sizeof(qdq_maybe_word), "QDQ_ATTR_MAYBE_WORD");
static const char *const qtypes[] = {"per_tensor", "per_channel", NULL};
static const char *const roundings[] = {"single",  "double",  "up", "float32",
                                        "float64", "inexact", NULL};

static const qdq_attr_desc attrs[] = {
    {"in_scales", QDQ_ATTR_FLOATS, offsetof(attrs_type, in_scales), NULL, "",
     "constant scale of x, or the port: 1, or dim[axis]; required without a multiplier"},
    {"in_zps", QDQ_ATTR_NUMBERS, offsetof(attrs_type, in_zps), NULL, "0",
     "constant zero point of x, or the port: 1, or as many as in_scales"},
    {"out_scales", QDQ_ATTR_FLOATS, offsetof(attrs_type, out_scales), NULL, "",
     "constant scale of y, or the port: 1, or dim[axis]; required without a multiplier"},
    {"out_zps", QDQ_ATTR_NUMBERS, offsetof(attrs_type, out_zps), NULL, "0",
     "constant zero point of y, or the port: 1, or as many as out_scales"},
    {"multiplier", QDQ_ATTR_NUMBERS, offsetof(attrs_type, multiplier), NULL, "",
     "fixed point in place of both scales: whole numbers, 1, or dim[axis]; the scale is multiplier "
     "* 2^-shift"},
    {"shift", QDQ_ATTR_NUMBERS, offsetof(attrs_type, shift), NULL, "",
     "with multiplier: 0 to 62 (float32: 126, float64: 1022), 1, or dim[axis]"},
    {"rounding", QDQ_ATTR_WORD, offsetof(attrs_type, rounding), roundings, "single",
     "how the product with the multiplier is rounded (docs/numerics.md)"},
    {"axis", QDQ_ATTR_INT, offsetof(attrs_type, axis), NULL, "",
     "the dim of the channels; required if a side has more than one element"},
    {"qtype", QDQ_ATTR_MAYBE_WORD, offsetof(attrs_type, qtype), qtypes, "by the counts",
     "per_tensor or per_channel; must agree with the counts"},
    {"dtype", QDQ_ATTR_DTYPE, offsetof(attrs_type, dtype), NULL, "the dtype of x",
     "of the result; the default is the dtype that target core gives, which requires it if x is a "
     "float"},
    {"quant_min", QDQ_ATTR_BOUND, offsetof(attrs_type, quant_min), NULL, "of the dtype",
     "least quantized value"},
    {"quant_max", QDQ_ATTR_BOUND, offsetof(attrs_type, quant_max), NULL, "of the dtype",
     "greatest quantized value"},
    QDQ_TTNN_ATTRS(attrs_type),
};

// One side of the op.
typedef struct side {
    qdq_scale_slot scale;
    qdq_zero_point_slot zero_point;
} side;

static side in_side(const attrs_type *a) {
    return (side){{"in_scales", a->in_scales, IN_SCALE, false},
                  {.attr_name = "in_zps", .attr = a->in_zps, .port = IN_ZERO_POINT}};
}

static side out_side(const attrs_type *a) {
    return (side){{"out_scales", a->out_scales, OUT_SCALE, false},
                  {.attr_name = "out_zps", .attr = a->out_zps, .port = OUT_ZERO_POINT}};
}

static size_t zero_point_count(const qdq_op_context *ctx, const qdq_zero_point_slot *slot) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    return in->given && in->valid ? qdq_shape_count(in->type.shape) : slot->attr.count;
}

// A side with more than one scale or zero point is per channel.
static bool per_channel(const qdq_op_context *ctx, const side *s) {
    return qdq_scale_count(ctx, &s->scale) > 1 || zero_point_count(ctx, &s->zero_point) > 1;
}

static bool has_channels(const qdq_op_context *ctx, const side *in, const side *out) {
    return per_channel(ctx, in) || per_channel(ctx, out) || qdq_fixed_has_channels(ctx->attrs);
}

// A per-channel side may have a single scale with many zero points, or the reverse; each is then
// checked separately.
static qdq_granularity granularity_of(size_t count, const qdq_granularity *channels) {
    return count > 1 ? *channels : qdq_granularity_per_tensor();
}

static void check_side(const qdq_op_context *ctx, const side *s, const qdq_granularity *channels,
                       qdq_dtype quantized) {
    qdq_granularity scale = granularity_of(qdq_scale_count(ctx, &s->scale), channels);
    qdq_granularity zero_point = granularity_of(zero_point_count(ctx, &s->zero_point), channels);
    if (!qdq_is_fixed_requantize(ctx)) qdq_check_scale(ctx, &s->scale, &scale);
    qdq_check_zero_point(ctx, &s->zero_point, &zero_point, quantized);
}

static void check_qtype(const qdq_op_context *ctx, const attrs_type *a, bool channels) {
    if (a->qtype.set == 0) return;
    if ((a->qtype.value == QDQ_PER_CHANNEL) != channels)
        qdq_report_violation(ctx, QDQ_RULE_QTYPE_COUNT, "qtype",
                             channels ? "is per_tensor, but a side has more than one element"
                                      : "is per_channel, but both sides have one element",
                             channels ? "per_channel" : "per_tensor");
}

static qdq_granularity channels_of(const qdq_op_context *ctx, const attrs_type *a, bool needed) {
    if (!ctx->inputs[QDQ_PORT_X].valid) return (qdq_granularity){0};
    if (!needed && a->axis.set == 0) return (qdq_granularity){0};
    if (a->axis.set == 0) {
        qdq_report_violation(ctx, QDQ_RULE_AXIS_REQUIRED, "axis",
                             "is missing, but a side has more than one element", NULL);
        return (qdq_granularity){0};
    }
    return qdq_granularity_per_channel(ctx, a->axis, 0);
}

// Checks what depends on the way the factor is given.
static void check_factor(const qdq_op_context *ctx, const attrs_type *a,
                         const qdq_granularity *channels) {
    if (qdq_is_fixed_requantize(ctx)) {
        qdq_check_fixed(ctx, channels);
        return;
    }
    // NOLINTNEXTLINE(misc-redundant-expression): both sets come from one list
    const qdq_dtype_set numbers = QDQ_SET_INTS | QDQ_SET_REALS;
    if (ctx->inputs[QDQ_PORT_X].valid)
        (void)qdq_check_port_dtype(ctx, "x", ctx->inputs[QDQ_PORT_X].type.dtype, numbers);
    if (a->rounding) qdq_find_ignored(ctx, "rounding", "there is no multiplier");
}

static void infer(qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    qdq_dtype y = a->dtype ? a->dtype : x;
    bool known = ctx->inputs[QDQ_PORT_X].valid;
    if (!a->dtype && !known) {
        y = QDQ_DTYPE_NONE;
    } else if (!a->dtype && !qdq_dtype_is_int(x)) {
        qdq_report_violation(ctx, QDQ_RULE_DTYPE_REQUIRED, "dtype",
                             qdq_text(ctx->findings, "is missing, but x is %s", qdq_dtype_name(x)),
                             "an integer dtype");
        y = QDQ_DTYPE_NONE;
    } else {
        y = qdq_check_result(ctx, y, QDQ_SET_INTS);
    }
    side in = in_side(a), out = out_side(a);
    bool channels = has_channels(ctx, &in, &out);
    check_qtype(ctx, a, channels);
    qdq_granularity granularity = channels_of(ctx, a, channels);
    check_factor(ctx, a, &granularity);
    check_side(ctx, &in, &granularity, x);
    check_side(ctx, &out, &granularity, y);
    qdq_check_quant_range(ctx, a->quant_min, a->quant_max, y);
    ctx->outputs[0] = (qdq_type){y, ctx->inputs[QDQ_PORT_X].type.shape};
}

// True if these numerics allow a kernel for each half. The kernels store the bfloat16 between them
// and load it again.
static bool may_part(const qdq_quant_params *p) {
    const qdq_numerics *n = &p->numerics;
    return n->multiply_add && n->requantize_form == QDQ_REQUANTIZE_PAIR &&
           n->requantize_dtype == QDQ_BFLOAT16 && n->bfloat16_store == QDQ_BFLOAT16_DEVICE &&
           qdq_dtype_is_int(p->x_dtype);
}

static bool use_pair(qdq_stage *stage, const qdq_quant_params *whole, const qdq_lowering *to) {
    qdq_pair_params *pair = QDQ_MEMPOOL_NEW(to->mempool, qdq_pair_params);
    if (!pair) return false;
    pair->first = pair->second = *whole;
    pair->first.y_dtype = pair->second.x_dtype = QDQ_BFLOAT16;
    pair->first.range = qdq_range_of(whole->x_dtype, NULL, NULL, &whole->numerics);
    pair->dequantize = qdq_quant_kernel(QDQ_FAMILY_DEQUANTIZE, &pair->first, to->isas);
    pair->quantize = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &pair->second, to->isas);
    stage->params = pair;
    stage->fn = qdq_requantize_pair_tile;
    return true;
}

// Sets the parameters from scales.
static bool use_scales(const qdq_op_context *ctx, const side *in, const side *out,
                       const qdq_granularity *g, const qdq_lowering *to, qdq_stage *stage) {
    if (!qdq_scale_param(ctx, &in->scale, g, to->mempool, &stage->stage_params[0]) ||
        !qdq_scale_param(ctx, &out->scale, g, to->mempool, &stage->stage_params[2]))
        return false;
    qdq_drop_unit_scales(&in->scale, to->numerics.unit_scale_tolerance, &stage->stage_params[0]);
    qdq_drop_unit_scales(&out->scale, to->numerics.unit_scale_tolerance, &stage->stage_params[2]);
    return true;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs_type *a = ctx->attrs;
    side in = in_side(a), out = out_side(a);
    qdq_granularity g = channels_of(ctx, a, has_channels(ctx, &in, &out));
    qdq_stage *stage = &stages[0];
    qdq_quant_params *params =
        qdq_quant_params_of(ctx, to, ctx->outputs[0].dtype, a->quant_min, a->quant_max);
    if (!params) return 0;
    *stage = (qdq_stage){
        .params = params,
        .fn = qdq_quant_kernel(QDQ_FAMILY_REQUANTIZE, params, to->isas),
        .stage_param_count = 4,
    };
    bool done =
        (qdq_is_fixed_requantize(ctx) ? qdq_use_fixed(a, &g, to, params, stage)
                                      : use_scales(ctx, &in, &out, &g, to, stage) &&
                                            qdq_use_fixed_scales(to, params, stage)) &&
        qdq_zero_point_param(ctx, &in.zero_point, &g, to->mempool, &stage->stage_params[1]) &&
        qdq_zero_point_param(ctx, &out.zero_point, &g, to->mempool, &stage->stage_params[3]);
    if (!done || (!params->fixed && may_part(params) && !to->plain && !use_pair(stage, params, to)))
        return 0;
    return qdq_use_lookup(stage, params->x_dtype, params->y_dtype, to) ? 1 : 0;
}

const qdq_op qdq_op_requantize = {
    .name = "Requantize",
    .summary = "y = Quantize(Dequantize(x)), from one set of parameters to another, or by a "
               "multiplier and a shift",
    .attrs_size = sizeof(attrs_type),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .infers_without_x = true,
    .looks_at = 1u << IN_SCALE | 1u << IN_ZERO_POINT | 1u << OUT_SCALE | 1u << OUT_ZERO_POINT,
    .lower = lower,
    .by_target = true,
};
