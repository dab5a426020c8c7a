// SPDX-License-Identifier: Apache-2.0
// Table: y = table[x], a function of codes of 8 bits as a table of its 256 results. TOSA's TABLE
// for int8, and the way TensorFlow Lite computes functions such as LOGISTIC. For int16 it is TOSA's
// TABLE too: between 513 results, 128 codes apart, y lies on a line.
#include "include/qdq/ops/quantize.h"
#include "ops/kernels/kernel.h"
#include "ops/movement/movement.h"
#include "ops/quantize/lookup_stages.h"

enum { X, TABLE };
enum { CODES = 256, POINTS = 513, STEP = 128 };  // POINTS, STEP: of int16

#define BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))
#define RESULTS (BYTES | QDQ_SET(INT16) | QDQ_SET(UINT16) | QDQ_SET(INT32) | QDQ_SET(FLOAT32))

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_table_attrs, x), false, BYTES | QDQ_SET(INT16)},
    {"table", offsetof(qdq_table_attrs, table), false, RESULTS},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, RESULTS}};

static void infer(qdq_op_context *ctx) {
    if (!qdq_has_input(ctx, TABLE)) return;
    if (ctx->inputs[X].type.dtype == QDQ_INT16) {
        qdq_check_port_dtype(ctx, "table", ctx->inputs[TABLE].type.dtype, QDQ_SET(INT16));
        qdq_check_shape(ctx, TABLE, QDQ_SHAPE(POINTS), "a result for each 128 codes, and the end");
        ctx->outputs[0] = (qdq_type){QDQ_INT32, ctx->inputs[X].type.shape};
        return;
    }
    qdq_check_shape(ctx, TABLE, QDQ_SHAPE(CODES), "a result for each code");
    ctx->outputs[0] = (qdq_type){ctx->inputs[TABLE].type.dtype, ctx->inputs[X].type.shape};
}

typedef struct table_params {
    qdq_dtype table_dtype, y_dtype;  // they differ with --float-storage
    size_t count;
    uint8_t sign;  // flipped in a code to count it from the least one
} table_params;

// NOLINTBEGIN(bugprone-macro-parentheses): a type
#define PICK(type)                                                                      \
    static void pick_##type(const uint8_t *x, const type *table, uint8_t sign, type *y, \
                            size_t n) {                                                 \
        for (size_t i = 0; i < n; i++) y[i] = table[x[i] ^ sign];                       \
    }
PICK(uint8_t)
PICK(uint16_t)
PICK(uint32_t)
// NOLINTEND(bugprone-macro-parentheses)

static void pick(const table_params *p, const uint8_t *x, const void *table, void *y, size_t n) {
    switch (qdq_dtype_size(p->table_dtype)) {
    case 1: pick_uint8_t(x, table, p->sign, y, n); break;
    case 2: pick_uint16_t(x, table, p->sign, y, n); break;
    default: pick_uint32_t(x, table, p->sign, y, n);
    }
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    enum { PART = 1024 };
    const table_params *p = params;
    const uint8_t *x = tensors->x[X];
    bool same = p->table_dtype == p->y_dtype;
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    uint32_t part[PART];
    qdq_chunks y;
    if (stop > p->count) stop = p->count;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    for (size_t n; at < stop; at += n) {
        n = stop - at < PART ? stop - at : PART;
        void *to = qdq_chunks_room(&y, at, n);
        pick(p, x + at, tensors->x[TABLE], same ? to : part, n);
        if (!same) qdq_move(p->table_dtype, part, p->y_dtype, to, n);
    }
    qdq_chunks_end(&y);
}

// Computes 128 times the line between the results around each code.
static void run_lines(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    enum { PART = 1024 };
    const table_params *p = params;
    const int16_t *x = tensors->x[X], *table = tensors->x[TABLE];
    size_t at = begin * QDQ_MOVE_UNIT, stop = end * QDQ_MOVE_UNIT;
    qdq_chunks chunks;
    if (stop > p->count) stop = p->count;
    qdq_chunks_begin(&chunks, tensors, QDQ_INT32);
    for (size_t n; at < stop; at += n) {
        n = stop - at < PART ? stop - at : PART;
        int32_t *y = qdq_chunks_room(&chunks, at, n);
        for (size_t i = 0; i < n; i++) {
            int32_t from_least = x[at + i] - INT16_MIN;
            const int16_t *line = table + from_least / STEP;
            y[i] = line[0] * STEP + (line[1] - line[0]) * (from_least % STEP);
        }
    }
    qdq_chunks_end(&chunks);
}

// Writes a link, which fuses with others, for constant results of 8 bits.
static bool use_link(const qdq_op_context *ctx, const qdq_lowering *to, uint8_t sign,
                     qdq_stage *stage) {
    uint8_t results[CODES];
    const uint8_t *table = ctx->inputs[TABLE].data;
    for (int i = 0; i < CODES; i++) results[i] = table[i ^ sign];
    *stage = (qdq_stage){0};
    return qdq_use_table(stage, results, ctx->inputs[X].type.dtype, ctx->outputs[0].dtype, to->isas,
                         to->mempool);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_dtype y = ctx->outputs[0].dtype, dtype = ctx->inputs[TABLE].type.dtype;
    uint8_t sign = ctx->inputs[X].type.dtype == QDQ_INT8 ? 0x80 : 0;
    if (ctx->inputs[TABLE].data && qdq_set_has(BYTES, dtype) && !to->plain)
        return use_link(ctx, to, sign, &stages[0]) ? 1 : 0;
    table_params *p = QDQ_MEMPOOL_NEW(to->mempool, table_params);
    if (!p) return 0;
    *p = (table_params){dtype, y, qdq_shape_count(ctx->outputs[0].shape), sign};
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = ctx->inputs[X].type.dtype == QDQ_INT16 ? run_lines : run,
                            .units = qdq_move_units(p->count),
                            .cost = 2 * p->count,
                            .chunks = true};
    return 1;
}

const qdq_op qdq_op_table = {
    .name = "Table",
    .summary = "y = table[x], the result for each code of 8 bits; of 16 bits, on lines between 513 "
               "results",
    .attrs_size = sizeof(qdq_table_attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = sizeof outputs / sizeof outputs[0],
    .infer = infer,
    .lower = lower,
};
