// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce_axes.h"

#include <string.h>

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/kernels/transpose_block.h"
#include "ops/operand.h"
#include "runtime/numerics/dtype.h"

//---- Which elements ---------------------------------------------------------

qdq_reduce_axes qdq_reduce_axes_of(qdq_shape shape, uint32_t within) {
    qdq_reduce_axes slices = {.n = 1, .count = 1};
    size_t stride = 1;
    int before = -1;  // 1 if the previous dim was within; -1: none
    for (int i = shape.rank; i-- > 0;) {
        size_t size = (size_t)shape.dims[i];
        if (size == 1) continue;
        int is_within = (int)(within >> i & 1);
        qdq_slice_dim *dims = is_within ? slices.within : slices.across;
        int *rank = is_within ? &slices.within_rank : &slices.across_rank;
        if (is_within == before)
            dims[*rank - 1].size *= size;
        else
            dims[(*rank)++] = (qdq_slice_dim){size, stride};
        *(is_within ? &slices.n : &slices.count) *= size;
        before = is_within;
        stride *= size;
    }
    return slices;
}

// Returns the offset of element number `index` of the dims.
static size_t offset_of(const qdq_slice_dim *dims, int rank, size_t index) {
    size_t offset = 0;
    for (int i = 0; i < rank; i++) {
        bool last = i + 1 == rank;
        offset += (last ? index : index % dims[i].size) * dims[i].stride;
        if (!last) index /= dims[i].size;
    }
    return offset;
}

//---- Groups: slices that are walked together --------------------------------

typedef struct slice_job {
    qdq_reduce_axes slices;
    const qdq_slice_op *op;
    const qdq_slice_kernels *kernels;
    const void *params;
    qdq_dtype x_dtype, y_dtype;
    bool side_by_side;  // neighbouring slices are neighbours in memory
    size_t together;    // neighbours that are walked together
    size_t row_groups;  // groups of a row of neighbours
    size_t groups, unit_groups;
    bool is_quick;       // slices may be computed without passes
    bool writes_floats;  // the last pass writes elements of y in place
    size_t part, pitch;  // elements loaded at a time; distance of slices in buffers
} slice_job;

// Slices in buffers are padded apart, so that they do not compete for the same cache sets.
enum { ROOM = 16, BUFFER = QDQ_SLICE_PART + ROOM * QDQ_SLICES_AT_ONCE };

typedef struct slice_group {
    size_t slice, count;  // the first slice, and how many
    size_t offset;        // of the first element of the first slice
} slice_group;

static slice_group group_of(const slice_job *job, size_t index) {
    slice_group group = {index, 1, 0};
    if (job->side_by_side) {
        size_t row = job->slices.across[0].size;
        size_t at = index % job->row_groups * job->together;
        group.slice = index / job->row_groups * row + at;
        group.count = row - at < job->together ? row - at : job->together;
    }
    group.offset = offset_of(job->slices.across, job->slices.across_rank, group.slice);
    return group;
}

// Returns the elements from `at` on, at most n, that lie `*stride` apart from each other.
static size_t run_of(const qdq_reduce_axes *slices, size_t at, size_t n, size_t *offset,
                     size_t *stride) {
    *offset = offset_of(slices->within, slices->within_rank, at);
    *stride = slices->within_rank ? slices->within[0].stride : 1;
    size_t size = slices->within_rank ? slices->within[0].size : 1;
    size_t left = size - at % size;
    return left < n ? left : n;
}

//---- Loading and storing ----------------------------------------------------

enum { ROWS = QDQ_SLICE_ROWS, BLOCK = ROWS * QDQ_SLICES_AT_ONCE };

// Copies rows of `bytes` each.
static void copy_rows(const char *from, size_t from_step, char *to, size_t to_step, size_t rows,
                      size_t bytes) {
    for (size_t i = 0; i < rows; i++) memcpy(to + i * to_step, from + i * from_step, bytes);
}

