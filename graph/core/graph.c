// SPDX-License-Identifier: Apache-2.0
// Builds graphs: adds inputs, constants, nodes and outputs, and reports the errors of each.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "graph/core/names.h"
#include "graph/core/output_tensor.h"
#include "graph/core/target.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/profile.h"
#include "runtime/base/utf8.h"
#include "runtime/numerics/dtype.h"

//---- Life -------------------------------------------------------------------

// False once memory has run out; the graph records that it did.
static bool healthy(qdq_graph *graph) {
    if (graph->mempool.failed)
        qdq_fail(&graph->broken, QDQ_ERR_MEMORY, "out of memory while building the graph");
    return graph->broken.status == QDQ_OK;
}

static void set_up(qdq_graph *graph, const char *name, const qdq_graph_options *options) {
    const char *target = options ? options->target : NULL;
    graph->limits = qdq_limits_or_default(options ? &options->limits : NULL);
    if (options) graph->log = options->log;
    graph->name = qdq_mempool_strdup(&graph->mempool, name ? name : "");
    graph->target_given = target != NULL;
    graph->target = qdq_mempool_strdup(&graph->mempool, target ? target : "core");
    graph->own_target = graph->target;
    graph->file = "";
    graph->findings = (qdq_findings){.mempool = &graph->mempool,
                                     .file = "",
                                     .most = graph->limits.findings,
                                     .original = qdq_value_original,
                                     .output_original = qdq_output_original,
                                     .graph = graph};
    qdq_graph_check_own_name(graph);
    graph->symbols = qdq_symbols_create(graph->allocator, &graph->broken);
    graph->values =
        qdq_mempool_grow(&graph->mempool, NULL, 0, &graph->value_capacity, sizeof(qdq_graph_value));
    graph->value_count = 1;
}

qdq_graph *qdq_graph_new(const char *name, const qdq_graph_options *options) {
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    qdq_graph *graph = qdq_alloc_array(allocator, 1, sizeof *graph, 64);
    if (!graph) return NULL;
    *graph = (qdq_graph){.allocator = allocator};
    qdq_mempool_init(&graph->mempool, allocator);
    qdq_mempool_init(&graph->report_pool, allocator);
    set_up(graph, name, options);
    if (healthy(graph)) return graph;
    qdq_graph_destroy(graph);
    return NULL;
}

void qdq_graph_destroy(qdq_graph *graph) {
    if (!graph) return;
    const qdq_allocator *allocator = graph->allocator;
    qdq_release_files(graph);
    qdq_symbols_destroy(graph->symbols);
    qdq_mempool_release(&graph->report_pool);
    qdq_mempool_release(&graph->mempool);
    qdq_free_array(allocator, graph, 1, sizeof *graph);
}

const char *qdq_graph_name(const qdq_graph *graph) { return graph ? graph->name : ""; }

const char *qdq_graph_target(const qdq_graph *graph) { return graph ? graph->target : "core"; }

void qdq_graph_tell(const qdq_graph *graph, const char *format, ...) {
    if (!graph->log.write) return;
    char text[1024], shown[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    graph->log.write(graph->log.self, qdq_utf8_show(shown, sizeof shown, text, strlen(text)));
}

void qdq_graph_report_core(qdq_graph *graph, qdq_core_rule rule, qdq_subject subject,
                           const char *found, const char *wanted) {
    qdq_report_core(&graph->findings, rule, subject, found, wanted);
}

//---- Values -----------------------------------------------------------------

static qdq_graph_value *value_at(const qdq_graph *graph, qdq_value value) {
    return value.id && value.id < graph->value_count ? &graph->values[value.id] : NULL;
}

static uint32_t add_value(qdq_graph *graph, qdq_graph_value value) {
    qdq_graph_value *values = qdq_mempool_grow(&graph->mempool, graph->values, graph->value_count,
                                               &graph->value_capacity, sizeof *values);
    if (!values || graph->value_count >= UINT32_MAX) {
        (void)healthy(graph);
        return 0;
    }
    graph->values = values;
    values[graph->value_count] = value;
    return (uint32_t)graph->value_count++;
}

static qdq_value add_named(qdq_graph *graph, const char *name, qdq_graph_value value,
                           const char *what) {
    if (!healthy(graph)) return (qdq_value){0};
    qdq_graph_check_name(graph, name, what);
    value.name = qdq_mempool_string(&graph->mempool, name ? name : "", name ? strlen(name) : 0);
    uint32_t id = add_value(graph, value);
    if (id && value.name && *value.name)
        qdq_graph_enter_name(graph, value.name, id, (qdq_subject){.port = what});
    return (qdq_value){healthy(graph) ? id : 0};
}

qdq_value qdq_input(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph) return (qdq_value){0};
    qdq_graph_value value = {.kind = QDQ_VALUE_INPUT, .type = {dtype, shape}};
    value.valid = qdq_graph_check_given(graph, value.type, name, "input");
    return add_named(graph, name, value, "input");
}

qdq_value qdq_graph_declare_constant(qdq_graph *graph, const char *name, qdq_type type,
                                     const qdq_stored *stored) {
    qdq_graph_value constant = {
        .kind = QDQ_VALUE_CONSTANT, .type = type, .constant = true, .stored = stored};
    constant.valid = qdq_graph_check_given(graph, type, name, "constant");
    return add_named(graph, name, constant, "constant");
}

void *qdq_graph_add_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                             qdq_value *value) {
    qdq_graph_value constant = {
        .kind = QDQ_VALUE_CONSTANT, .type = {dtype, shape}, .constant = true};
    constant.valid = qdq_graph_check_given(graph, constant.type, name, "constant");
    void *data = NULL;
    if (constant.valid)
        data = qdq_mempool_array(&graph->mempool, qdq_shape_count(shape), qdq_dtype_size(dtype));
    constant.data = data;
    *value = add_named(graph, name, constant, "constant");
    return data;
}

