// SPDX-License-Identifier: Apache-2.0
// AVX-512 by hand, where compilers get less than half of it: the core's Quantize to bytes with one
// scale, and tables of bytes.
//
// Quantize without a division. Let low < 1/s < high be floats a few units apart. The rounded
// quotient lies between x * low and x * high, so where both of these round to one whole number, the
// quotient rounds to it too. Adding 1.5 * 2^23 in the multiply-add rounds half to even, once, and
// leaves the number in the low bits. Where the two differ, the quotients are computed.
#include "ops/kernels/avx512_hot.h"

#include <immintrin.h>

enum { LANES = 16, GROUP = 64 };
#define MAGIC 0x4B400000  // bits of 1.5 * 2^23

typedef struct factors {
    __m512 low, high, scale, least, most;  // x is brought into least..most first
    __m512i shift;                         // zero point less MAGIC
    __m512i quant_min, quant_max;          // bytes
} factors;

static inline __m512 all(float v) { return _mm512_set1_ps(v); }

// Whether the argument above holds for s, and sums with z stay far from the ends of int32.
static inline bool may_multiply(float s, int32_t z) {
    return s > 0x1p-60f && s < 0x1p60f && z > -(1 << 20) && z < 1 << 20;
}

static inline factors factors_of(const qdq_quant_params *p, float s, int32_t z) {
    float inverse = 1.0f / s;
    uint32_t bits = qdq_float_bits(inverse);
    uint32_t apart = qdq_float_bits(s) & 0x7FFFFF ? 4 : 0;  // of a power of two 1/s is exact
    return (factors){
        .low = all(qdq_float_from_bits(bits - apart)),
        .high = all(qdq_float_from_bits(bits + apart)),
        .scale = all(s),
        .least = all(-0x1p21f * s),
        .most = all(0x1p21f * s),
        .shift = _mm512_set1_epi32(z - MAGIC),
        .quant_min = _mm512_set1_epi8((char)p->range.quant_min),
        .quant_max = _mm512_set1_epi8((char)p->range.quant_max),
    };
}

// The sum of the rounded quotient and z. NaN becomes `least`: max gives its second operand then.
static inline __m512i quantized(const factors *f, __m512 x) {
    __m512 magic = _mm512_castsi512_ps(_mm512_set1_epi32(MAGIC));
    x = _mm512_min_ps(_mm512_max_ps(x, f->least), f->most);
    __m512i low = _mm512_castps_si512(_mm512_fmadd_ps(x, f->low, magic));
    __m512i high = _mm512_castps_si512(_mm512_fmadd_ps(x, f->high, magic));
    if (__builtin_expect(_mm512_cmpneq_epi32_mask(low, high) != 0, 0))
        low = _mm512_castps_si512(_mm512_add_ps(_mm512_div_ps(x, f->scale), magic));
    return _mm512_add_epi32(low, f->shift);
}

static inline __m512 load_float32(const void *x, size_t i) {
    return _mm512_loadu_ps((const float *)x + i);
}
static inline __m512 load_bfloat16(const void *x, size_t i) {
    const void *at = (const uint16_t *)x + i;
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(at));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

// Four times 16 numbers to 64 bytes in order, saturated.
static inline __m512i in_order(__m512i bytes) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}
static inline __m512i to_int8(const factors *f, __m512i a, __m512i b, __m512i c, __m512i d) {
    __m512i y = in_order(_mm512_packs_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)));
    return _mm512_min_epi8(_mm512_max_epi8(y, f->quant_min), f->quant_max);
}
static inline __m512i to_uint8(const factors *f, __m512i a, __m512i b, __m512i c, __m512i d) {
    __m512i y = in_order(_mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d)));
    return _mm512_min_epu8(_mm512_max_epu8(y, f->quant_min), f->quant_max);
}

#define QUANTIZE(x_name, y_name, rest)                                                            \
    void qdq_quantize_##x_name##_##y_name##_hot_avx512(const void *params, const qdq_view *views, \
                                                       const void *x, void *y, size_t n) {        \
        const qdq_quant_params *p = params;                                                       \
        float s = qdq_float_from_bits(views[0].data[0]);                                          \
        int32_t z = (int32_t)views[1].data[0];                                                    \
        size_t at = 0;                                                                            \
        if (!views[0].step && !views[1].step && may_multiply(s, z)) {                             \
            factors f = factors_of(p, s, z);                                                      \
            for (; at + GROUP <= n; at += GROUP) {                                                \
                __m512i a = quantized(&f, load_##x_name(x, at));                                  \
                __m512i b = quantized(&f, load_##x_name(x, at + LANES));                          \
                __m512i c = quantized(&f, load_##x_name(x, at + 2 * LANES));                      \
                __m512i d = quantized(&f, load_##x_name(x, at + 3 * LANES));                      \
                _mm512_storeu_si512((char *)y + at, to_##y_name(&f, a, b, c, d));                 \
            }                                                                                     \
        }                                                                                         \
        qdq_view left[2] = {{views[0].data + at * views[0].step, views[0].step},                  \
                            {views[1].data + at * views[1].step, views[1].step}};                 \
        if (at < n)                                                                               \
            rest(params, left, (const char *)x + at * qdq_dtype_size(p->x_dtype), (char *)y + at, \
                 n - at);                                                                         \
    }

QUANTIZE(float32, int8, qdq_quantize_float32_int8_core_avx512)
QUANTIZE(float32, uint8, qdq_quantize_float32_uint8_core_avx512)
QUANTIZE(bfloat16, int8, qdq_quantize_bfloat16_int8_core_avx512)
QUANTIZE(bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx512)

//---- Tables of bytes --------------------------------------------------------

void qdq_lookup_bytes_avx512(const void *params, const qdq_view *views, const void *x, void *y,
                             size_t n) {
    const qdq_lookup_params *p = params;
    size_t at = 0;
    if (!views[0].step) {
        const uint8_t *table = (const uint8_t *)p->tables + (size_t)views[0].data[0] * 256;
        __m512i t[4];
        for (int k = 0; k < 4; k++) t[k] = _mm512_loadu_si512(table + k * 64);
        for (; at + GROUP <= n; at += GROUP) {
            __m512i code = _mm512_loadu_si512((const char *)x + at);
            __m512i below = _mm512_permutex2var_epi8(t[0], code, t[1]);
            __m512i above = _mm512_permutex2var_epi8(t[2], code, t[3]);
            _mm512_storeu_si512((char *)y + at,
                                _mm512_mask_blend_epi8(_mm512_movepi8_mask(code), below, above));
        }
    }
    qdq_view rest = {views[0].data + at * views[0].step, views[0].step};
    if (at < n)
        qdq_lookup_bytes_portable(params, &rest, (const char *)x + at, (char *)y + at, n - at);
}
