// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize: Quantize with a scale that is given at run time, or computed from x itself.
//
// It lowers to a reduction (minimum and maximum: exact in any order, but in ONNX Runtime's with
// NaN) and the link of Quantize. Run-time scales are fetched into a plain list before the loop, so
// constant and computed scales run the same code.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "ops/quantize/choose_qparams.h"
#include "ops/quantize/lane_range.h"
#include "ops/quantize/quant_params.h"

static const char *const schemes[] = {"asymmetric", "symmetric", "symmetric_no_clipping",
                                      "mx_floor",   "mx_ceil",   "mx_even",
                                      "mx_rceil",   "nvfp4",     NULL};

typedef qdq_dynamic_quantize_attrs attrs_type;

enum { PORT_GLOBAL_SCALE = QDQ_PORT_ZERO_POINT + 1 };
enum { OUT_Y, OUT_SCALE, OUT_ZERO_POINT };

static const qdq_port_desc inputs[] = {
    QDQ_QUANTIZE_PORTS(attrs_type, quantize., QDQ_SET_REALS | QDQ_SET(INT32)),
    {"global_scale", offsetof(attrs_type, global_scale), true, QDQ_SET_FLOATS}};
static const qdq_port_desc outputs[] = {
    {"y", 0, false, QDQ_SET_QUANTIZED},
    {"scale", 0, true, QDQ_SET_COMPUTED_SCALES},
    // NOLINTNEXTLINE(misc-redundant-expression): both sets come from one list
    {"zero_point", 0, true, QDQ_SET_INTS | QDQ_SET_SMALL_FLOATS}};
static const qdq_attr_desc attrs[] = {
    QDQ_QUANTIZE_ATTRS(attrs_type, quantize., "int8", "computed from x"),
    {"scheme", QDQ_ATTR_WORD, offsetof(attrs_type, scheme), schemes, "asymmetric",
     "without a scale: how scale and zero point come from x"},
    {"eps", QDQ_ATTR_FLOAT, offsetof(attrs_type, eps), NULL, "as the target does",
     "without a scale: the least scale"},
    {"global_scales", QDQ_ATTR_FLOATS, offsetof(attrs_type, global_scales), NULL, "1",
     "nvfp4: a constant scale of the scales, or the port"},
    {"scale_dtype", QDQ_ATTR_DTYPE, offsetof(attrs_type, scale_dtype), NULL, "float32",
     "without a scale: float32, float16 or bfloat16; the computed scale is rounded to it"},
};

static bool has_scale(const qdq_op_context *ctx, const attrs_type *a) {
    return ctx->inputs[QDQ_PORT_SCALE].given || a->quantize.scales.data;
}

static bool has_global_scale(const qdq_op_context *ctx, const attrs_type *a) {
    return ctx->inputs[PORT_GLOBAL_SCALE].given || a->global_scales.data;
}

static qdq_scale_slot global_scale_of(const attrs_type *a) {
    return (qdq_scale_slot){"global_scales", a->global_scales, PORT_GLOBAL_SCALE, true};
}

//---- Checking ---------------------------------------------------------------

static qdq_dtype_set results_of(qdq_scheme scheme) {
    if (scheme == QDQ_NVFP4) return QDQ_SET(FLOAT4_E2M1);
    if (scheme >= QDQ_MX_FLOOR) return QDQ_SET_SMALL_FLOATS;
    // NOLINTNEXTLINE(misc-redundant-expression): both sets come from one list
    return scheme == QDQ_SYMMETRIC ? QDQ_SET_INTS | QDQ_SET_SMALL_FLOATS : QDQ_SET_INTS;
}

static void check_eps(const qdq_op_context *ctx, const attrs_type *a) {
    if (a->eps.set == 0) return;
    if (a->scheme >= QDQ_MX_FLOOR)
        qdq_report_violation(
            ctx, QDQ_RULE_ATTR_VALUE, "eps",
            qdq_text(ctx->findings, "is given, but scheme is %s", schemes[a->scheme]), "none");
    else if (!(a->eps.value > 0 && isfinite((float)a->eps.value)))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "eps",
                             qdq_text_is(ctx->findings, a->eps.value), "a finite number above 0");
}

