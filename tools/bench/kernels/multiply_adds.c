// SPDX-License-Identifier: Apache-2.0
// Multiply-adds on registers, compiled once per instruction set (STREAM_ISA). Twelve independent
// sums hide the latency. Without VNNI, bytes are multiplied as pairs of int16, or by vpmaddubsw,
// whose sums of pairs fit if weights are split. The loop on pairs has the three instructions of
// each product.
#include "tools/bench/kernels/multiply_adds.h"

#include <stdint.h>

#ifndef STREAM_ISA
#define STREAM_ISA portable
#endif

#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
enum { SUMS = 12 };

#if defined __AVX512F__
#include <immintrin.h>
typedef __m512 floats;
typedef __m512i ints;
#define FLOATS(number) _mm512_set1_ps(number)
#define INTS(code) _mm512_set1_epi8(code)
#define FMA(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#define DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#if defined __AVX512BF16__
#define BFLOATS(number) _mm512_set1_epi16(number)
#define DOT_BFLOATS(sum, a, b) _mm512_dpbf16_ps(sum, (__m512bh)(a), (__m512bh)(b))
#endif
#define REGISTER "+v"
#elif defined __AVX2__
#include <immintrin.h>
typedef __m256 floats;
typedef __m256i ints;
#define FLOATS(number) _mm256_set1_ps(number)
#define INTS(code) _mm256_set1_epi8(code)
#define FMA(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#if defined __AVXVNNI__
#define DOT(sum, a, b) _mm256_dpbusd_avx_epi32(sum, a, b)
#else
#define DOT(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#define DOT_BYTES 2  // of an element
#define DOT_PAIRS(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(_mm256_maddubs_epi16(a, b), a))
#endif
#define REGISTER "+x"
#elif defined __GNUC__
// Vector types of the compiler, of 16 bytes, which every machine with vectors has.
typedef float floats __attribute__((vector_size(16)));
typedef int16_t ints __attribute__((vector_size(16)));
#define FLOATS(number) ((floats){number, number, number, number})
#define INTS(code) ((ints){code, code, code, code, code, code, code, code})
#define FMA(sum, a, b) ((sum) + (a) * (b))
#define DOT(sum, a, b) ((sum) + (a) * (b))
#define DOT_BYTES 2
#if defined __x86_64__
#define REGISTER "+x"
#elif defined __aarch64__
#define REGISTER "+w"
#endif
#endif

#ifndef DOT_BYTES
#define DOT_BYTES 1
#endif

// Hides a value from the compiler, so that it cannot move or merge instructions.
#ifdef REGISTER
#define KEEP(v) __asm__ volatile("" : REGISTER(v))
#else
#define KEEP(v) __asm__ volatile("" : "+m"(v))
#endif

#define DECLARE_SUM(k) sum##k = zero,
// Each step reads `a` anew: the compiler would move a product of `a` and `b` out of the loop.
#define STEP(k, MULTIPLY)            \
    sum##k = MULTIPLY(sum##k, a, b); \
    KEEP(sum##k);                    \
    KEEP(a);
#define FMA_STEP(k) STEP(k, FMA)
#define DOT_STEP(k) STEP(k, DOT)
#define PAIRS_STEP(k) STEP(k, DOT_PAIRS)
#define BFLOATS_STEP(k) STEP(k, DOT_BFLOATS)
#define LOOP(sums, type, first, second, EACH_STEP) \
    const sums zero = {0};                         \
    sums EACH(DECLARE_SUM) last = zero;            \
    type a = (first), b = (second);                \
    KEEP(last);                                    \
    KEEP(a);                                       \
    KEEP(b);                                       \
    for (size_t i = 0; i < rounds; i++) {          \
        EACH(EACH_STEP)                            \
    }

static size_t multiply_floats(size_t rounds) {
    LOOP(floats, floats, FLOATS(0.001f), FLOATS(0.003f), FMA_STEP)
    return SUMS * sizeof(floats) / sizeof(float);
}

static size_t multiply_bytes(size_t rounds) {
    LOOP(ints, ints, INTS(3), INTS(5), DOT_STEP)
    return SUMS * sizeof(ints) / DOT_BYTES;
}

#ifdef DOT_PAIRS
static size_t multiply_pairs(size_t rounds) {
    LOOP(ints, ints, INTS(3), INTS(5), PAIRS_STEP)
    return SUMS * sizeof(ints);
}
#else
#define multiply_pairs NULL
#endif

#ifdef DOT_BFLOATS
static size_t multiply_bfloats(size_t rounds) {
    enum { ONE = 0x3f80, TINY = 0x3a80 };
    LOOP(floats, ints, BFLOATS(TINY), BFLOATS(ONE), BFLOATS_STEP)
    return SUMS * sizeof(ints) / 2;
}
#else
#define multiply_bfloats NULL
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

multiply_adds_fn *const JOIN(multiply_adds_, STREAM_ISA)[MULTIPLY_KINDS] = {
    multiply_floats, multiply_bytes, multiply_pairs, multiply_bfloats};
