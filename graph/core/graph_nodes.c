// SPDX-License-Identifier: Apache-2.0
// Adds nodes to a graph: copies the attributes, names the node, connects its inputs, checks it by
// the description of its op, and adds its outputs as values.
#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/core/names.h"
#include "graph/core/output_tensor.h"
#include "graph/core/target.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/profile.h"
#include "runtime/numerics/dtype.h"

// Copies a list into the pool. A list without data gets count 0.
static const void *copy_list(qdq_graph *graph, const void *data, size_t *count, size_t size) {
    if (!data) *count = 0;
    return data ? qdq_mempool_copy(&graph->mempool, data, *count, size) : NULL;
}

// True if a struct of `size` bytes can be read: an older one ends between two fields, and a newer
// one has only zeros beyond the fields that are known here.
static bool fits_struct(const qdq_op *op, const char *attrs, size_t size) {
    for (size_t i = op->attrs_size; i < size; i++)
        if (attrs[i]) return false;
    return qdq_op_has_whole_fields(op, size);
}

// Copies an op's attribute struct and everything it points to into the pool. NULL if memory runs
// out, or if the struct belongs to another op.
static void *copy_attrs(qdq_graph *graph, const qdq_op *op, const void *attrs, size_t size) {
    if (attrs && !fits_struct(op, attrs, size)) {
        qdq_fail(&graph->broken, QDQ_ERR_ARGUMENT,
                 "attrs of %s have %zu bytes, wanted %zu; pass sizeof of the struct of the op, by "
                 "the header of this library",
                 op->name, size, op->attrs_size);
        return NULL;
    }
    char *copy = qdq_mempool_array(&graph->mempool, op->attrs_size, 1);
    if (!copy) return NULL;
    if (attrs) memcpy(copy, attrs, size < op->attrs_size ? size : op->attrs_size);
    for (size_t i = 0; i < op->attr_count; i++) {
        void *field = copy + op->attrs[i].offset;
        if (op->attrs[i].kind == QDQ_ATTR_INTS) {
            qdq_ints *list = field;
            list->data = copy_list(graph, list->data, &list->count, sizeof *list->data);
        } else if (op->attrs[i].kind == QDQ_ATTR_FLOATS) {
            qdq_floats *list = field;
            list->data = copy_list(graph, list->data, &list->count, sizeof *list->data);
        } else if (op->attrs[i].kind == QDQ_ATTR_NUMBERS) {
            qdq_numbers *list = field;
            list->data = copy_list(graph, list->data, &list->count, sizeof *list->data);
        }
    }
    const qdq_port_desc *last = &op->inputs[op->input_count - 1];
    if (op->variadic) {
        qdq_values *list = (void *)(copy + last->offset);
        list->data = copy_list(graph, list->data, &list->count, sizeof *list->data);
    }
    return graph->mempool.failed ? NULL : copy;
}

// Returns the given name of a node, or a name such as "Quantize_7" with the first free number.
static const char *node_name(qdq_graph *graph, const qdq_op *op, const char *given) {
    if (given && *given) {
        qdq_graph_check_name(graph, given, "node");
        return qdq_mempool_strdup(&graph->mempool, given);
    }
    char name[QDQ_MAX_NAME_BYTES + 1];
    size_t i = graph->node_count;
    do snprintf(name, sizeof name, "%s_%zu", op->name, i++);
    while (!qdq_graph_node_name_is_free(graph, op, name));
    if (given)  // findings call the node by the name that it has now
        qdq_graph_report_core(graph, QDQ_RULE_NAME_FORM,
                              (qdq_subject){name, op->name, "name", NULL}, "is empty",
                              "NULL, or 1 to 255 bytes of UTF-8");
    return qdq_mempool_strdup(&graph->mempool, name);
}

static qdq_maker maker_of(const qdq_graph *graph, const qdq_graph_value *v) {
    if (v->kind != QDQ_VALUE_MADE || v->node >= graph->node_count) return (qdq_maker){0};
    const qdq_node *node = &graph->nodes[v->node];
    const qdq_graph_value *x = qdq_graph_value_at(graph, node->inputs[0]);
    return (qdq_maker){node->op, node->attrs, x ? x->type.dtype : QDQ_DTYPE_NONE};
}

