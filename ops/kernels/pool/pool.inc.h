// SPDX-License-Identifier: Apache-2.0
// The kernels of pooling in plain C, which compilers turn into vectors.
#include "ops/kernels/each.h"
#include "ops/kernels/pool/pool.h"
#include "ops/kernels/pool/pool_vectors.inc.h"
#include "runtime/numerics/elementary.h"

// Comparing keys as unsigned integers orders the floats: from -infinity, whose key is 0, to NaN.
// The first step alone leaves NaN with a sign bit below -infinity; the subtraction wraps it to the
// top.
enum { POOL_BELOW = 0x007FFFFF };

static inline uint32_t pool_key(float v) {
    uint32_t bits = qdq_float_bits(v);
    return (bits ^ ((0 - (bits >> 31)) | 0x80000000u)) - POOL_BELOW;
}

static inline float pool_quiet(float v) { return qdq_nan_if(v != v, v); }

static inline float pool_float(uint32_t key) {
    key += POOL_BELOW;
    return pool_quiet(qdq_float_from_bits(key ^ (((key >> 31) - 1) | 0x80000000u)));
}

// NOLINTBEGIN(bugprone-macro-parentheses): `type` and `from` are types

//---- Load -------------------------------------------------------------------

#define POOL_LOAD(name, type)                                                        \
    static void QDQ_ISA_NAME(pool_load_##name)(const float *restrict x, size_t step, \
                                               void *restrict to, size_t n) {        \
        type *restrict y = to;                                                       \
        if (step == 1)                                                               \
            QDQ_EACH(n, LOAD_NEXT)                                                   \
        else                                                                         \
            for (size_t i = 0; i < n; i++) y[i] = x[step * i];                       \
    }
#define LOAD_NEXT(i) y[i] = x[i];
POOL_LOAD(floats, float)
POOL_LOAD(doubles, double)

// Both phases of a stride of 2 at once, so that no load skips elements.
#define POOL_PAIRS(name, from, type)                                                       \
    static void QDQ_ISA_NAME(pool_pairs_##name)(const void *restrict x, void *restrict to, \
                                                void *restrict other, size_t n) {          \
        const from *restrict v = x;                                                        \
        type *restrict y = to, *restrict z = other;                                        \
        QDQ_EACH(n, LOAD_PAIR)                                                             \
    }
#define LOAD_PAIR(i) y[i] = v[2 * (i)], z[i] = v[2 * (i) + 1];
POOL_PAIRS(keys, uint32_t, uint32_t)
POOL_PAIRS(bytes, uint8_t, uint8_t)
POOL_PAIRS(floats, float, float)
POOL_PAIRS(doubles, float, double)

//---- Join -------------------------------------------------------------------