// A global scale needs computed scales of the scheme nvfp4.
static void check_global_scale(const qdq_op_context *ctx, const attrs_type *a) {
    if (!has_global_scale(ctx, a)) return;
    qdq_scale_slot slot = global_scale_of(a);
    qdq_granularity one = qdq_granularity_per_tensor();
    if (a->scheme != QDQ_NVFP4 || has_scale(ctx, a))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE,
                             a->global_scales.data ? "global_scales" : "global_scale", "is given",
                             "none, unless scheme is nvfp4 and no scale is given");
    one.reason = "for the whole of x";
    qdq_check_scale(ctx, &slot, &one);
}

static qdq_dtype scale_dtype_of(const attrs_type *a) {
    return a->scale_dtype ? a->scale_dtype : qdq_scheme_scale_dtype(a->scheme);
}

// Schemes of block formats fix the dtype of the scales; the others leave it to scale_dtype.
static void check_scale_dtype(const qdq_op_context *ctx, const attrs_type *a) {
    char text[256];
    qdq_dtype own = qdq_scheme_scale_dtype(a->scheme);
    qdq_dtype_set set = own == QDQ_FLOAT32 ? QDQ_SET_FLOATS : (qdq_dtype_set)1 << own;
    if (!a->scale_dtype || a->scale_dtype < 0 || a->scale_dtype >= QDQ_DTYPE_COUNT) return;
    if (has_scale(ctx, a))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "scale_dtype", "is given, and so is a scale",
                             "one of them");
    else if (!qdq_set_has(set, a->scale_dtype))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "scale_dtype",
                             qdq_text(ctx->findings, "is %s", qdq_dtype_name(a->scale_dtype)),
                             qdq_text(ctx->findings, "%s, as scheme is %s",
                                      qdq_set_text(set, text, sizeof text), schemes[a->scheme]));
}

static void check_computed(const qdq_op_context *ctx, const attrs_type *a, qdq_dtype y) {
    if (ctx->inputs[QDQ_PORT_ZERO_POINT].given || a->quantize.zps.data)
        qdq_report_violation(ctx, QDQ_RULE_SCALE_MISSING, "scale",
                             "is missing, but a zero point is given",
                             "both, or neither to have both computed from x");
    if (a->quantize.zero_point_domain != QDQ_DOMAIN_INT)
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_DOMAIN, "zero_point_domain",
                             qdq_text(ctx->findings, "is %s, but the zero point is computed",
                                      qdq_domain_words[a->quantize.zero_point_domain]),
                             "int");
    if (a->quantize.axis.set != 0 && a->quantize.qtype != QDQ_PER_CHANNEL)
        qdq_find_ignored(
            ctx, "axis",
            qdq_text(ctx->findings, "qtype is %s", qdq_qtype_words[a->quantize.qtype]));
    check_eps(ctx, a);
    if (!qdq_dtype_is_int(y) && !qdq_check_whole_bounds(ctx, y)) return;
    qdq_int least = a->quantize.quant_min, most = a->quantize.quant_max;
    bool symmetric = a->scheme == QDQ_SYMMETRIC || a->scheme == QDQ_SYMMETRIC_NO_CLIPPING;
    if (qdq_check_quant_range(ctx, least, most, y) && qdq_check_two_codes(ctx, least, most, y) &&
        symmetric && most.set != 0 && most.value < 1)
        qdq_report_violation(
            ctx, QDQ_RULE_QUANT_RANGE, "quant_max",
            qdq_text(ctx->findings, "is %lld", (long long)most.value),
            qdq_text(ctx->findings, "1 or more, as scheme is %s", schemes[a->scheme]));
}

// A scale that is given is not computed.
static void check_ignored(const qdq_op_context *ctx, const attrs_type *a) {
    if (a->scheme != QDQ_ASYMMETRIC) qdq_find_ignored(ctx, "scheme", "a scale is given too");
    if (a->eps.set != 0) qdq_find_ignored(ctx, "eps", "a scale is given too");
}

static bool complete(const qdq_op_context *ctx, void *attributes, qdq_mempool *mempool) {
    attrs_type *a = attributes;
    return qdq_infer_qtype(ctx, &a->quantize, mempool);
}

