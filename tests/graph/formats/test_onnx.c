// SPDX-License-Identifier: Apache-2.0
// Reading ONNX models: failing allocations, broken files, limits, and shapes that the options give.
// The results of models are tested by tests/onnx/test_onnx.py. Usage: test_onnx MODELS_DIR
#include <qdq/qdq.h>

#include "graph/core/graph.h"
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
    qdq_input_shape shape = {.name = "x", .shape = QDQ_SHAPE(4, 5)},
                    other = {.name = "z", .shape = QDQ_SHAPE(1), .tentative = true};
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

//---- Many inputs --------------------------------------------------------------

// Bytes that were asked for, freed ones too.
typedef struct counted_memory {
    qdq_allocator allocator;
    size_t bytes;
} counted_memory;

static void *counted_alloc(void *self, size_t size, size_t align) {
    void *memory = NULL;
    ((counted_memory *)self)->bytes += size;
    assert_int_equal(posix_memalign(&memory, align < 64 ? 64 : align, size), 0);
    return memory;
}

static void counted_free(void *self, void *memory, size_t size) {
    (void)self, (void)size;
    free(memory);
}

// A model whose only node, a Concat along dim 0, has `count` inputs x of shape [1], in bytes from
// malloc: lengths of the graph and of the node have four bytes.
static unsigned char *concat_model(size_t count, size_t *length) {
    static const unsigned char head[] = {0x08, 8, 0x42, 2, 0x10, 13, 0x3A};
    static const unsigned char tail[] = "\x12\1y\x22\6Concat\x2A\x0B\x0A\4axis\x18\0\xA0\1\2";
    static const unsigned char ends[] = "\x5A\x0F\x0A\1x\x12\x0A\x0A\x08\x08\1\x12\4\x0A\2\x08\1"
                                        "\x62\3\x0A\1y";
    const size_t node = 3 * count + sizeof tail - 1, graph = 5 + node + sizeof ends - 1;
    const size_t lengths[] = {graph, node};
    unsigned char *bytes = malloc(sizeof head + 4 + graph), *to = bytes;
    memcpy(to, head, sizeof head), to += sizeof head;
    for (int i = 0; i < 2; i++) {
        if (i == 1) *to++ = 0x0A;
        for (size_t b = 0; b < 4; b++)
            *to++ = (unsigned char)((lengths[i] >> 7 * b & 127) | (size_t)(b < 3) << 7);
    }
    for (size_t i = 0; i < count; i++, to += 3) memcpy(to, "\x0A\1x", 3);
    memcpy(to, tail, sizeof tail - 1), to += sizeof tail - 1;
    memcpy(to, ends, sizeof ends - 1), to += sizeof ends - 1;
    *length = (size_t)(to - bytes);
    return bytes;
}

static void a_concat_of_many_inputs_takes_memory_for_each_once(void **state) {
    (void)state;
    enum { COUNT = 20000, MOST_FOR_EACH = 500 };
    counted_memory memory = {.allocator = {counted_alloc, counted_free, &memory}};
    qdq_graph_options options = {.allocator = &memory.allocator};
    qdq_error err = {0};
    size_t length;
    qdq_shape shape;
    unsigned char *bytes = concat_model(COUNT, &length);
    qdq_graph *graph = qdq_graph_parse((const char *)bytes, length, "m.onnx", NULL, &options, &err);
    assert_string_equal(err.text, "");
    assert_true(qdq_value_type(graph, qdq_output_value(graph, "y"), NULL, &shape));
    assert_true(qdq_shape_equal(shape, QDQ_SHAPE(COUNT)));
    assert_in_range(memory.bytes, 1, COUNT * MOST_FOR_EACH);
    qdq_graph_destroy(graph);
    free(bytes);
}

int main(int argc, char **argv) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(a_model_with_any_byte_changed_is_read_or_refused),
        cmocka_unit_test(limits_bound_the_values_and_bytes_of_a_model),
        cmocka_unit_test(graphs_within_graphs_have_a_limit),
        cmocka_unit_test(a_concat_of_many_inputs_takes_memory_for_each_once),
        cmocka_unit_test(options_give_the_dims_that_a_model_leaves_open),
        cmocka_unit_test(names_that_graphs_do_not_allow_are_changed),
    };
    if (argc != 2) return 2;
    models = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
