// SPDX-License-Identifier: Apache-2.0
// QGemm and MatMulIntegerToFloat: products of integers with scales, as ONNX Runtime's ops of these
// names.
#include "include/qdq/ops/products.h"
#include "ops/conv/panels/product_stage.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "ops/matmul/matmul.h"

#define BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))

// The inputs that both ops have.
typedef struct scaled_ports {
    qdq_matmul_ports matrices;
    size_t a_scale, b_scale, a_zero, b_zero;
} scaled_ports;

// Checks them and finds the dims of y; false if an operand is invalid.
static bool check_ports(qdq_op_context *ctx, const scaled_ports *p, qdq_matmul_dims *dims) {
    size_t a = p->matrices.a, b = p->matrices.b;
    qdq_check_dtype_as(ctx, p->a_zero, a);
    qdq_check_dtype_as(ctx, p->b_zero, b);
    if (!qdq_has_input(ctx, b) || !qdq_matmul_dims_of(ctx, &p->matrices, dims)) return false;
    qdq_matmul_check_parameter(ctx, dims, p->a_scale, a, true);
    qdq_matmul_check_parameter(ctx, dims, p->a_zero, a, true);
    qdq_matmul_check_parameter(ctx, dims, p->b_scale, b, false);
    qdq_matmul_check_parameter(ctx, dims, p->b_zero, b, false);
    return true;
}

// Returns the product without its epilogue and bias; NULL when memory runs out.
static qdq_gemm *product_of(const qdq_op_context *ctx, const qdq_lowering *to,
                            const scaled_ports *p, qdq_matmul_dims *dims) {
    qdq_gemm *g = QDQ_MEMPOOL_NEW(to->mempool, qdq_gemm);
    if (!g || !qdq_matmul_dims_of(ctx, &p->matrices, dims)) return NULL;
    qdq_gemm_init(g, to, true);
    qdq_matmul_lay_out(ctx, &p->matrices, dims, g);
    qdq_pair_sums_init(g, to, false);
    g->epilogue = qdq_gemm_epilogue_multiplied;
    qdq_matmul_row_parameter(ctx, dims, p->a_scale, &g->a_scale, g->batches.a_scale);
    qdq_matmul_column_parameter(ctx, dims, p->b_scale, &g->b_scale, &g->weights.scale_stride);
    if (ctx->inputs[p->a_zero].given)
        qdq_matmul_row_parameter(ctx, dims, p->a_zero, &g->a_zero, g->batches.a_zero);
    if (ctx->inputs[p->b_zero].given)
        qdq_matmul_column_parameter(ctx, dims, p->b_zero, &g->b_zero, &g->weights.zero_stride);
    return g;
}

static size_t stage_of(qdq_gemm *g, const qdq_op_context *ctx, const qdq_lowering *to,
                       const scaled_ports *p, const qdq_matmul_dims *dims, qdq_stage *stages) {
    qdq_matmul_join_batch(&p->matrices, dims, g);
    return qdq_product_stage(g, ctx, to, &stages[0]) ? 1 : 0;
}

//---- MatMulIntegerToFloat ---------------------------------------------------

enum { A, B, A_SCALE, B_SCALE, A_ZERO, B_ZERO, BIAS };

typedef qdq_matmul_integer_to_float_attrs float_attrs;

static const qdq_port_desc inputs[] = {
    {"a", offsetof(float_attrs, a), false, BYTES},
    {"b", offsetof(float_attrs, b), false, BYTES},
    {"a_scale", offsetof(float_attrs, a_scale), false, QDQ_SET(FLOAT32)},
    {"b_scale", offsetof(float_attrs, b_scale), false, QDQ_SET(FLOAT32)},
    {"a_zero_point", offsetof(float_attrs, a_zero_point), true, BYTES},
    {"b_zero_point", offsetof(float_attrs, b_zero_point), true, BYTES},
    {"bias", offsetof(float_attrs, bias), true, QDQ_SET(FLOAT32)},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET(FLOAT32)}};

static const scaled_ports float_ports = {{.a = A, .b = B}, A_SCALE, B_SCALE, A_ZERO, B_ZERO};

static void infer(qdq_op_context *ctx) {
    qdq_matmul_dims dims;
    if (!check_ports(ctx, &float_ports, &dims)) return;
    (void)qdq_check_broadcasts_to(ctx, BIAS, dims.y, "the shape of y");
    ctx->outputs[0] = (qdq_type){QDQ_FLOAT32, dims.y};
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_matmul_dims dims;
    qdq_gemm *g = product_of(ctx, to, &float_ports, &dims);
    if (!g) return 0;
    if (ctx->inputs[BIAS].given) qdq_matmul_along(ctx, &dims, BIAS, &g->bias, g->batches.bias);
    g->fused_bias = to->numerics.float_ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM;
    return stage_of(g, ctx, to, &float_ports, &dims, stages);
}

