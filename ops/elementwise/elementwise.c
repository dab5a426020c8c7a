// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/elementwise.h"

#include <math.h>

#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "runtime/numerics/dtype.h"

enum { PART = QDQ_ELEMENTS_PART, UNIT = QDQ_ELEMENTS_UNIT, MAX_OPERANDS = 3 };

typedef struct operand {
    bool given;
    qdq_dtype dtype;
    size_t port;
} operand;

// The places of the operands of an element of y, for a tensor op.
typedef struct operand_layout {
    qdq_shape shape;                             // of y
    size_t strides[MAX_OPERANDS][QDQ_MAX_RANK];  // in elements, per dim of y; 0 if broadcast
    size_t row;  // elements of y whose operands lie contiguously, or are all one
} operand_layout;

typedef struct elements_params {
    qdq_elementwise function;
    qdq_elementwise_fn *fn;
    qdq_elementwise_numbers numbers;
    qdq_registers registers;
    qdq_dtype y_dtype;
    bool on_chip;  // `fn` computes as a chip does
    qdq_elementwise_single single;
    bool plain;  // a link of floats that nothing has to convert
    operand operands[MAX_OPERANDS];
    const operand_layout *layout;  // tensor ops
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

// The dtype that has the form of the registers.
static const qdq_dtype plain_dtypes[] = {[QDQ_REGISTERS_F32] = QDQ_FLOAT32,
                                         [QDQ_REGISTERS_I32] = QDQ_INT32,
                                         [QDQ_REGISTERS_I64] = QDQ_INT64,
                                         [QDQ_REGISTERS_U64] = QDQ_UINT64,
                                         [QDQ_REGISTERS_F64] = QDQ_FLOAT64};

static void to_registers(qdq_registers registers, qdq_dtype dtype, const void *from, void *out,
                         size_t n) {
    if (registers == QDQ_REGISTERS_F32)
        to_floats(dtype, from, out, n);
    else if (registers == QDQ_REGISTERS_I32)
        qdq_decode_int(dtype, from, out, n);
    else
        qdq_decode_wide(dtype, from, out, n);
}

// Computes at most PART elements from contiguous registers.
static void run_part(const elements_params *p, const void *const in[MAX_OPERANDS], void *y,
                     size_t n) {
    uint64_t out[PART];
    bool direct = p->y_dtype == plain_dtypes[p->registers];
    p->fn(&p->numbers, in[0], in[1], in[2], direct ? y : out, n);
    if (direct) return;
    if (p->registers == QDQ_REGISTERS_F32)
        from_floats(p->y_dtype, (const float *)(const void *)out, y, n);
    else if (p->registers == QDQ_REGISTERS_I32)
        qdq_encode_int(p->y_dtype, (const int32_t *)(const void *)out, y, n);
    else
        qdq_encode_wide(p->y_dtype, out, y, n);
}

//---- As a link --------------------------------------------------------------

// Returns the elements at to at + n - 1 of an operand: x itself, or a view. Only x can have 64
// bits. `room` keeps an element that all share from one part to the next.
static const void *link_operand(const elements_params *p, size_t which, const qdq_view *views,
                                const char *x, size_t at, size_t n, uint64_t *room) {
    const operand *o = &p->operands[which];
    if (!o->given) return NULL;
    if (which == p->x) {
        const char *from = x + at * qdq_dtype_size(o->dtype);
        if (o->dtype == plain_dtypes[p->registers]) return from;
        to_registers(p->registers, o->dtype, from, room, n);
        return room;
    }
    const qdq_view *view = &views[p->view[which]];
    bool as_float = p->registers == QDQ_REGISTERS_F32 && which < 2;
    bool convert = as_float && !qdq_dtype_is_real(o->dtype);
    if (view->step && !convert) return view->data + at;
    uint32_t *part = (uint32_t *)(void *)room;
    if (!view->step && at) return part;  // the first part is the longest
    for (size_t i = 0; i < n; i++) {
        uint32_t item = view->data[view->step ? at + i : 0];
        part[i] = convert ? qdq_float_bits((float)(int32_t)item) : item;
    }
    return part;
}

// Computes all elements where they lie. False: an operand must be laid out.
static bool run_plain(const elements_params *p, const qdq_view *views, const void *x, void *y,
                      size_t n) {
    const void *in[MAX_OPERANDS] = {NULL};
    qdq_elementwise_single_fn *single = NULL;
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        if (!p->operands[i].given) continue;
        const qdq_view *view = i == p->x ? NULL : &views[p->view[i]];
        in[i] = view ? (const void *)view->data : x;
        if (!view || view->step) continue;
        single = i == 0 ? p->single.a : i == 1 ? p->single.b : NULL;
        if (!single) return false;
    }
    if (single)
        single(in[0], in[1], y, n);
    else
        p->fn(&p->numbers, in[0], in[1], in[2], y, n);
    return true;
}

