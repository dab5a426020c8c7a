// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/mends.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double gain = 1, half_bit = 3;  // in decibels; smaller gains are not reported

static double quantized(const quantized_numbers *q, double x, double scale, double zero) {
    double code = nearbyint(x / scale) + zero;
    return (fmin(fmax(code, q->least), q->greatest) - zero) * scale;
}

//---- One scale --------------------------------------------------------------

static double ratio_of(const quantized_numbers *q, double scale, double zero, size_t step) {
    double signal = 0, noise = 0;
    for (size_t i = 0; i < q->count; i += step) {
        double error = q->x[i] - quantized(q, q->x[i], scale, zero);
        signal += q->x[i] * q->x[i], noise += error * error;
    }
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

static double ratio_with(const quantized_numbers *q, double scale, double zero) {
    return ratio_of(q, scale, zero, 1);
}

// Finds the best scale from 1/64 to 64 times the given scale, on a sample of the numbers.
static double best_scale(const quantized_numbers *q, double zero, double *ratio) {
    size_t step = q->count / 65536 + 1;
    double best = q->scale, most = ratio_of(q, best, zero, step);
    for (int k = -48; k <= 48; k++) {
        double scale = q->scale * exp2(k / 8.0), now = ratio_of(q, scale, zero, step);
        if (now > most) best = scale, most = now;
    }
    *ratio = ratio_with(q, best, zero);
    return best;
}

static void range_of(const quantized_numbers *q, double *low, double *high) {
    *low = 0, *high = 0;
    for (size_t i = 0; i < q->count; i++) *low = fmin(*low, q->x[i]), *high = fmax(*high, q->x[i]);
}

//---- A scale for each channel -----------------------------------------------

static size_t stride_of(qdq_shape shape, int axis) {
    size_t stride = 1;
    for (int i = axis + 1; i < shape.rank; i++) stride *= (size_t)shape.dims[i];
    return stride;
}

// Returns the ratio with scales that cover each channel's range, and the node's zero point.
static double ratio_by_channel(const quantized_numbers *q, int axis) {
    size_t dim = (size_t)q->shape.dims[axis], stride = stride_of(q->shape, axis);
    double *most = calloc(dim, sizeof *most), signal = 0, noise = 0;
    if (!most) return -INFINITY;
    for (size_t i = 0; i < q->count; i++) {
        double room = q->x[i] < 0 ? q->zero - q->least : q->greatest - q->zero;
        double scale = room > 0 ? fabs(q->x[i]) / room : 0;
        most[i / stride % dim] = fmax(most[i / stride % dim], scale);
    }
    for (size_t i = 0; i < q->count; i++) {
        double scale = most[i / stride % dim];
        double error = q->x[i] - (scale > 0 ? quantized(q, q->x[i], scale, q->zero) : 0);
        signal += q->x[i] * q->x[i], noise += error * error;
    }
    free(most);
    return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

static int best_axis(const quantized_numbers *q, double *ratio) {
    int best = -1;
    *ratio = -INFINITY;
    for (int axis = 0; axis < q->shape.rank; axis++) {
        bool is_dim = q->shape.dims[axis] > 1 && (size_t)q->shape.dims[axis] < q->count;
        double now = is_dim ? ratio_by_channel(q, axis) : -INFINITY;
        if (now > *ratio) best = axis, *ratio = now;
    }
    return best;
}

//---- Choosing ---------------------------------------------------------------

static void say(node_accuracy *out, const char *cause, double mended) {
    snprintf(out->cause, sizeof out->cause, "%s", cause);
    out->mended = mended;
}

static bool mend_channels(const quantized_numbers *q, node_accuracy *out, double least) {
    double ratio;
    int axis = best_axis(q, &ratio);
    if (axis < 0 || ratio < least + half_bit) return false;
    say(out, "per-tensor", ratio);
    snprintf(out->mend, sizeof out->mend, "a scale for each index of axis %d", axis);
    return true;
}

// Mends the zero point: maps the range of the numbers to the codes from least to greatest. False if
// that gains too little.
static bool mend_zero_point(const quantized_numbers *q, node_accuracy *out, double least) {
    double low, high;
    range_of(q, &low, &high);
    double scale = (high - low) / (q->greatest - q->least);
    if (!(scale > 0)) return false;
    double zero = nearbyint(q->least - low / scale), ratio = ratio_with(q, scale, zero);
    if (ratio < least + half_bit) return false;
    say(out, "zero point", ratio);
    snprintf(out->mend, sizeof out->mend, "scale %.6g and zero point %.0f", scale, zero);
    return true;
}

void find_mend(const quantized_numbers *q, node_accuracy *out) {
    if (q->twice) {
        say(out, "double rounding", NAN);
        snprintf(out->mend, sizeof out->mend, "quantize once: leave out the pair before it");
        return;
    }
    double ratio = out->own;
    double scale = q->per_tensor ? best_scale(q, q->zero, &ratio) : 0;
    if (q->per_tensor && q->weights && mend_channels(q, out, fmax(ratio, out->own))) return;
    if (q->per_tensor && mend_zero_point(q, out, fmax(ratio, out->own))) return;
    if (q->per_tensor && ratio > out->own + gain) {
        say(out, scale > q->scale ? "scale too small" : "scale too large", ratio);
        snprintf(out->mend, sizeof out->mend, "scale %.6g instead of %.6g", scale, q->scale);
        return;
    }
    say(out, "resolution", NAN);
    snprintf(out->mend, sizeof out->mend, "more bits: no other scale is better by %.0f dB", gain);
}
