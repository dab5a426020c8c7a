// SPDX-License-Identifier: Apache-2.0
// Transposes blocks of 2 x 2, 4 x 4 or 8 x 8 elements with SSE2 or NEON, which every x86-64 and
// aarch64 machine has.
#include "ops/kernels/transpose_block.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

enum { BLOCK8 = 2, BLOCK4 = 4, BLOCK2 = 8, BLOCK1 = 8 };  // by the size of an element

//---- Blocks -----------------------------------------------------------------

// Interleave the elements of two vectors: LOW of their lower halves, HIGH of their upper halves.
#if defined(__SSE2__)

typedef __m128i vec;
static inline vec load(const void *x) { return _mm_loadu_si128((const vec *)x); }
static inline void store(void *y, vec v) { _mm_storeu_si128((vec *)y, v); }
static inline vec load_half(const void *x) { return _mm_loadl_epi64((const vec *)x); }
static inline void store_halves(char *low, char *high, vec v) {
    _mm_storel_epi64((vec *)(void *)low, v);
    _mm_storel_epi64((vec *)(void *)high, _mm_unpackhi_epi64(v, v));
}
#define LOW8(a, b) _mm_unpacklo_epi8(a, b)
#define HIGH8(a, b) _mm_unpackhi_epi8(a, b)
#define LOW16(a, b) _mm_unpacklo_epi16(a, b)
#define HIGH16(a, b) _mm_unpackhi_epi16(a, b)
#define LOW32(a, b) _mm_unpacklo_epi32(a, b)
#define HIGH32(a, b) _mm_unpackhi_epi32(a, b)
#define LOW64(a, b) _mm_unpacklo_epi64(a, b)
#define HIGH64(a, b) _mm_unpackhi_epi64(a, b)
#define HAS_VECTORS 1

#elif defined(__aarch64__)

typedef uint8x16_t vec;
static inline vec load(const void *x) { return vld1q_u8((const uint8_t *)x); }
static inline void store(void *y, vec v) { vst1q_u8((uint8_t *)y, v); }
static inline vec load_half(const void *x) {
    return vcombine_u8(vld1_u8((const uint8_t *)x), vdup_n_u8(0));
}
static inline void store_halves(char *low, char *high, vec v) {
    vst1_u8((uint8_t *)low, vget_low_u8(v));
    vst1_u8((uint8_t *)high, vget_high_u8(v));
}
#define AS(bits, v) vreinterpretq_u##bits##_u8(v)
#define LOW8(a, b) vzip1q_u8(a, b)
#define HIGH8(a, b) vzip2q_u8(a, b)
#define LOW16(a, b) vreinterpretq_u8_u16(vzip1q_u16(AS(16, a), AS(16, b)))
#define HIGH16(a, b) vreinterpretq_u8_u16(vzip2q_u16(AS(16, a), AS(16, b)))
#define LOW32(a, b) vreinterpretq_u8_u32(vzip1q_u32(AS(32, a), AS(32, b)))
#define HIGH32(a, b) vreinterpretq_u8_u32(vzip2q_u32(AS(32, a), AS(32, b)))
#define LOW64(a, b) vreinterpretq_u8_u64(vzip1q_u64(AS(64, a), AS(64, b)))
#define HIGH64(a, b) vreinterpretq_u8_u64(vzip2q_u64(AS(64, a), AS(64, b)))
#define HAS_VECTORS 1

#else
#define HAS_VECTORS 0
#endif

#if HAS_VECTORS

// Transpose a block of vectors, from element j of each row of x on; `step`: bytes from one row of y
// to the next.
static inline void transpose8(const void *const *x, size_t j, char *y, size_t step) {
    vec first = load((const char *)x[0] + j * 8), second = load((const char *)x[1] + j * 8);
    store(y, LOW64(first, second));
    store(y + step, HIGH64(first, second));
}

static inline void transpose4(const void *const *x, size_t j, char *y, size_t step) {
    vec r[4];
    for (int i = 0; i < 4; i++) r[i] = load((const char *)x[i] + j * 4);
    vec low01 = LOW32(r[0], r[1]), low23 = LOW32(r[2], r[3]);
    vec high01 = HIGH32(r[0], r[1]), high23 = HIGH32(r[2], r[3]);
    store(y, LOW64(low01, low23));
    store(y + step, HIGH64(low01, low23));
    store(y + 2 * step, LOW64(high01, high23));
    store(y + 3 * step, HIGH64(high01, high23));
}

static inline void transpose2(const void *const *x, size_t j, char *y, size_t step) {
    vec r[8], pairs[8];
    for (int i = 0; i < 8; i++) r[i] = load((const char *)x[i] + j * 2);
    for (int i = 0; i < 4; i++) {
        pairs[i] = LOW16(r[2 * i], r[2 * i + 1]);
        pairs[4 + i] = HIGH16(r[2 * i], r[2 * i + 1]);
    }
    for (size_t half = 0; half < 2; half++) {
        const vec *p = pairs + half * 4;
        vec low0 = LOW32(p[0], p[1]), low1 = LOW32(p[2], p[3]);
        vec high0 = HIGH32(p[0], p[1]), high1 = HIGH32(p[2], p[3]);
        char *to = y + half * 4 * step;
        store(to, LOW64(low0, low1));
        store(to + step, HIGH64(low0, low1));
        store(to + 2 * step, LOW64(high0, high1));
        store(to + 3 * step, HIGH64(high0, high1));
    }
}