qdq_value qdq_constant(qdq_graph *graph, const char *name, qdq_dtype dtype, qdq_shape shape,
                       const void *data) {
    QDQ_FIXED_ENVIRONMENT;
    qdq_value value = {0};
    if (!graph) return value;
    void *memory = qdq_graph_add_constant(graph, name, dtype, shape, &value);
    if (memory && qdq_graph_check_data(graph, name, dtype, data, qdq_shape_count(shape)))
        memcpy(memory, data, qdq_shape_count(shape) * qdq_dtype_size(dtype));
    return value;
}

qdq_value qdq_graph_add_invalid(qdq_graph *graph, const char *name) {
    qdq_graph_value value = {.kind = QDQ_VALUE_MADE, .valid = false, .node = SIZE_MAX};
    if (name) return add_named(graph, name, value, "node");
    return (qdq_value){add_value(graph, value)};
}

bool qdq_value_type(const qdq_graph *graph, qdq_value value, qdq_dtype *dtype, qdq_shape *shape) {
    const qdq_graph_value *v = graph ? value_at(graph, value) : NULL;
    if (!v || !v->valid) return false;
    if (dtype) *dtype = v->type.dtype;
    if (shape) *shape = v->type.shape;
    return true;
}

qdq_value qdq_port(qdq_graph *graph, qdq_value value, const char *port) {
    const qdq_graph_value *v = graph ? value_at(graph, value) : NULL;
    if (!port || !v || v->kind != QDQ_VALUE_MADE || !v->name) return (qdq_value){0};
    const qdq_node *node = v->node < graph->node_count ? &graph->nodes[v->node] : NULL;
    for (size_t i = 0; node && i < node->output_count; i++)
        if (strcmp(node->op->outputs[i].name, port) == 0) return (qdq_value){node->outputs[i]};
    return (qdq_value){0};
}

void qdq_output(qdq_graph *graph, const char *name, qdq_value value) {
    QDQ_FIXED_ENVIRONMENT;
    if (!graph || !healthy(graph)) return;
    qdq_graph_check_name(graph, name, "output");
    if (name) qdq_graph_enter_output_name(graph, name);
    qdq_graph_value *v = value_at(graph, value);
    if (!v) {
        qdq_graph_report_core(graph, QDQ_RULE_VALUE_UNKNOWN, (qdq_subject){.port = "output"},
                              qdq_text(&graph->findings, "'%s' has no value", name ? name : ""),
                              "a value of this graph");
        return;
    }
    qdq_graph_output *outputs =
        qdq_mempool_grow(&graph->mempool, graph->outputs, graph->output_count,
                         &graph->output_capacity, sizeof *outputs);
    if (!outputs) return;
    if (v->valid)
        (void)qdq_graph_charge(graph, v->type, (qdq_subject){name, NULL, "shape", "output"});
    v->uses++;
    v->returned = true;
    graph->outputs = outputs;
    outputs[graph->output_count] = (qdq_graph_output){
        .name = qdq_mempool_strdup(&graph->mempool, name ? name : ""), .value = value};
    if (outputs[graph->output_count].name) graph->output_count++;
}

void qdq_graph_note_use(qdq_graph *graph, qdq_value value) {
    qdq_graph_value *v = value_at(graph, value);
    if (v) v->uses++;
}

//---- Nodes ------------------------------------------------------------------

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
    const qdq_graph_value *x = value_at(graph, node->inputs[0]);
    return (qdq_maker){node->op, node->attrs, x ? x->type.dtype : QDQ_DTYPE_NONE};
}

qdq_operand qdq_graph_operand(const qdq_graph *graph, const qdq_node *node, size_t input) {
    const qdq_graph_value *v = value_at(graph, node->inputs[input]);
    if (!v) return (qdq_operand){0};
    return (qdq_operand){.given = true,
                         .valid = v->valid,
                         .type = v->type,
                         .data = v->data,
                         .stored = v->stored,
                         .constant = v->constant,
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
        qdq_graph_value *v = value_at(graph, node->inputs[i]);
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
    for (size_t i = 0; i < node->input_count; i++)
        constant &= !qdq_input_at(ctx, i).given || qdq_input_at(ctx, i).constant;
    node->output_count = ctx->output_count;
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_graph_value value = {.kind = QDQ_VALUE_MADE,
                                 .valid = node->valid,
                                 .type = ctx->outputs[i],
                                 .node = graph->node_count,
                                 .port = i,
                                 .constant = constant};
        size_t length = strlen(node->name) + strlen(node->op->outputs[i].name) + 2;
        char *full = qdq_mempool_array(&graph->mempool, length, 1);
        if (!full) return;
        snprintf(full, length, "%s.%s", node->name, node->op->outputs[i].name);
        value.name = i == 0 ? node->name : full;
        if (value.valid)
            value.valid = qdq_graph_check_type(
                graph, value.type,
                (qdq_subject){node->name, node->op->name, node->op->outputs[i].name, NULL});
        node->outputs[i] = add_value(graph, value);
        if (!node->outputs[i]) return;
        qdq_graph_enter_name(graph, value.name, node->outputs[i], subject);
    }
}

qdq_value qdq_graph_add_node(qdq_graph *graph, const qdq_op *op, const void *attrs,
                             size_t attrs_size) {
    if (!healthy(graph)) return (qdq_value){0};
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
    if (!nodes || !healthy(graph)) return (qdq_value){0};
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
