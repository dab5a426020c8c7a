// SPDX-License-Identifier: Apache-2.0
// Optional hooks of an op, by which graph/compile/ changes more than one node at a time: it
// computes nodes on integers instead of dequantized floats (integer_execution.c), reads operands of
// a transpose in place (read_transposed.c), packs constant weights ahead of the run (fold.c), drops
// a ReLU that is redundant in front of the next node, lets a tensor op compute links on its results
// (compile_steps.c), and adds codes in registers (code_sums.c).
#ifndef QDQ_OPS_OP_FUSION_H
#define QDQ_OPS_OP_FUSION_H

#include "ops/stage.h"

struct qdq_code_operand;
struct qdq_op_context;

// A constant whose elements are still in their file.
typedef struct qdq_stored {
    // Copies the row-major bytes from `at` to `at + bytes`. False if reading fails; the owner of
    // the constant keeps the reason.
    bool (*read)(const struct qdq_stored *self, size_t at, size_t bytes, void *out);
} qdq_stored;

// The integers that a float32 operand was dequantized from: real = (code - zero_point) * scale.
typedef struct qdq_quantized {
    qdq_dtype dtype;             // an integer of at most 8 bits, each in a byte
    const void *data;            // constant codes in memory; else NULL
    const qdq_stored *stored;    // constant codes in a file; else NULL
    int axis;                    // the dim with parameters per entry; -1: one for the tensor
    size_t count;                // of scales, and of zero points
    const float *scales;         // finite, not 0
    const int32_t *zero_points;  // each in the range of dtype
} qdq_quantized;

// The codes of constant float weights: the weights are (code - zero_point) * scale, rounded once to
// float32 and once more to their dtype.
typedef struct qdq_weight_codes {
    qdq_dtype dtype;                    // int8, uint8, int4, uint4
    const void *data;                   // a byte per code; NULL: in `stored`
    const qdq_stored *stored;           // NULL: in `data`
    qdq_stage_param scale, zero_point;  // QDQ_FROM_NUMBERS
} qdq_weight_codes;

// The hooks of an op. NULL (or 0): the op does not take part.
typedef struct qdq_op_fusion {
    // Integer execution. `accepts_quantized`: the inputs that an op can take quantized.
    // `quantized_input`: the integers and parameters that the output of a Dequantize stands for.
    // `passes_quantized`: how data movement passes them on.

    // Returns a bit for each input that the op would take quantized; it may choose only inputs
    // whose operand has `quantized` set.
    uint64_t (*accepts_quantized)(const struct qdq_op_context *ctx);
    // Describes the codes of the first input, if all parameters are known when the graph is
    // compiled; else false.
    bool (*quantized_input)(const struct qdq_op_context *ctx, const qdq_lowering *to,
                            qdq_quantized *quantized);
    // For ops that only move or select elements. The first input has `quantized` set; describes the
    // quantized output. The op takes the codes of every input that has `quantized` set, and other
    // inputs (indices) unchanged. False if the op is not exact on codes. If it is, the compiler may
    // lower the op with the dtype of the codes instead of float32, as one tensor op.
    bool (*passes_quantized)(const struct qdq_op_context *ctx, qdq_quantized *quantized);

    // Packing. `packs`: a bit for each port that the op packs when the graph is compiled, if the
    // input is constant. The compiler computes an input that depends on constants alone.
    uint64_t packs;
    // For an op whose first output is the plain dequantization of its first input: describes the
    // codes, if they and all parameters are constant; else false.
    bool (*weight_codes)(const struct qdq_op_context *ctx, const qdq_lowering *to,
                         qdq_weight_codes *weight_codes);
    // True if the op can pack the codes of the input whose operand has `weight_codes` set, and
    // dequantize them while it runs.
    bool (*packs_weight_codes)(const struct qdq_op_context *ctx);

    // Transposed operands. `transposes`: true if the op only permutes the dims of its first input;
    // dim i of the result is dim order[i] of the input. `reads_transposed`: true if the op can read
    // its inputs in the `order` of their operands, about as fast as in the order of their types.
    bool (*transposes)(const struct qdq_op_context *ctx, int *order);
    bool (*reads_transposed)(const struct qdq_op_context *ctx, const qdq_lowering *to);
    // Repeated operands, which `reads_transposed` is also asked for. `renames`: the result has the
    // elements of the first input in the same order. `broadcasts`: the op only broadcasts it.
    bool renames, broadcasts;

    // ReLU and ReLU6 in front of Quantize. `cuts`: true if the link computes y = 0 for x of at most
    // 0, y = `most` for x above it, and y = x for the rest and NaN.
    bool (*cuts)(const qdq_link *link, float *most);
    // True if the link maps every x below 0 to the y of 0, and every x above `most` to its y.
    bool (*ignores_cut)(const qdq_link *link, float most);

    // Describes a link that quantizes float32 to bytes with one known scale and zero point; else
    // false.
    bool (*quantizes)(const qdq_link *link, qdq_stage_quantize *quantize);
    // Describes a link that dequantizes bytes to float32 by the plain formula, with one known scale
    // and zero point; else false.
    bool (*dequantizes)(const qdq_link *link, struct qdq_code_operand *operand);
    // True if the link computes y = fl(x + its parameter) in float32.
    bool (*adds)(const qdq_link *link);
    // Adds the link to the epilogue of a tensor op. False if it does not fit.
    bool (*finishes)(const qdq_link *link, qdq_stage_finish *finish);
} qdq_op_fusion;

#endif
