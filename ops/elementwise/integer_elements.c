// SPDX-License-Identifier: Apache-2.0
// Elementwise operators of TOSA 1.0 that only integers have: MultiplyShift (MUL), ClampInteger,
// NegInteger (NEGATE), ArithmeticShiftRight and CountLeadingZeros. A unit is a block of
// neighbouring elements of y.
#include "include/qdq/ops/integer.h"
#include "ops/chunks.h"
#include "ops/infer.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/integer_one.h"

enum { A, B, X = A, X_ZERO, Y_ZERO, OPERANDS = 2, BLOCK = 1024 };

#define CODES (QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16))
#define SIGNED (QDQ_SET(INT8) | QDQ_SET(INT16) | QDQ_SET(INT32))

//---- Blocks -----------------------------------------------------------------

// The numbers that a function reads beside its operands: a shift, or bounds and zero points.
typedef struct integer_numbers {
    int shift, width;  // width: the bits of an element of a
    bool rounds;
    int32_t least, most, x_zero, y_zero;
} integer_numbers;

typedef int32_t integer_fn(const integer_numbers *numbers, int32_t a, int32_t b);

typedef struct integer_params {
    integer_fn *fn;
    integer_numbers numbers;
    bool has_zero[Y_ZERO + 1];
    size_t operands;
    qdq_dtype x_dtype, y_dtype;
    qdq_shape shape;
    size_t row, count;  // elements of the last dim of y, and of y
    size_t strides[OPERANDS][QDQ_MAX_RANK];
} integer_params;

// Reads the elements that meet `n` elements of a row of y, from element `at` of y on.
static void read_row(const integer_params *p, size_t operand, const void *x, size_t at, size_t n,
                     int32_t *out) {
    size_t from = 0, rest = at;
    bool repeats = false;
    for (int d = p->shape.rank - 1; d >= 0; d--) {
        size_t dim = (size_t)p->shape.dims[d];
        from += rest % dim * p->strides[operand][d];
        rest /= dim;
        if (d == p->shape.rank - 1) repeats = p->strides[operand][d] == 0;
    }
    qdq_decode_int(p->x_dtype, (const char *)x + from * qdq_dtype_size(p->x_dtype), out,
                   repeats ? 1 : n);
    for (size_t i = 1; repeats && i < n; i++) out[i] = out[0];
}

static int32_t zero_of(const integer_params *p, const qdq_tensors *tensors, size_t port) {
    int32_t zero = 0;
    if (p->has_zero[port]) qdq_decode_int(p->x_dtype, tensors->x[port], &zero, 1);
    return zero;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const integer_params *p = params;
    integer_numbers numbers = p->numbers;
    int32_t operands[OPERANDS][BLOCK] = {{0}};
    size_t at = begin * BLOCK, stop = end * BLOCK < p->count ? end * BLOCK : p->count;
    qdq_chunks y;
    numbers.x_zero = zero_of(p, tensors, X_ZERO);
    numbers.y_zero = zero_of(p, tensors, Y_ZERO);
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t n; at < stop; at += n) {
        size_t left = p->row - at % p->row;
        n = stop - at < BLOCK ? stop - at : BLOCK;
        if (left < n) n = left;
        for (size_t k = 0; k < p->operands; k++) read_row(p, k, tensors->x[k], at, n, operands[k]);
        for (size_t i = 0; i < n; i++)
            operands[A][i] = p->fn(&numbers, operands[A][i], operands[B][i]);
        qdq_encode_int(p->y_dtype, operands[A], qdq_chunks_room(&y, at, n), n);
    }
    qdq_chunks_end(&y);
}

static void set_strides(qdq_shape shape, qdq_shape y, size_t *strides) {
    size_t stride = 1;
    for (int i = 1; i <= shape.rank; i++) {
        size_t dim = (size_t)shape.dims[shape.rank - i];
        strides[y.rank - i] = dim == 1 && y.dims[y.rank - i] != 1 ? 0 : stride;
        stride *= dim;
    }
}

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       integer_fn *fn, const integer_numbers *numbers, size_t operands) {
    integer_params *p = QDQ_MEMPOOL_NEW(to->mempool, integer_params);
    qdq_shape y = ctx->outputs[0].shape;
    if (!p) return 0;
    *p = (integer_params){.fn = fn,
                          .numbers = *numbers,
                          .operands = operands,
                          .x_dtype = ctx->inputs[A].type.dtype,
                          .y_dtype = ctx->outputs[0].dtype,
                          .shape = y,
                          .row = y.rank ? (size_t)y.dims[y.rank - 1] : 1,
                          .count = qdq_shape_count(y)};
    p->numbers.width = 8 * (int)qdq_dtype_size(p->x_dtype);
    for (size_t k = 0; k < operands; k++) set_strides(ctx->inputs[k].type.shape, y, p->strides[k]);
    for (size_t k = X_ZERO; operands == 1 && k < ctx->input_count; k++)
        p->has_zero[k] = ctx->inputs[k].given;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + BLOCK - 1) / BLOCK,
                            .cost = 4 * p->count,
                            .chunks = true};
    return 1;
}

