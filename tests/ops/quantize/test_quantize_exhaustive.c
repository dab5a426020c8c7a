// SPDX-License-Identifier: Apache-2.0
// Quantize under the core numerics, clamp(rne(fl(x / s)) + z): every bfloat16, and constructed
// float32 and int32 inputs. Random data would rarely hit a tie, so scales are powers of two, k/127
// or |x|/(k+.5).
#include "tests/ops/oracle.h"

enum { ALL = 65536, NODES = 12 };  // 4 zero points x 3 dtypes
static const size_t all_rows = 256;

// A graph with NODES Quantizes of one x, each with an output.
typedef struct fan {
    qdq_graph *graph;
    size_t count;  // of x
    oracle_bound bound[NODES + 1];
} fan;

static void fan_make(fan *f, qdq_dtype dtype, qdq_shape shape, void *x) {
    f->graph = qdq_graph_create("fan", NULL);
    f->count = qdq_shape_count(shape);
    f->bound[0] = (oracle_bound){"x", x, f->count * qdq_dtype_size(dtype)};
    (void)qdq_input(f->graph, "x", dtype, shape);
    for (size_t i = 1; i <= NODES; i++) f->bound[i].data = NULL;
}

static void fan_add(fan *f, size_t i, qdq_quantize_attrs attrs) {
    oracle_bound *y = &f->bound[i + 1];
    attrs.dtype = oracle_dtypes[i % 3];
    attrs.zps = QDQ_ZP((double)oracle_zps[i / 3]);
    snprintf(y->name, sizeof y->name, "y%zu", i);
    y->bytes = f->count * qdq_dtype_size(attrs.dtype);
    y->data = oracle_memory(y->bytes);
    memset(y->data, 0x55, y->bytes);
    qdq_output(f->graph, y->name, qdq_quantize(f->graph, qdq_graph_find(f->graph, "x"), attrs));
}

// Checks every output; `scales` has one scale (step 0) or one for each element (step 1).
static void fan_check(const fan *f, qdq_dtype dtype, const float *scales, size_t step) {
    for (size_t n = 0; n < NODES; n++) {
        qdq_dtype to = oracle_dtypes[n % 3];
        int64_t zp = oracle_zps[n / 3];
        oracle_range range = oracle_range_of(to, &oracle_core);
        for (size_t i = 0; i < f->count; i++) {
            double x = oracle_x(dtype, f->bound[0].data, i), s = (double)scales[i * step];
            oracle_check("Quantize", x, s, zp, to, oracle_at(to, f->bound[n + 1].data, i),
                         oracle_quantize(x, s, zp, range, &oracle_core));
        }
    }
}

static void fan_free(fan *f) {
    for (size_t i = 1; i <= NODES; i++) free(f->bound[i].data);
    qdq_graph_destroy(f->graph);
}

// Runs NODES Quantizes with each of the scales.
static void check_family(qdq_dtype dtype, qdq_shape shape, void *x, bool materialize) {
    for (size_t s = 0; s < ORACLE_SCALES; s++) {
        if (unit_left_out(s)) continue;
        float scale = oracle_scale(s);
        fan f;
        fan_make(&f, dtype, shape, x);
        for (size_t i = 0; i < NODES; i++)
            fan_add(&f, i, (qdq_quantize_attrs){.scales = QDQ_SCALE(scale)});
        oracle_run(f.graph, &(qdq_compile_options){.materialize = materialize}, f.bound, NODES + 1);
        fan_check(&f, dtype, &scale, 0);
        fan_free(&f);
    }
}

static uint16_t *every_bfloat16(void) {
    uint16_t *x = oracle_memory(ALL * sizeof *x);
    for (size_t i = 0; i < ALL; i++) x[i] = (uint16_t)i;
    return x;
}

// Scales that put |x| / s within an ulp of k + 0.5; 1 if x has no such scale.
static void tie_scales(float *scales, qdq_dtype dtype, const void *x, size_t count, double k) {
    for (size_t i = 0; i < count; i++) {
        float s = (float)(fabs(oracle_at(dtype, x, i)) / (k + 0.5));
        scales[i] = isfinite(s) && s > 0 ? s : 1.0f;
    }
}

