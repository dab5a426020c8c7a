// SPDX-License-Identifier: Apache-2.0
#include "include/qdq/ops/elementwise.h"
#include "ops/blocking.h"
#include "ops/chunks.h"
#include "ops/elementwise/philox.h"
#include "ops/infer.h"
#include "runtime/numerics/dtype.h"

enum { PORT_X, PORT_SEED, PORT_OFFSET, PORT_PROBABILITY };

// int32 and the dtypes of 64 bits.
#define WIDE(E, name, bits, kind, least, greatest, safetensors, npy) \
    | (qdq_dtype_set)((bits) == 64) << QDQ_##E
#define SEEDS (QDQ_SET(INT32) QDQ_DTYPES(WIDE))

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_dropout_attrs, x), false, QDQ_SET_FLOATS},
    {"seed", offsetof(qdq_dropout_attrs, seed), false, SEEDS},
    {"offset", offsetof(qdq_dropout_attrs, offset), false, SEEDS},
    {"probability", offsetof(qdq_dropout_attrs, probability), false, QDQ_SET_FLOATS}};
static const qdq_port_desc outputs[] = {
    {"y", 0, false, QDQ_SET_FLOATS},
    {"mask", offsetof(qdq_dropout_attrs, keep_mask), true, QDQ_SET(UINT8)}};
static const qdq_attr_desc attrs[] = {{"keep_mask", QDQ_ATTR_BOOL,
                                       offsetof(qdq_dropout_attrs, keep_mask), NULL, "false",
                                       "also makes mask: 1 where an element was kept"}};

static void infer(qdq_op_context *ctx) {
    const qdq_dropout_attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[PORT_X].type;
    for (size_t i = PORT_SEED; i <= PORT_PROBABILITY; i++)
        if (!qdq_check_shape(ctx, i, (qdq_shape){0}, "one number")) return;
    ctx->output_count = a->keep_mask == QDQ_TRUE ? 2 : 1;
    ctx->outputs[0] = x;
    ctx->outputs[1] = (qdq_type){QDQ_UINT8, x.shape};
}

typedef struct dropout_params {
    qdq_dtype x_dtype, y_dtype, seed_dtype, offset_dtype, probability_dtype;
    size_t count;
    bool mask;
} dropout_params;

enum { PART = QDQ_DROPOUT_PART, UNIT = QDQ_DROPOUT_UNIT };

static uint64_t whole_number(qdq_dtype dtype, const void *x) {
    if (qdq_dtype_size(dtype) == 8) return *(const uint64_t *)x;
    return (uint64_t)(int64_t)(*(const int32_t *)x);
}

// An element is kept if its random word is above this threshold, p * (2^32 - 1). NaN counts as 0.
static float probability_of(const dropout_params *p, const void *x) {
    float probability;
    qdq_decode_float(p->probability_dtype, x, &probability, 1);
    if (!(probability > 0.0f)) return 0.0f;
    return probability > 1.0f ? 1.0f : probability;
}

static void run(const void *params, const qdq_tensors *tensors, size_t begin, size_t end) {
    const dropout_params *p = params;
    uint64_t seed = whole_number(p->seed_dtype, tensors->x[PORT_SEED]);
    uint64_t offset = whole_number(p->offset_dtype, tensors->x[PORT_OFFSET]);
    float drop = probability_of(p, tensors->x[PORT_PROBABILITY]), factor = 1.0f / (1.0f - drop);
    double least = (double)drop * 4294967295.0;
    qdq_chunks y;
    qdq_chunks_begin(&y, tensors, p->y_dtype);
    uint8_t *mask = p->mask ? tensors->y[1] : NULL;
    size_t stop = end * UNIT < p->count ? end * UNIT : p->count;
    for (size_t at = begin * UNIT, n; at < stop; at += n) {
        float part[PART];
        uint32_t words[4] = {0};
        n = stop - at < PART ? stop - at : PART;
        qdq_decode_float(p->x_dtype,
                         (const char *)tensors->x[PORT_X] + at * qdq_dtype_size(p->x_dtype), part,
                         n);
        for (size_t i = 0; i < n; i++) {
            if (i % 4 == 0) qdq_dropout_words(seed, offset, (at + i) / 4, words);
            bool kept = (double)words[i % 4] > least;
            float scaled = part[i] * factor;
            if (scaled != scaled) scaled = qdq_float_from_bits(0x7FC00000u);
            part[i] = kept ? scaled : 0.0f;
            if (mask) mask[at + i] = kept;
        }
        if (qdq_chunks_wanted(tensors))
            qdq_encode_float(p->y_dtype, part, qdq_chunks_room(&y, at, n), n, NULL);
    }
    qdq_chunks_end(&y);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    dropout_params *p = QDQ_MEMPOOL_NEW(to->mempool, dropout_params);
    if (!p) return 0;
    *p = (dropout_params){.x_dtype = ctx->inputs[PORT_X].type.dtype,
                          .y_dtype = ctx->outputs[0].dtype,
                          .seed_dtype = ctx->inputs[PORT_SEED].type.dtype,
                          .offset_dtype = ctx->inputs[PORT_OFFSET].type.dtype,
                          .probability_dtype = ctx->inputs[PORT_PROBABILITY].type.dtype,
                          .count = qdq_shape_count(ctx->outputs[0].shape),
                          .mask = ctx->output_count > 1};
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = run,
                            .units = (p->count + UNIT - 1) / UNIT,
                            .cost = 16 * p->count,
                            .chunks = true};
    return 1;
}

const qdq_op qdq_op_dropout = {
    .name = "Dropout",
    .summary = "y = x * (1 / (1 - probability)) where a random number keeps an element, else 0",
    .attrs_size = sizeof(qdq_dropout_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
};
