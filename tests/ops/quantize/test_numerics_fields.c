// SPDX-License-Identifier: Apache-2.0
// Every field of qdq_numerics, each of its values and their combinations: published or
// hand-computed examples first, then constructed inputs against the oracle. Fields that only matter
// to Dequantize are in test_dequantize.c.
#include <fenv.h>

#include "tests/ops/oracle.h"

//---- Lines from the references ----------------------------------------------

static void check_line(const char *what, const qdq_numerics *n, const float *x, size_t count,
                       float scale, int64_t zp, qdq_dtype dtype, const int *want) {
    float in[16];
    int32_t out[16];
    memcpy(in, x, count * sizeof *in);
    qdq_graph *g = qdq_graph_create(what, NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)count));
    qdq_output(g, "y",
               qdq_quantize(g, v,
                            (qdq_quantize_attrs){.scales = QDQ_SCALE(scale),
                                                 .zps = QDQ_ZP((double)zp),
                                                 .dtype = dtype}));
    oracle_bound bound[] = {{"x", in, count * sizeof *in},
                            {"y", out, count * qdq_dtype_size(dtype)}};
    oracle_run(g, &(qdq_compile_options){.numerics = n}, bound, 2);
    for (size_t i = 0; i < count; i++)
        oracle_check(what, (double)x[i], (double)scale, zp, dtype, oracle_at(dtype, out, i),
                     want[i]);
    qdq_graph_destroy(g);
}

static void onnx_rounds_to_even_and_adds_the_zero_point_after(void **state) {
    (void)state;
    static const float x[7] = {.5f, 1.5f, 2.5f, 3.5f, -.5f, -1.5f, -2.5f};
    check_line("onnx", NULL, x, 7, 1, 0, QDQ_INT8, (const int[]){0, 2, 2, 4, 0, -2, -2});
    check_line("onnx", NULL, x, 7, 1, 1, QDQ_INT8, (const int[]){1, 3, 3, 5, 1, -1, -1});
    static const float odd[8] = {NAN, INFINITY, -INFINITY, .5f, 1.5f, 2.5f, -.5f, 1e10f};
    check_line("ort", NULL, odd, 8, 1, 3, QDQ_INT8,
               (const int[]){-128, 127, -128, 3, 5, 5, 3, 127});
    check_line("ort", NULL, odd, 8, 1, 128, QDQ_UINT8,
               (const int[]){0, 255, 0, 128, 130, 130, 128, 255});
}

static void onednn_adds_the_zero_point_before_rounding(void **state) {
    (void)state;
    static const float x[6] = {.5f, 1.5f, 2.5f, -.5f, -1.5f, 3.5f};
    qdq_numerics n = {.scaling = QDQ_SCALE_RECIPROCAL, .zero_point_order = QDQ_ZERO_POINT_BEFORE};
    check_line("onednn", &n, x, 6, 1, 1, QDQ_INT8, (const int[]){2, 2, 4, 0, 0, 4});
}

static void division_and_reciprocal_differ(void **state) {
    (void)state;
    static const qdq_numerics reciprocal = {.scaling = QDQ_SCALE_RECIPROCAL};
    static const float a = 2.5f, b = 6.5f;
    check_line("divide", NULL, &a, 1, 1.0f / 7.0f, 0, QDQ_INT8, (const int[]){18});
    check_line("reciprocal", &reciprocal, &a, 1, 1.0f / 7.0f, 0, QDQ_INT8, (const int[]){17});
    check_line("divide", NULL, &b, 1, 13.0f / 127.0f, 0, QDQ_INT8, (const int[]){63});
    check_line("reciprocal", &reciprocal, &b, 1, 13.0f / 127.0f, 0, QDQ_INT8, (const int[]){64});
}

