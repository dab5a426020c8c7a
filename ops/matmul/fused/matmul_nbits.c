// SPDX-License-Identifier: Apache-2.0
// MatMulNBits as ONNX Runtime's kernels for AVX2, or for AVX-512 with VNNI, compute it. At accuracy
// level 4 rows of a become int8 in blocks of k, whose integer sums with the codes of b are exact;
// at level 0 floats are multiplied. A unit is 32 columns.
#include <math.h>
#include <string.h>

#include "include/qdq/ops/products.h"
#include "ops/chunks.h"
#include "ops/infer.h"
#include "ops/kernels/gemm/gemm_orders.h"
#include "ops/matmul/fused/nbits_lanes.h"
#include "runtime/base/size.h"
#include "runtime/numerics/dtype.h"

typedef qdq_matmul_nbits_attrs attrs_type;

enum { A, B, B_SCALE, B_ZERO, BIAS };
enum {
    COLUMNS = QDQ_NBITS_COLUMNS,
    LANES = QDQ_NBITS_LANES,
    STEP = QDQ_NBITS_STEP,
    LEAST_BLOCK = 16,
    STEP_BLOCKS = STEP / LEAST_BLOCK,
    ROWS = 8,  // that share unpacked codes
    DEFAULT_BLOCK = 32,
};

#define CODES                                                                          \
    (QDQ_SET(INT2) | QDQ_SET(UINT2) | QDQ_SET(INT4) | QDQ_SET(UINT4) | QDQ_SET(INT8) | \
     QDQ_SET(UINT8))

static const qdq_port_desc inputs[] = {
    {"a", offsetof(attrs_type, a), false, QDQ_SET(FLOAT32)},
    {"b", offsetof(attrs_type, b), false, CODES},
    {"b_scale", offsetof(attrs_type, b_scale), false, QDQ_SET(FLOAT32)},
    {"b_zero_point", offsetof(attrs_type, b_zero_point), true, CODES},
    {"bias", offsetof(attrs_type, bias), true, QDQ_SET(FLOAT32)},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(FLOAT32)}};
static const qdq_attr_desc attrs[] = {
    {"transpose_b", QDQ_ATTR_BOOL, offsetof(attrs_type, transpose_b), NULL, "false",
     "b is [N, K], and parameters of blocks [N, blocks]"},
    {"block_size", QDQ_ATTR_INT, offsetof(attrs_type, block_size), NULL, "32",
     "neighbouring k that become int8 with one scale: a power of two from 16 on"},
    {"accuracy_level", QDQ_ATTR_INT, offsetof(attrs_type, accuracy_level), NULL, "4",
     "4: a becomes int8; 0: products of floats"},
};

//---- Shapes -----------------------------------------------------------------

static size_t block_of(const attrs_type *a) {
    return a->block_size.set != 0 ? (size_t)a->block_size.value : DEFAULT_BLOCK;
}

static bool has_floats(const attrs_type *a) {
    return a->accuracy_level.set != 0 && a->accuracy_level.value == 0;
}

// Returns the number of bits of a code.
static int bits_of(const qdq_op_context *ctx) {
    qdq_dtype codes = ctx->inputs[B].type.dtype;
    if (codes == QDQ_INT2 || codes == QDQ_UINT2) return 2;
    return codes == QDQ_INT4 || codes == QDQ_UINT4 ? 4 : 8;
}

typedef struct sizes {
    size_t m, n, k, depth, blocks;  // depth: k that b has
} sizes;

static sizes sizes_of(const qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    const qdq_shape *x = &ctx->inputs[A].type.shape, *b = &ctx->inputs[B].type.shape;
    bool transposed = a->transpose_b == QDQ_TRUE;
    sizes s = {.m = 1, .k = (size_t)x->dims[x->rank - 1]};
    for (int i = 0; i + 1 < x->rank; i++) s.m *= (size_t)x->dims[i];
    s.n = (size_t)b->dims[transposed ? 0 : 1];
    s.depth = (size_t)b->dims[transposed ? 1 : 0];
    s.blocks = (s.k + block_of(a) - 1) / block_of(a);
    return s;
}

