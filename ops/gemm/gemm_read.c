// SPDX-License-Identifier: Apache-2.0
// Reads constant B while it is packed: all of it if it is in memory, else the part that is packed
// next.
#include "ops/gemm/gemm_read.h"

#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

// The elements from the first to the last of a part of B, with some between them that do not belong
// to it.
typedef struct span {
    size_t first, count;
} span;

static span span_of(const qdq_gemm *g, const qdq_gemm_part_of_b *part) {
    const qdq_gemm_weights *w = &g->weights;
    size_t first = part->k, last = part->k + part->n - 1;
    size_t window = w->block ? w->block : w->taps;
    if (window > 1) {  // whole windows
        first = first / window * window;
        last = least(last / window * window + window, g->depth) - 1;
    }
    size_t begin = qdq_gemm_element(w, part->matrix, first, part->column);
    size_t end = qdq_gemm_element(w, part->matrix, last, part->column + part->columns - 1);
    return (span){begin, end + 1 - begin};
}

static qdq_gemm_part_of_b all_of(const qdq_gemm *g, size_t matrix) {
    return (qdq_gemm_part_of_b){matrix, 0, g->columns, 0, g->depth};
}

// Returns a k block of all columns, or all k of a panel, whichever lie closer together.
static qdq_gemm_part_of_b part_sizes(const qdq_gemm *g) {
    qdq_gemm_part_of_b rows = all_of(g, 0), columns = rows;
    if (rows.n > qdq_gemm_depth(g)) rows.n = qdq_gemm_depth(g);
    if (columns.columns > QDQ_GEMM_COLUMNS) columns.columns = QDQ_GEMM_COLUMNS;
    return span_of(g, &rows).count < span_of(g, &columns).count ? rows : columns;
}

static span span_of_all(const qdq_gemm *g) {
    qdq_gemm_part_of_b last = all_of(g, g->weights.matrices - 1);
    span to = span_of(g, &last);
    return (span){0, to.first + to.count};
}

// A part that is nearly a whole matrix becomes the matrix, so that it is read once, and all
// matrices if their elements are interleaved.
static span span_to_read(const qdq_gemm *g, const qdq_gemm_part_of_b *part) {
    qdq_gemm_part_of_b matrix = all_of(g, part->matrix);
    span wanted = span_of(g, part), all = span_of(g, &matrix);
    if (wanted.count <= all.count / 4) return wanted;
    return g->weights.matrices > 1 && all.count > g->weights.matrix_stride ? span_of_all(g) : all;
}

static bool has(const qdq_gemm_reader *r, span wanted) {
    return r->data && wanted.first >= r->first &&
           wanted.first + wanted.count <= r->first + r->count;
}

static void make_room(qdq_gemm_reader *r, size_t bytes) {
    if (bytes <= r->room_bytes) return;
    qdq_gemm_reader_close(r);
    r->room = qdq_alloc_array(r->allocator, bytes, 1, 64);
    if (r->room) r->room_bytes = bytes;
}

static bool read_span(qdq_gemm_reader *r, span wanted) {
    size_t bytes = wanted.count * r->size;
    make_room(r, bytes);
    r->failed = !r->room || !r->stored->read(r->stored, wanted.first * r->size, bytes, r->room);
    r->data = r->failed ? NULL : r->room;
    r->first = wanted.first;
    r->count = wanted.count;
    return !r->failed;
}

// Columns first, then k, then matrices.
static bool advance(const qdq_gemm *g, qdq_gemm_part_of_b *part) {
    qdq_gemm_part_of_b sizes = part_sizes(g);
    if (part->n) {
        part->column += part->columns;
        if (part->column >= g->columns) part->column = 0, part->k += part->n;
        if (part->k >= g->depth) part->k = 0, part->matrix++;
    }
    part->columns = g->columns - part->column;
    part->n = g->depth - part->k;
    if (part->columns > sizes.columns) part->columns = sizes.columns;
    if (part->n > sizes.n) part->n = sizes.n;
    return part->matrix < g->weights.matrices;
}

// Sets *part to the part of B after it ({0}: the first) and `data` to its elements: a matrix if all
// of it is in memory. Parts begin with a panel and a k block, and together are B. False after the
// last part or on failure.
static bool next(qdq_gemm_reader *r, const qdq_gemm *g, qdq_gemm_part_of_b *part) {
    if (!advance(g, part)) return false;
    if (r->stored && !has(r, span_of(g, part)) && !read_span(r, span_to_read(g, part)))
        return false;
    qdq_gemm_part_of_b matrix = all_of(g, part->matrix);
    bool first = !part->column && !part->k;
    if (first && (!r->stored || has(r, span_of(g, &matrix)))) *part = matrix;
    return true;
}

