// SPDX-License-Identifier: Apache-2.0
// Runs a plan, step by step. Each shape of step has its loop here; tensor ops have theirs in
// exec_tensor_op.c.
#include "runtime/exec/exec.h"

#include <string.h>

#include "runtime/arena/memory_plan.h"
#include "runtime/base/error.h"
#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"
#include "runtime/exec/exec_block.h"
#include "runtime/numerics/dtype.h"
#include "runtime/tiles/kernels/nontemporal.h"

//---- Places -----------------------------------------------------------------

char *qdq_exec_place(const qdq_exec *exec, qdq_place place) {
    switch (place.kind) {
    case QDQ_PLACE_ARENA:
    case QDQ_PLACE_ROWS: return exec->arena + place.at;
    case QDQ_PLACE_INPUT: return qdq_exec_io_memory(&exec->inputs[place.at]);
    case QDQ_PLACE_OUTPUT: return qdq_exec_io_memory(&exec->outputs[place.at]);
    case QDQ_PLACE_CONSTANT: return (char *)exec->plan->constants + place.at;
    case QDQ_PLACE_NONE:
    default: return NULL;
    }
}

const void *qdq_exec_rows(const qdq_exec *exec, const qdq_located *value, void *flat) {
    const char *memory = qdq_exec_place(exec, value->place);
    if (value->place.kind != QDQ_PLACE_ARENA) return memory;
    qdq_untilize_in(value->dtype, value->shape, value->tile, memory, flat, &exec->parallel);
    return flat;
}

//---- Between rows and the arena --------------------------------------------

static void run_move(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end) {
    const char *x = qdq_exec_place(exec, step->x.place);
    char *y = qdq_exec_place(exec, step->links[0].store);
    if (step->x.place.kind == QDQ_PLACE_ARENA)
        qdq_untilize_range(step->x.dtype, &step->tiling, x, y, begin, end);
    else
        qdq_tilize_range(step->x.dtype, &step->tiling, x, y, begin, end);
}

//---- By blocks --------------------------------------------------------------

// True if a step over tiles runs in row-major order: if it has parameters that vary between
// elements and neither lie in tiles nor are cut into tiles, or reduces to more than one number.
static bool goes_by_rows(const qdq_step *step) {
    if (!step->tiled || step->computes_padding) return false;
    for (size_t i = 0; i < step->link_count; i++)
        for (size_t k = 0; k < step->links[i].stage_param_count; k++) {
            const qdq_param *v = &step->links[i].stage_params[k];
            if (v->count > 1 && v->fetch != QDQ_FETCH_TILES && v->fetch != QDQ_FETCH_CUT)
                return true;
        }
    return step->reduce && step->reduce->grid->count > 1;
}

// Returns how many blocks' elements of a parameter fit at a time, laid out, decoded or cut.
static size_t room_for(const qdq_step *step, const qdq_param *v) {
    if (step->tiled && v->fetch == QDQ_FETCH_CUT) return QDQ_CUT_BLOCKS;
    bool in_place = step->tiled && v->fetch == QDQ_FETCH_TILES && qdq_exec_is_read_as_is(v);
    return in_place || v->count == 1 ? SIZE_MAX : 1;
}

// Returns how many blocks run as one. Padding is rounded tile by tile; rows of tiles lay out
// parameters run by run. Results stored past the cache go block by block, so that the CPU reads the
// next block from memory while it computes this one (twice as fast as strips on an AMD EPYC).
static size_t most_blocks(const qdq_step *step, bool by_rows) {
    size_t most = qdq_exec_strip_elements(step) / QDQ_BLOCK_ELEMENTS;
    if (step->computes_padding) return 1;
    for (size_t i = 0; i < step->link_count; i++)
        if (step->links[i].streams) return 1;
    for (size_t i = 0; i < step->link_count && !by_rows; i++)
        for (size_t k = 0; k < step->links[i].stage_param_count; k++) {
            size_t room = room_for(step, &step->links[i].stage_params[k]);
            if (room < most) most = room;
        }
    return most;
}

// Runs neighbouring tiles from number `tile` on in row-major order, up to the end of their row or
// `end`, as many as fit in a strip without their padding. Returns how many.
static size_t run_rectangle(const qdq_exec *exec, const qdq_step *step, size_t tile, size_t end,
                            char *states, qdq_l1 *l1) {
    const qdq_tiling *t = &step->tiling;
    qdq_tile_at at = qdq_tile_locate(t, tile);
    size_t wide = t->tile.width, left = t->cols - tile % t->tile_cols * wide;
    size_t fit = qdq_exec_strip_elements(step) / at.rows / wide;
    size_t most = fit < end - tile ? fit : end - tile;
    at.cols = left < most * wide ? left : most * wide;
    const void *y = qdq_exec_run_rectangle(exec, step, at, l1);
    if (states) qdq_exec_reduce_rectangle(step, states, at, y);
    return (at.cols + wide - 1) / wide;
}

