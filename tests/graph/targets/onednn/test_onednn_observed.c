// SPDX-License-Identifier: Apache-2.0
// Single results observed on oneDNN Graph 3.13.2 and 3.14 on x86-64: both the model and the library
// must give them.
#include "tests/graph/targets/onednn/onednn_run.h"

enum { MOST = 24 };

// One row of x with one scale and one zero point, and its observed results.
typedef struct seen {
    onednn_op op;
    onednn_type from, to, zp_type;
    double scale;
    int32_t zp;
    size_t count;
    double x[MOST];
    double y[MOST];
} seen;

static onednn_case case_of(const seen *s) {
    onednn_case c;
    memset(&c, 0, sizeof c);
    c.batch = (onednn_batch){s->op, s->from, s->to, ONEDNN_ODD};
    c.zp_type = s->zp_type;
    c.scale_type = s->op == ONEDNN_DYNAMIC_DEQUANTIZE ? s->to : ONEDNN_F32;
    onednn_shape(&c, 1, s->count, s->count);
    for (size_t i = 0; i < s->count; i++) c.x[i] = model_code(s->from, s->x[i]);
    c.scales[0] = onednn_cut(c.scale_type, onednn_bits((float)s->scale));
    c.zps[0] = s->zp;
    return c;
}

// Equal numbers, or two NaN; the sign of a zero counts.
static bool same_number(double a, double b) {
    return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static void check_row(const seen *s, const char *who, const uint32_t *y) {
    for (size_t i = 0; i < s->count; i++) {
        double got = model_value(s->to, y[i]);
        if (!same_number(got, s->y[i]))
            fail_msg("%s: x %.9g, scale %.9g, zero point %d: %.9g, seen %.9g", who, s->x[i],
                     s->scale, s->zp, got, s->y[i]);
    }
}

static void check_seen(const seen *s) {
    onednn_case c = case_of(s);
    uint32_t *model = model_run(&c), *y = case_run(&c, 0);
    check_row(s, "model", model);
    check_row(s, "library", y);
    free(model), free(y);
    onednn_case_free(&c);
}

// Checks Quantize, and the variant whose parameters are ports.
static void check_both(seen s) {
    s.op = ONEDNN_QUANTIZE;
    check_seen(&s);
    s.op = ONEDNN_DYNAMIC_QUANTIZE;
    check_seen(&s);
}

#define F32_TO(TO) .from = ONEDNN_F32, .to = ONEDNN_##TO

//---- Quantize to integers ---------------------------------------------------

static void the_zero_point_is_added_before_a_tie_is_rounded(void **state) {
    (void)state;
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_S32, .scale = 1, .zp = 1, .count = 6,
                      .x = {.5, 1.5, 2.5, -.5, -1.5, 3.5}, .y = {2, 2, 4, 0, 0, 4}});
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_NONE, .scale = 1, .zp = 0, .count = 6,
                      .x = {.5, 1.5, 2.5, -.5, -1.5, 3.5}, .y = {0, 2, 2, 0, -2, 4}});
}

// The sum is a float32: 1 + (0.5 - 2^-25) is 1.5, 1 - (0.5 - 2^-25) is 0.5, and the zero point 2^24
// + 1 becomes 2^24.
static void the_zero_point_is_added_in_float32(void **state) {
    (void)state;
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_S32, .scale = 1, .zp = 1, .count = 2,
                      .x = {0x1.fffffep-2, -0x1.fffffep-2}, .y = {2, 0}});
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_S32, .scale = 1, .zp = 16777217, .count = 3,
                      .x = {-16777216, -16777215, -16777210}, .y = {0, 1, 6}});
}

// By division these would be 117, -118, 122, -122 and -124.
static void the_scale_is_inverted_and_multiplied(void **state) {
    (void)state;
    double s = (double)0.3f, seventh = (double)(1.0f / 7.0f), k = (double)(13.0f / 127.0f);
    check_both((seen){F32_TO(S8), .scale = s, .count = 2, .x = {35.25, -35.25}, .y = {118, -118}});
    check_both(
        (seen){F32_TO(S8), .scale = seventh, .count = 1, .x = {-0x1.15b6dcp+4}, .y = {-121}});
    check_both((seen){F32_TO(S8), .scale = k, .count = 1, .x = {-0x1.97cfap+3}, .y = {-125}});
}

