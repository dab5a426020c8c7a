// SPDX-License-Identifier: Apache-2.0
// Softmax of codes as TensorFlow Lite's kernels compute it: the reference kernel in fixed point
// (fixed_functions.h), the optimized one with float32 exponentials on x86-64,
// and with exponentials of 16 bits on aarch64. Source: softmax.h.
#ifndef QDQ_RUNTIME_NUMERICS_LITERT_SOFTMAX_H
#define QDQ_RUNTIME_NUMERICS_LITERT_SOFTMAX_H

#include "runtime/numerics/elementary.h"
#include "runtime/numerics/fixed_functions.h"
#include "runtime/numerics/quantize_one.h"

enum {
    QDQ_LITERT_CODES = 256,
    QDQ_LITERT_SUM_BITS = 12,  // whole bits of the sum of the reference kernel
    QDQ_LITERT_BLOCK = 16,     // elements of a vector on aarch64
};

// Exponentials by the distance from the greatest code of a row.
typedef struct qdq_litert_softmax {
    qdq_qlinear_form form;
    bool is_signed;
    float y_scale;
    int32_t y_zero;
    float floats[QDQ_LITERT_CODES];   // on x86-64
    int32_t fixed[QDQ_LITERT_CODES];  // others; -1: the element has the least code
} qdq_litert_softmax;

//---- A row ------------------------------------------------------------------

static inline void qdq_litert_softmax_begin(qdq_litert_softmax *s, float x_scale) {
    enum { FRACTION_BITS = 26, LEAST = 31 };
    double steps = (double)x_scale * (1 << FRACTION_BITS);
    qdq_fixed_scale by = qdq_quantize_multiplier(steps < INT32_MAX ? steps : INT32_MAX, 31);
    int left = 31 - by.shift;
    int64_t farthest = left >= 0 ? ((int64_t)LEAST << FRACTION_BITS) >> left : INT32_MAX;
    for (int d = 0; d < QDQ_LITERT_CODES; d++) {
        s->floats[d] = qdq_expf(-x_scale * (float)d);
        double share = (double)(s->floats[d] * 65535.0f) + 0.5;
        s->fixed[d] = share < 65535.0 ? (int32_t)share : 65535;
        if (s->form != QDQ_QLINEAR_LITERT) continue;
        s->fixed[d] =
            d > farthest
                ? -1
                : qdq_fixed_exp(qdq_high_product(left >= 0 ? -(int32_t)((uint32_t)d << left) : 0,
                                                 by.multiplier),
                                5);
    }
}

static inline int32_t qdq_litert_code(const qdq_litert_softmax *s, int64_t v) {
    int64_t least = s->is_signed ? -128 : 0;
    return (int32_t)qdq_clamp_one(v, least, least + QDQ_LITERT_CODES - 1);
}

// The factor of a row.
typedef struct qdq_litert_row {
    float inverse;             // on x86-64
    qdq_fixed_scale scale;     // on aarch64
    int32_t reciprocal, bits;  // of the reference kernel
} qdq_litert_row;

// `sum` adds the exponentials, for the reference kernel without their last 12 bits.
static inline qdq_litert_row qdq_litert_row_of(const qdq_litert_softmax *s, float float_sum,
                                               int64_t sum) {
    qdq_litert_row row = {0};
    if (s->form == QDQ_QLINEAR_LITERT_X86) row.inverse = 1.0f / (float_sum * s->y_scale);
    if (s->form == QDQ_QLINEAR_LITERT_ARM)
        row.scale = qdq_quantize_multiplier((double)(1.0f / ((float)sum * s->y_scale)), 31);
    if (s->form != QDQ_QLINEAR_LITERT) return row;
    int zeros = 0;
    while (zeros < 31 && !((uint32_t)sum << zeros >> 31)) zeros++;
    uint32_t fraction = ((uint32_t)sum << zeros) - (UINT32_C(1) << 31);
    row.reciprocal = qdq_fixed_reciprocal((int32_t)fraction);
    row.bits = QDQ_LITERT_SUM_BITS - zeros + 31 - 8;
    return row;
}

// Computes an element of a row by its distance from the greatest code. `blocked`: it is in a whole
// block of the row.
static inline int32_t qdq_litert_softmax_one(const qdq_litert_softmax *s, const qdq_litert_row *row,
                                             int d, bool blocked) {
    if (s->form == QDQ_QLINEAR_LITERT_X86) {
        float v = s->floats[d] * row->inverse;
        if (!s->is_signed) return qdq_litert_code(s, (int64_t)(v + 0.5f));
        return qdq_litert_code(s, (int64_t)roundf(v) + s->y_zero);
    }
    int32_t e = s->fixed[d];
    if (s->form == QDQ_QLINEAR_LITERT_ARM)
        return qdq_litert_code(
            s, (int64_t)qdq_fixed_twice(e, row->scale.multiplier, row->scale.shift, blocked) +
                   s->y_zero);
    int32_t least = s->is_signed ? -128 : 0;
    if (e < 0) return least;
    int bits = row->bits < 31 ? row->bits : 31;
    return qdq_litert_code(
        s, (int64_t)qdq_shifted_away(qdq_high_product(row->reciprocal, e), bits) + least);
}

// Computes a row of codes, `stride` apart, to a row of y.
static inline void qdq_litert_softmax_row(const qdq_litert_softmax *s, size_t length, size_t stride,
                                          const uint8_t *x, uint8_t *y) {
    uint8_t flip = s->is_signed ? 0x80 : 0, greatest = 0;
    size_t blocked = length / QDQ_LITERT_BLOCK * QDQ_LITERT_BLOCK;
    float floats = 0;
    int64_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        uint8_t code = x[i * stride] ^ flip;
        if (code > greatest) greatest = code;
    }
    for (size_t i = 0; i < length; i++) {
        int d = greatest - (x[i * stride] ^ flip);
        bool reference = s->form == QDQ_QLINEAR_LITERT;
        floats += s->floats[d];
        if (s->fixed[d] >= 0)
            sum += reference ? qdq_shifted_away(s->fixed[d], QDQ_LITERT_SUM_BITS) : s->fixed[d];
    }
    qdq_litert_row row = qdq_litert_row_of(s, floats, sum);
    for (size_t i = 0; i < length; i++) {
        int d = greatest - (x[i * stride] ^ flip);
        y[i * stride] = (uint8_t)qdq_litert_softmax_one(s, &row, d, i < blocked);
    }
}

#endif
