// SPDX-License-Identifier: Apache-2.0
// How a backend computes, as data. The portable kernel of an op honours every field; all zero is
// the ONNX formula: quantize clamp(rne(x / s) + z), dequantize (q - z) * s. docs/numerics.md has
// the formulas and their sources.
#ifndef QDQ_NUMERICS_H
#define QDQ_NUMERICS_H

#include <qdq/base.h>

// How a float is rounded to an integer. Every mode is exact for every finite input, in any rounding
// mode of the host.
typedef enum qdq_rounding {
    QDQ_ROUND_HALF_EVEN = 0,
    QDQ_ROUND_HALF_AWAY,       // 2.5 -> 3, -2.5 -> -3
    QDQ_ROUND_HALF_UP,         // 2.5 -> 3, -2.5 -> -2
    QDQ_ROUND_TRUNCATE,        // toward zero
    QDQ_ROUND_HALF_UP_BIASED,  // half up of max(fl(v + 128), 0), at most 255; minus 128
} qdq_rounding;

typedef enum qdq_scaling {
    QDQ_SCALE_DIVIDE = 0,         // x / s
    QDQ_SCALE_RECIPROCAL,         // x * fl(1 / s)
    QDQ_SCALE_DEVICE_RECIPROCAL,  // x * (1 / s as the chip of `multiply_add` computes it)
    QDQ_SCALE_DIVIDE_TO_ZERO,     // x / s, rounded toward zero: halves are halves exactly
} qdq_scaling;

// When the zero point of the quantized side is added.
typedef enum qdq_zero_point_order {
    QDQ_ZERO_POINT_AFTER = 0,    // to the rounded integer, exactly
    QDQ_ZERO_POINT_BEFORE,       // in float, before rounding: round(fl(x/s) + z)
    QDQ_ZERO_POINT_FMA,          // fma(x, fl(1 / s), z) with one rounding; implies the reciprocal
    QDQ_ZERO_POINT_AFTER_FLOAT,  // to the rounded integer, in float: fl(round(x/s) + fl(z))
    // To the rounded integer, exactly: fma(x, fl(1 / s), 1.5 * 2^23) rounds half to even, whatever
    // `rounding` is; implies the reciprocal.
    QDQ_ZERO_POINT_AFTER_MAGIC,
} qdq_zero_point_order;

// How an integer outside the clamp range is brought into it.
typedef enum qdq_overflow {
    QDQ_OVERFLOW_SATURATE = 0,
    QDQ_OVERFLOW_WRAP,  // keeps the low bits; beyond int32: first INT32_MAX or INT32_MIN by sign
    QDQ_OVERFLOW_MAGNITUDE,  // drops the sign of negative numbers, then saturates
    // As C code that converts a rounded float to int32, adds the zero point modulo 2^32 and then
    // saturates. x86 converts NaN and numbers outside int32 to INT32_MIN, Arm converts NaN to 0 and
    // saturates. `nan` is not read.
    QDQ_OVERFLOW_X86,
    QDQ_OVERFLOW_ARM,
    // Clamps to the clamp range rounded to the dtype of the steps, which may be wider than the
    // dtype of y, converts to int32 as x86 does, and keeps the low bits.
    QDQ_OVERFLOW_FLOAT_RANGE,
} qdq_overflow;

typedef enum qdq_nan {
    QDQ_NAN_QUANT_MIN = 0,
    QDQ_NAN_QUANT_MAX,
    QDQ_NAN_ZERO_POINT,  // as if x were 0
    QDQ_NAN_BY_SIGN,     // as a number beyond the range, with the sign of the NaN
    QDQ_NAN_LOW_BITS,    // the low bits of INT32_MIN, to which x86 converts it: 0 below 32 bits
} qdq_nan;

// How Dequantize subtracts the zero point.
typedef enum qdq_subtraction {
    QDQ_SUBTRACT_EXACT = 0,  // fl(q - z): the difference is exact, then one rounding to float
    QDQ_SUBTRACT_FLOAT,      // fl(fl(q) - fl(z))
} qdq_subtraction;

