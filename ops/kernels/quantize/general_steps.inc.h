// SPDX-License-Identifier: Apache-2.0
// The steps of general.inc.h: each is a loop over some elements for one value of a field of
// qdq_numerics, chosen before the loop. The formulas stand in runtime/numerics/quantize_one.h.
#include "ops/kernels/quantize/halves.inc.h"
#include "ops/kernels/quantize/lanes.inc.h"

enum { GENERAL_PART = 256 };  // elements that pass through all steps together

// The words above which conversions to int32 and sums with a zero point might overflow.
#define GENERAL_LARGE 0x1p30f

//---- Elements ---------------------------------------------------------------

static void general_load(qdq_dtype dtype, const void *restrict x, float *restrict v, size_t n) {
    if (dtype == QDQ_FLOAT32) {
        memcpy(v, x, n * sizeof *v);
    } else if (dtype == QDQ_FLOAT16) {
        body_from_halves(x, n, v);
    } else if (dtype == QDQ_BFLOAT16) {
        for (size_t i = 0; i < n; i++) v[i] = load_bfloat16(x, i);
    } else if (dtype == QDQ_INT32) {
        for (size_t i = 0; i < n; i++) v[i] = load_int32(x, i);
    } else {
        qdq_decode_float(dtype, x, v, n);
    }
}

static void general_load_codes(qdq_dtype dtype, const void *restrict x, int32_t *restrict q,
                               size_t n) {
    if (dtype == QDQ_INT8)
        for (size_t i = 0; i < n; i++) q[i] = code_int8(x, i);
    else if (dtype == QDQ_UINT8)
        for (size_t i = 0; i < n; i++) q[i] = code_uint8(x, i);
    else if (dtype == QDQ_INT32)
        memcpy(q, x, n * sizeof *q);
    else
        qdq_decode_int(dtype, x, q, n);
}

static void general_store_codes(qdq_dtype dtype, const int32_t *restrict q, void *restrict y,
                                size_t n) {
    size_t size = qdq_dtype_size(dtype);
    if (size == 1)
        for (size_t i = 0; i < n; i++) store_uint8(y, i, q[i]);
    else if (size == 2)
        for (size_t i = 0; i < n; i++) store_uint16(y, i, q[i]);
    else
        memcpy(y, q, n * size);
}

//---- Roundings of floats ----------------------------------------------------

static void general_flush(float *v, size_t n) {
    for (size_t i = 0; i < n; i++) v[i] = lane_flushed(v[i]);
}

// Returns the bits of a bfloat16 in the upper half of a float32.
static inline uint32_t general_bfloat16(qdq_bfloat16_store store, float v) {
    uint32_t bits = qdq_float_bits(v), size = bits & 0x7FFFFFFF, sign = bits & 0x80000000;
    uint32_t even = bits + 0x7FFF + (bits >> 16 & 1), nan = bits | 0x400000;
    switch (store) {
    case QDQ_BFLOAT16_DEVICE:
        even = size < 0x00800000 ? 0 : bits + 0x8000;
        nan = sign | 0x7F800000;
        break;
    case QDQ_BFLOAT16_TRUNCATE: even = bits; break;
    case QDQ_BFLOAT16_FLUSH: even = size < 0x00800000 ? sign : even; break;
    case QDQ_BFLOAT16_HALF_EVEN:
    default: break;
    }
    return (size > 0x7F800000 ? nan : even) & 0xFFFF0000;
}

#define GENERAL_BY_STORE(store, LOOP)                       \
    switch (store) {                                        \
    case QDQ_BFLOAT16_DEVICE: LOOP(QDQ_BFLOAT16_DEVICE)     \
    case QDQ_BFLOAT16_TRUNCATE: LOOP(QDQ_BFLOAT16_TRUNCATE) \
    case QDQ_BFLOAT16_FLUSH: LOOP(QDQ_BFLOAT16_FLUSH)       \
    case QDQ_BFLOAT16_HALF_EVEN:                            \
    default: LOOP(QDQ_BFLOAT16_HALF_EVEN)                   \
    }

static void general_round_bfloat16(qdq_bfloat16_store store, float *v, size_t n) {
#define LOOP(store)                                                                           \
    for (size_t i = 0; i < n; i++) v[i] = qdq_float_from_bits(general_bfloat16(store, v[i])); \
    break;
    GENERAL_BY_STORE(store, LOOP)
#undef LOOP
}

static void general_store_bfloat16(qdq_bfloat16_store store, const float *restrict v,
                                   uint16_t *restrict y, size_t n) {
#define LOOP(store)                                                                        \
    for (size_t i = 0; i < n; i++) y[i] = (uint16_t)(general_bfloat16(store, v[i]) >> 16); \
    break;
    GENERAL_BY_STORE(store, LOOP)
#undef LOOP
}

