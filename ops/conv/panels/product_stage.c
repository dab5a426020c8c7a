// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/panels/product_stage.h"

#include "ops/conv/panels/conv_panels.h"
#include "ops/gemm/gemm_read.h"

// True if rows of codes meet constant weights, and the kernel has no exact product of bytes but one
// of split weights (ops/kernels/gemm/weights/gemm_weights.c). Weights are then the rows of the
// product, and rows of A its columns.
static bool has_code_panels(const qdq_gemm *g, const qdq_op_context *ctx) {
    qdq_gemm_known known;
    return g->kernel->rest && g->kind == QDQ_GEMM_INTEGERS && g->pack_a == qdq_gemm_pack_rows &&
           g->a_depth_stride == 1 && g->rows >= QDQ_GEMM_WIDE_ROWS &&
           !ctx->inputs[g->weights.port].weight_codes &&
           qdq_gemm_constant_weights(g, ctx, &known) && qdq_gemm_fits_bytes(g, known.zeros);
}

static bool code_panels_stage(const qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                              qdq_stage *stage) {
    qdq_conv c = {.gemm = *g,
                  .in = {1, 1, g->rows},
                  .out = {1, 1, g->rows},
                  .x_stride = {0, 0, g->a_row_stride},
                  .channel_stride = 1,
                  .taps = 1,
                  .groups = 1,
                  .group_inputs = g->depth,
                  .group_outputs = g->columns};
    for (int d = 0; d < QDQ_MAX_SPATIAL; d++) c.kernel[d] = c.stride[d] = c.dilation[d] = 1;
    return qdq_conv_panels_stage(&c, ctx, to, stage);
}

bool qdq_product_stage(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                       qdq_stage *stage) {
    if (!qdq_gemm_choose_kind(g, ctx, to)) return false;
    if (!to->plain && has_code_panels(g, ctx)) return code_panels_stage(g, ctx, to, stage);
    return qdq_gemm_stage(g, ctx, to, stage);
}
