// SPDX-License-Identifier: Apache-2.0
// MatMul: y = a * b + bias, as in oneDNN Graph.
#include "ops/matmul/matmul.h"

#include "include/qdq/ops/products.h"
#include "ops/conv/panels/product_stage.h"
#include "ops/matmul/chip/chip_matmul.h"

typedef qdq_matmul_attrs attrs_type;

enum { A, B, BIAS };

static const qdq_port_desc inputs[] = {
    {"a", offsetof(attrs_type, a), false, QDQ_SET_FLOATS},
    {"b", offsetof(attrs_type, b), false, QDQ_SET_FLOATS},
    {"bias", offsetof(attrs_type, bias), true, QDQ_SET_FLOATS},
};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const char *const fidelities[] = {"by the backend", "LoFi", "HiFi2", "HiFi3", "HiFi4", NULL};
static const qdq_attr_desc attrs[] = {
    {"transpose_a", QDQ_ATTR_BOOL, offsetof(attrs_type, transpose_a), NULL, "false",
     "swap the last two dims of a; a vector has none"},
    {"transpose_b", QDQ_ATTR_BOOL, offsetof(attrs_type, transpose_b), NULL, "false",
     "the same for b"},
    {"dtype", QDQ_ATTR_DTYPE, offsetof(attrs_type, dtype), NULL, "the dtype of a",
     "of the result: the dtype of a, or float32"},
    {"math_fidelity", QDQ_ATTR_WORD, offsetof(attrs_type, math_fidelity), fidelities,
     "by the backend", "ttnn: the phases of a product on the chip; HiFi4 if it is not given"},
    {"fp32_dest_acc_en", QDQ_ATTR_BOOL, offsetof(attrs_type, fp32_dest_acc_en), NULL, "true",
     "ttnn: true: sums on the chip are float32; false: bfloat16"},
};

static qdq_matmul_ports ports_of(const attrs_type *a) {
    return (qdq_matmul_ports){A, B, a->transpose_a == QDQ_TRUE, a->transpose_b == QDQ_TRUE};
}

static qdq_dtype result_dtype(const qdq_op_context *ctx) {
    const attrs_type *a = ctx->attrs;
    qdq_dtype of_a = ctx->inputs[A].type.dtype;
    if (!a->dtype || a->dtype == of_a || a->dtype == QDQ_FLOAT32) return a->dtype ? a->dtype : of_a;
    qdq_report_violation(ctx, QDQ_RULE_DTYPE_RESULT, "dtype",
                         qdq_text(ctx->findings, "is %s", qdq_dtype_name(a->dtype)),
                         of_a == QDQ_FLOAT32 ? "float32, as a is"
                                             : qdq_text(ctx->findings, "%s, as a is, or float32",
                                                        qdq_dtype_name(of_a)));
    return QDQ_DTYPE_NONE;
}

static void infer(qdq_op_context *ctx) {
    qdq_matmul_ports ports = ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    bool same = qdq_check_same_dtype(ctx, B);
    same = qdq_check_same_dtype(ctx, BIAS) && same;
    qdq_dtype y = result_dtype(ctx);
    if (!qdq_has_input(ctx, B) || !qdq_matmul_dims_of(ctx, &ports, &dims)) return;
    (void)qdq_check_broadcasts_to(ctx, BIAS, dims.y, "the shape of y");
    if (same) ctx->outputs[0] = (qdq_type){y, dims.y};
}

static uint64_t accepts_quantized(const qdq_op_context *ctx) {
    qdq_matmul_ports ports = ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    if (!qdq_matmul_dims_of(ctx, &ports, &dims)) return 0;
    int columns = ctx->inputs[B].type.shape.rank - (ports.transpose_b ? 2 : 1);
    if (dims.b_vector) columns = -1;
    bool takes = qdq_gemm_takes_quantized(&ctx->inputs[A], &ctx->inputs[B], dims.k, columns);
    return takes ? 1u << A | 1u << B : 0;
}

static bool packs_weight_codes(const qdq_op_context *ctx) {
    qdq_matmul_ports ports = ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    qdq_gemm gemm = {.batch = 1};
    if (!qdq_matmul_dims_of(ctx, &ports, &dims)) return false;
    qdq_matmul_lay_out(ctx, &ports, &dims, &gemm);
    return qdq_gemm_takes_weight_codes(&gemm, ctx->inputs[B].weight_codes);
}

