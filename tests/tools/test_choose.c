// SPDX-License-Identifier: Apache-2.0
// Scales, zero points and codes with halves away from zero, as the converter of TensorFlow Lite
// has them. Wanted numbers are worked out by hand; the last test has numbers of TensorFlow 2.21's
// converter.
#include "tests/unit.h"
#include "tools/lab/quantize/choose.h"

static code_range int8_codes(bool halves_away) {
    code_range codes = code_range_of(QDQ_INT8, false);
    codes.halves_away = halves_away;
    return codes;
}

static void assert_params(double least, double greatest, float scale, int zero) {
    const code_range codes = int8_codes(true);
    chosen_params p = params_of_range(least, greatest, &codes);
    assert_true(p.scale == scale);
    assert_int_equal(p.zero_point, zero);
}

static void a_zero_point_between_codes_rounds_away_from_zero(void **state) {
    (void)state;
    const code_range even = int8_codes(false);
    assert_params(-1.5, 253.5, 1.0F, -127);  // -126.5
    assert_int_equal(params_of_range(-1.5, 253.5, &even).zero_point, -126);
    assert_params(-253.5, 1.5, 1.0F, 126);  // 125.5
    assert_params(0, 255, 1.0F, -128);
    assert_params(-255, 0, 1.0F, 127);
}

static void ranges_are_widened_to_zero_and_to_a_millionth(void **state) {
    (void)state;
    const float least = ((float)5e-7 - (float)-5e-7) / 255;
    assert_params(51, 102, 0.4F, -128);
    assert_params(-102, -51, 0.4F, 127);
    assert_params(0, 0, least, 0);  // -0.49999: the scale is rounded
    assert_params(0, 1e-9, least, 0);
}

static void scales_are_quotients_of_float32(void **state) {
    (void)state;
    // hi - lo = 2^24 + 1 + 2^-10 is a tie of float32 only after hi is rounded to 2^24.
    const code_range codes = int8_codes(true);
    chosen_params p = params_of_range(-0x1p-10, 0x1p24 + 1, &codes);
    assert_true(p.scale == 0x1p24F / 255.0F);
}

static void codes_round_halves_away(void **state) {
    (void)state;
    const code_range away = int8_codes(true), even = int8_codes(false);
    const chosen_params p = {0.5F, -3};
    static const float xs[] = {0.25F, 0.75F, -0.25F, -0.75F, 1000, -1000};
    static const int32_t wanted[] = {-3, -2, -4, -5, 127, -128},
                         ties[] = {-2, -2, -4, -4, 127, -128};
    // x / s + z = -2.5, -1.5, -3.5, -4.5
    for (int i = 0; i < 6; i++) {
        assert_int_equal(code_of(xs[i], p, &away), wanted[i]);
        assert_int_equal(code_of(xs[i], p, &even), ties[i]);
    }
    assert_int_equal(symmetric_code_of(1.25F, 0.5F, &away), 3);
    assert_int_equal(symmetric_code_of(1.25F, 0.5F, &even), 2);
    assert_int_equal(symmetric_code_of(-1.25F, 0.5F, &away), -3);
}

static void weights_have_the_scale_of_a_millionth_at_least(void **state) {
    (void)state;
    static const float zeros[2] = {0, 0}, weights[2] = {-254, 100};
    code_range codes = code_range_of(QDQ_INT8, true);
    assert_true(choose_weight_scale(zeros, 2, CHOOSE_MINMAX, &codes) == 1.0F);
    codes.halves_away = true;
    assert_true(choose_weight_scale(zeros, 2, CHOOSE_MINMAX, &codes) == (float)(5e-7 / 127));
    assert_true(choose_weight_scale(weights, 2, CHOOSE_MINMAX, &codes) == 2.0F);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zero_point_between_codes_rounds_away_from_zero),
        cmocka_unit_test(ranges_are_widened_to_zero_and_to_a_millionth),
        cmocka_unit_test(scales_are_quotients_of_float32),
        cmocka_unit_test(codes_round_halves_away),
        cmocka_unit_test(weights_have_the_scale_of_a_millionth_at_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