// Transposes rows of neighbouring slices into columns of floats, block by block: memory is read in
// whole rows, and dtypes are converted many elements at a time.
static void load_columns(const slice_job *job, const slice_group *group, const qdq_tensors *tensors,
                         size_t x, size_t stride, size_t n, float *out) {
    size_t size = qdq_dtype_size(job->x_dtype), count = group->count;
    bool in_place = job->x_dtype == QDQ_FLOAT32 && !qdq_operand_tiling(tensors, 0);
    for (size_t at = 0; at < n; at += ROWS) {
        float rows[BLOCK], codes[BLOCK];  // codes of any float dtype
        const void *row[ROWS];
        size_t part = n - at < ROWS ? n - at : ROWS;
        qdq_operand_rows from = {x + at * stride, count, part, stride};
        if (!in_place)
            qdq_operand_copy(tensors, 0, size, &from, job->x_dtype == QDQ_FLOAT32 ? rows : codes,
                             count * size);
        if (job->x_dtype != QDQ_FLOAT32)
            job->kernels->decode(job->x_dtype, codes, rows, part * count);
        for (size_t i = 0; i < part; i++)
            row[i] =
                in_place ? (const float *)tensors->x[0] + from.at + i * stride : rows + i * count;
        qdq_transpose_block(sizeof *out, row, part, count, out + at, job->pitch);
    }
}

// `y`: number of the first element.
static void store_columns(const slice_job *job, const slice_group *group, const float *in,
                          size_t stride, size_t n, size_t y, const qdq_tensors *tensors) {
    size_t size = qdq_dtype_size(job->y_dtype), count = group->count, bytes = count * size;
    for (size_t at = 0; at < n; at += ROWS) {
        float rows[BLOCK], codes[BLOCK];
        const void *column[QDQ_SLICES_AT_ONCE];
        size_t part = n - at < ROWS ? n - at : ROWS;
        for (size_t c = 0; c < count; c++) column[c] = in + c * job->pitch + at;
        if (job->y_dtype == QDQ_FLOAT32 && !tensors->sink) {
            qdq_transpose_block(size, column, count, part, (float *)tensors->y[0] + y + at * stride,
                                stride);
            continue;
        }
        qdq_transpose_block(sizeof *rows, column, count, part, rows, count);
        job->kernels->encode(job->y_dtype, rows, codes, part * count);
        if (tensors->sink)
            tensors->sink(tensors->sink_self,
                          &(qdq_chunk){y + at * stride, count, part, stride, codes});
        else
            copy_rows((const char *)codes, bytes, (char *)tensors->y[0] + (y + at * stride) * size,
                      stride * size, part, bytes);
    }
}

// Loads elements at to at + n - 1 of all slices of a group; contiguous float32 memory is used in
// place.
static const float *load(const slice_job *job, const slice_group *group, const qdq_tensors *tensors,
                         size_t at, size_t n, float *buffer, qdq_operand_band *band) {
    size_t size = qdq_dtype_size(job->x_dtype), offset, stride;
    float codes[QDQ_SLICE_PART];  // of any float dtype
    for (size_t i = 0, run; i < n; i += run) {
        run = run_of(&job->slices, at + i, n - i, &offset, &stride);
        size_t first = group->offset + offset;
        if (job->side_by_side) {
            load_columns(job, group, tensors, first, stride, run, buffer + i);
        } else if (job->x_dtype == QDQ_FLOAT32) {
            const float *from = qdq_operand_run(band, tensors, 0, size, first, run, buffer + i);
            if (run == n) return from;
            if (from != buffer + i) memcpy(buffer + i, from, run * size);
        } else {
            const void *from = qdq_operand_run(band, tensors, 0, size, first, run, codes);
            job->kernels->decode(job->x_dtype, from, buffer + i, run);
        }
    }
    return buffer;
}

static void narrow(const slice_job *job, const double *in, size_t n, float *out) {
    if (job->y_dtype == QDQ_FLOAT32)
        job->kernels->narrow(in, n, out);
    else
        job->kernels->narrow_odd(in, n, out);
}

// `buffer` holds elements on their way to y.
static void store(const slice_job *job, const slice_group *group, const double *work, size_t at,
                  size_t n, float *buffer, qdq_chunks *y) {
    size_t offset, stride;
    for (size_t c = 0; job->side_by_side && c < group->count; c++)
        narrow(job, work + c * job->pitch, n, buffer + c * job->pitch);
    for (size_t i = 0, run; i < n; i += run) {
        run = run_of(&job->slices, at + i, n - i, &offset, &stride);
        if (job->side_by_side) {
            store_columns(job, group, buffer + i, stride, run, group->offset + offset, y->tensors);
            continue;
        }
        void *to = qdq_chunks_room(y, group->offset + offset, run);
        float *floats = job->y_dtype == QDQ_FLOAT32 ? to : buffer;
        narrow(job, work + i, run, floats);
        if (floats != to) job->kernels->encode(job->y_dtype, buffer, to, run);
    }
}

