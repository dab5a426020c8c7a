// SPDX-License-Identifier: Apache-2.0
// Target `torchao@0.18-ideal` with the MX and NVFP4 schemes, on the tables of torchao's own tests
// (torchao/testing/_mxfp8_test_utils.py, test/prototype/mx_formats). The tables are from a torchao
// after 0.18, whose own results for infinity, NaN and the least scales are in test_torchao_edges.c.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST = 64 };

typedef struct result {
    uint8_t y[MOST], scale[MOST], zp[MOST];
} result;

// One row of `count` elements in blocks of `block`.
static result run(qdq_dtype from, const float *x, size_t count, size_t block, qdq_scheme scheme,
                  qdq_dtype to, const float *world) {
    result r;
    qdq_error err = {0};
    const int64_t extent[2] = {1, (int64_t)block};
    qdq_dynamic_quantize_attrs a = {.scheme = scheme, .quantize = {.dtype = to}};
    a.quantize.qtype = QDQ_PER_GROUP;
    a.quantize.group_shape = (qdq_ints){extent, 2};
    if (world) a.global_scales = (qdq_floats){world, 1, true};
    qdq_graph *g = qdq_graph_create("blocks", NULL);
    qdq_value v = qdq_input(g, "x", from, QDQ_SHAPE(1, (int64_t)count));
    qdq_value y = qdq_dynamic_quantize(g, v, a), scale = qdq_port(g, y, "scale");
    qdq_output(g, "y", y);
    qdq_output(g, "scale", scale);
    qdq_output(g, "zp", qdq_port(g, y, "zero_point"));
    qdq_plan *plan =
        qdq_graph_compile(g, &(qdq_compile_options){.target = "torchao@0.18-ideal"}, &err);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
    if (!exec) fail_msg("%s", err.text);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, &err);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", to, r.y, count, &err);
    qdq_dtype scales = scheme == QDQ_NVFP4 ? QDQ_FLOAT8_E4M3FN : QDQ_FLOAT8_E8M0;
    qdq_exec_read(exec, "scale", scales, r.scale, count / block, &err);
    qdq_exec_read(exec, "zp", to, r.zp, count / block, &err);
    if (err.status) fail_msg("%s", err.text);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    for (size_t i = 0; i < count / block; i++) assert_int_equal(r.zp[i], 0);
    return r;
}

// e4m3 has two NaN codes; the sign of NaN is not specified.
static void check_code(uint8_t got, unsigned want) {
    assert_int_equal((got & 0x7F) == 0x7F ? 0x7F : got, want);
}

//---- Scales -----------------------------------------------------------------

// The largest element is 6 times the number with these bits, as 6 is the largest float4. No float32
// is 6 * 2^127.
static void the_scale_of_rceil_is_the_power_of_two_that_is_not_less(void **state) {
    (void)state;
    static const struct {
        uint32_t bits;
        uint8_t code;
    } rows[] = {
        {0x00000000, 0},   {0x00000001, 0},   {0x00400000, 0},   {0x00400001, 1},
        {0x007FFFFF, 1},   {0x00800000, 1},   {0x1F800000, 63},  {0x1F800001, 64},
        {0x3F7FFFFF, 127}, {0x3F800000, 127}, {0x3F800001, 128}, {0x5F800000, 191},
        {0x5F800001, 192}, {0x7F800000, 255}, {0x7FC00000, 255},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        float want = unit_float_of_bits(rows[i].bits), x[4] = {0, 6 * want, 0, 0};
        if (x[1] * (1 / 6.0f) != want) x[1] = nextafterf(x[1], 0);
        if (isfinite(want)) assert_true(x[1] * (1 / 6.0f) == want);
        result r = run(QDQ_FLOAT32, x, 4, 4, QDQ_MX_RCEIL, QDQ_FLOAT4_E2M1, NULL);
        assert_int_equal(r.scale[0], rows[i].code);
    }
}

