// SPDX-License-Identifier: Apache-2.0
// Reading ONNX models: failing allocations, broken files, limits, and shapes that the options give.
// The results of models are tested by tests/onnx/test_onnx.py. Usage: test_onnx MODELS_DIR
#include <qdq/qdq.h>

#include "graph/graph.h"
#include "tests/unit.h"

static const char *models;

static const char *const names[] = {
    "bounds",   "branches",  "constants",        "dtypes", "elementwise", "empty_ports",
    "external", "functions", "integer_products", "moves",  "names",       "opset7",
    "places",   "quantized", "refused",          "wide",   "unsorted",    "cycle",
};

static const char *model_path(char out[512], const char *name) {
    snprintf(out, 512, "%s/%s.onnx", models, name);
    return out;
}

static char *read_model(const char *name, size_t *length) {
    char path[512];
    FILE *file = fopen(model_path(path, name), "rb");
    assert_non_null(file);
    char *bytes = malloc(1 << 20);
    *length = fread(bytes, 1, 1 << 20, file);
    fclose(file);
    return bytes;
}

//---- Memory -----------------------------------------------------------------

static void every_allocation_may_fail(void **state) {
    (void)state;
    char path[512];
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        bool done = false;
        for (size_t n = 1; !done; n++) {
            unit_memory memory;
            qdq_error err = {0};
            qdq_graph_options options = {.allocator = unit_memory_init(&memory, n)};
            qdq_graph *graph = qdq_graph_load(model_path(path, names[i]), &options, &err);
            done = graph != NULL;
            if (!done) assert_int_equal(err.status, QDQ_ERR_MEMORY);
            qdq_graph_destroy(graph);
            unit_memory_check(&memory);
        }
    }
}

//---- Broken files -----------------------------------------------------------

static void parse(const char *bytes, size_t length, unsigned *graphs) {
    qdq_error err = {0};
    qdq_graph_options options = {.limits = {.elements = 1 << 16, .bytes = 1 << 22}};
    qdq_graph *graph = qdq_graph_parse(bytes, length, "m.onnx", NULL, &options, &err);
    *graphs += graph != NULL;
    if (graph)
        (void)qdq_graph_validate(graph, NULL, NULL);
    else
        assert_int_not_equal(err.status, QDQ_OK);
    qdq_graph_destroy(graph);
}

static void a_model_with_any_byte_changed_is_read_or_refused(void **state) {
    (void)state;
    static const unsigned char changes[] = {0x01, 0x08, 0x80, 0xFF};
    unsigned graphs = 0;
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        size_t length;
        char *bytes = read_model(names[i], &length);
        for (size_t at = 2; at < length; at++) {
            if (unit_left_out(at)) continue;
            for (size_t c = 0; c < sizeof changes; c++) {
                bytes[at] = (char)(bytes[at] ^ changes[c]);
                parse(bytes, length, &graphs);
                bytes[at] = (char)(bytes[at] ^ changes[c]);
            }
            parse(bytes, at, &graphs);
        }
        free(bytes);
    }
    assert_true(graphs > 0);
}

//---- Limits -----------------------------------------------------------------

static void check_refused(const char *name, const qdq_graph_options *options, qdq_status status,
                          const char *words) {
    char path[512];
    qdq_error err = {0};
    assert_null(qdq_graph_load(model_path(path, name), options, &err));
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.text, words));
}

static void limits_bound_the_values_and_bytes_of_a_model(void **state) {
    (void)state;
    qdq_graph_options few = {.limits.json_values = 20}, small = {.limits.file_bytes = 100};
    check_refused("quantized", &few, QDQ_ERR_LIMIT, "the file has more than 20 values");
    check_refused("quantized", &small, QDQ_ERR_LIMIT, "the file has more than 100 bytes");
}

// A message within others: field 7 of a model is a graph, 1 of a graph a node, 5 of a node an
// attribute, 6 of an attribute a graph. Lengths have two bytes.
static void graphs_within_graphs_have_a_limit(void **state) {
    (void)state;
    enum { LEVELS = 100 };
    unsigned char bytes[2 + 3 + 9 * LEVELS];
    size_t at = sizeof bytes;
    for (int level = 0; level <= LEVELS; level++) {
        static const unsigned char keys[] = {0x32, 0x2a, 0x0a};  // of graph, attribute, node
        for (int k = 0; k < (level < LEVELS ? 3 : 1); k++) {
            size_t inner = sizeof bytes - at;
            bytes[--at] = (unsigned char)(inner >> 7);
            bytes[--at] = (unsigned char)(inner | 0x80);
            bytes[--at] = level < LEVELS ? keys[k] : 0x3a;
        }
    }
    bytes[--at] = 8, bytes[--at] = 8;  // the version
    qdq_error err = {0};
    assert_null(qdq_graph_parse((char *)bytes, sizeof bytes, "m", NULL, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_LIMIT);
    assert_non_null(strstr(err.text, "graphs are nested more than"));
}

//---- Shapes -----------------------------------------------------------------

static void options_give_the_dims_that_a_model_leaves_open(void **state) {
    (void)state;
    char path[512];
    check_refused("shapes", NULL, QDQ_ERR_ARGUMENT,
                  "dims of inputs are open: 'x' is [rows, columns]");
    qdq_input_shape shape = {"x", QDQ_SHAPE(4, 5), false}, other = {"z", QDQ_SHAPE(1), true};
    qdq_dim_size dims[] = {{.name = "rows", .size = 4}, {.name = "columns", .size = 5}};
    qdq_input_shape both[] = {other, shape};
    qdq_graph_options by_shape = {.shapes = both, .shape_count = 2};
    qdq_graph_options by_dims = {.dims = dims, .dim_count = 2};
    const qdq_graph_options *ways[] = {&by_shape, &by_dims};
    for (size_t i = 0; i < 2; i++) {
        qdq_graph *graph = qdq_graph_load(model_path(path, "shapes"), ways[i], NULL);
        assert_non_null(graph);
        assert_string_equal(qdq_graph_target(graph), "onnx");
        qdq_shape found;
        assert_true(qdq_value_type(graph, qdq_graph_find(graph, "x"), NULL, &found));
        assert_true(qdq_shape_equal(found, QDQ_SHAPE(4, 5)));
        assert_int_equal(qdq_graph_validate(graph, NULL, NULL)->errors, 0);
        qdq_graph_destroy(graph);
    }
}

static void names_that_graphs_do_not_allow_are_changed(void **state) {
    (void)state;
    char path[512];
    qdq_graph *graph = qdq_graph_load(model_path(path, "names"), NULL, NULL);
    assert_non_null(graph);
    assert_int_not_equal(qdq_graph_find(graph, "x_").id, 0);
    assert_int_not_equal(qdq_graph_find(graph, "a_b").id, 0);
    assert_int_not_equal(qdq_graph_find(graph, "y").id, 0);
    assert_int_equal(qdq_graph_validate(graph, NULL, NULL)->errors, 0);
    qdq_graph_destroy(graph);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_model_with_any_byte_changed_is_read_or_refused),
        cmocka_unit_test(limits_bound_the_values_and_bytes_of_a_model),
        cmocka_unit_test(graphs_within_graphs_have_a_limit),
        cmocka_unit_test(options_give_the_dims_that_a_model_leaves_open),
        cmocka_unit_test(names_that_graphs_do_not_allow_are_changed),
    };
    if (argc != 2) return 2;
    models = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
