// SPDX-License-Identifier: Apache-2.0
// Elementary functions of float32 as ONNX Runtime computes them on x86-64 with FMA: rational and
// polynomial approximations of float32 operations, each rounded. Written without branches. A NaN
// gives a NaN.
#ifndef QDQ_RUNTIME_NUMERICS_ONNX_RUNTIME_H
#define QDQ_RUNTIME_NUMERICS_ONNX_RUNTIME_H

#include <math.h>

#include "runtime/numerics/elementary.h"
#include "runtime/numerics/fma.h"

static inline float qdq_ort_clamp(float v, float least, float most) {
    v = v < least ? least : v;
    return v > most ? most : v;
}

static inline float qdq_ort_sigmoid(float a) {
    float x = qdq_ort_clamp(a, -18.0f, 18.0f), s = x * x;
    float p = qdq_fmaf(s, 4.37031012579801e-11f, 1.15627324459942e-07f);
    p = qdq_fmaf(p, s, 6.08574864600143e-05f);
    p = qdq_fmaf(p, s, 8.51377133304701e-03f);
    p = qdq_fmaf(p, s, 2.48287947061529e-01f);
    float q = qdq_fmaf(s, 6.10247389755681e-13f, 5.76102136993427e-09f);
    q = qdq_fmaf(q, s, 6.29106785017040e-06f);
    q = qdq_fmaf(q, s, 1.70198817374094e-03f);
    q = qdq_fmaf(q, s, 1.16817656904453e-01f);
    q = qdq_fmaf(q, s, 9.93151921023180e-01f);
    float y = p * x / q + 0.5f;
    return y < 0.0f ? 0.0f : y;
}

static inline float qdq_ort_tanh(float a) {
    float x = qdq_ort_clamp(a, -9.0f, 9.0f), s = x * x;
    float p = qdq_fmaf(s, -2.76076847742355e-16f, 2.00018790482477e-13f);
    p = qdq_fmaf(p, s, -8.60467152213735e-11f);
    p = qdq_fmaf(p, s, 5.12229709037114e-08f);
    p = qdq_fmaf(p, s, 1.48572235717979e-05f);
    p = qdq_fmaf(p, s, 6.37261928875436e-04f);
    p = qdq_fmaf(p, s, 4.89352455891786e-03f);
    float q = qdq_fmaf(s, 1.19825839466702e-06f, 1.18534705686654e-04f);
    q = qdq_fmaf(q, s, 2.26843463243900e-03f);
    q = qdq_fmaf(q, s, 4.89352518554385e-03f);
    return p * x / q;
}

// Within GRU: the same quotient, with wider bounds and each product rounded.
static inline float qdq_ort_tanh_recurrent(float a) {
    float x = qdq_ort_clamp(a, -10.0f, 10.0f), s = x * x;
    float p = s * -2.76076847742355e-16f + 2.00018790482477e-13f;
    p = s * p + -8.60467152213735e-11f;
    p = s * p + 5.12229709037114e-08f;
    p = s * p + 1.48572235717979e-05f;
    p = s * p + 6.37261928875436e-04f;
    p = s * p + 4.89352455891786e-03f;
    float q = s * 1.19825839466702e-06f + 1.18534705686654e-04f;
    q = s * q + 2.26843463243900e-03f;
    q = s * q + 4.89352518554385e-03f;
    return x * p / q;
}

// e^x = 2^m * e^r with r = x - m * ln 2. From -126 to 127, m has one factor; an m beyond has a
// second.
static inline float qdq_ort_exp(float a) {
    const uint32_t bias = 0x3F800000u;
    float x = qdq_ort_clamp(a, -103.9720840454f, 88.7762626647950f);
    float biased = qdq_fmaf(x, 1.44269504088896341f, 0x1.8p23f), m = biased - 0x1.8p23f;
    float r = qdq_fmaf(m, -1.42860677e-6f, qdq_fmaf(m, -6.93145752e-1f, x));
    int32_t all = (int32_t)(qdq_float_bits(biased) << 23), one = all;
    one = one > (int32_t)bias ? (int32_t)bias : one;
    one = one < -0x3F000000 ? -0x3F000000 : one;
    float rest = qdq_float_from_bits((uint32_t)all - (uint32_t)one + bias);
    float p = qdq_fmaf(0x1.694000p-10f, r, 0x1.125edcp-7f);
    p = qdq_fmaf(p, r, 0x1.555b5ap-5f);
    p = qdq_fmaf(p, r, 0x1.555450p-3f);
    p = qdq_fmaf(p, r, 0x1.fffff6p-2f);
    p = qdq_fmaf(p, r, 1.0f);
    return qdq_fmaf(p, r * rest, rest) * qdq_float_from_bits((uint32_t)one + bias);
}

