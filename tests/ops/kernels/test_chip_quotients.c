// SPDX-License-Identifier: Apache-2.0
// Reciprocals and quotients without branches equal the chip's instructions: every significand of a
// divisor, and random quotients.
#include "ops/kernels/quantize/chip_lanes.inc.h"
#include "runtime/tenstorrent/sfpu.h"
#include "tests/unit.h"

enum { SIGNIFICANDS = 1 << 23 };

static qdq_multiply_add chip_of(int wormhole) {
    return wormhole ? QDQ_MULTIPLY_ADD_WORMHOLE : QDQ_MULTIPLY_ADD_BLACKHOLE;
}

static void check(int wormhole, uint32_t a, uint32_t b) {
    uint32_t want = qdq_sfp_divide(chip_of(wormhole), a, b);
    uint32_t got = chip_divide_seeded(a, b, chip_seed(wormhole, b));
    if (got != want)
        fail_msg("%s: %08X / %08X: got %08X, want %08X", wormhole ? "Wormhole" : "Blackhole",
                 (unsigned)a, (unsigned)b, (unsigned)got, (unsigned)want);
}

static void reciprocals_of_every_significand_are_those_of_the_chip(void **state) {
    (void)state;
    for (uint32_t f = 0; f < SIGNIFICANDS; f += unit_slow() ? 7 : 1)
        for (int wormhole = 0; wormhole < 2; wormhole++) {
            uint32_t v = (f << 31) | (40 + f % 170) << 23 | f;
            if (chip_reciprocal(wormhole, v) != qdq_sfp_reciprocal(chip_of(wormhole), v))
                fail_msg("1 / %08X on %s", (unsigned)v, wormhole ? "Wormhole" : "Blackhole");
        }
}

// The first dividend shows errors of the reciprocal that division begins with.
static void quotients_by_every_significand_are_those_of_the_chip(void **state) {
    (void)state;
    uint64_t seed = 11;
    for (uint32_t f = 0; f < SIGNIFICANDS; f += unit_slow() ? 7 : 1) {
        uint32_t a = (uint32_t)unit_random(&seed);
        uint32_t b = (a & 0x80000000) | (78 + a % 99) << 23 | f;
        for (int wormhole = 0; wormhole < 2; wormhole++) {
            if (f % 4 == 0) check(wormhole, CHIP_ONE, CHIP_ONE | f);
            check(wormhole, (a & 0x807FFFFF) | (78 + (a >> 23 & 0xFF) % 177) << 23, b);
        }
    }
}

static void quotients_next_to_1_and_of_zeros_are_those_of_the_chip(void **state) {
    (void)state;
    uint64_t seed = 12;
    for (int i = 0; i < 500000; i += unit_slow() ? 7 : 1) {
        uint32_t b = CHIP_ONE | (uint32_t)(unit_random(&seed) & 0x7FFFFF);
        for (int wormhole = 0; wormhole < 2; wormhole++) {
            check(wormhole, b + (uint32_t)(i % 9) - 4, b);
            if (i % 50 == 0) check(wormhole, 0, b);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reciprocals_of_every_significand_are_those_of_the_chip),
        cmocka_unit_test(quotients_by_every_significand_are_those_of_the_chip),
        cmocka_unit_test(quotients_next_to_1_and_of_zeros_are_those_of_the_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
