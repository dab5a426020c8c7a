// SPDX-License-Identifier: Apache-2.0
// Releases of ONNX Runtime, the CPUs whose kernels it chooses when it starts, and the numerics that
// depend on them.
#ifndef QDQ_GRAPH_TARGETS_ONNX_RUNTIME_VERSIONS_H
#define QDQ_GRAPH_TARGETS_ONNX_RUNTIME_VERSIONS_H

#include <string.h>

#include "graph/core/target.h"
#include "include/qdq/ops/elementwise.h"
#include "runtime/base/words.h"

typedef enum qdq_runtime_cpu {
    QDQ_RUNTIME_VNNI = 0,  // x86-64 with AVX-VNNI, AVX512-VNNI or AMX
    QDQ_RUNTIME_AVX2,      // no AVX-512, no VNNI
    QDQ_RUNTIME_AVX512,    // AVX-512BW, no VNNI
    QDQ_RUNTIME_NEON,      // aarch64 without dot products
    QDQ_RUNTIME_DOT,
    QDQ_RUNTIME_I8MM,
    QDQ_RUNTIME_NONE,  // the text of ONNX
} qdq_runtime_cpu;

// Releases by number: 1.29 is 129. Each name says what this release and later ones do.
enum {
    QDQ_RUNTIME_QUANTIZES_WEIGHTS = 121,  // float weights and biases beside codes become codes,
    QDQ_RUNTIME_GROUPS_SEE_RELU = 121,  // a Relu behind a product is part of its group, or stops it
    QDQ_RUNTIME_RESHAPES_FOR_GEMM = 121,    // MatMul and Add become Gemm without two dims too
    QDQ_RUNTIME_MOVES_DEPTH = 121,          // DepthToSpace between equal pairs moves codes
    QDQ_RUNTIME_WANTS_QUANTIZE = 122,       // if a Quantize reads the product,
    QDQ_RUNTIME_SEES_THROUGH_RELU = 123,    // also behind Relu and Clip
    QDQ_RUNTIME_GIVES_PAIRS_DIMS = 123,     // the scale of a pair that replaces two has shape [1],
    QDQ_RUNTIME_GIVES_PAIRS_SCALARS = 126,  // and is a scalar again
    QDQ_RUNTIME_PACKS_ALL_CODES = 125,    // MatMulNBits is not only for MatMul of 4 bits in blocks
    QDQ_RUNTIME_KNOWS_OPSETS = 125,       // patterns also match ops of opset 21, 22 or 23
    QDQ_RUNTIME_SCALES_WHERE = 126,       // a constant of Where becomes a code times a scale
    QDQ_RUNTIME_CHECKS_BIAS_SCALE = 127,  // QLinearConv keeps a bias of another scale float
    QDQ_RUNTIME_RESIZES_FLOATS = 127,     // Resize between elements does not run on codes
    QDQ_RUNTIME_LEAVES_CONSTANTS = 127,   // pairs behind constants stay before nodes that move them
    QDQ_RUNTIME_NAMES_DTYPE = 127,        // new QuantizeLinear nodes have an output_dtype
    QDQ_RUNTIME_PACKS_ALONE = 127,        // MatMulNBits, of codes and scales of one reader
    QDQ_RUNTIME_KNOWS_MAX_POOL_22 = 128,  // pairs move past MaxPool of opset 22 too
    QDQ_RUNTIME_TAKES_FILTER_ZEROS = 127,      // QLinearConv, one for each output channel
    QDQ_RUNTIME_TRANSPOSES_CODES = 128,        // also if they have no zero point and are not uint8
    QDQ_RUNTIME_KEEPS_GEMM_ALPHA = 128,        // Gemm with an alpha and a bias is no QGemm
    QDQ_RUNTIME_GEMM_WANTS_ZERO_POINTS = 128,  // QGemm, of both operands
    QDQ_RUNTIME_ROUNDS_HALVES = 130,           // QuantizeLinear of float16 does not truncate
    QDQ_RUNTIME_FOLDS_TRANSPOSED = 131,        // BatchNormalization behind ConvTranspose
    QDQ_RUNTIME_1_31 = 131,
    QDQ_RUNTIME_1_32 = 132
};

// Versions of a release; the first one is its default.
#define QDQ_RUNTIME_X86(release, number)                                                      \
    {release "-vnni", number, QDQ_RUNTIME_VNNI}, {release "-avx2", number, QDQ_RUNTIME_AVX2}, \
        {release "-avx512", number, QDQ_RUNTIME_AVX512},
