// SPDX-License-Identifier: Apache-2.0
// Elementary functions of Tenstorrent chips equal published vectors: every bfloat16, and samples of
// float32. Skipped without QDQ_VECTORS.
#include "tests/device_vectors.h"
#include "tests/runtime/tenstorrent/sfpu_cases.h"

// Counts results that differ, and prints the first of a file.
static size_t compare(const char *file, int chip, uint32_t x, uint32_t want, uint32_t got,
                      size_t wrong) {
    if (want == got) return wrong;
    if (wrong < 3)
        print_error("%s on %s, %08x: want %08x, got %08x\n", file, sfpu_chips[chip].name,
                    (unsigned)x, (unsigned)want, (unsigned)got);
    return wrong + 1;
}

static void every_bfloat16_equals_the_vectors(void **state) {
    (void)state;
    size_t wrong = 0;
    for (int i = 0; i < SFPU_CASES; i++) {
        if (!sfpu_cases[i].vectors) continue;
        vector_file file = vectors_open_in("ttnn_sfpu", sfpu_cases[i].vectors);
        for (int chip = 0; chip < 2; chip++) {
            if (!sfpu_cases[i].checksum[chip]) continue;
            bool alike = vectors_find(&file, "both").data != NULL;
            size_t count, differ = 0;
            uint16_t *want = vector_copy(&file, alike ? "both" : sfpu_chips[chip].name, 2, &count);
            assert_int_equal(count, 65536);
            qdq_sfpu_program program = sfpu_program(&sfpu_cases[i], chip);
            for (uint32_t x = 0; x < 65536; x++)
                differ = compare(sfpu_cases[i].vectors, chip, x, want[x],
                                 qdq_sfpu_bfloat16(&program, (uint16_t)x), differ);
            wrong += differ;
            free(want);
        }
        vectors_close(&file);
    }
    assert_int_equal(wrong, 0);
}

static void samples_of_float32_equal_the_vectors(void **state) {
    (void)state;
    static const sfpu_case cases[] = {
        {.vectors = "f32_exp", .op = QDQ_SFPU_EXP},
        {.vectors = "f32_sigmoid", .op = QDQ_SFPU_SIGMOID},
        {.vectors = "f32_silu", .op = QDQ_SFPU_SILU},
        {.vectors = "f32_tanh", .op = QDQ_SFPU_TANH},
        {.vectors = "f32_tanh_old", .op = QDQ_SFPU_TANH, .generation = OLD},
        {.vectors = "f32_gelu", .op = QDQ_SFPU_GELU},
        {.vectors = "f32_sqrt", .op = QDQ_SFPU_SQRT},
        {.vectors = "f32_rsqrt", .op = QDQ_SFPU_RSQRT},
        {.vectors = "f32_recip", .op = QDQ_SFPU_RECIPROCAL},
        {.vectors = "f32_log", .op = QDQ_SFPU_LOG},
        {.vectors = "f32_log1p", .op = QDQ_SFPU_LOG1P},
        {.vectors = "f32_elu", .op = QDQ_SFPU_ELU, .a = 1},
        {.vectors = "f32_erf", .op = QDQ_SFPU_ERF},
        {.vectors = "f32_square", .op = QDQ_SFPU_SQUARE},
    };
    size_t wrong = 0;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        vector_file file = vectors_open_in("ttnn_sfpu", cases[i].vectors);
        size_t count;
        uint32_t *x = vector_copy(&file, "x", 4, &count);
        assert_true(count >= 4096);
        for (int chip = 0; chip < 2; chip++) {
            uint32_t *want = vector_copy(&file, sfpu_chips[chip].name, 4, NULL);
            qdq_sfpu_program program = sfpu_program(&cases[i], chip);
            size_t differ = 0;
            for (size_t k = 0; k < count; k++)
                differ = compare(cases[i].vectors, chip, x[k], want[k],
                                 qdq_sfpu_float32(&program, x[k]), differ);
            wrong += differ;
            free(want);
        }
        free(x);
        vectors_close(&file);
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    if (!vectors_given()) return VECTORS_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bfloat16_equals_the_vectors),
        cmocka_unit_test(samples_of_float32_equal_the_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
