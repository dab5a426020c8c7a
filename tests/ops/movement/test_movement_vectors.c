// SPDX-License-Identifier: Apache-2.0
// Movement ops give the results of ONNX's reference evaluator, in every mode, also in tiles.
#include "tests/network.h"

enum { MOST = 256, INPUTS = 3 };

typedef struct vector {
    const char *graph;  // JSON with ' for "
    double in[INPUTS][MOST], want[MOST];
    size_t count;
    qdq_dtype dtype;  // of the result
} vector;

static const vector vectors[] = {
#include "movement_vectors.h"
};

// Numbers to elements; all of the vectors are whole.
static void put(qdq_dtype dtype, const double *numbers, void *out, size_t count) {
    for (size_t i = 0; i < count; i++) {
        float real = (float)numbers[i];
        int64_t whole = (int64_t)numbers[i];
        size_t size = qdq_dtype_size(dtype);
        memcpy((char *)out + i * size, dtype == QDQ_FLOAT32 ? (void *)&real : &whole, size);
    }
}

static void check(const vector *v) {
    static char json[4096], data[INPUTS][MOST * 8], want[MOST * 8], got[MOST * 8];
    static const char *const ports[] = {"x", "indices", "updates", "value", "values"};
    qdq_error err = {0};
    size_t length = strlen(v->graph), bytes = v->count * qdq_dtype_size(v->dtype), count = 0;
    for (size_t i = 0; i <= length; i++) json[i] = (char)(v->graph[i] == '\'' ? '"' : v->graph[i]);
    qdq_graph *g = qdq_graph_parse(json, length, "vector", NULL, NULL, &err);
    if (!g) fail_msg("%s: %s", v->graph, err.text);
    network_tensor in[INPUTS];
    for (size_t i = 0; i < UNIT_COUNT(ports); i++) {
        network_tensor t = {ports[i], QDQ_DTYPE_NONE, data[count], 0};
        qdq_shape shape;
        if (!qdq_value_type(g, qdq_graph_find(g, ports[i]), &t.dtype, &shape)) continue;
        t.count = qdq_shape_count(shape);
        put(t.dtype, v->in[count], t.data, t.count);
        in[count++] = t;
    }
    network_tensor y = {"y", v->dtype, got, v->count};
    put(v->dtype, v->want, want, v->count);
    network_run(g, in, count, y);
    if (memcmp(want, got, bytes) != 0) fail_msg("other results: %s", v->graph);
    network_run_once(g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES}, NULL, in, count, &y);
    if (memcmp(want, got, bytes) != 0) fail_msg("other results in tiles: %s", v->graph);
    qdq_graph_destroy(g);
}

static void movement_ops_give_the_results_of_onnx(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(vectors); i++) check(&vectors[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(movement_ops_give_the_results_of_onnx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
