// SPDX-License-Identifier: Apache-2.0
// Computes one element of the QLinear ops as ONNX Runtime 1.31's CPU kernels do. This is the
// definition that every kernel equals bit for bit. Sources: MLAS's qladd.cpp, qladd_avx2.cpp and
// qlmul.cpp; the wheels for Linux fuse the multiplications and additions that are fmaf here. Means
// and softmax: qlgavgpool.cpp, qlinear_pool.cc and qlinear_softmax.cc.
#ifndef QDQ_RUNTIME_NUMERICS_QLINEAR_ONE_H
#define QDQ_RUNTIME_NUMERICS_QLINEAR_ONE_H

#include <float.h>

#include "runtime/numerics/elementary64.h"
#include "runtime/numerics/fma.h"
#include "runtime/numerics/quantize_one.h"

// The parameters of a tensor's codes, which stand for (code - zero_point) * scale.
typedef struct qdq_qlinear_quant {
    float scale;
    int32_t zero_point;
} qdq_qlinear_quant;

// The codes of int8 or uint8.
typedef struct qdq_qlinear_range {
    int32_t least, most;
} qdq_qlinear_range;

static inline int32_t qdq_qlinear_saturate(int32_t v, qdq_qlinear_range range) {
    return v < range.least ? range.least : v > range.most ? range.most : v;
}

// Half to even, as x86 converts: NaN and numbers outside int32 become INT32_MIN.
static inline int32_t qdq_qlinear_to_int32(float v) {
    return v >= -0x1p31f && v < 0x1p31f ? (int32_t)qdq_round_half_even(v) : INT32_MIN;
}

// The same, as aarch64 converts: NaN becomes 0, and the rest saturates.
static inline int32_t qdq_qlinear_to_int32_arm(float v) {
    if (isnan(v)) return 0;
    return v >= 0x1p31f ? INT32_MAX : qdq_qlinear_to_int32(v);
}

//---- Add --------------------------------------------------------------------

typedef enum qdq_qlinear_sum {
    QDQ_QLINEAR_SUM_FMA,      // round(fma(a, a_ratio, fma(b, b_ratio, fixed)))
    QDQ_QLINEAR_SUM_A_FIRST,  // round((fixed + a * a_ratio) + b * b_ratio)
    QDQ_QLINEAR_SUM_B_FIRST,  // round((fixed + b * b_ratio) + a * a_ratio)
    QDQ_QLINEAR_SUM_FIXED,    // half away of (a' * a_factor + b' * b_factor) / 2^shift
    QDQ_QLINEAR_SUM_RAW,      // round(fma(a_scale, a', b_scale * b') / y_scale + zero point)
} qdq_qlinear_sum;

// The parameters of a sum, computed once; a' and b' are codes minus their zero points.
typedef struct qdq_qlinear_add_params {
    qdq_qlinear_sum sum;
    qdq_qlinear_range range;
    float a_ratio, b_ratio, fixed;      // of the first three
    int32_t a_factor, b_factor, shift;  // of QDQ_QLINEAR_SUM_FIXED
    qdq_qlinear_quant a, b, y;
} qdq_qlinear_add_params;

static inline int32_t qdq_qlinear_exponent(float v) {
    return (int32_t)(qdq_float_bits(v) >> 23) - 127;
}

// Ratios as integers of 22 bits. False if they are too large or too small: the sum stays raw.
static inline bool qdq_qlinear_factors(qdq_qlinear_add_params *p) {
    float a = p->a_ratio, b = p->b_ratio;
    if (!(a >= 0x1p-14f && a < 0x1p8f && b >= 0x1p-14f && b < 0x1p8f)) return false;
    p->shift = 21 - qdq_qlinear_exponent(a > b ? a : b);
    if (p->shift < 13 || p->shift > 31) return false;
    float unit = qdq_float_from_bits((uint32_t)(p->shift + 127) << 23);
    p->a_factor = (int32_t)qdq_round_half_even(a * unit);
    p->b_factor = (int32_t)qdq_round_half_even(b * unit);
    return p->a_factor < 1 << 22 && p->b_factor < 1 << 22;
}

// `b_repeats`: one code of b meets a run of codes of a.
static inline qdq_qlinear_add_params qdq_qlinear_add_of(qdq_qlinear_form form, qdq_qlinear_quant a,
                                                        qdq_qlinear_quant b, qdq_qlinear_quant y,
                                                        qdq_qlinear_range range, bool b_repeats) {
    qdq_qlinear_add_params p = {.a = a, .b = b, .y = y, .range = range};
    p.a_ratio = a.scale / y.scale, p.b_ratio = b.scale / y.scale;
    float b_zero = p.b_ratio * (float)b.zero_point, a_zero = (float)a.zero_point;
    if (form == QDQ_QLINEAR_ARM) {
        p.sum = qdq_qlinear_factors(&p) ? QDQ_QLINEAR_SUM_FIXED : QDQ_QLINEAR_SUM_RAW;
    } else if (form == QDQ_QLINEAR_SSE) {
        p.sum = b_repeats ? QDQ_QLINEAR_SUM_B_FIRST : QDQ_QLINEAR_SUM_A_FIRST;
        p.fixed = (float)y.zero_point - (p.a_ratio * a_zero + b_zero);
    } else {
        p.sum = QDQ_QLINEAR_SUM_FMA;
        p.fixed = (float)y.zero_point - qdq_fmaf(p.a_ratio, a_zero, b_zero);
    }
    return p;
}

