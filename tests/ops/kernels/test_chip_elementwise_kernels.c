// SPDX-License-Identifier: Apache-2.0
// The kernels of elementwise functions on a chip equal the definition of one element on every
// instruction set: all pairs of special patterns, patterns next to each other, and random ones, in
// arrays of every length up to some parts.
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "runtime/base/cpu.h"
#include "runtime/numerics/dtype.h"
#include "tests/unit.h"

enum { COUNT = 60000 };

static const uint32_t specials[] = {
    0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x3F7FFFFF,
    0x3F800000, 0xBF800000, 0x3F800001, 0x40000000, 0x4B000000, 0xCB000001, 0x34000000, 0x33800000,
    0xB3800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F000000, 0x7E800000, 0x7F800000, 0xFF800000, 0x7FC00000,
    0xFFC00000, 0x7F800001, 0xFFC12345, 0x3F810000, 0x3B800000, 0xBB000000, 0x3A000000, 0x007F0000};
enum { SPECIALS = sizeof specials / sizeof specials[0] };

// Puts the exponent into first..first + count - 1.
static uint32_t with_exponent(uint32_t bits, uint32_t first, uint32_t count) {
    uint32_t exponent = first + (bits >> 23 & 0xFF) % count;
    return (bits & 0x807FFFFF) | exponent << 23;
}

// Special pairs, pairs that nearly cancel, short significands, then random ones: first with all
// exponents, then, from WILD on, with those that vector kernels take for sums, for products, and
// for quotients.
static void fill(uint32_t *a, uint32_t *b, bool narrow) {
    enum { WILD = COUNT / 4, OF_PRODUCTS = COUNT / 2, OF_QUOTIENTS = COUNT * 3 / 4 };
    uint64_t seed = 7;
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t u = (uint32_t)unit_random(&seed), v = (uint32_t)unit_random(&seed);
        if (i < SPECIALS * SPECIALS)
            u = specials[i / SPECIALS], v = specials[i % SPECIALS];
        else if (i % 4 == 0)
            v = (u ^ 0x80000000) + v % 64 - 32;
        else if (i % 4 == 1)
            u = with_exponent(u & 0xFFFFF000, 110, 30), v = with_exponent(v & 0xFFFFF000, 110, 37);
        else if (i % 4 == 2)
            v = (v & 0x807FFFFF) | (u & 0x7F800000);
        if (i >= WILD) {
            uint32_t first = i < OF_PRODUCTS ? 28 : 78, last = i < OF_QUOTIENTS ? 255 : 177;
            bool zero = i % 50 == 7 && i < COUNT * 7 / 8, zero_divisor = i % 70 == 9;
            u = zero ? 0 : with_exponent(u, first, last - first);
            v = zero_divisor && i < OF_QUOTIENTS ? 0 : with_exponent(v, first, last - first);
        }
        a[i] = narrow ? u & 0xFFFF0000 : u;
        b[i] = narrow ? v & 0xFFFF0000 : v;
    }
}

static uint32_t define(qdq_elementwise function, qdq_multiply_add chip, qdq_chip_formats formats,
                       uint32_t a, uint32_t b) {
    switch ((int)function) {
#define BINARY(name, ...) \
    case QDQ_ELEMENTWISE_##name: return qdq_chip_##name(chip, formats, a, b);
        QDQ_CHIP_BINARY_LIST(BINARY)
#define UNARY(name, ...) \
    case QDQ_ELEMENTWISE_##name: return qdq_chip_##name(chip, formats, a);
        QDQ_CHIP_UNARY_LIST(UNARY)
    default: fail();
    }
    return 0;
}

static const qdq_elementwise functions[] = {
#define FUNCTION(name, ...) QDQ_ELEMENTWISE_##name,
    QDQ_CHIP_BINARY_LIST(FUNCTION) QDQ_CHIP_UNARY_LIST(FUNCTION)};

