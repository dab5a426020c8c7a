// SPDX-License-Identifier: Apache-2.0
// Graphs made from a graph keep its states: they run from frame to frame as the graph does.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// next = sum + x, and y = ReLU(next); `sum` is the state, which begins with 10 and -10.
static qdq_graph *running_sum(void) {
    static const float first[2] = {10.0F, -10.0F};
    qdq_graph *g = qdq_graph_create("sums", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2)),
              sum = qdq_input(g, "sum", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_value next = qdq_add(g, sum, x, (qdq_binary_attrs){.name = "next"});
    qdq_output(g, "y", qdq_relu(g, next, (qdq_unary_attrs){.name = "r"}));
    qdq_output(g, "sum/next", next);
    qdq_state(g, sum, "sum/next", first);
    return g;
}

// Runs two frames with x = 1 and checks y of the second: 12 and 0, and the state.
static void assert_runs(qdq_graph *g) {
    qdq_error err = {0};
    const float x[2] = {1.0F, 1.0F};
    float y[2], sum[2];
    assert_int_equal(qdq_graph_state_count(g), 1);
    assert_string_equal(qdq_graph_state(g, 0)->input, "sum");
    assert_string_equal(qdq_graph_state(g, 0)->output, "sum/next");
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_exec_first_states(exec, g, &err), QDQ_OK);
    for (int frame = 0; frame < 2; frame++) {
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 2, &err), QDQ_OK);
        qdq_exec_run(exec);
        if (!frame) assert_int_equal(qdq_exec_next_states(exec, g, &err), QDQ_OK);
    }
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, 2, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "sum/next", QDQ_FLOAT32, sum, 2, &err), QDQ_OK);
    assert_true(y[0] == 12.0F && y[1] == 0.0F && sum[0] == 12.0F && sum[1] == -8.0F);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static void the_graph_that_a_target_runs_keeps_states(void **state) {
    (void)state;
    static const char *const targets[] = {"core", "ort", "litert"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        qdq_graph *g = running_sum();
        assert_runs(qdq_graph_deployed(g, targets[i], NULL));
        qdq_graph_destroy(g);
    }
}

static void a_graph_between_two_targets_keeps_states(void **state) {
    (void)state;
    static const char *const causes[] = {"table"};
    qdq_graph *g = running_sum();
    assert_runs(qdq_graph_deployed_between(g, "core", "litert", causes, 1, NULL));
    qdq_graph_destroy(g);
}

static void a_mended_graph_keeps_states(void **state) {
    (void)state;
    qdq_graph *g = running_sum();
    assert_runs(qdq_graph_mended(g, "ttnn", NULL));
    qdq_graph_destroy(g);
}

static void a_graph_with_codes_keeps_states(void **state) {
    (void)state;
    qdq_graph *g = running_sum();
    const qdq_node_port reader = {0, 1};
    qdq_coding coding = {.value = qdq_graph_find(g, "x"), .readers = &reader, .reader_count = 1};
    coding.attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
    assert_int_equal(qdq_graph_node_count(q), 4);
    assert_runs(q);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_that_a_target_runs_keeps_states),
        cmocka_unit_test(a_graph_between_two_targets_keeps_states),
        cmocka_unit_test(a_mended_graph_keeps_states),
        cmocka_unit_test(a_graph_with_codes_keeps_states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