static void nan_is_minus_128_as_int8_and_0_as_uint8_and_infinities_saturate(void **state) {
    (void)state;
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_S32, .scale = .5, .zp = 3, .count = 5,
                      .x = {NAN, INFINITY, -INFINITY, 1e30, -1e30},
                      .y = {-128, 127, -128, 127, -128}});
    check_both((seen){F32_TO(U8), .zp_type = ONEDNN_S32, .scale = .5, .zp = 3, .count = 5,
                      .x = {NAN, INFINITY, -INFINITY, 1e30, -1e30}, .y = {0, 255, 0, 255, 0}});
}

static void a_zero_point_of_1000_saturates(void **state) {
    (void)state;
    check_both((seen){F32_TO(S8), .zp_type = ONEDNN_S32, .scale = 1, .zp = 1000, .count = 4,
                      .x = {0, 1, -872, -1000}, .y = {127, 127, 127, 0}});
}

static void a_negative_scale_negates(void **state) {
    (void)state;
    check_both((seen){F32_TO(S8), .scale = -.5, .count = 4, .x = {1, -1, 3.25, 100},
                      .y = {-2, 2, -6, -128}});
}

static void a_scale_of_zero_at_run_time_is_an_infinite_factor(void **state) {
    (void)state;
    seen s = {.op = ONEDNN_DYNAMIC_QUANTIZE,
              F32_TO(S8),
              .scale = 0,
              .count = 5,
              .x = {1, 0x1p-149, -1, 0, NAN},
              .y = {127, 127, -128, -128, -128}};
    check_seen(&s);
    s.to = ONEDNN_U8;
    memcpy(s.y, (double[]){255, 255, 0, 0, 0}, 5 * sizeof(double));
    check_seen(&s);
}

static void a_scale_of_nan_at_run_time_gives_minus_128_everywhere(void **state) {
    (void)state;
    check_seen(&(seen){.op = ONEDNN_DYNAMIC_QUANTIZE,
                       F32_TO(S8),
                       .scale = (double)NAN,
                       .count = 4,
                       .x = {1, 0, -1, INFINITY},
                       .y = {-128, -128, -128, -128}});
}

//---- Scales near 1 ----------------------------------------------------------

// 126.50012 is 126.5 times 1 + 8 units: a tie after the division, above the tie if the scale counts
// as 1. 126.4999 lies below the tie unless it is divided by 1 - 17 units.
static void an_attribute_within_1e_6_of_1_is_dropped_and_a_port_is_not(void **state) {
    (void)state;
    const double up = 1 + 8 * 0x1p-23, down = 1 - 16 * 0x1p-24;
    const struct {
        onednn_op op;
        double scale, y[2];
    } rows[] = {{ONEDNN_QUANTIZE, up, {127, 126}},
                {ONEDNN_QUANTIZE, up + 0x1p-23, {126, 126}},
                {ONEDNN_DYNAMIC_QUANTIZE, up, {126, 126}},
                {ONEDNN_QUANTIZE, down, {127, 126}},
                {ONEDNN_QUANTIZE, down - 0x1p-24, {127, 127}}};
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        seen s = {.op = rows[i].op, F32_TO(S8), .scale = rows[i].scale, .count = 2};
        s.x[0] = (double)126.50012f, s.x[1] = (double)126.4999f;
        memcpy(s.y, rows[i].y, sizeof rows[i].y);
        check_seen(&s);
    }
}

static void dequantize_drops_an_attribute_within_1e_6_of_1_too(void **state) {
    (void)state;
    const double up = 1 + 8 * 0x1p-23, more = up + 0x1p-23;
    seen s = {ONEDNN_DEQUANTIZE, ONEDNN_S8,          ONEDNN_F32,        .scale = up,
              .count = 3,        .x = {1, -128, 64}, .y = {1, -128, 64}};
    check_seen(&s);
    s.op = ONEDNN_DYNAMIC_DEQUANTIZE;
    memcpy(s.y, (double[]){up, -128 * up, 64 * up}, 3 * sizeof(double));
    check_seen(&s);
    s.op = ONEDNN_DEQUANTIZE, s.scale = more;
    memcpy(s.y, (double[]){more, -128 * more, 64 * more}, 3 * sizeof(double));
    check_seen(&s);
}

//---- float8 -----------------------------------------------------------------