static void run_link(const void *params, const qdq_view *views, const void *x, void *y, size_t n) {
    const elements_params *p = params;
    if (p->plain && run_plain(p, views, x, y, n)) return;
    size_t y_size = qdq_dtype_size(p->y_dtype);
    uint64_t parts[MAX_OPERANDS][PART];
    for (size_t at = 0; at < n; at += PART) {
        const void *in[MAX_OPERANDS];
        size_t count = n - at < PART ? n - at : PART;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            in[i] = link_operand(p, i, views, x, at, count, parts[i]);
        run_part(p, in, (char *)y + at * y_size, count);
    }
}

//---- As a tensor op ---------------------------------------------------------

// Used if both operands are broadcast, and for two operands of 64 bits: parameters of links
// have 32. A part never crosses a row.
static size_t operand_at(const operand_layout *layout, size_t which, size_t at) {
    size_t where = 0;
    for (int i = layout->shape.rank - 1; i >= 0; i--) {
        where += at % (size_t)layout->shape.dims[i] * layout->strides[which][i];
        at /= (size_t)layout->shape.dims[i];
    }
    return where;
}

// Returns elements at to at + n - 1 of an operand, in memory or in `room`. `step` 0: one for all.
static const void *gather(const elements_params *p, size_t which, const void *memory, size_t at,
                          size_t n, bool step, void *room) {
    const operand *o = &p->operands[which];
    qdq_registers registers = which < 2 ? p->registers : QDQ_REGISTERS_I32;
    const char *from =
        (const char *)memory + operand_at(p->layout, which, at) * qdq_dtype_size(o->dtype);
    if (step && o->dtype == plain_dtypes[registers]) return from;
    to_registers(registers, o->dtype, from, room, step ? n : 1);
    if (registers == QDQ_REGISTERS_F32 || registers == QDQ_REGISTERS_I32)
        for (size_t i = 1; !step && i < n; i++) ((uint32_t *)room)[i] = *(uint32_t *)room;
    else
        for (size_t i = 1; !step && i < n; i++) ((uint64_t *)room)[i] = *(uint64_t *)room;
    return room;
}

// True if an operand advances within a row of y.
static bool steps(const operand_layout *layout, size_t which) {
    for (int i = layout->shape.rank - 1; i >= 0; i--)
        if (layout->shape.dims[i] > 1) return layout->strides[which][i] != 0;
    return false;
}

static void run_tensor_op(const void *params, const qdq_tensors *tensors, size_t begin,
                          size_t end) {
    const elements_params *p = params;
    size_t count = qdq_shape_count(p->layout->shape);
    size_t stop = end * UNIT < count ? end * UNIT : count, row = p->layout->row;
    uint64_t parts[MAX_OPERANDS][PART];
    bool step[MAX_OPERANDS];
    for (size_t i = 0; i < MAX_OPERANDS; i++) step[i] = steps(p->layout, i);
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t at = begin * UNIT, n; at < stop; at += n) {
        const void *in[MAX_OPERANDS] = {NULL};
        n = row - at % row;
        if (n > PART) n = PART;
        if (n > stop - at) n = stop - at;
        for (size_t i = 0; i < MAX_OPERANDS; i++)
            if (p->operands[i].given)
                in[i] = gather(p, i, tensors->x[p->operands[i].port], at, n, step[i], parts[i]);
        run_part(p, in, qdq_chunks_room(&y, at, n), n);
    }
    qdq_chunks_end(&y);
}

//---- Lowering ---------------------------------------------------------------

static qdq_shape shape_of(const qdq_op_context *ctx, const qdq_elements *op, size_t which,
                          int port) {
    return which == 1 && op->has_b_shape ? op->b_shape : ctx->inputs[port].type.shape;
}

static operand operand_of(const qdq_op_context *ctx, int port) {
    return port < 0 ? (operand){0} : (operand){true, ctx->inputs[port].type.dtype, (size_t)port};
}

static void set_strides(operand_layout *layout, size_t which, qdq_shape shape) {
    size_t stride = 1;
    for (int i = 1; i <= shape.rank; i++) {
        int64_t dim = shape.dims[shape.rank - i];
        layout->strides[which][layout->shape.rank - i] = dim == 1 ? 0 : stride;
        stride *= (size_t)dim;
    }
}

