// SPDX-License-Identifier: Apache-2.0
// The kernels that are written by hand for AVX2, and what they leave the rest to.
#ifndef QDQ_OPS_KERNELS_QUANTIZE_AVX2_INTRIN_H
#define QDQ_OPS_KERNELS_QUANTIZE_AVX2_INTRIN_H

#include "ops/kernels/kernel.h"
#include "runtime/numerics/dtype.h"

qdq_tile_fn qdq_quantize_float32_int8_core_avx2, qdq_quantize_float32_uint8_core_avx2,
    qdq_quantize_bfloat16_int8_core_avx2, qdq_quantize_bfloat16_uint8_core_avx2;

qdq_tile_fn qdq_quantize_float32_int8_hot_avx2, qdq_quantize_float32_uint8_hot_avx2,
    qdq_quantize_bfloat16_int8_hot_avx2, qdq_quantize_bfloat16_uint8_hot_avx2;

#endif
