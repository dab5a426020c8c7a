// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/direct/depthwise_codes.h"

#include "ops/kernels/quantize/kernel_list.h"
#include "runtime/base/cpu.h"

#if defined(QDQ_SIMD_X86)
extern qdq_depthwise_codes_fn qdq_depthwise_codes_avx512;
#endif

qdq_depthwise_codes_fn *qdq_depthwise_codes_find(qdq_tile_fn *quantize) {
#if defined(QDQ_SIMD_X86)
    if (quantize == qdq_quantize_float32_int8_channels_avx512 ||
        quantize == qdq_quantize_float32_uint8_channels_avx512)
        return qdq_depthwise_codes_avx512;
#endif
    (void)quantize;
    return NULL;
}

bool qdq_depthwise_codes_has(uint32_t isas, size_t size, size_t stride) {
#if defined(QDQ_SIMD_X86)
    return isas >> QDQ_ISA_AVX512 & 1 && (size == 3 || size == 5) && stride <= 2;
#else
    (void)isas, (void)size, (void)stride;
    return false;
#endif
}