// One number, one for each column, or one for each block of a column.
static bool check_numbers(const qdq_op_context *ctx, size_t port, const sizes *s) {
    const attrs_type *a = ctx->attrs;
    const qdq_operand *of = &ctx->inputs[port];
    const qdq_shape *shape = &of->type.shape;
    if (!of->given || !of->valid) return true;
    size_t rows = a->transpose_b == QDQ_TRUE ? s->n : s->blocks;
    if (qdq_shape_count(*shape) == 1 || (shape->rank == 1 && (size_t)shape->dims[0] == s->n) ||
        (shape->rank == 2 && (size_t)shape->dims[0] == rows &&
         qdq_shape_count(*shape) == s->n * s->blocks))
        return true;
    qdq_report_shape(ctx, ctx->op->inputs[port].name, *shape,
                     "one number, one for each column, or one for each block of a column");
    return false;
}

static void infer(qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    int64_t block = (int64_t)block_of(a);
    const qdq_shape *x = &ctx->inputs[A].type.shape, *b = &ctx->inputs[B].type.shape;
    (void)qdq_check_dtype_as(ctx, B_ZERO, B);
    if (block < LEAST_BLOCK || block > INT32_MAX || (block & (block - 1))) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "block_size",
                             qdq_text(ctx->findings, "is %lld", (long long)block),
                             "a power of two from 16 on");
        return;
    }
    if (a->accuracy_level.set != 0 && a->accuracy_level.value != 4 && !has_floats(a)) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "accuracy_level",
                             qdq_text(ctx->findings, "is %lld", (long long)a->accuracy_level.value),
                             "4 or 0");
        return;
    }
    if (!qdq_has_input(ctx, B)) return;
    if (bits_of(ctx) == 2 && !has_floats(a) && (block < 32 || block > STEP)) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "block_size",
                             qdq_text(ctx->findings, "is %lld", (long long)block),
                             "32, 64 or 128 for codes of 2 bits");
        return;
    }
    if (x->rank < 1 || b->rank != 2) {
        qdq_report_shape(ctx, b->rank != 2 ? "b" : "a", b->rank != 2 ? *b : *x,
                         b->rank != 2 ? "two dims" : "one dim or more");
        return;
    }
    sizes s = sizes_of(ctx);
    if (s.depth < s.k || s.depth > s.blocks * (size_t)block) {
        qdq_report_shape(ctx, "b", *b, "the last dim of a as its depth, or whole blocks");
        return;
    }
    bool fine = check_numbers(ctx, B_SCALE, &s) && check_numbers(ctx, B_ZERO, &s);
    qdq_check_shape(ctx, BIAS, (qdq_shape){1, {(int64_t)s.n}}, "the columns of b");
    if (!fine) return;
    ctx->outputs[0] = (qdq_type){QDQ_FLOAT32, *x};
    ctx->outputs[0].shape.dims[x->rank - 1] = (int64_t)s.n;
}

//---- The operands -----------------------------------------------------------

// The place of the number of a block of a column.
typedef struct numbers {
    size_t block_stride, column_stride;
} numbers;

typedef struct nbits {
    const qdq_gemm_orders *kernel;
    sizes size;
    size_t block, b_depth_stride, b_column_stride;
    numbers scale, zero;
    bool has_bias;
    int offset;  // added to codes so that they are unsigned
    qdq_nbits_order order;
    qdq_dtype a_dtype, scale_dtype, bias_dtype, y_dtype;
} nbits;

// Returns element i of floats, which the plan may store as another dtype than the graph declares.
static inline float real_at(const void *x, qdq_dtype dtype, size_t i) {
    float v;
    if (dtype == QDQ_FLOAT32) return ((const float *)x)[i];
    qdq_widen_float(dtype, (const char *)x + i * qdq_dtype_size(dtype), &v, 1);
    return v;
}

// The codes, zero points and scales of a step of 32 columns.
typedef struct panel {
    uint8_t codes[STEP * COLUMNS], zeros[STEP_BLOCKS * COLUMNS];
    float scales[STEP_BLOCKS * COLUMNS];
    size_t column, columns;
} panel;

