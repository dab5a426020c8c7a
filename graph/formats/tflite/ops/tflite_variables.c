// SPDX-License-Identifier: Apache-2.0
// Converts operators of variables: VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, and CALL_ONCE, whose
// subgraph assigns the first elements. A variable that is read becomes an input of the graph.
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/tflite/ops/tflite_ops.h"
#include "graph/formats/tflite/tflite_states.h"
#include "runtime/base/error.h"
#include "runtime/numerics/dtype.h"

enum { CALL_ONCE = 129, VAR_HANDLE = 142, ASSIGN_VARIABLE = 144 };

bool qdq_tflite_handles_variables(int code) {
    return code == CALL_ONCE || (code >= VAR_HANDLE && code <= ASSIGN_VARIABLE);
}

//---- Variables --------------------------------------------------------------

// Returns the variable that the options of a VAR_HANDLE name; NULL without memory.
static qdq_tflite_variable *find_variable(qdq_tflite_import *im, const qdq_flat_table *options) {
    char text[256] = {0};
    qdq_flat_list bytes = qdq_flat_list_of(im->flat, options, 1, 1);
    size_t count = bytes.count < sizeof text - 1 ? bytes.count : sizeof text - 1;
    uint32_t at;
    if (count && !qdq_flat_bytes(im->flat, bytes.at, text, count)) return NULL;
    if (qdq_symbols_find(im->variable_names, text, count, &at)) return im->variables[at];
    qdq_tflite_variable **all =
        qdq_mempool_grow(im->mempool, im->variables, im->variable_count, &im->variable_capacity,
                         sizeof(qdq_tflite_variable *));
    qdq_tflite_variable *made = QDQ_MEMPOOL_NEW(im->mempool, qdq_tflite_variable);
    if (!all || !made) return NULL;
    for (size_t i = 0; i < count; i++)
        if (!text[i]) text[i] = '_';
    made->name = qdq_mempool_strdup(im->mempool, text);
    im->variables = all;
    all[im->variable_count] = made;
    if (qdq_symbols_add(im->variable_names, text, count, (uint32_t)im->variable_count, im->err) !=
        QDQ_OK)
        return NULL;
    im->variable_count++;
    return made->name ? made : NULL;
}

void qdq_tflite_var_handle(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    if (node->output_count && node->outputs[0])
        node->outputs[0]->variable = find_variable(node->im, &node->options);
}

// Returns the variable of the handle at input 0; NULL after a refusal.
static qdq_tflite_variable *variable_of(qdq_tflite_node *node) {
    const qdq_tflite_tensor *handle = qdq_tflite_input(node, 0);
    if (handle && handle->variable) return handle->variable;
    qdq_tflite_refuse(node, NULL, "has no handle of a variable", NULL);
    return NULL;
}

// Adds the variable as an input with the type of the tensor that it is read to.
static void add_input(qdq_tflite_node *node, qdq_tflite_variable *variable) {
    const qdq_tflite_tensor *out = node->outputs[0];
    qdq_type type = {out->dtype, out->shape};
    bool same =
        variable->type.dtype == type.dtype && qdq_shape_equal(variable->type.shape, type.shape);
    if (variable->type.dtype && !same) {
        qdq_findings *f = &node->im->graph->findings;
        qdq_tflite_refuse(
            node, NULL,
            qdq_text(f, "reads %s %s", qdq_dtype_name(type.dtype), qdq_shape_text(f, type.shape)),
            qdq_text(f, "%s %s, as the first elements have", qdq_dtype_name(variable->type.dtype),
                     qdq_shape_text(f, variable->type.shape)));
        return;
    }
    variable->name = qdq_tflite_free_name(node->im, variable->name);
    if (variable->name)
        variable->input = qdq_input(node->im->graph, variable->name, type.dtype, type.shape);
}

void qdq_tflite_read_variable(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_tflite_variable *variable = variable_of(node);
    if (!variable) return;
    if (!variable->next.id && !variable->input.id) add_input(node, variable);
    qdq_tflite_bind(node, 0, variable->next.id ? variable->next : variable->input);
}

void qdq_tflite_assign_variable(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_tflite_variable *variable = variable_of(node);
    if (variable) variable->next = qdq_tflite_ref(node, 1, QDQ_TFLITE_AS_STORED);
}

//---- First elements ---------------------------------------------------------