static void infer(qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype y = qdq_check_result(ctx, a->quantize.dtype ? a->quantize.dtype : QDQ_INT8,
                                   has_scale(ctx, a) ? QDQ_SET_QUANTIZED : results_of(a->scheme));
    check_global_scale(ctx, a);
    check_scale_dtype(ctx, a);
    if (has_scale(ctx, a)) {
        check_ignored(ctx, a);
        qdq_infer_given(ctx, &a->quantize, y, y);
        return;
    }
    qdq_granularity granularity = qdq_granularity_of(ctx, &a->quantize);
    check_computed(ctx, a, y);
    ctx->outputs[OUT_Y] = (qdq_type){y, ctx->inputs[QDQ_PORT_X].type.shape};
    ctx->outputs[OUT_SCALE] = (qdq_type){scale_dtype_of(a), granularity.shape};
    ctx->outputs[OUT_ZERO_POINT] = (qdq_type){y, granularity.shape};
}

//---- Parameters from the data -----------------------------------------------

static void accumulate(const void *params, void *state, const void *x, size_t n) {
    const qdq_choose_params *p = params;
    p->widen(p->x_dtype, x, n, state);
}

static void widen(qdq_block_range *range, float low, float high, bool nan) {
    if (low < range->low) range->low = low;  // NaN compares false
    if (high > range->high) range->high = high;
    range->nan |= nan;
}

static void accumulate_each(const void *params, void *states, const void *x, size_t n) {
    enum { PART = 256 };
    const qdq_choose_params *p = params;
    qdq_block_range *ranges = states;
    for (size_t at = 0; at < n; at += PART) {
        size_t part = n - at < PART ? n - at : PART;
        float real[PART];
        qdq_decode_float(p->x_dtype, (const char *)x + at * qdq_dtype_size(p->x_dtype), real, part);
        for (size_t i = 0; i < part; i++)
            widen(&ranges[at + i], real[i], real[i], isnan(real[i]) != 0);
    }
}

static void merge(void *states, const void *others, size_t count) {
    qdq_block_range *ranges = states;
    const qdq_block_range *more = others;
    for (size_t i = 0; i < count; i++) widen(&ranges[i], more[i].low, more[i].high, more[i].nan);
}

// Stores the parameters of a block.
static void choose(const qdq_choose_params *p, const qdq_block_range *block, float global_scale,
                   size_t index, void *const *y) {
    qdq_qparams chosen = qdq_choose_qparams(p, block, global_scale);
    void *scale = (char *)y[0] + index * qdq_dtype_size(p->stored_scale_dtype);
    void *zero_point = (char *)y[1] + index * qdq_dtype_size(p->y_dtype);
    float zero = 0;
    chosen.scale = qdq_round_to_dtype(p->scale_dtype, chosen.scale, NULL);
    qdq_encode_float(p->stored_scale_dtype, &chosen.scale, scale, 1, NULL);
    if (qdq_dtype_is_int(p->y_dtype))
        qdq_encode_int(p->y_dtype, &chosen.zero_point, zero_point, 1);
    else
        qdq_encode_float(p->y_dtype, &zero, zero_point, 1, NULL);
}

static void finish(const void *params, const qdq_view *views, const void *state, size_t index,
                   void *const *y) {
    const qdq_choose_params *p = params;
    choose(p, state, p->has_global_scale ? qdq_float_from_bits(views[0].data[0]) : 1.0f, index, y);
}

static const qdq_reduce_fns range_reduction = {
    sizeof(qdq_block_range), accumulate, accumulate_each, merge, finish, false};

//---- In lanes ---------------------------------------------------------------

static void accumulate_lanes(const void *params, void *state, const void *x, size_t n) {
    enum { PART = 256 };
    const qdq_choose_params *p = params;
    size_t size = qdq_dtype_size(p->x_dtype);
    if (p->x_dtype == QDQ_FLOAT32) {
        qdq_lane_range_add(state, x, n);
        return;
    }
    for (size_t at = 0; at < n; at += PART) {
        float real[PART];
        size_t part = n - at < PART ? n - at : PART;
        qdq_decode_float(p->x_dtype, (const char *)x + at * size, real, part);
        qdq_lane_range_add(state, real, part);
    }
}

// There is one state.
static void accumulate_lanes_each(const void *params, void *states, const void *x, size_t n) {
    accumulate_lanes(params, states, x, n);
}

static void join(void *states, const void *others, size_t count) {
    (void)count;
    qdq_lane_range_join(states, others);
}

static void finish_lanes(const void *params, const qdq_view *views, const void *state, size_t index,
                         void *const *y) {
    (void)views;
    const qdq_choose_params *p = params;
    qdq_block_range range = qdq_lane_range_end(state, p->choice);
    choose(p, &range, 1.0f, index, y);
}

