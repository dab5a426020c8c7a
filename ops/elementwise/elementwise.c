// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/elementwise.h"

#include <math.h>

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "runtime/numerics/dtype.h"

enum { PART = QDQ_ELEMENTS_PART, UNIT = QDQ_ELEMENTS_UNIT, MAX_OPERANDS = 3 };

// An operand: its type, and the strides that find the operand of an element of y.
typedef struct operand {
    bool given;
    qdq_dtype dtype;
    size_t port;
    size_t strides[QDQ_MAX_RANK];  // in elements, per dim of y; 0 if broadcast
} operand;

typedef struct elements_params {
    qdq_elementwise_fn *fn;
    qdq_elementwise_numbers numbers;
    qdq_elementwise function;
    qdq_dtype y_dtype;
    bool whole;    // all operands and y are integers: exact
    bool on_chip;  // `fn` computes as a chip does
    operand operands[MAX_OPERANDS];
    qdq_shape shape;  // of y
    // Links: the operand that is x, and the views of the other operands.
    size_t x;
    size_t view[MAX_OPERANDS];
} elements_params;

//---- Parts ------------------------------------------------------------------

// Integers of less than 2^24 are exact; others are rounded half to even.
static void to_floats(qdq_dtype dtype, const void *from, float *out, size_t n) {
    if (qdq_dtype_is_real(dtype)) {
        qdq_decode_float(dtype, from, out, n);
        return;
    }
    int32_t whole[PART];
    qdq_decode_int(dtype, from, whole, n);
    for (size_t i = 0; i < n; i++) out[i] = (float)whole[i];
}

static int32_t clamped(double v) {
    if (!(v > -0x1p31)) return INT32_MIN;  // NaN too
    return v >= 0x1p31 ? INT32_MAX : (int32_t)v;
}

static void from_floats(qdq_dtype dtype, const float *y, void *out, size_t n) {
    if (qdq_dtype_is_real(dtype)) {
        qdq_encode_float(dtype, y, out, n, NULL);
        return;
    }
    int32_t whole[PART];
    for (size_t i = 0; i < n; i++) whole[i] = clamped(rint((double)y[i]));
    qdq_encode_int(dtype, whole, out, n);
}

// Computes at most PART elements from contiguous 32-bit operands.
static void run_floats(const elements_params *p, const float *const *in, const uint32_t *c, void *y,
                       size_t n) {
    float out[PART];
    bool direct = p->y_dtype == QDQ_FLOAT32;
    p->fn(&p->numbers, in[0], in[1], c, direct ? y : out, n);
    if (!direct) from_floats(p->y_dtype, out, y, n);
}

static int64_t exact(qdq_elementwise function, int64_t a, int64_t b) {
    switch (function) {
    case QDQ_ELEMENTWISE_subtract: return a - b;
    case QDQ_ELEMENTWISE_greater_equal: return a >= b;
    default: return a + b;
    }
}

static void run_ints(const elements_params *p, const int32_t *a, const int32_t *b, void *y,
                     size_t n) {
    int32_t out[PART];
    for (size_t i = 0; i < n; i++) {
        int64_t v = exact(p->function, a[i], b[i]);
        out[i] = (int32_t)(v < INT32_MIN ? INT32_MIN : v > INT32_MAX ? INT32_MAX : v);
    }
    qdq_encode_int(p->y_dtype, out, y, n);
}

//---- As a link --------------------------------------------------------------

// Elements at to at + n - 1 of an operand: x itself, or a view.
static const uint32_t *link_operand(const elements_params *p, size_t which, const qdq_view *views,
                                    const char *x, size_t at, size_t n, uint32_t *part) {
    const operand *o = &p->operands[which];
    if (!o->given) return NULL;
    bool as_float = !p->whole && which < 2;
    if (which == p->x) {
        const char *from = x + at * qdq_dtype_size(o->dtype);
        if (o->dtype == QDQ_FLOAT32) return (const uint32_t *)(const void *)from;
        if (as_float)
            to_floats(o->dtype, from, (float *)(void *)part, n);
        else
            qdq_decode_int(o->dtype, from, (int32_t *)(void *)part, n);
        return part;
    }
    const qdq_view *view = &views[p->view[which]];
    bool convert = as_float && !qdq_dtype_is_real(o->dtype);
    if (view->step && !convert) return view->data + at;
    for (size_t i = 0; i < n; i++) {
        uint32_t item = view->data[view->step ? at + i : 0];
        part[i] = convert ? qdq_float_bits((float)(int32_t)item) : item;
    }
    return part;
}

static void run_link(const void *params, const qdq_view *views, const void *x, void *y, size_t n) {
    const elements_params *p = params;
    size_t y_size = qdq_dtype_size(p->y_dtype);
    uint32_t parts[MAX_OPERANDS][PART];
    for (size_t at = 0; at < n; at += PART) {
        const uint32_t *in[MAX_OPERANDS];
        size_t count = n - at < PART ? n - at : PART;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            in[i] = link_operand(p, i, views, x, at, count, parts[i]);
        void *out = (char *)y + at * y_size;
        const float *floats[2] = {(const float *)(const void *)in[0],
                                  (const float *)(const void *)in[1]};
        if (p->whole)
            run_ints(p, (const int32_t *)(const void *)in[0], (const int32_t *)(const void *)in[1],
                     out, count);
        else
            run_floats(p, floats, in[2], out, count);
    }
}

//---- As a tensor op ---------------------------------------------------------

// Used if both operands are broadcast. A part never crosses a row of y's last dim.
static size_t operand_at(const operand *o, qdq_shape shape, size_t at) {
    size_t where = 0;
    for (int i = shape.rank - 1; i >= 0; i--) {
        where += at % (size_t)shape.dims[i] * o->strides[i];
        at /= (size_t)shape.dims[i];
    }
    return where;
}

