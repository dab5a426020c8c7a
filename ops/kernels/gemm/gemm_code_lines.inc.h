// SPDX-License-Identifier: Apache-2.0
// Lines of codes as the columns of a panel, and rows of codes as lines, included by the file of an
// instruction set.
#include "ops/kernels/gemm/gemm_tiles.inc.h"

qdq_gemm_code_lines_fn QDQ_ISA_NAME(gemm_byte_lines), QDQ_ISA_NAME(gemm_pair_lines);
qdq_gemm_code_runs_fn QDQ_ISA_NAME(gemm_code_runs);

// The lines of a step, and the address of the first code of each.
enum { FOUR = QDQ_GEMM_STEP_BYTES, TWO = FOUR / 2 };

// Addresses are integers here: a line may begin before x.
static inline const uint8_t *code_line(const qdq_gemm_code_lines *l, size_t k) {
    uintptr_t at = (uintptr_t)l->x + (l->base + l->offsets[k]);
    return (const uint8_t *)at;  // NOLINT(performance-no-int-to-ptr)
}

// `codes` loads the 32 codes from x on, or l->pad where the mask has no bit. `interleave_bytes` and
// `interleave_pairs` store the codes of a step, column by column.
#if defined(__AVX2__)

typedef __m256i code_vector;

#if defined(__AVX512F__)

static inline code_vector codes(const qdq_gemm_code_lines *l, const uint8_t *x, uint32_t mask) {
    return _mm256_mask_loadu_epi8(_mm256_set1_epi8((char)l->pad), mask, x);
}

#else

// Returns all bits of byte j if bit j of the mask is set.
static inline __m256i bytes_of(uint32_t mask) {
    __m256i from =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i own = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32((int)mask), from), bits);
    return _mm256_cmpeq_epi8(own, bits);
}

static inline code_vector codes(const qdq_gemm_code_lines *l, const uint8_t *x, uint32_t mask) {
    uint8_t line[COLUMNS];
    if (mask == ~0U) return _mm256_loadu_si256((const __m256i *)(const void *)x);
    size_t at = (uintptr_t)x - (uintptr_t)l->x;
    if (at <= l->size && l->size - at >= COLUMNS)
        return _mm256_blendv_epi8(_mm256_set1_epi8((char)l->pad),
                                  _mm256_loadu_si256((const __m256i *)(const void *)x),
                                  bytes_of(mask));
    for (size_t j = 0; j < COLUMNS; j++) line[j] = mask >> j & 1 ? x[j] : l->pad;
    return _mm256_loadu_si256((const __m256i *)(const void *)line);
}

#endif

#if defined(__AVX512F__)

// The bytes of the four lines in each column, of 16 columns.
#define FOUR_OF(j) (j), (j) + 32, (j) + 64, (j) + 96
#define SIXTEEN_FROM(j)                                                                           \
    FOUR_OF(j), FOUR_OF((j) + 1), FOUR_OF((j) + 2), FOUR_OF((j) + 3), FOUR_OF((j) + 4),           \
        FOUR_OF((j) + 5), FOUR_OF((j) + 6), FOUR_OF((j) + 7), FOUR_OF((j) + 8), FOUR_OF((j) + 9), \
        FOUR_OF((j) + 10), FOUR_OF((j) + 11), FOUR_OF((j) + 12), FOUR_OF((j) + 13),               \
        FOUR_OF((j) + 14), FOUR_OF((j) + 15)
static const uint8_t bytes_of_columns[2][64] = {{SIXTEEN_FROM(0)}, {SIXTEEN_FROM(16)}};

static inline void interleave_bytes(const code_vector *x, const qdq_gemm_code_lines *l,
                                    uint8_t *out) {
    __m512i flip = _mm512_set1_epi8((char)l->flip);
    __m512i low = _mm512_inserti64x4(_mm512_castsi256_si512(x[0]), x[1], 1);
    __m512i high = _mm512_inserti64x4(_mm512_castsi256_si512(x[2]), x[3], 1);
    UNROLLED for (size_t i = 0; i < 2; i++) {
        __m512i order = _mm512_loadu_si512(bytes_of_columns[i]);
        __m512i columns = _mm512_permutex2var_epi8(low, order, high);
        _mm512_storeu_si512(out + i * 64, _mm512_xor_si512(columns, flip));
    }
}

#else

