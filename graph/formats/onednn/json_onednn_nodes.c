// SPDX-License-Identifier: Apache-2.0
// Turns the ops of a oneDNN Graph file into nodes: the first input tensor goes to the first port,
// and so on.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "graph/formats/json/json_nesting.h"
#include "graph/formats/onednn/json_onednn.h"

//---- Inputs -----------------------------------------------------------------

// Reads the shape of an input, as its first reader declares it. For more than 8 dims only the rank
// is kept; the graph then refuses it.
static qdq_status read_shape(const qdq_onednn *file, const qdq_onednn_tensor *tensor,
                             qdq_shape *shape) {
    const qdq_onednn_op *op = &file->ops[tensor->reader];
    const qdq_json_item *list = qdq_json_find(tensor->json, "shape");
    *shape = (qdq_shape){0};
    if (!list || !qdq_json_is_array(list))
        return qdq_onednn_fail(file, op, "has %s as shape of input %zu, wanted a list of dims",
                               list ? qdq_json_kind_text(list) : "nothing", tensor->port);
    QDQ_JSON_EACH(json, list) {
        int64_t dim;
        if (!qdq_json_int64(json, &dim))
            return qdq_onednn_fail(file, op,
                                   "has %s in the shape of input %zu, wanted whole numbers",
                                   qdq_json_kind_text(json), tensor->port);
        if (dim == INT64_MIN)
            return qdq_onednn_fail(
                file, op,
                "reads tensor %" PRIu64
                ", which no op makes and which has an unknown shape (input %zu); "
                "write its dims",
                tensor->id, tensor->port);
        if (shape->rank < QDQ_MAX_RANK) shape->dims[shape->rank] = dim;
        shape->rank++;
    }
    return QDQ_OK;
}

static qdq_status add_input(const qdq_onednn *file, qdq_onednn_tensor *tensor) {
    const qdq_onednn_op *op = &file->ops[tensor->reader];
    qdq_dtype dtype;
    qdq_shape shape;
    char name[32];
    QDQ_TRY(qdq_onednn_dtype(file, op, "input", tensor->port, tensor->json, &dtype));
    if (dtype == QDQ_DTYPE_NONE)
        return qdq_onednn_fail(file, op,
                               "reads tensor %" PRIu64
                               ", which no op makes and which has no dtype (input %zu); write it",
                               tensor->id, tensor->port);
    QDQ_TRY(read_shape(file, tensor, &shape));
    snprintf(name, sizeof name, "t%" PRIu64, tensor->id);
    tensor->value = qdq_input(file->r->graph, name, dtype, shape);
    return QDQ_OK;
}

// Adds an input for every tensor that no op computes, in the order in which ops read them.
static qdq_status add_inputs(const qdq_onednn *file) {
    for (size_t i = 0; i < file->tensor_count; i++)
        if (file->tensors[i].maker == QDQ_ONEDNN_NOTHING)
            QDQ_TRY(add_input(file, &file->tensors[i]));
    return QDQ_OK;
}

//---- Nodes ------------------------------------------------------------------

// Reports all unknown kinds before any other mistake, because they explain why loading fails.
static void report_unknown_kinds(const qdq_onednn *file) {
    for (size_t i = 0; i < file->op_count; i++) {
        const qdq_onednn_op *op = &file->ops[i];
        if (op->op || op->is_end) continue;
        qdq_graph_report_core(file->r->graph, QDQ_RULE_OP_UNSUPPORTED,
                              (qdq_subject){.node = op->name, .op = op->kind}, "is not supported",
                              NULL);
    }
}

static qdq_value input_of(const qdq_onednn *file, const qdq_onednn_op *op, size_t i) {
    return file->tensors[op->tensors[i]].value;
}

static qdq_onednn_tensor *output_of(const qdq_onednn *file, const qdq_onednn_op *op, size_t i) {
    return &file->tensors[op->tensors[op->input_count + i]];
}

// Adds invalid values for the outputs of an op that cannot be added.
static void add_invalid(const qdq_onednn *file, const qdq_onednn_op *op) {
    qdq_graph *graph = file->r->graph;
    for (size_t i = 0; i < op->input_count; i++) qdq_graph_note_use(graph, input_of(file, op, i));
    (void)qdq_graph_add_invalid(graph, op->name);
    for (size_t i = 0; i < op->output_count; i++)
        output_of(file, op, i)->value = qdq_graph_add_invalid(graph, NULL);
}

// Connects tensors to ports; a variadic last port takes all that are left. False for too many.
static bool read_ports(const qdq_onednn *file, const qdq_onednn_op *op, char *fields) {
    const qdq_op *to = op->op;
    qdq_findings *f = &file->r->graph->findings;
    size_t single = to->input_count - (to->variadic ? 1 : 0), count = op->input_count;
    qdq_value *values = qdq_mempool_array(file->r->mempool, count, sizeof *values);
    if (!values) return false;  // the pool records that memory ran out
    for (size_t i = 0; i < count; i++) values[i] = input_of(file, op, i);
    for (size_t i = 0; i < count && i < single; i++)
        memcpy(fields + to->inputs[i].offset, &values[i], sizeof *values);
    if (to->variadic && count > single) {
        qdq_values rest = {values + single, count - single};
        memcpy(fields + to->inputs[single].offset, &rest, sizeof rest);
    }
    if (to->variadic || count <= single) return true;
    qdq_graph_report_core(file->r->graph, QDQ_RULE_PORT_UNKNOWN,
                          (qdq_subject){.node = op->name, .op = to->name},
                          qdq_text(f, "has %zu inputs", count), qdq_text(f, "at most %zu", single));
    return false;
}

