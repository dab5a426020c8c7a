// SPDX-License-Identifier: Apache-2.0
// QLinearAdd and QLinearMul. A unit is a block of neighbouring codes of y. An operand that has the
// shape of y is read in its place; codes of one that is broadcast are repeated in a buffer.
#include "include/qdq/ops/qlinear.h"
#include "ops/chunks.h"
#include "ops/qlinear/qlinear.h"

enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO };

typedef qdq_qlinear_binary_attrs attrs;

static const qdq_port_desc inputs[] = {QDQ_QLINEAR_PORTS(attrs, a), QDQ_QLINEAR_PORTS(attrs, b),
                                       QDQ_QLINEAR_SCALE_PORTS(attrs, y)};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_BYTES}};

static void infer(qdq_op_context *ctx) {
    qdq_type a = ctx->inputs[A].type, b;
    qdq_check_same_dtype(ctx, B);
    qdq_qlinear_check(ctx, A_SCALE);
    qdq_qlinear_check(ctx, B_SCALE);
    qdq_qlinear_check(ctx, Y_SCALE);
    if (!qdq_has_input(ctx, B)) return;
    b = ctx->inputs[B].type;
    if (qdq_broadcast_shapes(a.shape, b.shape, &a.shape))
        ctx->outputs[0] = a;
    else
        qdq_report_shape(ctx, "b", b.shape,
                         qdq_text(ctx->findings, "one that can be broadcast with %s, as a is",
                                  qdq_shape_text(ctx->findings, ctx->inputs[A].type.shape)));
}

//---- Blocks -----------------------------------------------------------------

enum { BLOCK = 4096 };

typedef qdq_qlinear_operand operand;
typedef struct binary_params binary_params;

// Computes n codes of y.
typedef void block_fn(const binary_params *p, const qdq_qlinear_quant quants[3], const uint8_t *a,
                      const uint8_t *b, uint8_t *y, size_t n);

struct binary_params {
    block_fn *fn;
    qdq_qlinear_form form;
    qdq_dtype dtype;
    bool b_repeats;  // in a run of neighbours in a
    operand a, b;    // in the order in which ONNX Runtime adds them
    qdq_qlinear_source y;
    int rank;  // of y, with neighbouring dims joined
    size_t sizes[QDQ_MAX_RANK];
    size_t count;
};

// Returns codes `at` to at + n - 1 of the operand, broadcast to y.
static const uint8_t *codes_of(const binary_params *p, const operand *o, const qdq_tensors *tensors,
                               size_t at, size_t n, uint8_t *buffer) {
    const uint8_t *x = tensors->x[o->port];
    int last = p->rank - 1;
    if (o->whole) return x + at;
    for (size_t done = 0, run; done < n; done += run) {
        size_t column = (at + done) % p->sizes[last], row = (at + done) / p->sizes[last];
        size_t from = column * o->strides[last];
        for (int i = last - 1; i >= 0; i--) {
            from += row % p->sizes[i] * o->strides[i];
            row /= p->sizes[i];
        }
        run = p->sizes[last] - column;
        if (run > n - done) run = n - done;
        if (o->strides[last])
            memcpy(buffer + done, x + from, run);
        else
            memset(buffer + done, x[from], run);
    }
    return buffer;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const binary_params *p = params;
    const qdq_qlinear_quant quants[3] = {qdq_qlinear_read(&p->a.source, tensors),
                                         qdq_qlinear_read(&p->b.source, tensors),
                                         qdq_qlinear_read(&p->y, tensors)};
    uint8_t a[BLOCK], b[BLOCK];
    qdq_chunks chunks;
    if (!qdq_chunks_wanted(tensors)) return;
    qdq_chunks_begin(&chunks, tensors, p->dtype);
    for (size_t unit = begin; unit < end; unit++) {
        size_t at = unit * BLOCK, n = p->count - at < BLOCK ? p->count - at : BLOCK;
        p->fn(p, quants, codes_of(p, &p->a, tensors, at, n, a),
              codes_of(p, &p->b, tensors, at, n, b), qdq_chunks_room(&chunks, at, n), n);
        qdq_scratch_drop(tensors->poison, a, sizeof a);
        qdq_scratch_drop(tensors->poison, b, sizeof b);
    }
    qdq_chunks_end(&chunks);
}

//---- Lowering ---------------------------------------------------------------

// Returns dim i of the shape, counted from the last one; beyond the first: 1.
static int64_t dim_from_end(qdq_shape shape, int i) {
    return i < shape.rank ? shape.dims[shape.rank - 1 - i] : 1;
}

// True if ONNX Runtime swaps the operands: if one code of a meets a run of codes of b, or if the
// last dims are 1 on both sides up to the end of the shorter shape: then the ranks differ, or both
// operands have one element. [] counts as [1].
static bool exchanges(qdq_shape a, qdq_shape b, bool *b_repeats) {
    int a_rank = a.rank ? a.rank : 1, b_rank = b.rank ? b.rank : 1;
    int i = 0, least = a_rank < b_rank ? a_rank : b_rank;
    while (i < least && dim_from_end(a, i) == 1 && dim_from_end(b, i) == 1) i++;
    bool a_is_one = dim_from_end(a, i) == 1, b_is_one = dim_from_end(b, i) == 1;
    bool swaps = i == least || (a_is_one && !b_is_one);
    *b_repeats = swaps || (b_is_one && !a_is_one);
    return swaps;
}