// Half of a vector lies 16 columns after the other.
static inline void interleave_bytes(const code_vector *x, const qdq_gemm_code_lines *l,
                                    uint8_t *out) {
    enum { HALF = COLUMNS / 2 * FOUR };
    __m256i flip = _mm256_set1_epi8((char)l->flip);
    __m256i low_01 = _mm256_unpacklo_epi8(x[0], x[1]), high_01 = _mm256_unpackhi_epi8(x[0], x[1]);
    __m256i low_23 = _mm256_unpacklo_epi8(x[2], x[3]), high_23 = _mm256_unpackhi_epi8(x[2], x[3]);
    __m256i fours[] = {_mm256_unpacklo_epi16(low_01, low_23), _mm256_unpackhi_epi16(low_01, low_23),
                       _mm256_unpacklo_epi16(high_01, high_23),
                       _mm256_unpackhi_epi16(high_01, high_23)};
    UNROLLED for (size_t i = 0; i < 4; i += 2) {
        __m256i low = _mm256_permute2x128_si256(fours[i], fours[i + 1], 0x20);
        __m256i high = _mm256_permute2x128_si256(fours[i], fours[i + 1], 0x31);
        __m256i *to = (__m256i *)(void *)(out + i * 16);
        _mm256_storeu_si256(to, _mm256_xor_si256(low, flip));
        _mm256_storeu_si256(to + HALF / sizeof *to, _mm256_xor_si256(high, flip));
    }
}

#endif

static inline void interleave_pairs(const code_vector *x, const qdq_gemm_code_lines *l,
                                    uint8_t *out) {
    __m256i flip = _mm256_set1_epi8((char)l->flip), zero = _mm256_set1_epi16((short)l->zero);
    __m256i low = _mm256_xor_si256(_mm256_unpacklo_epi8(x[0], x[1]), flip);
    __m256i high = _mm256_xor_si256(_mm256_unpackhi_epi8(x[0], x[1]), flip);
    __m128i bytes[] = {_mm256_castsi256_si128(low), _mm256_castsi256_si128(high),
                       _mm256_extracti128_si256(low, 1), _mm256_extracti128_si256(high, 1)};
    UNROLLED for (size_t i = 0; i < 4; i++) _mm256_storeu_si256(
        (__m256i *)(void *)(out + i * 32), _mm256_sub_epi16(_mm256_cvtepu8_epi16(bytes[i]), zero));
}

#else

typedef struct code_vector {
    uint8_t of[COLUMNS];
} code_vector;

static inline code_vector codes(const qdq_gemm_code_lines *l, const uint8_t *x, uint32_t mask) {
    code_vector line;
    if (mask == ~0U)
        memcpy(line.of, x, sizeof line.of);
    else
        for (size_t j = 0; j < COLUMNS; j++) line.of[j] = mask >> j & 1 ? x[j] : l->pad;
    return line;
}

static inline void interleave_bytes(const code_vector *x, const qdq_gemm_code_lines *l,
                                    uint8_t *out) {
    for (size_t i = 0; i < FOUR; i++)
        for (size_t j = 0; j < COLUMNS; j++) out[j * FOUR + i] = x[i].of[j] ^ l->flip;
}