// Computed by hand from the formulas of tt-metal's quantization.cpp.
static void the_worked_table_of_ttnn_comes_out(void **state) {
    (void)state;
    static const float v[12] = {0.49999997f, .5f,  2.5f, -.5f, -2.5f, 127.5f,
                                -127.5f,     -128, 200,  -5,   300,   NAN};
    qdq_numerics n = {.zero_point_order = QDQ_ZERO_POINT_FMA,
                      .rounding = QDQ_ROUND_HALF_AWAY,
                      .nan = QDQ_NAN_QUANT_MAX};
    check_line("uint8, clamped", &n, v, 12, 1, 0, QDQ_UINT8,
               (const int[]){0, 1, 3, 0, 0, 128, 0, 0, 200, 0, 255, 255});
    n.narrow = true, n.quant_min = -127, n.quant_max = 127;
    check_line("int32", &n, v, 12, 1, 0, QDQ_INT32,
               (const int[]){0, 1, 3, -1, -3, 127, -127, -127, 127, -5, 127, 127});
    n.narrow = false, n.overflow = QDQ_OVERFLOW_MAGNITUDE;
    check_line("uint8, sign dropped", &n, v, 12, 1, 0, QDQ_UINT8,
               (const int[]){0, 1, 3, 1, 3, 128, 128, 128, 200, 5, 255, 255});
    n.overflow = QDQ_OVERFLOW_SATURATE, n.rounding = QDQ_ROUND_HALF_UP_BIASED;
    check_line("int8", &n, v, 12, 1, 0, QDQ_INT8,
               (const int[]){1, 1, 3, 0, -2, 127, -127, -128, 127, -5, 127, 127});
    n.rounding = QDQ_ROUND_HALF_UP;
    check_line("half up", &n, v, 11, 1, 0, QDQ_INT8,
               (const int[]){0, 1, 3, 0, -2, 127, -127, -128, 127, -5, 127});
    n = (qdq_numerics){.rounding = QDQ_ROUND_TRUNCATE, .overflow = QDQ_OVERFLOW_WRAP};
    check_line("composite", &n, v, 11, 1, 0, QDQ_INT32,
               (const int[]){0, 0, 2, 0, -2, 127, -127, -128, 200, -5, 300});
    static const float u[8] = {300, -1, 256, -257, 1e10f, -1e10f, INFINITY, -INFINITY};
    check_line("wrap", &n, u, 8, 1, 0, QDQ_UINT8, (const int[]){44, 255, 0, 255, 255, 0, 255, 0});
    check_line("wrap", &n, u, 8, 1, 0, QDQ_INT8, (const int[]){44, -1, 0, -1, -1, 0, -1, 0});
    check_line("even", NULL, v, 11, 1, 0, QDQ_INT32,
               (const int[]){0, 0, 2, 0, -2, 128, -128, -128, 200, -5, 300});
}

static void a_fused_multiply_add_rounds_once(void **state) {
    (void)state;
    // 3 * fl(1/3) = 1 + 2^-25 exactly, which rounds to 1. For x = 1.5 * 3 and z = 0 the extra 2^-25
    // decides nothing: 1.5 + 1.5 * 2^-25 rounds to 1.5. With z = -1 it does.
    static const float x = 4.5f;
    qdq_numerics n = {.scaling = QDQ_SCALE_RECIPROCAL, .zero_point_order = QDQ_ZERO_POINT_BEFORE};
    check_line("mul, add", &n, &x, 1, 3, -1, QDQ_INT8, (const int[]){0});
    n.zero_point_order = QDQ_ZERO_POINT_FMA;
    check_line("fma", &n, &x, 1, 3, -1, QDQ_INT8, (const int[]){1});
}

static void nan_becomes_what_the_numerics_say(void **state) {
    (void)state;
    static const float x = NAN;
    static const int want[3][3] = {{-128, 0, INT32_MIN}, {127, 255, INT32_MAX}, {7, 7, 7}};
    for (int i = 0; i < 9; i++) {
        qdq_numerics n = {.nan = (qdq_nan)(i / 3)};
        check_line("nan", &n, &x, 1, 1, 7, oracle_dtypes[i % 3], &want[i / 3][i % 3]);
    }
    qdq_numerics n = {.nan = QDQ_NAN_QUANT_MIN, .narrow = true, .quant_min = -9, .quant_max = 9};
    check_line("nan, narrow", &n, &x, 1, 1, 7, QDQ_INT8, (const int[]){-9});
    check_line("nan, narrow", &n, &x, 1, 1, 7, QDQ_UINT8, (const int[]){0});
    n.nan = QDQ_NAN_ZERO_POINT;
    check_line("nan, clamped", &n, &x, 1, 1, 77, QDQ_INT8, (const int[]){9});
}

