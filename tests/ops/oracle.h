// SPDX-License-Identifier: Apache-2.0
// The results that the quantizing ops must give, computed from the formulas of numerics.h in
// integer arithmetic. Each operation is exact on digits * 2^exponent and is then rounded once, by
// comparing the lost part with one half. No float operation of the host rounds here, so the model
// cannot share an arithmetic mistake with the library. Values of every float type are kept in a
// double, which holds them all. Only oracle_run, at the end, calls the library.
#ifndef QDQ_TESTS_OPS_ORACLE_H
#define QDQ_TESTS_OPS_ORACLE_H

#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

//---- Exact numbers ----------------------------------------------------------

// +-(digits + f) * 2^exponent: f is 0, or with `more` some unknown number between 0 and 1.
typedef struct oracle_real {
    bool negative;
    uint64_t digits;  // below 2^63
    int exponent;
    bool more;
} oracle_real;

// A finite double as its odd digits and an exponent.
static inline oracle_real oracle_exactly(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7FF);
    oracle_real r = {bits >> 63 != 0, bits & 0xFFFFFFFFFFFFFu, 0, false};
    if (biased) r.digits |= (uint64_t)1 << 52;
    r.exponent = (biased ? biased : 1) - 1075;
    while (r.digits && !(r.digits & 1)) {
        int zeros = r.digits & 0xFFFF ? 1 : 16;
        r.digits >>= zeros;
        r.exponent += zeros;
    }
    return r;
}

// The same number with its highest digit at 2^61.
static inline oracle_real oracle_lift(oracle_real r) {
    int shift = __builtin_clzll(r.digits) - 2;
    r.digits <<= shift;
    r.exponent -= shift;
    return r;
}

static inline oracle_real oracle_product(oracle_real a, oracle_real b) {
    return (oracle_real){a.negative != b.negative, a.digits * b.digits, a.exponent + b.exponent,
                         false};  // exact: each has at most 31 digits
}

static inline oracle_real oracle_quotient(oracle_real a, oracle_real b) {
    a = oracle_lift(a);  // leaves at least 37 digits, as b has at most 24
    return (oracle_real){a.negative != b.negative, a.digits / b.digits, a.exponent - b.exponent,
                         a.digits % b.digits != 0};
}

static inline oracle_real oracle_sum(oracle_real a, oracle_real b) {
    if (!a.digits) return b;
    if (!b.digits) return a;
    a = oracle_lift(a), b = oracle_lift(b);
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.digits < b.digits)) {
        oracle_real t = a;
        a = b, b = t;
    }
    int shift = a.exponent - b.exponent;
    uint64_t kept = shift > 63 ? 0 : b.digits >> shift;
    a.more = shift > 63 || kept << shift != b.digits;
    a.digits = a.negative == b.negative ? a.digits + kept : a.digits - kept - a.more;
    return a.digits ? a : (oracle_real){0};
}

//---- float32 ----------------------------------------------------------------

// The nearest float32, ties to even: 24 digits, no digit below 2^-149, infinity from 2^128 on.
static inline double oracle_float32(oracle_real r) {
    if (!r.digits) return r.negative ? -0.0 : 0.0;
    int first = r.exponent + 63 - __builtin_clzll(r.digits);
    int last = first - 23 > -149 ? first - 23 : -149;
    int drop = last - r.exponent;
    uint64_t kept = r.digits;
    if (drop > 63) {
        kept = 0;  // less than half: below 2^63, and a unit is at least 2^64
    } else if (drop > 0) {
        uint64_t half = (uint64_t)1 << (drop - 1), lost = kept & (half * 2 - 1);
        kept >>= drop;
        if (lost > half || (lost == half && (r.more || (kept & 1)))) kept++;
    } else {
        last = r.exponent;
    }
    double value = ldexp((double)kept, last);
    if (value >= 0x1p128) value = INFINITY;
    return r.negative ? -value : value;
}

static inline double oracle_of_integer(int64_t i) {
    return oracle_float32((oracle_real){i < 0, i < 0 ? 0 - (uint64_t)i : (uint64_t)i, 0, false});
}

// Operands for which double arithmetic gives the float32 result: the result is NaN, infinity, zero
// or one of the operands.
static inline bool oracle_plain(double a, double b) {
    return !isfinite(a) || !isfinite(b) || a == 0 || b == 0;
}

static inline double oracle_div(double a, double b) {
    if (oracle_plain(a, b)) return a / b;
    return oracle_float32(oracle_quotient(oracle_exactly(a), oracle_exactly(b)));
}

