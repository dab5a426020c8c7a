// SPDX-License-Identifier: Apache-2.0
#include "ops/movement/runs.h"

#include "ops/blocking.h"

//---- Tables -----------------------------------------------------------------

void qdq_strides_of(qdq_shape shape, ptrdiff_t *strides) {
    ptrdiff_t stride = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= (ptrdiff_t)shape.dims[i];
    }
}

qdq_runs *qdq_runs_new(const qdq_op_context *ctx, const qdq_lowering *to) {
    qdq_runs *table = QDQ_MEMPOOL_NEW(to->mempool, qdq_runs);
    qdq_dtype *dtypes = qdq_mempool_array(to->mempool, ctx->input_count, sizeof *dtypes);
    if (!table || !dtypes) return NULL;
    for (size_t i = 0; i < ctx->input_count; i++) dtypes[i] = qdq_input_at(ctx, i).type.dtype;
    *table = (qdq_runs){.x_dtype = dtypes,
                        .y_dtype = ctx->outputs[0].dtype,
                        .count = qdq_shape_count(ctx->outputs[0].shape),
                        .fill_input = SIZE_MAX};
    return table;
}

// True if a dim can be merged with the dim before it: a step of the dim before is as long as all
// indices of this dim together.
static bool merges(const qdq_run_dim *before, const qdq_run_dim *dim) {
    if (dim->run_count != 1 || dim->runs[0].input != 0) return false;
    if (dim->size == 1) return true;
    ptrdiff_t whole = dim->runs[0].step * (ptrdiff_t)dim->size;
    for (size_t i = 0; i < before->run_count; i++) {
        const qdq_run *run = &before->runs[i];
        size_t end = i + 1 < before->run_count ? run[1].begin : before->size;
        if (run->input == 0 && run->step != whole && end - run->begin > 1) return false;
    }
    return true;
}

bool qdq_runs_add(qdq_runs *table, qdq_mempool *mempool, size_t size, const qdq_run *runs,
                  size_t run_count) {
    qdq_run_dim dim = {size, qdq_mempool_copy(mempool, runs, run_count, sizeof *runs), run_count};
    if (!dim.runs) return false;
    if (!table->rank || !merges(&table->dims[table->rank - 1], &dim)) {
        table->dims[table->rank++] = dim;
        return true;
    }
    qdq_run_dim *before = &table->dims[table->rank - 1];
    for (size_t i = 0; i < before->run_count; i++) {
        qdq_run *run = &before->runs[i];
        run->begin *= size;
        if (run->input != 0) continue;
        run->from += dim.runs[0].from;
        if (size > 1) run->step = dim.runs[0].step;
    }
    before->size *= size;
    return true;
}

bool qdq_runs_add_one(qdq_runs *table, qdq_mempool *mempool, size_t size, ptrdiff_t from,
                      ptrdiff_t step) {
    return qdq_runs_add(table, mempool, size, &(qdq_run){.from = from, .step = step, .scale = 1},
                        1);
}

//---- Copying ----------------------------------------------------------------

#define STRIDED(type)                                                              \
    static void strided_##type(const void *x, ptrdiff_t step, void *y, size_t n) { \
        const type *from = x;                                                      \
        for (size_t i = 0; i < n; i++) ((type *)y)[i] = from[(ptrdiff_t)i * step]; \
    }
STRIDED(uint8_t)
STRIDED(uint16_t)
STRIDED(uint32_t)
STRIDED(uint64_t)

static void strided(size_t size, const void *x, ptrdiff_t step, void *y, size_t n) {
    switch (size) {
    case 1: strided_uint8_t(x, step, y, n); break;
    case 2: strided_uint16_t(x, step, y, n); break;
    case 4: strided_uint32_t(x, step, y, n); break;
    default: strided_uint64_t(x, step, y, n);
    }
}

// Copies n elements of x that are `step` apart to y from number `at` on.
static void copy_run(qdq_dtype x_dtype, const char *x, ptrdiff_t step, qdq_dtype y_dtype,
                     qdq_chunks *y, size_t at, size_t n) {
    size_t size = qdq_dtype_size(x_dtype);
    uint64_t part[QDQ_MOVE_PART];
    if (step == 1 || n == 1) {
        qdq_move_chunk(x_dtype, x, y_dtype, y, at, n);
        return;
    }
    size_t most = x_dtype != y_dtype ? QDQ_MOVE_PART
                  : y->tensors->sink ? QDQ_CHUNK_BYTES / size
                                     : n;
    for (size_t done = 0, count; done < n; done += count) {
        count = n - done < most ? n - done : most;
        const char *from = x + (ptrdiff_t)(done * size) * step;
        char *to = qdq_chunks_room(y, at + done, count);
        strided(size, from, step, x_dtype == y_dtype ? (void *)to : part, count);
        if (x_dtype != y_dtype) qdq_move(x_dtype, part, y_dtype, to, count);
    }
}

