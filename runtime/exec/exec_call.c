// SPDX-License-Identifier: Apache-2.0
// Calls a link on loaded elements, with a view of each of its parameters: one number for all
// elements, or one for each, laid out over a tile or over the runs of a strip.
#include <string.h>

#include "runtime/exec/exec_block.h"
#include "runtime/numerics/dtype.h"

bool qdq_exec_is_uneven(const qdq_link *link) {
    for (size_t k = 0; k < link->stage_param_count; k++)
        if (link->stage_params[k].count > 1) return true;
    return false;
}

bool qdq_exec_is_read_as_is(const qdq_param *v) {
    return v->source.dtype == (v->is_int ? QDQ_INT32 : QDQ_FLOAT32);
}

//---- Parameters -------------------------------------------------------------

qdq_grid_values qdq_exec_param(const qdq_exec *exec, const qdq_param *v) {
    switch (v->fetch) {
    case QDQ_FETCH_LIST: return (qdq_grid_values){.data = exec->scratch + v->exec_offset};
    case QDQ_FETCH_IN_PLACE:
        return (qdq_grid_values){.data = qdq_exec_place(exec, v->source.place)};
    case QDQ_FETCH_CUT:
        return (qdq_grid_values){qdq_exec_place(exec, v->source.place),
                                 qdq_exec_is_read_as_is(v) ? QDQ_DTYPE_NONE : v->source.dtype};
    case QDQ_FETCH_BLOCK:
        return (qdq_grid_values){qdq_exec_place(exec, v->source.place), v->source.dtype};
    case QDQ_FETCH_THROUGH:
    case QDQ_FETCH_BYTES:
    case QDQ_FETCH_KNOWN:
    default: return (qdq_grid_values){.data = v->values};
    }
}

// Turns n parameters into the form that links read.
static void decode(const qdq_param *v, const void *elements, uint32_t *out, size_t n) {
    if (v->is_int)
        qdq_decode_int(v->source.dtype, elements, (int32_t *)(void *)out, n);
    else
        qdq_decode_float(v->source.dtype, elements, (float *)(void *)out, n);
}

// Returns a view of n parameters in tiles, one for each element from `at` on: a tile, or a strip.
static qdq_view view_of_tiles(const qdq_exec *exec, const qdq_step *step, const qdq_param *v,
                              size_t at, size_t n, uint32_t *out) {
    _Alignas(64) unsigned char strip[QDQ_BLOCK_ELEMENTS * QDQ_MAX_ELEMENT_BYTES];
    qdq_dtype dtype = v->source.dtype;
    size_t size = qdq_dtype_size(dtype);
    const char *elements = qdq_exec_place(exec, v->source.place);
    bool as_is = qdq_exec_is_read_as_is(v);
    if (step->tiled) {
        elements += at * size;
        if (as_is) return (qdq_view){(const uint32_t *)(const void *)elements, 1};
    } else {
        qdq_tile_get_run(size, &v->tiling, at, n, elements, as_is ? (void *)out : strip);
        if (as_is) return (qdq_view){out, 1};
        elements = (const char *)strip;
    }
    decode(v, elements, out, n);
    return (qdq_view){out, 1};
}

// Returns a view of the parameters of n elements of tiles that are cut from rows.
static qdq_view view_of_rows(const qdq_exec *exec, const qdq_step *step, const qdq_param *v,
                             size_t at, size_t n, uint32_t *out) {
    enum { MOST = QDQ_CUT_BLOCKS * QDQ_BLOCK_ELEMENTS };
    _Alignas(64) unsigned char tiles[MOST * QDQ_MAX_ELEMENT_BYTES];
    bool as_is = qdq_exec_is_read_as_is(v);
    size_t elements = qdq_exec_block_elements(step);
    qdq_exec_cut_tiles(&step->tiling, qdq_dtype_size(v->source.dtype), at / elements, n / elements,
                       qdq_exec_place(exec, v->source.place), as_is ? (void *)out : tiles);
    if (!as_is) decode(v, tiles, out, n);
    return (qdq_view){out, 1};
}

// Computes the parameters of n elements, from number `at` on, by `through`.
static qdq_view view_through(const qdq_exec *exec, const qdq_param *v, size_t at, size_t n,
                             uint32_t *out) {
    const qdq_link *link = v->through;
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    for (size_t k = 0; k < link->stage_param_count; k++)
        views[k] = (qdq_view){link->stage_params[k].values, 0};
    const char *elements = qdq_exec_place(exec, v->source.place);
    link->fn(link->params, views, elements + at * qdq_dtype_size(v->source.dtype), out, n);
    return (qdq_view){out, 1};
}

// Returns a view of bytes from element `at` on, which the link reads as bytes.
static qdq_view view_of_bytes(const qdq_exec *exec, const qdq_param *v, size_t at) {
    const char *elements = qdq_exec_place(exec, v->source.place);
    return (qdq_view){(const uint32_t *)(const void *)(elements + at), 1};
}

