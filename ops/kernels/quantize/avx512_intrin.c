// SPDX-License-Identifier: Apache-2.0
// AVX-512 intrinsics, where compilers reach less than half of the speed: Quantize to bytes for the
// core's numerics, of floats and of the sums of products, and lookup in tables of bytes.
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/quantize/avx512_codes.inc.h"

qdq_gemm_code_rows_fn qdq_gemm_code_rows_avx512;

typedef enum source { FLOAT32, INT32, SCALED, BFLOAT16 } source;

static inline __m512 load(source from, const factors *f, const void *x, size_t i) {
    if (from == FLOAT32) return _mm512_loadu_ps((const float *)x + i);
    if (from == BFLOAT16) {
        const void *at = (const uint16_t *)x + i;
        __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(at));
        return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
    }
    __m512 v = _mm512_cvtepi32_ps(_mm512_loadu_si512((const int32_t *)x + i));
    return from == SCALED ? _mm512_mul_ps(v, f->in) : v;
}

static inline void quantize_group(source from, const factors *f, const void *x, size_t at,
                                  __m512i words[2]) {
    __m512 v[4];
    for (size_t i = 0; i < 4; i++) v[i] = load(from, f, x, at + i * REALS);
    quantize_vectors(f, v, words);
}

//---- bfloat16 ---------------------------------------------------------------

#define TURNS(i) (i), (i) + 4, (i) + 1, (i) + 5, (i) + 2, (i) + 6, (i) + 3, (i) + 7
static const uint8_t order_of_pairs[GROUP] = {TURNS(0), TURNS(16), TURNS(32), TURNS(48),
                                              TURNS(8), TURNS(24), TURNS(40), TURNS(56)};

// n + z as words, in groups of four even and four odd elements. Ties are frequent where x has 8
// bits, so this does without `approximate`. x * coarse is exact; the sum of both products is 1/s *
// x within 2^-40, rounded once. Few quotients next to a tie are that close to the middle of two
// floats; up to 1024.5 all were tried and give q.
static inline __m512i quotients(const factors *f, __m512 x) {
    x = _mm512_min_ps(f->most, x);  // NaN stays, and becomes the least int32 as -infinity does
    return _mm512_cvtps_epi32(_mm512_fmadd_ps(x, f->fine, _mm512_mul_ps(x, f->coarse)));
}

static inline __m512i quantize_pairs(const factors *f, const void *x, size_t at) {
    __m512i pairs = _mm512_loadu_si512((const uint16_t *)x + at);
    __m512i even = _mm512_slli_epi32(pairs, 16);
    __m512i odd = _mm512_and_si512(pairs, _mm512_set1_epi32((int)0xFFFF0000));
    return _mm512_adds_epi16(_mm512_packs_epi32(quotients(f, _mm512_castsi512_ps(even)),
                                                quotients(f, _mm512_castsi512_ps(odd))),
                             f->z_words);
}

//---- A scale for each element ------------------------------------------------

// As `approximate`, without z: rcp14 is within 2^-14 of 1/s, and after a Newton step within 2^-24
// and 2^-28, which is less than NEAR too. Scales that are 0, infinite, NaN, or so small that 1/s
// overflows, give NaN or an infinity. `any_large` finds scales with a denormal 1/s.
static inline __m512i approximate_channels(__m512 x, __m512 s) {
    __m512 inverse = _mm512_rcp14_ps(s);
    __m512 error = _mm512_fnmadd_ps(s, inverse, all(1.0f));
    inverse = _mm512_fmadd_ps(error, inverse, inverse);
    return _mm512_cvtps_epi32(
        _mm512_fmadd_ps(x, _mm512_mul_ps(inverse, all(0x1p16f)), all(0x1p15f + NEAR)));
}

// True if a scale is 2^100 or more, negative or NaN.
static inline bool any_large(const __m512i s[4]) {
    __m512i most = _mm512_max_epu32(_mm512_max_epu32(s[0], s[1]), _mm512_max_epu32(s[2], s[3]));
    return _mm512_cmpge_epu32_mask(most, _mm512_castps_si512(all(0x1p100f))) != 0;
}

// For any scales. NaN becomes the least.
static inline __m512i exact_channels(__m512 x, __m512 s) {
    __m512 q = _mm512_max_ps(_mm512_div_ps(x, s), all(-0x1p14f));
    return _mm512_slli_epi32(_mm512_cvtps_epi32(_mm512_min_ps(q, all(0x1p14f))), 16);
}

