// SPDX-License-Identifier: Apache-2.0
// Dequantize: fl(fl(q - z) * s) with an exact difference, stored as float32 or rounded once more to
// bfloat16, under each field of the numerics that affects it. Compared bit by bit, all NaN being
// equal.
#include "tests/ops/oracle.h"

static void check(const qdq_numerics *n, double q, double scale, int64_t zp, qdq_dtype to,
                  const void *y, size_t i) {
    double x = oracle_dequantize(q, scale, zp, n);
    uint32_t got, want;
    if (to == QDQ_BFLOAT16) {
        got = ((const uint16_t *)y)[i], want = oracle_to_bfloat16(x, n->bfloat16_store);
    } else {
        got = ((const uint32_t *)y)[i], want = unit_bits_of_float((float)x);
    }
    if (got == want) return;
    if (isnan(x)) {  // any NaN and either infinity will do
        bool infinite = to == QDQ_BFLOAT16 && n->bfloat16_store == QDQ_BFLOAT16_DEVICE;
        double v = oracle_at(to, y, i);
        if (infinite ? isinf(v) : isnan(v)) return;
    }
    fail_msg(
        "subtract %d store %d step %d: q %.0f scale %.9g (%08x) zp %lld to %s: got %x, want %x",
        n->subtraction, n->bfloat16_store, n->dequantize_step_dtype, q, scale,
        unit_bits_of_float((float)scale), (long long)zp, qdq_dtype_name(to), got, want);
}

//---- Codes x scales x zero points -------------------------------------------

static const int64_t zps[] = {0,        3,         -7,        127,       -128,    255,
                              16777217, -16777219, INT32_MAX, INT32_MIN, 1 << 30, INT32_MIN + 1};
enum { ZPS = UNIT_COUNT(zps), CHANNELS = ORACLE_SCALES * ZPS };

// Row c of x, `cols` codes, has the scale and the zero point of channel c.
static void check_rows(qdq_dtype dtype, void *x, size_t cols, const qdq_numerics *n) {
    float scales[CHANNELS];
    double zp[CHANNELS];
    size_t count = CHANNELS * cols;
    for (size_t c = 0; c < CHANNELS; c++) {
        scales[c] = oracle_scale(c / ZPS);
        zp[c] = (double)zps[c % ZPS];
    }
    float *y = oracle_memory(count * sizeof *y);
    uint16_t *b = oracle_memory(count * sizeof *b);
    qdq_graph *g = qdq_graph_create("rows", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE((int64_t)CHANNELS, (int64_t)cols));
    qdq_dequantize_attrs attrs = {.qtype = QDQ_PER_CHANNEL,
                                  .axis = QDQ_INT(-2),
                                  .scales = {scales, CHANNELS, false},
                                  .zps = {zp, CHANNELS, false}};
    qdq_output(g, "b", qdq_dequantize(g, v, attrs));
    attrs.dtype = QDQ_FLOAT32;
    qdq_output(g, "y", qdq_dequantize(g, v, attrs));
    oracle_bound bound[] = {{"x", x, count * qdq_dtype_size(dtype)},
                            {"y", y, count * sizeof *y},
                            {"b", b, count * sizeof *b}};
    for (int materialize = 0; materialize < 2; materialize++) {
        memset(y, 0x55, count * sizeof *y), memset(b, 0x55, count * sizeof *b);
        oracle_run(g, &(qdq_compile_options){.numerics = n, .materialize = materialize}, bound, 3);
        for (size_t i = 0; i < count; i++) {
            double q = oracle_at(dtype, x, i), s = (double)scales[i / cols];
            check(n, q, s, zps[i / cols % ZPS], QDQ_FLOAT32, y, i);
            check(n, q, s, zps[i / cols % ZPS], QDQ_BFLOAT16, b, i);
        }
    }
    qdq_graph_destroy(g);
    free(y), free(b);
}

static void check_8_bits(qdq_dtype dtype) {
    uint8_t *x = oracle_memory(CHANNELS * 256);
    for (size_t i = 0; i < CHANNELS * 256; i++) x[i] = (uint8_t)i;
    check_rows(dtype, x, 256, &oracle_core);
    free(x);
}

