// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/quant_params.h"

#include <math.h>
#include <string.h>

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/small_float.h"
#include "runtime/tenstorrent/quantize_device.h"

const char *const qdq_qtype_words[] = {"per_tensor", "per_channel", "per_group", NULL};
const char *const qdq_domain_words[] = {"int", "float", "none", NULL};

//---- Granularity ------------------------------------------------------------

qdq_granularity qdq_granularity_per_tensor(void) {
    return (qdq_granularity){
        .valid = true, .grid = qdq_grid_whole, .reason = "for the whole of x; qtype is per_tensor"};
}

static bool check_axis(const qdq_op_context *ctx, int64_t axis, const char *origin) {
    int rank = ctx->inputs[0].type.shape.rank;
    if (axis >= -rank && axis < rank) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_AXIS_RANGE, "axis",
        qdq_text(ctx->findings, "is %lld%s", (long long)axis, origin),
        rank ? qdq_text(ctx->findings, "%d to %d, as x has rank %d", -rank, rank - 1, rank)
             : "an x of rank 1 or more");
    return false;
}

qdq_granularity qdq_granularity_per_channel(const qdq_op_context *ctx, qdq_int axis,
                                            int64_t default_axis) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    int64_t at = axis.set != 0 ? axis.value : default_axis;
    if (!check_axis(ctx, at, axis.set != 0 ? "" : " (the default)")) return (qdq_granularity){0};
    if (at < 0) at += shape.rank;
    qdq_granularity g = {.valid = true, .shape = {.rank = 1, .dims = {shape.dims[at]}}};
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) extents[i] = i == at ? 1 : shape.dims[i];
    g.grid = qdq_grid_of(shape, extents);
    g.reason = qdq_text(ctx->findings, "as dim %lld of x is %lld", (long long)at,
                        (long long)shape.dims[at]);
    return g;
}

static qdq_granularity per_group(const qdq_op_context *ctx, qdq_ints group_shape) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    if (!group_shape.data || group_shape.count != (size_t)shape.rank) {
        qdq_report_violation(ctx, QDQ_RULE_GROUP_SHAPE, "group_shape",
                             group_shape.data
                                 ? qdq_text(ctx->findings, "has %zu entries", group_shape.count)
                                 : "is missing",
                             qdq_text(ctx->findings, "%d, one for each dim of x", shape.rank));
        return (qdq_granularity){0};
    }
    qdq_granularity g = {.valid = true, .blocks = true, .shape = {.rank = shape.rank}};
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < shape.rank; i++) {
        extents[i] = group_shape.data[i] == -1 ? shape.dims[i] : group_shape.data[i];
        if (extents[i] < 1 || extents[i] > shape.dims[i]) {
            qdq_report_violation(
                ctx, QDQ_RULE_GROUP_SHAPE, "group_shape",
                qdq_text(ctx->findings, "has %lld for dim %d", (long long)group_shape.data[i], i),
                qdq_text(ctx->findings, "1 to %lld, or -1", (long long)shape.dims[i]));
            return (qdq_granularity){0};
        }
        g.shape.dims[i] = (shape.dims[i] + extents[i] - 1) / extents[i];
    }
    g.grid = qdq_grid_of(shape, extents);
    g.reason = "one for each block of x";
    return g;
}

qdq_granularity qdq_granularity_of(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs) {
    if (attrs->group_shape.data && attrs->qtype != QDQ_PER_GROUP)
        qdq_report_violation(
            ctx, QDQ_RULE_GROUP_SHAPE, "group_shape",
            qdq_text(ctx->findings, "is given with qtype %s",
                     attrs->qtype == QDQ_PER_CHANNEL ? "per_channel" : "per_tensor"),
            "qtype per_group");
    if (!ctx->inputs[0].valid) return (qdq_granularity){0};
    if (attrs->qtype != QDQ_PER_CHANNEL && attrs->axis.set != 0)
        (void)check_axis(ctx, attrs->axis.value, "");
    switch (attrs->qtype) {
    case QDQ_PER_CHANNEL: return qdq_granularity_per_channel(ctx, attrs->axis, 1);
    case QDQ_PER_GROUP: return per_group(ctx, attrs->group_shape);
    case QDQ_PER_TENSOR: return qdq_granularity_per_tensor();
    default: return (qdq_granularity){0};  // op_check has found it
    }
}

