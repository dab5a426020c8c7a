// SPDX-License-Identifier: Apache-2.0
// Quicker loops for exp, sigmoid and tanh, in vectors of floats, which hold twice as many elements
// as the doubles of quick.inc.h.
//
// A pair is the sum of two floats, high + low, where low is small.
// pair_<name> computes a function as a pair that is off by less than `tolerance`. If high + low
// rounds to the same float with the tolerance added and subtracted, the definition does, too (Ziv's
// test). Otherwise, or if an operand is not within the limit of pair_inside_<name>, the loop of
// quick.inc.h computes the vector: about one in 30 with AVX2, one in 60 with AVX-512.
//
// Tolerances are 1.3 times the greatest error found within the limits. All 2^32 floats were
// compared with the definition, by AVX2 and by AVX-512 kernels: no result differs.
#include "ops/kernels/elementwise/quick_vectors.inc.h"

#if defined(QDQ_QUICK_VECTORS)

typedef struct quick_pair {
    quick_floats high, low, tolerance;
} quick_pair;

// e^x = power * (1 + rest + low), where power is a float: 2^(k / QUICK_LANES) for an integer k,
// rounded. The rest is exact and at most ln(2) / (2 * QUICK_LANES). low holds its higher powers,
// about square / 2, and the roundings of the power and of ln 2.
typedef struct pair_exp_parts {
    quick_floats power, rest, square, low;
} pair_exp_parts;

// pair_tolerance is the relative tolerance of exp and sigmoid, pair_tolerance_square the tolerance of
// tanh as a multiple of `square`. pair_powers has 2^(j / QUICK_LANES) rounded to float,
// pair_powers_low the rounding error divided by this float.
#if defined(__AVX512F__)
static const float pair_tolerance = 0x1p-34f, pair_tolerance_square = 0x1.7p-23f;
static const float pair_powers[] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                    0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                    0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                    0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
static const float pair_powers_low[] = {0,
                                        0x1.8d96d4p-25f,
                                        -0x1.9c0c22p-27f,
                                        0x1.964904p-25f,
                                        0x1.125002p-25f,
                                        0x1.370be4p-25f,
                                        -0x1.0a355p-25f,
                                        -0x1.00d8acp-27f,
                                        0x1.26055cp-26f,
                                        -0x1.05cb44p-25f,
                                        0x1.67a1cap-28f,
                                        0x1.a3b5e4p-28f,
                                        -0x1.f9c304p-27f,
                                        -0x1.6961b4p-28f,
                                        -0x1.a5217cp-28f,
                                        0x1.61428ep-28f};
#else
static const float pair_tolerance = 0x1p-32f, pair_tolerance_square = 0x1p-22f;
static const float pair_powers[] = {0x1p+0f,        0x1.172b84p+0f, 0x1.306fep+0f,  0x1.4bfdaep+0f,
                                    0x1.6a09e6p+0f, 0x1.8ace54p+0f, 0x1.ae89fap+0f, 0x1.d5818ep+0f};
static const float pair_powers_low[] = {0,
                                        -0x1.9c0c22p-27f,
                                        0x1.125002p-25f,
                                        -0x1.0a355p-25f,
                                        0x1.26055cp-26f,
                                        0x1.67a1cap-28f,
                                        -0x1.f9c304p-27f,
                                        -0x1.a5217cp-28f};
#endif

// For |x| <= 88.
static inline pair_exp_parts pair_exp_split(quick_floats x) {
    const float n = QUICK_LANES;
    quick_floats to_whole = quick_same(0x1.8p23f);
    quick_floats t = quick_fused(x, quick_same(0x1.715476p+0f * n), to_whole), k = t - to_whole;
    quick_floats r = quick_fused(k, quick_same(-0x1.62e43p-1f / n), x), square = r * r;
    quick_ints bits = quick_bits(t);
    quick_floats power = quick_lookup(pair_powers, bits);
    quick_floats lost = quick_lookup(pair_powers_low, bits);
    lost = quick_fused(k, quick_same(0x1.05c61p-29f / n), lost);
    quick_floats q = quick_fused(r, quick_same(0x1.111434p-7f), quick_same(0x1.555ad2p-5f));
    q = quick_fused(r, q, quick_same(0x1.555556p-3f));
    q = quick_fused(r, q, quick_same(0.5f));
    quick_floats low = quick_fused(square, q, lost);
    low = quick_fused(lost, r + low, low);
    power = quick_from_bits(quick_ints_add(quick_bits(power), quick_table_exponents(bits)));
    return (pair_exp_parts){power, r, square, low};
}

