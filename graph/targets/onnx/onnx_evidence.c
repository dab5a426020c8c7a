// SPDX-License-Identifier: Apache-2.0
// The evidence of target onnx: the backend with which the bits of each op were compared, by
// version. tools/peers/renew.py compares all ops with a release of ONNX Runtime.
#include "graph/targets/onnx/onnx_evidence.h"

#include <string.h>

#include "graph/core/graph.h"
#include "graph/targets/target_ops.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/spatial.h"
#include "runtime/base/words.h"

//---- Conditions -------------------------------------------------------------

static bool is_float16(const qdq_op_context *ctx) {
    return ctx->inputs[0].type.dtype == QDQ_FLOAT16;
}

static bool is_real(const qdq_op_context *ctx) {
    return qdq_dtype_is_real(ctx->inputs[0].type.dtype);
}

// True for a node of float32, float64 or float16 alone: one rounding to nearest gives the result.
static bool is_rounded_once(const qdq_op_context *ctx) {
    qdq_dtype x = ctx->inputs[0].type.dtype;
    return x == QDQ_FLOAT16 || x == QDQ_FLOAT64 || x == QDQ_FLOAT32;
}

static bool is_nearest(const qdq_op_context *ctx) {
    return ((const qdq_interpolate_attrs *)ctx->attrs)->mode.value == QDQ_NEAREST;
}

static bool is_linear_float32(const qdq_op_context *ctx) {
    return qdq_is_float32(ctx) && !is_nearest(ctx);
}

bool qdq_runtime_is_instance_norm(const qdq_op_context *ctx) {
    const char *was = ctx->source_node ? ctx->source_node->original_op : NULL;
    return qdq_is_float32(ctx) && was && strcmp(was, "InstanceNormalization") == 0;
}

static bool only_moves(const qdq_op_context *ctx) {
    return qdq_has_word(QDQ_MOVING_OPS, ctx->op->name);
}

//---- Recurrent ops ----------------------------------------------------------

enum { A = 0, B = 1 };  // ports of MatMul

static bool moves_or_compares(const qdq_op_context *ctx) {
    return only_moves(ctx) || qdq_op_context_is(ctx, "Greater");
}

// ONNX Runtime packs weights that are initializers, and its optimizer may make those of constants
// that are computed. A product of one row has another order: if all sequences have one step, also x
// * W, which here has all rows of x.
static bool has_known_order(const qdq_op_context *ctx) {
    const qdq_operand *b = &ctx->inputs[B];
    qdq_shape x = ctx->inputs[A].type.shape;
    if (b->constant) return !b->maker.op;
    return x.rank == 3 && (x.dims[0] == 1 || x.dims[1] > 1);
}

// The tanh within ScaledTanh is that of the C library.
static bool is_tanh_of_runtime(const qdq_op_context *ctx) {
    const qdq_tanh_attrs *a = ctx->attrs;
    const qdq_op *maker = ctx->inputs[0].maker.op;
    return a->recurrent == QDQ_TRUE || !maker || strcmp(maker->name, "Multiply") != 0;
}

// True for a node of a step that ONNX Runtime computes by the same operations. Not Relu and
// HardSigmoid, which make 0 of NaN there, nor activations with an exponential.
static bool is_known_step(const qdq_op_context *ctx) {
    if (!qdq_is_float32(ctx)) return false;
    if (qdq_op_context_is(ctx, "MatMul")) return has_known_order(ctx);
    if (qdq_op_context_is(ctx, "Tanh")) return is_tanh_of_runtime(ctx);
    return moves_or_compares(ctx) ||
           qdq_has_word("Add Subtract Multiply Divide Abs Sigmoid LeakyReLU Clamp", ctx->op->name);
}

//---- Rows -------------------------------------------------------------------

#define UNPROVED "1.20-* 1.21-* 1.22-* 1.23-* 1.24-* 1.25-* 1.26-* 1.27-* 1.28-* 1.30-*"
#define OLD "1.29-*"
#define VNNI_CPUS "1.31-vnni 1.32-vnni"
#define X86 "1.31-vnni 1.31-avx2 1.31-avx512"
#define AVX2_CPUS "1.31-avx2 1.32-avx2"
#define NEW_X86 "1.32-avx2 1.32-avx512"
#define NEW_ARM "1.32-neon 1.32-dot 1.32-i8mm"
#define ARM "1.31-neon 1.31-dot 1.31-i8mm"
#define ALL_CPUS "1.*"

#define PEER "ONNX Runtime 1.31.1 without optimizations on "
#define VNNI "ONNX Runtime 1.31.1 and 1.32.0 without optimizations on a CPU with AVX512-VNNI"
#define FULL                                                                              \
    "ONNX Runtime 1.31.1 and 1.32.0, with optimizations and without them, on a CPU with " \
    "AVX512-VNNI"