static inline void quantize_channels(source from, const factors *f, const void *x, size_t at,
                                     const qdq_view *views, __m512i words[2]) {
    const __m512i up = _mm512_set4_epi32(0x0D0C0D0C, 0x09080908, 0x05040504, 0x01000100);
    const uint32_t *zs = views[1].data + at * views[1].step;
    __m512i s[4], sums[4];
    for (size_t i = 0; i < 4; i++) {
        s[i] = _mm512_loadu_si512(views[0].data + at + i * REALS);
        sums[i] = approximate_channels(load(from, f, x, at + i * REALS), _mm512_castsi512_ps(s[i]));
    }
    if (__builtin_expect(any_near(sums[0], sums[1], sums[2], sums[3]) || any_large(s), 0))
        for (size_t i = 0; i < 4; i++)
            sums[i] = exact_channels(load(from, f, x, at + i * REALS), _mm512_castsi512_ps(s[i]));
    upper_halves(sums, words);
    for (size_t i = 0; i < 2; i++) {
        __m512i z = f->z_words;
        if (views[1].step)
            z = _mm512_mask_shuffle_epi8(_mm512_loadu_si512(zs + 2 * i * REALS), 0xCCCCCCCCCCCCCCCC,
                                         _mm512_loadu_si512(zs + (2 * i + 1) * REALS), up);
        words[i] = _mm512_adds_epi16(words[i], z);
    }
}

// 1 / s and z + 1/2 of a group of channels in parts of 2^-16: views 2 and 3.
typedef struct group_units {
    __m512 unit[4], start[4];
} group_units;

static inline group_units units_at(const qdq_view *views, size_t at) {
    group_units u;
    for (size_t i = 0; i < 4; i++) {
        u.unit[i] = _mm512_loadu_ps(views[2].data + at + i * REALS);
        u.start[i] = _mm512_loadu_ps(views[3].data + at + i * REALS);
    }
    return u;
}

// The same as quantize_channels, with units.
static inline void quantize_by_units(source from, const factors *f, const void *x, size_t at,
                                     const qdq_view *views, const group_units *u,
                                     __m512i words[2]) {
    const uint32_t *zs = views[1].data + at * views[1].step;
    __m512i sums[4];
    for (size_t i = 0; i < 4; i++)
        sums[i] = _mm512_cvtps_epi32(
            _mm512_fmadd_ps(load(from, f, x, at + i * REALS), u->unit[i], u->start[i]));
    if (__builtin_expect(any_near(sums[0], sums[1], sums[2], sums[3]), 0))
        for (size_t i = 0; i < 4; i++) {
            __m512 s = _mm512_loadu_ps(views[0].data + at + i * REALS);
            __m512i z =
                views[1].step ? _mm512_loadu_si512(zs + i * REALS) : _mm512_set1_epi32((int)*zs);
            sums[i] = _mm512_add_epi32(exact_channels(load(from, f, x, at + i * REALS), s),
                                       _mm512_slli_epi32(z, 16));
        }
    upper_halves(sums, words);
}

static inline void quantize_units(source from, const factors *f, const void *x, size_t at,
                                  const qdq_view *views, __m512i words[2]) {
    group_units u = units_at(views, at);
    quantize_by_units(from, f, x, at, views, &u, words);
}

static bool all_bytes(const qdq_quant_params *p, qdq_view z, size_t n) {
    uint32_t beyond = 0, least = (uint32_t)p->range.least,
             width = (uint32_t)p->range.greatest - least;
    for (size_t i = 0, count = z.step ? n : 1; i < count; i++) beyond |= z.data[i] - least > width;
    return !beyond;
}

//---- Tile functions ---------------------------------------------------------

static void leave(qdq_tile_fn *fn, const void *params, const qdq_view *views, size_t view_count,
                  const void *x, void *y, size_t at, size_t n) {
    const qdq_quant_params *p = params;
    qdq_view left[QDQ_MAX_STAGE_PARAMS];
    if (at == n) return;
    for (size_t k = 0; k < view_count; k++)
        left[k] = (qdq_view){views[k].data + at * views[k].step, views[k].step};
    fn(params, left, (const char *)x + at * qdq_dtype_size(p->x_dtype), (char *)y + at, n - at);
}

static inline void store(char *y, __m512i bytes, bool past_cache) {
    if (past_cache)
        _mm512_stream_si512((__m512i *)(void *)y, bytes);
    else
        _mm512_storeu_si512(y, bytes);
}

