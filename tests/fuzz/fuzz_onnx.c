// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as an ONNX model, with sizes for its open dims. A model that
// loads is checked for every target, compiled and, within a limit of operations, run.
#include <qdq/qdq.h>

#include "tests/fuzz/fuzz.h"

// The models among the seeds have these inputs.
static qdq_graph *read(const uint8_t *data, size_t size, const qdq_input_shape *shape) {
    qdq_graph_options options = {
        .limits = {.elements = 1 << 16,
                   .bytes = 1 << 22,
                   .json_values = 10000,
                   .operations = 1 << 22},
        .shapes = shape,
        .shape_count = shape ? 1 : 0,
    };
    fuzz_bound_growth(size, 1 << 23, 256);
    qdq_graph *graph = qdq_graph_parse((const char *)data, size, "fuzz.onnx", NULL, &options, NULL);
    fuzz_free_growth();
    return graph;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const qdq_input_shape shapes[] = {
        {"x", {2, {4, 5}}, true}, {"x", {4, {2, 3, 8, 8}}, true}, {"x", {3, {2, 3, 4}}, true}};
    qdq_graph *graph = read(data, size, NULL);
    for (size_t i = 0; !graph && i < sizeof shapes / sizeof shapes[0]; i++)
        graph = read(data, size, &shapes[i]);
    for (size_t t = 0; graph && t < qdq_target_count(); t++)
        (void)qdq_graph_validate(graph, qdq_target_get(t).name, NULL);
    qdq_plan *plan = graph ? qdq_graph_compile(graph, NULL, NULL) : NULL;
    qdq_exec *exec = plan ? qdq_exec_create(plan, NULL, NULL) : NULL;
    if (exec) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(graph);
    return 0;
}