static void e4m3fn_ends_at_what_float16_rounds_to_464(void **state) {
    (void)state;
    check_seen(
        &(seen){.op = ONEDNN_QUANTIZE,
                F32_TO(E4M3),
                .scale = 1,
                .count = 14,
                .x = {448, 464, 464.12, 464.125, 464.126, -464.125, -464.126, 480, INFINITY,
                      -INFINITY, NAN, 0x1p-10, -0x1p-9, 0x1.01p-10},
                .y = {448, 448, 448, 448, NAN, -448, NAN, NAN, NAN, NAN, NAN, 0, -0x1p-9, 0x1p-9}});
}

static void e5m2_ends_at_61424(void **state) {
    (void)state;
    check_seen(&(seen){
        .op = ONEDNN_QUANTIZE,
        F32_TO(E5M2),
        .scale = 1,
        .count = 10,
        .x = {57344, 61423, 61424, 61440, -61423, -61424, INFINITY, -INFINITY, NAN, 0x1p-16},
        .y = {57344, 57344, INFINITY, INFINITY, -57344, -INFINITY, INFINITY, -INFINITY, NAN,
              0x1p-16}});
}

// Just above a tie of e4m3fn, but on the tie as float16: 17 is halfway between 16 and 18.
static void float8_is_rounded_twice(void **state) {
    (void)state;
    check_seen(&(seen){.op = ONEDNN_QUANTIZE,
                       F32_TO(E4M3),
                       .scale = 1,
                       .count = 4,
                       .x = {17, 17.001, 17.0079, 17.02},
                       .y = {16, 16, 18, 18}});
}

// Quantizes x to float8 with `saturate` and returns the codes.
static uint32_t *float8_of(onednn_type to, qdq_bool saturate, size_t count, const float *x) {
    onednn_job job = job_make();
    uint32_t codes[MOST];
    for (size_t i = 0; i < count; i++) codes[i] = onednn_bits(x[i]);
    qdq_value v = job_tensor(&job, "x", ONEDNN_F32, QDQ_SHAPE((int64_t)count), codes, false);
    qdq_quantize_attrs a = {
        .scales = QDQ_SCALE(1), .dtype = onednn_dtypes[to].dtype, .saturate = saturate};
    qdq_output(job.graph, "y", qdq_quantize(job.graph, v, a));
    uint32_t *y = job_run(&job, &onednn_fused, to, count);
    job_free(&job);
    return y;
}

static const float ends[] = {464.12f, 464.126f, 465,    INFINITY, -INFINITY,
                             61423,   61424,    -1e30f, 17.001f};

// oneDNN has no `saturate`; with it, the result is not rounded through float16.
static void saturate_clamps_float8_and_rounds_once(void **state) {
    (void)state;
    static const double e4m3[] = {448, 448, 448, 448, -448, 448, 448, -448, 18};
    static const double e5m2[] = {448, 448, 448, 57344, -57344, 57344, 57344, -57344, 16};
    uint32_t *a = float8_of(ONEDNN_E4M3, QDQ_TRUE, UNIT_COUNT(ends), ends);
    uint32_t *b = float8_of(ONEDNN_E5M2, QDQ_TRUE, UNIT_COUNT(ends), ends);
    for (size_t i = 0; i < UNIT_COUNT(ends); i++) {
        if (model_value(ONEDNN_E4M3, a[i]) != e4m3[i] || model_value(ONEDNN_E5M2, b[i]) != e5m2[i])
            fail_msg("%.9g: %g and %g, want %g and %g", (double)ends[i],
                     model_value(ONEDNN_E4M3, a[i]), model_value(ONEDNN_E5M2, b[i]), e4m3[i],
                     e5m2[i]);
    }
    free(a), free(b);
}

static void saturate_false_is_what_onednn_does_anyway(void **state) {
    (void)state;
    for (onednn_type to = ONEDNN_E4M3; to <= ONEDNN_E5M2; to++) {
        uint32_t *a = float8_of(to, QDQ_FALSE, UNIT_COUNT(ends), ends);
        uint32_t *b = float8_of(to, QDQ_UNSET, UNIT_COUNT(ends), ends);
        assert_memory_equal(a, b, sizeof ends);
        free(a), free(b);
    }
}

//---- Dequantize -------------------------------------------------------------