void qdq_slice_store(const qdq_tensors *tensors, size_t output, qdq_dtype dtype, size_t index,
                     double value) {
    if (!tensors->y[output]) return;
    float narrowed;
    if (dtype == QDQ_FLOAT32)
        qdq_slice_kernels_portable.narrow(&value, 1, &narrowed);
    else
        qdq_slice_kernels_portable.narrow_odd(&value, 1, &narrowed);
    qdq_encode_float(dtype, &narrowed, (char *)tensors->y[output] + index * qdq_dtype_size(dtype),
                     1, NULL);
}

//---- Passes -----------------------------------------------------------------

// The buffers of a group are no longer needed: lets scratch be poisoned.
static void drop_buffers(const slice_job *job, const slice_group *group, bool poison, float *buffer,
                         double *work) {
    size_t part = job->slices.n < job->part ? job->slices.n : job->part;
    size_t elements = (group->count - 1) * job->pitch + part;
    qdq_scratch_drop(poison, buffer, elements * sizeof *buffer);
    qdq_scratch_drop(poison, work, elements * sizeof *work);
}

// Runs a pass over one part of each slice of a group.
static void run_part(const slice_job *job, const slice_group *group, const qdq_slice_pass *pass,
                     const qdq_part *of_first, qdq_slice_state *states) {
    for (size_t c = 0; c < group->count; c++) {
        qdq_part part = *of_first;
        part.state = &states[c];
        part.slice += c;
        part.x += c * job->pitch;
        part.work += c * job->pitch;
        if (part.at == 0 && pass->begin) pass->begin(&part);
        pass->take(&part);
        if (part.at + part.n == part.slice_n && pass->end) pass->end(&part);
    }
}

// Computes the slices of a group without passes, into y or, side by side, into `out`.
static bool run_quick_slices(const slice_job *job, const slice_group *group,
                             const qdq_tensors *tensors, const float *x, float *out) {
    double work[BUFFER];
    for (size_t c = 0; c < group->count; c++) {
        const qdq_part part = {
            .params = job->params,
            .kernels = job->kernels,
            .tensors = tensors,
            .slice = group->slice + c,
            .n = job->slices.n,
            .slice_n = job->slices.n,
            .x = x + c * job->pitch,
            .work = work,
        };
        if (!job->op->quick(&part, out + c * job->pitch)) return false;
    }
    return true;
}

// Computes a group without passes. False: passes are needed.
static bool run_quick(const slice_job *job, const slice_group *group, const qdq_tensors *tensors,
                      qdq_operand_band *band, qdq_chunks *y) {
    float buffer[BUFFER], out[BUFFER];
    size_t n = job->slices.n, offset, stride;
    if (run_of(&job->slices, 0, n, &offset, &stride) < n || !qdq_chunks_wanted(tensors))
        return false;
    size_t at = group->offset + offset;
    const float *x = load(job, group, tensors, 0, n, buffer, band);
    float *to = job->side_by_side ? out : qdq_chunks_room(y, at, n);
    if (!run_quick_slices(job, group, tensors, x, to)) {
        if (!job->side_by_side) qdq_chunks_take_back(y, n);
        return false;
    }
    if (job->side_by_side) store_columns(job, group, out, stride, n, at, tensors);
    return true;
}

void qdq_part_take_widened(const qdq_part *part, qdq_take_floats_fn *take) {
    float y[QDQ_SLICE_PART];
    take(part, y);
    for (size_t i = 0; i < part->n; i++) part->work[i] = (double)y[i];
}

// Runs the last pass over a part of a slice and writes the results at once.
static void run_floats(const slice_job *job, const slice_group *group, const qdq_part *all,
                       qdq_chunks *y) {
    const qdq_slice_pass *pass = &job->op->passes[job->op->pass_count - 1];
    if (all->at == 0 && pass->begin) pass->begin(all);
    size_t offset, stride;
    for (size_t i = 0, run; i < all->n; i += run) {
        qdq_part part = *all;
        run = run_of(&job->slices, all->at + i, all->n - i, &offset, &stride);
        part.at += i, part.x += i, part.n = run;
        job->op->take_floats(&part, qdq_chunks_room(y, group->offset + offset, run));
    }
}

