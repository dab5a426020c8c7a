// SPDX-License-Identifier: Apache-2.0
// Target `torchao` on examples that a person can check: from torchao's own tests and documents,
// results of torchao 0.18 and 0.11 for a few inputs, and the choices of `torchao@0.18-ideal` for
// cases that PyTorch leaves to the CPU.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST = 1024 };

//---- Running a node ---------------------------------------------------------

// The codes that a node makes of x, and the parameters of a DynamicQuantize.
typedef struct result {
    uint8_t y[MOST * 4], scale[MOST * 4], zp[MOST * 4];
    qdq_tensor_info y_info, scale_info;
} result;

// Compiles for `target`, writes x (float32 unless x is an integer dtype) and reads all outputs.
static void finish(qdq_graph *g, const char *target, qdq_dtype from, const void *x, result *out) {
    static const char *const names[3] = {"y", "scale", "zp"};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_error err = {0};
        qdq_compile_options options = {.target = target, .materialize = materialize};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
        if (!exec) fail_msg("%s", err.text);
        bool real = qdq_dtype_is_real(from);
        size_t count = qdq_shape_count(qdq_plan_input(plan, 0)->shape);
        qdq_exec_write(exec, "x", real ? QDQ_FLOAT32 : from, x, count, &err);
        qdq_exec_run(exec);
        uint8_t *const memory[3] = {out->y, out->scale, out->zp};
        for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
            const qdq_tensor_info *info = qdq_plan_output(plan, i);
            assert_true(info->bytes <= sizeof out->y);
            qdq_exec_read(exec, names[i], info->dtype, memory[i], qdq_shape_count(info->shape),
                          &err);
            if (i == 0) out->y_info = *info;
            if (i == 1) out->scale_info = *info;
        }
        if (err.status) fail_msg("%s", err.text);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void dynamic(const char *target, qdq_dtype from, qdq_shape shape, const float *x,
                    qdq_dynamic_quantize_attrs attrs, result *out) {
    qdq_graph *g = qdq_graph_create("dynamic", NULL);
    qdq_value y = qdq_dynamic_quantize(g, qdq_input(g, "x", from, shape), attrs);
    qdq_output(g, "y", y);
    qdq_output(g, "scale", qdq_port(g, y, "scale"));
    qdq_output(g, "zp", qdq_port(g, y, "zero_point"));
    finish(g, target, from, x, out);
}

static void quantize(const char *target, qdq_dtype from, int64_t count, const float *x,
                     qdq_quantize_attrs attrs, result *out) {
    qdq_graph *g = qdq_graph_create("quantize", NULL);
    qdq_output(g, "y", qdq_quantize(g, qdq_input(g, "x", from, QDQ_SHAPE(count)), attrs));
    finish(g, target, from, x, out);
}

static void dequantize(const char *target, qdq_dtype from, int64_t count, const void *x,
                       qdq_dequantize_attrs attrs, result *out) {
    qdq_graph *g = qdq_graph_create("dequantize", NULL);
    qdq_output(g, "y", qdq_dequantize(g, qdq_input(g, "x", from, QDQ_SHAPE(count)), attrs));
    finish(g, target, from, x, out);
}

static int32_t integer_at(const result *r, const void *memory, size_t i) {
    static int32_t wide[MOST];
    qdq_widen_int(r->y_info.dtype, memory, wide, i + 1);
    return wide[i];
}

static float scale_at(const result *r, size_t i) {
    static float wide[MOST];
    qdq_widen_float(r->scale_info.dtype, r->scale, wide, i + 1);
    return wide[i];
}

static void check_integers(const result *r, const int *want, size_t count) {
    for (size_t i = 0; i < count; i++) assert_int_equal(integer_at(r, r->y, i), want[i]);
}

//---- The affine ops ---------------------------------------------------------

static void a_reciprocal_and_not_a_division_decides_next_to_a_tie(void **state) {
    (void)state;
    static result r;
    const float x[1] = {unit_float_of_bits(0x3AC49BA6)}, scale = unit_float_of_bits(0x3A83126F);
    assert_true(rintf(x[0] / scale) == 2);
    quantize("torchao", QDQ_FLOAT32, 1, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(scale)}, &r);
    assert_int_equal(integer_at(&r, r.y, 0), 1);
}

