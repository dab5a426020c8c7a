// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of Tenstorrent chips: worked examples of the multiply-add and of the matrix
// unit, special values, and statements that hold for all numbers.
#include <math.h>

#include "runtime/tenstorrent/eltwise.h"
#include "runtime/tenstorrent/fpu.h"
#include "tests/unit.h"

static const qdq_multiply_add chips[2] = {QDQ_MULTIPLY_ADD_WORMHOLE, QDQ_MULTIPLY_ADD_BLACKHOLE};

typedef uint32_t binary_fn(qdq_multiply_add chip, qdq_chip_formats formats, uint32_t a, uint32_t b);

// Operands and results on Wormhole and on Blackhole.
typedef struct example {
    binary_fn *fn;
    qdq_chip_formats formats;
    uint32_t a, b, want[2];
} example;

static void check(const example *examples, size_t count) {
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < 2; c++) {
            const example *e = &examples[i];
            uint32_t got = e->fn(chips[c], e->formats, e->a, e->b);
            if (got != e->want[c])
                fail_msg("example %zu, chip %d: %08X with %08X gives %08X, wanted %08X", i, c,
                         (unsigned)e->a, (unsigned)e->b, (unsigned)got, (unsigned)e->want[c]);
        }
}

// Rows of the multiply-add's table with a factor of 1, or an addend of +0.
static void float32_goes_through_one_multiply_add(void **state) {
    (void)state;
    static const example examples[] = {
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0x80000000, 0x80000000, {0, 0x80000000}},
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0xFF800000, 0x7F800000, {0xFF800001, 0x7FC00000}},
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0xFFC00000, 0x3F800000, {0xFF800001, 0x7FC00000}},
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0x3F800000, 0xFFC12345, {0xFF800001, 0x7FC00000}},
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0x00400000, 0x3F800000, {0x3F800000, 0x3F800000}},
        {qdq_chip_add, QDQ_CHIP_FLOAT32, 0x3F800000, 0x40000000, {0x40400000, 0x40400000}},
        {qdq_chip_subtract, QDQ_CHIP_FLOAT32, 0x40400000, 0x3F800000, {0x40000000, 0x40000000}},
        {qdq_chip_subtract, QDQ_CHIP_FLOAT32, 0x3F800000, 0x3F800000, {0, 0}},
        {qdq_chip_subtract, QDQ_CHIP_FLOAT32, 0x80000000, 0x00000000, {0, 0x80000000}},
        {qdq_chip_subtract, QDQ_CHIP_FLOAT32, 0x3F800000, 0x7F800000, {0xFF800000, 0xFF800000}},
        {qdq_chip_multiply, QDQ_CHIP_FLOAT32, 0x80800000, 0x3F000000, {0, 0x80000000}},
        {qdq_chip_multiply, QDQ_CHIP_FLOAT32, 0x00400000, 0x7F000000, {0, 0}},
        {qdq_chip_multiply, QDQ_CHIP_FLOAT32, 0x00800001, 0x3F7FFFFF, {0x00800000, 0x00800000}},
        {qdq_chip_multiply, QDQ_CHIP_FLOAT32, 0x7F800000, 0x00000000, {0x7F800001, 0x7FC00000}},
        {qdq_chip_multiply, QDQ_CHIP_FLOAT32, 0x7F7FFFFF, 0x40000000, {0x7F800000, 0x7F800000}},
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0x3F800000, 0x80000000, {0xFF800000, 0xFF800000}},
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0x00000000, 0x80000000, {0xFF800001, 0x7FC00000}},
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0xBF800000, 0x7F800000, {0, 0}},
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0x80000000, 0x3F800000, {0, 0}},
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0x7F800000, 0xC0000000, {0xFF800000, 0xFF800000}},
        // The quotient is below the normal numbers, and Blackhole keeps its sign.
        {qdq_chip_divide, QDQ_CHIP_FLOAT32, 0x80800000, 0x40000000, {0, 0x80000000}},
    };
    check(examples, UNIT_COUNT(examples));
}

// The first three rows are worked examples of ELWADD; its operands keep 11 bits.
static void sums_of_bfloat16_go_through_the_matrix_unit(void **state) {
    (void)state;
#define WIDE QDQ_CHIP_BFLOAT16_TO_FLOAT32
    static const example examples[] = {
        {qdq_chip_add, WIDE, 0x3F800000, 0x3B800000, {0x3F808000, 0x3F808000}},
        {qdq_chip_add, WIDE, 0x3F800000, 0xBB000000, {0x3F7F8000, 0x3F7F8000}},
        {qdq_chip_add, WIDE, 0x3F800000, 0x3A000000, {0x3F802000, 0x3F802000}},
        {qdq_chip_subtract, WIDE, 0x3F800000, 0x3B000000, {0x3F7F8000, 0x3F7F8000}},
        {qdq_chip_add, WIDE, 0x80000000, 0x80000000, {0, 0}},
        {qdq_chip_add, WIDE, 0x3F800000, 0xBF800000, {0, 0}},
        {qdq_chip_add, WIDE, 0x00400000, 0x3F800000, {0x3F800000, 0x3F800000}},
        // Exponents of 255 are numbers: two infinities of one sign overflow, others cancel.
        {qdq_chip_add, QDQ_CHIP_BFLOAT16, 0x7F800000, 0x7F800000, {0x7F800000, 0x7F800000}},
        {qdq_chip_subtract, QDQ_CHIP_BFLOAT16, 0x7F800000, 0x7F800000, {0, 0}},
        // 1 + 2^-8 is a tie in bfloat16 and goes away from zero.
        {qdq_chip_add, QDQ_CHIP_BFLOAT16, 0x3F800000, 0x3B800000, {0x3F810000, 0x3F810000}},
        {qdq_chip_add, QDQ_CHIP_BFLOAT16, 0xBF800000, 0xBB800000, {0xBF810000, 0xBF810000}},
    };
    check(examples, UNIT_COUNT(examples));
}