// e^a of Softmax, for a <= 0: p * 2^m with the polynomial p of e^r above. `wide` is the kernel for
// AVX-512, whose results may be denormal. The others are 0 below 2^-126.
static inline float qdq_ort_softmax_exp(float a, bool wide) {
    const uint32_t bias = 0x3F800000u;
    float least = wide ? -103.9720840454f : -88.3762626647949f, x = a < least ? least : a;
    float biased = qdq_fmaf(x, 1.44269504088896341f, 0x1.8p23f), m = biased - 0x1.8p23f;
    float r = qdq_fmaf(m, -1.42860677e-6f, qdq_fmaf(m, -6.93145752e-1f, x));
    float p = qdq_fmaf(0x1.694000p-10f, r, 0x1.125edcp-7f);
    p = qdq_fmaf(p, r, 0x1.555b5ap-5f);
    p = qdq_fmaf(p, r, 0x1.555450p-3f);
    p = qdq_fmaf(p, r, 0x1.fffff6p-2f);
    p = qdq_fmaf(p, r, 1.0f);
    p = qdq_fmaf(p, r, 1.0f);
    uint32_t all = qdq_float_bits(biased) << 23;  // m as an exponent; m = -127 gives the factor 0
    if (!wide) return p * qdq_float_from_bits(all + bias);
    // Two factors. The first product is never denormal, so only the second rounds.
    int32_t whole = (int32_t)all, one = whole < -0x32000000 ? -0x32000000 : whole;
    float near = p * qdq_float_from_bits((uint32_t)one + bias);
    return near * qdq_float_from_bits(all - (uint32_t)one + bias);
}

// x = 2^exponent * m with m from the root of 1/2 to that of 2: exponent * ln 2 + p / q, where p and
// q are polynomials of degree 3 in m - 1.
static inline float qdq_ort_log(float x) {
    float normal = qdq_pick(x < 0x1p-126f, x * 0x1p24f, x);
    uint32_t bits = qdq_float_bits(normal);
    float exponent = (float)(int32_t)(bits >> 23) - qdq_pick(x < 0x1p-126f, 150.0f, 126.0f);
    float m = qdq_float_from_bits((bits & 0x007FFFFFu) | 0x3F000000u);
    bool below = m < 0x1.6a09e6p-1f;
    float d = (m - 1.0f) + qdq_pick(below, m, 0.0f);
    exponent -= qdq_pick(below, 1.0f, 0.0f);
    float p = d * 0.18256296349849254f + 1.0000000190281063f;
    p = (d * p + 1.0000000190281136f) * d;
    float q = d * 0.049616247954120038f + 0.59923249590823520f;
    q = d * (d * q + 1.4999999999999927f) + 1.0f;
    float y = exponent * 0x1.62e430p-1f + p / q;
    y = qdq_pick(x == 0.0f, -INFINITY, y);
    y = qdq_pick(x > FLT_MAX, x, y);
    return qdq_nan_if(!(x >= 0.0f), y);
}

// logf of glibc, which ONNX Runtime calls for elements that fill no vector: x = 2^k * z, where z
// lies in the sixteenth of an octave around c, and a polynomial in r = z / c - 1, in double.
// glibc's forms with and without FMA give the same floats.
typedef struct qdq_libm_log_step {
    double inverse, log;
} qdq_libm_log_step;

