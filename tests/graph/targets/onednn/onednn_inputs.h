// SPDX-License-Identifier: Apache-2.0
// Fills the cases of onednn_cases.h: x at ties, next to ties, at the ends of the range, and special
// values. Valid C and C++. Each value is exact or takes one IEEE operation, so every compiler gives
// the same bits.
#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_INPUTS_H
#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_INPUTS_H

#include "tests/graph/targets/onednn/onednn_scales.h"

//---- Inputs -----------------------------------------------------------------

static const uint32_t onednn_odd_x[] = {
    0x00000000, 0x80000000, 0x7FC00000, 0xFFC00000, 0x7F800001, 0x7F800000, 0xFF800000,
    0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000, 0x7F7FFFFF,
    0xFF7FFFFF, 0x3EFFFFFF, 0x3F000000, 0x3F000001, 0xBEFFFFFF, 0xBF000000, 0xBF000001,
    0x4AFFFFFF, 0x4B000001, 0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0x4F000001,
    0xCEFFFFFF, 0xCF000000, 0xCF000001, 0x5F000000, 0xDF000000,
};
enum { ONEDNN_ODD_X = sizeof onednn_odd_x / sizeof onednn_odd_x[0] };

// Around the overflow of float8, rounded directly and through float16, and around its underflow.
static const double onednn_float8_ends[] = {
    448,           464,       464.12,    464.125,     464.126,        464.25,
    465,           480,       57344,     61423,       61423.99,       61424,
    61424.01,      61440,     65504,     65519.99,    65520,          65536,
    1e6,           0x1p-9,    0x1p-10,   0x1.002p-10, 0x1.0008p-10,   0x1.001p-10,
    0x1.00101p-10, 0x1.8p-10, 0x1p-16,   0x1p-17,     0x1.002p-17,    0x1.4p-17,
    0x1p-18,       0x1p-24,   0x1.8p-25, 0x1p-25,     0x1.000002p-25, 0x1p-26,
};
enum { ONEDNN_FLOAT8_ENDS = sizeof onednn_float8_ends / sizeof onednn_float8_ends[0] };

// A list of x; numbers beyond its capacity are ignored.
typedef struct onednn_list {
    uint32_t *x;
    size_t count, room;
} onednn_list;

static inline void onednn_push(onednn_list *list, float x) {
    if (list->count < list->room) list->x[list->count++] = onednn_bits(x);
}

// Adds x and `width` neighbours on each side.
static inline void onednn_push_near(onednn_list *list, double x, int width) {
    float middle = (float)x, up = middle, down = middle;
    onednn_push(list, middle);
    for (int i = 0; i < width; i++) {
        onednn_push(list, up = nextafterf(up, INFINITY));
        onednn_push(list, down = nextafterf(down, -INFINITY));
    }
}

// The magnitude of a float8 code without its sign; for the code after the last, the next number.
static inline double onednn_float8(onednn_type type, int code) {
    int digits = type == ONEDNN_E4M3 ? 3 : 2, bias = type == ONEDNN_E4M3 ? 7 : 15;
    int exponent = code >> digits, one = 1 << digits, rest = code & (one - 1);
    if (exponent == 0) return ldexp(rest, 1 - bias - digits);
    return ldexp(one + rest, exponent - bias - digits);
}

// x / s halfway between two codes, and as far from it as rounding through float16 notices.
static inline void onednn_push_float8_tie(onednn_list *list, onednn_type to, int code, double s) {
    double tie = (onednn_float8(to, code) + onednn_float8(to, code + 1)) / 2;
    int exponent;
    (void)frexp(tie, &exponent);
    double half = ldexp(1, (exponent > -13 ? exponent : -13) - 12);  // half a unit of float16
    for (int i = -2; i <= 2; i++) {
        onednn_push_near(list, (tie + i * half) * s, 1);
        onednn_push_near(list, -(tie + i * half) * s, 1);
    }
}

