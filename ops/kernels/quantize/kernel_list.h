// SPDX-License-Identifier: Apache-2.0
// The vector kernels of Quantize, Dequantize and Requantize. A kernel is a row here and the
// function of lanes.inc.h that the row names; a kernel with intrinsics is a row of the list of its
// instruction set and a function in *_intrin.c. Declarations and dispatch tables follow from the
// rows.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_KERNEL_LIST_H
#define QDQ_OPS_KERNELS_QUANTIZE_KERNEL_LIST_H

#include "ops/kernels/kernel.h"

//---- Numerics that kernels are written for ----------------------------------

// They set only fields that qdq_numerics_that_matter keeps. A row names them without `numerics_`.
#define QDQ_TTNN_NUMERICS \
    .zero_point_order = QDQ_ZERO_POINT_FMA, .nan = QDQ_NAN_QUANT_MAX, .flush_denormals = true
#define QDQ_TTNN_DEVICE .bfloat16_store = QDQ_BFLOAT16_DEVICE, .flush_denormals = true

static const qdq_numerics numerics_core = {0};
static const qdq_numerics numerics_subtracts = {.subtraction = QDQ_SUBTRACT_FLOAT};
static const qdq_numerics numerics_onednn = {.scaling = QDQ_SCALE_RECIPROCAL,
                                             .zero_point_order = QDQ_ZERO_POINT_BEFORE};
static const qdq_numerics numerics_onednn_d = {.subtraction = QDQ_SUBTRACT_FLOAT,
                                               .bfloat16_store = QDQ_BFLOAT16_FLUSH};
static const qdq_numerics numerics_torchao_db = {.subtraction = QDQ_SUBTRACT_FLOAT,
                                                 .dequantize_step_dtype = QDQ_BFLOAT16};
static const qdq_numerics numerics_torchao = {.scaling = QDQ_SCALE_RECIPROCAL,
                                              .zero_point_order = QDQ_ZERO_POINT_AFTER_FLOAT,
                                              .nan = QDQ_NAN_LOW_BITS};
static const qdq_numerics numerics_normal = {.power_scale = QDQ_POWER_SCALE_NORMAL};
static const qdq_numerics numerics_one = {.power_scale = QDQ_POWER_SCALE_ONE};
static const qdq_numerics numerics_x86 = {.overflow = QDQ_OVERFLOW_X86};
static const qdq_numerics numerics_arm = {.overflow = QDQ_OVERFLOW_ARM};
static const qdq_numerics numerics_ttnn_int32 = {QDQ_TTNN_NUMERICS,
                                                 .rounding = QDQ_ROUND_HALF_AWAY};
static const qdq_numerics numerics_ttnn_uint8 = {QDQ_TTNN_NUMERICS, .rounding = QDQ_ROUND_HALF_AWAY,
                                                 .overflow = QDQ_OVERFLOW_MAGNITUDE};
static const qdq_numerics numerics_ttnn_int8 = {QDQ_TTNN_NUMERICS,
                                                .rounding = QDQ_ROUND_HALF_UP_BIASED};
static const qdq_numerics numerics_ttnn_d = {.subtraction = QDQ_SUBTRACT_FLOAT,
                                             .flush_denormals = true};
static const qdq_numerics numerics_ttnn_d_int8 = {
    .subtraction = QDQ_SUBTRACT_FLOAT, .flush_denormals = true, .code_bias = 128};
static const qdq_numerics numerics_ttnn_db = {.subtraction = QDQ_SUBTRACT_FLOAT, QDQ_TTNN_DEVICE};
static const qdq_numerics numerics_ttnn_db_int8 = {
    .subtraction = QDQ_SUBTRACT_FLOAT, QDQ_TTNN_DEVICE, .code_bias = 128};

//---- Plain C, compiled for each instruction set ------------------------------

