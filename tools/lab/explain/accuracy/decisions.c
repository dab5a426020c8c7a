// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/decisions.h"

#include <math.h>
#include <stdlib.h>

size_t decisions_samples(qdq_shape shape) { return shape.rank > 1 ? (size_t)shape.dims[0] : 1; }

static size_t greatest(const double *x, size_t count) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

size_t decisions_count_alike(const double *a, const double *b, qdq_shape shape) {
    size_t count = qdq_shape_count(shape), samples = decisions_samples(shape), alike = 0;
    size_t row = shape.rank ? (size_t)shape.dims[shape.rank - 1] : 1;
    if (!count || row < 2) return samples;
    for (size_t s = 0; s < samples; s++) {
        size_t at = s * (count / samples), end = at + count / samples;
        while (at < end && greatest(a + at, row) == greatest(b + at, row)) at += row;
        alike += at >= end;
    }
    return alike;
}

double decisions_alike(const double *a, const double *b, qdq_shape shape) {
    size_t samples = decisions_samples(shape);
    return samples ? (double)decisions_count_alike(a, b, shape) / (double)samples : 1;
}

noise_sum decisions_noise(const double *a, const double *b, qdq_shape shape, size_t sample) {
    size_t count = qdq_shape_count(shape) / decisions_samples(shape);
    noise_sum sum = {0};
    noise_sum_add(&sum, a + sample * count, b + sample * count, count);
    return sum;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double decisions_median(const double *a, const double *b, qdq_shape shape) {
    size_t samples = decisions_samples(shape);
    double *ratios = qdq_shape_count(shape) ? malloc(samples * sizeof *ratios) : NULL;
    if (!ratios) return NAN;
    for (size_t s = 0; s < samples; s++) {
        noise_sum sum = decisions_noise(a, b, shape, s);
        ratios[s] = noise_sum_decibels(&sum);
    }
    qsort(ratios, samples, sizeof *ratios, by_size);
    double low = ratios[(samples - 1) / 2], high = ratios[samples / 2];
    free(ratios);
    return low == high ? low : (low + high) / 2;
}