// a and b differ from their zero points by at most 255: the sum stays within int32.
static inline int32_t qdq_qlinear_add_fixed(const qdq_qlinear_add_params *p, int32_t a, int32_t b) {
    int64_t sum = (int64_t)a * p->a_factor + (int64_t)b * p->b_factor;
    sum -= sum < 0;
    sum = (sum + (INT64_C(1) << (p->shift - 1))) >> p->shift;
    return (int32_t)qdq_clamp_one(sum, INT16_MIN, INT16_MAX);
}

static inline int32_t qdq_qlinear_add_raw(const qdq_qlinear_add_params *p, int32_t a, int32_t b) {
    float zero = (float)p->y.zero_point;
    float v = qdq_fmaf(p->a.scale, (float)a, p->b.scale * (float)b) / p->y.scale;
    float least = (float)p->range.least - zero, most = (float)p->range.most - zero;
    v = v < least ? least : v > most ? most : v;
    return qdq_qlinear_to_int32_arm(v + zero);
}

static inline int32_t qdq_qlinear_add_one(const qdq_qlinear_add_params *p, int32_t a, int32_t b) {
    float x = (float)a, z = (float)b;
    int32_t a_off = a - p->a.zero_point, b_off = b - p->b.zero_point, sum = 0;
    switch (p->sum) {
    case QDQ_QLINEAR_SUM_FMA:
        sum = qdq_qlinear_to_int32(qdq_fmaf(x, p->a_ratio, qdq_fmaf(z, p->b_ratio, p->fixed)));
        break;
    case QDQ_QLINEAR_SUM_A_FIRST:
        sum = qdq_qlinear_to_int32((p->fixed + x * p->a_ratio) + z * p->b_ratio);
        break;
    case QDQ_QLINEAR_SUM_B_FIRST:
        sum = qdq_qlinear_to_int32((p->fixed + z * p->b_ratio) + x * p->a_ratio);
        break;
    case QDQ_QLINEAR_SUM_FIXED:
        sum = qdq_qlinear_add_fixed(p, a_off, b_off) + p->y.zero_point;
        break;
    case QDQ_QLINEAR_SUM_RAW: sum = qdq_qlinear_add_raw(p, a_off, b_off); break;
    }
    return qdq_qlinear_saturate(sum, p->range);
}

//---- Mul --------------------------------------------------------------------

typedef struct qdq_qlinear_mul_params {
    bool arm;
    qdq_qlinear_range range;
    float ratio;
    int32_t a_zero, b_zero, y_zero;
} qdq_qlinear_mul_params;

static inline qdq_qlinear_mul_params qdq_qlinear_mul_of(qdq_qlinear_form form, qdq_qlinear_quant a,
                                                        qdq_qlinear_quant b, qdq_qlinear_quant y,
                                                        qdq_qlinear_range range) {
    return (qdq_qlinear_mul_params){.arm = form == QDQ_QLINEAR_ARM,
                                    .range = range,
                                    .ratio = a.scale * b.scale / y.scale,
                                    .a_zero = a.zero_point,
                                    .b_zero = b.zero_point,
                                    .y_zero = y.zero_point};
}

// round(product * ratio + zero point), rounded after each operation, or on aarch64 once.
static inline int32_t qdq_qlinear_mul_one(const qdq_qlinear_mul_params *p, int32_t a, int32_t b) {
    float product = (float)((a - p->a_zero) * (b - p->b_zero)), zero = (float)p->y_zero;
    int32_t v = p->arm ? qdq_qlinear_to_int32_arm(qdq_fmaf(product, p->ratio, zero))
                       : qdq_qlinear_to_int32(product * p->ratio + zero);
    return qdq_qlinear_saturate(v, p->range);
}

//---- Means ------------------------------------------------------------------

typedef struct qdq_qlinear_mean_params {
    bool arm;
    qdq_qlinear_range range;
    float y_scale, ratio;  // the ratio is that of the mean of an image
    int32_t y_zero;
} qdq_qlinear_mean_params;

// The mean of images of n codes, or of windows.
static inline qdq_qlinear_mean_params qdq_qlinear_mean_of(qdq_qlinear_form form,
                                                          qdq_qlinear_quant x, qdq_qlinear_quant y,
                                                          qdq_qlinear_range range, size_t n) {
    return (qdq_qlinear_mean_params){.arm = form == QDQ_QLINEAR_ARM,
                                     .range = range,
                                     .y_scale = y.scale,
                                     .ratio = x.scale / (y.scale * (float)n),
                                     .y_zero = y.zero_point};
}