static void run_group(const slice_job *job, const slice_group *group, const qdq_tensors *tensors,
                      qdq_operand_band *band, qdq_chunks *y) {
    qdq_slice_state states[QDQ_SLICES_AT_ONCE];
    float buffer[BUFFER];
    double work[BUFFER];
    const float *x = NULL;
    size_t all = job->slices.n;
    qdq_scratch_drop(tensors->poison, states, group->count * sizeof *states);
    for (size_t p = 0; p < job->op->pass_count; p++) {
        const qdq_slice_pass *pass = &job->op->passes[p];
        bool maps = job->op->maps && p + 1 == job->op->pass_count;
        if (maps && !qdq_chunks_wanted(tensors)) return;
        for (size_t at = 0; at < all; at += job->part) {
            size_t n = all - at < job->part ? all - at : job->part;
            if (!x || n < all) {
                drop_buffers(job, group, tensors->poison, buffer, work);
                x = load(job, group, tensors, at, n, buffer, band);
            }
            qdq_part first = {job->params, job->kernels, tensors, states, group->slice, at,
                              n,           all,          x,       work};
            if (maps && job->writes_floats) {
                run_floats(job, group, &first, y);
                continue;
            }
            run_part(job, group, pass, &first, states);
            if (maps) store(job, group, work, at, n, buffer, y);
        }
    }
}

static void run_slices(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const slice_job *job = params;
    qdq_operand_band band;
    qdq_chunks y;
    qdq_operand_begin(&band);
    qdq_chunks_begin(&y, tensors, job->y_dtype);
    for (size_t i = begin * job->unit_groups; i < end * job->unit_groups && i < job->groups; i++) {
        slice_group group = group_of(job, i);
        if (!job->is_quick || !run_quick(job, &group, tensors, &band, &y))
            run_group(job, &group, tensors, &band, &y);
    }
    qdq_chunks_end(&y);
}

// Chooses how many neighbours are walked together: fewer if whole slices then fit in the buffers
// and that saves work.
static void set_groups(slice_job *job) {
    const qdq_reduce_axes *slices = &job->slices;
    job->together = 1, job->groups = slices->count;
    if (job->side_by_side) {
        size_t row = slices->across[0].size, most = QDQ_SLICES_AT_ONCE;
        while (most > 4 && job->op->maps && most * slices->n > QDQ_SLICE_PART) most /= 2;
        if (most * slices->n > QDQ_SLICE_PART) most = QDQ_SLICES_AT_ONCE;
        job->together = row < most ? row : most;
        job->row_groups = (row + job->together - 1) / job->together;
        job->groups = slices->count / row * job->row_groups;
    }
    job->part = QDQ_SLICE_PART / job->together / QDQ_SUM_LANES * QDQ_SUM_LANES;
    job->pitch = job->part + ROOM;
    job->is_quick = job->op->quick && slices->n <= job->part && job->y_dtype == QDQ_FLOAT32;
    job->writes_floats = job->op->take_floats && !job->side_by_side && job->y_dtype == QDQ_FLOAT32;
    size_t elements = slices->n * job->together;
    job->unit_groups = elements < QDQ_SLICE_PART ? QDQ_SLICE_PART / elements : 1;
}

bool qdq_slice_stage(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_slice_op *op,
                     qdq_reduce_axes slices, const void *params, size_t cost, qdq_stage *stage) {
    slice_job *job = QDQ_MEMPOOL_NEW(to->mempool, slice_job);
    if (!job || !params) return false;
    *job = (slice_job){
        .slices = slices,
        .op = op,
        .kernels = qdq_slice_kernels_find(to->isas),
        .params = params,
        .x_dtype = ctx->inputs[0].type.dtype,
        .y_dtype = ctx->outputs[0].dtype,
        .side_by_side = slices.across_rank > 0 && slices.across[0].stride == 1,
    };
    set_groups(job);
    stage[0] = (qdq_stage){
        .params = job,
        .tensor_op = run_slices,
        .units = (job->groups + job->unit_groups - 1) / job->unit_groups,
        .cost = slices.n * slices.count * cost,
        .reads_tiles = 1,
        .chunks = op->maps,
    };
    return true;
}