static void dequantize_of_every_int8_equals_the_oracle(void **state) {
    (void)state;
    check_8_bits(QDQ_INT8);
}

static void dequantize_of_every_uint8_equals_the_oracle(void **state) {
    (void)state;
    check_8_bits(QDQ_UINT8);
}

// Small integers (bfloat16 has ties from 257 on), integers around the limits of float32, the
// extremes, random ones.
enum { COLS = 1500 };
static int32_t *int32_rows(void) {
    static const int64_t around[] = {1 << 24, -(1 << 24), 1 << 25,   -(1 << 26),
                                     1 << 30, INT32_MAX,  INT32_MIN, 0x00FF8000};
    int32_t *x = oracle_memory(CHANNELS * COLS * sizeof *x);
    uint64_t seed = 3;
    for (size_t i = 0; i < CHANNELS * COLS; i++) {
        int64_t k = (int64_t)(i % COLS);
        int64_t q = k - 512;
        if (k >= 1024) q = around[k % 8] + (k / 8 - 152);
        if (k >= 1408 || q > INT32_MAX || q < INT32_MIN) q = (int32_t)unit_random(&seed);
        x[i] = (int32_t)q;
    }
    return x;
}

static void dequantize_of_int32_beyond_float32_and_at_the_ends_equals_the_oracle(void **state) {
    (void)state;
    int32_t *x = int32_rows();
    check_rows(QDQ_INT32, x, COLS, &oracle_core);
    free(x);
}

static void both_subtractions_with_every_store_equal_the_oracle(void **state) {
    (void)state;
    int32_t *x = int32_rows();
    for (unsigned k = 1; k < 6; k++) {
        check_rows(QDQ_INT32, x, COLS,
                   &(qdq_numerics){.subtraction = k % 2, .bfloat16_store = k / 2});
    }
    free(x);
}

// Difference and product are intermediate results: bfloat16_store rounds each to bfloat16.
static void a_step_dtype_rounds_every_result_inside_dequantize(void **state) {
    (void)state;
    int32_t *x = int32_rows();
    for (unsigned k = 0; k < 6; k++) {
        check_rows(QDQ_INT32, x, COLS,
                   &(qdq_numerics){.subtraction = k % 2,
                                   .bfloat16_store = k / 2,
                                   .dequantize_step_dtype = QDQ_BFLOAT16});
    }
    free(x);
}

//---- The store --------------------------------------------------------------

// One code, with every upper half of a float32 as its scale: ties, their neighbours, subnormals,
// overflow to infinity, NaN.
static void each_bfloat16_store_rounds_every_float32_as_it_says(void **state) {
    (void)state;
    enum { ALL = 65536 };
    static const uint32_t low[] = {0x0000, 0x0001, 0x7FFF, 0x8000, 0x8001, 0xFFFF, 0x5A5A};
    static const int8_t codes[] = {1, -3};
    int8_t *x = oracle_memory(ALL);
    float *s = oracle_memory(ALL * sizeof *s), *y = oracle_memory(ALL * sizeof *y);
    uint16_t *b = oracle_memory(ALL * sizeof *b);
    qdq_graph *g = qdq_graph_create("store", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(ALL));
    qdq_dequantize_attrs attrs = {.qtype = QDQ_PER_CHANNEL,
                                  .axis = QDQ_INT(0),
                                  .scale = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(ALL)),
                                  .zps = QDQ_ZP(0)};
    qdq_output(g, "b", qdq_dequantize(g, v, attrs));
    attrs.dtype = QDQ_FLOAT32;
    qdq_output(g, "y", qdq_dequantize(g, v, attrs));
    oracle_bound bound[] = {{"x", x, ALL},
                            {"s", s, ALL * sizeof *s},
                            {"y", y, ALL * sizeof *y},
                            {"b", b, ALL * sizeof *b}};
    for (size_t k = 0; k < 3 * UNIT_COUNT(low) * UNIT_COUNT(codes); k++) {
        if (unit_left_out(k)) continue;
        qdq_numerics n = {.bfloat16_store = (qdq_bfloat16_store)(k % 3)};
        memset(x, codes[k / 3 % 2], ALL);
        for (uint32_t i = 0; i < ALL; i++) s[i] = unit_float_of_bits(i << 16 | low[k / 6]);
        oracle_run(g, &(qdq_compile_options){.numerics = &n, .materialize = k % 4 == 0}, bound, 4);
        for (size_t i = 0; i < ALL; i++) {
            check(&n, x[i], (double)s[i], 0, QDQ_FLOAT32, y, i);
            check(&n, x[i], (double)s[i], 0, QDQ_BFLOAT16, b, i);
        }
    }
    qdq_graph_destroy(g);
    free(x), free(s), free(y), free(b);
}

