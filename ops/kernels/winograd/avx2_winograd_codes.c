// SPDX-License-Identifier: Apache-2.0
// The kernels of Winograd's convolution of codes (winograd.h) with AVX2, which has no exact product
// of bytes: 3 instructions add 32 products of bytes, but 2 add 16 products of int16_t, and the
// tiles need 4 of 9 products. A word holds two channels, so that rows and columns of words are
// transformed as int16_t.
#include <immintrin.h>
#include <string.h>

#include "ops/kernels/winograd/winograd.h"

enum {
    SIDE = QDQ_WINOGRAD_SIDE,
    STEP = 2,   // columns from one tile to the next
    PAIR = 2,   // channels of a word
    LANES = 8,  // words of a vector
    BYTES = 32,
    BLOCK = 16,  // columns that become a vector of even ones and one of odd ones
    BLOCKS = (STEP * (QDQ_WINOGRAD_RUN + 1) + BLOCK - 1) / BLOCK,
    LINE = 3 * BYTES,  // bytes of a row under a run, and after it
    WORDS = (BLOCKS + 1) * LANES,
};

_Static_assert(LINE >= BLOCKS * BLOCK, "a line has room for all blocks");

// The rows of both channels of a word, from the first tile's first column on.
typedef struct lines {
    _Alignas(BYTES) uint8_t of[SIDE][PAIR][LINE];
} lines;

// Transformed rows: their even and odd columns.
typedef struct rows {
    _Alignas(BYTES) int32_t even[SIDE][WORDS], odd[SIDE][WORDS];
} rows;

static inline __m256i load(const void *from) { return _mm256_loadu_si256(from); }
static inline void store(void *to, __m256i v) { _mm256_storeu_si256(to, v); }

//---- Points -----------------------------------------------------------------

static inline size_t between(ptrdiff_t n, size_t least, size_t most) {
    return n < (ptrdiff_t)least ? least : n > (ptrdiff_t)most ? most : (size_t)n;
}

// Copies a row of a plane whose column 0 is at `row`. Columns beyond the plane get the zero point.
static inline void copy_line(const qdq_winograd_tiles *t, size_t row, uint8_t *to) {
    size_t needed = STEP * (t->n + 1), begin = between(-t->column, 0, needed);
    size_t end = between((ptrdiff_t)t->columns - t->column, begin, needed);
    size_t first = row + (size_t)t->column;  // modulo 2^64
    const uint8_t *x = t->x;
    if (first < t->size && t->size - first >= LINE)
        for (size_t i = 0; i < LINE; i += BYTES) store(to + i, load(x + first + i));
    else
        memcpy(to + begin, x + (first + begin), end - begin);
    if (begin) memset(to, t->zero, begin);
    if (end < needed) memset(to + end, t->zero, needed - end);
}

static inline void copy_lines(const qdq_winograd_tiles *t, size_t channel, lines *to) {
    for (size_t c = 0; c < PAIR; c++) {
        size_t own = channel + c < t->channels ? channel + c : channel;
        for (size_t r = 0; r < SIDE; r++) {
            size_t row = (size_t)t->row + r;  // modulo 2^64
            if (row < t->rows)
                copy_line(t, t->at + own * t->channel_stride + row * t->row_stride, to->of[r][c]);
            else
                memset(to->of[r][c], t->zero, LINE);
        }
    }
}

static inline __m256i widen(__m128i codes, bool is_signed) {
    return is_signed ? _mm256_cvtepi8_epi16(codes) : _mm256_cvtepu8_epi16(codes);
}

static inline void store_row_sums(const __m256i d[SIDE], int32_t to[SIDE][WORDS], size_t at) {
    store(to[0] + at, _mm256_sub_epi16(d[0], d[2]));
    store(to[1] + at, _mm256_add_epi16(d[1], d[2]));
    store(to[2] + at, _mm256_sub_epi16(d[2], d[1]));
    store(to[3] + at, _mm256_sub_epi16(d[1], d[3]));
}

static inline void transform_rows(const lines *from, size_t blocks, bool is_signed, rows *to) {
    const __m128i apart = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
    for (size_t i = 0; i < blocks; i++) {
        __m256i even[SIDE], odd[SIDE];
        for (size_t r = 0; r < SIDE; r++) {
            __m128i a = _mm_load_si128((const __m128i *)(const void *)(from->of[r][0] + i * BLOCK));
            __m128i b = _mm_load_si128((const __m128i *)(const void *)(from->of[r][1] + i * BLOCK));
            a = _mm_shuffle_epi8(a, apart), b = _mm_shuffle_epi8(b, apart);
            even[r] = widen(_mm_unpacklo_epi8(a, b), is_signed);
            odd[r] = widen(_mm_unpackhi_epi8(a, b), is_signed);
        }
        store_row_sums(even, to->even, i * LANES);
        store_row_sums(odd, to->odd, i * LANES);
    }
}

static inline void store_some(float *to, __m256i v, size_t room) {
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    if (room >= LANES)
        store(to, v);
    else
        _mm256_maskstore_epi32((int *)(void *)to,
                               _mm256_cmpgt_epi32(_mm256_set1_epi32((int)room), number), v);
}

