// SPDX-License-Identifier: Apache-2.0
// Computes the values of a quantized graph without errors of quantization: the float model's
// values, and the results of nodes on them.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_REFERENCE_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_REFERENCE_H

#include "tools/lab/explain/accuracy/value_limits.h"
#include "tools/lab/explain/replay.h"

typedef struct reference {
    const replay *quantized, *real;
    const void **truth;    // [value of the quantized form]: the float model's elements; NULL: none
    void **exact;          // [value]: the result of its node on exact inputs; owned
    value_limits *limits;  // [value]: of an activation that the quantized graph lacks; owned
} reference;

// Runs each node of the quantized graph on exact inputs. Sets `err` on failure; close it in either
// case.
qdq_status reference_open(reference *ref, const replay *quantized, const replay *real,
                          qdq_error *err);
void reference_close(reference *ref);
// Runs the nodes again, after replay_again of both graphs.
qdq_status reference_again(reference *ref, qdq_error *err);

// Returns the float model's elements for a value, or else its node's result on exact inputs; for an
// input or a constant the elements that nodes read. NULL: none of these.
const void *reference_of(const reference *ref, qdq_value value);

// Clamps results of a node as an activation that the float model has behind it.
void reference_limit(const reference *ref, const node_run *run, void *const *outputs);

// Finds the node of the float model that computes the value named like a node's first output, or
// else the node of the same name. SIZE_MAX if none has the same op.
size_t reference_node(const reference *ref, size_t node);
// Returns the value of the float model with the name of a value; id 0: none.
qdq_value reference_value(const reference *ref, qdq_value value);

// Finds the Quantize whose codes a Dequantize reads; SIZE_MAX: none.
size_t quantize_of(const replay *r, size_t node);
bool is_op(const replay *r, size_t node, const char *op);

#endif
