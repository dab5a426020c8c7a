// SPDX-License-Identifier: Apache-2.0
// The multiplier and shift of a real scale, and Requantize by numerics in fixed point: the same
// bits with scales that are known, scales of a run, and the attributes `multiplier` and `shift`.
// tests/cli/test_cli_fixed_point.py has the bits of the attributes.
#include <qdq/qdq.h>

#include "runtime/numerics/fixed_point.h"
#include "tests/ops/oracle.h"

//---- Multipliers -------------------------------------------------------------

typedef struct row {
    double scale;
    int32_t multiplier, shift;
} row;

// From fractions of any size. The ends of rounding to 2^31, of scales that become 0 and of scales
// that have no shift.
static const row rows[] = {
    {0, 0, 31},
    {1, 1073741824, 30},
    {0.25, 1073741824, 32},
    {0.75, 1610612736, 31},
    {0x1.555554c71c722p-2, 1431655730, 32},  // float32 0.1 over float32 0.3
    {0x1.fffffffffffffp-1, 1073741824, 30},
    {0x1.fffffffe00000p-1, 1073741824, 30},  // halfway
    {0x1.fffffffdfffffp-1, 2147483647, 31},
    {0x1p-32, 1073741824, 62},
    {0x1.ffffffff00000p-33, 1073741824, 62},
    {0x1p-33, 0, 31},
    {0x1p-1074, 0, 31},
    {0x1.fffffeb074a77p+7, 2147483564, 23},
    {0x1p30, 1073741824, 0},
    {0x1.fffffffc00000p+30, 2147483647, 0},
    {0x1p31, 2147483647, 0},  // saturates, as all below
    {0x1p1000, 2147483647, 0},
    {(double)INFINITY, 2147483647, 0},
    {-(double)INFINITY, -2147483647, 0},
    {-0.3, -1288490189, 32},
    {-1, -1073741824, 30},
    {(double)NAN, 0, 31},
};

static void scales_become_multipliers_of_31_bits(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_fixed_scale got = qdq_quantize_multiplier(rows[i].scale, 31);
        if (got.multiplier != rows[i].multiplier || got.shift != rows[i].shift)
            fail_msg("%a: got %d, %d", rows[i].scale, (int)got.multiplier, (int)got.shift);
    }
    qdq_fixed_scale last = qdq_quantize_multiplier(0x1.fffffffcp29, 30);
    assert_true(last.multiplier == 2147483647 && last.shift == 1);
    qdq_fixed_scale over = qdq_quantize_multiplier(0x1p30, 30);
    assert_true(over.multiplier == 2147483647 && over.shift == 1);
}

//---- Forms -------------------------------------------------------------------

enum { CHANNELS = 9, ROW = 256, COUNT = CHANNELS * ROW };

static const float in_scales[CHANNELS] = {0.25f, 0.1f, 0.0587562062f, 1, 3e-3f, 7, 0.5f, 1e-12f, 0};
static const float out_scales[CHANNELS] = {1, 0.3f, 1, 1, 0.7f, 0.01f, 0.125f, 1, 1};
static const double zps[CHANNELS] = {0, 3, -5, 100, 0, 1, -128, 127, 2};

typedef enum way { BY_KNOWN, BY_INPUTS, BY_MULTIPLIER } way;

// The multiplier and shift of each channel, from doubles, for the attributes.
static void set_factors(double *m, double *s, double most) {
    for (size_t c = 0; c < CHANNELS; c++) {
        int e;
        double q = frexp((double)in_scales[c] / (double)out_scales[c], &e);
        m[c] = floor(ldexp(q, 31) + 0.5), s[c] = 31 - e;
        if (m[c] == 0x1p31) m[c] = 0x1p30, s[c]--;
        if (s[c] > 62 || m[c] == 0) m[c] = 0, s[c] = 0;
        assert_true(e <= most);
    }
}

