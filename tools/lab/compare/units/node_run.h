// SPDX-License-Identifier: Apache-2.0
// A single node of a graph, to run on any data and under any numerics.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_NODE_RUN_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_NODE_RUN_H

#include <qdq/base.h>
#include <qdq/exec.h>

// A value of the complete graph that the node reads or writes.
typedef struct node_value {
    qdq_value value;
    qdq_tensor_info info;
} node_value;

node_value node_value_of(const qdq_graph *graph, qdq_value value);

typedef struct node_run {
    qdq_graph *graph;  // graph of this node only
    qdq_exec_options exec_options;
    const char *isa;
    node_value *inputs, *outputs;  // distinct values, without constants
    size_t input_count, output_count;
} node_run;

// Extracts node `index` from a graph. Close it in either case.
qdq_status node_open(node_run *node, const qdq_graph *graph, size_t index,
                     const qdq_exec_options *exec_options, const char *isa, qdq_error *err);
void node_close(node_run *node);

// A node that is compiled once and run often.
typedef struct node_program {
    qdq_plan *plan;
    qdq_exec *exec;
} node_program;

// Compiles a graph of one node under some numerics. Close it in either case.
qdq_status node_compile(node_program *program, qdq_graph *graph, const qdq_numerics *numerics,
                        const qdq_exec_options *exec_options, const char *isa, qdq_error *err);
// Runs the program. `inputs` and `outputs`: row-major memory of its values.
qdq_status node_program_run(const node_program *program, void *const *inputs, void *const *outputs,
                            qdq_error *err);
void node_program_close(node_program *program);

// Compiles the node and runs it once. `inputs` and `outputs`: row-major memory of its values.
// EXIT_OK, or another exit code after a message.
int node_compute(const node_run *node, const qdq_numerics *numerics, void *const *inputs,
                 void *const *outputs);

#endif
