// SPDX-License-Identifier: Apache-2.0
// Sums of codes with AVX2.
#include "ops/kernels/quantize/avx2_codes.inc.h"
#include "ops/kernels/quantize/sums/code_sum.h"

#define QDQ_ISA_NAME(name) qdq_##name##_avx2

typedef __m256 real_vector;
typedef struct code_operand {
    __m256 scale;
    __m256i zero_point;
} code_operand;

static inline code_operand operand_of(const qdq_code_operand *o) {
    return (code_operand){all(o->scale), _mm256_set1_epi32(o->zero_point)};
}

static inline factors factors_for(const void *params, float s, int32_t z) {
    return factors_of(params, s, z);
}

static inline __m256 reals_of(const code_operand *o, const uint8_t *codes, bool is_signed) {
    __m128i bytes = _mm_loadl_epi64((const __m128i *)(const void *)codes);
    __m256i v = is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(v, o->zero_point)), o->scale);
}

static inline __m256 add(__m256 a, __m256 b) { return _mm256_add_ps(a, b); }

#include "ops/kernels/quantize/sums/code_sum.inc.h"