// A row defines the function qdq_<name>_<isa>. The columns after the name:
//
// QUANTIZE         x, y, numerics, the function that computes one element, and true if x may be
//                  multiplied by 1/s wherever x/s is not close to a tie (lane_core, _x86, _arm)
// QUANTIZE_FLOAT8  x, y, numerics
// DEQUANTIZE       x, y, numerics, the function that rounds a number (never a NaN) to y
// REQUANTIZE       y, numerics; x is int32
// FROM_FLOAT16     y, numerics, the kernel that quantizes float32 to y
// TO_FLOAT16       x, numerics, the kernel that dequantizes x to float32
//
// clang-format off
#define QDQ_KERNEL_LIST(QUANTIZE, QUANTIZE_FLOAT8, DEQUANTIZE, REQUANTIZE, FROM_FLOAT16, TO_FLOAT16) \
    QUANTIZE(quantize_float32_int8_core,      float32,  int8,   core,       lane_core,       true)                \
    QUANTIZE(quantize_float32_uint8_core,     float32,  uint8,  core,       lane_core,       true)                \
    QUANTIZE(quantize_float32_int16_core,     float32,  int16,  core,       lane_core,       true)                \
    QUANTIZE(quantize_float32_uint16_core,    float32,  uint16, core,       lane_core,       true)                \
    QUANTIZE(quantize_bfloat16_int8_core,     bfloat16, int8,   core,       lane_core,       true)                \
    QUANTIZE(quantize_bfloat16_uint8_core,    bfloat16, uint8,  core,       lane_core,       true)                \
    QUANTIZE(quantize_int32_int8_core,        int32,    int8,   core,       lane_core,       true)                \
    QUANTIZE(quantize_int32_uint8_core,       int32,    uint8,  core,       lane_core,       true)                \
    QUANTIZE(quantize_float32_int8_onednn,    float32,  int8,   onednn,     lane_onednn,     false)               \
    QUANTIZE(quantize_float32_uint8_onednn,   float32,  uint8,  onednn,     lane_onednn,     false)               \
    QUANTIZE(quantize_float32_int8_torchao,   float32,  int8,   torchao,    lane_torchao,    false)               \
    QUANTIZE(quantize_float32_uint8_torchao,  float32,  uint8,  torchao,    lane_torchao,    false)               \
    QUANTIZE(quantize_bfloat16_int8_torchao,  bfloat16, int8,   torchao,    lane_torchao,    false)               \
    QUANTIZE(quantize_bfloat16_uint8_torchao, bfloat16, uint8,  torchao,    lane_torchao,    false)               \
    QUANTIZE(quantize_float32_int8_x86,       float32,  int8,   x86,        lane_x86,        true)                \
    QUANTIZE(quantize_float32_uint8_x86,      float32,  uint8,  x86,        lane_x86,        true)                \
    QUANTIZE(quantize_float32_int8_arm,       float32,  int8,   arm,        lane_arm,        true)                \
    QUANTIZE(quantize_float32_uint8_arm,      float32,  uint8,  arm,        lane_arm,        true)                \
    QUANTIZE(quantize_float32_int32_ttnn,     float32,  int32,  ttnn_int32, lane_ttnn_int32, false)               \
    QUANTIZE(quantize_bfloat16_int32_ttnn,    bfloat16, int32,  ttnn_int32, lane_ttnn_int32, false)               \
    QUANTIZE(quantize_float32_uint8_ttnn,     float32,  uint8,  ttnn_uint8, lane_ttnn_uint8, false)               \
    QUANTIZE(quantize_bfloat16_uint8_ttnn,    bfloat16, uint8,  ttnn_uint8, lane_ttnn_uint8, false)               \
    QUANTIZE(quantize_float32_int8_ttnn,      float32,  int8,   ttnn_int8,  lane_ttnn_int8,  false)               \
    QUANTIZE(quantize_bfloat16_int8_ttnn,     bfloat16, int8,   ttnn_int8,  lane_ttnn_int8,  false)               \
    QUANTIZE_FLOAT8(quantize_float32_e4m3fn_core,  float32,  float8_e4m3fn, core)                                 \
    QUANTIZE_FLOAT8(quantize_float32_e5m2_core,    float32,  float8_e5m2,   core)                                 \
    QUANTIZE_FLOAT8(quantize_bfloat16_e4m3fn_core, bfloat16, float8_e4m3fn, core)                                 \
    QUANTIZE_FLOAT8(quantize_bfloat16_e5m2_core,   bfloat16, float8_e5m2,   core)                                 \
    QUANTIZE_FLOAT8(quantize_float32_e4m3fn_normal,  float32,   float8_e4m3fn,  normal)                           \
    QUANTIZE_FLOAT8(quantize_float32_e5m2_normal,    float32,   float8_e5m2,    normal)                           \
    QUANTIZE_FLOAT8(quantize_bfloat16_e4m3fn_normal, bfloat16,  float8_e4m3fn,  normal)                           \
    QUANTIZE_FLOAT8(quantize_bfloat16_e5m2_normal,   bfloat16,  float8_e5m2,    normal)                           \
    QUANTIZE_FLOAT8(quantize_float32_e4m3fn_one,     float32,   float8_e4m3fn,  one)                              \
    QUANTIZE_FLOAT8(quantize_float32_e5m2_one,       float32,   float8_e5m2,    one)                              \
    QUANTIZE_FLOAT8(quantize_bfloat16_e4m3fn_one,    bfloat16,  float8_e4m3fn,  one)                              \
    QUANTIZE_FLOAT8(quantize_bfloat16_e5m2_one,      bfloat16,  float8_e5m2,    one)                              \
    DEQUANTIZE(dequantize_int8_float32,            int8,          float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_uint8_float32,           uint8,         float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_int4_float32,            int4,          float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_uint4_float32,           uint4,         float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_int8_bfloat16,           int8,          bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_uint8_bfloat16,          uint8,         bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_int4_bfloat16,           int4,          bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_uint4_bfloat16,          uint4,         bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_int8_float32_sub,        int8,          float32,  subtracts,    finite_float32)         \
    DEQUANTIZE(dequantize_uint8_float32_sub,       uint8,         float32,  subtracts,    finite_float32)         \
    DEQUANTIZE(dequantize_int8_bfloat16_onednn,    int8,          bfloat16, onednn_d,     finite_bfloat16_flush)  \
    DEQUANTIZE(dequantize_uint8_bfloat16_onednn,   uint8,         bfloat16, onednn_d,     finite_bfloat16_flush)  \
    DEQUANTIZE(dequantize_int8_float32_ttnn,       int8,          float32,  ttnn_d_int8,  finite_float32)         \
    DEQUANTIZE(dequantize_uint8_float32_ttnn,      uint8,         float32,  ttnn_d,       finite_float32)         \
    DEQUANTIZE(dequantize_int8_bfloat16_ttnn,      int8,          bfloat16, ttnn_db_int8, finite_bfloat16_device) \
    DEQUANTIZE(dequantize_uint8_bfloat16_ttnn,     uint8,         bfloat16, ttnn_db,      finite_bfloat16_device) \
    DEQUANTIZE(dequantize_e4m3fn_float32,          float8_e4m3fn, float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_e5m2_float32,            float8_e5m2,   float32,  core,         finite_float32)         \
    DEQUANTIZE(dequantize_e4m3fn_float32_sub,      float8_e4m3fn, float32,  subtracts,    finite_float32)         \
    DEQUANTIZE(dequantize_e5m2_float32_sub,        float8_e5m2,   float32,  subtracts,    finite_float32)         \
    DEQUANTIZE(dequantize_e4m3fn_bfloat16,         float8_e4m3fn, bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_e5m2_bfloat16,           float8_e5m2,   bfloat16, core,         finite_bfloat16)        \
    DEQUANTIZE(dequantize_e4m3fn_bfloat16_torchao, float8_e4m3fn, bfloat16, torchao_db,   finite_bfloat16)        \
    DEQUANTIZE(dequantize_e5m2_bfloat16_torchao,   float8_e5m2,   bfloat16, torchao_db,   finite_bfloat16)        \
    REQUANTIZE(requantize_int32_int8_core,  int8,  core)                                                          \
    REQUANTIZE(requantize_int32_uint8_core, uint8, core)                                                          \
    FROM_FLOAT16(quantize_float16_int8_core,     int8,          core,    quantize_float32_int8_core)              \
    FROM_FLOAT16(quantize_float16_uint8_core,    uint8,         core,    quantize_float32_uint8_core)             \
    FROM_FLOAT16(quantize_float16_int8_x86,      int8,          x86,     quantize_float32_int8_x86)               \
    FROM_FLOAT16(quantize_float16_uint8_x86,     uint8,         x86,     quantize_float32_uint8_x86)              \
    FROM_FLOAT16(quantize_float16_int8_arm,      int8,          arm,     quantize_float32_int8_arm)               \
    FROM_FLOAT16(quantize_float16_uint8_arm,     uint8,         arm,     quantize_float32_uint8_arm)              \
    FROM_FLOAT16(quantize_float16_int8_torchao,  int8,          torchao, quantize_float32_int8_torchao)           \
    FROM_FLOAT16(quantize_float16_uint8_torchao, uint8,         torchao, quantize_float32_uint8_torchao)          \
    FROM_FLOAT16(quantize_float16_e4m3fn_core,   float8_e4m3fn, core,    quantize_float32_e4m3fn_core)            \
    FROM_FLOAT16(quantize_float16_e5m2_core,     float8_e5m2,   core,    quantize_float32_e5m2_core)              \
    TO_FLOAT16(dequantize_e4m3fn_float16, float8_e4m3fn, core, dequantize_e4m3fn_float32)                        \
    TO_FLOAT16(dequantize_e5m2_float16,   float8_e5m2,   core, dequantize_e5m2_float32)                          \
    TO_FLOAT16(dequantize_int8_float16,   int8,          core, dequantize_int8_float32)                          \
    TO_FLOAT16(dequantize_uint8_float16,  uint8,         core, dequantize_uint8_float32)                         \
    TO_FLOAT16(dequantize_int4_float16,   int4,          core, dequantize_int4_float32)                          \
    TO_FLOAT16(dequantize_uint4_float16,  uint4,         core, dequantize_uint4_float32)

