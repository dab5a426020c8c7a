// SPDX-License-Identifier: Apache-2.0
// Why a pair of Quantize and Dequantize loses accuracy, and what mends it: other parameters are
// tried on the numbers that it quantizes.
#ifndef QDQ_TOOLS_EXPLAIN_ACCURACY_MENDS_H
#define QDQ_TOOLS_EXPLAIN_ACCURACY_MENDS_H

#include "tools/lab/explain/accuracy/accuracy.h"

// What is quantized, and how.
typedef struct quantized_numbers {
    double *x;      // exact
    double *codes;  // that the node makes of them
    size_t count;
    qdq_shape shape;
    double scale, zero;  // if there is one of each
    bool per_tensor;
    bool twice;  // x is itself made by a Dequantize
    bool weights;
    double least, greatest;
} quantized_numbers;

// Scales for channels are tried for weights only: few backends have them for activations.
void find_mend(const quantized_numbers *q, node_accuracy *out);

#endif
