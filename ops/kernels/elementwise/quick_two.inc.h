// SPDX-License-Identifier: Apache-2.0
// Two vectors of floats, and as many doubles, with every operation on both side by side: the
// operations of a function wait for each other, and a processor does not look ahead to the next
// chain of them.
#ifndef QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_TWO_INC_H
#define QDQ_OPS_KERNELS_ELEMENTWISE_QUICK_TWO_INC_H

#include <stddef.h>

#include "ops/kernels/elementwise/quick_vectors.inc.h"

#if defined(QDQ_QUICK_VECTORS)

//---- Floats -----------------------------------------------------------------

typedef struct quick_two {
    quick_floats a, b;
} quick_two;

enum { QUICK_TWO = 2 * QUICK_LANES };

static inline quick_two two_load(const float *x) {
    return (quick_two){quick_load(x), quick_load(x + QUICK_LANES)};
}
// Returns the first n elements, and `fill` for the others.
static inline quick_two two_load_first(const float *x, size_t n, float fill) {
    if (n >= QUICK_LANES)
        return (quick_two){quick_load(x), quick_load_first(x + QUICK_LANES, n - QUICK_LANES, fill)};
    return (quick_two){quick_load_first(x, n, fill), quick_same(fill)};
}
static inline void two_store(float *y, quick_two v) {
    quick_store(y, v.a);
    quick_store(y + QUICK_LANES, v.b);
}
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
// x * y - z
static inline quick_two two_fused_minus(quick_two x, quick_two y, quick_two z) {
    return (quick_two){quick_fused(x.a, y.a, -z.a), quick_fused(x.b, y.b, -z.b)};
}
static inline quick_two two_divide(quick_two x, quick_two y) {
    return (quick_two){x.a / y.a, x.b / y.b};
}
// 1 / d, off by 2^-11.
static inline quick_two two_estimate(quick_two d) {
    return (quick_two){quick_estimate_floats(d.a), quick_estimate_floats(d.b)};
}
static inline quick_two two_size(quick_two x) {
    return (quick_two){quick_size(x.a), quick_size(x.b)};
}
static inline quick_two two_clamp(quick_two x, float low, float high) {
    return (quick_two){quick_clamp(x.a, low, high), quick_clamp(x.b, low, high)};
}
static inline quick_two two_greater(quick_two x, quick_two y) {
    return (quick_two){quick_greater(x.a, y.a), quick_greater(x.b, y.b)};
}
static inline quick_two two_lesser(quick_two x, quick_two y) {
    return (quick_two){quick_lesser(x.a, y.a), quick_lesser(x.b, y.b)};
}

//---- Doubles ----------------------------------------------------------------

typedef struct quick_doubles {
    quick_wide a, b;
} quick_doubles;

static inline quick_doubles quick_all(double v) {
    const quick_wide all = {half_all(v), half_all(v)};
    return (quick_doubles){all, all};
}
static inline quick_doubles quick_add(quick_doubles x, quick_doubles y) {
    return (quick_doubles){{x.a.low + y.a.low, x.a.high + y.a.high},
                           {x.b.low + y.b.low, x.b.high + y.b.high}};
}
static inline quick_doubles quick_subtract(quick_doubles x, quick_doubles y) {
    return (quick_doubles){{x.a.low - y.a.low, x.a.high - y.a.high},
                           {x.b.low - y.b.low, x.b.high - y.b.high}};
}
static inline quick_doubles quick_multiply(quick_doubles x, quick_doubles y) {
    return (quick_doubles){{x.a.low * y.a.low, x.a.high * y.a.high},
                           {x.b.low * y.b.low, x.b.high * y.b.high}};
}
// x * y + z, and z - x * y
static inline quick_doubles quick_fma(quick_doubles x, quick_doubles y, quick_doubles z) {
    return (quick_doubles){
        {half_fma(x.a.low, y.a.low, z.a.low), half_fma(x.a.high, y.a.high, z.a.high)},
        {half_fma(x.b.low, y.b.low, z.b.low), half_fma(x.b.high, y.b.high, z.b.high)}};
}
static inline quick_doubles quick_fnma(quick_doubles x, quick_doubles y, quick_doubles z) {
    return (quick_doubles){
        {half_fma(-x.a.low, y.a.low, z.a.low), half_fma(-x.a.high, y.a.high, z.a.high)},
        {half_fma(-x.b.low, y.b.low, z.b.low), half_fma(-x.b.high, y.b.high, z.b.high)}};
}
static inline quick_doubles quick_at_least(quick_doubles x, double least) {
    return (quick_doubles){{half_at_least(x.a.low, least), half_at_least(x.a.high, least)},
                           {half_at_least(x.b.low, least), half_at_least(x.b.high, least)}};
}
static inline quick_doubles quick_scaled(quick_doubles x, quick_doubles t) {
    return (quick_doubles){{half_scaled(x.a.low, t.a.low), half_scaled(x.a.high, t.a.high)},
                           {half_scaled(x.b.low, t.b.low), half_scaled(x.b.high, t.b.high)}};
}
static inline quick_wide wide_load(const double *x) {
    return (quick_wide){half_load(x), half_load(x + QUICK_LANES / 2)};
}
static inline void wide_store(double *y, quick_wide v) {
    half_store(y, v.low);
    half_store(y + QUICK_LANES / 2, v.high);
}
static inline quick_doubles quick_load_doubles(const double *x) {
    return (quick_doubles){wide_load(x), wide_load(x + QUICK_LANES)};
}
static inline void quick_store_doubles(double *y, quick_doubles v) {
    wide_store(y, v.a);
    wide_store(y + QUICK_LANES, v.b);
}
static inline quick_doubles quick_widen(quick_two v) {
    return (quick_doubles){wide_of(v.a), wide_of(v.b)};
}
static inline quick_doubles quick_estimate(quick_doubles d) {
    return (quick_doubles){wide_estimate(d.a), wide_estimate(d.b)};
}

#endif

#endif
