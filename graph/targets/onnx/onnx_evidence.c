// SPDX-License-Identifier: Apache-2.0
// The evidence of target onnx: the backend with which the bits of each op were compared, by
// version. tools/peers/renew.py compares all ops with a release of ONNX Runtime.
#include "graph/targets/onnx/onnx_evidence.h"

#include <math.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/targets/target_ops.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/qlinear.h"
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

// Models with other coordinates were compared as formulas, to which the reader turns them.
static bool is_linear_float32(const qdq_op_context *ctx) {
    const qdq_interpolate_attrs *a = ctx->attrs;
    return qdq_is_float32(ctx) && !is_nearest(ctx) &&
           a->coordinate_transformation_mode != QDQ_ASYMMETRIC_POSITIONS;
}

bool qdq_runtime_is_instance_norm(const qdq_op_context *ctx) {
    const char *was = ctx->source_node ? ctx->source_node->original_op : NULL;
    return qdq_is_float32(ctx) && was && strcmp(was, "InstanceNormalization") == 0;
}

static bool only_moves(const qdq_op_context *ctx) {
    return qdq_has_word(QDQ_MOVING_OPS, ctx->op->name);
}

static bool selects_floats(const qdq_op_context *ctx) {
    return qdq_dtype_is_real(ctx->outputs[0].dtype);
}

//---- Recurrent ops ----------------------------------------------------------

enum { A = 0, B = 1 };  // ports of MatMul

static bool moves_or_compares(const qdq_op_context *ctx) {
    return only_moves(ctx) || qdq_op_context_is(ctx, "Greater");
}

// A product of one row by weights that are not packed has another order: if all sequences have one
// step, also x * W, which here has all rows of x.
static bool has_known_order(const qdq_op_context *ctx) {
    const qdq_operand *b = &ctx->inputs[B];
    qdq_shape x = ctx->inputs[A].type.shape;
    return b->initial || (x.rank == 3 && (x.dims[0] == 1 || x.dims[1] > 1));
}

// ScaledTanh calls tanh of the C library.
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

//---- Releases before 1.31 ----------------------------------------------------

// The windows of a pool.
typedef struct windows {
    const qdq_ints *kernel, *strides, *begin, *end, *dilations;
    qdq_data_format format;
} windows;

static windows windows_of(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "QLinearAveragePool")) {
        static const qdq_ints none = {0};
        const qdq_qlinear_pool_attrs *a = ctx->attrs;
        return (windows){&a->kernel,   &a->strides, &a->pads_begin,
                         &a->pads_end, &none,       a->data_format};
    }
    const qdq_pool_attrs *a = ctx->attrs;
    return (windows){&a->kernel,   &a->strides,   &a->pads_begin,
                     &a->pads_end, &a->dilations, a->data_format};
}

static int64_t entry(const qdq_ints *list, size_t i, int64_t otherwise) {
    return i < list->count ? list->data[i] : otherwise;
}

// True if a window more than the pool has, as ceil_mode adds, would begin in the padding. The
// reader of ONNX leaves it out, with ceil_mode.
static bool ends_in_padding(const qdq_op_context *ctx) {
    windows w = windows_of(ctx);
    const qdq_shape *x = &ctx->inputs[0].type.shape;
    for (size_t i = 0; i < w.kernel->count; i++) {
        int64_t length = x->dims[i + (w.format == QDQ_NCX ? 2 : 1)], step = entry(w.strides, i, 1);
        int64_t begin = entry(w.begin, i, 0),
                window = (w.kernel->data[i] - 1) * entry(w.dilations, i, 1) + 1;
        int64_t room = length + begin + entry(w.end, i, 0) - window;
        if (room % step && (room / step + 1) * step >= length + begin) return true;
    }
    return false;
}

static bool has_pads(const qdq_ints *pads) {
    for (size_t i = 0; i < pads->count; i++)
        if (pads->data[i]) return true;
    return false;
}

static bool counts_padding(const qdq_op_context *ctx) {
    if (!qdq_op_context_is(ctx, "AvgPool")) return ctx->inputs[0].type.shape.rank > 4;
    const qdq_pool_attrs *a = ctx->attrs;
    return ctx->inputs[0].type.shape.rank > 4 && a->exclude_pad != QDQ_TRUE &&
           (has_pads(&a->pads_begin) || has_pads(&a->pads_end) || a->auto_pad != QDQ_PAD_NONE);
}

