// SPDX-License-Identifier: Apache-2.0
// Walks the operators of a model in their order: looks up code, tensors and options of each, and
// calls the converter of its row.
#include "graph/formats/tflite/tflite_nodes.h"

#include <stdio.h>
#include <string.h>

#include "graph/formats/tflite/ops/tflite_ops.h"
#include "graph/formats/tflite/tflite_states.h"
#include "graph/formats/tflite/tflite_until.h"
#include "runtime/base/error.h"

enum { CUSTOM = 32, MOST_PORTS = 64 };

//---- Tensors of an operator -------------------------------------------------

qdq_status qdq_tflite_read_ports(qdq_tflite_import *im, const qdq_flat_table *table, unsigned slot,
                                 qdq_tflite_tensor ***out, size_t *count) {
    qdq_flat_list list = qdq_flat_list_of(im->flat, table, slot, 4);
    qdq_tflite_tensor **all = qdq_mempool_array(im->mempool, list.count, sizeof(void *));
    if (im->err->status) return im->err->status;
    if (!all) return qdq_fail_memory(im->err, list.count * sizeof(void *));
    for (size_t i = 0; i < list.count; i++) {
        int64_t index = qdq_flat_int_at(im->flat, list, i, QDQ_FLAT_I32);
        if (index == -1) continue;
        if (index < 0 || (uint64_t)index >= im->tensor_count)
            return qdq_fail(im->err, QDQ_ERR_PARSE, "an operator has tensor %lld of %zu",
                            (long long)index, im->tensor_count);
        all[i] = &im->tensors[index];
    }
    *out = all, *count = list.count;
    return QDQ_OK;
}

// True if all inputs can be read. An input whose maker was refused has its finding already.
static bool check_inputs(qdq_tflite_node *node, const qdq_tflite_op *row) {
    bool known = true;
    for (size_t i = 0; i < node->input_count; i++) {
        const qdq_tflite_tensor *tensor = node->inputs[i];
        if (!tensor && i < row->least) {
            qdq_tflite_refuse(node, NULL, TFLITE_TEXT(node, "lacks input %zu", i), NULL);
            return false;
        }
        if (!tensor || tensor->variable) continue;
        if (tensor->why_not) {
            qdq_tflite_refuse(
                node, NULL,
                TFLITE_TEXT(node, "reads '%.128s', which %s", tensor->name, tensor->why_not), NULL);
            return false;
        }
        if (tensor->made)
            known = known && tensor->refs[QDQ_TFLITE_AS_STORED].id;
        else if (!tensor->bytes && qdq_shape_count(tensor->shape)) {
            qdq_report_add(
                &node->im->graph->findings, "core", &qdq_core_rules[QDQ_RULE_VALUE_UNKNOWN],
                (qdq_subject){.node = node->name, .op = node->op},
                TFLITE_TEXT(node, "reads '%.128s', which nothing before it makes", tensor->name),
                NULL, NULL);
            known = false;
        }
    }
    return known;
}

// Checks what the operator makes: a first output, and no tensor twice.
static bool check_outputs(qdq_tflite_node *node, const qdq_tflite_op *row) {
    bool variables = qdq_tflite_handles_variables(row->code);
    for (size_t i = 0; i < node->output_count; i++) {
        const qdq_tflite_tensor *out = node->outputs[i];
        if (out && (out->made || out->bytes)) {
            qdq_tflite_refuse(node, NULL, TFLITE_TEXT(node, "makes '%.128s' again", out->name),
                              NULL);
            return false;
        }
        if (out && out->why_not && !(variables && out->type == QDQ_TFLITE_RESOURCE)) {
            qdq_tflite_refuse(
                node, NULL, TFLITE_TEXT(node, "makes '%.128s', which %s", out->name, out->why_not),
                NULL);
            return false;
        }
    }
    if (node->output_count && node->outputs[0]) return true;
    if (variables && row->code != QDQ_TFLITE_READ_VARIABLE) return true;
    qdq_tflite_refuse(node, NULL, "makes nothing", NULL);
    return false;
}

//---- Options ----------------------------------------------------------------

static bool read_options(qdq_tflite_node *node, const qdq_tflite_op *row,
                         const qdq_flat_table *table) {
    qdq_flat *flat = node->im->flat;
    int64_t kind = qdq_flat_int(flat, table, 3, QDQ_FLAT_U8, 0);
    if (!row->options || !kind) return true;
    if (kind != row->options) {
        qdq_tflite_refuse(node, "options", TFLITE_TEXT(node, "are of kind %d", (int)kind),
                          TFLITE_TEXT(node, "%d", row->options));
        return false;
    }
    node->options = qdq_flat_table_of(flat, table, 4);
    if (row->activation >= 0)
        node->activation =
            (int)qdq_flat_int(flat, &node->options, (unsigned)row->activation, QDQ_FLAT_I8, 0);
    return true;
}

//---- Operators --------------------------------------------------------------

// Copies the name of a custom operator.
static const char *custom_name(qdq_tflite_node *node, const qdq_flat_table *code) {
    qdq_flat_list bytes = qdq_flat_list_of(node->im->flat, code, 1, 1);
    char text[100] = {0};
    size_t count = bytes.count < sizeof text - 1 ? bytes.count : sizeof text - 1;
    if (count) (void)qdq_flat_bytes(node->im->flat, bytes.at, text, count);
    return TFLITE_TEXT(node, "is '%s', an operator of the model's maker", text);
}