// The scale's exponent for a block of one value: floor, ceil, even, rceil.
static void the_four_rounding_modes_scale_as_in_the_table(void **state) {
    (void)state;
    static const struct {
        qdq_dtype dtype;
        float most;
        int exponents[4];
    } rows[] = {
        {QDQ_FLOAT4_E2M1, 1.5f, {-2, -1, -2, -2}}, {QDQ_FLOAT4_E2M1, 1.75f, {-2, -1, -1, -1}},
        {QDQ_FLOAT4_E2M1, 3, {-1, 0, -1, -1}},     {QDQ_FLOAT4_E2M1, 3.5f, {-1, 0, 0, 0}},
        {QDQ_FLOAT4_E2M1, 5, {0, 1, 0, 0}},        {QDQ_FLOAT4_E2M1, 6, {0, 1, 0, 0}},
        {QDQ_FLOAT4_E2M1, 6.5f, {0, 1, 0, 1}},     {QDQ_FLOAT4_E2M1, 7, {0, 1, 1, 1}},
        {QDQ_FLOAT4_E2M1, 8, {1, 1, 1, 1}},        {QDQ_FLOAT8_E4M3FN, 240, {-1, 0, -1, 0}},
        {QDQ_FLOAT8_E4M3FN, 248, {-1, 0, 0, 0}},   {QDQ_FLOAT8_E4M3FN, 448, {0, 1, 0, 0}},
        {QDQ_FLOAT8_E4M3FN, 449, {0, 1, 0, 1}},    {QDQ_FLOAT8_E4M3FN, 480, {0, 1, 0, 1}},
        {QDQ_FLOAT8_E4M3FN, 496, {0, 1, 1, 1}},    {QDQ_FLOAT8_E4M3FN, 512, {1, 1, 1, 1}},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        for (int mode = 0; mode < 4; mode++) {
            const float x[2] = {0, -rows[i].most};
            qdq_scheme scheme = (qdq_scheme)(QDQ_MX_FLOOR + mode);
            result r = run(QDQ_FLOAT32, x, 2, 2, scheme, rows[i].dtype, NULL);
            assert_int_equal(r.scale[0], 127 + rows[i].exponents[mode]);
        }
}

//---- Blocks of float8 -------------------------------------------------------

// A block of 32: `first`, and 31 times `rest`. Wanted: the codes of the scale, of `first` and of
// `rest`, for float32 and bfloat16, with floor and then rceil.
typedef struct example {
    float first, rest;
    uint8_t codes[2][2][3];
} example;

static const example examples[] = {
    // clang-format off
    {0, 0, {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}}},
    {0x1p-126f, 0x1p-126f, {{{0, 0x40, 0x40}, {0, 0x40, 0x40}}, {{0, 0x40, 0x40}, {0, 0x40, 0x40}}}},
    {INFINITY, 1, {{{255, 0x7F, 0x7F}, {255, 0x7F, 0x7F}}, {{255, 0x7F, 0x7F}, {255, 0x7F, 0x7F}}}},
    {NAN, 1, {{{255, 0x7F, 0x7F}, {255, 0x7F, 0x7F}}, {{255, 0x7F, 0x7F}, {255, 0x7F, 0x7F}}}},
    {448, 448, {{{127, 0x7E, 0x7E}, {127, 0x7E, 0x7E}}, {{127, 0x7E, 0x7E}, {127, 0x7E, 0x7E}}}},
    {0x1p-149f, 0x1p-149f, {{{0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {0, 0, 0}}}},
    {0x1p-133f, 0x1p-133f, {{{0, 8, 8}, {0, 8, 8}}, {{0, 8, 8}, {0, 8, 8}}}},
    {0x1p-133f, 1, {{{119, 0, 0x78}, {119, 0, 0x78}}, {{119, 0, 0x78}, {119, 0, 0x78}}}},
    {0x1.FEp127f, 0x1.FEp127f, {{{246, 0x7E, 0x7E}, {247, 0x78, 0x78}}, {{246, 0x7E, 0x7E}, {247, 0x78, 0x78}}}},
    {0x1.FEp127f, 1, {{{246, 0x7E, 0}, {247, 0x78, 0}}, {{246, 0x7E, 0}, {247, 0x78, 0}}}},
    {0x1.C00002p1f, 0x1.C00002p1f, {{{120, 0x7E, 0x7E}, {121, 0x76, 0x76}}, {{120, 0x7E, 0x7E}, {120, 0x7E, 0x7E}}}},
    {0x1.FFFFFEp8f, 0x1.FFFFFEp8f, {{{127, 0x7E, 0x7E}, {128, 0x78, 0x78}}, {{128, 0x78, 0x78}, {128, 0x78, 0x78}}}},
    {480, 480, {{{127, 0x7E, 0x7E}, {128, 0x77, 0x77}}, {{127, 0x7E, 0x7E}, {128, 0x77, 0x77}}}},
    // clang-format on
};

static void check_example(const example *e, int from, int mode, bool negative) {
    float x[32];
    bool one = e->first != e->rest;  // then only the first is negated
    for (int i = 0; i < 32; i++) x[i] = i == 5 ? e->first : e->rest;
    for (int i = 0; i < 32; i++)
        if (negative && (i == 5 || !one)) x[i] = -x[i];
    result r = run(from ? QDQ_BFLOAT16 : QDQ_FLOAT32, x, 32, 32, mode ? QDQ_MX_RCEIL : QDQ_MX_FLOOR,
                   QDQ_FLOAT8_E4M3FN, NULL);
    const uint8_t *codes = e->codes[from][mode];
    assert_int_equal(r.scale[0], codes[0]);
    for (int i = 0; i < 32; i++) {
        unsigned code = i == 5 ? codes[1] : codes[2];
        bool signed_code = negative && (i == 5 || !one) && code != 0x7F;
        check_code(r.y[i], signed_code ? code | 0x80 : code);
    }
}

static void blocks_of_float8_are_scaled_as_in_the_tests_of_torchao(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(examples); i++)
        for (int k = 0; k < 8; k++) check_example(&examples[i], k & 1, k >> 1 & 1, k >> 2);
}

