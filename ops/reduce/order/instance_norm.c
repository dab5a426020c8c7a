// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/instance_norm.h"

#include <math.h>

#include "include/qdq/ops/reduce.h"
#include "ops/reduce/norm.h"
#include "ops/reduce/order/sum_order.h"
#include "runtime/numerics/elementary.h"

enum { AT_ONCE = 64 };

typedef struct instance_params {
    qdq_slice_order order;
    qdq_norm_params norm;
} instance_params;

static float number(const qdq_part *part, qdq_along along) {
    const instance_params *p = part->params;
    return (float)qdq_norm_number(part->tensors, along, part->slice % p->norm.across);
}

static void end_mean(const qdq_part *part) {
    float sum = (float)part->state->lanes.sums[QDQ_ROW_SUM];
    part->state->normal.mean = (double)(sum / (float)part->slice_n);
}

static void take_squares(const qdq_part *part) {
    float sums[QDQ_SUM_LANES], squares[AT_ONCE], mean = (float)part->state->normal.mean;
    qdq_sum_row row = qdq_sum_row_of(0, part->slice_n);
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) sums[l] = (float)part->state->lanes.sums[l];
    for (size_t i = 0, n; i < part->n; i += n) {
        n = part->n - i < AT_ONCE ? part->n - i : AT_ONCE;
        for (size_t k = 0; k < n; k++)
            squares[k] = (part->x[i + k] - mean) * (part->x[i + k] - mean);
        qdq_sum_row_take(sums, &row, squares, part->at + i, part->at + i + n);
    }
    if (part->at + part->n == part->slice_n) qdq_sum_row_end(sums, &row);
    for (size_t l = 0; l < QDQ_SUM_LANES; l++) part->state->lanes.sums[l] = (double)sums[l];
}

// Sets the factor of x and the number that is added to it.
static void end_squares(const qdq_part *part) {
    const instance_params *p = part->params;
    float mean = (float)part->state->normal.mean;
    float variance = (float)part->state->lanes.sums[QDQ_ROW_SUM] / (float)part->slice_n;
    float scale = 1.0f / sqrtf(variance + (float)p->norm.epsilon) * number(part, p->norm.gamma);
    float product = mean * scale;
    part->state->normal.scale = (double)scale;
    part->state->normal.mean = (double)(number(part, p->norm.beta) - product);
}

static void take_floats(const qdq_part *part, float *y) {
    float scale = (float)part->state->normal.scale, shift = (float)part->state->normal.mean;
    for (size_t i = 0; i < part->n; i++) {
        float product = part->x[i] * scale, own = product + shift;
        y[i] = qdq_nan_if(own != own, own);
    }
}

static void take_y(const qdq_part *part) { qdq_part_take_widened(part, take_floats); }

static const qdq_slice_op passes = {
    .passes = {{qdq_sum_begin_rows, qdq_sum_take_rows, end_mean},
               {qdq_sum_begin_rows, take_squares, end_squares},
               {NULL, take_y, NULL}},
    .pass_count = 3,
    .maps = true,
    .take_floats = take_floats,
};

bool qdq_instance_norm_stage(const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_reduce_axes slices, qdq_stage *stage) {
    const qdq_group_norm_attrs *a = ctx->attrs;
    instance_params *p = QDQ_MEMPOOL_NEW(to->mempool, instance_params);
    if (!p) return false;
    *p = (instance_params){.order = {.width = slices.n},
                           .norm = qdq_norm_stats_params(ctx, a->epsilon)};
    p->norm.across = (size_t)a->groups.value;
    return qdq_slice_stage(ctx, to, &passes, slices, p, 4, stage);
}