// Reports an output that is declared with another dtype than the op returns.
static void check_dtype(const qdq_onednn *file, const qdq_onednn_op *op, size_t output,
                        qdq_dtype declared) {
    qdq_graph *graph = file->r->graph;
    qdq_dtype made;
    qdq_shape shape;
    if (declared == QDQ_DTYPE_NONE ||
        !qdq_value_type(graph, output_of(file, op, output)->value, &made, &shape) ||
        made == declared)
        return;
    qdq_subject subject = {op->name, op->op->name, op->op->outputs[output].name, NULL};
    qdq_graph_report_core(
        graph, QDQ_RULE_DTYPE_RESULT, subject,
        qdq_text(&graph->findings, "is declared as %s", qdq_dtype_name(declared)),
        qdq_text(&graph->findings, "%s, which the op makes", qdq_dtype_name(made)));
}

// Connects the newest node's results to the tensors that the op lists.
static void take_outputs(const qdq_onednn *file, const qdq_onednn_op *op,
                         const qdq_dtype *declared) {
    qdq_graph *graph = file->r->graph;
    const qdq_node *node = &graph->nodes[graph->node_count - 1];
    qdq_findings *f = &graph->findings;
    for (size_t i = 0; i < op->output_count; i++) {
        qdq_onednn_tensor *tensor = output_of(file, op, i);
        if (i >= node->output_count) {
            tensor->value = qdq_graph_add_invalid(graph, NULL);
            continue;
        }
        tensor->value = (qdq_value){node->outputs[i]};
        check_dtype(file, op, i, declared[i]);
    }
    if (op->output_count > node->output_count && node->valid)
        qdq_graph_report_core(graph, QDQ_RULE_PORT_UNKNOWN,
                              (qdq_subject){.node = op->name, .op = op->op->name},
                              qdq_text(f, "lists %zu outputs", op->output_count),
                              qdq_text(f, "at most %zu, as it makes", node->output_count));
}

static qdq_status add_known(const qdq_onednn *file, const qdq_onednn_op *op) {
    const qdq_reader *r = file->r;
    char *fields = qdq_mempool_array(r->mempool, op->op->attrs_size, 1);
    qdq_dtype *declared = qdq_mempool_array(r->mempool, op->output_count + 1, sizeof *declared);
    if (!fields || !declared) return qdq_fail_memory(r->err, op->op->attrs_size);
    size_t i = 0;
    QDQ_JSON_EACH(json, op->outputs) {
        QDQ_TRY(qdq_onednn_dtype(file, op, "output", i, json, &declared[i]));
        i++;
    }
    memcpy(fields, &op->name, sizeof op->name);
    bool fine = read_ports(file, op, fields);
    fine = qdq_onednn_read_attrs(file, op, declared[0], fields) && fine;
    if (r->mempool->failed) return qdq_fail_memory(r->err, op->op->attrs_size);
    if (!fine) {
        add_invalid(file, op);
        return QDQ_OK;
    }
    size_t before = r->graph->node_count;
    qdq_value y = qdq_graph_add_node(r->graph, op->op, fields, op->op->attrs_size);
    qdq_json_check_qtype(r->graph, y, op->attrs);
    if (r->graph->node_count > before) take_outputs(file, op, declared);
    return QDQ_OK;  // otherwise memory ran out, and the graph records it
}

//---- Outputs ----------------------------------------------------------------

static void add_output(const qdq_onednn *file, const qdq_onednn_tensor *tensor) {
    char name[32];
    snprintf(name, sizeof name, "t%" PRIu64, tensor->id);
    if (tensor->value.id) qdq_output(file->r->graph, name, tensor->value);
}

// Adds an output for each tensor that no op reads or that an End reads, in the order of the file.
static void add_outputs(const qdq_onednn *file) {
    for (size_t i = 0; i < file->tensor_count; i++) {
        const qdq_onednn_tensor *tensor = &file->tensors[i];
        if (tensor->ended || (!tensor->used && tensor->maker != QDQ_ONEDNN_NOTHING))
            add_output(file, tensor);
    }
}

qdq_status qdq_onednn_add(qdq_onednn *file, const uint32_t *order) {
    report_unknown_kinds(file);
    QDQ_TRY(add_inputs(file));
    for (size_t i = 0; i < file->op_count; i++) {
        const qdq_onednn_op *op = &file->ops[order[i]];
        if (op->op)
            QDQ_TRY(add_known(file, op));
        else if (!op->is_end)
            add_invalid(file, op);
    }
    add_outputs(file);
    return QDQ_OK;
}
