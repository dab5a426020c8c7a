// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/element_order.h"

#include <math.h>

// The state of a slice that is all of x: lanes, four lanes of a packet, the rest.
enum { LANES = 8, PACKET = LANES, FOUR = 4, REST = PACKET + FOUR, SLOTS = REST + FOUR - 1 };
_Static_assert((int)SLOTS <= (int)QDQ_SUM_LANES, "the state fits");

typedef struct element_params {
    qdq_element_kind kind;
    qdq_dtype dtype;  // of y
} element_params;

static qdq_element_kind kind_of(const qdq_part *part) {
    return ((const element_params *)part->params)->kind;
}

static float join(qdq_element_kind kind, float a, float b) {
    return kind == QDQ_FACTORS ? a * b : a + b;
}

static float term(qdq_element_kind kind, float x) {
    return kind == QDQ_MAGNITUDES ? fabsf(x) : kind == QDQ_SQUARES ? x * x : x;
}

// -0 + x is x for all x. A sum of terms -0 is +0.
static void begin(const qdq_part *part) {
    static const double first[] = {-0.0, -0.0, 1.0, 0.0};
    qdq_lanes_fill(&part->state->lanes, first[kind_of(part)]);
}

static void store(const qdq_part *part, float result) {
    const element_params *p = part->params;
    if (p->kind == QDQ_SQUARES) result = sqrtf(result);
    qdq_slice_store(part->tensors, 0, p->dtype, part->slice, (double)result);
}

//---- In order -----------------------------------------------------------------

static void take_in_order(const qdq_part *part) {
    qdq_element_kind kind = kind_of(part);
    float result = (float)part->state->lanes.sums[0];
    for (size_t i = 0; i < part->n; i++) result = join(kind, result, term(kind, part->x[i]));
    part->state->lanes.sums[0] = (double)result;
}

static void end_in_order(const qdq_part *part) { store(part, (float)part->state->lanes.sums[0]); }

static const qdq_slice_op in_order = {.passes = {{begin, take_in_order, end_in_order}},
                                      .pass_count = 1};

//---- All of x -----------------------------------------------------------------

static void take_all(const qdq_part *part) {
    qdq_element_kind kind = kind_of(part);
    size_t lanes = part->slice_n / LANES * LANES, packet = part->slice_n / FOUR * FOUR;
    float own[SLOTS];
    for (size_t l = 0; l < SLOTS; l++) own[l] = (float)part->state->lanes.sums[l];
    for (size_t i = 0; i < part->n; i++) {
        size_t at = part->at + i, slot = REST + at - packet;
        if (at < packet) slot = PACKET + at - lanes;
        if (at < lanes) slot = at % LANES;
        own[slot] = join(kind, own[slot], term(kind, part->x[i]));
    }
    for (size_t l = 0; l < SLOTS; l++) part->state->lanes.sums[l] = (double)own[l];
}

static void end_all(const qdq_part *part) {
    qdq_element_kind kind = kind_of(part);
    float own[SLOTS];
    for (size_t l = 0; l < SLOTS; l++) own[l] = (float)part->state->lanes.sums[l];
    for (size_t l = 0; l < FOUR; l++)
        own[l] = join(kind, join(kind, own[l], own[l + FOUR]), own[PACKET + l]);
    float result = join(kind, join(kind, own[0], own[2]), join(kind, own[1], own[3]));
    for (size_t l = REST; l < SLOTS; l++) result = join(kind, result, own[l]);
    store(part, result);
}

static const qdq_slice_op of_all = {.passes = {{begin, take_all, end_all}}, .pass_count = 1};

//---- Entry --------------------------------------------------------------------

bool qdq_element_order_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_element_kind kind, bool all, qdq_reduce_axes slices,
                             qdq_stage *stage) {
    element_params *p = QDQ_MEMPOOL_NEW(to->mempool, element_params);
    if (!p) return false;
    *p = (element_params){kind, ctx->outputs[0].dtype};
    return qdq_slice_stage(ctx, to, all ? &of_all : &in_order, slices, p, 1, stage);
}