// Views of the parameters of whole tiles, or of n elements from `at` on; runtime/exec/exec.c says
// how many may run at once.
static void view_params(const qdq_exec *exec, const qdq_step *step, const qdq_link *link, size_t at,
                        size_t n, qdq_l1 *l1, qdq_view *views) {
    for (size_t k = 0; k < link->stage_param_count; k++) {
        const qdq_param *v = &link->stage_params[k];
        qdq_grid_values values = qdq_exec_param(exec, v);
        if (v->count > 1) qdq_scratch_drop(exec->poison, l1->params[k], sizeof l1->params[k]);
        if (v->count == 1)
            views[k] = (qdq_view){values.data, 0};
        else if (v->fetch == QDQ_FETCH_BYTES)
            views[k] = view_of_bytes(exec, v, at);
        else if (v->fetch == QDQ_FETCH_THROUGH)
            views[k] = view_through(exec, v, at, n, l1->params[k]);
        else if (v->fetch == QDQ_FETCH_TILES)
            views[k] = view_of_tiles(exec, step, v, at, n, l1->params[k]);
        else if (step->tiled && v->fetch == QDQ_FETCH_CUT)
            views[k] = view_of_rows(exec, step, v, at, n, l1->params[k]);
        else if (step->tiled)
            views[k] = qdq_grid_tile(v->grid, values, &step->tiling,
                                     at / qdq_exec_block_elements(step), l1->params[k]);
        else
            views[k] = qdq_grid_strip(v->grid, values, at, n, l1->params[k]);
    }
}

//---- Calls ------------------------------------------------------------------

// True if elements that are `stride` apart have the same parameters.
static bool repeats(const qdq_link *link, size_t stride) {
    for (size_t k = 0; k < link->stage_param_count; k++)
        if (link->stage_params[k].count > 1 && stride % qdq_grid_period(link->stage_params[k].grid))
            return false;
    return true;
}

// Writes the parameters of `count` runs from number `first` on to `out`, side by side.
static qdq_view lay_out_runs(const qdq_exec *exec, const qdq_step *step, const qdq_param *v,
                             const qdq_chunk *chunk, size_t first, size_t count, uint32_t *out) {
    qdq_grid_values values = qdq_exec_param(exec, v);
    uint32_t *run = out;
    for (size_t i = 0; v->fetch == QDQ_FETCH_BYTES && i < count; i++)
        memcpy((char *)out + i * chunk->n,
               view_of_bytes(exec, v, chunk->at + (first + i) * chunk->stride).data, chunk->n);
    if (v->fetch == QDQ_FETCH_BYTES) return (qdq_view){out, 1};
    for (size_t i = first; i < first + count; i++, run += chunk->n) {
        size_t at = chunk->at + i * chunk->stride;
        qdq_view view = v->fetch == QDQ_FETCH_THROUGH ? view_through(exec, v, at, chunk->n, run)
                        : v->fetch == QDQ_FETCH_TILES
                            ? view_of_tiles(exec, step, v, at, chunk->n, run)
                            : qdq_grid_strip(v->grid, values, at, chunk->n, run);
        if (view.step && view.data != run) memcpy(run, view.data, chunk->n * sizeof *run);
        for (size_t k = 0; !view.step && k < chunk->n; k++) run[k] = *view.data;
    }
    return (qdq_view){out, 1};
}

// Calls a link on short runs, on as many at a time as the parameters in L1 have room for.
static void call_by_runs(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                         const qdq_chunk *chunk, const char *x, size_t x_size, char *y,
                         qdq_l1 *l1) {
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    size_t y_size = qdq_dtype_size(link->y_dtype), most = QDQ_BLOCK_ELEMENTS / chunk->n;
    bool alike = repeats(link, chunk->stride);
    for (size_t i = 0, count; i < chunk->count; i += count) {
        count = chunk->count - i < most ? chunk->count - i : most;
        for (size_t k = 0; k < link->stage_param_count; k++) {
            const qdq_param *v = &link->stage_params[k];
            if (v->count == 1)
                views[k] = (qdq_view){qdq_exec_param(exec, v).data, 0};
            else if (i == 0 || !alike)
                views[k] = lay_out_runs(exec, step, v, chunk, i, count, l1->params[k]);
        }
        link->fn(link->params, views, x, y, chunk->n * count);
        x += chunk->n * count * x_size;
        y += chunk->n * count * y_size;
    }
}

// Calls a link on one run, on as many elements at a time as the parameters in L1 have room for.
static void call_along(const qdq_exec *exec, const qdq_step *step, const qdq_link *link, size_t at,
                       size_t n, const char *x, size_t x_size, char *y, qdq_l1 *l1) {
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    size_t y_size = qdq_dtype_size(link->y_dtype);
    for (size_t done = 0, part; done < n; done += part) {
        part = n - done < QDQ_BLOCK_ELEMENTS ? n - done : QDQ_BLOCK_ELEMENTS;
        view_params(exec, step, link, at + done, part, l1, views);
        link->fn(link->params, views, x + done * x_size, y + done * y_size, part);
    }
}

void qdq_exec_call_link(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                        const qdq_chunk *chunk, const char *x, size_t x_size, char *y, qdq_l1 *l1) {
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    if (step->tiled || !qdq_exec_is_uneven(link)) {
        view_params(exec, step, link, chunk->at, chunk->n, l1, views);
        link->fn(link->params, views, x, y, chunk->n * chunk->count);
    } else if (chunk->count > 1 && chunk->n <= QDQ_BLOCK_ELEMENTS / 2) {
        call_by_runs(exec, step, link, chunk, x, x_size, y, l1);
    } else {
        size_t y_size = qdq_dtype_size(link->y_dtype);
        for (size_t i = 0; i < chunk->count; i++)
            call_along(exec, step, link, chunk->at + i * chunk->stride, chunk->n,
                       x + i * chunk->n * x_size, x_size, y + i * chunk->n * y_size, l1);
    }
}