//---- Quantize: every combination --------------------------------------------

enum { SCALES = 8, ROWS = SCALES * 4, COLS = 120, COUNT = ROWS * COLS };
static const float some_scales[SCALES] = {0.25f,       1.0f, 2.0f, 1.0f / 127,
                                          13.0f / 127, 0.1f, 3.0f, 1.0f / 7};

// Row r has scale r / 4 and zero point r % 4; its columns are ties, their neighbours and extremes.
static void fill_rows(float *x) {
    static const float odd[] = {NAN,           INFINITY,       -INFINITY, 0.0f,   -0.0f,
                                1e-40f,        -1e-45f,        3e38f,     -3e38f, 0.49999997f,
                                2147483520.0f, -2147483648.0f, 1e10f,     -4e9f};
    for (size_t i = 0; i < COUNT; i++) {
        size_t row = i / COLS, col = i % COLS;
        static const int ks[12] = {0, -1, 1, -2, 2, 3, 63, 126, 127, -128, -129, 254};
        float tie = (float)((ks[col % 12] + 0.5) * (double)some_scales[row / 4]);
        if (col / 12 == 1) tie = nextafterf(tie, INFINITY);
        if (col / 12 == 2) tie = nextafterf(tie, -INFINITY);
        if (col / 12 >= 3) tie = ((float)(ks[col % 12] + (int)col) - 70.0f) * 0.5f;
        if (col / 12 >= 5) tie *= some_scales[row / 4];
        x[i] = col < 72 ? tie : col < 72 + UNIT_COUNT(odd) ? odd[col - 72] : tie * 1.25f;
    }
}

static void check_quantize(bool step) {
    float x[COUNT], s[ROWS];
    double z[ROWS];
    int32_t y[3][COUNT];
    fill_rows(x);
    for (size_t r = 0; r < ROWS; r++) s[r] = some_scales[r / 4], z[r] = (double)oracle_zps[r % 4];
    qdq_graph *g = qdq_graph_create("fields", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLS));
    oracle_bound bound[4] = {{"x", x, sizeof x}};
    for (size_t d = 0; d < 3; d++) {
        bound[d + 1] =
            (oracle_bound){{(char)('0' + d)}, y[d], COUNT * qdq_dtype_size(oracle_dtypes[d])};
        qdq_output(g, bound[d + 1].name,
                   qdq_quantize(g, v,
                                (qdq_quantize_attrs){.qtype = QDQ_PER_CHANNEL,
                                                     .axis = QDQ_INT(0),
                                                     .scales = {s, ROWS, false},
                                                     .zps = {z, ROWS, false},
                                                     .dtype = oracle_dtypes[d]}));
    }
    for (unsigned k = 0; k < 4 * 2 * 4 * 2 * 3 * 2 * (step ? 3 : 1); k++) {
        if (unit_left_out(k)) continue;
        qdq_numerics n = {.rounding = k % 4,
                          .scaling = k / 4 % 2,
                          .zero_point_order = k / 8 % 4,
                          .overflow = k / 32 % 2,
                          .nan = k / 64 % 3,
                          .narrow = k / 192 % 2,
                          .quant_min = -100,
                          .quant_max = 77,
                          .bfloat16_store = k / 384,
                          .reciprocal_dtype = k % 3 ? QDQ_DTYPE_NONE : QDQ_BFLOAT16,
                          .quantize_step_dtype = step ? QDQ_BFLOAT16 : QDQ_DTYPE_NONE};
        // the combination is not defined
        if (n.narrow && n.overflow == QDQ_OVERFLOW_WRAP) continue;
        oracle_run(g, &(qdq_compile_options){.numerics = &n, .materialize = k % 5 == 0}, bound, 4);
        char what[64];
        snprintf(what, sizeof what, "round %d scaling %d order %d step %d store %d wrap %d",
                 n.rounding, n.scaling, n.zero_point_order, n.quantize_step_dtype, n.bfloat16_store,
                 n.overflow);
        for (size_t i = 0; i < 3 * COUNT; i++) {
            size_t d = i / COUNT, e = i % COUNT, r = e / COLS;
            oracle_check(what, (double)x[e], (double)s[r], oracle_zps[r % 4], oracle_dtypes[d],
                         oracle_at(oracle_dtypes[d], y[d], e),
                         oracle_quantize((double)x[e], (double)s[r], oracle_zps[r % 4],
                                         oracle_range_of(oracle_dtypes[d], &n), &n));
        }
    }
    qdq_graph_destroy(g);
}

