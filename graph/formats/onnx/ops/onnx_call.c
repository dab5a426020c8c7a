// SPDX-License-Identifier: Apache-2.0
// Adds nodes to the graph by the op's tables, and constants that a node needs.
#include "graph/formats/onnx/ops/onnx_call.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/onnx/onnx_tensor.h"
#include "graph/formats/onnx/ops/onnx_ops.h"
#include "runtime/numerics/dtype.h"

static const char *helper_name(qdq_onnx_node *node, const char *helper) {
    size_t size = strlen(node->name) + strlen(helper) + 2;
    char *name = qdq_mempool_array(node->im->mempool, size, 1);
    if (!name) return NULL;
    snprintf(name, size, "%s/%s", node->name, helper);
    return qdq_onnx_free_name(node->im, name, false);
}

static void begin(qdq_onnx_call *call, qdq_onnx_node *node, const char *op, const char *name) {
    *call = (qdq_onnx_call){.node = node, .op = qdq_op_find(op), .failed = node->refused};
    if (!call->op) {
        qdq_onnx_refuse(node, NULL, ONNX_TEXT(node, "needs %s, which this build lacks", op), NULL);
        call->failed = true;
        return;
    }
    call->fields = qdq_mempool_array(node->im->mempool, call->op->attrs_size, 1);
    if (call->fields && name)
        memcpy(call->fields, &name, sizeof name);
    else
        call->failed = true;
}

void qdq_onnx_begin(qdq_onnx_call *call, qdq_onnx_node *node, const char *op, const char *helper) {
    begin(call, node, op, helper ? helper_name(node, helper) : node->name);
}

void qdq_onnx_begin_output(qdq_onnx_call *call, qdq_onnx_node *node, const char *op, size_t i) {
    const char *name = node->name;
    const qdq_onnx_value *made = node->outputs[i];
    if (i > 0) name = qdq_onnx_free_name(node->im, made->name, made->own);
    begin(call, node, op, name);
}

static const qdq_port_desc *find_port(qdq_onnx_call *call, const char *port) {
    for (size_t i = 0; !call->failed && i < call->op->input_count; i++)
        if (strcmp(call->op->inputs[i].name, port) == 0) return &call->op->inputs[i];
    call->failed = true;
    return NULL;
}

void qdq_onnx_port_made(qdq_onnx_call *call, const char *port, qdq_value value) {
    const qdq_port_desc *desc = find_port(call, port);
    if (!desc || !value.id) {
        call->failed = true;
        return;
    }
    if (!qdq_port_is_variadic(call->op, desc)) {
        memcpy(call->fields + desc->offset, &value, sizeof value);
        return;
    }
    qdq_values all;
    memcpy(&all, call->fields + desc->offset, sizeof all);
    qdq_value *list = qdq_mempool_array(call->node->im->mempool, all.count + 1, sizeof *list);
    if (!list) {
        call->failed = true;
        return;
    }
    for (size_t i = 0; i < all.count; i++) list[i] = all.data[i];
    list[all.count] = value;
    all = (qdq_values){list, all.count + 1};
    memcpy(call->fields + desc->offset, &all, sizeof all);
}

void qdq_onnx_port(qdq_onnx_call *call, const char *port, qdq_onnx_value *value) {
    if (value) qdq_onnx_port_made(call, port, qdq_onnx_ref(call->node, value));
}

//---- Attributes -------------------------------------------------------------

static const qdq_attr_desc *find_attr(qdq_onnx_call *call, const char *attr) {
    for (size_t i = 0; !call->failed && i < call->op->attr_count; i++)
        if (strcmp(call->op->attrs[i].name, attr) == 0) return &call->op->attrs[i];
    call->failed = true;
    return NULL;
}

void qdq_onnx_port_float32(qdq_onnx_call *call, const char *port, qdq_onnx_value *value) {
    qdq_onnx_call cast;
    if (value->elem == ONNX_FLOAT) {
        qdq_onnx_port(call, port, value);
        return;
    }
    qdq_onnx_begin(&cast, call->node, "Cast", port);
    qdq_onnx_port(&cast, "x", value);
    qdq_onnx_set_dtype(&cast, "dtype", QDQ_FLOAT32);
    qdq_onnx_port_made(call, port, qdq_onnx_end(&cast));
}

