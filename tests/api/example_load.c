// SPDX-License-Identifier: Apache-2.0
// The C program of docs/c.md. It includes installed headers only.
// clang-format off
#include <qdq/qdq.h>
#include <stdio.h>

int main(int argc, char **argv) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_load(argc > 1 ? argv[1] : "graph.json", NULL, &err);
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);  // NULL if anything before failed
    if (!exec) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    if (qdq_exec_fill(exec, g, 1, &err)) {  // or qdq_exec_write, qdq_exec_bind
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    qdq_exec_run(exec);                             // allocates nothing and cannot fail
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *y = qdq_plan_output(plan, i);
        printf("%s: %s, %zu bytes\n", y->name, qdq_dtype_name(y->dtype), y->bytes);
    }
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
    return 0;
}
