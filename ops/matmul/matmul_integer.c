// SPDX-License-Identifier: Apache-2.0
// MatMulInteger 10 and QLinearMatMul 21, as in ONNX.
#include "include/qdq/ops/products.h"
#include "ops/conv/panels/product_stage.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/matmul/matmul.h"

#define BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))

//---- MatMulInteger ----------------------------------------------------------

enum { A, B, A_ZERO, B_ZERO };

static const qdq_port_desc inputs[] = {
    {"a", offsetof(qdq_matmul_integer_attrs, a), false, BYTES},
    {"b", offsetof(qdq_matmul_integer_attrs, b), false, BYTES},
    {"a_zero_point", offsetof(qdq_matmul_integer_attrs, a_zero_point), true, BYTES},
    {"b_zero_point", offsetof(qdq_matmul_integer_attrs, b_zero_point), true, BYTES},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(INT32)}};

static void infer(qdq_op_context *ctx) {
    const qdq_matmul_ports ports = {.a = A, .b = B};
    qdq_matmul_dims dims;
    qdq_check_dtype_as(ctx, A_ZERO, A);
    qdq_check_dtype_as(ctx, B_ZERO, B);
    if (!qdq_has_input(ctx, B) || !qdq_matmul_dims_of(ctx, &ports, &dims)) return;
    qdq_matmul_check_parameter(ctx, &dims, A_ZERO, A, true);
    qdq_matmul_check_parameter(ctx, &dims, B_ZERO, B, false);
    ctx->outputs[0] = (qdq_type){QDQ_INT32, dims.y};
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_matmul_ports ports = {.a = A, .b = B};
    qdq_matmul_dims dims;
    qdq_gemm *gemm = QDQ_MEMPOOL_NEW(to->mempool, qdq_gemm);
    if (!gemm || !qdq_matmul_dims_of(ctx, &ports, &dims)) return 0;
    qdq_gemm_init(gemm, to, true);
    qdq_matmul_lay_out(ctx, &ports, &dims, gemm);
    qdq_pair_sums_init(gemm, to, false);
    gemm->epilogue = qdq_gemm_epilogue_int32;
    if (ctx->inputs[A_ZERO].given)
        qdq_matmul_row_parameter(ctx, &dims, A_ZERO, &gemm->a_zero, gemm->batches.a_zero);
    if (ctx->inputs[B_ZERO].given)
        qdq_matmul_column_parameter(ctx, &dims, B_ZERO, &gemm->b_zero, &gemm->weights.zero_stride);
    qdq_matmul_join_batch(&ports, &dims, gemm);
    return qdq_product_stage(gemm, ctx, to, &stages[0]) ? 1 : 0;
}

const qdq_op qdq_op_matmul_integer = {
    .name = "MatMulInteger",
    .summary = "y = (a - a_zero_point) * (b - b_zero_point), int32",
    .attrs_size = sizeof(qdq_matmul_integer_attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = 1,
    .infer = infer,
    .looks_at = 1u << A_ZERO | 1u << B_ZERO,
    .by_pair_sums = true,
    .lower = lower,
};

//---- QLinearMatMul ----------------------------------------------------------

enum { Q_A, Q_A_SCALE, Q_A_ZERO, Q_B, Q_B_SCALE, Q_B_ZERO, Q_Y_SCALE, Q_Y_ZERO };

typedef qdq_qlinear_matmul_attrs q_attrs;

static const qdq_port_desc q_inputs[] = {
    {"a", offsetof(q_attrs, a), false, BYTES},
    {"a_scale", offsetof(q_attrs, a_scale), false, QDQ_SET_FLOATS},
    {"a_zero_point", offsetof(q_attrs, a_zero_point), false, BYTES},
    {"b", offsetof(q_attrs, b), false, BYTES},
    {"b_scale", offsetof(q_attrs, b_scale), false, QDQ_SET_FLOATS},
    {"b_zero_point", offsetof(q_attrs, b_zero_point), false, BYTES},
    {"y_scale", offsetof(q_attrs, y_scale), false, QDQ_SET_FLOATS},
    {"y_zero_point", offsetof(q_attrs, y_zero_point), false, BYTES},
};
static const qdq_port_desc q_outputs[] = {{"y", 0, false, BYTES}};

static void q_infer(qdq_op_context *ctx) {
    const qdq_matmul_ports ports = {.a = Q_A, .b = Q_B};
    qdq_matmul_dims dims;
    qdq_check_dtype_as(ctx, Q_A_ZERO, Q_A);
    qdq_check_dtype_as(ctx, Q_B_ZERO, Q_B);
    qdq_check_one(ctx, Q_Y_SCALE);
    qdq_check_one(ctx, Q_Y_ZERO);
    if (!qdq_has_input(ctx, Q_B) || !qdq_matmul_dims_of(ctx, &ports, &dims)) return;
    qdq_matmul_check_parameter(ctx, &dims, Q_A_SCALE, Q_A, true);
    qdq_matmul_check_parameter(ctx, &dims, Q_A_ZERO, Q_A, true);
    qdq_matmul_check_parameter(ctx, &dims, Q_B_SCALE, Q_B, false);
    qdq_matmul_check_parameter(ctx, &dims, Q_B_ZERO, Q_B, false);
    if (qdq_has_input(ctx, Q_Y_ZERO))
        ctx->outputs[0] = (qdq_type){ctx->inputs[Q_Y_ZERO].type.dtype, dims.y};
}

static size_t q_lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_matmul_ports ports = {.a = Q_A, .b = Q_B};
    qdq_matmul_dims dims;
    qdq_gemm *g = QDQ_MEMPOOL_NEW(to->mempool, qdq_gemm);
    if (!g || !qdq_matmul_dims_of(ctx, &ports, &dims)) return 0;
    qdq_gemm_init(g, to, true);
    qdq_matmul_lay_out(ctx, &ports, &dims, g);
    qdq_pair_sums_init(g, to, false);
    g->epilogue = qdq_gemm_epilogue_requantized;
    qdq_matmul_row_parameter(ctx, &dims, Q_A_ZERO, &g->a_zero, g->batches.a_zero);
    qdq_matmul_row_parameter(ctx, &dims, Q_A_SCALE, &g->a_scale, g->batches.a_scale);
    qdq_matmul_column_parameter(ctx, &dims, Q_B_ZERO, &g->b_zero, &g->weights.zero_stride);
    qdq_matmul_column_parameter(ctx, &dims, Q_B_SCALE, &g->b_scale, &g->weights.scale_stride);
    g->y_scale = qdq_gemm_one(ctx, Q_Y_SCALE), g->y_zero = qdq_gemm_one(ctx, Q_Y_ZERO);
    qdq_matmul_join_batch(&ports, &dims, g);
    return qdq_product_stage(g, ctx, to, &stages[0]) ? 1 : 0;
}

const qdq_op qdq_op_qlinear_matmul = {
    .name = "QLinearMatMul",
    .summary = "y = a * b, of integers that stand for reals",
    .attrs_size = sizeof(q_attrs),
    .inputs = q_inputs,
    .input_count = sizeof q_inputs / sizeof q_inputs[0],
    .outputs = q_outputs,
    .output_count = 1,
    .infer = q_infer,
    .looks_at = 1u << Q_A_SCALE | 1u << Q_A_ZERO | 1u << Q_B_SCALE | 1u << Q_B_ZERO |
                1u << Q_Y_SCALE | 1u << Q_Y_ZERO,
    .by_pair_sums = true,
    .lower = q_lower,
};