// Reads the first elements of a variable from a constant of the subgraph.
static qdq_status read_initial(qdq_tflite_import *im, qdq_tflite_variable *variable,
                               const qdq_tflite_tensor *from) {
    qdq_type type = {from->dtype, from->shape};
    if (variable->type.dtype || from->why_not || !from->bytes) return QDQ_OK;
    if (!qdq_graph_check_given(im->graph, type, variable->name, "state")) return QDQ_OK;
    size_t count = qdq_shape_count(type.shape), size = qdq_dtype_size(type.dtype);
    void *elements = qdq_mempool_array(im->mempool, count, size);
    if (!elements) return qdq_fail_memory(im->err, count * size);
    variable->type = type, variable->initial = elements;
    return qdq_tflite_read_elements(im, from, elements);
}

// Returns a tensor of the list of an operator; NULL: it has none there.
static qdq_tflite_tensor *port(qdq_tflite_import *im, const qdq_flat_table *op, unsigned slot,
                               size_t i) {
    qdq_flat_list list = qdq_flat_list_of(im->flat, op, slot, 4);
    if (i >= list.count) return NULL;
    int64_t index = qdq_flat_int_at(im->flat, list, i, QDQ_FLAT_I32);
    return index >= 0 && (uint64_t)index < im->tensor_count ? &im->tensors[index] : NULL;
}

// Runs an operator of the subgraph of CALL_ONCE. False: it does something else than assign
// constants.
static bool run_once(qdq_tflite_import *im, const qdq_flat_table *op) {
    qdq_flat *flat = im->flat;
    uint64_t at = (uint64_t)qdq_flat_int(flat, op, 0, QDQ_FLAT_U32, 0);
    if (at >= im->codes.count) return false;
    qdq_flat_table code = qdq_flat_table_at(flat, im->codes, (size_t)at);
    int64_t number = qdq_flat_int(flat, &code, 3, QDQ_FLAT_I32, 0);
    if (number == VAR_HANDLE) {
        qdq_flat_table options = qdq_flat_table_of(flat, op, 4);
        qdq_tflite_tensor *handle = port(im, op, 2, 0);
        if (handle) handle->variable = find_variable(im, &options);
        return handle && handle->variable;
    }
    const qdq_tflite_tensor *handle = port(im, op, 1, 0), *value = port(im, op, 1, 1);
    if (number != ASSIGN_VARIABLE || !handle || !handle->variable || !value) return false;
    return read_initial(im, handle->variable, value) == QDQ_OK && handle->variable->initial;
}

void qdq_tflite_call_once(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    qdq_tflite_import inner = *node->im, *im = node->im;
    int64_t index = qdq_tflite_int(node, 0, QDQ_FLAT_I32, 0);
    if (index < 1 || (uint64_t)index >= im->subgraphs.count) {
        qdq_tflite_refuse(node, "init_subgraph_index",
                          TFLITE_TEXT(node, "is %lld", (long long)index),
                          TFLITE_TEXT(node, "1 to %zu", im->subgraphs.count - 1));
        return;
    }
    qdq_flat_table subgraph = qdq_flat_table_at(im->flat, im->subgraphs, (size_t)index);
    if (im->err->status || qdq_tflite_read_tensors(&inner, &subgraph) != QDQ_OK) return;
    qdq_flat_list ops = qdq_flat_list_of(im->flat, &subgraph, 3, 4);
    bool fine = true;
    for (size_t i = 0; fine && i < ops.count; i++) {
        qdq_flat_table op = qdq_flat_table_at(im->flat, ops, i);
        fine = !im->err->status && run_once(&inner, &op);
    }
    im->variables = inner.variables, im->variable_count = inner.variable_count;
    im->variable_capacity = inner.variable_capacity, im->renamed = inner.renamed;
    if (!fine && !im->err->status)
        qdq_tflite_refuse(node, NULL, "does more than assign constants to variables", NULL);
}

//---- States -----------------------------------------------------------------

qdq_status qdq_tflite_add_states(qdq_tflite_import *im) {
    for (size_t i = 0; i < im->variable_count; i++) {
        const qdq_tflite_variable *variable = im->variables[i];
        char name[QDQ_MAX_NAME_BYTES + 32];
        size_t taken;
        if (!variable->input.id) continue;
        snprintf(name, sizeof name, "%s/next", variable->name);
        while (qdq_graph_find_output(im->graph, name, &taken))
            snprintf(name, sizeof name, "%s/next~%u", variable->name, ++im->renamed);
        qdq_output(im->graph, name, variable->next.id ? variable->next : variable->input);
        qdq_state(im->graph, variable->input, name, variable->initial);
    }
    return im->err->status;
}
