// SPDX-License-Identifier: Apache-2.0
// The vector kernels of Quantize, Requantize and Dequantize with the arithmetic of Tenstorrent
// chips: rows of the kernel table, in both generations of the chips' kernels. The functions are in
// chip.inc.h, compiled once for each instruction set.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_CHIP_LIST_H
#define QDQ_OPS_KERNELS_QUANTIZE_CHIP_LIST_H

#include "ops/kernels/kernel.h"

//---- Numerics ---------------------------------------------------------------

// The integer part, of the merged kernels (away) and of the later ones (even).
#define QDQ_CHIP_AWAY_int32 .rounding = QDQ_ROUND_HALF_AWAY
#define QDQ_CHIP_AWAY_uint8 .rounding = QDQ_ROUND_HALF_AWAY, .overflow = QDQ_OVERFLOW_MAGNITUDE
#define QDQ_CHIP_AWAY_int8 .rounding = QDQ_ROUND_HALF_AWAY, .fold_128 = true
#define QDQ_CHIP_ORDER_away .zero_point_order = QDQ_ZERO_POINT_FMA
#define QDQ_CHIP_ORDER_even .zero_point_order = QDQ_ZERO_POINT_AFTER_MAGIC
#define QDQ_CHIP_INTEGER_away(y) QDQ_CHIP_AWAY_##y
#define QDQ_CHIP_INTEGER_even(y) .rounding = QDQ_ROUND_HALF_EVEN

// X(chip, CHIP, generation, y): every way to make an integer.
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
QDQ_CHIP_FLOATS(QDQ_DECLARE_CHIP_FLOAT)

#endif
