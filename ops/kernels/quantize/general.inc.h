// SPDX-License-Identifier: Apache-2.0
// Quantize, Dequantize and Requantize for numerics without a separate kernel: all fields but a
// chip's arithmetic. Elements pass through the steps of general_steps.inc.h, 256 at a time, which
// stay in the L1 cache; a field chooses a step before its loop. Dtypes, parameters and elements for
// which a step is not exact go to the portable kernel.
#include "ops/kernels/quantize/general_steps.inc.h"
#include "ops/kernels/quantize/lanes.inc.h"
#include "runtime/tenstorrent/block_float.h"

//---- Parameters -------------------------------------------------------------

// Zero points and biases up to this size are added exactly.
enum { GENERAL_MOST = 1 << 20 };

static bool general_knows(const qdq_quant_params *p) {
    const qdq_numerics *n = &p->numerics;
    return !qdq_is_device(n) && n->overflow != QDQ_OVERFLOW_FLOAT_RANGE && !n->power_scale &&
           !p->float_zero_point && !p->scales_twice && !p->scale_is_inverse && !p->bounded &&
           !p->adds_zero && n->scaling != QDQ_SCALE_DIVIDE_TO_ZERO &&
           general_rounds_to(n->input_dtype) && general_rounds_to(n->scale_dtype) &&
           general_rounds_to(n->reciprocal_dtype) && general_rounds_to(n->quantize_step_dtype) &&
           general_rounds_to(n->dequantize_step_dtype) && general_rounds_to(n->requantize_dtype) &&
           n->code_bias >= -GENERAL_MOST && n->code_bias <= GENERAL_MOST;
}

// True if y holds integers of at most 32 bits.
static bool general_makes_codes(const qdq_quant_params *p) {
    return qdq_dtype_is_int(p->y_dtype) && p->range.least >= INT32_MIN &&
           p->range.greatest <= INT32_MAX;
}

// True if all numbers are below GENERAL_LARGE or NaN.
static bool general_small(const float *v, size_t n) {
    uint32_t large = 0;
    for (size_t i = 0; i < n; i++) large |= fabsf(v[i]) >= GENERAL_LARGE ? 1u : 0u;
    return !large;
}

static bool general_small_codes(const int32_t *q, size_t n) {
    uint32_t large = 0;
    for (size_t i = 0; i < n; i++) large |= (uint32_t)q[i] + (1u << 30) >= 1u << 31 ? 1u : 0u;
    return !large;
}

// Sets the views of the elements from `at` on.
static void general_views(const qdq_view *views, size_t count, size_t at, qdq_view *here) {
    for (size_t k = 0; k < count; k++) here[k] = body_from(views[k], at);
}

static bool general_alike(const qdq_view *views, size_t count) {
    size_t steps = 0;
    for (size_t k = 0; k < count; k++) steps |= views[k].step;
    return !steps;
}

// Returns the floats of a view, copied if `changes` is set.
static const float *general_floats(qdq_view view, bool changes, float *copies, size_t count) {
    if (!changes) return body_float_list(view, count, copies);
    body_floats(view, count, copies);
    return copies;
}

//---- Quantize ---------------------------------------------------------------

// The parameters of some elements, and the numbers computed from them alone. The scale may be its
// inverse. A zero point is added as a float (`zero`) or after rounding (`after`).
typedef struct general_target {
    const qdq_numerics *n;
    const qdq_range *range;
    general_codes codes;
    bool exact;  // zero points are small enough
    const float *scale;
    const int32_t *z, *after;
    float scales[GENERAL_PART], zero[GENERAL_PART];
    int32_t zs[GENERAL_PART], none[GENERAL_PART], nan[GENERAL_PART];
} general_target;

static bool general_multiplies(const qdq_numerics *n) {
    return n->scaling == QDQ_SCALE_RECIPROCAL || n->zero_point_order == QDQ_ZERO_POINT_FMA;
}