static const qdq_reduce_fns lane_reduction = {
    sizeof(qdq_lane_range), accumulate_lanes, accumulate_lanes_each, join, finish_lanes, true};

// True for a tensor whose range ONNX Runtime finds.
static bool finds_in_lanes(const qdq_op_context *ctx, const qdq_choose_params *p) {
    const attrs_type *a = ctx->attrs;
    return (p->choice == QDQ_CHOOSE_ORT_X86 || p->choice == QDQ_CHOOSE_ORT_ARM) &&
           a->scheme == QDQ_ASYMMETRIC && a->quantize.qtype == QDQ_PER_TENSOR &&
           ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_FLOAT32;
}

//---- Lowering ---------------------------------------------------------------

static double real_bound(qdq_int bound, int64_t whole) {
    return bound.fraction != 0 ? qdq_bound_value(bound) : (double)whole;
}

static qdq_choose_params *choose_params(const qdq_op_context *ctx, const qdq_lowering *to,
                                        const qdq_quant_params *quant, bool has_global) {
    const attrs_type *a = ctx->attrs;
    qdq_choose_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_choose_params);
    if (!params) return NULL;
    *params = (qdq_choose_params){
        .widen = qdq_range_find(quant->x_dtype, to->isas),
        .scheme = a->scheme,
        .choice = to->numerics.choice,
        .x_dtype = quant->x_dtype,
        .y_dtype = quant->y_dtype,
        .range = quant->range,
        .low = real_bound(a->quantize.quant_min, quant->range.quant_min),
        .high = real_bound(a->quantize.quant_max, quant->range.quant_max),
        .eps = a->eps.set != 0 ? (float)a->eps.value : to->numerics.least_scale,
        .has_global_scale = has_global,
        .scale_dtype = scale_dtype_of(a),
        .stored_scale_dtype = ctx->outputs[OUT_SCALE].dtype,
    };
    return params;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype y = ctx->outputs[OUT_Y].dtype;
    if (has_scale(ctx, a))
        return qdq_lower_given(ctx, &a->quantize, QDQ_FAMILY_QUANTIZE, to, &stages[0]) ? 1 : 0;
    bool has_global = has_global_scale(ctx, a);
    qdq_granularity granularity = qdq_granularity_of(ctx, &a->quantize);
    qdq_granularity one = qdq_granularity_per_tensor();
    qdq_scale_slot slot = global_scale_of(a);
    qdq_stage_param global = {0};
    qdq_quant_params *quant =
        qdq_quant_params_of(ctx, to, y, a->quantize.quant_min, a->quantize.quant_max);
    qdq_choose_params *chosen = quant ? choose_params(ctx, to, quant, has_global) : NULL;
    const qdq_grid *grid = qdq_grid_copy(&granularity.grid, to->mempool);
    if (!chosen || !grid ||
        (has_global && !qdq_scale_param(ctx, &slot, &one, to->mempool, &global)))
        return 0;
    quant->scales_twice = has_global;
    stages[0] =
        (qdq_stage){.params = chosen,
                    .stage_params = {global},
                    .stage_param_count = has_global,
                    .reduce = finds_in_lanes(ctx, chosen) ? &lane_reduction : &range_reduction,
                    .grid = grid,
                    .results = {OUT_SCALE, OUT_ZERO_POINT},
                    .result_count = 2};
    qdq_stage_param scale = {
        .grid = grid, .count = grid->count, .origin = QDQ_FROM_OUTPUT, .port = OUT_SCALE};
    qdq_stage_param zero_point = scale;
    zero_point.is_int = qdq_dtype_is_int(y);
    zero_point.port = OUT_ZERO_POINT;
    stages[1] = (qdq_stage){.params = quant,
                            .fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, quant, to->isas),
                            .stage_params = {scale, zero_point, global},
                            .stage_param_count = has_global ? 3 : 2};
    return 2;
}

const qdq_op qdq_op_dynamic_quantize = {
    .name = "DynamicQuantize",
    .summary = "Quantize with a scale given at run time, or computed from x",
    .attrs_size = sizeof(attrs_type),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .complete = complete,
    .infer = infer,
    .infers_without_x = true,
    .looks_at = 1u << QDQ_PORT_SCALE | 1u << QDQ_PORT_ZERO_POINT | 1u << PORT_GLOBAL_SCALE,
    .lower = lower,
    .by_target = true,
};