// True for QLinearSoftmax to int8, unless its greatest code, 1 / y_scale + y_zero_point, is known
// and at most 127.
static bool wraps(const qdq_op_context *ctx) {
    enum { X, Y_SCALE = 3, Y_ZERO = 4 };
    const float *scale = ctx->inputs[Y_SCALE].data;
    const int8_t *zero = ctx->inputs[Y_ZERO].data;
    if (ctx->inputs[X].type.dtype != QDQ_INT8) return false;
    return !scale || (ctx->inputs[Y_ZERO].given && !zero) ||
           floorf(1.0f / *scale) + (float)(zero ? *zero : 0) > 127.0f;
}

// True for a Cast of float8 whose NaN or negative zero older releases convert otherwise.
static bool casts_small_floats(const qdq_op_context *ctx) {
    qdq_dtype from = ctx->inputs[0].type.dtype, to = ((const qdq_cast_attrs *)ctx->attrs)->dtype;
    bool wide = to == QDQ_INT32 || to == QDQ_INT64;
    if (from == QDQ_FLOAT8_E4M3FN || from == QDQ_FLOAT8_E5M2) return wide || to == QDQ_BOOL;
    return wide && (from == QDQ_FLOAT8_E4M3FNUZ || from == QDQ_FLOAT8_E5M2FNUZ);
}

bool qdq_onnx_overflows_float8(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_bool saturate = a ? a->saturate : ((const qdq_cast_attrs *)ctx->attrs)->saturate;
    qdq_dtype_set small = QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(FLOAT8_E5M2);
    return saturate == QDQ_FALSE && qdq_set_has(small, ctx->outputs[0].dtype);
}

//---- Rows -------------------------------------------------------------------

#define UP_TO_1_26 "1.20-* 1.21-* 1.22-* 1.23-* 1.24-* 1.25-* 1.26-*"
#define UP_TO_1_28 UP_TO_1_26 " 1.27-* 1.28-*"
#define UP_TO_1_29 UP_TO_1_28 " 1.29-*"
#define OLD_RUNS                                                                       \
    "1.20-vnni 1.21-vnni 1.22-vnni 1.23-vnni 1.24-vnni 1.25-vnni 1.26-vnni 1.27-vnni " \
    "1.28-vnni 1.29-vnni 1.30-vnni 1.20-avx2 1.24-avx2 1.28-avx2"
#define LOG_RELEASES                                                                             \
    "1.21-vnni 1.22-vnni 1.23-vnni 1.24-vnni 1.25-vnni 1.26-vnni 1.27-vnni 1.28-vnni 1.29-vnni " \
    "1.30-vnni"
#define NO_VNNI "*-avx2 *-avx512"
#define OLD_NO_VNNI                                                            \
    "1.21-avx2 1.22-avx2 1.23-avx2 1.25-avx2 1.26-avx2 1.27-avx2 1.30-avx2 "   \
    "1.20-avx512 1.21-avx512 1.22-avx512 1.23-avx512 1.24-avx512 1.25-avx512 " \
    "1.26-avx512 1.27-avx512 1.28-avx512 1.29-avx512 1.30-avx512"
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
#define OF_RELEASES                                                                               \
    "ONNX Runtime 1.20.1 to 1.30.0 without optimizations on a CPU with AVX512-VNNI, and on qemu " \
    "7.2 as Haswell"
#define ALL_OPS "1,300 models of all ops, and networks, at least"
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
#define JOINS "ReduceL1 ReduceL2 ReduceProd ReduceSumSquare", "reductions", "float32"
#define LOGS "Log", "Log", "float32"
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
    "SimplifiedLayerNormalization BiasGelu FastGelu QuickGelu SiLU",                         \
        "float ops with other formulas", "floats"
#define INTEGER_OPS                                                                   \
    "MatMulInteger ConvInteger QLinearMatMul QLinearConv MatMulIntegerToFloat QGemm", \
        "integer products", ""
#define QLINEAR_OPS QDQ_QLINEAR_OPS, "QLinear ops", ""
#define RECURRENT_OPS \
    "LSTM GRU", "LSTM and GRU", "float32, no Elu, HardSigmoid, Relu, ScaledTanh, Softplus"

