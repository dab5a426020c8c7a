// SPDX-License-Identifier: Apache-2.0
// The kernels of products in a Tenstorrent chip's arithmetic equal qdq_fpu_mvmul, the definition of
// one element, on every instruction set, in all phases and both widths of Dst.
#include "ops/kernels/fpu/fpu_tile.h"
#include "runtime/tenstorrent/fpu.h"
#include "tests/ops/oracle.h"

enum { KINDS = 6 };

// Numbers near 1; of all exponents; any pattern; powers of two, whose sums cancel and tie; zeros
// and denormals among numbers; the ends of the range with infinities and NaN.
static uint32_t element(uint64_t *seed, int kind) {
    uint64_t r = unit_random(seed);
    uint32_t v = (uint32_t)r, exponent = (uint32_t)(r >> 32);
    switch (kind) {
    case 0: return (v & 0x807FFFFF) | (124 + exponent % 6) << 23;
    case 1: return (v & 0x807FFFFF) | (100 + exponent % 60) << 23;
    case 2: return v;
    case 3: return (v & 0x80000000) | (v & 0x600000) | (120 + exponent % 12) << 23;
    case 4: return exponent % 3 ? (v & 0x807F0000) | (126 + exponent % 4) << 23 : v & 0x807FFFFF;
    default: return (v & 0x807FFFFF) | (exponent & 8 ? 248 + exponent % 8 : exponent % 72) << 23;
    }
}

// As earlier tiles leave it: no denormal, no NaN.
static uint32_t first_sum(const qdq_fpu_mode *mode, uint64_t *seed, int kind) {
    uint32_t v = element(seed, kind);
    if (!mode->dst32) v &= 0xFFFF0000;
    if ((v >> 23 & 0xFF) == 255) v &= 0xFF800000;
    return v >> 23 & 0xFF && unit_random(seed) & 1 ? v : 0;
}

static size_t compare(const qdq_fpu_mode *mode, int kind, const size_t size[2], uint64_t *seed) {
    static uint32_t a[QDQ_FPU_ROWS][QDQ_FPU_TILE], b[QDQ_FPU_TILE][QDQ_FPU_COLUMNS];
    static uint32_t want[QDQ_FPU_ROWS][QDQ_FPU_COLUMNS], got[QDQ_FPU_ROWS][QDQ_FPU_COLUMNS];
    static uint32_t first[QDQ_FPU_ROWS][QDQ_FPU_COLUMNS];
    size_t wrong = 0, rows = size[0], columns = size[1];
    for (size_t k = 0; k < QDQ_FPU_TILE; k++) {
        for (size_t row = 0; row < rows; row++) a[row][k] = element(seed, kind);
        for (size_t column = 0; column < QDQ_FPU_COLUMNS; column++)
            b[k][column] = element(seed, kind);
    }
    for (size_t row = 0; row < rows; row++)
        for (size_t column = 0; column < columns; column++) {
            qdq_fpu_operand x[QDQ_FPU_TILE], w[QDQ_FPU_TILE];
            uint32_t sum = first[row][column] = first_sum(mode, seed, kind);
            for (size_t k = 0; k < QDQ_FPU_TILE; k++) {
                x[k] = qdq_fpu_activation(a[row][k]);
                w[k] = qdq_fpu_weight(b[k][column]);
            }
            for (int phase = 0; phase < mode->phases; phase++)
                for (size_t half = 0; half < QDQ_FPU_TILE; half += QDQ_FPU_DEPTH)
                    sum = qdq_fpu_mvmul(mode->chip, mode->dst32, phase, sum, w + half, x + half);
            want[row][column] = sum;
        }
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        memcpy(got, first, sizeof got);
        qdq_fpu_tile_find(1u << isa | 1u << QDQ_ISA_PORTABLE)(mode, rows, columns, a, b, got);
        for (size_t row = 0; row < rows; row++)
            for (size_t column = 0; column < columns; column++)
                if (got[row][column] != want[row][column] && wrong++ < 5)
                    print_error(
                        "isa %d, chip %d, %d phases, Dst of %d, kind %d, %zu %zu: want %08x, "
                        "got %08x\n",
                        isa, (int)mode->chip, mode->phases, mode->dst32 ? 32 : 16, kind, row,
                        column, want[row][column], got[row][column]);
    }
    return wrong;
}