static general_codes general_codes_of(const qdq_numerics *n, const qdq_range *range) {
    const int64_t most = GENERAL_MOST;
    bool wraps = n->overflow == QDQ_OVERFLOW_WRAP;
    bool narrow =
        !wraps && !qdq_converts(n) && range->quant_min >= -most && range->quant_max <= most;
    return (general_codes){.limit = narrow ? 0x1p24f : GENERAL_LARGE,
                           .sign_mask = n->overflow == QDQ_OVERFLOW_MAGNITUDE ? -1 : 0,
                           .least = wraps ? (int32_t)range->least : 0,
                           .width = wraps ? (int32_t)(range->greatest - range->least) : -1,
                           .low = (int32_t)range->quant_min,
                           .high = (int32_t)range->quant_max};
}

// Sets the fields that all parts share.
static void general_start(general_target *t, const qdq_quant_params *p) {
    t->n = &p->numerics, t->range = &p->range;
    t->codes = general_codes_of(t->n, t->range);
    int32_t nan = qdq_to_integer(t->n, NAN, 0, 0, t->range);
    for (size_t i = 0; i < GENERAL_PART; i++) t->nan[i] = nan, t->none[i] = 0;
}

static void general_set_scale(general_target *t, qdq_view s, size_t count) {
    const qdq_numerics *n = t->n;
    bool changes = n->flush_denormals || n->scale_dtype || general_multiplies(n);
    t->scale = general_floats(s, changes, t->scales, count);
    if (!changes) return;
    general_step(n, n->scale_dtype, t->scales, count);
    if (!general_multiplies(n)) return;
    for (size_t i = 0; i < count; i++) t->scales[i] = 1.0f / t->scales[i];
    general_step(n, n->reciprocal_dtype, t->scales, count);
}

static void general_set_target(general_target *t, qdq_view s, qdq_view z, size_t count) {
    const qdq_numerics *n = t->n;
    bool after = n->zero_point_order == QDQ_ZERO_POINT_AFTER;
    t->exact = body_small_zeros(z, count);
    t->z = body_int_list(z, count, t->zs);
    t->after = after ? t->z : t->none;
    if (qdq_converts(n))
        for (size_t i = 0; i < count; i++)
            t->nan[i] = qdq_to_integer(n, NAN, t->after[i], 0, t->range);
    else if (n->nan == QDQ_NAN_ZERO_POINT)
        for (size_t i = 0; i < count; i++) t->nan[i] = general_code(t->codes, t->z[i]);
    general_set_scale(t, s, count);
    if (after) return;
    for (size_t i = 0; i < count; i++) t->zero[i] = (float)t->z[i];
    if (n->zero_point_order != QDQ_ZERO_POINT_FMA)
        general_step(n, n->quantize_step_dtype, t->zero, count);
}

// True if a result depends on the sign of a NaN.
static bool general_follows_signs(const qdq_numerics *n) {
    bool device = n->bfloat16_store == QDQ_BFLOAT16_DEVICE;
    return (n->nan == QDQ_NAN_BY_SIGN && !qdq_converts(n)) ||
           (device &&
            (n->quantize_step_dtype == QDQ_BFLOAT16 || n->requantize_dtype == QDQ_BFLOAT16));
}

static void general_set_nan_by_sign(general_target *t, const float *v, size_t count) {
    int32_t high = qdq_to_integer(t->n, NAN, 0, 0, t->range);
    int32_t low = qdq_to_integer(t->n, -NAN, 0, 0, t->range);
    for (size_t i = 0; i < count; i++) t->nan[i] = qdq_float_bits(v[i]) >> 31 ? low : high;
}

// As qdq_signed_nan.
static void general_sign_nan(const float *restrict x, const float *restrict scale,
                             float *restrict v, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint32_t sign = body_nan(x[i])       ? qdq_float_bits(x[i])
                        : body_nan(scale[i]) ? qdq_float_bits(scale[i])
                                             : 0;
        v[i] = body_nan(v[i]) ? qdq_float_from_bits(0x7FC00000 | (sign & 0x80000000)) : v[i];
    }
}