// Intermediate values of a chain are rounded to their declared dtypes, too.
static void a_bfloat16_between_two_ops_is_rounded_though_it_is_never_stored(void **state) {
    (void)state;
    enum { HIGH = 65, WIDE = 257 };
    int32_t x[HIGH * WIDE], fine[HIGH * WIDE], coarse[HIGH * WIDE];
    for (int i = 0; i < HIGH * WIDE; i++) x[i] = i - HIGH * WIDE / 2;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(HIGH, WIDE));
    for (int f = 0; f < 2; f++) {
        qdq_value d =
            qdq_dequantize(g, v,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.5f),
                                                  .dtype = f ? QDQ_FLOAT32 : QDQ_BFLOAT16});
        qdq_output(g, f ? "f" : "c",
                   qdq_quantize(g, d,
                                (qdq_quantize_attrs){.scales = QDQ_SCALE(0.25f),
                                                     .zps = QDQ_ZP(5),
                                                     .dtype = QDQ_INT32}));
    }
    oracle_bound bound[] = {
        {"x", x, sizeof x}, {"f", fine, sizeof fine}, {"c", coarse, sizeof coarse}};
    for (int k = 0; k < 4; k++) {
        qdq_float_storage storage = k & 2 ? QDQ_FLOAT_BFLOAT16 : QDQ_FLOAT_DECLARED;
        memset(fine, 0x55, sizeof fine), memset(coarse, 0x55, sizeof coarse);
        oracle_run(g, &(qdq_compile_options){.materialize = k & 1, .float_storage = storage}, bound,
                   3);
        for (size_t i = 0; i < HIGH * WIDE; i++) {
            uint16_t b = oracle_to_bfloat16(x[i] * 0.5, QDQ_BFLOAT16_HALF_EVEN);
            assert_true(coarse[i] == oracle_of_bfloat16(b) * 4 + 5);
            assert_true(fine[i] == (k & 2 ? oracle_of_bfloat16(b) * 4 + 5 : x[i] * 2 + 5));
        }
    }
    qdq_graph_destroy(g);
}

//---- Parameters from another node ----------------------------------------------

static void computed_parameters_dequantize_what_they_made(void **state) {
    (void)state;
    enum { COUNT = 33 * 65 };
    static float x[COUNT], y[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)((int)(i * 7919 % 1001) - 300) * 0.01f;
    qdq_graph *g = qdq_graph_create("there and back", NULL);
    qdq_value q = qdq_dynamic_quantize(
        g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(33, 65)),
        (qdq_dynamic_quantize_attrs){.quantize = {.qtype = QDQ_PER_CHANNEL, .dtype = QDQ_UINT8}});
    qdq_output(g, "y",
               qdq_dequantize(g, q,
                              (qdq_dequantize_attrs){.scale = qdq_port(g, q, "scale"),
                                                     .zero_point = qdq_port(g, q, "zero_point"),
                                                     .qtype = QDQ_PER_CHANNEL,
                                                     .dtype = QDQ_FLOAT32}));
    oracle_bound bound[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
    for (int materialize = 0; materialize < 2; materialize++) {
        oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, 2);
        for (size_t i = 0; i < COUNT; i++) {
            oracle_range range = oracle_range_of(QDQ_UINT8, &oracle_core);
            double lo = 0, hi = 0;
            for (size_t r = 0; r < 33; r++) {
                double v = (double)x[r * 65 + i % 65];
                lo = v < lo ? v : lo, hi = v > hi ? v : hi;
            }
            oracle_side p = oracle_parameters(lo, hi, QDQ_ASYMMETRIC, 0, range);
            int64_t code = oracle_quantize((double)x[i], p.scale, p.zp, range, &oracle_core);
            double want = oracle_dequantize((double)code, p.scale, p.zp, &oracle_core);
            assert_int_equal(unit_bits_of_float(y[i]), unit_bits_of_float((float)want));
        }
    }
    qdq_graph_destroy(g);
}