//---- Lowering ---------------------------------------------------------------

// Sets up a parameter of the right count: from a run-time port, or with room for known values.
static bool start_param(const qdq_op_context *ctx, size_t port, size_t attr_count,
                        const qdq_granularity *g, qdq_mempool *mempool, qdq_stage_param *out,
                        uint32_t **values) {
    const qdq_operand *in = &ctx->inputs[port];
    size_t count = in->given ? qdq_shape_count(in->type.shape) : attr_count ? attr_count : 1;
    out->count = count;
    out->grid = count == 1 ? &qdq_grid_whole : qdq_grid_copy(&g->grid, mempool);
    *values = NULL;
    if (!out->grid) return false;
    if (in->given && !in->data) {
        out->origin = QDQ_FROM_INPUT;
        out->port = port;
        return true;
    }
    out->origin = QDQ_FROM_NUMBERS;
    out->values = *values = qdq_mempool_array(mempool, count, sizeof(uint32_t));
    return *values != NULL;
}

bool qdq_scale_param(const qdq_op_context *ctx, const qdq_scale_slot *slot,
                     const qdq_granularity *granularity, qdq_mempool *mempool,
                     qdq_stage_param *out) {
    uint32_t *values;
    *out = (qdq_stage_param){.is_int = false};
    if (!start_param(ctx, slot->port, slot->attr.count, granularity, mempool, out, &values))
        return false;
    const qdq_operand *in = &ctx->inputs[slot->port];
    if (!values) return true;
    if (in->given)
        qdq_decode_float(in->type.dtype, in->data, (float *)(void *)values, out->count);
    else
        memcpy(values, slot->attr.data, out->count * sizeof(float));
    return true;
}

void qdq_drop_unit_scales(const qdq_scale_slot *slot, float tolerance, qdq_stage_param *out) {
    static const uint32_t one = 0x3F800000;
    if (tolerance == 0 || !slot->attr.data) return;
    for (size_t i = 0; i < slot->attr.count; i++)
        if (fabs((double)slot->attr.data[i] - 1) > (double)tolerance) return;
    *out = (qdq_stage_param){.grid = &qdq_grid_whole, .count = 1, .values = &one};
}

// Whole numbers of a float dtype.
static void decode_whole(const qdq_operand *in, int32_t *out, size_t count) {
    size_t size = qdq_dtype_size(in->type.dtype);
    for (size_t i = 0; i < count; i++) {
        float real;
        qdq_decode_float(in->type.dtype, (const char *)in->data + i * size, &real, 1);
        out[i] = (int32_t)real;
    }
}

bool qdq_zero_point_param(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                          const qdq_granularity *granularity, qdq_mempool *mempool,
                          qdq_stage_param *out) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    bool is_int = slot->domain != QDQ_DOMAIN_FLOAT;
    bool is_real = in->given && !qdq_dtype_is_whole(in->type.dtype);
    if (is_int && is_real && !in->data) {  // of a small float: all 0
        static const uint32_t zero;
        *out =
            (qdq_stage_param){.is_int = true, .grid = &qdq_grid_whole, .count = 1, .values = &zero};
        return true;
    }
    uint32_t *values;
    *out = (qdq_stage_param){.is_int = is_int};
    if (!start_param(ctx, slot->port, slot->attr.count, granularity, mempool, out, &values))
        return false;
    if (!values) return true;
    if (is_int && is_real)
        decode_whole(in, (int32_t *)(void *)values, out->count);
    else if (in->given && is_int)
        qdq_decode_int(in->type.dtype, in->data, (int32_t *)(void *)values, out->count);
    else if (in->given)
        qdq_decode_float(in->type.dtype, in->data, (float *)(void *)values, out->count);
    for (size_t i = 0; i < slot->attr.count; i++) {
        float real = (float)slot->attr.data[i];
        int32_t whole = is_int ? (int32_t)slot->attr.data[i] : 0;
        memcpy(&values[i], is_int ? (const void *)&whole : &real, sizeof *values);
    }
    return true;  // no zero point: the pool's memory is zero
}

