// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/order/layer_norm_order.h"

#include <math.h>

#include "runtime/numerics/fma.h"

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
            own[0] = qdq_fmaf(c, c, own[0]);
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

//---- One pass -----------------------------------------------------------------

// The state has the mean and, as its scale, the sum of squares of the elements so far.
static void begin_one_pass(const qdq_part *part) {
    part->state->normal.mean = part->state->normal.scale = 0;
}

static void take_one_pass(const qdq_part *part) {
    float mean = (float)part->state->normal.mean, squares = (float)part->state->normal.scale;
    for (size_t i = 0; i < part->n; i++) {
        float delta = part->x[i] - mean;
        mean += delta / (float)(part->at + i + 1);
        float product = delta * (part->x[i] - mean);
        squares += product;
    }
    part->state->normal.mean = (double)mean, part->state->normal.scale = (double)squares;
}

static void end_one_pass(const qdq_part *part) {
    float variance = (float)part->state->normal.scale / (float)part->slice_n;
    end_stats(part, (float)part->state->normal.mean, variance);
    part->state->normal.scale = (double)root_of(part, variance);
}

// Divides by `scale`.
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

static const qdq_slice_op one_pass = {
    .passes = {{begin_one_pass, take_one_pass, end_one_pass}, {NULL, take_divided_y, NULL}},
    .pass_count = 2,
    .maps = true,
};

//---- RMSNorm ------------------------------------------------------------------

static void begin_squares(const qdq_part *part) {
    qdq_norm_begin(part);
    part->state->normal.mean = 0;
}

static const qdq_slice_op rms_of_many = {
    .passes = {{begin_squares, take_squares, end_squares}, {NULL, take_fused_y, NULL}},
    .pass_count = 2,
    .maps = true,
    .take_floats = take_fused_floats,
};

static void take_few_squares(const qdq_part *part) {
    float squares = (float)part->state->normal.scale;
    for (size_t i = 0; i < part->n; i++) {
        float square = part->x[i] * part->x[i];
        squares += square;
    }
    part->state->normal.scale = (double)squares;
}

static const qdq_slice_op rms_of_few = {
    .passes = {{begin_one_pass, take_few_squares, end_one_pass}, {NULL, take_divided_y, NULL}},
    .pass_count = 2,
    .maps = true,
};

const qdq_slice_op *qdq_rms_norm_order_of(size_t n) {
    return n < 2 * LANES ? &rms_of_few : &rms_of_many;
}

const qdq_slice_op *qdq_layer_norm_order_of(size_t n, bool in_one_pass) {
    return in_one_pass || n < LANES ? &one_pass : &of_many;
}
