// SPDX-License-Identifier: Apache-2.0
// Quantize to bytes with AVX2 intrinsics, for the core's numerics and one scale, of floats and of
// the sums of products.
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/quantize/avx2_codes.inc.h"

qdq_gemm_code_rows_fn qdq_gemm_code_rows_avx2;

static inline void words_of_float32(const factors *f, const void *x, size_t at, __m256i words[2]) {
    const float *from = (const float *)x + at;
    __m256 v[4];
    for (size_t i = 0; i < 4; i++) v[i] = _mm256_loadu_ps(from + i * REALS);
    words_of_vectors(f, v, words);
}

static inline __m256i quotients(const factors *f, __m256i bits) {
    __m256 x = _mm256_min_ps(f->most, _mm256_castsi256_ps(bits));  // NaN stays
    return _mm256_cvtps_epi32(_mm256_fmadd_ps(x, f->fine, _mm256_mul_ps(x, f->coarse)));
}

static inline void words_of_bfloat16(const factors *f, const void *x, size_t at, __m256i words[2]) {
    for (size_t i = 0; i < 2; i++) {
        const void *from = (const uint16_t *)x + at + i * 2 * REALS;
        __m256i pairs = _mm256_loadu_si256(from);
        __m256i even = quotients(f, _mm256_slli_epi32(pairs, 16));
        __m256i odd = quotients(f, _mm256_and_si256(pairs, _mm256_set1_epi32((int)0xFFFF0000)));
        words[i] = _mm256_adds_epi16(_mm256_packs_epi32(even, odd), f->z_words);
    }
}

static inline __m256i order_of_bfloat16(__m256i bytes) {
    const __m256i turns = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
    return _mm256_permute4x64_epi64(_mm256_shuffle_epi8(bytes, turns), 0xD8);
}

// Passes elements after the last group to `rest`.
static void leave(qdq_tile_fn *rest, const void *params, const qdq_view *views, const void *x,
                  void *y, size_t at, size_t n) {
    const qdq_quant_params *p = params;
    qdq_view left[2] = {{views[0].data + at * views[0].step, views[0].step},
                        {views[1].data + at * views[1].step, views[1].step}};
    if (at == n) return;
    rest(p, left, (const char *)x + at * qdq_dtype_size(p->x_dtype), (char *)y + at, n - at);
}

// Stores groups of codes, in order, of the words that WORDS sets.
#define STORE_GROUPS(y_name, order_of, WORDS)                                            \
    for (; at + GROUP <= n; at += GROUP) {                                               \
        __m256i words[2];                                                                \
        WORDS;                                                                           \
        _mm256_storeu_si256((void *)((char *)y + at), order_of(to_##y_name(&f, words))); \
    }

#define QUANTIZE(x_name, y_name, rest)                                                          \
    void qdq_quantize_##x_name##_##y_name##_hot_avx2(const void *params, const qdq_view *views, \
                                                     const void *x, void *y, size_t n) {        \
        float s = qdq_float_from_bits(views[0].data[0]);                                        \
        int32_t z = (int32_t)views[1].data[0];                                                  \
        size_t at = 0;                                                                          \
        if (!views[0].step && !views[1].step && qdq_may_multiply(params, s, z)) {               \
            factors f = factors_of(params, s, z);                                               \
            STORE_GROUPS(y_name, order_of_##x_name, words_of_##x_name(&f, x, at, words))        \
        }                                                                                       \
        leave(rest, params, views, x, y, at, n);                                                \
    }

QUANTIZE(float32, int8, qdq_quantize_float32_int8_core_avx2)
QUANTIZE(float32, uint8, qdq_quantize_float32_uint8_core_avx2)
QUANTIZE(bfloat16, int8, qdq_quantize_bfloat16_int8_core_avx2)
QUANTIZE(bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx2)

//---- A scale for each element -------------------------------------------------

static inline __m256 float32_at(const void *x, size_t at) {
    return _mm256_loadu_ps((const float *)x + at);
}

static inline __m256 bfloat16_at(const void *x, size_t at) {
    const void *from = (const uint16_t *)x + at;
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(from)), 16));
}