// X(dtype, signed type of its width, zero bits that extend it to a float32): kernels that widen
// ranges.
#define QDQ_RANGE_LIST(X)   \
    X(float32,  int32_t, 0) \
    X(bfloat16, int16_t, 16)

// X(name, family): kernels for numerics without a row above. They take every dtype.
#define QDQ_GENERAL_LIST(X)                \
    X(quantize_tile_general,   QUANTIZE)   \
    X(dequantize_tile_general, DEQUANTIZE) \
    X(requantize_tile_general, REQUANTIZE) \
    X(fixed_tile_general,      FIXED)

//---- Intrinsics -------------------------------------------------------------

// X(name, family, x, y, numerics): the function qdq_<name>. Dtype `any`: every dtype of the family;
// numerics NULL: all numerics.
#define QDQ_AVX2_LIST(X) \
    X(quantize_float32_int8_hot_avx2,   QUANTIZE, float32,  int8,  &numerics_core) \
    X(quantize_float32_uint8_hot_avx2,  QUANTIZE, float32,  uint8, &numerics_core) \
    X(quantize_bfloat16_int8_hot_avx2,  QUANTIZE, bfloat16, int8,  &numerics_core) \
    X(quantize_bfloat16_uint8_hot_avx2, QUANTIZE, bfloat16, uint8, &numerics_core) \
    X(fixed_int32_int8_avx2,            FIXED,    int32,    int8,  NULL)           \
    X(fixed_int32_uint8_avx2,           FIXED,    int32,    uint8, NULL)           \
    X(lookup_bytes_avx2,                LOOKUP,   any,      any,   NULL)

