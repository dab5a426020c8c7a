// SPDX-License-Identifier: Apache-2.0
// The kernels of pooling in plain C, which compilers turn into vectors. Each instruction set has a
// file that defines QDQ_ISA_NAME(name) and includes this one.
#include "ops/kernels/pool/pool.h"
#include "runtime/numerics/elementary.h"

// Comparing keys as unsigned integers orders the floats. 0 is the key of none.
static inline uint32_t pool_key(float v) {
    uint32_t bits = qdq_float_bits(v);
    return v != v ? 0xFFC00000u : bits ^ ((0 - (bits >> 31)) | 0x80000000u);
}

static inline float pool_float(uint32_t key) {
    return qdq_float_from_bits(key ^ (((key >> 31) - 1) | 0x80000000u));
}

// NOLINTBEGIN(bugprone-macro-parentheses): `type` and `from` are types

//---- Loops ------------------------------------------------------------------

// EACH(i) for all i < n, in blocks of constant length, which compilers turn into vectors. The last
// block overlaps the one before: functions of single elements may compute an element twice.
#define POOL_BLOCK(length, from, EACH) \
    for (size_t j = 0, first = (from); j < (length); j++) EACH(first + j)
#define POOL_ALL(n, EACH)                                      \
    {                                                          \
        size_t i = 0;                                          \
        for (; i + 16 <= (n); i += 16) POOL_BLOCK(16, i, EACH) \
        if (i < (n) && (n) >= 16) {                            \
            POOL_BLOCK(16, (n)-16, EACH)                       \
        } else if ((n) >= 8 && i < (n)) {                      \
            POOL_BLOCK(8, 0, EACH)                             \
            POOL_BLOCK(8, (n)-8, EACH)                         \
        } else if ((n) >= 4 && i < (n)) {                      \
            POOL_BLOCK(4, 0, EACH)                             \
            POOL_BLOCK(4, (n)-4, EACH)                         \
        } else {                                               \
            for (; i < (n); i++) EACH(i)                       \
        }                                                      \
    }

//---- Load -------------------------------------------------------------------

#define POOL_LOAD(name, type)                                                        \
    static void QDQ_ISA_NAME(pool_load_##name)(const float *restrict x, size_t step, \
                                               void *restrict to, size_t n) {        \
        type *restrict y = to;                                                       \
        if (step == 1)                                                               \
            POOL_ALL(n, LOAD_NEXT)                                                   \
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
        POOL_ALL(n, LOAD_PAIR)                                                             \
    }
#define LOAD_PAIR(i) y[i] = v[2 * (i)], z[i] = v[2 * (i) + 1];
POOL_PAIRS(keys, uint32_t, uint32_t)
POOL_PAIRS(bytes, uint8_t, uint8_t)
POOL_PAIRS(floats, float, float)
POOL_PAIRS(doubles, float, double)

//---- Join -------------------------------------------------------------------

static inline uint32_t pool_most(uint32_t a, uint32_t b) { return a > b ? a : b; }
static inline uint8_t pool_most_byte(uint8_t a, uint8_t b) { return a > b ? a : b; }
#define POOL_SUM(a, b) ((a) + (b))

// Up to four taps at a time, which are loaded and stored once, in whole vectors: n is a multiple of
// 32. Loops with one array each for y and the taps become vectors in every compiler.
#define POOL_JOIN(name, type, identity, with)                                                   \
    static inline void join_1_##name(const type *restrict a, type *restrict y, size_t n) {      \
        for (size_t i = 0; i < n; i++) y[i] = with(y[i], a[i]);                                 \
    }                                                                                           \
    static inline void join_2_##name(const type *restrict a, const type *restrict b,            \
                                     type *restrict y, size_t n) {                              \
        for (size_t i = 0; i < n; i++) y[i] = with(with(y[i], a[i]), b[i]);                     \
    }                                                                                           \
    static inline void join_3_##name(const type *restrict a, const type *restrict b,            \
                                     const type *restrict c, type *restrict y, size_t n) {      \
        for (size_t i = 0; i < n; i++) y[i] = with(with(with(y[i], a[i]), b[i]), c[i]);         \
    }                                                                                           \
    static inline void join_4_##name(const type *restrict a, const type *restrict b,            \
                                     const type *restrict c, const type *restrict d,            \
                                     type *restrict y, size_t n) {                              \
        for (size_t i = 0; i < n; i++)                                                          \
            y[i] = with(with(with(with(y[i], a[i]), b[i]), c[i]), d[i]);                        \
    }                                                                                           \
    static void QDQ_ISA_NAME(pool_join_##name)(const void *from, const size_t *at, size_t taps, \
                                               bool fresh, void *to, size_t n) {                \
        const type *x = from;                                                                   \
        type *y = to;                                                                           \
        n = (n + 31) / 32 * 32;                                                                 \
        for (size_t i = 0; fresh && i < n; i++) y[i] = identity;                                \
        for (; taps >= 4; taps -= 4, at += 4)                                                   \
            join_4_##name(x + at[0], x + at[1], x + at[2], x + at[3], y, n);                    \
        if (taps == 3) join_3_##name(x + at[0], x + at[1], x + at[2], y, n);                    \
        if (taps == 2) join_2_##name(x + at[0], x + at[1], y, n);                               \
        if (taps == 1) join_1_##name(x + at[0], y, n);                                          \
    }