//---- By hand ----------------------------------------------------------------

static void published_examples_come_out(void **state) {
    (void)state;
    // TensorRT's formula with scale f32(1/127), and int32 beyond 2^24: the difference is exact,
    // then rounded.
    int8_t x[9] = {71, 113, 127, -71, 50, 127, 85, 14, -128};
    static const double want[9] = {.559055, .889764, 1,       -.559055, .393701,
                                   1,       .669291, .110236, -1.007874};
    float y[9], yw[4];
    int32_t w[4] = {INT32_MAX, INT32_MIN, 16777217, -16777219};
    qdq_graph *g = qdq_graph_create("hand", NULL);
    qdq_dequantize_attrs attrs = {.scales = QDQ_SCALE(1.0f / 127.0f), .dtype = QDQ_FLOAT32};
    qdq_output(g, "y",
               qdq_dequantize(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 1, 3, 3)), attrs));
    attrs = (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .zps = QDQ_ZP(-1), .dtype = QDQ_FLOAT32};
    qdq_output(g, "yw", qdq_dequantize(g, qdq_input(g, "w", QDQ_INT32, QDQ_SHAPE(4)), attrs));
    oracle_bound bound[] = {
        {"x", x, sizeof x}, {"w", w, sizeof w}, {"y", y, sizeof y}, {"yw", yw, sizeof yw}};
    oracle_run(g, NULL, bound, 4);
    for (size_t i = 0; i < 9; i++) assert_true(fabs((double)y[i] - want[i]) < 5e-7);
    assert_true(yw[0] == 0x1p31f && yw[1] == -0x1p31f);  // -2147483647 rounds to even
    assert_true(yw[2] == 16777218.0f && yw[3] == -16777218.0f);
    qdq_graph_destroy(g);
}

// ttnn's device packer; a run-time scale may be NaN.
static void each_bfloat16_store_gives_the_published_codes(void **state) {
    (void)state;
    static const uint16_t want[3][4] = {{0x4300, 0x4302, 0x3F80, 0x7FC0},
                                        {0x4301, 0x4302, 0x3F81, 0x7F80},
                                        {0x4300, 0x4301, 0x3F80, 0x7FC0}};
    float s[4] = {128.5f, 129.5f, 1.00390625f, NAN};
    uint8_t x[4] = {1, 1, 1, 1};
    uint16_t y[4];
    qdq_graph *g = qdq_graph_create("codes", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(1, 4));
    qdq_output(g, "y",
               qdq_dequantize(
                   g, v,
                   (qdq_dequantize_attrs){.qtype = QDQ_PER_CHANNEL,
                                          .scale = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(4))}));
    oracle_bound bound[] = {{"x", x, sizeof x}, {"s", s, sizeof s}, {"y", y, sizeof y}};
    for (unsigned k = 0; k < 3; k++) {
        qdq_numerics n = {.bfloat16_store = (qdq_bfloat16_store)k};
        oracle_run(g, &(qdq_compile_options){.numerics = &n}, bound, 3);
        for (size_t i = 0; i < 4; i++) {
            if (want[k][i] != 0x7FC0)
                assert_int_equal(y[i], want[k][i]);
            else
                assert_true(isnan(oracle_of_bfloat16(y[i])));
        }
    }
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dequantize_of_every_int8_equals_the_oracle),
        cmocka_unit_test(dequantize_of_every_uint8_equals_the_oracle),
        cmocka_unit_test(dequantize_of_int32_beyond_float32_and_at_the_ends_equals_the_oracle),
        cmocka_unit_test(both_subtractions_with_every_store_equal_the_oracle),
        cmocka_unit_test(a_step_dtype_rounds_every_result_inside_dequantize),
        cmocka_unit_test(each_bfloat16_store_rounds_every_float32_as_it_says),
        cmocka_unit_test(each_bfloat16_store_gives_the_published_codes),
        cmocka_unit_test(a_bfloat16_between_two_ops_is_rounded_though_it_is_never_stored),
        cmocka_unit_test(computed_parameters_dequantize_what_they_made),
        cmocka_unit_test(published_examples_come_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
