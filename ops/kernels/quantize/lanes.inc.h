// SPDX-License-Identifier: Apache-2.0
// The arithmetic of quantizing kernels for one element, in plain C without branches, which
// compilers turn into vectors: loads and stores, parameters, and `lane_*`, the formula of
// runtime/numerics/quantize_one.h for one choice of numerics. A comment says why they are the same.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_LANES_INC_H
#define QDQ_OPS_KERNELS_QUANTIZE_LANES_INC_H

#include <math.h>
#include <string.h>

#include "ops/kernels/quantize/kernel_list.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_one.h"

enum { PART = 256 };  // elements whose parameters are expanded together

static inline bool body_nan(float value) {
    return (qdq_float_bits(value) & 0x7FFFFFFF) > 0x7F800000;
}

static inline qdq_view body_from(qdq_view view, size_t at) {
    return (qdq_view){view.data + at * view.step, view.step};
}

// Loops over parameters, which few calls have, stay out of line: the kernels share them.

static QDQ_RARE bool body_small_list(const uint32_t *z, size_t n) {
    uint32_t beyond = 0;
    for (size_t i = 0; i < n; i++) beyond |= z[i] + (1u << 20) > (1u << 21);
    return !beyond;
}

static QDQ_RARE bool body_finite_list(const uint32_t *s, size_t n) {
    uint32_t beyond = 0;
    for (size_t i = 0; i < n; i++) beyond |= (s[i] & 0x7FFFFFFF) >= 0x7F800000;
    return !beyond;
}

// True if the range of y and all zero points are small enough for exact sums.
static inline bool body_small_zeros(qdq_view z, size_t n) {
    return z.step ? body_small_list(z.data, n) : z.data[0] + (1u << 20) <= (1u << 21);
}

static inline bool body_small(const qdq_quant_params *p, qdq_view z, size_t n) {
    const int64_t most = 1 << 20;
    return p->range.quant_min >= -most && p->range.quant_max <= most && body_small_zeros(z, n);
}

static QDQ_RARE void body_floats(qdq_view view, size_t n, float *out) {
    if (view.step) {
        memcpy(out, view.data, n * sizeof *out);
    } else {
        float value = qdq_float_from_bits(view.data[0]);
        for (size_t i = 0; i < n; i++) out[i] = value;
    }
}

static QDQ_RARE void body_ints(qdq_view view, size_t n, int32_t *out) {
    if (view.step) {
        memcpy(out, view.data, n * sizeof *out);
    } else {
        int32_t value = (int32_t)view.data[0];
        for (size_t i = 0; i < n; i++) out[i] = value;
    }
}

// Lists are read in their place. A single number is repeated in `copies`.
static inline const float *body_float_list(qdq_view view, size_t n, float *copies) {
    if (view.step) return (const float *)(const void *)view.data;
    body_floats(view, n, copies);
    return copies;
}

static inline const int32_t *body_int_list(qdq_view view, size_t n, int32_t *copies) {
    if (view.step) return (const int32_t *)(const void *)view.data;
    body_ints(view, n, copies);
    return copies;
}

//---- Elements ---------------------------------------------------------------

static inline float load_float32(const void *x, size_t i) { return ((const float *)x)[i]; }
static inline float load_bfloat16(const void *x, size_t i) {
    return qdq_float_from_bits((uint32_t)((const uint16_t *)x)[i] << 16);
}
static inline float load_int32(const void *x, size_t i) { return (float)((const int32_t *)x)[i]; }

// Integers with and without sign have the same low bits. gcc folds kernels that differ in nothing
// else.
static inline void store_uint8(void *y, size_t i, int32_t q) { ((uint8_t *)y)[i] = (uint8_t)q; }
static inline void store_uint16(void *y, size_t i, int32_t q) { ((uint16_t *)y)[i] = (uint16_t)q; }
static inline void store_int8(void *y, size_t i, int32_t q) { store_uint8(y, i, q); }
static inline void store_int16(void *y, size_t i, int32_t q) { store_uint16(y, i, q); }
static inline void store_int32(void *y, size_t i, int32_t q) { ((int32_t *)y)[i] = q; }

