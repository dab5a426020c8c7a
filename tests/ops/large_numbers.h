// SPDX-License-Identifier: Apache-2.0
// For tests of large shapes: sizes around an op's block sizes, and random tensors.
#ifndef QDQ_TESTS_OPS_LARGE_NUMBERS_H
#define QDQ_TESTS_OPS_LARGE_NUMBERS_H

#include "large_random.h"
#include "products.h"

//---- Sizes ------------------------------------------------------------------

// A size of two blocks of `cut` elements and a remainder.
static inline size_t large_across(uint64_t *state, size_t cut) {
    return 2 * cut + 1 + (cut > 2 ? large_pick(state, cut - 1) : 0);
}

// A size around a block boundary: on it, one off, below one block, or two blocks with a remainder.
static inline size_t large_near(uint64_t *state, size_t cut) {
    switch (large_pick(state, 6)) {
    case 0: return cut;
    case 1: return cut > 1 ? cut - 1 : 1;
    case 2: return cut + 1;
    case 3: return 2 * cut;
    case 4: return 1 + large_pick(state, cut);
    default: return large_across(state, cut);
    }
}

enum { LARGE_MOST_TILED = 1 << 22 };

// Counts the elements of a value in 32x32 tiles: [8192, 1, 1] has a thousand times its own.
static inline size_t large_tiled(qdq_shape shape) {
    enum { TILE = 32 };
    size_t count = 1;
    for (int i = 0; i < shape.rank; i++) {
        size_t size = (size_t)shape.dims[i];
        count *= i < shape.rank - 2 ? size : (size + TILE - 1) / TILE * TILE;
    }
    return count;
}

// A random shape with sizes around the block sizes `cuts`, of at most `most` elements or so. If its
// tiles take too much, the longest dim becomes the last.
static inline qdq_shape large_shape(uint64_t *state, int rank, const size_t *cuts, size_t count,
                                    size_t most) {
    qdq_shape shape = {.rank = rank};
    size_t first = large_pick(state, (size_t)rank);
    for (int d = 0; d < rank; d++) {
        size_t size = large_near(state, cuts[large_pick(state, count)]);
        if (size > most) size = 1 + large_pick(state, most < 5 ? most : 5);
        shape.dims[(d + (int)first) % rank] = (int64_t)size;
        most /= size;
    }
    if (large_tiled(shape) <= LARGE_MOST_TILED) return shape;
    int longest = 0;
    for (int d = 1; d < rank; d++)
        if (shape.dims[d] > shape.dims[longest]) longest = d;
    int64_t last = shape.dims[rank - 1];
    shape.dims[rank - 1] = shape.dims[longest], shape.dims[longest] = last;
    assert_true(large_tiled(shape) <= LARGE_MOST_TILED);
    return shape;
}

//---- Numbers ----------------------------------------------------------------

// Rounds a double to float16 or bfloat16 once, ties to even. NaN becomes the quiet NaN without a
// sign.
static inline uint16_t large_half(qdq_dtype dtype, double value) {
    int digits = dtype == QDQ_FLOAT16 ? 10 : 7, least = dtype == QDQ_FLOAT16 ? -14 : -126;
    uint32_t infinity = dtype == QDQ_FLOAT16 ? 0x7C00 : 0x7F80;
    if (isnan(value)) return (uint16_t)(infinity | 1u << (digits - 1));
    uint32_t sign = signbit(value) ? 0x8000 : 0, code = infinity;
    double size = fabs(value);
    int exponent = size > 0 && isfinite(size) ? ilogb(size) : least;
    if (exponent < least) exponent = least;
    if (isfinite(size) && exponent - least < 256) {
        double steps = rint(ldexp(size, digits - exponent));
        code = ((uint32_t)(exponent - least) << digits) + (uint32_t)steps;
    }
    return (uint16_t)(sign | (code > infinity ? infinity : code));
}

static inline void large_put(tensor *t, size_t i, double value) {
    if (t->dtype == QDQ_FLOAT16 || t->dtype == QDQ_BFLOAT16)
        ((uint16_t *)t->data)[i] = large_half(t->dtype, value);
    else
        tensor_put(t, i, isnan(value) ? (double)NAN : value);
}

// Integers from -most to most.
static inline void large_fill_whole(tensor *t, uint64_t *state, int most) {
    for (size_t i = 0; i < tensor_count(t); i++)
        large_put(t, i, (double)large_pick(state, 2 * (size_t)most + 1) - most);
}

// Numbers whose sums round: between -2 and 2, and one in 64 up to 64 times larger.
static inline void large_fill_reals(tensor *t, uint64_t *state) {
    for (size_t i = 0; i < tensor_count(t); i++) {
        double v = (double)large_pick(state, 1u << 25) / 0x1p23 - 2;
        large_put(t, i, large_pick(state, 64) ? v : v * (double)(1 + large_pick(state, 64)));
    }
}

#endif