static void unpack(const nbits *p, const qdq_tensors *tensors, size_t k, size_t n, panel *to) {
    const int8_t *b = tensors->x[B], *zeros = p->order.has_zero ? tensors->x[B_ZERO] : NULL;
    const void *scales = tensors->x[B_SCALE];
    memset(to->codes, 0, sizeof to->codes);
    memset(to->zeros, 0, sizeof to->zeros);
    memset(to->scales, 0, sizeof to->scales);
    for (size_t i = 0; i < n && k + i < p->size.k; i++)
        for (size_t j = 0; j < to->columns; j++)
            to->codes[i * COLUMNS + j] =
                (uint8_t)(b[(k + i) * p->b_depth_stride + (to->column + j) * p->b_column_stride] +
                          p->offset);
    for (size_t i = 0; i * p->block < n; i++)
        for (size_t j = 0; j < to->columns; j++) {
            size_t block = k / p->block + i, column = to->column + j, at = i * COLUMNS + j;
            to->scales[at] =
                real_at(scales, p->scale_dtype,
                        block * p->scale.block_stride + column * p->scale.column_stride);
            to->zeros[at] = (uint8_t)(zeros ? zeros[block * p->zero.block_stride +
                                                    column * p->zero.column_stride] +
                                                  p->offset
                                            : 1 << (p->order.bits - 1));
        }
}

// A row of a: the scale of its block, and its sums.
typedef struct row {
    float lanes[LANES * COLUMNS], rest[COLUMNS];
    float parts[2][LANES * COLUMNS];  // of the group of blocks at hand, of codes of 2 bits
    float scale, inverse;             // of the block at hand
    int32_t sum;                      // of its q
} row;

// As x86 converts to int32 and narrows it.
static int8_t code_of(float v) {
    v = rintf(v);
    if (!(fabsf(v) < 0x1p31f)) return INT8_MIN;
    return (int8_t)(v > INT8_MAX ? INT8_MAX : v < INT8_MIN ? INT8_MIN : v);
}

// Computes the scale of the block from k on; the row begins at element `at` of a. A NaN gives a NaN
// scale.
static void begin_block(const nbits *p, const void *a, size_t at, size_t k, row *r) {
    size_t end = k + p->block < p->size.k ? k + p->block : p->size.k;
    float most = 0;
    for (size_t i = k; i < end; i++) {
        float size = fabsf(real_at(a, p->a_dtype, at + i));
        most = size > most || isnan(size) ? size : most;
        if (isnan(most)) break;
    }
    r->scale = most / 127.0f;
    r->inverse = most != 0 ? 127.0f / most : 0;
    r->sum = 0;
}

//---- Steps ------------------------------------------------------------------

// The step of a row of floats.
static void run_floats(const nbits *p, const panel *o, const void *a, size_t at, size_t k,
                       size_t size, row *r) {
    float x[STEP];
    size_t rest = k < p->size.k ? p->size.k - k : 0, count = rest < size ? rest : size;
    for (size_t i = 0; i < count; i++) x[i] = real_at(a, p->a_dtype, at + k + i);
    p->kernel->nbits_floats(&(qdq_nbits_floats){.a = x,
                                                .count = count,
                                                .lanes = p->order.lanes,
                                                .block = p->block,
                                                .codes = o->codes,
                                                .scales = o->scales,
                                                .zeros = o->zeros},
                            r->lanes);
}

// Adds a block of codes of 2 bits, number `block`, to the lanes of a row.
static void add_pair(const nbits *p, const qdq_nbits_step *s, size_t block, size_t chained,
                     row *r) {
    enum { GROUP = 4 };
    float *part = r->parts[block % 2];
    bool last = block % GROUP == GROUP - 1 || block + 1 == p->size.blocks;
    for (size_t l = 0; l < s->lanes; l++)
        memcpy(part + l * COLUMNS, r->lanes + l * COLUMNS, chained * sizeof *part);
    p->kernel->nbits_step(s, part);
    for (size_t l = 0; l < s->lanes; l++) {
        memcpy(r->lanes + l * COLUMNS, part + l * COLUMNS, chained * sizeof *part);
        for (size_t i = l * COLUMNS + chained; last && i < (l + 1) * COLUMNS; i++)
            r->lanes[i] += r->parts[0][i] + r->parts[1][i];
    }
    if (last) memset(r->parts, 0, sizeof r->parts);
}