// Store a number that is not NaN. To bfloat16: half even; _device: half away, with denormals and -0
// to +0; _flush: half even, with denormal float32 to a zero of their sign.
static inline void finite_float32(void *y, size_t i, float v) { ((float *)y)[i] = v; }
static inline void finite_bfloat16(void *y, size_t i, float v) {
    uint32_t bits = qdq_float_bits(v);
    ((uint16_t *)y)[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}
static inline void finite_bfloat16_device(void *y, size_t i, float v) {
    uint32_t bits = qdq_float_bits(v), away = (bits + 0x8000) >> 16;
    ((uint16_t *)y)[i] = (uint16_t)((bits & 0x7FFFFFFF) < 0x00800000 ? 0 : away);
}
static inline void finite_bfloat16_flush(void *y, size_t i, float v) {
    uint32_t bits = qdq_float_bits(v);
    bits = (bits & 0x7FFFFFFF) < 0x00800000 ? bits & 0x80000000 : bits;
    ((uint16_t *)y)[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

// Returns a float8 of m mantissa bits that saturates. Normal numbers are rounded half to even on
// their bits, smaller ones by adding a number whose last bit is the last bit of the float8.
static inline uint8_t body_float8(float v, uint32_t m, int bias, float largest, uint32_t nan) {
    uint32_t bits = qdq_float_bits(v), sign = bits >> 24 & 0x80;
    float a = fabsf(v);
    a = a < largest ? a : largest;  // NaN too, which is put in below
    uint32_t abits = qdq_float_bits(a);
    uint32_t half = ((uint32_t)1 << (22 - m)) - 1;
    uint32_t normal = (abits + half + (abits >> (23 - m) & 1)) >> (23 - m);
    normal -= (uint32_t)(127 - bias) << m;
    float magic =
        qdq_float_from_bits((uint32_t)(127 + 24 - bias - (int)m) << 23);  // 2^(1 - bias - m + 23)
    uint32_t below = qdq_float_bits(a + magic) - qdq_float_bits(magic);
    uint32_t least = (uint32_t)(128 - bias) << 23;  // the least normal number
    uint32_t code = abits < least ? below : normal;
    code = (bits & 0x7FFFFFFF) > 0x7F800000 ? nan : code;
    return (uint8_t)(sign | code);
}

static inline void store_float8_e4m3fn(void *y, size_t i, float v) {
    ((uint8_t *)y)[i] = body_float8(v, 3, 7, 448.0f, 0x7F);
}
static inline void store_float8_e5m2(void *y, size_t i, float v) {
    ((uint8_t *)y)[i] = body_float8(v, 2, 15, 57344.0f, 0x7E);
}

//---- Quantize ---------------------------------------------------------------

// The bounds of y, the parameters of an element, and the numbers computed from them once.
typedef struct lane {
    float s, inverse, z;
    float low, high;  // of y
} lane;

// clamp(rne(x / s) + z). Clamping the rounded quotient to the bounds minus z is the same, because
// all three are exact integers. NaN fails the first comparison and becomes the lower bound.
static inline int32_t lane_core(lane p, float x) {
    float r = rintf(x / p.s), low = p.low - p.z, high = p.high - p.z;
    r = r > low ? r : low;
    r = r < high ? r : high;
    return (int32_t)(r + p.z);
}

// Returns a sum that wraps around, as vectors of int32 add.
static inline int32_t lane_clamped_sum(lane p, int32_t whole) {
    int32_t q = (int32_t)((uint32_t)whole + (uint32_t)(int32_t)p.z);
    q = q < (int32_t)p.low ? (int32_t)p.low : q;
    return q > (int32_t)p.high ? (int32_t)p.high : q;
}

// The conversions of qdq_converted, from a number that int32 holds: NaN fails both comparisons.
static inline int32_t lane_x86(lane p, float x) {
    float r = rintf(x / p.s);
    r = r >= -0x1p31f && r < 0x1p31f ? r : -0x1p31f;
    return lane_clamped_sum(p, (int32_t)r);
}

static inline int32_t lane_arm(lane p, float x) {
    float r = rintf(x / p.s), held = r;
    held = held < -0x1p31f ? -0x1p31f : held;
    held = held >= 0x1p31f ? 0.0f : held;
    held = body_nan(held) ? 0.0f : held;
    return lane_clamped_sum(p, r >= 0x1p31f ? INT32_MAX : (int32_t)held);
}

// clamp(rne(fl(fl(x * fl(1/s)) + z))): integer bounds may be applied before rounding.
static inline int32_t lane_onednn(lane p, float x) {
    float v = x * p.inverse + p.z;
    v = v > p.low ? v : p.low;
    v = v < p.high ? v : p.high;
    return (int32_t)rintf(v);
}

// clamp(fl(rne(fl(x * fl(1/s))) + z)). NaN is 0, the low bits of INT32_MIN.
static inline int32_t lane_torchao(lane p, float x) {
    float sum = rintf(x * p.inverse) + p.z, v = sum;
    v = v > p.low ? v : p.low;
    v = v < p.high ? v : p.high;
    return (int32_t)(sum == sum ? v : 0.0f);
}

static inline float lane_flushed(float x) { return fabsf(x) < 0x1p-126f ? 0.0f : x; }

static inline float lane_fused(lane p, float x) {
    return __builtin_fmaf(lane_flushed(x), p.inverse, p.z);
}

static inline float lane_half_away(float v) {
    float whole = truncf(v);
    return fabsf(v - whole) >= 0.5f ? whole + copysignf(1.0f, v) : whole;
}

// NaN fails the comparison with the upper bound and becomes it.
static inline int32_t lane_ttnn_int32(lane p, float x) {
    float v = lane_half_away(lane_fused(p, x));
    v = v < p.high ? v : p.high;
    v = v > p.low ? v : p.low;
    return (int32_t)v;
}

static inline int32_t lane_ttnn_uint8(lane p, float x) {
    float v = fabsf(lane_half_away(lane_fused(p, x)));
    v = v < p.high ? v : p.high;
    v = v > p.low ? v : p.low;
    return (int32_t)v;
}

static inline int32_t lane_ttnn_int8(lane p, float x) {
    float v = lane_fused(p, x) + 128.0f;
    v = v < 0 ? 0.0f : v;
    float whole = floorf(v);
    whole += v - whole >= 0.5f ? 1.0f : 0.0f;
    whole = (whole < 255.0f ? whole : 255.0f) - 128.0f;
    whole = whole < p.high ? whole : p.high;
    whole = whole > p.low ? whole : p.low;
    return (int32_t)whole;
}

static inline lane lane_of(const qdq_quant_params *p, float s, int32_t z, bool flush) {
    s = flush ? lane_flushed(s) : s;
    float inverse = 1.0f / s;
    return (lane){.s = s,
                  .inverse = flush ? lane_flushed(inverse) : inverse,
                  .z = (float)z,
                  .low = (float)p->range.quant_min,
                  .high = (float)p->range.quant_max};
}

// True if x * fl(1/s) may stand for x / s. The two then differ by less than 3 * 2^-24 of the
// quotient, which up to 2^10 is less than 0.0002. If neither is that close to a tie, both round to
// the same number; if the quotient is larger, both are beyond the bounds.
enum { FAST = 64 };  // elements that are searched for ties together
static inline bool lane_may_multiply(lane p) {
    float size = fabsf(p.s);
    return size > 0x1p-60f && size < 0x1p60f && p.low - p.z > -1000 && p.high - p.z < 1000;
}

// True if 1/s is exact, and so the product the quotient.
static inline bool lane_is_power(lane p) { return !(qdq_float_bits(p.s) & 0x7FFFFF); }

static inline int32_t lane_multiplied(lane p, float r) {
    float low = p.low - p.z, high = p.high - p.z;
    r = r > low ? r : low;
    r = r < high ? r : high;
    return (int32_t)(r + p.z);
}

// x / s. A NaN has the sign of the NaN that it came from, or none.
static inline float quotient(float x, float s) {
    float v = x / s;
    uint32_t sign = body_nan(x) ? qdq_float_bits(x) : body_nan(s) ? qdq_float_bits(s) : 0;
    return body_nan(v) ? qdq_float_from_bits(0x7FC00000 | (sign & 0x80000000)) : v;
}

//---- Dequantize -------------------------------------------------------------

static inline int32_t code_int8(const void *x, size_t i) { return ((const int8_t *)x)[i]; }
static inline int32_t code_uint8(const void *x, size_t i) { return ((const uint8_t *)x)[i]; }
static inline int32_t code_int4(const void *x, size_t i) {
    return (int32_t)((((const uint8_t *)x)[i] & 15) ^ 8) - 8;
}
static inline int32_t code_uint4(const void *x, size_t i) { return ((const uint8_t *)x)[i] & 15; }

// q - z, which for the integers above is exact. Small floats have no z.
#define MINUS(x_name)                                                        \
    static inline float minus_##x_name(const void *x, size_t i, int32_t z) { \
        return (float)(code_##x_name(x, i) - z);                             \
    }
MINUS(int8)
MINUS(uint8)
MINUS(int4)
MINUS(uint4)

// Returns the value of a float8 of m mantissa bits. A normal number has the bits of the float32
// except for the bias; a smaller number is an integer multiple of the least. Codes from `beyond` on
// are NaN, and `infinity` is infinite.
static inline float body_of_float8(uint32_t code, uint32_t m, uint32_t bias, uint32_t infinity,
                                   uint32_t beyond) {
    uint32_t magnitude = code & 0x7F;
    uint32_t bits = (magnitude << (23 - m)) + ((127 - bias) << 23);
    float least = qdq_float_from_bits((128 - bias - m) << 23);
    uint32_t below = qdq_float_bits((float)(int32_t)magnitude * least);
    bits = magnitude < (1u << m) ? below : bits;
    bits = magnitude == infinity ? 0x7F800000 : bits;
    bits = magnitude >= beyond ? 0x7FC00000 : bits;
    return qdq_float_from_bits(bits | (code & 0x80) << 24);
}

static inline float minus_float8_e4m3fn(const void *x, size_t i, int32_t z) {
    (void)z;
    return body_of_float8(((const uint8_t *)x)[i], 3, 7, 0x100, 0x7F);
}
static inline float minus_float8_e5m2(const void *x, size_t i, int32_t z) {
    (void)z;
    return body_of_float8(((const uint8_t *)x)[i], 2, 15, 0x7C, 0x7D);
}

static inline bool body_finite(qdq_view s, size_t n) {
    return s.step ? body_finite_list(s.data, n) : (s.data[0] & 0x7FFFFFFF) < 0x7F800000;
}

static inline float scaled(float d, float s, bool flush) {
    return flush ? lane_flushed(d * s) : d * s;
}

#endif
