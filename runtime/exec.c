// SPDX-License-Identifier: Apache-2.0
#include "runtime/exec.h"

#include <string.h>

#include "runtime/block_float.h"
#include "runtime/dtype.h"
#include "runtime/environment.h"
#include "runtime/error.h"
#include "runtime/kernels/stream.h"
#include "runtime/memory_plan.h"

//---- Where things lie -------------------------------------------------------

static char *place_memory(const qdq_exec *exec, qdq_place place) {
    switch (place.kind) {
    case QDQ_PLACE_ARENA: return exec->arena + place.at;
    case QDQ_PLACE_INPUT: return qdq_exec_io_memory(&exec->inputs[place.at]);
    case QDQ_PLACE_OUTPUT: return qdq_exec_io_memory(&exec->outputs[place.at]);
    case QDQ_PLACE_CONSTANT: return (char *)exec->plan->constants + place.at;
    case QDQ_PLACE_NONE:
    default: return NULL;
    }
}

// The whole of a value as row-major memory: where it is, or copied to `flat` from its tiles.
static const void *as_rows(const qdq_exec *exec, const qdq_located *value, void *flat) {
    const char *memory = place_memory(exec, value->place);
    if (value->place.kind != QDQ_PLACE_ARENA) return memory;
    qdq_untilize(value->dtype, value->shape, memory, flat);
    return flat;
}

//---- One block --------------------------------------------------------------

// L1: two blocks that a chain swaps between, and the parameters of one link.
typedef struct scratch {
    _Alignas(64) unsigned char block[2][QDQ_BLOCK_ELEMENTS * QDQ_MAX_ELEMENT_BYTES];
    _Alignas(64) uint32_t params[QDQ_MAX_VECTORS][QDQ_BLOCK_ELEMENTS];
    int next;  // the half that holds no data of the chain
} scratch;

static size_t block_elements(const qdq_step *step, size_t block) {
    if (step->tiled) return QDQ_BLOCK_ELEMENTS;
    size_t left = step->elements - block * QDQ_BLOCK_ELEMENTS;
    return left < QDQ_BLOCK_ELEMENTS ? left : QDQ_BLOCK_ELEMENTS;
}

// The memory of a block where the place holds it in one piece as tile functions see it, else NULL.
static char *block_memory(const qdq_exec *exec, const qdq_step *step, qdq_place place,
                          qdq_dtype dtype, size_t block) {
    bool in_arena = place.kind == QDQ_PLACE_ARENA;
    if ((step->tiled && !in_arena) || (in_arena && !qdq_tile_is_plain(dtype))) return NULL;
    char *memory = place_memory(exec, place);
    return memory ? memory + block * QDQ_BLOCK_ELEMENTS * qdq_dtype_size(dtype) : NULL;
}

// A block float is rounded together with the rest of its tile, in which padding counts as zero.
static void round_block(const qdq_step *step, qdq_dtype dtype, size_t block, void *tile) {
    if (!qdq_dtype_is_block_float(dtype)) return;
    qdq_tile_clear_padding(qdq_dtype_size(dtype), &step->tiling, block, tile);
    qdq_block_float_round(dtype, tile);
}

// Where the others lie: a packed tile of the arena, or rows that a tile is cut out of. Rows of a
// block float may hold any float32: this is where the caller's become what a tile can hold.
static void load_block(const qdq_exec *exec, const qdq_step *step, size_t block, void *out) {
    const char *memory = place_memory(exec, step->x.place);
    qdq_dtype dtype = step->x.dtype;
    if (step->x.place.kind == QDQ_PLACE_ARENA) {
        qdq_tile_load(dtype, memory + block * qdq_tile_bytes(dtype), out);
        return;
    }
    qdq_tile_pack(qdq_dtype_size(dtype), &step->tiling, block, memory, out);
    round_block(step, dtype, block, out);
}

