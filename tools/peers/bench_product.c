// SPDX-License-Identifier: Apache-2.0
// The limits of a matrix product: the rate of its instructions, and reading its weights.
// bench_product_peers.py compiles it for this machine and calls it.
#include <qdq/qdq.h>
#include <stdint.h>
#include <string.h>

#if defined __x86_64__
#include <immintrin.h>
#endif

//---- Instructions on registers ----------------------------------------------

// EACH runs for independent sums, one register each. KEEP stops the compiler from moving an
// instruction.
#define TWELVE(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)
#if defined __AVX512F__
#define EACH(F) TWELVE(F) F(12) F(13) F(14) F(15) F(16) F(17) F(18) F(19) F(20) F(21) F(22) F(23)
enum { SUMS = 24 };
typedef __m512i ints;
typedef __m512 floats;
#define KEEP(v) __asm__ volatile("" : "+v"(v))
#define INTS(code) _mm512_set1_epi8(code)
#define FLOATS(number) _mm512_set1_ps(number)
#define FMA(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#elif defined __AVX2__ && defined __FMA__
#define EACH(F) TWELVE(F)
enum { SUMS = 12 };
typedef __m256i ints;
typedef __m256 floats;
#define KEEP(v) __asm__ volatile("" : "+x"(v))
#define INTS(code) _mm256_set1_epi8(code)
#define FLOATS(number) _mm256_set1_ps(number)
#define FMA(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#endif

#if defined __AVX512VNNI__
#define DOT_NAME "vpdpbusd zmm"
#define DOT_PRODUCTS 4
#define DOT(sum, a, b) _mm512_dpbusd_epi32(sum, a, b)
#elif defined __AVXVNNI__ && !defined __AVX512F__
#define DOT_NAME "vpdpbusd ymm"
#define DOT_PRODUCTS 4
#define DOT(sum, a, b) _mm256_dpbusd_avx_epi32(sum, a, b)
#elif defined __AVX512BW__
#define DOT_NAME "vpmaddwd, vpaddd zmm"
#define DOT_PRODUCTS 2
#define DOT(sum, a, b) _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
#elif defined __AVX2__
#define DOT_NAME "vpmaddwd, vpaddd ymm"
#define DOT_PRODUCTS 2
#define DOT(sum, a, b) _mm256_add_epi32(sum, _mm256_madd_epi16(a, b))
#endif
// Without VNNI bytes are multiplied exactly as pairs of int16, because vpmaddubsw saturates.

typedef void peak_fn(size_t rounds);

typedef struct peak {
    const char *dtype, *name;
    peak_fn *fn;
    size_t multiplications;  // in a round
} peak;

#if defined FMA
#define DECLARE(k) sum##k = zero,
#define LOOP(type, STEP)                                    \
    const type zero = {0};                                  \
    type EACH(DECLARE) a = FIRST_##type, b = SECOND_##type; \
    KEEP(a);                                                \
    KEEP(b);                                                \
    for (size_t i = 0; i < rounds; i++) {                   \
        EACH(STEP)                                          \
    }

// Floats that grow slowly; read as pairs of bfloat16 they are small normal numbers, too.
#define FIRST_ints INTS(3)
#define SECOND_ints INTS(-5)
#define FIRST_floats FLOATS(0.001f)
#define SECOND_floats FLOATS(0.003f)