// For integers a fractional bound is rounded to the dtype that the target clamps in, and then cut
// off, as the target casts after clamping.
static int64_t whole_bound(qdq_int bound, const qdq_quant_params *params) {
    if (bound.fraction == 0) return bound.value;
    if (params->wide_scale) return (int64_t)qdq_bound_value(bound);
    return (int64_t)qdq_bound_step(&params->numerics, qdq_bound_value(bound));
}

static qdq_range range_of(qdq_dtype quantized, qdq_int quant_min, qdq_int quant_max,
                          const qdq_quant_params *params) {
    const qdq_numerics *numerics = &params->numerics;
    int64_t least = whole_bound(quant_min, params), most = whole_bound(quant_max, params);
    qdq_range range = qdq_range_of(quantized, quant_min.set != 0 ? &least : NULL,
                                   quant_max.set != 0 ? &most : NULL, numerics);
    if (quant_min.fraction != 0) range.fractions += qdq_bound_value(quant_min) - (double)least;
    if (quant_max.fraction != 0) range.fractions += qdq_bound_value(quant_max) - (double)most;
    return range;
}

static void set_bounds(qdq_quant_params *params, qdq_int quant_min, qdq_int quant_max) {
    double largest = (double)qdq_small_float_largest(params->y_dtype);
    double low = quant_min.set != 0 ? qdq_bound_value(quant_min) : -largest;
    double high = quant_max.set != 0 ? qdq_bound_value(quant_max) : largest;
    params->bounded = true;
    params->low = qdq_bound_step(&params->numerics, low);
    params->high = qdq_bound_step(&params->numerics, high);
}

// True for Quantize and Dequantize by a float64 scale.
static bool has_wide_scale(const qdq_op_context *ctx) {
    const qdq_operand *scale = &ctx->inputs[QDQ_PORT_SCALE];
    return scale->given && scale->type.dtype == QDQ_FLOAT64;
}

qdq_quant_params *qdq_quant_params_of(const qdq_op_context *ctx, const qdq_lowering *to,
                                      qdq_dtype y_dtype, qdq_int quant_min, qdq_int quant_max) {
    qdq_quant_params *params = QDQ_MEMPOOL_NEW(to->mempool, qdq_quant_params);
    if (!params) return NULL;
    params->numerics = to->numerics;
    params->x_dtype = ctx->inputs[0].type.dtype;
    params->y_dtype = y_dtype;
    params->wide_scale = has_wide_scale(ctx);
    qdq_dtype quantized = qdq_dtype_is_int(y_dtype) ? y_dtype : params->x_dtype;
    if (qdq_dtype_is_int(quantized))
        params->range = range_of(quantized, quant_min, quant_max, params);
    else if (qdq_set_has(QDQ_SET_FLOAT8, y_dtype) && (quant_min.set != 0 || quant_max.set != 0))
        set_bounds(params, quant_min, quant_max);
    return params;
}

//---- Ops with given parameters ----------------------------------------------

static qdq_scale_slot scale_of(const qdq_quantize_attrs *attrs) {
    return (qdq_scale_slot){"scales", attrs->scales, QDQ_PORT_SCALE, false};
}

static qdq_zero_point_slot zero_point_of(const qdq_quantize_attrs *attrs) {
    return (qdq_zero_point_slot){.attr_name = "zps",
                                 .attr = attrs->zps,
                                 .port = QDQ_PORT_ZERO_POINT,
                                 .domain = attrs->zero_point_domain};
}

// Reports `saturate` unless the result is a small float: no other result reads it.
static void check_unused_saturate(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                                  qdq_dtype y_dtype) {
    if (attrs->saturate == QDQ_UNSET || qdq_set_has(QDQ_SET_SMALL_FLOATS, y_dtype)) return;
    qdq_find_ignored(ctx, "saturate",
                     qdq_text(ctx->findings, "the result is %s", qdq_dtype_name(y_dtype)));
}