static void a_zero_point_of_another_dtype_is_subtracted_exactly(void **state) {
    (void)state;
    check_seen(&(seen){ONEDNN_DYNAMIC_DEQUANTIZE,
                       ONEDNN_S8,
                       ONEDNN_F32,
                       ONEDNN_U8,
                       .25,
                       200,
                       2,
                       {10, -128},
                       {-47.5, -82}});
}

static void float16_results_overflow_to_infinity(void **state) {
    (void)state;
    check_seen(&(seen){ONEDNN_DYNAMIC_DEQUANTIZE,
                       ONEDNN_S8,
                       ONEDNN_F16,
                       ONEDNN_NONE,
                       1024,
                       0,
                       4,
                       {63, 64, -64, 127},
                       {64512, INFINITY, -INFINITY, INFINITY}});
}

// TypeCast and DynamicDequantize of 3.13.2, with every instruction set: a float32 below 2^-126
// becomes a bfloat16 zero of its sign. float16 keeps its denormals.
static void bfloat16_results_below_the_normal_range_are_zero(void **state) {
    (void)state;
    check_seen(&(seen){ONEDNN_DYNAMIC_DEQUANTIZE,
                       ONEDNN_S8,
                       ONEDNN_BF16,
                       ONEDNN_NONE,
                       0x1p-130,
                       0,
                       5,
                       {1, 15, 16, -15, -16},
                       {0, 0, 0x1p-126, -0.0, -0x1p-126}});
    check_seen(&(seen){ONEDNN_DYNAMIC_DEQUANTIZE,
                       ONEDNN_S8,
                       ONEDNN_F16,
                       ONEDNN_NONE,
                       0x1p-24,
                       0,
                       3,
                       {1, -3, 100},
                       {0x1p-24, -0x1.8p-23, 0x1.9p-18}});
}

static void groups_of_uint4_have_their_own_scale_and_zero_point(void **state) {
    (void)state;
    static const float scales[4] = {.5f, .25f, 2, 1};
    static const int32_t zps[4] = {1, 8, 0, 200};
    for (int with = 0; with < 2; with++) {
        onednn_case c;
        memset(&c, 0, sizeof c);
        c.batch = (onednn_batch){ONEDNN_DYNAMIC_DEQUANTIZE, ONEDNN_U4, ONEDNN_F32, ONEDNN_GROUPS};
        c.scale_type = ONEDNN_F32, c.zp_type = with ? ONEDNN_U8 : ONEDNN_NONE;
        onednn_shape(&c, 2, 16, 8);
        for (size_t i = 0; i < 32; i++) c.x[i] = i % 16;
        for (size_t i = 0; i < 4; i++) c.scales[i] = onednn_bits(scales[i]);
        if (with) memcpy(c.zps, zps, sizeof zps);
        uint32_t *y = case_run(&c, 0);
        for (size_t i = 0; i < 32; i++) {
            float want = (float)((int)(i % 16) - (with ? zps[i / 8] : 0)) * scales[i / 8];
            assert_true(onednn_float(y[i]) == want);
        }
        free(y);
        onednn_case_free(&c);
    }
}

//---- Graphs -----------------------------------------------------------------

static void a_scalar_is_quantized(void **state) {
    (void)state;
    onednn_job job = job_make();
    uint32_t x = onednn_bits(1.5f);
    qdq_value v = job_tensor(&job, "x", ONEDNN_F32, (qdq_shape){0}, &x, false);
    qdq_quantize_attrs a = {.scales = QDQ_SCALE(1), .zps = QDQ_ZP(1), .dtype = QDQ_INT8};
    qdq_output(job.graph, "y", qdq_quantize(job.graph, v, a));
    uint32_t *y = job_run(&job, &onednn_fused, ONEDNN_S8, 1);
    assert_int_equal(y[0], 2);
    free(y);
    job_free(&job);
}