// Computes the quotients or products of x and the scales.
static void general_scale(general_target *t, const float *restrict x, float *restrict v,
                          size_t count) {
    const float *restrict s = t->scale, *restrict zero = t->zero;
    if (t->n->zero_point_order == QDQ_ZERO_POINT_FMA)
        for (size_t i = 0; i < count; i++) v[i] = __builtin_fmaf(x[i], s[i], zero[i]);
    else if (general_multiplies(t->n))
        for (size_t i = 0; i < count; i++) v[i] = x[i] * s[i];
    else
        for (size_t i = 0; i < count; i++) v[i] = x[i] / s[i];
    if (general_follows_signs(t->n)) general_sign_nan(x, s, v, count);
}

// Quantizes x, which may be v. False, without codes, if some numbers are too large.
static bool general_quantize(general_target *t, const float *x, float *v, int32_t *q,
                             size_t count) {
    const qdq_numerics *n = t->n;
    float input[GENERAL_PART];
    if (n->flush_denormals || n->input_dtype) {
        memcpy(input, x, count * sizeof *x);
        general_step(n, n->input_dtype, input, count);
        x = input;
    }
    if (!t->exact) return false;
    general_scale(t, x, v, count);
    general_step(n, n->quantize_step_dtype, v, count);
    if (n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT) general_round(n->rounding, v, count);
    if (n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT ||
        n->zero_point_order == QDQ_ZERO_POINT_BEFORE) {
        for (size_t i = 0; i < count; i++) v[i] += t->zero[i];
        general_step(n, n->quantize_step_dtype, v, count);
    }
    if (t->codes.limit >= GENERAL_LARGE && !general_small(v, count)) return false;
    if (n->nan == QDQ_NAN_BY_SIGN && !qdq_converts(n)) general_set_nan_by_sign(t, v, count);
    general_finish(n->rounding, t->codes, v, t->after, t->nan, q, count);
    return true;
}

//---- Products that are far from a tie ------------------------------------------

// One number for each parameter and bytes as results: x * fl(1/s) stands for x / s, as in
// QUANTIZE_BY_PRODUCT. Away from ties all roundings but the truncation are the same.
typedef struct general_product {
    bool works, truncates;
    float inverse, before, after, low, high;
} general_product;

static general_product general_product_of(const general_target *t, const qdq_quant_params *p) {
    const qdq_numerics *n = t->n;
    bool before =
        n->zero_point_order == QDQ_ZERO_POINT_BEFORE || n->zero_point_order == QDQ_ZERO_POINT_FMA;
    float z = (float)t->z[0], s = t->scale[0];
    general_product f = {.truncates = n->rounding == QDQ_ROUND_TRUNCATE,
                         .inverse = general_multiplies(n) ? s : 1.0f / s,
                         .before = before ? z : 0,
                         .after = before ? 0 : z,
                         .low = (float)p->range.quant_min,
                         .high = (float)p->range.quant_max};
    lane l = {.s = s, .z = z, .low = f.low, .high = f.high};
    f.works = t->exact && lane_may_multiply(l) && n->overflow == QDQ_OVERFLOW_SATURATE &&
              n->rounding != QDQ_ROUND_HALF_UP_BIASED && n->quantize_step_dtype == QDQ_DTYPE_NONE &&
              n->input_dtype == QDQ_DTYPE_NONE;
    return f;
}

// Quantizes 64 numbers and notes if one is close to a tie. Then, and for NaN, the codes mean
// nothing.
#define GENERAL_PRODUCTS(round, near, far)                                            \
    for (size_t i = 0; i < FAST; i++) {                                               \
        float v = x[i] * f.inverse + f.before, whole = round(v), r = whole + f.after; \
        float distance = fabsf(v - (near));                                           \
        ties |= (far) ? 0u : 1u;                                                      \
        r = r > f.low ? r : f.low;                                                    \
        r = r < f.high ? r : f.high;                                                  \
        q[i] = (int32_t)r;                                                            \
    }