static void every_combination_of_the_fields_of_quantize_equals_the_oracle(void **state) {
    (void)state;
    check_quantize(false);
}

// Reciprocal, quotient and sum are intermediate results: bfloat16_store rounds each to bfloat16.
static void a_step_dtype_rounds_every_result_inside_quantize(void **state) {
    (void)state;
    check_quantize(true);
}

//---- Requantize -------------------------------------------------------------

static void check_requantize(qdq_dtype dtype, void *x, qdq_dtype between) {
    int32_t y[3][COUNT];
    float is[ROWS], os[ROWS];
    double iz[ROWS], oz[ROWS];
    for (size_t r = 0; r < ROWS; r++) {
        is[r] = some_scales[r / 4], os[r] = some_scales[r * 5 % SCALES];
        iz[r] = (double)oracle_zps[r % 4], oz[r] = (double)oracle_zps[r / 2 % 4];
    }
    qdq_graph *g = qdq_graph_create("fields", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE(ROWS, COLS));
    oracle_bound bound[4] = {{"x", x, COUNT * qdq_dtype_size(dtype)}};
    for (size_t d = 0; d < 3; d++) {
        bound[d + 1] =
            (oracle_bound){{(char)('0' + d)}, y[d], COUNT * qdq_dtype_size(oracle_dtypes[d])};
        qdq_output(g, bound[d + 1].name,
                   qdq_requantize(g, v,
                                  (qdq_requantize_attrs){.axis = QDQ_INT(0),
                                                         .in_scales = {is, ROWS, false},
                                                         .in_zps = {iz, ROWS, false},
                                                         .out_scales = {os, ROWS, false},
                                                         .out_zps = {oz, ROWS, false},
                                                         .dtype = oracle_dtypes[d]}));
    }
    for (unsigned k = 0; k < 4 * 3 * 3 * 2 * 3 * (between == QDQ_BFLOAT16 ? 3 : 1); k++) {
        if (unit_left_out(k)) continue;
        qdq_numerics n = {.rounding = k % 4,
                          .requantize_form = k / 4 % 3,
                          .nan = k / 12 % 3,
                          .overflow = k / 36 % 2,
                          .zero_point_order = k / 72 % 3,
                          .bfloat16_store = k / 216,
                          .requantize_dtype = between};
        if (k % 7 == 0) n.subtraction = QDQ_SUBTRACT_FLOAT;
        oracle_run(g, &(qdq_compile_options){.numerics = &n, .materialize = k % 11 == 0}, bound, 4);
        for (size_t i = 0; i < 3 * COUNT; i++) {
            size_t d = i / COUNT, e = i % COUNT, r = e / COLS;
            double q = oracle_at(dtype, x, e), got = oracle_at(oracle_dtypes[d], y[d], e);
            int64_t want = oracle_requantize(q, (oracle_side){(double)is[r], oracle_zps[r % 4]},
                                             (oracle_side){(double)os[r], oracle_zps[r / 2 % 4]},
                                             oracle_range_of(oracle_dtypes[d], &n), &n);
            if (got == (double)want) continue;
            fail_msg("form %d round %d order %d through %d store %d wrap %d nan %d subtract %d: %s "
                     "%.9g in (%.9g %.0f) out (%.9g %.0f) to %s: got %.0f, want %lld",
                     n.requantize_form, n.rounding, n.zero_point_order, n.requantize_dtype,
                     n.bfloat16_store, n.overflow, n.nan, n.subtraction, qdq_dtype_name(dtype), q,
                     (double)is[r], iz[r], (double)os[r], oz[r], qdq_dtype_name(oracle_dtypes[d]),
                     got, (long long)want);
        }
    }
    qdq_graph_destroy(g);
}

