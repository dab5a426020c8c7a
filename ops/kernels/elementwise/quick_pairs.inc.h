// SPDX-License-Identifier: Apache-2.0
// Quicker loops for exp, sigmoid, tanh and GELU by tanh, in vectors of floats, which hold twice as
// many elements as the doubles of quick.inc.h.
//
// A pair is the sum of two floats, high + low, where low is small. pair_<name> computes a function
// as a pair that is off by less than a tolerance, and returns `least` and `most`: low minus and
// plus the tolerance. If high + least and high + most are the same float, the definition rounds to
// it, too (Ziv's test). Otherwise, or if an operand is not within the limit of pair_sure_<name>,
// the loop of quick.inc.h computes the vector: about one in 30 with AVX2, one in 60 with AVX-512.
// Such vectors are collected and computed together: one alone would wait for its own results.
//
// Tolerances are 1.06 to 1.4 times the greatest error over all floats within the limits. The
// estimates of reciprocals, which differ between processors, change it by 2^-40 at most. All 2^32
// floats were compared with the definition, by AVX2 and by AVX-512 kernels: no result differs.
#include "ops/kernels/elementwise/quick_vectors.inc.h"

#if defined(QDQ_QUICK_VECTORS)

// Two vectors, on which every operation is done side by side: a function is a chain of about 40
// operations that wait for each other, and a processor looks ahead less far than to the next chain.
typedef struct quick_two {
    quick_floats a, b;
} quick_two;

static inline quick_two two_same(float v) { return (quick_two){quick_same(v), quick_same(v)}; }
static inline quick_two two_add(quick_two x, quick_two y) {
    return (quick_two){x.a + y.a, x.b + y.b};
}
static inline quick_two two_subtract(quick_two x, quick_two y) {
    return (quick_two){x.a - y.a, x.b - y.b};
}
static inline quick_two two_multiply(quick_two x, quick_two y) {
    return (quick_two){x.a * y.a, x.b * y.b};
}
// x * y + z, and z - x * y
static inline quick_two two_fused(quick_two x, quick_two y, quick_two z) {
    return (quick_two){quick_fused(x.a, y.a, z.a), quick_fused(x.b, y.b, z.b)};
}
static inline quick_two two_less(quick_two x, quick_two y, quick_two z) {
    return (quick_two){quick_fused_less(x.a, y.a, z.a), quick_fused_less(x.b, y.b, z.b)};
}
static inline quick_two two_greater(quick_two x, quick_two y) {
    return (quick_two){quick_greater(x.a, y.a), quick_greater(x.b, y.b)};
}
static inline quick_two two_lesser(quick_two x, quick_two y) {
    return (quick_two){quick_lesser(x.a, y.a), quick_lesser(x.b, y.b)};
}

//---- Pairs ------------------------------------------------------------------

typedef struct quick_pair {
    quick_two high, low;
} quick_pair;
typedef struct pair_bounds {
    quick_two high, least, most;
} pair_bounds;

// e^x = power * (1 + rest + low), where power is a float: 2^(k / QUICK_LANES) for an integer k,
// rounded. The rest is exact and at most ln(2) / (2 * QUICK_LANES). low holds its higher powers,
// about square / 2, and the roundings of the power and of ln 2.
typedef struct pair_exp_parts {
    quick_two power, rest, square, low;
} pair_exp_parts;

// pair_tolerance is the relative tolerance of all functions but tanh, pair_tolerance_square the
// tolerance of tanh as a multiple of `square` and the power. pair_powers has 2^(j / QUICK_LANES)
// rounded to float, less j in the highest bits of its fraction: t adds j there with the exponent.
// pair_powers_low is the rounding error divided by this float.
#if defined(__AVX512F__)
static const float pair_tolerance = 0x1p-34f, pair_tolerance_square = 0x1.7p-24f;
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
static const float pair_tolerance = 0x1p-32f, pair_tolerance_square = 0x1p-23f;
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

