// SPDX-License-Identifier: Apache-2.0
#include "ops/quantize/requantize_fixed.h"

#include <math.h>

#include "ops/kernels/kernel.h"
#include "runtime/base/number.h"

typedef qdq_requantize_attrs attrs_type;

bool qdq_is_fixed_requantize(const qdq_op_context *ctx) {
    if (strcmp(ctx->op->name, "Requantize") != 0) return false;
    const attrs_type *a = ctx->attrs;
    return a->multiplier.data || a->shift.data;
}

bool qdq_fixed_has_channels(const attrs_type *a) {
    return a->multiplier.count > 1 || a->shift.count > 1;
}

//---- Checks -----------------------------------------------------------------

static void report(const qdq_op_context *ctx, const char *attr, const char *found,
                   const char *wanted) {
    qdq_report_violation(ctx, QDQ_RULE_FIXED_POINT, attr, found, wanted);
}

// Scales would be a second way to say the same.
static void check_no_scales(const qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    for (size_t k = 1; k < ctx->input_count; k += 2)
        if (ctx->inputs[k].given)
            report(ctx, ctx->op->inputs[k].name, "is given as well as multiplier and shift", NULL);
    if (a->in_scales.data)
        report(ctx, "in_scales", "is given as well as multiplier and shift", NULL);
    if (a->out_scales.data)
        report(ctx, "out_scales", "is given as well as multiplier and shift", NULL);
}

static void check_list_count(const qdq_op_context *ctx, const char *attr, size_t count,
                             const qdq_granularity *channels) {
    if (count == 1 || (channels->valid && count == channels->grid.count)) return;
    if (count && !channels->valid) return;  // found already: there is no axis
    report(ctx, attr, qdq_text(ctx->findings, "has %zu element%s", count, count == 1 ? "" : "s"),
           channels->valid
               ? qdq_text(ctx->findings, "1 or %zu (%s)", channels->grid.count, channels->reason)
               : "1, or as many as dim `axis` of x has");
}

// Reports the first number that is not a whole number from `least` to `most`.
static void check_list(const qdq_op_context *ctx, const char *attr, const qdq_numbers *list,
                       double least, double most) {
    const attrs_type *a = ctx->attrs;
    static const char *const words[] = {"single", "double", "up", "float32", "float64", "inexact"};
    char from[QDQ_NUMBER_BYTES], to[QDQ_NUMBER_BYTES];
    for (size_t i = 0; i < list->count; i++) {
        double v = list->data[i];
        if (v >= least && v <= most && v == floor(v)) continue;
        report(ctx, attr, qdq_text_number(ctx->findings, v, i, false),
               qdq_text(ctx->findings, "a whole number from %s to %s with rounding %s",
                        qdq_number_text(from, least, false), qdq_number_text(to, most, false),
                        words[a->rounding]));
        return;
    }
}

static void check_x(const qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (!ctx->inputs[QDQ_PORT_X].valid) return;
    bool twice = a->rounding == QDQ_FIXED_DOUBLE || a->rounding == QDQ_FIXED_UP;
    if (qdq_check_port_dtype(ctx, "x", x, QDQ_SET_INTS | QDQ_SET(INT64)) && twice && x == QDQ_INT64)
        report(ctx, "x", "is int64", "at most 32 bits, which rounding double and up take");
}

void qdq_check_fixed(const qdq_op_context *ctx, const qdq_granularity *channels) {
    const attrs_type *a = ctx->attrs;
    static const struct {
        double least, most, shift;
    } ranges[] = {
        [QDQ_FIXED_SINGLE] = {INT32_MIN, INT32_MAX, QDQ_FIXED_MOST_SHIFT},
        [QDQ_FIXED_DOUBLE] = {INT32_MIN, INT32_MAX, QDQ_FIXED_MOST_SHIFT},
        [QDQ_FIXED_UP] = {INT32_MIN, INT32_MAX, QDQ_FIXED_MOST_SHIFT},
        [QDQ_FIXED_FLOAT32] = {-0x1p24, 0x1p24, 126},
        [QDQ_FIXED_FLOAT64] = {-0x1p53, 0x1p53, 1022},
        [QDQ_FIXED_INEXACT] = {INT32_MIN, INT32_MAX, QDQ_FIXED_MOST_SHIFT},
    };
    if (!a->multiplier.data || !a->shift.data) {
        bool lacks_shift = a->multiplier.data != NULL;
        report(ctx, lacks_shift ? "shift" : "multiplier",
               qdq_text(ctx->findings, "is missing, but %s is given",
                        lacks_shift ? "multiplier" : "shift"),
               "both");
        return;
    }
    check_no_scales(ctx);
    check_list_count(ctx, "multiplier", a->multiplier.count, channels);
    check_list_count(ctx, "shift", a->shift.count, channels);
    check_list(ctx, "multiplier", &a->multiplier, ranges[a->rounding].least,
               ranges[a->rounding].most);
    check_list(ctx, "shift", &a->shift, 0, ranges[a->rounding].shift);
    check_x(ctx);
}

