// SPDX-License-Identifier: Apache-2.0
// Runs steps of one link from rows to rows, without blocks.
//
// A link with a parameter for each column (a scale for each channel, the last axis) may take
// several rows at once (qdq_rows_fn), and then reads each parameter once for all of them.
#include "runtime/exec/exec_block.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tiles/kernels/nontemporal.h"

typedef struct direct {
    const qdq_exec *exec;
    const qdq_link *link;
    const char *x;
    char *y;
    size_t x_size, y_size, end;  // the number of the element after the last
    qdq_l1 *l1;
} direct;

//---- Parameters -------------------------------------------------------------

// The parameters of a link, found run by run. Parameters of one grid share a walk.
typedef struct param_walks {
    size_t param_count, walk_count;
    const uint32_t *values[QDQ_MAX_STAGE_PARAMS];
    size_t walk_of[QDQ_MAX_STAGE_PARAMS];
    qdq_grid_walk walks[QDQ_MAX_STAGE_PARAMS];
} param_walks;

static void start_walks(const qdq_exec *exec, const qdq_link *link, size_t first, param_walks *p) {
    p->param_count = link->stage_param_count;
    p->walk_count = 0;
    for (size_t k = 0; k < p->param_count; k++) {
        const qdq_param *v = &link->stage_params[k];
        size_t w = 0;
        while (w < p->walk_count && p->walks[w].grid != v->grid) w++;
        if (w == p->walk_count) p->walks[p->walk_count++] = qdq_grid_walk_from(v->grid, first);
        p->values[k] = qdq_exec_param(exec, v).data;
        p->walk_of[k] = w;
    }
}

// Sets views for the next run of at most n elements, and returns its length.
static size_t next_run(const param_walks *p, size_t n, qdq_view *views) {
    for (size_t w = 0; w < p->walk_count; w++)
        if (p->walks[w].run < n) n = p->walks[w].run;
    for (size_t k = 0; k < p->param_count; k++) {
        const qdq_grid_walk *walk = &p->walks[p->walk_of[k]];
        views[k] = (qdq_view){p->values[k] + walk->block, walk->step};
    }
    return n;
}

static void walk_on(param_walks *p, size_t n) {
    for (size_t w = 0; w < p->walk_count; w++) qdq_grid_walk_on(&p->walks[w], n);
}

//---- Several rows -----------------------------------------------------------

enum {
    LINE = 64,
    LONG = 2048,          // the parameters of more elements fill L1
    ROWS = 8,             // rows of this length at a time: more compete for the same sets of L1
    TOGETHER = 8 * 1024,  // elements of shorter rows
    GROUP = 64,           // longer rows of memory are read in sequence, as prefetchers expect
};

// Returns how many rows of `period` elements run at a time; at most 1: row by row. Results past the
// cache are stored at once if rows are long, and block by block if they are short.
static size_t rows_of(const qdq_link *link, size_t period) {
    if (!link->streams) return period * ROWS < TOGETHER ? TOGETHER / period : ROWS;
    if (period <= LONG) return QDQ_BLOCK_ELEMENTS / period;
    return period * qdq_dtype_size(link->y_dtype) % LINE == 0 ? ROWS : 1;
}

// Returns how many elements lie between element `at` of y and the next cache line.
static size_t before_line(const direct *d, size_t at) {
    return (LINE - (uintptr_t)(d->y + at * d->y_size) % LINE) % LINE / d->y_size;
}

// Runs `count` rows from element `first` on. Stores past the cache begin at cache lines, which lie
// at the same elements of all rows.
static void run_rows(const direct *d, size_t first, size_t period, size_t count) {
    const qdq_link *link = d->link;
    const bool block = link->streams && period <= LONG, past_cache = link->streams && !block;
    const size_t each = block && period > GROUP ? 1 : count;  // of rows
    char *y = block ? (char *)d->l1->block[0] : d->y + first * d->y_size;
    param_walks params;
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    start_walks(d->exec, link, first, &params);
    for (size_t at = 0, n; at < period; at += n) {
        size_t head = past_cache ? before_line(d, first + at) : 0;
        n = next_run(&params, head && head < period - at ? head : period - at, views);
        for (size_t r = 0; r < count; r += each) {
            qdq_rows rows = {.x = d->x + (first + r * period + at) * d->x_size,
                             .y = y + (r * period + at) * d->y_size,
                             .count = each,
                             .n = n,
                             .x_pitch = period * d->x_size,
                             .y_pitch = period * d->y_size,
                             .past_cache = past_cache && !head};
            link->rows_fn(link->params, views, &rows);
        }
        walk_on(&params, n);
    }
    if (block) qdq_stream_find()(d->y + first * d->y_size, y, count * period * d->y_size);
}

// Runs the rows from element `first` on that fit. Returns the number of the element after them.
static size_t run_by_rows(const direct *d, size_t first) {
    size_t period = qdq_grid_period(d->link->stage_params[0].grid), most = rows_of(d->link, period);
    for (size_t count; most > 1 && (count = (d->end - first) / period) > 1;) {
        if (count > most) count = most;
        run_rows(d, first, period, count);
        first += count * period;
    }
    return first;
}

//---- Run by run -------------------------------------------------------------

// Prefetches the bytes that are read four parts from now, on CPUs whose memory would else be idle
// while a part is computed and stored past the cache.
static void fetch_ahead(const char *x, size_t at, size_t end, size_t part) {
    enum { PARTS = 4 };
    size_t begin = at + PARTS * part, stop = begin + part < end ? begin + part : end;
    for (size_t i = begin; i < stop; i += LINE) __builtin_prefetch(x + i);
}

// Runs the link from element `first` on, in runs whose parameters are one item or side by side. A
// parameter with one number serves all elements; a walk finds the others.
static void run_by_runs(const direct *d, size_t first) {
    const qdq_link *link = d->link;
    qdq_stream_fn *copy = qdq_stream_find();
    bool ahead = link->streams && qdq_stream_wants_prefetch();
    param_walks params;
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    start_walks(d->exec, link, first, &params);
    for (size_t n; first < d->end; first += n) {
        n = d->end - first;
        if (link->streams && n > QDQ_BLOCK_ELEMENTS) n = QDQ_BLOCK_ELEMENTS;
        n = next_run(&params, n, views);
        char *out = d->y + first * d->y_size, *made = link->streams ? (char *)d->l1->block[0] : out;
        if (ahead) fetch_ahead(d->x, first * d->x_size, d->end * d->x_size, n * d->x_size);
        link->fn(link->params, views, d->x + first * d->x_size, made, n);
        if (link->streams) copy(out, made, n * d->y_size);
        walk_on(&params, n);
    }
}

void qdq_exec_run_direct(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end_block,
                         qdq_l1 *l1) {
    size_t first = begin * QDQ_BLOCK_ELEMENTS, end = end_block * QDQ_BLOCK_ELEMENTS;
    const qdq_link *link = &step->links[0];
    direct d = {.exec = exec,
                .link = link,
                .x = qdq_exec_place(exec, step->x.place),
                .y = qdq_exec_place(exec, link->store),
                .x_size = qdq_dtype_size(step->x.dtype),
                .y_size = qdq_dtype_size(link->y_dtype),
                .end = end < step->elements ? end : step->elements,
                .l1 = l1};
    if (link->rows_fn) first = run_by_rows(&d, first);
    run_by_runs(&d, first);
}
