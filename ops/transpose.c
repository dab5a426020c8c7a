// SPDX-License-Identifier: Apache-2.0
#include "ops/movement.h"

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_transpose_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc attrs[] = {
    {"order", QDQ_ATTR_INTS, offsetof(qdq_transpose_attrs, order), NULL, "[]",
     "dim i of y is dim order[i] of x; negative: from the end; empty: all dims reversed"}};

//---- Order ------------------------------------------------------------------

// A permutation of the dims, or false with a finding.
static bool read_order(const qdq_call *call, int *order) {
    const qdq_transpose_attrs *a = call->attrs;
    int rank = call->inputs[0].type.shape.rank;
    for (int i = 0; i < rank; i++) order[i] = rank - 1 - i;
    if (a->order.count == 0) return true;
    if (a->order.count != (size_t)rank) {
        qdq_call_find(call, QDQ_RULE_ATTR_VALUE, "order",
                      qdq_text(call->findings, "has %zu entries", a->order.count),
                      qdq_text(call->findings, "%d, one for each dim of x", rank));
        return false;
    }
    unsigned seen = 0;
    for (int i = 0; i < rank; i++) {
        order[i] = qdq_check_axis(call, "order", a->order.data[i], rank);
        if (order[i] < 0) return false;
        if (seen >> order[i] & 1) {
            qdq_call_find(call, QDQ_RULE_ATTR_VALUE, "order",
                          qdq_text(call->findings, "has dim %d twice", order[i]),
                          "each dim of x once");
            return false;
        }
        seen |= 1u << order[i];
    }
    return true;
}

static void infer(qdq_call *call) {
    qdq_type x = call->inputs[0].type;
    int order[QDQ_MAX_RANK];
    if (!read_order(call, order)) return;
    call->outputs[0] = x;
    for (int i = 0; i < x.shape.rank; i++) call->outputs[0].shape.dims[i] = x.shape.dims[order[i]];
}

//---- Copying ----------------------------------------------------------------

enum { BLOCK = 32 };

typedef void gather_fn(const void *x, size_t stride, void *y, size_t n);

// The dims of y, neighbours that stay together as one. Work goes over `rows` of the last dim, which
// take `step` elements of x from one to the next. `lead` is the dim along which x is contiguous:
// BLOCK rows along it and BLOCK columns are copied together, so that cache lines of x are used up.
typedef struct transpose_params {
    qdq_dtype x_dtype, y_dtype;
    int rank;
    size_t size[QDQ_MAX_RANK], x_stride[QDQ_MAX_RANK], y_stride[QDQ_MAX_RANK];
    int lead;
    gather_fn *gather;
    size_t lead_blocks;
} transpose_params;

#define GATHER(type)                                                                   \
    static void gather_##type(const void *x, size_t stride, void *y, size_t n) {       \
        for (size_t i = 0; i < n; i++) ((type *)y)[i] = ((const type *)x)[i * stride]; \
    }
GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)
GATHER(uint64_t)

static gather_fn *gather_of(size_t size) {
    switch (size) {
    case 1: return gather_uint8_t;
    case 2: return gather_uint16_t;
    case 4: return gather_uint32_t;
    default: return gather_uint64_t;
    }
}

// n elements of one row of y.
static void copy_row(const transpose_params *p, const qdq_tensors *tensors, size_t x, size_t y,
                     size_t n) {
    const char *from = qdq_at(tensors->x[0], p->x_dtype, x);
    char *to = qdq_at_mutable(tensors->y[0], p->y_dtype, y);
    size_t stride = p->x_stride[p->rank - 1];
    uint64_t part[BLOCK];
    if (stride == 1)
        qdq_move(p->x_dtype, from, p->y_dtype, to, n);
    else if (p->x_dtype == p->y_dtype)
        p->gather(from, stride, to, n);
    else {
        p->gather(from, stride, part, n);
        qdq_move(p->x_dtype, part, p->y_dtype, to, n);
    }
}

// A unit is up to BLOCK rows along the lead dim at one index of the other dims but the last.
static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const transpose_params *p = params;
    size_t columns = p->size[p->rank - 1], lead = p->size[p->lead];
    size_t block = p->x_stride[p->rank - 1] == 1 ? columns : BLOCK;
    for (size_t unit = begin; unit < end; unit++) {
        size_t first = unit % p->lead_blocks * BLOCK, rest = unit / p->lead_blocks;
        size_t last = first + BLOCK < lead ? first + BLOCK : lead, x = 0, y = 0;
        for (int i = p->rank - 2; i >= 0; i--) {
            if (i == p->lead) continue;
            x += rest % p->size[i] * p->x_stride[i];
            y += rest % p->size[i] * p->y_stride[i];
            rest /= p->size[i];
        }
        for (size_t column = 0; column < columns; column += block)
            for (size_t row = first; row < last; row++)
                copy_row(p, tensors,
                         x + row * p->x_stride[p->lead] + column * p->x_stride[p->rank - 1],
                         y + row * p->y_stride[p->lead] + column,
                         columns - column < block ? columns - column : block);
    }
}

// Dims of 1 go; neighbours in y that are neighbours in x become one. At least two dims are left.
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

static size_t lower(const qdq_call *call, const qdq_lowering *to, qdq_stage *stages) {
    transpose_params *p = QDQ_POOL_NEW(to->pool, transpose_params);
    int order[QDQ_MAX_RANK];
    if (!p) return 0;
    (void)read_order(call, order);
    *p = (transpose_params){.x_dtype = call->inputs[0].type.dtype,
                            .y_dtype = call->outputs[0].dtype};
    merge_dims(p, call->inputs[0].type.shape, order);
    p->gather = gather_of(qdq_dtype_size(p->x_dtype));
    p->lead = p->rank - 2;
    size_t units = 1, stride = 1;
    for (int i = p->rank - 1; i >= 0; i--) {
        p->y_stride[i] = stride;
        stride *= p->size[i];
        if (p->x_stride[i] == 1 && i < p->rank - 1) p->lead = i;
    }
    p->lead_blocks = (p->size[p->lead] + BLOCK - 1) / BLOCK;
    for (int i = 0; i < p->rank - 1; i++) units *= i == p->lead ? p->lead_blocks : p->size[i];
    stages[0] = (qdq_stage){.params = p, .whole = run, .units = units, .cost = stride};
    return 1;
}

const qdq_op qdq_op_transpose = {
    .name = "StaticTranspose",
    .summary = "y = x with its dims in another order",
    .attrs_size = sizeof(qdq_transpose_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