static void check_requantize_of_all(qdq_dtype between) {
    float f[COUNT];
    int8_t b[COUNT];
    int32_t w[COUNT];
    uint64_t seed = 17;
    fill_rows(f);
    for (size_t i = 0; i < COUNT; i++) {
        b[i] = (int8_t)(i * 7 % 256);
        w[i] = (int32_t)unit_random(&seed) >> (i % 31);
    }
    check_requantize(QDQ_INT8, b, between);
    check_requantize(QDQ_INT32, w, between);
    check_requantize(QDQ_FLOAT32, f, between);
}

static void every_form_of_requantize_equals_the_oracle(void **state) {
    (void)state;
    check_requantize_of_all(QDQ_DTYPE_NONE);
}

// The value between Dequantize and Quantize is rounded to bfloat16 by bfloat16_store.
static void every_form_of_requantize_through_bfloat16_equals_the_oracle(void **state) {
    (void)state;
    check_requantize_of_all(QDQ_BFLOAT16);
}

// Requantize of ttnn with scalar scales and tensor zero points: how many of the 256 codes exact
// rounding changes (docs/numerics.md, section 11).
static void path_3_of_ttnn_is_wrong_as_often_as_published(void **state) {
    (void)state;
    static const struct {
        float in;
        int in_zp;
        float out;
        int out_zp, wrong;
    } row[] = {{0.02f, 7, 0.05f, 3, 95}, {0.1f, 0, 0.03f, 0, 111}};
    static const qdq_numerics n = {.requantize_dtype = QDQ_BFLOAT16,
                                   .quantize_step_dtype = QDQ_BFLOAT16,
                                   .rounding = QDQ_ROUND_TRUNCATE,
                                   .bfloat16_store = QDQ_BFLOAT16_DEVICE,
                                   .zero_point_order = QDQ_ZERO_POINT_BEFORE};
    for (size_t r = 0; r < UNIT_COUNT(row); r++) {
        int8_t x[256];
        int32_t y[256];
        int wrong = 0;
        for (int i = 0; i < 256; i++) x[i] = (int8_t)(i - 128);
        qdq_graph *g = qdq_graph_create("path 3", NULL);
        qdq_output(g, "y",
                   qdq_requantize(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(8, 32)),
                                  (qdq_requantize_attrs){.in_scales = QDQ_SCALE(row[r].in),
                                                         .in_zps = QDQ_ZP(row[r].in_zp),
                                                         .out_scales = QDQ_SCALE(row[r].out),
                                                         .out_zps = QDQ_ZP(row[r].out_zp),
                                                         .dtype = QDQ_INT32}));
        oracle_bound bound[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
        oracle_run(g, &(qdq_compile_options){.numerics = &n}, bound, 2);
        qdq_graph_destroy(g);
        for (int i = 0; i < 256; i++) {
            double exact = (x[i] - row[r].in_zp) * (double)row[r].in / (double)row[r].out;
            wrong += y[i] != oracle_to_integer(exact + row[r].out_zp, QDQ_ROUND_HALF_EVEN);
        }
        assert_int_equal(wrong, row[r].wrong);
    }
}

//---- The caller's rounding mode ---------------------------------------------