static operand operand_of(const qdq_op_context *ctx, size_t port, qdq_shape y) {
    qdq_shape x = ctx->inputs[port].type.shape;
    operand o = {.port = port,
                 .source = qdq_qlinear_source_of(ctx, port + 1),
                 .whole = qdq_shape_count(x) == qdq_shape_count(y)};
    size_t stride = 1;
    for (int i = 0; i < x.rank; i++) {
        size_t dim = (size_t)dim_from_end(x, i);
        o.strides[y.rank - 1 - i] = dim > 1 ? stride : 0;
        stride *= dim;
    }
    return o;
}

// True if dim `outer` of an operand continues where its dim `inner` ends.
static bool joins(const operand *o, size_t outer, size_t inner, size_t size) {
    return o->strides[outer] == o->strides[inner] * size;
}

// Drops dims of one element, and joins neighbours that the operands walk alike.
static void set_dims(binary_params *p, qdq_shape y) {
    p->rank = 0;
    for (int i = 0; i < y.rank; i++) {
        size_t size = (size_t)y.dims[i], to = (size_t)p->rank, from = (size_t)i;
        if (size == 1) continue;
        p->sizes[to] = size;
        p->a.strides[to] = p->a.strides[from], p->b.strides[to] = p->b.strides[from];
        if (to && joins(&p->a, to - 1, to, size) && joins(&p->b, to - 1, to, size)) {
            p->sizes[to - 1] *= size;
            p->a.strides[to - 1] = p->a.strides[to], p->b.strides[to - 1] = p->b.strides[to];
        } else {
            p->rank++;
        }
    }
    if (p->rank) return;
    p->rank = 1, p->sizes[0] = 1;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                    block_fn *fn, size_t cost) {
    qdq_type y = ctx->outputs[0];
    binary_params *p = QDQ_MEMPOOL_NEW(to->mempool, binary_params);
    if (!p) return 0;
    *p = (binary_params){.fn = fn,
                         .form = to->numerics.qlinear,
                         .dtype = y.dtype,
                         .y = qdq_qlinear_source_of(ctx, Y_SCALE),
                         .count = qdq_shape_count(y.shape)};
    bool swaps = exchanges(ctx->inputs[A].type.shape, ctx->inputs[B].type.shape, &p->b_repeats);
    p->a = operand_of(ctx, swaps ? B : A, y.shape);
    p->b = operand_of(ctx, swaps ? A : B, y.shape);
    set_dims(p, y.shape);
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + BLOCK - 1) / BLOCK,
                            .cost = cost * p->count,
                            .chunks = true};
    return 1;
}

qdq_qlinear_shown qdq_qlinear_show(const qdq_stage *stage) {
    const binary_params *p = stage->params;
    qdq_qlinear_shown shown = {.form = p->form,
                               .dtype = p->dtype,
                               .b_repeats = p->b_repeats,
                               .a = p->a,
                               .b = p->b,
                               .y = p->y,
                               .rank = p->rank};
    memcpy(shown.sizes, p->sizes, sizeof shown.sizes);
    return shown;
}

//---- QLinearAdd -------------------------------------------------------------

static void add_block(const binary_params *p, const qdq_qlinear_quant quants[3], const uint8_t *a,
                      const uint8_t *b, uint8_t *y, size_t n) {
    const qdq_qlinear_add_params sum = qdq_qlinear_add_of(
        p->form, quants[0], quants[1], quants[2], qdq_qlinear_range_of(p->dtype), p->b_repeats);
    bool is_signed = p->dtype == QDQ_INT8;
    for (size_t i = 0; i < n; i++)
        y[i] = (uint8_t)qdq_qlinear_add_one(&sum, qdq_qlinear_code(is_signed, a[i]),
                                            qdq_qlinear_code(is_signed, b[i]));
}

static size_t lower_add(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower(ctx, to, stages, add_block, 4);
}

const qdq_op qdq_op_qlinear_add = {
    .name = "QLinearAdd",
    .summary = "y = a + b, of codes, as ONNX Runtime's CPU kernels compute it",
    .attrs_size = sizeof(attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = 1,
    .infer = infer,
    .lower = lower_add,
    .by_qlinear = true,
};

//---- QLinearMul -------------------------------------------------------------

static void mul_block(const binary_params *p, const qdq_qlinear_quant quants[3], const uint8_t *a,
                      const uint8_t *b, uint8_t *y, size_t n) {
    const qdq_qlinear_mul_params product = qdq_qlinear_mul_of(
        p->form, quants[0], quants[1], quants[2], qdq_qlinear_range_of(p->dtype));
    bool is_signed = p->dtype == QDQ_INT8;
    for (size_t i = 0; i < n; i++)
        y[i] = (uint8_t)qdq_qlinear_mul_one(&product, qdq_qlinear_code(is_signed, a[i]),
                                            qdq_qlinear_code(is_signed, b[i]));
}

static size_t lower_mul(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower(ctx, to, stages, mul_block, 4);
}

const qdq_op qdq_op_qlinear_mul = {
    .name = "QLinearMul",
    .summary = "y = a * b, of codes, as ONNX Runtime's CPU kernels compute it",
    .attrs_size = sizeof(attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = 1,
    .infer = infer,
    .lower = lower_mul,
    .by_qlinear = true,
};
