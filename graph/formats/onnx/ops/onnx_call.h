// SPDX-License-Identifier: Apache-2.0
// Adds a node of the graph by the op's tables of ports and attributes: begin, then any of the
// others, then end.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_CALL_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_ONNX_CALL_H

#include "graph/formats/onnx/onnx_import.h"

typedef struct qdq_onnx_call {
    qdq_onnx_node *node;
    const qdq_op *op;
    char *fields;  // the op's attribute struct
    bool failed;   // the node is refused, or memory ran out
} qdq_onnx_call;

// Begins a node. `helper` NULL: it gets the name of the ONNX node's first output; otherwise
// "y/helper".
void qdq_onnx_begin(qdq_onnx_call *call, qdq_onnx_node *node, const char *op, const char *helper);
// The same for the node that computes output i and takes its name.
void qdq_onnx_begin_output(qdq_onnx_call *call, qdq_onnx_node *node, const char *op, size_t i);
void qdq_onnx_port(qdq_onnx_call *call, const char *port,
                   qdq_onnx_value *value);  // NULL: not given
void qdq_onnx_port_made(qdq_onnx_call *call, const char *port, qdq_value value);
// Connects the value as float32: itself, or a Cast of it.
void qdq_onnx_port_float32(qdq_onnx_call *call, const char *port, qdq_onnx_value *value);
void qdq_onnx_set_int(qdq_onnx_call *call, const char *attr, int64_t value);
void qdq_onnx_set_real(qdq_onnx_call *call, const char *attr, double value);
void qdq_onnx_set_bool(qdq_onnx_call *call, const char *attr, bool value);
void qdq_onnx_set_word(qdq_onnx_call *call, const char *attr, const char *word);
void qdq_onnx_set_dtype(qdq_onnx_call *call, const char *attr, qdq_dtype dtype);
void qdq_onnx_set_ints(qdq_onnx_call *call, const char *attr, const int64_t *values, size_t count);
void qdq_onnx_set_floats(qdq_onnx_call *call, const char *attr, const double *values, size_t count);
// Adds the node and returns its first output; no value if the node is refused or has errors.
qdq_value qdq_onnx_end(qdq_onnx_call *call);
// The same, and binds output 0.
void qdq_onnx_finish(qdq_onnx_call *call);

// Concatenates values along an axis. `helper` as in qdq_onnx_begin; a single part needs no Concat
// if the result is a helper.
qdq_value qdq_onnx_join(qdq_onnx_node *node, const char *helper, const qdq_value *parts,
                        size_t count, int64_t axis);

// Returns a scalar constant of a dtype, named after the node: "y/alpha".
qdq_value qdq_onnx_scalar(qdq_onnx_node *node, const char *helper, qdq_dtype dtype, double number);
// Reshapes `value` to other dims with the same elements, by a StaticReshape.
qdq_value qdq_onnx_reshaped(qdq_onnx_node *node, qdq_onnx_value *value, const char *helper,
                            qdq_shape shape);

#endif
