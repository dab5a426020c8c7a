// SPDX-License-Identifier: Apache-2.0
// Writing a graph and reading it back gives the same graph.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

// Every op, kind of attribute, kind of value and dtype, and a constant that is too large for the
// JSON.
static qdq_graph *full_graph(void) {
    static float large[64 * 65];
    for (int i = 0; i < 64 * 65; i++) large[i] = (float)(i - 2000) * 0.37f;
    qdq_graph *g = qdq_graph_create("all \"of\" it", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 65));
    qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(64, 65), large);
    qdq_value odd = qdq_constant(g, "odd", QDQ_FLOAT32, QDQ_SHAPE(3),
                                 (const float[]){INFINITY, -INFINITY, 0.1f});
    qdq_value s = qdq_constant(g, "s", QDQ_BFLOAT16, (qdq_shape){0}, (const uint16_t[]){0x3E80});
    qdq_value z = qdq_constant(g, "z", QDQ_UINT8, QDQ_SHAPE(1), (const uint8_t[]){129});
    qdq_value q = qdq_quantize(
        g, w,
        (qdq_quantize_attrs){.name = "q.uoted",
                             .qtype = QDQ_PER_GROUP,
                             .group_shape = QDQ_INTS(-1, 13),
                             .scales = QDQ_SCALES(0.1f, 1e-30f, 3.0f, 0.333333343f, 16777216.0f),
                             .zps = QDQ_ZPS(1, -2, 3, 0, 127),
                             .quant_min = QDQ_INT(-100),
                             .quant_max = QDQ_INT(0)});
    qdq_value r = qdq_requantize(g, q,
                                 (qdq_requantize_attrs){.name = "r",
                                                        .in_scales = QDQ_SCALE(0.1f),
                                                        .in_zps = QDQ_ZP(-2147483648.0),
                                                        .out_scales = QDQ_SCALE(7),
                                                        .qtype = QDQ_QTYPE(QDQ_PER_TENSOR),
                                                        .dtype = QDQ_INT32});
    qdq_value d =
        qdq_dequantize(g, r, (qdq_dequantize_attrs){.name = "d", .scale = s, .dtype = QDQ_FLOAT32});
    qdq_value y =
        qdq_dynamic_quantize(g, d,
                             (qdq_dynamic_quantize_attrs){.quantize = {.name = "dyn",
                                                                       .dtype = QDQ_UINT8,
                                                                       .qtype = QDQ_PER_CHANNEL,
                                                                       .axis = QDQ_INT(0)},
                                                          .scheme = QDQ_SYMMETRIC,
                                                          .eps = QDQ_FLOAT(1e-7)});
    qdq_value e =
        qdq_dequantize(g, y,
                       (qdq_dequantize_attrs){.name = "e",
                                              .qtype = QDQ_PER_CHANNEL,
                                              .axis = QDQ_INT(0),
                                              .scale = qdq_port(g, y, "scale"),
                                              .zero_point = qdq_port(g, y, "zero_point")});
    qdq_value f = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "f", .scale = s, .zero_point = z, .dtype = QDQ_UINT8});
    qdq_output(g, "e", e), qdq_output(g, "f", f), qdq_output(g, "odd", odd);
    qdq_output(g, "scale", qdq_port(g, y, "scale"));
    return g;
}

static char *run_to_text(qdq_graph *g, size_t *bytes) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    assert_string_equal(err.text, "");
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    float x[64 * 65];
    for (int i = 0; i < 64 * 65; i++) x[i] = (float)(i % 97) - 48.5f;
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 64 * 65, &err), QDQ_OK);
    qdq_exec_run(exec);
    *bytes = 0;
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        *bytes += qdq_plan_output(plan, i)->bytes;
    char *all = malloc(*bytes), *at = all;
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *out = qdq_plan_output(plan, i);
        assert_int_equal(
            qdq_exec_read(exec, out->name, out->dtype, at, qdq_shape_count(out->shape), &err),
            QDQ_OK);
        at += out->bytes;
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    return all;
}

static void a_graph_survives_the_round_trip_bit_for_bit(void **state) {
    (void)state;
    char first[256], second[256];
    size_t n, m;
    qdq_error err = {0};
    qdq_graph *g = full_graph();
    assert_int_equal(qdq_graph_write(g, unit_path(first, "a.json"), &err), QDQ_OK);
    qdq_graph *back = qdq_graph_load(first, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_graph_validate(back, NULL, NULL)->errors, 0);
    assert_string_equal(qdq_graph_name(back), "all \"of\" it");
    char *results = run_to_text(g, &n), *again = run_to_text(back, &m);
    assert_int_equal(n, m);
    assert_memory_equal(results, again, n);
    free(results), free(again);

    assert_int_equal(qdq_graph_write(back, unit_path(second, "a2.json"), &err), QDQ_OK);
    char *text = unit_read(first, &n), *text_again = unit_read(second, &m);
    char *name = strstr(text_again, "a2.safetensors");
    assert_non_null(name);
    memmove(name + 1, name + 2, strlen(name + 2) + 1);  // removes the only difference
    assert_string_equal(text, text_again);
    free(text), free(text_again);
    assert_int_equal(unit_folder_count(), 4);  // no partly written file is left
    qdq_graph_destroy(g), qdq_graph_destroy(back);
}

static void a_graph_with_errors_is_not_written(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    (void)qdq_quantize(g, (qdq_value){0}, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)});
    assert_int_equal(qdq_graph_write(g, unit_path(path, "bad.json"), &err), QDQ_ERR_GRAPH);
    assert_int_equal(access(path, F_OK), -1);
    qdq_graph_destroy(g);
}

static void a_failed_write_leaves_the_old_file(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = full_graph();
    assert_int_equal(qdq_graph_write(g, "/nowhere/a.json", &err), QDQ_ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/a"));
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_graph_survives_the_round_trip_bit_for_bit,
                                        unit_folder_begin, unit_folder_end),
        cmocka_unit_test_setup_teardown(a_graph_with_errors_is_not_written, unit_folder_begin,
                                        unit_folder_end),
        cmocka_unit_test(a_failed_write_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
