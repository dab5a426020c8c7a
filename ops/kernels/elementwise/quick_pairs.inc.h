// SPDX-License-Identifier: Apache-2.0
// Quicker loops for exp, sigmoid, tanh and GELU by tanh, in vectors of floats, which hold twice as
// many elements as the doubles of quick.inc.h.
//
// pair_<name> computes a function as a pair of floats that is off by less than a tolerance, and
// returns `least` and `most`: low minus and plus the tolerance. If high + least and high + most are
// the same float, the definition rounds to it, too (Ziv's test). Otherwise, or if an operand is not
// within the limit of pair_sure_<name>, the loop of quick.inc.h computes the element: about one in
// 250 with AVX2, one in 1000 with AVX-512. These elements are collected and computed together.
//
// A function is a chain of about 40 operations, and a processor looks ahead about 100: it would
// wait for most of them. Therefore a function has three parts, in separate loops: reduce_<name>
// stores the operands of first_<name>, which stores the operands of pair_<name>. exp is short enough
// to do without reduce_exp.
//
// Tolerances are 1.1 to 1.6 times the greatest error over every 101st float within the limits. The
// estimates of reciprocals differ between processors. Estimates that are off by as much as their
// definition allows, 1.5 * 2^-12 with AVX2 and 2^-14 with AVX-512, leave errors within the
// tolerances. All 2^32 floats were compared with the definition, by AVX2 and by AVX-512 kernels: no
// result differs.
#include <string.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"
#include "ops/kernels/elementwise/quick_pair_parts.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Functions --------------------------------------------------------------

// The floats that a part of a function stores for two vectors.
enum { PAIR_MIDDLES = 3, PAIR_MIDDLE = PAIR_MIDDLES * QUICK_TWO };

static inline void pair_store(float *middle, quick_pair v) {
    two_store(middle, v.high);
    two_store(middle + QUICK_TWO, v.low);
}
static inline quick_pair pair_load(const float *middle) {
    return (quick_pair){two_load(middle), two_load(middle + QUICK_TWO)};
}
static inline void pair_store_reduced(float *middle, pair_reduced v) {
    two_store(middle, v.t);
    two_store(middle + QUICK_TWO, v.rest);
}
static inline pair_reduced pair_load_reduced(const float *middle) {
    return (pair_reduced){two_load(middle), two_load(middle + QUICK_TWO)};
}

static inline quick_mask pair_sure_exp(quick_floats a, quick_mask same) {
    return mask_and(same, quick_between(a, -77.0f, 88.0f));
}
// NOLINTNEXTLINE(readability-non-const-parameter): other functions store their argument there
static inline void reduce_exp(quick_two a, float *middle) { (void)a, (void)middle; }
static inline void first_exp(quick_two a, float *middle) {
    pair_store(middle, pair_exp_join(pair_exp_split(pair_exp_reduce(a), NULL)));
}
static inline pair_bounds pair_exp(quick_two a, const float *middle) {
    return (void)a, pair_within(pair_load(middle), pair_tolerance);
}

static inline quick_mask pair_sure_sigmoid(quick_floats a, quick_mask same) {
    return mask_and(same, quick_at_or_above(a, -77.0f));
}
static inline void reduce_sigmoid(quick_two a, float *middle) {
    quick_two x = two_greater(two_same(-87.0f), (quick_two){-a.a, -a.b});
    pair_store_reduced(middle, pair_exp_reduce(x));
}
static inline void first_sigmoid(quick_two a, float *middle) {
    pair_exp_parts e = pair_exp_split(pair_load_reduced(middle), NULL);
    (void)a, pair_store(middle, pair_normal(pair_exp_join(e)));
}
static inline pair_bounds pair_sigmoid(quick_two a, const float *middle) {
    return (void)a, pair_logistic(two_same(1.0f), pair_load(middle));
}