#define QDQ_AVX512_LIST(X) \
    X(quantize_float32_int8_channels_avx512,   QUANTIZE,      float32,  int8,  &numerics_core) \
    X(quantize_float32_uint8_channels_avx512,  QUANTIZE,      float32,  uint8, &numerics_core) \
    X(quantize_bfloat16_int8_channels_avx512,  QUANTIZE,      bfloat16, int8,  &numerics_core) \
    X(quantize_bfloat16_uint8_channels_avx512, QUANTIZE,      bfloat16, uint8, &numerics_core) \
    X(quantize_int32_int8_hot_avx512,          QUANTIZE,      int32,    int8,  &numerics_core) \
    X(quantize_int32_uint8_hot_avx512,         QUANTIZE,      int32,    uint8, &numerics_core) \
    X(requantize_int32_int8_hot_avx512,        REQUANTIZE,    int32,    int8,  &numerics_core) \
    X(requantize_int32_uint8_hot_avx512,       REQUANTIZE,    int32,    uint8, &numerics_core) \
    X(fixed_int32_int8_avx512,                 FIXED,         int32,    int8,  NULL)           \
    X(fixed_int32_uint8_avx512,                FIXED,         int32,    uint8, NULL)           \
    X(lookup_bytes_avx512,                     LOOKUP,        any,      any,   NULL)           \
    X(lookup_halves_avx512,                    LOOKUP_HALVES, any,      any,   NULL)           \
    X(lookup_words_avx512,                     LOOKUP_WORDS,  any,      any,   NULL)

