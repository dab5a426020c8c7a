// SPDX-License-Identifier: Apache-2.0
// The kernels of body.h: one function each per instruction set, qdq_<name>_<isa>.
// Q(name, x, y, numerics, lane, flushes denormals), F(name, x, y, numerics): to float8,
// D(name, x, y, y dtype, numerics, flushes denormals), R(name, y, numerics): of int32,
// H(name, y, numerics, with float32): of float16, G(name, x, numerics, with float32): to float16.
// `numerics` are those of table.c.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_BODY_LIST_H
#define QDQ_OPS_KERNELS_QUANTIZE_BODY_LIST_H

#include "ops/kernels/kernel.h"

// clang-format off
#define QDQ_BODY_LIST(Q, F, D, R, H, G)                                                         \
    Q(quantize_float32_int8_core,      float32,  int8,   core,       lane_core,       false) \
    Q(quantize_float32_uint8_core,     float32,  uint8,  core,       lane_core,       false) \
    Q(quantize_float32_int16_core,     float32,  int16,  core,       lane_core,       false) \
    Q(quantize_float32_uint16_core,    float32,  uint16, core,       lane_core,       false) \
    Q(quantize_bfloat16_int8_core,     bfloat16, int8,   core,       lane_core,       false) \
    Q(quantize_bfloat16_uint8_core,    bfloat16, uint8,  core,       lane_core,       false) \
    Q(quantize_int32_int8_core,        int32,    int8,   core,       lane_core,       false) \
    Q(quantize_int32_uint8_core,       int32,    uint8,  core,       lane_core,       false) \
    Q(quantize_float32_int8_onednn,    float32,  int8,   onednn,     lane_onednn,     false) \
    Q(quantize_float32_uint8_onednn,   float32,  uint8,  onednn,     lane_onednn,     false) \
    Q(quantize_float32_int8_torchao,   float32,  int8,   torchao,    lane_torchao,    false) \
    Q(quantize_float32_uint8_torchao,  float32,  uint8,  torchao,    lane_torchao,    false) \
    Q(quantize_bfloat16_int8_torchao,  bfloat16, int8,   torchao,    lane_torchao,    false) \
    Q(quantize_bfloat16_uint8_torchao, bfloat16, uint8,  torchao,    lane_torchao,    false) \
    Q(quantize_float32_int32_ttnn,     float32,  int32,  ttnn_int32, lane_ttnn_int32, true)  \
    Q(quantize_bfloat16_int32_ttnn,    bfloat16, int32,  ttnn_int32, lane_ttnn_int32, true)  \
    Q(quantize_float32_uint8_ttnn,     float32,  uint8,  ttnn_uint8, lane_ttnn_uint8, true)  \
    Q(quantize_bfloat16_uint8_ttnn,    bfloat16, uint8,  ttnn_uint8, lane_ttnn_uint8, true)  \
    Q(quantize_float32_int8_ttnn,      float32,  int8,   ttnn_int8,  lane_ttnn_int8,  true)  \
    Q(quantize_bfloat16_int8_ttnn,     bfloat16, int8,   ttnn_int8,  lane_ttnn_int8,  true)  \
    F(quantize_float32_e4m3fn_core,    float32,  float8_e4m3fn, core)                        \
    F(quantize_float32_e5m2_core,      float32,  float8_e5m2,   core)                        \
    F(quantize_bfloat16_e4m3fn_core,   bfloat16, float8_e4m3fn, core)                        \
    F(quantize_bfloat16_e5m2_core,     bfloat16, float8_e5m2,   core)                        \
    D(dequantize_int8_float32,         int8,  float32,         FLOAT32,  exact,        false) \
    D(dequantize_uint8_float32,        uint8, float32,         FLOAT32,  exact,        false) \
    D(dequantize_int4_float32,         int4,  float32,         FLOAT32,  exact,        false) \
    D(dequantize_uint4_float32,        uint4, float32,         FLOAT32,  exact,        false) \
    D(dequantize_int8_bfloat16,        int8,  bfloat16,        BFLOAT16, exact,        false) \
    D(dequantize_uint8_bfloat16,       uint8, bfloat16,        BFLOAT16, exact,        false) \
    D(dequantize_int4_bfloat16,        int4,  bfloat16,        BFLOAT16, exact,        false) \
    D(dequantize_uint4_bfloat16,       uint4, bfloat16,        BFLOAT16, exact,        false) \
    D(dequantize_int8_float32_sub,     int8,  float32,         FLOAT32,  subtracts,    false) \
    D(dequantize_uint8_float32_sub,    uint8, float32,         FLOAT32,  subtracts,    false) \
    D(dequantize_int8_bfloat16_onednn, int8,  bfloat16_flush,  BFLOAT16, onednn_d,     false) \
    D(dequantize_uint8_bfloat16_onednn, uint8, bfloat16_flush, BFLOAT16, onednn_d,     false) \
    D(dequantize_int8_float32_ttnn,    int8,  float32,         FLOAT32,  ttnn_d_int8,  true)  \
    D(dequantize_uint8_float32_ttnn,   uint8, float32,         FLOAT32,  ttnn_d,       true)  \
    D(dequantize_int8_bfloat16_ttnn,   int8,  bfloat16_device, BFLOAT16, ttnn_db_int8, true)  \
    D(dequantize_uint8_bfloat16_ttnn,  uint8, bfloat16_device, BFLOAT16, ttnn_db,      true)  \
    D(dequantize_e4m3fn_float32,       float8_e4m3fn, float32,  FLOAT32,  exact,       false) \
    D(dequantize_e5m2_float32,         float8_e5m2,   float32,  FLOAT32,  exact,       false) \
    D(dequantize_e4m3fn_float32_sub,   float8_e4m3fn, float32,  FLOAT32,  subtracts,   false) \
    D(dequantize_e5m2_float32_sub,     float8_e5m2,   float32,  FLOAT32,  subtracts,   false) \
    D(dequantize_e4m3fn_bfloat16,      float8_e4m3fn, bfloat16, BFLOAT16, exact,       false) \
    D(dequantize_e5m2_bfloat16,        float8_e5m2,   bfloat16, BFLOAT16, exact,       false) \
    D(dequantize_e4m3fn_bfloat16_torchao, float8_e4m3fn, bfloat16, BFLOAT16, torchao_db, false) \
    D(dequantize_e5m2_bfloat16_torchao, float8_e5m2,  bfloat16, BFLOAT16, torchao_db,  false) \
    R(requantize_int32_int8_core,      int8,  core)                                          \
    R(requantize_int32_uint8_core,     uint8, core)                                          \
    H(quantize_float16_int8_core,      int8,          core,    quantize_float32_int8_core)     \
    H(quantize_float16_uint8_core,     uint8,         core,    quantize_float32_uint8_core)    \
    H(quantize_float16_int8_torchao,   int8,          torchao, quantize_float32_int8_torchao)  \
    H(quantize_float16_uint8_torchao,  uint8,         torchao, quantize_float32_uint8_torchao) \
    H(quantize_float16_e4m3fn_core,    float8_e4m3fn, core,    quantize_float32_e4m3fn_core)   \
    H(quantize_float16_e5m2_core,      float8_e5m2,   core,    quantize_float32_e5m2_core)     \
    G(dequantize_e4m3fn_float16,       float8_e4m3fn, exact, dequantize_e4m3fn_float32)        \
    G(dequantize_e5m2_float16,         float8_e5m2,   exact, dequantize_e5m2_float32)          \
    G(dequantize_int8_float16,         int8,  exact, dequantize_int8_float32)                  \
    G(dequantize_uint8_float16,        uint8, exact, dequantize_uint8_float32)                 \
    G(dequantize_int4_float16,         int4,  exact, dequantize_int4_float32)                  \
    G(dequantize_uint4_float16,        uint4, exact, dequantize_uint4_float32)
// clang-format on

#endif
