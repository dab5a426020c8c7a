// SPDX-License-Identifier: Apache-2.0
// Computes one element of each quantizing op, for any qdq_numerics. This is the definition that
// every kernel equals bit for bit. Inline, so that a caller with constant numerics gets code for
// these alone.
//
// Needs the default floating-point environment (round to nearest, no flushing), which the executor
// sets up, and a compiler that neither contracts nor reassociates (-ffp-contract=off).
#ifndef QDQ_RUNTIME_NUMERICS_QUANTIZE_ONE_H
#define QDQ_RUNTIME_NUMERICS_QUANTIZE_ONE_H

#include <math.h>

#include "runtime/numerics/dtype.h"
#include "runtime/numerics/fixed_point.h"
#include "runtime/numerics/fma.h"

// Fails with QDQ_ERR_ARGUMENT if an enumerator is out of range, or if a dtype of an intermediate
// result is neither none nor a float dtype.
qdq_status qdq_numerics_check(const qdq_numerics *n, qdq_error *err);

// The integers that an op may produce: the range of the dtype, and the clamp range within it.
typedef struct qdq_range {
    int64_t least, greatest;       // of the dtype
    int64_t quant_min, quant_max;  // least <= quant_min <= quant_max <= greatest
    double fractions;              // quant_min + quant_max as given, less the integers above
} qdq_range;

// True if a field that describes a chip's arithmetic is set. runtime/tenstorrent/quantize_device.c
// computes elements with these numerics.
static inline bool qdq_is_device(const qdq_numerics *n) {
    return n->multiply_add || n->fold_128 || n->sign_magnitude ||
           n->scaling == QDQ_SCALE_DEVICE_RECIPROCAL ||
           n->zero_point_order == QDQ_ZERO_POINT_AFTER_MAGIC;
}

// True if two numerics are equal in every field.
static inline bool qdq_numerics_equal(const qdq_numerics *a, const qdq_numerics *b) {
#define QDQ_SAME(field, cause) &&a->field == b->field
    return true QDQ_NUMERICS_FIELDS(QDQ_SAME);
#undef QDQ_SAME
}

// Returns the clamp range of a dtype, cut by the attributes (where set) and by the numerics.
qdq_range qdq_range_of(qdq_dtype dtype, const int64_t *quant_min, const int64_t *quant_max,
                       const qdq_numerics *numerics);

static inline float qdq_round_half_even(float v) {
    if (!(fabsf(v) < 0x1p23f)) return v;  // already whole, infinite or NaN
    float whole = (fabsf(v) + 0x1p23f) - 0x1p23f;
    return copysignf(whole, v);
}

static inline float qdq_round_one(qdq_rounding rounding, float v) {
    switch (rounding) {
    case QDQ_ROUND_HALF_AWAY: {
        float whole = truncf(v);
        return fabsf(v - whole) >= 0.5f ? whole + copysignf(1.0f, v) : whole;
    }
    case QDQ_ROUND_HALF_UP: {
        float whole = floorf(v);
        return v - whole >= 0.5f ? whole + 1.0f : whole;
    }
    case QDQ_ROUND_HALF_UP_BIASED: {
        float biased = v + 128.0f;
        if (biased < 0) biased = 0;
        float whole = floorf(biased);
        whole += biased - whole >= 0.5f ? 1.0f : 0.0f;
        return (whole > 255.0f ? 255.0f : whole) - 128.0f;
    }
    case QDQ_ROUND_TRUNCATE: return truncf(v);
    case QDQ_ROUND_HALF_EVEN:
    default: return qdq_round_half_even(v);
    }
}

