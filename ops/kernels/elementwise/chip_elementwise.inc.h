// SPDX-License-Identifier: Apache-2.0
// Sums and products of float32 on a chip, in plain C that compilers turn into vectors. Included
// once for each instruction set. Parts with an element that chip_mad does not take, or whose zero
// could have a sign, go to the portable kernel.
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "ops/kernels/quantize/chip_lanes.inc.h"

enum {
    CHIP_ELEMENTS_PART = 256,
    // The least exponents of operands other than +0: no sum or product of a part is then too small
    // for chip_mad.
    CHIP_LEAST_OF_SUM = 28,
    CHIP_LEAST_OF_PRODUCT = 78
};

// Whether every element is +0, or finite with an exponent of at least `least`.
static inline bool chip_all_middling(int32_t least, const float *a, const float *b, size_t n) {
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = qdq_float_bits(a[i]), y = qdq_float_bits(b[i]);
        int32_t of_x = (int32_t)(x >> 23 & 0xFF), of_y = (int32_t)(y >> 23 & 0xFF);
        special |= (CHIP_IF(of_x < least) & CHIP_IF(x != 0)) | CHIP_IF(of_x == 255);
        special |= (CHIP_IF(of_y < least) & CHIP_IF(y != 0)) | CHIP_IF(of_y == 255);
    }
    return special == 0;
}

static inline uint32_t chip_one_add(bool wormhole, uint32_t a, uint32_t b) {
    return chip_mad(wormhole, true, a, CHIP_ONE, b);
}
static inline uint32_t chip_one_subtract(bool wormhole, uint32_t a, uint32_t b) {
    return chip_mad(wormhole, true, b, CHIP_ONE | CHIP_SIGN, a);
}
static inline uint32_t chip_one_multiply(bool wormhole, uint32_t a, uint32_t b) {
    return chip_mad(wormhole, true, a, b, 0);
}

#define CHIP_LOOP(name, NAME, chip, number, least)                                               \
    static void QDQ_ISA_NAME(chip##_##name)(const qdq_elementwise_numbers *numbers,              \
                                            const float *a, const float *b, const uint32_t *c,   \
                                            float *y, size_t n) {                                \
        for (size_t at = 0, part; at < n; at += part) {                                          \
            part = n - at < CHIP_ELEMENTS_PART ? n - at : CHIP_ELEMENTS_PART;                    \
            if (!chip_all_middling(least, a + at, b + at, part)) {                               \
                qdq_chip_elementwise_portable[number][QDQ_CHIP_VECTOR_##NAME](                   \
                    numbers, a + at, b + at, c, y + at, part);                                   \
                continue;                                                                        \
            }                                                                                    \
            for (size_t i = at; i < at + part; i++)                                              \
                y[i] = qdq_float_from_bits(                                                      \
                    chip_one_##name((number) == 0, qdq_float_bits(a[i]), qdq_float_bits(b[i]))); \
        }                                                                                        \
    }
#define CHIP_LOOPS(chip, number)                                   \
    CHIP_LOOP(add, ADD, chip, number, CHIP_LEAST_OF_SUM)           \
    CHIP_LOOP(subtract, SUBTRACT, chip, number, CHIP_LEAST_OF_SUM) \
    CHIP_LOOP(multiply, MULTIPLY, chip, number, CHIP_LEAST_OF_PRODUCT)

CHIP_LOOPS(wormhole, 0)
CHIP_LOOPS(blackhole, 1)

qdq_elementwise_fn *const QDQ_ISA_NAME(chip_elementwise)[QDQ_CHIP_CHIPS][QDQ_CHIP_VECTOR_COUNT] = {
    {QDQ_ISA_NAME(wormhole_add), QDQ_ISA_NAME(wormhole_subtract), QDQ_ISA_NAME(wormhole_multiply)},
    {QDQ_ISA_NAME(blackhole_add), QDQ_ISA_NAME(blackhole_subtract),
     QDQ_ISA_NAME(blackhole_multiply)},
};
