// SPDX-License-Identifier: Apache-2.0
// Every single instruction of runtime/tenstorrent/ equals the vectors that the vendor's
// simulator computed. Skipped without QDQ_VECTORS.
#include "runtime/tenstorrent/fpu.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/tile_formats.h"
#include "tests/device_vectors.h"

static const struct {
    qdq_multiply_add chip;
    const char *name;
} chips[2] = {{QDQ_MULTIPLY_ADD_WORMHOLE, "wormhole"}, {QDQ_MULTIPLY_ADD_BLACKHOLE, "blackhole"}};

static void expect_equal(const char *what, size_t i, uint32_t want, uint32_t got, size_t *wrong) {
    if (want == got) return;
    if ((*wrong)++ < 5) print_error("%s, vector %zu: want %08x, got %08x\n", what, i, want, got);
}

static void sfpmad_equals_the_simulator(void **state) {
    (void)state;
    vector_file file = vectors_open("fma");
    size_t count, wrong = 0;
    uint32_t *x = vector_copy(&file, "x", 4, &count), *y = vector_copy(&file, "y", 4, NULL);
    uint32_t *z = vector_copy(&file, "z", 4, NULL);
    assert_true(count >= 20000);
    for (int c = 0; c < 2; c++) {
        uint32_t *want = vector_copy(&file, chips[c].name, 4, NULL);
        for (size_t i = 0; i < count; i++)
            expect_equal(chips[c].name, i, want[i], qdq_sfpmad(chips[c].chip, x[i], y[i], z[i]),
                         &wrong);
        free(want);
    }
    free(x), free(y), free(z);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
}

static void sfp_stoch_rnd_equals_the_simulator(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t most;
        bool keeps_sign;
    } modes[] = {{"int8", 127, true},
                 {"uint8", 255, false},
                 {"int16", 32767, true},
                 {"uint16", 65535, false}};
    vector_file file = vectors_open("stochrnd");
    size_t count, wrong = 0;
    uint32_t *x = vector_copy(&file, "x", 4, &count);
    assert_true(count >= 8000);
    for (size_t m = 0; m < 4; m++) {
        uint32_t *want = vector_copy(&file, modes[m].name, 4, NULL);
        for (size_t i = 0; i < count; i++)
            expect_equal(modes[m].name, i, want[i],
                         qdq_sfp_round(x[i], modes[m].most, modes[m].keeps_sign), &wrong);
        free(want);
    }
    uint32_t *want = vector_copy(&file, "fp16b", 4, NULL);
    for (size_t i = 0; i < count; i++)
        expect_equal("fp16b", i, want[i], qdq_sfp_round_bfloat16(x[i]), &wrong);
    free(want), free(x);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
}

static void formats_equal_the_simulator(void **state) {
    (void)state;
    vector_file file = vectors_open("formats");
    size_t count, wrong = 0;
    uint32_t *dst = vector_copy(&file, "bf16_to_dst32", 4, &count);
    assert_int_equal(count, 65536);
    for (size_t i = 0; i < count; i++) {
        expect_equal("bf16_to_dst32", i, dst[i], qdq_chip_load_bfloat16((uint16_t)i), &wrong);
        uint32_t added = qdq_fpu_elwadd(QDQ_MULTIPLY_ADD_WORMHOLE, true, (uint32_t)i << 16, 0);
        expect_equal("ELWADD of zero", i, dst[i], added, &wrong);
    }
    uint32_t *f32 = vector_copy(&file, "f32", 4, &count);
    uint16_t *packed = vector_copy(&file, "pack_bf16", 2, NULL);
    for (size_t i = 0; i < count; i++)
        expect_equal("pack_bf16", i, packed[i], qdq_chip_pack_bfloat16(f32[i]), &wrong);
    uint32_t *in = vector_copy(&file, "cast_in", 4, &count);
    uint32_t *out = vector_copy(&file, "cast_out", 4, NULL);
    for (size_t i = 0; i < count; i++)
        expect_equal("SFPCAST", i, out[i], qdq_sfp_cast(in[i]), &wrong);
    free(dst), free(f32), free(packed), free(in), free(out);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
}

static void reciprocals_equal_the_simulator(void **state) {
    (void)state;
    vector_file file = vectors_open("reciprocal");
    size_t count, wrong = 0;
    uint32_t *s = vector_copy(&file, "s", 4, &count);
    assert_true(count >= 8000);
    for (int c = 0; c < 2; c++) {
        uint32_t *want = vector_copy(&file, chips[c].name, 4, NULL);
        for (size_t i = 0; i < count; i++)
            expect_equal(chips[c].name, i, want[i], qdq_sfp_reciprocal(chips[c].chip, s[i]),
                         &wrong);
        free(want);
    }
    free(s);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
}