// From torchao 0.18.
static void eight_numbers_get_the_parameters_and_codes_that_torchao_gives_them(void **state) {
    (void)state;
    static const float x[8] = {-1, -0.5f, -0.1f, 0, 0.3f, 0.7f, 1.5f, 2};
    static const struct {
        qdq_dtype dtype;
        qdq_scheme scheme;
        int qmin, qmax;
        uint32_t scale;
        int zp, codes[8];
    } rows[] = {
        // clang-format off
        {QDQ_INT8, QDQ_ASYMMETRIC, -128, 127, 0x3C40C0C1, -43, {-128, -85, -51, -43, -17, 17, 85, 127}},
        {QDQ_UINT8, QDQ_ASYMMETRIC, 0, 255, 0x3C40C0C1, 85, {0, 43, 77, 85, 111, 145, 213, 255}},
        {QDQ_INT8, QDQ_SYMMETRIC, -128, 127, 0x3C808081, 0, {-64, -32, -6, 0, 19, 45, 96, 127}},
        {QDQ_INT8, QDQ_SYMMETRIC, -127, 127, 0x3C810204, 0, {-64, -32, -6, 0, 19, 44, 95, 127}},
        {QDQ_UINT8, QDQ_SYMMETRIC, 0, 255, 0x3C808081, 128, {64, 96, 122, 128, 147, 173, 224, 255}},
        {QDQ_INT4, QDQ_ASYMMETRIC, -8, 7, 0x3E4CCCCD, -3, {-8, -5, -3, -3, -1, 1, 5, 7}},
        {QDQ_INT4, QDQ_SYMMETRIC, -8, 7, 0x3E888889, 0, {-4, -2, 0, 0, 1, 3, 6, 7}},
        {QDQ_INT4, QDQ_SYMMETRIC_NO_CLIPPING, -8, 7, 0x3E924925, 0, {-3, -2, 0, 0, 1, 2, 5, 7}},
        {QDQ_UINT4, QDQ_ASYMMETRIC, 0, 15, 0x3E4CCCCD, 5, {0, 3, 5, 5, 7, 9, 13, 15}},
        {QDQ_INT8, QDQ_SYMMETRIC, -2, 1, 0x3FAAAAAB, 0, {-1, 0, 0, 0, 0, 1, 1, 1}},
        // clang-format on
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        static result r;
        qdq_dynamic_quantize_attrs a = {.scheme = rows[i].scheme,
                                        .quantize = {.dtype = rows[i].dtype,
                                                     .quant_min = QDQ_INT(rows[i].qmin),
                                                     .quant_max = QDQ_INT(rows[i].qmax)}};
        dynamic("torchao", QDQ_FLOAT32, QDQ_SHAPE(8), x, a, &r);
        assert_int_equal(unit_bits_of_float(scale_at(&r, 0)), rows[i].scale);
        assert_int_equal(integer_at(&r, r.zp, 0), rows[i].zp);
        check_integers(&r, rows[i].codes, 8);
    }
}

static void the_mapping_example_of_the_documents_holds_for_int4(void **state) {
    (void)state;
    static const float x[2] = {-3.5f, 10.2f};
    static const uint32_t scales[3] = {0x3F69D036, 0x3FAE147B, 0x3FBA83A8};
    static const int zps[3] = {-4, 0, 0};
    for (int scheme = QDQ_ASYMMETRIC; scheme <= QDQ_SYMMETRIC_NO_CLIPPING; scheme++) {
        static result r;
        dynamic(
            "torchao", QDQ_FLOAT32, QDQ_SHAPE(2), x,
            (qdq_dynamic_quantize_attrs){.scheme = (qdq_scheme)scheme, .quantize.dtype = QDQ_INT4},
            &r);
        assert_int_equal(unit_bits_of_float(scale_at(&r, 0)), scales[scheme]);
        assert_int_equal(integer_at(&r, r.zp, 0), zps[scheme]);
    }
}