static void products_of_bfloat16_round_half_to_even(void **state) {
    (void)state;
    static const example examples[] = {
        // Ties: 193.5 and 196.5 units of 2^-7.
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0x3F810000, 0x3FC00000, {0x3FC20000, 0x3FC20000}},
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0x3F830000, 0x3FC00000, {0x3FC40000, 0x3FC40000}},
        // A zero times anything is +0.
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0x7F800000, 0x00000000, {0, 0}},
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0x7FC00000, 0x80000000, {0, 0}},
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0xBF800000, 0x00400000, {0, 0}},
        // A NaN is packed as infinity.
        {qdq_chip_multiply, QDQ_CHIP_BFLOAT16, 0x7FC00000, 0x3F800000, {0x7F800000, 0x7F800000}},
        {qdq_chip_divide, QDQ_CHIP_BFLOAT16, 0x00000000, 0x00000000, {0x7F800000, 0x7F800000}},
        {qdq_chip_divide, QDQ_CHIP_BFLOAT16, 0xBF800000, 0x00000000, {0xFF800000, 0xFF800000}},
        // The reciprocal of 2^126 is 0 on Blackhole alone.
        {qdq_chip_divide, QDQ_CHIP_BFLOAT16, 0x7E800000, 0x7E800000, {0x3F800000, 0}},
        // Into float32 a product is exact.
        {qdq_chip_multiply,
         QDQ_CHIP_BFLOAT16_TO_FLOAT32,
         0x3F810000,
         0x3F810000,
         {0x3F820200, 0x3F820200}},
    };
    check(examples, UNIT_COUNT(examples));
}

// A quotient of two bfloat16 is never so near to a tie that the reciprocal's error matters.
static void quotients_of_bfloat16_are_correctly_rounded(void **state) {
    (void)state;
    for (uint32_t a = 0x3F80; a < 0x4000; a++)
        for (uint32_t b = 0x3F80; b < 0x4000; b++) {
            float quotient = unit_float_of_bits(a << 16) / unit_float_of_bits(b << 16);
            uint32_t bits = unit_bits_of_float(quotient);
            uint32_t want = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000;
            for (int c = 0; c < 2; c++)
                assert_int_equal(qdq_chip_divide(chips[c], QDQ_CHIP_BFLOAT16, a << 16, b << 16),
                                 want);
        }
}

static void extremes_follow_the_total_order(void **state) {
    (void)state;
    static const uint32_t plus_nan = 0x7FC00000, minus_nan = 0xFFC00000, one = 0x3F800000;
    for (int c = 0; c < 2; c++) {
        qdq_multiply_add chip = chips[c];
        assert_int_equal(qdq_chip_maximum(chip, QDQ_CHIP_FLOAT32, one, plus_nan), plus_nan);
        assert_int_equal(qdq_chip_maximum(chip, QDQ_CHIP_FLOAT32, minus_nan, one), one);
        assert_int_equal(qdq_chip_minimum(chip, QDQ_CHIP_FLOAT32, one, plus_nan), one);
        assert_int_equal(qdq_chip_minimum(chip, QDQ_CHIP_FLOAT32, minus_nan, one), minus_nan);
        assert_int_equal(qdq_chip_minimum(chip, QDQ_CHIP_FLOAT32, 0, 0x80000000), 0x80000000);
        assert_int_equal(qdq_chip_maximum(chip, QDQ_CHIP_BFLOAT16, one, plus_nan), 0x7F800000);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_FLOAT32, plus_nan), plus_nan);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_FLOAT32, minus_nan), 0);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_FLOAT32, 0x80000000), 0);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_FLOAT32, 0x007FFFFF), 0);  // a denormal
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_BFLOAT16, plus_nan), 0x7F800000);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_BFLOAT16, 0x40A00000), 0x40A00000);
        assert_int_equal(qdq_chip_relu(chip, QDQ_CHIP_BFLOAT16, 0xC0A00000), 0);
    }
}

// The sum of two float32 has one rounding, as IEEE's has, unless alignment forgets the lesser term:
// then a tie stays a tie.
static void sums_of_float32_equal_ieee_if_no_term_is_forgotten(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 200000; i++) {
        uint32_t a = (uint32_t)unit_random(&seed), b = (uint32_t)unit_random(&seed);
        a = (a & 0x807FFFFF) | (100 + a % 7) << 23, b = (b & 0x807FFFFF) | (100 + b % 23) << 23;
        uint32_t want = unit_bits_of_float(unit_float_of_bits(a) + unit_float_of_bits(b));
        for (int c = 0; c < 2; c++)
            assert_int_equal(qdq_chip_add(chips[c], QDQ_CHIP_FLOAT32, a, b), want);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_goes_through_one_multiply_add),
        cmocka_unit_test(sums_of_bfloat16_go_through_the_matrix_unit),
        cmocka_unit_test(products_of_bfloat16_round_half_to_even),
        cmocka_unit_test(quotients_of_bfloat16_are_correctly_rounded),
        cmocka_unit_test(extremes_follow_the_total_order),
        cmocka_unit_test(sums_of_float32_equal_ieee_if_no_term_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
