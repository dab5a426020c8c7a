// SPDX-License-Identifier: Apache-2.0
#include "include/qdq/ops/products.h"
#include "ops/gemm/order/gemm_threads.h"
#include "ops/matmul/matmul.h"

enum { A, B, BIAS };

bool qdq_matmul_depends_on_threads(const qdq_op_context *ctx, size_t threads) {
    const qdq_matmul_attrs *a = ctx->attrs;
    qdq_matmul_ports ports = {A, B, a->transpose_a == QDQ_TRUE, a->transpose_b == QDQ_TRUE};
    qdq_matmul_dims dims;
    qdq_gemm g = {0};
    if (!qdq_matmul_dims_of(ctx, &ports, &dims)) return false;
    qdq_gemm_init(&g, &(qdq_lowering){.isas = 1u << QDQ_ISA_PORTABLE}, false);
    qdq_matmul_lay_out(ctx, &ports, &dims, &g);
    if (ctx->inputs[BIAS].given) qdq_matmul_along(ctx, &dims, BIAS, &g.bias, g.batches.bias);
    qdq_matmul_join_batch(&ports, &dims, &g);
    qdq_runtime_product product = qdq_matmul_product(ctx, &ports, &dims, &g);
    return qdq_gemm_depends_on_threads(&product, g.batch, threads);
}
