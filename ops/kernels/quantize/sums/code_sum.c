// SPDX-License-Identifier: Apache-2.0
#include "ops/kernels/quantize/sums/code_sum.h"

#include "ops/kernels/quantize/kernel_list.h"

// The function that quantizes names the instruction set.
typedef struct row {
    qdq_tile_fn *quantize;
    qdq_code_sum_takes_fn *takes;
    qdq_tile_fn *fn;
} row;

#if defined(QDQ_SIMD_X86)
extern qdq_code_sum_takes_fn qdq_code_sum_takes_avx2, qdq_code_sum_takes_avx512;
extern qdq_tile_fn qdq_code_sum_int8_avx2, qdq_code_sum_uint8_avx2, qdq_code_sum_int8_avx512,
    qdq_code_sum_uint8_avx512;
#endif

static const row rows[] = {
#if defined(QDQ_SIMD_X86)
    {qdq_quantize_float32_int8_hot_avx2, qdq_code_sum_takes_avx2, qdq_code_sum_int8_avx2},
    {qdq_quantize_float32_uint8_hot_avx2, qdq_code_sum_takes_avx2, qdq_code_sum_uint8_avx2},
    {qdq_quantize_float32_int8_channels_avx512, qdq_code_sum_takes_avx512,
     qdq_code_sum_int8_avx512},
    {qdq_quantize_float32_uint8_channels_avx512, qdq_code_sum_takes_avx512,
     qdq_code_sum_uint8_avx512},
#endif
    {0},
};

qdq_tile_fn *qdq_code_sum_find(const qdq_code_sum *sum) {
    for (const row *r = rows; r->fn; r++)
        if (r->quantize == sum->quantize) return r->takes(sum) ? r->fn : NULL;
    return NULL;
}