// For |x| <= 88. Of a number x + x_low, or x if x_low is NULL.
static inline pair_exp_parts pair_exp_split(quick_two x, const quick_two *x_low) {
    const float n = QUICK_LANES;
    quick_two to_whole = two_same(0x1.8p23f);
    quick_two t = two_fused(x, two_same(0x1.715476p+0f * n), to_whole);
    quick_two k = two_subtract(t, to_whole), r = two_fused(k, two_same(-0x1.62e43p-1f / n), x);
    quick_two square = two_multiply(r, r), power = {pair_power(t.a), pair_power(t.b)};
    quick_two lost = {quick_lookup(pair_powers_low, quick_bits(t.a)),
                      quick_lookup(pair_powers_low, quick_bits(t.b))};
    lost = two_fused(k, two_same(0x1.05c61p-29f / n), lost);
    if (x_low) lost = two_add(lost, *x_low);
    quick_two q = two_fused(r, two_same(0x1.111434p-7f), two_same(0x1.555ad2p-5f));
    q = two_fused(r, q, two_same(0x1.555556p-3f));
    q = two_fused(r, q, two_same(0.5f));
    quick_two low = two_fused(square, q, lost);
    low = two_fused(lost, two_add(r, low), low);
    return (pair_exp_parts){power, r, square, low};
}

// power * (1 + rest + low)
static inline quick_pair pair_exp_join(pair_exp_parts e) {
    quick_two high = two_fused(e.power, e.rest, e.power);
    quick_two lost = two_fused(e.power, e.rest, two_subtract(e.power, high));
    return (quick_pair){high, two_fused(e.power, e.low, lost)};
}

// The same sum with a low part of at most half an ulp.
static inline quick_pair pair_normal(quick_pair v) {
    quick_two high = two_add(v.high, v.low);
    return (quick_pair){high, two_subtract(v.low, two_subtract(high, v.high))};
}

// v, off by less than `tolerance` times itself.
static inline pair_bounds pair_within(quick_pair v, float tolerance) {
    return (pair_bounds){v.high, two_less(v.high, two_same(tolerance), v.low),
                         two_fused(v.high, two_same(tolerance), v.low)};
}

// 1 / d, off by 2^-21.
static inline quick_two pair_inverse(quick_two d) {
    quick_two y = {quick_estimate_floats(d.a), quick_estimate_floats(d.b)};
    return two_fused(y, two_less(d, y, two_same(1.0f)), y);
}

// 1 / (1 + e^x)
static inline quick_pair pair_logistic(quick_two x, const quick_two *x_low) {
    quick_pair e = pair_normal(pair_exp_join(pair_exp_split(x, x_low)));
    quick_two one = two_same(1.0f), d = two_add(e.high, one), most = two_greater(e.high, one);
    quick_two d_low = two_subtract(two_lesser(e.high, one), two_subtract(d, most));
    quick_two y = pair_inverse(d), rest = two_less(y, d, one);
    rest = two_less(y, two_add(d_low, e.low), rest);
    return (quick_pair){y, two_multiply(rest, y)};
}

//---- Functions --------------------------------------------------------------

static inline quick_mask pair_sure_exp(quick_floats a, quick_mask same) {
    return mask_and(same, quick_between(a, -77.0f, 88.0f));
}
static inline pair_bounds pair_exp(quick_two a) {
    return pair_within(pair_exp_join(pair_exp_split(a, NULL)), pair_tolerance);
}

static inline quick_mask pair_sure_sigmoid(quick_floats a, quick_mask same) {
    return mask_and(same, quick_at_or_above(a, -77.0f));
}
static inline pair_bounds pair_sigmoid(quick_two a) {
    quick_two x = two_greater(two_same(-87.0f), (quick_two){-a.a, -a.b});
    return pair_within(pair_logistic(x, NULL), pair_tolerance);
}

// t / (2 - t) with t = 1 - e^(-2|a|). Near 0 the tolerance follows the error of t, which is one of
// its square. With the quotient y the rest of t is t - y * (2 - t).
static inline quick_mask pair_sure_tanh(quick_floats a, quick_mask same) { return (void)a, same; }
static inline pair_bounds pair_tanh(quick_two a) {
    quick_two one = two_same(1.0f), two = two_same(2.0f);
    quick_two x = {quick_size(a.a), quick_size(a.b)};
    x = two_greater(two_same(-20.0f), two_multiply(x, two_same(-2.0f)));
    pair_exp_parts e = pair_exp_split(x, NULL);
    quick_two base = two_subtract(one, e.power);
    quick_two error = two_subtract(two_subtract(one, base), e.power);
    quick_two high = two_less(e.power, e.rest, base);
    quick_two lost = two_less(e.power, e.rest, two_subtract(base, high));
    lost = two_add(two_less(e.power, e.low, lost), error);
    quick_pair t = pair_normal((quick_pair){high, lost});
    quick_two inverse = pair_inverse(two_subtract(two, t.high));
    quick_two y = two_multiply(t.high, inverse);
    quick_two rest = two_fused(y, t.high, two_less(y, two, t.high));
    rest = two_multiply(two_add(two_fused(t.low, y, rest), t.low), inverse);
    quick_two tolerance = two_multiply(e.square, e.power);
    tolerance = two_multiply(tolerance, two_same(pair_tolerance_square));
    tolerance = two_fused(y, two_same(0x1p-35f), tolerance);
    return (pair_bounds){y, two_subtract(rest, tolerance), two_add(rest, tolerance)};
}