#define STORE_GROUPS(y_name, order_of, GET)                                 \
    __m512i order = _mm512_loadu_si512(order_of);                           \
    for (; at + GROUP <= n; at += GROUP) {                                  \
        __m512i words[2];                                                   \
        GET;                                                                \
        _mm512_storeu_si512((char *)y + at, to_##y_name(&f, words, order)); \
    }

// Calls with other parameters, and the elements after the last group, go to `rest`.
#define QUANTIZE(name, y_name, rest, view_count, order_of, GET)                          \
    qdq_tile_fn qdq_##name##_##y_name##_hot_avx512;                                      \
    void qdq_##name##_##y_name##_hot_avx512(const void *params, const qdq_view *views,   \
                                            const void *x, void *y, size_t n) {          \
        enum { LAST = (view_count)-2 };                                                  \
        float s = qdq_float_from_bits(views[LAST].data[0]);                              \
        int32_t z = (int32_t)views[LAST + 1].data[0];                                    \
        size_t steps = 0, at = 0;                                                        \
        for (int k = 0; k < (view_count); k++) steps |= views[k].step;                   \
        if (!steps && qdq_may_multiply(params, s, z) && (!LAST || !views[1].data[0])) {  \
            factors f = factors_of(params, qdq_float_from_bits(views[0].data[0]), s, z); \
            STORE_GROUPS(y_name, order_of, GET)                                          \
        }                                                                                \
        leave(rest, params, views, view_count, x, y, at, n);                             \
    }

