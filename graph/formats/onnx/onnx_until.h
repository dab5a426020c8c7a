// SPDX-License-Identifier: Apache-2.0
// Ends a model at a node.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_UNTIL_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_UNTIL_H

#include "graph/formats/onnx/onnx_import.h"

// Keeps the node with this name, or with an output of this name, and the nodes and inputs that it
// needs. Its results become the outputs. QDQ_ERR_ARGUMENT if no node has the name.
qdq_status qdq_onnx_end_at(qdq_onnx_import *im, const char *name);

#endif
