// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/blocking.h"
#include "ops/kernels/transpose_block.h"
#include "ops/movement/movement.h"

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_transpose_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc attrs[] = {
    {"order", QDQ_ATTR_INTS, offsetof(qdq_transpose_attrs, order), NULL, "[]",
     "dim i of y is dim order[i] of x; negative: from the end; empty: all dims reversed"}};

//---- Order ------------------------------------------------------------------

// Reads the permutation of the dims. False with a finding.
static bool read_order(const qdq_op_context *ctx, int *order) {
    const qdq_transpose_attrs *a = ctx->attrs;
    int rank = ctx->inputs[0].type.shape.rank;
    for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
    if (a->order.count == 0) return true;
    if (a->order.count != (size_t)rank) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "order",
                             qdq_text(ctx->findings, "has %zu entries", a->order.count),
                             qdq_text(ctx->findings, "%d, one for each dim of x", rank));
        return false;
    }
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) {
        order[i] = qdq_check_axis(ctx, "order", a->order.data[i], rank);
        if (order[i] < 0) return false;
        if (seen >> order[i] & 1) {
            qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "order",
                                 qdq_text(ctx->findings, "has dim %d twice", order[i]),
                                 "each dim of x once");
            return false;
        }
        seen |= 1u << order[i];
    }
    return true;
}

static void infer(qdq_op_context *ctx) {
    qdq_type x = ctx->inputs[0].type;
    int order[QDQ_MAX_RANK] = {0};
    if (!read_order(ctx, order)) return;
    ctx->outputs[0] = x;
    for (int i = 0; i < x.shape.rank; i++) ctx->outputs[0].shape.dims[i] = x.shape.dims[order[i]];
}

//---- Copying ----------------------------------------------------------------

enum { BLOCK = QDQ_TRANSPOSE_BLOCK, NEAR = 2 * BLOCK };

// The dims of y; neighbours that stay together are merged. x is contiguous along `lead`. Unless
// `lead` is the last dim, blocks of BLOCK rows along it and BLOCK columns of the last dim are
// transposed in cache, so that each cache line of x and y is touched once.
typedef struct transpose_params {
    qdq_dtype x_dtype, y_dtype;
    int rank;
    size_t size[QDQ_MAX_RANK], x_stride[QDQ_MAX_RANK], y_stride[QDQ_MAX_RANK];
    int lead;
    size_t lead_blocks;
} transpose_params;

// The begin of a unit. A unit is up to BLOCK rows along the lead dim, at one index of the other
// dims except the last.
typedef struct place {
    size_t x, y, rows;
} place;

static place place_of(const transpose_params *p, size_t unit) {
    size_t first = unit % p->lead_blocks * BLOCK, rest = unit / p->lead_blocks;
    size_t rows = p->size[p->lead] - first;
    place at = {first * p->x_stride[p->lead], first * p->y_stride[p->lead],
                rows < BLOCK ? rows : BLOCK};
    for (int i = p->rank - 2; i >= 0; i--) {
        if (i == p->lead) continue;
        at.x += rest % p->size[i] * p->x_stride[i];
        at.y += rest % p->size[i] * p->y_stride[i];
        rest /= p->size[i];
    }
    return at;
}

// The last dim of y is contiguous in x.
static void copy_rows(const transpose_params *p, const void *x, qdq_chunks *y, place at) {
    for (size_t row = 0; row < at.rows; row++)
        qdq_move_chunk(p->x_dtype, qdq_at(x, p->x_dtype, at.x + row * p->x_stride[p->lead]),
                       p->y_dtype, y, at.y + row * p->y_stride[p->lead], p->size[p->rank - 1]);
}

// To rows of y that are `step` elements apart in `out`. Rows that lie close together stay in the
// cache while the block is written; rows far apart may fall into the same sets of it, so that they
// are written one by one.
static void copy_block(const transpose_params *p, const qdq_tensors *tensors, place at,
                       size_t columns, char *out, size_t step) {
    uint64_t block[BLOCK * BLOCK];
    const void *lines[BLOCK];
    size_t size = qdq_dtype_size(p->x_dtype), stride = p->x_stride[p->rank - 1];
    qdq_scratch_drop(tensors->poison, block, BLOCK * BLOCK * size);
    for (size_t column = 0; column < columns; column++)
        lines[column] = qdq_at(tensors->x[0], p->x_dtype, at.x + column * stride);
    if (p->x_dtype == p->y_dtype && step <= NEAR) {
        qdq_transpose_block(size, lines, columns, at.rows, out, step);
        return;
    }
    qdq_transpose_block(size, lines, columns, at.rows, block, BLOCK);
    for (size_t row = 0; row < at.rows; row++)
        qdq_move(p->x_dtype, (const char *)block + row * BLOCK * size, p->y_dtype,
                 qdq_at_mutable(out, p->y_dtype, row * step), columns);
}

