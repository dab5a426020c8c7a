// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the QLinear ops: scalars, and running a graph as each CPU computes it.
#ifndef QDQ_TESTS_OPS_QLINEAR_RUN_H
#define QDQ_TESTS_OPS_QLINEAR_RUN_H

#include "tests/network.h"

static inline qdq_value qlinear_scale(qdq_graph *g, const char *name, float scale) {
    return qdq_constant(g, name, QDQ_FLOAT32, (qdq_shape){0}, &scale);
}

static inline qdq_value qlinear_zero(qdq_graph *g, const char *name, qdq_dtype dtype, int zero) {
    const uint8_t byte = (uint8_t)zero;
    return qdq_constant(g, name, dtype, (qdq_shape){0}, &byte);
}

// Leaves the result of the form in output.data, and fails unless three threads, and every
// instruction set of this machine, give the same.
static inline void qlinear_run(qdq_graph *g, qdq_qlinear_form form, const network_tensor *inputs,
                               size_t input_count, network_tensor output) {
    const qdq_numerics numerics = {.qlinear = form};
    qdq_compile_options compile = {.numerics = &numerics};
    qdq_exec_options parallel = {.parallel = qdq_parallel_openmp(3), .poison = true};
    size_t bytes = output.count * qdq_dtype_size(output.dtype);
    parallel.parallel.least = 0;
    network_run_once(g, &compile, NULL, inputs, input_count, &output);
    void *first = output.data;
    output.data = malloc(bytes);
    assert_non_null(output.data);
    network_run_once(g, &compile, &parallel, inputs, input_count, &output);
    assert_memory_equal(first, output.data, bytes);
    for (size_t i = 0; qdq_isa_get(i).name; i++) {
        if (!qdq_isa_get(i).available) continue;
        compile.isa = qdq_isa_get(i).name;
        network_run_once(g, &compile, NULL, inputs, input_count, &output);
        assert_memory_equal(first, output.data, bytes);
    }
    free(output.data);
}

#endif