void qdq_onnx_set_int(qdq_onnx_call *call, const char *attr, int64_t value) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    qdq_int number = QDQ_INT(value);
    if (desc) memcpy(call->fields + desc->offset, &number, sizeof number);
}

void qdq_onnx_set_real(qdq_onnx_call *call, const char *attr, double value) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    qdq_float number = QDQ_FLOAT(value);
    qdq_int bound = {0};
    if (!desc) return;
    if (desc->kind == QDQ_ATTR_BOUND) {
        bound = QDQ_REAL(value);
        memcpy(call->fields + desc->offset, &bound, sizeof bound);
    } else {
        memcpy(call->fields + desc->offset, &number, sizeof number);
    }
}

void qdq_onnx_set_bool(qdq_onnx_call *call, const char *attr, bool value) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    qdq_bool truth = value ? QDQ_TRUE : QDQ_FALSE;
    if (desc) memcpy(call->fields + desc->offset, &truth, sizeof truth);
}

void qdq_onnx_set_word(qdq_onnx_call *call, const char *attr, const char *word) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    int at = 0;
    if (!desc) return;
    while (desc->words[at] && strcmp(desc->words[at], word) != 0) at++;
    if (!desc->words[at]) {
        qdq_onnx_refuse(call->node, attr, ONNX_TEXT(call->node, "is '%.64s'", word), NULL);
        call->failed = true;
        return;
    }
    qdq_maybe_word maybe = {QDQ_GIVEN, at};
    if (desc->kind == QDQ_ATTR_MAYBE_WORD)
        memcpy(call->fields + desc->offset, &maybe, sizeof maybe);
    else
        memcpy(call->fields + desc->offset, &at, sizeof at);
}

void qdq_onnx_set_dtype(qdq_onnx_call *call, const char *attr, qdq_dtype dtype) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    if (desc) memcpy(call->fields + desc->offset, &dtype, sizeof dtype);
}

void qdq_onnx_set_ints(qdq_onnx_call *call, const char *attr, const int64_t *values, size_t count) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    qdq_ints list = {qdq_mempool_copy(call->node->im->mempool, values, count, sizeof *values),
                     count};
    if (desc && list.data) memcpy(call->fields + desc->offset, &list, sizeof list);
    if (!list.data) call->failed = true;
}

void qdq_onnx_set_floats(qdq_onnx_call *call, const char *attr, const double *values,
                         size_t count) {
    const qdq_attr_desc *desc = find_attr(call, attr);
    float *numbers = qdq_mempool_array(call->node->im->mempool, count, sizeof *numbers);
    qdq_floats list = {.data = numbers, .count = count};
    for (size_t i = 0; numbers && i < count; i++) numbers[i] = (float)values[i];
    if (desc && numbers) memcpy(call->fields + desc->offset, &list, sizeof list);
    if (!numbers) call->failed = true;
}

// Gives the node that computes the model node's first output the name of the model's node, of which
// other nodes are a part.
static void note_node_name(const qdq_onnx_call *call) {
    qdq_graph *graph = call->node->im->graph;
    const char *model = call->node->proto->name, *name;
    memcpy(&name, call->fields, sizeof name);
    if (call->node->inner || !*model || strcmp(model, name) == 0) return;
    if (name == call->node->name)
        qdq_graph_set_node_original(graph, graph->node_count - 1, model);
    else
        graph->nodes[graph->node_count - 1].part_of = qdq_mempool_strdup(&graph->mempool, model);
}

static void note_op(const qdq_onnx_call *call) {
    qdq_graph *graph = call->node->im->graph;
    qdq_node *made = &graph->nodes[graph->node_count - 1];
    made->original_op = qdq_mempool_strdup(&graph->mempool, call->node->proto->op);
    made->names_dtype = qdq_onnx_int(call->node, "output_dtype", 0) != 0;
    made->block_size = qdq_onnx_int(call->node, "block_size", 0);
}

