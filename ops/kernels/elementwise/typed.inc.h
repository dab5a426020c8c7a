// SPDX-License-Identifier: Apache-2.0
// The bodies of the elementwise functions in registers other than float: int32_t (i32_), int64_t
// (i64_), uint64_t (u64_) and double (f64_). elementwise.inc.h has the loops.
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kernels/elementwise/elementwise_kernels.h"

//---- Integers: results wrap around ------------------------------------------

// Division by zero gives 0; the most negative number divided by -1 wraps around to itself.
static inline int64_t i64_divide(int64_t a, int64_t b) {
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    return b == 0 ? 0 : a / b;
}
static inline int32_t i32_divide(int32_t a, int32_t b) { return (int32_t)i64_divide(a, b); }
static inline uint64_t u64_divide(uint64_t a, uint64_t b) { return b == 0 ? 0 : a / b; }
static inline int64_t i64_abs(int64_t a) { return a < 0 ? (int64_t)(0 - (uint64_t)a) : a; }
static inline int32_t i32_abs(int32_t a) { return (int32_t)i64_abs(a); }
static inline uint64_t u64_abs(uint64_t a) { return a; }
static inline int64_t i64_neg(int64_t a) { return (int64_t)(0 - (uint64_t)a); }
static inline int32_t i32_neg(int32_t a) { return (int32_t)(0 - (uint32_t)a); }
static inline uint64_t u64_neg(uint64_t a) { return 0 - a; }
static inline int32_t i32_sign(int32_t a) { return (a > 0) - (a < 0); }
static inline int64_t i64_sign(int64_t a) { return (a > 0) - (a < 0); }
static inline uint64_t u64_sign(uint64_t a) { return a > 0; }

#define QDQ_WRAPPING(R, type)                                                                     \
    static inline type R##_add(type a, type b) { return (type)((uint64_t)a + (uint64_t)b); }      \
    static inline type R##_subtract(type a, type b) { return (type)((uint64_t)a - (uint64_t)b); } \
    static inline type R##_multiply(type a, type b) { return (type)((uint64_t)a * (uint64_t)b); }
QDQ_WRAPPING(i32, int32_t)
QDQ_WRAPPING(i64, int64_t)
QDQ_WRAPPING(u64, uint64_t)

// Powers by squaring. A negative exponent gives 1 / a^-b truncated to an integer: 0, or 1 or -1 if
// a is 1 or -1.
static inline int64_t power_below_zero(int64_t a, int64_t b) {
    return a == 1 || (a == -1 && b % 2 == 0) ? 1 : a == -1 ? -1 : 0;
}
static inline uint64_t u64_pow(uint64_t a, uint64_t b) {
    uint64_t y = 1;
    for (; b; b >>= 1, a *= a)
        if (b & 1) y *= a;
    return y;
}
static inline int64_t i64_pow(int64_t a, int64_t b) {
    return b < 0 ? power_below_zero(a, b) : (int64_t)u64_pow((uint64_t)a, (uint64_t)b);
}
static inline int32_t i32_pow(int32_t a, int32_t b) { return (int32_t)i64_pow(a, b); }

