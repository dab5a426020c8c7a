// SPDX-License-Identifier: Apache-2.0
// Products of dequantized operands, computed on their codes: the scales leave the sums, sum((a -
// za) * sa * (b - zb) * sb) = sa * sb * sum((a - za) * (b - zb)), and the remaining sum is exact in
// int32.
//
// This file has the conditions under which a product may take quantized operands. The epilogue
// applies the scales to each finished block. Constant weights that fit in signed bytes after
// subtracting their zero points (weights of 4 bits always, weights of 8 bits if the zero point is
// the middle of their dtype) are multiplied as bytes (ops/gemm/gemm_bytes.c), all others as
// numbers of 9 bits.
#include <math.h>

#include "ops/gemm/gemm.h"

// Returns the greatest |code - zero point|.
static int64_t reach_of(const qdq_quantized *c) {
    const qdq_dtype_info *info = qdq_dtype_get(c->dtype);
    int64_t reach = 0;
    for (size_t i = 0; i < c->count; i++) {
        int64_t below = c->zero_points[i] - info->least, above = info->greatest - c->zero_points[i];
        if (below > reach) reach = below;
        if (above > reach) reach = above;
    }
    return reach;
}

// A product of scales that is not a normal number would round worse than the elements do.
static bool scales_fit(const qdq_quantized *a, const qdq_quantized *b) {
    for (size_t i = 0; i < b->count; i++)
        if (!isnormal(a->scales[0] * b->scales[i])) return false;
    return true;
}

bool qdq_gemm_takes_quantized(const qdq_operand *a, const qdq_operand *b, size_t depth, int axis) {
    if (!a->quantized || !b->quantized || a->quantized->axis >= 0) return false;
    if (b->quantized->axis >= 0 && b->quantized->axis != axis) return false;
    uint64_t most = (uint64_t)reach_of(a->quantized) * (uint64_t)reach_of(b->quantized);
    return depth <= INT32_MAX && depth * most <= INT32_MAX &&
           scales_fit(a->quantized, b->quantized);
}

// Narrower integers take a byte each too.
static qdq_dtype byte_of(qdq_dtype dtype) {
    return qdq_dtype_get(dtype)->least < 0 ? QDQ_INT8 : QDQ_UINT8;
}

bool qdq_gemm_use_quantized(qdq_gemm *g, const qdq_op_context *ctx, size_t matrix_stride,
                            qdq_mempool *mempool) {
    const qdq_quantized *a = ctx->inputs[g->a_port].quantized,
                        *b = ctx->inputs[g->weights.port].quantized;
    size_t column = b->axis >= 0;
    uint8_t *zeros = qdq_mempool_array(mempool, b->count + 1, sizeof *zeros);
    size_t all = g->columns * g->weights.matrices;  // one scale is written out for all columns
    float *scales = qdq_mempool_array(mempool, all, sizeof *scales);
    if (!zeros || !scales) return false;
    zeros[b->count] = (uint8_t)a->zero_points[0];  // two's complement: the codes of int8 too
    for (size_t i = 0; i < b->count; i++) zeros[i] = (uint8_t)b->zero_points[i];
    for (size_t i = 0, own = 0; i < all; i++) {
        scales[i] = a->scales[0] * b->scales[own];
        if (++own == b->count) own = 0;
    }
    g->a_dtype = byte_of(a->dtype);
    g->weights.dtype = byte_of(b->dtype);
    g->weights.codes = b->dtype;
    g->a_zero = (qdq_gemm_along){g->a_port, g->a_dtype, 0, 0, zeros + b->count};
    g->b_zero = (qdq_gemm_along){g->weights.port, g->weights.dtype, 0, column, zeros};
    g->b_scale = (qdq_gemm_along){g->weights.port, QDQ_FLOAT32, 0, 1, scales};
    g->weights.zero_stride = g->weights.scale_stride = column * matrix_stride;
    g->epilogue = qdq_gemm_epilogue_scaled;
    return true;
}
