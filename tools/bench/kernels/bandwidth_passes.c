// SPDX-License-Identifier: Apache-2.0
// Reads and writes with nothing in between: the limit that memory sets. Compiled once per
// instruction set (STREAM_ISA). Data that is only read is or-ed together, because the compiler
// would drop unused reads.
#include "tools/bench/kernels/bandwidth_passes.h"

#ifndef STREAM_ISA
#define STREAM_ISA portable
#endif

//---- A line of 64 bytes -----------------------------------------------------

#if defined __AVX512F__
#include <immintrin.h>
typedef __m512i reg;
#define LOAD(p) _mm512_load_si512(p)
#define OR(a, b) _mm512_or_si512(a, b)
#define STORE(p, v) _mm512_store_si512(p, v)
#define STORE_NT(p, v) _mm512_stream_si512(p, v)
#elif defined __AVX2__
#include <immintrin.h>
typedef __m256i reg;
#define LOAD(p) _mm256_load_si256(p)
#define OR(a, b) _mm256_or_si256(a, b)
#define STORE(p, v) _mm256_store_si256(p, v)
#define STORE_NT(p, v) _mm256_stream_si256(p, v)
#elif defined __SSE2__
#include <immintrin.h>
typedef __m128i reg;
#define LOAD(p) _mm_load_si128(p)
#define OR(a, b) _mm_or_si128(a, b)
#define STORE(p, v) _mm_store_si128(p, v)
#define STORE_NT(p, v) _mm_stream_si128(p, v)
#else
typedef uint64_t reg;
#define LOAD(p) (*(p))
#define OR(a, b) ((a) | (b))
#define STORE(p, v) (*(p) = (v))
#if defined __clang__
#define STORE_NT(p, v) __builtin_nontemporal_store(v, p)
#endif
#endif

enum { REGS = STREAM_LINE / sizeof(reg) };

typedef struct line {
    reg regs[REGS];
} line;

static const line zeros;

static inline void add(line *sum, const line *in) {
    for (int r = 0; r < REGS; r++) sum->regs[r] = OR(sum->regs[r], LOAD(&in->regs[r]));
}

static inline void put(line *out, const line *v, bool nontemporal) {
#ifdef STORE_NT
    if (nontemporal) {
        for (int r = 0; r < REGS; r++) STORE_NT(&out->regs[r], v->regs[r]);
        return;
    }
#endif
    (void)nontemporal;
    for (int r = 0; r < REGS; r++) STORE(&out->regs[r], v->regs[r]);
}

//---- Shapes of traffic ------------------------------------------------------

// Reads `reads` lines and writes `writes` lines for each group. Calls pass constants, so that the
// compiler specializes the loop for each common shape.
static inline void flow(const line *in, line *out, size_t groups, size_t reads, size_t writes,
                        bool nontemporal) {
    for (size_t g = 0; g < groups; g++) {
        line sum = zeros;
        for (size_t k = 0; k < reads; k++) add(&sum, in++);
        for (size_t k = 0; k < writes; k++) put(out++, &sum, nontemporal);
    }
}

// Handles any other shape: spreads the lines of one side evenly over the lines of the other.
static void flow_uneven(const line *in, line *out, size_t reads, size_t writes, bool nontemporal) {
    size_t groups = reads < writes ? reads : writes;
    for (size_t g = 0; g < groups; g++) {
        size_t r = reads * (g + 1) / groups - reads * g / groups;
        size_t w = writes * (g + 1) / groups - writes * g / groups;
        flow(in, out, 1, r, w, nontemporal);
        in += r;
        out += w;
    }
}

static inline void flow_any(const line *in, line *out, size_t reads, size_t writes,
                            bool nontemporal) {
    if (writes == reads)
        flow(in, out, writes, 1, 1, nontemporal);
    else if (reads == 2 * writes)
        flow(in, out, writes, 2, 1, nontemporal);
    else if (reads == 4 * writes)
        flow(in, out, writes, 4, 1, nontemporal);
    else if (writes == 2 * reads)
        flow(in, out, reads, 1, 2, nontemporal);
    else if (writes == 4 * reads)
        flow(in, out, reads, 1, 4, nontemporal);
    else if (reads == 0)
        flow(in, out, writes, 0, 1, nontemporal);
    else
        flow_uneven(in, out, reads, writes, nontemporal);
}

// Reads and writes nothing. The or-ed data goes to a volatile object, so that the compiler keeps
// every read.
static void flow_in(const line *in, size_t reads) {
    line sum = zeros;
    for (size_t i = 0; i < reads; i++) add(&sum, in + i);
    uint64_t words[STREAM_LINE / 8], all = 0;
    memcpy(words, &sum, sizeof words);
    for (size_t i = 0; i < STREAM_LINE / 8; i++) all |= words[i];
    volatile uint64_t sink = all;
    (void)sink;
}

//---- Entry ------------------------------------------------------------------

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

void JOIN(stream_task_, STREAM_ISA)(void *context, size_t begin, size_t end) {
    const stream *s = context;
    size_t parts = stream_parts(s);
    size_t in = s->read_lines * begin / parts, out = s->write_lines * begin / parts;
    size_t reads = s->read_lines * end / parts - in, writes = s->write_lines * end / parts - out;
    const line *from = (const line *)s->in + in;
    line *to = (line *)s->out + out;
    if (s->write_lines == 0)
        flow_in(from, reads);
    else if (s->nontemporal)
        flow_any(from, to, reads, writes, true);
    else
        flow_any(from, to, reads, writes, false);
#if defined __SSE2__
    if (s->nontemporal) _mm_sfence();
#endif
}

bool JOIN(stream_has_nontemporal_, STREAM_ISA)(void) {
#ifdef STORE_NT
    return true;
#else
    return false;
#endif
}
