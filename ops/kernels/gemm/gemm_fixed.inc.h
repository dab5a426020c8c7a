// SPDX-License-Identifier: Apache-2.0
// A row of A in fixed point times weight codes, included by the file of an instruction set.
#include "ops/kernels/gemm/gemm.h"
#include "ops/kernels/gemm/gemm_vectors.inc.h"

qdq_gemm_fix_fn QDQ_ISA_NAME(gemm_fix);
qdq_gemm_fixed_fn QDQ_ISA_NAME(gemm_fixed);

#define FIXED_INLINE static inline __attribute__((always_inline))
#define FIXED_UNROLLED _Pragma("GCC unroll 16")

enum {
    FIXED_COLUMNS = QDQ_GEMM_COLUMNS,
    FIXED_VECS = FIXED_COLUMNS / LANES,
    FIXED_AT_ONCE = LANES == 4 ? 4 : 2,  // vectors of columns whose sums stay in registers
    FIXED_AHEAD = 1024,                  // bytes
};

//---- Vectors of the instruction set ------------------------------------------

// `fixed_low` and `fixed_high` are halves of bytes. `fixed_bytes` adds the products of four bytes,
// whose codes are FIXED_BIAS too great; `fixed_halves` does so for low and for high halves.
#if defined(__AVX512F__)
enum { FIXED_BIAS = 0 };
FIXED_INLINE gemm_ints fixed_low(gemm_ints x) { return _mm512_and_si512(x, ints_all(0x0F0F0F0F)); }
FIXED_INLINE gemm_ints fixed_high(gemm_ints x) { return fixed_low(_mm512_srli_epi16(x, 4)); }
FIXED_INLINE gemm_ints fixed_times(gemm_ints x, gemm_ints y) { return _mm512_mullo_epi32(x, y); }
FIXED_INLINE gemm_ints fixed_widen(const int16_t *x) {
    return _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)x));
}
#elif defined(__AVX2__)
enum { FIXED_BIAS = 0 };
FIXED_INLINE gemm_ints fixed_low(gemm_ints x) { return _mm256_and_si256(x, ints_all(0x0F0F0F0F)); }
FIXED_INLINE gemm_ints fixed_high(gemm_ints x) { return fixed_low(_mm256_srli_epi16(x, 4)); }
FIXED_INLINE gemm_ints fixed_times(gemm_ints x, gemm_ints y) { return _mm256_mullo_epi32(x, y); }
FIXED_INLINE gemm_ints fixed_widen(const int16_t *x) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)x));
}
#elif defined(__aarch64__)
enum { FIXED_BIAS = 128 };  // bytes become signed
FIXED_INLINE gemm_ints fixed_low(gemm_ints x) { return vandq_s32(x, ints_all(0x0F0F0F0F)); }
FIXED_INLINE gemm_ints fixed_high(gemm_ints x) {
    return vreinterpretq_s32_u8(vshrq_n_u8(vreinterpretq_u8_s32(x), 4));
}
FIXED_INLINE gemm_ints fixed_times(gemm_ints x, gemm_ints y) { return vmulq_s32(x, y); }
FIXED_INLINE gemm_ints fixed_widen(const int16_t *x) { return vmovl_s16(vld1_s16(x)); }
FIXED_INLINE gemm_ints fixed_signed(gemm_ints sum, gemm_ints codes, gemm_ints digits) {
    int8x16_t x = vreinterpretq_s8_s32(codes), d = vreinterpretq_s8_s32(digits);
#if defined(__ARM_FEATURE_DOTPROD)
    return vdotq_s32(sum, x, d);
#else
    int32x4_t low = vpaddlq_s16(vmull_s8(vget_low_s8(x), vget_low_s8(d)));
    return vaddq_s32(sum, vpaddq_s32(low, vpaddlq_s16(vmull_high_s8(x, d))));
#endif
}
FIXED_INLINE gemm_ints fixed_bytes(gemm_ints sum, gemm_ints codes, gemm_ints digits) {
    return fixed_signed(sum, veorq_s32(codes, ints_all((int32_t)0x80808080)), digits);
}
FIXED_INLINE gemm_ints fixed_halves(gemm_ints sum, const gemm_ints *codes,
                                    const gemm_ints *digits) {
    return fixed_signed(fixed_signed(sum, codes[0], digits[0]), codes[1], digits[1]);
}
#endif

