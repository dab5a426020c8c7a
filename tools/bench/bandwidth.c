// SPDX-License-Identifier: Apache-2.0
// Times memory passes: memcpy, and streams that move as many bytes as a graph reads and writes.
#include "tools/bench/bandwidth.h"

#include <stdlib.h>
#include <unistd.h>

#include "tools/bench/isa_rows.h"
#include "tools/common.h"

//---- Instruction sets -------------------------------------------------------

typedef struct stream_row {
    const char *isa;
    void (*task)(void *context, size_t begin, size_t end);
    bool (*has_nontemporal)(void);
} stream_row;

static const stream_row rows[] = {
#ifdef QDQ_SIMD_X86
    {"avx512", stream_task_avx512, stream_has_nontemporal_avx512},
    {"avx2", stream_task_avx2, stream_has_nontemporal_avx2},
#endif
    {"portable", stream_task_portable, stream_has_nontemporal_portable},
};

static const stream_row *best_row(const char *cap) {
    size_t i = 0;
    while (i + 1 < sizeof rows / sizeof rows[0] && !isa_fits(rows[i].isa, cap)) i++;
    return &rows[i];
}

//---- Passes -----------------------------------------------------------------

static void copy_task(void *context, size_t begin, size_t end) {
    const stream *s = context;
    memcpy((char *)s->out + begin * STREAM_LINE, (const char *)s->in + begin * STREAM_LINE,
           (end - begin) * STREAM_LINE);
}

static void run_limit(const limit *l) {
    stream traffic = l->traffic;
    size_t parts = stream_parts(&traffic);
    if (l->parallel.run)
        l->parallel.run(l->parallel.self, parts, l->task, &traffic);
    else
        l->task(&traffic, 0, parts);
}

// Short passes are repeated for a millisecond, so that one of them is undisturbed.
static double least_seconds(const limit *l) {
    double least = 0, begin = now(), end = begin;
    l->run(l);
    for (int i = 0; i < 5 || end - begin < 1e-3; i++) {
        double start = now();
        l->run(l);
        end = now();
        if (i == 0 || end - start < least) least = end - start;
    }
    return least;
}

// Uses threads only if the pass moves enough bytes to pay for waking them.
static void choose_threads(limit *l) {
    limit serial = *l;
    serial.parallel = (qdq_parallel){0};
    if (l->parallel.run && least_seconds(&serial) <= least_seconds(l)) *l = serial;
}

// Writes begin half a page after reads. A load whose address has the low 12 bits of an earlier
// store waits for that store; if both began at the same offset, every load would wait.
enum { PAGE = 4096, SKEW = PAGE / 2 };

static size_t pages(size_t bytes) { return (bytes + PAGE - 1) / PAGE * PAGE; }

static size_t lines_of(size_t bytes) {
    size_t lines = (bytes + STREAM_LINE / 2) / STREAM_LINE;
    return bytes && lines == 0 ? 1 : lines;
}

bool limits_open(limits *out, size_t read_bytes, size_t write_bytes, qdq_parallel parallel,
                 const char *isa) {
    const stream_row *row = best_row(isa);
    size_t reads = lines_of(read_bytes), writes = lines_of(write_bytes),
           half = (reads + writes) / 2;
    if (half == 0) half = 1;
    size_t side = reads > half ? reads : half, other = writes > half ? writes : half;
    size_t behind = pages(side * STREAM_LINE) + SKEW;
    size_t bytes = pages(behind + other * STREAM_LINE);
    *out = (limits){.memory = aligned_alloc(PAGE, bytes)};
    if (!out->memory) return false;
    memset(out->memory, 1, bytes);
    char *in = out->memory, *to = in + behind;
    stream copy = {in, to, half, half, false};
    stream regular = {in, to, reads, writes, false};
    stream nontemporal = regular;
    nontemporal.nontemporal = true;
    size_t moved = (reads + writes) * STREAM_LINE, copied = 2 * half * STREAM_LINE;
    out->items[0] = (limit){"memcpy", run_limit, copy, copied, parallel, copy_task};
    out->items[1] = (limit){"stream", run_limit, regular, moved, parallel, row->task};
    out->items[2] =
        (limit){"stream_nontemporal", run_limit, nontemporal, moved, parallel, row->task};
    out->count = row->has_nontemporal() ? 3 : 2;
    for (size_t i = 0; i < out->count; i++) choose_threads(&out->items[i]);
    return true;
}

void limits_close(limits *l) { free(l->memory); }

bool limits_seconds(size_t read_bytes, size_t write_bytes, qdq_parallel parallel, const char *isa,
                    double *out) {
    limits all;
    *out = 0;
    if (read_bytes + write_bytes == 0) return true;
    if (!limits_open(&all, read_bytes, write_bytes, parallel, isa)) return false;
    for (size_t i = 0; i < all.count; i++) {
        double seconds = least_seconds(&all.items[i]);
        if (i == 0 || seconds < *out) *out = seconds;
    }
    limits_close(&all);
    return true;
}

//---- Levels -----------------------------------------------------------------

const char *memory_level(size_t bytes) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    static const char *const names[] = {"L1", "L2", "L3"};
    const int sizes[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    for (int i = 0; i < 3; i++) {
        long size = sysconf(sizes[i]);
        if (size > 0 && bytes <= (size_t)size) return names[i];
    }
    return sysconf(_SC_LEVEL1_DCACHE_SIZE) > 0 ? "memory" : "";
#else
    (void)bytes;
    return "";
#endif
}