void qdq_infer_given(qdq_op_context *ctx, const qdq_quantize_attrs *attrs, qdq_dtype y_dtype,
                     qdq_dtype quantized) {
    qdq_granularity granularity = qdq_granularity_of(ctx, attrs);
    qdq_scale_slot scale = scale_of(attrs);
    qdq_zero_point_slot zero_point = zero_point_of(attrs);
    qdq_check_scale(ctx, &scale, &granularity);
    bool quantizes = y_dtype == quantized;
    zero_point.any = quantizes && (attrs->quant_min.set != 0 || attrs->quant_max.set != 0);
    qdq_check_zero_point(ctx, &zero_point, &granularity, quantized);
    bool fits = qdq_check_quant_range(ctx, attrs->quant_min, attrs->quant_max, quantized);
    if (fits && !quantizes) qdq_check_unused_range(ctx, attrs, quantized);
    if (y_dtype) check_unused_saturate(ctx, attrs, y_dtype);
    ctx->outputs[0] = (qdq_type){y_dtype, ctx->inputs[0].type.shape};
    ctx->output_count = 1;
}

// Inverts known scales once if a chip would invert them for each element.
static bool invert_scales(qdq_quant_params *params, qdq_mempool *mempool, qdq_stage_param *scale) {
    if (scale->origin != QDQ_FROM_NUMBERS || !qdq_dtype_is_int(params->y_dtype) ||
        params->float_zero_point || !qdq_quantizes_by_chip_inverse(&params->numerics))
        return true;
    uint32_t *inverses = qdq_mempool_array(mempool, scale->count, sizeof *inverses);
    if (!inverses) return false;
    for (size_t i = 0; i < scale->count; i++) {
        float s = qdq_float_from_bits(scale->values[i]);
        inverses[i] = qdq_float_bits(qdq_quantize_inverse(&params->numerics, s));
    }
    scale->values = inverses;
    params->scale_is_inverse = true;
    return true;
}

// Makes the words of float64 scales parameters 0 and 2.
static bool split_scales(const qdq_op_context *ctx, qdq_mempool *mempool, qdq_stage *stage) {
    qdq_stage_param *high = &stage->stage_params[0], *low = &stage->stage_params[2];
    const double *scales = ctx->inputs[QDQ_PORT_SCALE].data;
    uint32_t *words = qdq_mempool_array(mempool, 2 * high->count, sizeof *words);
    if (!words || !scales) return false;
    for (size_t i = 0; i < high->count; i++) {
        uint64_t bits;
        memcpy(&bits, &scales[i], sizeof bits);
        words[i] = (uint32_t)(bits >> 32);
        words[high->count + i] = (uint32_t)bits;
    }
    high->is_int = true, high->values = words;
    *low = *high, low->values = words + high->count;
    stage->stage_param_count = 3;
    return true;
}

bool qdq_lower_given(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs, qdq_family family,
                     const qdq_lowering *to, qdq_stage *stage) {
    qdq_granularity granularity = qdq_granularity_of(ctx, attrs);
    qdq_scale_slot scale = scale_of(attrs);
    qdq_zero_point_slot zero_point = zero_point_of(attrs);
    qdq_quant_params *params =
        qdq_quant_params_of(ctx, to, ctx->outputs[0].dtype, attrs->quant_min, attrs->quant_max);
    *stage = (qdq_stage){.params = params, .stage_param_count = 2};
    if (!params) return false;
    if (attrs->saturate == QDQ_TRUE) params->numerics.float_overflow = QDQ_FLOAT_SATURATE;
    if (attrs->saturate == QDQ_FALSE && to->numerics.float_overflow == QDQ_FLOAT_SATURATE)
        params->numerics.float_overflow = QDQ_FLOAT_OVERFLOW;
    params->adds_zero = params->y_dtype == QDQ_FLOAT4_E2M1 &&
                        (attrs->zps.count || ctx->inputs[QDQ_PORT_ZERO_POINT].given);
    params->adds_zero_point = attrs->zero_point_domain != QDQ_DOMAIN_NONE;
    params->float_zero_point = attrs->zero_point_domain == QDQ_DOMAIN_FLOAT;
    stage->fn = qdq_quant_kernel(family, params, to->isas);
    if (!qdq_scale_param(ctx, &scale, &granularity, to->mempool, &stage->stage_params[0]))
        return false;
    qdq_drop_unit_scales(&scale, to->numerics.unit_scale_tolerance, &stage->stage_params[0]);
    if (family == QDQ_FAMILY_QUANTIZE &&
        !invert_scales(params, to->mempool, &stage->stage_params[0]))
        return false;
    return qdq_zero_point_param(ctx, &zero_point, &granularity, to->mempool,
                                &stage->stage_params[1]) &&
           (!params->wide_scale || split_scales(ctx, to->mempool, stage));
}