// How DynamicQuantize chooses scale and zero point from the range of the data (docs/numerics.md 5
// and 8).
typedef enum qdq_choice {
    QDQ_CHOOSE_CORE = 0,      // float32; NaN is ignored; an all-zero range gives scale 1
    QDQ_CHOOSE_TORCHAO,       // in the dtype of x; NaN propagates; scales are floored
    QDQ_CHOOSE_TORCHAO_0_18,  // the same, with the powers of two of 0.18
    // As core, but per tensor of float32 a NaN counts as in ONNX Runtime's vectors: on x86-64 it
    // removes what its lane held, on aarch64 it stays. A scale that underflows stays 0.
    QDQ_CHOOSE_ORT_X86,
    QDQ_CHOOSE_ORT_ARM,
} qdq_choice;

// The scale that Quantize divides by in place of a power of two that float32 holds as a denormal or
// NaN (codes 0 and 255 of float8_e8m0).
typedef enum qdq_power_scale {
    QDQ_POWER_SCALE_EXACT = 0,
    QDQ_POWER_SCALE_NORMAL,  // 2^-126 and infinity
    QDQ_POWER_SCALE_ONE,     // 1 and NaN
} qdq_power_scale;

// Cast where ONNX's text leaves choices (docs/numerics.md). In each form floats become integers of
// 8, 16 or 32 bits or int64 as `overflow` says, if it is QDQ_OVERFLOW_X86 or QDQ_OVERFLOW_ARM, and
// the low bits are kept.
typedef enum qdq_cast_form {
    QDQ_CAST_TEXT = 0,
    QDQ_CAST_TORCH,         // float8_e8m0: the nearest power of |x|, infinity is NaN
    QDQ_CAST_ONNX_RUNTIME,  // half away to integers below 8 bits; float8 to bool by codes
    QDQ_CAST_ONEDNN,        // a -0 from or to float16 becomes +0
} qdq_cast_form;

typedef enum qdq_requantize_form {
    QDQ_REQUANTIZE_PAIR = 0,  // Dequantize to `requantize_dtype`, then Quantize
    QDQ_REQUANTIZE_FUSED,     // round(fma(q, r, z_out - z_in * r)), r = fl(s_in / s_out)
    QDQ_REQUANTIZE_EXPANDED,  // round(fl(fl(q * r) + fl(z_out - fl(z_in * r))))
    // Fixed point: s_in / s_out in float64 becomes a multiplier of 31 bits and a shift, which round
    // as QDQ_FIXED_DOUBLE, _UP or _SINGLE of Requantize.
    QDQ_REQUANTIZE_FIXED_DOUBLE,
    QDQ_REQUANTIZE_FIXED_UP,
    QDQ_REQUANTIZE_FIXED_SINGLE,
} qdq_requantize_form;

// How a float32 becomes a bfloat16.
typedef enum qdq_bfloat16_store {
    QDQ_BFLOAT16_HALF_EVEN = 0,  // NaN stays NaN, denormals stay
    QDQ_BFLOAT16_DEVICE,         // half away; denormals and -0 become +0; NaN becomes infinity
    QDQ_BFLOAT16_TRUNCATE,       // drops the low 16 bits; NaN stays NaN
    QDQ_BFLOAT16_FLUSH,          // half even; denormal float32 become 0 with their sign
} qdq_bfloat16_store;

// How a node rounds its results to a block float. Inputs and constants are rounded as on the host.
typedef enum qdq_block_float_store {
    QDQ_BLOCK_FLOAT_HOST = 0,  // half even, without the bits that the shared exponent shifts out
    // A chip's packer: half away to 7 significant bits, then to a code of bfloat8_b, whose upper
    // bits are the code of bfloat4_b.
    QDQ_BLOCK_FLOAT_DEVICE,
    QDQ_BLOCK_FLOAT_PRECISE,  // the same without the first rounding
} qdq_block_float_store;

// How a bfloat16 x of Quantize becomes a float32.
typedef enum qdq_bfloat16_load {
    QDQ_BFLOAT16_LOAD_EXACT = 0,
    QDQ_BFLOAT16_LOAD_DEVICE,  // denormals and -0 become +0; NaN becomes infinity
} qdq_bfloat16_load;

// The results of numbers beyond the largest float8. float4 always saturates; float16 and bfloat16
// always become infinite. QDQ_FLOAT_THROUGH_FLOAT16 rounds float4 through float16 too.
typedef enum qdq_float_overflow {
    QDQ_FLOAT_SATURATE = 0,
    QDQ_FLOAT_OVERFLOW,         // infinity where the type has one, else NaN
    QDQ_FLOAT_THROUGH_FLOAT16,  // the same, after rounding to float16 (two roundings)
} qdq_float_overflow;