const qdq_op qdq_op_matmul_integer_to_float = {
    .name = "MatMulIntegerToFloat",
    .summary = "y = a * b + bias, float32, of integers that stand for reals",
    .attrs_size = sizeof(float_attrs),
    .inputs = inputs,
    .input_count = sizeof inputs / sizeof inputs[0],
    .outputs = outputs,
    .output_count = 1,
    .infer = infer,
    .looks_at = 1u << A_SCALE | 1u << B_SCALE | 1u << A_ZERO | 1u << B_ZERO,
    .by_float_ops = true,
    .by_pair_sums = true,
    .lower = lower,
};

//---- QGemm ------------------------------------------------------------------

enum { Q_A, Q_A_SCALE, Q_A_ZERO, Q_B, Q_B_SCALE, Q_B_ZERO, Q_BIAS, Q_Y_SCALE, Q_Y_ZERO };

typedef qdq_qgemm_attrs q_attrs_type;

static const qdq_port_desc q_inputs[] = {
    {"a", offsetof(q_attrs_type, a), false, BYTES},
    {"a_scale", offsetof(q_attrs_type, a_scale), false, QDQ_SET(FLOAT32)},
    {"a_zero_point", offsetof(q_attrs_type, a_zero_point), true, BYTES},
    {"b", offsetof(q_attrs_type, b), false, BYTES},
    {"b_scale", offsetof(q_attrs_type, b_scale), false, QDQ_SET(FLOAT32)},
    {"b_zero_point", offsetof(q_attrs_type, b_zero_point), true, BYTES},
    {"bias", offsetof(q_attrs_type, bias), true, QDQ_SET(INT32)},
    {"y_scale", offsetof(q_attrs_type, y_scale), true, QDQ_SET(FLOAT32)},
    {"y_zero_point", offsetof(q_attrs_type, y_zero_point), true, BYTES},
};
static const qdq_port_desc q_outputs[] = {{"y", 0, false, BYTES | QDQ_SET(FLOAT32)}};
static const qdq_attr_desc q_attrs[] = {
    {"transpose_a", QDQ_ATTR_BOOL, offsetof(q_attrs_type, transpose_a), NULL, "false",
     "swap the last two dims of a; a vector has none"},
    {"transpose_b", QDQ_ATTR_BOOL, offsetof(q_attrs_type, transpose_b), NULL, "false",
     "the same for b"},
    {"alpha", QDQ_ATTR_FLOAT, offsetof(q_attrs_type, alpha), NULL, "1", "a factor of a_scale"},
};

static scaled_ports q_ports_of(const q_attrs_type *a) {
    return (scaled_ports){{Q_A, Q_B, a->transpose_a == QDQ_TRUE, a->transpose_b == QDQ_TRUE},
                          Q_A_SCALE,
                          Q_B_SCALE,
                          Q_A_ZERO,
                          Q_B_ZERO};
}

static void q_infer(qdq_op_context *ctx) {
    scaled_ports ports = q_ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    qdq_check_one(ctx, Q_Y_SCALE);
    qdq_check_one(ctx, Q_Y_ZERO);
    bool scaled = ctx->inputs[Q_Y_SCALE].given, has_zero = ctx->inputs[Q_Y_ZERO].given;
    if (has_zero && !scaled)
        qdq_report_violation(ctx, QDQ_RULE_PORT_MISSING, "y_scale", "is missing",
                             "a scale, as y_zero_point is given");
    if (!check_ports(ctx, &ports, &dims)) return;
    (void)qdq_check_broadcasts_to(ctx, Q_BIAS, dims.y, "the shape of y");
    qdq_dtype y = scaled ? ctx->inputs[has_zero ? Q_Y_ZERO : Q_A].type.dtype : QDQ_FLOAT32;
    ctx->outputs[0] = (qdq_type){y, dims.y};
}

static size_t q_lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const q_attrs_type *attrs = ctx->attrs;
    scaled_ports ports = q_ports_of(attrs);
    qdq_matmul_dims dims;
    qdq_gemm *g = product_of(ctx, to, &ports, &dims);
    if (!g) return 0;
    if (attrs->alpha.set != 0) g->alpha = (float)attrs->alpha.value;
    if (ctx->inputs[Q_BIAS].given) qdq_matmul_along(ctx, &dims, Q_BIAS, &g->bias, g->batches.bias);
    if (ctx->inputs[Q_Y_SCALE].given) {
        g->epilogue = qdq_gemm_epilogue_requantized;
        g->y_scale = qdq_gemm_one(ctx, Q_Y_SCALE);
    }
    if (ctx->inputs[Q_Y_ZERO].given) g->y_zero = qdq_gemm_one(ctx, Q_Y_ZERO);
    return stage_of(g, ctx, to, &ports, &dims, stages);
}

const qdq_op qdq_op_qgemm = {
    .name = "QGemm",
    .summary = "y = a * b + bias, of integers that stand for reals",
    .attrs_size = sizeof(q_attrs_type),
    QDQ_OP_TABLES(q_inputs, q_outputs, q_attrs),
    .infer = q_infer,
    .looks_at = 1u << Q_A_SCALE | 1u << Q_A_ZERO | 1u << Q_B_SCALE | 1u << Q_B_ZERO |
                1u << Q_Y_SCALE | 1u << Q_Y_ZERO,
    .by_pair_sums = true,
    .lower = q_lower,
};
