// SPDX-License-Identifier: Apache-2.0
// The functions of runtime/numerics/onnx_runtime.h in vectors, operation by operation. Compilers
// turn the two comparisons of a clamp into selections among three results, which takes half as long
// again.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_RUNTIME_VECTORS_INC_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_RUNTIME_VECTORS_INC_H

#include <stddef.h>

#include "ops/kernels/elementwise/quick_vectors.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Parts ------------------------------------------------------------------

// ((c[0] * x + c[1]) * x + ...) + c[n - 1]
static inline quick_floats runtime_polynomial(quick_floats x, const float *c, size_t n) {
    quick_floats y = quick_same(c[0]);
    for (size_t i = 1; i < n; i++) y = quick_fused(y, x, quick_same(c[i]));
    return y;
}
#define RUNTIME_POLYNOMIAL(x, c) runtime_polynomial(x, c, sizeof(c) / sizeof *(c))

// The same with each product rounded.
static inline quick_floats runtime_rounded(quick_floats x, const float *c, size_t n) {
    quick_floats y = quick_same(c[0]);
    for (size_t i = 1; i < n; i++) y = y * x + quick_same(c[i]);
    return y;
}
#define RUNTIME_ROUNDED(x, c) runtime_rounded(x, c, sizeof(c) / sizeof *(c))

// x = whole * ln 2 + rest; `power` has the bits of 2^whole, for whole from -126 to 127.
//
// The bias of the exponent is added with the constant that rounds to a whole number. This could
// change the rounding of ties alone. There are none: the factor of x has 24 bits, the last one odd,
// so a multiple of it by an integer below 2^24 is not an odd number below 2^23.
typedef struct runtime_exp_parts {
    quick_ints power;
    quick_floats whole, rest;
} runtime_exp_parts;

static inline runtime_exp_parts runtime_exp_split(quick_floats x) {
    quick_floats to_whole = quick_same(0x1.8p23f + 127.0f);
    quick_floats biased = quick_fused(x, quick_same(1.44269504088896341f), to_whole);
    quick_floats m = biased - to_whole;
    quick_floats rest = quick_fused(m, quick_same(-6.93145752e-1f), x);
    return (runtime_exp_parts){quick_to_exponents(quick_bits(biased)), m,
                               quick_fused(m, quick_same(-1.42860677e-6f), rest)};
}

static const float runtime_exp_c[] = {
    0x1.694000p-10f, 0x1.125edcp-7f, 0x1.555b5ap-5f, 0x1.555450p-3f, 0x1.fffff6p-2f, 1.0f, 1.0f};

// y * 2^whole, rounded once, for y near 1 and whole from -150 to 128. The first of two factors
// changes the exponent alone.
static inline quick_floats runtime_scaled(quick_floats y, runtime_exp_parts e) {
#if defined(__AVX512F__)
    return _mm512_scalef_ps(y, e.whole);
#else
    quick_ints last = quick_ints_clamp(e.power, 0x00800000, 0x7F000000);
    quick_ints first = quick_ints_subtract(e.power, last);
    y = y * quick_from_bits(quick_ints_add(first, quick_ints_same(0x3F800000)));
    return y * quick_from_bits(last);
#endif
}

//---- Functions --------------------------------------------------------------

static inline quick_floats runtime_sigmoid_ort(quick_floats a) {
    static const float p[] = {4.37031012579801e-11f, 1.15627324459942e-07f, 6.08574864600143e-05f,
                              8.51377133304701e-03f, 2.48287947061529e-01f};
    static const float q[] = {6.10247389755681e-13f, 5.76102136993427e-09f, 6.29106785017040e-06f,
                              1.70198817374094e-03f, 1.16817656904453e-01f, 9.93151921023180e-01f};
    quick_floats x = quick_clamp(a, -18.0f, 18.0f), s = x * x;
    quick_floats above = RUNTIME_POLYNOMIAL(s, p) * x;
    return quick_greater(quick_same(0.0f), above / RUNTIME_POLYNOMIAL(s, q) + quick_same(0.5f));
}

static const float runtime_tanh_p[] = {
    -2.76076847742355e-16f, 2.00018790482477e-13f, -8.60467152213735e-11f, 5.12229709037114e-08f,
    1.48572235717979e-05f,  6.37261928875436e-04f, 4.89352455891786e-03f};
static const float runtime_tanh_q[] = {1.19825839466702e-06f, 1.18534705686654e-04f,
                                       2.26843463243900e-03f, 4.89352518554385e-03f};

