// SPDX-License-Identifier: Apache-2.0
// libFuzzer: any bytes as a graph file. What loads is checked, written through the planner both
// ways and, if small, run; nothing may crash, leak or take long.
#include <qdq/qdq.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run_plan(qdq_graph *graph, bool materialize) {
    qdq_compile_options options = {.materialize = materialize};
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(graph, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (exec) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    qdq_graph_options options = {
        .limits = {.elements = 1 << 16, .bytes = 1 << 22, .json_values = 10000}};
    qdq_error err = {0};
    qdq_graph *graph = qdq_graph_parse((const char *)data, size, "fuzz.json", NULL, &options, &err);
    if (graph) {
        (void)qdq_graph_validate(graph, NULL, &err);
        run_plan(graph, false);
        run_plan(graph, true);
    }
    qdq_graph_destroy(graph);
    return 0;
}
