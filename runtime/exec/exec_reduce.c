// SPDX-License-Identifier: Apache-2.0
// Runs reductions: accumulates elements into the states of their blocks, and turns states into
// results.
//
// Each task has its own partial state for every block of the grid; the states are merged after all
// tasks have run. Merging must be exact in any order, as minimum and maximum are, unless the
// reduction is `ordered`.
#include <string.h>

#include "runtime/exec/exec.h"

// Accumulates n side-by-side elements, from number `first` on in row-major order, into the states
// of their blocks.
void qdq_exec_accumulate(const qdq_reduce *reduce, char *states, size_t first, const char *x,
                         size_t size, size_t n) {
    const qdq_reduce_fns *fns = reduce->fns;
    qdq_grid_walk walk = qdq_grid_walk_from(reduce->grid, first);
    for (size_t i = 0; i < n;) {
        size_t run = walk.run < n - i ? walk.run : n - i;
        char *state = states + walk.block * fns->state_bytes;
        (walk.step ? fns->accumulate_each : fns->accumulate)(reduce->params, state, x + i * size,
                                                             run);
        qdq_grid_walk_on(&walk, run);
        i += run;
    }
}

// Returns the bytes of an element that is reduced.
static size_t reduced_size(const qdq_step *step) {
    size_t last = step->link_count;
    return qdq_dtype_size(last ? step->links[last - 1].y_dtype : step->x.dtype);
}

void qdq_exec_reduce_rectangle(const qdq_step *step, char *states, qdq_tile_at at, const char *x) {
    size_t size = reduced_size(step);
    for (size_t r = 0; r < at.rows; r++)
        qdq_exec_accumulate(step->reduce, states, at.first + r * step->tiling.cols,
                            x + r * at.cols * size, size, at.cols);
}

void qdq_exec_reduce_block(const qdq_step *step, char *states, size_t block, const char *x,
                           size_t elements) {
    const qdq_reduce *reduce = step->reduce;
    size_t size = reduced_size(step);
    if (!step->tiled) {
        qdq_exec_accumulate(reduce, states, block * QDQ_BLOCK_ELEMENTS, x, size, elements);
        return;
    }
    qdq_tile_at at = qdq_tile_locate(&step->tiling, block);
    if (reduce->grid->count == 1 && qdq_tile_is_whole(&step->tiling, at)) {
        reduce->fns->accumulate(reduce->params, states, x, elements);
        return;
    }
    qdq_tile_shape tile = step->tiling.tile;
    size_t run = qdq_tile_shape_run(tile);
    for (size_t r = 0; r < at.rows; r++)
        for (size_t c = 0; c < at.cols; c += run)
            qdq_exec_accumulate(reduce, states, at.first + r * step->tiling.cols + c,
                                x + qdq_tile_shape_at(tile, r, c) * size, size,
                                at.cols - c < run ? at.cols - c : run);
}

void qdq_exec_reduce_rows(const qdq_exec *exec, const qdq_step *step, char *states) {
    const char *x = qdq_exec_place(exec, step->x.place);
    const qdq_tiling *t = &step->tiling;
    size_t size = qdq_dtype_size(step->x.dtype);
    if (step->x.place.kind != QDQ_PLACE_ARENA) {
        qdq_exec_accumulate(step->reduce, states, 0, x, size, step->elements);
        return;
    }
    size_t run = qdq_tile_shape_run(t->tile), wide = t->tile.width;
    for (size_t band = 0; band < step->blocks; band += t->tile_cols)
        for (size_t r = 0; r < qdq_tile_locate(t, band).rows; r++)
            for (size_t c = 0; c < t->cols; c += run) {
                size_t tile = band + c / wide;
                size_t from = tile * qdq_tile_shape_elements(t->tile) +
                              qdq_tile_shape_at(t->tile, r, c % wide);
                qdq_exec_accumulate(step->reduce, states, 0, x + from * size, size,
                                    t->cols - c < run ? t->cols - c : run);
            }
}

char *qdq_exec_states(const qdq_exec *exec, const qdq_reduce *reduce, size_t partial) {
    return exec->scratch + reduce->states_offset +
           partial * reduce->grid->count * reduce->fns->state_bytes;
}

// Merges the states of all partials into the first, and stores the results.
void qdq_exec_finish_reduction(const qdq_exec *exec, const qdq_reduce *reduce, size_t partials) {
    char *states = qdq_exec_states(exec, reduce, 0);
    size_t bytes = reduce->fns->state_bytes, count = reduce->grid->count;
    for (size_t partial = 1; partial < partials; partial++)
        reduce->fns->merge(states, qdq_exec_states(exec, reduce, partial), count);
    void *y[QDQ_MAX_REDUCED] = {0};
    for (size_t k = 0; k < reduce->result_count; k++)
        y[k] = exec->scratch + reduce->results_offset[k];
    qdq_view views[QDQ_MAX_STAGE_PARAMS];
    for (size_t k = 0; k < reduce->stage_param_count; k++)
        views[k] = (qdq_view){qdq_exec_param(exec, &reduce->stage_params[k]).data, 0};
    for (size_t i = 0; i < count; i++)
        reduce->fns->finish(reduce->params, views, states + i * bytes, i, y);
    for (size_t k = 0; k < reduce->result_count; k++) {
        const qdq_located *result = &reduce->results[k];
        char *memory = qdq_exec_place(exec, result->place);
        if (result->place.kind == QDQ_PLACE_ARENA)
            qdq_tilize_in(result->dtype, result->shape, result->tile, y[k], memory, NULL);
        else if (memory)
            memcpy(memory, y[k], count * qdq_dtype_size(result->dtype));
    }
}
