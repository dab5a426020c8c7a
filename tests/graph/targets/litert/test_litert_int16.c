// SPDX-License-Identifier: Apache-2.0
// ADD, SUB and MUL of 16-bit codes by targets litert and tflm, whose engines agree on recorded
// results.
#include "tests/network.h"

static const char *const targets[] = {"litert@reference", "litert@builtin-x86", "tflm",
                                      "litert@builtin-arm64", "litert@xnnpack-x86"};
enum { ENGINES = sizeof targets / sizeof *targets, COUNT = 10 };

static qdq_value dequantize(qdq_graph *g, const char *name, float scale) {
    qdq_value x = qdq_input(g, name, QDQ_INT16, QDQ_SHAPE(COUNT));
    return qdq_dequantize(
        g, x, (qdq_dequantize_attrs){.scales = {&scale, 1, true}, .dtype = QDQ_FLOAT32});
}

// Computes a op b of scales 0.5 and 0.25, and compares codes of y.
static void compare(const char *op, bool clips, float scale, const int16_t *wanted) {
    static const int16_t a[] = {-32768, 32767, -3, 3, -1, 1, -1, 123, -20000, 30000},
                         b[] = {-32768, 32767, 2, 1, 2, 2, 6, -67, 20000, -3};
    for (int i = 0; i < ENGINES; i++) {
        int16_t x[2][COUNT], y[COUNT];
        memcpy(x[0], a, sizeof a);
        memcpy(x[1], b, sizeof b);
        network_tensor in[] = {{"a", QDQ_INT16, x[0], COUNT}, {"b", QDQ_INT16, x[1], COUNT}};
        qdq_graph *g = qdq_graph_create("g", NULL);
        qdq_binary_attrs attrs = {.a = dequantize(g, "a", 0.5f), .b = dequantize(g, "b", 0.25f)};
        qdq_value v = qdq_add_node(g, op, &attrs, sizeof attrs);
        if (clips) v = qdq_relu6(g, v, (qdq_unary_attrs){0});
        qdq_output(g, "y",
                   qdq_quantize(g, v,
                                (qdq_quantize_attrs){
                                    .name = "q", .scales = {&scale, 1, true}, .dtype = QDQ_INT16}));
        qdq_error err = {0};
        qdq_graph *deployed = qdq_graph_deployed(g, targets[i], &err);
        if (!deployed) print_error("%s\n", err.text);
        assert_non_null(deployed);
        network_run(deployed, in, 2, (network_tensor){"y", QDQ_INT16, y, COUNT});
        assert_memory_equal(y, wanted, sizeof y);
        qdq_graph_destroy(deployed);
        qdq_graph_destroy(g);
    }
}

static void sums_and_differences(void **state) {
    (void)state;
    static const int16_t sums[] = {-16384, 16384, -1, 1, 0, 1, 1, 30, -3333, 10000},
                         differences[] = {-5461, 5461, -1, 1, -1, 0, -1, 52, -10000, 10001},
                         clipped[] = {0, 4, 0, 1, 0, 1, 1, 4, 0, 4};
    compare("Add", false, 1.5f, sums);
    compare("Subtract", false, 1.5f, differences);
    compare("Add", true, 1.5f, clipped);
}

static void products(void **state) {
    (void)state;
    static const int16_t wanted[] = {32767, 32767, -2, 1, -1, 1, -2, -2060, -32768, -22500},
                         clipped[] = {12, 12, 0, 1, 0, 1, 0, 0, 0, 0};
    compare("Multiply", false, 0.5f, wanted);
    compare("Multiply", true, 0.5f, clipped);
}

// Scales that are powers of two leave open which kernel a model asks for.
static void sums_by_shifts_are_unknown(void **state) {
    (void)state;
    qdq_error err = {0};
    const float scale = 2;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value v =
        qdq_add(g, dequantize(g, "a", 0.5f), dequantize(g, "b", 0.25f), (qdq_binary_attrs){0});
    qdq_output(
        g, "y",
        qdq_quantize(g, v, (qdq_quantize_attrs){.scales = {&scale, 1, true}, .dtype = QDQ_INT16}));
    qdq_graph *deployed = qdq_graph_deployed(g, targets[0], &err);
    assert_non_null(deployed);
    assert_int_equal(qdq_graph_node_count(deployed), qdq_graph_node_count(g));
    qdq_graph_destroy(deployed);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_differences),
        cmocka_unit_test(products),
        cmocka_unit_test(sums_by_shifts_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