static void every_kernel_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (int round = 0; round < 60; round++)
        for (int modes = 0; modes < 16; modes++) {
            qdq_fpu_mode mode = {modes & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE,
                                 1 + modes / 4, (modes & 2) != 0};
            size_t size[2] = {1 + unit_random(&seed) % QDQ_FPU_ROWS,
                              1 + unit_random(&seed) % QDQ_FPU_COLUMNS};
            assert_int_equal(compare(&mode, round % KINDS, size, &seed), 0);
        }
}

// Eight products at the most and one at each distance, with all signs: halves at every shift.
static void products_at_each_distance_round_halves_up(void **state) {
    (void)state;
    for (int modes = 0; modes < 4; modes++)
        for (uint32_t away = 0; away < 40; away++)
            for (uint32_t signs = 0; signs < 4; signs++) {
                uint32_t a[1][QDQ_FPU_TILE] = {{0}}, b[QDQ_FPU_TILE][QDQ_FPU_COLUMNS] = {{0}};
                uint32_t got[1][QDQ_FPU_COLUMNS] = {{0}};
                qdq_fpu_operand x[QDQ_FPU_TILE], w[QDQ_FPU_TILE];
                qdq_fpu_mode mode = {modes & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE
                                               : QDQ_MULTIPLY_ADD_WORMHOLE,
                                     4, (modes & 2) != 0};
                for (size_t k = 0; k < QDQ_FPU_TILE; k += 2) {
                    a[0][k] = (100 + (uint32_t)k / 8) << 23;
                    a[0][k + 1] = signs << 31 | (100 - away) << 23 | (uint32_t)k << 18;
                }
                for (size_t k = 0; k < QDQ_FPU_TILE; k++)
                    for (size_t j = 0; j < QDQ_FPU_COLUMNS; j++)
                        b[k][j] = (signs >> 1) << 31 | 127u << 23 | (uint32_t)j << 17;
                for (int isa = 0; isa < 32; isa++) {
                    if (!(qdq_cpu_isas() >> isa & 1)) continue;
                    memset(got, 0, sizeof got);
                    qdq_fpu_tile_find(1u << isa | 1u << QDQ_ISA_PORTABLE)(&mode, 1, QDQ_FPU_COLUMNS,
                                                                          a, b, got);
                    for (size_t j = 0; j < QDQ_FPU_COLUMNS; j++) {
                        uint32_t sum = 0;
                        for (size_t k = 0; k < QDQ_FPU_TILE; k++) {
                            x[k] = qdq_fpu_activation(a[0][k]);
                            w[k] = qdq_fpu_weight(b[k][j]);
                        }
                        for (int phase = 0; phase < 4; phase++)
                            for (size_t half = 0; half < QDQ_FPU_TILE; half += QDQ_FPU_DEPTH)
                                sum = qdq_fpu_mvmul(mode.chip, mode.dst32, phase, sum, w + half,
                                                    x + half);
                        assert_int_equal(got[0][j], sum);
                    }
                }
            }
}

// 1 * 1 - (1 + 2^-23) is -2^-23, the last bit of Dst; Wormhole has -2^4 by an error.
static void wormhole_misplaces_a_sum_of_minus_one_unit(void **state) {
    (void)state;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        for (int chip = 0; chip < 2; chip++) {
            uint32_t a[1][QDQ_FPU_TILE] = {{0x3F800000}}, sums[1][QDQ_FPU_COLUMNS] = {{0}};
            uint32_t b[QDQ_FPU_TILE][QDQ_FPU_COLUMNS] = {{0}};
            qdq_fpu_mode mode = {chip ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE, 1,
                                 true};
            for (size_t j = 0; j < QDQ_FPU_COLUMNS; j++)
                b[0][j] = 0x3F800000, sums[0][j] = 0xBF800001;
            qdq_fpu_tile_find(1u << isa | 1u << QDQ_ISA_PORTABLE)(&mode, 1, QDQ_FPU_COLUMNS, a, b,
                                                                  sums);
            for (size_t j = 0; j < QDQ_FPU_COLUMNS; j++)
                assert_int_equal(sums[0][j], chip ? 0xB4000000 : 0xC1800000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_gives_the_bits_of_the_definition),
        cmocka_unit_test(wormhole_misplaces_a_sum_of_minus_one_unit),
        cmocka_unit_test(products_at_each_distance_round_halves_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
