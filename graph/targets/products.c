// SPDX-License-Identifier: Apache-2.0
// Checks of products whose inputs are dequantized.
#include "graph/targets/products.h"

#include <string.h>

#include "include/qdq/ops/products.h"

enum { WEIGHTS = 1 };

static const char *port_of(const qdq_op_context *ctx, size_t input) {
    return qdq_op_port(ctx->op, input)->name;
}

// Returns the attributes of the Dequantize that computes an input; NULL if no Dequantize does.
static const qdq_quantize_attrs *dequantize_of(const qdq_op_context *ctx, size_t input) {
    const qdq_maker *maker = &ctx->inputs[input].maker;
    return maker->op && strcmp(maker->op->name, "Dequantize") == 0 ? maker->attrs : NULL;
}

// Returns the dim of the weights' output channels; -1 if they have none.
static int output_channels(const qdq_op_context *ctx) {
    int rank = ctx->inputs[WEIGHTS].type.shape.rank;
    if (qdq_op_context_is(ctx, "Convolution"))
        return ((const qdq_convolution_attrs *)ctx->attrs)->weights_format == QDQ_OIX ? 0
                                                                                      : rank - 1;
    if (qdq_op_context_is(ctx, "ConvTranspose"))
        return ((const qdq_conv_transpose_attrs *)ctx->attrs)->weights_format == QDQ_IOX ? 1
                                                                                         : rank - 2;
    if (rank < 2) return -1;
    return ((const qdq_matmul_attrs *)ctx->attrs)->transpose_b == QDQ_TRUE ? rank - 2 : rank - 1;
}

void qdq_check_weight_axis(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = dequantize_of(ctx, WEIGHTS);
    int wanted = output_channels(ctx);
    if (!a || a->qtype != QDQ_PER_CHANNEL || wanted < 0) return;
    int64_t axis = a->axis.set != 0 ? a->axis.value : 1;
    if (axis < 0) axis += ctx->inputs[WEIGHTS].type.shape.rank;
    if (axis != wanted)
        qdq_report_target_violation(
            ctx, rule, port_of(ctx, WEIGHTS),
            qdq_text(ctx->findings, "is dequantized along dim %lld", (long long)axis),
            qdq_text(ctx->findings, "dim %d, its output channels", wanted));
}

void qdq_check_both_dequantized(const qdq_op_context *ctx, const qdq_rule *rule,
                                qdq_dtype_set set) {
    for (size_t i = 0; i <= WEIGHTS; i++) {
        size_t other = WEIGHTS - i;
        if (!dequantize_of(ctx, i) || !qdq_set_has(set, ctx->inputs[i].maker.x_dtype) ||
            ctx->inputs[other].maker.op)
            continue;
        qdq_report_target_violation(
            ctx, rule, port_of(ctx, other),
            qdq_text(ctx->findings, "is not quantized, but %s is", port_of(ctx, i)),
            "Quantize and Dequantize in front of both");
    }
}