// The multiply-add: IEEE float32, or the SFPMAD of a Tenstorrent chip, which is neither an
// fma nor two roundings. docs/device_arithmetic.md has both chips' steps.
typedef enum qdq_multiply_add {
    QDQ_MULTIPLY_ADD_IEEE = 0,
    QDQ_MULTIPLY_ADD_WORMHOLE,
    QDQ_MULTIPLY_ADD_BLACKHOLE,
} qdq_multiply_add;

// The generation of the kernels by which a Tenstorrent chip's vector unit computes functions such
// as Exp and GELU, in the order of time. A generation has the kernels of the one before it, except
// those with a row in the tables of runtime/tenstorrent/sfpu_ops.c.
typedef enum qdq_sfpu_generation {
    QDQ_SFPU_2026_04 = -1,
    QDQ_SFPU_2026_10 = 0,  // of the tables that Tenstorrent published in September and October 2026
    QDQ_SFPU_AFTER_2026_10 = 1,  // kernels that were read, and are in no table yet
} qdq_sfpu_generation;

// The operations of float ops, their order and where they round: docs/ops_neural_network.md and
// docs/onnx.md have both forms of each op that reads this field.
typedef enum qdq_float_ops {
    QDQ_FLOAT_OPS_CORE = 0,
    QDQ_FLOAT_OPS_ONNX_RUNTIME,         // as ONNX Runtime's kernels for x86-64 with FMA
    QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512,  // the same, and SoftMax as with AVX-512
    // The same as for x86-64, and MatMulIntegerToFloat adds its bias with one rounding.
    QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM,
    // Maximum, Minimum, ReLU and Clamp as x86's MAXPS and MINPS: the second operand, which is the
    // bound, unless the first is greater (less). The rest as in the core.
    QDQ_FLOAT_OPS_ONEDNN,
} qdq_float_ops;

// The integer products of MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv.
typedef enum qdq_pair_sums {
    QDQ_PAIR_SUMS_EXACT = 0,
    // As x86 adds products of uint8 and int8 without VNNI: two products at a time, and each sum of
    // two saturates to int16 (docs/numerics.md).
    QDQ_PAIR_SUMS_SATURATE,
} qdq_pair_sums;

// The CPU whose kernels of ONNX Runtime the QLinear ops compute as (docs/ops_neural_network.md).
typedef enum qdq_qlinear_form {
    QDQ_QLINEAR_FMA = 0,  // x86-64 with AVX2 and FMA
    QDQ_QLINEAR_SSE,      // x86-64 without them
    QDQ_QLINEAR_ARM,      // aarch64: sums and global means in fixed point, half away
    QDQ_QLINEAR_FMA64,    // x86-64 with AVX2 and FMA, and QLinearSoftmax divides in float64
    // QLinearSoftmax as SOFTMAX of TensorFlow Lite: its reference kernel, and its optimized ones on
    // x86-64 and aarch64. The rest as QDQ_QLINEAR_FMA.
    QDQ_QLINEAR_LITERT,
    QDQ_QLINEAR_LITERT_X86,
    QDQ_QLINEAR_LITERT_ARM,
} qdq_qlinear_form;

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
    // Float dtypes to which intermediate numbers are rounded, to bfloat16 by `bfloat16_store`;
    // QDQ_DTYPE_NONE keeps float32. With a chip's `multiply_add`, bfloat16 steps of Quantize are
    // the chip's ops (docs/device_arithmetic.md, section 4).
    qdq_dtype input_dtype;            // Quantize: x before it is scaled
    qdq_dtype scale_dtype;            // Quantize: the scale before it is used
    qdq_dtype reciprocal_dtype;       // Quantize: 1 / s; in the float domain s * mid
    qdq_dtype middle_dtype;           // Quantize in the float domain: z - s * mid
    qdq_dtype quantize_step_dtype;    // Quantize: every other intermediate result
    qdq_dtype dequantize_step_dtype;  // Dequantize: q, z, their difference and the product
    qdq_dtype requantize_dtype;       // between the halves of QDQ_REQUANTIZE_PAIR
    // Added to q and to its zero point before they become floats (for an int8 stored as uint8).
    int32_t code_bias;
    // Denormal float32 and -0 become +0: x of Quantize; scales, steps and results of Quantize,
    // Dequantize and Requantize.
    bool flush_denormals;
    // The multiply-add of Quantize, Dequantize and Requantize. With a chip's, MatMul and some
    // elementwise ops are the chip's too (docs/device_arithmetic.md, sections 7 and 8).
    qdq_multiply_add multiply_add;
    // With a chip's multiply-add: the kernels of functions of one operand.
    qdq_sfpu_generation sfpu_generation;
    // Steps of these kernels that no chip takes, for comparisons: with which of them does a
    // difference vanish? The first three are of bfloat16 results.
    bool sfpu_keep_nan;     // NaN stays NaN; a chip packs infinity
    bool sfpu_round_store;  // the store rounds half to even where a chip truncates
    bool sfpu_wide_dst;     // Dst has 32 bits: one rounding, half to even, which keeps -0
    bool sfpu_accurate;     // the accurate kernel in place of the approximate one
    qdq_bfloat16_load bfloat16_load;
    // Quantize and Requantize: 128 is added to the float zero point before the product is added,
    // and subtracted from the rounded sum (int8 computed as uint8).
    bool fold_128;
    // Integers have sign and magnitude: INT32_MIN as an input of Requantize, or of Dequantize with
    // QDQ_SUBTRACT_FLOAT, is -0.
    bool sign_magnitude;
    // The constant scales of an attribute count as 1 if each is this close to 1; 0: never.
    float unit_scale_tolerance;
    float least_scale;  // DynamicQuantize without `eps`: the least scale; 0: none
    // Cast to an integer narrower than a byte. True: like Quantize with the scale 1, so it
    // saturates, and NaN becomes the least value. False: it keeps the low bits, and NaN becomes 0.
    bool cast_quantizes;
    // Cast of floats and block floats to each other and to int32, uint16 or uint8, and of int32 to
    // bfloat16, as ttnn's typecast computes it on a chip (docs/device_arithmetic.md, section 6).
    bool device_typecast;
    qdq_cast_form cast_form;
    qdq_power_scale power_scale;
    qdq_block_float_store block_float_store;
    qdq_float_ops float_ops;
    qdq_pair_sums pair_sums;
    qdq_qlinear_form qlinear;
    // If `narrow` is set, the clamp range is also cut to [quant_min, quant_max].
    bool narrow;
    int32_t quant_min, quant_max;
} qdq_numerics;

