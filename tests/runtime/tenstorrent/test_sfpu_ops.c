// SPDX-License-Identifier: Apache-2.0
// Elementary functions of Tenstorrent chips: checksums of all results for bfloat16.
#include "tests/runtime/tenstorrent/sfpu_cases.h"

static uint16_t table[65536];

static uint64_t checksum(void) {
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < 65536; i++) {
        sum = (sum ^ (table[i] & 0xFF)) * 0x100000001B3u;
        sum = (sum ^ (table[i] >> 8)) * 0x100000001B3u;
    }
    return sum;
}

static void tables_have_the_checksums_of_published_vectors(void **state) {
    (void)state;
    int wrong = 0;
    for (int i = 0; i < SFPU_CASES; i++)
        for (int chip = 0; chip < 2; chip++) {
            if (!sfpu_cases[i].checksum[chip]) continue;
            qdq_sfpu_program program = sfpu_program(&sfpu_cases[i], chip);
            qdq_sfpu_table(&program, table);
            if (checksum() == sfpu_cases[i].checksum[chip]) continue;
            print_error("case %d (op %d) on %s differs\n", i, (int)program.op,
                        sfpu_chips[chip].name);
            wrong++;
        }
    assert_int_equal(wrong, 0);
}

static void an_element_equals_its_entry_of_the_table(void **state) {
    (void)state;
    qdq_sfpu_program program = sfpu_program(&sfpu_cases[0], 1);
    qdq_sfpu_table(&program, table);
    for (uint32_t x = 0; x < 65536; x += 257)
        assert_int_equal(qdq_sfpu_bfloat16(&program, (uint16_t)x), table[x]);
}

// Results for NaN, denormals and -0.
static void the_packer_stores_neither_nan_nor_minus_zero(void **state) {
    (void)state;
    for (int i = 0; i < SFPU_CASES; i++)
        for (int chip = 0; chip < 2; chip++) {
            qdq_sfpu_program program = sfpu_program(&sfpu_cases[i], chip);
            qdq_sfpu_table(&program, table);
            for (uint32_t x = 0; x < 65536; x++) {
                assert_true((table[x] & 0x7FFF) <= 0x7F80);
                assert_true((table[x] & 0x7F80) || table[x] == 0);
            }
        }
}

static void programs_that_are_not_modelled_are_unknown(void **state) {
    (void)state;
    qdq_sfpu_program none = {.chip = QDQ_MULTIPLY_ADD_WORMHOLE};
    for (int is_float32 = 0; is_float32 < 2; is_float32++) {
        assert_false(qdq_sfpu_modelled(&none, is_float32));
        assert_int_equal(qdq_sfpu_evidence_of(&none, is_float32), QDQ_SFPU_UNKNOWN);
    }
    assert_int_equal(qdq_sfpu_bfloat16(&none, 0x3F80), 0);
    assert_int_equal(qdq_sfpu_float32(&none, 0x3F800000), 0);
}

static qdq_sfpu_evidence evidence(qdq_sfpu_op op, qdq_multiply_add chip, bool is_float32) {
    qdq_sfpu_program program = {.op = op, .chip = chip};
    return qdq_sfpu_evidence_of(&program, is_float32);
}

static void evidence_differs_by_chip_and_dtype(void **state) {
    (void)state;
    const qdq_multiply_add wormhole = QDQ_MULTIPLY_ADD_WORMHOLE;
    assert_int_equal(evidence(QDQ_SFPU_EXP, wormhole, false), QDQ_SFPU_SILICON);
    assert_int_equal(evidence(QDQ_SFPU_MISH, wormhole, false), QDQ_SFPU_SILICON);
    assert_int_equal(evidence(QDQ_SFPU_MISH, QDQ_MULTIPLY_ADD_BLACKHOLE, false), QDQ_SFPU_READ);
    assert_int_equal(evidence(QDQ_SFPU_MISH, wormhole, true), QDQ_SFPU_UNKNOWN);
    assert_int_equal(evidence(QDQ_SFPU_TANH, wormhole, true), QDQ_SFPU_SILICON);
    assert_int_equal(evidence(QDQ_SFPU_ERF, wormhole, true), QDQ_SFPU_MODEL);
    assert_int_equal(evidence(QDQ_SFPU_LOG1P, wormhole, true), QDQ_SFPU_UNKNOWN);
    qdq_sfpu_program log1p = {.op = QDQ_SFPU_LOG1P, .chip = wormhole};
    assert_true(qdq_sfpu_modelled(&log1p, true));
}

static void tables_were_published_of_one_generation_and_of_usual_parameters(void **state) {
    (void)state;
    qdq_sfpu_program leaky = {
        .op = QDQ_SFPU_LEAKY_RELU, .chip = QDQ_MULTIPLY_ADD_WORMHOLE, .a = 0.01f};
    assert_int_equal(qdq_sfpu_evidence_of(&leaky, false), QDQ_SFPU_SILICON);
    leaky.generation = NEW;
    assert_int_equal(qdq_sfpu_evidence_of(&leaky, false), QDQ_SFPU_READ);
    leaky.generation = TABLES, leaky.a = 0.3f;
    assert_int_equal(qdq_sfpu_evidence_of(&leaky, false), QDQ_SFPU_READ);
    qdq_sfpu_program gelu = {
        .op = QDQ_SFPU_GELU, .chip = QDQ_MULTIPLY_ADD_WORMHOLE, .generation = OLD};
    assert_int_equal(qdq_sfpu_evidence_of(&gelu, false), QDQ_SFPU_UNKNOWN);
}

static void functions_without_an_approximate_mode_ignore_it(void **state) {
    (void)state;
    qdq_sfpu_program erf = {
        .op = QDQ_SFPU_ERF, .chip = QDQ_MULTIPLY_ADD_WORMHOLE, .approximate = true};
    assert_int_equal(qdq_sfpu_evidence_of(&erf, false), QDQ_SFPU_SILICON);
    qdq_sfpu_program gelu = {
        .op = QDQ_SFPU_GELU, .chip = QDQ_MULTIPLY_ADD_WORMHOLE, .approximate = true};
    assert_true(qdq_sfpu_modelled(&gelu, false));
    assert_false(qdq_sfpu_modelled(&gelu, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_the_checksums_of_published_vectors),
        cmocka_unit_test(an_element_equals_its_entry_of_the_table),
        cmocka_unit_test(the_packer_stores_neither_nan_nor_minus_zero),
        cmocka_unit_test(programs_that_are_not_modelled_are_unknown),
        cmocka_unit_test(evidence_differs_by_chip_and_dtype),
        cmocka_unit_test(tables_were_published_of_one_generation_and_of_usual_parameters),
        cmocka_unit_test(functions_without_an_approximate_mode_ignore_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
