// SPDX-License-Identifier: Apache-2.0
// Finds the cause for which a pair of Quantize and Dequantize loses accuracy, and a mend: tries
// other parameters on the numbers that the pair quantizes.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_MENDS_H
#define QDQ_TOOLS_LAB_EXPLAIN_ACCURACY_MENDS_H

#include "tools/lab/explain/accuracy/accuracy.h"
#include "tools/lab/explain/grouping.h"

// The numbers that a node quantizes, and its parameters.
typedef struct quantized_numbers {
    double *x;      // exact numbers
    double *codes;  // codes that the node computes from them
    size_t count;
    qdq_shape shape;
    double scale, zero;  // if per_tensor
    bool per_tensor;
    bool twice;  // x is itself the output of a Dequantize
    bool weights;
    double least, greatest;
} quantized_numbers;

// The scales and zero points of a node, and the elements that share one.
typedef struct pair_scales {
    const qdq_allocator *allocator;
    double *scales, *zeros;  // [group]; owned
    grouping groups;
} pair_scales;

// Sets cause and mend of `out`. Tries scales per channel only for weights: few backends have them
// for activations.
void find_mend(const quantized_numbers *q, node_accuracy *out);

#endif
