// SPDX-License-Identifier: Apache-2.0
// Checks that the quantizing ops share: scales, zero points, clamp ranges and result types.
#include <math.h>

#include "ops/quantize/quant_params.h"
#include "runtime/base/number.h"
#include "runtime/numerics/small_float.h"

static const char *port_name(const qdq_op_context *ctx, size_t port) {
    return ctx->op->inputs[port].name;
}

// The source of a parameter: its name for messages, and how many numbers it has.
typedef struct source {
    const char *name;
    size_t count;
    bool known;  // the count is
} source;

static source source_of(const qdq_op_context *ctx, const char *attr_name, const void *attr_data,
                        size_t attr_count, size_t port) {
    const qdq_operand *in = &ctx->inputs[port];
    if (in->given)
        return (source){port_name(ctx, port), in->valid ? qdq_shape_count(in->type.shape) : 0,
                        in->valid};
    return (source){attr_name, attr_count, attr_data != NULL};
}

size_t qdq_scale_count(const qdq_op_context *ctx, const qdq_scale_slot *slot) {
    return source_of(ctx, slot->attr_name, slot->attr.data, slot->attr.count, slot->port).count;
}

static void check_count(const qdq_op_context *ctx, qdq_core_rule rule, const source *from,
                        const qdq_granularity *g, bool one_serves_all) {
    if (!from->known || !g->valid || from->count == g->grid.count) return;
    if (one_serves_all && from->count == 1) return;
    qdq_report_violation(
        ctx, rule, from->name,
        qdq_text(ctx->findings, "has %zu element%s", from->count, from->count == 1 ? "" : "s"),
        qdq_text(ctx->findings, "%s%zu (%s)", one_serves_all && g->grid.count > 1 ? "1 or " : "",
                 g->grid.count, g->reason));
}

// True if the shapes are equal or, when their ranks differ, equal without dims of 1.
static bool has_shape(qdq_shape shape, qdq_shape wanted) {
    int k = 0;
    if (shape.rank == wanted.rank) return qdq_shape_equal(shape, wanted);
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dims[i] == 1) continue;
        while (k < wanted.rank && wanted.dims[k] == 1) k++;
        if (k >= wanted.rank || wanted.dims[k++] != shape.dims[i]) return false;
    }
    return true;
}

bool qdq_check_port_shape(const qdq_op_context *ctx, qdq_core_rule rule, size_t port,
                          const qdq_granularity *g) {
    const qdq_operand *in = &ctx->inputs[port];
    if (!in->given || !in->valid || !g->valid) return true;
    if (qdq_shape_count(in->type.shape) != g->grid.count || g->grid.count == 1) return true;
    if (has_shape(in->type.shape, g->shape)) return true;
    qdq_report_violation(ctx, rule, port_name(ctx, port),
                         "has its elements along other dims than the parameters of x",
                         g->shape.rank == 1 ? "a list" : "the shape of the block grid");
    return false;
}

// Blocks are left to the target (strict_check.c).
static void check_channels(const qdq_op_context *ctx, qdq_core_rule rule, size_t port,
                           const qdq_granularity *g) {
    if (!g->blocks) (void)qdq_check_port_shape(ctx, rule, port, g);
}

// Checks one scale. The first wrong scale ends the check; the first negative scale is a warning.
// Scales of nodes may be 0 on some targets (graph/compile/validate.c).
static bool check_scale_at(const qdq_op_context *ctx, const char *name, size_t index, float scale,
                           bool zero_is_wrong, bool *negative) {
    if ((scale == 0 && zero_is_wrong) || !isfinite(scale)) {
        qdq_report_violation(ctx, QDQ_RULE_SCALE_VALUE, name,
                             qdq_text_number(ctx->findings, (double)scale, index, true),
                             "a finite number that is not 0 as float32");
        return false;
    }
    if (scale < 0 && !*negative) {
        qdq_report_violation(ctx, QDQ_RULE_SCALE_NEGATIVE, name,
                             qdq_text_number(ctx->findings, (double)scale, index, true),
                             "a positive number");
        *negative = true;
    }
    return true;
}

static void check_scale_values(const qdq_op_context *ctx, const qdq_scale_slot *slot,
                               const source *from) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    bool negative = false;
    if (in->given && !(in->valid && in->data && qdq_dtype_is_real(in->type.dtype))) return;
    if (!in->given && !slot->attr.data) return;
    for (size_t i = 0; i < from->count; i++) {
        float scale;
        if (in->given)
            qdq_decode_float(in->type.dtype,
                             (const char *)in->data + i * qdq_dtype_size(in->type.dtype), &scale,
                             1);
        else
            scale = slot->attr.data[i];
        if (!check_scale_at(ctx, from->name, i, scale, slot->is_of_scales, &negative)) return;
    }
}

