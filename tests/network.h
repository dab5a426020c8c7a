// SPDX-License-Identifier: Apache-2.0
// Runs a graph in every mode (rows, tiles, materialized, threads, instruction sets) and checks that
// all modes give the same bits. For tests of neural-network ops.
#ifndef QDQ_TESTS_NETWORK_H
#define QDQ_TESTS_NETWORK_H

#include <qdq/qdq.h>

#include "tests/unit.h"

typedef struct network_tensor {
    const char *name;
    qdq_dtype dtype;
    void *data;
    size_t count;
} network_tensor;

static inline void network_run_once(qdq_graph *g, const qdq_compile_options *compile,
                                    const qdq_exec_options *options, const network_tensor *inputs,
                                    size_t input_count, const network_tensor *output) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, compile, &err);
    if (!plan) print_error("%s\n", err.text);
    assert_non_null(plan);
    qdq_exec *exec = qdq_exec_create(plan, options, &err);
    assert_non_null(exec);
    for (size_t i = 0; i < input_count; i++)
        assert_int_equal(qdq_exec_write(exec, inputs[i].name, inputs[i].dtype, inputs[i].data,
                                        inputs[i].count, &err),
                         QDQ_OK);
    qdq_exec_run(exec);
    qdq_exec_run(exec);  // the second run must see the inputs again
    assert_int_equal(
        qdq_exec_read(exec, output->name, output->dtype, output->data, output->count, &err),
        QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

// Leaves the result in output->data, and fails unless tiles, materializing, three threads and every
// instruction set of this machine give the same bits.
static inline void network_run(qdq_graph *g, const network_tensor *inputs, size_t input_count,
                               network_tensor output) {
    size_t bytes = output.count * qdq_dtype_size(output.dtype);
    qdq_compile_options rows = {.layout = QDQ_PLAN_ROWS};
    network_run_once(g, &rows, NULL, inputs, input_count, &output);
    void *first = output.data;
    output.data = malloc(bytes + 1);
    assert_non_null(output.data);
    qdq_exec_options poisoned = {.poison = true};
    qdq_exec_options parallel = {.parallel = qdq_parallel_openmp(3)};
    parallel.parallel.least = 0;
    qdq_compile_options compile = {.materialize = true};
    network_run_once(g, &compile, &poisoned, inputs, input_count, &output);
    assert_memory_equal(first, output.data, bytes);
    network_run_once(g, &compile, &parallel, inputs, input_count, &output);
    assert_memory_equal(first, output.data, bytes);
    network_run_once(g, &rows, &parallel, inputs, input_count, &output);
    assert_memory_equal(first, output.data, bytes);
    compile = (qdq_compile_options){.layout = QDQ_PLAN_TILES};
    network_run_once(g, &compile, &parallel, inputs, input_count, &output);
    assert_memory_equal(first, output.data, bytes);
    for (size_t i = 0; qdq_isa_get(i).name; i++) {
        if (!qdq_isa_get(i).available) continue;
        rows.isa = qdq_isa_get(i).name;
        network_run_once(g, &rows, NULL, inputs, input_count, &output);
        assert_memory_equal(first, output.data, bytes);
    }
    free(output.data);
}

// Fails unless the first finding of the graph is of `rule` and its message contains `words`.
// Destroys the graph.
static inline void network_refuses(qdq_graph *g, const char *rule, const char *words) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(g, NULL, &err);
    assert_non_null(report);
    assert_true(report->count > 0);
    const char *message = report->findings[0].message;
    assert_string_equal(report->findings[0].rule, rule);
    if (!strstr(message, words)) print_error("%s\n", message);
    assert_non_null(strstr(message, words));
    qdq_graph_destroy(g);
}

#endif