POOL_JOIN(keys, uint32_t, 0, pool_most)
POOL_JOIN(bytes, uint8_t, 0, pool_most_byte)
POOL_JOIN(floats, float, 0.0f, POOL_SUM)
POOL_JOIN(doubles, double, 0.0, POOL_SUM)

// Up to three rows at a time, so that y is loaded and stored once for them.
#define POOL_ROWS(name, from, type)                                                              \
    static void QDQ_ISA_NAME(pool_rows_##name)(const void *const *x, size_t count, uint8_t sign, \
                                               void *to, size_t n) {                             \
        type *restrict y = to;                                                                   \
        (void)sign;                                                                              \
        for (; count >= 3; x += 3, count -= 3) {                                                 \
            const from *restrict a = x[0], *restrict b = x[1], *restrict c = x[2];               \
            POOL_ALL(n, JOIN_3_##name)                                                           \
        }                                                                                        \
        for (; count; x++, count--) {                                                            \
            const from *restrict a = x[0];                                                       \
            POOL_ALL(n, JOIN_1_##name)                                                           \
        }                                                                                        \
    }
#define JOIN_1_keys(i) y[i] = pool_most(y[i], pool_key(a[i]));
#define JOIN_3_keys(i) \
    y[i] = pool_most(pool_most(pool_most(y[i], pool_key(a[i])), pool_key(b[i])), pool_key(c[i]));
#define JOIN_1_bytes(i) y[i] = pool_most_byte(y[i], (uint8_t)(a[i] ^ sign));
#define JOIN_3_bytes(i)                                                 \
    y[i] = pool_most_byte(pool_most_byte(y[i], (uint8_t)(a[i] ^ sign)), \
                          pool_most_byte((uint8_t)(b[i] ^ sign), (uint8_t)(c[i] ^ sign)));
POOL_ROWS(keys, float, uint32_t)
POOL_ROWS(bytes, uint8_t, uint8_t)

// NOLINTEND(bugprone-macro-parentheses)

//---- Finish -----------------------------------------------------------------

static void QDQ_ISA_NAME(pool_from_keys)(const uint32_t *restrict keys, float lowest,
                                         float *restrict y, size_t n) {
#define FROM_KEY(i) y[i] = qdq_pick(keys[i] == 0, lowest, pool_float(keys[i]));
    POOL_ALL(n, FROM_KEY)
}

static void QDQ_ISA_NAME(pool_from_bytes)(const uint8_t *restrict keys, uint8_t sign,
                                          uint8_t *restrict y, size_t n) {
#define FROM_BYTE(i) y[i] = (uint8_t)(keys[i] ^ sign);
    POOL_ALL(n, FROM_BYTE)
}

static inline float pool_quiet(float v) { return qdq_nan_if(v != v, v); }

static void QDQ_ISA_NAME(pool_divide_floats)(const float *restrict sums,
                                             const double *restrict divisors, float *restrict y,
                                             size_t n) {
#define DIVIDE_FLOAT(i) y[i] = pool_quiet(sums[i] / (float)divisors[i]);
    POOL_ALL(n, DIVIDE_FLOAT)
}

static void QDQ_ISA_NAME(pool_divide_doubles)(const double *restrict sums,
                                              const double *restrict divisors, float *restrict y,
                                              size_t n) {
#define DIVIDE_DOUBLE(i) y[i] = pool_quiet((float)(sums[i] / divisors[i]));
    POOL_ALL(n, DIVIDE_DOUBLE)
}

#define POOL_MAX(part)                                                     \
    [QDQ_POOL_KEYS] = QDQ_ISA_NAME(pool_##part##_keys), [QDQ_POOL_BYTES] = \
                                                            QDQ_ISA_NAME(pool_##part##_bytes)
#define POOL_MEAN(part)                                                                        \
    [QDQ_POOL_FLOATS] = QDQ_ISA_NAME(pool_##part##_floats), [QDQ_POOL_DOUBLES] = QDQ_ISA_NAME( \
                                                                pool_##part##_doubles)
const qdq_pool_kernels QDQ_ISA_NAME(pool) = {
    .load = {POOL_MEAN(load)},
    .rows = {POOL_MAX(rows)},
    .pairs = {POOL_MAX(pairs), POOL_MEAN(pairs)},
    .join = {POOL_MAX(join), POOL_MEAN(join)},
    .from_keys = QDQ_ISA_NAME(pool_from_keys),
    .from_bytes = QDQ_ISA_NAME(pool_from_bytes),
    .divide_floats = QDQ_ISA_NAME(pool_divide_floats),
    .divide_doubles = QDQ_ISA_NAME(pool_divide_doubles),
};