static bool general_rounds_to(qdq_dtype dtype) {
    return dtype == QDQ_DTYPE_NONE || dtype == QDQ_FLOAT32 || dtype == QDQ_BFLOAT16 ||
           dtype == QDQ_FLOAT16;
}

// As qdq_round_to, for the dtypes above.
static void general_round_to(const qdq_numerics *n, qdq_dtype dtype, float *v, size_t count) {
    uint16_t halves[GENERAL_PART];
    if (dtype == QDQ_BFLOAT16) general_round_bfloat16(n->bfloat16_store, v, count);
    if (dtype != QDQ_FLOAT16) return;
    body_to_halves(v, count, halves);
    body_from_halves(halves, count, v);
}

// As qdq_quantize_step and qdq_dequantize_step.
static void general_step(const qdq_numerics *n, qdq_dtype dtype, float *v, size_t count) {
    if (n->flush_denormals) general_flush(v, count);
    general_round_to(n, dtype, v, count);
}

static void general_store_real(const qdq_quant_params *p, const float *v, void *y, size_t n) {
    if (p->y_dtype == QDQ_FLOAT32)
        memcpy(y, v, n * sizeof *v);
    else if (p->y_dtype == QDQ_BFLOAT16)
        general_store_bfloat16(p->numerics.bfloat16_store, v, y, n);
    else if (p->y_dtype == QDQ_FLOAT16)
        body_to_halves(v, n, y);
    else
        qdq_encode_float(p->y_dtype, v, y, n, &p->numerics);
}

//---- Roundings to integers --------------------------------------------------

static inline float general_half_even(float v) { return rintf(v); }
static inline float general_half_up(float v) {
    float whole = floorf(v);
    return v - whole >= 0.5f ? whole + 1.0f : whole;
}
static inline float general_half_up_biased(float v) {
    float biased = v + 128.0f;
    biased = biased < 0 ? 0.0f : biased;
    float whole = general_half_up(biased);
    return (whole > 255.0f ? 255.0f : whole) - 128.0f;
}

#define GENERAL_BY_ROUNDING(rounding, LOOP)                     \
    switch (rounding) {                                         \
    case QDQ_ROUND_HALF_AWAY: LOOP(lane_half_away)              \
    case QDQ_ROUND_HALF_UP: LOOP(general_half_up)               \
    case QDQ_ROUND_HALF_UP_BIASED: LOOP(general_half_up_biased) \
    case QDQ_ROUND_TRUNCATE: LOOP(truncf)                       \
    case QDQ_ROUND_HALF_EVEN:                                   \
    default: LOOP(general_half_even)                            \
    }

static void general_round(qdq_rounding rounding, float *v, size_t n) {
#define LOOP(round)                                    \
    for (size_t i = 0; i < n; i++) v[i] = round(v[i]); \
    break;
    GENERAL_BY_ROUNDING(rounding, LOOP)
#undef LOOP
}

// How a sum of integers becomes a code.
typedef struct general_codes {
    float limit;           // of a rounded number; greater numbers are beyond the bounds
    int32_t sign_mask;     // all ones: the sign is dropped
    int32_t least, width;  // the low bits kept by the mask `width`, all ones: all
    int32_t low, high;     // bounds
} general_codes;

static inline int32_t general_code(general_codes c, int32_t q) {
    int32_t sign = q >> 31 & c.sign_mask;
    q = (int32_t)((uint32_t)(q ^ sign) - (uint32_t)sign);
    q = (int32_t)((((uint32_t)q - (uint32_t)c.least) & (uint32_t)c.width) + (uint32_t)c.least);
    q = q < c.low ? c.low : q;
    return q > c.high ? c.high : q;
}

static inline int32_t general_finished(general_codes c, float v, float whole, int32_t after,
                                       int32_t nan) {
    whole = whole > -c.limit ? whole : -c.limit;
    whole = whole < c.limit ? whole : c.limit;
    int32_t q = general_code(c, (int32_t)((uint32_t)(int32_t)whole + (uint32_t)after));
    return body_nan(v) ? nan : q;
}

// Rounds numbers to codes: after[i] is added to the rounded number, and nan[i] is the code of NaN.
static void general_finish(qdq_rounding rounding, general_codes c, const float *restrict v,
                           const int32_t *restrict after, const int32_t *restrict nan,
                           int32_t *restrict q, size_t n) {
#define LOOP(round)                                                      \
    for (size_t i = 0; i < n; i++)                                       \
        q[i] = general_finished(c, v[i], round(v[i]), after[i], nan[i]); \
    break;
    GENERAL_BY_ROUNDING(rounding, LOOP)
#undef LOOP
}