// t / (2 - t) with t = 1 - e^(-2|a|). Near 0 the tolerance follows the error of t, which is
// proportional to its square. With the quotient y the rest of t is t - y * (2 - t).
static inline quick_mask pair_sure_tanh(quick_floats a, quick_mask same) { return (void)a, same; }
static inline void reduce_tanh(quick_two a, float *middle) {
    quick_two x = two_multiply(two_size(a), two_same(-2.0f));
    pair_store_reduced(middle, pair_exp_reduce(two_greater(two_same(-20.0f), x)));
}
static inline void first_tanh(quick_two a, float *middle) {
    (void)a;
    quick_two one = two_same(1.0f);
    pair_exp_parts e = pair_exp_split(pair_load_reduced(middle), NULL);
    quick_two base = two_subtract(one, e.power);
    quick_two error = two_subtract(two_subtract(one, base), e.power);
    quick_two high = two_less(e.power, e.rest, base);
    quick_two low = two_less(e.power, e.rest, two_subtract(base, high));
    low = two_add(two_less(e.power, e.low, low), error);
    pair_store(middle, pair_normal((quick_pair){high, low}));
    two_store(middle + 2 * QUICK_TWO,
              two_multiply(two_multiply(e.square, two_same(pair_tolerance_square)), e.power));
}
static inline pair_bounds pair_tanh(quick_two a, const float *middle) {
    (void)a;
    quick_pair t = pair_load(middle);
    quick_two two = two_same(2.0f), d = two_subtract(two, t.high), y = two_divide(t.high, d);
    quick_two rest = two_fused(y, t.high, two_less(y, two, t.high));
    rest = two_add(two_fused(t.low, y, rest), t.low);
    quick_two tolerance =
        two_fused(y, two_same(pair_tolerance_quotient), two_load(middle + 2 * QUICK_TWO));
    return pair_quotient(y, rest, two_estimate(d), tolerance);
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
static inline void reduce_gelu_tanh(quick_two a, float *middle) {
    quick_two x = two_lesser(two_same(9.5f), a), square = two_multiply(x, x);
    quick_two c = two_same(pair_gelu_c), d = two_same(pair_gelu_d);
    quick_two u = two_fused(square, d, c), u_low = two_fused(square, d, two_subtract(c, u));
    quick_two square_low = two_less(x, x, square);  // its opposite
    quick_two lost = two_less(square_low, d, two_same(pair_gelu_c_low));
    u_low = two_add(u_low, two_fused(square, two_same(pair_gelu_d_low), lost));
    quick_two product = two_multiply(x, u);
    quick_two low = two_fused(x, u_low, two_fused_minus(x, u, product));
    pair_store_reduced(middle, pair_exp_reduce(product));
    two_store(middle + 2 * QUICK_TWO, low);
}
static inline void first_gelu_tanh(quick_two a, float *middle) {
    quick_two low = two_load(middle + 2 * QUICK_TWO);
    pair_exp_parts e = pair_exp_split(pair_load_reduced(middle), &low);
    (void)a, pair_store(middle, pair_normal(pair_exp_join(e)));
}
static inline pair_bounds pair_gelu_tanh(quick_two a, const float *middle) {
    return pair_logistic(a, pair_load(middle));
}

//---- Loops ------------------------------------------------------------------

// The number of elements computed before their uncertain elements, and the vectors that have any:
// their operands, as y may be x, their places, and a bit for each uncertain element.
enum { PAIR_BLOCK = 256, PAIR_VECTORS = PAIR_BLOCK / QUICK_TWO, PAIR_KEPT = 4 * PAIR_VECTORS };
typedef struct pair_again {
    size_t count;
    uint32_t bits[PAIR_KEPT];
    size_t places[PAIR_KEPT];
    _Alignas(64) float x[PAIR_KEPT * QUICK_TWO];
} pair_again;

static inline void pair_keep(pair_again *again, quick_two x, size_t place, quick_mask sure_a,
                             quick_mask sure_b) {
    const size_t k = again->count++;
    const uint32_t all = (uint32_t)((UINT64_C(1) << QUICK_TWO) - 1);
    two_store(again->x + k * QUICK_TWO, x);
    again->places[k] = place;
    again->bits[k] = ~(mask_bits(sure_a) | mask_bits(sure_b) << QUICK_LANES) & all;
}

// Computes the uncertain elements; `quick` takes whole pairs of vectors.
static inline void pair_again_compute(pair_again *again, qdq_elementwise_fn *quick, float *y) {
    float list[PAIR_KEPT * QUICK_TWO];
    size_t to[PAIR_KEPT * QUICK_TWO], n = 0;
    for (size_t k = 0; k < again->count; k++)
        for (uint32_t bits = again->bits[k]; bits; bits &= bits - 1) {
            const size_t i = (size_t)__builtin_ctz(bits);
            list[n] = again->x[k * QUICK_TWO + i];
            to[n++] = again->places[k] + i;
        }
    again->count = 0;
    if (!n) return;
    const size_t rest = -n % QUICK_TWO;
    for (size_t i = n; i < n + rest; i++) list[i] = list[0];
    quick(NULL, list, NULL, NULL, list, n + rest);
    for (size_t i = 0; i < n; i++) y[to[i]] = list[i];
}

// Defines the loop over any number of floats. It calls the loop over pairs of vectors for at most
// PAIR_BLOCK elements at a time, and `quick`, the loop with doubles, for uncertain elements.
#define PAIR_LOOP(name, quick)                                                                    \
    static void QDQ_ISA_NAME(pair_block_##name)(const float *x, float *y, size_t from, size_t to, \
                                                pair_again *again) {                              \
        _Alignas(64) float middles[PAIR_BLOCK / QUICK_TWO * PAIR_MIDDLE], *middle = middles;      \
        for (size_t i = from; i < to; i += QUICK_TWO, middle += PAIR_MIDDLE)                      \
            reduce_##name(two_load(x + i), middle);                                               \
        middle = middles;                                                                         \
        for (size_t i = from; i < to; i += QUICK_TWO, middle += PAIR_MIDDLE)                      \
            first_##name(two_load(x + i), middle);                                                \
        middle = middles;                                                                         \
        for (size_t i = from; i < to; i += QUICK_TWO, middle += PAIR_MIDDLE) {                    \
            quick_two v = two_load(x + i);                                                        \
            pair_bounds near = pair_##name(v, middle);                                            \
            quick_two least = two_add(near.high, near.least);                                     \
            quick_two most = two_add(near.high, near.most);                                       \
            quick_mask sure_a = pair_sure_##name(v.a, quick_equal(least.a, most.a));              \
            quick_mask sure_b = pair_sure_##name(v.b, quick_equal(least.b, most.b));              \
            if (!mask_all(mask_and(sure_a, sure_b))) pair_keep(again, v, i, sure_a, sure_b);      \
            two_store(y + i, (quick_two){end_##name(v.a, most.a), end_##name(v.b, most.b)});      \
        }                                                                                         \
    }                                                                                             \
    static void QDQ_ISA_NAME(pair_##name)(const qdq_elementwise_numbers *numbers, const void *a,  \
                                          const void *b, const uint32_t *c, void *to, size_t n) { \
        const float *x = a;                                                                       \
        float *y = to, last[QUICK_TWO] = {0};                                                     \
        pair_again again;                                                                         \
        again.count = 0;                                                                          \
        (void)numbers, (void)b, (void)c;                                                          \
        const size_t rest = n % QUICK_TWO;                                                        \
        for (size_t i = 0; i < n - rest; i += PAIR_BLOCK) {                                       \
            const size_t left = n - rest - i, end = i + (left < PAIR_BLOCK ? left : PAIR_BLOCK);  \
            QDQ_ISA_NAME(pair_block_##name)(x, y, i, end, &again);                                \
            if (again.count > PAIR_KEPT - PAIR_VECTORS) pair_again_compute(&again, quick, y);     \
        }                                                                                         \
        pair_again_compute(&again, quick, y);                                                     \
        if (!rest) return;                                                                        \
        memcpy(last, x + n - rest, rest * sizeof *x);                                             \
        QDQ_ISA_NAME(pair_block_##name)(last, last, 0, QUICK_TWO, &again);                        \
        pair_again_compute(&again, quick, last);                                                  \
        memcpy(y + n - rest, last, rest * sizeof *y);                                             \
    }

#endif
