// SPDX-License-Identifier: Apache-2.0
// The names that nodes can read, in a graph, in a branch and the graphs around it, or in a
// function.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_SCOPE_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_SCOPE_H

#include "graph/formats/onnx/onnx_import.h"

typedef struct qdq_onnx_scope {
    qdq_onnx_import *im;
    const struct qdq_onnx_scope *outer;  // whose names are seen as well; NULL
    qdq_symbols *names;                  // -> index into values
    qdq_onnx_value **values;             // NULL: an input that the caller does not give
    size_t count, capacity;
    const qdq_onnx_opsets *opsets;
    // The node that a function or branch replaces; NULL for the main graph. A value
    // that is result i of the function has the name of output i of the node, others begin with its
    // name.
    const qdq_onnx_node *caller;
    const qdq_onnx_strings *results;
    const qdq_onnx_function *function;  // NULL: none
} qdq_onnx_scope;

// Adds a name; a repeated name is a finding. False when memory runs out.
bool qdq_onnx_scope_add(qdq_onnx_scope *scope, const char *name, qdq_onnx_value *value);
// True if the name exists, with its value, which may be NULL.
bool qdq_onnx_scope_find(const qdq_onnx_scope *scope, const char *name, qdq_onnx_value **out);

// Adds the constants of a graph. Their elements are not read.
qdq_status qdq_onnx_add_initializers(qdq_onnx_scope *scope, const qdq_onnx_graph *graph);
// Sorts the nodes of the main graph; nodes that need each other are a finding.
qdq_status qdq_onnx_sort_nodes(qdq_onnx_import *im);
// Converts nodes in their order.
qdq_status qdq_onnx_add_nodes(qdq_onnx_scope *scope, const qdq_onnx_protos *nodes);

// Replaces the node by the nodes of a function, or of a branch.
qdq_status qdq_onnx_inline_function(qdq_onnx_scope *scope, qdq_onnx_node *node,
                                    const qdq_onnx_function *function);
qdq_status qdq_onnx_inline_branch(qdq_onnx_scope *scope, qdq_onnx_node *node,
                                  const qdq_onnx_graph *branch);
// Converts If, whose condition must be known.
qdq_status qdq_onnx_convert_if(qdq_onnx_scope *scope, qdq_onnx_node *node);
// Converts a Constant node to its value.
void qdq_onnx_convert_constant(qdq_onnx_node *node);

#endif