void qdq_check_scale(const qdq_op_context *ctx, const qdq_scale_slot *slot,
                     const qdq_granularity *granularity) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    if (in->given && slot->attr.data)
        qdq_report_violation(
            ctx, QDQ_RULE_SCALE_TWICE, slot->attr_name,
            qdq_text(ctx->findings, "is given as well as the port %s", port_name(ctx, slot->port)),
            NULL);
    else if (!in->given && !slot->attr.data)
        qdq_report_violation(ctx, QDQ_RULE_SCALE_MISSING, slot->attr_name,
                             qdq_text(ctx->findings, "is missing, and so is the port %s",
                                      port_name(ctx, slot->port)),
                             NULL);
    source from = source_of(ctx, slot->attr_name, slot->attr.data, slot->attr.count, slot->port);
    check_count(ctx, QDQ_RULE_SCALE_COUNT, &from, granularity, false);
    check_channels(ctx, QDQ_RULE_SCALE_COUNT, slot->port, granularity);
    check_scale_values(ctx, slot, &from);
}

static void check_zero_point_at(const qdq_op_context *ctx, const char *name, size_t index,
                                double value, const qdq_dtype_info *quantized) {
    if (quantized && quantized->kind != QDQ_KIND_INT) {
        if (value == 0) return;
        qdq_report_violation(
            ctx, QDQ_RULE_ZERO_POINT_VALUE, name,
            qdq_text_number(ctx->findings, value, index, false),
            qdq_text(ctx->findings, "0, as the quantized type is %s", quantized->name));
    } else if (value != floor(value) || value < INT32_MIN || value > INT32_MAX) {
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_VALUE, name,
                             qdq_text_number(ctx->findings, value, index, false),
                             "a whole number of at most 32 bits");
    } else if (quantized &&
               (value < (double)quantized->least || value > (double)quantized->greatest)) {
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_RANGE, name,
                             qdq_text_number(ctx->findings, value, index, false),
                             qdq_text(ctx->findings, "%lld to %lld, as the quantized type is %s",
                                      (long long)quantized->least, (long long)quantized->greatest,
                                      quantized->name));
    }
}

// A zero point of the float domain is any finite number. A port's zero points are known only if it
// is constant.
static void check_float_zero_points(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                                    const source *from) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    if (in->given && !(in->valid && in->data && qdq_dtype_is_real(in->type.dtype))) return;
    for (size_t i = 0; i < from->count; i++) {
        float value = 0;
        if (in->given)
            qdq_decode_float(in->type.dtype,
                             (const char *)in->data + i * qdq_dtype_size(in->type.dtype), &value,
                             1);
        else
            value = (float)slot->attr.data[i];
        if (isfinite(value)) continue;
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_VALUE, from->name,
                             qdq_text_number(ctx->findings,
                                             in->given ? (double)value : slot->attr.data[i], i,
                                             false),
                             "a finite number as float32");
        return;
    }
}

// Zero points may be small floats only if the quantized type is one too.
static bool is_zero_of(qdq_dtype zero_point, const qdq_dtype_info *quantized) {
    return quantized && quantized->kind == QDQ_KIND_SMALL_FLOAT &&
           qdq_dtype_get(zero_point)->kind == QDQ_KIND_SMALL_FLOAT;
}

// True if zero points in the int domain are integers, or known floats. check_zero_point_at reports
// known floats that are not whole.
static bool may_be_codes(const qdq_operand *zero_point, const qdq_dtype_info *quantized) {
    qdq_dtype dtype = zero_point->type.dtype;
    return qdq_dtype_is_whole(dtype) || is_zero_of(dtype, quantized) ||
           (zero_point->data && qdq_dtype_get(dtype)->kind == QDQ_KIND_FLOAT);
}

