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
    QDQ_ROUND_HALF_AWAY,       // 2.5 -> 3, -2.5 -> -3
    QDQ_ROUND_HALF_UP,         // 2.5 -> 3, -2.5 -> -2
    QDQ_ROUND_TRUNCATE,        // toward zero
    QDQ_ROUND_HALF_UP_BIASED,  // half up of max(fl(v + 128), 0), at most 255; minus 128
} qdq_rounding;

typedef enum qdq_scaling {
    QDQ_SCALE_DIVIDE = 0,  // x / s
    QDQ_SCALE_RECIPROCAL,  // x * fl(1 / s)
} qdq_scaling;

// When the zero point of the quantized side is added.
typedef enum qdq_zero_point_order {
    QDQ_ZERO_POINT_AFTER = 0,    // to the rounded integer, exactly
    QDQ_ZERO_POINT_BEFORE,       // in float, before rounding: round(fl(x/s) + z)
    QDQ_ZERO_POINT_FMA,          // fma(x, fl(1 / s), z) with one rounding; implies the reciprocal
    QDQ_ZERO_POINT_AFTER_FLOAT,  // to the rounded integer, in float: fl(round(x/s) + fl(z))
} qdq_zero_point_order;

// What becomes of integers outside the clamp range.
typedef enum qdq_overflow {
    QDQ_OVERFLOW_SATURATE = 0,
    QDQ_OVERFLOW_WRAP,       // the low bits; beyond int32: INT32_MAX or INT32_MIN by sign first
    QDQ_OVERFLOW_MAGNITUDE,  // drops the sign of what is negative, then saturates
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

// How DynamicQuantize finds scale and zero point in the range of the data (docs/numerics.md 5 and
// 8).
typedef enum qdq_choice {
    QDQ_CHOOSE_CORE = 0,  // float32; NaN is ignored; an all-zero range gives scale 1
    QDQ_CHOOSE_TORCHAO,   // in the dtype of x; NaN propagates; scales are floored
} qdq_choice;

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
    QDQ_BFLOAT16_FLUSH,          // half even; denormal float32 become 0 with their sign
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
    qdq_choice choice;
    // Float dtypes to which numbers on the way are rounded, as `bfloat16_store` says;
    // QDQ_DTYPE_NONE keeps float32.
    qdq_dtype scale_dtype;            // of Quantize: the scale before it is used
    qdq_dtype reciprocal_dtype;       // of Quantize: 1 / s; in the float domain s * mid
    qdq_dtype middle_dtype;           // of Quantize in the float domain: z - s * mid
    qdq_dtype quantize_step_dtype;    // of Quantize: every other intermediate result
    qdq_dtype dequantize_step_dtype;  // of Dequantize: q, z, their difference and the product
    qdq_dtype requantize_dtype;       // between the halves of QDQ_REQUANTIZE_PAIR
    // Added to q and to its zero point before they become floats (an int8 that travels as uint8).
    int32_t code_bias;
    // Denormal float32, and -0, become +0: x of Quantize, scales, steps and results of Quantize,
    // Dequantize and Requantize.
    bool flush_denormals;
    // Constant scales of an attribute that are all this close to 1 count as 1.
    float unit_scale_tolerance;
    float least_scale;  // DynamicQuantize without `eps`: the least scale; 0 is none
    // Cast to an integer narrower than a byte is Quantize with the scale 1: it saturates, and NaN
    // is the least. Without: the low bits, and 0.
    bool cast_quantizes;
    // Where `narrow` is set the clamp range is also cut to [quant_min, quant_max].
    bool narrow;
    int32_t quant_min, quant_max;
} qdq_numerics;

// X(field, cause): every field, and the name of the differences that come from it.
// clang-format off
#define QDQ_NUMERICS_FIELDS(X)                            \
    X(rounding,              "rounding")                  \
    X(scaling,               "reciprocal")                \
    X(zero_point_order,      "zero-point order")          \
    X(overflow,              "wrap")                      \
    X(nan,                   "NaN")                       \
    X(subtraction,           "subtraction")               \
    X(requantize_form,       "requantize form")           \
    X(bfloat16_store,        "bfloat16 rounding")         \
    X(float_overflow,        "float overflow")            \
    X(choice,                "choice of parameters")      \
    X(scale_dtype,           "scale precision")           \
    X(reciprocal_dtype,      "reciprocal precision")      \
    X(middle_dtype,          "intermediate precision")    \
    X(quantize_step_dtype,   "intermediate precision")    \
    X(dequantize_step_dtype, "intermediate precision")    \
    X(requantize_dtype,      "intermediate precision")    \
    X(code_bias,             "code bias")                 \
    X(flush_denormals,       "denormals")                 \
    X(unit_scale_tolerance,  "scale near 1")              \
    X(least_scale,           "least scale")               \
    X(cast_quantizes,        "wrap")                      \
    X(narrow,                "saturation range")          \
    X(quant_min,             "saturation range")          \
    X(quant_max,             "saturation range")
// clang-format on

#endif
