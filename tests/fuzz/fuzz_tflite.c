// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a TensorFlow Lite model, from memory and from a file. A
// model that loads is checked for every target and for writing, compiled and, within a limit of
// operations, run.
#include <qdq/qdq.h>

#include "tests/fuzz/fuzz.h"

static qdq_graph *read(const uint8_t *data, size_t size, const char *path) {
    qdq_graph_options options = {
        .limits = {.elements = 1 << 16,
                   .bytes = 1 << 22,
                   .json_values = 10000,
                   .operations = 1 << 22},
    };
    fuzz_bound_growth(size, 1 << 23, 256);
    qdq_graph *graph =
        path ? qdq_graph_load(path, &options, NULL)
             : qdq_graph_parse((const char *)data, size, "fuzz.tflite", NULL, &options, NULL);
    fuzz_free_growth();
    return graph;
}

static void use(qdq_graph *graph) {
    for (size_t t = 0; graph && t < qdq_target_count(); t++)
        (void)qdq_graph_validate(graph, qdq_target_get(t).name, NULL);
    if (graph) (void)qdq_graph_validate_tflite(graph, NULL);
    qdq_plan *plan = graph ? qdq_graph_compile(graph, NULL, NULL) : NULL;
    qdq_exec *exec = plan ? qdq_exec_create(plan, NULL, NULL) : NULL;
    if (exec) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    use(read(data, size, NULL));
    if (size) use(read(data, size, fuzz_file(data, size)));
    return 0;
}