static void check_ties(qdq_dtype dtype, void *x, size_t count) {
    static const double ks[] = {0, 1, 2, 7, 63, 126, 127, 254};
    float *scales = oracle_memory(count * sizeof *scales);
    for (size_t k = 0; k < UNIT_COUNT(ks); k++) {
        if (unit_left_out(k)) continue;
        fan f;
        tie_scales(scales, dtype, x, count, ks[k]);
        fan_make(&f, dtype, QDQ_SHAPE((int64_t)count), x);
        for (size_t i = 0; i < NODES; i++) {
            fan_add(&f, i,
                    (qdq_quantize_attrs){.qtype = QDQ_PER_CHANNEL,
                                         .axis = QDQ_INT(0),
                                         .scales = {scales, count, false}});
        }
        oracle_run(f.graph, NULL, f.bound, NODES + 1);
        fan_check(&f, dtype, scales, 1);
        fan_free(&f);
    }
    free(scales);
}

//---- The oracle itself ------------------------------------------------------

static void the_oracle_divides_multiplies_adds_and_fuses_as_the_host_does(void **state) {
    (void)state;
    uint64_t seed = 99;
    for (int i = 0; i < 300000; i++) {
        uint64_t r = unit_random(&seed), t = unit_random(&seed);
        uint32_t near = i % 2 ? 0x0FFFFFFF : 0xFFFFFFFF, base = i % 2 ? 0x38000000 : 0;
        volatile float a = unit_float_of_bits(((uint32_t)r & near) | base);
        volatile float b = unit_float_of_bits(((uint32_t)(r >> 32) & near) | base);
        volatile float c = unit_float_of_bits((uint32_t)t);
        float want[4] = {a / b, a * b, a + c, fmaf(a, b, c)};
        double got[4] = {oracle_div((double)a, (double)b), oracle_mul((double)a, (double)b),
                         oracle_add((double)a, (double)c),
                         oracle_fma((double)a, (double)b, (double)c)};
        for (int k = 0; k < 4; k++) {
            if (isnan(want[k]) && isnan(got[k])) continue;
            if (unit_bits_of_float((float)got[k]) != unit_bits_of_float(want[k]))
                fail_msg("%d: %a %a %a: %a, host %a", k, (double)a, (double)b, (double)c, got[k],
                         (double)want[k]);
        }
        int32_t whole = (int32_t)(t >> 32);
        assert_true(oracle_of_integer(whole) == (double)(float)whole);
        if (fabsf(c) < 1e9f) {
            assert_int_equal(oracle_to_integer((double)c, QDQ_ROUND_HALF_EVEN), lrintf(c));
            assert_int_equal(oracle_to_integer((double)c, QDQ_ROUND_HALF_AWAY), lroundf(c));
            assert_int_equal(oracle_to_integer((double)c, QDQ_ROUND_TRUNCATE), (int64_t)c);
        }
    }
}

//---- bfloat16 ---------------------------------------------------------------

static void quantize_of_every_bfloat16_equals_the_oracle(void **state) {
    (void)state;
    uint16_t *x = every_bfloat16();
    check_family(QDQ_BFLOAT16, QDQ_SHAPE((int64_t)all_rows, ALL / (int64_t)all_rows), x, false);
    free(x);
}

static void quantize_of_every_bfloat16_in_tile_slots_equals_the_oracle(void **state) {
    (void)state;
    uint16_t *x = every_bfloat16();
    check_family(QDQ_BFLOAT16, QDQ_SHAPE((int64_t)all_rows, ALL / (int64_t)all_rows), x, true);
    free(x);
}

static void quantize_of_every_bfloat16_at_a_constructed_tie_equals_the_oracle(void **state) {
    (void)state;
    uint16_t *x = every_bfloat16();
    check_ties(QDQ_BFLOAT16, x, ALL);
    free(x);
}

