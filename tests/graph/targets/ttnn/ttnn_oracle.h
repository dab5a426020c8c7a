// SPDX-License-Identifier: Apache-2.0
// A model of ttnn's quantize, dequantize and requantize (tt-metal, quantization.cpp at 0197d822) in
// the exact arithmetic of tests/ops/oracle.h: each operation on digits * 2^exponent, rounded once,
// then flushed as the vector unit does. Values of every type are kept in a double.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_ORACLE_H
#define QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_ORACLE_H

#include "tests/ops/oracle.h"

//---- The vector unit and the packer -----------------------------------------

// Denormals and -0 become +0, as operands and as results.
static inline double ttnn_flush(double v) { return fabs(v) < 0x1p-126 ? 0.0 : v; }

// The result of an operation. A NaN has the sign of the first NaN operand; a new NaN has no sign.
static inline double ttnn_result(double v, double a, double b) {
    if (isnan(v)) return copysign((double)NAN, isnan(a) ? a : isnan(b) ? b : 1.0);
    return ttnn_flush(v);
}

static inline double ttnn_div(double a, double b) {
    return ttnn_result(oracle_div(ttnn_flush(a), ttnn_flush(b)), a, b);
}
static inline double ttnn_mul(double a, double b) {
    return ttnn_result(oracle_mul(ttnn_flush(a), ttnn_flush(b)), a, b);
}
static inline double ttnn_add(double a, double b) {
    return ttnn_result(oracle_add(ttnn_flush(a), ttnn_flush(b)), a, b);
}
static inline double ttnn_fma(double a, double b, double c) {
    return ttnn_result(oracle_fma(ttnn_flush(a), ttnn_flush(b), ttnn_flush(c)), a, b);
}

// A float32 as the packer stores it in a bfloat16: eight digits, halves away from zero; no
// denormals, no -0, no NaN.
static inline double ttnn_bfloat16(double v) {
    if (!isfinite(v)) return copysign((double)INFINITY, v);
    if (ttnn_flush(v) == 0) return 0;
    oracle_real r = oracle_lift(oracle_exactly(v));  // 62 digits
    uint64_t unit = (uint64_t)1 << 54, lost = r.digits % unit, kept = r.digits / unit;
    double size = ldexp((double)(lost >= unit / 2 ? kept + 1 : kept), r.exponent + 54);
    return copysign(size < 0x1p128 ? size : (double)INFINITY, v);
}

// A value rounded to `dtype`, float32 or bfloat16.
static inline double ttnn_as(qdq_dtype dtype, double v) {
    return dtype == QDQ_BFLOAT16 ? ttnn_bfloat16(v) : v;
}

//---- Integers ---------------------------------------------------------------

// The rounding of the integer stages.
static inline int64_t ttnn_round(double v, qdq_dtype to) {
    if (isnan(v)) return to == QDQ_UINT8 ? 255 : 127;
    if (to == QDQ_INT8) {
        double w = ttnn_add(v, 128);
        int64_t i = w < 0 ? 0 : oracle_to_integer(w, QDQ_ROUND_HALF_UP);
        return (i > 255 ? 255 : i) - 128;
    }
    int64_t size = oracle_to_integer(fabs(v), QDQ_ROUND_HALF_AWAY);
    if (to == QDQ_UINT8) return size > 255 ? 255 : size;
    size = size > 127 ? 127 : size;
    return v < 0 ? -size : size;
}

// The last stage of the composite paths: a cast, and for int8 a second quantize.
static inline int64_t ttnn_narrow(double u, qdq_dtype to) {
    if (to == QDQ_INT8) return ttnn_round(ttnn_fma(u, 1, 0), to);
    if (isnan(u)) return to == QDQ_UINT8 ? 0 : INT32_MIN;
    int64_t i = oracle_to_integer(u, QDQ_ROUND_TRUNCATE);
    i = i < INT32_MIN ? INT32_MIN : i > INT32_MAX ? INT32_MAX : i;
    return to == QDQ_UINT8 ? ((i % 256) + 256) % 256 : i;
}

// The offset at which the fused kernels read a code: an int8 arrives as 0 to 255.
static inline int64_t ttnn_bias(qdq_dtype from) { return from == QDQ_INT8 ? 128 : 0; }

//---- The ops ----------------------------------------------------------------

// Parameters, and whether each is a tensor or a scalar, which decides the path.
typedef struct ttnn_side {
    double scale;
    int64_t zp;
    bool scale_tensor, zp_tensor;
} ttnn_side;

// A tensor scale is cast to the dtype of x; a scalar scale stays float32.
static inline int64_t ttnn_quantize(double x, qdq_dtype from, ttnn_side p, qdq_dtype to) {
    double z = oracle_of_integer(p.zp);
    if (!p.zp_tensor) return ttnn_round(ttnn_fma(x, ttnn_div(1, p.scale), z), to);
    double s = p.scale_tensor ? ttnn_as(from, p.scale) : p.scale;
    double t = ttnn_as(from, ttnn_div(x, s));
    return ttnn_narrow(ttnn_as(from, ttnn_add(t, ttnn_as(from, z))), to);
}

static inline double ttnn_dequantize(int64_t q, qdq_dtype from, ttnn_side p, qdq_dtype to) {
    int64_t bias = ttnn_bias(from);
    double d = p.zp_tensor ? oracle_of_integer(q - p.zp)
                           : ttnn_add(oracle_of_integer(q + bias), oracle_of_integer(-p.zp - bias));
    return ttnn_as(to, ttnn_mul(d, p.scale));
}

static inline int64_t ttnn_requantize_fused(int64_t q, qdq_dtype from, ttnn_side in, ttnn_side out,
                                            qdq_dtype to) {
    double r = ttnn_div(in.scale, out.scale);
    double shift = ttnn_mul(oracle_of_integer(in.zp + ttnn_bias(from)), r);
    double z = ttnn_add(oracle_of_integer(out.zp), -shift);
    return ttnn_round(ttnn_fma(oracle_of_integer(q + ttnn_bias(from)), r, z), to);
}

static inline int64_t ttnn_requantize_expanded(int64_t q, ttnn_side in, ttnn_side out) {
    double r = ttnn_div(in.scale, out.scale);
    double z = ttnn_add(oracle_of_integer(out.zp), -ttnn_mul(oracle_of_integer(in.zp), r));
    return ttnn_narrow(ttnn_add(ttnn_mul(oracle_of_integer(q), r), z), QDQ_INT32);
}

static inline int64_t ttnn_requantize(int64_t q, qdq_dtype from, ttnn_side in, ttnn_side out,
                                      bool axis, qdq_dtype to) {
    int tensors = in.scale_tensor + in.zp_tensor + out.scale_tensor + out.zp_tensor;
    if (tensors == 4 && axis) return ttnn_requantize_expanded(q, in, out);
    if (tensors == 0) return ttnn_requantize_fused(q, from, in, out, to);
    return ttnn_quantize(ttnn_dequantize(q, from, in, QDQ_BFLOAT16), QDQ_BFLOAT16, out, to);
}

#endif
