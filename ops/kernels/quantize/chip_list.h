// SPDX-License-Identifier: Apache-2.0
// The vector kernels of Quantize, Requantize and Dequantize with the arithmetic of Tenstorrent
// chips: rows of the kernel table, in both generations of the chips' kernels. The functions are in
// chip.inc.h, compiled once for each instruction set.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_CHIP_LIST_H
#define QDQ_OPS_KERNELS_QUANTIZE_CHIP_LIST_H

#include "ops/kernels/kernel.h"

//---- Numerics ---------------------------------------------------------------

// The integer part of the merged kernels (away) and of the later kernels (even).
#define QDQ_CHIP_AWAY_int32 .rounding = QDQ_ROUND_HALF_AWAY
#define QDQ_CHIP_AWAY_uint8 .rounding = QDQ_ROUND_HALF_AWAY, .overflow = QDQ_OVERFLOW_MAGNITUDE
#define QDQ_CHIP_AWAY_int8 .rounding = QDQ_ROUND_HALF_AWAY, .fold_128 = true
#define QDQ_CHIP_ORDER_away .zero_point_order = QDQ_ZERO_POINT_FMA
#define QDQ_CHIP_ORDER_even .zero_point_order = QDQ_ZERO_POINT_AFTER_MAGIC
#define QDQ_CHIP_INTEGER_away(y) QDQ_CHIP_AWAY_##y
#define QDQ_CHIP_INTEGER_even(y) .rounding = QDQ_ROUND_HALF_EVEN

// X(chip, CHIP, generation, y): every conversion to integers.
#define QDQ_CHIP_INTEGERS(X)             \
    X(wormhole, WORMHOLE, away, int32)   \
    X(wormhole, WORMHOLE, away, uint8)   \
    X(wormhole, WORMHOLE, away, int8)    \
    X(wormhole, WORMHOLE, even, int32)   \
    X(wormhole, WORMHOLE, even, uint8)   \
    X(wormhole, WORMHOLE, even, int8)    \
    X(blackhole, BLACKHOLE, away, int32) \
    X(blackhole, BLACKHOLE, away, uint8) \
    X(blackhole, BLACKHOLE, away, int8)  \
    X(blackhole, BLACKHOLE, even, int32) \
    X(blackhole, BLACKHOLE, even, uint8) \
    X(blackhole, BLACKHOLE, even, int8)

// X(chip, CHIP, x, bias, y): every Dequantize.
#define QDQ_CHIP_FLOATS(X)                       \
    X(wormhole, WORMHOLE, int8, 128, float32)    \
    X(wormhole, WORMHOLE, uint8, 0, float32)     \
    X(wormhole, WORMHOLE, int32, 0, float32)     \
    X(wormhole, WORMHOLE, int8, 128, bfloat16)   \
    X(wormhole, WORMHOLE, uint8, 0, bfloat16)    \
    X(wormhole, WORMHOLE, int32, 0, bfloat16)    \
    X(blackhole, BLACKHOLE, int8, 128, float32)  \
    X(blackhole, BLACKHOLE, uint8, 0, float32)   \
    X(blackhole, BLACKHOLE, int32, 0, float32)   \
    X(blackhole, BLACKHOLE, int8, 128, bfloat16) \
    X(blackhole, BLACKHOLE, uint8, 0, bfloat16)  \
    X(blackhole, BLACKHOLE, int32, 0, bfloat16)

#define QDQ_CHIP_STORE_float32 QDQ_BFLOAT16_HALF_EVEN  // no bfloat16 is stored
#define QDQ_CHIP_STORE_bfloat16 QDQ_BFLOAT16_DEVICE

// The numerics of Quantize with a scale that is a number or a tensor, and of Requantize.
#define QDQ_CHIP_NUMERICS(chip, CHIP, generation, y)                             \
    static const qdq_numerics numerics_##chip##_##generation##_##y = {           \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,                                 \
        .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,                               \
        .nan = QDQ_NAN_BY_SIGN,                                                  \
        QDQ_CHIP_ORDER_##generation,                                             \
        QDQ_CHIP_INTEGER_##generation(y)};                                       \
    static const qdq_numerics numerics_##chip##_##generation##_##y##_inverse = { \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,                                 \
        .scaling = QDQ_SCALE_DEVICE_RECIPROCAL,                                  \
        .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,                               \
        .nan = QDQ_NAN_BY_SIGN,                                                  \
        QDQ_CHIP_ORDER_##generation,                                             \
        QDQ_CHIP_INTEGER_##generation(y)};                                       \
    static const qdq_numerics numerics_##chip##_##generation##_##y##_again = {   \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,                                 \
        .requantize_form = QDQ_REQUANTIZE_FUSED,                                 \
        .bfloat16_store = QDQ_BFLOAT16_DEVICE,                                   \
        .sign_magnitude = true,                                                  \
        .nan = QDQ_NAN_BY_SIGN,                                                  \
        QDQ_CHIP_INTEGER_##generation(y)};