static void nan_becomes_quant_min_and_infinities_saturate(void **state) {
    (void)state;
    float x[6] = {NAN, -NAN, INFINITY, -INFINITY, 1e10f, -1e10f};
    x[1] = unit_float_of_bits(0xFF800001);  // a negative signalling NaN
    int8_t y[6], narrow[6];
    uint8_t u[6];
    int32_t w[6];
    qdq_graph *g = qdq_graph_create("specials", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(6));
    qdq_quantize_attrs attrs = {.scales = QDQ_SCALE(1.0f), .zps = QDQ_ZP(3)};
    qdq_output(g, "y", qdq_quantize(g, v, attrs));
    attrs.dtype = QDQ_UINT8;
    qdq_output(g, "u", qdq_quantize(g, v, attrs));
    attrs.dtype = QDQ_INT32;
    qdq_output(g, "w", qdq_quantize(g, v, attrs));
    attrs.dtype = QDQ_INT8;
    attrs.quant_min = QDQ_INT(-5), attrs.quant_max = QDQ_INT(9);
    qdq_output(g, "n", qdq_quantize(g, v, attrs));
    oracle_bound bound[] = {{"x", x, sizeof x},
                            {"y", y, sizeof y},
                            {"u", u, sizeof u},
                            {"w", w, sizeof w},
                            {"n", narrow, sizeof narrow}};
    oracle_run(g, NULL, bound, UNIT_COUNT(bound));
    qdq_graph_destroy(g);
    static const bool least[6] = {true, true, false, true, false, true};
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(y[i], least[i] ? -128 : 127);
        assert_int_equal(u[i], least[i] ? 0 : 255);
        assert_int_equal(narrow[i], least[i] ? -5 : 9);
        assert_int_equal(w[i], least[i] ? INT32_MIN : INT32_MAX);
    }
}

//---- float32 and int32 ------------------------------------------------------

// x = s * (k + 0.5) and its neighbours for all k that matter, and special float32 values.
static size_t float_inputs(float *x, float scale) {
    static const uint32_t odd[] = {
        0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000,
        0x80800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0x7F800001,
        0xFFC12345, 0x3EFFFFFF, 0x3F000000, 0x3F000001, 0xBEFFFFFF, 0xBF000000, 0xBF000001,
        0x4AFFFFFF, 0x4B000001, 0x4B7FFFFF, 0x4B800000, 0x4EFFFFFF, 0x4F000000, 0x4F000001,
        0xCEFFFFFF, 0xCF000000, 0xCF000001, 0x5F000000, 0xDF000000, 0x0000ABCD, 0x80001234,
    };
    size_t n = 0;
    for (int k = -300; k <= 300; k++) {
        float tie = (float)(((double)k + 0.5) * (double)scale);
        x[n++] = tie, x[n++] = nextafterf(tie, INFINITY), x[n++] = nextafterf(tie, -INFINITY);
    }
    static const double far[] = {0x1p15, 0x1p21, 0x1p22, 0x1p23, 0x1p24, 0x1p30, 0x1p31, 0x1p32};
    for (size_t i = 0; i < UNIT_COUNT(far); i++) {
        for (int k = -8; k < 8; k++) {
            double at = (far[i] + (double)k + 0.5) * (double)scale;
            x[n++] = (float)at, x[n++] = nextafterf((float)at, INFINITY);
            x[n++] = (float)-at, x[n++] = nextafterf((float)-at, INFINITY);
        }
        float end = (float)(far[i] * (double)scale);
        for (int k = 0; k < 8; k++) x[n++] = end, x[n++] = -end, end = nextafterf(end, 0);
    }
    for (size_t i = 0; i < UNIT_COUNT(odd); i++) x[n++] = unit_float_of_bits(odd[i]);
    return n;
}

static void quantize_of_float32_around_every_tie_equals_the_oracle(void **state) {
    (void)state;
    float *x = oracle_memory(4096 * sizeof *x);
    for (size_t s = 0; s < ORACLE_SCALES; s++) {
        if (unit_left_out(s)) continue;
        float scale = oracle_scale(s);
        size_t count = float_inputs(x, scale);
        assert_true(count <= 4096);
        for (int materialize = 0; materialize < 2; materialize++) {
            fan f;
            fan_make(&f, QDQ_FLOAT32, QDQ_SHAPE((int64_t)count), x);
            for (size_t i = 0; i < NODES; i++)
                fan_add(&f, i, (qdq_quantize_attrs){.scales = QDQ_SCALE(scale)});
            oracle_run(f.graph, &(qdq_compile_options){.materialize = materialize}, f.bound,
                       NODES + 1);
            fan_check(&f, QDQ_FLOAT32, &scale, 0);
            fan_free(&f);
        }
    }
    free(x);
}

