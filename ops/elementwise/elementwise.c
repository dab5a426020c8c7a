// SPDX-License-Identifier: Apache-2.0
// Lowers elementwise ops: chooses the function, its registers, and whether the stage is a link or a
// tensor op; elements_run.c runs it.
#include "ops/elementwise/elementwise.h"

#include "ops/blocking.h"
#include "ops/elementwise/elements_run.h"
#include "ops/elementwise/sfpu_elements.h"
#include "ops/kernels/elementwise/chip_elementwise.h"
#include "runtime/numerics/dtype.h"

enum { UNIT = QDQ_ELEMENTS_UNIT, MAX_OPERANDS = QDQ_MOST_OPERANDS };

typedef qdq_elements_operand operand;
typedef qdq_elements_layout operand_layout;
typedef qdq_elements_params elements_params;

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
    *stage = (qdq_stage){.x = p->operands[p->x].port, .params = p, .fn = qdq_elements_run_link};
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
            if (operands[k].given &&
                layout->strides[k][i] != (qdq_elements_step(layout, k) ? row : 0))
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

// True if the op can be a link: parameters of links have 32 bits, and a link does not know the
// place of its elements.
static bool fits_link(const elements_params *p) {
    bool wide = p->registers != QDQ_REGISTERS_F32 && p->registers != QDQ_REGISTERS_I32;
    return p->x < MAX_OPERANDS && !(wide && p->operands[1].given) && !p->rest;
}

// Sets the function of the elements that fill no vector of ONNX Runtime.
static void set_rest(elements_params *p, size_t count, uint32_t isas) {
    enum { LANES = 4 };
    if (p->function != QDQ_ELEMENTWISE_log_ort || count % LANES == 0) return;
    p->rest_function = QDQ_ELEMENTWISE_log_libm;
    p->body = count - count % LANES;
    if (p->body == 0)
        p->function = p->rest_function;
    else
        p->rest = qdq_elementwise_find(p->rest_function, p->registers, isas);
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

// Returns the function that oneDNN computes in its own way.
static qdq_elementwise function_of_onednn(qdq_elementwise function, float alpha) {
    if (function == QDQ_ELEMENTWISE_leaky_relu && alpha == 0) return QDQ_ELEMENTWISE_relu_dnn;
    switch ((int)function) {
#define OF_ONEDNN(name) \
    case QDQ_ELEMENTWISE_##name: return QDQ_ELEMENTWISE_##name##_dnn;
        QDQ_ONEDNN_FUNCTIONS(OF_ONEDNN)
#undef OF_ONEDNN
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
                                   const qdq_elements *op) {
    qdq_elementwise function = op->function;
    qdq_float_ops ops = to->numerics.float_ops;
    qdq_dtype x = ctx->inputs[0].type.dtype;
    if (ops == QDQ_FLOAT_OPS_ONEDNN)
        return qdq_dtype_is_real(x) && x != QDQ_FLOAT64
                   ? function_of_onednn(function, op->numbers.alpha)
                   : function;
    bool any_real = function == QDQ_ELEMENTWISE_sign || function == QDQ_ELEMENTWISE_prelu ||
                    function == QDQ_ELEMENTWISE_leaky_relu;
    bool by_runtime = ops && (x == QDQ_FLOAT32 || (any_real && qdq_dtype_is_real(x)));
    // FMAX of aarch64 turns -0 into +0, and Log has FMA there.
    bool on_arm = ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM;
    if (on_arm && (function == QDQ_ELEMENTWISE_relu || function == QDQ_ELEMENTWISE_log))
        return function;
    if (function == QDQ_ELEMENTWISE_pow && !has_one_exponent(ctx)) return function;
    return by_runtime ? function_of_runtime(function) : function;
}

qdq_elements_shown qdq_elements_show(const qdq_stage *stage) {
    const elements_params *p = stage->params;
    if (stage->fn && stage->fn != qdq_elements_run_link)
        return (qdq_elements_shown){.on_chip = true};
    qdq_elements_shown shown = {.function = p->function,
                                .numbers = p->numbers,
                                .registers = p->registers,
                                .y_dtype = p->y_dtype,
                                .on_chip = p->on_chip,
                                .rest = p->rest ? p->rest_function : p->function,
                                .body = p->body};
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
    if (link->fn != qdq_elements_run_link) return QDQ_ELEMENTWISE_COUNT;  // a table
    *numbers = p->numbers;
    return p->plain ? p->function : QDQ_ELEMENTWISE_COUNT;
}

bool qdq_elements_are_ieee(const qdq_link *link) {
    const elements_params *p = link->params;
    return link->fn == qdq_elements_run_link && !p->on_chip;
}

bool qdq_elements_add(const qdq_link *link) {
    qdq_elementwise_numbers numbers;
    return qdq_elements_plain(link, &numbers) == QDQ_ELEMENTWISE_add &&
           link->stage_param_count == 1;
}

size_t qdq_lower_elements(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_elements *op,
                          qdq_stage *stages) {
    const qdq_sfpu_function of = {op->function, op->numbers, op->approximate};
    qdq_sfpu_program program;
    if (qdq_sfpu_program_of(&of, &to->numerics, ctx->inputs[op->a].type.dtype,
                            ctx->outputs[0].dtype, &program))
        return qdq_lower_sfpu(ctx, to, &program, (size_t)op->a, stages);
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
    p->function = function_of(ctx, to, op);
    size_t count = qdq_shape_count(y.shape);
    set_rest(p, count, to->isas);
    p->fn = qdq_elementwise_find(p->function, p->registers, to->isas);
    p->single = qdq_elementwise_single_find(p->function, to->isas);
    use_chip(p, op->function, to);
    p->plain = is_plain(p);
    if (fits_link(p)) return link_stage(p, &layout, to->mempool, &stages[0]) ? 1 : 0;
    layout.row = row_of(&layout, p->operands);
    p->layout = qdq_mempool_copy(to->mempool, &layout, 1, sizeof layout);
    if (!p->layout) return 0;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = qdq_elements_run_tensor_op,
                            .units = (count + UNIT - 1) / UNIT,
                            .cost = count,
                            .chunks = true};
    return 1;
}
