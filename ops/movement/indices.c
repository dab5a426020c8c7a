// SPDX-License-Identifier: Apache-2.0
#include "ops/movement/indices.h"

bool qdq_check_indices(const qdq_op_context *ctx, size_t input, const int64_t *dims, size_t count) {
    const qdq_operand *in = &ctx->inputs[input];
    if (!in->valid || !in->data) return true;
    for (size_t i = 0; i < qdq_shape_count(in->type.shape); i++) {
        int64_t index = qdq_raw_index(in->type.dtype, in->data, i), dim = dims[i % count];
        if (index >= -dim && index < dim) continue;
        qdq_report_violation(
            ctx, QDQ_RULE_INDEX_RANGE, qdq_op_port(ctx->op, input)->name,
            qdq_text(ctx->findings, "has %lld at element %zu", (long long)index, i),
            qdq_text(ctx->findings, "%lld to %lld", (long long)-dim, (long long)(dim - 1)));
        return false;
    }
    return true;
}

bool qdq_check_element_indices(const qdq_op_context *ctx, qdq_shape t, size_t input, int axis) {
    qdq_shape indices = ctx->inputs[input].type.shape;
    bool fits = indices.rank == t.rank;
    for (int i = 0; fits && i < t.rank; i++) fits = i == axis || indices.dims[i] <= t.dims[i];
    if (fits) return qdq_check_indices(ctx, input, &t.dims[axis], 1);
    qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, indices,
                     qdq_text(ctx->findings, "%d dims, none longer than in %s, but for dim %d",
                              t.rank, qdq_shape_text(ctx->findings, t), axis));
    return false;
}

bool qdq_check_tuples(const qdq_op_context *ctx, qdq_shape t, size_t input, int first) {
    qdq_shape indices = ctx->inputs[input].type.shape;
    bool fits = indices.rank > first && indices.dims[indices.rank - 1] <= t.rank - first;
    for (int i = 0; fits && i < first; i++) fits = indices.dims[i] == t.dims[i];
    if (fits)
        return qdq_check_indices(ctx, input, &t.dims[first],
                                 (size_t)indices.dims[indices.rank - 1]);
    const char *batch = first ? qdq_text(ctx->findings, ", after the first %d of them", first) : "";
    qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, indices,
                     qdq_text(ctx->findings, "a last dim of 1 to %d, to index dims of %s%s",
                              t.rank - first, qdq_shape_text(ctx->findings, t), batch));
    return false;
}

static qdq_places places_of(qdq_shape t, const qdq_type *indices, int axis) {
    qdq_places p = {.dtype = indices->dtype,
                    .count = qdq_shape_count(indices->shape),
                    .n = 1,
                    .rank = indices->shape.rank,
                    .axis = axis,
                    .tuple = 1};
    size_t stride = 1;
    for (int i = 0; i < p.rank; i++) p.dims[i] = (size_t)indices->shape.dims[i];
    for (int i = t.rank - 1; i >= 0; i--) {
        p.sizes[i] = (size_t)t.dims[i];
        p.strides[i] = stride;
        stride *= p.sizes[i];
    }
    return p;
}

//---- Gather -----------------------------------------------------------------

// `dims[0]` is the number of indices.
static void offsets_along(const qdq_places *p, const void *indices, size_t first, size_t count,
                          size_t *out) {
    size_t size = p->sizes[p->axis], outer = first / p->dims[0], i = first % p->dims[0];
    for (size_t done = 0; done < count; done++) {
        out[done] = (outer * size + qdq_index(p->dtype, indices, i, size)) * p->n;
        if (++i == p->dims[0]) i = 0, outer++;
    }
}

qdq_places qdq_places_along(qdq_shape t, const qdq_type *indices, int axis) {
    qdq_places p = places_of(t, indices, axis);
    p.offsets = offsets_along;
    p.dims[0] = p.count;
    p.n = p.strides[axis];
    for (int i = 0; i < axis; i++) p.count *= p.sizes[i];
    return p;
}

//---- GatherElements ---------------------------------------------------------

// Returns the offset in t of the row of `indices` that element `first` lies in, without the axis.
static size_t row_offset(const qdq_places *p, size_t first) {
    size_t offset = 0, rest = first / p->dims[p->rank - 1];
    for (int d = p->rank - 2; d >= 0; d--) {
        if (d != p->axis) offset += rest % p->dims[d] * p->strides[d];
        rest /= p->dims[d];
    }
    return offset;
}

static void offsets_of_elements(const qdq_places *p, const void *indices, size_t first,
                                size_t count, size_t *out) {
    size_t last = p->dims[p->rank - 1], size = p->sizes[p->axis], stride = p->strides[p->axis];
    size_t step = p->axis == p->rank - 1 ? 0 : 1;
    for (size_t done = 0, n; done < count; done += n) {
        size_t column = (first + done) % last, row = row_offset(p, first + done);
        n = last - column < count - done ? last - column : count - done;
        for (size_t i = 0; i < n; i++)
            out[done + i] = row + (column + i) * step +
                            qdq_index(p->dtype, indices, first + done + i, size) * stride;
    }
}

qdq_places qdq_places_of_elements(qdq_shape t, const qdq_type *indices, int axis) {
    qdq_places p = places_of(t, indices, axis);
    p.offsets = offsets_of_elements;
    return p;
}

//---- GatherND ---------------------------------------------------------------

// `dims[0]` is the number of tuples that share an index of the batch dims.
static void offsets_of_tuples(const qdq_places *p, const void *indices, size_t first, size_t count,
                              size_t *out) {
    size_t batch_stride = p->axis ? p->strides[p->axis - 1] : 0;
    for (size_t i = 0; i < count; i++) {
        out[i] = (first + i) / p->dims[0] * batch_stride;
        for (size_t k = 0; k < p->tuple; k++) {
            size_t dim = (size_t)p->axis + k;
            out[i] += qdq_index(p->dtype, indices, (first + i) * p->tuple + k, p->sizes[dim]) *
                      p->strides[dim];
        }
    }
}

qdq_places qdq_places_of_tuples(qdq_shape t, const qdq_type *indices, int batch_dims) {
    qdq_places p = places_of(t, indices, batch_dims);
    p.offsets = offsets_of_tuples;
    p.tuple = p.dims[p.rank - 1];
    p.count /= p.tuple;
    p.n = p.strides[(size_t)batch_dims + p.tuple - 1];
    size_t each = 1;
    for (int i = batch_dims; i < p.rank - 1; i++) each *= p.dims[i];
    p.dims[0] = each;
    return p;
}
