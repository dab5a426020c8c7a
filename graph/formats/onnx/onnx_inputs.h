// SPDX-License-Identifier: Apache-2.0
// Adds the inputs of a model to the graph, with the shapes that the file or the options give.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_INPUTS_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_INPUTS_H

#include "graph/formats/onnx/onnx_scope.h"

// QDQ_ERR_ARGUMENT if dims stay open, or the options do not fit the model.
qdq_status qdq_onnx_add_inputs(qdq_onnx_scope *scope);

#endif