static bool general_products(general_product f, const float *restrict x, int32_t *restrict q) {
    uint32_t ties = 0;
    if (f.truncates)
        GENERAL_PRODUCTS(truncf, rintf(v), distance > 0.0003f)
    else
        GENERAL_PRODUCTS(rintf, whole, distance < 0.4997f)
    return !ties;
}

// As general_quantize, with products where they are exact.
static bool general_quantize_fast(general_target *t, general_product f, const float *x, float *v,
                                  int32_t *q, size_t count) {
    size_t most = f.works ? FAST : GENERAL_PART;
    for (size_t at = 0; at < count; at += most) {
        size_t size = count - at < most ? count - at : most;
        if (f.works && size == FAST && general_products(f, x + at, q + at)) continue;
        if (!general_quantize(t, x + at, v, q + at, size)) return false;
    }
    return true;
}

// True if the loops quantize with these numerics. No rule gives the sign of a NaN from an fma.
static bool general_quantizes(const qdq_quant_params *p) {
    return general_knows(p) && general_makes_codes(p) && !qdq_dtype_is_block_float(p->x_dtype) &&
           !(general_follows_signs(&p->numerics) &&
             p->numerics.zero_point_order == QDQ_ZERO_POINT_FMA);
}

void QDQ_ISA_NAME(quantize_tile_general)(const void *params, const qdq_view *views, const void *x,
                                         void *y, size_t n) {
    const qdq_quant_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    bool alike = general_alike(views, 2);
    bool loads = p->x_dtype == QDQ_BFLOAT16 && p->numerics.bfloat16_load;
    general_target t;
    general_product f = {.works = false};
    if (!general_quantizes(p)) {
        qdq_quantize_tile_portable(params, views, x, y, n);
        return;
    }
    general_start(&t, p);
    for (size_t at = 0; at < n; at += GENERAL_PART) {
        size_t part = n - at < GENERAL_PART ? n - at : GENERAL_PART;
        const char *from = (const char *)x + at * x_size;
        float real[GENERAL_PART], v[GENERAL_PART];
        int32_t q[GENERAL_PART];
        qdq_view here[2];
        general_views(views, 2, at, here);
        if (!at || !alike) general_set_target(&t, here[0], here[1], part);
        if (!at && alike) f = general_product_of(&t, p);
        if (p->x_dtype != QDQ_FLOAT32) general_load(p->x_dtype, from, real, part);
        if (loads) general_round_bfloat16(QDQ_BFLOAT16_DEVICE, real, part);
        const float *numbers = p->x_dtype == QDQ_FLOAT32 ? (const void *)from : real;
        if (general_quantize_fast(&t, f, numbers, v, q, part))
            general_store_codes(p->y_dtype, q, (char *)y + at * y_size, part);
        else
            qdq_quantize_tile_portable(params, here, from, (char *)y + at * y_size, part);
    }
}

//---- Dequantize -------------------------------------------------------------

typedef struct general_source {
    const qdq_numerics *n;
    bool exact;   // zero points are small enough
    bool no_nan;  // no result is NaN
    const float *scale;
    const int32_t *z;
    float scales[GENERAL_PART], zero[GENERAL_PART];
    int32_t zs[GENERAL_PART];
} general_source;

static void general_set_source(general_source *t, const qdq_quant_params *p, qdq_view s, qdq_view z,
                               size_t count) {
    const qdq_numerics *n = &p->numerics;
    t->n = n;
    t->scale = general_floats(s, n->flush_denormals, t->scales, count);
    if (n->flush_denormals) general_flush(t->scales, count);
    t->exact = body_small_zeros(z, count);
    t->no_nan = body_finite(s, count) && n->dequantize_step_dtype != QDQ_FLOAT16;
    t->z = body_int_list(z, count, t->zs);
    if (n->subtraction == QDQ_SUBTRACT_EXACT || !t->exact) return;
    for (size_t i = 0; i < count; i++) t->zero[i] = (float)(t->z[i] + n->code_bias);
    general_step(n, n->dequantize_step_dtype, t->zero, count);
}