// base + power * (rest + low), where base is the power, or differs from it by 1.
static inline quick_pair pair_exp_join(pair_exp_parts e, quick_floats base) {
    quick_floats high = quick_fused(e.power, e.rest, base);
    quick_floats lost = quick_fused(e.power, e.rest, base - high);
    return (quick_pair){high, quick_fused(e.power, e.low, lost), quick_same(0.0f)};
}

// The same sum with a low part of at most half an ulp.
static inline quick_pair pair_normal(quick_pair v) {
    quick_floats high = v.high + v.low;
    return (quick_pair){high, v.low - (high - v.high), v.tolerance};
}

// 1 / d, off by 2^-21.
static inline quick_floats pair_inverse(quick_floats d) {
    quick_floats y = quick_estimate_floats(d);
    return quick_fused(y, quick_fused(-d, y, quick_same(1.0f)), y);
}

// v + a for a single float a.
static inline quick_pair pair_plus(quick_pair v, float a) {
    quick_floats one = quick_same(a), high = v.high + one;
    quick_floats most = quick_greater(v.high, one), least = quick_lesser(v.high, one);
    return (quick_pair){high, (least - (high - most)) + v.low, v.tolerance};
}

static inline quick_mask pair_inside_exp(quick_floats a) { return quick_between(a, -77.0f, 88.0f); }
static inline quick_pair pair_exp(quick_floats a) {
    pair_exp_parts e = pair_exp_split(a);
    quick_pair y = pair_exp_join(e, e.power);
    y.tolerance = y.high * quick_same(pair_tolerance);
    return y;
}

// 1 / (1 + e^-a)
static inline quick_mask pair_inside_sigmoid(quick_floats a) {
    return quick_between(a, -77.0f, INFINITY);
}
static inline quick_pair pair_sigmoid(quick_floats a) {
    pair_exp_parts e = pair_exp_split(quick_clamp(-a, -87.0f, 77.0f));
    quick_pair d = pair_plus(pair_normal(pair_exp_join(e, e.power)), 1.0f);
    quick_floats y = pair_inverse(d.high);
    quick_floats rest = quick_fused(-y, d.low, quick_fused(-y, d.high, quick_same(1.0f)));
    return (quick_pair){y, rest * y, y * quick_same(pair_tolerance)};
}

// t / (t + 2) with t = e^(2|a|) - 1. Near 0 the tolerance follows the error of t, which is one of
// its square.
static inline quick_mask pair_inside_tanh(quick_floats a) {
    return quick_between(a, -INFINITY, INFINITY);
}
static inline quick_pair pair_tanh(quick_floats a) {
    quick_floats x = quick_clamp(quick_size(a), 0.0f, 10.0f), one = quick_same(1.0f);
    pair_exp_parts e = pair_exp_split(x + x);
    quick_floats base = e.power - one;
    quick_pair t = pair_exp_join(e, base);
    t.low = t.low - (one + (base - e.power));
    t = pair_normal(t);
    quick_pair d = pair_plus(t, 2.0f);
    quick_floats inverse = pair_inverse(d.high), y = t.high * inverse;
    quick_floats rest = quick_fused(-y, d.low, quick_fused(-y, d.high, t.high) + t.low);
    quick_floats tolerance = e.square * inverse * quick_same(pair_tolerance_square);
    return (quick_pair){y, rest * inverse, quick_fused(y, quick_same(0x1p-35f), tolerance)};
}

// A loop over floats; `quick` is the loop with doubles.
#define PAIR_LOOP(name, quick)                                                                \
    static void QDQ_ISA_NAME(pair_##name)(const qdq_elementwise_numbers *numbers,             \
                                          const void *from, const void *b, const uint32_t *c, \
                                          void *to, size_t n) {                               \
        const float *x = from;                                                                \
        float *y = to;                                                                        \
        for (; n >= QUICK_LANES; n -= QUICK_LANES, x += QUICK_LANES, y += QUICK_LANES) {      \
            quick_floats a = quick_load(x);                                                   \
            quick_pair v = pair_##name(a);                                                    \
            quick_floats least = v.high + (v.low - v.tolerance);                              \
            quick_floats most = v.high + (v.low + v.tolerance);                               \
            if (mask_both(quick_equal(least, most), pair_inside_##name(a)))                   \
                quick_store(y, end_##name(a, most));                                          \
            else                                                                              \
                quick(numbers, x, b, c, y, QUICK_LANES);                                      \
        }                                                                                     \
        quick(numbers, x, b, c, y, n);                                                        \
    }

#endif
