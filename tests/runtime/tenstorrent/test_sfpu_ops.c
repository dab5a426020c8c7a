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

static void tables_were_published_of_one_generation(void **state) {
    (void)state;
    qdq_sfpu_program exp = {.op = QDQ_SFPU_EXP, .chip = QDQ_MULTIPLY_ADD_WORMHOLE};
    assert_int_equal(qdq_sfpu_evidence_of(&exp, false), QDQ_SFPU_SILICON);
    exp.generation = NEW;
    assert_int_equal(qdq_sfpu_evidence_of(&exp, false), QDQ_SFPU_READ);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_have_the_checksums_of_published_vectors),
        cmocka_unit_test(an_element_equals_its_entry_of_the_table),
        cmocka_unit_test(the_packer_stores_neither_nan_nor_minus_zero),
        cmocka_unit_test(programs_that_are_not_modelled_are_unknown),
        cmocka_unit_test(tables_were_published_of_one_generation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
