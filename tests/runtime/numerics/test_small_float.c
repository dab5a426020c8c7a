// SPDX-License-Identifier: Apache-2.0
// Floats of at most 16 bits: every code against its definition, and conversions from float32 (every
// float16, every bfloat16, constructed cases) against a search for the nearest code.
#include <math.h>

#include "runtime/numerics/dtype.h"
#include "tests/runtime/numerics/small_float_golden.h"
#include "tests/small_floats.h"
#include "tests/unit.h"

// Code i of an array as the API holds it: in one byte or two.
static unsigned code_at(const small_format *f, const void *codes, size_t i) {
    return small_codes(f) > 256 ? ((const uint16_t *)codes)[i] : ((const uint8_t *)codes)[i];
}

// All codes in order, as the API holds them.
static size_t all_codes(const small_format *f, void *codes) {
    for (unsigned code = 0; code < small_codes(f); code++) {
        if (small_codes(f) > 256)
            ((uint16_t *)codes)[code] = (uint16_t)code;
        else
            ((uint8_t *)codes)[code] = (uint8_t)code;
    }
    return small_codes(f);
}

//---- Codes ------------------------------------------------------------------

static bool same_float(float a, double b) {
    if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
    return unit_bits_of_float(a) == unit_bits_of_float((float)b);
}

static void every_code_of_a_small_float_has_the_value_of_its_definition(void **state) {
    (void)state;
    static uint16_t codes[65536];
    static float wide[65536], public[65536];
    for (size_t k = 0; k < SMALL_FORMATS; k++) {
        const small_format *f = &small_formats[k];
        size_t count = all_codes(f, codes);
        qdq_decode_float(f->dtype, codes, wide, count);
        qdq_widen_float(f->dtype, codes, public, count);
        for (unsigned code = 0; code < count; code++) {
            double want = small_value(f, code);
            assert_true(isnan(want) || (double)(float)want == want);
            if (!same_float(wide[code], want) || !same_float(public[code], want))
                fail_msg("%s code %#x: got %a and %a, want %a", qdq_dtype_name(f->dtype), code,
                         (double)wide[code], (double)public[code], want);
        }
    }
}

static void every_code_of_a_small_float_round_trips_in_every_mode(void **state) {
    (void)state;
    static uint16_t codes[65536], back[65536];
    static float wide[65536];
    for (size_t k = 0; k < SMALL_FORMATS * 3; k++) {
        const small_format *f = &small_formats[k / 3];
        qdq_numerics n = {.float_overflow = (qdq_float_overflow)(k % 3)};
        size_t count = all_codes(f, codes);
        qdq_decode_float(f->dtype, codes, wide, count);
        qdq_encode_float(f->dtype, wide, back, count, &n);
        for (unsigned code = 0; code < count; code++) {
            unsigned want = code;
            if (isinf(wide[code])) want = small_encode(f, (double)wide[code], n.float_overflow);
            unsigned got = code_at(f, back, code);
            if (!small_same(f, got, want))
                fail_msg("%s mode %zu: code %#x became %#x", qdq_dtype_name(f->dtype), k % 3, code,
                         got);
        }
    }
}

//---- From float32 -----------------------------------------------------------

// Encodes all of `in` to `f` in each of the three overflow modes.
static void check_encode(const small_format *f, const float *in, size_t count) {
    static uint16_t out[1 << 21];
    assert_true(count <= UNIT_COUNT(out));
    for (int mode = QDQ_FLOAT_SATURATE; mode <= QDQ_FLOAT_THROUGH_FLOAT16; mode++) {
        qdq_numerics n = {.float_overflow = (qdq_float_overflow)mode};
        memset(out, 0x55, count * sizeof *out);
        qdq_encode_float(f->dtype, in, out, count, &n);
        for (size_t i = 0; i < count; i++) {
            unsigned want = small_encode(f, (double)in[i], n.float_overflow);
            unsigned got = code_at(f, out, i);
            if (!small_same(f, got, want))
                fail_msg("%a (%08x) to %s, mode %d: got %#x, want %#x", (double)in[i],
                         unit_bits_of_float(in[i]), qdq_dtype_name(f->dtype), mode, got, want);
        }
        if (mode != QDQ_FLOAT_SATURATE) continue;
        static uint16_t plain[1 << 21];
        memset(plain, 0x55, count * sizeof *plain);
        qdq_encode_float(f->dtype, in, plain, count, NULL);  // NULL is all zero
        assert_memory_equal(plain, out, count * qdq_dtype_size(f->dtype));
    }
}