static void a_nan_in_a_block_leaves_the_next_block_alone(void **state) {
    (void)state;
    static const float x[8] = {NAN, 1, 2, 3, 4, 5, 6, 7};
    for (int scheme = QDQ_MX_FLOOR; scheme <= QDQ_MX_RCEIL; scheme++) {
        result r = run(QDQ_FLOAT32, x, 8, 4, (qdq_scheme)scheme, QDQ_FLOAT8_E4M3FN, NULL);
        assert_int_equal(r.scale[0], 255);
        assert_true(r.scale[1] < 130);
        for (int i = 0; i < 4; i++) check_code(r.y[i], 0x7F);
        for (int i = 4; i < 8; i++) assert_true((r.y[i] & 0x7F) < 0x7F);
    }
}

//---- float4 -----------------------------------------------------------------

// The largest element, 6.1, gives a scale of 1.
static void every_magnitude_of_the_table_gets_its_float4_code(void **state) {
    (void)state;
    static const float sizes[] = {0,     .1f,  .25f, .4f,  .5f,   .6f,  .75f, .9f,  1,    1.1f,
                                  1.25f, 1.4f, 1.5f, 1.6f, 1.75f, 1.9f, 2,    2.1f, 2.5f, 2.9f,
                                  3,     3.1f, 3.5f, 3.9f, 4,     4.1f, 5,    5.9f, 6,    6.1f};
    static const uint8_t codes[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 4,
                                    4, 4, 4, 4, 5, 5, 5, 6, 6, 6, 6, 6, 7, 7, 7};
    enum { ALL = UNIT_COUNT(sizes) };
    for (int negative = 0; negative < 2; negative++) {
        float x[ALL];
        for (size_t i = 0; i < ALL; i++) x[i] = negative ? -sizes[i] : sizes[i];
        result r = run(QDQ_FLOAT32, x, ALL, ALL, QDQ_MX_FLOOR, QDQ_FLOAT4_E2M1, NULL);
        assert_int_equal(r.scale[0], 127);
        for (size_t i = 0; i < ALL; i++) assert_int_equal(r.y[i], codes[i] | negative << 3);
    }
}