static void run_way(way how, qdq_dtype x_dtype, qdq_requantize_form form, void *x, int8_t *y,
                    bool materialize) {
    static const qdq_fixed_rounding roundings[] = {QDQ_FIXED_DOUBLE, QDQ_FIXED_UP,
                                                   QDQ_FIXED_SINGLE};
    double m[CHANNELS], s[CHANNELS];
    float in[CHANNELS], out[CHANNELS];
    qdq_numerics numerics = {.requantize_form = form};
    qdq_requantize_attrs a = {.axis = QDQ_INT(0), .dtype = QDQ_INT8, .out_zps = {zps, CHANNELS, 0}};
    qdq_graph *g = qdq_graph_create("forms", NULL);
    qdq_value v = qdq_input(g, "x", x_dtype, QDQ_SHAPE(CHANNELS, ROW));
    memcpy(in, in_scales, sizeof in), memcpy(out, out_scales, sizeof out);
    if (how == BY_INPUTS) {
        a.in_scale = qdq_input(g, "in", QDQ_FLOAT32, QDQ_SHAPE(CHANNELS));
        a.out_scale = qdq_input(g, "out", QDQ_FLOAT32, QDQ_SHAPE(CHANNELS));
    } else if (how == BY_KNOWN) {
        in[CHANNELS - 1] = 1e-30f;  // as a multiplier also 0
        a.in_scales = (qdq_floats){in, CHANNELS, false};
        a.out_scales = (qdq_floats){out, CHANNELS, false};
    } else {
        set_factors(m, s, 30);
        a.multiplier = (qdq_numbers){m, CHANNELS, false},
        a.shift = (qdq_numbers){s, CHANNELS, false};
        a.rounding = roundings[form - QDQ_REQUANTIZE_FIXED_DOUBLE];
    }
    qdq_output(g, "y", qdq_requantize(g, v, a));
    oracle_bound bound[] = {{"x", x, COUNT * qdq_dtype_size(x_dtype)},
                            {"y", y, COUNT},
                            {"in", in, sizeof in},
                            {"out", out, sizeof out}};
    qdq_compile_options options = {.numerics = &numerics, .materialize = materialize};
    memset(y, 0x55, COUNT);
    oracle_run(g, &options, bound, how == BY_INPUTS ? 4 : 2);
    qdq_graph_destroy(g);
}

static void check_forms(qdq_dtype x_dtype, void *x) {
    static int8_t want[COUNT], got[COUNT];
    for (int f = QDQ_REQUANTIZE_FIXED_DOUBLE; f <= (int)QDQ_REQUANTIZE_FIXED_SINGLE; f++) {
        run_way(BY_MULTIPLIER, x_dtype, (qdq_requantize_form)f, x, want, false);
        for (int how = BY_KNOWN; how <= (int)BY_MULTIPLIER; how++)
            for (int i = 0; i < 2; i++) {
                run_way((way)how, x_dtype, (qdq_requantize_form)f, x, got, i != 0);
                for (size_t k = 0; k < COUNT; k++)
                    if (got[k] != want[k])
                        fail_msg("form %d, way %d, %s, element %zu: got %d, want %d", f, how,
                                 qdq_dtype_name(x_dtype), k, got[k], want[k]);
            }
    }
}

static void scales_and_multipliers_give_the_same_bits(void **state) {
    static int8_t bytes[COUNT];
    static int32_t sums[COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++) {
        int64_t sum = (i % ROW - 128) * (int64_t)(i % 7 == 0 ? 3000001 : i % 5 + 1);
        bytes[i] = (int8_t)(i % ROW - 128);
        sums[i] = i % 31 == 0 ? INT32_MIN + i : (int32_t)sum;
    }
    check_forms(QDQ_INT8, bytes);
    check_forms(QDQ_INT32, sums);
}

// LiteRT's QUANTIZE of int8 from scale 0.25 to 1: the reference rounds half away, blocks of the
// optimized kernels half up; from 0.1 to 0.3 both give 34.
static void int8_of_litert(void **state) {
    static const double x[] = {-10, -6, -2, 2, 6, 10, 1, -1};
    static const int8_t want[][8] = {{-3, -2, -1, 1, 2, 3, 1, 0}, {-2, -1, 0, 1, 2, 3, 1, 0}};
    (void)state;
    for (int up = 0; up < 2; up++) {
        int8_t codes[9], y[9];
        for (size_t i = 0; i < 8; i++) codes[i] = (int8_t)x[i];
        codes[8] = 100;
        qdq_numerics n = {.requantize_form =
                              up ? QDQ_REQUANTIZE_FIXED_UP : QDQ_REQUANTIZE_FIXED_DOUBLE};
        qdq_graph *g = qdq_graph_create("litert", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(9));
        qdq_output(g, "y",
                   qdq_requantize(g, v,
                                  (qdq_requantize_attrs){
                                      .in_scales = QDQ_SCALES(0.25f, 0.25f, 0.25f, 0.25f, 0.25f,
                                                              0.25f, 0.25f, 0.25f, 0.1f),
                                      .out_scales = QDQ_SCALES(1, 1, 1, 1, 1, 1, 1, 1, 0.3f),
                                      .axis = QDQ_INT(0)}));
        oracle_bound bound[] = {{"x", codes, sizeof codes}, {"y", y, sizeof y}};
        oracle_run(g, &(qdq_compile_options){.numerics = &n}, bound, 2);
        assert_memory_equal(y, want[up], 8);
        assert_int_equal(y[8], 34);
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_become_multipliers_of_31_bits),
        cmocka_unit_test(scales_and_multipliers_give_the_same_bits),
        cmocka_unit_test(int8_of_litert),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