#if defined(__AVX2__)
FIXED_INLINE gemm_ints fixed_bytes(gemm_ints sum, gemm_ints codes, gemm_ints digits) {
    return fours_madd(sum, codes, digits);
}
#if defined(__AVX512F__) || defined(__AVXVNNI__)
FIXED_INLINE gemm_ints fixed_halves(gemm_ints sum, const gemm_ints *codes,
                                    const gemm_ints *digits) {
    return fours_madd(fours_madd(sum, codes[0], digits[0]), codes[1], digits[1]);
}
#else
// Four products of a half and a digit fit in 16 bits.
FIXED_INLINE gemm_ints fixed_halves(gemm_ints sum, const gemm_ints *codes,
                                    const gemm_ints *digits) {
    gemm_ints pairs = _mm256_add_epi16(_mm256_maddubs_epi16(codes[0], digits[0]),
                                       _mm256_maddubs_epi16(codes[1], digits[1]));
    return ints_add(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
#endif
#endif

//---- Digits -----------------------------------------------------------------

// Returns 2^exponent, for exponents from -149 to 127.
FIXED_INLINE float fixed_power(int exponent) {
    uint32_t bits = exponent < -126 ? 1U << (exponent + 149) : (uint32_t)(exponent + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

// Returns the exponent of the unit, by the bits of the greatest |a_k|: a denormal m * 2^-149, or a
// number from 2^e to 2^(e + 1) with 23 bits of fraction. 8355711 is 2^22 with the fraction
// 0x7EFEFE.
FIXED_INLINE int fixed_exponent(uint32_t most) {
    if (most < 1U << 23) return -149 + (most > QDQ_GEMM_FIXED_MOST);
    return (int)(most >> 23) - 127 - 22 + ((most & 0x7FFFFF) > 0x7EFEFE);
}

// A double of this magnitude has its ones in the lowest bit, so adding it rounds to an integer,
// which its low word holds.
void QDQ_ISA_NAME(gemm_fix)(const float *a, size_t n, qdq_gemm_fixed_block *block) {
    uint32_t codes[QDQ_GEMM_FIXED_DEPTH] = {0}, most = 0;
    for (size_t k = 0; k < n; k++) {
        uint32_t bits;
        memcpy(&bits, &a[k], sizeof bits);
        bits &= 0x7FFFFFFF;
        most = most > bits ? most : bits;
    }
    block->unit = 0;
    if (most >= 0x7F800000) return;
    int exponent = fixed_exponent(most);
    block->unit = fixed_power(exponent);
    double inverse = 1 / (double)block->unit;
    for (size_t k = 0; k < n; k++) {
        double integer = (double)a[k] * inverse + 0x1.8p52;
        uint64_t bits;
        memcpy(&bits, &integer, sizeof bits);
        codes[k] = (uint32_t)bits;
    }
    for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
        for (size_t k = 0; k < QDQ_GEMM_FIXED_DEPTH; k++)
            block->digits[i][k] = (int8_t)(((codes[k] + 0x808080) >> (8 * i) & 0xFF) ^ 0x80);
    for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
        for (size_t e = 0; e < QDQ_GEMM_FIXED_EIGHTHS; e++) {
            int sum = 0;
            for (size_t k = 0; k < QDQ_GEMM_EIGHTH; k++)
                sum += block->digits[i][e * QDQ_GEMM_EIGHTH + k];
            block->sums[i][e] = (int16_t)sum;
        }
}

//---- Products ---------------------------------------------------------------

typedef struct fixed_sums {
    gemm_ints of[QDQ_GEMM_DIGITS][FIXED_AT_ONCE];
} fixed_sums;

#define FIXED_EACH FIXED_UNROLLED for (size_t v = 0; v < FIXED_AT_ONCE; v++)
#define FIXED_DIGITS FIXED_UNROLLED for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)

FIXED_INLINE gemm_floats fixed_all(float x) {
    int32_t word;
    memcpy(&word, &x, sizeof word);
    return floats_all(word);
}

// Broadcasts the digits of four k to all columns.
FIXED_INLINE gemm_ints fixed_four(const qdq_gemm_fixed_group *g, size_t digit, size_t k) {
    int32_t word;
    memcpy(&word, &g->block->digits[digit][g->first + k], sizeof word);
    return ints_all(word);
}

// Minus the zero points times the sums of the digits.
FIXED_INLINE void fixed_begin(const qdq_gemm_fixed_row *r, const qdq_gemm_fixed_group *g,
                              bool halves, size_t first, fixed_sums *sums) {
    const int16_t *from = r->zeros + g->zero * r->zero_columns;
    gemm_ints zero[FIXED_AT_ONCE], bias = ints_all(halves ? 0 : -FIXED_BIAS);
    FIXED_EACH zero[v] =
        r->zero_columns == 1 ? ints_all(*from) : fixed_widen(from + (first + v) * LANES);
    FIXED_DIGITS FIXED_EACH sums->of[i][v] =
        fixed_times(ints_add(zero[v], bias), ints_all(-g->sums[i]));
}

FIXED_INLINE void fixed_add_halves(const qdq_gemm_fixed_group *g, const uint8_t *codes,
                                   size_t first, fixed_sums *sums) {
    for (size_t line = 0; line < g->lines; line++, codes += QDQ_GEMM_LINE_BYTES) {
        gemm_ints digits[QDQ_GEMM_DIGITS][2];
        FIXED_DIGITS digits[i][0] = fixed_four(g, i, line * 8);
        FIXED_DIGITS digits[i][1] = fixed_four(g, i, line * 8 + 4);
        __builtin_prefetch(codes + FIXED_AHEAD);
        __builtin_prefetch(codes + FIXED_AHEAD + QDQ_GEMM_LINE_BYTES / 2);
        FIXED_EACH {
            gemm_ints x = ints_load(codes + (first + v) * LANES * 4);
            gemm_ints both[2] = {fixed_low(x), fixed_high(x)};
            FIXED_DIGITS sums->of[i][v] = fixed_halves(sums->of[i][v], both, digits[i]);
        }
    }
}

FIXED_INLINE void fixed_add_bytes(const qdq_gemm_fixed_group *g, const uint8_t *codes, size_t first,
                                  fixed_sums *sums) {
    for (size_t line = 0; line < g->lines; line++, codes += QDQ_GEMM_LINE_BYTES) {
        gemm_ints digits[QDQ_GEMM_DIGITS];
        FIXED_DIGITS digits[i] = fixed_four(g, i, line * 4);
        __builtin_prefetch(codes + FIXED_AHEAD);
        __builtin_prefetch(codes + FIXED_AHEAD + QDQ_GEMM_LINE_BYTES / 2);
        FIXED_EACH {
            gemm_ints x = ints_load(codes + (first + v) * LANES * 4);
            FIXED_DIGITS sums->of[i][v] = fixed_bytes(sums->of[i][v], x, digits[i]);
        }
    }
}

FIXED_INLINE void fixed_end(const qdq_gemm_fixed_row *r, const qdq_gemm_fixed_group *g,
                            size_t first, const fixed_sums *sums) {
    const float *scale = r->scales + g->scale * r->scale_columns;
    gemm_floats unit = fixed_all(g->block->unit);
    FIXED_EACH {
        float *sum = r->sums + (first + v) * LANES;
        gemm_floats value =
            floats_madd(floats_of(sums->of[0][v]), fixed_all(256), floats_of(sums->of[1][v]));
        value = floats_madd(value, fixed_all(65536), floats_of(sums->of[2][v]));
        gemm_floats of_column =
            r->scale_columns == 1 ? fixed_all(*scale) : floats_load(scale + (first + v) * LANES);
        floats_store(sum, floats_madd(floats_load(sum), of_column, floats_mul(value, unit)));
    }
}

FIXED_INLINE void fixed_groups(const qdq_gemm_fixed_row *r, bool halves) {
    const uint8_t *codes = r->codes;
    for (const qdq_gemm_fixed_group *g = r->groups; g < r->groups + r->count; g++) {
        for (size_t first = 0; first < FIXED_VECS; first += FIXED_AT_ONCE) {
            fixed_sums sums;
            fixed_begin(r, g, halves, first, &sums);
            if (halves)
                fixed_add_halves(g, codes, first, &sums);
            else
                fixed_add_bytes(g, codes, first, &sums);
            fixed_end(r, g, first, &sums);
        }
        codes += (size_t)g->lines * QDQ_GEMM_LINE_BYTES;
    }
}

void QDQ_ISA_NAME(gemm_fixed)(const qdq_gemm_fixed_row *r) {
    if (r->halves)
        fixed_groups(r, true);
    else
        fixed_groups(r, false);
}