static inline void onednn_push_all(onednn_list *list, onednn_type to, double s, double z) {
    int least = to == ONEDNN_S8 ? -128 : 0;
    if (onednn_is_float8(to)) {
        for (int code = 0; code < 127; code++) onednn_push_float8_tie(list, to, code, s);
        for (int i = 0; i < ONEDNN_FLOAT8_ENDS; i++) {
            onednn_push_near(list, onednn_float8_ends[i] * s, 1);
            onednn_push_near(list, -onednn_float8_ends[i] * s, 1);
        }
    } else {
        for (int k = least - 3; k <= least + 258; k++) onednn_push_near(list, (k + 0.5 - z) * s, 2);
    }
    for (int i = 0; i < ONEDNN_ODD_X; i++) onednn_push(list, onednn_float(onednn_odd_x[i]));
}

// An x with x / s + z near a code or a tie, or a random x.
static inline double onednn_some_x(onednn_type to, double s, double z, uint64_t *seed) {
    uint64_t r = onednn_random(seed);
    if (r % 4 == 0) return (double)onednn_float((uint32_t)(r >> 32));
    if (onednn_is_float8(to)) {
        int code = (int)(r >> 8 & 0x7F);
        double low = onednn_float8(to, code), high = onednn_float8(to, code + 1);
        double v = low + (high - low) * (double)(r >> 16 & 0x3FFF) / 0x4000;
        return (r >> 40 & 1 ? -v : v) * s;
    }
    int least = to == ONEDNN_S8 ? -128 : 0;
    double steps = (double)(r >> 8 & 0xFFFF) / (r % 4 == 1 ? 256 : 128);
    if (r % 4 == 1) steps = floor(steps) + 0.5;
    return (least + steps - z) * s;
}

static inline void onednn_fill_x(onednn_case *c) {
    uint64_t seed = 77;
    for (size_t p = 0; p < c->parameters; p++) {
        onednn_list list = {c->x + p * c->span, 0, c->span};
        double s = (double)onednn_float(c->scales[p]), z = (double)c->zps[p];
        if (c->parameters == 1) onednn_push_all(&list, c->batch.to, s, z);
        while (list.count < list.room)
            onednn_push_near(&list, onednn_some_x(c->batch.to, s, z, &seed), 1);
    }
}

// All codes in turn; random ones if a span has fewer elements than the type has codes.
static inline void onednn_fill_codes(onednn_case *c) {
    uint64_t seed = 78;
    bool nibble = c->batch.from == ONEDNN_S4 || c->batch.from == ONEDNN_U4;
    for (size_t i = 0; i < c->count; i++)
        c->x[i] = (uint32_t)(nibble || c->span >= 256 ? i : onednn_random(&seed)) & 0xFF;
    for (size_t i = 0; nibble && i < c->count; i++) {
        c->x[i] &= 15;
        if (c->batch.from == ONEDNN_S4 && c->x[i] > 7) c->x[i] |= 0xF0;
    }
}

// Casts of every tie between two codes, of its neighbours, and of random numbers.
static inline void onednn_fill_casts(onednn_case *c, size_t number) {
    uint64_t seed = 79;
    for (size_t i = 0; i < c->count; i++) {
        uint32_t code = (uint32_t)i, sign = (code & 0x8000) << 16;
        if (number == 3) {
            c->x[i] = (uint32_t)(onednn_random(&seed) >> 32);
        } else if (c->batch.to == ONEDNN_BF16) {
            c->x[i] = (code << 16) + 0x7FFF + (uint32_t)number;
        } else {
            int exponent = (int)(code >> 10 & 31), rest = (int)(code & 1023);
            double tie = exponent ? ldexp(1024.5 + rest, exponent - 25) : ldexp(rest + 0.5, -24);
            c->x[i] = (onednn_bits((float)tie) + (uint32_t)number - 1) | sign;
        }
    }
}

//---- Parameters -------------------------------------------------------------