// The step of a row: its codes, their products, and the zero points of blocks that end.
static void run_step(const nbits *p, const panel *o, const void *a, size_t number, size_t k,
                     size_t size, row *r) {
    size_t at = number * p->size.k;
    int8_t q[STEP] = {0};
    float scales[STEP_BLOCKS];
    qdq_nbits_step s = {.q = q,
                        .codes = o->codes,
                        .a_scales = scales,
                        .scales = o->scales,
                        .zeros = p->order.inside ? o->zeros : NULL};
    float ends[STEP_BLOCKS] = {0};
    for (size_t i = 0; i < size; i++) {
        if ((k + i) % p->block == 0) begin_block(p, a, at, k + i, r);
        if (k + i < p->size.k) q[i] = code_of(real_at(a, p->a_dtype, at + k + i) * r->inverse);
        r->sum += q[i];
        scales[i / p->block] = r->scale;
        ends[i / p->block] = r->scale * (float)r->sum;
    }
    qdq_nbits_lay_lanes(&p->order, size, &s);
    if (p->order.bits == 2)
        add_pair(p, &s, k / p->block, qdq_nbits_chained(&p->order, number, o->column, o->columns),
                 r);
    else
        p->kernel->nbits_step(&s, r->lanes);
    for (size_t i = 0; i < size && !p->order.inside; i += p->block)
        if (p->block <= size || (k + size) % p->block == 0)
            p->kernel->nbits_zero(ends[i / p->block], o->scales + i / p->block * COLUMNS,
                                  o->zeros + i / p->block * COLUMNS, r->rest);
}

// Writes the columns of row number `number`.
static void finish(const nbits *p, const qdq_tensors *tensors, const panel *o, size_t number,
                   row *r, void *y) {
    const void *bias = p->has_bias ? tensors->x[BIAS] : NULL;
    float results[COLUMNS];
    for (size_t j = 0; j < o->columns; j++) {
        size_t column = o->column + j;
        float v = qdq_nbits_sum(&p->order, r->lanes + j, number, column);
        if (bias) v += real_at(bias, p->bias_dtype, column);
        if (!p->order.inside && !p->order.floats) v += r->rest[j];
        results[j] = isnan(v) ? NAN : v;
    }
    qdq_encode_float(p->y_dtype, results, y, o->columns, NULL);
}

static void run_rows(const nbits *p, const qdq_tensors *tensors, size_t first, size_t count,
                     panel *o, row *rows) {
    memset(rows, 0, count * sizeof *rows);
    for (size_t k = 0, size; k < p->size.blocks * p->block; k += size) {
        size = qdq_nbits_step_size(&p->order, k);
        unpack(p, tensors, k, size, o);
        for (size_t i = 0; i < count; i++) {
            if (qdq_nbits_halves_early(&p->order) && size < STEP) qdq_nbits_halve(rows[i].lanes);
            if (p->order.floats)
                run_floats(p, o, tensors->x[A], (first + i) * p->size.k, k, size, &rows[i]);
            else
                run_step(p, o, tensors->x[A], first + i, k, size, &rows[i]);
        }
    }
    for (size_t i = 0; i < count && qdq_nbits_halves_early(&p->order); i++)
        qdq_nbits_halve(rows[i].lanes);
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const nbits *p = params;
    qdq_chunks chunks;
    panel o;
    row rows[ROWS];
    if (!qdq_chunks_wanted(tensors)) return;
    qdq_chunks_begin(&chunks, tensors, p->y_dtype);
    for (size_t unit = begin; unit < end; unit++) {
        o.column = unit * COLUMNS;
        o.columns = p->size.n - o.column < COLUMNS ? p->size.n - o.column : COLUMNS;
        for (size_t first = 0; first < p->size.m; first += ROWS) {
            size_t count = p->size.m - first < ROWS ? p->size.m - first : ROWS;
            run_rows(p, tensors, first, count, &o, rows);
            for (size_t i = 0; i < count; i++)
                finish(p, tensors, &o, first + i, &rows[i],
                       qdq_chunks_room(&chunks, (first + i) * p->size.n + o.column, o.columns));
        }
    }
    qdq_chunks_end(&chunks);
}

