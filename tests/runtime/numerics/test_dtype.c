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
    assert_int_equal(qdq_dtype_from_name("float128"), QDQ_DTYPE_NONE);
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

static void unsigned_integers_widen_exactly_and_are_clamped_to_int32(void **state) {
    static const uint32_t words[] = {0, 7, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    static const uint64_t longs[] = {0, 7, UINT64_C(0x80000000), UINT64_C(1) << 63, UINT64_MAX};
    static const int32_t clamped[] = {0, 7, INT32_MAX, INT32_MAX, INT32_MAX};
    int32_t whole[5];
    int64_t wide[5];
    float real[5];
    (void)state;
    qdq_widen_int(QDQ_UINT32, words, whole, 5);
    assert_memory_equal(whole, clamped, sizeof whole);
    qdq_widen_int(QDQ_UINT64, longs, whole, 5);
    assert_memory_equal(whole, clamped, sizeof whole);
    qdq_widen_int64(QDQ_UINT32, words, wide, 5);
    for (int i = 0; i < 5; i++) assert_true(wide[i] == words[i]);
    qdq_widen_int64(QDQ_UINT64, longs, wide, 5);
    assert_memory_equal(wide, longs, sizeof wide);
    qdq_decode_float(QDQ_UINT32, words, real, 5);
    assert_true(real[2] == 0x1p31f && real[3] == 0x1p31f && real[4] == 0x1p32f);
    qdq_decode_float(QDQ_UINT64, longs, real, 5);
    assert_true(real[3] == 0x1p63f && real[4] == 0x1p64f);
}

static void float64_is_real_and_rounds_once_to_float32(void **state) {
    static const double x[] = {0.1, -0.0, 0x1.000001p0, 0x1.0000010000001p0, 1e300};
    static const float rounded[] = {0.1f, -0.0f, 1.0f, 0x1.000002p0f, INFINITY};
    float real[5];
    double wide[5];
    (void)state;
    assert_true(qdq_dtype_is_real(QDQ_FLOAT64) && qdq_dtype_is_wide(QDQ_FLOAT64));
    qdq_widen_float(QDQ_FLOAT64, x, real, 5);
    assert_memory_equal(real, rounded, sizeof real);
    qdq_widen_float64(QDQ_FLOAT64, x, wide, 5);
    assert_memory_equal(wide, x, sizeof wide);
    qdq_widen_float64(QDQ_FLOAT32, rounded, wide, 5);
    assert_true(wide[0] == (double)0.1f && isinf(wide[4]));
}

static void encoding_from_64_bits_keeps_the_low_bits(void **state) {
    static const uint64_t in[] = {UINT64_C(0x123456789ABCDEF0), 0, UINT64_MAX};
    uint32_t words[3];
    uint16_t halves[3];
    uint8_t bytes[3];
    (void)state;
    qdq_encode_wide(QDQ_UINT32, in, words, 3);
    assert_true(words[0] == 0x9ABCDEF0 && words[1] == 0 && words[2] == 0xFFFFFFFF);
    qdq_encode_wide(QDQ_INT16, in, halves, 3);
    assert_true(halves[0] == 0xDEF0 && halves[1] == 0 && halves[2] == 0xFFFF);
    qdq_encode_wide(QDQ_BOOL, in, bytes, 3);
    assert_true(bytes[0] == 1 && bytes[1] == 0 && bytes[2] == 1);
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
        cmocka_unit_test(unsigned_integers_widen_exactly_and_are_clamped_to_int32),
        cmocka_unit_test(float64_is_real_and_rounds_once_to_float32),
        cmocka_unit_test(encoding_from_64_bits_keeps_the_low_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