// Returns n + z in the upper half, for any x. NaN becomes the least.
static inline __m256i exact_unit(__m256 x, const qdq_view *views, size_t at) {
    const void *z = views[1].data + at * views[1].step;
    __m256i zero = views[1].step ? _mm256_loadu_si256(z) : _mm256_set1_epi32(*(const int32_t *)z);
    __m256 s = _mm256_loadu_ps((const float *)(const void *)views[0].data + at);
    __m256 q = _mm256_max_ps(_mm256_div_ps(x, s), all(-0x1p14f));
    __m256i n = _mm256_cvtps_epi32(_mm256_min_ps(q, all(0x1p14f)));
    return _mm256_slli_epi32(_mm256_add_epi32(n, zero), 16);
}

typedef __m256 load_fn(const void *x, size_t at);

// qdq_quantize_prepare adds views 2 and 3.
static inline __attribute__((always_inline)) void
words_of_units(load_fn *load, const void *x, size_t at, const qdq_view *views, __m256i words[2]) {
    const float *unit = (const float *)(const void *)views[2].data + at;
    const float *start = (const float *)(const void *)views[3].data + at;
    __m256 v[4];
    __m256i sums[4];
    for (size_t i = 0; i < 4; i++) {
        v[i] = load(x, at + i * REALS);
        sums[i] = _mm256_cvtps_epi32(_mm256_fmadd_ps(v[i], _mm256_loadu_ps(unit + i * REALS),
                                                     _mm256_loadu_ps(start + i * REALS)));
    }
    if (__builtin_expect(any_near(sums), 0))
        for (size_t i = 0; i < 4; i++) sums[i] = exact_unit(v[i], views, at + i * REALS);
    words_of_sums(sums, words);
}

