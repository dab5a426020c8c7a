// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/value_limits.h"

#include <math.h>

enum { LEAST_CLAMPED = 2 };  // elements at a limit: roundings move a single least element too

void limits_find(value_limits *limits, const float *truth, const float *exact, size_t count) {
    float low = INFINITY, high = -INFINITY;
    size_t below = 0, above = 0;
    limits->low = -INFINITY, limits->high = INFINITY;
    if (!limits->possible) return;
    for (size_t i = 0; i < count; i++) low = fminf(low, truth[i]), high = fmaxf(high, truth[i]);
    for (size_t i = 0; i < count; i++) {
        below += truth[i] == low && exact[i] < low;
        above += truth[i] == high && exact[i] > high;
    }
    if (low < high && below >= LEAST_CLAMPED) limits->low = low;
    if (low < high && above >= LEAST_CLAMPED) limits->high = high;
}

bool limits_exist(const value_limits *limits) {
    return limits->possible && (limits->low > -INFINITY || limits->high < INFINITY);
}

void limits_apply(const value_limits *limits, float *elements, size_t count) {
    for (size_t i = 0; limits_exist(limits) && i < count; i++)
        elements[i] = elements[i] < limits->low    ? limits->low
                      : elements[i] > limits->high ? limits->high
                                                   : elements[i];
}

void limits_apply_to_doubles(const value_limits *limits, double *elements, size_t count) {
    for (size_t i = 0; limits_exist(limits) && i < count; i++)
        elements[i] = elements[i] < (double)limits->low    ? (double)limits->low
                      : elements[i] > (double)limits->high ? (double)limits->high
                                                           : elements[i];
}
