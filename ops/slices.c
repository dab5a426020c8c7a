// SPDX-License-Identifier: Apache-2.0
#include "ops/slices.h"

#include <string.h>

#include "runtime/dtype.h"

//---- Which elements ---------------------------------------------------------

qdq_slices qdq_slices_of(qdq_shape shape, uint32_t within) {
    qdq_slices slices = {.n = 1, .count = 1};
    size_t stride = 1;
    int before = -1;  // whether the dim before was within; -1: there was none
    for (int i = shape.rank; i-- > 0;) {
        size_t size = (size_t)shape.dims[i];
        if (size == 1) continue;
        int is_within = within >> i & 1;
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

// Where element number `index` of the dims lies.
static size_t offset_of(const qdq_slice_dim *dims, int rank, size_t index) {
    size_t offset = 0;
    for (int i = 0; i < rank; i++) {
        offset += index % dims[i].size * dims[i].stride;
        index /= dims[i].size;
    }
    return offset;
}

//---- Groups: slices that are walked together --------------------------------

typedef struct slice_job {
    qdq_slices slices;
    const qdq_slice_op *op;
    const qdq_slice_kernels *kernels;
    const void *params;
    qdq_dtype x_dtype, y_dtype;
    qdq_numerics numerics;
    bool side_by_side;  // slices that are neighbours are so in memory
    size_t row_groups;  // groups of a row of neighbours
    size_t groups, unit_groups;
} slice_job;

typedef struct slice_group {
    size_t slice, count;  // the first one, and how many
    size_t offset;        // where the first element of the first slice lies
    size_t part, pitch;   // elements that are loaded at a time; from a slice to the next in buffers
} slice_group;

static slice_group group_of(const slice_job *job, size_t index) {
    slice_group group = {index, 1, 0, QDQ_SLICE_PART, QDQ_SLICE_PART};
    if (job->side_by_side) {
        size_t row = job->slices.across[0].size;
        size_t at = index % job->row_groups * QDQ_SLICES_AT_ONCE;
        group.slice = index / job->row_groups * row + at;
        group.count = row - at < QDQ_SLICES_AT_ONCE ? row - at : QDQ_SLICES_AT_ONCE;
        group.part = group.pitch = QDQ_SLICE_PART / QDQ_SLICES_AT_ONCE;
    }
    group.offset = offset_of(job->slices.across, job->slices.across_rank, group.slice);
    return group;
}

// Elements from `at` on, at most n, that lie `*stride` apart from each other.
static size_t run_of(const qdq_slices *slices, size_t at, size_t n, size_t *offset,
                     size_t *stride) {
    *offset = offset_of(slices->within, slices->within_rank, at);
    *stride = slices->within_rank ? slices->within[0].stride : 1;
    size_t size = slices->within_rank ? slices->within[0].size : 1;
    size_t left = size - at % size;
    return left < n ? left : n;
}

//---- Loading and storing ----------------------------------------------------

// Rows of neighbours become columns, as floats.
static void load_columns(const slice_job *job, const slice_group *group, const char *x,
                         size_t stride, size_t n, float *out) {
    size_t size = qdq_dtype_size(job->x_dtype);
    for (size_t i = 0; i < n; i++) {
        float row[QDQ_SLICES_AT_ONCE];
        qdq_decode_float(job->x_dtype, x + i * stride * size, row, group->count);
        for (size_t c = 0; c < group->count; c++) out[c * group->pitch + i] = row[c];
    }
}

static void store_columns(const slice_job *job, const slice_group *group, const float *in,
                          size_t stride, size_t n, char *y) {
    size_t size = qdq_dtype_size(job->y_dtype);
    for (size_t i = 0; i < n; i++) {
        float row[QDQ_SLICES_AT_ONCE];
        for (size_t c = 0; c < group->count; c++) row[c] = in[c * group->pitch + i];
        qdq_encode_float(job->y_dtype, row, y + i * stride * size, group->count, &job->numerics);
    }
}

// Elements at .. at + n - 1 of all slices of a group. Memory that holds them as they should be is
// taken as it is.
static const float *load(const slice_job *job, const slice_group *group, const void *x, size_t at,
                         size_t n, float *buffer) {
    size_t size = qdq_dtype_size(job->x_dtype), offset, stride;
    for (size_t i = 0, run; i < n; i += run) {
        run = run_of(&job->slices, at + i, n - i, &offset, &stride);
        const char *from = (const char *)x + (group->offset + offset) * size;
        if (job->side_by_side)
            load_columns(job, group, from, stride, run, buffer + i);
        else if (run == n && job->x_dtype == QDQ_FLOAT32)
            return (const float *)(const void *)from;
        else
            qdq_decode_float(job->x_dtype, from, buffer + i, run);
    }
    return buffer;
}

static void narrow(const slice_job *job, const double *in, size_t n, float *out) {
    if (job->y_dtype == QDQ_FLOAT32)
        job->kernels->narrow(in, n, out);
    else
        job->kernels->narrow_odd(in, n, out);
}

static void store(const slice_job *job, const slice_group *group, const double *work, size_t at,
                  size_t n, void *y) {
    float narrowed[QDQ_SLICE_PART];
    size_t size = qdq_dtype_size(job->y_dtype), offset, stride;
    for (size_t c = 0; c < group->count; c++)
        narrow(job, work + c * group->pitch, n, narrowed + c * group->pitch);
    for (size_t i = 0, run; i < n; i += run) {
        run = run_of(&job->slices, at + i, n - i, &offset, &stride);
        char *to = (char *)y + (group->offset + offset) * size;
        if (job->side_by_side)
            store_columns(job, group, narrowed + i, stride, run, to);
        else
            qdq_encode_float(job->y_dtype, narrowed + i, to, run, &job->numerics);
    }
}

void qdq_slice_store(const qdq_tensors *tensors, size_t output, qdq_dtype dtype, size_t index,
                     double value, const qdq_numerics *numerics) {
    if (!tensors->y[output]) return;
    float narrowed;
    if (dtype == QDQ_FLOAT32)
        qdq_slice_kernels_portable.narrow(&value, 1, &narrowed);
    else
        qdq_slice_kernels_portable.narrow_odd(&value, 1, &narrowed);
    qdq_encode_float(dtype, &narrowed, (char *)tensors->y[output] + index * qdq_dtype_size(dtype),
                     1, numerics);
}

//---- Passes -----------------------------------------------------------------

static void run_group(const slice_job *job, const slice_group *group, const qdq_tensors *tensors) {
    qdq_slice_state states[QDQ_SLICES_AT_ONCE];
    float buffer[QDQ_SLICE_PART];
    double work[QDQ_SLICE_PART];
    const float *x = NULL;
    size_t all = job->slices.n;
    for (size_t p = 0; p < job->op->pass_count; p++) {
        const qdq_slice_pass *pass = &job->op->passes[p];
        bool maps = job->op->maps && p + 1 == job->op->pass_count;
        if (maps && !tensors->y[0]) return;
        for (size_t at = 0; at < all; at += group->part) {
            size_t n = all - at < group->part ? all - at : group->part;
            if (!x || n < all) x = load(job, group, tensors->x[0], at, n, buffer);
            for (size_t c = 0; c < group->count; c++) {
                qdq_part part = {job->params,
                                 job->kernels,
                                 tensors,
                                 &states[c],
                                 group->slice + c,
                                 at,
                                 n,
                                 all,
                                 x + c * group->pitch,
                                 work + c * group->pitch};
                if (at == 0 && pass->begin) pass->begin(&part);
                pass->take(&part);
                if (at + n == all && pass->end) pass->end(&part);
            }
            if (maps) store(job, group, work, at, n, tensors->y[0]);
        }
    }
}

static void run_slices(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const slice_job *job = params;
    for (size_t i = begin * job->unit_groups; i < end * job->unit_groups && i < job->groups; i++) {
        slice_group group = group_of(job, i);
        run_group(job, &group, tensors);
    }
}

bool qdq_slice_stage(const qdq_call *call, const qdq_lowering *to, const qdq_slice_op *op,
                     qdq_slices slices, const void *params, size_t cost, qdq_stage *stage) {
    slice_job *job = QDQ_POOL_NEW(to->pool, slice_job);
    if (!job || !params) return false;
    *job = (slice_job){
        .slices = slices,
        .op = op,
        .kernels = qdq_slice_kernels_find(to->isas),
        .params = params,
        .x_dtype = call->inputs[0].type.dtype,
        .y_dtype = call->outputs[0].dtype,
        .numerics = to->numerics,
        .side_by_side = slices.across_rank > 0 && slices.across[0].stride == 1,
        .groups = slices.count,
    };
    size_t together = 1;
    if (job->side_by_side) {
        size_t row = slices.across[0].size;
        together = row < QDQ_SLICES_AT_ONCE ? row : QDQ_SLICES_AT_ONCE;
        job->row_groups = (row + QDQ_SLICES_AT_ONCE - 1) / QDQ_SLICES_AT_ONCE;
        job->groups = slices.count / row * job->row_groups;
    }
    size_t elements = slices.n * together;
    job->unit_groups = elements < QDQ_SLICE_PART ? QDQ_SLICE_PART / elements : 1;
    stage[0] = (qdq_stage){
        .params = job,
        .whole = run_slices,
        .units = (job->groups + job->unit_groups - 1) / job->unit_groups,
        .cost = slices.n * slices.count * cost,
    };
    return true;
}