static void check_every(qdq_dtype source) {
    static uint16_t codes[65536];
    static float wide[65536];
    const small_format *from = small_format_of(source);
    size_t count = all_codes(from, codes);
    for (size_t i = 0; i < count; i++) {
        wide[i] = (float)small_value(from, codes[i]);
        if (isnan(wide[i]))
            wide[i] = unit_float_of_bits(codes[i] & 0x8000 ? 0xFFC00000 : 0x7FC00000);
    }
    for (size_t k = 0; k < SMALL_FORMATS; k++) check_encode(&small_formats[k], wide, count);
}

static void every_float16_becomes_the_nearest_code_of_each_type(void **state) {
    (void)state;
    check_every(QDQ_FLOAT16);
}

static void every_bfloat16_becomes_the_nearest_code_of_each_type(void **state) {
    (void)state;
    check_every(QDQ_BFLOAT16);
}

// Adds `at`, its two neighbours and their negatives.
static size_t add_around(float *in, size_t n, double at) {
    float f = (float)at;
    if (isinf(f)) f = 0x1.fffffep127f;  // rounded up past the largest float32
    float three[3] = {f, nextafterf(f, -INFINITY), nextafterf(f, INFINITY)};
    for (int i = 0; i < 3; i++) in[n++] = three[i], in[n++] = -three[i];
    return n;
}

// Each code, each midpoint of two neighbours (the last is half a step above the largest), and the
// numbers that float16 just rounds to a midpoint. Code 0 gives half the least subnormal.
static size_t constructed(const small_format *f, float *in) {
    static const uint32_t odd[] = {
        0x00000000, 0x00000001, 0x00000002, 0x000ABCDE, 0x003FFFFF, 0x00400000, 0x00400001,
        0x005FFFFF, 0x00600000, 0x00600001, 0x007FFFFF, 0x00800000, 0x00800001, 0x33000000,
        0x33000001, 0x387FFFFF, 0x38800000, 0x477FE000, 0x477FEFFF, 0x477FF000, 0x477FF001,
        0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FBFFFFF, 0x7FC00000, 0x7FC12345, 0x7FFFFFFF};
    size_t n = 0;
    for (unsigned code = 0; code <= small_largest(f); code++) {
        double low = small_magnitude(f, code), high = small_magnitude(f, code + 1);
        double tie = (low + high) / 2;
        n = add_around(in, n, low), n = add_around(in, n, tie);
        if (f->rule == SMALL_IEEE && f->mantissa_bits > 2) continue;
        double half_step = ldexp(1, (ilogb(tie) < -14 ? -14 : ilogb(tie)) - 11);
        n = add_around(in, n, tie - half_step), n = add_around(in, n, tie + half_step);
    }
    for (size_t i = 0; i < UNIT_COUNT(odd); i++)
        in[n++] = unit_float_of_bits(odd[i]), in[n++] = unit_float_of_bits(odd[i] | 0x80000000);
    return n;
}

static void float32_around_every_midpoint_becomes_the_nearest_code(void **state) {
    (void)state;
    static float in[1 << 19];
    for (size_t k = 0; k < SMALL_FORMATS; k++) {
        size_t count = constructed(&small_formats[k], in);
        assert_true(count > 16 && count <= UNIT_COUNT(in));
        check_encode(&small_formats[k], in, count);
    }
}

static void any_float32_becomes_the_nearest_code_of_each_type(void **state) {
    (void)state;
    enum { COUNT = 40000 };
    static float in[COUNT];
    uint64_t seed = 17;
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t bits = (uint32_t)unit_random(&seed);
        // 2^-31 to 2, so that most are in range
        if (i % 2) bits = (bits & 0x8FFFFFFF) | 0x30000000;
        if (i % 4 == 3) bits ^= 0x70000000;  // 2 to 2^33
        in[i] = unit_float_of_bits(bits);
    }
    const size_t count = unit_slow() ? COUNT / 8 : COUNT;
    for (size_t k = 0; k < SMALL_FORMATS; k++) check_encode(&small_formats[k], in, count);
}

static void no_length_is_special(void **state) {
    (void)state;
    float in[70];
    uint16_t out[71];
    for (size_t i = 0; i < 70; i++) in[i] = ldexpf((float)i - 35.0f, (int)i % 9 - 6);
    for (size_t k = 0; k < SMALL_FORMATS; k++) {
        const small_format *f = &small_formats[k];
        for (size_t count = 0; count <= 70; count++) {
            memset(out, 0x5A, sizeof out);
            qdq_encode_float(f->dtype, in, out, count, NULL);
            for (size_t i = 0; i < count; i++)
                assert_true(small_same(f, code_at(f, out, i),
                                       small_encode(f, (double)in[i], QDQ_FLOAT_SATURATE)));
            for (size_t b = count * qdq_dtype_size(f->dtype); b < sizeof out; b++)
                assert_int_equal(((uint8_t *)out)[b], 0x5A);
        }
    }
}