// X(name, kernel): the function qdq_<name>, which takes over from qdq_<kernel> if scales are known
// when a graph is compiled, and qdq_<name>_rows, which takes several rows: qdq_quantize_prepare.
#define QDQ_PREPARED_LIST(X) \
    X(quantize_float32_int8_units_avx2,     quantize_float32_int8_hot_avx2)         \
    X(quantize_float32_uint8_units_avx2,    quantize_float32_uint8_hot_avx2)        \
    X(quantize_bfloat16_int8_units_avx2,    quantize_bfloat16_int8_hot_avx2)        \
    X(quantize_bfloat16_uint8_units_avx2,   quantize_bfloat16_uint8_hot_avx2)       \
    X(quantize_float32_int8_units_avx512,   quantize_float32_int8_channels_avx512)  \
    X(quantize_float32_uint8_units_avx512,  quantize_float32_uint8_channels_avx512) \
    X(quantize_bfloat16_int8_units_avx512,  quantize_bfloat16_int8_channels_avx512) \
    X(quantize_bfloat16_uint8_units_avx512, quantize_bfloat16_uint8_channels_avx512)

#define QDQ_NEON_LIST(X) \
    X(lookup_bytes_neon, LOOKUP, any, any, NULL)
// clang-format on

//---- Declarations -----------------------------------------------------------

#if defined(QDQ_SIMD_X86)
#define QDQ_DECLARE_KERNEL(name, ...) extern qdq_tile_fn qdq_##name##_avx2, qdq_##name##_avx512;
#define QDQ_DECLARE_RANGE(x, ...) extern qdq_range_fn qdq_range_##x##_avx2, qdq_range_##x##_avx512;
#elif defined(QDQ_SIMD_NEON)
#define QDQ_DECLARE_KERNEL(name, ...) extern qdq_tile_fn qdq_##name##_neon;
#define QDQ_DECLARE_RANGE(x, ...) extern qdq_range_fn qdq_range_##x##_neon;
#else
#define QDQ_DECLARE_KERNEL(name, ...)
#define QDQ_DECLARE_RANGE(x, ...)
#endif
#define QDQ_DECLARE_INTRIN(name, ...) extern qdq_tile_fn qdq_##name;
#define QDQ_DECLARE_ROWS(name, ...) extern qdq_rows_fn qdq_##name##_rows;

QDQ_KERNEL_LIST(QDQ_DECLARE_KERNEL, QDQ_DECLARE_KERNEL, QDQ_DECLARE_KERNEL, QDQ_DECLARE_KERNEL,
                QDQ_DECLARE_KERNEL, QDQ_DECLARE_KERNEL)
QDQ_GENERAL_LIST(QDQ_DECLARE_KERNEL)
QDQ_RANGE_LIST(QDQ_DECLARE_RANGE)
QDQ_AVX2_LIST(QDQ_DECLARE_INTRIN)
QDQ_AVX512_LIST(QDQ_DECLARE_INTRIN)
QDQ_NEON_LIST(QDQ_DECLARE_INTRIN)
QDQ_PREPARED_LIST(QDQ_DECLARE_INTRIN)
QDQ_PREPARED_LIST(QDQ_DECLARE_ROWS)

#endif