qdq_operand qdq_graph_operand(const qdq_graph *graph, const qdq_node *node, size_t input) {
    const qdq_graph_value *v = qdq_graph_value_at(graph, node->inputs[input]);
    if (!v) return (qdq_operand){0};
    return (qdq_operand){.given = true,
                         .valid = v->valid,
                         .type = v->type,
                         .data = v->data,
                         .stored = v->stored,
                         .constant = v->constant,
                         .initial = v->kind == QDQ_VALUE_CONSTANT || v->folded,
                         .maker = maker_of(graph, v)};
}

static qdq_operand input_beyond(const qdq_op_context *ctx, size_t input) {
    return qdq_graph_operand(ctx->source, ctx->source_node, input);
}

void qdq_graph_context(const qdq_graph *graph, const qdq_node *node, qdq_findings *findings,
                       qdq_op_context *ctx) {
    *ctx = (qdq_op_context){.input_beyond = input_beyond, .source = graph, .source_node = node};
    ctx->op = node->op;
    ctx->node = node->name;
    ctx->attrs = node->attrs;
    ctx->findings = findings;
    ctx->opset = graph->opset;
    ctx->open_sizes = graph->open_dims >> 2 != 0;
    ctx->dtype_filled = node->dtype_filled || node->dtype_kept;
    ctx->input_count = node->input_count;
    ctx->output_count = node->output_count;
    for (size_t i = 0; i < node->input_count && i < QDQ_MAX_PORTS; i++)
        ctx->inputs[i] = qdq_graph_operand(graph, node, i);
    for (size_t i = 0; i < node->output_count; i++) {
        // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an output is one of the values
        ctx->outputs[i] = graph->values[node->outputs[i]].type;
        ctx->returned |= graph->values[node->outputs[i]].returned;
    }
}

// Collects the values of all ports, variadic ports expanded.
static bool list_inputs(qdq_graph *graph, qdq_node *node) {
    const qdq_op *op = node->op;
    const qdq_port_desc *last = &op->inputs[op->input_count - 1];
    size_t single = op->input_count - (op->variadic ? 1 : 0);
    const qdq_values *list = (const void *)((const char *)node->attrs + last->offset);
    size_t more = op->variadic ? list->count : 0;
    node->input_count = more || !op->variadic ? single + more : single + 1;
    node->inputs = qdq_mempool_array(&graph->mempool, node->input_count, sizeof *node->inputs);
    if (!node->inputs) return false;
    for (size_t i = 0; i < single; i++)
        memcpy(&node->inputs[i], (char *)node->attrs + op->inputs[i].offset, sizeof(qdq_value));
    if (more) memcpy(node->inputs + single, list->data, more * sizeof *node->inputs);
    return true;
}

static void connect(qdq_graph *graph, qdq_node *node) {
    for (size_t i = 0; i < node->input_count; i++) {
        const qdq_port_desc *port = qdq_op_port(node->op, i);
        qdq_graph_value *v = qdq_graph_value_at(graph, node->inputs[i]);
        if (v) {
            v->uses++;
            if (qdq_ports_have(node->op, node->op->looks_at, i) && v->stored && v->valid &&
                !qdq_graph_load_value(graph, v) && graph->failure->status)
                qdq_fail(&graph->broken, graph->failure->status, "%s", graph->failure->text);
        } else if (node->inputs[i].id) {
            qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN,
                                  (qdq_subject){node->name, node->op->name, port->name, NULL},
                                  "is a value of another graph", "one of this graph");
            node->inputs[i] = qdq_graph_add_invalid(graph, NULL);
        }
    }
}

