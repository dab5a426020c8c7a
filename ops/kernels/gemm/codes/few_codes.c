// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/gemm/codes/few_codes.h"

#include "ops/kernels/quantize/kernel_list.h"

#if defined(QDQ_SIMD_X86)
extern qdq_few_codes_fn qdq_few_codes_avx512;
#endif

qdq_few_codes_fn *qdq_few_codes_find(qdq_tile_fn *quantize) {
#if defined(QDQ_SIMD_X86)
    if (quantize == qdq_quantize_float32_int8_channels_avx512 ||
        quantize == qdq_quantize_float32_uint8_channels_avx512)
        return qdq_few_codes_avx512;
#endif
    (void)quantize;
    return NULL;
}
