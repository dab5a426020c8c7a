// SPDX-License-Identifier: Apache-2.0
// Runs tensor ops: copies operands in tiles to rows, runs units in parallel, and copies the results
// back to their tiles, or chunk by chunk through the links that follow.
//
// A tensor op is work that is not a chain over elements: a matrix product, a softmax, a transpose.
// It is a function over row-major operands, cut into units that do not depend on each other;
// threads share the units if `cost` is worth waking them. Values that a tensor op writes or reads
// lie row-major in the arena (QDQ_PLACE_ROWS), without padding, and other steps that read or write
// them run over strips. Values of tiled plans and block floats are tiles: the function reads them
// there if its stage says so (`reads_tiles`), else the exec copies these operands to rows. Results
// go back to tiles chunk by chunk, or by another copy if the op has no chunks.
//
// A tensor op function has bounded scratch, on its stack only; results that do not fit there are
// computed again. Before it uses scratch for another unit it drops the scratch (qdq_scratch_drop),
// which poisons it in an exec with `poison`: in tests, and in builds without NDEBUG. A function
// that keeps data from unit to unit (ops/gemm/gemm.c keeps packed rows of A) marks the data
// invalid and drops them in one place.
//
// Chunks. If links follow its first output, a function whose stage sets `chunks` gets a sink. It
// hands over finished elements (qdq_chunk: runs of elements, rounded to the dtype of y) in place
// of writing y, and the links run on them while they are in L1. y itself is stored only if another
// step reads it or it is an output. Links after a tensor op write row-major values. Several runs
// are taken at a time, as many as fit in a strip, and their results go back to where they belong.
// Parameters that vary between elements are laid out for several short runs at once, or once for
// all runs if they repeat from run to run, as a bias does. Reductions, block floats and a second
// reader are separate steps.
#include "runtime/base/fp_environment.h"
#include "runtime/base/threads/parallel_run.h"
#include "runtime/exec/exec_block.h"
#include "runtime/numerics/dtype.h"

enum { MAX_Y = 8 };

typedef struct unit_context {
    const qdq_exec *exec;
    const qdq_step *step;
    size_t strip;  // elements that a strip holds, if there are links
    qdq_tensors tensors;
} unit_context;

static void run_units(void *self, size_t begin, size_t end) {
    QDQ_FIXED_ENVIRONMENT;
    const unit_context *context = self;
    const qdq_tensor_op *tensor_op = context->step->tensor_op;
    tensor_op->fn(tensor_op->params, &context->tensors, begin, end);
}

//---- Chunks -----------------------------------------------------------------

// Runs the links on as many runs as fit in a strip, or on as much of one run as fits.
static void run_strips(const unit_context *c, const qdq_chunk *chunk) {
    qdq_l1 l1;
    const char *data = chunk->data;
    size_t size = qdq_dtype_size(c->step->x.dtype);
    size_t n = chunk->n < c->strip ? chunk->n : c->strip;
    size_t runs = c->strip / n;
    l1.next = 0;
    for (size_t i = 0, count; i < chunk->count; i += count) {
        count = chunk->count - i < runs ? chunk->count - i : runs;
        for (size_t done = 0; done < chunk->n; done += n) {
            qdq_chunk strip = {chunk->at + i * chunk->stride + done,
                               chunk->n - done < n ? chunk->n - done : n, count, chunk->stride,
                               data};
            (void)qdq_exec_run_links(c->exec, c->step, &strip, &l1);
            data += strip.n * count * size;
        }
    }
}

static void sink(void *self, const qdq_chunk *given) {
    const unit_context *c = self;
    qdq_chunk chunk = *given;
    if (chunk.stride == chunk.n) chunk.n *= chunk.count, chunk.count = 1;
    if (!chunk.n || !chunk.count) return;
    char *y = qdq_exec_place(c->exec, c->step->x.place);
    size_t size = qdq_dtype_size(c->step->x.dtype);
    if (c->step->x.place.kind == QDQ_PLACE_ARENA)
        qdq_exec_store_in_tiles(y, size, &c->step->tiling, &chunk, chunk.data);
    else if (y)
        qdq_exec_store_runs(y, size, &chunk, chunk.data);
    if (c->step->link_count) run_strips(c, &chunk);
}

// Lets the memory of a chunk come into the cache, if a step without links stores it in tiles.
static void expect(void *self, const qdq_chunk *chunk) {
    const unit_context *c = self;
    const qdq_tiling *t = &c->step->tiling;
    if (c->step->x.place.kind == QDQ_PLACE_ARENA && chunk->stride == t->cols)
        qdq_tile_expect_rows(qdq_dtype_size(c->step->x.dtype), t, chunk->at, chunk->n, chunk->count,
                             qdq_exec_place(c->exec, c->step->x.place));
}

//---- Operands ---------------------------------------------------------------

void qdq_exec_run_tensor_op(const qdq_exec *exec, const qdq_step *step) {
    const qdq_tensor_op *tensor_op = step->tensor_op;
    const void **x = exec->x;
    void *y[MAX_Y];
    unit_context context = {
        exec,
        step,
        step->link_count ? qdq_exec_strip_elements(step) : 0,
        {.x = x, .x_tiling = tensor_op->x_tiling, .y = y, .poison = exec->poison}};
    if (tensor_op->addend.place.kind)
        context.tensors.addend =
            qdq_exec_rows(exec, &tensor_op->addend, exec->flat + tensor_op->addend_flat);
    for (size_t i = 0; i < tensor_op->x_count; i++)
        x[i] = tensor_op->x_tiling && tensor_op->x_tiling[i].tiles
                   ? qdq_exec_place(exec, tensor_op->x[i].place)
                   : qdq_exec_rows(exec, &tensor_op->x[i], exec->flat + tensor_op->x_flat[i]);
    for (size_t i = 0; i < tensor_op->y_count; i++)
        y[i] = tensor_op->y[i].place.kind == QDQ_PLACE_ARENA
                   ? exec->flat + tensor_op->y_flat[i]
                   : qdq_exec_place(exec, tensor_op->y[i].place);
    if (tensor_op->sinks) {
        context.tensors.sink = sink;
        context.tensors.sink_self = &context;
        if (!step->link_count) context.tensors.expect = expect;
        y[0] = NULL;
    }
    if (exec->parallel.run && tensor_op->units > 1 && tensor_op->cost >= exec->parallel.least)
        qdq_parallel_share(&exec->parallel, tensor_op->units, run_units, &context);
    else
        run_units(&context, 0, tensor_op->units);
    for (size_t i = tensor_op->sinks; i < tensor_op->y_count; i++)
        if (tensor_op->y[i].place.kind == QDQ_PLACE_ARENA)
            qdq_tilize_in(tensor_op->y[i].dtype, tensor_op->y[i].shape, tensor_op->y[i].tile, y[i],
                          qdq_exec_place(exec, tensor_op->y[i].place), &exec->parallel);
}
