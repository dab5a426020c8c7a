// SPDX-License-Identifier: Apache-2.0
// A model of the floats of at most 16 bits: float16, bfloat16, float8, float4 and float8_e8m0. The
// table of their formats is from OCP MX, ONNX and IEEE 754. Decoding uses ldexp, encoding searches
// all codes for the nearest; both are exact in double. Nothing here calls the library.
#ifndef QDQ_TESTS_SMALL_FLOATS_H
#define QDQ_TESTS_SMALL_FLOATS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/qdq/numerics.h"

typedef enum small_rule {
    SMALL_IEEE,     // the top exponent is infinity (mantissa 0) and NaN
    SMALL_FN,       // no infinity; all ones is NaN
    SMALL_FNUZ,     // no infinity, no -0: its code is the one NaN
    SMALL_FINITE,   // neither infinity nor NaN
    SMALL_EXPONENT  // float8_e8m0: no sign, no zero, no mantissa; all ones is NaN
} small_rule;

typedef struct small_format {
    qdq_dtype dtype;
    int exponent_bits, mantissa_bits, bias;
    small_rule rule;
} small_format;

static const small_format small_formats[] = {
    {QDQ_FLOAT16, 5, 10, 15, SMALL_IEEE},       {QDQ_BFLOAT16, 8, 7, 127, SMALL_IEEE},
    {QDQ_FLOAT8_E4M3FN, 4, 3, 7, SMALL_FN},     {QDQ_FLOAT8_E5M2, 5, 2, 15, SMALL_IEEE},
    {QDQ_FLOAT8_E4M3FNUZ, 4, 3, 8, SMALL_FNUZ}, {QDQ_FLOAT8_E5M2FNUZ, 5, 2, 16, SMALL_FNUZ},
    {QDQ_FLOAT4_E2M1, 2, 1, 1, SMALL_FINITE},   {QDQ_FLOAT8_E8M0, 8, 0, 127, SMALL_EXPONENT},
};
enum { SMALL_FORMATS = sizeof small_formats / sizeof small_formats[0] };

// NULL for float32 and for dtypes that are no floats.
static inline const small_format *small_format_of(qdq_dtype dtype) {
    for (size_t i = 0; i < SMALL_FORMATS; i++)
        if (small_formats[i].dtype == dtype) return &small_formats[i];
    return NULL;
}

// The sign bit, which is also the number of codes of one sign.
static inline unsigned small_sign(const small_format *f) {
    return 1u << (f->exponent_bits + f->mantissa_bits);
}

static inline unsigned small_codes(const small_format *f) {
    return f->rule == SMALL_EXPONENT ? 256 : 2 * small_sign(f);
}

// Whether Quantize can make the format: float8 and float4.
static inline bool small_is_result(const small_format *f) {
    return f->exponent_bits + f->mantissa_bits <= 7;
}

// The code of the largest finite number.
static inline unsigned small_largest(const small_format *f) {
    unsigned all = small_sign(f) - 1;
    if (f->rule == SMALL_IEEE) return all - (1u << f->mantissa_bits);
    return f->rule == SMALL_FN || f->rule == SMALL_EXPONENT ? all - 1 : all;
}

// The magnitude of a code without its sign, as if the code were neither infinity nor NaN. The code
// after the largest gives the next number that the format would have.
static inline double small_magnitude(const small_format *f, unsigned code) {
    if (f->rule == SMALL_EXPONENT) return ldexp(1, (int)code - f->bias);
    int exponent = (int)(code >> f->mantissa_bits), one = 1 << f->mantissa_bits;
    int mantissa = (int)code & (one - 1);
    if (exponent == 0) return ldexp(mantissa, 1 - f->bias - f->mantissa_bits);
    return ldexp(one + mantissa, exponent - f->bias - f->mantissa_bits);
}

static inline bool small_is_nan(const small_format *f, unsigned code) {
    unsigned sign = small_sign(f), rest = code & (sign - 1);
    switch (f->rule) {
    case SMALL_IEEE: return rest > small_largest(f) + 1;
    case SMALL_FN: return rest > small_largest(f);
    case SMALL_FNUZ: return code == sign;
    case SMALL_EXPONENT: return code == 255;
    default: return false;
    }
}

static inline double small_value(const small_format *f, unsigned code) {
    if (f->rule == SMALL_EXPONENT) return code == 255 ? (double)NAN : small_magnitude(f, code);
    unsigned rest = code & (small_sign(f) - 1);
    double size = small_magnitude(f, rest);
    if (f->rule == SMALL_IEEE && rest == small_largest(f) + 1) size = INFINITY;
    if (small_is_nan(f, code)) size = NAN;
    return code & small_sign(f) ? -size : size;
}

// The code whose magnitude is nearest to `size`, ties to even; at most one after the largest. A
// linear search for codes of up to 8 bits, a bisection for 16 bits.
static inline unsigned small_nearest(const small_format *f, double size) {
    unsigned last = small_largest(f) + 1, first = 0, window = small_codes(f) > 256 ? 4 : 256;
    if (size >= small_magnitude(f, last)) return last;
    while (last - first > window) {
        unsigned middle = (first + last) / 2;
        if (small_magnitude(f, middle) <= size)
            first = middle;
        else
            last = middle;
    }
    unsigned best = first;
    double least = fabs(small_magnitude(f, first) - size);
    for (unsigned code = first + 1; code <= last; code++) {
        double distance = fabs(small_magnitude(f, code) - size);
        if (distance < least || (distance == least && !(code & 1))) best = code, least = distance;
    }
    return best;
}

// Zero becomes the least power of two; negative numbers have no code.
static inline unsigned small_encode_exponent(const small_format *f, double value) {
    if (isnan(value) || value < 0) return 255;
    unsigned code = small_nearest(f, value);
    return code > small_largest(f) ? small_largest(f) : code;
}

// The code of a float32. `mode` matters to float8, and to float4 if it goes through float16.
static inline unsigned small_encode(const small_format *f, double value, qdq_float_overflow mode) {
    if (f->rule == SMALL_EXPONENT) return small_encode_exponent(f, value);
    if (mode == QDQ_FLOAT_THROUGH_FLOAT16 && small_is_result(f)) {
        const small_format *half = small_format_of(QDQ_FLOAT16);
        value = small_value(half, small_encode(half, value, QDQ_FLOAT_OVERFLOW));
    }
    unsigned sign = signbit(value) ? small_sign(f) : 0, largest = small_largest(f);
    unsigned nan = small_sign(f);  // the one NaN of fnuz; -0 of the float4 format, which has no NaN
    if (f->rule == SMALL_IEEE) nan = (largest + 2) | sign;
    if (f->rule == SMALL_FN) nan = (largest + 1) | sign;
    if (isnan(value)) return nan;
    unsigned code = small_nearest(f, fabs(value));
    if (code <= largest) return f->rule == SMALL_FNUZ && code == 0 ? 0 : code | sign;
    if (f->rule == SMALL_FINITE || (small_is_result(f) && mode == QDQ_FLOAT_SATURATE))
        return largest | sign;
    return f->rule == SMALL_IEEE ? (largest + 1) | sign : nan;
}

// Whether two codes mean the same number. NaN codes are all equal, except for the sign where the
// type has one.
static inline bool small_same(const small_format *f, unsigned a, unsigned b) {
    if (!small_is_nan(f, a) || !small_is_nan(f, b)) return a == b;
    return f->rule == SMALL_FNUZ || f->rule == SMALL_EXPONENT ||
           (a & small_sign(f)) == (b & small_sign(f));
}

#endif
