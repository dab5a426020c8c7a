// SPDX-License-Identifier: Apache-2.0
// A model of oneDNN in exact arithmetic. All steps are float32:
//
//   Quantize    v = fl(x * fl(1 / s)), v = fl(v + fl(z)), clamped, half even; float8 via float16
//   Dequantize  fl(fl(fl(q) - fl(z)) * s), rounded once more to float16 or bfloat16
//
// If all scales of an attribute are within 1e-6 of 1, they count as 1. A zero point of 0 is not
// added, so -0 stays. A float32 below 2^-126 becomes 0 as bfloat16. Nothing here calls the library.
#ifndef QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_MODEL_H
#define QDQ_TESTS_GRAPH_TARGETS_ONEDNN_ONEDNN_MODEL_H

#include "tests/graph/targets/onednn/onednn_inputs.h"
#include "tests/ops/oracle.h"
#include "tests/small_floats.h"

// clang-format off
static const struct {
    qdq_dtype dtype;
    int64_t least, greatest;  // the integers that Quantize may give
} onednn_dtypes[] = {
    [ONEDNN_NONE] = {QDQ_DTYPE_NONE, 0, 0},
    [ONEDNN_F32] = {QDQ_FLOAT32, 0, 0},
    [ONEDNN_F16] = {QDQ_FLOAT16, 0, 0},
    [ONEDNN_BF16] = {QDQ_BFLOAT16, 0, 0},
    [ONEDNN_S8] = {QDQ_INT8, -128, 127},
    [ONEDNN_U8] = {QDQ_UINT8, 0, 255},
    [ONEDNN_S4] = {QDQ_INT4, -8, 7},
    [ONEDNN_U4] = {QDQ_UINT4, 0, 15},
    [ONEDNN_S32] = {QDQ_INT32, INT32_MIN, 2147483520},  // the last float32 below 2^31
    [ONEDNN_E4M3] = {QDQ_FLOAT8_E4M3FN, 0, 0},
    [ONEDNN_E5M2] = {QDQ_FLOAT8_E5M2, 0, 0},
};
// clang-format on

typedef struct model_parameter {
    double scale;
    int64_t zp;
} model_parameter;

//---- Codes and numbers ------------------------------------------------------

static inline double model_value(onednn_type type, uint32_t code) {
    const small_format *f = small_format_of(onednn_dtypes[type].dtype);
    if (f) return small_value(f, code);
    if (type == ONEDNN_F32) return (double)onednn_float(code);
    if (type == ONEDNN_S8 || type == ONEDNN_S4) return (double)(int8_t)code;
    return type == ONEDNN_S32 ? oracle_of_integer((int32_t)code) : (double)code;
}

static inline uint32_t model_code(onednn_type type, double value) {
    const small_format *f = small_format_of(onednn_dtypes[type].dtype);
    if (type == ONEDNN_BF16 && fabs(value) < 0x1p-126) value = copysign(0, value);
    if (f) return small_encode(f, value, QDQ_FLOAT_OVERFLOW);
    if (type == ONEDNN_F32) return onednn_bits((float)value);
    uint32_t code = (uint32_t)(int32_t)(int64_t)value;
    return onednn_size(type) == 1 ? code & 0xFF : code;
}

// The float8 of a float32, from a table with the float8 of every float16.
static inline uint32_t model_float8(onednn_type to, double value) {
    static uint8_t codes[2][65536];
    static bool made[2];
    int list = to == ONEDNN_E4M3;
    const small_format *half = small_format_of(QDQ_FLOAT16);
    for (uint32_t code = 0; !made[list] && code < 65536; code++)
        codes[list][code] = (uint8_t)model_code(to, small_value(half, code));
    made[list] = true;
    return codes[list][small_encode(half, value, QDQ_FLOAT_OVERFLOW)];
}

//---- The formulas -----------------------------------------------------------

// Whether all scales of an attribute (float32 bits) count as 1.
static inline bool model_counts_as_one(const uint32_t *scales, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!(fabs((double)onednn_float(scales[i]) - 1) <= 1e-6)) return false;
    return true;
}

// Rounds half to even and clamps to [least, greatest]; NaN becomes x86's integer for NaN.
static inline int64_t model_whole(onednn_type to, double v) {
    int64_t least = onednn_dtypes[to].least, greatest = onednn_dtypes[to].greatest;
    if (isnan(v)) return least;
    int64_t y = oracle_to_integer(v, QDQ_ROUND_HALF_EVEN);
    return y < least ? least : y > greatest ? greatest : y;
}

static inline double model_scaled(double x, model_parameter p) {
    double v = oracle_mul(x, oracle_div(1, p.scale));
    return p.zp ? oracle_add(v, oracle_of_integer(p.zp)) : v;
}

static inline uint32_t model_quantize(double x, model_parameter p, onednn_type to) {
    double v = model_scaled(x, p);
    if (onednn_is_float8(to)) return model_float8(to, v);
    return model_code(to, (double)model_whole(to, v));
}

static inline double model_dequantize(double q, model_parameter p) {
    return oracle_mul(oracle_add(q, -oracle_of_integer(p.zp)), p.scale);
}

//---- A case -----------------------------------------------------------------

static inline model_parameter model_parameter_of(const onednn_case *c, size_t i) {
    size_t at = i / c->span;
    return (model_parameter){model_value(c->scale_type, c->scales[at]), c->zps[at]};
}

static inline uint32_t model_element(const onednn_case *c, size_t i, bool as_one) {
    double x = model_value(c->batch.from, c->x[i]);
    model_parameter p = model_parameter_of(c, i);
    if (as_one) p.scale = 1;
    if (c->batch.op == ONEDNN_TYPE_CAST) return model_code(c->batch.to, x);
    if (c->batch.from == ONEDNN_F32) return model_quantize(x, p, c->batch.to);
    return model_code(c->batch.to, model_dequantize(x, p));
}

// The wanted results as codes.
static inline uint32_t *model_run(const onednn_case *c) {
    bool is_static = c->batch.op == ONEDNN_QUANTIZE || c->batch.op == ONEDNN_DEQUANTIZE;
    bool as_one = is_static && model_counts_as_one(c->scales, c->parameters);
    uint32_t *y = oracle_memory(c->count * sizeof *y);
    for (size_t i = 0; i < c->count; i++) y[i] = model_element(c, i, as_one);
    return y;
}

#endif
