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
#if POOL_HAS_VECTORS
// All taps of some vectors at once, in registers.
#define POOL_JOIN(form, type)                                                                   \
    static void QDQ_ISA_NAME(pool_join_##form)(const void *from, const size_t *at, size_t taps, \
                                               bool fresh, void *to, size_t n) {                \
        enum { ONE = POOL_LANES_##form, STEP = POOL_VECTORS * ONE };                            \
        const type *x = from;                                                                   \
        type *y = to;                                                                           \
        for (size_t i = 0; i < n; i += STEP, x += STEP, y += STEP) {                            \
            pool_vector_##form all[POOL_VECTORS];                                               \
            POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++) all[v] =                    \
                fresh ? pool_zero_##form() : pool_load_##form(y + v * ONE);                     \
            for (size_t k = 0; k < taps; k++)                                                   \
                POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++) all[v] =                \
                    pool_with_##form(all[v], pool_load_##form(x + at[k] + v * ONE));            \
            POOL_UNROLLED for (size_t v = 0; v < POOL_VECTORS; v++)                             \
                pool_store_##form(y + v * ONE, all[v]);                                         \
        }                                                                                       \
    }
#else
// Up to four taps at a time, whose results are loaded and stored once. Compilers vectorize loops
// with one array each for y and the taps.
#define POOL_JOIN_LOOP(form, type, taps, EACH, ...)                                         \
    static inline void pool_join_##taps##_##form(type *restrict y, size_t n, __VA_ARGS__) { \
        for (size_t i = 0; i < n; i++) y[i] = EACH;                                         \
    }
