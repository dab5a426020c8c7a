// SPDX-License-Identifier: Apache-2.0
// The matrix unit's arithmetic, one element at a time (docs/device_arithmetic.md 7).
#include "runtime/tenstorrent/fpu.h"

enum {
    INFINITE = 255,
    GROUP = 8,    // products that are aligned to each other
    TO_DST = 13,  // a product of significands has 10 fraction bits, Dst 23
    MOST_SHIFT = 30,
    DST16_LOST = 0x1FFF,  // bits that terms of a 16-bit Dst do without
};

// A term of a sum: magnitude * 2^(exponent - 127 - 23).
typedef struct term {
    bool negative;
    int exponent;
    uint32_t magnitude;
} term;

static uint32_t significand_of(uint32_t v) {
    return v >> 23 & 0xFF ? (v >> 13 & 0x3FF) | 0x400 : 0;
}

qdq_fpu_operand qdq_fpu_weight(uint32_t v) {
    uint32_t m = significand_of(v);  // bit 0 is never used
    return (qdq_fpu_operand){(int16_t)(v >> 23 & 0xFF), (uint8_t)(v >> 31), (uint8_t)(m >> 6),
                             (uint8_t)(m >> 1 & 0x1F)};
}

qdq_fpu_operand qdq_fpu_activation(uint32_t v) {
    uint32_t m = significand_of(v);
    return (qdq_fpu_operand){(int16_t)(v >> 23 & 0xFF), (uint8_t)(v >> 31), (uint8_t)(m >> 4),
                             (uint8_t)((m & 0xF) << 3)};
}

static term product(int phase, const qdq_fpu_operand *a, const qdq_fpu_operand *b) {
    static const int adjust[QDQ_FPU_PHASES] = {-127, -127 - 5, -127 - 7, -127 - 12};
    if (!a->exponent || !b->exponent) return (term){0};
    uint32_t of_a = phase & 1 ? a->low : a->high, of_b = phase & 2 ? b->low : b->high;
    return (term){a->sign != b->sign, a->exponent + b->exponent + adjust[phase], of_a * of_b};
}

//---- Dst --------------------------------------------------------------------

static int bit_length(uint32_t v) {
    int length = 0;
    for (; v; v >>= 1) length++;
    return length;
}

// Shifts, rounding half up in magnitude.
static uint32_t shift_right(uint32_t v, int by) { return (v + (1u << (by - 1))) >> by; }

static int32_t aligned(term t, int exponent, bool dst32, bool group) {
    uint32_t m = t.magnitude, less = group && t.negative;
    int away = exponent - t.exponent;
    if (away > MOST_SHIFT)
        m = 0;
    else if (away > 0)
        m = (m + (1u << (away - 1)) - less) >> away;
    if (!dst32) m = (m + (DST16_LOST + 1) / 2 - less) & ~(uint32_t)DST16_LOST;
    return t.negative ? -(int32_t)m : (int32_t)m;
}

static uint32_t packed(bool wormhole, bool dst32, int32_t sum, int exponent) {
    bool negative = sum < 0;
    uint32_t m = negative ? 0u - (uint32_t)sum : (uint32_t)sum;
    int shift = 24 - bit_length(m);
    if (wormhole && sum == -1) shift -= 27;  // an error of the chip
    exponent -= shift;
    if (!dst32) shift -= 16;
    m = shift < 0 ? shift_right(m, -shift) : m << shift;
    if (!dst32) m <<= 16;
    if (m >> 24 & 1) exponent++;
    if (exponent <= 0) return 0;
    uint32_t sign = negative ? 0x80000000u : 0;
    if (exponent >= INFINITE) return sign | 0x7F800000u;
    return sign | (uint32_t)exponent << 23 | (m & 0x7FFFFF);
}

// Returns dst plus terms.
static uint32_t accumulate(qdq_multiply_add chip, bool dst32, uint32_t dst, const term *terms,
                           int count) {
    int of_dst = (int)(dst >> 23 & 0xFF), exponent = of_dst;
    term old = {dst >> 31, of_dst, of_dst ? (dst & 0x7FFFFF) | 0x800000 : 0};
    for (int i = 0; i < count; i++)
        if (terms[i].exponent > exponent) exponent = terms[i].exponent;
    if (exponent <= 0) return 0;
    int32_t sum = aligned(old, exponent, dst32, false);
    for (int i = 0; i < count; i++) sum += aligned(terms[i], exponent, dst32, true);
    return sum ? packed(chip == QDQ_MULTIPLY_ADD_WORMHOLE, dst32, sum, exponent) : 0;
}

//---- Instructions -----------------------------------------------------------

static term group_sum(int phase, const qdq_fpu_operand *a, const qdq_fpu_operand *b) {
    term products[GROUP];
    int exponent = 0;
    int32_t sum = 0;
    for (int i = 0; i < GROUP; i++) {
        products[i] = product(phase, &a[i], &b[i]);
        if (products[i].exponent > exponent) exponent = products[i].exponent;
    }
    if (exponent <= 0) return (term){0};
    for (int i = 0; i < GROUP; i++) {
        int away = exponent - products[i].exponent;
        if (away > MOST_SHIFT) away = MOST_SHIFT;
        int32_t m = (int32_t)(((products[i].magnitude << 1) + (1u << away)) >> away >> 1);
        sum += products[i].negative ? -m : m;
    }
    return (term){sum < 0, exponent, (uint32_t)(sum < 0 ? -sum : sum) << TO_DST};
}

uint32_t qdq_fpu_mvmul(qdq_multiply_add chip, bool dst32, int phase, uint32_t dst,
                       const qdq_fpu_operand a[QDQ_FPU_DEPTH],
                       const qdq_fpu_operand b[QDQ_FPU_DEPTH]) {
    term groups[2] = {group_sum(phase, a, b), group_sum(phase, a + GROUP, b + GROUP)};
    return accumulate(chip, dst32, dst, groups, 2);
}

uint32_t qdq_fpu_elwmul(qdq_multiply_add chip, bool dst32, int phase, uint32_t dst, uint32_t a,
                        uint32_t b) {
    qdq_fpu_operand of_a = qdq_fpu_weight(a), of_b = qdq_fpu_activation(b);
    term t = product(phase, &of_a, &of_b);
    if (t.exponent <= 0) t = (term){0};  // as in group_sum
    t.magnitude <<= TO_DST;
    return accumulate(chip, dst32, dst, &t, 1);
}

uint32_t qdq_fpu_elwadd(qdq_multiply_add chip, bool dst32, uint32_t a, uint32_t b) {
    if ((a & 0x7FFFFFFF) < (b & 0x7FFFFFFF)) {
        uint32_t greater = b;
        b = a, a = greater;
    }
    int of_a = (int)(a >> 23 & 0xFF), of_b = (int)(b >> 23 & 0xFF);
    int away = of_a - of_b;
    uint32_t m = significand_of(a), lesser = significand_of(b);
    if (away >= 12)
        lesser = 0;
    else if (away > 0)
        lesser = shift_right(lesser, away);
    m = (a ^ b) >> 31 ? m - lesser : m + lesser;
    term t = {a >> 31 && of_a, of_a, m << TO_DST};
    return accumulate(chip, dst32, 0, &t, 1);
}
