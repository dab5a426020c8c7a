// SPDX-License-Identifier: Apache-2.0
// The vector operations that the quick loops of elementary functions are written with, for each
// instruction set that has them. A vector of floats corresponds to two vectors of doubles, low and
// high.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_VECTORS_INC_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_VECTORS_INC_H

#include <stdbool.h>
#include <stdint.h>

// quick_clamp and half_at_least pass on NaN. wide_estimate is 1 / d for 2^-126 <= d < 2^126, off by
// 2^-11 at most. half_scaled is y * 2^k, where the low bits of t hold the integer k. A mask has a
// bit for each element, set if a condition is true: quick_between: a number in [least, most),
// quick_at_or_above: a number that is not less, quick_below: a number below another, or NaN,
// quick_odd: a denormal, not 0, or NaN, and wide_low_zeros: a double whose bits, plus `add`, are 0
// under `bits`. quick_quiet makes every NaN 0x7FC00000. mask_all: true for all elements; mask_bits:
// bit k belongs to element k. The first n elements, n < QUICK_LANES: quick_load_first loads them,
// and `fill` for the others, quick_store_first stores them, and quick_keep_first sets the others to
// 0. quick_most is the greatest element, if none is NaN. quick_lower and quick_upper are the first
// and the last 8 elements, for AVX2 both are all. quick_sum_pairs is ((l0 + l1) + (l2 + l3)) + ((l4
// + l5) + (l6 + l7)). quick_estimate_floats is 1 / d, off by 2^-11 at most. A table has QUICK_LANES
// floats: quick_lookup takes table[k % QUICK_LANES], and quick_table_exponents is k / QUICK_LANES
// in the place of an exponent, whose last bits lie in the fraction.
#if defined(__AVX512F__)
#define QDQ_QUICK_VECTORS
#include <immintrin.h>
enum { QUICK_LANES = 16 };
typedef __m512 quick_floats;
typedef __m512d quick_half;
typedef struct quick_wide {
    __m512d low, high;
} quick_wide;
typedef __mmask16 quick_mask;
static inline quick_floats quick_load(const float *x) { return _mm512_loadu_ps(x); }
static inline void quick_store(float *y, quick_floats v) { _mm512_storeu_ps(y, v); }
static inline quick_half half_load(const double *x) { return _mm512_loadu_pd(x); }
static inline void half_store(double *y, quick_half v) { _mm512_storeu_pd(y, v); }
static inline quick_floats quick_greater(quick_floats a, quick_floats b) {
    return _mm512_max_ps(a, b);
}
static inline quick_floats quick_lesser(quick_floats a, quick_floats b) {
    return _mm512_min_ps(a, b);
}
static inline quick_half half_at_least(quick_half v, double least) {
    return _mm512_max_pd(_mm512_set1_pd(least), v);
}
static inline quick_floats quick_same(float v) { return _mm512_set1_ps(v); }
static inline quick_floats quick_clamp(quick_floats v, float low, float high) {
    return _mm512_min_ps(quick_same(high), _mm512_max_ps(quick_same(low), v));
}
static inline quick_floats quick_size(quick_floats v) { return _mm512_abs_ps(v); }
static inline quick_floats quick_sign_of(quick_floats x, quick_floats y) {
    return _mm512_or_ps(y, _mm512_and_ps(x, quick_same(-0.0f)));
}
static inline quick_floats quick_if_less(quick_floats a, float b, float yes, quick_floats no) {
    return _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(a, quick_same(b), _CMP_LT_OQ),
                              quick_same(yes));
}
static inline quick_mask mask_none(void) { return 0; }
static inline bool mask_any(quick_mask m) { return m != 0; }
static inline quick_mask mask_or(quick_mask a, quick_mask b) { return a | b; }
static inline quick_mask mask_and(quick_mask a, quick_mask b) { return a & b; }
static inline bool mask_all(quick_mask m) { return m == 0xFFFF; }
static inline uint32_t mask_bits(quick_mask m) { return m; }
static inline quick_mask quick_at_or_above(quick_floats a, float least) {
    return _mm512_cmp_ps_mask(a, quick_same(least), _CMP_GE_OQ);
}
static inline quick_mask quick_between(quick_floats a, float least, float most) {
    quick_mask above = _mm512_cmp_ps_mask(a, quick_same(least), _CMP_GE_OQ);
    return _mm512_mask_cmp_ps_mask(above, a, quick_same(most), _CMP_LT_OQ);
}
static inline quick_mask quick_below(quick_floats a, float least) {
    return _mm512_cmp_ps_mask(a, quick_same(least), _CMP_NGE_UQ);
}
static inline quick_mask quick_odd(quick_floats y) {
    enum { NANS = 0x81, DENORMALS = 0x20 };
    return _mm512_fpclass_ps_mask(y, NANS | DENORMALS);
}
static inline quick_half half_all(double v) { return _mm512_set1_pd(v); }
static inline quick_wide wide_of(quick_floats v) {
    return (quick_wide){_mm512_cvtps_pd(_mm512_castps512_ps256(v)),
                        _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1))};
}
static inline quick_floats wide_narrow(quick_wide v) {
    __m512 low = _mm512_castps256_ps512(_mm512_cvtpd_ps(v.low));
    return _mm512_insertf32x8(low, _mm512_cvtpd_ps(v.high), 1);
}
static inline quick_wide wide_estimate(quick_wide d) {
    return (quick_wide){_mm512_rcp14_pd(d.low), _mm512_rcp14_pd(d.high)};
}
static inline quick_half half_fma(quick_half a, quick_half b, quick_half c) {
    return _mm512_fmadd_pd(a, b, c);
}
static inline quick_half half_scaled(quick_half y, quick_half t) {
    __m512i power = _mm512_slli_epi64(_mm512_castpd_si512(t), 52);
    return _mm512_castsi512_pd(_mm512_add_epi64(_mm512_castpd_si512(y), power));
}
static inline quick_mask wide_low_zeros(quick_wide y, int32_t add, int32_t bits) {
    const __m512i evens =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    __m512i v =
        _mm512_permutex2var_epi32(_mm512_castpd_si512(y.low), evens, _mm512_castpd_si512(y.high));
    v = _mm512_add_epi32(v, _mm512_set1_epi32(add));
    return _mm512_testn_epi32_mask(v, _mm512_set1_epi32(bits));
}
typedef __m512i quick_ints;
static inline quick_floats quick_fused(quick_floats a, quick_floats b, quick_floats c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline quick_floats quick_fused_less(quick_floats a, quick_floats b, quick_floats c) {
    return _mm512_fnmadd_ps(a, b, c);
}
static inline quick_ints quick_bits(quick_floats v) { return _mm512_castps_si512(v); }
static inline quick_floats quick_from_bits(quick_ints v) { return _mm512_castsi512_ps(v); }
static inline quick_ints quick_ints_same(int32_t v) { return _mm512_set1_epi32(v); }
static inline quick_ints quick_ints_add(quick_ints a, quick_ints b) {
    return _mm512_add_epi32(a, b);
}
static inline quick_ints quick_ints_subtract(quick_ints a, quick_ints b) {
    return _mm512_sub_epi32(a, b);
}
static inline quick_ints quick_to_exponents(quick_ints v) { return _mm512_slli_epi32(v, 23); }
static inline quick_floats quick_lookup(const float *table, quick_ints i) {
    return _mm512_permutexvar_ps(i, quick_load(table));
}
static inline quick_ints quick_table_exponents(quick_ints k) { return _mm512_slli_epi32(k, 19); }
static inline quick_floats quick_estimate_floats(quick_floats d) { return _mm512_rcp14_ps(d); }
static inline quick_mask quick_equal(quick_floats a, quick_floats b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline quick_ints quick_ints_clamp(quick_ints v, int32_t low, int32_t high) {
    return _mm512_min_epi32(quick_ints_same(high), _mm512_max_epi32(quick_ints_same(low), v));
}
static inline quick_floats quick_pick_less(quick_floats a, float b, quick_floats yes,
                                           quick_floats no) {
    return _mm512_mask_mov_ps(no, _mm512_cmp_ps_mask(a, quick_same(b), _CMP_LT_OQ), yes);
}
static inline quick_floats quick_quiet(quick_floats v) {
    return _mm512_mask_mov_ps(v, _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q),
                              quick_from_bits(quick_ints_same(0x7FC00000)));
}
static inline quick_mask quick_first(size_t n) { return (quick_mask)((1u << n) - 1); }
static inline quick_floats quick_load_first(const float *x, size_t n, float fill) {
    return _mm512_mask_loadu_ps(quick_same(fill), quick_first(n), x);
}
static inline void quick_store_first(float *y, size_t n, quick_floats v) {
    _mm512_mask_storeu_ps(y, quick_first(n), v);
}
static inline quick_floats quick_keep_first(quick_floats v, size_t n) {
    return _mm512_maskz_mov_ps(quick_first(n), v);
}
static inline float quick_most(quick_floats v) { return _mm512_reduce_max_ps(v); }
static inline double half_sum(quick_half v) { return _mm512_reduce_add_pd(v); }
static inline __m256 quick_lower(quick_floats v) { return _mm512_castps512_ps256(v); }
static inline __m256 quick_upper(quick_floats v) { return _mm512_extractf32x8_ps(v, 1); }
#elif defined(__AVX2__)
#define QDQ_QUICK_VECTORS
#include <immintrin.h>
enum { QUICK_LANES = 8 };
typedef __m256 quick_floats;
typedef __m256d quick_half;
typedef struct quick_wide {
    __m256d low, high;
} quick_wide;
typedef __m256i quick_mask;
static inline quick_floats quick_load(const float *x) { return _mm256_loadu_ps(x); }
static inline void quick_store(float *y, quick_floats v) { _mm256_storeu_ps(y, v); }
static inline quick_half half_load(const double *x) { return _mm256_loadu_pd(x); }
static inline void half_store(double *y, quick_half v) { _mm256_storeu_pd(y, v); }
static inline quick_floats quick_greater(quick_floats a, quick_floats b) {
    return _mm256_max_ps(a, b);
}
static inline quick_floats quick_lesser(quick_floats a, quick_floats b) {
    return _mm256_min_ps(a, b);
}
static inline quick_half half_at_least(quick_half v, double least) {
    return _mm256_max_pd(_mm256_set1_pd(least), v);
}
static inline quick_floats quick_same(float v) { return _mm256_set1_ps(v); }
static inline quick_floats quick_clamp(quick_floats v, float low, float high) {
    return _mm256_min_ps(quick_same(high), _mm256_max_ps(quick_same(low), v));
}
static inline quick_floats quick_size(quick_floats v) {
    return _mm256_andnot_ps(quick_same(-0.0f), v);
}
static inline quick_floats quick_sign_of(quick_floats x, quick_floats y) {
    return _mm256_or_ps(y, _mm256_and_ps(x, quick_same(-0.0f)));
}
static inline quick_floats quick_if_less(quick_floats a, float b, float yes, quick_floats no) {
    return _mm256_blendv_ps(no, quick_same(yes), _mm256_cmp_ps(a, quick_same(b), _CMP_LT_OQ));
}
static inline quick_mask mask_none(void) { return _mm256_setzero_si256(); }
static inline bool mask_any(quick_mask m) { return !_mm256_testz_si256(m, m); }
static inline quick_mask mask_or(quick_mask a, quick_mask b) { return _mm256_or_si256(a, b); }
static inline quick_mask mask_and(quick_mask a, quick_mask b) { return _mm256_and_si256(a, b); }
static inline bool mask_all(quick_mask m) { return _mm256_movemask_epi8(m) == -1; }
static inline uint32_t mask_bits(quick_mask m) {
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(m));
}
static inline quick_mask quick_at_or_above(quick_floats a, float least) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, quick_same(least), _CMP_GE_OQ));
}
static inline quick_mask quick_between(quick_floats a, float least, float most) {
    __m256 above = _mm256_cmp_ps(a, quick_same(least), _CMP_GE_OQ);
    __m256 below = _mm256_cmp_ps(a, quick_same(most), _CMP_LT_OQ);
    return _mm256_castps_si256(_mm256_and_ps(above, below));
}
static inline quick_mask quick_below(quick_floats a, float least) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, quick_same(least), _CMP_NGE_UQ));
}
static inline quick_mask quick_odd(quick_floats y) {
    __m256i size = _mm256_castps_si256(quick_size(y));
    __m256i small = _mm256_cmpgt_epi32(_mm256_set1_epi32(0x00800000), size);
    __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(y, y, _CMP_UNORD_Q));
    return _mm256_or_si256(_mm256_and_si256(small, size), nan);
}
static inline quick_half half_all(double v) { return _mm256_set1_pd(v); }
static inline quick_wide wide_of(quick_floats v) {
    return (quick_wide){_mm256_cvtps_pd(_mm256_castps256_ps128(v)),
                        _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1))};
}
static inline quick_floats wide_narrow(quick_wide v) {
    __m256 low = _mm256_castps128_ps256(_mm256_cvtpd_ps(v.low));
    return _mm256_insertf128_ps(low, _mm256_cvtpd_ps(v.high), 1);
}
static inline quick_wide wide_estimate(quick_wide d) {
    return wide_of(_mm256_rcp_ps(wide_narrow(d)));
}
static inline quick_half half_fma(quick_half a, quick_half b, quick_half c) {
    return _mm256_fmadd_pd(a, b, c);
}
static inline quick_half half_scaled(quick_half y, quick_half t) {
    __m256i power = _mm256_slli_epi64(_mm256_castpd_si256(t), 52);
    return _mm256_castsi256_pd(_mm256_add_epi64(_mm256_castpd_si256(y), power));
}
static inline quick_mask wide_low_zeros(quick_wide y, int32_t add, int32_t bits) {
    enum { EVENS = 0x88 };
    __m256i v = _mm256_castps_si256(
        _mm256_shuffle_ps(_mm256_castpd_ps(y.low), _mm256_castpd_ps(y.high), EVENS));
    v = _mm256_and_si256(_mm256_add_epi32(v, _mm256_set1_epi32(add)), _mm256_set1_epi32(bits));
    return _mm256_cmpeq_epi32(v, _mm256_setzero_si256());
}
typedef __m256i quick_ints;
static inline quick_floats quick_fused(quick_floats a, quick_floats b, quick_floats c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline quick_floats quick_fused_less(quick_floats a, quick_floats b, quick_floats c) {
    return _mm256_fnmadd_ps(a, b, c);
}
static inline quick_ints quick_bits(quick_floats v) { return _mm256_castps_si256(v); }
static inline quick_floats quick_from_bits(quick_ints v) { return _mm256_castsi256_ps(v); }
static inline quick_ints quick_ints_same(int32_t v) { return _mm256_set1_epi32(v); }
static inline quick_ints quick_ints_add(quick_ints a, quick_ints b) {
    return _mm256_add_epi32(a, b);
}
static inline quick_ints quick_ints_subtract(quick_ints a, quick_ints b) {
    return _mm256_sub_epi32(a, b);
}
static inline quick_ints quick_to_exponents(quick_ints v) { return _mm256_slli_epi32(v, 23); }
static inline quick_floats quick_lookup(const float *table, quick_ints i) {
    return _mm256_permutevar8x32_ps(quick_load(table), i);
}
static inline quick_ints quick_table_exponents(quick_ints k) { return _mm256_slli_epi32(k, 20); }
static inline quick_floats quick_estimate_floats(quick_floats d) { return _mm256_rcp_ps(d); }
static inline quick_mask quick_equal(quick_floats a, quick_floats b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a, b, _CMP_EQ_OQ));
}
static inline quick_ints quick_ints_clamp(quick_ints v, int32_t low, int32_t high) {
    return _mm256_min_epi32(quick_ints_same(high), _mm256_max_epi32(quick_ints_same(low), v));
}
static inline quick_floats quick_pick_less(quick_floats a, float b, quick_floats yes,
                                           quick_floats no) {
    return _mm256_blendv_ps(no, yes, _mm256_cmp_ps(a, quick_same(b), _CMP_LT_OQ));
}
static inline quick_floats quick_quiet(quick_floats v) {
    return _mm256_blendv_ps(v, quick_from_bits(quick_ints_same(0x7FC00000)),
                            _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
}
static inline quick_mask quick_first(size_t n) {
    const __m256i numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), numbers);
}
static inline quick_floats quick_load_first(const float *x, size_t n, float fill) {
    quick_mask first = quick_first(n);
    return _mm256_blendv_ps(quick_same(fill), _mm256_maskload_ps(x, first),
                            _mm256_castsi256_ps(first));
}
static inline void quick_store_first(float *y, size_t n, quick_floats v) {
    _mm256_maskstore_ps(y, quick_first(n), v);
}
static inline quick_floats quick_keep_first(quick_floats v, size_t n) {
    return _mm256_and_ps(v, _mm256_castsi256_ps(quick_first(n)));
}
static inline float quick_most(quick_floats v) {
    v = _mm256_max_ps(v, _mm256_permute2f128_ps(v, v, 1));
    v = _mm256_max_ps(v, _mm256_permute_ps(v, 0x4E));
    return _mm256_cvtss_f32(_mm256_max_ps(v, _mm256_permute_ps(v, 0xB1)));
}
static inline double half_sum(quick_half v) {
    __m128d sums = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(sums, _mm_unpackhi_pd(sums, sums)));
}
static inline __m256 quick_lower(quick_floats v) { return v; }
static inline __m256 quick_upper(quick_floats v) { return v; }
#endif

#if defined(QDQ_QUICK_VECTORS)
static inline float quick_sum_pairs(__m256 l) {
    l = _mm256_add_ps(l, _mm256_permute_ps(l, 0xB1));
    l = _mm256_add_ps(l, _mm256_permute_ps(l, 0x4E));
    return _mm_cvtss_f32(_mm_add_ss(_mm256_castps256_ps128(l), _mm256_extractf128_ps(l, 1)));
}
#endif

#endif