// Checks the quantized type and the zero point's type against the domain.
static void check_domain(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                         const qdq_dtype_info *quantized) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    const char *name = in->given ? port_name(ctx, slot->port) : slot->attr_name;
    if (slot->domain == QDQ_DOMAIN_NONE && (in->given || slot->attr.data))
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_DOMAIN, name,
                             "is given, but zero_point_domain is none", "no zero point");
    else if (slot->domain == QDQ_DOMAIN_FLOAT && quantized && quantized->kind != QDQ_KIND_INT)
        qdq_report_violation(
            ctx, QDQ_RULE_ZERO_POINT_DOMAIN, "zero_point_domain",
            qdq_text(ctx->findings, "is float, but the quantized type is %s", quantized->name),
            "an integer type");
    else if (slot->domain == QDQ_DOMAIN_INT && in->given && in->valid &&
             !may_be_codes(in, quantized))
        qdq_report_violation(ctx, QDQ_RULE_ZERO_POINT_DOMAIN, name,
                             qdq_text(ctx->findings, "is %s, but zero_point_domain is int",
                                      qdq_dtype_name(in->type.dtype)),
                             qdq_dtype_get(in->type.dtype)->kind == QDQ_KIND_FLOAT
                                 ? "an integer type, or a constant of whole numbers"
                                 : "an integer type");
}

void qdq_check_zero_point(const qdq_op_context *ctx, const qdq_zero_point_slot *slot,
                          const qdq_granularity *granularity, qdq_dtype quantized) {
    const qdq_operand *in = &ctx->inputs[slot->port];
    if (in->given && slot->attr.data)
        qdq_report_violation(
            ctx, QDQ_RULE_ZERO_POINT_TWICE, slot->attr_name,
            qdq_text(ctx->findings, "is given as well as the port %s", port_name(ctx, slot->port)),
            NULL);
    source from = source_of(ctx, slot->attr_name, slot->attr.data, slot->attr.count, slot->port);
    check_count(ctx, QDQ_RULE_ZERO_POINT_COUNT, &from, granularity, true);
    check_channels(ctx, QDQ_RULE_ZERO_POINT_COUNT, slot->port, granularity);
    const qdq_dtype_info *info = qdq_dtype_get(quantized);
    if (info && info->kind == QDQ_KIND_FLOAT) info = NULL;  // a Requantize of floats
    check_domain(ctx, slot, info);
    if (slot->any && qdq_set_has(QDQ_SET_FLOAT8, quantized)) info = NULL;
    if (slot->domain == QDQ_DOMAIN_FLOAT) {
        check_float_zero_points(ctx, slot, &from);
        return;
    }
    size_t before = ctx->findings->errors + ctx->findings->warnings;
    for (size_t i = 0; i < from.count; i++) {
        if (ctx->findings->errors + ctx->findings->warnings > before) return;  // one is enough
        if (!in->given) {
            check_zero_point_at(ctx, slot->attr_name, i, slot->attr.data[i], info);
        } else if (in->valid && in->data) {
            const char *at = (const char *)in->data + i * qdq_dtype_size(in->type.dtype);
            int64_t whole = 0;
            float real = 0;
            if (qdq_dtype_is_whole(in->type.dtype))
                qdq_widen_int64(in->type.dtype, at, &whole, 1);
            else
                qdq_decode_float(in->type.dtype, at, &real, 1);
            check_zero_point_at(ctx, from.name, i, (double)whole + (double)real, info);
        }
    }
}

static void find_bound_of_float(const qdq_op_context *ctx, const char *attr,
                                const qdq_dtype_info *quantized) {
    qdq_report_violation(
        ctx, QDQ_RULE_QUANT_RANGE, attr,
        qdq_text(ctx->findings, "is given, but the quantized type is %s", quantized->name),
        "an integer type");
}

static const char *range_text(const qdq_op_context *ctx, double low, double high) {
    char from[QDQ_NUMBER_BYTES], to[QDQ_NUMBER_BYTES];
    return qdq_text(ctx->findings, "%s to %s", qdq_number_text(from, low, false),
                    qdq_number_text(to, high, false));
}

void qdq_find_ignored(const qdq_op_context *ctx, const char *attr, const char *why) {
    qdq_report_violation(ctx, QDQ_RULE_ATTRIBUTE_IGNORED, attr,
                         qdq_text(ctx->findings, "is given, but %s", why), NULL);
}

// Finds the limits of an integer or float8 dtype.
static void find_limits(qdq_dtype dtype, double *least, double *greatest) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    bool is_int = info->kind == QDQ_KIND_INT;
    *greatest = is_int ? (double)info->greatest : (double)qdq_small_float_largest(dtype);
    *least = is_int ? (double)info->least : -*greatest;
}

// The clamp range of a dtype.
typedef struct bounds {
    double low, high, least, greatest;  // as given, and of the dtype
} bounds;

static bounds bounds_of(qdq_int quant_min, qdq_int quant_max, qdq_dtype dtype) {
    bounds b;
    find_limits(dtype, &b.least, &b.greatest);
    b.low = quant_min.set != 0 ? qdq_bound_value(quant_min) : b.least;
    b.high = quant_max.set != 0 ? qdq_bound_value(quant_max) : b.greatest;
    return b;
}

