// SPDX-License-Identifier: Apache-2.0
// Element types: every code of at most 16 bits, and rounding to bfloat16 against exact double
// arithmetic.
#include <math.h>

#include "runtime/numerics/dtype.h"
#include "tests/unit.h"

static void names_lead_back_to_their_dtype(void **state) {
    (void)state;
    for (int d = QDQ_DTYPE_NONE + 1; d < QDQ_DTYPE_COUNT; d++) {
        assert_int_equal(qdq_dtype_from_name(qdq_dtype_name((qdq_dtype)d)), d);
        const qdq_dtype_info *info = qdq_dtype_get((qdq_dtype)d);
        int bytes = info->kind == QDQ_KIND_BLOCK_FLOAT ? 4 : (info->bits + 7) / 8;
        assert_int_equal(qdq_dtype_size((qdq_dtype)d), bytes);
    }
    assert_int_equal(qdq_dtype_from_name("none"), QDQ_DTYPE_NONE);
    assert_int_equal(qdq_dtype_from_name("float64"), QDQ_DTYPE_NONE);
    assert_null(qdq_dtype_get(QDQ_DTYPE_NONE));
    assert_null(qdq_dtype_get(QDQ_DTYPE_COUNT));
    assert_string_equal(qdq_dtype_name(QDQ_DTYPE_NONE), "none");
    assert_int_equal(qdq_dtype_size(QDQ_DTYPE_NONE), 0);
}

// The value of a finite bfloat16 code, from its definition.
static double value_of(uint16_t code) {
    int exponent = code >> 7 & 0xFF, fraction = code & 0x7F;
    double magnitude = exponent ? ldexp(128 + fraction, exponent - 134) : ldexp(fraction, -133);
    return code & 0x8000 ? -magnitude : magnitude;
}

static void all_bfloat16_values_round_trip(void **state) {
    (void)state;
    for (unsigned code = 0; code < 65536; code++) {
        uint16_t in = (uint16_t)code, out;
        float wide;
        qdq_decode_float(QDQ_BFLOAT16, &in, &wide, 1);
        qdq_encode_float(QDQ_BFLOAT16, &wide, &out, 1, NULL);
        assert_int_equal(out, in);
        if ((code & 0x7F80) != 0x7F80)
            assert_true((double)wide == value_of(in));
        else if (code & 0x7F)
            assert_true(isnan(wide));
        else
            assert_true(isinf(wide));
    }
}

// Between each two neighbours, the midpoint rounds to the even one and the floats around it to the
// nearer one.
static void float32_to_bfloat16_is_nearest_even(void **state) {
    (void)state;
    for (unsigned code = 0; code < 0x7F7F; code++) {
        float low = (float)value_of((uint16_t)code), high = (float)value_of((uint16_t)(code + 1));
        double half = (value_of((uint16_t)code) + value_of((uint16_t)(code + 1))) / 2;
        float tie = (float)half;
        assert_true((double)tie == half);
        unsigned even = code & 1 ? code + 1 : code;
        assert_int_equal(qdq_bfloat16_encode(tie), even);
        assert_int_equal(qdq_bfloat16_encode(-tie), even | 0x8000);
        assert_int_equal(qdq_bfloat16_encode(nextafterf(tie, low)), code);
        assert_int_equal(qdq_bfloat16_encode(nextafterf(tie, high)), code + 1);
    }
    float largest = (float)value_of(0x7F7F);
    assert_int_equal(qdq_bfloat16_encode(largest), 0x7F7F);
    assert_int_equal(qdq_bfloat16_encode(3.4e38f), 0x7F80);
    assert_int_equal(qdq_bfloat16_encode(-0.0f), 0x8000);
    assert_int_equal(qdq_bfloat16_encode(-INFINITY), 0xFF80);
}

static void a_nan_stays_a_nan_in_bfloat16(void **state) {
    (void)state;
    static const uint32_t nans[] = {0x7F800001, 0x7FC00000, 0xFF80FFFF, 0x7FFFFFFF, 0xFFC12345};
    for (size_t i = 0; i < UNIT_COUNT(nans); i++) {
        uint16_t code = qdq_bfloat16_encode(qdq_float_from_bits(nans[i]));
        assert_true((code & 0x7F80) == 0x7F80 && (code & 0x7F) != 0);
        assert_int_equal(code >> 15, nans[i] >> 31);
    }
}

static void all_codes_of_eight_bits_round_trip(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        unsigned char in = (unsigned char)code, out;
        int32_t wide;
        float real;
        qdq_decode_int(QDQ_INT8, &in, &wide, 1);
        assert_int_equal(wide, code < 128 ? code : code - 256);
        qdq_encode_int(QDQ_INT8, &wide, &out, 1);
        assert_int_equal(out, in);
        qdq_decode_int(QDQ_UINT8, &in, &wide, 1);
        assert_int_equal(wide, code);
        qdq_encode_int(QDQ_UINT8, &wide, &out, 1);
        assert_int_equal(out, in);
        qdq_decode_float(QDQ_UINT8, &in, &real, 1);
        assert_true(real == (float)code);
    }
}

static void wide_integers_become_the_nearest_float(void **state) {
    (void)state;
    static const int32_t in[] = {16777217, 16777219, -16777217, INT32_MAX, INT32_MIN};
    static const double wanted[] = {16777216, 16777220, -16777216, 2147483648.0, -2147483648.0};
    float out[5];
    qdq_decode_float(QDQ_INT32, in, out, 5);
    for (size_t i = 0; i < 5; i++) assert_true((double)out[i] == wanted[i]);
}

static void int64_widens_exactly_to_int64_and_is_clamped_to_int32(void **state) {
    (void)state;
    static const int64_t in[] = {INT64_MIN, INT64_MAX, -5, INT64_C(16777217), INT64_C(1) << 40};
    int64_t wide[5];
    int32_t whole[5];
    float real[5];
    qdq_widen_int64(QDQ_INT64, in, wide, 5);
    assert_memory_equal(wide, in, sizeof in);
    qdq_widen_int(QDQ_INT64, in, whole, 5);
    static const int32_t clamped[] = {INT32_MIN, INT32_MAX, -5, 16777217, INT32_MAX};
    assert_memory_equal(whole, clamped, sizeof clamped);
    qdq_widen_float(QDQ_INT64, in, real, 5);
    static const float rounded[] = {-0x1p63f, 0x1p63f, -5, 16777216, 0x1p40f};
    assert_memory_equal(real, rounded, sizeof rounded);
    static const unsigned char bytes[] = {0x80, 0x7F};
    qdq_widen_int64(QDQ_INT8, bytes, wide, 2);
    assert_true(wide[0] == -128 && wide[1] == 127);
    assert_false(qdq_dtype_is_int(QDQ_INT64));
    assert_false(qdq_dtype_is_real(QDQ_INT64));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_back_to_their_dtype),
        cmocka_unit_test(all_bfloat16_values_round_trip),
        cmocka_unit_test(float32_to_bfloat16_is_nearest_even),
        cmocka_unit_test(a_nan_stays_a_nan_in_bfloat16),
        cmocka_unit_test(all_codes_of_eight_bits_round_trip),
        cmocka_unit_test(wide_integers_become_the_nearest_float),
        cmocka_unit_test(int64_widens_exactly_to_int64_and_is_clamped_to_int32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