//---- Lowering ---------------------------------------------------------------

// Multiplier and shift number i of a node, or of a form with these scales.
typedef struct factors {
    const attrs_type *attrs;
    const uint32_t *in, *out;  // NULL: attrs
    size_t in_count, out_count;
} factors;

static double pick(const qdq_numbers *list, size_t i) {
    return list->data[list->count > 1 ? i : 0];
}

static float scale_at(const uint32_t *scales, size_t count, size_t i) {
    return qdq_float_from_bits(scales[count > 1 ? i : 0]);
}

// Writes the words of factor i: parameters 0 and 2.
static void set_words(const factors *f, const qdq_quant_params *p, size_t i, uint32_t *first,
                      uint32_t *second) {
    if (f->in) {
        double ratio =
            (double)scale_at(f->in, f->in_count, i) / (double)scale_at(f->out, f->out_count, i);
        qdq_fixed_params fixed = qdq_fixed_of_form(p->numerics.requantize_form, ratio);
        *first = (uint32_t)fixed.scale.multiplier, *second = (uint32_t)fixed.scale.shift;
        return;
    }
    double m = pick(&f->attrs->multiplier, i), shift = pick(&f->attrs->shift, i);
    double scale = ldexp(m, -(int)shift);
    uint64_t bits;
    memcpy(&bits, &scale, sizeof bits);
    if (p->rounding == QDQ_FIXED_FLOAT64)
        *first = (uint32_t)(bits >> 32), *second = (uint32_t)bits;
    else if (p->rounding == QDQ_FIXED_FLOAT32)
        *first = qdq_float_bits((float)scale), *second = (uint32_t)shift;
    else
        *first = (uint32_t)(int32_t)m, *second = (uint32_t)shift;
}

// Sets the parameters and the kernel; there are `count` factors.
static bool set_factors(const factors *f, size_t count, const qdq_grid *grid,
                        const qdq_lowering *to, qdq_quant_params *p, qdq_stage *stage) {
    uint32_t *words = qdq_mempool_array(to->mempool, 2 * count, sizeof *words);
    if (!words || !grid) return false;
    for (size_t i = 0; i < count; i++) set_words(f, p, i, &words[i], &words[count + i]);
    p->fixed = true;
    for (size_t k = 0; k < 2; k++)
        stage->stage_params[2 * k] = (qdq_stage_param){.is_int = true,
                                                       .grid = grid,
                                                       .count = count,
                                                       .origin = QDQ_FROM_NUMBERS,
                                                       .values = words + k * count};
    stage->fn = qdq_kernel_find(QDQ_FAMILY_FIXED, p->x_dtype, p->y_dtype, NULL, to->isas);
    return true;
}

bool qdq_use_fixed(const attrs_type *attrs, const qdq_granularity *channels, const qdq_lowering *to,
                   qdq_quant_params *params, qdq_stage *stage) {
    bool many = qdq_fixed_has_channels(attrs);
    params->rounding = attrs->rounding == QDQ_FIXED_INEXACT ? QDQ_FIXED_SINGLE : attrs->rounding;
    return set_factors(&(factors){.attrs = attrs}, many ? channels->grid.count : 1,
                       many ? qdq_grid_copy(&channels->grid, to->mempool) : &qdq_grid_whole, to,
                       params, stage);
}

bool qdq_use_fixed_scales(const qdq_lowering *to, qdq_quant_params *params, qdq_stage *stage) {
    qdq_requantize_form form = params->numerics.requantize_form;
    const qdq_stage_param in = stage->stage_params[0], out = stage->stage_params[2];
    if (!qdq_is_fixed_form(form) || to->plain || !qdq_dtype_is_int(params->x_dtype) ||
        in.origin != QDQ_FROM_NUMBERS || out.origin != QDQ_FROM_NUMBERS)
        return true;
    params->rounding = qdq_fixed_of_form(form, 1).rounding;
    const qdq_stage_param *longer = in.count > out.count ? &in : &out;
    factors f = {.in = in.values, .out = out.values, .in_count = in.count, .out_count = out.count};
    return set_factors(&f, longer->count, longer->grid, to, params, stage);
}
