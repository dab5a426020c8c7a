// SPDX-License-Identifier: Apache-2.0
// The kernels of reduce_kernels.h in plain C, which compilers turn into vectors. After
// halves.inc.h they convert float16 with instructions.

#include "ops/kernels/reduce/quick_softmax.inc.h"
#include "ops/kernels/reduce/reduce_kernels.h"
#include "ops/kernels/reduce/runtime_softmax.inc.h"
#include "runtime/numerics/elementary.h"
#include "runtime/numerics/fma.h"
#include "runtime/numerics/onnx_runtime.h"

//---- Into lanes -------------------------------------------------------------

static void slice_sum(qdq_lanes *lanes, const float *x, size_t n, double about) {
    (void)about;
    qdq_sum_add(lanes->sums, x, n, 1);
}

static void slice_squares(qdq_lanes *lanes, const float *x, size_t n, double about) {
    (void)about;
    qdq_sum_add_squares(lanes->sums, x, n, 1);
}

static void slice_magnitudes(qdq_lanes *lanes, const float *x, size_t n, double about) {
    (void)about;
    qdq_sum_add_magnitudes(lanes->sums, x, n, 1);
}

static void slice_deviations(qdq_lanes *lanes, const float *x, size_t n, double about) {
    qdq_sum_add_deviations(lanes->sums, x, n, 1, about);
}

static void slice_product(qdq_lanes *lanes, const float *x, size_t n, double about) {
    (void)about;
    qdq_product_multiply(lanes->sums, x, n, 1);
}

static void slice_sum_exps(qdq_lanes *lanes, const double *e, size_t n) {
    qdq_sum_add64(lanes->sums, e, n);
}

// Returns the key of a float: an integer that orders as the floats do, -inf, ..., -0, +0, ..., inf.
// NaN without a sign lies beyond inf, and NaN with one beyond -inf.
static inline uint32_t slice_key(float v) {
    uint32_t bits = qdq_float_bits(v);
    return bits ^ ((0 - (bits >> 31)) >> 1);
}

// The key of infinity, of -infinity, and how many keys lie beyond either.
#define SLICE_INFINITY 0x7F800000
#define SLICE_MINUS_INFINITY (-SLICE_INFINITY - 1)
#define SLICE_BEYOND 0x7FFFFFu

// Keys are moved by as many as lie beyond `worst`, the infinity that is the worst of them: all NaN
// are better then than `best`, the other infinity. lanes->keys has `nan` for NaN.
#define SLICE_EXTREME(name, better, nan, worst, best, moved)                             \
    static void name(qdq_lanes *lanes, const float *x, size_t n, double about) {         \
        int32_t own[QDQ_SUM_LANES];                                                      \
        size_t i = 0;                                                                    \
        (void)about;                                                                     \
        for (size_t l = 0; l < QDQ_SUM_LANES; l++) {                                     \
            int32_t key = lanes->keys[l];                                                \
            own[l] = (int32_t)((uint32_t)((worst)better key ? (worst) : key) + (moved)); \
        }                                                                                \
        for (; i + QDQ_SUM_LANES <= n; i += QDQ_SUM_LANES)                               \
            for (size_t l = 0; l < QDQ_SUM_LANES; l++) {                                 \
                int32_t key = (int32_t)(slice_key(x[i + l]) + (moved));                  \
                own[l] = key better own[l] ? key : own[l];                               \
            }                                                                            \
        for (size_t l = 0; l < n % QDQ_SUM_LANES; l++) {                                 \
            int32_t key = (int32_t)(slice_key(x[i + l]) + (moved));                      \
            own[l] = key better own[l] ? key : own[l];                                   \
        }                                                                                \
        for (size_t l = 0; l < QDQ_SUM_LANES; l++) {                                     \
            int32_t key = (int32_t)((uint32_t)own[l] - (moved));                         \
            bool is_nan = own[l] better(int32_t)((uint32_t)(best) + (moved));            \
            lanes->keys[l] = is_nan ? (nan) : key;                                       \
        }                                                                                \
    }

SLICE_EXTREME(slice_greatest, >, INT32_MAX, SLICE_MINUS_INFINITY, SLICE_INFINITY, 0u - SLICE_BEYOND)
SLICE_EXTREME(slice_least, <, INT32_MIN, SLICE_INFINITY, SLICE_MINUS_INFINITY, SLICE_BEYOND)

