// SPDX-License-Identifier: Apache-2.0
// Converts the operators of a subgraph.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_NODES_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_NODES_H

#include "graph/formats/tflite/tflite_import.h"

qdq_status qdq_tflite_add_nodes(qdq_tflite_import *im, const qdq_flat_table *subgraph);

#endif