// Finds the entry of an operator in the list of codes, and its number there.
static qdq_status find_code(qdq_tflite_import *im, const qdq_flat_table *table,
                            qdq_flat_table *code, int *number) {
    int64_t index = qdq_flat_int(im->flat, table, 0, QDQ_FLAT_U32, 0);
    if (im->err->status) return im->err->status;
    if ((uint64_t)index >= im->codes.count)
        return qdq_fail(im->err, QDQ_ERR_PARSE, "an operator has code %lld of %zu",
                        (long long)index, im->codes.count);
    *code = qdq_flat_table_at(im->flat, im->codes, (size_t)index);
    int64_t old = qdq_flat_int(im->flat, code, 0, QDQ_FLAT_I8, 0);
    int64_t now = qdq_flat_int(im->flat, code, 3, QDQ_FLAT_I32, 0);
    *number = (int)(old > now ? old : now);
    return QDQ_OK;
}

qdq_status qdq_tflite_read_code(qdq_tflite_import *im, const qdq_flat_table *table, int *out) {
    qdq_flat_table code;
    QDQ_TRY(find_code(im, table, &code, out));
    return im->err->status;
}

// Finds the row of the operator's code; refuses codes that have none.
static const qdq_tflite_op *find_row(qdq_tflite_node *node, const qdq_flat_table *table) {
    qdq_tflite_import *im = node->im;
    qdq_flat *flat = im->flat;
    qdq_flat_table code;
    int number;
    if (find_code(im, table, &code, &number) != QDQ_OK) return NULL;
    const qdq_tflite_op *row = qdq_tflite_find_op(number);
    if (row || flat->err->status) {
        if (row) node->op = row->name;
        return row;
    }
    bool custom = number == CUSTOM;
    node->op = custom ? "operator" : qdq_tflite_builtin_name(number);
    qdq_tflite_refuse(node, NULL,
                      custom ? custom_name(node, &code)
                             : TFLITE_TEXT(node, "is not read (code %d)", number),
                      NULL);
    return NULL;
}

static qdq_status check_room(const qdq_tflite_import *im) {
    size_t most = im->graph->limits.json_values / 4;
    if (im->graph->node_count < most) return QDQ_OK;
    return qdq_fail(im->err, QDQ_ERR_LIMIT, "the model becomes more than %zu nodes", most);
}

// Notes the operator that nodes stand for, from number `first` on.
static void note_operator(qdq_tflite_node *node, size_t first) {
    qdq_graph *graph = node->im->graph;
    const char *op = qdq_mempool_strdup(&graph->mempool, node->op);
    for (size_t i = first; i < graph->node_count; i++) graph->nodes[i].original_op = op;
}

static void convert(qdq_tflite_node *node, const qdq_flat_table *table) {
    size_t before = node->im->graph->node_count;
    const qdq_tflite_op *row = find_row(node, table);
    if (!row || !check_outputs(node, row) || !check_inputs(node, row)) return;
    for (size_t i = node->input_count; i < row->least; i++) {
        qdq_tflite_refuse(node, NULL, TFLITE_TEXT(node, "lacks input %zu", i), NULL);
        return;
    }
    if (node->input_count > MOST_PORTS || node->output_count > MOST_PORTS)
        qdq_tflite_refuse(node, NULL,
                          TFLITE_TEXT(node, "has %zu inputs and %zu outputs", node->input_count,
                                      node->output_count),
                          TFLITE_TEXT(node, "at most %d", MOST_PORTS));
    else if (read_options(node, row, table) && !node->im->err->status)
        row->convert(node, row);
    note_operator(node, before);
}

static qdq_status add_node(qdq_tflite_import *im, const qdq_flat_table *table, size_t number) {
    qdq_tflite_node node = {.im = im, .op = "operator"};
    char name[32];
    QDQ_TRY(check_room(im));
    QDQ_TRY(qdq_tflite_read_ports(im, table, 1, &node.inputs, &node.input_count));
    QDQ_TRY(qdq_tflite_read_ports(im, table, 2, &node.outputs, &node.output_count));
    snprintf(name, sizeof name, "operator_%zu", number);
    node.name = node.output_count && node.outputs[0] ? node.outputs[0]->name : name;
    convert(&node, table);
    for (size_t i = 0; i < node.output_count; i++)
        if (node.outputs[i]) node.outputs[i]->made = true;
    if (im->mempool->failed || im->graph->mempool.failed) return qdq_fail_memory(im->err, 1);
    return im->err->status;
}

qdq_status qdq_tflite_add_nodes(qdq_tflite_import *im, const qdq_flat_table *subgraph) {
    qdq_flat_list list = qdq_flat_list_of(im->flat, subgraph, 3, 4);
    for (size_t i = 0; i < list.count && !im->err->status; i++) {
        if (im->end && !im->end->ops[i]) continue;
        qdq_flat_table table = qdq_flat_table_at(im->flat, list, i);
        if (!im->err->status) QDQ_TRY(add_node(im, &table, i));
    }
    return im->err->status;
}