// Dequantizes codes. False, without numbers, if some are too large.
static bool general_dequantize(const general_source *t, const int32_t *restrict q,
                               float *restrict v, size_t count) {
    const qdq_numerics *n = t->n;
    qdq_dtype step = n->dequantize_step_dtype;
    if (!t->exact || !general_small_codes(q, count)) return false;
    if (n->subtraction == QDQ_SUBTRACT_EXACT) {
        for (size_t i = 0; i < count; i++) v[i] = (float)(q[i] - t->z[i]);
    } else {
        for (size_t i = 0; i < count; i++) v[i] = (float)(q[i] + n->code_bias);
        general_step(n, step, v, count);
        for (size_t i = 0; i < count; i++) v[i] -= t->zero[i];
    }
    general_step(n, step, v, count);
    for (size_t i = 0; i < count; i++) v[i] *= t->scale[i];
    if (!t->no_nan) general_sign_nan(t->scale, t->scale, v, count);
    general_step(n, step, v, count);
    return true;
}

void QDQ_ISA_NAME(dequantize_tile_general)(const void *params, const qdq_view *views, const void *x,
                                           void *y, size_t n) {
    const qdq_quant_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    bool alike = general_alike(views, 2);
    general_source t;
    if (!general_knows(p) || !qdq_dtype_is_int(p->x_dtype) || x_size > 4) {
        qdq_dequantize_tile_portable(params, views, x, y, n);
        return;
    }
    for (size_t at = 0; at < n; at += GENERAL_PART) {
        size_t part = n - at < GENERAL_PART ? n - at : GENERAL_PART;
        const char *from = (const char *)x + at * x_size;
        float v[GENERAL_PART];
        int32_t q[GENERAL_PART];
        qdq_view here[2];
        general_views(views, 2, at, here);
        if (!at || !alike) general_set_source(&t, p, here[0], here[1], part);
        general_load_codes(p->x_dtype, from, q, part);
        if (general_dequantize(&t, q, v, part))
            general_store_real(p, v, (char *)y + at * y_size, part);
        else
            qdq_dequantize_tile_portable(params, here, from, (char *)y + at * y_size, part);
    }
}

//---- Requantize -------------------------------------------------------------

// Both sides of a Requantize. With a ratio of the scales, `ratio` is it and `offset` is added to
// the product.
typedef struct general_sides {
    general_source in;
    general_target out;
    float ratio[GENERAL_PART], offset[GENERAL_PART];
} general_sides;

static void general_set_sides(general_sides *t, const qdq_quant_params *p, const qdq_view *views,
                              size_t count) {
    const qdq_numerics *n = &p->numerics;
    bool flush = n->flush_denormals;
    general_set_source(&t->in, p, views[0], views[1], count);
    general_set_target(&t->out, views[2], views[3], count);
    if (n->requantize_form == QDQ_REQUANTIZE_PAIR || !t->in.exact || !t->out.exact) return;
    if (qdq_converts(n))  // the zero point is in the offset
        for (size_t i = 0; i < count; i++)
            t->out.nan[i] = qdq_to_integer(n, NAN, 0, 0, t->out.range);
    float scale[GENERAL_PART];
    body_floats(views[2], count, scale);
    if (flush) general_flush(scale, count);
    for (size_t i = 0; i < count; i++) t->ratio[i] = t->in.scale[i] / scale[i];
    if (flush) general_flush(t->ratio, count);
    for (size_t i = 0; i < count; i++)
        t->offset[i] = (float)(t->in.z[i] + n->code_bias) * t->ratio[i];
    if (flush) general_flush(t->offset, count);
    for (size_t i = 0; i < count; i++) t->offset[i] = (float)t->out.z[i] - t->offset[i];
    if (flush) general_flush(t->offset, count);
}