static void minus_zero_keeps_its_sign_in_float4(void **state) {
    (void)state;
    static const float x[8] = {0, .5f, 4, -0.0f, -0.0f, 1, -6, 3};
    static const uint8_t codes[8] = {0, 1, 6, 8, 8, 2, 15, 5};
    result r = run(QDQ_FLOAT32, x, 8, 8, QDQ_MX_FLOOR, QDQ_FLOAT4_E2M1, NULL);
    assert_memory_equal(r.y, codes, 8);
}

// From torchao 0.18. The float8_e4m3fn codes 0x28, 0x7E and 0x08 are 0.25, 448 and 2^-6.
static void nvfp4_scales_are_of_the_largest_and_never_less_than_a_64th(void **state) {
    (void)state;
    static const float x[16] = {0,    .1f, -.2f, .3f,  -.4f,  .5f,  -.6f,  .7f,
                                -.8f, .9f, -1,   1.1f, -1.2f, 1.3f, -1.4f, 1.5f};
    static const uint8_t codes[16] = {0, 1, 10, 2, 11, 4, 12, 5, 13, 6, 14, 6, 14, 7, 15, 7};
    static const float half = 0.5f, all = 1.5f / 2688;
    float y[16] = {0};
    result r = run(QDQ_FLOAT32, x, 16, 16, QDQ_NVFP4, QDQ_FLOAT4_E2M1, NULL);
    assert_int_equal(r.scale[0], 0x28);
    assert_memory_equal(r.y, codes, 16);
    r = run(QDQ_FLOAT32, x, 16, 16, QDQ_NVFP4, QDQ_FLOAT4_E2M1, &all);
    assert_int_equal(r.scale[0], 0x7E);
    assert_memory_equal(r.y, codes, 16);
    for (int k = 0; k < 2; k++) {
        r = run(QDQ_FLOAT32, y, 16, 16, QDQ_NVFP4, QDQ_FLOAT4_E2M1, k ? &half : NULL);
        assert_int_equal(r.scale[0], 8);
        for (int i = 0; i < 16; i++) assert_int_equal(r.y[i], 0);
    }
    for (int i = 0; i < 16; i++) y[i] = 0.01f;
    r = run(QDQ_FLOAT32, y, 16, 16, QDQ_NVFP4, QDQ_FLOAT4_E2M1, NULL);
    assert_int_equal(r.scale[0], 8);
    for (int i = 0; i < 16; i++) assert_int_equal(r.y[i], 1);
    y[3] = NAN;
    r = run(QDQ_FLOAT32, y, 16, 16, QDQ_NVFP4, QDQ_FLOAT4_E2M1, NULL);
    check_code(r.scale[0], 0x7F);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scale_of_rceil_is_the_power_of_two_that_is_not_less),
        cmocka_unit_test(the_four_rounding_modes_scale_as_in_the_table),
        cmocka_unit_test(blocks_of_float8_are_scaled_as_in_the_tests_of_torchao),
        cmocka_unit_test(a_nan_in_a_block_leaves_the_next_block_alone),
        cmocka_unit_test(every_magnitude_of_the_table_gets_its_float4_code),
        cmocka_unit_test(minus_zero_keeps_its_sign_in_float4),
        cmocka_unit_test(nvfp4_scales_are_of_the_largest_and_never_less_than_a_64th),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
