// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/layer_norm_order.h"

#include <math.h>

enum { LANES = 8, FOUR = 4 };

static void end_stats(const qdq_part *part, float mean, float variance) {
    const qdq_norm_params *p = part->params;
    if (p->mean) qdq_slice_store(part->tensors, p->mean, p->mean_dtype, part->slice, (double)mean);
    if (p->variance)
        qdq_slice_store(part->tensors, p->variance, p->variance_dtype, part->slice,
                        (double)variance);
}

static float root_of(const qdq_part *part, float variance) {
    const qdq_norm_params *p = part->params;
    return sqrtf(variance + (float)p->epsilon);
}

//---- Eight elements and more --------------------------------------------------

static void end_mean(const qdq_part *part) {
    part->state->normal.mean = (double)(float)qdq_norm_mean(part);
}

// Elements of the lanes; all parts but the last are a multiple of eight long.
static void take_squares(const qdq_part *part) {
    size_t left = part->slice_n / LANES * LANES - part->at;
    size_t n = part->n < left ? part->n : left;
    part->kernels->fused_deviations(&part->state->lanes, part->x, n, part->state->normal.mean);
}

static void end_squares(const qdq_part *part) {
    float own[LANES], mean = (float)part->state->normal.mean;
    for (size_t l = 0; l < LANES; l++) own[l] = (float)part->state->lanes.sums[l];
    for (size_t width = LANES / 2; width; width /= 2)
        for (size_t l = 0; l < width; l++) own[l] += own[l + width];
    size_t rest = part->slice_n % LANES, first = part->n - rest;
    for (size_t i = 0; i < rest; i++) {
        float c = part->x[first + i] - mean;
        if (rest >= FOUR && i < FOUR) {
            float square = c * c;
            own[0] += square;
        } else {
            own[0] = fmaf(c, c, own[0]);
        }
    }
    float variance = own[0] / (float)part->slice_n;
    end_stats(part, mean, variance);
    part->state->normal.scale = (double)(1.0f / root_of(part, variance));
}

static void take_fused_floats(const qdq_part *part, float *y) {
    qdq_norm_take_floats_by(part, part->kernels->fused_normalize, y);
}

static void take_fused_y(const qdq_part *part) { qdq_part_take_widened(part, take_fused_floats); }

static const qdq_slice_op of_many = {
    .passes = {{qdq_norm_begin, qdq_norm_take_sum, end_mean},
               {qdq_norm_begin, take_squares, end_squares},
               {NULL, take_fused_y, NULL}},
    .pass_count = 3,
    .maps = true,
    .take_floats = take_fused_floats,
};

//---- Fewer --------------------------------------------------------------------

static void take_few(const qdq_part *part) {
    float mean = 0, squares = 0;
    for (size_t i = 0; i < part->n; i++) {
        float delta = part->x[i] - mean;
        mean += delta / (float)(i + 1);
        float product = delta * (part->x[i] - mean);
        squares += product;
    }
    float variance = squares / (float)part->slice_n;
    end_stats(part, mean, variance);
    part->state->normal.mean = (double)mean;
    part->state->normal.scale = (double)root_of(part, variance);
}

// `scale` is what is divided by.
static void divide(const float *x, size_t n, const qdq_normal *normal, float *y) {
    float mean = (float)normal->mean, root = (float)normal->scale;
    for (size_t i = 0; i < n; i++) {
        float own = (x[i] - mean) / root;
        if (normal->gamma) own *= normal->gamma[i];
        if (normal->beta) own += normal->beta[i];
        y[i] = own;
    }
}

static void take_divided_floats(const qdq_part *part, float *y) {
    qdq_norm_take_floats_by(part, divide, y);
}

static void take_divided_y(const qdq_part *part) {
    qdq_part_take_widened(part, take_divided_floats);
}

// A part is the whole slice.
static const qdq_slice_op of_few = {
    .passes = {{NULL, take_few, NULL}, {NULL, take_divided_y, NULL}},
    .pass_count = 2,
    .maps = true,
};

const qdq_slice_op *qdq_layer_norm_order_of(size_t n) { return n < LANES ? &of_few : &of_many; }