#define QDQ_RUNTIME_ARM(release, number)                                                    \
    {release "-neon", number, QDQ_RUNTIME_NEON}, {release "-dot", number, QDQ_RUNTIME_DOT}, \
        {release "-i8mm", number, QDQ_RUNTIME_I8MM},

// Releases before 1.29, on x86-64 alone.
#define QDQ_RUNTIME_OLD_RELEASES \
    QDQ_RUNTIME_X86("1.20", 120) \
    QDQ_RUNTIME_X86("1.21", 121) \
    QDQ_RUNTIME_X86("1.22", 122) \
    QDQ_RUNTIME_X86("1.23", 123) \
    QDQ_RUNTIME_X86("1.24", 124) \
    QDQ_RUNTIME_X86("1.25", 125) \
    QDQ_RUNTIME_X86("1.26", 126) QDQ_RUNTIME_X86("1.27", 127) QDQ_RUNTIME_X86("1.28", 128)

// True if ONNX Runtime computes a node by other float operations than core: not Maximum and
// Minimum, and Clamp only within a recurrent op.
static inline bool qdq_runtime_has_float_ops(const qdq_op_context *ctx) {
    if (strcmp(ctx->op->name, "Clamp") == 0)
        return ((const qdq_clamp_attrs *)ctx->attrs)->recurrent == QDQ_TRUE;
    return !qdq_has_word("Maximum Minimum", ctx->op->name);
}

// Returns the kernels of its float ops. Plain `onnx` stands for the CPUs with VNNI that have
// AVX-512.
static inline qdq_float_ops qdq_runtime_float_ops(const qdq_op_context *ctx,
                                                  const qdq_target_version *version) {
    if (!qdq_runtime_has_float_ops(ctx)) return QDQ_FLOAT_OPS_CORE;
    if (version->variant >= QDQ_RUNTIME_NEON && version->variant <= QDQ_RUNTIME_I8MM)
        return QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM;
    bool wide = version->variant == QDQ_RUNTIME_VNNI || version->variant == QDQ_RUNTIME_AVX512;
    return wide ? QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512 : QDQ_FLOAT_OPS_ONNX_RUNTIME;
}

// Returns how the CPU of a version adds products of codes.
static inline qdq_pair_sums qdq_runtime_pair_sums(const qdq_target_version *version) {
    bool saturates = version->variant == QDQ_RUNTIME_AVX2 || version->variant == QDQ_RUNTIME_AVX512;
    return saturates ? QDQ_PAIR_SUMS_SATURATE : QDQ_PAIR_SUMS_EXACT;
}

// Sets that QuantizeLinear rounds x to the dtype of y_scale and divides in it, as ONNX's text has
// it and ONNX Runtime from 1.32 on.
void qdq_runtime_divide_in_scale_dtype(const qdq_op_context *ctx, qdq_numerics *n);
// Sets how its kernels divide, round to integers and treat numbers beyond int32, in Cast too.
void qdq_runtime_quantize(const qdq_op_context *ctx, const qdq_target_version *version,
                          qdq_numerics *n);
// Reports a scale or a zero point of a shape that it refuses.
void qdq_runtime_check_shapes(const qdq_op_context *ctx, const qdq_rule *rule);
// True if runs of int4 that share a scale begin or end in the middle of a byte: the codes there
// come from another kernel than the rest.
bool qdq_runtime_splits_runs(const qdq_op_context *ctx);
// True if releases before 1.31 take the zero points of other entries.
bool qdq_runtime_takes_other_zero_points(const qdq_op_context *ctx);

// Reports dtypes for which 1.31 has no kernel on the CPU. 1.32 rounds x to the dtype of the scale.
void qdq_runtime_check_any_quantize(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_runtime_check_quantize(const qdq_op_context *ctx, const qdq_rule *rule);
void qdq_runtime_check_dequantize(const qdq_op_context *ctx, const qdq_rule *rule);
// Reports a single block of an x of rank 1, whose scale ONNX Runtime reads as per tensor.
void qdq_runtime_check_blocks(const qdq_op_context *ctx, const qdq_rule *rule);

// Returns the kernels of its QLinear ops.
static inline qdq_qlinear_form qdq_runtime_qlinear(const qdq_target_version *version) {
    if (version->variant >= QDQ_RUNTIME_NEON) return QDQ_QLINEAR_ARM;
    return version->release >= QDQ_RUNTIME_1_32 ? QDQ_QLINEAR_FMA64 : QDQ_QLINEAR_FMA;
}

#endif
