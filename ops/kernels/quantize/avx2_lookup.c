// SPDX-License-Identifier: Apache-2.0
// Lookup in tables of 256 bytes with AVX2 intrinsics. The instruction set has no lookup of more
// than 16 bytes, so a table whose results lie on a line is computed (qdq_lookup_line), and any
// other table is looked up in 16 parts.
#include <immintrin.h>

#include "ops/kernels/quantize/kernel_list.h"

enum { LANES = 32, GROUP = 4 * LANES, PARTS = 16 };

//---- Results on a line ------------------------------------------------------

typedef struct line {
    __m256i flip_x, flip_y;  // the highest bit of unsigned bytes
    __m256i factor, addend;
    __m256 slope, offset;
    __m256i after, least, most;
} line;

static inline line line_of(const qdq_lookup_line *from) {
    const __m256i highest = _mm256_set1_epi8((char)0x80), none = _mm256_setzero_si256();
    return (line){.flip_x = from->x_unsigned ? highest : none,
                  .flip_y = from->y_unsigned ? highest : none,
                  .factor = _mm256_set1_epi16(from->factor),
                  .addend = _mm256_set1_epi16(from->addend),
                  .slope = _mm256_set1_ps(from->slope),
                  .offset = _mm256_set1_ps(from->offset),
                  .after = _mm256_set1_epi16((short)from->after),
                  .least = _mm256_set1_epi8((char)from->least),
                  .most = _mm256_set1_epi8((char)from->most)};
}

static inline __m256i load_codes(const uint8_t *x) {
    return _mm256_loadu_si256((const __m256i *)(const void *)x);
}
static inline void store_bytes(uint8_t *y, __m256i bytes) {
    _mm256_storeu_si256((__m256i *)(void *)y, bytes);
}

// Packing and unpacking keep the halves of a vector apart, so their orders cancel out.
static inline __m256i word_results(const line *l, int shift, __m256i codes) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = _mm256_mulhrs_epi16(_mm256_unpacklo_epi8(zero, codes), l->factor);
    __m256i high = _mm256_mulhrs_epi16(_mm256_unpackhi_epi8(zero, codes), l->factor);
    return _mm256_packs_epi16(_mm256_srai_epi16(_mm256_adds_epi16(low, l->addend), shift),
                              _mm256_srai_epi16(_mm256_adds_epi16(high, l->addend), shift));
}

// Rounds sixteen words from as many codes, which are the upper bytes of words.
static inline __m256i rounded_words(const line *l, __m256i words) {
    __m256i low = _mm256_srai_epi32(_mm256_unpacklo_epi16(words, words), 24);
    __m256i high = _mm256_srai_epi32(_mm256_unpackhi_epi16(words, words), 24);
    __m256 a = _mm256_fmadd_ps(_mm256_cvtepi32_ps(low), l->slope, l->offset);
    __m256 b = _mm256_fmadd_ps(_mm256_cvtepi32_ps(high), l->slope, l->offset);
    __m256i rounded = _mm256_packs_epi32(_mm256_cvtps_epi32(a), _mm256_cvtps_epi32(b));
    return _mm256_adds_epi16(rounded, l->after);
}

static inline __m256i float_results(const line *l, __m256i codes) {
    const __m256i zero = _mm256_setzero_si256();
    __m256i low = rounded_words(l, _mm256_unpacklo_epi8(zero, codes));
    __m256i high = rounded_words(l, _mm256_unpackhi_epi8(zero, codes));
    __m256i bytes = _mm256_packs_epi16(low, high);
    return _mm256_min_epi8(_mm256_max_epi8(bytes, l->least), l->most);
}

#define COMPUTE(results)                                                \
    for (; at + LANES <= n; at += LANES) {                              \
        __m256i codes = _mm256_xor_si256(load_codes(x + at), l.flip_x); \
        store_bytes(y + at, _mm256_xor_si256(results, l.flip_y));       \
    }

// Computes the elements of whole vectors; returns their number.
static size_t compute_all(const qdq_lookup_line *from, const uint8_t *x, uint8_t *y, size_t n) {
    const line l = line_of(from);
    size_t at = 0;
    if (from->kind == QDQ_LINE_FLOATS)
        COMPUTE(float_results(&l, codes))
    else if (from->shift == QDQ_LINE_SHIFT)
        COMPUTE(word_results(&l, QDQ_LINE_SHIFT, codes))
    else
        COMPUTE(word_results(&l, QDQ_LINE_STEEP_SHIFT, codes))
    return at;
}

//---- Any table --------------------------------------------------------------

// VPSHUFB takes the low four bits of a code, and gives 0 if the highest bit is set. A code below
// 128 less 16 k has no highest bit if and only if it is at least 16 k. The result is therefore the
// exclusive or of parts[k] over all k, if parts[k] is the difference between 16 results and the 16
// before them. The upper half of the table is split in the same way, for codes with the highest bit
// inverted.
static inline void split(const uint8_t *table, __m256i parts[PARTS]) {
    __m128i before = _mm_setzero_si128();
    for (int k = 0; k < PARTS; k++) {
        __m128i part = _mm_loadu_si128((const __m128i *)(const void *)(table + k * 16));
        if (k == PARTS / 2) before = _mm_setzero_si128();
        parts[k] = _mm256_broadcastsi128_si256(_mm_xor_si128(part, before));
        before = part;
    }
}

// Adds the results of the codes below 128. VPSUBSB keeps negative codes negative.
static inline void look_up_half(const __m256i parts[PARTS / 2], __m256i codes[4],
                                __m256i found[4]) {
    const __m256i sixteen = _mm256_set1_epi8(16);
    for (int k = 0; k < PARTS / 2; k++)
        for (int i = 0; i < 4; i++) {
            found[i] = _mm256_xor_si256(found[i], _mm256_shuffle_epi8(parts[k], codes[i]));
            codes[i] = _mm256_subs_epi8(codes[i], sixteen);
        }
}

static inline void look_up(const __m256i parts[PARTS], const uint8_t *x, uint8_t *y) {
    __m256i codes[4], found[4];
    for (int i = 0; i < 4; i++) {
        codes[i] = load_codes(x + i * LANES);
        found[i] = _mm256_setzero_si256();
    }
    look_up_half(parts, codes, found);
    for (int i = 0; i < 4; i++)
        codes[i] = _mm256_xor_si256(load_codes(x + i * LANES), _mm256_set1_epi8((char)0x80));
    look_up_half(parts + PARTS / 2, codes, found);
    for (int i = 0; i < 4; i++) store_bytes(y + i * LANES, found[i]);
}

static size_t look_up_all(const uint8_t *table, const uint8_t *x, uint8_t *y, size_t n) {
    __m256i parts[PARTS];
    size_t at = 0;
    split(table, parts);
    for (; at + GROUP <= n; at += GROUP) look_up(parts, x + at, y + at);
    return at;
}

void qdq_lookup_bytes_avx2(const void *params, const qdq_view *views, const void *x, void *y,
                           size_t n) {
    const qdq_lookup_params *p = params;
    const uint8_t *codes = x;
    uint8_t *out = y;
    size_t at = 0;
    if (!views[0].step && n >= LANES) {
        size_t number = views[0].data[0];
        const qdq_lookup_line *known = p->lines ? &p->lines[number] : NULL;
        if (known && known->kind)
            at = compute_all(known, codes, out, n);
        else
            at = look_up_all((const uint8_t *)p->tables + number * 256, codes, out, n);
    }
    qdq_view rest = {views[0].data + at * views[0].step, views[0].step};
    if (at < n) qdq_lookup_bytes_portable(params, &rest, codes + at, out + at, n - at);
}