// With the arithmetic of a chip. float16 is no dtype of these chips.
static size_t lower_on_chip(const qdq_op_context *ctx, const qdq_lowering *to,
                            const qdq_matmul_dims *dims, const qdq_gemm *gemm, qdq_stage *stage) {
    const attrs_type *a = ctx->attrs;
    qdq_chip_matmul *chip = QDQ_MEMPOOL_NEW(to->mempool, qdq_chip_matmul);
    if (!chip) return 0;
    *chip = (qdq_chip_matmul){.gemm = *gemm, .tile = qdq_fpu_tile_find(to->isas)};
    chip->mode = (qdq_fpu_mode){.chip = to->numerics.multiply_add,
                                .phases = a->math_fidelity ? (int)a->math_fidelity : 4,
                                .dst32 = a->fp32_dest_acc_en != QDQ_FALSE};
    if (ctx->inputs[BIAS].given)
        qdq_matmul_along(ctx, dims, BIAS, &chip->gemm.bias, chip->gemm.batches.bias);
    qdq_chip_matmul_stage(chip, stage);
    return 1;
}

qdq_runtime_product qdq_matmul_product(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                                       const qdq_matmul_dims *dims, const qdq_gemm *g) {
    const qdq_operand *b = &ctx->inputs[B];
    return (qdq_runtime_product){
        .m = g->rows,
        .n = g->columns,
        .k = g->depth,
        .transpose_a = ports->transpose_a && !dims->a_vector,
        .transpose_b = ports->transpose_b && !dims->b_vector,
        .packed = b->initial && b->type.shape.rank == 2,
        .column_vector = dims->b_vector,
        .together = !ports->transpose_b,
        .biased = ctx->inputs[BIAS].given,
    };
}

static void set_order(const qdq_op_context *ctx, const qdq_matmul_ports *ports,
                      const qdq_matmul_dims *dims, qdq_gemm *g) {
    qdq_runtime_product product = qdq_matmul_product(ctx, ports, dims, g);
    g->order = qdq_gemm_order_of(&product);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_matmul_ports ports = ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    qdq_gemm *gemm = QDQ_MEMPOOL_NEW(to->mempool, qdq_gemm);
    if (!gemm || !qdq_matmul_dims_of(ctx, &ports, &dims)) return 0;
    bool quantized = ctx->inputs[A].quantized != NULL;
    qdq_gemm_init(gemm, to, quantized);
    qdq_matmul_lay_out(ctx, &ports, &dims, gemm);
    (void)qdq_matmul_read_transposed(ctx, &ports, &dims, gemm);
    if (!quantized && !ctx->inputs[B].weight_codes && to->numerics.multiply_add &&
        ctx->inputs[A].type.dtype != QDQ_FLOAT16)
        return lower_on_chip(ctx, to, &dims, gemm, &stages[0]);
    gemm->epilogue = qdq_gemm_epilogue_float;
    if (quantized && !qdq_gemm_use_quantized(gemm, ctx, 0, to->mempool)) return 0;
    if (ctx->inputs[BIAS].given)
        qdq_matmul_along(ctx, &dims, BIAS, &gemm->bias, gemm->batches.bias);
    size_t repeat = ctx->inputs[B].repeat;
    if (!ctx->inputs[A].order && !repeat) qdq_matmul_join_batch(&ports, &dims, gemm);
    gemm->fast = to->fast;
    if (qdq_adds_as_runtime(ctx, to, A, B)) set_order(ctx, &ports, &dims, gemm);
    if (repeat) qdq_matmul_join_repeats(repeat, gemm);
    return qdq_product_stage(gemm, ctx, to, &stages[0]) ? 1 : 0;
}

// A chip does not read transposed operands.
static bool reads_transposed(const qdq_op_context *ctx, const qdq_lowering *to) {
    qdq_matmul_ports ports = ports_of(ctx->attrs);
    qdq_matmul_dims dims;
    qdq_gemm gemm = {.kind = QDQ_GEMM_FLOATS};
    if (to->numerics.multiply_add || !qdq_matmul_dims_of(ctx, &ports, &dims)) return false;
    if (ctx->inputs[B].repeat && ctx->inputs[BIAS].given) return false;
    qdq_matmul_lay_out(ctx, &ports, &dims, &gemm);
    return qdq_matmul_read_transposed(ctx, &ports, &dims, &gemm);
}

static const qdq_op_fusion fusion = {
    .reads_transposed = reads_transposed,
    .accepts_quantized = accepts_quantized,
    .packs = 1u << B,
    .packs_weight_codes = packs_weight_codes,
};

const qdq_op qdq_op_matmul = {
    .name = "MatMul",
    .summary = "y = a * b + bias, products of matrices",
    .attrs_size = sizeof(attrs_type),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .by_chip = true,
    .by_float_ops = true,
    .fusion = &fusion,
};
