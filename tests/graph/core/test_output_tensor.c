// SPDX-License-Identifier: Apache-2.0
// The attribute output_tensor: reading and writing it, the order of nodes, mistakes, what a device
// allocates, and that no result depends on it.
#include "graph/core/output_tensor.h"
#include "graph/memory/tensor_layouts.h"
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// Node q writes to the output_tensor `named`; node early makes a value that may be named.
static qdq_graph *parse(const char *named, const char *more, qdq_error *err) {
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"format\": \"qdq/1\", \"target\": \"ttnn\", \"inputs\": [{\"name\": \"x\", \"dtype\":"
        " \"float32\", \"shape\": [64, 64]}, {\"name\": \"buffer\", \"dtype\": \"int8\","
        " \"shape\": [64, 64]%s}], \"nodes\": [{\"op\": \"Quantize\", \"name\": \"q\","
        " \"inputs\": {\"x\": \"x\"}, \"attrs\": {\"scales\": 0.5, \"dtype\": \"int8\","
        " \"output_tensor\": %s}}, {\"op\": \"Quantize\", \"name\": \"early\", \"inputs\":"
        " {\"x\": \"x\"}, \"attrs\": {\"scales\": 2, \"dtype\": \"int8\"}}],"
        " \"outputs\": [{\"name\": \"y\", \"value\": \"q\"}]}",
        more, named);
    return qdq_graph_parse(text, strlen(text), "g.json", NULL, NULL, err);
}

static uint32_t output_tensor_of(const qdq_graph *g, const char *node) {
    return qdq_output_tensor_of(&g->nodes[g->values[qdq_graph_find(g, node).id].node]);
}

//---- Files ------------------------------------------------------------------

static void a_file_names_the_value_and_is_written_back(void **state) {
    (void)state;
    char path[256];
    qdq_error err = {0};
    qdq_graph *g = parse("\"buffer\"", "", &err);
    assert_string_equal(err.text, "");
    assert_int_equal(output_tensor_of(g, "q"), qdq_graph_find(g, "buffer").id);
    assert_int_equal(qdq_graph_write(g, unit_path(path, "g.json"), &err), QDQ_OK);
    qdq_graph *back = qdq_graph_load(path, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(output_tensor_of(back, "q"), qdq_graph_find(back, "buffer").id);
    qdq_graph_destroy(g), qdq_graph_destroy(back);
}

static void a_node_follows_the_node_that_makes_its_output_tensor(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("\"early\"", "", &err);
    assert_string_equal(err.text, "");
    assert_string_equal(g->nodes[0].name, "early");
    assert_int_equal(output_tensor_of(g, "q"), qdq_graph_find(g, "early").id);
    qdq_graph_destroy(g);
}

static void wrong_names_are_findings(void **state) {
    static const struct {
        const char *named, *text;
    } cases[] = {
        {"\"bufer\"", "output_tensor names 'bufer', which does not exist; did you mean 'buffer'?"},
        {"\"q\"", "it needs its own result: 'q' <- 'q'; remove one of these edges"},
        {"7", "output_tensor is 7, wanted the name of a value; see `qdq ops Quantize`"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        qdq_graph *g = parse(cases[i].named, "", &err);
        assert_string_equal(err.text, "");
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        assert_int_equal(report->errors, 1);
        assert_non_null(strstr(report->findings[0].message, cases[i].text));
        qdq_graph_destroy(g);
    }
}

//---- C ----------------------------------------------------------------------

static void a_value_of_another_graph_is_a_finding(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "y",
               qdq_quantize(g, x,
                            (qdq_quantize_attrs){
                                .name = "q", .scales = QDQ_SCALE(1), .output_tensor = {99}}));
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_int_equal(report->errors, 1);
    assert_string_equal(report->findings[0].message,
                        "node 'q': Quantize: output_tensor is a value of another graph, wanted one "
                        "of this graph; name an input, a constant, a node, or an output of a node "
                        "as node.port");
    qdq_graph_destroy(g);
}

static void an_extracted_node_has_none(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("\"buffer\"", "", &err);
    for (size_t i = 0; i < 2; i++) {
        qdq_graph *one = qdq_graph_extract(g, i, NULL, &err);
        assert_string_equal(err.text, "");
        assert_int_equal(qdq_output_tensor_of(&one->nodes[0]), 0);
        qdq_graph_destroy(one);
    }
    qdq_graph_destroy(g);
}

//---- Devices ----------------------------------------------------------------

static void a_result_lies_where_its_output_tensor_does(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("\"buffer\"", ", \"memory_config\": {\"buffer_type\": \"L1\"}", &err);
    qdq_mempool mempool;
    qdq_tensor_layouts layouts;
    qdq_mempool_init(&mempool, qdq_allocator_or_default(NULL));
    assert_true(qdq_tensor_layouts_make(g, &mempool, &layouts));
    uint32_t q = qdq_graph_find(g, "q").id, buffer = qdq_graph_find(g, "buffer").id;
    assert_int_equal(qdq_tensor_layout_of(&layouts, q)->memory_config.buffer_type, QDQ_L1);
    assert_int_equal(qdq_tensor_shared_with(g, &layouts, q), buffer);
    qdq_mempool_release(&mempool);
    qdq_graph_destroy(g);
}

static const qdq_device_buffer *buffer_named(const qdq_device_plan *p, const char *name) {
    for (size_t i = 0; i < p->buffer_count; i++)
        if (strcmp(p->buffers[i].name, name) == 0) return &p->buffers[i];
    fail_msg("there is no buffer %s", name);
    return NULL;
}

static void a_device_allocates_nothing_for_the_result(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("\"buffer\"", "", &err);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    assert_string_equal(err.text, "");
    const qdq_device_plan *p = qdq_plan_device(plan);
    assert_int_equal(p->buffer_count, 3);
    assert_int_equal(buffer_named(p, "q")->address, buffer_named(p, "buffer")->address);
    assert_true(buffer_named(p, "q")->view_of != SIZE_MAX);
    assert_true(buffer_named(p, "x")->view_of == SIZE_MAX);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void a_result_has_the_same_elements_and_its_output_tensor_keeps_its_own(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = parse("\"buffer\"", "", &err);
    qdq_output(g, "old", qdq_graph_find(g, "buffer"));
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    static float x[64 * 64];
    static int8_t buffer[64 * 64], old[64 * 64], y[64 * 64];
    for (int i = 0; i < 64 * 64; i++) x[i] = (float)(i % 50), buffer[i] = (int8_t)(i % 7);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 64 * 64, &err);
    qdq_exec_write(exec, "buffer", QDQ_INT8, buffer, 64 * 64, &err);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", QDQ_INT8, y, 64 * 64, &err);
    qdq_exec_read(exec, "old", QDQ_INT8, old, 64 * 64, &err);
    assert_string_equal(err.text, "");
    for (int i = 0; i < 64 * 64; i++) assert_int_equal(y[i], 2 * (i % 50));
    assert_memory_equal(old, buffer, sizeof old);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_names_the_value_and_is_written_back,
                                        unit_folder_begin, unit_folder_end),
        cmocka_unit_test(a_node_follows_the_node_that_makes_its_output_tensor),
        cmocka_unit_test(wrong_names_are_findings),
        cmocka_unit_test(a_value_of_another_graph_is_a_finding),
        cmocka_unit_test(an_extracted_node_has_none),
        cmocka_unit_test(a_result_lies_where_its_output_tensor_does),
        cmocka_unit_test(a_device_allocates_nothing_for_the_result),
        cmocka_unit_test(a_result_has_the_same_elements_and_its_output_tensor_keeps_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