static void slice_add_rows(float *sums, const float *x, size_t rows, size_t stride, size_t n) {
    enum { AT_ONCE = 4 };
    for (; rows >= AT_ONCE; rows -= AT_ONCE, x += AT_ONCE * stride) {
        const float *b = x + stride, *c = b + stride, *d = c + stride;
        for (size_t i = 0; i < n; i++) sums[i] = (((sums[i] + x[i]) + b[i]) + c[i]) + d[i];
    }
    for (; rows; rows--, x += stride)
        for (size_t i = 0; i < n; i++) sums[i] += x[i];
}

//---- Softmax of ONNX Runtime ------------------------------------------------

#define RUNTIME_EXPS(name, width, wide)                                            \
    static void name(const float *x, size_t n, float max, float *sums, float *y) { \
        float own[width];                                                          \
        size_t i = 0;                                                              \
        for (size_t l = 0; l < (width); l++) own[l] = sums[l];                     \
        for (; i + (width) <= n; i += (width))                                     \
            for (size_t l = 0; l < (width); l++) {                                 \
                float e = qdq_ort_softmax_exp(x[i + l] - max, wide);               \
                y[i + l] = e, own[l] += e;                                         \
            }                                                                      \
        for (size_t l = 0; i + l < n; l++) {                                       \
            float e = qdq_ort_softmax_exp(x[i + l] - max, wide);                   \
            y[i + l] = e, own[l] += e;                                             \
        }                                                                          \
        for (size_t l = 0; l < (width); l++) sums[l] = own[l];                     \
    }

RUNTIME_EXPS(slice_narrow_exps, QDQ_RUNTIME_LANES, false)
RUNTIME_EXPS(slice_wide_exps, QDQ_RUNTIME_WIDE_LANES, true)

static void slice_runtime_exps(const float *x, size_t n, float max, bool wide, float *sums,
                               float *y) {
    if (wide)
        slice_wide_exps(x, n, max, sums, y);
    else
        slice_narrow_exps(x, n, max, sums, y);
}

static void slice_runtime_scale(float *y, size_t n, float by) {
    for (size_t i = 0; i < n; i++) {
        float v = y[i] * by;
        y[i] = qdq_nan_if(v != v, v);
    }
}

//---- Elements ---------------------------------------------------------------

// e^-700 does not change a sum of 1 or more, and becomes 0 as a float.
static void slice_exps(const float *x, size_t n, double max, double *e) {
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i] - max;
        e[i] = qdq_exp_near64(qdq_pick64(v < -700.0, -700.0, v));
    }
}

static void slice_scale(double *e, size_t n, double by) {
    for (size_t i = 0; i < n; i++) e[i] = e[i] * by;
}

static void slice_shift(const float *x, size_t n, double max, double log_sum, double *y) {
    for (size_t i = 0; i < n; i++) y[i] = ((double)x[i] - max) - log_sum;
}

static inline float slice_quiet(float v) { return qdq_nan_if(v != v, v); }

static void slice_line(const float *x, size_t n, float a, float b, float *y) {
    for (size_t i = 0; i < n; i++) {
        float product = x[i] * a;
        y[i] = slice_quiet(product + b);
    }
}

static void slice_normalize_same(const float *x, size_t n, const qdq_normal *normal, double *y) {
    const double mean = normal->mean, scale = normal->scale, gamma = (double)*normal->gamma;
    const double beta = normal->beta ? (double)*normal->beta : 0.0;
    if (!normal->beta)
        for (size_t i = 0; i < n; i++) y[i] = (((double)x[i] - mean) * scale) * gamma;
    else
        for (size_t i = 0; i < n; i++) y[i] = (((double)x[i] - mean) * scale) * gamma + beta;
}

static void slice_normalize(const float *x, size_t n, const qdq_normal *normal, double *y) {
    const double mean = normal->mean, scale = normal->scale;
    const float *gamma = normal->gamma, *beta = normal->beta;
    if (normal->same)
        slice_normalize_same(x, n, normal, y);
    else if (!gamma)
        for (size_t i = 0; i < n; i++) y[i] = ((double)x[i] - mean) * scale;
    else if (!beta)
        for (size_t i = 0; i < n; i++) y[i] = (((double)x[i] - mean) * scale) * (double)gamma[i];
    else
        for (size_t i = 0; i < n; i++)
            y[i] = (((double)x[i] - mean) * scale) * (double)gamma[i] + (double)beta[i];
}

enum { FUSED_LANES = 8 };