static inline int64_t qdq_clamp_one(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

// True if a rounded float is converted to int32 before it is clamped.
static inline bool qdq_converts(const qdq_numerics *n) {
    return n->overflow == QDQ_OVERFLOW_X86 || n->overflow == QDQ_OVERFLOW_ARM;
}

// Returns a whole number, an infinity or NaN as int32.
static inline int32_t qdq_converted(qdq_overflow overflow, float whole) {
    if (whole >= -0x1p31f && whole < 0x1p31f) return (int32_t)whole;
    if (overflow == QDQ_OVERFLOW_X86) return INT32_MIN;
    return isnan(whole) ? 0 : whole < 0 ? INT32_MIN : INT32_MAX;
}

// a + b modulo 2^32, without the overflow that C leaves undefined.
static inline int32_t qdq_wrapping_sum(int32_t a, int32_t b) {
    uint32_t sum = (uint32_t)a + (uint32_t)b;
    return sum >> 31 ? -(int32_t)~sum - 1 : (int32_t)sum;
}

// Keeps a function out of the loops of kernels, which stay small enough to be inlined.
#if defined(__GNUC__)
#define QDQ_RARE __attribute__((noinline, unused))
#else
#define QDQ_RARE inline
#endif

// Returns the low bits of an int32 as an integer of the dtype whose range is given.
static inline int32_t qdq_low_bits(int32_t value, const qdq_range *range) {
    int64_t width = range->greatest - range->least + 1;
    int64_t low = ((int64_t)value - range->least) & (width - 1);  // a power of two
    return (int32_t)(low + range->least);
}

// Returns a clamp bound in the dtype of the steps.
static inline float qdq_bound_step(const qdq_numerics *n, double bound) {
    return qdq_round_to(n->quantize_step_dtype, (float)bound, n);
}

static QDQ_RARE int32_t qdq_in_float_range(const qdq_numerics *n, float v, int64_t after,
                                           const qdq_range *range) {
    float low = qdq_bound_step(n, (double)range->quant_min);
    float high = qdq_bound_step(n, (double)range->quant_max);
    double sum = (double)qdq_round_one(n->rounding, v) + (double)after;
    float whole = sum < (double)low ? low : sum > (double)high ? high : (float)sum;
    return qdq_low_bits(qdq_converted(QDQ_OVERFLOW_X86, whole), range);
}

// Returns the number that a NaN becomes before it is brought into the range.
static inline int64_t qdq_code_of_nan(const qdq_numerics *n, float v, int64_t zero_point,
                                      const qdq_range *range) {
    switch (n->nan) {
    case QDQ_NAN_QUANT_MAX: return range->quant_max;
    case QDQ_NAN_ZERO_POINT: return zero_point;
    case QDQ_NAN_BY_SIGN: return qdq_float_bits(v) >> 31 ? INT32_MIN : INT32_MAX;
    case QDQ_NAN_QUANT_MIN:
    default: return range->quant_min;
    }
}

// The last stage: rounds `v`, adds `after` exactly, and brings the sum into the range. `zero_point`
// is the code of zero, the result of a NaN with QDQ_NAN_ZERO_POINT.
static inline int32_t qdq_to_integer(const qdq_numerics *n, float v, int64_t after,
                                     int64_t zero_point, const qdq_range *range) {
    int64_t q;
    if (qdq_converts(n)) {
        int32_t whole = qdq_converted(n->overflow, qdq_round_one(n->rounding, v));
        q = qdq_wrapping_sum(whole, (int32_t)after);
    } else if (isnan(v)) {
        if (n->nan == QDQ_NAN_LOW_BITS) return qdq_low_bits(INT32_MIN, range);
        q = qdq_code_of_nan(n, v, zero_point, range);
    } else if (n->overflow == QDQ_OVERFLOW_FLOAT_RANGE) {
        return qdq_in_float_range(n, v, after, range);
    } else {
        float whole = qdq_round_one(n->rounding, v);
        whole = whole < -0x1p40f ? -0x1p40f : whole > 0x1p40f ? 0x1p40f : whole;
        q = (int64_t)whole + after;
    }
    if (n->overflow == QDQ_OVERFLOW_MAGNITUDE && q < 0) q = -q;
    if (n->overflow == QDQ_OVERFLOW_WRAP) {
        int64_t width = range->greatest - range->least + 1;
        q = qdq_clamp_one(q, INT32_MIN, INT32_MAX) - range->least;
        q = ((q % width) + width) % width + range->least;
    }
    return (int32_t)qdq_clamp_one(q, range->quant_min, range->quant_max);
}

static inline float qdq_flushed(const qdq_numerics *n, float v) {
    return n->flush_denormals && fabsf(v) < 0x1p-126f ? 0.0f : v;
}

// A NaN result has the sign of the NaN operand that it came from, else no sign, whatever the host's
// 0 / 0 gives.
static inline float qdq_signed_nan(float v, float x, float s) {
    if (!isnan(v)) return v;
    uint32_t sign = isnan(x) ? qdq_float_bits(x) : isnan(s) ? qdq_float_bits(s) : 0;
    return qdq_float_from_bits(0x7FC00000u | (sign & 0x80000000u));  // compilers may not keep signs
}

// Flushes and rounds an intermediate result of Quantize, or of Dequantize (below).
static inline float qdq_quantize_step(const qdq_numerics *n, float v) {
    return qdq_round_to(n->quantize_step_dtype, qdq_flushed(n, v), n);
}

static inline float qdq_dequantize_step(const qdq_numerics *n, float v) {
    return qdq_round_to(n->dequantize_step_dtype, qdq_flushed(n, v), n);
}

static inline float qdq_reciprocal_one(const qdq_numerics *n, float s) {
    return qdq_round_to(n->reciprocal_dtype, qdq_flushed(n, 1.0f / s), n);
}

// Returns the scale as Quantize uses it.
static inline float qdq_quantize_scale(const qdq_numerics *n, float s) {
    if (n->power_scale && s == 0x1p-127f) s = n->power_scale == QDQ_POWER_SCALE_ONE ? 1 : 0x1p-126f;
    if (n->power_scale == QDQ_POWER_SCALE_NORMAL && isnan(s)) s = INFINITY;
    return qdq_round_to(n->scale_dtype, qdq_flushed(n, s), n);
}

// x as Quantize uses it.
static inline float qdq_quantize_input(const qdq_numerics *n, float x) {
    return qdq_round_to(n->input_dtype, qdq_flushed(n, x), n);
}

// x / s rounded toward zero, where it is finite and |x / s| is 2^-100 or more.
static QDQ_RARE float qdq_quotient_to_zero(float x, float s) {
    float quotient = x / s;
    if (!(fabsf(quotient) >= 0x1p-100f && fabsf(quotient) < INFINITY)) return quotient;
    bool beyond = fabs((double)quotient * (double)s) > fabs((double)x);  // products are exact
    return beyond ? qdq_float_from_bits(qdq_float_bits(quotient) - 1) : quotient;
}

// x / s, or x * (1 / s).
static inline float qdq_scaled(const qdq_numerics *n, float x, float s) {
    x = qdq_quantize_input(n, x), s = qdq_quantize_scale(n, s);
    float v = n->scaling == QDQ_SCALE_RECIPROCAL       ? x * qdq_reciprocal_one(n, s)
              : n->scaling == QDQ_SCALE_DIVIDE_TO_ZERO ? qdq_quotient_to_zero(x, s)
                                                       : x / s;
    return qdq_quantize_step(n, qdq_signed_nan(v, x, s));
}

// Returns the sum of the rounded quotient and a zero point, added as floats.
static inline float qdq_shifted(const qdq_numerics *n, float x, float s, float z) {
    float whole = qdq_round_one(n->rounding, qdq_scaled(n, x, s));
    return qdq_quantize_step(n, whole + qdq_quantize_step(n, z));
}

// Quantizes to a float8 with bounds. The result is a whole number, a bound or NaN, and is encoded
// later. A z of -0 adds nothing and does not even change the sign of a zero.
static inline float qdq_quantize_bounded(const qdq_numerics *n, float x, float s, float z,
                                         float low, float high) {
    float v = qdq_shifted(n, x, s, z);
    return v < low ? low : v > high ? high : v;
}

int32_t qdq_quantize_device(const qdq_numerics *n, float x, float s, int32_t z,
                            const qdq_range *range);

static inline int32_t qdq_quantize_one(const qdq_numerics *n, float x, float s, int32_t z,
                                       const qdq_range *range) {
    if (qdq_is_device(n)) return qdq_quantize_device(n, x, s, z, range);
    switch (n->zero_point_order) {
    case QDQ_ZERO_POINT_AFTER_FLOAT:
        return qdq_to_integer(n, qdq_shifted(n, x, s, (float)z), 0, z, range);
    case QDQ_ZERO_POINT_BEFORE: {
        float sum = qdq_scaled(n, x, s) + qdq_quantize_step(n, (float)z);
        return qdq_to_integer(n, qdq_quantize_step(n, sum), 0, z, range);
    }
    case QDQ_ZERO_POINT_FMA: {
        float inverse = qdq_reciprocal_one(n, qdq_quantize_scale(n, s));
        float sum = qdq_fmaf(qdq_quantize_input(n, x), inverse, (float)z);
        return qdq_to_integer(n, qdq_quantize_step(n, sum), 0, z, range);
    }
    case QDQ_ZERO_POINT_AFTER:
    default: return qdq_to_integer(n, qdq_scaled(n, x, s), z, z, range);
    }
}

// Returns the difference q - z of Dequantize, before it is scaled.
static inline float qdq_subtracted(const qdq_numerics *n, int32_t q, int32_t z) {
    if (n->subtraction == QDQ_SUBTRACT_EXACT)
        return qdq_dequantize_step(n, (float)((int64_t)q - (int64_t)z));
    int64_t bias = n->code_bias;
    return qdq_dequantize_step(n, qdq_dequantize_step(n, (float)((int64_t)q + bias)) -
                                      qdq_dequantize_step(n, (float)((int64_t)z + bias)));
}

float qdq_dequantize_device(const qdq_numerics *n, int32_t q, float s, int32_t z);

static inline float qdq_dequantize_one(const qdq_numerics *n, int32_t q, float s, int32_t z) {
    if (qdq_is_device(n)) return qdq_dequantize_device(n, q, s, z);
    float y = qdq_subtracted(n, q, z) * qdq_flushed(n, s);
    return qdq_dequantize_step(n, qdq_signed_nan(y, 0, s));
}

// The float domain (docs/numerics.md, "The float domain"): the zero point is the real value of the
// code in the middle of the range. Returns this code.
static inline float qdq_middle(const qdq_range *range) {
    double sum = (double)(range->quant_max + range->quant_min + 1) + range->fractions;
    return (float)(sum / 2);
}

static inline int32_t qdq_quantize_float_zero_point(const qdq_numerics *n, float x, float s,
                                                    float z, const qdq_range *range) {
    float below = qdq_round_to(n->reciprocal_dtype, s * qdq_middle(range), n);
    float least = qdq_round_to(n->middle_dtype, z - below, n);
    float v = qdq_quantize_step(n, qdq_quantize_step(n, x - least) / s);
    return qdq_to_integer(n, v, 0, 0, range);
}

static inline float qdq_dequantize_float_zero_point(const qdq_numerics *n, int32_t q, float s,
                                                    float z, const qdq_range *range) {
    float y = qdq_dequantize_step(n, (float)q - qdq_middle(range));
    return qdq_dequantize_step(n, qdq_dequantize_step(n, y * s) + z);
}

// The parameters of both sides of a Requantize.
typedef struct qdq_requantize_scales {
    float in_scale, out_scale;
    int32_t in_zero_point, out_zero_point;
} qdq_requantize_scales;

// A Requantize that forms the ratio of the scales; `x` is the input as a float.
int32_t qdq_requantize_device(const qdq_numerics *n, float x, int32_t whole,
                              const qdq_requantize_scales *p, const qdq_range *range);

// True if Requantize turns its scales into multiplier and shift.
static inline bool qdq_is_fixed_form(qdq_requantize_form form) {
    return form >= QDQ_REQUANTIZE_FIXED_DOUBLE;
}

// Returns the rounding of a form in fixed point, and the multiplier and shift of a ratio of scales.
static inline qdq_fixed_params qdq_fixed_of_form(qdq_requantize_form form, double ratio) {
    bool single = form == QDQ_REQUANTIZE_FIXED_SINGLE;
    return (qdq_fixed_params){.rounding = single                            ? QDQ_FIXED_SINGLE
                                          : form == QDQ_REQUANTIZE_FIXED_UP ? QDQ_FIXED_UP
                                                                            : QDQ_FIXED_DOUBLE,
                              .scale = qdq_quantize_multiplier(ratio, single ? 30 : 31)};
}

// A float x is first rounded to int32, half to even; NaN is 0.
static inline int32_t qdq_requantize_fixed(const qdq_numerics *n, float x, int32_t whole,
                                           bool x_is_int, const qdq_requantize_scales *p,
                                           const qdq_range *range) {
    double ratio = (double)p->in_scale / (double)p->out_scale;
    qdq_fixed_params fixed = qdq_fixed_of_form(n->requantize_form, ratio);
    fixed.in_zero_point = p->in_zero_point, fixed.out_zero_point = p->out_zero_point;
    if (!x_is_int) whole = qdq_converted(QDQ_OVERFLOW_ARM, qdq_round_half_even(x));
    return (int32_t)qdq_clamp_one(qdq_fixed_one(&fixed, whole), range->quant_min, range->quant_max);
}

// `x` is the input as a float; `whole` is the input code if `x_is_int`.
static inline int32_t qdq_requantize_one(const qdq_numerics *n, float x, int32_t whole,
                                         bool x_is_int, const qdq_requantize_scales *p,
                                         const qdq_range *range) {
    if (n->requantize_form == QDQ_REQUANTIZE_PAIR) {
        float real =
            x_is_int ? qdq_dequantize_one(n, whole, p->in_scale, p->in_zero_point)
                     : qdq_dequantize_step(n, qdq_dequantize_step(n, x - (float)p->in_zero_point) *
                                                  p->in_scale);
        real = qdq_round_to(n->requantize_dtype, real, n);
        return qdq_quantize_one(n, real, p->out_scale, p->out_zero_point, range);
    }
    if (qdq_is_fixed_form(n->requantize_form))
        return qdq_requantize_fixed(n, x, whole, x_is_int, p, range);
    if (qdq_is_device(n)) return qdq_requantize_device(n, x, whole, p, range);
    float ratio = qdq_flushed(n, qdq_flushed(n, p->in_scale) / qdq_flushed(n, p->out_scale));
    float shift = qdq_flushed(n, (float)((int64_t)p->in_zero_point + n->code_bias) * ratio);
    float offset = qdq_flushed(n, (float)p->out_zero_point - shift);
    if (n->code_bias) x = (float)((int64_t)whole + n->code_bias);
    float v = n->requantize_form == QDQ_REQUANTIZE_FUSED ? qdq_fmaf(x, ratio, offset)
                                                         : qdq_flushed(n, x * ratio) + offset;
    v = qdq_flushed(n, v);
    return qdq_to_integer(n, v, 0, p->out_zero_point, range);
}

#endif