// Returns a broadcast operand as a parameter of the link, which goes with the elements of y. Its
// grid is NULL if memory runs out.
static qdq_stage_param param_of(const operand *o, const size_t *strides, qdq_shape y,
                                qdq_mempool *mempool) {
    int64_t extents[QDQ_MAX_RANK];
    for (int i = 0; i < y.rank; i++) extents[i] = strides[i] || y.dims[i] == 1 ? 1 : y.dims[i];
    qdq_grid grid = qdq_grid_of(y, extents);
    return (qdq_stage_param){.is_int = !qdq_dtype_is_real(o->dtype),
                             .grid = qdq_grid_copy(&grid, mempool),
                             .count = grid.count,
                             .origin = QDQ_FROM_INPUT,
                             .port = o->port};
}

static bool link_stage(elements_params *p, const operand_layout *layout, qdq_mempool *mempool,
                       qdq_stage *stage) {
    *stage = (qdq_stage){.x = p->operands[p->x].port, .params = p, .fn = run_link};
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        if (i == p->x || !p->operands[i].given) continue;
        p->view[i] = stage->stage_param_count;
        qdq_stage_param *param = &stage->stage_params[stage->stage_param_count++];
        *param = param_of(&p->operands[i], layout->strides[i], layout->shape, mempool);
        if (!param->grid) return false;
    }
    return true;
}

// Returns the length of a row of y: the last dims along which each operand is contiguous or one
// element.
static size_t row_of(const operand_layout *layout, const operand *operands) {
    size_t row = 1;
    for (int i = layout->shape.rank - 1; i >= 0; i--) {
        if (layout->shape.dims[i] == 1) continue;
        for (size_t k = 0; row > 1 && k < MAX_OPERANDS; k++)
            if (operands[k].given && layout->strides[k][i] != (steps(layout, k) ? row : 0))
                return row;
        row *= (size_t)layout->shape.dims[i];
    }
    return row;
}

static qdq_registers registers_of(const qdq_op_context *ctx, const elements_params *p) {
    bool whole = !qdq_dtype_is_real(ctx->outputs[0].dtype);
    for (size_t i = 0; i < 2; i++) {
        qdq_dtype dtype = p->operands[i].dtype;
        if (!p->operands[i].given) continue;
        if (dtype == QDQ_FLOAT64) return QDQ_REGISTERS_F64;
        if (dtype == QDQ_UINT64) return QDQ_REGISTERS_U64;
        if (qdq_dtype_is_wide(dtype)) return QDQ_REGISTERS_I64;
        whole = whole && !qdq_dtype_is_real(dtype);
    }
    return whole ? QDQ_REGISTERS_I32 : QDQ_REGISTERS_F32;
}

// True if the op can be a link: parameters of links have 32 bits.
static bool fits_link(const elements_params *p) {
    bool wide = p->registers != QDQ_REGISTERS_F32 && p->registers != QDQ_REGISTERS_I32;
    return p->x < MAX_OPERANDS && !(wide && p->operands[1].given);
}

static bool is_plain(const elements_params *p) {
    if (p->on_chip || p->registers != QDQ_REGISTERS_F32 || p->y_dtype != QDQ_FLOAT32) return false;
    for (size_t i = 0; i < 2; i++) {
        const operand *o = &p->operands[i];
        if (o->given && (i == p->x ? o->dtype != QDQ_FLOAT32 : !qdq_dtype_is_real(o->dtype)))
            return false;
    }
    return true;
}

// Takes the function of a chip, if it is known for these dtypes.
static void use_chip(elements_params *p, qdq_elementwise function, const qdq_lowering *to) {
    const operand *a = &p->operands[0], *b = &p->operands[1];
    qdq_elementwise_fn *fn =
        qdq_chip_elementwise_find(function, to->numerics.multiply_add, a->dtype,
                                  b->given ? b->dtype : a->dtype, p->y_dtype, to->isas);
    p->on_chip = fn != NULL;
    if (fn) p->fn = fn;
}

// Returns the function that ONNX Runtime computes in its own way.
static qdq_elementwise function_of_runtime(qdq_elementwise function) {
    switch ((int)function) {
#define OF_RUNTIME(name) \
    case QDQ_ELEMENTWISE_##name: return QDQ_ELEMENTWISE_##name##_ort;
        QDQ_RUNTIME_FUNCTIONS(OF_RUNTIME)
#undef OF_RUNTIME
    default: return function;
    }
}