#define QUANTIZE_UNITS(x_name, y_name, rest)                                                      \
    void qdq_quantize_##x_name##_##y_name##_units_avx2(const void *params, const qdq_view *views, \
                                                       const void *x, void *y, size_t n) {        \
        size_t at = 0;                                                                            \
        if (!views[0].step) {                                                                     \
            qdq_quantize_##x_name##_##y_name##_hot_avx2(params, views, x, y, n);                  \
            return;                                                                               \
        }                                                                                         \
        factors f = factors_of(params, 1.0f, 0);                                                  \
        STORE_GROUPS(y_name, order_of_float32, words_of_units(x_name##_at, x, at, views, words))  \
        leave(rest, params, views, x, y, at, n);                                                  \
    }

static inline void store(char *y, __m256i bytes, bool past_cache) {
    if (past_cache)
        _mm256_stream_si256((__m256i *)(void *)y, bytes);
    else
        _mm256_storeu_si256((__m256i *)(void *)y, bytes);
}

// Rows. The units of a cache line of y stay in L1 while its columns go through all rows.
#define QUANTIZE_ROWS(x_name, y_name, rest)                                                   \
    void qdq_quantize_##x_name##_##y_name##_units_avx2_rows(                                  \
        const void *params, const qdq_view *views, const qdq_rows *rows) {                    \
        const factors f = factors_of(params, 1.0f, 0);                                        \
        size_t at = 0;                                                                        \
        for (; at + 2 * GROUP <= rows->n; at += 2 * GROUP) {                                  \
            const char *x = rows->x;                                                          \
            char *y = (char *)rows->y + at;                                                   \
            for (size_t r = 0; r < rows->count; r++, x += rows->x_pitch, y += rows->y_pitch)  \
                for (size_t i = 0; i < 2 * GROUP; i += GROUP) {                               \
                    __m256i words[2];                                                         \
                    words_of_units(x_name##_at, x, at + i, views, words);                     \
                    store(y + i, order_of_float32(to_##y_name(&f, words)), rows->past_cache); \
                }                                                                             \
        }                                                                                     \
        for (size_t r = 0; r < rows->count; r++)                                              \
            leave(rest, params, views, (const char *)rows->x + r * rows->x_pitch,             \
                  (char *)rows->y + r * rows->y_pitch, at, rows->n);                          \
    }

QUANTIZE_UNITS(float32, int8, qdq_quantize_float32_int8_core_avx2)
QUANTIZE_UNITS(float32, uint8, qdq_quantize_float32_uint8_core_avx2)
QUANTIZE_UNITS(bfloat16, int8, qdq_quantize_bfloat16_int8_core_avx2)
QUANTIZE_UNITS(bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx2)

QUANTIZE_ROWS(float32, int8, qdq_quantize_float32_int8_core_avx2)
QUANTIZE_ROWS(float32, uint8, qdq_quantize_float32_uint8_core_avx2)
QUANTIZE_ROWS(bfloat16, int8, qdq_quantize_bfloat16_int8_core_avx2)
QUANTIZE_ROWS(bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx2)

//---- Sums of products --------------------------------------------------------

// The numbers of a group: each has the place of the first.
typedef struct group {
    const int32_t *sums;
    const float *scale, *bias;
    char *out;
} group;

// Loads 8 numbers, or as many as `mask` has, and zeros.
static inline __m256 load_some(const void *from, const __m256i *mask) {
    return mask ? _mm256_maskload_ps(from, *mask) : _mm256_loadu_ps(from);
}

// Zeros may have another sign than qdq_gemm_real_rows gives them, and NaNs other bits; codes are
// the same.
static inline __m256 real_of(const group *g, bool by_column, size_t j, const __m256i *mask) {
    __m256 v = load_some(g->sums + j, mask);
    if (g->scale)
        v = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_castps_si256(v)),
                          by_column ? load_some(g->scale + j, mask) : all(*g->scale));
    if (g->bias) v = _mm256_add_ps(v, by_column ? load_some(g->bias + j, mask) : all(*g->bias));
    return v;
}

static inline void code_group(const group *g, const factors *f, bool by_column, bool is_signed) {
    __m256 v[4];
    for (size_t i = 0; i < 4; i++) v[i] = real_of(g, by_column, i * REALS, NULL);
    store_codes(f, v, is_signed, (uint8_t *)g->out);
}

// Computes the last group of a row, of fewer columns.
static void code_end(const group *g, const factors *f, bool by_column, bool is_signed, size_t n) {
    const __m256i number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256 v[4];
    char out[GROUP];
    for (size_t i = 0; i < 4; i++) {
        int left = (int)n - (int)(i * REALS);
        __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(left), number);
        v[i] = real_of(g, by_column, i * REALS, &mask);
    }
    store_codes(f, v, is_signed, (uint8_t *)out);
    copy_some(g->out, out, n);
}

bool qdq_gemm_code_rows_avx2(const qdq_gemm_code_rows *c) {
    float s = qdq_float_from_bits(c->views[0].data[0]);
    int32_t z = (int32_t)c->views[1].data[0];
    bool is_signed = c->fn == qdq_quantize_float32_int8_hot_avx2;
    if (!is_signed && c->fn != qdq_quantize_float32_uint8_hot_avx2) return false;
    if (!qdq_may_multiply(c->params, s, z)) return false;
    factors f = factors_of(c->params, s, z);
    for (size_t r = 0; r < c->rows; r++)
        for (size_t j = 0; j < c->n; j += GROUP) {
            size_t at = c->by_column ? j : r, left = c->n - j;
            group g = {(const int32_t *)c->sums + r * c->stride + j,
                       c->scale ? c->scale + at : NULL, c->bias ? c->bias + at : NULL,
                       (char *)c->out + r * c->out_stride + j};
            if (left < GROUP)
                code_end(&g, &f, c->by_column, is_signed, left);
            else
                code_group(&g, &f, c->by_column, is_signed);
        }
    return true;
}