static inline size_t onednn_case_count(onednn_batch b) {
    size_t scales;
    if (b.op == ONEDNN_TYPE_CAST) return 4;
    if (b.kind == ONEDNN_GROUPS) return 16;
    if (b.kind == ONEDNN_CHANNELS) return 6;
    (void)onednn_scales(b.kind, &scales);
    return onednn_is_float8(b.from) || onednn_is_float8(b.to) ? scales : scales * ONEDNN_ZPS;
}

static inline void onednn_shape(onednn_case *c, size_t rows, size_t cols, size_t span) {
    c->rows = rows, c->cols = cols, c->count = rows * cols;
    c->span = span, c->parameters = c->count / span;
    c->x = (uint32_t *)calloc(c->count, sizeof *c->x);
    c->scales = (uint32_t *)calloc(c->parameters, sizeof *c->scales);
    c->zps = (int32_t *)calloc(c->parameters, sizeof *c->zps);
    if (!c->x || !c->scales || !c->zps) abort();
}

// Cases 0 to 3 have many channels. In cases 4 and 5 all scales are within 1e-6 of 1, except the
// last scale of case 5.
static inline void onednn_make_channels(onednn_case *c, size_t number) {
    bool codes = c->batch.from != ONEDNN_F32;
    size_t rows = number > 3 ? 8 : 1024, cols = codes ? 256 : 64;
    uint64_t seed = 1000 + number;
    onednn_shape(c, rows, cols, cols);
    for (size_t p = 0; p < rows; p++) {
        c->scales[p] = onednn_any_scale(ONEDNN_F32, &seed);
        if (number > 3) c->scales[p] = 0x3F800001 + (uint32_t)p;
    }
    if (number == 5) c->scales[rows - 1]++;
}

static inline void onednn_make_groups(onednn_case *c, size_t number) {
    const onednn_type types[] = {ONEDNN_NONE, c->batch.from, ONEDNN_U8, ONEDNN_S32, ONEDNN_S8};
    uint64_t seed = 2000 + number;
    onednn_shape(c, 256, 256, 16);
    c->zp_type = types[number % 5];
    for (size_t p = 0; p < c->parameters; p++) {
        c->scales[p] = onednn_any_scale(c->scale_type, &seed);
        c->zps[p] = onednn_any_zp(c->zp_type, &seed);
    }
}

static inline void onednn_make_tensor(onednn_case *c, size_t number) {
    size_t scales, float8 = onednn_is_float8(c->batch.to);
    const uint32_t *list = onednn_scales(c->batch.kind, &scales);
    onednn_shape(c, c->batch.from != ONEDNN_F32 ? 4 : float8 ? 384 : 64, 64, 64);
    c->span = c->count, c->parameters = 1;
    c->scales[0] = onednn_cut(c->scale_type, list[number % scales]);
    c->zps[0] = onednn_zps[number / scales];
    c->zp_type = onednn_zp_type(c->batch, number, c->zps[0]);
}

// Makes case `number` of a batch; onednn_case_free frees it.
static inline onednn_case onednn_case_make(onednn_batch batch, size_t number) {
    onednn_case c;
    memset(&c, 0, sizeof c);
    c.batch = batch, c.zp_type = ONEDNN_NONE;
    c.scale_type = batch.op == ONEDNN_DYNAMIC_DEQUANTIZE ? batch.to : ONEDNN_F32;
    if (batch.op == ONEDNN_TYPE_CAST) {
        onednn_shape(&c, 256, 256, 256);
        onednn_fill_casts(&c, number);
        return c;
    }
    if (batch.kind == ONEDNN_CHANNELS)
        onednn_make_channels(&c, number);
    else if (batch.kind == ONEDNN_GROUPS)
        onednn_make_groups(&c, number);
    else
        onednn_make_tensor(&c, number);
    if (batch.from == ONEDNN_F32)
        onednn_fill_x(&c);
    else
        onednn_fill_codes(&c);
    return c;
}

static inline void onednn_case_free(onednn_case *c) { free(c->x), free(c->scales), free(c->zps); }

#endif