// The same, also with a scale for each element, channels along rows, by quantize_<form>.
#define QUANTIZE_EACH(name, y_name, form, rest, source, TAKES)                                     \
    void qdq_##name##_##y_name##_##form##_avx512(const void *params, const qdq_view *views,        \
                                                 const void *x, void *y, size_t n) {               \
        size_t at = 0;                                                                             \
        if (!views[0].step) {                                                                      \
            qdq_##name##_##y_name##_hot_avx512(params, views, x, y, n);                            \
            return;                                                                                \
        }                                                                                          \
        if (TAKES) {                                                                               \
            factors f = factors_of(params, 1.0f, 1.0f, (int32_t)views[1].data[0]);                 \
            STORE_GROUPS(y_name, order_of_words, quantize_##form(source, &f, x, at, views, words)) \
        }                                                                                          \
        leave(rest, params, views, 2, x, y, at, n);                                                \
    }

// Rows by units. A group of columns goes through all rows while its units are in registers.
#define QUANTIZE_ROWS(name, y_name, rest, source)                                              \
    void qdq_##name##_##y_name##_units_avx512_rows(const void *params, const qdq_view *views,  \
                                                   const qdq_rows *rows) {                     \
        const factors f = factors_of(params, 1.0f, 1.0f, 0);                                   \
        const __m512i order = _mm512_loadu_si512(order_of_words);                              \
        size_t at = 0;                                                                         \
        for (; at + GROUP <= rows->n; at += GROUP) {                                           \
            const group_units u = units_at(views, at);                                         \
            const char *x = rows->x;                                                           \
            char *y = (char *)rows->y + at;                                                    \
            for (size_t r = 0; r < rows->count; r++, x += rows->x_pitch, y += rows->y_pitch) { \
                __m512i words[2];                                                              \
                quantize_by_units(source, &f, x, at, views, &u, words);                        \
                store(y, to_##y_name(&f, words, order), rows->past_cache);                     \
            }                                                                                  \
        }                                                                                      \
        for (size_t r = 0; r < rows->count; r++)                                               \
            leave(rest, params, views, 2, (const char *)rows->x + r * rows->x_pitch,           \
                  (char *)rows->y + r * rows->y_pitch, at, rows->n);                           \
    }

// By channels, whose zero points have to be bytes, and by units, which qdq_quantize_prepare has
// checked.
#define QUANTIZE_CHANNELS(name, y_name, rest, source)                                   \
    QUANTIZE_EACH(name, y_name, channels, rest, source, all_bytes(params, views[1], n)) \
    QUANTIZE_EACH(name, y_name, units, rest, source, true)                              \
    QUANTIZE_ROWS(name, y_name, rest, source)

#define GROUP_OF(source) quantize_group(source, &f, x, at, words)
#define GROUP_OF_PAIRS                    \
    words[0] = quantize_pairs(&f, x, at); \
    words[1] = quantize_pairs(&f, x, at + 2 * REALS)

// clang-format off
QUANTIZE(quantize_float32,  int8,  qdq_quantize_float32_int8_core_avx512,   2, order_of_words, GROUP_OF(FLOAT32))
QUANTIZE(quantize_float32,  uint8, qdq_quantize_float32_uint8_core_avx512,  2, order_of_words, GROUP_OF(FLOAT32))
QUANTIZE(quantize_bfloat16, int8,  qdq_quantize_bfloat16_int8_core_avx512,  2, order_of_pairs, GROUP_OF_PAIRS)
QUANTIZE(quantize_bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx512, 2, order_of_pairs, GROUP_OF_PAIRS)
QUANTIZE(quantize_int32,    int8,  qdq_quantize_int32_int8_core_avx512,     2, order_of_words, GROUP_OF(INT32))
QUANTIZE(quantize_int32,    uint8, qdq_quantize_int32_uint8_core_avx512,    2, order_of_words, GROUP_OF(INT32))
QUANTIZE(requantize_int32,  int8,  qdq_requantize_int32_int8_core_avx512,   4, order_of_words, GROUP_OF(SCALED))
QUANTIZE(requantize_int32,  uint8, qdq_requantize_int32_uint8_core_avx512,  4, order_of_words, GROUP_OF(SCALED))

QUANTIZE_CHANNELS(quantize_float32,  int8,  qdq_quantize_float32_int8_core_avx512,   FLOAT32)
QUANTIZE_CHANNELS(quantize_float32,  uint8, qdq_quantize_float32_uint8_core_avx512,  FLOAT32)
QUANTIZE_CHANNELS(quantize_bfloat16, int8,  qdq_quantize_bfloat16_int8_core_avx512,  BFLOAT16)
QUANTIZE_CHANNELS(quantize_bfloat16, uint8, qdq_quantize_bfloat16_uint8_core_avx512, BFLOAT16)
// clang-format on

//---- Sums of products --------------------------------------------------------

// Returns the scale or bias of a vector of columns, or of a row.
static inline __m512 along(const float *of, bool by_column, size_t j, __mmask16 mask) {
    if (!of) return _mm512_setzero_ps();
    return by_column ? _mm512_maskz_loadu_ps(mask, of + j) : all(*of);
}

typedef struct code_row {
    const int32_t *sums;
    const float *scale, *bias;  // of the row, or of all columns; NULL: none
    char *out;
} code_row;

// Makes codes of up to 64 columns from number j on. Zeros may have another sign than
// qdq_gemm_real_rows gives them, and NaNs other bits; codes are the same.
static inline __m512i code_group(const factors *f, code_row row, bool scaled, bool by_column,
                                 bool is_signed, size_t j, __mmask64 mask) {
    __m512i order = _mm512_loadu_si512(order_of_words), words[2];
    __m512 v[4];
    for (size_t i = 0; i < 4; i++) {
        __mmask16 own = (__mmask16)(mask >> i * REALS);
        size_t at = j + i * REALS;
        __m512i sum = _mm512_maskz_loadu_epi32(own, row.sums + at);
        v[i] = scaled ? _mm512_mul_ps(_mm512_cvtepi32_ps(sum), along(row.scale, by_column, at, own))
                      : _mm512_castsi512_ps(sum);
        v[i] = _mm512_add_ps(v[i], along(row.bias, by_column, at, own));
    }
    quantize_vectors(f, v, words);
    return is_signed ? to_int8(f, words, order) : to_uint8(f, words, order);
}

static inline __attribute__((always_inline)) void code_rows(const qdq_gemm_code_rows *c,
                                                            const factors *given, bool scaled,
                                                            bool by_column, bool is_signed) {
    factors f = *given;
    size_t rows = c->rows, n = c->n, whole = n / GROUP * GROUP;
    size_t stride = c->stride, out_stride = c->out_stride, step = !by_column;
    __mmask64 mask = n > whole ? ~0ULL >> (GROUP - (n - whole)) : 0;
    code_row row = {c->sums, c->scale, c->bias, c->out};
    for (size_t r = 0; r < rows; r++) {
        for (size_t j = 0; j < whole; j += GROUP)
            _mm512_storeu_si512(row.out + j,
                                code_group(&f, row, scaled, by_column, is_signed, j, ~0ULL));
        if (mask)
            _mm512_mask_storeu_epi8(row.out + whole, mask,
                                    code_group(&f, row, scaled, by_column, is_signed, whole, mask));
        row.sums += stride;
        row.out += out_stride;
        if (row.scale) row.scale += step;
        if (row.bias) row.bias += step;
    }
}

bool qdq_gemm_code_rows_avx512(const qdq_gemm_code_rows *c) {
    float s = qdq_float_from_bits(c->views[0].data[0]);
    int32_t z = (int32_t)c->views[1].data[0];
    bool is_signed = c->fn == qdq_quantize_float32_int8_channels_avx512;
    if (!is_signed && c->fn != qdq_quantize_float32_uint8_channels_avx512) return false;
    if (!qdq_may_multiply(c->params, s, z)) return false;
    factors f = factors_of(c->params, 1.0f, s, z);
    if (c->scale && c->by_column)
        code_rows(c, &f, true, true, is_signed);
    else if (c->scale)
        code_rows(c, &f, true, false, is_signed);
    else
        code_rows(c, &f, false, c->by_column, is_signed);
    return true;
}

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