// X(field, cause): every field, and the name of the differences that it causes.
// clang-format off
#define QDQ_NUMERICS_FIELDS(X)                            \
    X(rounding,              "rounding")                  \
    X(scaling,               "reciprocal")                \
    X(zero_point_order,      "zero-point order")          \
    X(overflow,              "wrap")                      \
    X(nan,                   "NaN")                       \
    X(sign_magnitude,        "sign and magnitude")        \
    X(subtraction,           "subtraction")               \
    X(requantize_form,       "requantize form")           \
    X(bfloat16_store,        "bfloat16 rounding")         \
    X(float_overflow,        "float overflow")            \
    X(choice,                "choice of parameters")      \
    X(input_dtype,           "input precision")           \
    X(scale_dtype,           "scale precision")           \
    X(reciprocal_dtype,      "reciprocal precision")      \
    X(middle_dtype,          "intermediate precision")    \
    X(quantize_step_dtype,   "intermediate precision")    \
    X(dequantize_step_dtype, "intermediate precision")    \
    X(requantize_dtype,      "intermediate precision")    \
    X(code_bias,             "code bias")                 \
    X(flush_denormals,       "denormals")                 \
    X(sfpu_keep_nan,         "infinity for NaN")          \
    X(sfpu_round_store,      "truncated by the store")    \
    X(sfpu_wide_dst,         "16-bit destination")        \
    X(sfpu_accurate,         "LUT segment")               \
    X(multiply_add,          "multiply-add")              \
    X(sfpu_generation,       "generation of kernels")     \
    X(bfloat16_load,         "bfloat16 input")            \
    X(fold_128,              "folded zero point")         \
    X(unit_scale_tolerance,  "scale near 1")              \
    X(least_scale,           "least scale")               \
    X(cast_quantizes,        "wrap")                      \
    X(device_typecast,       "typecast")                  \
    X(cast_form,             "typecast")                  \
    X(power_scale,           "scale precision")           \
    X(block_float_store,     "block float rounding")      \
    X(float_ops,             "float operations")          \
    X(pair_sums,             "pair saturation")           \
    X(qlinear,               "fixed point")               \
    X(narrow,                "saturation range")          \
    X(quant_min,             "saturation range")          \
    X(quant_max,             "saturation range")
// clang-format on

#endif