static void slice_fused_deviations(qdq_lanes *lanes, const float *x, size_t n, double about) {
    float own[FUSED_LANES], mean = (float)about;
    for (size_t l = 0; l < FUSED_LANES; l++) own[l] = (float)lanes->sums[l];
    for (size_t i = 0; i < n; i += FUSED_LANES)
        for (size_t l = 0; l < FUSED_LANES; l++) {
            float c = x[i + l] - mean;
            own[l] = qdq_fmaf(c, c, own[l]);
        }
    for (size_t l = 0; l < FUSED_LANES; l++) lanes->sums[l] = (double)own[l];
}

static void slice_fused_normalize(const float *x, size_t n, const qdq_normal *normal, float *y) {
    const float mean = (float)normal->mean, scale = (float)normal->scale;
    const float *gamma = normal->gamma, *beta = normal->beta;
    if (!gamma)
        for (size_t i = 0; i < n; i++) y[i] = slice_quiet((x[i] - mean) * scale);
    else if (!beta)
        for (size_t i = 0; i < n; i++) y[i] = slice_quiet(((x[i] - mean) * scale) * gamma[i]);
    else
        for (size_t i = 0; i < n; i++)
            y[i] = slice_quiet(qdq_fmaf((x[i] - mean) * scale, gamma[i], beta[i]));
}

static void slice_narrow(const double *x, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) {
        float v = (float)x[i];
        y[i] = qdq_nan_if(v != v, v);
    }
}

// Rounds to odd: to the float next to x whose last bit is 1. If the nearest float has a last bit of
// 0, the result is its neighbour on the side of x; for infinity it is the greatest float. `lost` is
// the exact remainder, scaled up so that it is 0 as a float only if x is exact (or 0 in any dtype);
// it is NaN if x is infinite.
static void slice_narrow_odd(const double *x, size_t n, float *y) {
    for (size_t i = 0; i < n; i++) {
        float near = (float)x[i];
        float lost = (float)((x[i] - (double)near) * 0x1p200);
        uint32_t bits = qdq_float_bits(near), rest = qdq_float_bits(lost);
        uint32_t size = rest & 0x7FFFFFFFu;  // without comparisons, which would not be vectorized
        uint32_t is_number = (size + 0x7FFFFFFFu) & (size - 0x7F800001u);  // neither 0 nor NaN
        uint32_t moves = ~bits & is_number >> 31, opposite = (bits ^ rest) >> 31;
        bits += moves - 2 * (moves & opposite);
        y[i] = qdq_nan_if(near != near, qdq_float_from_bits(bits));
    }
}

//---- Dtypes -----------------------------------------------------------------

static void slice_decode(qdq_dtype dtype, const void *x, float *out, size_t n) {
    const uint16_t *codes = x;
    if (dtype == QDQ_BFLOAT16) {
        for (size_t i = 0; i < n; i++) out[i] = qdq_float_from_bits((uint32_t)codes[i] << 16);
        return;
    }
#if defined(QDQ_ISA_HALVES)
    if (dtype == QDQ_FLOAT16) {
        body_from_halves(codes, n, out);
        return;
    }
#endif
    qdq_decode_float(dtype, x, out, n);
}

// The only NaN is 0x7FC00000, which stays a NaN when rounded.
static void slice_encode(qdq_dtype dtype, const float *in, void *y, size_t n) {
    uint16_t *codes = y;
    if (dtype == QDQ_BFLOAT16) {
        for (size_t i = 0; i < n; i++) {
            uint32_t bits = qdq_float_bits(in[i]);
            codes[i] = (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
        }
        return;
    }
#if defined(QDQ_ISA_HALVES)
    if (dtype == QDQ_FLOAT16) {
        body_to_halves(in, n, codes);
        return;
    }
#endif
    qdq_encode_float(dtype, in, y, n, NULL);
}

const qdq_slice_kernels QDQ_ISA_NAME(slice_kernels) = {
    .sum = slice_sum,
    .squares = slice_squares,
    .magnitudes = slice_magnitudes,
    .deviations = slice_deviations,
    .product = slice_product,
    .greatest = slice_greatest,
    .least = slice_least,
    .exps = slice_exps,
    .sum_exps = slice_sum_exps,
    .scale = slice_scale,
    .shift = slice_shift,
    .normalize = slice_normalize,
    .fused_deviations = slice_fused_deviations,
    .fused_normalize = slice_fused_normalize,
    .line = slice_line,
    .narrow = slice_narrow,
    .narrow_odd = slice_narrow_odd,
    .decode = slice_decode,
    .encode = slice_encode,
    .add_rows = slice_add_rows,
    .runtime_exps = slice_runtime_exps,
    .runtime_scale = slice_runtime_scale,
    .runtime_softmax = slice_runtime_softmax,
    .softmax = slice_softmax,
};
