// SPDX-License-Identifier: Apache-2.0
// A fast small_encode with saturation for types of at most 8 bits, for tests that encode millions
// of numbers: the midpoints between neighbouring codes are listed once, then bisected.
#ifndef QDQ_TESTS_SMALL_HALVES_H
#define QDQ_TESTS_SMALL_HALVES_H

#include "tests/small_floats.h"

typedef struct small_halves {
    const small_format *format;
    unsigned largest;
    double half[128];  // half[k] lies between codes k and k + 1, exactly
} small_halves;

// The list of midpoints of a float8 or float4. Not thread-safe.
static inline const small_halves *small_halves_of(qdq_dtype dtype) {
    static small_halves lists[SMALL_FORMATS];
    const small_format *f = small_format_of(dtype);
    if (!f || !small_is_result(f) || f->rule == SMALL_EXPONENT) return NULL;
    small_halves *list = &lists[f - small_formats];
    if (list->format) return list;
    list->format = f, list->largest = small_largest(f);
    for (unsigned k = 0; k < list->largest; k++)
        list->half[k] = (small_magnitude(f, k) + small_magnitude(f, k + 1)) / 2;
    return list;
}

static inline unsigned small_saturated(const small_halves *list, double value) {
    const small_format *f = list->format;
    if (isnan(value)) return small_encode(f, value, QDQ_FLOAT_SATURATE);
    unsigned low = 0, high = list->largest;  // the code lies in [low, high]
    double size = fabs(value);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (size > list->half[middle] || (size == list->half[middle] && (middle & 1)))
            low = middle + 1;
        else
            high = middle;
    }
    bool minus = signbit(value) && !(f->rule == SMALL_FNUZ && low == 0);
    return minus ? low | small_sign(f) : low;
}

#endif
