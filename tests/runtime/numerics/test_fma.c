// SPDX-License-Identifier: Apache-2.0
// qdq_fmaf against the fmaf of the C library, which rounds once on the machines that run the tests.
// On x86-64 this file is compiled without FMA, so that the definition in C is tested.
#include <math.h>

#include "runtime/numerics/fma.h"
#include "tests/unit.h"

static void check(float x, float y, float z) {
    float want = fmaf(x, y, z), got = qdq_fmaf(x, y, z);
    if (isnan(want) ? !isnan(got) : unit_bits_of_float(want) != unit_bits_of_float(got))
        fail_msg("%a * %a + %a: got %a, want %a", (double)x, (double)y, (double)z, (double)got,
                 (double)want);
}

static void a_sum_close_to_a_tie_is_rounded_once(void **state) {
    (void)state;
    float x = 1.4577981902462638e31f, y = -0.0002662211190909147f, z = 3.007044254509203e-15f;
    assert_int_equal(unit_bits_of_float(qdq_fmaf(x, y, z)), 0xed48a42a);
    assert_int_equal(unit_bits_of_float(qdq_fmaf(x, y, -z)), 0xed48a42b);
    // The products of the first two are ties, which addends beyond double decide.
    for (int k = 30; k < 149; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            float least = ldexpf((float)sign, -k);
            check(1 + 0x1p-12f, 1 + 0x1p-12f, least);
            check(1 + 0x1p-12f, 1 + 0x3p-12f, least);
            check(0x1.000002p0f, 0x1p-1f, 0x1p-25f * (1 + least));
            check(0x1p-24f, 1 + 0x1p-20f, 1 - least);
            check(least, 0x1p-20f, 1 + 0x1p-23f);
            check(least, 0x1.8p-1f, unit_float_of_bits(0x00800001));
        }
}

static void random_operands_give_the_bits_of_the_library(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 3000000; i++) {
        uint64_t r = unit_random(&seed), s = unit_random(&seed);
        float x = unit_float_of_bits((uint32_t)r), y = unit_float_of_bits((uint32_t)(r >> 32));
        float z = unit_float_of_bits((uint32_t)s);
        check(x, y, z);
        // A sum whose terms are close in size, or cancel, or nearly so.
        int power = (int)(s >> 32 & 63) - 32;
        check(x, y, ldexpf((s >> 40 & 1 ? -x : x) * y, s >> 41 & 1 ? 0 : power));
        // Few bits set: the product ends where the rounding of float begins.
        float few = unit_float_of_bits((uint32_t)r & 0xFF800700), one = 1 + ldexpf(1, -power);
        check(few, one, ldexpf(few, power));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_close_to_a_tie_is_rounded_once),
        cmocka_unit_test(random_operands_give_the_bits_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
