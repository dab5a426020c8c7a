// SPDX-License-Identifier: Apache-2.0
// An error e of a channel's weights adds e H e' = |e R|^2 to the error of the result. Element j of
// e R depends on the errors of columns 0 .. j alone, so later weights can compensate the error of
// column j to the end, and only element j itself remains: rounding makes each as small as the codes
// allow. This is GPTQ's spreading of the errors without the inverse of H.
//
// All sums have a fixed order and run over independent elements, so compilers may use vectors, and
// every machine computes the same bits.
#include "tools/lab/quantize/correct_rounding.h"

#include <math.h>

//---- Moments ----------------------------------------------------------------

enum { ROWS = 4 };

void moments_add(double *moments, size_t depth, const double *rows, size_t count) {
    size_t r = 0;
    for (; r + ROWS <= count; r += ROWS) {
        const double *a = rows + r * depth, *b = a + depth, *c = b + depth, *d = c + depth;
        for (size_t i = 0; i < depth; i++) {
            double *sums = moments + i * depth;
            if (a[i] == 0 && b[i] == 0 && c[i] == 0 && d[i] == 0) continue;
            for (size_t j = 0; j <= i; j++) {
                double sum = sums[j] + a[i] * a[j];
                sum += b[i] * b[j];
                sum += c[i] * c[j];
                sums[j] = sum + d[i] * d[j];
            }
        }
    }
    for (; r < count; r++) {
        const double *a = rows + r * depth;
        for (size_t i = 0; i < depth; i++)
            for (size_t j = 0; j <= i; j++) moments[i * depth + j] += a[i] * a[j];
    }
}

//---- The factor -------------------------------------------------------------

enum { PANEL = 8 };

// Subtracts from row `row` the part of rows `begin` .. `end` - 1, the last first.
static void reduce(double *factor, size_t depth, size_t row, size_t begin, size_t end) {
    double *x = factor + row * depth;
    for (size_t m = end; m > begin; m--) {
        const double *y = factor + (m - 1) * depth;
        double times = y[row];
        for (size_t i = 0; i <= row; i++) x[i] -= times * y[i];
    }
}

static bool finish_row(double *factor, size_t depth, size_t row) {
    double *x = factor + row * depth;
    if (!(x[row] > 0) || !isfinite(x[row])) return false;
    x[row] = sqrt(x[row]);
    for (size_t i = 0; i < row; i++) x[i] /= x[row];
    return true;
}

bool moments_factor(double *moments, size_t depth, double damping) {
    double mean = 0;
    for (size_t i = 0; i < depth; i++) mean += moments[i * depth + i];
    mean /= (double)depth;
    if (!(mean > 0)) return false;
    for (size_t i = 0; i < depth; i++) moments[i * depth + i] += damping * mean;
    for (size_t end = depth; end > 0;) {
        size_t begin = end > PANEL ? end - PANEL : 0;
        for (size_t row = end; row > begin; row--) {
            reduce(moments, depth, row - 1, row, end);
            if (!finish_row(moments, depth, row - 1)) return false;
        }
        for (size_t row = 0; row < begin; row++) reduce(moments, depth, row, begin, end);
        end = begin;
    }
    return true;
}

//---- Rounding ---------------------------------------------------------------

void round_by_moments(const double *factor, size_t depth, const rounded_block *block) {
    for (size_t j = 0; j < depth; j++) {
        const double *row = factor + j * depth;
        double sums[ROUNDED_CHANNELS] = {0};
        for (size_t i = 0; i < j; i++)
            for (size_t c = 0; c < ROUNDED_CHANNELS; c++)
                sums[c] += row[i] * block->errors[i * ROUNDED_CHANNELS + c];
        for (size_t c = 0; c < ROUNDED_CHANNELS; c++) {
            size_t at = j * ROUNDED_CHANNELS + c;
            double w = block->weights[at], s = block->scales[at];
            double code = nearbyint((w + sums[c] / row[j]) / s);
            code = fmin(fmax(code, block->least), block->greatest);
            block->codes[at] = (int32_t)code;
            block->errors[at] = w - code * s;
        }
    }
}
