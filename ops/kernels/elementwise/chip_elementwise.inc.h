// SPDX-License-Identifier: Apache-2.0
// Elementwise functions on a chip, in plain C that compilers turn into vectors. Included once for
// each instruction set. Parts with an element that the lanes of a function do not take, or whose
// zero could have a sign, go to the portable kernel.
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "ops/kernels/quantize/chip_bfloat16.inc.h"

enum { CHIP_ELEMENTS_PART = 256 };

//---- Ranges of the lanes ----------------------------------------------------

// True if every element has an exponent from least to most, or equals 0 in the bits `zero`.
static QDQ_RARE bool chip_all_within(const float *v, size_t n, int32_t least, int32_t most,
                                     uint32_t zero) {
    uint32_t special = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = qdq_float_bits(v[i]);
        int32_t exponent = (int32_t)(bits >> 23 & 0xFF);
        special |= (CHIP_IF(exponent < least) | CHIP_IF(exponent > most)) &
                   CHIP_IF((int32_t)(bits & zero) != 0);
    }
    return special == 0;
}

// +0 is taken, or every zero and denormal.
#define CHIP_PLUS_ZERO 0xFFFFFFFFu
#define CHIP_ANY_ZERO CHIP_INFINITY

// The least exponents with which no sum, product or quotient is too small for the lanes.
enum { CHIP_LEAST_OF_SUM = 28, CHIP_LEAST_OF_PRODUCT = 78, CHIP_MOST_OF_DIVISOR = 176 };

static inline bool chip_any(const float *a, const float *b, size_t n) {
    (void)a, (void)b, (void)n;
    return true;
}
static inline bool chip_fits_sum(const float *a, const float *b, size_t n) {
    return chip_all_within(a, n, CHIP_LEAST_OF_SUM, 254, CHIP_PLUS_ZERO) &&
           chip_all_within(b, n, CHIP_LEAST_OF_SUM, 254, CHIP_PLUS_ZERO);
}
static inline bool chip_fits_short_sum(const float *a, const float *b, size_t n) {
    return chip_all_within(a, n, CHIP_LEAST_OF_SUM, 254, CHIP_ANY_ZERO) &&
           chip_all_within(b, n, CHIP_LEAST_OF_SUM, 254, CHIP_ANY_ZERO);
}
static inline bool chip_fits_product(const float *a, const float *b, size_t n) {
    return chip_all_within(a, n, CHIP_LEAST_OF_PRODUCT, 254, CHIP_PLUS_ZERO) &&
           chip_all_within(b, n, CHIP_LEAST_OF_PRODUCT, 254, CHIP_PLUS_ZERO);
}
static inline bool chip_fits_short_product(const float *a, const float *b, size_t n) {
    return chip_all_within(a, n, CHIP_LEAST_OF_PRODUCT, 254, CHIP_ANY_ZERO) &&
           chip_all_within(b, n, CHIP_LEAST_OF_PRODUCT, 254, CHIP_ANY_ZERO);
}
// True if no quotient leaves the range of the lanes. A divisor is never 0: chip_all_within would
// take a zero whose bits are not tested.
static inline bool chip_fits_quotient(const float *a, const float *b, size_t n) {
    uint32_t zeros = 0;
    for (size_t i = 0; i < n; i++)
        zeros |= CHIP_IF((int32_t)(qdq_float_bits(b[i]) & CHIP_INFINITY) == 0);
    return !zeros && chip_all_within(a, n, CHIP_LEAST_OF_PRODUCT, 254, CHIP_ANY_ZERO) &&
           chip_all_within(b, n, CHIP_LEAST_OF_PRODUCT, CHIP_MOST_OF_DIVISOR, CHIP_ANY_ZERO);
}
static inline bool chip_fits_reciprocal(const float *a, const float *b, size_t n) {
    return chip_fits_quotient(b, a, n);
}