// Checks all vectors of MVMUL with one accumulator; returns how many tensors the file has.
static size_t mvmul_vectors(const vector_file *file, int c, bool dst32, const uint16_t *a,
                            const uint16_t *b, size_t count, size_t *wrong) {
    size_t tensors = 0;
    for (int phases = 1; phases <= QDQ_FPU_PHASES; phases++) {
        char name[64];
        snprintf(name, sizeof name, "%s/%s/phases%d", chips[c].name, dst32 ? "dst32" : "dst16",
                 phases);
        if (!vectors_find(file, name).data) continue;
        uint32_t *want = vector_copy(file, name, 4, NULL);
        tensors++;
        for (size_t i = 0; i < count; i++) {
            qdq_fpu_operand of_a[QDQ_FPU_DEPTH], of_b[QDQ_FPU_DEPTH];
            uint32_t dst = 0;
            for (size_t k = 0; k < QDQ_FPU_DEPTH; k++) {
                of_a[k] = qdq_fpu_weight((uint32_t)a[i * QDQ_FPU_DEPTH + k] << 16);
                of_b[k] = qdq_fpu_activation((uint32_t)b[i * QDQ_FPU_DEPTH + k] << 16);
            }
            for (int phase = 0; phase < phases; phase++)
                dst = qdq_fpu_mvmul(chips[c].chip, dst32, phase, dst, of_a, of_b);
            expect_equal(name, i, want[i], dst, wrong);
        }
        free(want);
    }
    return tensors;
}

static void mvmul_equals_the_simulator(void **state) {
    (void)state;
    vector_file file = vectors_open("fpu");
    size_t count, wrong = 0, tensors = 0;
    uint16_t *a = vector_copy(&file, "a", 2, &count), *b = vector_copy(&file, "b", 2, NULL);
    for (int c = 0; c < 2; c++)
        for (int dst32 = 0; dst32 < 2; dst32++)
            tensors += mvmul_vectors(&file, c, dst32 != 0, a, b, count / QDQ_FPU_DEPTH, &wrong);
    free(a), free(b);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
    assert_true(tensors >= 12);
}

static void elementwise_operations_equal_the_simulator(void **state) {
    (void)state;
    vector_file file = vectors_open("fpu");
    size_t count, wrong = 0;
    uint16_t *a = vector_copy(&file, "ea", 2, &count), *b = vector_copy(&file, "eb", 2, NULL);
    for (int dst32 = 0; dst32 < 2; dst32++) {
        char name[64];
        snprintf(name, sizeof name, "elwadd/%s", dst32 ? "dst32" : "dst16");
        uint32_t *want = vector_copy(&file, name, 4, NULL);
        for (size_t i = 0; i < count; i++)
            expect_equal(name, i, want[i],
                         qdq_fpu_elwadd(QDQ_MULTIPLY_ADD_BLACKHOLE, dst32 != 0,
                                        (uint32_t)a[i] << 16, (uint32_t)b[i] << 16),
                         &wrong);
        free(want);
        for (int phases = 1; phases <= QDQ_FPU_PHASES; phases += 3) {
            snprintf(name, sizeof name, "elwmul/%s/phases%d", dst32 ? "dst32" : "dst16", phases);
            want = vector_copy(&file, name, 4, NULL);
            for (size_t i = 0; i < count; i++) {
                uint32_t dst = 0;
                for (int phase = 0; phase < phases; phase++)
                    dst = qdq_fpu_elwmul(QDQ_MULTIPLY_ADD_BLACKHOLE, dst32 != 0, phase, dst,
                                         (uint32_t)a[i] << 16, (uint32_t)b[i] << 16);
                expect_equal(name, i, want[i], dst, &wrong);
            }
            free(want);
        }
    }
    free(a), free(b);
    vectors_close(&file);
    assert_int_equal(wrong, 0);
}

int main(void) {
    if (!vectors_given()) return VECTORS_SKIP;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sfpmad_equals_the_simulator),
        cmocka_unit_test(sfp_stoch_rnd_equals_the_simulator),
        cmocka_unit_test(formats_equal_the_simulator),
        cmocka_unit_test(reciprocals_equal_the_simulator),
        cmocka_unit_test(mvmul_equals_the_simulator),
        cmocka_unit_test(elementwise_operations_equal_the_simulator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