static inline double oracle_mul(double a, double b) {
    if (oracle_plain(a, b)) return a * b;
    return oracle_float32(oracle_product(oracle_exactly(a), oracle_exactly(b)));
}

// fl(a + b) of any two numbers of at most 31 digits, which covers integers.
static inline double oracle_add(double a, double b) {
    if (!isfinite(a) || !isfinite(b) || (a == 0 && b == 0)) return a + b;
    return oracle_float32(oracle_sum(oracle_exactly(a), oracle_exactly(b)));
}

static inline double oracle_fma(double a, double b, double c) {
    // a * b or c is not finite, or the product is zero
    if (oracle_plain(a, b) || !isfinite(c)) return oracle_add(a * b, c);
    return oracle_float32(
        oracle_sum(oracle_product(oracle_exactly(a), oracle_exactly(b)), oracle_exactly(c)));
}

//---- bfloat16 ---------------------------------------------------------------

static inline double oracle_of_bfloat16(uint16_t code) {
    return unit_float_of_bits((uint32_t)code << 16);
}

// The bfloat16 of a float32, by its distances to the two neighbours. There is one NaN.
static inline uint16_t oracle_to_bfloat16(double value, qdq_bfloat16_store store) {
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    double size = fabs(value);
    if (isnan(value)) return store == QDQ_BFLOAT16_DEVICE ? sign | 0x7F80 : 0x7FC0;
    if (store == QDQ_BFLOAT16_DEVICE && size < 0x1p-126) return 0;
    uint16_t low = 0, high = 0x7F80;  // bisect, as values grow with their codes
    while (high - low > 1) {
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (oracle_of_bfloat16(middle) <= size)
            low = middle;
        else
            high = middle;
    }
    if (isinf(value)) return sign | 0x7F80;
    double down = size - oracle_of_bfloat16(low);  // exact, as are neighbours of one binade
    double up = (high == 0x7F80 ? 0x1p128 : oracle_of_bfloat16(high)) - size;
    bool away = up < down || (up == down && (store == QDQ_BFLOAT16_DEVICE || (low & 1)));
    if (store == QDQ_BFLOAT16_TRUNCATE) away = false;
    return sign | (away ? high : low);
}

// A float32 rounded to a float dtype; QDQ_DTYPE_NONE means float32.
static inline double oracle_rounded(double value, qdq_dtype dtype, const qdq_numerics *n) {
    if (dtype != QDQ_BFLOAT16) return value;
    return oracle_of_bfloat16(oracle_to_bfloat16(value, n->bfloat16_store));
}

//---- Integers ---------------------------------------------------------------

// The integers that Quantize may give: the range of the dtype, narrowed by attributes and numerics.
typedef struct oracle_range {
    qdq_dtype dtype;
    int64_t least, greatest;
} oracle_range;

static inline oracle_range oracle_range_of(qdq_dtype dtype, const qdq_numerics *n) {
    oracle_range r = {dtype, INT32_MIN, INT32_MAX};
    if (dtype == QDQ_INT8) r.least = -128, r.greatest = 127;
    if (dtype == QDQ_UINT8) r.least = 0, r.greatest = 255;
    if (n->narrow && n->quant_min > r.least) r.least = n->quant_min;
    if (n->narrow && n->quant_max < r.greatest) r.greatest = n->quant_max;
    return r;
}

// Rounds any number except NaN; numbers beyond +-2^62 become +-2^62.
static inline int64_t oracle_to_integer(double value, qdq_rounding rounding) {
    int64_t most = (int64_t)1 << 62;
    if (fabs(value) >= 0x1p62) return value < 0 ? -most : most;
    oracle_real r = oracle_exactly(value);
    // twice: 0, 1, 2, 3 for a remainder of none, below, at, above one half
    uint64_t whole, twice = 0;
    if (r.exponent >= 0) {
        whole = r.digits << r.exponent;
    } else if (r.exponent < -62) {
        whole = 0, twice = r.digits != 0;
    } else {
        uint64_t one = (uint64_t)1 << -r.exponent, rest = r.digits & (one - 1);
        whole = r.digits >> -r.exponent;
        twice = rest == 0 ? 0 : rest * 2 < one ? 1 : rest * 2 == one ? 2 : 3;
    }
    bool up = twice == 3;
    if (twice == 2) {
        up = rounding == QDQ_ROUND_HALF_AWAY || (rounding == QDQ_ROUND_HALF_EVEN && (whole & 1)) ||
             (rounding == QDQ_ROUND_HALF_UP && !r.negative);
    }
    if (rounding == QDQ_ROUND_TRUNCATE) up = false;
    int64_t size = (int64_t)(whole + up);
    return r.negative ? -size : size;
}