// As many columns at a time as a chunk holds for all rows.
static void copy_columns(const transpose_params *p, qdq_chunks *y, place at) {
    size_t columns = p->size[p->rank - 1], stride = p->x_stride[p->rank - 1];
    size_t wide = QDQ_CHUNK_BYTES / BLOCK / y->size, step;
    for (size_t first = 0; first < columns; first += wide) {
        size_t n = columns - first < wide ? columns - first : wide;
        char *out = qdq_chunks_block(y, at.y + first, n, at.rows, p->y_stride[p->lead], &step);
        for (size_t done = 0; done < n; done += BLOCK)
            copy_block(p, y->tensors, (place){at.x + (first + done) * stride, 0, at.rows},
                       n - done < BLOCK ? n - done : BLOCK, qdq_at_mutable(out, p->y_dtype, done),
                       step);
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const transpose_params *p = params;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) {
        place at = place_of(p, unit);
        if (p->x_stride[p->rank - 1] == 1)
            copy_rows(p, tensors->x[0], &y, at);
        else
            copy_columns(p, &y, at);
    }
    qdq_chunks_end(&y);
}

// Drops dims of size 1 and merges dims that are neighbours in both x and y. At least two dims are
// left.
static void merge_dims(transpose_params *p, qdq_shape x, const int *order) {
    size_t strides[QDQ_MAX_RANK], stride = 1;
    for (int i = x.rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= (size_t)x.dims[i];
    }
    p->rank = 0;
    for (int i = 0; i < x.rank; i++) {
        size_t size = (size_t)x.dims[order[i]], own = strides[order[i]];
        if (size == 1) continue;
        if (p->rank && p->x_stride[p->rank - 1] == own * size) {
            p->size[p->rank - 1] *= size;
            p->x_stride[p->rank - 1] = own;
        } else {
            p->size[p->rank] = size;
            p->x_stride[p->rank++] = own;
        }
    }
    while (p->rank < 2) {
        for (int i = p->rank++; i > 0; i--) {
            p->size[i] = p->size[i - 1];
            p->x_stride[i] = p->x_stride[i - 1];
        }
        p->size[0] = 1, p->x_stride[0] = 0;
    }
}

size_t qdq_lower_transpose(const qdq_op_context *ctx, const qdq_lowering *to, qdq_shape x,
                           const int *order, qdq_stage *stages) {
    transpose_params *p = QDQ_MEMPOOL_NEW(to->mempool, transpose_params);
    if (!p) return 0;
    *p = (transpose_params){.x_dtype = ctx->inputs[0].type.dtype, .y_dtype = ctx->outputs[0].dtype};
    merge_dims(p, x, order);
    p->lead = p->rank - 2;
    size_t units = 1, stride = 1;
    for (int i = p->rank - 1; i >= 0; i--) {
        p->y_stride[i] = stride;
        stride *= p->size[i];
        if (p->x_stride[i] == 1 && i < p->rank - 1) p->lead = i;
    }
    p->lead_blocks = (p->size[p->lead] + BLOCK - 1) / BLOCK;
    for (int i = 0; i < p->rank - 1; i++) units *= i == p->lead ? p->lead_blocks : p->size[i];
    stages[0] =
        (qdq_stage){.params = p, .tensor_op = run, .units = units, .cost = stride, .chunks = true};
    return 1;
}

int qdq_transpose_show(const qdq_stage *stage, size_t *sizes, size_t *x_strides) {
    const transpose_params *p = stage->params;
    for (int i = 0; i < p->rank; i++) sizes[i] = p->size[i], x_strides[i] = p->x_stride[i];
    return p->rank;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    int order[QDQ_MAX_RANK] = {0};
    (void)read_order(ctx, order);
    return qdq_lower_transpose(ctx, to, ctx->inputs[0].type.shape, order, stages);
}

static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    int order[QDQ_MAX_RANK] = {0};
    if (!read_order(ctx, order)) return false;
    const qdq_quantized *x = ctx->inputs[0].quantized;
    *quantized = *x;
    for (int i = 0; i < ctx->inputs[0].type.shape.rank; i++)
        if (order[i] == x->axis) quantized->axis = i;
    return true;
}

static const qdq_op_fusion fusion = {
    .passes_quantized = passes_quantized,
    .transposes = read_order,
};

const qdq_op qdq_op_transpose = {
    .name = "StaticTranspose",
    .summary = "y = x with its dims in another order",
    .attrs_size = sizeof(qdq_transpose_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .fusion = &fusion,
};
