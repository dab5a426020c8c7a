// SPDX-License-Identifier: Apache-2.0
// The sum that --fast gives a row of floats times dequantized weights, as
// docs/ops_neural_network.md, section 10, defines it.
#ifndef QDQ_TESTS_OPS_FIXED_ROW_H
#define QDQ_TESTS_OPS_FIXED_ROW_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A weight of a column: real is code_less_zero * scale as float32.
typedef struct fixed_weight {
    size_t group;
    int code_less_zero;
    float scale, real;
} fixed_weight;

// Whether every group of k begins with a multiple of eight.
static inline bool fixed_row_applies(const fixed_weight *w, size_t depth) {
    for (size_t k = 1; k < depth; k++)
        if (w[k].group != w[k - 1].group && k % 8) return false;
    return true;
}

// The least power of two from 2^-149 on of which no |a| is more than 8355711; 0: some a is not
// finite.
static inline double fixed_row_unit(const float *a, size_t n) {
    double unit = 0x1p-149;
    for (size_t k = 0; k < n; k++) {
        if (!isfinite(a[k])) return 0;
        while (fabs((double)a[k]) > 8355711 * unit) unit *= 2;
    }
    return unit;
}

// A group of a block of k.
static inline float fixed_row_group(const float *a, const fixed_weight *w, size_t n, double unit,
                                    float sum) {
    int64_t t[3] = {0, 0, 0};
    for (size_t k = 0; k < n; k++) {
        int64_t q = (int64_t)nearbyint((double)a[k] / unit);
        int64_t high = (int64_t)floor(((double)q + 32896) / 65536), rest = q - high * 65536;
        int64_t middle = (int64_t)floor(((double)rest + 128) / 256);
        t[2] += high * w[k].code_less_zero;
        t[1] += middle * w[k].code_less_zero;
        t[0] += (rest - middle * 256) * w[k].code_less_zero;
    }
    volatile float value = fmaf((float)t[2], 65536, fmaf((float)t[1], 256, (float)t[0]));
    value *= (float)unit;
    return fmaf(w->scale, value, sum);
}

static inline float fixed_row_sum(const float *a, const fixed_weight *w, size_t depth) {
    float sum = 0;
    for (size_t block = 0, end; block < depth; block = end) {
        end = block + 128 < depth ? block + 128 : depth;
        double unit = fixed_row_unit(a + block, end - block);
        for (size_t k = block; unit == 0 && k < end; k++) sum = fmaf(a[k], w[k].real, sum);
        for (size_t k = block, stop; unit > 0 && k < end; k = stop) {
            for (stop = k + 1; stop < end && w[stop].group == w[k].group;) stop++;
            sum = fixed_row_group(a + k, w + k, stop - k, unit, sum);
        }
    }
    return sum;
}

#endif