static void store_block(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                        size_t block, const void *y) {
    char *memory = place_memory(exec, link->store);
    if (link->store.kind == QDQ_PLACE_ARENA)
        qdq_tile_store(link->y_dtype, y, memory + block * qdq_tile_bytes(link->y_dtype));
    else
        qdq_tile_unpack(qdq_dtype_size(link->y_dtype), &step->tiling, block, y, memory);
}

static const void *produce(const qdq_exec *exec, const qdq_step *step, size_t block, scratch *l1) {
    const void *x = block_memory(exec, step, step->x.place, step->x.dtype, block);
    if (x) return x;
    void *tile = l1->block[l1->next];
    l1->next ^= 1;
    load_block(exec, step, block, tile);
    return tile;
}

static const uint32_t *vector_values(const qdq_exec *exec, const qdq_vector *v) {
    return v->values ? v->values : (const uint32_t *)(const void *)(exec->scratch + v->exec_offset);
}

static void view_params(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                        size_t block, scratch *l1, qdq_view *views) {
    for (size_t k = 0; k < link->vector_count; k++) {
        const qdq_vector *v = &link->vectors[k];
        const uint32_t *values = vector_values(exec, v);
        views[k] = step->tiled
                       ? qdq_grid_tile(&v->grid, values, &step->tiling, block, l1->params[k])
                       : qdq_grid_strip(&v->grid, values, block * QDQ_BLOCK_ELEMENTS,
                                        block_elements(step, block), l1->params[k]);
    }
}

// Runs one link on x and returns y, which is left where it is wanted next.
static const void *run_link(const qdq_exec *exec, const qdq_step *step, const qdq_link *link,
                            size_t block, const void *x, scratch *l1) {
    qdq_view views[QDQ_MAX_VECTORS];
    view_params(exec, step, link, block, l1, views);
    size_t n = block_elements(step, block), size = qdq_dtype_size(link->y_dtype);
    char *stored = block_memory(exec, step, link->store, link->y_dtype, block);
    void *y = stored;
    if (!stored || stored == x || link->streams) {  // not in one piece, in place, past the cache
        y = l1->block[l1->next];
        l1->next ^= 1;
    }
    link->fn(link->params, views, x, y, n);
    round_block(step, link->y_dtype, block, y);
    if (link->streams)
        qdq_stream_copy(stored, y, n * size);
    else if (stored && y != stored)
        memcpy(stored, y, n * size);
    if (!stored && link->store.kind != QDQ_PLACE_NONE) store_block(exec, step, link, block, y);
    return y;
}

static const void *run_block(const qdq_exec *exec, const qdq_step *step, size_t block,
                             scratch *l1) {
    const void *x = produce(exec, step, block, l1);
    for (size_t i = 0; i < step->link_count; i++)
        x = run_link(exec, step, &step->links[i], block, x, l1);
    return x;
}

//---- Row-major to row-major -------------------------------------------------

// A step whose one link reads and writes row-major memory needs no blocks: its elements are taken
// in runs, as long as their parameters are alike or side by side.
static bool is_direct(const qdq_step *step) {
    return !step->tiled && !step->reduce && step->link_count == 1 &&
           step->links[0].store.kind == QDQ_PLACE_OUTPUT;
}

// The parameters of the elements from `first` on, and how many of them they are good for, at most
// n.
static qdq_view direct_view(const qdq_grid *grid, const uint32_t *values, size_t first, size_t *n) {
    size_t run;
    size_t block = qdq_grid_block(grid, first, &run);
    size_t last = grid->rank ? (size_t)grid->rank - 1 : 0;
    bool columns = grid->rank && grid->extent[last] == 1;
    if (columns) run = grid->dims[last] - first % grid->dims[last];
    if (run < *n) *n = run;
    return (qdq_view){values + block, columns ? 1 : 0};
}

