// SPDX-License-Identifier: Apache-2.0
// Target `torchao` on elements where a simpler formula is wrong, against results of torchao that
// tools/peers/torchao_edges.py wrote.
#include "tests/graph/targets/torchao/torchao_edges.h"

#include "tests/unit.h"

// Runs a graph whose input x has `count` elements, and reads the outputs as float32 or int32.
static void run(qdq_graph *g, const char *target, const float *x, size_t count, size_t outputs,
                void *const *results) {
    qdq_error err = {0};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.target = target, .materialize = materialize};
        qdq_plan *plan = qdq_graph_compile(g, &options, &err);
        qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
        if (!exec) fail_msg("%s", err.text);
        qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, &err);
        qdq_exec_run(exec);
        for (size_t i = 0; i < outputs; i++) {
            const qdq_tensor_info *info = qdq_plan_output(plan, i);
            size_t size = qdq_shape_count(info->shape);
            uint8_t codes[256];
            qdq_exec_read(exec, info->name, info->dtype, codes, size, &err);
            if (qdq_dtype_is_real(info->dtype))
                qdq_widen_float(info->dtype, codes, results[i], size);
            else
                qdq_widen_int(info->dtype, codes, results[i], size);
        }
        if (err.status) fail_msg("%s", err.text);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(g);
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
        qdq_value y = qdq_dynamic_quantize(
            g, qdq_input(g, "x", torchao_choices[i].x, QDQ_SHAPE(2)), a);
        int32_t codes[2], zero_point;
        float scale;
        qdq_output(g, "y", y);
        qdq_output(g, "s", qdq_port(g, y, "scale"));
        qdq_output(g, "z", qdq_port(g, y, "zero_point"));
        run(g, "torchao", torchao_choices[i].elements, 2, 3,
            (void *const[]){codes, &scale, &zero_point});
        if (unit_bits_of_float(scale) != torchao_choices[i].scale ||
            zero_point != torchao_choices[i].zero_point ||
            codes[0] != torchao_choices[i].codes[0] || codes[1] != torchao_choices[i].codes[1])
            fail_msg("row %zu: scale %08X, zero point %d, codes %d and %d", i,
                     unit_bits_of_float(scale), zero_point, codes[0], codes[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_computed_in_the_dtype_of_x),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