static const float pair_gelu_c = -0x1.98845p+0f;
static const float pair_gelu_c_low = -0x1.9e9e8cp-23f;
static const float pair_gelu_d = -0x1.2444f2p-4f;
static const float pair_gelu_d_low = -0x1.49a866p-29f;

// a / (1 + e^(a * (c + d * a^2))). The higher part of c is a multiple of 2^-20, so that its
// difference from the sum is exact.
static inline quick_mask pair_sure_gelu_tanh(quick_floats a, quick_mask same) {
    return mask_and(same, quick_at_or_above(a, -6.5f));
}
static inline pair_bounds pair_gelu_tanh(quick_two a) {
    quick_two x = two_lesser(two_same(9.5f), a), square = two_multiply(x, x);
    quick_two c = two_same(pair_gelu_c), d = two_same(pair_gelu_d);
    quick_two u = two_fused(square, d, c), u_low = two_fused(square, d, two_subtract(c, u));
    quick_two square_low = two_less(x, x, square);  // its opposite
    quick_two lost = two_less(square_low, d, two_same(pair_gelu_c_low));
    u_low = two_add(u_low, two_fused(square, two_same(pair_gelu_d_low), lost));
    quick_two product = two_multiply(x, u);
    quick_two low = two_subtract(two_multiply(x, u_low), two_less(x, u, product));
    quick_pair y = pair_logistic(product, &low);
    quick_two high = two_multiply(a, y.high);
    low = two_subtract(two_multiply(a, y.low), two_less(a, y.high, high));
    return pair_within((quick_pair){high, low}, pair_tolerance);
}

//---- Loops ------------------------------------------------------------------

// Vectors that are computed before the uncertain ones of them, and what is kept of these: the
// operands, as y may be x, and their places.
enum { PAIR_BLOCK = 32 };
typedef struct pair_again {
    size_t count, places[PAIR_BLOCK];
    float x[PAIR_BLOCK * QUICK_LANES];
} pair_again;

static inline void pair_keep(pair_again *again, quick_floats x, size_t place, quick_mask sure) {
    quick_store(again->x + again->count * QUICK_LANES, x);
    again->places[again->count] = place;
    again->count += !mask_all(sure);
}

// A loop over floats; `quick` is the loop with doubles.
#define PAIR_LOOP(name, quick)                                                                \
    static void QDQ_ISA_NAME(pair_##name)(const qdq_elementwise_numbers *numbers,             \
                                          const void *from, const void *b, const uint32_t *c, \
                                          void *to, size_t n) {                               \
        enum { STEP = 2 * QUICK_LANES, MOST = PAIR_BLOCK * QUICK_LANES };                     \
        const float *x = from;                                                                \
        float *y = to;                                                                        \
        pair_again again;                                                                     \
        while (n >= STEP) {                                                                   \
            size_t i = 0;                                                                     \
            for (again.count = 0; i < MOST && n - i >= STEP; i += STEP) {                     \
                quick_two v = {quick_load(x + i), quick_load(x + i + QUICK_LANES)};           \
                pair_bounds near = pair_##name(v);                                            \
                quick_two least = two_add(near.high, near.least);                             \
                quick_two most = two_add(near.high, near.most);                               \
                quick_mask sure_a = pair_sure_##name(v.a, quick_equal(least.a, most.a));      \
                quick_mask sure_b = pair_sure_##name(v.b, quick_equal(least.b, most.b));      \
                if (!mask_all(mask_and(sure_a, sure_b))) {                                    \
                    pair_keep(&again, v.a, i, sure_a);                                        \
                    pair_keep(&again, v.b, i + QUICK_LANES, sure_b);                          \
                }                                                                             \
                quick_store(y + i, end_##name(v.a, most.a));                                  \
                quick_store(y + i + QUICK_LANES, end_##name(v.b, most.b));                    \
            }                                                                                 \
            quick(numbers, again.x, b, c, again.x, again.count *QUICK_LANES);                 \
            for (size_t k = 0; k < again.count; k++)                                          \
                quick_store(y + again.places[k], quick_load(again.x + k * QUICK_LANES));      \
            n -= i, x += i, y += i;                                                           \
        }                                                                                     \
        quick(numbers, x, b, c, y, n);                                                        \
    }

#endif