// Returns whether there is a kernel.
static bool check(qdq_elementwise function, qdq_multiply_add chip, qdq_chip_formats formats,
                  uint32_t isas, const float *a, const float *b) {
    static float y[COUNT];
    qdq_dtype x_dtype = formats == QDQ_CHIP_FLOAT32 ? QDQ_FLOAT32 : QDQ_BFLOAT16;
    qdq_dtype y_dtype = formats == QDQ_CHIP_BFLOAT16 ? QDQ_BFLOAT16 : QDQ_FLOAT32;
    qdq_elementwise_fn *fn =
        qdq_chip_elementwise_find(function, chip, x_dtype, x_dtype, y_dtype, isas);
    if (!fn) return false;
    for (size_t i = 0, n; i < COUNT; i += n) {
        n = 1 + i % 777 < COUNT - i ? 1 + i % 777 : COUNT - i;
        fn(NULL, a + i, b + i, NULL, y + i, n);
    }
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t x0 = qdq_float_bits(a[i]), x1 = qdq_float_bits(b[i]);
        uint32_t want = define(function, chip, formats, x0, x1), got = qdq_float_bits(y[i]);
        if (got != want)
            fail_msg("function %d, chip %d, formats %d, isas %x: %08X, %08X: got %08X, want %08X",
                     (int)function, (int)chip, (int)formats, isas, x0, x1, got, want);
    }
    return true;
}

static void kernels_equal_the_definition_on_every_instruction_set(void **state) {
    (void)state;
    static uint32_t bits[2][COUNT];
    static float a[COUNT], b[COUNT];
    size_t kernels = 0;
    for (int formats = 0; formats < QDQ_CHIP_FORMATS_COUNT; formats++) {
        fill(bits[0], bits[1], formats != QDQ_CHIP_FLOAT32);
        memcpy(a, bits[0], sizeof a), memcpy(b, bits[1], sizeof b);
        for (size_t f = 0; f < UNIT_COUNT(functions); f++)
            for (int chip = QDQ_MULTIPLY_ADD_WORMHOLE; chip <= QDQ_MULTIPLY_ADD_BLACKHOLE; chip++)
                for (int isa = 0; isa < 32; isa++)
                    if (qdq_cpu_isas() >> isa & 1)
                        kernels +=
                            check(functions[f], (qdq_multiply_add)chip, (qdq_chip_formats)formats,
                                  1u << isa | 1u << QDQ_ISA_PORTABLE, a, b);
    }
    assert_true(kernels >= 44);
}

static void dtypes_that_no_source_states_have_no_kernel(void **state) {
    (void)state;
    const qdq_multiply_add chip = QDQ_MULTIPLY_ADD_WORMHOLE;
    const qdq_elementwise add = QDQ_ELEMENTWISE_add;
    const uint32_t isas = qdq_cpu_isas();
    assert_null(qdq_chip_elementwise_find(add, QDQ_MULTIPLY_ADD_IEEE, QDQ_FLOAT32, QDQ_FLOAT32,
                                          QDQ_FLOAT32, isas));
    assert_null(qdq_chip_elementwise_find(add, chip, QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT32, isas));
    assert_null(qdq_chip_elementwise_find(add, chip, QDQ_FLOAT32, QDQ_FLOAT32, QDQ_BFLOAT16, isas));
    assert_null(qdq_chip_elementwise_find(add, chip, QDQ_INT32, QDQ_INT32, QDQ_INT32, isas));
    assert_null(qdq_chip_elementwise_find(add, chip, QDQ_FLOAT16, QDQ_FLOAT16, QDQ_FLOAT16, isas));
    assert_null(qdq_chip_elementwise_find(QDQ_ELEMENTWISE_exp, chip, QDQ_FLOAT32, QDQ_FLOAT32,
                                          QDQ_FLOAT32, isas));
    assert_null(qdq_chip_elementwise_find(QDQ_ELEMENTWISE_reciprocal, chip, QDQ_BFLOAT16,
                                          QDQ_BFLOAT16, QDQ_BFLOAT16, isas));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_equal_the_definition_on_every_instruction_set),
        cmocka_unit_test(dtypes_that_no_source_states_have_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
