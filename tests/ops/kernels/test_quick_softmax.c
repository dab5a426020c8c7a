// SPDX-License-Identifier: Apache-2.0
// Kernels that compute a softmax with less exact exponentials give the bits of the definition, or
// say that they cannot.
#include <math.h>

#include "ops/kernels/reduce/reduce_kernels.h"
#include "runtime/base/cpu.h"
#include "runtime/numerics/onnx_runtime.h"
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
        size_t computed = 0, rows = unit_slow() ? 100 : ROWS;
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

//---- ONNX Runtime's softmax -------------------------------------------------

// Element by element, as ops/reduce/softmax.c defines it.
static void define_runtime(size_t n, bool wide) {
    float max = -INFINITY, lanes[QDQ_RUNTIME_WIDE_LANES] = {0}, *l = lanes;
    for (size_t i = 0; i < n; i++)
        if (x[i] > max) max = x[i];
    for (size_t i = 0; i < n; i++) {
        want[i] = qdq_ort_softmax_exp(x[i] - max, wide);
        lanes[i % (wide ? 16 : 8)] += want[i];
    }
    for (size_t i = 0; wide && i < 8; i++) lanes[i] += lanes[i + 8];
    float factor = 1.0f / (((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7])));
    for (size_t i = 0; i < n; i++) want[i] *= factor;
}

static bool check_runtime_row(const qdq_slice_kernels *kernels, size_t n, bool wide) {
    define_runtime(n, wide);
    y[n] = -1;
    if (!kernels->runtime_softmax(x, n, wide, y)) return false;
    for (size_t i = 0; i < n; i++)
        if (qdq_float_bits(y[i]) != qdq_float_bits(want[i]))
            fail_msg("element %zu of %zu: got %a, want %a", i, n, (double)y[i], (double)want[i]);
    assert_true(y[n] == -1);
    return true;
}

// Every length around one, two and more vectors, and spreads for which exponentials are normal,
// denormal and 0.
static void runtime_rows_have_the_bits_of_the_definition_on_every_instruction_set(void **state) {
    static const float spreads[] = {0.01f, 1, 10, 87, 104, 300};
    (void)state;
    uint64_t seed = 2;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        const qdq_slice_kernels *kernels = qdq_slice_kernels_find(1u << isa | 1u);
        size_t computed = 0, longest = unit_slow() ? 20 : 150;
        for (size_t n = 1; kernels->runtime_softmax && n < longest; n++)
            for (size_t k = 0; k < 2 * UNIT_COUNT(spreads); k++) {
                for (size_t i = 0; i < n; i++)
                    x[i] = (float)(unit_random(&seed) % 0x1000000) / -0x1p24f * spreads[k / 2];
                if (n % 3 == 0) x[unit_random(&seed) % n] = -INFINITY;
                computed += n > 1 && check_runtime_row(kernels, n, k % 2);
            }
        assert_true(!kernels->runtime_softmax || computed > longest);
        for (size_t i = 0; i < MOST; i++) x[i] = (float)(i * 7919 % 5003) / 600;
        if (kernels->runtime_softmax) check_runtime_row(kernels, MOST - 1, true);
    }
}

// One element that is greater than all others, and one NaN, at every place.
static void runtime_rows_find_the_greatest_element_and_nan_at_every_place(void **state) {
    (void)state;
    for (int isa = 0; isa < 32; isa++) {
        if (!(qdq_cpu_isas() >> isa & 1)) continue;
        const qdq_slice_kernels *kernels = qdq_slice_kernels_find(1u << isa | 1u);
        for (size_t n = 2; kernels->runtime_softmax && n < 70; n++)
            for (size_t at = 0; at < n; at++) {
                for (size_t i = 0; i < n; i++) x[i] = i == at ? 3 : -(float)(i % 5);
                assert_true(check_runtime_row(kernels, n, true));
                x[at] = at % 2 ? NAN : INFINITY;
                assert_false(kernels->runtime_softmax(x, n, true, y));
            }
        for (size_t i = 0; i < 40; i++) x[i] = -INFINITY;
        assert_true(!kernels->runtime_softmax || !kernels->runtime_softmax(x, 40, true, y));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_bits_of_the_definition_on_every_instruction_set),
        cmocka_unit_test(quotients_next_to_halfway_have_the_bits_of_the_definition),
        cmocka_unit_test(special_values_are_left_to_the_definition),
        cmocka_unit_test(runtime_rows_have_the_bits_of_the_definition_on_every_instruction_set),
        cmocka_unit_test(runtime_rows_find_the_greatest_element_and_nan_at_every_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