//---- Two operands -----------------------------------------------------------

static void infer_broadcast(qdq_op_context *ctx, qdq_dtype dtype) {
    qdq_shape y = ctx->inputs[A].type.shape;
    qdq_check_same_dtype(ctx, B);
    if (!qdq_has_input(ctx, B)) return;
    qdq_shape b = ctx->inputs[B].type.shape;
    if (!qdq_broadcast_shapes(y, b, &y))
        qdq_report_shape(
            ctx, "b", b,
            qdq_text(ctx->findings,
                     "one that goes with a of %s: dims from the last on are equal or 1",
                     qdq_shape_text(ctx->findings, y)));
    ctx->outputs[0] = (qdq_type){dtype, y};
}

typedef qdq_multiply_shift_attrs multiply_attrs;

static const qdq_port_desc multiply_inputs[] = {{"a", offsetof(multiply_attrs, a), false, SIGNED},
                                                {"b", offsetof(multiply_attrs, b), false, SIGNED}};
static const qdq_port_desc multiply_outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};
static const qdq_attr_desc multiply_descs[] = {{"shift", QDQ_ATTR_INT,
                                                offsetof(multiply_attrs, shift), NULL, "0",
                                                "bits of the product to drop, 0 to 63"}};

static void infer_multiply(qdq_op_context *ctx) {
    const multiply_attrs *a = ctx->attrs;
    if (a->shift.set != 0 && (a->shift.value < 0 || a->shift.value > 63))
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "shift",
                             qdq_text_is(ctx->findings, (double)a->shift.value), "0 to 63");
    infer_broadcast(ctx, QDQ_INT32);
}

static int32_t multiply(const integer_numbers *numbers, int32_t a, int32_t b) {
    return qdq_multiply_shift_one(a, b, numbers->shift);
}

static size_t lower_multiply(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const multiply_attrs *a = ctx->attrs;
    const integer_numbers numbers = {.shift = a->shift.set != 0 ? (int)a->shift.value : 0};
    return lower_as(ctx, to, stages, multiply, &numbers, 2);
}

const qdq_op qdq_op_multiply_shift = {
    .name = "MultiplyShift",
    .summary = "y = (a * b + 2^(shift - 1)) >> shift, int32",
    .attrs_size = sizeof(multiply_attrs),
    QDQ_OP_TABLES(multiply_inputs, multiply_outputs, multiply_descs),
    .infer = infer_multiply,
    .lower = lower_multiply,
};

typedef qdq_arithmetic_shift_right_attrs shift_attrs;

static const qdq_port_desc shift_inputs[] = {{"a", offsetof(shift_attrs, a), false, SIGNED},
                                             {"b", offsetof(shift_attrs, b), false, SIGNED}};
static const qdq_port_desc shift_outputs[] = {{"y", 0, false, SIGNED}};
static const qdq_attr_desc shift_descs[] = {{"round", QDQ_ATTR_BOOL, offsetof(shift_attrs, round),
                                             NULL, "false", "half up, instead of down"}};

static void infer_shift(qdq_op_context *ctx) { infer_broadcast(ctx, ctx->inputs[A].type.dtype); }

static int32_t shift_right(const integer_numbers *numbers, int32_t a, int32_t b) {
    return qdq_shift_right_one(a, b, numbers->width, numbers->rounds);
}

static size_t lower_shift(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const shift_attrs *a = ctx->attrs;
    const integer_numbers numbers = {.rounds = a->round == QDQ_TRUE};
    return lower_as(ctx, to, stages, shift_right, &numbers, 2);
}

const qdq_op qdq_op_arithmetic_shift_right = {
    .name = "ArithmeticShiftRight",
    .summary = "y = a >> b with the sign of a",
    .attrs_size = sizeof(shift_attrs),
    QDQ_OP_TABLES(shift_inputs, shift_outputs, shift_descs),
    .infer = infer_shift,
    .lower = lower_shift,
};

//---- One operand ------------------------------------------------------------

typedef qdq_clamp_integer_attrs clamp_attrs;

static const qdq_port_desc clamp_inputs[] = {
    {"x", offsetof(clamp_attrs, x), false, CODES | QDQ_SET(INT32)}};
static const qdq_port_desc clamp_outputs[] = {{"y", 0, false, CODES | QDQ_SET(INT32)}};
static const qdq_attr_desc clamp_descs[] = {
    {"min", QDQ_ATTR_INT, offsetof(clamp_attrs, min), NULL, QDQ_REQUIRED, "least result"},
    {"max", QDQ_ATTR_INT, offsetof(clamp_attrs, max), NULL, QDQ_REQUIRED, "greatest result"}};

