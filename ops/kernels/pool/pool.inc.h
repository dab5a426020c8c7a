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

static inline uint32_t pool_most(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint8_t pool_most_byte(uint8_t a, uint8_t b) { return a > b ? a : b; }

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

//---- Forms ------------------------------------------------------------------

// Means need vectors with several elements: without them, bands (pool_band.c) are faster.
#if POOL_HAS_VECTORS
static inline void pool_quotient_floats(pool_vector_floats sums, const float *divisors, float *y) {
    pool_store_floats(y, pool_mean_vector(sums, divisors));
}

static inline void pool_quotient_doubles(pool_vector_doubles sums, const double *divisors,
                                         float *y) {
    enum { ONE = POOL_LANES_doubles };
    double all[ONE];
    pool_store_doubles(all, sums);
    for (size_t k = 0; k < ONE; k++) y[k] = pool_quiet((float)(all[k] / divisors[k]));
}
#endif

#define POOL_UNROLLED _Pragma("GCC unroll 16")
#define POOL_FORM keys
#define POOL_TYPE uint32_t
#define POOL_HALVED uint32_t
#define POOL_OUT float
#define POOL_EACH QDQ_EACH
#define POOL_KEY(x) pool_key(x)
#define POOL_GREATER pool_most
#define POOL_FINISH(key) pool_float(key)
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM bytes
#define POOL_TYPE uint8_t
#define POOL_HALVED uint8_t
#define POOL_OUT uint8_t
#define POOL_EACH POOL_EACH_BYTE
#define POOL_KEY(x) (uint8_t)((x) ^ sign)
#define POOL_GREATER pool_most_byte
#define POOL_FINISH(key) (uint8_t)((key) ^ sign)
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM floats
#define POOL_TYPE float
#define POOL_HALVED float
#define POOL_MEANS
#include "ops/kernels/pool/pool_form.inc.h"
#define POOL_FORM doubles
#define POOL_TYPE double
#define POOL_HALVED float
#define POOL_MEANS
#include "ops/kernels/pool/pool_form.inc.h"

//---- The table --------------------------------------------------------------

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
