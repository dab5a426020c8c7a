// SPDX-License-Identifier: Apache-2.0
// Target `ttnn` with scales that no real model has: denormal, zero, infinite, NaN.
#include "tests/graph/targets/ttnn/ttnn_check.h"
#include "tests/graph/targets/ttnn/ttnn_feed.h"

// 64 values of x for each of `count` scales, through every kind of per-channel Quantize and
// Dequantize.
static void check_scales(const uint32_t *bits, size_t count, bool run_time) {
    static float x[32 * 64];
    static uint16_t h[32 * 64];
    static int32_t q[32 * 64];
    ttnn_side p[32];
    tally t = {0};
    uint64_t seed = 23;
    for (size_t i = 0; i < count; i++) {
        float s = unit_float_of_bits(bits[i]);
        p[i] = (ttnn_side){(double)s, zp_of(i), true, true};
        for (size_t k = 0; k < 64; k++) {
            uint32_t any = (uint32_t)unit_random(&seed);
            x[i * 64 + k] = k < count ? unit_float_of_bits(bits[k]) : unit_float_of_bits(any);
            if (k > 50) x[i * 64 + k] = (float)((double)s * ((double)k - 56.5));
            q[i * 64 + k] = (int32_t)(zp_of(i)) + (int32_t)k - 32;
            h[i * 64 + k] = (uint16_t)(unit_bits_of_float(x[i * 64 + k]) >> 16);
        }
    }
    batch *b = batch_start();
    batch_input(b, QDQ_FLOAT32, QDQ_SHAPE((int64_t)count, 64), x);
    batch_input(b, QDQ_BFLOAT16, QDQ_SHAPE((int64_t)count, 64), h);
    batch_input(b, QDQ_INT32, QDQ_SHAPE((int64_t)count, 64), q);
    cell c = {.to = QDQ_INT32, .in = p, .in_count = count, .axis = true, .run_time = run_time};
    for (size_t n = 0; n < 8; n++) {
        for (size_t i = 0; i < count; i++) p[i].zp_tensor = n & 1;
        c.op = n < 4 ? CELL_QUANTIZE : CELL_DEQUANTIZE;
        c.from = n >= 4 ? QDQ_INT32 : n < 2 ? QDQ_FLOAT32 : QDQ_BFLOAT16;
        if (n >= 4) c.to = n < 6 ? QDQ_FLOAT32 : QDQ_BFLOAT16;
        batch_add(b, n < 4 ? n / 2 : 2, c);
    }
    batch_finish(b, &t);
    tally_settle(t, 64 * 8 * count);
}

static void denormal_scales_count_as_zero(void **state) {
    (void)state;
    static const uint32_t bits[] = {0x007FFFFF, 0x00400000, 0x00000001, 0x80000001, 0x807FFFFF};
    check_scales(bits, UNIT_COUNT(bits), false);
    check_scales(bits, UNIT_COUNT(bits), true);
}

// A NaN made by an operation has no sign; an input NaN keeps its sign.
static void scales_at_run_time_of_any_value_equal_the_oracle(void **state) {
    (void)state;
    static const uint32_t bits[] = {0x00000000, 0x3F800000, 0xBF800000, 0x00800000, 0x80800000,
                                    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
                                    0xFFC00000, 0x3DCCCCCD, 0xBE000000, 0x4B000000};
    check_scales(bits, UNIT_COUNT(bits), true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(denormal_scales_count_as_zero),
        cmocka_unit_test(scales_at_run_time_of_any_value_equal_the_oracle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
