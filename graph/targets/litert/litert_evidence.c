// SPDX-License-Identifier: Apache-2.0
// The evidence of targets litert and tflm: ops on integers, which the patterns make of operators,
// and QUANTIZE and DEQUANTIZE. Float ops have none, and neither have operators on codes that no
// pattern takes, because a float op is left of them.
#include "graph/targets/checks.h"
#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/quantize.h"

//---- Conditions -------------------------------------------------------------

// True for a Requantize in fixed point, and any other op on integers.
static bool is_fixed(const qdq_op_context *ctx) {
    const qdq_requantize_attrs *a = ctx->attrs;
    return qdq_is_whole(ctx) && (!qdq_op_context_is(ctx, "Requantize") ||
                                 (a->multiplier.count != 0 && a->rounding != QDQ_FIXED_INEXACT));
}

static bool is_per_tensor(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_dtype codes = qdq_quantized_dtype(ctx);
    return a && a->qtype == QDQ_PER_TENSOR && qdq_real_dtype(ctx) == QDQ_FLOAT32 &&
           a->quant_min.set == 0 && a->quant_max.set == 0 &&
           (codes == QDQ_INT8 || codes == QDQ_UINT8 || codes == QDQ_INT16);
}

// True for codes whose zero point is 0, or of 8 bits.
static bool is_dequantize(const qdq_op_context *ctx) {
    qdq_argument zero = qdq_without_zeros(ctx, "zero_point");
    return is_per_tensor(ctx) && (!zero.given || qdq_quantized_dtype(ctx) != QDQ_INT16);
}

// True for a table of reals, and others.
static bool is_table(const qdq_op_context *ctx) {
    return ctx->inputs[0].type.dtype != QDQ_INT16 &&
           (ctx->outputs[0].dtype == QDQ_FLOAT32 || qdq_is_whole(ctx));
}

// True for an op on float64, and a conversion to it or from it. No operator on codes or floats has
// float64: these are parts of one.
static bool is_wide(const qdq_op_context *ctx) {
    return ctx->inputs[0].type.dtype == QDQ_FLOAT64 || ctx->outputs[0].dtype == QDQ_FLOAT64;
}

// True for a DEQUANTIZE of float16, whose numbers float32 has.
static bool is_widened(const qdq_op_context *ctx) {
    return ctx->inputs[0].type.dtype == QDQ_FLOAT16 && ctx->outputs[0].dtype == QDQ_FLOAT32;
}

//---- Rows -------------------------------------------------------------------

#define INTEGER_OPS                                                                            \
    "Requantize MatMulInteger ConvInteger Add Subtract Multiply Divide Greater Select Concat " \
    "Cast MaxPool Gather Pad Tile Expand"
#define WIDE_OPS "Cast Add Subtract Multiply Divide Maximum Minimum Equal Less Greater Select"
#define BOUNDS "ReduceMax ReduceMin"
#define MOVES "StaticReshape StaticTranspose Slice Concat Pad"
#define X86 "xnnpack-x86 builtin-x86 reference"
#define ARM "xnnpack-arm64 builtin-arm64 reference-arm64"
#define ON_X86 "ai-edge-litert 2.3.0 on a CPU with AVX512-VNNI"
#define ON_ARM "ai-edge-litert 2.3.0 on qemu 7.2 as cortex-a76"
#define X86_DATA \
    "2.4 million elements of 400 random networks, 4 wake-word models by frames, 393 small models"
#define ARM_DATA \
    "5.6 million elements of 2,750 random networks, 4 wake-word models by frames, 393 models"
#define TFLM "tflite-micro 0.dev20261023 on x86-64"
#define TFLM_DATA "768,000 elements of 386 random networks, and 130,200 of 17 operators"
#define DATE "2026-11-30"

// clang-format off
const qdq_evidence_row litert_evidence[] = {
    QDQ_RUN_IF(is_fixed, X86, INTEGER_OPS, "operators on codes", "integers", ON_X86, X86_DATA, DATE),
    QDQ_RUN_IF(is_fixed, ARM, INTEGER_OPS, "operators on codes", "integers", ON_ARM, ARM_DATA, DATE),
    QDQ_RUN_IF(is_wide, X86, WIDE_OPS, "RESIZE_BILINEAR of uint8, FULLY_CONNECTED of finite floats", "float64", ON_X86, X86_DATA, DATE),
    QDQ_RUN_IF(is_wide, ARM, WIDE_OPS, "RESIZE_BILINEAR of uint8, FULLY_CONNECTED of finite floats", "float64", ON_ARM, ARM_DATA, DATE),
    QDQ_RUN(X86, "QLinearSoftmax", "SOFTMAX", ON_X86, X86_DATA, DATE),
    QDQ_RUN(ARM, "QLinearSoftmax", "SOFTMAX", ON_ARM, ARM_DATA, DATE),
    QDQ_RUN_IF(is_table, X86, "Table", "functions of codes", "", ON_X86, X86_DATA, DATE),
    QDQ_RUN_IF(is_table, ARM, "Table", "functions of codes", "", ON_ARM, ARM_DATA, DATE),
    QDQ_RUN_IF(is_per_tensor, X86, "Quantize", "QUANTIZE", "float32 to codes of 8 or 16 bits, one scale", ON_X86, X86_DATA, DATE),
    QDQ_RUN_IF(is_per_tensor, ARM, "Quantize", "QUANTIZE", "float32 to codes of 8 or 16 bits, one scale", ON_ARM, ARM_DATA, DATE),
    QDQ_RUN_IF(is_dequantize, X86, "Dequantize", "DEQUANTIZE", "codes of 8 bits, or of 16 with the zero point 0", ON_X86, X86_DATA, DATE),
    QDQ_RUN_IF(is_dequantize, ARM, "Dequantize", "DEQUANTIZE", "codes of 8 bits, or of 16 with the zero point 0", ON_ARM, ARM_DATA, DATE),
    QDQ_READ_IF(NULL, "", MOVES, "moves", "", "LiteRT's kernels: elements are not computed"),
    QDQ_READ_IF(is_widened, "", "Cast", "DEQUANTIZE", "float16 to float32", "float32 has every float16"),
    QDQ_READ_IF(qdq_is_float32, "", BOUNDS, "least and greatest elements", "", "LiteRT's kernels: elements are not computed"),
    {{0}, NULL},
};

const qdq_evidence_row tflm_evidence[] = {
    QDQ_RUN_IF(is_fixed, "", INTEGER_OPS, "operators on codes", "integers", TFLM, TFLM_DATA, DATE),
    QDQ_RUN("", "QLinearSoftmax", "SOFTMAX", TFLM, TFLM_DATA, DATE),
    QDQ_RUN_IF(is_table, "", "Table", "functions of codes", "", TFLM, TFLM_DATA, DATE),
    QDQ_RUN_IF(is_per_tensor, "", "Quantize", "QUANTIZE", "float32 to codes of 8 or 16 bits, one scale", TFLM, TFLM_DATA, DATE),
    QDQ_RUN_IF(is_dequantize, "", "Dequantize", "DEQUANTIZE", "codes of 8 bits, or of 16 with the zero point 0", TFLM, TFLM_DATA, DATE),
    QDQ_READ_IF(NULL, "", MOVES, "moves", "", "TFLM's kernels: elements are not computed"),
    QDQ_READ_IF(is_widened, "", "Cast", "DEQUANTIZE", "float16 to float32", "float32 has every float16"),
    {{0}, NULL},
};
// clang-format on