#define CAPPED \
    "ONNX Runtime 1.31.1 and 1.32.0, with optimizations and without them, limited to AVX2"
#define OLD_PEER "ONNX Runtime 1.29.0 without optimizations on a CPU with AVX2"

#define CODERS "Quantize Dequantize DynamicQuantize Requantize", "quantizing ops", ""
// Float ops with the sums and formulas of ONNX Runtime.
#define FLOAT_OPS                                                                             \
    "BatchNormInference HardSwish HardSigmoid Sigmoid Tanh Exp Erf GELU ReduceSum LayerNorm " \
    "MatMul Convolution",                                                                     \
        "float ops", "float32"
// AveragePool: sums of slices, which the reader makes of a window with dilations.
#define POOLS "AvgPool AveragePool", "pools", "float32"
#define INSTANCE "GroupNorm", "GroupNorm", "float32, of InstanceNormalization"
#define LINEAR "Interpolate", "Interpolate", "float32, linear"
#define MORE_FLOAT_OPS \
    "ConvTranspose RMSNorm LeakyReLU PReLU GlobalAveragePool", "float ops", "float32"
// Compared on every float16.
#define HALF_OPS "Exp Tanh HardSigmoid LeakyReLU", "float ops", "float16"
#define OTHER_HALF_OPS \
    "Sigmoid HardSwish Erf GELU SoftMax MatMul Convolution Sign ReLU PReLU", "float ops", "float16"
#define ARITHMETIC QDQ_ROUNDED_ONCE " Mod", "arithmetic", "float32, float64, float16"
// Ops that have other formulas or orders of sums in ONNX Runtime.
#define OTHER_FORMULAS                                                                       \
    "Log LogSoftmax Elu Mish Softplus Pow Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh Acosh " \
    "Atanh GroupNorm InstanceNormalization ReduceL1 ReduceL2 ReduceProd ReduceMean AvgPool " \
    "Interpolate SoftMax GELU CumSum ReduceLogSum ReduceLogSumExp ReduceSumSquare Resize "   \
    "Upsample Attention MultiHeadAttention Einsum Gemm RotaryEmbedding LSTM "                \
    "DynamicQuantizeLSTM GRU RNN Softsign Selu Celu Swish Mean LpNormalization AveragePool " \
    "MeanVarianceNormalization SkipLayerNormalization SkipSimplifiedLayerNormalization "     \
    "SimplifiedLayerNormalization BiasGelu FastGelu QuickGelu",                              \
        "float ops with other formulas", "floats"
#define INTEGER_OPS                                                                   \
    "MatMulInteger ConvInteger QLinearMatMul QLinearConv MatMulIntegerToFloat QGemm", \
        "integer products", ""
#define QLINEAR_OPS QDQ_QLINEAR_OPS, "QLinear ops", ""
#define RECURRENT_OPS           \
    "LSTM GRU", "LSTM and GRU", \
        "float32, W and R initializers or inputs, no Elu, HardSigmoid, Relu, ScaledTanh, Softplus"