//---- Known numbers ----------------------------------------------------------

static unsigned encode_one(qdq_dtype dtype, float value, qdq_float_overflow mode) {
    uint8_t code = 0x55;
    qdq_encode_float(dtype, &value, &code, 1, &(qdq_numerics){.float_overflow = mode});
    return code;
}

// As observed on oneDNN 3.13.2.
static void through_float16_has_the_edges_that_onednn_has(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float value;
        unsigned code;
    } rows[] = {
        {QDQ_FLOAT8_E4M3FN, 464.0f, 0x7E},    {QDQ_FLOAT8_E4M3FN, 464.12f, 0x7E},
        {QDQ_FLOAT8_E4M3FN, 464.125f, 0x7E},  {QDQ_FLOAT8_E4M3FN, 464.126f, 0x7F},
        {QDQ_FLOAT8_E4M3FN, -464.126f, 0xFF}, {QDQ_FLOAT8_E4M3FN, INFINITY, 0x7F},
        {QDQ_FLOAT8_E4M3FN, -INFINITY, 0xFF}, {QDQ_FLOAT8_E4M3FN, 0x1p-10f, 0x00},
        {QDQ_FLOAT8_E4M3FN, -0x1p-10f, 0x80}, {QDQ_FLOAT8_E4M3FN, 1e9f, 0x7F},
        {QDQ_FLOAT8_E5M2, 61423.0f, 0x7B},    {QDQ_FLOAT8_E5M2, 61424.0f, 0x7C},
        {QDQ_FLOAT8_E5M2, -61424.0f, 0xFC},   {QDQ_FLOAT8_E5M2, INFINITY, 0x7C},
        {QDQ_FLOAT8_E5M2, -INFINITY, 0xFC},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        assert_int_equal(encode_one(rows[i].dtype, rows[i].value, QDQ_FLOAT_THROUGH_FLOAT16),
                         rows[i].code);
    assert_int_equal(encode_one(QDQ_FLOAT8_E4M3FN, 464.12f, QDQ_FLOAT_OVERFLOW), 0x7F);
    assert_int_equal(encode_one(QDQ_FLOAT8_E5M2, 61439.0f, QDQ_FLOAT_OVERFLOW), 0x7B);
    assert_int_equal(encode_one(QDQ_FLOAT8_E5M2, 61440.0f, QDQ_FLOAT_OVERFLOW), 0x7C);
}

// Conversions to float8 and float4 as the documents of TensorRT and ONNX state them.
static void ties_go_where_tensorrt_and_onnx_say(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float from, to;
    } rows[] = {
        {QDQ_FLOAT4_E2M1, 0.25f, 0},
        {QDQ_FLOAT4_E2M1, 0.75f, 1},
        {QDQ_FLOAT4_E2M1, 1.25f, 1},
        {QDQ_FLOAT4_E2M1, 1.75f, 2},
        {QDQ_FLOAT4_E2M1, 2.5f, 2},
        {QDQ_FLOAT4_E2M1, 3.5f, 4},
        {QDQ_FLOAT4_E2M1, 5, 4},
        {QDQ_FLOAT4_E2M1, 1e9f, 6},
        {QDQ_FLOAT4_E2M1, -INFINITY, -6},
        {QDQ_FLOAT8_E4M3FN, 25, 24},
        {QDQ_FLOAT8_E4M3FN, 35, 36},
        {QDQ_FLOAT8_E4M3FN, 50, 48},
        {QDQ_FLOAT8_E4M3FN, 70, 72},
        {QDQ_FLOAT8_E4M3FN, 127, 128},
        {QDQ_FLOAT8_E4M3FN, 464, 448},
        {QDQ_FLOAT8_E4M3FNUZ, 248, 240},
        {QDQ_FLOAT8_E5M2FNUZ, 61440, 57344},
        {QDQ_FLOAT8_E4M3FN, 1e9f, 448},
        {QDQ_FLOAT8_E5M2, -1e9f, -57344},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        uint8_t code = (uint8_t)encode_one(rows[i].dtype, rows[i].from, QDQ_FLOAT_SATURATE);
        float back;
        qdq_decode_float(rows[i].dtype, &code, &back, 1);
        if (back != rows[i].to)
            fail_msg("%s: %g became %g", qdq_dtype_name(rows[i].dtype), (double)rows[i].from,
                     (double)back);
    }
}