qdq_value qdq_onnx_end(qdq_onnx_call *call) {
    qdq_value made = {0};
    if (call->failed || call->node->refused || !qdq_onnx_has_room(call->node, 1)) return made;
    made = qdq_graph_add_node(call->node->im->graph, call->op, call->fields, call->op->attrs_size);
    if (made.id) note_node_name(call), note_op(call);
    return qdq_value_type(call->node->im->graph, made, NULL, NULL) ? made : (qdq_value){0};
}

void qdq_onnx_finish(qdq_onnx_call *call) { qdq_onnx_bind(call->node, 0, qdq_onnx_end(call)); }

//---- Concat -----------------------------------------------------------------

qdq_value qdq_onnx_join(qdq_onnx_node *node, const char *helper, const qdq_value *parts,
                        size_t count, int64_t axis) {
    qdq_onnx_call call;
    if (helper && count == 1) return parts[0];
    qdq_onnx_begin(&call, node, "Concat", helper);
    const qdq_port_desc *desc = find_port(&call, "xs");
    const qdq_values list = {parts, count};
    for (size_t i = 0; i < count; i++) call.failed = call.failed || !parts[i].id;
    if (desc) memcpy(call.fields + desc->offset, &list, sizeof list);  // the graph copies the list
    qdq_onnx_set_int(&call, "axis", axis);
    return qdq_onnx_end(&call);
}

//---- Constants --------------------------------------------------------------

qdq_value qdq_onnx_scalar(qdq_onnx_node *node, const char *helper, qdq_dtype dtype, double number) {
    unsigned char element[8] = {0};
    float real = (float)number;
    int64_t whole = fabs(number) < 0x1p62 ? (int64_t)number : 0;
    const char *name = helper_name(node, helper);
    if (!name) return (qdq_value){0};
    if (dtype == QDQ_FLOAT64)
        memcpy(element, &number, sizeof number);
    else if (qdq_dtype_is_real(dtype))
        qdq_encode_float(dtype, &real, element, 1, NULL);
    else
        qdq_encode_wide(dtype, &whole, element, 1);
    return qdq_constant(node->im->graph, name, dtype, (qdq_shape){0}, element);
}

qdq_value qdq_onnx_reshaped(qdq_onnx_node *node, qdq_onnx_value *value, const char *helper,
                            qdq_shape shape) {
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, "StaticReshape", helper);
    qdq_onnx_port(&call, "x", value);
    qdq_onnx_set_ints(&call, "shape", shape.dims, (size_t)shape.rank);
    qdq_onnx_set_bool(&call, "special_zero", false);
    return qdq_onnx_end(&call);
}

void qdq_onnx_begin_row(qdq_onnx_call *call, qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_begin(call, node, row->ours, NULL);
    for (size_t i = 0; i < node->input_count; i++) {
        if (i < QDQ_ONNX_MOST_PORTS && row->ports[i])
            qdq_onnx_port(call, row->ports[i], node->inputs[i]);
        else if (node->inputs[i])
            qdq_onnx_refuse(node, NULL, ONNX_TEXT(node, "has %zu inputs", node->input_count),
                            ONNX_TEXT(node, "at most %zu", i));
    }
    for (size_t i = 0; i < QDQ_ONNX_MOST_ATTRS && row->attrs[i].kind; i++) {
        const qdq_onnx_attr_row *attr = &row->attrs[i];
        const char *ours = attr->ours ? attr->ours : attr->name;
        const char *word = qdq_onnx_word(node, attr->name, NULL);
        int64_t number = qdq_onnx_int(node, attr->name, (int64_t)attr->otherwise);
        if (attr->kind == 'f')
            qdq_onnx_set_real(call, ours, qdq_onnx_float(node, attr->name, attr->otherwise));
        else if (attr->kind == 'i')
            qdq_onnx_set_int(call, ours, number);
        else if (attr->kind == 'b')
            qdq_onnx_set_bool(call, ours, number != 0);
        else if (word)
            qdq_onnx_set_word(call, ours, word);
    }
}
