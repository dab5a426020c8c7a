// SPDX-License-Identifier: Apache-2.0
// Ends a model at the operator that makes a tensor.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_UNTIL_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_UNTIL_H

#include "graph/formats/tflite/tflite_import.h"

// The operators and tensors that the end of a model needs.
typedef struct qdq_tflite_end {
    size_t last;    // the operator whose results are the outputs
    bool *ops;      // by number
    bool *tensors;  // by number
} qdq_tflite_end;

// True if a user's name is the name of a tensor in the graph or in the file.
bool qdq_tflite_is_called(const qdq_tflite_tensor *tensor, const char *name);

// Sets im->end so that the model ends at the operator that makes the tensor `name`.
qdq_status qdq_tflite_end_at(qdq_tflite_import *im, const qdq_flat_table *subgraph,
                             const char *name);

#endif
