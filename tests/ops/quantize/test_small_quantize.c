// SPDX-License-Identifier: Apache-2.0
// Quantize to narrow integers, int16 and small floats, and Dequantize back: from every float dtype
// and int32, per tensor, per channel and per group with short last blocks, with scales and zero
// points from attributes, constants and inputs. Also how `saturate`, zero points and special scales
// affect small floats.
#include "tests/ops/small_example.h"

static const qdq_dtype results[] = {
    QDQ_INT16,       QDQ_UINT16,        QDQ_INT4,        QDQ_UINT4,           QDQ_INT2,
    QDQ_UINT2,       QDQ_FLOAT8_E4M3FN, QDQ_FLOAT8_E5M2, QDQ_FLOAT8_E4M3FNUZ, QDQ_FLOAT8_E5M2FNUZ,
    QDQ_FLOAT4_E2M1,
};
static const qdq_dtype small_results[] = {QDQ_FLOAT8_E4M3FN, QDQ_FLOAT8_E5M2, QDQ_FLOAT8_E4M3FNUZ,
                                          QDQ_FLOAT8_E5M2FNUZ, QDQ_FLOAT4_E2M1};
static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
static const qdq_dtype scale_dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_FLOAT8_E8M0,
                                         QDQ_FLOAT8_E4M3FN};

//---- Every combination ------------------------------------------------------

// Example `number` of one source, result and granularity; the other choices cycle with the number.
static example *make_example(unsigned number, qdq_dtype from, qdq_dtype to, const grain *g) {
    static example e;
    static const qdq_dtype wider[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT16, QDQ_UINT16, QDQ_INT4};
    int64_t extents[QDQ_MAX_RANK];
    uint64_t seed = number * 2654435761u + 1;
    for (int i = 0; i < 8; i++) (void)unit_random(&seed);
    e = (example){.grain = g, .from = from, .to = to};
    e.count = qdq_shape_count(g->shape), e.blocks = qdq_shape_count(grid_of(g, extents));
    assert_true(e.count <= LARGEST);
    unsigned scale = number % 11;  // attribute, constant or input
    e.scale_from = scale == 0 ? ATTRIBUTE : scale < 6 ? CONSTANT : INPUT;
    e.scale_dtype = scale == 0 ? QDQ_FLOAT32 : scale_dtypes[(scale - 1) % 5];
    e.back = floats[number / 11 % 3];
    e.zp_from = (origin)(number % 4);
    e.zp_dtype = small_format_of(to) || number % 5 == 0 ? wider[number / 5 % 5] : to;
    e.saturate = number % 7 == 0 ? QDQ_TRUE : number % 7 == 1 ? QDQ_FALSE : QDQ_UNSET;
    e.threads = number % 5 < 2;
    make_scales(&e, &seed);
    make_zps(&e, &seed);
    make_data(&e, &seed);
    return &e;
}

static void check_source(qdq_dtype from, unsigned number) {
    for (size_t t = 0; t < UNIT_COUNT(results); t++)
        for (size_t g = 0; g < UNIT_COUNT(grains); g++)
            for (unsigned k = 0; k < 11; k++) {
                const example *e = make_example(number++, from, results[t], &grains[g]);
                if (unit_left_out(number)) continue;
                bool overflows = e->saturate == QDQ_FALSE;
                check_example(e, NULL, overflows ? QDQ_FLOAT_OVERFLOW : QDQ_FLOAT_SATURATE);
            }
}

static void float32_to_every_type_and_back_equals_the_oracle(void **state) {
    (void)state;
    check_source(QDQ_FLOAT32, 0);
}

static void float16_to_every_type_and_back_equals_the_oracle(void **state) {
    (void)state;
    check_source(QDQ_FLOAT16, 10000);
}

static void bfloat16_to_every_type_and_back_equals_the_oracle(void **state) {
    (void)state;
    check_source(QDQ_BFLOAT16, 20000);
}

static void int32_to_every_type_and_back_equals_the_oracle(void **state) {
    (void)state;
    check_source(QDQ_INT32, 30000);
}

