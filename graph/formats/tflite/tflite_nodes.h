// SPDX-License-Identifier: Apache-2.0
// Converts the operators of a subgraph.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_NODES_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_NODES_H

#include "graph/formats/tflite/tflite_import.h"

// Reads a list of indices of tensors of an operator, -1 for none.
qdq_status qdq_tflite_read_ports(qdq_tflite_import *im, const qdq_flat_table *table, unsigned slot,
                                 qdq_tflite_tensor ***out, size_t *count);
// Reads the code of an operator.
qdq_status qdq_tflite_read_code(qdq_tflite_import *im, const qdq_flat_table *table, int *out);

// Adds the operators of a subgraph, of im->end those that it needs.
qdq_status qdq_tflite_add_nodes(qdq_tflite_import *im, const qdq_flat_table *subgraph);

#endif
