// SPDX-License-Identifier: Apache-2.0
// Kernels that compute a softmax with less exact exponentials give the bits of the definition, or
// say that they cannot.
#include <math.h>

#include "ops/kernels/reduce/reduce_kernels.h"
#include "runtime/base/cpu.h"
#include "tests/unit.h"

enum { MOST = 4096, ROWS = 3000 };

static float x[MOST], want[MOST], y[MOST];
static double e[MOST + QDQ_SUM_LANES];

// e^(x - max) * (1 / sum), in double and rounded once.
static void define(size_t n) {
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    for (size_t i = 0; i < n; i++) e[i] = qdq_exp_near64(fmax((double)x[i] - (double)max, -700.0));
    double lanes[QDQ_SUM_LANES] = {0};
    qdq_sum_add64(lanes, e, n);
    double factor = 1.0 / qdq_sum_lanes(lanes);
    for (size_t i = 0; i < n; i++) want[i] = (float)(e[i] * factor);
}

// Returns whether the kernel computed the row.
static bool check_row(const qdq_slice_kernels *kernels, size_t n) {
    define(n);
    y[n] = -1;
    if (!kernels->softmax(x, n, e, y)) return false;
    for (size_t i = 0; i < n; i++)
        if (qdq_float_bits(y[i]) != qdq_float_bits(want[i]))
            fail_msg("element %zu of %zu: got %a, want %a", i, n, (double)y[i], (double)want[i]);
    assert_true(y[n] == -1);
    return true;
}

static void rows_have_the_bits_of_the_definition_on_every_instruction_set(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        const qdq_slice_kernels *kernels = qdq_slice_kernels_find(1u << isa | 1u);
        size_t computed = 0, rows = unit_emulated() ? 100 : ROWS;
        for (size_t r = 0; kernels->softmax && r < rows; r++) {
            size_t n = 1 + unit_random(&seed) % (r % 100 ? 200 : MOST - 1);
            float scale = (float)(unit_random(&seed) % 1000) / 0x1p30f;
            for (size_t i = 0; i < n; i++) x[i] = (float)(int32_t)unit_random(&seed) * scale / 100;
            if (r % 7 == 0) x[n / 2] = -INFINITY;
            computed += check_row(kernels, n);
        }
        assert_true(!kernels->softmax || computed > rows / 10 * 9);
    }
}

// The exact quotients of [0, x] lie so close to halfway between two floats that a less exact
// exponential rounds them to the wrong one. Found by a search over floats from -20 to -1/32.
static void quotients_next_to_halfway_have_the_bits_of_the_definition(void **state) {
    static const float hard[] = {-0x1.2082ep-3f, -0x1.adbdf8p+3f};
    (void)state;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        const qdq_slice_kernels *kernels = qdq_slice_kernels_find(1u << isa | 1u);
        for (size_t k = 0; kernels->softmax && k < UNIT_COUNT(hard); k++) {
            x[0] = 0, x[1] = hard[k];
            check_row(kernels, 2);
        }
    }
}

static void special_values_are_left_to_the_definition(void **state) {
    static const float special[] = {NAN, INFINITY, -90};
    (void)state;
    const qdq_slice_kernels *kernels = qdq_slice_kernels_find(qdq_cpu_isas());
    if (!kernels->softmax) skip();
    for (size_t k = 0; k < UNIT_COUNT(special); k++)
        for (size_t n = 2; n < 70; n++)
            for (size_t at = 0; at < n; at++) {
                for (size_t i = 0; i < n; i++) x[i] = i == at ? special[k] : (float)(i % 5);
                assert_false(kernels->softmax(x, n, e, y));
            }
    for (size_t i = 0; i < 40; i++) x[i] = -INFINITY;
    assert_false(kernels->softmax(x, 40, e, y));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_bits_of_the_definition_on_every_instruction_set),
        cmocka_unit_test(quotients_next_to_halfway_have_the_bits_of_the_definition),
        cmocka_unit_test(special_values_are_left_to_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
