// SPDX-License-Identifier: Apache-2.0
// One element of a Requantize by multiplier and shift, in steps that can be exchanged between two
// targets: the product, a first rounding, and the rounding to a code.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_RESCALING_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_RESCALING_H

#include <qdq/ops/quantize.h>

// How the product of the sum and the scale is computed.
typedef enum rescaling_product {
    PRODUCT_EXACT,
    PRODUCT_FLOAT32,
    PRODUCT_FLOAT64
} rescaling_product;
// The direction of halves.
typedef enum rescaling_ties { TIES_AWAY, TIES_UP, TIES_EVEN } rescaling_ties;

typedef struct rescaling {
    int64_t sum;  // less its zero point
    double multiplier;
    int shift;  // the scale is multiplier * 2^-shift
    rescaling_product product;
    int first;  // bits of the fraction that a first rounding, half up, leaves; -1: there is none
    rescaling_ties ties;
    int64_t zero, least, greatest;  // of the codes
} rescaling;

// Sets product, `twice` and ties from a rounding and the scale. Rounding twice with no bits left
// for the second time is rounding once, half up.
void rescaling_set_rounding(rescaling *r, qdq_fixed_rounding rounding);
// Returns the code of an element; the least code if an exact product has more than 62 bits.
int64_t rescaling_code(const rescaling *r);

#endif