// Return the remainder, with the sign of a (fmod) or of b (mod). Division by zero gives 0.
static inline int64_t i64_fmod(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline int64_t i64_mod(int64_t a, int64_t b) {
    int64_t rest = i64_fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
static inline int32_t i32_fmod(int32_t a, int32_t b) { return (int32_t)i64_fmod(a, b); }
static inline int32_t i32_mod(int32_t a, int32_t b) { return (int32_t)i64_mod(a, b); }
static inline uint64_t u64_fmod(uint64_t a, uint64_t b) { return b == 0 ? 0 : a % b; }
static inline uint64_t u64_mod(uint64_t a, uint64_t b) { return u64_fmod(a, b); }

//---- All integers -----------------------------------------------------------

// Shifts by the width of the registers or more give 0. The elements are not negative.
#define QDQ_INTEGERS(R, type)                                                    \
    static inline type R##_quiet(type v) { return v; }                           \
    static inline type R##_minimum(type a, type b) { return a < b ? a : b; }     \
    static inline type R##_maximum(type a, type b) { return a > b ? a : b; }     \
    static inline type R##_logical_not(type a) { return a == 0; }                \
    static inline type R##_logical_and(type a, type b) { return a & b; }         \
    static inline type R##_logical_or(type a, type b) { return a | b; }          \
    static inline type R##_logical_xor(type a, type b) { return a ^ b; }         \
    static inline type R##_bitwise_not(type a) { return ~a; }                    \
    static inline type R##_bitwise_and(type a, type b) { return a & b; }         \
    static inline type R##_bitwise_or(type a, type b) { return a | b; }          \
    static inline type R##_bitwise_xor(type a, type b) { return a ^ b; }         \
    static inline type R##_shift_left(type a, type b) {                          \
        return (uint64_t)b < 64 ? (type)((uint64_t)a << ((uint64_t)b & 63)) : 0; \
    }                                                                            \
    static inline type R##_shift_right(type a, type b) {                         \
        return (uint64_t)b < 64 ? (type)((uint64_t)a >> ((uint64_t)b & 63)) : 0; \
    }                                                                            \
    static inline type R##_select(type a, type b, uint32_t c) { return c ? a : b; }
QDQ_INTEGERS(i32, int32_t)
QDQ_INTEGERS(i64, int64_t)
QDQ_INTEGERS(u64, uint64_t)

#define QDQ_COMPARISONS(R, type)                                            \
    static inline type R##_equal(type a, type b) { return a == b; }         \
    static inline type R##_greater(type a, type b) { return a > b; }        \
    static inline type R##_less(type a, type b) { return a < b; }           \
    static inline type R##_greater_equal(type a, type b) { return a >= b; } \
    static inline type R##_less_or_equal(type a, type b) { return a <= b; }
QDQ_COMPARISONS(i32, int32_t)
QDQ_COMPARISONS(i64, int64_t)
QDQ_COMPARISONS(u64, uint64_t)
QDQ_COMPARISONS(f64, double)

//---- double -----------------------------------------------------------------

static inline uint64_t f64_bits(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline double f64_from(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
static inline double f64_quiet(double v) {
    uint64_t is_nan = v != v ? UINT64_MAX : 0;
    return f64_from((UINT64_C(0x7FF8000000000000) & is_nan) | (f64_bits(v) & ~is_nan));
}
static inline double f64_abs(double a) { return fabs(a); }
static inline double f64_neg(double a) { return -a; }
static inline double f64_sign(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
static inline double f64_sign_ort(double a) { return a == 0.0 ? 0.0 : f64_sign(a); }
static inline double f64_floor(double a) { return floor(a); }
static inline double f64_ceil(double a) { return ceil(a); }
static inline double f64_trunc(double a) { return trunc(a); }
static inline double f64_fmod(double a, double b) { return fmod(a, b); }
static inline double f64_mod(double a, double b) {
    double rest = fmod(a, b);
    return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}
static inline double f64_sqrt(double a) { return sqrt(a); }
static inline double f64_is_nan(double a) { return a != a ? 1.0 : 0.0; }
static inline double f64_is_inf(double a, const qdq_elementwise_numbers *p) {
    return (a > DBL_MAX ? (double)p->alpha : 0.0) + (a < -DBL_MAX ? (double)p->beta : 0.0);
}
static inline double f64_add(double a, double b) { return a + b; }
static inline double f64_subtract(double a, double b) { return a - b; }
static inline double f64_multiply(double a, double b) { return a * b; }
static inline double f64_divide(double a, double b) { return a / b; }
// -0 is less than +0. If either operand is NaN, so is a + b.
static inline double f64_minimum(double a, double b) {
    double zero = f64_from(f64_bits(a) | f64_bits(b));
    return a < b ? a : b < a ? b : a == b ? zero : a + b;
}
static inline double f64_maximum(double a, double b) {
    double zero = f64_from(f64_bits(a) & f64_bits(b));
    return a > b ? a : b > a ? b : a == b ? zero : a + b;
}
static inline double f64_select(double a, double b, uint32_t c) {
    uint64_t mask = c ? UINT64_MAX : 0;
    return f64_from((f64_bits(a) & mask) | (f64_bits(b) & ~mask));
}
