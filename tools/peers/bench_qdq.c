// SPDX-License-Identifier: Apache-2.0
// qdq and the limits of memory, for bench_worker.py: structs of a few words for each timed
// function.
#include <qdq/qdq.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/kernels/bandwidth_passes.h"

//---- A graph ----------------------------------------------------------------

typedef struct graph_words {
    const char *text;
    size_t length;
    const char *folder;  // the folder of its constants, or NULL
    int threads;
    qdq_plan *plan;
    qdq_exec *exec;
    qdq_error err;
} graph_words;

static qdq_plan *compile_text(const graph_words *w, qdq_error *err) {
    qdq_graph *graph = qdq_graph_parse(w->text, w->length, "bench", w->folder, NULL, err);
    qdq_plan *plan =
        graph ? qdq_graph_compile(graph, &(qdq_compile_options){.fast = true}, err) : NULL;
    qdq_graph_destroy(graph);
    return plan;
}

// NULL, or an error message.
const char *graph_open(graph_words *w, const char *text, size_t length, const char *folder,
                       int threads) {
    *w = (graph_words){.text = text, .length = length, .folder = folder, .threads = threads};
    w->plan = compile_text(w, &w->err);
    qdq_exec_options options = {.parallel = qdq_parallel_openmp(threads)};
    w->exec = qdq_exec_create(w->plan, &options, &w->err);
    return w->exec ? NULL : w->err.text;
}

const char *graph_bind(graph_words *w, const char *name, void *data, size_t bytes) {
    return qdq_exec_bind(w->exec, name, data, bytes, &w->err) == QDQ_OK ? NULL : w->err.text;
}

void graph_run(graph_words *w) { qdq_exec_run(w->exec); }

// Compiles JSON text to a plan and destroys it.
void graph_compile(graph_words *w) { qdq_plan_destroy(compile_text(w, &w->err)); }

void graph_close(graph_words *w) {
    qdq_exec_destroy(w->exec);
    qdq_plan_destroy(w->plan);
}

size_t graph_bytes(void) { return sizeof(graph_words); }

//---- Tiles ------------------------------------------------------------------

typedef struct tile_words {
    int64_t rows, cols;
    const void *from;
    void *to;
    int threads;
} tile_words;

void tilize_bfloat16(const tile_words *w) {
    qdq_parallel parallel = qdq_parallel_openmp(w->threads);
    qdq_tilize_parallel(QDQ_BFLOAT16, QDQ_SHAPE(w->rows, w->cols), w->from, w->to, &parallel);
}

void untilize_bfloat16(const tile_words *w) {
    qdq_parallel parallel = qdq_parallel_openmp(w->threads);
    qdq_untilize_parallel(QDQ_BFLOAT16, QDQ_SHAPE(w->rows, w->cols), w->from, w->to, &parallel);
}

//---- Limits -----------------------------------------------------------------

enum { MAX_PASSES = 2 };

// Consecutive passes over memory; with `copy` they are calls of memcpy.
typedef struct limit_words {
    size_t count;
    stream passes[MAX_PASSES];
    qdq_parallel parallel;
    int copy;
} limit_words;

void stream_task_native(void *context, size_t begin, size_t end);

static void copy_task(void *context, size_t begin, size_t end) {
    const stream *s = context;
    memcpy((char *)s->out + begin * STREAM_LINE, (const char *)s->in + begin * STREAM_LINE,
           (end - begin) * STREAM_LINE);
}

void limit_run(limit_words *w) {
    for (size_t i = 0; i < w->count; i++) {
        size_t parts = stream_parts(&w->passes[i]);
        void (*task)(void *, size_t, size_t) = w->copy ? copy_task : stream_task_native;
        if (w->parallel.run)
            w->parallel.run(w->parallel.self, parts, task, &w->passes[i]);
        else
            task(&w->passes[i], 0, parts);
    }
}

// A first pass reads `first` bytes. All sizes are multiples of 64.
void limit_open(limit_words *w, void *in, void *out, size_t first, size_t reads, size_t writes,
                int nontemporal, int copy, int threads) {
    *w = (limit_words){.parallel = qdq_parallel_openmp(threads), .copy = copy};
    if (first) w->passes[w->count++] = (stream){in, NULL, first / STREAM_LINE, 0, false};
    w->passes[w->count++] =
        (stream){in, out, reads / STREAM_LINE, writes / STREAM_LINE, nontemporal != 0};
}

size_t limit_bytes(void) { return sizeof(limit_words); }