static inline quick_floats runtime_tanh_ort(quick_floats a) {
    quick_floats x = quick_clamp(a, -9.0f, 9.0f), s = x * x;
    return RUNTIME_POLYNOMIAL(s, runtime_tanh_p) * x / RUNTIME_POLYNOMIAL(s, runtime_tanh_q);
}

static inline quick_floats runtime_tanh_recurrent(quick_floats a) {
    quick_floats x = quick_clamp(a, -10.0f, 10.0f), s = x * x;
    return RUNTIME_ROUNDED(s, runtime_tanh_p) * x / RUNTIME_ROUNDED(s, runtime_tanh_q);
}

static inline quick_floats runtime_exp_ort(quick_floats a) {
    runtime_exp_parts e = runtime_exp_split(quick_clamp(a, -103.9720840454f, 88.7762626647950f));
    return runtime_scaled(RUNTIME_POLYNOMIAL(e.rest, runtime_exp_c), e);
}

static inline quick_floats runtime_erf_ort(quick_floats a) {
    static const float below[] = {-5.99104969e-4f, 4.99339588e-3f,  -2.67667342e-2f,
                                  1.12818025e-1f,  -3.76124859e-1f, 1.28379151e-1f};
    static const float above[] = {1.72948930e-5f, -3.83208680e-4f, 3.88393435e-3f, -2.42545605e-2f,
                                  1.06777847e-1f, 6.34846687e-1f,  1.28717512e-1f};
    static const float power[] = {
        1.38319808e-3f, 8.37550033e-3f, 4.16689515e-2f, 1.66664466e-1f, 4.99999851e-1f, 1.0f, 1.0f};
    quick_floats size = quick_size(a), x = quick_clamp(size, 0.0f, 3.925f), s = x * x;
    quick_floats small = quick_fused(RUNTIME_POLYNOMIAL(s, below), x, x);
    quick_floats large = -quick_fused(RUNTIME_POLYNOMIAL(x, above), x, x);
    runtime_exp_parts e = runtime_exp_split(large);
    quick_floats e_large = RUNTIME_POLYNOMIAL(e.rest, power) * quick_from_bits(e.power);
    quick_floats y = quick_pick_less(x, 0.921875f, small, quick_same(1.0f) - e_large);
    return quick_sign_of(a, y);
}

static inline quick_floats runtime_gelu_erf_ort(quick_floats a) {
    quick_floats e = runtime_erf_ort(a * quick_same(0x1.6a09e6p-1f));
    return a * quick_same(0.5f) * (e + quick_same(1.0f));
}

static inline quick_floats runtime_gelu_tanh_ort(quick_floats a) {
    quick_floats cube = quick_same(0.035677408136300125f) * a * a + quick_same(0.7978845608028654f);
    quick_floats t = runtime_tanh_ort(a * cube);
    return a * quick_same(0.5f) * (t + quick_same(1.0f));
}

// e^a of Softmax, for a <= 0. Near 0, if a is at least runtime_softmax_near, all forms give the
// same bits: no bound applies, and no result is denormal.
typedef enum { RUNTIME_SOFTMAX_NARROW, RUNTIME_SOFTMAX_WIDE, RUNTIME_SOFTMAX_NEAR } runtime_softmax;
static const float runtime_softmax_near = -87.0f;

static inline quick_floats runtime_softmax_exp(quick_floats a, runtime_softmax form) {
    if (form == RUNTIME_SOFTMAX_WIDE) a = quick_greater(quick_same(-103.9720840454f), a);
    if (form == RUNTIME_SOFTMAX_NARROW) a = quick_greater(quick_same(-88.3762626647949f), a);
    runtime_exp_parts e = runtime_exp_split(a);
    quick_floats p = RUNTIME_POLYNOMIAL(e.rest, runtime_exp_c);
    if (form == RUNTIME_SOFTMAX_WIDE) return runtime_scaled(p, e);
    return p * quick_from_bits(e.power);
}

//---- Loops ------------------------------------------------------------------

// A loop over floats; `body` is the loop with the body.
#define RUNTIME_LOOP(name, body)                                                                 \
    static void QDQ_ISA_NAME(vectors_##name)(const qdq_elementwise_numbers *numbers,             \
                                             const void *from, const void *b, const uint32_t *c, \
                                             void *to, size_t n) {                               \
        const float *x = from;                                                                   \
        float *y = to;                                                                           \
        for (; n >= QUICK_LANES; n -= QUICK_LANES, x += QUICK_LANES, y += QUICK_LANES)           \
            quick_store(y, quick_quiet(runtime_##name(quick_load(x))));                          \
        body(numbers, x, b, c, y, n);                                                            \
    }

#endif

#endif