static inline int64_t oracle_overflow(int64_t i, oracle_range range, qdq_overflow overflow) {
    if (i >= range.least && i <= range.greatest) return i;
    if (overflow == QDQ_OVERFLOW_SATURATE) return i < range.least ? range.least : range.greatest;
    i = i < INT32_MIN ? INT32_MIN : i > INT32_MAX ? INT32_MAX : i;
    int64_t low = ((i % 256) + 256) % 256;
    return range.dtype == QDQ_INT32 ? i : range.dtype == QDQ_INT8 && low > 127 ? low - 256 : low;
}

// round(v) + after, brought into the range; `zp` is the result for x = 0.
static inline int64_t oracle_finish(double v, int64_t after, int64_t zp, oracle_range range,
                                    const qdq_numerics *n) {
    if (isnan(v)) {
        if (n->nan == QDQ_NAN_QUANT_MIN) return range.least;
        if (n->nan == QDQ_NAN_QUANT_MAX) return range.greatest;
        return oracle_overflow(zp, range, n->overflow);
    }
    return oracle_overflow(oracle_to_integer(v, n->rounding) + after, range, n->overflow);
}

//---- The ops ----------------------------------------------------------------

// x is a float32; an int32 input goes through oracle_of_integer first.
static inline int64_t oracle_quantize(double x, double scale, int64_t zp, oracle_range range,
                                      const qdq_numerics *n) {
    qdq_dtype step = n->quantize_step_dtype, inverse = n->reciprocal_dtype;
    double z = oracle_rounded(oracle_of_integer(zp), step, n), v;
    if (n->zero_point_order == QDQ_ZERO_POINT_FMA) {
        v = oracle_fma(x, oracle_rounded(oracle_div(1, scale), inverse, n), z);
    } else if (n->scaling == QDQ_SCALE_RECIPROCAL) {
        v = oracle_mul(x, oracle_rounded(oracle_div(1, scale), inverse, n));
    } else {
        v = oracle_div(x, scale);
    }
    v = oracle_rounded(v, step, n);
    if (n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT && fabs(v) < 0x1p40)
        v = oracle_of_integer(oracle_to_integer(v, n->rounding));
    if (n->zero_point_order == QDQ_ZERO_POINT_BEFORE ||
        n->zero_point_order == QDQ_ZERO_POINT_AFTER_FLOAT)
        v = oracle_rounded(oracle_add(v, z), step, n);
    return oracle_finish(v, n->zero_point_order == QDQ_ZERO_POINT_AFTER ? zp : 0, zp, range, n);
}

// q is an int32 or any float32. The result is a float32, before it is stored as the output dtype.
static inline double oracle_dequantize(double q, double scale, int64_t zp, const qdq_numerics *n) {
    qdq_dtype step = n->dequantize_step_dtype;
    double d = n->subtraction == QDQ_SUBTRACT_EXACT
                   ? oracle_add(q, (double)-zp)
                   : oracle_add(oracle_rounded(oracle_add(q, 0), step, n),
                                -oracle_rounded(oracle_of_integer(zp), step, n));
    d = oracle_rounded(d, step, n);
    return oracle_rounded(oracle_mul(d, scale), step, n);
}

typedef struct oracle_side {
    double scale;
    int64_t zp;
} oracle_side;

static inline int64_t oracle_requantize(double q, oracle_side in, oracle_side out,
                                        oracle_range range, const qdq_numerics *n) {
    if (n->requantize_form == QDQ_REQUANTIZE_PAIR) {
        double x = oracle_dequantize(q, in.scale, in.zp, n);
        x = oracle_rounded(x, n->requantize_dtype, n);
        return oracle_quantize(x, out.scale, out.zp, range, n);
    }
    double r = oracle_div(in.scale, out.scale), f = oracle_add(q, 0);
    double z = oracle_add(oracle_of_integer(out.zp), -oracle_mul(oracle_of_integer(in.zp), r));
    double v = n->requantize_form == QDQ_REQUANTIZE_FUSED ? oracle_fma(f, r, z)
                                                          : oracle_add(oracle_mul(f, r), z);
    return oracle_finish(v, 0, out.zp, range, n);
}