static void run_direct(const qdq_exec *exec, const qdq_step *step, size_t first, size_t end,
                       scratch *l1) {
    const qdq_link *link = &step->links[0];
    const char *x = place_memory(exec, step->x.place);
    char *y = place_memory(exec, link->store);
    size_t x_size = qdq_dtype_size(step->x.dtype), y_size = qdq_dtype_size(link->y_dtype);
    while (first < end) {
        qdq_view views[QDQ_MAX_VECTORS];
        size_t n = end - first;
        if (link->streams && n > QDQ_BLOCK_ELEMENTS) n = QDQ_BLOCK_ELEMENTS;
        for (size_t k = 0; k < link->vector_count; k++) {
            const qdq_vector *v = &link->vectors[k];
            views[k] = direct_view(&v->grid, vector_values(exec, v), first, &n);
        }
        char *out = y + first * y_size, *made = link->streams ? (char *)l1->block[0] : out;
        link->fn(link->params, views, x + first * x_size, made, n);
        if (link->streams) qdq_stream_copy(out, made, n * y_size);
        first += n;
    }
}

//---- Reductions -------------------------------------------------------------

// Hands n side-by-side elements, of which `first` is the number in row-major order, to the states
// of their blocks.
static void accumulate(const qdq_reduce *reduce, char *states, size_t first, const char *x,
                       size_t size, size_t n) {
    for (size_t i = 0; i < n;) {
        size_t run;
        size_t index = qdq_grid_block(&reduce->grid, first + i, &run);
        if (run > n - i) run = n - i;
        reduce->fns->accumulate(reduce->params, states + index * reduce->fns->state_bytes,
                                x + i * size, run);
        i += run;
    }
}

static void reduce_block(const qdq_step *step, char *states, size_t block, const char *x) {
    const qdq_reduce *reduce = step->reduce;
    size_t last = step->link_count;
    size_t size = qdq_dtype_size(last ? step->links[last - 1].y_dtype : step->x.dtype);
    if (!step->tiled) {
        accumulate(reduce, states, block * QDQ_BLOCK_ELEMENTS, x, size,
                   block_elements(step, block));
        return;
    }
    qdq_tile_at at = qdq_tile_locate(&step->tiling, block);
    for (size_t r = 0; r < at.rows; r++)
        for (size_t c = 0; c < at.cols; c += QDQ_FACE_DIM)
            accumulate(reduce, states, at.first + r * step->tiling.cols + c,
                       x + qdq_tile_offset(r, c) * size, size,
                       at.cols - c < QDQ_FACE_DIM ? at.cols - c : QDQ_FACE_DIM);
}

static char *states_of(const qdq_exec *exec, const qdq_reduce *reduce, size_t chunk) {
    return exec->scratch + reduce->states_offset +
           chunk * reduce->grid.count * reduce->fns->state_bytes;
}

// Merges the chunks' states into the first, and stores the results.
static void finish_reduction(const qdq_exec *exec, const qdq_reduce *reduce) {
    char *states = states_of(exec, reduce, 0);
    size_t bytes = reduce->fns->state_bytes, count = reduce->grid.count;
    for (size_t chunk = 1; chunk < reduce->chunks; chunk++)
        for (size_t i = 0; i < count; i++)
            reduce->fns->merge(states + i * bytes, states_of(exec, reduce, chunk) + i * bytes);
    void *y[QDQ_MAX_REDUCED] = {0};
    for (size_t k = 0; k < reduce->result_count; k++)
        y[k] = exec->scratch + reduce->results_offset[k];
    qdq_view views[QDQ_MAX_VECTORS];
    for (size_t k = 0; k < reduce->vector_count; k++)
        views[k] = (qdq_view){vector_values(exec, &reduce->vectors[k]), 0};
    for (size_t i = 0; i < count; i++)
        reduce->fns->finish(reduce->params, views, states + i * bytes, i, y);
    for (size_t k = 0; k < reduce->result_count; k++) {
        const qdq_located *result = &reduce->results[k];
        char *memory = place_memory(exec, result->place);
        if (result->place.kind == QDQ_PLACE_ARENA)
            qdq_tilize(result->dtype, result->shape, y[k], memory);
        else if (memory)
            memcpy(memory, y[k], count * qdq_dtype_size(result->dtype));
    }
}