// Zero points cancel in all points but one, which adds four elements.
static inline void transform_columns(const qdq_winograd_tiles *t, const rows *from, float *points) {
    const __m256i zeros = _mm256_set1_epi16((int16_t)(4 * t->zero));
    for (size_t j = 0; j < t->n; j += LANES)
        for (size_t r = 0; r < SIDE; r++) {
            float *to = points + r * SIDE * t->point_stride + j;
            size_t room = t->room - j;
            __m256i d0 = load(from->even[r] + j), d1 = load(from->odd[r] + j);
            __m256i d2 = load(from->even[r] + j + 1), d3 = load(from->odd[r] + j + 1);
            __m256i sum = _mm256_add_epi16(d1, d2);
            store_some(to, _mm256_sub_epi16(d0, d2), room);
            store_some(to + t->point_stride, r == 1 ? _mm256_sub_epi16(sum, zeros) : sum, room);
            store_some(to + 2 * t->point_stride, _mm256_sub_epi16(d2, d1), room);
            store_some(to + 3 * t->point_stride, _mm256_sub_epi16(d1, d3), room);
        }
}

static inline void transform(const qdq_winograd_tiles *t, bool is_signed) {
    lines of_x;
    rows of_words;
    size_t blocks = (STEP * (t->n + 1) + BLOCK - 1) / BLOCK;
    memset(&of_x, 0, sizeof of_x);
    memset(&of_words, 0, sizeof of_words);
    for (size_t k = 0; k < t->channels; k += PAIR) {
        copy_lines(t, k, &of_x);
        transform_rows(&of_x, blocks, is_signed, &of_words);
        transform_columns(t, &of_words, t->points + k / PAIR * QDQ_WINOGRAD_PITCH);
    }
}

static void begin(const qdq_winograd_tiles *t) {
    if (t->is_signed)
        transform(t, true);
    else
        transform(t, false);
}

//---- Results ----------------------------------------------------------------

// Stores the results of a row of each tile, a quarter of their sums.
static inline void store_results(const __m256i m[SIDE], float *y) {
    __m256i y0 = _mm256_add_epi32(_mm256_add_epi32(m[0], m[1]), m[2]);
    __m256i y1 = _mm256_sub_epi32(_mm256_sub_epi32(m[1], m[2]), m[3]);
    y0 = _mm256_srai_epi32(y0, 2), y1 = _mm256_srai_epi32(y1, 2);
    __m256i low = _mm256_unpacklo_epi32(y0, y1), high = _mm256_unpackhi_epi32(y0, y1);
    store(y, _mm256_permute2x128_si256(low, high, 0x20));
    store(y + LANES, _mm256_permute2x128_si256(low, high, 0x31));
}

static bool end(const qdq_winograd_sums *s) {
    for (size_t j = 0; j < s->n; j += LANES) {
        __m256i upper[SIDE], lower[SIDE];
        for (size_t c = 0; c < SIDE; c++) {
            __m256i m[SIDE];
            for (size_t r = 0; r < SIDE; r++)
                m[r] = load(s->sums + (r * SIDE + c) * s->point_stride + j);
            upper[c] = _mm256_add_epi32(_mm256_add_epi32(m[0], m[1]), m[2]);
            lower[c] = _mm256_sub_epi32(_mm256_sub_epi32(m[1], m[2]), m[3]);
        }
        store_results(upper, s->upper + j * STEP);
        store_results(lower, s->lower + j * STEP);
    }
    return true;
}

//---- Weights ----------------------------------------------------------------

// An element of the weights or of their transform, of some input channels.
enum { TOGETHER = 16 };
typedef struct weight {
    int16_t of[TOGETHER];
} weight;

// Multiplies 2 G by three elements that lie `step` and, in the results, `u_step` apart.
static inline void transform_three(const weight *g, size_t step, weight *u, size_t u_step) {
    for (size_t i = 0; i < TOGETHER; i++) {
        int16_t outer = (int16_t)(g[0].of[i] + g[2 * step].of[i]), middle = g[step].of[i];
        u[0].of[i] = (int16_t)(2 * g[0].of[i]);
        u[u_step].of[i] = (int16_t)(outer + middle);
        u[2 * u_step].of[i] = (int16_t)(outer - middle);
        u[3 * u_step].of[i] = (int16_t)(2 * g[2 * step].of[i]);
    }
}

static void weights(const void *elements, size_t n, void *const points[]) {
    enum { WINDOW = QDQ_WINOGRAD_WINDOW, ELEMENTS = WINDOW * WINDOW };
    const int16_t *from = elements;
    for (size_t i = 0, some; i < n; i += some) {
        weight g[ELEMENTS] = {0}, of_rows[SIDE * WINDOW], u[QDQ_WINOGRAD_POINTS];
        some = n - i < TOGETHER ? n - i : TOGETHER;
        for (size_t j = 0; j < some; j++)
            for (size_t e = 0; e < ELEMENTS; e++) g[e].of[j] = from[(i + j) * ELEMENTS + e];
        for (size_t c = 0; c < WINDOW; c++) transform_three(g + c, WINDOW, of_rows + c, WINDOW);
        for (size_t r = 0; r < SIDE; r++) transform_three(of_rows + r * WINDOW, 1, u + r * SIDE, 1);
        for (size_t p = 0; p < QDQ_WINOGRAD_POINTS; p++)
            memcpy((int16_t *)points[p] + i, u[p].of, (some + some % PAIR) * sizeof *u[p].of);
    }
}

extern const qdq_winograd_kernels qdq_winograd_codes_avx2;
const qdq_winograd_kernels qdq_winograd_codes_avx2 = {begin, end, weights};
