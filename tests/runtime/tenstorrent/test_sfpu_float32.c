// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float32 on Tenstorrent chips: samples of published vectors.
#include "tests/runtime/tenstorrent/sfpu_cases.h"

typedef struct sample {
    qdq_sfpu_op op;
    qdq_sfpu_generation generation;
    float a;
    uint32_t x, want[2];  // on Wormhole and Blackhole
} sample;

static void samples_equal_published_vectors(void **state) {
    (void)state;
    static const sample samples[] = {
        {QDQ_SFPU_EXP, TABLES, 0, 0x3FFACC94, {0x40E308F5, 0x40E308F5}},
        {QDQ_SFPU_EXP, TABLES, 0, 0x3FB6B9E5, {0x40856412, 0x40856412}},
        {QDQ_SFPU_EXP, TABLES, 0, 0x3ED7E36D, {0x3FC32257, 0x3FC32257}},
        {QDQ_SFPU_EXP, TABLES, 0, 0xBFFC027E, {0x3E0EF8B8, 0x3E0EF8B8}},
        {QDQ_SFPU_EXP, TABLES, 0, 0xC01ED771, {0x3DAB2E40, 0x3DAB2E40}},
        {QDQ_SFPU_EXP, TABLES, 0, 0xC06E3327, {0x3CC62742, 0x3CC62742}},
        {QDQ_SFPU_EXP, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_EXP, TABLES, 0, 0xFF800000, {0x00000000, 0x00000000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3F800000, {0x3F3B26A8, 0x3F3B26A9}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x40AB8C2C, {0x3F7ECDA0, 0x3F7ECDA1}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3FFACC94, {0x3F605FFB, 0x3F605FFA}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x4031FF64, {0x3F71101D, 0x3F71101D}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3F20835B, {0x3F26DD03, 0x3F26DD03}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3E82A005, {0x3F103D7A, 0x3F103D7A}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0xBFFC027E, {0x3DFAE929, 0x3DFAE929}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x7FC00000, {0x80000000, 0x00000000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0xFF800000, {0x00000000, 0x00000000}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x3F800000, {0x3F3B26A8, 0x3F3B26A9}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x40AB8C2C, {0x40AABEDE, 0x40AABEDF}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x3FFACC94, {0x3FDBD109, 0x3FDBD108}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x4031FF64, {0x40279CA1, 0x40279CA1}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x3F20835B, {0x3ED13F81, 0x3ED13F81}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x4087CB87, {0x4085DF88, 0x4085DF88}},
        {QDQ_SFPU_SILU, TABLES, 0, 0xBFFC027E, {0xBE76FFF6, 0xBE76FFF6}},
        {QDQ_SFPU_SILU, TABLES, 0, 0x7FC00000, {0xFF800001, 0x7FC00000}},
        {QDQ_SFPU_SILU, TABLES, 0, 0xFF800000, {0xFF800001, 0x7FC00000}},
        {QDQ_SFPU_TANH, TABLES, 0, 0xBE65B07E, {0xBE61E9CB, 0xBE61E9CB}},
        {QDQ_SFPU_TANH, TABLES, 0, 0x3FFACC94, {0x3F7606D2, 0x3F7606D2}},
        {QDQ_SFPU_TANH, TABLES, 0, 0x3FB6B9E5, {0x3F642343, 0x3F642343}},
        {QDQ_SFPU_TANH, TABLES, 0, 0x3ED7E36D, {0x3ECBF150, 0x3ECBF150}},
        {QDQ_SFPU_TANH, TABLES, 0, 0xBFFC027E, {0xBF7635BF, 0xBF7635BF}},
        {QDQ_SFPU_TANH, TABLES, 0, 0xC01ED771, {0xBF7C72A4, 0xBF7C72A4}},
        {QDQ_SFPU_TANH, TABLES, 0, 0xC06E3327, {0xBF7FB35B, 0xBF7FB35B}},
        {QDQ_SFPU_TANH, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_TANH, TABLES, 0, 0xFF800000, {0xBF800000, 0xBF800000}},
        {QDQ_SFPU_TANH, OLD, 0, 0x40AB8C2C, {0x3F7FFD1C, 0x3F7FFD1E}},
        {QDQ_SFPU_TANH, OLD, 0, 0x4031FF64, {0x3F7E0AAC, 0x3F7E0AAE}},
        {QDQ_SFPU_TANH, OLD, 0, 0xBF3F6AD3, {0xBF224000, 0xBF223FFF}},
        {QDQ_SFPU_TANH, OLD, 0, 0x3FB6B9E5, {0x3F642342, 0x3F642342}},
        {QDQ_SFPU_TANH, OLD, 0, 0x3ED7E36D, {0x3ECBF150, 0x3ECBF150}},
        {QDQ_SFPU_TANH, OLD, 0, 0x3F8AE329, {0x3F4B8984, 0x3F4B8984}},
        {QDQ_SFPU_TANH, OLD, 0, 0xBFFC027E, {0xBF7635C0, 0xBF7635C0}},
        {QDQ_SFPU_TANH, OLD, 0, 0x7FC00000, {0xBF800000, 0xBF800000}},
        {QDQ_SFPU_TANH, OLD, 0, 0xFF800000, {0xBF800000, 0xBF800000}},
        {QDQ_SFPU_GELU, TABLES, 0, 0xBFE8CA9C, {0xBD806D1A, 0xBD806D22}},
        {QDQ_SFPU_GELU, TABLES, 0, 0x3FFACC94, {0x3FF48539, 0x3FF4853B}},
        {QDQ_SFPU_GELU, TABLES, 0, 0xC06E3327, {0xB9C0E5CD, 0xB9C10393}},
        {QDQ_SFPU_GELU, TABLES, 0, 0x3ED7E36D, {0x3E8F3653, 0x3E8F3653}},
        {QDQ_SFPU_GELU, TABLES, 0, 0x4031FF64, {0x40318400, 0x40318400}},
        {QDQ_SFPU_GELU, TABLES, 0, 0x3F20835B, {0x3EEBD951, 0x3EEBD951}},
        {QDQ_SFPU_GELU, TABLES, 0, 0xC01ED771, {0xBC84D9EF, 0xBC84D9EF}},
        {QDQ_SFPU_GELU, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_GELU, TABLES, 0, 0xFF800000, {0x00000000, 0x00000000}},
        {QDQ_SFPU_SQRT, TABLES, 0, 0x3FB6B9E5, {0x3F98EF38, 0x3F98EF38}},
        {QDQ_SFPU_SQRT, TABLES, 0, 0x3ED7E36D, {0x3F263BE1, 0x3F263BE1}},
        {QDQ_SFPU_SQRT, TABLES, 0, 0x4031FF64, {0x3FD57717, 0x3FD57717}},
        {QDQ_SFPU_SQRT, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_SQRT, TABLES, 0, 0xFF800000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_RSQRT, TABLES, 0, 0x3FB6B9E5, {0x3F564301, 0x3F564301}},
        {QDQ_SFPU_RSQRT, TABLES, 0, 0x3ED7E36D, {0x3FC51EAD, 0x3FC51EAD}},
        {QDQ_SFPU_RSQRT, TABLES, 0, 0x4031FF64, {0x3F19814F, 0x3F19814F}},
        {QDQ_SFPU_RSQRT, TABLES, 0, 0x7FC00000, {0xFFB00001, 0x7FC00000}},
        {QDQ_SFPU_RSQRT, TABLES, 0, 0xFF800000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0xBDEFA185, {0xC108BE5E, 0xC108BE5D}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0xC0A50F93, {0xBE46854F, 0xBE468550}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0xC1211297, {0xBDCB6FAA, 0xBDCB6FAB}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0x3FB6B9E5, {0x3F335416, 0x3F335416}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0x3ED7E36D, {0x4017C83A, 0x4017C83A}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0x4031FF64, {0x3EB817A4, 0x3EB817A4}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0xC01ED771, {0xBECE4B2A, 0xBECE4B2A}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0x7FC00000, {0x00000000, 0x00000000}},
        {QDQ_SFPU_RECIPROCAL, TABLES, 0, 0xFF800000, {0x80000000, 0x80000000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x3FB6B9E5, {0x3EB6402B, 0x3EB6402B}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x3ED7E36D, {0xBF5D1279, 0xBF5D1279}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x4031FF64, {0x3F82EDF7, 0x3F82EDF7}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0xFF800000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0x3FFACC94, {0x3F8AE07D, 0x3F8AE07D}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0x3FB6B9E5, {0x3F630AAE, 0x3F630AAE}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0x3ED7E36D, {0x3EB42228, 0x3EB42228}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0xBEE4C3FE, {0xBF179093, 0xBF179093}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0xBF41501A, {0xBFB4194A, 0xBFB4194A}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0xBE883A3C, {0xBE9E61E6, 0xBE9E61E6}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_LOG1P, TABLES, 0, 0xFF800000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_ELU, TABLES, 1, 0xBFFC027E, {0xBF5C41D2, 0xBF5C41D2}},
        {QDQ_SFPU_ELU, TABLES, 1, 0xC01ED771, {0xBF6A9A38, 0xBF6A9A38}},
        {QDQ_SFPU_ELU, TABLES, 1, 0xC06E3327, {0xBF79CEC6, 0xBF79CEC6}},
        {QDQ_SFPU_ELU, TABLES, 1, 0x7FC00000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_ELU, TABLES, 1, 0xFF800000, {0xBF800000, 0xBF800000}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x3BA13D19, {0x3BB5EFD7, 0x3BB5EFD8}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x3F98F52D, {0x3F68B1E3, 0x3F68B1E4}},
        {QDQ_SFPU_ERF, TABLES, 0, 0xBF8C5BCC, {0xBF6108C8, 0xBF6108CA}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x3F20835B, {0x3F1FF0E1, 0x3F1FF0E1}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x3EE80E8B, {0x3EF4F8A0, 0x3EF4F8A0}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x4087CB87, {0x3F7FFFFE, 0x3F7FFFFE}},
        {QDQ_SFPU_ERF, TABLES, 0, 0xBF70BBBB, {0xBF510246, 0xBF510246}},
        {QDQ_SFPU_ERF, TABLES, 0, 0x7FC00000, {0x3F800000, 0x3F800000}},
        {QDQ_SFPU_ERF, TABLES, 0, 0xFF800000, {0xBF800000, 0xBF800000}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0x3FB6B9E5, {0x40026CD9, 0x40026CD9}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0x3ED7E36D, {0x3E360FCB, 0x3E360FCB}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0x4031FF64, {0x40F7864E, 0x40F7864E}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0xC01ED771, {0x40C51D4A, 0x40C51D4A}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0xC06E3327, {0x415DA327, 0x415DA327}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0xBDEFA185, {0x3C604EFC, 0x3C604EFC}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0x7FC00000, {0x7F800001, 0x7FC00000}},
        {QDQ_SFPU_SQUARE, TABLES, 0, 0xFF800000, {0x7F800000, 0x7F800000}},
    };
    for (size_t i = 0; i < UNIT_COUNT(samples); i++)
        for (int chip = 0; chip < 2; chip++) {
            const sample *s = &samples[i];
            qdq_sfpu_program program = {
                .op = s->op, .chip = sfpu_chips[chip].chip, .generation = s->generation, .a = s->a};
            uint32_t got = qdq_sfpu_float32(&program, s->x);
            if (got != s->want[chip])
                fail_msg("sample %zu on %s: %08X gives %08X, wanted %08X", i, sfpu_chips[chip].name,
                         (unsigned)s->x, (unsigned)got, (unsigned)s->want[chip]);
        }
}

// Results of an emulator of the same source.
static void approximate_kernels_keep_the_whole_sum(void **state) {
    (void)state;
    static const sample samples[] = {
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x80000000, {0x3F000000, 0x3F000000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3A83126F, {0x3F000ED9, 0x3F000ED9}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0xBE800000, {0x3EE30000, 0x3EE30000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x3FC00000, {0x3F5A0000, 0x3F5A0000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0x40000000, {0x3F800000, 0x3F800000}},
        {QDQ_SFPU_SIGMOID, TABLES, 0, 0xFF800000, {0xFF800001, 0x7FC00000}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0x3A83126F, {0x3F001012, 0x3F001012}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0xBE800000, {0x3EE09C00, 0x3EE09C00}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0x3F400000, {0x3F2D9C00, 0x3F2D9C00}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0x3FA00000, {0x3F46B800, 0x3F46B800}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0x3FE00000, {0x3F59C400, 0x3F59C400}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0xC0600000, {0x3CF9A000, 0x3CF9A000}},
        {QDQ_SFPU_SIGMOID, NEW, 0, 0x40800000, {0x3F7FF000, 0x3F7FF000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x00000000, {0xFF800000, 0xFF800000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x80000000, {0x7FC00000, 0x7FC00000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x3FE00000, {0x3F0F42FB, 0x3F0F42FB}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x000116C2, {0xFF800001, 0x7FC00000}},
        {QDQ_SFPU_LOG, TABLES, 0, 0x7F800000, {0x7F800000, 0x7F800000}},
    };
    for (size_t i = 0; i < UNIT_COUNT(samples); i++)
        for (int chip = 0; chip < 2; chip++) {
            qdq_sfpu_program program = {.op = samples[i].op,
                                        .chip = sfpu_chips[chip].chip,
                                        .generation = samples[i].generation,
                                        .approximate = true};
            assert_int_equal(qdq_sfpu_float32(&program, samples[i].x), samples[i].want[chip]);
        }
}

// A Dst of 32 bits keeps -0 and NaN, and flushes denormals only where it stores.
static void functions_of_bits_keep_zeros_and_nan(void **state) {
    (void)state;
    for (int chip = 0; chip < 2; chip++) {
        qdq_sfpu_program program = {.op = QDQ_SFPU_NEG, .chip = sfpu_chips[chip].chip};
        assert_int_equal(qdq_sfpu_float32(&program, 0), 0x80000000u);
        assert_int_equal(qdq_sfpu_float32(&program, 0x7FC12345), 0xFFC12345u);
        assert_int_equal(qdq_sfpu_float32(&program, 1), 0x80000000u);
        program.op = QDQ_SFPU_ABS;
        assert_int_equal(qdq_sfpu_float32(&program, 0x80000000u), 0);
        assert_int_equal(qdq_sfpu_float32(&program, 0xFFC00000u), 0xFFC00000u);
        program.op = QDQ_SFPU_SIGN;
        assert_int_equal(qdq_sfpu_float32(&program, 0x80000000u), 0xBF800000u);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_equal_published_vectors),
        cmocka_unit_test(approximate_kernels_keep_the_whole_sum),
        cmocka_unit_test(functions_of_bits_keep_zeros_and_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