static inline uint32_t pool_most(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint8_t pool_most_byte(uint8_t a, uint8_t b) { return a > b ? a : b; }
#define POOL_UNROLLED _Pragma("GCC unroll 16")
// QDQ_EACH for bytes. Compilers unroll blocks of 16 before they look for vectors, and then find
// none.
#define POOL_EACH_BYTE(n, EACH)                                    \
    {                                                              \
        size_t i = 0;                                              \
        for (; i + 32 <= (n); i += 32) QDQ_EACH_BLOCK(32, i, EACH) \
        if (i < (n) && (n) >= 32)                                  \
            QDQ_EACH_BLOCK(32, (n)-32, EACH)                       \
        else                                                       \
            for (; i < (n); i++) EACH(i)                           \
    }

// Up to three rows at a time, so that y is loaded and stored once for them.
#define POOL_ROWS(name, from, type, EACH)                                                        \
    static void QDQ_ISA_NAME(pool_rows_##name)(const void *const *x, size_t count, uint8_t sign, \
                                               bool fresh, void *to, size_t n) {                 \
        type *restrict y = to;                                                                   \
        (void)sign;                                                                              \
        for (size_t some; count; x += some, count -= some, fresh = false) {                      \
            some = count >= 3 ? 3 : fresh ? count : 1;                                           \
            const from *restrict a = x[0];                                                       \
            const from *restrict b = x[some > 1], *restrict c = x[some > 2 ? 2 : 0];             \
            if (fresh && some == 3)                                                              \
                EACH(n, FIRST_3_##name)                                                          \
            else if (fresh && some == 2)                                                         \
                EACH(n, FIRST_2_##name)                                                          \
            else if (fresh)                                                                      \
                EACH(n, FIRST_1_##name)                                                          \
            else if (some == 3)                                                                  \
                EACH(n, JOIN_3_##name)                                                           \
            else                                                                                 \
                EACH(n, JOIN_1_##name)                                                           \
        }                                                                                        \
    }
#define MOST_1_keys(i) pool_key(a[i])
#define MOST_2_keys(i) pool_most(pool_key(a[i]), pool_key(b[i]))
#define MOST_3_keys(i) pool_most(MOST_2_keys(i), pool_key(c[i]))
#define FIRST_1_keys(i) y[i] = MOST_1_keys(i);
#define FIRST_2_keys(i) y[i] = MOST_2_keys(i);
#define FIRST_3_keys(i) y[i] = MOST_3_keys(i);
#define JOIN_1_keys(i) y[i] = pool_most(y[i], MOST_1_keys(i));
#define JOIN_3_keys(i) y[i] = pool_most(y[i], MOST_3_keys(i));
#define MOST_1_bytes(i) (uint8_t)(a[i] ^ sign)
#define MOST_2_bytes(i) pool_most_byte((uint8_t)(a[i] ^ sign), (uint8_t)(b[i] ^ sign))
#define MOST_3_bytes(i) pool_most_byte(MOST_2_bytes(i), (uint8_t)(c[i] ^ sign))
#define FIRST_1_bytes(i) y[i] = MOST_1_bytes(i);
#define FIRST_2_bytes(i) y[i] = MOST_2_bytes(i);
#define FIRST_3_bytes(i) y[i] = MOST_3_bytes(i);
#define JOIN_1_bytes(i) y[i] = pool_most_byte(y[i], MOST_1_bytes(i));
#define JOIN_3_bytes(i) y[i] = pool_most_byte(y[i], MOST_3_bytes(i));
POOL_ROWS(keys, float, uint32_t, QDQ_EACH)
POOL_ROWS(bytes, uint8_t, uint8_t, POOL_EACH_BYTE)

// NOLINTEND(bugprone-macro-parentheses)

//---- Finish -----------------------------------------------------------------

static void QDQ_ISA_NAME(pool_from_keys)(const uint32_t *restrict keys, float *restrict y,
                                         size_t n) {
#define FROM_KEY(i) y[i] = pool_float(keys[i]);
    QDQ_EACH(n, FROM_KEY)
}

static void QDQ_ISA_NAME(pool_from_bytes)(const uint8_t *restrict keys, uint8_t sign,
                                          uint8_t *restrict y, size_t n) {
#define FROM_BYTE(i) y[i] = (uint8_t)(keys[i] ^ sign);
    QDQ_EACH(n, FROM_BYTE)
}

//---- Forms ------------------------------------------------------------------

// Means need vectors with several elements: without them, bands (pool_band.c) are faster.
#if POOL_HAS_VECTORS
static inline void pool_divide_floats(pool_vector_floats sums, const float *divisors, float *y) {
    pool_store_floats(y, pool_mean_vector(sums, divisors));
}

static inline void pool_divide_doubles(pool_vector_doubles sums, const double *divisors, float *y) {
    enum { ONE = POOL_LANES_doubles };
    double all[ONE];
    pool_store_doubles(all, sums);
    for (size_t k = 0; k < ONE; k++) y[k] = pool_quiet((float)(all[k] / divisors[k]));
}
#endif

#define POOL_FORM keys
#define POOL_TYPE uint32_t
#define POOL_OUT float
#define POOL_FINISH(key) pool_float(key)
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM bytes
#define POOL_TYPE uint8_t
#define POOL_OUT uint8_t
#define POOL_FINISH(key) (uint8_t)((key) ^ sign)
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM floats
#define POOL_TYPE float
#define POOL_MEANS
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM doubles
#define POOL_TYPE double
#define POOL_MEANS
#include "ops/kernels/pool/pool_form.inc.h"

//---- The table --------------------------------------------------------------

static void QDQ_ISA_NAME(pool_divide_floats)(const float *restrict sums,
                                             const double *restrict divisors, float *restrict y,
                                             size_t n) {
#define DIVIDE_FLOAT(i) y[i] = pool_quiet(sums[i] / (float)divisors[i]);
    QDQ_EACH(n, DIVIDE_FLOAT)
}

static void QDQ_ISA_NAME(pool_divide_doubles)(const double *restrict sums,
                                              const double *restrict divisors, float *restrict y,
                                              size_t n) {
#define DIVIDE_DOUBLE(i) y[i] = pool_quiet((float)(sums[i] / divisors[i]));
    QDQ_EACH(n, DIVIDE_DOUBLE)
}

#define POOL_MAX(part)                                                     \
    [QDQ_POOL_KEYS] = QDQ_ISA_NAME(pool_##part##_keys), [QDQ_POOL_BYTES] = \
                                                            QDQ_ISA_NAME(pool_##part##_bytes)
#define POOL_MEAN(part)                                                                        \
    [QDQ_POOL_FLOATS] = QDQ_ISA_NAME(pool_##part##_floats), [QDQ_POOL_DOUBLES] = QDQ_ISA_NAME( \
                                                                pool_##part##_doubles)
#define POOL_PEAKS_ROW(form)                                                          \
    {                                                                                 \
        {QDQ_ISA_NAME(pool_peaks_1_2_##form), QDQ_ISA_NAME(pool_peaks_1_3_##form)}, { \
            QDQ_ISA_NAME(pool_peaks_2_2_##form), QDQ_ISA_NAME(pool_peaks_2_3_##form)  \
        }                                                                             \
    }
const qdq_pool_kernels QDQ_ISA_NAME(pool) = {
    .load = {POOL_MEAN(load)},
    .rows = {POOL_MAX(rows)},
    .pairs = {POOL_MAX(pairs), POOL_MEAN(pairs)},
    .peaks = {POOL_PEAKS_ROW(keys), POOL_PEAKS_ROW(bytes)},
    .join = {POOL_MAX(join), POOL_MEAN(join)},
    .from_keys = QDQ_ISA_NAME(pool_from_keys),
    .from_bytes = QDQ_ISA_NAME(pool_from_bytes),
#if POOL_HAS_VECTORS
    .mean = {POOL_MEAN(mean)},
#endif
    .divide_floats = QDQ_ISA_NAME(pool_divide_floats),
    .divide_doubles = QDQ_ISA_NAME(pool_divide_doubles),
};
