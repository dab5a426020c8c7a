// SPDX-License-Identifier: Apache-2.0
// Products of few codes with AVX-512. Four vectors hold the sums of 64 neighbouring positions, in
// the order in which unpacking leaves the bytes of four k, and the codes of a row are one store.
#include "ops/kernels/gemm/codes/few_codes.h"
#include "ops/kernels/quantize/avx512_codes.inc.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLLED _Pragma("GCC unroll 16")

enum {
    VECTORS = GROUP / REALS,
    STEP = QDQ_GEMM_STEP_BYTES,
    ROWS = 4,  // that a step adds to, as registers hold their sums
    GROUPS = QDQ_FEW_CODES_POSITIONS / GROUP,
    STEPS = QDQ_FEW_CODES_DEPTH / STEP,
};

// The codes of 64 positions: for each step four vectors. Lane d of part l of vector i has the
// position 16 l + 4 i + d.
typedef struct group {
    __m512i x[STEPS][VECTORS];
} group;

typedef struct numbers {
    factors by;
    bool is_signed;
    __m512i order;  // of packed codes
} numbers;

// Packing takes lanes alternately from the two vectors of each pair.
static inline __m512i order_of_positions(void) {
    uint8_t order[GROUP];
    for (size_t i = 0; i < GROUP; i++) {
        size_t vector = i / 4 % 4, lane = i % 4;
        order[i] = (uint8_t)(i / 16 * 16 + vector / 2 * 8 + lane * 2 + vector % 2);
    }
    return _mm512_loadu_si512(order);
}

static inline void load_group(const qdq_few_codes *p, size_t at, group *to) {
    const __m512i flip = _mm512_set1_epi8((char)p->flip);
    size_t left = p->codes.n - at, last = p->depth - 1;
    __mmask64 mask = left < GROUP ? (1ull << left) - 1 : UINT64_MAX;
    for (size_t k = 0; k < p->depth; k += STEP) {
        __m512i row[STEP];
        UNROLLED for (size_t i = 0; i < STEP; i++) {
            const uint8_t *x = p->x + (k + i < last ? k + i : last) * p->x_stride + at;
            row[i] = _mm512_xor_si512(_mm512_maskz_loadu_epi8(mask, x), flip);
        }
        __m512i low[2], high[2], *out = to->x[k / STEP];
        UNROLLED for (size_t i = 0; i < 2; i++) {
            low[i] = _mm512_unpacklo_epi8(row[2 * i], row[2 * i + 1]);
            high[i] = _mm512_unpackhi_epi8(row[2 * i], row[2 * i + 1]);
        }
        out[0] = _mm512_unpacklo_epi16(low[0], low[1]);
        out[1] = _mm512_unpackhi_epi16(low[0], low[1]);
        out[2] = _mm512_unpacklo_epi16(high[0], high[1]);
        out[3] = _mm512_unpackhi_epi16(high[0], high[1]);
    }
}

// Computes the codes of `rows` rows at 64 positions. n: of them.
INLINE void add_rows(size_t rows, const qdq_few_codes *p, const numbers *of, const group *x,
                     size_t row, size_t at) {
    size_t n = p->codes.n - at, stride = p->codes.out_stride, depth = p->depth;
    __mmask64 mask = n < GROUP ? (1ull << n) - 1 : UINT64_MAX;
    __m512i sums[ROWS][VECTORS];
    uint8_t *out = (uint8_t *)p->codes.out + row * stride + at;
    const char *weights[ROWS];
    UNROLLED for (size_t r = 0; r < rows; r++) {
        weights[r] = p->weights[row + r];
        UNROLLED for (size_t i = 0; i < VECTORS; i++) sums[r][i] =
            _mm512_set1_epi32(p->row_start[row + r]);
    }
    for (size_t k = 0; k < depth; k += STEP) UNROLLED for (size_t r = 0; r < rows; r++) {
            int32_t word;
            memcpy(&word, weights[r] + k, sizeof word);
            UNROLLED for (size_t i = 0; i < VECTORS; i++) sums[r][i] =
                _mm512_dpbusd_epi32(sums[r][i], x->x[k / STEP][i], _mm512_set1_epi32(word));
        }
    UNROLLED for (size_t r = 0; r < rows; r++) {
        __m512 scale = all(p->codes.scale[row + r]), bias = all(p->codes.bias[row + r]);
        __m512 real[VECTORS];
        __m512i words[2], codes;
        UNROLLED for (size_t i = 0; i < VECTORS; i++) real[i] =
            _mm512_add_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sums[r][i]), scale), bias);
        quantize_vectors(&of->by, real, words);
        codes = of->is_signed ? to_int8(&of->by, words, of->order)
                              : to_uint8(&of->by, words, of->order);
        if (n >= GROUP)
            _mm512_storeu_si512(out + r * stride, codes);
        else
            _mm512_mask_storeu_epi8(out + r * stride, mask, codes);
    }
}

qdq_few_codes_fn qdq_few_codes_avx512;
bool qdq_few_codes_avx512(const qdq_few_codes *p) {
    const qdq_gemm_code_rows *c = &p->codes;
    float s = qdq_float_from_bits(c->views[0].data[0]);
    int32_t z = (int32_t)c->views[1].data[0];
    group groups[GROUPS];
    if (!qdq_may_multiply(c->params, s, z)) return false;
    const numbers of = {factors_of(c->params, 1.0f, s, z),
                        c->fn == qdq_quantize_float32_int8_channels_avx512, order_of_positions()};
    for (size_t at = 0; at < c->n; at += GROUP) load_group(p, at, &groups[at / GROUP]);
    size_t row = 0;
    for (; row + ROWS <= c->rows; row += ROWS)
        for (size_t at = 0; at < c->n; at += GROUP)
            add_rows(ROWS, p, &of, &groups[at / GROUP], row, at);
    for (; row < c->rows; row++)
        for (size_t at = 0; at < c->n; at += GROUP)
            add_rows(1, p, &of, &groups[at / GROUP], row, at);
    return true;
}