#define QDQ_CHIP_BACK_NUMERICS(chip, CHIP, x, bias, y)                                             \
    static const qdq_numerics numerics_##chip##_##x##_##y = {.multiply_add =                       \
                                                                 QDQ_MULTIPLY_ADD_##CHIP,          \
                                                             .subtraction = QDQ_SUBTRACT_FLOAT,    \
                                                             .bfloat16_store = QDQ_CHIP_STORE_##y, \
                                                             .code_bias = (bias),                  \
                                                             .sign_magnitude = true};

QDQ_CHIP_INTEGERS(QDQ_CHIP_NUMERICS)
QDQ_CHIP_FLOATS(QDQ_CHIP_BACK_NUMERICS)

// Quantize with a zero point that is a tensor: a quotient, a sum and a last stage.
#define QDQ_CHIP_STEPS_float32_number .scaling = QDQ_SCALE_RECIPROCAL
#define QDQ_CHIP_STEPS_float32_tensor .scaling = QDQ_SCALE_DIVIDE
#define QDQ_CHIP_STEPS_bfloat16_number                                      \
    .scaling = QDQ_SCALE_RECIPROCAL, .bfloat16_store = QDQ_BFLOAT16_DEVICE, \
    .quantize_step_dtype = QDQ_BFLOAT16, .reciprocal_dtype = QDQ_BFLOAT16
#define QDQ_CHIP_STEPS_bfloat16_tensor                                  \
    .scaling = QDQ_SCALE_DIVIDE, .bfloat16_store = QDQ_BFLOAT16_DEVICE, \
    .quantize_step_dtype = QDQ_BFLOAT16, .scale_dtype = QDQ_BFLOAT16
#define QDQ_CHIP_STAGE_int32 .rounding = QDQ_ROUND_TRUNCATE
#define QDQ_CHIP_STAGE_uint8 .rounding = QDQ_ROUND_TRUNCATE, .overflow = QDQ_OVERFLOW_WRAP
#define QDQ_CHIP_STAGE_away \
    .rounding = QDQ_ROUND_HALF_AWAY, .nan = QDQ_NAN_BY_SIGN, .fold_128 = true
#define QDQ_CHIP_STAGE_even .rounding = QDQ_ROUND_HALF_EVEN, .nan = QDQ_NAN_BY_SIGN

// X(stage, y): the last stages. X(chip, CHIP, x, way, stage, y): every way.
#define QDQ_CHIP_STAGES(X) X(int32, int32) X(uint8, uint8) X(away, int8) X(even, int8)
#define QDQ_CHIP_WAYS(X, chip, CHIP, stage, y) \
    X(chip, CHIP, float32, number, stage, y)   \
    X(chip, CHIP, float32, tensor, stage, y)   \
    X(chip, CHIP, bfloat16, number, stage, y)  \
    X(chip, CHIP, bfloat16, tensor, stage, y)
#define QDQ_CHIP_COMPOSITES(X)                           \
    QDQ_CHIP_WAYS(X, wormhole, WORMHOLE, int32, int32)   \
    QDQ_CHIP_WAYS(X, wormhole, WORMHOLE, uint8, uint8)   \
    QDQ_CHIP_WAYS(X, wormhole, WORMHOLE, away, int8)     \
    QDQ_CHIP_WAYS(X, wormhole, WORMHOLE, even, int8)     \
    QDQ_CHIP_WAYS(X, blackhole, BLACKHOLE, int32, int32) \
    QDQ_CHIP_WAYS(X, blackhole, BLACKHOLE, uint8, uint8) \
    QDQ_CHIP_WAYS(X, blackhole, BLACKHOLE, away, int8)   \
    QDQ_CHIP_WAYS(X, blackhole, BLACKHOLE, even, int8)

#define QDQ_CHIP_COMPOSITE_NUMERICS(chip, CHIP, x, way, stage, y)         \
    static const qdq_numerics numerics_##chip##_##x##_##way##_##stage = { \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,                          \
        .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,                        \
        .zero_point_order = QDQ_ZERO_POINT_BEFORE,                        \
        QDQ_CHIP_STEPS_##x##_##way,                                       \
        QDQ_CHIP_STAGE_##stage};

QDQ_CHIP_COMPOSITES(QDQ_CHIP_COMPOSITE_NUMERICS)

// Dequantize with a zero point that is a tensor, X(x, y); Requantize with four along an axis.
#define QDQ_CHIP_BACK(X) \
    X(int8, float32)     \
    X(uint8, float32) X(int32, float32) X(int8, bfloat16) X(uint8, bfloat16) X(int32, bfloat16)
#define QDQ_CHIP_EXACT_NUMERICS(chip, CHIP, y)                  \
    static const qdq_numerics numerics_##chip##_##y##_exact = { \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,                \
        .bfloat16_store = QDQ_CHIP_STORE_##y,                   \
        .sign_magnitude = true};
#define QDQ_CHIP_EXPANDED_NUMERICS(chip, CHIP)               \
    static const qdq_numerics numerics_##chip##_expanded = { \
        .multiply_add = QDQ_MULTIPLY_ADD_##CHIP,             \
        .requantize_form = QDQ_REQUANTIZE_EXPANDED,          \
        .bfloat16_store = QDQ_BFLOAT16_DEVICE,               \
        .rounding = QDQ_ROUND_TRUNCATE};