#define CHIP_FITS_add_float32 chip_fits_sum
#define CHIP_FITS_add_bfloat16 chip_fits_short_sum
#define CHIP_FITS_add_widened chip_fits_short_sum
#define CHIP_FITS_subtract_float32 chip_fits_sum
#define CHIP_FITS_subtract_bfloat16 chip_fits_short_sum
#define CHIP_FITS_subtract_widened chip_fits_short_sum
#define CHIP_FITS_multiply_float32 chip_fits_product
#define CHIP_FITS_multiply_bfloat16 chip_any
#define CHIP_FITS_multiply_widened chip_fits_short_product
#define CHIP_FITS_divide_float32 chip_fits_quotient
#define CHIP_FITS_divide_bfloat16 chip_fits_quotient
#define CHIP_FITS_divide_widened chip_fits_quotient
#define CHIP_FITS_minimum_float32 chip_any
#define CHIP_FITS_minimum_bfloat16 chip_any
#define CHIP_FITS_minimum_widened chip_any
#define CHIP_FITS_maximum_float32 chip_any
#define CHIP_FITS_maximum_bfloat16 chip_any
#define CHIP_FITS_maximum_widened chip_any
#define CHIP_FITS_relu_float32 chip_any
#define CHIP_FITS_relu_bfloat16 chip_any
#define CHIP_FITS_relu_widened chip_any
#define CHIP_FITS_reciprocal_float32 chip_fits_reciprocal

//---- Lanes ------------------------------------------------------------------

// As qdq_sfp_store: denormals become zero with their sign.
static inline uint32_t chip_store(uint32_t v) {
    return v & (CHIP_SIGN | CHIP_IF((int32_t)(v & CHIP_INFINITY) != 0));
}

// Returns the place of a pattern in the total order.
static inline int32_t chip_place_of(uint32_t v) {
    return (int32_t)(v ^ ((uint32_t)((int32_t)v >> 31) & ~CHIP_SIGN));
}
static inline uint32_t chip_least_of(uint32_t a, uint32_t b) {
    return chip_pick(CHIP_IF(chip_place_of(a) < chip_place_of(b)), a, b);
}
static inline uint32_t chip_most_of(uint32_t a, uint32_t b) {
    return chip_pick(CHIP_IF(chip_place_of(a) > chip_place_of(b)), a, b);
}

// Operands of bfloat16 in the vector unit; results of these are exact there.
#define CHIP_LANE(name, formats, ...)                                                       \
    static inline uint32_t chip_##name##_##formats(bool wormhole, uint32_t a, uint32_t b) { \
        (void)wormhole, (void)b;                                                            \
        return __VA_ARGS__;                                                                 \
    }