// Random bits as x, and scales that put the quotient within an ulp of a tie.
static void quantize_of_any_float32_at_a_constructed_tie_equals_the_oracle(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    float *x = oracle_memory(COUNT * sizeof *x);
    uint64_t seed = 7;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = unit_float_of_bits((uint32_t)unit_random(&seed));
        if (i % 16 == 0) x[i] *= 0x1p-149f / 0x1p-120f;  // makes more of them small or subnormal
    }
    check_ties(QDQ_FLOAT32, x, COUNT);
    free(x);
}

static void quantize_of_int32_rounds_x_to_float32_first(void **state) {
    (void)state;
    static const int64_t around[] = {0,         1 << 23,    -(1 << 23), 1 << 24,    -(1 << 24),
                                     1 << 25,   -(1 << 25), 1 << 30,    -(1 << 30), INT32_MAX,
                                     INT32_MIN, 0x5555555,  -0x5555555, 255 * 127,  -255 * 127};
    int32_t *x = oracle_memory(9216 * sizeof *x);
    size_t count = 0;
    for (size_t i = 0; i < UNIT_COUNT(around); i++) {
        for (int64_t k = -300; k <= 300; k++) {
            int64_t at = around[i] + k;
            if (at >= INT32_MIN && at <= INT32_MAX) x[count++] = (int32_t)at;
        }
    }
    assert_true(count <= 9216);
    check_family(QDQ_INT32, QDQ_SHAPE((int64_t)count), x, false);
    check_family(QDQ_INT32, QDQ_SHAPE((int64_t)count), x, true);
    check_ties(QDQ_INT32, x, count);
    free(x);
}

//---- Scales at run time -----------------------------------------------------

static void run_time_scales_of_any_value_divide_as_float32_does(void **state) {
    (void)state;
    static const uint32_t bits[] = {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00400000,
                                    0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3DCCCCCD,
                                    0xBE000000, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000,
                                    0xFFC00000, 0x7F800001, 0x3B000000, 0x4B000000, 0x00200000};
    enum { SIDE = UNIT_COUNT(bits) };
    float x[SIDE * SIDE], s[SIDE];
    int32_t z[SIDE];
    int8_t y[SIDE * SIDE];
    for (size_t i = 0; i < SIDE; i++) {
        s[i] = unit_float_of_bits(bits[i]), z[i] = (int32_t)i * 7 - 60;
        for (size_t j = 0; j < SIDE; j++) x[j * SIDE + i] = unit_float_of_bits(bits[j]);
    }
    qdq_graph *g = qdq_graph_create("run-time", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(SIDE, SIDE));
    qdq_value scale = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(SIDE));
    qdq_value zp = qdq_input(g, "z", QDQ_INT32, QDQ_SHAPE(SIDE));
    qdq_output(g, "y",
               qdq_quantize(g, v,
                            (qdq_quantize_attrs){
                                .scale = scale, .zero_point = zp, .qtype = QDQ_PER_CHANNEL}));
    oracle_bound bound[] = {
        {"x", x, sizeof x}, {"s", s, sizeof s}, {"z", z, sizeof z}, {"y", y, sizeof y}};
    oracle_range range = oracle_range_of(QDQ_INT8, &oracle_core);
    for (int materialize = 0; materialize < 2; materialize++) {
        memset(y, 0x55, sizeof y);
        oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, UNIT_COUNT(bound));
        for (size_t i = 0; i < UNIT_COUNT(y); i++) {
            size_t c = i % SIDE;
            oracle_check("run-time", (double)x[i], (double)s[c], z[c], QDQ_INT8, y[i],
                         oracle_quantize((double)x[i], (double)s[c], z[c], range, &oracle_core));
        }
    }
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oracle_divides_multiplies_adds_and_fuses_as_the_host_does),
        cmocka_unit_test(quantize_of_every_bfloat16_equals_the_oracle),
        cmocka_unit_test(quantize_of_every_bfloat16_in_tile_slots_equals_the_oracle),
        cmocka_unit_test(quantize_of_every_bfloat16_at_a_constructed_tie_equals_the_oracle),
        cmocka_unit_test(nan_becomes_quant_min_and_infinities_saturate),
        cmocka_unit_test(quantize_of_float32_around_every_tie_equals_the_oracle),
        cmocka_unit_test(quantize_of_any_float32_at_a_constructed_tie_equals_the_oracle),
        cmocka_unit_test(quantize_of_int32_rounds_x_to_float32_first),
        cmocka_unit_test(run_time_scales_of_any_value_divide_as_float32_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
