// SPDX-License-Identifier: Apache-2.0
// Corrects the bias and the codes of the weights of a product by sums over samples.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_CORRECT_PRODUCT_H
#define QDQ_TOOLS_LAB_QUANTIZE_CORRECT_PRODUCT_H

#include "tools/lab/quantize/correct_fit.h"

// A product, and its sums.
typedef struct candidate {
    product_site site;
    double *means;          // [channel]: of the float graph
    site_sums sums;         // of the quantized graph
    const int8_t *rounded;  // codes by these sums; NULL: not rounded yet
    size_t changed;         // of them
    bool biased;            // a correction of the bias was taken
} candidate;

// Adds the mean error of a product's result to its bias. One of several neighbours (`alone` is
// false) adds only the error of its own weights: the others take away the errors that it inherits.
// False if memory runs out.
bool correct_bias(quantization *q, candidate *a, bool alone);

// Rounds the weights by the second moments, which are lost. A corrected bias follows, so that the
// mean of the result stays. False if memory runs out.
bool correct_rounding(quantization *q, candidate *a);

#endif
