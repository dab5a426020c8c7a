// SPDX-License-Identifier: Apache-2.0
// The evidence of target onednn: nodes that were compared with oneDNN Graph's library on the CPU, by
// tools/peers/renew.py, and nodes whose source was read.
#include "graph/targets/checks.h"
#include "graph/targets/onednn/onednn.h"
#include "graph/targets/target_ops.h"

//---- Conditions -------------------------------------------------------------

// True for nodes without blocks, and without dynamic codes of float8: as the releases have them.
static bool is_in_releases(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    bool blocks = a && a->qtype == QDQ_PER_GROUP;
    bool dynamic = qdq_op_context_is(ctx, "DynamicQuantize");
    return !blocks && (!dynamic || qdq_dtype_is_int(qdq_quantized_dtype(ctx)));
}

static bool is_small_float(const qdq_op_context *ctx) {
    qdq_dtype x = ctx->inputs[0].type.dtype;
    return x == QDQ_BFLOAT16 || x == QDQ_FLOAT16;
}

// True for dtypes whose elements keep the sign of zero on every CPU.
static bool is_no_small_float(const qdq_op_context *ctx) { return !is_small_float(ctx); }

static bool is_real(const qdq_op_context *ctx) {
    return qdq_dtype_is_real(ctx->inputs[0].type.dtype);
}

//---- Rows -------------------------------------------------------------------

#define PEER "oneDNN 3.13.2 on x86-64"
#define CODERS "Quantize Dequantize DynamicQuantize Cast", "quantizing ops"
#define CLOSE "random graphs, 65,536 elements of any bits: within 6e-7 of the greatest, but for NaN, infinities and Log of subnormals"
#define BY_SHAPE "MaxPool ReduceMax ReduceMin GreaterEqual"
// Float ops whose sums and formulas are the library's.
#define OTHER_FORMULAS                                                                           \
    "MatMul Convolution ConvTranspose AvgPool BatchNormInference BatchNormForwardTraining Elu "  \
    "Exp GELU GroupNorm HardSigmoid HardSwish Interpolate LayerNorm Log LogSoftmax Mish PReLU "  \
    "ReduceL1 ReduceL2 ReduceMean ReduceProd ReduceSum RMSNorm Sigmoid SoftMax Tanh",            \
        "float ops with other formulas", "floats"

// clang-format off
const qdq_evidence_row qdq_onednn_evidence[] = {
    QDQ_RUN_IF(NULL, "3.14", CODERS, "", PEER, "26 million elements in 75 batches", "2026-11-21"),
    QDQ_RUN_IF(is_in_releases, "main", CODERS, "as 3.14 has them", PEER, "26 million elements in 75 batches", "2026-11-21"),
    QDQ_READ_IF(NULL, "main", CODERS, "", "op_def.hpp of main"),
    QDQ_READ_IF(NULL, "", "Requantize", "Requantize", "", "its two halves: oneDNN has no Requantize"),

    QDQ_RUN_IF(qdq_is_float32, "", "Abs ReLU Clamp Maximum Minimum Round", "choices and comparisons", "float32", PEER, "430,228 elements, special ones and any bits among them", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "", "Add Subtract Multiply Divide Sqrt Square LeakyReLU BiasAdd", "arithmetic", "float32", PEER, "869,078 elements, special ones and any bits among them", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "", "Concat StaticReshape StaticTranspose Reorder GenIndex Select", "moves", "float32", PEER, "33,356 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "", BY_SHAPE, "maxima and comparisons", "float32, without NaN", PEER, "18,426 elements", "2026-11-29"),
    QDQ_CLOSE_IF(is_small_float, "", "Reorder", "Reorder", "bfloat16, float16", PEER, "-0 becomes +0, of bfloat16 on some CPUs", "2026-11-29"),
    QDQ_CLOSE_IF(is_small_float, "", QDQ_CHOOSING_OPS " " QDQ_ROUNDED_ONCE " LeakyReLU", "elements", "bfloat16, float16", PEER, "subnormals become 0 on some CPUs", "2026-11-29"),
    QDQ_CLOSE_IF(is_real, "", OTHER_FORMULAS, PEER, CLOSE, "2026-11-29"),

    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", "the op schemas of oneDNN Graph 3.14: elements are not computed"),
    QDQ_READ_IF(is_no_small_float, "", QDQ_CHOOSING_OPS, "choices and comparisons", "neither bfloat16 nor float16", "the op schemas of oneDNN Graph 3.14: elements are not rounded"),
    QDQ_READ_IF(qdq_is_float32, "", QDQ_ROUNDED_ONCE, "arithmetic", "float32", "IEEE 754, which rounds these results once"),
    {{0}, NULL},
};
// clang-format on