// A step of as many elements finds its rows in the L3 cache or in memory.
enum { LARGE = 1 << 18 };

// Runs tiles begin..end and reduces the results to `states` unless it is NULL. Tiles with padding
// that is not computed run in row-major order, together with whole neighbours on their left.
static void run_tiles(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end,
                      char *states, qdq_l1 *l1) {
    bool large = step->elements >= LARGE;
    bool by_rows = goes_by_rows(step), skips = !step->computes_padding && !step->defines_padding;
    size_t most = most_blocks(step, by_rows);
    for (size_t tile = begin, count; tile < end; tile += count) {
        size_t stop = end - tile < most ? end : tile + most;
        count = qdq_tile_whole_run(&step->tiling, tile, stop);
        bool edge = tile + count < stop && (tile + count) % step->tiling.tile_cols;
        if (by_rows ? count || skips : skips && (edge || !count)) {
            count = run_rectangle(exec, step, tile, skips ? end : tile + count, states, l1);
            if (large) qdq_exec_expect_tiles(exec, step, tile + count, count);
            continue;
        }
        if (!count) count = 1;
        size_t elements = count * qdq_exec_block_elements(step);
        if (large) qdq_exec_expect_tiles(exec, step, tile + count, count);
        const void *y = qdq_exec_run_block(exec, step, tile, elements, l1);
        if (states) qdq_exec_reduce_block(step, states, tile, y, elements);
    }
}

// Runs strips begin..end and reduces the results to `states` unless it is NULL.
static void run_strips(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end,
                       char *states, qdq_l1 *l1) {
    size_t most = most_blocks(step, false);
    for (size_t block = begin, count; block < end; block += count) {
        count = end - block < most ? end - block : most;
        size_t elements = count * QDQ_BLOCK_ELEMENTS;
        size_t left = step->elements - block * QDQ_BLOCK_ELEMENTS;
        if (left < elements) elements = left;
        const void *y = qdq_exec_run_block(exec, step, block, elements, l1);
        if (states) qdq_exec_reduce_block(step, states, block, y, elements);
    }
}

static void run_blocks(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end,
                       char *states, qdq_l1 *l1) {
    (step->tiled ? run_tiles : run_strips)(exec, step, begin, end, states, l1);
}

// Reduces parts begin..end, which share the states of part `begin`. Row-major elements without
// links need no blocks.
static void run_reduction(const qdq_exec *exec, const qdq_step *step, size_t begin, size_t end,
                          qdq_l1 *l1) {
    const qdq_reduce *reduce = step->reduce;
    char *states = qdq_exec_states(exec, reduce, begin);
    size_t block = step->blocks * begin / reduce->partials;
    size_t stop = step->blocks * end / reduce->partials;
    if (step->tiled && reduce->fns->ordered) {
        qdq_exec_reduce_rows(exec, step, states);
        return;
    }
    if (step->tiled || step->link_count || step->x.place.kind == QDQ_PLACE_ARENA) {
        run_blocks(exec, step, block, stop, states, l1);
        return;
    }
    size_t size = qdq_dtype_size(step->x.dtype), first = block * QDQ_BLOCK_ELEMENTS;
    size_t after = stop * QDQ_BLOCK_ELEMENTS;
    if (after > step->elements) after = step->elements;
    qdq_exec_accumulate(reduce, states, first, qdq_exec_place(exec, step->x.place) + first * size,
                        size, after - first);
}

//---- One step ---------------------------------------------------------------

typedef struct task_context {
    const qdq_exec *exec;
    const qdq_step *step;
} task_context;

// Runs blocks begin..end of a step without reduction, or parts begin..end of one with.
static void run_task(void *context, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const task_context *task = context;
    const qdq_step *step = task->step;
    qdq_l1 l1;
    l1.next = 0;
    if (step->tiled)
        for (int i = 0; i < 2; i++) memset(l1.block[i], 0xFF, QDQ_BLOCK_ELEMENTS * 4);
    switch (step->shape) {
    case QDQ_STEP_DIRECT: qdq_exec_run_direct(task->exec, step, begin, end, &l1); break;
    case QDQ_STEP_MOVE: run_move(task->exec, step, begin, end); break;
    case QDQ_STEP_REDUCE: run_reduction(task->exec, step, begin, end, &l1); break;
    case QDQ_STEP_TENSOR_OP:  // runs units instead: qdq_exec_run_tensor_op
    case QDQ_STEP_BLOCKS:
    default: run_blocks(task->exec, step, begin, end, NULL, &l1);
    }
    qdq_stream_fence();
}