// Adds the output values of a node. Each is called "node.port", and the first also has the node's
// name.
static void add_outputs(qdq_graph *graph, qdq_node *node, const qdq_op_context *ctx) {
    qdq_subject subject = {node->name, node->op->name, NULL, NULL};
    bool constant = true;
    bool folded = graph->folds_constants && strcmp(node->op->name, "Dequantize") != 0;
    for (size_t i = 0; i < node->input_count; i++) {
        qdq_operand input = qdq_input_at(ctx, i);
        constant &= !input.given || input.constant;
        folded &= !input.given || input.initial;
    }
    node->output_count = ctx->output_count;
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_graph_value value = {.kind = QDQ_VALUE_MADE,
                                 .valid = node->valid,
                                 .type = ctx->outputs[i],
                                 .node = graph->node_count,
                                 .port = i,
                                 .constant = constant,
                                 .folded = folded};
        size_t length = strlen(node->name) + strlen(node->op->outputs[i].name) + 2;
        char *full = qdq_mempool_array(&graph->mempool, length, 1);
        if (!full) return;
        snprintf(full, length, "%s.%s", node->name, node->op->outputs[i].name);
        value.name = i == 0 ? node->name : full;
        if (value.valid)
            value.valid = qdq_graph_check_type(
                graph, value.type,
                (qdq_subject){node->name, node->op->name, node->op->outputs[i].name, NULL});
        node->outputs[i] = qdq_graph_add_value(graph, value);
        if (!node->outputs[i]) return;
        qdq_graph_enter_name(graph, value.name, node->outputs[i], subject);
    }
}

qdq_value qdq_graph_add_node(qdq_graph *graph, const qdq_op *op, const void *attrs,
                             size_t attrs_size) {
    if (!qdq_graph_is_healthy(graph)) return (qdq_value){0};
    qdq_node node = {.op = op, .attrs = copy_attrs(graph, op, attrs, attrs_size)};
    if (!node.attrs) return (qdq_value){0};
    const char *given;
    memcpy(&given, node.attrs, sizeof given);  // every attribute struct begins with the name
    node.name = node_name(graph, op, given);
    if (!node.name) return (qdq_value){0};
    memcpy(node.attrs, &node.name, sizeof node.name);
    if (!list_inputs(graph, &node)) return (qdq_value){0};
    connect(graph, &node);
    qdq_graph_connect_output_tensor(graph, &node);
    qdq_op_context ctx;
    qdq_graph_context(graph, &node, &graph->findings, &ctx);
    node.dtype_filled = qdq_target_fill_dtype(graph->own, &ctx, node.attrs);
    node.inferred = op->complete && op->complete(&ctx, node.attrs, &graph->mempool);
    node.valid = qdq_op_check(&ctx);
    if (node.valid && strcmp(graph->own_target, graph->target) != 0)
        node.dtype_kept = qdq_target_keep_dtype(&ctx, node.attrs);
    for (size_t i = 0; i < node.input_count; i++)
        node.valid &= !qdq_input_at(&ctx, i).given || qdq_input_at(&ctx, i).valid;
    add_outputs(graph, &node, &ctx);
    qdq_node *nodes = qdq_mempool_grow(&graph->mempool, graph->nodes, graph->node_count,
                                       &graph->node_capacity, sizeof *nodes);
    if (!nodes || !qdq_graph_is_healthy(graph)) return (qdq_value){0};
    graph->nodes = nodes;
    nodes[graph->node_count++] = node;
    return (qdq_value){node.outputs[0]};
}

static void report_unknown_op(qdq_graph *graph, const char *name, const char *op) {
    qdq_findings *f = &graph->findings;
    qdq_subject subject = {name, NULL, "op", NULL};
    if (qdq_op_is_lacked(op))
        qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_OP_UNKNOWN],
                       (qdq_subject){name, NULL, NULL, NULL},
                       qdq_text(f, "this build of qdq has no op '%s'", op), NULL,
                       QDQ_BUILD_WITH("-Dprofile=full"));
    else
        qdq_report_near(f, QDQ_RULE_OP_UNKNOWN, subject, qdq_text(f, "is '%.64s'", op),
                        "a known op", qdq_op_meant(op));
}

qdq_value qdq_add_node(qdq_graph *graph, const char *op_name, const void *attrs,
                       size_t attrs_size) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph) return (qdq_value){0};
    const qdq_op *op = op_name ? qdq_op_find(op_name) : NULL;
    if (op) return qdq_graph_add_node(graph, op, attrs, attrs_size);
    const char *name = NULL;
    if (attrs && attrs_size >= sizeof name) memcpy(&name, attrs, sizeof name);
    report_unknown_op(graph, name, op_name ? op_name : "");
    return qdq_graph_add_invalid(graph, name);
}