static void gather(const elements_params *p, size_t which, const void *memory, size_t at, size_t n,
                   uint32_t *part) {
    const operand *o = &p->operands[which];
    bool as_float = !p->whole && which < 2;
    size_t step = p->shape.rank ? o->strides[p->shape.rank - 1] : 0;
    const char *from =
        (const char *)memory + operand_at(o, p->shape, at) * qdq_dtype_size(o->dtype);
    size_t count = step ? n : 1;
    if (as_float)
        to_floats(o->dtype, from, (float *)(void *)part, count);
    else
        qdq_decode_int(o->dtype, from, (int32_t *)(void *)part, count);
    for (size_t i = count; i < n; i++) part[i] = part[0];
}

static void run_tensor_op(const void *params, const qdq_tensors *tensors, size_t begin,
                          size_t end) {
    const elements_params *p = params;
    size_t row = p->shape.rank ? (size_t)p->shape.dims[p->shape.rank - 1] : 1;
    size_t count = qdq_shape_count(p->shape), stop = end * UNIT < count ? end * UNIT : count;
    uint32_t parts[MAX_OPERANDS][PART] = {{0}};
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t at = begin * UNIT, n; at < stop; at += n) {
        n = row - at % row;
        if (n > PART) n = PART;
        if (n > stop - at) n = stop - at;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            if (p->operands[i].given)
                gather(p, i, tensors->x[p->operands[i].port], at, n, parts[i]);
        void *out = qdq_chunks_room(&y, at, n);
        const float *floats[2] = {(const float *)(void *)parts[0], (const float *)(void *)parts[1]};
        if (p->whole)
            run_ints(p, (const int32_t *)(void *)parts[0], (const int32_t *)(void *)parts[1], out,
                     n);
        else
            run_floats(p, floats, parts[2], out, n);
    }
    qdq_chunks_end(&y);
}

//---- Lowering ---------------------------------------------------------------

static qdq_shape shape_of(const qdq_op_context *ctx, const qdq_elements *op, size_t which,
                          int port) {
    return which == 1 && op->has_b_shape ? op->b_shape : ctx->inputs[port].type.shape;
}

static operand operand_of(const qdq_op_context *ctx, const qdq_elements *op, size_t which, int port,
                          qdq_shape y) {
    if (port < 0) return (operand){0};
    operand o = {true, ctx->inputs[port].type.dtype, (size_t)port, {0}};
    qdq_shape shape = shape_of(ctx, op, which, port);
    size_t stride = 1;
    for (int i = 1; i <= shape.rank; i++) {
        int64_t dim = shape.dims[shape.rank - i];
        o.strides[y.rank - i] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
    return o;
}

// A broadcast operand as a parameter of the link, which goes with the elements of y.
static qdq_stage_param param_of(const operand *o, qdq_shape y) {
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < y.rank; i++) extents[i] = o->strides[i] || y.dims[i] == 1 ? 1 : y.dims[i];
    qdq_grid grid = qdq_grid_of(y, extents);
    return (qdq_stage_param){.is_int = !qdq_dtype_is_real(o->dtype),
                             .grid = grid,
                             .count = grid.count,
                             .origin = QDQ_FROM_INPUT,
                             .port = o->port};
}

static qdq_stage link_stage(elements_params *p) {
    qdq_stage stage = {.x = p->operands[p->x].port, .params = p, .fn = run_link};
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        if (i == p->x || !p->operands[i].given) continue;
        p->view[i] = stage.stage_param_count;
        stage.stage_params[stage.stage_param_count++] = param_of(&p->operands[i], p->shape);
    }
    return stage;
}

// The function of a chip, if it is known for these dtypes.
static void use_chip(elements_params *p, const qdq_lowering *to) {
    const operand *a = &p->operands[0], *b = &p->operands[1];
    qdq_elementwise_fn *fn =
        qdq_chip_elementwise_find(p->function, to->numerics.multiply_add, a->dtype,
                                  b->given ? b->dtype : a->dtype, p->y_dtype, to->isas);
    p->on_chip = fn != NULL;
    if (fn) p->fn = fn;
}

bool qdq_elements_are_ieee(const qdq_link *link) {
    const elements_params *p = link->params;
    return !p->on_chip;
}

size_t qdq_lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_elements *op,
                          qdq_stage *stages) {
    elements_params *p = QDQ_MEMPOOL_NEW(to->mempool, elements_params);
    if (!p) return 0;
    qdq_type y = ctx->outputs[0];
    const int ports[MAX_OPERANDS] = {op->a, op->b, op->c};
    *p = (elements_params){.fn = qdq_elementwise_find(op->function, to->isas),
                           .numbers = op->numbers,
                           .function = op->function,
                           .y_dtype = y.dtype,
                           .shape = y.shape,
                           .x = MAX_OPERANDS};
    p->whole = !qdq_dtype_is_real(y.dtype);
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        p->operands[i] = operand_of(ctx, op, i, ports[i], y.shape);
        if (!p->operands[i].given) continue;
        p->whole = p->whole && !qdq_dtype_is_real(p->operands[i].dtype);
        if (i < 2 && (p->x == MAX_OPERANDS || (size_t)ports[i] == to->follows) &&
            qdq_shape_equal(ctx->inputs[ports[i]].type.shape, y.shape))
            p->x = i;
    }
    use_chip(p, to);
    size_t count = qdq_shape_count(y.shape);
    stages[0] = p->x < MAX_OPERANDS ? link_stage(p)
                                    : (qdq_stage){.params = p,
                                                  .tensor_op = run_tensor_op,
                                                  .units = (count + UNIT - 1) / UNIT,
                                                  .cost = count,
                                                  .chunks = true};
    return 1;
}