//---- One step ---------------------------------------------------------------

typedef struct task_context {
    const qdq_exec *exec;
    const qdq_step *step;
} task_context;

// Blocks begin..end of a step without reduction; chunks begin..end of one with.
static void run_task(void *context, size_t begin, size_t end) {
    const task_context *task = context;
    const qdq_step *step = task->step;
    scratch l1;
    qdq_environment environment = qdq_environment_enter();
    l1.next = 0;
    if (step->tiled) memset(l1.block, 0xFF, sizeof l1.block);
    if (is_direct(step)) {
        size_t stop = end * QDQ_BLOCK_ELEMENTS;
        run_direct(task->exec, step, begin * QDQ_BLOCK_ELEMENTS,
                   stop < step->elements ? stop : step->elements, &l1);
    } else if (!step->reduce) {
        for (size_t block = begin; block < end; block++) run_block(task->exec, step, block, &l1);
    } else {
        for (size_t chunk = begin; chunk < end; chunk++) {
            char *states = states_of(task->exec, step->reduce, chunk);
            size_t chunks = step->reduce->chunks;
            for (size_t block = step->blocks * chunk / chunks,
                        stop = step->blocks * (chunk + 1) / chunks;
                 block < stop; block++)
                reduce_block(step, states, block, run_block(task->exec, step, block, &l1));
        }
    }
    qdq_stream_fence();
    qdq_environment_leave(environment);
}

// Parameters that are computed or given at run time become plain lists before the loop.
static void fetch_vectors(const qdq_exec *exec, const qdq_vector *vectors, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const qdq_vector *v = &vectors[k];
        if (v->values) continue;
        char *values = exec->scratch + v->exec_offset;
        const void *rows = as_rows(exec, &v->source, values + v->count * 4);
        if (v->is_int)
            qdq_decode_int(v->source.dtype, rows, (int32_t *)(void *)values, v->count);
        else
            qdq_decode_float(v->source.dtype, rows, (float *)(void *)values, v->count);
    }
}

static void fetch_params(const qdq_exec *exec, const qdq_step *step) {
    for (size_t i = 0; i < step->link_count; i++)
        fetch_vectors(exec, step->links[i].vectors, step->links[i].vector_count);
    if (step->reduce) fetch_vectors(exec, step->reduce->vectors, step->reduce->vector_count);
}

static void run_step(const qdq_exec *exec, const qdq_step *step) {
    task_context context = {exec, step};
    size_t count = step->blocks;
    fetch_params(exec, step);
    if (step->reduce) {
        count = step->reduce->chunks;
        memset(states_of(exec, step->reduce, 0), 0,
               count * step->reduce->grid.count * step->reduce->fns->state_bytes);
    }
    if (exec->parallel.run && count > 1 && step->elements >= exec->parallel.least)
        exec->parallel.run(exec->parallel.self, count, run_task, &context);
    else
        run_task(&context, 0, count);
    if (step->reduce) finish_reduction(exec, step->reduce);
}

void qdq_exec_run(qdq_exec *exec) {
    const qdq_plan *plan = exec->plan;
    if (exec->poison) memset(exec->arena, 0xFF, plan->stats.arena_bytes);
    for (size_t i = 0; i < plan->input_count; i++) {
        qdq_exec_io *io = &exec->inputs[i];
        if (io->bound || io->written) continue;
        memset(io->own, 0, plan->inputs[i].bytes);
        io->written = true;
    }
    qdq_environment environment = qdq_environment_enter();
    for (size_t i = 0; i < plan->step_count; i++) run_step(exec, &plan->steps[i]);
    qdq_environment_leave(environment);
}

void qdq_exec_run_step(qdq_exec *exec, size_t step) {
    qdq_environment environment = qdq_environment_enter();
    if (step < exec->plan->step_count) run_step(exec, &exec->plan->steps[step]);
    qdq_environment_leave(environment);
}
