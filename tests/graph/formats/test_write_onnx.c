// SPDX-License-Identifier: Apache-2.0
// Writing ONNX models: failing allocations, and data in another file. The results of written models
// are tested by tests/onnx/test_onnx.py. Usage: test_write_onnx MODELS_DIR
#include <qdq/qdq.h>
#include <unistd.h>

#include "graph/formats/onnx/write/onnx_write.h"
#include "tests/unit.h"

static const char *models;

static const char *const names[] = {"branches",         "convolutions", "dtypes", "external",
                                    "integer_products", "names",        "norms",  "open_sizes",
                                    "shapes",           "slices",       "wide"};

// Loads a model, of which open dims stay open.
static qdq_graph *load(const char *name, const qdq_allocator *allocator, qdq_error *err) {
    static const qdq_dim_size sizes[] = {
        {"batch", 2, true}, {"height", 4, true}, {"rows", 4, true}, {"columns", 5, true}};
    char path[512];
    qdq_graph_options options = {.allocator = allocator,
                                 .dims = sizes,
                                 .dim_count = UNIT_COUNT(sizes),
                                 .keep_open_dims = true};
    snprintf(path, sizeof path, "%s/%s.onnx", models, name);
    return qdq_graph_load(path, &options, err);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char out[64] = "/tmp/qdq-write-onnx-XXXXXX";
    int descriptor = mkstemp(out);
    assert_true(descriptor >= 0);
    close(descriptor);
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        bool done = false;
        for (size_t n = 1; !done; n++) {
            unit_memory memory;
            qdq_error err = {0};
            qdq_graph *graph = load(names[i], unit_memory_init(&memory, n), &err);
            if (graph) done = qdq_onnx_write(graph, out, QDQ_ONNX_MOST_BYTES, &err) == QDQ_OK;
            if (!done) assert_int_equal(err.status, QDQ_ERR_MEMORY);
            qdq_graph_destroy(graph);
            unit_memory_check(&memory);
        }
    }
    unlink(out);
}

// Elements of all dtypes, large ones in a file beside the model, read back.
static void data_that_is_too_long_goes_to_another_file(void **state) {
    (void)state;
    char folder[] = "/tmp/qdq-write-onnx-XXXXXX", out[64], data[80];
    assert_non_null(mkdtemp(folder));
    snprintf(out, sizeof out, "%s/m.onnx", folder);
    snprintf(data, sizeof data, "%s.data", out);
    qdq_error err = {0};
    qdq_graph *graph = load("external", NULL, &err);
    assert_non_null(graph);
    assert_int_equal(qdq_onnx_write(graph, out, 2000, &err), QDQ_OK);
    assert_int_equal(access(data, R_OK), 0);
    qdq_graph *again = qdq_graph_load(out, NULL, &err);
    assert_non_null(again);
    qdq_value w = qdq_graph_find(graph, "w"), same = qdq_graph_find(again, "w");
    qdq_shape shape;
    qdq_dtype dtype;
    assert_true(qdq_value_type(graph, w, &dtype, &shape));
    assert_memory_equal(qdq_value_data(graph, w), qdq_value_data(again, same),
                        qdq_shape_count(shape) * qdq_dtype_size(dtype));
    assert_int_equal(qdq_onnx_write(graph, out, 10, &err), QDQ_ERR_LIMIT);
    qdq_graph_destroy(again);
    qdq_graph_destroy(graph);
    unlink(out);
    unlink(data);
    rmdir(folder);
}

static void open_dims_are_listed_with_the_reasons_of_fixed_ones(void **state) {
    (void)state;
    const qdq_open_dim *dims;
    size_t count;
    qdq_error err = {0};
    qdq_graph *graph = load("convolutions", NULL, &err);
    assert_int_equal(qdq_graph_open_dims(graph, &dims, &count, &err), QDQ_OK);
    assert_int_equal(count, 1);
    assert_string_equal(dims[0].name, "batch");
    assert_int_equal(dims[0].dim, 0);
    assert_int_equal(dims[0].size, 2);
    assert_null(dims[0].fixed_by);
    qdq_graph_destroy(graph);
    graph = load("shapes", NULL, &err);
    assert_int_equal(qdq_graph_open_dims(graph, &dims, &count, &err), QDQ_OK);
    assert_int_equal(count, 2);
    assert_string_equal(dims[0].fixed_by, "constant 'ints' depends on it");
    qdq_graph_destroy(graph);
    graph = load("norms", NULL, &err);
    assert_int_equal(qdq_graph_open_dims(graph, &dims, &count, &err), QDQ_OK);
    assert_int_equal(count, 0);
    qdq_graph_destroy(graph);
}

static void a_graph_that_onnx_lacks_is_refused_with_the_first_finding(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *graph = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(graph, "x", QDQ_FLOAT32, (qdq_shape){2, {2, 3}});
    qdq_output(graph, "y",
               qdq_gen_index(graph, x, (qdq_gen_index_attrs){.name = "index", .axis = QDQ_INT(1)}));
    qdq_output(graph, "z",
               qdq_gen_index(graph, x, (qdq_gen_index_attrs){.name = "other", .axis = QDQ_INT(0)}));
    assert_int_equal(qdq_graph_write(graph, "/nowhere/g.onnx", &err), QDQ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "node 'index': GenIndex: is no op of ONNX"));
    assert_non_null(strstr(err.text, "and 1 more"));
    const qdq_report *report = qdq_graph_validate_onnx(graph, &err);
    assert_non_null(report);
    assert_int_equal(report->errors, 2);
    qdq_graph_destroy(graph);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(data_that_is_too_long_goes_to_another_file),
        cmocka_unit_test(open_dims_are_listed_with_the_reasons_of_fixed_ones),
        cmocka_unit_test(a_graph_that_onnx_lacks_is_refused_with_the_first_finding),
    };
    models = argc > 1 ? argv[1] : "tests/onnx/models";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
