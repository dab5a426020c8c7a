// SPDX-License-Identifier: Apache-2.0
// A libFuzzer target: reads any bytes as a graph file. A graph that loads is checked for every
// target, compiled in every mode and, within a limit of operations, run. Nothing may crash, leak or
// take long.
#include <qdq/qdq.h>

#include "tests/fuzz/fuzz.h"

static void run_plan(qdq_graph *graph, const qdq_compile_options *options) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(graph, options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (exec) qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const qdq_compile_options ways[] = {{0}, {.fast = true}, {.materialize = true}};
    qdq_graph_options options = {
        .limits = {
            .elements = 1 << 16, .bytes = 1 << 22, .json_values = 10000, .operations = 1 << 22}};
    qdq_error err = {0};
    fuzz_bound_growth(size, 1 << 23, 256);
    qdq_graph *graph = qdq_graph_parse((const char *)data, size, "fuzz.json", NULL, &options, &err);
    fuzz_free_growth();
    for (size_t t = 0; graph && t < qdq_target_count(); t++)
        (void)qdq_graph_validate(graph, qdq_target_get(t).name, &err);
    for (size_t i = 0; graph && i < sizeof ways / sizeof ways[0]; i++) run_plan(graph, &ways[i]);
    qdq_graph_destroy(graph);
    return 0;
}