// The compiler must not know that a step multiplies the same operands as the last one.
#define DOT_STEP(k)             \
    KEEP(a);                    \
    sum##k = DOT(sum##k, a, b); \
    KEEP(sum##k);
#define FMA_STEP(k)             \
    sum##k = FMA(sum##k, a, b); \
    KEEP(sum##k);

static void peak_int8(size_t rounds) { LOOP(ints, DOT_STEP) }
static void peak_float32(size_t rounds) { LOOP(floats, FMA_STEP) }

#if defined __AVX512BF16__
#define WIDE_STEP(k)                                             \
    sum##k = _mm512_dpbf16_ps(sum##k, (__m512bh)a, (__m512bh)b); \
    KEEP(sum##k);
static void peak_bfloat16(size_t rounds) { LOOP(floats, WIDE_STEP) }
#endif

#if defined __AVX512F__
#define FMA_NAME "vfmadd zmm"
#else
#define FMA_NAME "vfmadd ymm"
#endif

enum { LANES = sizeof(floats) / sizeof(float), STEP = SUMS * LANES };

// bfloat16 may be multiplied as float32 too, which is faster on some CPUs.
static const peak peaks[] = {
    {"int8", DOT_NAME, peak_int8, (size_t)STEP *DOT_PRODUCTS},
#if defined __AVX512BF16__
    {"bfloat16", "vdpbf16ps zmm", peak_bfloat16, (size_t)STEP * 2},
#endif
    {"bfloat16", FMA_NAME, peak_float32, STEP},
    {"float32", FMA_NAME, peak_float32, STEP},
    {0},
};
#else
static const peak peaks[] = {{0}};
#endif

enum { ROUNDS = 1 << 15 };

typedef struct peak_words {
    const peak *peak;
    int threads;
} peak_words;

static void peak_task(void *context, size_t begin, size_t end) {
    const peak_words *w = context;
    for (size_t i = begin; i < end; i++) w->peak->fn(ROUNDS);
}

void peak_run(peak_words *w) {
    qdq_parallel parallel = qdq_parallel_openmp(w->threads);
    if (parallel.run && w->threads > 1)
        parallel.run(parallel.self, (size_t)w->threads, peak_task, w);
    else
        peak_task(w, 0, (size_t)w->threads);
}

// How many multiplications variant `which` of a dtype does in a run; 0 if there is no such variant.
size_t peak_open(peak_words *w, const char *dtype, int which, int threads) {
    const peak *p = peaks;
    while (p->dtype && (strcmp(p->dtype, dtype) != 0 || which-- > 0)) p++;
    *w = (peak_words){p, threads};
    return p->dtype ? p->multiplications * ROUNDS * (size_t)threads : 0;
}

const char *peak_name(const peak_words *w) { return w->peak->name; }

//---- Reading ----------------------------------------------------------------

// Reads cache lines from `ways` places in turn, with prefetches some lines ahead.
typedef struct read_words {
    const char *data;
    size_t lines;
    int ways, ahead, threads;
} read_words;

enum { LINE = 64, AHEAD = 4096, MOST_WAYS = 4 };

typedef uint64_t line __attribute__((vector_size(LINE)));

// Combines all lines with `or`, so that the compiler keeps the reads.
static inline void read_ways(const line *in, size_t lines, int ways, int ahead) {
    line sums[MOST_WAYS] = {{0}};
    size_t apart = lines / (size_t)ways;
    for (size_t i = 0; i < apart; i++)
        for (int k = 0; k < ways; k++) {
            const line *from = in + apart * (size_t)k + i;
            if (ahead) __builtin_prefetch((const char *)from + AHEAD);
            sums[k] |= *from;
        }
    __asm__ volatile("" : : "r"(sums) : "memory");
}

static void read_task(void *context, size_t begin, size_t end) {
    const read_words *w = context;
    const line *in = (const line *)w->data + begin;
    if (w->ways == 1 && !w->ahead) read_ways(in, end - begin, 1, 0);
    if (w->ways == 1 && w->ahead) read_ways(in, end - begin, 1, 1);
    if (w->ways == 4 && !w->ahead) read_ways(in, end - begin, 4, 0);
    if (w->ways == 4 && w->ahead) read_ways(in, end - begin, 4, 1);
}

void read_run(read_words *w) {
    qdq_parallel parallel = qdq_parallel_openmp(w->threads);
    if (parallel.run && w->threads > 1)
        parallel.run(parallel.self, w->lines, read_task, w);
    else
        read_task(w, 0, w->lines);
}
