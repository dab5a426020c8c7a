// SPDX-License-Identifier: Apache-2.0
// Between qdq_fp_environment_enter and _leave arithmetic rounds to nearest and keeps denormals,
// whatever the caller has set. The caller's settings are restored afterwards.
#include <fenv.h>

#include "runtime/base/fp_environment.h"
#include "tests/unit.h"

static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};

// Rounding to nearest moves 1/3 away from zero: rounding down or towards zero changes 1/3, rounding
// up changes -1/3. Volatile keeps the division in its place.
static float divided(float a, float b) {
    static volatile float operands[2], quotient;
    operands[0] = a, operands[1] = b;
    quotient = operands[0] / operands[1];
    return quotient;
}

static void check_rounding(float third, float minus_third, float small) {
    assert_true(third == 0x1.555556p-2f);
    assert_true(minus_third == -0x1.555556p-2f);
    assert_true(small == 0x1p-130f);
}

static void rounding_is_to_nearest_and_the_callers_mode_comes_back(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        fesetround(modes[k]);
        qdq_fp_environment before = qdq_fp_environment_enter();
        float third = divided(1, 3), minus = divided(-1, 3), small = divided(0x1p-126f, 16);
        qdq_fp_environment_leave(before);
        int after = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(after, modes[k]);
        check_rounding(third, minus, small);
    }
}

// The bits that flush denormals, on machines that this test knows.
#if defined(__x86_64__)
#define FLUSH 0x8040u  // flush results, and read operands as zero
static unsigned control(void) { return __builtin_ia32_stmxcsr() & ~(unsigned)QDQ_CONTROL_FLAGS; }
static void control_set(unsigned bits) { __builtin_ia32_ldmxcsr(bits); }
#elif defined(__aarch64__)
#define FLUSH 0x01000000u
static unsigned control(void) { return qdq_control(); }
static void control_set(unsigned bits) { qdq_control_set(bits); }
#endif

static void denormals_are_kept_and_the_callers_flushing_comes_back(void **state) {
    (void)state;
#if defined(FLUSH)
    unsigned plain = control();
    control_set(plain | FLUSH);
    float flushed = divided(0x1p-126f, 16);
    qdq_fp_environment before = qdq_fp_environment_enter();
    float third = divided(1, 3), minus = divided(-1, 3), small = divided(0x1p-126f, 16);
    qdq_fp_environment_leave(before);
    unsigned after = control();
    control_set(plain);
    assert_true(flushed == 0);
    assert_int_equal(after, plain | FLUSH);
    check_rounding(third, minus, small);
#else
    skip();
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rounding_is_to_nearest_and_the_callers_mode_comes_back),
        cmocka_unit_test(denormals_are_kept_and_the_callers_flushing_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