// Scale 0.2 and zero point 2.6, as float32 attributes and, rounded to bfloat16, as ports.
static void tinygemm_codes_of_eight_weights_are_those_of_torchao(void **state) {
    (void)state;
    static const float w[8] = {1, 1.25f, 1.5f, 2, 3, 3.5f, 3.75f, 4};
    static const int want[8] = {0, 1, 3, 5, 10, 12, 14, 15};
    static const uint16_t scale = 0x3E4D, zp = 0x4026;  // 0.2001953125, 2.59375
    static const double zero = 2.5999999046325684;
    static result r;
    quantize("torchao", QDQ_FLOAT32, 8, w,
             (qdq_quantize_attrs){.dtype = QDQ_UINT4,
                                  .zero_point_domain = QDQ_DOMAIN_FLOAT,
                                  .scales = QDQ_SCALE(0.2f),
                                  .zps = QDQ_ZP(zero)},
             &r);
    check_integers(&r, want, 8);
    qdq_graph *g = qdq_graph_create("bfloat16", NULL);
    qdq_quantize_attrs a = {.dtype = QDQ_UINT4, .zero_point_domain = QDQ_DOMAIN_FLOAT};
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(8));
    a.scale = qdq_constant(g, "s", QDQ_BFLOAT16, (qdq_shape){0}, &scale);
    a.zero_point = qdq_constant(g, "z", QDQ_BFLOAT16, (qdq_shape){0}, &zp);
    qdq_output(g, "y", qdq_quantize(g, x, a));
    finish(g, "torchao", QDQ_BFLOAT16, w, &r);
    check_integers(&r, want, 8);
}

static void float8_codes_of_a_row_are_those_of_torchao(void **state) {
    (void)state;
    static const float x[4] = {0.1f, -0.25f, 1, 3}, zeros[4] = {0};
    static const uint8_t want[4] = {0x57, 0xE1, 0x71, 0x7E};
    static result r;
    qdq_dynamic_quantize_attrs a = {.scheme = QDQ_SYMMETRIC, .quantize.dtype = QDQ_FLOAT8_E4M3FN};
    dynamic("torchao", QDQ_FLOAT32, QDQ_SHAPE(4), x, a, &r);
    assert_int_equal(unit_bits_of_float(scale_at(&r, 0)), 0x3BDB6DB7);
    assert_memory_equal(r.y, want, 4);
    assert_int_equal(r.zp[0], 0);
    dynamic("torchao", QDQ_FLOAT32, QDQ_SHAPE(4), zeros, a, &r);  // 0 / 0
    assert_true(scale_at(&r, 0) == 0);
    for (int i = 0; i < 4; i++) assert_int_equal(r.y[i] & 0x7F, 0x7F);
}

//---- Blocks -----------------------------------------------------------------

// The block of an element: a sum over its coordinates divided by the block extents.
typedef struct blocks {
    qdq_shape shape;
    int64_t extent[4];
    int64_t stride[4];
    size_t count;
} blocks;