// clang-format off
const qdq_evidence_row qdq_onnx_evidence[] = {
    QDQ_CLOSE_IF(is_real, "1.20-*", "BatchNormInference Sqrt Ceil Floor", "float ops", "floats", OF_RELEASES, "Sqrt is not rounded to nearest, Ceil and Floor give 0 for -0", "2026-11-29"),
    QDQ_UNLIKE_IF(casts_small_floats, "1.20-*", "Cast", "Cast", "float8 to bool, int32 and int64", OF_RELEASES, "NaN becomes 0, and -0 false", "2026-11-29"),
    QDQ_UNLIKE_IF(ends_in_padding, "1.20-*", "MaxPool AvgPool QLinearAveragePool", "pools", "ceil_mode, if its window would begin in the padding", OF_RELEASES, "a window may lie in the padding", "2026-11-29"),
    QDQ_UNLIKE_IF(NULL, "1.20-*", "AveragePool", "AveragePool", "ceil_mode or dilations", OF_RELEASES, "a window may lie in the padding", "2026-11-29"),
    QDQ_UNLIKE_IF(counts_padding, "1.21-* 1.22-* 1.23-* 1.24-*", "AvgPool AveragePool", "AveragePool", "3 dims, padding counted", OF_RELEASES, "the last windows divide by fewer elements", "2026-11-29"),
    QDQ_UNLIKE_IF(qdq_onnx_overflows_float8, ALL_CPUS, "Quantize Cast", "float8", "to float8_e4m3fn or float8_e5m2, `saturate` false", "ONNX Runtime 1.32.0", "480 up to 496 becomes 448, and 61440 up to 65536 NaN", "2026-11-30"),
    QDQ_CLOSE_IF(selects_floats, ALL_CPUS, "Select", "Select", "floats", "ONNX Runtime 1.32.0", "Where turns a chosen -0 of its second input into +0; here it stays", "2026-11-30"),
    QDQ_CLOSE_IF(NULL, UP_TO_1_26, "Erf PReLU", "Erf, PReLU", "", OF_RELEASES, "every float16: only NaN differs, Erf of which is 1 or -1", "2026-11-29"),
    QDQ_UNLIKE_IF(wraps, UP_TO_1_28, "QLinearSoftmax", "QLinearSoftmax", "int8 results beyond 127", OF_RELEASES, "results beyond 127 wrap around", "2026-11-29"),
    QDQ_CLOSE_IF(NULL, UP_TO_1_29, "LayerNorm RMSNorm", "LayerNorm, RMSNorm", "", OF_RELEASES, "last bits differ", "2026-11-29"),

    QDQ_RUN_IF(NULL, OLD_RUNS, CODERS, OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN(OLD_RUNS, "Cast", "Cast", OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, OLD_RUNS, FLOAT_OPS, OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, OLD_RUNS, MORE_FLOAT_OPS, OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, OLD_RUNS, "SoftMax", "SoftMax", "float32", OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN_IF(is_float16, OLD_RUNS, HALF_OPS, OF_RELEASES, "every float16", "2026-11-29"),
    QDQ_RUN_IF(NULL, OLD_RUNS, INTEGER_OPS, OF_RELEASES, ALL_OPS, "2026-11-29"),
    QDQ_RUN_IF(NULL, OLD_RUNS, QLINEAR_OPS, OF_RELEASES, ALL_OPS, "2026-11-29"),

    QDQ_RUN("spec", "Quantize Dequantize", "quantizing ops", "the reference implementation of onnx 1.22.0 and 1.23.2",
            "5,322,240 codes and numbers, quotients near halves", "2026-11-29"),
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
    QDQ_READ_IF(NULL, OLD_NO_VNNI " 1.29-neon 1.29-dot 1.29-i8mm", CODERS, "the kernels of 1.29-avx2"),
    QDQ_RUN(X86 " 1.32-vnni", "Cast", "Cast", "ml_dtypes and ONNX Runtime 1.31", "every value of at most 16 bits to every dtype", "2026-11-21"),
    QDQ_READ_IF(NULL, "*-avx2 *-avx512 *-neon *-dot *-i8mm", "Cast", "Cast", "", "the conversions of 1.31 on x86-64"),

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
    QDQ_RUN_IF(qdq_is_float32, "1.31-vnni 1.31-avx2 1.32-vnni 1.32-avx2", "FusedConv", "FusedConv", "float32",
               "ONNX Runtime 1.31.1 and 1.32.0 without optimizations, with AVX-512 and with AVX-512 off", "174,455 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, "1.31-avx2", FLOAT_OPS, PEER "qemu 7.2 without AVX-512", "recorded results", "2026-11-23"),
    QDQ_RUN_IF(qdq_is_float32, "1.31-avx2", "SoftMax", "SoftMax", "float32", PEER "a CPU with AVX2", "1,114,443 elements", "2026-11-25"),
    QDQ_RUN_IF(qdq_is_float32, "1.29-avx2", FLOAT_OPS, OLD_PEER, "4,435,220 elements", "2026-11-25"),
    QDQ_READ_IF(qdq_is_float32, NO_VNNI, FLOAT_OPS, "the kernels of 1.31-vnni: no float op reads VNNI"),
    QDQ_READ_IF(qdq_is_float32, NO_VNNI, MORE_FLOAT_OPS, "the kernels of 1.31-vnni"),
    QDQ_READ_IF(qdq_is_float32, NO_VNNI, "SoftMax", "SoftMax", "float32", "ONNX Runtime's MLAS"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512 1.29-vnni 1.29-avx2 1.29-avx512", POOLS, "ONNX Runtime's MLAS"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512 1.29-vnni 1.29-avx2 1.29-avx512", "ReduceMean", "ReduceMean", "float32", "the kernels of 1.31-vnni"),

    QDQ_RUN_IF(is_known_step, VNNI_CPUS, RECURRENT_OPS, VNNI, "1,900,000 elements", "2026-11-29"),
    QDQ_RUN_IF(is_known_step, "1.31-avx2 1.32-avx2", RECURRENT_OPS, "ONNX Runtime 1.31.1 and 1.32.0 without optimizations on qemu 7.2 as Haswell", "8,485 recorded elements", "2026-11-29"),
    QDQ_READ_IF(is_known_step, "1.31-avx512 1.32-avx512", RECURRENT_OPS, "the kernels of 1.31-vnni: no float op reads VNNI"),
    QDQ_READ_IF(moves_or_compares, "", "LSTM GRU RNN DynamicQuantizeLSTM", "recurrent ops", "nodes that move or compare elements", "ONNX's operators: elements are not computed"),

    QDQ_RUN_IF(NULL, VNNI_CPUS, INTEGER_OPS, VNNI, "107,000 elements", "2026-11-29"),
    QDQ_RUN_IF(NULL, "1.31-avx2", INTEGER_OPS, PEER "qemu 7.2 as Haswell", "every code of the recorded models", "2026-11-24"),
    QDQ_READ_IF(NULL, "*-avx2 *-avx512 *-neon *-dot *-i8mm", INTEGER_OPS, "ONNX Runtime's MLAS"),
    QDQ_RUN_IF(NULL, VNNI_CPUS, QLINEAR_OPS, VNNI, "4,536,808 codes", "2026-11-24"),
    QDQ_RUN_IF(NULL, "1.29-avx2", QLINEAR_OPS, OLD_PEER, "4,536,808 codes", "2026-11-25"),
    QDQ_READ_IF(NULL, "*-avx2 *-avx512 *-neon *-dot *-i8mm", QLINEAR_OPS, "ONNX Runtime's MLAS and qlinear_softmax.cc"),

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
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, LOGS, FULL, "every float32, lengths with each rest of a vector", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, AVX2_CPUS, LOGS, CAPPED, "4,417,160 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, LOG_RELEASES, LOGS, "ONNX Runtime 1.21.1 to 1.30.0 without optimizations on a CPU with AVX512-VNNI", "2,208,580 elements each", "2026-11-29"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512 1.29-avx2 1.29-avx512", LOGS, "Eigen's SSE2, on every CPU"),
    QDQ_RUN_IF(qdq_is_float32, VNNI_CPUS, JOINS, FULL, "283,604 elements", "2026-11-29"),
    QDQ_RUN_IF(qdq_is_float32, AVX2_CPUS, JOINS, CAPPED, "221,532 elements", "2026-11-29"),
    QDQ_READ_IF(qdq_is_float32, "1.31-avx512 1.32-avx512", JOINS, "the kernels of 1.31-vnni"),
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