QDQ_CHIP_EXACT_NUMERICS(wormhole, WORMHOLE, float32)
QDQ_CHIP_EXACT_NUMERICS(wormhole, WORMHOLE, bfloat16)
QDQ_CHIP_EXACT_NUMERICS(blackhole, BLACKHOLE, float32)
QDQ_CHIP_EXACT_NUMERICS(blackhole, BLACKHOLE, bfloat16)
QDQ_CHIP_EXPANDED_NUMERICS(wormhole, WORMHOLE)
QDQ_CHIP_EXPANDED_NUMERICS(blackhole, BLACKHOLE)

//---- Rows -------------------------------------------------------------------

// ROW(name, family, x, y, numerics): of KERNEL in dispatch.c.
#define QDQ_CHIP_INTEGER_ROWS(ROW, chip, generation, y)                       \
    ROW(quantize_float32_##y##_##chip##_##generation, QUANTIZE, float32, y,   \
        &numerics_##chip##_##generation##_##y)                                \
    ROW(quantize_float32_##y##_##chip##_##generation, QUANTIZE, float32, y,   \
        &numerics_##chip##_##generation##_##y##_inverse)                      \
    ROW(quantize_bfloat16_##y##_##chip##_##generation, QUANTIZE, bfloat16, y, \
        &numerics_##chip##_##generation##_##y)                                \
    ROW(quantize_bfloat16_##y##_##chip##_##generation, QUANTIZE, bfloat16, y, \
        &numerics_##chip##_##generation##_##y##_inverse)                      \
    ROW(requantize_int32_##y##_##chip##_##generation, REQUANTIZE, int32, y,   \
        &numerics_##chip##_##generation##_##y##_again)
#define QDQ_CHIP_FLOAT_ROWS(ROW, chip, x, y) \
    ROW(dequantize_##x##_##y##_##chip, DEQUANTIZE, x, y, &numerics_##chip##_##x##_##y)

#define QDQ_CHIP_COMPOSITE_ROW(ROW, chip, x, way, stage, y)     \
    ROW(quantize_##x##_##y##_composite_##stage, QUANTIZE, x, y, \
        &numerics_##chip##_##x##_##way##_##stage)

#define QDQ_CHIP_BACK_ROWS(ROW, x, y)                                                       \
    ROW(dequantize_##x##_##y##_composite, DEQUANTIZE, x, y, &numerics_wormhole_##y##_exact) \
    ROW(dequantize_##x##_##y##_composite, DEQUANTIZE, x, y, &numerics_blackhole_##y##_exact)
#define QDQ_CHIP_EXPANDED_ROWS(ROW, x)                                                      \
    ROW(requantize_##x##_int32_expanded, REQUANTIZE, x, int32, &numerics_wormhole_expanded) \
    ROW(requantize_##x##_int32_expanded, REQUANTIZE, x, int32, &numerics_blackhole_expanded)

#if defined(QDQ_SIMD_X86)
#define QDQ_DECLARE_CHIP(name) extern qdq_tile_fn qdq_##name##_avx2, qdq_##name##_avx512;
#elif defined(QDQ_SIMD_NEON)
#define QDQ_DECLARE_CHIP(name) extern qdq_tile_fn qdq_##name##_neon;
#else
#define QDQ_DECLARE_CHIP(name)
#endif
#define QDQ_DECLARE_CHIP_INTEGER(chip, CHIP, generation, y)         \
    QDQ_DECLARE_CHIP(quantize_float32_##y##_##chip##_##generation)  \
    QDQ_DECLARE_CHIP(quantize_bfloat16_##y##_##chip##_##generation) \
    QDQ_DECLARE_CHIP(requantize_int32_##y##_##chip##_##generation)
#define QDQ_DECLARE_CHIP_FLOAT(chip, CHIP, x, bias, y) \
    QDQ_DECLARE_CHIP(dequantize_##x##_##y##_##chip)

QDQ_CHIP_INTEGERS(QDQ_DECLARE_CHIP_INTEGER)
#define QDQ_DECLARE_CHIP_STAGE(stage, y)                       \
    QDQ_DECLARE_CHIP(quantize_float32_##y##_composite_##stage) \
    QDQ_DECLARE_CHIP(quantize_bfloat16_##y##_composite_##stage)

QDQ_CHIP_FLOATS(QDQ_DECLARE_CHIP_FLOAT)
QDQ_CHIP_STAGES(QDQ_DECLARE_CHIP_STAGE)
#define QDQ_DECLARE_CHIP_BACK(x, y) QDQ_DECLARE_CHIP(dequantize_##x##_##y##_composite)
QDQ_CHIP_BACK(QDQ_DECLARE_CHIP_BACK)
QDQ_DECLARE_CHIP(requantize_int32_int32_expanded)
QDQ_DECLARE_CHIP(requantize_int8_int32_expanded)
QDQ_DECLARE_CHIP(requantize_uint8_int32_expanded)

#endif
