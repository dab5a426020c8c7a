// SPDX-License-Identifier: Apache-2.0
// Inputs for the tests of target `ttnn`: scales, zero points, and rows of x full of ties.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_FEED_H
#define QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_FEED_H

#include "tests/graph/targets/ttnn/ttnn_oracle.h"

enum { SCALES = 32, ZPS = 24, ROW = 4096 };

// Powers of two, k/127, decimals, random numbers, very large and very small ones. None is denormal.
static inline double scale_of(size_t i) {
    static const float far[] = {0x1p-126f, 0x1.8p-126f, 1e-30f, 1e30f,
                                0x1p126f,  0x1p127f,    -0.25f, 0x1.fffffep-1f};
    uint64_t seed = 77 + i % SCALES;
    i %= SCALES;
    if (i < 20) return (double)oracle_scale(i);
    if (i >= 24) return (double)far[i - 24];
    for (int k = 0; k < 8; k++) (void)unit_random(&seed);
    return (double)unit_float_of_bits(0x3B000000 + (uint32_t)(unit_random(&seed) % 0x4800000));
}

static inline int64_t zp_of(size_t i) {
    static const int64_t zps[ZPS] = {0, 3,  -7,   127, -128, 255,      257,       -259,
                                     1, -1, 0,    129, -73,  513,      -213,      1001,
                                     5, 0,  4095, 128, 7,    16777217, 100000003, -2147483647};
    return zps[i % ZPS];
}

// Bit 0 of `kind`: the scale is a tensor; bit 1: the zero point is.
static inline ttnn_side side_of(size_t scale, size_t zp, size_t kind) {
    return (ttnn_side){scale_of(scale), zp_of(zp), (kind & 1) != 0, (kind & 2) != 0};
}

// A row of values: s * (k/2 - z) and its neighbours, special bits, large values, random bits.
static inline void fill_row(float *x, ttnn_side p, uint64_t *seed) {
    static const uint32_t odd[] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000,
        0x80800000, 0x00400000, 0x80400000, 0x00C00000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000,
        0xFF800000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFC12345, 0x7E800000, 0xFE800001,
        0x4EFFFFFF, 0x4F000000, 0xCF000000, 0xCF000001, 0x4F800000, 0x5F000000, 0xDF000000};
    size_t n = 0;
    for (int k = -600; k <= 600; k++) {
        float tie = (float)((k / 2.0 - (double)p.zp) * p.scale);
        x[n++] = tie, x[n++] = nextafterf(tie, INFINITY), x[n++] = nextafterf(tie, -INFINITY);
    }
    for (size_t i = 0; i < UNIT_COUNT(odd); i++) x[n++] = unit_float_of_bits(odd[i]);
    for (int e = 10; e < 34; e++) {  // around and beyond the ends of int32
        float end = (float)(ldexp(1, e) * p.scale);
        x[n++] = end, x[n++] = -end;
        x[n++] = nextafterf(end, 0), x[n++] = -nextafterf(end, INFINITY);
    }
    while (n < ROW) {
        uint64_t r = unit_random(seed);
        float any = unit_float_of_bits((uint32_t)r);
        x[n++] = r >> 63 ? any : (float)(ldexp((double)(int32_t)r, -22) * p.scale);
    }
}

// Half of the scales put a product at or next to a tie of bfloat16.
static inline double tie_scale(size_t i) {
    double d = (double)(i * 37 % 250) + 1, nine = (double)(257 + i % 127 * 2);
    if (i % 2) return scale_of(i / 2);
    float s = ldexpf((float)(nine / d), (int)(i % 40) - 20);
    return (double)(i % 3 == 0 ? s : nextafterf(s, i % 3 == 1 ? INFINITY : 0));
}

// The two sides of case i: ratios k/2, ratios that put a code at or next to a tie, and random ones.
static inline void requantize_sides(size_t i, size_t kinds, ttnn_side *in, ttnn_side *out) {
    *in = side_of(i, i / 3, kinds & 3), *out = side_of(i * 11 + i / 32, i * 5, kinds >> 2);
    double d = (double)(i * 37 % 250) + 1, half = (double)(i / 4 % 200) + 0.5;
    float tie = (float)(in->scale * d / half), whole = (float)(in->scale * 2 / (double)(i % 7 + 1));
    if (i % 4 == 0) tie = whole;
    if (i % 4 == 2) tie = nextafterf(tie, i % 8 == 2 ? INFINITY : -INFINITY);
    if (i % 4 < 3 && isfinite(tie) && fabsf(tie) >= 0x1p-126f) out->scale = (double)tie;
}

#endif
