// SPDX-License-Identifier: Apache-2.0
// Target `torchao` on elements where a simpler formula is wrong, against results of torchao that
// tools/peers/torchao_edges.py wrote.
#include <math.h>
#include <string.h>

#include "tests/graph/targets/torchao/torchao_edges.h"
#include "tests/unit.h"

// Runs a graph whose input x has `count` elements, which are given as `dtype`, and reads the codes of
// its outputs.
static void run_as(qdq_graph *g, qdq_dtype dtype, const void *x, size_t count, size_t outputs,
                   void *const *results) {
    qdq_error err = {0};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.target = "torchao", .materialize = materialize};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        if (!exec) fail_msg("%s", err.text);
        qdq_exec_write(exec, "x", dtype, x, count, &err);
        qdq_exec_run(exec);
        for (size_t i = 0; i < outputs; i++) {
            const qdq_tensor_info *info = qdq_plan_output(plan, i);
            qdq_exec_read(exec, info->name, info->dtype, results[i], qdq_shape_count(info->shape),
                          &err);
        }
        if (err.status) fail_msg("%s", err.text);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
}

static void run(qdq_graph *g, const float *x, size_t count, size_t outputs, void *const *results) {
    run_as(g, QDQ_FLOAT32, x, count, outputs, results);
}

static void floats_of(const uint32_t *bits, size_t count, float *x) {
    for (size_t i = 0; i < count; i++) x[i] = unit_float_of_bits(bits[i]);
}

static void parameters_are_computed_in_the_dtype_of_x(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(torchao_choices); i++) {
        qdq_graph *g = qdq_graph_create("choices", NULL);
        qdq_dynamic_quantize_attrs a = {
            .scheme = torchao_choices[i].scheme,
            .quantize = {.dtype = torchao_choices[i].y,
                         .quant_min = QDQ_REAL(torchao_choices[i].quant_min),
                         .quant_max = QDQ_REAL(torchao_choices[i].quant_max)}};
        qdq_value y =
            qdq_dynamic_quantize(g, qdq_input(g, "x", torchao_choices[i].x, QDQ_SHAPE(2)), a);
        char y_codes[8], zero_code[4];
        int32_t codes[2], zero_point;
        float scale;
        qdq_output(g, "y", y);
        qdq_output(g, "s", qdq_port(g, y, "scale"));
        qdq_output(g, "z", qdq_port(g, y, "zero_point"));
        run(g, torchao_choices[i].elements, 2, 3, (void *const[]){y_codes, &scale, zero_code});
        qdq_widen_int(torchao_choices[i].y, y_codes, codes, 2);
        qdq_widen_int(torchao_choices[i].y, zero_code, &zero_point, 1);
        if (unit_bits_of_float(scale) != torchao_choices[i].scale ||
            zero_point != torchao_choices[i].zero_point ||
            codes[0] != torchao_choices[i].codes[0] || codes[1] != torchao_choices[i].codes[1])
            fail_msg("row %zu: scale %08X, zero point %d, codes %d and %d", i,
                     unit_bits_of_float(scale), zero_point, codes[0], codes[1]);
    }
}

// NaN is the low bits of INT32_MIN, and so is a bound that rounds out of the range.
static void codes_are_cast_as_x86_casts_them(void **state) {
    (void)state;
    static const float one32 = 1;
    static const uint16_t one16 = 0x3C00, onebf16 = 0x3F80;
    for (size_t i = 0; i < UNIT_COUNT(torchao_clamps); i++) {
        qdq_dtype from = torchao_clamps[i].x;
        qdq_graph *g = qdq_graph_create("clamps", NULL);
        qdq_quantize_attrs a = {.dtype = torchao_clamps[i].y, .zps = QDQ_ZP(3)};
        a.scale = qdq_constant(g, "s", from, (qdq_shape){0},
                               from == QDQ_FLOAT32   ? (const void *)&one32
                               : from == QDQ_FLOAT16 ? &one16
                                                     : &onebf16);
        if (torchao_clamps[i].limited) {
            a.quant_min = QDQ_INT(torchao_clamps[i].quant_min);
            a.quant_max = QDQ_INT(torchao_clamps[i].quant_max);
        }
        char y[16];
        float x[4];
        int32_t codes[4];
        floats_of(torchao_clamps[i].elements, 4, x);
        qdq_output(g, "y", qdq_quantize(g, qdq_input(g, "x", from, QDQ_SHAPE(4)), a));
        run(g, x, 4, 1, (void *const[]){y});
        qdq_widen_int(a.dtype, y, codes, 4);
        for (size_t k = 0; k < 4; k++)
            if (codes[k] != torchao_clamps[i].codes[k])
                fail_msg("row %zu: code %zu is %d", i, k, codes[k]);
    }
}

static void casts_are_those_of_pytorch_on_x86(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(torchao_casts); i++) {
        qdq_dtype from = torchao_casts[i].x, to = torchao_casts[i].y;
        qdq_graph *g = qdq_graph_create("casts", NULL);
        qdq_value v = qdq_input(g, "x", from, QDQ_SHAPE(1));
        int64_t y = 0;
        double x;
        memcpy(&x, &torchao_casts[i].element, sizeof x);
        float narrow = (float)x;
        bool wide = from == QDQ_FLOAT64;
        qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = to}));
        run_as(g, wide ? from : QDQ_FLOAT32, wide ? (void *)&x : &narrow, 1, 1,
               (void *const[]){&y});
        int64_t mask = to == QDQ_INT64 ? -1 : (INT64_C(1) << qdq_dtype_get(to)->bits) - 1;
        if ((y & mask) != (torchao_casts[i].code & mask))
            fail_msg("row %zu: %s of %s %g is %lld", i, qdq_dtype_name(to), qdq_dtype_name(from), x,
                     (long long)y);
    }
}

static bool same_code(qdq_dtype dtype, uint8_t a, uint8_t b) {
    float real[2];
    qdq_widen_float(dtype, (const uint8_t[]){a, b}, real, 2);
    return a == b || (isnan(real[0]) && isnan(real[1]));  // the sign of a NaN may differ
}

static void powers_of_two_are_those_of_torchao_0_18(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(torchao_powers); i++) {
        static const int64_t block[2] = {1, 4};
        qdq_graph *g = qdq_graph_create("powers", NULL);
        qdq_dynamic_quantize_attrs a = {.scheme = torchao_powers[i].scheme,
                                        .quantize = {.dtype = torchao_powers[i].y,
                                                     .qtype = QDQ_PER_GROUP,
                                                     .group_shape = {block, 2}}};
        qdq_value y = qdq_dynamic_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 4)), a);
        uint8_t codes[4], scale;
        float x[4];
        floats_of(torchao_powers[i].elements, 4, x);
        qdq_output(g, "y", y);
        qdq_output(g, "s", qdq_port(g, y, "scale"));
        run(g, x, 4, 2, (void *const[]){codes, &scale});
        if (scale != torchao_powers[i].scale) fail_msg("row %zu: the scale is %d", i, scale);
        for (size_t k = 0; k < 4; k++)
            if (!same_code(torchao_powers[i].y, codes[k], torchao_powers[i].codes[k]))
                fail_msg("row %zu: code %zu is %02X", i, k, codes[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_computed_in_the_dtype_of_x),
        cmocka_unit_test(codes_are_cast_as_x86_casts_them),
        cmocka_unit_test(casts_are_those_of_pytorch_on_x86),
        cmocka_unit_test(powers_of_two_are_those_of_torchao_0_18),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
