// SPDX-License-Identifier: Apache-2.0
// The evidence for the numbers of target ort: how well each op is known, by release and CPU.
#include "graph/targets/onnx/onnx_evidence.h"
#include "graph/targets/ort/ort_rewrites.h"
#include "graph/targets/target_ops.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/qlinear.h"

// True for a convolution whose sums ONNX Runtime's optimizer orders.
static bool has_order(const qdq_op_context *ctx) {
    const qdq_convolution_attrs *a = ctx->attrs;
    return a->channel_block.set != 0 || a->addend.id != 0;
}

#define BLOCKED "Convolution", "float convolutions", "with channel_block or addend"
#define DEPLOYED                                                                    \
    QDQ_INTEGER_PRODUCTS " " QDQ_QLINEAR_OPS "Quantize Dequantize DynamicQuantize", \
        "ops on codes", ""
#define PEER "ONNX Runtime 1.31.1 on "
#define OLD_VNNI                                                                       \
    "1.20-vnni 1.21-vnni 1.22-vnni 1.23-vnni 1.24-vnni 1.25-vnni 1.26-vnni 1.27-vnni " \
    "1.28-vnni 1.29-vnni 1.30-vnni"

static bool has_no_two_bits(const qdq_op_context *ctx) {
    qdq_dtype codes = ctx->inputs[1].type.dtype;
    return codes != QDQ_INT2 && codes != QDQ_UINT2;
}

// Which Adds join convolutions, and which products take a transposed operand, may depend on sizes
// that ONNX Runtime does not know when it optimizes.
static bool has_open_sizes(const qdq_op_context *ctx) {
    return ctx->open_sizes && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
}

// clang-format off
const qdq_evidence_row ort_evidence[] = {
    QDQ_UNLIKE_IF(qdq_onnx_overflows_float8, "", "Quantize Cast", "float8", "to float8_e4m3fn or float8_e5m2, `saturate` false", "ONNX Runtime 1.32.0", "480 up to 496 becomes 448, and 61440 up to 65536 NaN", "2026-11-30"),
    QDQ_CLOSE_IF(has_open_sizes, "", "Convolution MatMul Add Multiply ReduceMean AvgPool", "float ops", "float32, in a model that leaves the size of its images open",
                 "ONNX Runtime 1.32.0 on a CPU with AVX512-VNNI", "6 of 100 quantized networks differ in last bits", "2026-11-29"),
    QDQ_CLOSE_IF(qdq_is_float32, "1.20-* 1.21-* 1.22-* 1.23-* 1.24-* 1.25-* 1.26-* 1.27-* 1.28-* 1.29-* 1.30-*", "Convolution", "float convolutions", "float32",
                 "ONNX Runtime 1.24.4 on a CPU with AVX512-VNNI", "21 of 100 random models differ in last bits", "2026-11-29"),
    QDQ_RUN_IF(has_order, "1.31-vnni 1.31-avx2 1.32-vnni 1.32-avx2", BLOCKED,
               "ONNX Runtime 1.31.1 and 1.32.0 on a CPU with AVX512-VNNI, as it is and with AVX-512 off", "1,519,569 elements of 1,300 random models", "2026-11-29"),
    QDQ_READ_IF(has_order, "1.31-avx512 1.32-avx512", BLOCKED, "the kernels of 1.31-vnni: no float op reads VNNI"),
    QDQ_RUN("1.31-avx2", "MatMulNBits", "float activations, constant codes", PEER "a CPU with AVX2", "67,982 elements of 700 models", "2026-11-25"),
    QDQ_RUN("1.31-vnni 1.32-vnni", "MatMulNBits", "float activations, constant codes", "ONNX Runtime 1.31.1 and 1.32.0 on a CPU with AVX512-VNNI", "149,821 elements of 700 nodes", "2026-11-29"),
    QDQ_RUN_IF(has_no_two_bits, OLD_VNNI, "MatMulNBits", "float activations, constant codes", "codes of 4 and 8 bits", "ONNX Runtime 1.20.1 to 1.30.0 on a CPU with AVX512-VNNI", "11,233 to 18,647 elements of 136 to 255 models", "2026-11-29"),
    QDQ_READ_IF(NULL, "1.32-avx2", "MatMulNBits", "float activations, constant codes", "", "the kernels of 1.31"),
    QDQ_CLOSE_IF(NULL, "", "MatMulNBits", "float activations, constant codes", "", "ONNX Runtime 1.31.1 on a CPU with AVX512-VNNI", "sums of blocks in another order", "2026-11-28"),
    QDQ_RUN_IF(NULL, "1.31-vnni", DEPLOYED, PEER "a CPU with AVX512-VNNI", "9,287 of 9,509 models", "2026-11-27"),
    QDQ_RUN_IF(NULL, "1.31-avx2", DEPLOYED, PEER "a CPU with AVX2", "5,029 of 5,094 models", "2026-11-26"),
    QDQ_READ_IF(NULL, "1.31-avx512", DEPLOYED, "ONNX Runtime's MLAS"),
    QDQ_RUN_IF(NULL, "1.32-vnni", DEPLOYED, "ONNX Runtime 1.32.0 on a CPU with AVX512-VNNI", "563 of 589 models", "2026-11-29"),
    QDQ_READ_IF(NULL, "1.32-avx2 1.32-avx512", DEPLOYED, "the kernels of 1.31"),
    QDQ_RUN_IF(NULL, "1.31-neon", DEPLOYED, PEER "qemu 7.2 as cortex-a72", "1,568 of 1,669 models", "2026-11-26"),
    QDQ_RUN_IF(NULL, "1.31-dot", DEPLOYED, PEER "qemu 7.2 as cortex-a76", "1,579 of 1,669 models", "2026-11-26"),
    QDQ_RUN_IF(NULL, "1.31-i8mm", DEPLOYED, PEER "qemu 7.2 as max without SME", "1,579 of 1,669 models", "2026-11-26"),
    {{0}, NULL},
};
// clang-format on