// Block b has values up to b + 1, so its int8 scale is (b + 1) / 127.5.
static void every_granularity_of_the_documents_shares_scales_by_block(void **state) {
    (void)state;
    static const blocks rows[] = {
        {{2, {10, 10}}, {10, 10}, {0, 0}, 1},
        {{2, {10, 10}}, {1, 2}, {5, 1}, 50},
        {{2, {10, 10}}, {10, 1}, {0, 1}, 10},
        {{2, {10, 10}}, {1, 10}, {1, 0}, 10},
        {{2, {1, 10}}, {1, 10}, {0, 0}, 1},
        {{4, {3, 3, 10, 10}}, {3, 3, 10, 10}, {0, 0, 0, 0}, 1},
        {{4, {3, 3, 10, 10}}, {1, 3, 10, 10}, {1, 0, 0, 0}, 3},
        {{4, {3, 3, 10, 10}}, {3, 1, 10, 10}, {0, 1, 0, 0}, 3},
        {{4, {3, 3, 10, 10}}, {3, 3, 1, 10}, {0, 0, 1, 0}, 10},
        {{4, {3, 3, 10, 10}}, {3, 3, 10, 2}, {0, 0, 0, 1}, 5},
        {{4, {3, 3, 10, 10}}, {3, 3, 2, 10}, {0, 0, 1, 0}, 5},
        {{4, {3, 3, 10, 10}}, {3, 3, 2, 2}, {0, 0, 5, 1}, 25},
    };
    for (size_t k = 0; k < UNIT_COUNT(rows); k++) {
        const blocks *b = &rows[k];
        static float x[MOST];
        static result r;
        size_t count = qdq_shape_count(b->shape);
        for (size_t e = 0; e < count; e++) {
            int64_t left = (int64_t)e, index = 0;
            for (int i = b->shape.rank - 1; i >= 0; i--) {
                index += left % b->shape.dims[i] / b->extent[i] * b->stride[i];
                left /= b->shape.dims[i];
            }
            x[e] = (float)(index + 1) * (e % 3 ? -1.0f : 1.0f);
        }
        qdq_dynamic_quantize_attrs a = {.scheme = QDQ_SYMMETRIC};
        a.quantize.qtype = QDQ_PER_GROUP;
        a.quantize.group_shape = (qdq_ints){b->extent, (size_t)b->shape.rank};
        dynamic("torchao", QDQ_FLOAT32, b->shape, x, a, &r);
        assert_int_equal(qdq_shape_count(r.scale_info.shape), b->count);
        for (size_t i = 0; i < b->count; i++)
            assert_true(scale_at(&r, i) == (float)(i + 1) / 127.5f);
    }
}

//---- Undefined in PyTorch ---------------------------------------------------

static void nan_becomes_quant_min_and_infinities_saturate(void **state) {
    (void)state;
    static const float x[4] = {NAN, INFINITY, -INFINITY, -NAN};
    static const qdq_dtype results[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT4, QDQ_INT16, QDQ_INT32};
    static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    for (size_t t = 0; t < UNIT_COUNT(results); t++)
        for (size_t f = 0; f < UNIT_COUNT(floats); f++) {
            static result r;
            const qdq_dtype_info *info = qdq_dtype_get(results[t]);
            qdq_quantize_attrs a = {.dtype = results[t], .zps = QDQ_ZP(3)};
            a.scales = QDQ_SCALE(0.5f);
            quantize("torchao@0.18-ideal", floats[f], 4, x, a, &r);
            for (size_t i = 0; i < 4; i++)
                assert_int_equal(integer_at(&r, r.y, i), i == 1 ? info->greatest : info->least);
            a.quant_min = QDQ_INT(1), a.quant_max = QDQ_INT(6);
            quantize("torchao@0.18-ideal", floats[f], 4, x, a, &r);
            for (size_t i = 0; i < 4; i++) assert_int_equal(integer_at(&r, r.y, i), i == 1 ? 6 : 1);
        }
}

// bfloat16 has no 303 and no 32767: PyTorch clamps to 304, and to 32768, which int16 cannot hold.
static void bounds_that_the_dtype_of_the_steps_lacks_hold_exactly(void **state) {
    (void)state;
    static const float x[2] = {1000, 1e30f};
    static const uint16_t one = 0x3F80;
    for (int narrow = 0; narrow < 2; narrow++) {
        static result r;
        qdq_graph *g = qdq_graph_create("bounds", NULL);
        qdq_quantize_attrs a = {.dtype = QDQ_INT16};
        qdq_value v = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(2));
        a.scale = qdq_constant(g, "s", QDQ_BFLOAT16, (qdq_shape){0}, &one);
        if (narrow) a.quant_min = QDQ_INT(0), a.quant_max = QDQ_INT(303);
        qdq_output(g, "y", qdq_quantize(g, v, a));
        finish(g, "torchao@0.18-ideal", QDQ_BFLOAT16, x, &r);
        assert_int_equal(integer_at(&r, r.y, 0), narrow ? 303 : 1000);
        assert_int_equal(integer_at(&r, r.y, 1), narrow ? 303 : 32767);
    }
}

