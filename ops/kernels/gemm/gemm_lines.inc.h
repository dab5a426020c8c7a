// SPDX-License-Identifier: Apache-2.0
// Lines of x as the columns of a panel, included by the file of an instruction set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_lines_fn QDQ_ISA_NAME(gemm_lines);

// `line` makes 32 columns of the elements from x on, which may be outside of memory where the mask
// has no bit; `picked` makes them of the elements at x[at[j]].
#if defined(__AVX512F__)

static inline void line(const float *x, uint32_t mask, float *out) {
    _mm512_storeu_ps(out, _mm512_maskz_loadu_ps((__mmask16)mask, x));
    _mm512_storeu_ps(out + 16, _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), x + 16));
}

static inline void picked(const float *x, const int32_t *at, uint32_t mask, float *out) {
    for (size_t j = 0; j < COLUMNS; j += 16)
        _mm512_storeu_ps(out + j,
                         _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)(mask >> j),
                                                  _mm512_loadu_si512(at + j), x, 4));
}

#elif defined(__AVX2__)

// All bits of a lane if bit j of the mask is set.
static inline __m256i lanes_of(uint32_t mask, size_t j) {
    __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    __m256i own = _mm256_and_si256(_mm256_set1_epi32((int)(mask >> j)), bits);
    return _mm256_cmpeq_epi32(own, bits);
}

static inline void line(const float *x, uint32_t mask, float *out) {
    if (mask == ~0U) {
        memcpy(out, x, COLUMNS * sizeof *out);
        return;
    }
    for (size_t j = 0; j < COLUMNS; j += 8)
        _mm256_storeu_ps(out + j, _mm256_maskload_ps(x + j, lanes_of(mask, j)));
}

static inline void picked(const float *x, const int32_t *at, uint32_t mask, float *out) {
    for (size_t j = 0; j < COLUMNS; j += 8) {
        __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)(at + j));
        __m256 lanes = _mm256_castsi256_ps(lanes_of(mask, j));
        _mm256_storeu_ps(out + j, _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x, from, lanes, 4));
    }
}

#else

static inline void line(const float *x, uint32_t mask, float *out) {
    if (mask == ~0U) {
        memcpy(out, x, COLUMNS * sizeof *out);
        return;
    }
    for (size_t j = 0; j < COLUMNS; j++) out[j] = mask >> j & 1 ? x[j] : 0;
}

static inline void picked(const float *x, const int32_t *at, uint32_t mask, float *out) {
    for (size_t j = 0; j < COLUMNS; j++) out[j] = mask >> j & 1 ? x[at[j]] : 0;
}

#endif

// Addresses are integers here: a line may begin before x.
void QDQ_ISA_NAME(gemm_lines)(const qdq_gemm_lines *l) {
    size_t tap = l->tap, taps = l->taps;
    for (size_t k = 0; k < l->n; k++) {
        uintptr_t at = (uintptr_t)l->x + (l->base + l->offsets[k]) * sizeof(float);
        const float *x = (const float *)at;  // NOLINT(performance-no-int-to-ptr)
        if (l->at)
            picked(x, l->at, l->masks[tap], l->out + k * COLUMNS);
        else
            line(x, l->masks[tap], l->out + k * COLUMNS);
        if (++tap == taps) tap = 0;
    }
}