static void a_float4_nan_is_code_8_and_a_fnuz_zero_has_no_sign(void **state) {
    (void)state;
    for (int mode = 0; mode < 3; mode++) {
        assert_int_equal(encode_one(QDQ_FLOAT4_E2M1, NAN, (qdq_float_overflow)mode), 8);
        assert_int_equal(encode_one(QDQ_FLOAT4_E2M1, -NAN, (qdq_float_overflow)mode), 8);
        assert_int_equal(encode_one(QDQ_FLOAT8_E4M3FNUZ, -0.0f, (qdq_float_overflow)mode), 0);
        assert_int_equal(encode_one(QDQ_FLOAT8_E5M2FNUZ, -1e-9f, (qdq_float_overflow)mode), 0);
        assert_int_equal(encode_one(QDQ_FLOAT8_E8M0, 0, (qdq_float_overflow)mode), 0);
        assert_int_equal(encode_one(QDQ_FLOAT8_E8M0, 448, (qdq_float_overflow)mode), 136);
        assert_int_equal(encode_one(QDQ_FLOAT8_E8M0, INFINITY, (qdq_float_overflow)mode), 254);
    }
}

//---- ml_dtypes --------------------------------------------------------------

static uint32_t crc_byte(uint32_t crc, unsigned byte) {
    crc ^= byte;
    for (int k = 0; k < 8; k++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    return crc;
}

// ml_dtypes has other rules for these (tools/peers/small_floats.py names them); the golden data has
// code 0 there.
static bool excluded(qdq_dtype target, float x) {
    if (target == QDQ_FLOAT4_E2M1) return isnan(x) && signbit(x);
    if (target != QDQ_FLOAT8_E8M0 || isnan(x)) return false;
    if (x == 0 || x >= 0x1.8p127f) return true;
    if (x < 0) return false;
    if (x < 0x1p-126f) return x > 0x1p-127f && x <= 0x1.8p-127f;
    int exponent = ilogbf(x);
    return x == ldexpf(1.5f, exponent) && (exponent + 127) % 2 == 0;
}

static void every_16_bit_float_becomes_what_ml_dtypes_makes_of_it(void **state) {
    (void)state;
    static uint16_t source[65536], out[65536];
    static float wide[65536];
    qdq_numerics n = {.float_overflow = QDQ_FLOAT_OVERFLOW};
    for (size_t g = 0; g < UNIT_COUNT(small_float_golden); g++) {
        qdq_dtype target = small_float_golden[g].target;
        const small_format *f = small_format_of(target);
        size_t count = all_codes(small_format_of(small_float_golden[g].source), source);
        qdq_decode_float(small_float_golden[g].source, source, wide, count);
        qdq_encode_float(target, wide, out, count, &n);
        uint32_t crc = 0xFFFFFFFFu;
        for (size_t i = 0; i < count; i++) {
            unsigned code = code_at(f, out, i);
            if (small_is_nan(f, code) && f->rule != SMALL_FNUZ) code = small_sign(f) - 1;
            if (excluded(target, wide[i])) code = 0;
            crc = crc_byte(crc, code & 0xFF);
            if (small_codes(f) > 256) crc = crc_byte(crc, code >> 8);
        }
        if ((crc ^ 0xFFFFFFFFu) != small_float_golden[g].crc)
            fail_msg("%s to %s: %08x", qdq_dtype_name(small_float_golden[g].source),
                     qdq_dtype_name(target), crc ^ 0xFFFFFFFFu);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_of_a_small_float_has_the_value_of_its_definition),
        cmocka_unit_test(every_code_of_a_small_float_round_trips_in_every_mode),
        cmocka_unit_test(every_float16_becomes_the_nearest_code_of_each_type),
        cmocka_unit_test(every_bfloat16_becomes_the_nearest_code_of_each_type),
        cmocka_unit_test(float32_around_every_midpoint_becomes_the_nearest_code),
        cmocka_unit_test(any_float32_becomes_the_nearest_code_of_each_type),
        cmocka_unit_test(no_length_is_special),
        cmocka_unit_test(through_float16_has_the_edges_that_onednn_has),
        cmocka_unit_test(ties_go_where_tensorrt_and_onnx_say),
        cmocka_unit_test(a_float4_nan_is_code_8_and_a_fnuz_zero_has_no_sign),
        cmocka_unit_test(every_16_bit_float_becomes_what_ml_dtypes_makes_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