// The position of a row of y: for each dim but the last its index, the run of the index, and the
// offset in x that the dims up to it contribute.
typedef struct row_place {
    size_t index[QDQ_RUN_DIMS], run[QDQ_RUN_DIMS];
    ptrdiff_t offset[QDQ_RUN_DIMS];
    bool fill[QDQ_RUN_DIMS];
} row_place;

static size_t run_end(const qdq_run_dim *dim, size_t run) {
    return run + 1 < dim->run_count ? dim->runs[run + 1].begin : dim->size;
}

// Derives runs and offsets from the indices, for dim `first` and all later dims.
static void settle_row(const qdq_runs *p, row_place *row, int first) {
    for (int d = first; d < p->rank - 1; d++) {
        const qdq_run_dim *dim = &p->dims[d];
        while (run_end(dim, row->run[d]) <= row->index[d]) row->run[d]++;
        const qdq_run *run = &dim->runs[row->run[d]];
        row->offset[d] = (d ? row->offset[d - 1] : 0) + run->from +
                         (ptrdiff_t)(row->index[d] - run->begin) * run->step;
        row->fill[d] = (d && row->fill[d - 1]) || run->input == QDQ_RUN_FILL;
    }
}

static void find_row(const qdq_runs *p, row_place *row, size_t number) {
    for (int d = p->rank - 2; d >= 0; d--) {
        row->index[d] = number % p->dims[d].size;
        row->run[d] = 0;
        number /= p->dims[d].size;
    }
    settle_row(p, row, 0);
}

static void next_row(const qdq_runs *p, row_place *row) {
    int d = p->rank - 2;
    while (d > 0 && row->index[d] + 1 == p->dims[d].size) {
        row->index[d] = row->run[d] = 0;
        d--;
    }
    if (d < 0) return;
    if (++row->index[d] < p->dims[d].size) settle_row(p, row, d);
}

// Returns the run that holds an index of the dim.
static size_t find_run(const qdq_run_dim *dim, size_t index) {
    size_t low = 0, end = dim->run_count;
    while (end - low > 1) {
        size_t middle = low + (end - low) / 2;
        if (dim->runs[middle].begin <= index)
            low = middle;
        else
            end = middle;
    }
    return low;
}

// Copies elements `at` to `stop` of y, which lie in one row that begins at element `row_at`.
static void copy_row(const qdq_runs *p, const qdq_tensors *tensors, const row_place *row,
                     qdq_chunks *y, size_t row_at, size_t at, size_t stop) {
    const qdq_run_dim *dim = &p->dims[p->rank - 1];
    const void *fill = p->fill_input == SIZE_MAX ? &p->fill : tensors->x[p->fill_input];
    qdq_dtype fill_dtype = p->x_dtype[p->fill_input == SIZE_MAX ? 0 : p->fill_input];
    if (p->rank > 1 && row->fill[p->rank - 2]) {
        copy_run(fill_dtype, fill, 0, p->y_dtype, y, at, stop - at);
        return;
    }
    ptrdiff_t offset = p->rank > 1 ? row->offset[p->rank - 2] : 0;
    for (size_t run = find_run(dim, at - row_at); at < stop; run++) {
        size_t end = row_at + run_end(dim, run);
        if (end <= at) continue;
        const qdq_run *r = &dim->runs[run];
        size_t n = (end < stop ? end : stop) - at;
        ptrdiff_t from =
            offset * r->scale + r->from + (ptrdiff_t)(at - row_at - r->begin) * r->step;
        if (r->input == QDQ_RUN_FILL)
            copy_run(fill_dtype, fill, 0, p->y_dtype, y, at, n);
        else
            copy_run(p->x_dtype[r->input],
                     (const char *)tensors->x[r->input] +
                         from * (ptrdiff_t)qdq_dtype_size(p->x_dtype[r->input]),
                     r->step, p->y_dtype, y, at, n);
        at += n;
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const qdq_runs *p = params;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    if (stop > p->count) stop = p->count;
    size_t length = p->dims[p->rank - 1].size, row_at = at - at % length;
    row_place row;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (find_row(p, &row, at / length); at < stop; next_row(p, &row)) {
        size_t row_end = row_at + length;
        copy_row(p, tensors, &row, &y, row_at, at, row_end < stop ? row_end : stop);
        at = row_at = row_end;
    }
    qdq_chunks_end(&y);
}

size_t qdq_lower_runs(qdq_runs *table, qdq_stage *stages) {
    if (!table->rank) {
        table->whole = (qdq_run){.scale = 1};
        table->dims[table->rank++] = (qdq_run_dim){1, &table->whole, 1};
    }
    stages[0] = (qdq_stage){.params = table,
                            .tensor_op = run,
                            .units = qdq_move_units(table->count),
                            .cost = table->count,
                            .chunks = true};
    return 1;
}

//---- Codes ------------------------------------------------------------------

bool qdq_runs_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    qdq_shape x = ctx->inputs[0].type.shape, y = ctx->outputs[0].shape;
    *quantized = *ctx->inputs[0].quantized;
    if (quantized->axis < 0) return true;
    int axis = quantized->axis + y.rank - x.rank;
    if (y.dims[axis] != x.dims[quantized->axis]) return false;
    quantized->axis = axis;
    return true;
}