static const qdq_libm_log_step qdq_libm_log_steps[] = {
    {0x1.661ec79f8f3bep+0, -0x1.57bf7808caadep-2}, {0x1.571ed4aaf883dp+0, -0x1.2bef0a7c06ddbp-2},
    {0x1.49539f0f010bp+0, -0x1.01eae7f513a67p-2},  {0x1.3c995b0b80385p+0, -0x1.b31d8a68224e9p-3},
    {0x1.30d190c8864a5p+0, -0x1.6574f0ac07758p-3}, {0x1.25e227b0b8eap+0, -0x1.1aa2bc79c81p-3},
    {0x1.1bb4a4a1a343fp+0, -0x1.a4e76ce8c0e5ep-4}, {0x1.12358f08ae5bap+0, -0x1.1973c5a611cccp-4},
    {0x1.0953f419900a7p+0, -0x1.252f438e10c1ep-5}, {0x1p+0, 0x0p+0},
    {0x1.e608cfd9a47acp-1, 0x1.aa5aa5df25984p-5},  {0x1.ca4b31f026aap-1, 0x1.c5e53aa362eb4p-4},
    {0x1.b2036576afce6p-1, 0x1.526e57720db08p-3},  {0x1.9c2d163a1aa2dp-1, 0x1.bc2860d22477p-3},
    {0x1.886e6037841edp-1, 0x1.1058bc8a07ee1p-2},  {0x1.767dcf5534862p-1, 0x1.4043057b6ee09p-2}};

static inline float qdq_libm_log(float x) {
    bool small = x < 0x1p-126f;
    uint32_t bits = qdq_float_bits(qdq_pick(small, x * 0x1p23f, x));
    uint32_t from_least = bits - 0x3F330000u, octaves = from_least & 0xFF800000u;
    int32_t whole = (int32_t)octaves / 0x00800000;
    double k = (double)(whole - (small ? 23 : 0));
    const qdq_libm_log_step *step = &qdq_libm_log_steps[from_least >> 19 & 15];
    double r = (double)qdq_float_from_bits(bits - octaves) * step->inverse - 1.0, s = r * r;
    double y = -0x1.00ea348b88334p-2 * s + (0x1.5575b0be00b6ap-2 * r - 0x1.ffffef20a4123p-2);
    float near = (float)(y * s + ((step->log + k * 0x1.62e42fefa39efp-1) + r));
    near = qdq_pick(x == 0.0f, -INFINITY, near);
    near = qdq_pick(x > FLT_MAX, x, near);
    return qdq_nan_if(!(x >= 0.0f), near);
}

// A polynomial up to 0.92, and above it 1 - e^(a polynomial).
static inline float qdq_ort_erf(float a) {
    float x = fabsf(a), s;
    x = x > 3.925f ? 3.925f : x;
    s = x * x;
    float small = qdq_fmaf(-5.99104969e-4f, s, 4.99339588e-3f);
    small = qdq_fmaf(small, s, -2.67667342e-2f);
    small = qdq_fmaf(small, s, 1.12818025e-1f);
    small = qdq_fmaf(small, s, -3.76124859e-1f);
    small = qdq_fmaf(small, s, 1.28379151e-1f);
    small = qdq_fmaf(small, x, x);
    float large = qdq_fmaf(1.72948930e-5f, x, -3.83208680e-4f);
    large = qdq_fmaf(large, x, 3.88393435e-3f);
    large = qdq_fmaf(large, x, -2.42545605e-2f);
    large = qdq_fmaf(large, x, 1.06777847e-1f);
    large = qdq_fmaf(large, x, 6.34846687e-1f);
    large = qdq_fmaf(large, x, 1.28717512e-1f);
    large = -qdq_fmaf(large, x, x);
    float biased = qdq_fmaf(1.44269504088896341f, large, 0x1.8p23f), m = biased - 0x1.8p23f;
    float r = qdq_fmaf(m, -1.42860677e-6f, qdq_fmaf(-6.93145752e-1f, m, large));
    float p = qdq_fmaf(1.38319808e-3f, r, 8.37550033e-3f);
    p = qdq_fmaf(p, r, 4.16689515e-2f);
    p = qdq_fmaf(p, r, 1.66664466e-1f);
    p = qdq_fmaf(p, r, 4.99999851e-1f);
    p = qdq_fmaf(p, r, 1.0f);
    p = qdq_fmaf(p, r, 1.0f);
    float power = qdq_float_from_bits((qdq_float_bits(biased) << 23) + 0x3F800000u);
    float y = x < 0.921875f ? small : 1.0f - p * power;
    return copysignf(y, a);
}

#endif
