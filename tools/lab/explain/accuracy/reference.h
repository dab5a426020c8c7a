// SPDX-License-Identifier: Apache-2.0
// What the values of a quantized graph would be without quantization: the float model's values, and
// what nodes make of them.
#ifndef QDQ_TOOLS_EXPLAIN_ACCURACY_REFERENCE_H
#define QDQ_TOOLS_EXPLAIN_ACCURACY_REFERENCE_H

#include "tools/lab/explain/replay.h"

typedef struct reference {
    const replay *quantized, *real;
    const void **truth;  // [value of the quantized form]: the float model's elements; NULL: none
    void **exact;        // [value]: what its node makes of exact inputs; owned
} reference;

// Runs each node of the quantized graph on exact inputs. Says why not in `err`; close it in either
// case.
qdq_status reference_open(reference *ref, const replay *quantized, const replay *real,
                          qdq_error *err);
void reference_close(reference *ref);
// Runs the nodes once more, after replay_again of both graphs.
qdq_status reference_again(reference *ref, qdq_error *err);

// The float model's elements for a value, else those that its node makes of exact inputs; NULL:
// codes of an input or a constant.
const void *reference_of(const reference *ref, qdq_value value);

// The node whose codes a Dequantize reads: a Quantize; SIZE_MAX: none.
size_t quantize_of(const replay *r, size_t node);
bool is_op(const replay *r, size_t node, const char *op);

#endif
