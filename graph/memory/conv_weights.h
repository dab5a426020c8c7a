// SPDX-License-Identifier: Apache-2.0
// Weights of convolutions as ttnn prepares them on the host before a run: a matrix, not an image in
// tiles of 32 x 32 for each pair of channels.
#ifndef QDQ_GRAPH_MEMORY_CONV_WEIGHTS_H
#define QDQ_GRAPH_MEMORY_CONV_WEIGHTS_H

#include "graph/core/graph.h"

typedef struct qdq_conv_weights {
    qdq_shape shape;  // taps times input channels, output channels; rank 0: not weights
    int outputs;      // the dim of the output channels in the value
} qdq_conv_weights;

// Returns an entry for each value. A value is weights if only convolutions read it, as weights,
// possibly through Quantize, Dequantize and Cast. A value with a given layout is not. The pool owns
// the result; NULL if memory runs out.
qdq_conv_weights *qdq_conv_weights_make(const qdq_graph *graph, qdq_mempool *mempool);

// Returns the dim of the prepared tensor for a parameter that lies along `axis` of the value.
int qdq_conv_weights_axis(const qdq_conv_weights *weights, int axis);

#endif