//---- Entry ------------------------------------------------------------------

qdq_gemm_reader qdq_gemm_reader_of(const qdq_gemm_known *known, size_t size,
                                   const qdq_mempool *mempool) {
    return (qdq_gemm_reader){.data = known->data,
                             .stored = known->data ? NULL : known->stored,
                             .size = size,
                             .allocator = mempool->allocator};
}

bool qdq_gemm_reader_read_all(qdq_gemm_reader *r, size_t count) {
    return !r->stored || read_span(r, (span){0, count});
}

qdq_gemm_source qdq_gemm_reader_source(const qdq_gemm_reader *r, const qdq_gemm *g,
                                       const qdq_gemm_known *known, size_t matrix) {
    return (qdq_gemm_source){r->data,  known->zeros, matrix, matrix * g->weights.zero_stride,
                             r->first, NULL};
}

void qdq_gemm_reader_close(qdq_gemm_reader *r) {
    qdq_free_array(r->allocator, r->room, r->room_bytes, 1);
    r->room = NULL;
    r->room_bytes = 0;
}

//---- Columns ----------------------------------------------------------------

typedef struct columns_work {
    qdq_gemm_columns_fn *fn;
    void *self;
    size_t first;
} columns_work;

static void pack_columns(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const columns_work *w = context;
    w->fn(w->self, w->first + begin, w->first + end);
}

// True if the elements of column i follow each other from i * depth on.
static bool has_whole_columns(const qdq_gemm *g) {
    const qdq_gemm_weights *w = &g->weights;
    return w->column_stride == g->depth &&
           qdq_gemm_element(w, 0, g->depth - 1, 0) == g->depth - 1 &&
           (w->matrices == 1 || w->matrix_stride == g->columns * g->depth);
}

static size_t columns_at_once(const qdq_gemm *g, const qdq_gemm_reader *r, size_t count) {
    if (!r->stored || !has_whole_columns(g)) return count;
    size_t some = QDQ_GEMM_COLUMNS_ROOM / r->size / g->depth / QDQ_GEMM_COLUMNS * QDQ_GEMM_COLUMNS;
    return some ? some : QDQ_GEMM_COLUMNS;
}

bool qdq_gemm_each_column(const qdq_gemm *g, qdq_gemm_reader *r, const qdq_parallel *parallel,
                          qdq_gemm_columns_fn *fn, void *self) {
    size_t all = g->weights.matrices * g->columns, some = columns_at_once(g, r, all);
    columns_work w = {.fn = fn, .self = self};
    for (; w.first < all; w.first += some) {
        size_t count = least(some, all - w.first);
        if (r->stored && !read_span(r, (span){w.first * g->depth, count * g->depth})) return false;
        qdq_parallel_run(parallel, count * g->depth, count, pack_columns, &w);
    }
    return true;
}

//---- Panels -----------------------------------------------------------------

// A part of B whose panels are packed.
typedef struct work {
    const qdq_gemm *gemm;
    qdq_gemm_source from;
    qdq_gemm_part_of_b part;
    qdq_gemm_panel_fn *fn;
    void *self;
} work;

// k blocks outside, so that the panels read neighbours in memory.
static void pack_panels(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const work *w = context;
    qdq_gemm_part_of_b panel = {.matrix = w->part.matrix};
    size_t end_of_k = w->part.k + w->part.n, last = w->part.column + w->part.columns;
    for (panel.k = w->part.k; panel.k < end_of_k; panel.k += panel.n) {
        panel.n = least(qdq_gemm_depth(w->gemm), end_of_k - panel.k);
        for (size_t i = begin; i < end; i++) {
            panel.column = w->part.column + i * QDQ_GEMM_COLUMNS;
            panel.columns = least(QDQ_GEMM_COLUMNS, last - panel.column);
            w->fn(w->self, &w->from, &panel);
        }
    }
}

bool qdq_gemm_each_panel(const qdq_gemm *g, const qdq_gemm_known *known, size_t size,
                         const qdq_mempool *mempool, const qdq_parallel *parallel,
                         qdq_gemm_panel_fn *fn, void *self) {
    qdq_gemm_reader reader = qdq_gemm_reader_of(known, size, mempool);
    work w = {.gemm = g, .fn = fn, .self = self};
    while (next(&reader, g, &w.part)) {
        size_t panels = (w.part.columns + QDQ_GEMM_COLUMNS - 1) / QDQ_GEMM_COLUMNS;
        w.from = qdq_gemm_reader_source(&reader, g, known, w.part.matrix);
        qdq_parallel_run(parallel, w.part.columns * w.part.n, panels, pack_panels, &w);
    }
    qdq_gemm_reader_close(&reader);
    return !reader.failed;
}