#define POOL_JOIN(form, type)                                                                    \
    POOL_JOIN_LOOP(form, type, 1, pool_with_##form(y[i], a[i]), const type *restrict a)          \
    POOL_JOIN_LOOP(form, type, 2, pool_with_##form(pool_with_##form(y[i], a[i]), b[i]),          \
                   const type *restrict a, const type *restrict b)                               \
    POOL_JOIN_LOOP(                                                                              \
        form, type, 4,                                                                           \
        pool_with_##form(                                                                        \
            pool_with_##form(pool_with_##form(pool_with_##form(y[i], a[i]), b[i]), c[i]), d[i]), \
        const type *restrict a, const type *restrict b, const type *restrict c,                  \
        const type *restrict d)                                                                  \
    static void QDQ_ISA_NAME(pool_join_##form)(const void *from, const size_t *at, size_t taps,  \
                                               bool fresh, void *to, size_t n) {                 \
        const type *x = from;                                                                    \
        type *y = to;                                                                            \
        n = (n + 31) / 32 * 32;                                                                  \
        if (fresh) memset(y, 0, n * sizeof *y);                                                  \
        for (; taps >= 4; taps -= 4, at += 4)                                                    \
            pool_join_4_##form(y, n, x + at[0], x + at[1], x + at[2], x + at[3]);                \
        for (; taps >= 2; taps -= 2, at += 2) pool_join_2_##form(y, n, x + at[0], x + at[1]);    \
        if (taps) pool_join_1_##form(y, n, x + at[0]);                                           \
    }
#endif
POOL_JOIN(keys, uint32_t)
POOL_JOIN(bytes, uint8_t)
POOL_JOIN(floats, float)
POOL_JOIN(doubles, double)

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

// NOLINTBEGIN(bugprone-macro-parentheses): `type` and `out` are types

// Windows of two or three neighbours, one or two elements apart. Whole vectors: the last vector
// overlaps the vector before, or exceeds the row.
#define POOL_PEAK(form, type)                                                                      \
    static inline pool_vector_##form pool_peak_##form(const type *x, size_t stride, size_t most) { \
        enum { ONE = POOL_LANES_##form };                                                          \
        pool_vector_##form a = pool_load_##form(x), b = pool_load_##form(x + 1), c;                \
        c = pool_load_##form(x + 2);                                                               \
        if (stride == 2) {                                                                         \
            pool_vector_##form d = pool_load_##form(x + ONE), e = pool_load_##form(x + ONE + 2);   \
            b = pool_odds_##form(a, d), a = pool_evens_##form(a, d), c = pool_evens_##form(c, e);  \
        }                                                                                          \
        a = pool_with_##form(a, b);                                                                \
        return most == 2 ? a : pool_with_##form(a, c);                                             \
    }
#define POOL_PEAKS(form, type, out, stride, most, FINISH)                             \
    static void QDQ_ISA_NAME(pool_peaks_##form##_##stride##_##most)(                  \
        const void *line, uint8_t sign, void *to, size_t n) {                         \
        enum { ONE = POOL_LANES_##form };                                             \
        const type *x = line;                                                         \
        type peaks[ONE];                                                              \
        out *y = to, spare[ONE];                                                      \
        (void)sign;                                                                   \
        for (size_t i = 0; i < n; i += ONE) {                                         \
            if (i && n - i < ONE) i = n - ONE;                                        \
            out *room = n < ONE ? spare : y + i;                                      \
            pool_store_##form(peaks, pool_peak_##form(x + (stride)*i, stride, most)); \
            for (size_t k = 0; k < ONE; k++) room[k] = FINISH(peaks[k]);              \
        }                                                                             \
        if (n < ONE) memcpy(y, spare, n * sizeof *y);                                 \
    }
#define POOL_ALL_PEAKS(form, type, out, FINISH) \
    POOL_PEAK(form, type)                       \
    POOL_PEAKS(form, type, out, 1, 2, FINISH)   \
    POOL_PEAKS(form, type, out, 1, 3, FINISH)   \
    POOL_PEAKS(form, type, out, 2, 2, FINISH)   \
    POOL_PEAKS(form, type, out, 2, 3, FINISH)
#define POOL_BYTE(key) (uint8_t)((key) ^ sign)
POOL_ALL_PEAKS(keys, uint32_t, float, pool_float)
POOL_ALL_PEAKS(bytes, uint8_t, uint8_t, POOL_BYTE)

// NOLINTEND(bugprone-macro-parentheses)

// Only where vectors have several elements: without them, bands (pool_band.c) are faster.
#if POOL_HAS_VECTORS
// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type

static inline void pool_finish_floats(pool_vector_floats sums, const float *divisors, float *y) {
    pool_store_floats(y, pool_mean_vector(sums, divisors));
}

static inline void pool_finish_doubles(pool_vector_doubles sums, const double *divisors, float *y) {
    enum { ONE = POOL_LANES_doubles };
    double all[ONE];
    pool_store_doubles(all, sums);
    for (size_t k = 0; k < ONE; k++) y[k] = pool_quiet((float)(all[k] / divisors[k]));
}

// Two rows of y share the loads of the rows of x that both see. `rows` and `count` are constant for
// the usual windows. Whole vectors: the last vector overlaps the vector before, or is cut.
#define POOL_MEAN_OF(form, type)                                                                 \
    static inline void pool_mean_of_##form(const type *x, const qdq_pool_taps *t, size_t rows,   \
                                           size_t count, pool_vector_##form *sums, bool both) {  \
        pool_vector_##form a = pool_zero_##form(), b = pool_zero_##form();                       \
        for (size_t j = 0; j < count; j++)                                                       \
            a = pool_with_##form(a, pool_load_##form(x + t->columns[j]));                        \
        for (size_t i = 1; i < rows; i++)                                                        \
            for (size_t j = 0; j < count; j++) {                                                 \
                pool_vector_##form v = pool_load_##form(x + i * t->pitch + t->columns[j]);       \
                a = pool_with_##form(a, v);                                                      \
                if (both) b = pool_with_##form(b, v);                                            \
            }                                                                                    \
        for (size_t j = 0; both && j < count; j++)                                               \
            b = pool_with_##form(b, pool_load_##form(x + rows * t->pitch + t->columns[j]));      \
        sums[0] = a, sums[1] = b;                                                                \
    }                                                                                            \
    static inline void pool_means_##form(const type *x, const qdq_pool_taps *t, size_t rows,     \
                                         size_t count, const type *divisors, float *y, float *z, \
                                         size_t n) {                                             \
        enum { ONE = POOL_LANES_##form };                                                        \
        pool_vector_##form sums[2];                                                              \
        float spare[2 * ONE];                                                                    \
        bool few = n < ONE;                                                                      \
        for (size_t i = 0; i < n; i += ONE) {                                                    \
            if (i && n - i < ONE) i = n - ONE;                                                   \
            pool_mean_of_##form(x + i, t, rows, count, sums, z);                                 \
            pool_finish_##form(sums[0], divisors + i, few ? spare : y + i);                      \
            if (z) pool_finish_##form(sums[1], divisors + i, few ? spare + ONE : z + i);         \
        }                                                                                        \
        if (few) memcpy(y, spare, n * sizeof *y);                                                \
        if (few && z) memcpy(z, spare + ONE, n * sizeof *z);                                     \
    }                                                                                            \
    static void QDQ_ISA_NAME(pool_mean_##form)(const void *x, const qdq_pool_taps *t,            \
                                               const void *by, float *y, float *z, size_t n) {   \
        if (t->rows == 3 && t->count == 3)                                                       \
            pool_means_##form(x, t, 3, 3, by, y, z, n);                                          \
        else if (t->rows == 2 && t->count == 2)                                                  \
            pool_means_##form(x, t, 2, 2, by, y, z, n);                                          \
        else                                                                                     \
            pool_means_##form(x, t, t->rows, t->count, by, y, z, n);                             \
    }
POOL_MEAN_OF(floats, float)
POOL_MEAN_OF(doubles, double)

// NOLINTEND(bugprone-macro-parentheses)
#endif

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
#define POOL_PEAKS_ROW(form)                                                              \
    {                                                                                     \
        {QDQ_ISA_NAME(pool_peaks_##form##_1_2), QDQ_ISA_NAME(pool_peaks_##form##_1_3)}, { \
            QDQ_ISA_NAME(pool_peaks_##form##_2_2), QDQ_ISA_NAME(pool_peaks_##form##_2_3)  \
        }                                                                                 \
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