// torchao's zero points of symmetric ranges are constants, so NaN does not reach them.
static void nan_in_the_range_makes_the_scale_nan_and_all_codes_quant_min(void **state) {
    (void)state;
    static const float x[2][4] = {{1, NAN, 2, 3}, {1, 2, 3, -NAN}};
    for (int scheme = QDQ_ASYMMETRIC; scheme <= QDQ_SYMMETRIC_NO_CLIPPING; scheme++)
        for (int k = 0; k < 2; k++) {
            static result r;
            qdq_dynamic_quantize_attrs a = {.scheme = (qdq_scheme)scheme};
            dynamic("torchao@0.18-ideal", QDQ_FLOAT32, QDQ_SHAPE(4), x[k], a, &r);
            assert_true(isnan(scale_at(&r, 0)));
            assert_int_equal(integer_at(&r, r.zp, 0), scheme == QDQ_ASYMMETRIC ? -128 : 0);
            check_integers(&r, (const int[]){-128, -128, -128, -128}, 4);
        }
}

static void infinity_makes_the_scale_infinite_and_finite_numbers_the_zero_point(void **state) {
    (void)state;
    static const float x[4] = {1, INFINITY, 2, -3};
    static result r;
    qdq_dynamic_quantize_attrs a = {.scheme = QDQ_SYMMETRIC, .quantize.dtype = QDQ_UINT8};
    dynamic("torchao@0.18-ideal", QDQ_FLOAT32, QDQ_SHAPE(4), x, a, &r);
    assert_true(isinf(scale_at(&r, 0)));
    check_integers(&r, (const int[]){128, 0, 128, 128}, 4);  // infinity * 0 is NaN
}

//---- Releases ---------------------------------------------------------------

// Release 0.11 subtracts as int32, and its least scale is the machine epsilon of x's dtype.
static void release_0_11_subtracts_integers_and_has_greater_least_scales(void **state) {
    (void)state;
    static const int16_t q[1] = {300};
    static const float zeros[4] = {0};
    static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    static const float now[] = {0x1p-126f, 0x1p-14f, 0x1p-126f};
    static const float then[] = {0x1p-23f, 0x1p-10f, 0x1p-7f};
    static result r;
    qdq_dequantize_attrs d = {.dtype = QDQ_BFLOAT16, .zps = QDQ_ZP(299)};
    d.scales = QDQ_SCALE(1.0f);
    dequantize("torchao", QDQ_INT16, 1, q, d, &r);
    assert_int_equal(r.y[0] | r.y[1] << 8, 0);
    dequantize("torchao@0.11", QDQ_INT16, 1, q, d, &r);
    assert_int_equal(r.y[0] | r.y[1] << 8, 0x3F80);
    for (size_t f = 0; f < UNIT_COUNT(floats); f++) {
        qdq_dynamic_quantize_attrs a = {.scheme = QDQ_SYMMETRIC};
        dynamic("torchao", floats[f], QDQ_SHAPE(4), zeros, a, &r);
        assert_true(scale_at(&r, 0) == now[f]);
        dynamic("torchao@0.11", floats[f], QDQ_SHAPE(4), zeros, a, &r);
        assert_true(scale_at(&r, 0) == then[f]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reciprocal_and_not_a_division_decides_next_to_a_tie),
        cmocka_unit_test(eight_numbers_get_the_parameters_and_codes_that_torchao_gives_them),
        cmocka_unit_test(the_mapping_example_of_the_documents_holds_for_int4),
        cmocka_unit_test(tinygemm_codes_of_eight_weights_are_those_of_torchao),
        cmocka_unit_test(float8_codes_of_a_row_are_those_of_torchao),
        cmocka_unit_test(every_granularity_of_the_documents_shares_scales_by_block),
        cmocka_unit_test(nan_becomes_quant_min_and_infinities_saturate),
        cmocka_unit_test(bounds_that_the_dtype_of_the_steps_lacks_hold_exactly),
        cmocka_unit_test(nan_in_the_range_makes_the_scale_nan_and_all_codes_quant_min),
        cmocka_unit_test(infinity_makes_the_scale_infinite_and_finite_numbers_the_zero_point),
        cmocka_unit_test(release_0_11_subtracts_integers_and_has_greater_least_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
