// SPDX-License-Identifier: Apache-2.0
// Kernels in plain C that compilers turn into vectors: included by one file per instruction set,
// which defines QDQ_BODY(name) and is compiled for it. Each loop is the formula of
// runtime/numerics.h for one choice of numerics, rewritten without branches; the comment says why
// it is the same.
//
// All take numbers of any value. Zero points beyond 2^20 in size, with which sums would no longer
// be exact in float32, go to the portable kernel.
#include <math.h>
#include <string.h>

#include "ops/kernels/body_list.h"

enum { PART = 256 };  // parameters that are not alike are laid out in parts

static inline float body_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t body_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline bool body_nan(float value) { return (body_bits(value) & 0x7FFFFFFF) > 0x7F800000; }

static inline qdq_view body_from(qdq_view view, size_t at) {
    return (qdq_view){view.data + at * view.step, view.step};
}

// Whether the range of y and all zero points are small enough.
static inline bool body_small(const qdq_quant_params *p, qdq_view z, size_t n) {
    int64_t most = 1 << 20;
    uint32_t beyond = p->range.quant_min < -most || p->range.quant_max > most;
    size_t count = z.step ? n : 1;
    for (size_t i = 0; i < count; i++) beyond |= z.data[i] + (1u << 20) > (1u << 21);
    return !beyond;
}

static inline void body_floats(qdq_view view, size_t n, float *out) {
    if (view.step) {
        memcpy(out, view.data, n * sizeof *out);
    } else {
        float value = body_float(view.data[0]);
        for (size_t i = 0; i < n; i++) out[i] = value;
    }
}

static inline void body_ints(qdq_view view, size_t n, int32_t *out) {
    for (size_t i = 0; i < n; i++) out[i] = (int32_t)view.data[view.step ? i : 0];
}

//---- Elements ---------------------------------------------------------------

static inline float load_float32(const void *x, size_t i) { return ((const float *)x)[i]; }
static inline float load_bfloat16(const void *x, size_t i) {
    return body_float((uint32_t)((const uint16_t *)x)[i] << 16);
}
static inline float load_int32(const void *x, size_t i) { return (float)((const int32_t *)x)[i]; }

static inline void store_int8(void *y, size_t i, int32_t q) { ((int8_t *)y)[i] = (int8_t)q; }
static inline void store_uint8(void *y, size_t i, int32_t q) { ((uint8_t *)y)[i] = (uint8_t)q; }
static inline void store_int16(void *y, size_t i, int32_t q) { ((int16_t *)y)[i] = (int16_t)q; }
static inline void store_uint16(void *y, size_t i, int32_t q) { ((uint16_t *)y)[i] = (uint16_t)q; }
static inline void store_int32(void *y, size_t i, int32_t q) { ((int32_t *)y)[i] = q; }

static inline void store_float32(void *y, size_t i, float v) { ((float *)y)[i] = v; }

// Half even; NaN keeps its upper bits and stays NaN.
static inline void store_bfloat16(void *y, size_t i, float v) {
    uint32_t bits = body_bits(v);
    uint32_t even = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
    uint32_t nan = bits >> 16 | (bits & 0x7F0000 ? 0 : 0x40);
    ((uint16_t *)y)[i] = (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? nan : even);
}

// Half away; denormals and -0 to +0; NaN to infinity with its sign.
static inline void store_bfloat16_device(void *y, size_t i, float v) {
    uint32_t bits = body_bits(v), magnitude = bits & 0x7FFFFFFF;
    uint32_t away = (bits + 0x8000) >> 16, infinity = (bits >> 31 << 15) | 0x7F80;
    away = magnitude < 0x00800000 ? 0 : away;
    ((uint16_t *)y)[i] = (uint16_t)(magnitude > 0x7F800000 ? infinity : away);
}

// Half even; denormal float32 to 0 with their sign.
static inline void store_bfloat16_flush(void *y, size_t i, float v) {
    uint32_t bits = body_bits(v);
    bits = (bits & 0x7FFFFFFF) < 0x00800000 ? bits & 0x80000000 : bits;
    store_bfloat16(y, i, body_float(bits));
}

