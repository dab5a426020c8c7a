// SPDX-License-Identifier: Apache-2.0
// A model of sums of bfloat16 products as docs/ops_neural_network.md defines them, without fma: the
// sum in double and its exact rounding error, rounded to 24 bits with unbounded exponent.
#ifndef QDQ_TESTS_OPS_PRODUCTS_FUSED_MODEL_H
#define QDQ_TESTS_OPS_PRODUCTS_FUSED_MODEL_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline double fused_flushed(float x) {
    return fabs((double)x) < 0x1p-126 ? copysign(0, (double)x) : (double)x;
}

// s + lost rounded to odd: the double that lies between zero and the sum, with its last bit set if
// the sum is not exactly that double.
static inline double fused_odd(double s, double lost) {
    uint64_t bits;
    if (lost == 0) return s;
    memcpy(&bits, &s, sizeof bits);
    if ((lost < 0) != (s < 0)) bits--;
    bits |= 1;
    memcpy(&s, &bits, sizeof s);
    return s;
}

// a and b are bfloat16, so their product is exact in double.
static inline float fused_model(float a, float b, float sum) {
    double p = fused_flushed(a) * fused_flushed(b), c = fused_flushed(sum), s = p + c;
    int exponent;
    if (!isfinite(s) || s == 0) return (float)s;
    double t = s - p, lost = (p - (s - t)) + (c - t);
    double part = frexp(fused_odd(s, lost), &exponent);
    double rounded = ldexp(rint(ldexp(part, 24)), exponent - 24);
    if (fabs(rounded) < 0x1p-126) return copysignf(0, (float)s);
    if (fabs(rounded) >= 0x1p128) return copysignf(INFINITY, (float)s);
    return (float)rounded;
}

// The sum of n products in pairs: the second product of a pair is added first. `has` says which
// products take part; NULL: all.
static inline float fused_sum(const float *a, const float *b, const unsigned char *has, size_t n,
                              float sum) {
    for (size_t i = 0; i < n + n % 2; i++) {
        size_t k = i ^ 1;
        if (k < n && has && !has[k]) continue;
        sum = fused_model(k < n ? a[k] : 0, k < n ? b[k] : 0, sum);
    }
    return sum;
}

#endif
