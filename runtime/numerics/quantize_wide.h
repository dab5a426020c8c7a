// SPDX-License-Identifier: Apache-2.0
// Quantize and Dequantize by a float64 scale, to which PyTorch promotes: one element, in double.
// Parameters of tile functions have 32 bits, so the scale is two of them.
#ifndef QDQ_RUNTIME_NUMERICS_QUANTIZE_WIDE_H
#define QDQ_RUNTIME_NUMERICS_QUANTIZE_WIDE_H

#include <string.h>

#include "runtime/numerics/quantize_one.h"

static inline double qdq_double_of_words(uint32_t high, uint32_t low) {
    uint64_t bits = (uint64_t)high << 32 | low;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The rounded quotient, half to even, and the zero point.
static inline double qdq_wide_sum(const qdq_numerics *n, float x, double s, double z) {
    double v = n->scaling == QDQ_SCALE_RECIPROCAL ? (double)x * (1.0 / s) : (double)x / s;
    return rint(v) + z;
}

// Returns a whole number as a code; NaN becomes the least, or the low bits of INT32_MIN.
static inline int32_t qdq_wide_code(const qdq_numerics *n, double v, const qdq_range *range) {
    if (isnan(v) && n->nan == QDQ_NAN_LOW_BITS) return qdq_low_bits(INT32_MIN, range);
    if (!(v >= (double)range->quant_min)) return (int32_t)range->quant_min;
    return v > (double)range->quant_max ? (int32_t)range->quant_max : (int32_t)v;
}

static inline int32_t qdq_quantize_wide(const qdq_numerics *n, float x, double s, int32_t z,
                                        const qdq_range *range) {
    return qdq_wide_code(n, qdq_wide_sum(n, x, s, (double)z), range);
}

// The float domain: the zero point is the real value of the code in the middle of the range.
static inline int32_t qdq_quantize_wide_float_zero_point(const qdq_numerics *n, float x, double s,
                                                         float z, const qdq_range *range) {
    double least = (double)z - s * (double)qdq_middle(range), v = rint(((double)x - least) / s);
    return qdq_wide_code(n, v, range);
}

static inline float qdq_dequantize_wide_float_zero_point(const qdq_numerics *n, int32_t q, double s,
                                                         float z, const qdq_range *range) {
    float y = qdq_dequantize_step(n, (float)q - qdq_middle(range));
    return qdq_dequantize_step(n, qdq_dequantize_step(n, (float)((double)y * s)) + z);
}

// The product is rounded to float32 alone; the caller stores it as y.
static inline float qdq_dequantize_wide(const qdq_numerics *n, int32_t q, double s, int32_t z) {
    return (float)((double)qdq_subtracted(n, q, z) * s);
}

#endif
