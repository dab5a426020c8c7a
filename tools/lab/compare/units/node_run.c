// SPDX-License-Identifier: Apache-2.0
// Runs a single node of a graph on given data.
#include "tools/lab/compare/units/node_run.h"

#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/common.h"
#include "tools/failure.h"

node_value node_value_of(const qdq_graph *graph, qdq_value value) {
    node_value v = {.value = value, .info.name = qdq_value_name(graph, value)};
    if (qdq_value_type(graph, value, &v.info.dtype, &v.info.shape))
        v.info.bytes = qdq_shape_count(v.info.shape) * qdq_dtype_size(v.info.dtype);
    return v;
}

static bool has_value(const node_value *values, size_t count, qdq_value value) {
    for (size_t i = 0; i < count; i++)
        if (values[i].value.id == value.id) return true;
    return false;
}

qdq_status node_open(node_run *node, const qdq_graph *graph, size_t index,
                     const qdq_exec_options *exec_options, const char *isa, qdq_error *err) {
    qdq_node_info info = qdq_graph_node(graph, index);
    *node = (node_run){.exec_options = *exec_options, .isa = isa};
    node->graph = qdq_graph_extract(graph, index, NULL, err);
    if (!node->graph) return err->status;
    node->inputs = calloc(info.input_count + 1, sizeof *node->inputs);
    node->outputs = calloc(info.output_count + 1, sizeof *node->outputs);
    if (!node->inputs || !node->outputs) {
        err->status = QDQ_ERR_MEMORY;
        snprintf(err->text, sizeof err->text, "no memory for node '%s'", info.name);
        return err->status;
    }
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_value value = qdq_graph_node_input(graph, index, i);
        if (value.id && !qdq_value_is_constant(graph, value) &&
            !has_value(node->inputs, node->input_count, value))
            node->inputs[node->input_count++] = node_value_of(graph, value);
    }
    for (size_t i = 0; i < info.output_count; i++)
        node->outputs[node->output_count++] =
            node_value_of(graph, qdq_graph_node_output(graph, index, i));
    return QDQ_OK;
}

void node_close(node_run *node) {
    qdq_graph_destroy(node->graph);
    free(node->inputs);
    free(node->outputs);
}

//---- Running ----------------------------------------------------------------

// Binds the inputs and outputs of the node, which the plan has in the same order.
static qdq_status bind(qdq_exec *exec, const qdq_plan *plan, void *const *inputs,
                       void *const *outputs, qdq_error *err) {
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        if (qdq_exec_bind(exec, info->name, inputs[i], info->bytes, err) != QDQ_OK)
            return err->status;
    }
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_output(plan, i);
        if (qdq_exec_bind(exec, info->name, outputs[i], info->bytes, err) != QDQ_OK)
            return err->status;
    }
    return QDQ_OK;
}

qdq_status node_compile(node_program *program, qdq_graph *graph, const qdq_numerics *numerics,
                        const qdq_exec_options *exec_options, const char *isa, qdq_error *err) {
    qdq_compile_options compile = {
        .target = "core", .numerics = numerics, .isa = isa, .layout = QDQ_PLAN_ROWS};
    *program = (node_program){.plan = qdq_graph_compile(graph, &compile, err)};
    program->exec = qdq_exec_create(program->plan, exec_options, err);
    return err->status;
}

qdq_status node_program_run(const node_program *program, void *const *inputs, void *const *outputs,
                            qdq_error *err) {
    qdq_status status = bind(program->exec, program->plan, inputs, outputs, err);
    if (status == QDQ_OK) qdq_exec_run(program->exec);
    return status;
}

void node_program_close(node_program *program) {
    qdq_exec_destroy(program->exec);
    qdq_plan_destroy(program->plan);
    *program = (node_program){0};
}

int node_compute(const node_run *node, const qdq_numerics *numerics, void *const *inputs,
                 void *const *outputs) {
    qdq_error err = {0};
    node_program program;
    if (node_compile(&program, node->graph, numerics, &node->exec_options, node->isa, &err) ==
        QDQ_OK)
        (void)node_program_run(&program, inputs, outputs, &err);
    node_program_close(&program);
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}