static inline void transpose1(const void *const *x, size_t j, char *y, size_t step) {
    vec pairs[4];
    for (int i = 0; i < 4; i++)
        pairs[i] =
            LOW8(load_half((const char *)x[2 * i] + j), load_half((const char *)x[2 * i + 1] + j));
    vec low0 = LOW16(pairs[0], pairs[1]), low1 = LOW16(pairs[2], pairs[3]);
    vec high0 = HIGH16(pairs[0], pairs[1]), high1 = HIGH16(pairs[2], pairs[3]);
    store_halves(y, y + step, LOW32(low0, low1));
    store_halves(y + 2 * step, y + 3 * step, HIGH32(low0, low1));
    store_halves(y + 4 * step, y + 5 * step, LOW32(high0, high1));
    store_halves(y + 6 * step, y + 7 * step, HIGH32(high0, high1));
}

#else

// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type
#define TRANSPOSE_BLOCK(size, type)                                                            \
    static inline void transpose##size(const void *const *x, size_t j, char *y, size_t step) { \
        for (size_t k = 0; k < BLOCK##size; k++)                                               \
            for (size_t i = 0; i < BLOCK##size; i++)                                           \
                ((type *)(void *)(y + k * step))[i] = ((const type *)x[i])[j + k];             \
    }
TRANSPOSE_BLOCK(8, uint64_t)
TRANSPOSE_BLOCK(4, uint32_t)
TRANSPOSE_BLOCK(2, uint16_t)
TRANSPOSE_BLOCK(1, uint8_t)
// NOLINTEND(bugprone-macro-parentheses)

#endif

//---- Two rows ---------------------------------------------------------------

// Elements of two rows take turns in y.
// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type
#if HAS_VECTORS
#define INTERLEAVE_VECTORS(LOW, HIGH)                                          \
    for (size_t whole = sizeof(vec) / sizeof *y; j + whole <= n; j += whole) { \
        vec a = load(first + j), b = load(second + j);                         \
        store(y + 2 * j, LOW(a, b));                                           \
        store(y + 2 * j + whole, HIGH(a, b));                                  \
    }
#else
#define INTERLEAVE_VECTORS(LOW, HIGH)
#endif
#define INTERLEAVE(size, type, LOW, HIGH)                                   \
    static void interleave##size(const void *const *x, size_t n, type *y) { \
        const type *first = x[0], *second = x[1];                           \
        size_t j = 0;                                                       \
        INTERLEAVE_VECTORS(LOW, HIGH)                                       \
        for (; j < n; j++) y[2 * j] = first[j], y[2 * j + 1] = second[j];   \
    }

INTERLEAVE(4, uint32_t, LOW32, HIGH32)
INTERLEAVE(2, uint16_t, LOW16, HIGH16)
INTERLEAVE(1, uint8_t, LOW8, HIGH8)
// NOLINTEND(bugprone-macro-parentheses)

//---- Entry ------------------------------------------------------------------

// Prefetches a row for the next block: rows often lie far apart, and the next block goes on behind
// this one. Blocks take turns, so that each line of a row is prefetched once or twice.
static inline void ahead(const void *row, size_t offset) {
    enum { DISTANCE = 256 };
    __builtin_prefetch((const char *)row + offset + DISTANCE);
}

// NOLINTBEGIN(bugprone-macro-parentheses): `type` is a type
// Whole blocks, then the remaining columns and rows. The inner loop runs along the shorter side, so
// that cache lines are finished before the loop leaves them.
#define TRANSPOSE(size, type)                                                                    \
    static void transpose_all##size(const void *const *x, size_t rows, size_t n, type *y,        \
                                    size_t stride) {                                             \
        enum { BLOCK = BLOCK##size };                                                            \
        size_t whole_rows = rows - rows % BLOCK, whole_n = n - n % BLOCK;                        \
        size_t step = stride * sizeof(type);                                                     \
        if (n <= rows) {                                                                         \
            for (size_t i = 0; i < whole_rows; i += BLOCK)                                       \
                for (size_t j = 0; j < whole_n; j += BLOCK)                                      \
                    ahead(x[i + j / BLOCK % BLOCK], j *size),                                    \
                        transpose##size(x + i, j, (char *)(y + j * stride + i), step);           \
        } else {                                                                                 \
            for (size_t j = 0; j < whole_n; j += BLOCK)                                          \
                for (size_t i = 0; i < whole_rows; i += BLOCK)                                   \
                    ahead(x[i + j / BLOCK % BLOCK], j *size),                                    \
                        transpose##size(x + i, j, (char *)(y + j * stride + i), step);           \
        }                                                                                        \
        for (size_t j = whole_n; j < n; j++)                                                     \
            for (size_t i = 0; i < whole_rows; i++) y[j * stride + i] = ((const type *)x[i])[j]; \
        for (size_t i = whole_rows; i < rows; i++) {                                             \
            const type *row = x[i];                                                              \
            for (size_t j = 0; j < n; j++) y[j * stride + i] = row[j];                           \
        }                                                                                        \
    }

TRANSPOSE(8, uint64_t)
TRANSPOSE(4, uint32_t)
TRANSPOSE(2, uint16_t)
TRANSPOSE(1, uint8_t)
// NOLINTEND(bugprone-macro-parentheses)

void qdq_transpose_block(size_t size, const void *const *x, size_t rows, size_t n, void *y,
                         size_t stride) {
    bool pairs = rows == 2 && stride == 2;
    if (size == 8)
        transpose_all8(x, rows, n, y, stride);
    else if (pairs && size == 4)
        interleave4(x, n, y);
    else if (pairs && size == 2)
        interleave2(x, n, y);
    else if (pairs)
        interleave1(x, n, y);
    else if (size == 4)
        transpose_all4(x, rows, n, y, stride);
    else if (size == 2)
        transpose_all2(x, rows, n, y, stride);
    else
        transpose_all1(x, rows, n, y, stride);
}
