// SPDX-License-Identifier: Apache-2.0
// The equation of an Einsum: which dims of its operands are the same index.
#ifndef QDQ_GRAPH_FORMATS_ONNX_OPS_EINSUM_ONNX_EINSUM_H
#define QDQ_GRAPH_FORMATS_ONNX_OPS_EINSUM_ONNX_EINSUM_H

#include "graph/formats/onnx/ops/onnx_formula.h"

enum { QDQ_ONNX_MOST_OPERANDS = 16 };

// An index is a letter, or a dim of an ellipsis, which counts from the last one.
enum { QDQ_ONNX_LETTERS = 128, QDQ_ONNX_INDICES = QDQ_ONNX_LETTERS + QDQ_MAX_RANK };

// The indices of an operand's dims, or of the result's.
typedef struct qdq_onnx_indices {
    int count, at[QDQ_MAX_RANK];
} qdq_onnx_indices;

typedef struct qdq_onnx_equation {
    qdq_onnx_indices operands[QDQ_ONNX_MOST_OPERANDS], y;
    int64_t sizes[QDQ_ONNX_INDICES];
} qdq_onnx_equation;

// False after a refusal.
bool qdq_onnx_read_equation(qdq_onnx_node *node, qdq_onnx_equation *e);

bool qdq_onnx_has_index(const qdq_onnx_indices *indices, int index);

#endif
