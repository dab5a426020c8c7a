// SPDX-License-Identifier: Apache-2.0
// Reads the constants of emitted C, and computes the results that depend on constants alone.
#include "graph/compile/lower.h"
#include "graph/formats/c/c_graph.h"
#include "include/qdq/exec.h"
#include "include/qdq/inspect.h"
#include "runtime/base/size.h"

qdq_status qdq_c_no_memory(qdq_error *err) {
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory while writing C");
}

// Reads the constants that nodes of a run read, and lists the results that nodes compute from
// constants.
static qdq_status read_constants(qdq_c_draft *d, const char **names, size_t *count,
                                 qdq_error *err) {
    for (size_t i = 1; i < d->graph->value_count; i++) {
        if (d->values[i].kind != QDQ_C_CONSTANT) continue;
        const qdq_graph_value *v = &d->graph->values[i];
        if (v->kind == QDQ_VALUE_MADE) {
            names[(*count)++] = v->name;
            continue;
        }
        d->values[i].data = qdq_value_data(d->graph, (qdq_value){(uint32_t)i});
        if (d->values[i].data) continue;
        const qdq_error *failure = d->graph->failure;
        if (failure && failure->status) return qdq_fail(err, failure->status, "%s", failure->text);
        return qdq_c_no_memory(err);
    }
    return QDQ_OK;
}

static qdq_status read_made(qdq_c_draft *d, const qdq_exec *exec, qdq_error *err) {
    for (size_t i = 1; i < d->graph->value_count; i++) {
        const qdq_graph_value *v = &d->graph->values[i];
        if (d->values[i].kind != QDQ_C_CONSTANT || v->kind != QDQ_VALUE_MADE) continue;
        void *data = qdq_mempool_array(d->mempool, qdq_c_bytes_of(d->graph, i), 1);
        if (!data) return qdq_c_no_memory(err);
        QDQ_TRY(
            qdq_exec_read(exec, v->name, v->type.dtype, data, qdq_shape_count(v->type.shape), err));
        d->values[i].data = data;
    }
    return QDQ_OK;
}

static bool is_folded(const qdq_c_draft *d, const qdq_node *node) {
    for (size_t i = 0; i < node->output_count; i++)
        if (d->values[node->outputs[i]].kind == QDQ_C_CONSTANT) return true;
    return false;
}

// Adds the operations of a node that is compiled alone.
static qdq_status add_operations(const qdq_c_draft *d, size_t index, size_t *total,
                                 qdq_error *err) {
    const qdq_graph_options silent = {
        .allocator = d->graph->allocator, .limits = d->graph->limits, .target = d->graph->target};
    qdq_graph *alone = qdq_graph_extract(d->graph, index, &silent, err);
    qdq_plan *plan = alone ? qdq_graph_compile(alone, NULL, err) : NULL;
    qdq_graph_destroy(alone);
    if (!plan) return err->status;
    *total = qdq_size_add(*total, qdq_plan_get_stats(plan).operations);
    qdq_plan_destroy(plan);
    return QDQ_OK;
}

// Refuses constants that take more operations than a plan may fold, or than the caller allows.
static qdq_status check_operations(const qdq_c_draft *d, qdq_error *err) {
    const qdq_graph *graph = d->graph;
    size_t most = qdq_fold_operations(graph), total = 0;
    if (graph->limits.operations != SIZE_MAX && graph->limits.operations > most)
        most = graph->limits.operations;
    for (size_t i = 0; i < graph->node_count && total <= most; i++) {
        if (!is_folded(d, &graph->nodes[i])) continue;
        QDQ_TRY(add_operations(d, i, &total, err));
        if (total > most)
            return qdq_fail(err, QDQ_ERR_LIMIT,
                            "values that depend on constants alone take %zu operations up to node "
                            "'%s', wanted at most %zu; store them as constants, or raise "
                            "--max-operations",
                            total, graph->nodes[i].name, most);
    }
    return QDQ_OK;
}

qdq_status qdq_c_set_constants(qdq_c_draft *d, qdq_error *err) {
    const char **names = qdq_mempool_array(d->mempool, d->graph->value_count, sizeof *names);
    size_t count = 0;
    if (!names) return qdq_c_no_memory(err);
    QDQ_TRY(read_constants(d, names, &count, err));
    if (!count) return QDQ_OK;
    QDQ_TRY(check_operations(d, err));
    const qdq_device *none = qdq_device_find("none", err);
    qdq_plan *plan = qdq_graph_compile(
        d->graph, &(qdq_compile_options){.keep = names, .keep_count = count, .device = none}, err);
    qdq_exec *exec = plan ? qdq_exec_create(plan, NULL, err) : NULL;
    qdq_status status = exec ? QDQ_OK : err->status;
    if (exec) {
        qdq_exec_run(exec);
        status = read_made(d, exec, err);
    }
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    return status;
}