CHIP_LANE(add, float32, chip_mad(wormhole, true, a, CHIP_ONE, b))
CHIP_LANE(add, bfloat16, chip_upper_away(chip_short_sum(a, b)))
CHIP_LANE(add, widened, chip_short_sum(a, b))
CHIP_LANE(subtract, float32, chip_mad(wormhole, true, b, CHIP_ONE | CHIP_SIGN, a))
CHIP_LANE(subtract, bfloat16, chip_upper_away(chip_short_sum(a, b ^ CHIP_SIGN)))
CHIP_LANE(subtract, widened, chip_short_sum(a, b ^ CHIP_SIGN))
CHIP_LANE(multiply, float32, chip_mad(wormhole, true, a, b, 0))
CHIP_LANE(multiply, bfloat16, chip_short_product(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(multiply, widened, chip_wide_product(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(divide, float32, chip_divide_seeded(a, b, chip_seed(wormhole, b)))
CHIP_LANE(divide, bfloat16, chip_short_product(chip_loaded(a), chip_reciprocal(wormhole, b)))
CHIP_LANE(divide, widened, chip_divide_float32(wormhole, a, b))
CHIP_LANE(minimum, float32, chip_store(chip_least_of(a, b)))
CHIP_LANE(minimum, bfloat16, chip_least_of(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(minimum, widened, chip_least_of(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(maximum, float32, chip_store(chip_most_of(a, b)))
CHIP_LANE(maximum, bfloat16, chip_most_of(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(maximum, widened, chip_most_of(chip_loaded(a), chip_loaded(b)))
CHIP_LANE(relu, float32, chip_store(chip_most_of(a, 0)))
CHIP_LANE(relu, bfloat16, chip_most_of(chip_loaded(a), 0))
CHIP_LANE(relu, widened, chip_most_of(chip_loaded(a), 0))
CHIP_LANE(reciprocal, float32, chip_reciprocal(wormhole, a))

//---- Loops ------------------------------------------------------------------

enum { CHIP_OF_wormhole = 1, CHIP_OF_blackhole = 0 };

// The kernel of a chip, and its loops, which know the kernel for parts beyond their range. gcc
// folds loops that are the same on both chips.
#define CHIP_LOOP(name, formats, FORMATS, chip, CHIP, second)                                   \
    static QDQ_RARE void chip_##name##_##chip##_##formats(                                      \
        qdq_elementwise_fn *beyond, const qdq_elementwise_numbers *numbers, const float *a,     \
        const float *b, const uint32_t *c, float *y, size_t n) {                                \
        (void)b;                                                                                \
        for (size_t at = 0, part; at < n; at += part) {                                         \
            part = n - at < CHIP_ELEMENTS_PART ? n - at : CHIP_ELEMENTS_PART;                   \
            if (!CHIP_FITS_##name##_##formats(a + at, (second) + at, part)) {                   \
                beyond(numbers, a + at, (second) + at, c, y + at, part);                        \
                continue;                                                                       \
            }                                                                                   \
            for (size_t i = at; i < at + part; i++)                                             \
                y[i] = qdq_float_from_bits(chip_##name##_##formats(                             \
                    CHIP_OF_##chip, qdq_float_bits(a[i]), qdq_float_bits((second)[i])));        \
        }                                                                                       \
    }                                                                                           \
    static void QDQ_ISA_NAME(name##_##chip##_##formats)(const qdq_elementwise_numbers *numbers, \
                                                        const void *a, const void *b,           \
                                                        const uint32_t *c, void *y, size_t n) { \
        chip_##name##_##chip##_##formats(                                                       \
            qdq_chip_elementwise_portable[QDQ_ELEMENTWISE_##name]                               \
                                         [QDQ_MULTIPLY_ADD_##CHIP - QDQ_MULTIPLY_ADD_WORMHOLE]  \
                                         [QDQ_CHIP_##FORMATS],                                  \
            numbers, a, b, c, y, n);                                                            \
    }
#define CHIP_BINARY(name, formats, FORMATS, chip, CHIP) \
    CHIP_LOOP(name, formats, FORMATS, chip, CHIP, b)
#define CHIP_UNARY(name, formats, FORMATS, chip, CHIP) \
    CHIP_LOOP(name, formats, FORMATS, chip, CHIP, a)
#define CHIP_BINARY_LOOPS(name, formats) QDQ_CHIP_OF_##formats(CHIP_BINARY, name)
#define CHIP_UNARY_LOOPS(name, formats) QDQ_CHIP_OF_##formats(CHIP_UNARY, name)

QDQ_CHIP_BINARY_LIST(CHIP_BINARY_LOOPS)
QDQ_CHIP_UNARY_LIST(CHIP_UNARY_LOOPS)

#define CHIP_ROW(name, formats, FORMATS, chip, CHIP) \
    QDQ_CHIP_ROW(QDQ_ISA_NAME(name##_##chip##_##formats), name, FORMATS, CHIP)
#define CHIP_ROWS(name, formats) QDQ_CHIP_OF_##formats(CHIP_ROW, name)
const qdq_chip_functions QDQ_ISA_NAME(chip_elementwise)[QDQ_ELEMENTWISE_COUNT] = {
    QDQ_CHIP_BINARY_LIST(CHIP_ROWS) QDQ_CHIP_UNARY_LIST(CHIP_ROWS)};
