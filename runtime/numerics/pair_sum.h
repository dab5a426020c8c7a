// SPDX-License-Identifier: Apache-2.0
// Sums of products of bytes as VPMADDUBSW adds them: products of an unsigned and a signed byte are
// added in pairs, and each sum of a pair saturates to int16. This is the definition of
// QDQ_PAIR_SUMS_SATURATE.
#ifndef QDQ_RUNTIME_NUMERICS_PAIR_SUM_H
#define QDQ_RUNTIME_NUMERICS_PAIR_SUM_H

#include "include/qdq/base.h"

// p0 and p1 are products of a uint8 and an int8.
static inline int32_t qdq_pair_sum(int32_t p0, int32_t p1) {
    int32_t sum = p0 + p1;
    if (sum > INT16_MAX) return INT16_MAX;
    return sum < INT16_MIN ? INT16_MIN : sum;
}

// True if a pair of codes of one operand can saturate with some two codes of the other operand. The
// pair is int8 and the other codes uint8, or the pair is uint8 (`is_unsigned`) and the others int8.
static inline bool qdq_pair_can_saturate(int32_t w0, int32_t w1, bool is_unsigned) {
    int32_t positive = (w0 > 0 ? w0 : 0) + (w1 > 0 ? w1 : 0), negative = w0 + w1 - positive;
    if (is_unsigned) return INT8_MAX * positive > INT16_MAX || INT8_MIN * positive < INT16_MIN;
    return UINT8_MAX * positive > INT16_MAX || UINT8_MAX * negative < INT16_MIN;
}

#endif