// The two scales are never merged into one ratio.
static void a_pair_of_dequantize_and_quantize_runs_op_by_op(void **state) {
    (void)state;
    uint32_t codes[256], *y;
    for (size_t i = 0; i < 256; i++) codes[i] = (uint32_t)i;
    for (size_t n = 0; n < ONEDNN_ZPS; n++) {
        model_parameter in = {(double)(13.0f / 127.0f), 3}, out = {(double)0.3f, onednn_zps[n]};
        onednn_job job = job_make();
        qdq_value v = job_tensor(&job, "x", ONEDNN_S8, QDQ_SHAPE(4, 64), codes, false);
        qdq_quantize_attrs a = {
            .scales = QDQ_SCALE(13.0f / 127.0f), .zps = QDQ_ZP(3), .dtype = QDQ_FLOAT32};
        v = qdq_dequantize(job.graph, v, a);
        a = (qdq_quantize_attrs){
            .scales = QDQ_SCALE(0.3f), .zps = QDQ_ZP(onednn_zps[n]), .dtype = QDQ_UINT8};
        qdq_output(job.graph, "y", qdq_quantize(job.graph, v, a));
        for (int way = 0; way < 2; way++) {
            y = job_run(&job, way ? &onednn_tiles : &onednn_fused, ONEDNN_U8, 256);
            for (size_t i = 0; i < 256; i++) {
                double x = model_dequantize(model_value(ONEDNN_S8, codes[i]), in);
                assert_int_equal(y[i], model_quantize(x, out, ONEDNN_U8));
            }
            free(y);
        }
        job_free(&job);
    }
}

// With a scale of 1 and no zero point, a kernel for three and four dims converts NaN as x86 does:
// oneDNN 3.13.2, with AVX2 and with AVX-512.
static void nan_is_0_in_three_and_four_dims_if_nothing_is_scaled(void **state) {
    static const int want[7] = {0, -128, -128, 0, 0, -128, -128};
    (void)state;
    for (int rank = 1; rank <= 6; rank++)
        for (int k = 0; k < 5; k++) {
            static const float scales[5] = {1, 1.0000005f, 1, 0.5f, 1};
            qdq_error err = {0};
            float x = NAN;
            int8_t y = 1;
            qdq_graph *g = qdq_graph_create("nan", NULL);
            qdq_quantize_attrs a = {.dtype = k == 4 ? QDQ_UINT8 : QDQ_INT8};
            a.scales = QDQ_SCALE(scales[k]);
            static const double three = 3;
            if (k == 2) a.zps = (qdq_numbers){&three, 1, true};
            qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, (qdq_shape){rank, {1, 1, 1, 1, 1, 1}});
            qdq_output(g, "y", qdq_quantize(g, v, a));
            qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = "onednn"}, &err);
            qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
            if (!exec) fail_msg("%s", err.text);
            qdq_exec_write(exec, "x", QDQ_FLOAT32, &x, 1, &err);
            qdq_exec_run(exec);
            qdq_exec_read(exec, "y", a.dtype, &y, 1, &err);
            assert_int_equal(y, k < 2 ? want[rank] : k == 4 ? 0 : -128);
            qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_zero_point_is_added_before_a_tie_is_rounded),
        cmocka_unit_test(the_zero_point_is_added_in_float32),
        cmocka_unit_test(the_scale_is_inverted_and_multiplied),
        cmocka_unit_test(nan_is_minus_128_as_int8_and_0_as_uint8_and_infinities_saturate),
        cmocka_unit_test(a_zero_point_of_1000_saturates),
        cmocka_unit_test(a_negative_scale_negates),
        cmocka_unit_test(a_scale_of_zero_at_run_time_is_an_infinite_factor),
        cmocka_unit_test(a_scale_of_nan_at_run_time_gives_minus_128_everywhere),
        cmocka_unit_test(an_attribute_within_1e_6_of_1_is_dropped_and_a_port_is_not),
        cmocka_unit_test(dequantize_drops_an_attribute_within_1e_6_of_1_too),
        cmocka_unit_test(e4m3fn_ends_at_what_float16_rounds_to_464),
        cmocka_unit_test(e5m2_ends_at_61424),
        cmocka_unit_test(float8_is_rounded_twice),
        cmocka_unit_test(saturate_clamps_float8_and_rounds_once),
        cmocka_unit_test(saturate_false_is_what_onednn_does_anyway),
        cmocka_unit_test(a_zero_point_of_another_dtype_is_subtracted_exactly),
        cmocka_unit_test(float16_results_overflow_to_infinity),
        cmocka_unit_test(bfloat16_results_below_the_normal_range_are_zero),
        cmocka_unit_test(groups_of_uint4_have_their_own_scale_and_zero_point),
        cmocka_unit_test(a_scalar_is_quantized),
        cmocka_unit_test(a_pair_of_dequantize_and_quantize_runs_op_by_op),
        cmocka_unit_test(nan_is_0_in_three_and_four_dims_if_nothing_is_scaled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