static void results_do_not_depend_on_the_rounding_mode_of_the_caller_and_keep_it(void **state) {
    (void)state;
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    float x[COUNT];
    struct {
        int8_t q[COUNT];
        uint8_t r[COUNT], h[COUNT];
        float f[COUNT];
        uint16_t b[COUNT];
    } y, first;
    fill_rows(x);
    qdq_graph *g = qdq_graph_create("mode", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLS));
    qdq_value h = qdq_input(g, "h", QDQ_BFLOAT16, QDQ_SHAPE(ROWS, COLS));
    // an input, so that ratios are computed at run time
    float some[2] = {some_scales[4], nextafterf(0.35f, 1)};
    qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(1));
    qdq_value t = qdq_input(g, "t", QDQ_FLOAT32, QDQ_SHAPE(1));
    qdq_value q = qdq_quantize(g, v, (qdq_quantize_attrs){.scale = s, .zps = QDQ_ZP(3)});
    qdq_dequantize_attrs attrs = {.scales = QDQ_SCALE(0.1f), .dtype = QDQ_FLOAT32};
    qdq_output(g, "q", q), qdq_output(g, "f", qdq_dequantize(g, q, attrs));
    attrs.dtype = QDQ_BFLOAT16;
    qdq_output(g, "b", qdq_dequantize(g, q, attrs));
    qdq_output(g, "r",
               qdq_requantize(g, q,
                              (qdq_requantize_attrs){.in_scale = t,
                                                     .in_zps = QDQ_ZP(5),
                                                     .out_scales = QDQ_SCALE(0.7f),
                                                     .dtype = QDQ_UINT8}));
    qdq_output(g, "u", qdq_quantize(g, h, (qdq_quantize_attrs){.scale = s, .dtype = QDQ_UINT8}));
    for (unsigned k = 0; k < 4 * 2 * 3 * 3 * 2; k++) {
        qdq_numerics n = {
            .scaling = k / 4 % 2, .zero_point_order = k / 8 % 3, .requantize_form = k / 24 % 3};
        qdq_error err = {0};
        qdq_plan *plan = qdq_graph_compile(
            g, &(qdq_compile_options){.numerics = &n, .materialize = k / 72}, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        if (!exec) fail_msg("%s", err.text);
        oracle_bound bound[] = {{"x", x, sizeof x},
                                {"q", y.q, sizeof y.q},
                                {"r", y.r, sizeof y.r},
                                {"u", y.h, sizeof y.h},
                                {"f", y.f, sizeof y.f},
                                {"b", y.b, sizeof y.b},
                                {"s", &some[0], sizeof some[0]},
                                {"t", &some[1], sizeof some[1]}};
        memset(&y, 0, sizeof y);
        for (size_t i = 0; i < UNIT_COUNT(bound); i++)
            assert_int_equal(
                qdq_exec_bind(exec, bound[i].name, bound[i].data, bound[i].bytes, &err), 0);
        fesetround(modes[k % 4]);
        qdq_status status = qdq_exec_write(exec, "h", QDQ_FLOAT32, x, COUNT, &err);
        qdq_exec_run(exec);
        int kept = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(status, QDQ_OK);
        assert_int_equal(kept, modes[k % 4]);
        if (k % 4 == 0) first = y;
        assert_memory_equal(first.q, y.q, sizeof y.q);
        assert_memory_equal(first.r, y.r, sizeof y.r);
        assert_memory_equal(first.h, y.h, sizeof y.h);
        assert_memory_equal(first.f, y.f, sizeof y.f);
        assert_memory_equal(first.b, y.b, sizeof y.b);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(onnx_rounds_to_even_and_adds_the_zero_point_after),
        cmocka_unit_test(onednn_adds_the_zero_point_before_rounding),
        cmocka_unit_test(division_and_reciprocal_differ),
        cmocka_unit_test(the_worked_table_of_ttnn_comes_out),
        cmocka_unit_test(a_fused_multiply_add_rounds_once),
        cmocka_unit_test(nan_becomes_what_the_numerics_say),
        cmocka_unit_test(every_combination_of_the_fields_of_quantize_equals_the_oracle),
        cmocka_unit_test(a_step_dtype_rounds_every_result_inside_quantize),
        cmocka_unit_test(every_form_of_requantize_equals_the_oracle),
        cmocka_unit_test(every_form_of_requantize_through_bfloat16_equals_the_oracle),
        cmocka_unit_test(path_3_of_ttnn_is_wrong_as_often_as_published),
        cmocka_unit_test(results_do_not_depend_on_the_rounding_mode_of_the_caller_and_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