// Adds the product with the ratio to the offset. x is in v.
static bool general_by_ratio(general_sides *t, float *restrict v, int32_t *q, size_t count) {
    const qdq_numerics *n = t->in.n;
    if (!t->in.exact || !t->out.exact) return false;
    if (n->requantize_form == QDQ_REQUANTIZE_FUSED) {
        for (size_t i = 0; i < count; i++) v[i] = __builtin_fmaf(v[i], t->ratio[i], t->offset[i]);
    } else {
        for (size_t i = 0; i < count; i++) v[i] *= t->ratio[i];
        if (n->flush_denormals) general_flush(v, count);
        for (size_t i = 0; i < count; i++) v[i] += t->offset[i];
    }
    if (n->flush_denormals) general_flush(v, count);
    if (t->out.codes.limit >= GENERAL_LARGE && !general_small(v, count)) return false;
    general_finish(n->rounding, t->out.codes, v, t->out.none, t->out.nan, q, count);
    return true;
}

// Dequantizes an x that is no integer: subtracts the zero point, then multiplies by the scale.
static void general_shift_real(const general_source *t, float *restrict v, size_t count) {
    const qdq_numerics *n = t->n;
    for (size_t i = 0; i < count; i++) v[i] -= (float)t->z[i];
    general_step(n, n->dequantize_step_dtype, v, count);
    for (size_t i = 0; i < count; i++) v[i] *= t->scale[i];
    general_step(n, n->dequantize_step_dtype, v, count);
}

// Requantizes x, from `codes`, or in v if they are NULL. False, without codes, if some numbers are
// too large.
static bool general_requantize(general_sides *t, const int32_t *codes, float *restrict v,
                               int32_t *q, size_t count) {
    const qdq_numerics *n = t->in.n;
    float real[GENERAL_PART];
    if (n->requantize_form != QDQ_REQUANTIZE_PAIR) {
        if (codes && !general_small_codes(codes, count)) return false;
        for (size_t i = 0; codes && i < count; i++) v[i] = (float)(codes[i] + n->code_bias);
        return general_by_ratio(t, v, q, count);
    }
    if (!codes)
        general_shift_real(&t->in, v, count);
    else if (!general_dequantize(&t->in, codes, v, count))
        return false;
    general_round_to(n, n->requantize_dtype, v, count);
    return general_quantize(&t->out, v, real, q, count);
}

static bool general_requantizes(const qdq_quant_params *p) {
    const qdq_numerics *n = &p->numerics;
    bool codes = qdq_dtype_is_int(p->x_dtype);
    bool pair = n->requantize_form == QDQ_REQUANTIZE_PAIR;
    if (general_follows_signs(n) && (!codes || !pair)) return false;
    return general_quantizes(p) && (codes ? qdq_dtype_size(p->x_dtype) <= 4 : !n->code_bias);
}

void QDQ_ISA_NAME(requantize_tile_general)(const void *params, const qdq_view *views, const void *x,
                                           void *y, size_t n) {
    const qdq_quant_params *p = params;
    size_t x_size = qdq_dtype_size(p->x_dtype), y_size = qdq_dtype_size(p->y_dtype);
    bool alike = general_alike(views, 4), codes = qdq_dtype_is_int(p->x_dtype);
    general_sides t;
    if (!general_requantizes(p)) {
        qdq_requantize_tile_portable(params, views, x, y, n);
        return;
    }
    general_start(&t.out, p);
    for (size_t at = 0; at < n; at += GENERAL_PART) {
        size_t part = n - at < GENERAL_PART ? n - at : GENERAL_PART;
        const char *from = (const char *)x + at * x_size;
        float v[GENERAL_PART];
        int32_t whole[GENERAL_PART], q[GENERAL_PART];
        qdq_view here[4];
        general_views(views, 4, at, here);
        if (!at || !alike) general_set_sides(&t, p, here, part);
        if (codes)
            general_load_codes(p->x_dtype, from, whole, part);
        else
            general_load(p->x_dtype, from, v, part);
        if (general_requantize(&t, codes ? whole : NULL, v, q, part))
            general_store_codes(p->y_dtype, q, (char *)y + at * y_size, part);
        else
            qdq_requantize_tile_portable(params, here, from, (char *)y + at * y_size, part);
    }
}
