// SPDX-License-Identifier: Apache-2.0
// Parts of the loops of quick_pairs.inc.h. A pair is the sum of two floats, high + low, where low
// is small.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_PAIR_PARTS_INC_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_PAIR_PARTS_INC_H

#include <stddef.h>

#include "ops/kernels/elementwise/quick_two.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Pairs ------------------------------------------------------------------

typedef struct quick_pair {
    quick_two high, low;
} quick_pair;

// e^x = power * (1 + rest + low), where power is a float: 2^(k / QUICK_LANES) for an integer k,
// rounded. The rest is exact and at most ln(2) / (2 * QUICK_LANES). low holds its higher powers,
// about square / 2, and the roundings of the power and of ln 2.
typedef struct pair_exp_parts {
    quick_two power, rest, square, low;
} pair_exp_parts;

// pair_tolerance is the relative tolerance of all functions but tanh. That of tanh is a sum:
// pair_tolerance_square times `square` and the power, and pair_tolerance_quotient times tanh.
// pair_exp_c has coefficients of low / square, the last one first. pair_powers has 2^(j /
// QUICK_LANES) rounded to float, less j in the highest bits of its fraction: t adds j there with
// the exponent. pair_powers_low is the rounding error divided by this float.
#if defined(__AVX512F__)
static const float pair_tolerance = 0x1p-34f, pair_tolerance_square = 0x1.7p-24f,
                   pair_tolerance_quotient = 0x1p-35f;
static const float pair_exp_c[] = {0x1.55576ap-5f, 0x1.55571ep-3f, 0.5f};
static const float pair_powers[] = {0x1p+0f,        0x1.fb5586p-1f, 0x1.f72b84p-1f, 0x1.f387a6p-1f,
                                    0x1.f06fep-1f,  0x1.edea64p-1f, 0x1.ebfdaep-1f, 0x1.eab07ep-1f,
                                    0x1.ea09e6p-1f, 0x1.ea1148p-1f, 0x1.eace54p-1f, 0x1.ec4918p-1f,
                                    0x1.ee89fap-1f, 0x1.f199bep-1f, 0x1.f5818ep-1f, 0x1.fa4afap-1f};
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
static const float pair_tolerance = 0x1p-32f, pair_tolerance_square = 0x1p-23f,
                   pair_tolerance_quotient = 0x1.4p-34f;
static const float pair_exp_c[] = {0x1.111434p-7f, 0x1.555ad2p-5f, 0x1.555556p-3f, 0.5f};
static const float pair_powers[] = {0x1p+0f,        0x1.f72b84p-1f, 0x1.f06fep-1f,  0x1.ebfdaep-1f,
                                    0x1.ea09e6p-1f, 0x1.eace54p-1f, 0x1.ee89fap-1f, 0x1.f5818ep-1f};
static const float pair_powers_low[] = {0,
                                        -0x1.9c0c22p-27f,
                                        0x1.125002p-25f,
                                        -0x1.0a355p-25f,
                                        0x1.26055cp-26f,
                                        0x1.67a1cap-28f,
                                        -0x1.f9c304p-27f,
                                        -0x1.a5217cp-28f};
#endif

// 2^(k / QUICK_LANES), rounded, where the low bits of t hold k.
static inline quick_floats pair_power(quick_floats t) {
    quick_ints k = quick_bits(t);
    quick_floats power = quick_lookup(pair_powers, k);
    return quick_from_bits(quick_ints_add(quick_bits(power), quick_table_exponents(k)));
}

// x = k * ln(2) / QUICK_LANES + rest, less the rounding of ln 2; the low bits of t hold k.
typedef struct pair_reduced {
    quick_two t, rest;
} pair_reduced;

static const float pair_to_whole = 0x1.8p23f;

// Reduces |x| <= 88.
static inline pair_reduced pair_exp_reduce(quick_two x) {
    const float n = QUICK_LANES;
    quick_two t = two_fused(x, two_same(0x1.715476p+0f * n), two_same(pair_to_whole));
    quick_two k = two_subtract(t, two_same(pair_to_whole));
    return (pair_reduced){t, two_fused(k, two_same(-0x1.62e43p-1f / n), x)};
}

// Splits the exponential of a reduced x + x_low, or of x if x_low is NULL.
static inline pair_exp_parts pair_exp_split(pair_reduced x, const quick_two *x_low) {
    const float n = QUICK_LANES;
    quick_two t = x.t, r = x.rest, k = two_subtract(t, two_same(pair_to_whole));
    quick_two square = two_multiply(r, r), power = {pair_power(t.a), pair_power(t.b)};
    quick_two lost = {quick_lookup(pair_powers_low, quick_bits(t.a)),
                      quick_lookup(pair_powers_low, quick_bits(t.b))};
    lost = two_fused(k, two_same(0x1.05c61p-29f / n), lost);
    if (x_low) lost = two_add(lost, *x_low);
    quick_two q = two_same(pair_exp_c[0]);
    for (size_t i = 1; i < sizeof pair_exp_c / sizeof *pair_exp_c; i++)
        q = two_fused(r, q, two_same(pair_exp_c[i]));
    quick_two low = two_fused(square, q, lost);
    return (pair_exp_parts){power, r, square, two_fused(lost, two_add(r, low), low)};
}

// power * (1 + rest + low)
static inline quick_pair pair_exp_join(pair_exp_parts e) {
    quick_two high = two_fused(e.power, e.rest, e.power);
    quick_two low = two_fused(e.power, e.rest, two_subtract(e.power, high));
    return (quick_pair){high, two_fused(e.power, e.low, low)};
}

// Returns the same sum with a low part of at most half an ulp.
static inline quick_pair pair_normal(quick_pair v) {
    quick_two high = two_add(v.high, v.low);
    return (quick_pair){high, two_subtract(v.low, two_subtract(high, v.high))};
}

// Bounds of a result: from high + least to high + most.
typedef struct pair_bounds {
    quick_two high, least, most;
} pair_bounds;

// v, off by less than `tolerance` times itself.
static inline pair_bounds pair_within(quick_pair v, float tolerance) {
    return (pair_bounds){v.high, two_less(v.high, two_same(tolerance), v.low),
                         two_fused(v.high, two_same(tolerance), v.low)};
}

// y + rest / d, off by less than the tolerance, where y is a rounded quotient by d.
static inline pair_bounds pair_quotient(quick_two y, quick_two rest, quick_two inverse,
                                        quick_two tolerance) {
    return (pair_bounds){y, two_fused_minus(rest, inverse, tolerance),
                         two_fused(rest, inverse, tolerance)};
}

// a / (1 + e)
static inline pair_bounds pair_logistic(quick_two a, quick_pair e) {
    quick_two one = two_same(1.0f), d = two_add(e.high, one), most = two_greater(e.high, one);
    quick_two d_low = two_subtract(two_lesser(e.high, one), two_subtract(d, most));
    quick_two y = two_divide(a, d);
    quick_two rest = two_less(y, two_add(d_low, e.low), two_less(y, d, a));
    return pair_quotient(y, rest, two_estimate(d), two_multiply(y, two_same(pair_tolerance)));
}

#endif

#endif
