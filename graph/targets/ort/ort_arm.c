// SPDX-License-Identifier: Apache-2.0
// Results that ONNX Runtime computes differently on aarch64 and this target as on x86-64 or as its
// sources say: each is a warning at the node.
#include "graph/targets/ort/ort_arm.h"

#include "include/qdq/ops/products.h"

enum { A, B_OF_INTEGERS = 1, B_OF_CODES = 3 };  // ports

// A matrix [..., depth, columns], or rows of depth codes.
typedef struct layout {
    size_t columns, depth, column_stride, depth_stride, matrices;
} layout;

static layout layout_of(const qdq_op_context *ctx, const qdq_shape *s) {
    size_t last = (size_t)s->dims[s->rank - 1], count = qdq_shape_count(*s);
    if (qdq_op_context_is(ctx, "QLinearConv")) {
        size_t outputs = (size_t)s->dims[0], depth = count / outputs;
        return (layout){outputs, depth, depth, 1, 1};
    }
    const qdq_qgemm_attrs *gemm = qdq_op_context_is(ctx, "QGemm") ? ctx->attrs : NULL;
    size_t other = s->rank > 1 ? (size_t)s->dims[s->rank - 2] : 1;
    bool rows = s->rank == 1 || (gemm && gemm->transpose_b == QDQ_TRUE);
    return rows ? (layout){other, last, last, 1, count / (last * other)}
                : (layout){last, other, 1, last, count / (last * other)};
}

// True if a column has the code -128 twice.
static bool has_two(const int8_t *column, size_t depth, size_t stride) {
    size_t count = 0;
    for (size_t k = 0; k < depth && count < 2; k++) count += column[k * stride] == INT8_MIN;
    return count == 2;
}

static size_t columns_with_two(const layout *l, const int8_t *codes) {
    size_t columns = 0;
    for (size_t m = 0; m < l->matrices; m++)
        for (size_t j = 0; j < l->columns; j++)
            columns += has_two(codes + m * l->columns * l->depth + j * l->column_stride, l->depth,
                               l->depth_stride);
    return columns;
}

// NEON without dot products adds two products of signed bytes in 16 bits, where -128 * -128 twice
// wraps around; uint8 codes of x are shifted to int8 before.
void ort_check_wrapped_products(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool integers =
        qdq_op_context_is(ctx, "MatMulInteger") || qdq_op_context_is(ctx, "MatMulIntegerToFloat");
    size_t port = integers ? B_OF_INTEGERS : B_OF_CODES;
    const qdq_operand *b = &ctx->inputs[port];
    if (b->type.dtype != QDQ_INT8 || !b->type.shape.rank || !qdq_shape_count(b->type.shape)) return;
    layout l = layout_of(ctx, &b->type.shape);
    size_t of = l.columns * l.matrices, columns = b->data ? columns_with_two(&l, b->data) : of;
    if (!columns || l.depth < 2) return;
    qdq_report_target_violation(
        ctx, rule, ctx->op->inputs[port].name,
        b->data ? qdq_text(ctx->findings,
                           "has the code -128 twice or more in %zu of %zu columns: two products "
                           "with the least code of %s can wrap around",
                           columns, of, ctx->op->inputs[A].name)
                : qdq_text(ctx->findings,
                           "may have the code -128 twice in a column: two products "
                           "with the least code of %s can wrap around",
                           ctx->op->inputs[A].name),
        NULL);
}

void ort_check_float_order(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[A].type.dtype != QDQ_FLOAT32 || ctx->outputs[0].dtype != QDQ_FLOAT32) return;
    qdq_report_target_violation(ctx, rule, NULL,
                                "computes float32 as on x86-64, ONNX Runtime's kernels for aarch64 "
                                "in another order",
                                NULL);
}