static void find_range(const qdq_op_context *ctx, const bounds *b, const char *attr,
                       qdq_dtype dtype) {
    qdq_report_violation(
        ctx, QDQ_RULE_QUANT_RANGE, attr,
        qdq_text(ctx->findings, "makes the range %s", range_text(ctx, b->low, b->high)),
        qdq_text(ctx->findings, "quant_min < quant_max within %s of %s",
                 range_text(ctx, b->least, b->greatest), qdq_dtype_name(dtype)));
}

bool qdq_check_two_codes(const qdq_op_context *ctx, qdq_int quant_min, qdq_int quant_max,
                         qdq_dtype dtype) {
    bool given = quant_min.set != 0 || quant_max.set != 0;
    if (!given || !qdq_dtype_get(dtype)) return true;
    bounds b = bounds_of(quant_min, quant_max, dtype);
    if (b.low != b.high) return true;
    find_range(ctx, &b, quant_max.set != 0 ? "quant_max" : "quant_min", dtype);
    return false;
}

bool qdq_check_quant_range(const qdq_op_context *ctx, qdq_int quant_min, qdq_int quant_max,
                           qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    bool is_int = info && info->kind == QDQ_KIND_INT;
    if (!info || (!is_int && quant_min.set == 0 && quant_max.set == 0)) return true;
    if (!is_int && !qdq_set_has(QDQ_SET_FLOAT8, dtype)) {
        find_bound_of_float(ctx, quant_min.set != 0 ? "quant_min" : "quant_max", info);
        return false;
    }
    bounds b = bounds_of(quant_min, quant_max, dtype);
    if (b.low >= b.least && b.high <= b.greatest && b.low <= b.high) return true;
    bool blame_most = quant_max.set != 0 && (quant_min.set == 0 || b.high > b.greatest);
    find_range(ctx, &b, blame_most ? "quant_max" : "quant_min", dtype);
    return false;
}

// tinygemm's formula, the float domain, subtracts the middle of the range.
void qdq_check_unused_range(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                            qdq_dtype quantized) {
    const qdq_int low = attrs->quant_min, high = attrs->quant_max;
    double least, greatest;
    if (!qdq_dtype_get(quantized) || attrs->zero_point_domain == QDQ_DOMAIN_FLOAT) return;
    if (low.set == 0 && high.set == 0) return;
    find_limits(quantized, &least, &greatest);
    bool narrows = low.set != 0 && qdq_bound_value(low) != least;
    if (narrows || (high.set != 0 && qdq_bound_value(high) != greatest))
        qdq_find_ignored(ctx, narrows ? "quant_min" : "quant_max", "Dequantize clamps nothing");
}

bool qdq_check_whole_bounds(const qdq_op_context *ctx, qdq_dtype quantized) {
    const qdq_dtype_info *info = qdq_dtype_get(quantized);
    qdq_int ends[2] = {{0}};  // quant_min and quant_max
    size_t count = 0;
    for (size_t i = 0; info && i < ctx->op->attr_count; i++) {
        const qdq_attr_desc *attr = &ctx->op->attrs[i];
        const qdq_int *bound = (const void *)((const char *)ctx->attrs + attr->offset);
        if (attr->kind != QDQ_ATTR_BOUND) continue;
        ends[count++] = *bound;
        if (bound->set == 0) continue;
        if (info->kind != QDQ_KIND_INT) {
            find_bound_of_float(ctx, attr->name, info);
            return false;
        }
        if (bound->fraction == 0) continue;
        qdq_report_violation(ctx, QDQ_RULE_QUANT_RANGE, attr->name,
                             qdq_text_is(ctx->findings, qdq_bound_value(*bound)), "a whole number");
        return false;
    }
    return qdq_check_two_codes(ctx, ends[0], ends[1], quantized);
}

qdq_dtype qdq_check_result(const qdq_op_context *ctx, qdq_dtype dtype, qdq_dtype_set set) {
    char text[512];
    if (dtype < 0 || dtype >= QDQ_DTYPE_COUNT) return QDQ_DTYPE_NONE;  // op_check has found it
    if (qdq_set_has(set, dtype)) return dtype;
    qdq_report_violation(ctx, QDQ_RULE_DTYPE_RESULT, "dtype",
                         qdq_text(ctx->findings, "is %s", qdq_dtype_name(dtype)),
                         qdq_text(ctx->findings, "%s%s", set & (set - 1) ? "one of: " : "",
                                  qdq_set_text(set, text, sizeof text)));
    return QDQ_DTYPE_NONE;
}