static inline void interleave_pairs(const code_vector *x, const qdq_gemm_code_lines *l,
                                    uint8_t *out) {
    int16_t *to = (int16_t *)(void *)out;
    for (size_t i = 0; i < TWO; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            to[j * TWO + i] = (int16_t)((x[i].of[j] ^ l->flip) - l->zero);
}

#endif

// Defines a function that packs lines. GET loads the codes of line k. Lines beyond the last repeat
// the first line of the last step: their weights are zeros.
// The copy of the struct tells the compiler that stores of bytes do not change it.
#define CODE_LINES(NAME, LINES, INTERLEAVE, GET)                                  \
    void QDQ_ISA_NAME(NAME)(const qdq_gemm_code_lines *lines) {                   \
        const qdq_gemm_code_lines l = *lines;                                     \
        size_t tap = l.tap, k = 0;                                                \
        uint8_t *out = l.out;                                                     \
        for (; k + (LINES) <= l.n; k += (LINES), out += (size_t)COLUMNS * FOUR) { \
            code_vector x[LINES];                                                 \
            UNROLLED for (size_t i = 0; i < (LINES); i++) {                       \
                x[i] = GET(&l, k + i, l.masks[tap]);                              \
                if (++tap == l.taps) tap = 0;                                     \
            }                                                                     \
            INTERLEAVE(x, &l, out);                                               \
        }                                                                         \
        if (k == l.n) return;                                                     \
        code_vector x[LINES] = {GET(&l, k, l.masks[tap])};                        \
        for (size_t i = 1; i < (LINES); i++) {                                    \
            if (++tap == l.taps) tap = 0;                                         \
            x[i] = k + i < l.n ? GET(&l, k + i, l.masks[tap]) : x[0];             \
        }                                                                         \
        INTERLEAVE(x, &l, out);                                                   \
    }

#define LINE_CODES(l, k, mask) codes(l, code_line(l, k), mask)
CODE_LINES(gemm_byte_lines, FOUR, interleave_bytes, LINE_CODES)
CODE_LINES(gemm_pair_lines, TWO, interleave_pairs, LINE_CODES)

#if defined(__AVX512F__)

qdq_gemm_code_lines_fn QDQ_ISA_NAME(gemm_picked_lines);

// Returns 64 bytes, with zeros for those that are not among the bytes of l. `at`: modulo 2^64.
static inline __m512i window(const qdq_gemm_code_lines *l, size_t at) {
    enum { BYTES = 64 };
    uintptr_t from = (uintptr_t)l->x + at;
    const void *x = (const void *)from;  // NOLINT(performance-no-int-to-ptr)
    if (at <= l->size && l->size - at >= BYTES) return _mm512_loadu_si512(x);
    size_t before = at <= l->size ? 0 : 0 - at, end = l->size - at;
    if (before >= BYTES || (!before && at == l->size)) return _mm512_setzero_si512();
    __mmask64 mask = ~0ULL << before;
    if (end < BYTES) mask &= ~(~0ULL << end);
    return _mm512_maskz_loadu_epi8(mask, x);
}

static inline code_vector picked_codes(const qdq_gemm_code_lines *l, size_t k, uint32_t mask) {
    size_t at = l->base + l->offsets[k];
    __m256i from = _mm256_loadu_si256((const __m256i *)(const void *)l->from);
    __m512i bytes = _mm512_permutex2var_epi8(window(l, at), _mm512_castsi256_si512(from),
                                             window(l, at + l->second));
    return _mm256_mask_mov_epi8(_mm256_set1_epi8((char)l->pad), mask,
                                _mm512_castsi512_si256(bytes));
}

CODE_LINES(gemm_picked_lines, FOUR, interleave_bytes, picked_codes)

#endif

//---- Runs of positions ------------------------------------------------------

// Copies some of n codes that are `stride` apart and may write up to 31 bytes more; returns how
// many. It reads only bytes before `end`.
#if defined(__AVX2__)

// Returns 16 bytes from each of two places, without every second byte.
static inline __m128i even_bytes(const uint8_t *x) {
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)x);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(x + 16));
    __m128i even = _mm_set1_epi16(0x00FF);
    return _mm_packus_epi16(_mm_and_si128(low, even), _mm_and_si128(high, even));
}

static inline size_t copy_vectors(const uint8_t *x, const uint8_t *end, size_t stride, size_t n,
                                  uint8_t *out) {
    enum { STEP = 16 };
    size_t i = 0;
    if (stride > 2) return 0;
    for (; i < n && (size_t)(end - x) >= STEP * stride; i += STEP, x += STEP * stride)
        _mm_storeu_si128((__m128i *)(void *)(out + i),
                         stride == 2 ? even_bytes(x)
                                     : _mm_loadu_si128((const __m128i *)(const void *)x));
    return i;
}

#else

static inline size_t copy_vectors(const uint8_t *x, const uint8_t *end, size_t stride, size_t n,
                                  uint8_t *out) {
    (void)end;
    if (stride > 1) return 0;
    memcpy(out, x, n);
    return n;
}

#endif

// Later runs overwrite codes written beyond the end of a run.
void QDQ_ISA_NAME(gemm_code_runs)(const qdq_gemm_code_runs *r) {
    for (const qdq_gemm_run *run = r->runs; run < r->runs + r->count; run++) {
        uint8_t *out = r->out + run->column;
        bool inside =
            run->index[0] + r->step[0] < r->in[0] && run->index[1] + r->step[1] < r->in[1];
        size_t begin = run->first, end = run->first + run->n;
        if (begin < r->begin) begin = r->begin;
        if (end > r->end) end = r->end;
        if (!inside || begin >= end) begin = end = run->first;
        size_t before = begin - run->first, n = end - begin;
        if (n) {
            const uint8_t *x = r->x + (r->offset + run->at + begin * r->stride);
            size_t i = copy_vectors(x, r->x + r->size, r->stride, n, out + before);
            for (; i < n; i++) out[before + i] = x[i * r->stride];
        }
        for (size_t i = 0; i < before; i++) out[i] = r->pad;
        for (size_t i = before + n; i < run->n; i++) out[i] = r->pad;
    }
}
