// SPDX-License-Identifier: Apache-2.0
// Floats of at most 16 bits with a sign, exponent and mantissa, each described by one
// qdq_small_float, and the exponent-only float8_e8m0. The table is in docs/numerics.md, "float16,
// float8, float4".
#ifndef QDQ_RUNTIME_NUMERICS_SMALL_FLOAT_H
#define QDQ_RUNTIME_NUMERICS_SMALL_FLOAT_H

#include "include/qdq/numerics.h"

typedef struct qdq_small_float {
    int exponent_bits, mantissa_bits, bias;
    uint16_t largest;    // code of the largest finite magnitude
    uint16_t infinity;   // 0: the format has none
    uint16_t nan;        // 0: the format has none
    bool signed_nan;     // a negative NaN keeps its sign
    bool negative_zero;  // the format has one
    bool saturates;      // always: a value beyond the largest becomes the largest
} qdq_small_float;

extern const qdq_small_float qdq_float16_format, qdq_float8_e4m3fn_format, qdq_float8_e5m2_format,
    qdq_float8_e4m3fnuz_format, qdq_float8_e5m2fnuz_format, qdq_float4_e2m1_format;

// Returns the format of float16, a float8 or float4; NULL for other dtypes.
const qdq_small_float *qdq_small_float_of(qdq_dtype dtype);

// Returns the largest finite number of a dtype that has a format.
float qdq_small_float_largest(qdq_dtype dtype);

// Exact.
float qdq_small_float_decode(const qdq_small_float *format, uint16_t code);
// Rounds half to even first; a result beyond the largest value then saturates or overflows.
uint16_t qdq_small_float_encode(const qdq_small_float *format, float value,
                                qdq_float_overflow overflow);

// 2^(code - 127); 255 is NaN.
float qdq_float8_e8m0_decode(uint8_t code);
// Returns the nearest power of two (halfway to the even code). 0 gives the least power, negative
// numbers and NaN give NaN, values beyond 2^127 give 2^127.
uint8_t qdq_float8_e8m0_encode(float value);

#endif