static bool check_bound(const qdq_op_context *ctx, const char *name, qdq_int bound, int64_t least,
                        int64_t most) {
    if (!qdq_require_attr(ctx, name, bound.set != 0)) return false;
    if (bound.value >= least && bound.value <= most) return true;
    qdq_report_violation(
        ctx, QDQ_RULE_ATTR_VALUE, name, qdq_text_is(ctx->findings, (double)bound.value),
        qdq_text(ctx->findings, "%lld to %lld", (long long)least, (long long)most));
    return false;
}

static void infer_clamp(qdq_op_context *ctx) {
    const clamp_attrs *a = ctx->attrs;
    const qdq_dtype_info *info = qdq_dtype_get(ctx->inputs[X].type.dtype);
    bool fits = check_bound(ctx, "min", a->min, info->least, info->greatest);
    (void)check_bound(ctx, "max", a->max, fits ? a->min.value : info->least, info->greatest);
    ctx->outputs[0] = ctx->inputs[X].type;
}

static int32_t clamp(const integer_numbers *numbers, int32_t a, int32_t b) {
    (void)b;
    return qdq_clamp_integer_one(a, numbers->least, numbers->most);
}

static size_t lower_clamp(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const clamp_attrs *a = ctx->attrs;
    const integer_numbers numbers = {.least = (int32_t)a->min.value, .most = (int32_t)a->max.value};
    return lower_as(ctx, to, stages, clamp, &numbers, 1);
}

const qdq_op qdq_op_clamp_integer = {
    .name = "ClampInteger",
    .summary = "y = min(max(x, min), max)",
    .attrs_size = sizeof(clamp_attrs),
    QDQ_OP_TABLES(clamp_inputs, clamp_outputs, clamp_descs),
    .infer = infer_clamp,
    .lower = lower_clamp,
};

typedef qdq_neg_integer_attrs neg_attrs;

static const qdq_port_desc neg_inputs[] = {
    {"x", offsetof(neg_attrs, x), false, CODES},
    {"x_zero_point", offsetof(neg_attrs, x_zero_point), true, CODES},
    {"y_zero_point", offsetof(neg_attrs, y_zero_point), true, CODES}};
static const qdq_port_desc neg_outputs[] = {{"y", 0, false, CODES}};

static void infer_neg(qdq_op_context *ctx) {
    for (size_t port = X_ZERO; port <= Y_ZERO; port++) {
        qdq_check_dtype_as(ctx, port, X);
        qdq_check_one(ctx, port);
    }
    ctx->outputs[0] = ctx->inputs[X].type;
}

static int32_t negate(const integer_numbers *numbers, int32_t a, int32_t b) {
    (void)b;
    return qdq_clamp_integer_one((int64_t)numbers->y_zero - ((int64_t)a - numbers->x_zero),
                                 numbers->least, numbers->most);
}

static size_t lower_neg(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_dtype_info *info = qdq_dtype_get(ctx->outputs[0].dtype);
    const integer_numbers numbers = {.least = (int32_t)info->least,
                                     .most = (int32_t)info->greatest};
    return lower_as(ctx, to, stages, negate, &numbers, 1);
}

const qdq_op qdq_op_neg_integer = {
    .name = "NegInteger",
    .summary = "y = y_zero_point - (x - x_zero_point), clamped",
    .attrs_size = sizeof(neg_attrs),
    .inputs = neg_inputs,
    .input_count = sizeof neg_inputs / sizeof neg_inputs[0],
    .outputs = neg_outputs,
    .output_count = 1,
    .infer = infer_neg,
    .looks_at = 1u << X_ZERO | 1u << Y_ZERO,
    .lower = lower_neg,
};

typedef qdq_count_leading_zeros_attrs clz_attrs;

static const qdq_port_desc clz_inputs[] = {{"x", offsetof(clz_attrs, x), false, QDQ_SET(INT32)}};
static const qdq_port_desc clz_outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};

static void infer_clz(qdq_op_context *ctx) { ctx->outputs[0] = ctx->inputs[X].type; }

static int32_t leading_zeros(const integer_numbers *numbers, int32_t a, int32_t b) {
    (void)numbers, (void)b;
    return qdq_leading_zeros_one(a);
}

static size_t lower_clz(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const integer_numbers numbers = {0};
    return lower_as(ctx, to, stages, leading_zeros, &numbers, 1);
}

const qdq_op qdq_op_count_leading_zeros = {
    .name = "CountLeadingZeros",
    .summary = "y = the number of zero bits above the first bit of x that is set",
    .attrs_size = sizeof(clz_attrs),
    .inputs = clz_inputs,
    .input_count = 1,
    .outputs = clz_outputs,
    .output_count = 1,
    .infer = infer_clz,
    .lower = lower_clz,
};