// A float8 of M mantissa bits that saturates: half even where it is normal, by adding a number
// whose last bit is the float8's where it is not.
static inline uint8_t body_float8(float v, uint32_t m, int bias, float largest, uint32_t nan) {
    uint32_t bits = body_bits(v), sign = bits >> 24 & 0x80;
    float a = fabsf(v);
    a = a < largest ? a : largest;  // NaN too, which is put in below
    uint32_t abits = body_bits(a);
    uint32_t half = ((uint32_t)1 << (22 - m)) - 1;
    uint32_t normal = (abits + half + (abits >> (23 - m) & 1)) >> (23 - m);
    normal -= (uint32_t)(127 - bias) << m;
    float magic = body_float((uint32_t)(127 + 24 - bias - (int)m) << 23);  // 2^(1 - bias - m + 23)
    uint32_t below = body_bits(a + magic) - body_bits(magic);
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

// The bounds of y, the parameters of an element, and what is worked out of them once.
typedef struct lane {
    float s, inverse, z;
    float low, high;  // of y
} lane;

// clamp(rne(x / s) + z). Clamping the rounded quotient to the bounds less z is the same, as all
// three are whole and exact; NaN fails the first comparison and becomes the lower bound.
static inline int32_t lane_core(lane p, float x) {
    float r = rintf(x / p.s), low = p.low - p.z, high = p.high - p.z;
    r = r > low ? r : low;
    r = r < high ? r : high;
    return (int32_t)(r + p.z);
}

// clamp(rne(fl(fl(x * fl(1/s)) + z))): whole bounds may be applied before rounding.
static inline int32_t lane_onednn(lane p, float x) {
    float v = x * p.inverse + p.z;
    v = v > p.low ? v : p.low;
    v = v < p.high ? v : p.high;
    return (int32_t)rintf(v);
}

// clamp(fl(rne(fl(x * fl(1/s))) + z)).
static inline int32_t lane_torchao(lane p, float x) {
    float v = rintf(x * p.inverse) + p.z;
    v = v > p.low ? v : p.low;
    v = v < p.high ? v : p.high;
    return (int32_t)v;
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

#define QUANTIZE(name, x_name, y_name, lane_fn, flush)                                            \
    qdq_tile_fn QDQ_BODY(name);                                                                   \
    void QDQ_BODY(name)(const void *params, const qdq_view *views, const void *x, void *y,        \
                        size_t n) {                                                               \
        const qdq_quant_params *p = params;                                                       \
        if (!body_small(p, views[1], n)) {                                                        \
            qdq_quantize_tile_portable(params, views, x, y, n);                                   \
            return;                                                                               \
        }                                                                                         \
        if (!views[0].step && !views[1].step) {                                                   \
            lane l = lane_of(p, body_float(views[0].data[0]), (int32_t)views[1].data[0], flush);  \
            for (size_t i = 0; i < n; i++) store_##y_name(y, i, lane_fn(l, load_##x_name(x, i))); \
            return;                                                                               \
        }                                                                                         \
        for (size_t at = 0; at < n; at += PART) {                                                 \
            size_t part = n - at < PART ? n - at : PART;                                          \
            float s[PART];                                                                        \
            int32_t z[PART];                                                                      \
            body_floats(body_from(views[0], at), part, s);                                        \
            body_ints(body_from(views[1], at), part, z);                                          \
            for (size_t i = 0; i < part; i++)                                                     \
                store_##y_name(y, at + i,                                                         \
                               lane_fn(lane_of(p, s[i], z[i], flush), load_##x_name(x, at + i))); \
        }                                                                                         \
    }

// A NaN has the sign of the one that it came from, or none.
static inline float quotient(float x, float s) {
    float v = x / s;
    uint32_t sign = body_nan(x) ? body_bits(x) : body_nan(s) ? body_bits(s) : 0;
    return body_nan(v) ? body_float(0x7FC00000 | (sign & 0x80000000)) : v;
}

// To float8: the quotient is rounded by the store alone.
#define QUANTIZE_FLOAT8(name, x_name, y_name)                                              \
    qdq_tile_fn QDQ_BODY(name);                                                            \
    void QDQ_BODY(name)(const void *params, const qdq_view *views, const void *x, void *y, \
                        size_t n) {                                                        \
        (void)params;                                                                      \
        const uint32_t *s = views[0].data;                                                 \
        if (!views[0].step) {                                                              \
            float one = body_float(s[0]);                                                  \
            for (size_t i = 0; i < n; i++)                                                 \
                store_##y_name(y, i, quotient(load_##x_name(x, i), one));                  \
            return;                                                                        \
        }                                                                                  \
        for (size_t i = 0; i < n; i++)                                                     \
            store_##y_name(y, i, quotient(load_##x_name(x, i), body_float(s[i])));         \
    }

//---- Dequantize -------------------------------------------------------------

static inline int32_t code_int8(const void *x, size_t i) { return ((const int8_t *)x)[i]; }
static inline int32_t code_uint8(const void *x, size_t i) { return ((const uint8_t *)x)[i]; }
static inline int32_t code_int4(const void *x, size_t i) {
    return (int32_t)((((const uint8_t *)x)[i] & 15) ^ 8) - 8;
}
static inline int32_t code_uint4(const void *x, size_t i) { return ((const uint8_t *)x)[i] & 15; }

// (q - z) * s: with codes of 8 bits and small zero points every way to subtract is exact.
#define DEQUANTIZE(name, x_name, y_name, flush)                                                \
    qdq_tile_fn QDQ_BODY(name);                                                                \
    void QDQ_BODY(name)(const void *params, const qdq_view *views, const void *x, void *y,     \
                        size_t n) {                                                            \
        const qdq_quant_params *p = params;                                                    \
        if (!body_small(p, views[1], n)) {                                                     \
            qdq_dequantize_tile_portable(params, views, x, y, n);                              \
            return;                                                                            \
        }                                                                                      \
        if (!views[0].step && !views[1].step) {                                                \
            float s = body_float(views[0].data[0]);                                            \
            int32_t z = (int32_t)views[1].data[0];                                             \
            if (flush) s = lane_flushed(s);                                                    \
            for (size_t i = 0; i < n; i++)                                                     \
                store_##y_name(y, i, dequantized((float)(code_##x_name(x, i) - z), s, flush)); \
            return;                                                                            \
        }                                                                                      \
        for (size_t at = 0; at < n; at += PART) {                                              \
            size_t part = n - at < PART ? n - at : PART;                                       \
            float s[PART];                                                                     \
            int32_t z[PART];                                                                   \
            body_floats(body_from(views[0], at), part, s);                                     \
            body_ints(body_from(views[1], at), part, z);                                       \
            for (size_t i = 0; i < part; i++)                                                  \
                store_##y_name(y, at + i,                                                      \
                               dequantized((float)(code_##x_name(x, at + i) - z[i]),           \
                                           flush ? lane_flushed(s[i]) : s[i], flush));         \
        }                                                                                      \
    }

// A NaN has the sign of the scale that it came from, or none.
static inline float dequantized(float d, float s, bool flush) {
    float y = d * s;
    uint32_t sign = body_nan(s) ? body_bits(s) & 0x80000000 : 0;
    y = body_nan(y) ? body_float(0x7FC00000 | sign) : y;
    return flush ? lane_flushed(y) : y;
}

//---- Requantize -------------------------------------------------------------

// Dequantize to float32, then Quantize, as the core does it.
#define REQUANTIZE_INT32(name, y_name)                                                            \
    qdq_tile_fn QDQ_BODY(name);                                                                   \
    void QDQ_BODY(name)(const void *params, const qdq_view *views, const void *x, void *y,        \
                        size_t n) {                                                               \
        const qdq_quant_params *p = params;                                                       \
        bool alike = !views[0].step && !views[1].step && !views[2].step && !views[3].step;        \
        if (!alike || views[1].data[0] || !body_small(p, views[3], n)) {                          \
            qdq_requantize_tile_portable(params, views, x, y, n);                                 \
            return;                                                                               \
        }                                                                                         \
        float in = body_float(views[0].data[0]);                                                  \
        lane l = lane_of(p, body_float(views[2].data[0]), (int32_t)views[3].data[0], false);      \
        for (size_t i = 0; i < n; i++) store_##y_name(y, i, lane_core(l, load_int32(x, i) * in)); \
    }

#define QDQ_BODY_QUANTIZE(name, x, y, numerics, lane_fn, flush) QUANTIZE(name, x, y, lane_fn, flush)
#define QDQ_BODY_FLOAT8(name, x, y, numerics) QUANTIZE_FLOAT8(name, x, y)
#define QDQ_BODY_DEQUANTIZE(name, x, y, y_dtype, numerics, flush) DEQUANTIZE(name, x, y, flush)
#define QDQ_BODY_REQUANTIZE(name, y, numerics) REQUANTIZE_INT32(name, y)

QDQ_BODY_LIST(QDQ_BODY_QUANTIZE, QDQ_BODY_FLOAT8, QDQ_BODY_DEQUANTIZE, QDQ_BODY_REQUANTIZE)
