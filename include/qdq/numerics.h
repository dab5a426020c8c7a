// SPDX-License-Identifier: Apache-2.0
// How a backend computes, as data. One portable body per op honours every field; all zero is the
// ONNX formula: quantize clamp(rne(x / s) + z), dequantize (q - z) * s. docs/numerics.md has the
// formulas and their sources.
#ifndef QDQ_NUMERICS_H
#define QDQ_NUMERICS_H

#include <qdq/base.h>

// float -> integer. Every mode is exact for every finite input, whatever the host's own mode is.
typedef enum qdq_rounding {
    QDQ_ROUND_HALF_EVEN = 0,
    QDQ_ROUND_HALF_AWAY,  // 2.5 -> 3, -2.5 -> -3
    QDQ_ROUND_HALF_UP,    // 2.5 -> 3, -2.5 -> -2
    QDQ_ROUND_TRUNCATE,   // toward zero
} qdq_rounding;

typedef enum qdq_scaling {
    QDQ_SCALE_DIVIDE = 0,  // x / s
    QDQ_SCALE_RECIPROCAL,  // x * fl(1 / s)
} qdq_scaling;

// When the zero point of the quantized side is added.
typedef enum qdq_zero_point_order {
    QDQ_ZERO_POINT_AFTER = 0,  // to the rounded integer, exactly
    QDQ_ZERO_POINT_BEFORE,     // in float, before rounding: round(fl(x/s) + z)
    QDQ_ZERO_POINT_FMA,        // fma(x, fl(1 / s), z) with one rounding; implies the reciprocal
} qdq_zero_point_order;

// What becomes of integers outside the clamp range.
typedef enum qdq_overflow {
    QDQ_OVERFLOW_SATURATE = 0,
    QDQ_OVERFLOW_WRAP,  // the low bits; beyond int32: INT32_MAX or INT32_MIN by sign first
} qdq_overflow;

typedef enum qdq_nan {
    QDQ_NAN_QUANT_MIN = 0,
    QDQ_NAN_QUANT_MAX,
    QDQ_NAN_ZERO_POINT,  // as if x were 0
} qdq_nan;

// How the zero point leaves in Dequantize.
typedef enum qdq_subtraction {
    QDQ_SUBTRACT_EXACT = 0,  // fl(q - z): the difference is exact, then one rounding to float
    QDQ_SUBTRACT_FLOAT,      // fl(fl(q) - fl(z))
} qdq_subtraction;

typedef enum qdq_requantize_form {
    QDQ_REQUANTIZE_PAIR = 0,  // Dequantize to `requantize_dtype`, then Quantize
    QDQ_REQUANTIZE_FUSED,     // round(fma(q, r, z_out - z_in * r)), r = fl(s_in / s_out)
    QDQ_REQUANTIZE_EXPANDED,  // round(fl(fl(q * r) + fl(z_out - fl(z_in * r))))
} qdq_requantize_form;

// How a float32 becomes a bfloat16.
typedef enum qdq_bfloat16_store {
    QDQ_BFLOAT16_HALF_EVEN = 0,  // NaN stays NaN, denormals stay
    QDQ_BFLOAT16_DEVICE,         // half away; denormals and -0 become +0; NaN becomes infinity
    QDQ_BFLOAT16_TRUNCATE,       // drops the low 16 bits; NaN stays NaN
} qdq_bfloat16_store;

// What becomes of numbers beyond the largest float8. float4 always saturates; float16 and bfloat16
// always become infinite. Rounding through float16 is done for float4 too.
typedef enum qdq_float_overflow {
    QDQ_FLOAT_SATURATE = 0,
    QDQ_FLOAT_OVERFLOW,         // infinity where the type has one, else NaN
    QDQ_FLOAT_THROUGH_FLOAT16,  // the same, and rounded to float16 on the way (two roundings)
} qdq_float_overflow;

typedef struct qdq_numerics {
    qdq_rounding rounding;
    qdq_scaling scaling;
    qdq_zero_point_order zero_point_order;
    qdq_overflow overflow;
    qdq_nan nan;
    qdq_subtraction subtraction;
    qdq_requantize_form requantize_form;
    qdq_bfloat16_store bfloat16_store;
    qdq_float_overflow float_overflow;
    // A float dtype to which every intermediate result of Quantize and Dequantize is rounded, the
    // reciprocal too, as `bfloat16_store` says; QDQ_DTYPE_NONE keeps float32.
    qdq_dtype step_dtype;
    // The float dtype between the halves of QDQ_REQUANTIZE_PAIR; QDQ_DTYPE_NONE is float32.
    qdq_dtype requantize_dtype;
    // Where `narrow` is set the clamp range is also cut to [quant_min, quant_max].
    bool narrow;
    int32_t quant_min, quant_max;
} qdq_numerics;

#endif