// Decodes parameters that are known only at run time to plain lists before the loop.
static void fetch_params(const qdq_exec *exec, const qdq_param *stage_params, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const qdq_param *v = &stage_params[k];
        if (v->fetch != QDQ_FETCH_LIST) continue;
        char *values = exec->scratch + v->exec_offset;
        const void *rows = qdq_exec_rows(exec, &v->source, values + v->count * 4);
        if (v->is_int)
            qdq_decode_int(v->source.dtype, rows, (int32_t *)(void *)values, v->count);
        else
            qdq_decode_float(v->source.dtype, rows, (float *)(void *)values, v->count);
    }
}

static void fetch_step_params(const qdq_exec *exec, const qdq_step *step) {
    for (size_t i = 0; i < step->link_count; i++)
        fetch_params(exec, step->links[i].stage_params, step->links[i].stage_param_count);
    if (step->reduce)
        fetch_params(exec, step->reduce->stage_params, step->reduce->stage_param_count);
}

static void clear_padding(const qdq_exec *exec, const qdq_located *value) {
    if (value->place.kind != QDQ_PLACE_ARENA) return;
    qdq_tiling tiling = qdq_tiling_in(value->shape, value->tile);
    qdq_tiles_clear_padding(value->dtype, &tiling, qdq_exec_place(exec, value->place));
}

// Clears the padding of values that no link computes.
static void clear_step_padding(const qdq_exec *exec, const qdq_step *step) {
    const qdq_tensor_op *op = step->tensor_op;
    for (size_t i = 0; op && i < op->y_count; i++) clear_padding(exec, &op->y[i]);
    for (size_t i = 0; step->reduce && i < step->reduce->result_count; i++)
        clear_padding(exec, &step->reduce->results[i]);
    // Strips too, between tiles of two shapes.
    for (size_t i = 0;
         !op && (step->shape == QDQ_STEP_MOVE || !step->tiled) && i < step->link_count; i++)
        if (step->links[i].store.kind == QDQ_PLACE_ARENA)
            qdq_tiles_clear_padding(step->links[i].y_dtype, &step->links[i].tiling,
                                    qdq_exec_place(exec, step->links[i].store));
}

static void compute_step(const qdq_exec *exec, const qdq_step *step) {
    fetch_step_params(exec, step);
    if (step->shape == QDQ_STEP_TENSOR_OP) {
        qdq_exec_run_tensor_op(exec, step);
        return;
    }
    task_context context = {exec, step};
    size_t count = step->reduce ? step->reduce->partials : step->blocks;
    bool parallel = exec->parallel.run && count > 1 && step->elements >= exec->parallel.least;
    size_t partials = parallel ? count : 1;  // each with separate states
    if (step->reduce)
        memset(qdq_exec_states(exec, step->reduce, 0), 0,
               partials * step->reduce->grid->count * step->reduce->fns->state_bytes);
    if (parallel)
        qdq_parallel_share(&exec->parallel, count, run_task, &context);
    else
        run_task(&context, 0, count);
    if (step->reduce) qdq_exec_finish_reduction(exec, step->reduce, partials);
}

static void run_step(const qdq_exec *exec, const qdq_step *step) {
    compute_step(exec, step);
    if (step->defines_padding) clear_step_padding(exec, step);
}

void qdq_exec_run(qdq_exec *exec) {
    QDQ_FIXED_ENVIRONMENT;
    if (!exec) return;
    const qdq_plan *plan = exec->plan;
    qdq_scratch_drop(exec->poison, exec->arena, plan->stats.arena_bytes);
    for (size_t i = 0; i < plan->input_count; i++) {
        qdq_exec_io *io = &exec->inputs[i];
        if (io->bound || io->written) continue;
        memset(io->own, 0, plan->inputs[i].bytes);
        io->written = true;
    }
    for (size_t i = 0; i < plan->step_count; i++) run_step(exec, &plan->steps[i]);
}

void qdq_exec_run_step(qdq_exec *exec, size_t step) {
    QDQ_FIXED_ENVIRONMENT;
    if (exec && step < exec->plan->step_count) run_step(exec, &exec->plan->steps[step]);
}