// `saturate` overrides the plan's numerics, which decide if it is not set.
static void numerics_decide_overflow_if_saturate_is_unset(void **state) {
    (void)state;
    for (unsigned k = 0; k < 120; k++) {
        if (unit_left_out(k)) continue;
        qdq_numerics n = {.float_overflow = (qdq_float_overflow)(k / 5 % 3)};
        example *e = make_example(40000 + k, floats[k % 3], small_results[k % 5], &grains[k % 9]);
        bool through = n.float_overflow == QDQ_FLOAT_THROUGH_FLOAT16;
        e->saturate = through ? QDQ_UNSET : (qdq_bool)(k / 15 % 3);
        qdq_float_overflow wanted = n.float_overflow;
        if (e->saturate == QDQ_TRUE) wanted = QDQ_FLOAT_SATURATE;
        if (e->saturate == QDQ_FALSE) wanted = QDQ_FLOAT_OVERFLOW;
        check_example(e, &n, wanted);
    }
}

//---- One tensor -------------------------------------------------------------

// Quantizes `count` float32 with these attributes to codes of one byte.
static void quantize_bytes(const float *x, size_t count, qdq_quantize_attrs attrs,
                           const int8_t *run_time_zp, uint8_t *y) {
    for (int materialize = 0; materialize < 2; materialize++) {
        uint8_t out[64];
        qdq_graph *g = qdq_graph_create("bytes", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)count));
        oracle_bound bound[3] = {{"x", (void *)(uintptr_t)x, count * sizeof *x}, {"y", out, count}};
        if (run_time_zp) {
            bound[2] = (oracle_bound){"z", (void *)(uintptr_t)run_time_zp, 1};
            attrs.zero_point = qdq_input(g, "z", QDQ_INT8, (qdq_shape){0});
        }
        qdq_output(g, "y", qdq_quantize(g, v, attrs));
        oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound,
                   run_time_zp ? 3 : 2);
        qdq_graph_destroy(g);
        if (materialize) assert_memory_equal(y, out, count);
        memcpy(y, out, count);
    }
}

// Without a zero point -0 stays -0 if the dtype has one; a zero point of 0 makes it +0 in float4
// only.
static void a_zero_point_of_0_takes_the_sign_of_zero_from_float4_alone(void **state) {
    (void)state;
    static const float x[4] = {-0.0f, 0.0f, -1e-30f, -0.125f};
    static const int8_t zero = 0;
    for (size_t t = 0; t < UNIT_COUNT(small_results); t++) {
        const small_format *f = small_format_of(small_results[t]);
        bool float4 = f->dtype == QDQ_FLOAT4_E2M1;
        uint8_t none[4], attr[4], port[4], minus = (uint8_t)small_encode(f, -0.0, 0);
        qdq_quantize_attrs attrs = {.dtype = f->dtype, .scales = QDQ_SCALE(1.0f)};
        quantize_bytes(x, 4, attrs, NULL, none);
        quantize_bytes(x, 4, attrs, &zero, port);
        attrs.zps = QDQ_ZP(0);
        quantize_bytes(x, 4, attrs, NULL, attr);
        assert_int_equal(none[0], minus);
        assert_int_equal(none[1], 0);
        assert_int_equal(none[2], minus);
        assert_memory_equal(attr, port, 4);
        assert_int_equal(attr[0], float4 ? 0 : minus);
        assert_int_equal(attr[1], 0);
        assert_memory_equal(attr + 2, none + 2,
                            2);  // a sum that rounds to -0 keeps its sign
    }
}

static void float8_saturates_unless_saturate_is_false_and_float4_always(void **state) {
    (void)state;
    static const float x[8] = {1e9f, -1e9f, INFINITY, -INFINITY, NAN, 3e38f, 7.1f, -7.1f};
    for (size_t t = 0; t < UNIT_COUNT(small_results); t++)
        for (int saturate = QDQ_UNSET; saturate <= QDQ_FALSE; saturate++) {
            const small_format *f = small_format_of(small_results[t]);
            uint8_t y[8];
            quantize_bytes(x, 8,
                           (qdq_quantize_attrs){.dtype = f->dtype,
                                                .scales = QDQ_SCALE(1.0f),
                                                .saturate = (qdq_bool)saturate},
                           NULL, y);
            for (size_t i = 0; i < 8; i++) {
                double v = small_value(f, y[i]);
                bool finite = f->dtype == QDQ_FLOAT4_E2M1 || saturate != QDQ_FALSE;
                if (i == 4)
                    assert_int_equal(isnan(v) != 0, f->dtype != QDQ_FLOAT4_E2M1);
                else if (i >= 6)
                    assert_true(fabs(v) > 5.9 && fabs(v) < 7.6 && (v < 0) == (i == 7));
                else if (finite)
                    assert_true(fabs(v) == small_magnitude(f, small_largest(f)));
                else
                    assert_true(f->dtype == QDQ_FLOAT8_E5M2 ? isinf(v) : isnan(v));
                if (i < 4 && (finite || f->dtype == QDQ_FLOAT8_E5M2))
                    assert_int_equal(v < 0, i % 2);
            }
        }
}

