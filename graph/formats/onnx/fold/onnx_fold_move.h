// SPDX-License-Identifier: Apache-2.0
// Ops that move known numbers: Gather, Slice, Concat and the like.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FOLD_ONNX_FOLD_MOVE_H
#define QDQ_GRAPH_FORMATS_ONNX_FOLD_ONNX_FOLD_MOVE_H

#include "graph/formats/onnx/onnx_import.h"

typedef struct qdq_onnx_move {
    const char *name;
    // False if it cannot be done, for example for a wrong index; nothing needs to be undone.
    bool (*fold)(qdq_onnx_node *node);
} qdq_onnx_move;

const qdq_onnx_move *qdq_onnx_find_move(const char *op);

// Returns output i of a node as numbers, zeroed; NULL if it has no name, or is too large
// (onnx_fold.c).
qdq_onnx_value *qdq_onnx_make_numbers(qdq_onnx_node *node, size_t i, int elem, qdq_shape shape);
void qdq_onnx_put_int(const qdq_onnx_value *out, size_t i, int64_t value);
void qdq_onnx_put_real(const qdq_onnx_value *out, size_t i, double value);

// Sets *value to the element that ConstantOfShape repeats; its name stays. False if the attribute
// is no tensor of one number.
bool qdq_onnx_repeated(qdq_onnx_node *node, qdq_onnx_value *value);
// Sets *count to the elements of Range. False if its inputs are not single known numbers of one
// type, or give no list.
bool qdq_onnx_range_count(qdq_onnx_node *node, int64_t *count);

// Finds the shape to which two shapes broadcast; false if they do not fit.
bool qdq_onnx_broadcast(qdq_shape a, qdq_shape b, qdq_shape *out);
// Returns the element of a value of shape `from`, broadcast to `shape`, at element i.
size_t qdq_onnx_broadcast_at(qdq_shape shape, qdq_shape from, size_t i);

#endif
