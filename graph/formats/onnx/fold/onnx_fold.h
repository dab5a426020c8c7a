// SPDX-License-Identifier: Apache-2.0
// Computes nodes on known numbers while a model is read: the arithmetic of shapes.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FOLD_ONNX_FOLD_H
#define QDQ_GRAPH_FORMATS_ONNX_FOLD_ONNX_FOLD_H

#include "graph/formats/onnx/onnx_import.h"

// True if this reader can compute the op.
bool qdq_onnx_folds(const char *op);
// Computes the node and binds its outputs, if its inputs are known and it should not be left to the
// graph. False if it is not done, or refused; then node->refused.
bool qdq_onnx_fold(qdq_onnx_node *node, bool has_op);

#endif