//---- Findings ---------------------------------------------------------------

// How many findings of the rule there are.
static size_t count_findings(qdq_graph *graph, const char *rule) {
    const qdq_report *report = qdq_graph_validate(graph, NULL, NULL);
    size_t count = 0;
    assert_non_null(report);
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->findings[i].rule, rule) == 0 &&
            report->findings[i].severity == QDQ_SEVERITY_ERROR)
            count++;
    assert_int_equal(report->errors, count);  // there are no other errors
    return count;
}

static void a_zero_point_other_than_0_with_a_small_float_is_a_finding(void **state) {
    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(small_results); t++)
        for (int zp = -1; zp <= 1; zp++)
            for (int port = 0; port < 2; port++) {
                int8_t held_zp = (int8_t)zp;
                double number = zp;
                qdq_graph *g = qdq_graph_create("zero points", NULL);
                qdq_quantize_attrs a = {.dtype = small_results[t], .scales = QDQ_SCALE(0.5f)};
                if (port)
                    a.zero_point = qdq_constant(g, "z", QDQ_INT8, QDQ_SHAPE(1), &held_zp);
                else
                    a.zps = (qdq_numbers){&number, 1, true};
                qdq_value x = qdq_input(g, "x", QDQ_FLOAT16, QDQ_SHAPE(3));
                qdq_value c = qdq_input(g, "c", small_results[t], QDQ_SHAPE(3));
                qdq_output(g, "q", qdq_quantize(g, x, a));
                a.dtype = QDQ_FLOAT16;
                qdq_output(g, "y", qdq_dequantize(g, c, a));
                assert_int_equal(count_findings(g, "core/zero-point-value"), zp ? 2 : 0);
                qdq_graph_destroy(g);
            }
}

static void a_constant_scale_code_that_is_zero_or_not_a_number_is_a_finding(void **state) {
    (void)state;
    for (size_t s = 1; s < UNIT_COUNT(scale_dtypes); s++) {
        const small_format *f = small_format_of(scale_dtypes[s]);
        unsigned stride = small_codes(f) > 256 ? 127 : 1;
        for (unsigned code = 0; code < small_codes(f); code += stride) {
            uint16_t held_code = (uint16_t)code;
            double v = small_value(f, code);
            qdq_graph *g = qdq_graph_create("scales", NULL);
            qdq_value scale = qdq_constant(g, "s", f->dtype, (qdq_shape){0}, &held_code);
            qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(3));
            qdq_output(g, "q", qdq_quantize(g, x, (qdq_quantize_attrs){.scale = scale}));
            assert_int_equal(count_findings(g, "core/scale-value"), v == 0 || !isfinite(v));
            qdq_graph_destroy(g);
        }
    }
}

//---- Every code -------------------------------------------------------------

