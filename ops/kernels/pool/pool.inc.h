// SPDX-License-Identifier: Apache-2.0
// The kernels of pooling in plain C, which compilers turn into vectors. Each instruction set has a
// file that defines QDQ_ISA_NAME(name) and includes this one.
#include "ops/kernels/pool/pool.h"
#include "runtime/numerics/elementary.h"

// Comparing keys as integers orders the floats.
static inline int32_t pool_key(float v) {
    uint32_t bits = qdq_float_bits(v), flip = (0 - (bits >> 31)) & 0x7FFFFFFFu;
    return v != v ? 0x7FC00000 : (int32_t)(bits ^ flip);
}

static inline float pool_float(int32_t key) {
    uint32_t bits = (uint32_t)key;
    return qdq_float_from_bits(bits ^ ((0 - (bits >> 31)) & 0x7FFFFFFFu));
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

#define POOL_LOAD(name, from, type, result)                                                       \
    static void QDQ_ISA_NAME(pool_load_##name)(const void *restrict x, size_t step, uint8_t sign, \
                                               void *restrict to, size_t n) {                     \
        const from *restrict v = x;                                                               \
        type *restrict y = to;                                                                    \
        (void)sign;                                                                               \
        if (step == 1)                                                                            \
            POOL_ALL(n, result##_1)                                                               \
        else                                                                                      \
            for (size_t i = 0; i < n; i++) result##_any(i)                                        \
    }
#define LOAD_KEY_1(i) y[i] = pool_key(v[i]);
#define LOAD_KEY_any(i) y[i] = pool_key(v[step * (i)]);
#define LOAD_BYTE_1(i) y[i] = (uint8_t)(v[i] ^ sign);
#define LOAD_BYTE_any(i) y[i] = (uint8_t)(v[step * (i)] ^ sign);
#define LOAD_FLOAT_1(i) y[i] = v[i];
#define LOAD_FLOAT_any(i) y[i] = v[step * (i)];
POOL_LOAD(keys, float, int32_t, LOAD_KEY)
POOL_LOAD(bytes, uint8_t, uint8_t, LOAD_BYTE)
POOL_LOAD(floats, float, float, LOAD_FLOAT)
POOL_LOAD(doubles, float, double, LOAD_FLOAT)

// Both phases of a stride of 2 at once, so that no load skips elements.
#define POOL_LOAD_PAIRS(name, from, type, convert)                                                 \
    static void QDQ_ISA_NAME(pool_load_pairs_##name)(                                              \
        const void *restrict x, uint8_t sign, void *restrict to, void *restrict other, size_t n) { \
        const from *restrict v = x;                                                                \
        type *restrict y = to, *restrict z = other;                                                \
        (void)sign;                                                                                \
        POOL_ALL(n, convert)                                                                       \
    }
#define LOAD_KEYS(i) y[i] = pool_key(v[2 * (i)]), z[i] = pool_key(v[2 * (i) + 1]);
#define LOAD_BYTES(i) y[i] = (uint8_t)(v[2 * (i)] ^ sign), z[i] = (uint8_t)(v[2 * (i) + 1] ^ sign);
#define LOAD_FLOATS(i) y[i] = v[2 * (i)], z[i] = v[2 * (i) + 1];
POOL_LOAD_PAIRS(keys, float, int32_t, LOAD_KEYS)
POOL_LOAD_PAIRS(bytes, uint8_t, uint8_t, LOAD_BYTES)
POOL_LOAD_PAIRS(floats, float, float, LOAD_FLOATS)
POOL_LOAD_PAIRS(doubles, float, double, LOAD_FLOATS)

//---- Join -------------------------------------------------------------------

static inline int32_t pool_most(int32_t a, int32_t b) { return a > b ? a : b; }
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
POOL_JOIN(keys, int32_t, INT32_MIN, pool_most)
POOL_JOIN(bytes, uint8_t, 0, pool_most_byte)
POOL_JOIN(floats, float, 0.0f, POOL_SUM)
POOL_JOIN(doubles, double, 0.0, POOL_SUM)

// NOLINTEND(bugprone-macro-parentheses)

//---- Finish -----------------------------------------------------------------

static void QDQ_ISA_NAME(pool_from_keys)(const int32_t *restrict keys, float lowest,
                                         float *restrict y, size_t n) {
#define FROM_KEY(i) y[i] = qdq_pick(keys[i] == INT32_MIN, lowest, pool_float(keys[i]));
    POOL_ALL(n, FROM_KEY)
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

#define POOL_ENTRIES(part)                                                          \
    {                                                                               \
        QDQ_ISA_NAME(pool_##part##_keys), QDQ_ISA_NAME(pool_##part##_bytes),        \
            QDQ_ISA_NAME(pool_##part##_floats), QDQ_ISA_NAME(pool_##part##_doubles) \
    }
const qdq_pool_kernels QDQ_ISA_NAME(pool) = {
    POOL_ENTRIES(load),
    POOL_ENTRIES(load_pairs),
    POOL_ENTRIES(join),
    QDQ_ISA_NAME(pool_from_keys),
    QDQ_ISA_NAME(pool_divide_floats),
    QDQ_ISA_NAME(pool_divide_doubles),
};