// Half away from zero of sum * ratio, whose 24 bits are an integer.
static inline int32_t qdq_qlinear_mean_fixed(float ratio, int32_t sum) {
    uint32_t bits = qdq_float_bits(ratio);
    int shift = 150 - (int)(bits >> 23);
    int64_t product = (int64_t)sum * (int64_t)((bits & 0x7FFFFF) | 0x800000) - (sum < 0);
    int64_t whole = (product + (INT64_C(1) << (shift - 1))) >> shift;
    int32_t low = (int32_t)(uint32_t)(uint64_t)whole;
    return low < INT16_MIN ? INT16_MIN : low > INT16_MAX ? INT16_MAX : low;
}

// `sum` is that of codes minus their zero points. Fixed point needs a ratio from 2^-32 to 256,
// without which ONNX Runtime computes nothing.
static inline int32_t qdq_qlinear_mean_one(const qdq_qlinear_mean_params *p, int32_t sum) {
    float least = (float)(p->range.least - p->y_zero), most = (float)(p->range.most - p->y_zero);
    if (p->arm && p->ratio >= 0x1p-32f && p->ratio < 0x1p8f)
        return qdq_qlinear_saturate(qdq_qlinear_mean_fixed(p->ratio, sum) + p->y_zero, p->range);
    float v = (float)sum * p->ratio;
    if (isnan(v)) return p->range.least;
    v = v < least ? least : v > most ? most : v;
    return (int32_t)qdq_round_half_even(v) + p->y_zero;
}

// `sum` is a sum in float32 of codes as reals.
static inline int32_t qdq_qlinear_window_one(const qdq_qlinear_mean_params *p, float sum,
                                             size_t count) {
    float v = sum / (float)count / p->y_scale + (float)p->y_zero;
    int32_t whole = p->arm ? qdq_qlinear_to_int32_arm(v) : qdq_qlinear_to_int32(v);
    return qdq_qlinear_saturate(whole, p->range);
}

//---- Softmax ----------------------------------------------------------------

enum { QDQ_QLINEAR_CODES = 256 };

// Computes the exponentials of all 256 distances from the greatest code of a row of `length` codes.
// The largest is as large as sums of `length` of them allow, less a factor of e^5; the logarithm is
// rounded to float.
static inline void qdq_qlinear_exponentials(float scale, size_t length, float *table) {
    double room = (double)(float)qdq_log64((double)(FLT_MAX / (float)length)) - 5.0;
    double shift = (room > 0 ? room : 0) / (double)scale;
    for (int i = 0; i < QDQ_QLINEAR_CODES; i++)
        table[i] = (float)qdq_exp64(((double)i - 255 + shift) * (double)scale);
}

// Computes an element from its float32 probability in steps of y. Without a code, as the product
// overflowed: the CPU's conversion decides.
static inline int32_t qdq_qlinear_softmax_float(bool arm, bool is_signed, float v, int32_t zero) {
    float whole = qdq_round_half_even(v);
    uint32_t bits;
    if (is_signed) {
        bits = (uint32_t)(arm ? qdq_qlinear_to_int32_arm(whole) : qdq_qlinear_to_int32(whole));
        int32_t sum = (int32_t)(bits + (uint32_t)zero);
        return qdq_qlinear_saturate(sum, (qdq_qlinear_range){-128, 127});
    }
    if (arm)
        bits = !(whole > 0) ? 0 : whole >= 0x1p32f ? UINT32_MAX : (uint32_t)whole;
    else
        bits = fabsf(whole) < 0x1p63f ? (uint32_t)(uint64_t)(int64_t)whole : 0;
    bits += (uint32_t)zero;
    return bits > 255 ? 255 : (int32_t)bits;
}

// The same of a float64, 0 or more: it saturates, beyond every code.
static inline int32_t qdq_qlinear_softmax_double(bool is_signed, double v, int32_t zero) {
    const double most = 512;
    if (!(v < most)) v = most;
    int32_t whole = (int32_t)v;
    double rest = v - whole;
    if (rest > 0.5 || (rest == 0.5 && whole % 2)) whole++;
    return qdq_qlinear_saturate(whole + zero, is_signed ? (qdq_qlinear_range){-128, 127}
                                                        : (qdq_qlinear_range){0, 255});
}

// Computes an element from its exponential, the sum of the row and floor(1 / y_scale).
static inline int32_t qdq_qlinear_softmax_one(qdq_qlinear_form form, bool is_signed,
                                              float exponential, float inverse, float sum,
                                              int32_t zero) {
    if (form == QDQ_QLINEAR_FMA64)
        return qdq_qlinear_softmax_double(is_signed, (double)exponential * inverse / sum, zero);
    return qdq_qlinear_softmax_float(form == QDQ_QLINEAR_ARM, is_signed,
                                     exponential * inverse / sum, zero);
}

#endif
