// SPDX-License-Identifier: Apache-2.0
// Lines of x as the columns of a panel, included by the file of an instruction set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_lines_fn QDQ_ISA_NAME(gemm_lines);

// `line` stores 32 columns of the elements from x on, which may be outside of memory where the mask
// has no bit; `picked` stores columns of the elements at x[at[j]] (qdq_gemm_lines_panel).
#if defined(__AVX512F__)

static inline void line(const float *x, uint32_t mask, float *out) {
    _mm512_storeu_ps(out, _mm512_maskz_loadu_ps((__mmask16)mask, x));
    _mm512_storeu_ps(out + 16, _mm512_maskz_loadu_ps((__mmask16)(mask >> 16), x + 16));
}

// Returns the lanes of a mask twice as wide that lie two apart.
static inline uint32_t spread(uint32_t mask) {
    mask = (mask | mask << 8) & 0x00FF00FF;
    mask = (mask | mask << 4) & 0x0F0F0F0F;
    mask = (mask | mask << 2) & 0x33333333;
    return (mask | mask << 1) & 0x55555555;
}

// Returns sixteen elements that lie two apart, or eight. Reads nothing where the mask has no bit.
static inline __m512 every_second(const float *x, uint32_t mask) {
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    uint32_t wide = spread(mask);
    return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps((__mmask16)wide, x), even,
                                  _mm512_maskz_loadu_ps((__mmask16)(wide >> 16), x + 16));
}

static inline __m256 every_second_of_eight(const float *x, uint32_t mask) {
    __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 0, 0, 0, 0, 0, 0, 0, 0);
    __m512 all = _mm512_maskz_loadu_ps((__mmask16)spread(mask), x);
    return _mm512_castps512_ps256(_mm512_permutexvar_ps(even, all));
}

static inline __m256 picked_eight(const float *x, const int32_t *at, size_t step, uint32_t mask) {
    if (step == 1) return _mm256_maskz_loadu_ps((__mmask8)mask, x + at[0]);
    if (step == 2) return every_second_of_eight(x + at[0], mask & 0xFF);
    return _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), (__mmask8)mask,
                                     _mm256_loadu_si256((const __m256i *)(const void *)at), x, 4);
}

static inline void picked(const float *x, const qdq_gemm_lines_panel *of, uint32_t mask,
                          float *out) {
    for (size_t j = 0; j < COLUMNS; j += 16, mask >>= 16) {
        const int32_t *at = of->at + j;
        const uint8_t *steps = of->steps + j / QDQ_GEMM_STEPPED;
        if (steps[0] == 2 && steps[1] == 2 && at[8] - at[0] == 16) {
            _mm512_storeu_ps(out + j, every_second(x + at[0], mask & 0xFFFF));
        } else if (!steps[0] && !steps[1]) {
            _mm512_storeu_ps(out + j, _mm512_mask_i32gather_ps(_mm512_setzero_ps(), (__mmask16)mask,
                                                               _mm512_loadu_si512(at), x, 4));
        } else {
            _mm256_storeu_ps(out + j, picked_eight(x, at, steps[0], mask));
            _mm256_storeu_ps(out + j + 8, picked_eight(x, at + 8, steps[1], mask >> 8));
        }
    }
}

#elif defined(__AVX2__)

// Returns all bits of a lane if bit j of the mask is set.
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

// Returns eight elements that lie two apart. Reads nothing before the first or after the last.
static inline __m256 every_second(const float *x) {
    __m256 mixed = _mm256_shuffle_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(x + 7), 0xD8);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(mixed), 0xD8));
}

static inline __m256 picked_lanes(const float *x, const int32_t *at, size_t step, uint32_t mask) {
    __m256i lanes = lanes_of(mask, 0);
    if (step == 1) return _mm256_maskload_ps(x + at[0], lanes);
    if (step == 2 && (mask & 0xFF) == 0xFF) return every_second(x + at[0]);
    return _mm256_mask_i32gather_ps(_mm256_setzero_ps(), x,
                                    _mm256_loadu_si256((const __m256i *)(const void *)at),
                                    _mm256_castsi256_ps(lanes), 4);
}

static inline void picked(const float *x, const qdq_gemm_lines_panel *of, uint32_t mask,
                          float *out) {
    for (size_t j = 0; j < COLUMNS; j += QDQ_GEMM_STEPPED)
        _mm256_storeu_ps(out + j,
                         picked_lanes(x, of->at + j, of->steps[j / QDQ_GEMM_STEPPED], mask >> j));
}

#else

static inline void line(const float *x, uint32_t mask, float *out) {
    if (mask == ~0U) {
        memcpy(out, x, COLUMNS * sizeof *out);
        return;
    }
    for (size_t j = 0; j < COLUMNS; j++) out[j] = mask >> j & 1 ? x[j] : 0;
}

static inline void picked(const float *x, const qdq_gemm_lines_panel *of, uint32_t mask,
                          float *out) {
    for (size_t j = 0; j < COLUMNS; j++) out[j] = mask >> j & 1 ? x[of->at[j]] : 0;
}

#endif

// Addresses are integers here: a line may begin before x.
static inline const float *line_at(const qdq_gemm_lines *l, const qdq_gemm_lines_panel *p,
                                   size_t k) {
    uintptr_t at = (uintptr_t)l->x + (p->base + l->offsets[k]) * sizeof(float);
    return (const float *)at;  // NOLINT(performance-no-int-to-ptr)
}

static void pack_lines(const qdq_gemm_lines *l, const qdq_gemm_lines_panel *p) {
    const qdq_gemm_lines lines = *l;
    const qdq_gemm_lines_panel panel = *p;
    size_t tap = lines.tap;
    for (size_t k = 0; k < lines.n; k++) {
        const float *x = line_at(&lines, &panel, k);
        line(x, panel.masks[tap], panel.out + k * COLUMNS);
        if (++tap == lines.taps) tap = 0;
    }
}

static void pack_picked(const qdq_gemm_lines *l, const qdq_gemm_lines_panel *p) {
    size_t tap = l->tap;
    for (size_t k = 0; k < l->n; k++) {
        picked(line_at(l, p, k), p, p->masks[tap], p->out + k * COLUMNS);
        if (++tap == l->taps) tap = 0;
    }
}

void QDQ_ISA_NAME(gemm_lines)(const qdq_gemm_lines *l) {
    for (const qdq_gemm_lines_panel *p = l->panels; p < l->panels + l->count; p++)
        (p->at ? pack_picked : pack_lines)(l, p);
}
