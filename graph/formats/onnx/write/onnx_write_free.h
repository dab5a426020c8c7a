// SPDX-License-Identifier: Apache-2.0
#ifndef QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITE_FREE_H
#define QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITE_FREE_H

#include "graph/formats/onnx/write/onnx_draft.h"

// Makes the draft of a graph, for its own sizes; findings tell what ONNX lacks (onnx_write.c).
qdq_status qdq_onnx_make_draft(qdq_onnx_draft *draft, qdq_error *err);

// Opens the sizes that the graph leaves free in a draft without findings: the new draft holds for
// all of them. A size that a node needs stays fixed, with the reason in draft->fixed_by.
qdq_status qdq_onnx_open_draft(qdq_onnx_draft *draft, qdq_error *err);

#endif
