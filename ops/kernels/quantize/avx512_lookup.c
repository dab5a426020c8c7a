// SPDX-License-Identifier: Apache-2.0
// Lookup in tables of 16-bit and 32-bit results with AVX-512 intrinsics. A table of 16 bits is
// split into tables of low bytes and of high bytes, four registers each, and the two results are
// joined.
#include <immintrin.h>

#include "ops/kernels/quantize/kernel_list.h"

enum { GROUP = 64, LANES = 16 };

typedef struct byte_table {
    __m512i part[4];
} byte_table;

// Returns the low bytes of the 64 numbers in a and b, in order.
static inline __m512i low_bytes(__m512i a, __m512i b) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(a)),
                              _mm512_cvtepi16_epi8(b), 1);
}

static inline void take_apart(const uint16_t *table, byte_table *low, byte_table *high) {
    for (int k = 0; k < 4; k++) {
        __m512i a = _mm512_loadu_si512(table + k * 64), b = _mm512_loadu_si512(table + k * 64 + 32);
        low->part[k] = low_bytes(a, b);
        high->part[k] = low_bytes(_mm512_srli_epi16(a, 8), _mm512_srli_epi16(b, 8));
    }
}

static inline __m512i found(const byte_table *t, __m512i codes, __mmask64 upper) {
    __m512i below = _mm512_permutex2var_epi8(t->part[0], codes, t->part[1]);
    __m512i above = _mm512_permutex2var_epi8(t->part[2], codes, t->part[3]);
    return _mm512_mask_blend_epi8(upper, below, above);
}

// Unpacking joins bytes within each quarter of a register, from its lower or its upper half, so the
// codes are permuted beforehand.
static inline void look_up_halves(const byte_table *low, const byte_table *high, const void *x,
                                  void *y) {
    const __m512i order = _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7);
    __m512i codes = _mm512_permutexvar_epi64(order, _mm512_loadu_si512(x));
    __mmask64 upper = _mm512_movepi8_mask(codes);
    __m512i l = found(low, codes, upper), h = found(high, codes, upper);
    _mm512_storeu_si512(y, _mm512_unpacklo_epi8(l, h));
    _mm512_storeu_si512((char *)y + GROUP, _mm512_unpackhi_epi8(l, h));
}

void qdq_lookup_halves_avx512(const void *params, const qdq_view *views, const void *x, void *y,
                              size_t n) {
    const qdq_lookup_params *p = params;
    size_t at = 0;
    if (!views[0].step && n >= GROUP) {
        byte_table low, high;
        take_apart((const uint16_t *)p->tables + (size_t)views[0].data[0] * 256, &low, &high);
        for (; at + GROUP <= n; at += GROUP)
            look_up_halves(&low, &high, (const char *)x + at, (uint16_t *)y + at);
    }
    qdq_view rest = {views[0].data + at * views[0].step, views[0].step};
    if (at < n)
        qdq_lookup_halves_portable(params, &rest, (const char *)x + at, (uint16_t *)y + at, n - at);
}

void qdq_lookup_words_avx512(const void *params, const qdq_view *views, const void *x, void *y,
                             size_t n) {
    const qdq_lookup_params *p = params;
    size_t at = 0;
    if (!views[0].step) {
        const uint32_t *table = (const uint32_t *)p->tables + (size_t)views[0].data[0] * 256;
        for (; at + LANES <= n; at += LANES) {
            const void *codes = (const char *)x + at;
            __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128(codes));
            _mm512_storeu_si512((uint32_t *)y + at, _mm512_i32gather_epi32(index, table, 4));
        }
    }
    qdq_view rest = {views[0].data + at * views[0].step, views[0].step};
    if (at < n)
        qdq_lookup_words_portable(params, &rest, (const char *)x + at, (uint32_t *)y + at, n - at);
}
