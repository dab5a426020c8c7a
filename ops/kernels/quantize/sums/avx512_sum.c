// SPDX-License-Identifier: Apache-2.0
// Sums of codes with AVX-512.
#include "ops/kernels/quantize/avx512_codes.inc.h"
#include "ops/kernels/quantize/sums/code_sum.h"

#define QDQ_ISA_NAME(name) qdq_##name##_avx512

typedef __m512 real_vector;
typedef struct code_operand {
    __m512 scale;
    __m512i zero_point;
} code_operand;

static inline code_operand operand_of(const qdq_code_operand *o) {
    return (code_operand){all(o->scale), _mm512_set1_epi32(o->zero_point)};
}

static inline factors factors_for(const void *params, float s, int32_t z) {
    return factors_of(params, 1.0f, s, z);
}

static inline __m512 reals_of(const code_operand *o, const uint8_t *codes, bool is_signed) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)codes);
    __m512i v = is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(v, o->zero_point)), o->scale);
}

static inline __m512 add(__m512 a, __m512 b) { return _mm512_add_ps(a, b); }

#include "ops/kernels/quantize/sums/code_sum.inc.h"
