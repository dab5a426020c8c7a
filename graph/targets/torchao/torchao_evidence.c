// SPDX-License-Identifier: Apache-2.0
// The evidence for the numbers of target torchao: how well each op is known, by release.
#include "graph/targets/target_ops.h"
#include "graph/targets/torchao/torchao.h"

#define ALL "Quantize Dequantize DynamicQuantize"
#define SIXTEEN \
    "16 dtypes to each other: every value of at most 16 bits, 65,536 of any bits of wider ones"

static bool is_to_e4m3fn(const qdq_op_context *ctx, qdq_bool saturate) {
    return ctx->outputs[0].dtype == QDQ_FLOAT8_E4M3FN &&
           ((const qdq_cast_attrs *)ctx->attrs)->saturate == saturate;
}

static bool must_overflow(const qdq_op_context *ctx) { return is_to_e4m3fn(ctx, QDQ_FALSE); }
static bool must_saturate(const qdq_op_context *ctx) { return is_to_e4m3fn(ctx, QDQ_TRUE); }

static bool to_float8(const qdq_op_context *ctx) {
    return qdq_set_has(QDQ_SET_SMALL_FLOATS, ctx->outputs[0].dtype);
}

// True unless a side is uint32 or uint64, for which the loops of PyTorch do not agree.
static bool has_no_wide_unsigned(const qdq_op_context *ctx) {
    qdq_dtype_set wide = QDQ_SET(UINT32) | QDQ_SET(UINT64);
    return !qdq_set_has(wide, ctx->inputs[QDQ_PORT_X].type.dtype) &&
           !qdq_set_has(wide, ctx->outputs[0].dtype);
}

// clang-format off
const qdq_evidence_row qdq_torchao_evidence[] = {
    QDQ_RUN("0.18", ALL, "quantizing ops", "torchao 0.18.0 with PyTorch 2.15.0", "102 million elements in 774 cases, 320 cases of bounds, 18 million elements at edges", "2026-11-29"),
    QDQ_READ_IF(NULL, "0.18-ideal", ALL, "quantizing ops", "", "0.18, without x86-64's conversions"),
    QDQ_RUN("0.12", ALL, "quantizing ops", "torchao 0.12.0 with PyTorch 2.8.0", "4,400 random nodes and 361 groups of vectors/", "2026-11-30"),
    QDQ_READ_IF(NULL, "0.11", ALL, "quantizing ops", "", "torchao quant_primitives.py, of 0.12; 340 groups of vectors/ in 0.11.0"),
    QDQ_READ_IF(NULL, "", "Requantize", "Requantize", "", "its two halves: torchao has no Requantize"),
    QDQ_UNLIKE_IF(must_overflow, "0.18 0.18-ideal", "Cast", "Cast", "to float8_e4m3fn, `saturate` false", "PyTorch 2.15.0", "it saturates", "2026-11-30"),
    QDQ_UNLIKE_IF(must_saturate, "0.11 0.12", "Cast", "Cast", "to float8_e4m3fn, `saturate` true", "PyTorch 2.7.1 and 2.8.0", "it becomes NaN", "2026-11-30"),
    QDQ_RUN_IF(has_no_wide_unsigned, "0.18", "Cast", "Cast", "neither uint32 nor uint64", "PyTorch 2.15.0", SIXTEEN, "2026-11-29"),
    QDQ_RUN_IF(has_no_wide_unsigned, "0.11 0.12", "Cast", "Cast", "neither uint32 nor uint64", "PyTorch 2.7.1 and 2.8.0", SIXTEEN, "2026-11-30"),
    QDQ_RUN_IF(to_float8, "0.18-ideal", "Cast", "Cast", "to float8", "PyTorch 2.15.0", "24 numbers to each of four dtypes", "2026-11-22"),
    QDQ_READ_IF(NULL, "", "Cast", "Cast", "", "PyTorch's conversions"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", "PyTorch's functions: elements are not computed"),
    QDQ_READ_IF(NULL, "", QDQ_CHOOSING_OPS, "choices and comparisons", "", "PyTorch's functions: elements are not rounded"),
    QDQ_READ_IF(qdq_is_float32, "", QDQ_ROUNDED_ONCE, "arithmetic", "float32", "IEEE 754, which rounds these results once"),
    QDQ_READ_IF(qdq_is_whole, "", QDQ_ROUNDED_ONCE, "arithmetic", "integers", "PyTorch's functions"),
    {{0}, NULL},
};
// clang-format on