//---- Lowering ---------------------------------------------------------------

static numbers numbers_of(const qdq_op_context *ctx, size_t port, const sizes *s) {
    const attrs_type *a = ctx->attrs;
    const qdq_shape *shape = &ctx->inputs[port].type.shape;
    if (!ctx->inputs[port].given || qdq_shape_count(*shape) == 1) return (numbers){0, 0};
    if (shape->rank == 1) return (numbers){0, 1};
    return a->transpose_b == QDQ_TRUE ? (numbers){1, s->blocks} : (numbers){s->n, 1};
}

// Returns the block to run with. A block that holds all of k ends where a smaller one does; 256 is
// the largest that ONNX Runtime has.
static size_t block_to_run(size_t block, size_t k) {
    enum { MOST = 256 };
    while (block / 2 >= MOST && block / 2 >= k) block /= 2;
    return block;
}

// Returns the lanes of a product of a single row of floats.
static size_t lanes_of_row(qdq_float_ops ops) {
    if (ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512) return LANES;
    return ops == QDQ_FLOAT_OPS_ONNX_RUNTIME ? LANES / 2 : 1;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype codes = ctx->inputs[B].type.dtype;
    bool transposed = a->transpose_b == QDQ_TRUE;
    nbits *p = QDQ_MEMPOOL_NEW(to->mempool, nbits);
    if (!p) return 0;
    *p = (nbits){.kernel = qdq_gemm_orders_find(to->isas),
                 .size = sizes_of(ctx),
                 .block = block_to_run(block_of(a), sizes_of(ctx).k),
                 .has_bias = ctx->inputs[BIAS].given,
                 .a_dtype = ctx->inputs[A].type.dtype,
                 .scale_dtype = ctx->inputs[B_SCALE].type.dtype,
                 .bias_dtype = ctx->inputs[BIAS].type.dtype,
                 .y_dtype = ctx->outputs[0].dtype,
                 .order = {.bits = bits_of(ctx), .has_zero = ctx->inputs[B_ZERO].given}};
    p->order.rows = p->size.m, p->order.columns = p->size.n;
    p->order.block = p->block, p->order.blocks = p->size.blocks;
    p->offset =
        codes == QDQ_INT2 || codes == QDQ_INT4 || codes == QDQ_INT8 ? 1 << (p->order.bits - 1) : 0;
    p->order.wide = to->numerics.float_ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512 &&
                    to->numerics.pair_sums == QDQ_PAIR_SUMS_EXACT;
    p->order.floats = has_floats(a);
    p->order.lanes = p->size.m == 1 ? lanes_of_row(to->numerics.float_ops) : 1;
    p->order.inside = !p->order.wide && p->order.bits == 4 && p->size.m == 1 && p->block >= 32;
    p->b_depth_stride = transposed ? 1 : p->size.n;
    p->b_column_stride = transposed ? p->size.depth : 1;
    p->scale = numbers_of(ctx, B_SCALE, &p->size);
    p->zero = numbers_of(ctx, B_ZERO, &p->size);
    size_t units = (p->size.n + COLUMNS - 1) / COLUMNS;
    stages[0] = (qdq_stage){
        .params = p,
        .tensor_op = run,
        .chunks = true,
        .units = units,
        .cost = qdq_size_times(qdq_size_times(p->size.m, p->size.n), p->size.blocks * p->block)};
    return 1;
}

const qdq_op qdq_op_matmul_nbits = {
    .name = "MatMulNBits",
    .summary = "y = a * (b - b_zero_point) * b_scale + bias, with a as int8 in blocks, or float",
    .attrs_size = sizeof(attrs_type),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_float_ops = true,
    .by_pair_sums = true,
};