// DynamicQuantize: the parameters for values in [lo, hi] with lo <= 0 <= hi; eps 0 means none.
static inline oracle_side oracle_parameters(double lo, double hi, qdq_scheme scheme, double eps,
                                            oracle_range range) {
    double span = (double)(range.greatest - range.least), size = -lo > hi ? -lo : hi;
    oracle_side p = {1, 0};
    if (lo == 0 && hi == 0) return p;
    p.scale = scheme == QDQ_SYMMETRIC ? oracle_div(size, oracle_of_integer(range.greatest))
                                      : oracle_div(oracle_add(hi, -lo), oracle_add(span, 0));
    if (p.scale < eps) p.scale = eps;
    if (scheme == QDQ_SYMMETRIC) return p;
    double zp = oracle_add((double)range.least, -oracle_div(lo, p.scale));
    p.zp =
        oracle_overflow(oracle_to_integer(zp, QDQ_ROUND_HALF_EVEN), range, QDQ_OVERFLOW_SATURATE);
    return p;
}

//---- Inputs -----------------------------------------------------------------

// Scales: the powers of two 2^-7..2^3, k/127, and 0.1.
enum { ORACLE_SCALES = 20 };
static inline float oracle_scale(size_t index) {
    static const float k[8] = {1, 2, 3, 5, 13, 64, 100, 127};
    if (index < 11) return ldexpf(1.0f, (int)index - 7);
    return index < 19 ? k[index - 11] / 127.0f : 0.1f;
}

static const int64_t oracle_zps[4] = {0, 3, -7, 127};
static const qdq_dtype oracle_dtypes[3] = {QDQ_INT8, QDQ_UINT8, QDQ_INT32};
static const qdq_numerics oracle_core = {0};

// malloc; the test fails if there is no memory.
static inline void *oracle_memory(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    assert_non_null(memory);
    return memory;
}

//---- Running a graph --------------------------------------------------------

// An input or output by name, in row-major memory of its own dtype.
typedef struct oracle_bound {
    char name[8];
    void *data;
    size_t bytes;
} oracle_bound;

// Compiles `graph`, in rows unless it is materialized, and runs it once on the bound memory. The
// graph is not destroyed.
static inline void oracle_run(qdq_graph *graph, const qdq_compile_options *options,
                              const oracle_bound *bound, size_t count) {
    qdq_error err = {0};
    qdq_compile_options in_rows = options ? *options : (qdq_compile_options){0};
    if (!in_rows.materialize) in_rows.layout = QDQ_PLAN_ROWS;
    qdq_plan *plan = qdq_graph_compile(graph, &in_rows, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    qdq_exec *exec = qdq_exec_create(plan, &(qdq_exec_options){.poison = true}, &err);
    if (!exec) fail_msg("exec: %s", err.text);
    for (size_t i = 0; i < count; i++) {
        if (qdq_exec_bind(exec, bound[i].name, bound[i].data, bound[i].bytes, &err))
            fail_msg("bind: %s", err.text);
    }
    qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

// Element i of a buffer of one of the dtypes below.
static inline double oracle_at(qdq_dtype dtype, const void *data, size_t i) {
    switch (dtype) {
    case QDQ_INT8: return ((const int8_t *)data)[i];
    case QDQ_UINT8: return ((const uint8_t *)data)[i];
    case QDQ_INT32: return ((const int32_t *)data)[i];
    case QDQ_BFLOAT16: return oracle_of_bfloat16(((const uint16_t *)data)[i]);
    default: return (double)((const float *)data)[i];
    }
}

// x as Quantize computes with it: as a float32.
static inline double oracle_x(qdq_dtype dtype, const void *data, size_t i) {
    double x = oracle_at(dtype, data, i);
    return dtype == QDQ_INT32 ? oracle_of_integer((int64_t)x) : x;
}

// Fails unless an element of an integer output is as wanted.
static inline void oracle_check(const char *what, double x, double scale, int64_t zp,
                                qdq_dtype dtype, double got, int64_t want) {
    if (got == (double)want) return;
    float xf = (float)x, sf = (float)scale;
    fail_msg("%s: x %.9g (%08x) scale %.9g (%08x) zp %lld to %s: got %.0f, want %lld", what, x,
             unit_bits_of_float(xf), scale, unit_bits_of_float(sf), (long long)zp,
             qdq_dtype_name(dtype), got, (long long)want);
}

#endif