// A row of x for each scale: for scales of 0, infinity or NaN at run time the formulas hold as
// well.
static void every_code_of_a_run_time_scale_divides_and_multiplies_as_float32_does(void **state) {
    (void)state;
    static const float x[6] = {1.0f, -3.0f, 0.0f, INFINITY, NAN, 2.5e-38f};
    static float wide[65536 * 6], y[65536 * 6];
    static uint8_t q[65536 * 6];
    static uint16_t scales[65536];
    for (size_t s = 1; s < UNIT_COUNT(scale_dtypes); s++) {
        const small_format *f = small_format_of(scale_dtypes[s]);
        size_t rows = small_codes(f);
        for (size_t i = 0; i < rows; i++) hold(f->dtype, scales, i, (uint32_t)i);
        for (size_t i = 0; i < rows * 6; i++) wide[i] = x[i % 6];
        qdq_graph *g = qdq_graph_create("scales", NULL);
        qdq_shape shape = QDQ_SHAPE((int64_t)rows, 6);
        qdq_quantize_attrs a = {
            .qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(0), .dtype = QDQ_FLOAT8_E5M2};
        a.scale = qdq_input(g, "s", f->dtype, QDQ_SHAPE((int64_t)rows));
        qdq_value v = qdq_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, shape), a);
        qdq_output(g, "q", v);
        a.dtype = QDQ_FLOAT32;
        qdq_output(g, "y", qdq_dequantize(g, v, a));
        oracle_bound bound[] = {{"s", scales, rows * qdq_dtype_size(f->dtype)},
                                {"x", wide, rows * 6 * sizeof *wide},
                                {"q", q, rows * 6},
                                {"y", y, rows * 6 * sizeof *y}};
        oracle_run(g, NULL, bound, 4);
        qdq_graph_destroy(g);
        for (size_t i = 0; i < rows * 6; i++) {
            parameter p = {small_value(f, (unsigned)(i / 6)), 0, false};
            uint32_t want = quantized(QDQ_FLOAT32, unit_bits_of_float(wide[i]), p, QDQ_FLOAT8_E5M2,
                                      QDQ_FLOAT_SATURATE);
            uint32_t back = dequantized(QDQ_FLOAT8_E5M2, q[i], p, QDQ_FLOAT32);
            if (!same(QDQ_FLOAT8_E5M2, q[i], want) ||
                !same(QDQ_FLOAT32, held(QDQ_FLOAT32, y, i), back))
                fail_msg("%s scale %#zx, x %a: got %#x and %a, want %#x and %a",
                         qdq_dtype_name(f->dtype), i / 6, (double)wide[i], q[i], (double)y[i], want,
                         value_of(QDQ_FLOAT32, back));
        }
    }
}

static void every_code_of_16_bit_integers_dequantizes_as_the_oracle_does(void **state) {
    (void)state;
    enum { ALL = 65536 };
    static uint16_t x[ALL];
    static uint32_t y[ALL];
    for (size_t i = 0; i < ALL; i++) x[i] = (uint16_t)i;
    for (unsigned k = 0; k < 36; k++) {
        if (unit_left_out(k)) continue;
        qdq_dtype from = k % 2 ? QDQ_INT16 : QDQ_UINT16, to = floats[k / 2 % 3];
        parameter p = {(double)oracle_scale(k * 7 % ORACLE_SCALES),
                       (int)(k / 6 % 3) * 30000 - 27232, true};
        qdq_graph *g = qdq_graph_create("all", NULL);
        qdq_value v = qdq_input(g, "x", from, QDQ_SHAPE(256, 256));
        qdq_output(g, "y",
                   qdq_dequantize(g, v,
                                  (qdq_dequantize_attrs){.scales = QDQ_SCALE((float)p.scale),
                                                         .zps = QDQ_ZP((double)p.zp),
                                                         .dtype = to}));
        oracle_bound bound[] = {{"x", x, sizeof x}, {"y", y, ALL * qdq_dtype_size(to)}};
        oracle_run(g, &(qdq_compile_options){.materialize = k / 18}, bound, 2);
        qdq_graph_destroy(g);
        for (uint32_t i = 0; i < ALL; i++) {
            uint32_t want = dequantized(from, i, p, to);
            if (!same(to, held(to, y, i), want))
                fail_msg("%s %#x to %s, scale %a, zero point %d: got %#x, want %#x",
                         qdq_dtype_name(from), i, qdq_dtype_name(to), p.scale, (int)p.zp,
                         held(to, y, i), want);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_to_every_type_and_back_equals_the_oracle),
        cmocka_unit_test(float16_to_every_type_and_back_equals_the_oracle),
        cmocka_unit_test(bfloat16_to_every_type_and_back_equals_the_oracle),
        cmocka_unit_test(int32_to_every_type_and_back_equals_the_oracle),
        cmocka_unit_test(numerics_decide_overflow_if_saturate_is_unset),
        cmocka_unit_test(a_zero_point_of_0_takes_the_sign_of_zero_from_float4_alone),
        cmocka_unit_test(float8_saturates_unless_saturate_is_false_and_float4_always),
        cmocka_unit_test(a_zero_point_other_than_0_with_a_small_float_is_a_finding),
        cmocka_unit_test(a_constant_scale_code_that_is_zero_or_not_a_number_is_a_finding),
        cmocka_unit_test(every_code_of_a_run_time_scale_divides_and_multiplies_as_float32_does),
        cmocka_unit_test(every_code_of_16_bit_integers_dequantizes_as_the_oracle_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