// True if ONNX Runtime sees a single exponent for Pow, and so computes a cube by multiplying: the
// exponent has one element, and along the dims of both (the last dim, for a scalar) x has more.
static bool has_one_exponent(const qdq_op_context *ctx) {
    const qdq_shape *x = &ctx->inputs[0].type.shape, *exponent = &ctx->inputs[1].type.shape;
    int common = exponent->rank ? exponent->rank : 1;
    bool more = false;
    for (int i = 1; i <= common && i <= x->rank; i++) more |= x->dims[x->rank - i] > 1;
    return more && qdq_shape_count(*exponent) == 1;
}

static qdq_elementwise function_of(const qdq_op_context *ctx, const qdq_lowering *to,
                                   qdq_elementwise function) {
    qdq_float_ops ops = to->numerics.float_ops;
    bool by_runtime = ops && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    // FMAX of aarch64 turns -0 into +0.
    if (function == QDQ_ELEMENTWISE_relu && ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM) return function;
    if (function == QDQ_ELEMENTWISE_pow && !has_one_exponent(ctx)) return function;
    return by_runtime ? function_of_runtime(function) : function;
}

qdq_elements_shown qdq_elements_show(const qdq_stage *stage) {
    const elements_params *p = stage->params;
    qdq_elements_shown shown = {.function = p->function,
                                .numbers = p->numbers,
                                .registers = p->registers,
                                .y_dtype = p->y_dtype,
                                .on_chip = p->on_chip};
    if (p->layout) shown.shape = p->layout->shape;
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        const operand *o = &p->operands[i];
        shown.operands[i] =
            (qdq_shown_operand){.given = o->given, .dtype = o->dtype, .port = o->port};
        if (p->layout)
            shown.operands[i].strides = p->layout->strides[i];
        else if (o->given && i != p->x)
            shown.operands[i].param = &stage->stage_params[p->view[i]];
    }
    return shown;
}

qdq_elementwise qdq_elements_plain(const qdq_link *link, qdq_elementwise_numbers *numbers) {
    const elements_params *p = link->params;
    if (link->fn != run_link) return QDQ_ELEMENTWISE_COUNT;  // a table
    *numbers = p->numbers;
    return p->plain ? p->function : QDQ_ELEMENTWISE_COUNT;
}

bool qdq_elements_are_ieee(const qdq_link *link) {
    const elements_params *p = link->params;
    return !p->on_chip;
}

bool qdq_elements_add(const qdq_link *link) {
    qdq_elementwise_numbers numbers;
    return qdq_elements_plain(link, &numbers) == QDQ_ELEMENTWISE_add &&
           link->stage_param_count == 1;
}

size_t qdq_lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_elements *op,
                          qdq_stage *stages) {
    elements_params *p = QDQ_MEMPOOL_NEW(to->mempool, elements_params);
    if (!p) return 0;
    qdq_type y = ctx->outputs[0];
    const int ports[MAX_OPERANDS] = {op->a, op->b, op->c};
    *p = (elements_params){.numbers = op->numbers, .y_dtype = y.dtype, .x = MAX_OPERANDS};
    operand_layout layout = {.shape = y.shape};
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        p->operands[i] = operand_of(ctx, ports[i]);
        if (!p->operands[i].given) continue;
        set_strides(&layout, i, shape_of(ctx, op, i, ports[i]));
        if (i < 2 && (p->x == MAX_OPERANDS || (size_t)ports[i] == to->follows) &&
            qdq_shape_equal(ctx->inputs[ports[i]].type.shape, y.shape))
            p->x = i;
    }
    p->registers = registers_of(ctx, p);
    p->function = function_of(ctx, to, op->function);
    p->fn = qdq_elementwise_find(p->function, p->registers, to->isas);
    p->single = qdq_elementwise_single_find(op->function, to->isas);
    use_chip(p, op->function, to);
    p->plain = is_plain(p);
    if (fits_link(p)) return link_stage(p, &layout, to->mempool, &stages[0]) ? 1 : 0;
    layout.row = row_of(&layout, p->operands);
    p->layout = qdq_mempool_copy(to->mempool, &layout, 1, sizeof layout);
    if (!p->layout) return 0;
    size_t count = qdq_shape_count(y.shape);
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run_tensor_op,
                            .units = (count + UNIT - 1) / UNIT,
                            .cost = count,
                            .chunks = true};
    return 1;
}
