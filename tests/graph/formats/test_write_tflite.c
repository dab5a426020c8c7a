// SPDX-License-Identifier: Apache-2.0
// Writing TensorFlow Lite models: failing allocations, equal bytes, and refusals. Operators are
// tested by tests/cli/test_cli_tflite_write.py. Usage: test_write_tflite MODEL
#include <qdq/qdq.h>
#include <unistd.h>

#include "graph/formats/tflite/write/tflite_write.h"
#include "tests/unit.h"

static const char *model;

static qdq_graph *load(const char *path, const qdq_allocator *allocator, qdq_error *err) {
    qdq_graph_options options = {.allocator = allocator};
    return qdq_graph_load(path, &options, err);
}

// Makes a file below /tmp, whose name ends in .tflite.
static void new_path(char path[64]) {
    strcpy(path, "/tmp/qdq-write-XXXXXX.tflite");
    int descriptor = mkstemps(path, 7);
    assert_true(descriptor >= 0);
    close(descriptor);
}

// Reads a whole file; the caller frees it.
static unsigned char *read_file(const char *path, size_t *count) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    *count = (size_t)ftell(stream);
    rewind(stream);
    unsigned char *bytes = malloc(*count + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *count, stream), *count);
    fclose(stream);
    return bytes;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    char out[64];
    bool done = false;
    new_path(out);
    for (size_t n = 1; !done; n++) {
        unit_memory memory;
        qdq_error err = {0};
        qdq_graph *graph = load(model, unit_memory_init(&memory, n), &err);
        if (graph) done = qdq_graph_write(graph, out, &err) == QDQ_OK;
        if (!done) assert_int_equal(err.status, QDQ_ERR_MEMORY);
        qdq_graph_destroy(graph);
        unit_memory_check(&memory);
    }
    unlink(out);
}

static void a_model_that_was_written_is_written_with_the_same_bytes(void **state) {
    (void)state;
    char first[64], second[64];
    size_t one, two;
    qdq_error err = {0};
    new_path(first);
    new_path(second);
    qdq_graph *graph = load(model, NULL, &err);
    assert_int_equal(qdq_graph_write(graph, first, &err), QDQ_OK);
    qdq_graph *again = load(first, NULL, &err);
    assert_non_null(again);
    assert_int_equal(qdq_graph_write(again, second, &err), QDQ_OK);
    unsigned char *a = read_file(first, &one), *b = read_file(second, &two);
    assert_int_equal(one, two);
    assert_memory_equal(a, b, one);
    assert_memory_equal(a + 4, "TFL3", 4);
    free(a);
    free(b);
    qdq_graph_destroy(again);
    qdq_graph_destroy(graph);
    unlink(first);
    unlink(second);
}

static void nodes_that_the_format_lacks_are_refused_with_the_first_finding(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *graph = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(graph, "x", QDQ_FLOAT32, (qdq_shape){2, {2, 3}});
    qdq_output(graph, "y",
               qdq_gen_index(graph, x, (qdq_gen_index_attrs){.name = "index", .axis = QDQ_INT(1)}));
    qdq_output(graph, "z",
               qdq_clamp(graph, x,
                         (qdq_clamp_attrs){.name = "c", .min = QDQ_FLOAT(0), .max = QDQ_FLOAT(3)}));
    assert_int_equal(qdq_graph_write(graph, "/nowhere/g.tflite", &err), QDQ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "node 'index': GenIndex: is no operator that is written"));
    assert_non_null(strstr(err.text, "and 1 more"));
    const qdq_report *report = qdq_graph_validate_tflite(graph, &err);
    assert_non_null(report);
    assert_int_equal(report->errors, 2);
    assert_string_equal(report->findings[1].found, "has the bounds 0 and 3");
    assert_int_equal(qdq_graph_write_whole(graph, "g.tflite", 0, &err), QDQ_ERR_ARGUMENT);
    qdq_graph_destroy(graph);
}

static void a_folder_that_takes_no_file_is_an_error(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *graph = load(model, NULL, &err);
    assert_int_equal(qdq_graph_write(graph, "/nowhere/g.tflite", &err), QDQ_ERR_IO);
    assert_non_null(strstr(err.text, "/nowhere/g.tflite: its folder takes no new file"));
    qdq_graph_destroy(graph);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_model_that_was_written_is_written_with_the_same_bytes),
        cmocka_unit_test(nodes_that_the_format_lacks_are_refused_with_the_first_finding),
        cmocka_unit_test(a_folder_that_takes_no_file_is_an_error),
    };
    assert_int_equal(argc, 2);
    model = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