// clang-format off
const qdq_evidence_row qdq_onnx_evidence[] = {
    QDQ_CLOSE_IF(NULL, UNPROVED, "", "all ops", "", "ONNX Runtime 1.20.1 to 1.30.0 on a CPU with AVX512-VNNI", "2,400 random graphs; in 1.20 211 differ from 1.31", "2026-11-29"),
    QDQ_RUN("spec", "Quantize Dequantize", "quantizing ops", "the reference implementation of onnx 1.22.0",
            "5,322,240 codes and numbers, quotients near halves", "2026-11-25"),
    QDQ_READ_IF(NULL, "spec", "DynamicQuantize Requantize Cast", "quantizing ops", "", "ONNX's operators, opset 25"),
    QDQ_RUN("1.29-avx2", "Quantize", "Quantize", OLD_PEER, "21,593,600 codes, every float16 among them", "2026-11-25"),
    QDQ_RUN("1.31-avx2", "Quantize", "Quantize", PEER "a CPU with AVX2", "21,616,640 codes, every float16 among them", "2026-11-25"),
    QDQ_RUN("1.31-neon", "Quantize", "Quantize", PEER "qemu 7.2 as cortex-a72", "21,616,640 codes, every float16 among them", "2026-11-25"),
    QDQ_RUN_IF(NULL, X86, CODERS, "ONNX Runtime 1.31 and the vectors of ONNX 1.22", "each node of models/ that ONNX has; 600,000 elements of random nodes", "2026-11-29"),
    QDQ_RUN_IF(NULL, ARM, CODERS, PEER "qemu 7.2, aarch64", "65 recorded models", "2026-11-24"),
    QDQ_RUN("1.32-vnni", "Quantize", "Quantize", "ONNX Runtime 1.32.0 without optimizations on a CPU with AVX512-VNNI",
            "24,934,400 codes, every float16 among them", "2026-11-29"),
    QDQ_RUN_IF(NULL, "1.32-vnni", CODERS, VNNI, "600,000 elements of random nodes", "2026-11-29"),
    QDQ_READ_IF(NULL, NEW_X86 " " NEW_ARM, CODERS, "the kernels of 1.32-vnni"),
    QDQ_READ_IF(NULL, OLD, CODERS, "the kernels of 1.29-avx2"),
    QDQ_RUN(X86 " 1.32-vnni", "Cast", "Cast", "ml_dtypes and ONNX Runtime 1.31", "every value of at most 16 bits to every dtype", "2026-11-21"),
    QDQ_READ_IF(NULL, OLD " " ARM " " NEW_X86 " " NEW_ARM, "Cast", "Cast", "", "the conversions of 1.31 on x86-64"),

    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, FLOAT_OPS, VNNI, "6,100,000 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, MORE_FLOAT_OPS, VNNI, "947,360 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, "SoftMax", "SoftMax", "float32", VNNI, "1,120,640 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, POOLS, FULL, "3,255,128 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, AVX2_CPUS, POOLS, CAPPED, "2,506,488 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, "ReduceMean", "ReduceMean", "float32", FULL, "306,924 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, AVX2_CPUS, "ReduceMean ReduceSum GlobalAveragePool", "sums, means", "float32", CAPPED, "443,116 elements", "2026-11-29"),
    QDQ_RUN_IF(is_float16, VNNI_CPUS, HALF_OPS, VNNI, "every float16", "2026-11-29"),
    QDQ_CLOSE_IF(is_float16, ALL_CPUS, OTHER_HALF_OPS, VNNI, "every float16: 1 to 2,047 differ", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "1.31-avx2 1.32-avx2", "Convolution", "Convolution", "float32",
               "ONNX Runtime 1.31.1 and 1.32.0 without optimizations, with AVX-512 off", "684,134 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "1.31-avx2", FLOAT_OPS, PEER "qemu 7.2 without AVX-512", "recorded results", "2026-11-23"),
    QDQ_RUN_IF(qdq_is_float32, "1.31-avx2", "SoftMax", "SoftMax", "float32", PEER "a CPU with AVX2", "1,114,443 elements", "2026-11-25"),
    QDQ_RUN_IF(qdq_is_float32, "1.29-avx2", FLOAT_OPS, OLD_PEER, "4,435,220 elements", "2026-11-25"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.29-vnni 1.29-avx512 " NEW_X86, FLOAT_OPS, "the kernels of 1.31-vnni: no float op reads VNNI"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.31-avx2 1.29-vnni 1.29-avx2 1.29-avx512 " NEW_X86, MORE_FLOAT_OPS, "the kernels of 1.31-vnni"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.29-vnni 1.29-avx2 1.29-avx512 " NEW_X86, "SoftMax", "SoftMax", "float32", "ONNX Runtime's MLAS"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512 1.29-vnni 1.29-avx2 1.29-avx512", POOLS, "ONNX Runtime's MLAS"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512 1.29-vnni 1.29-avx2 1.29-avx512", "ReduceMean", "ReduceMean", "float32", "the kernels of 1.31-vnni"),

    QDQ_RUN_IF(is_known_step, VNNI_CPUS, RECURRENT_OPS, VNNI, "1,900,000 elements", "2026-11-29"),
    QDQ_RUN_IF(is_known_step, "1.31-avx2 1.32-avx2", RECURRENT_OPS, "ONNX Runtime 1.31.1 and 1.32.0 without optimizations on qemu 7.2 as Haswell", "8,485 recorded elements", "2026-11-29"),
    QDQ_READ_IF(is_known_step, "1.31-avx512 1.32-avx512", RECURRENT_OPS, "the kernels of 1.31-vnni: no float op reads VNNI"),
    QDQ_READ_IF(moves_or_compares, "", "LSTM GRU RNN DynamicQuantizeLSTM", "recurrent ops", "nodes that move or compare elements", "ONNX's operators: elements are not computed"),

    QDQ_RUN_IF(NULL, VNNI_CPUS, INTEGER_OPS, VNNI, "107,000 elements", "2026-11-29"),
    QDQ_RUN_IF(NULL, "1.31-avx2", INTEGER_OPS, PEER "qemu 7.2 as Haswell", "every code of the recorded models", "2026-11-24"),
    QDQ_READ_IF(NULL, OLD " 1.31-avx512 " ARM " " NEW_X86 " " NEW_ARM, INTEGER_OPS, "ONNX Runtime's MLAS"),
    QDQ_RUN_IF(NULL, VNNI_CPUS, QLINEAR_OPS, VNNI, "4,536,808 codes", "2026-11-24"),
    QDQ_RUN_IF(NULL, "1.29-avx2", QLINEAR_OPS, OLD_PEER, "4,536,808 codes", "2026-11-25"),
    QDQ_READ_IF(NULL, "1.29-vnni 1.29-avx512 1.29-neon 1.29-dot 1.29-i8mm 1.31-avx2 1.31-avx512 " ARM " " NEW_X86 " " NEW_ARM, QLINEAR_OPS, "ONNX Runtime's MLAS and qlinear_softmax.cc"),

    QDQ_RUN(VNNI_CPUS, QDQ_MOVING_OPS " ScatterElements ScatterND Split", "moves", VNNI, "80,000 elements", "2026-11-29"),
    QDQ_RUN(VNNI_CPUS, QDQ_CHOOSING_OPS " Max Min", "choices and comparisons", VNNI, "4,800,000 elements of any bits", "2026-11-29"),
    QDQ_RUN_IF(is_rounded_once, VNNI_CPUS, ARITHMETIC, VNNI, "2,900,000 elements of any bits", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_whole, VNNI_CPUS, QDQ_ROUNDED_ONCE " Mod CumSum", "arithmetic", "integers", VNNI, "920,000 elements of any bits", "2026-11-29"),
    QDQ_RUN_IF(is_nearest, VNNI_CPUS, "Interpolate", "Interpolate", "nearest", VNNI, "random models", "2026-11-23"),
    QDQ_RUN_IF(is_linear_float32, VNNI_CPUS, LINEAR, FULL, "21,843,160 elements", "2026-11-29"),
    QDQ_RUN_IF(is_linear_float32, AVX2_CPUS, LINEAR, CAPPED, "11,389,424 elements", "2026-11-29"),
    QDQ_READ_IF(is_linear_float32, "1.31-avx512 1.32-avx512 1.29-vnni 1.29-avx2 1.29-avx512", LINEAR, "the kernels of 1.31-vnni"),
    QDQ_RUN_IF(qdq_runtime_is_instance_norm, VNNI_CPUS, INSTANCE, FULL, "1,449,476 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_runtime_is_instance_norm, AVX2_CPUS, INSTANCE, CAPPED, "2,472,828 elements", "2026-11-29"),
    QDQ_READ_IF(qdq_runtime_is_instance_norm, "1.31-avx512 1.32-avx512", INSTANCE, "the kernels of 1.31-vnni"),
    QDQ_RUN_IF(only_moves, VNNI_CPUS, "Resize Upsample", "Resize", "nodes that only move elements", VNNI, "1,768 elements", "2026-11-29"),
    QDQ_RUN(VNNI_CPUS, "GridSample", "GridSample", VNNI, "3,228 elements", "2026-11-29"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS " ScatterElements ScatterND Split", "moves", "", "ONNX's operators: elements are not computed"),
    QDQ_READ_IF(NULL, "", QDQ_CHOOSING_OPS " Max Min", "choices and comparisons", "", "ONNX's operators: elements are not rounded"),
    QDQ_READ_IF(is_rounded_once, "", ARITHMETIC, "IEEE 754, which rounds these results once"),
    QDQ_READ_IF(qdq_is_whole, "", QDQ_ROUNDED_ONCE " Mod CumSum", "arithmetic", "integers", "ONNX's operators"),
    QDQ_READ_IF(is_nearest, "", "Interpolate", "Interpolate", "nearest", "ONNX's operators: elements are not computed"),
    QDQ_READ_IF(only_moves, "", "Resize Upsample", "Resize", "nodes that only move elements", "ONNX's operators"),

    QDQ_CLOSE_IF(is_real, ALL_CPUS, OTHER_FORMULAS, PEER "x86-64", "random models; floats within 4e-6 of the greatest", "2026-11-29"),
    QDQ_CLOSE_IF(NULL, ALL_CPUS, "MatMulNBits", "MatMulNBits", "", VNNI, "sums in another order", "2026-11-28"),
    QDQ_CLOSE_IF(qdq_is_float32, ARM " 1.29-neon 1.29-dot 1.29-i8mm " NEW_ARM, FLOAT_OPS, PEER "qemu 7.2, aarch64", "last bits differ", "2026-11-26"),
    {{0}, NULL},
};
// clang-format on
