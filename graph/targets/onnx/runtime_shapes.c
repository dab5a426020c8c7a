// SPDX-License-Identifier: Apache-2.0
// The shapes of scales and zero points that ONNX Runtime takes for integer products and QLinear
// ops, as it answered for each port. The core takes more: ONNX's text has rows of a, and channels
// of ConvInteger.
#include <string.h>

#include "graph/targets/checks.h"
#include "graph/targets/onnx/runtime_versions.h"
#include "runtime/base/words.h"

typedef enum form {
    SCALAR,   // []
    ONE,      // [] or [1]
    LIST,     // [], [1], or one element for each channel
    COLUMNS,  // as LIST if b is a matrix, or b with one row
} form;

typedef struct row {
    const char *ops, *ports;
    form form;
} row;

static const row rows[] = {
    {"QLinearAdd QLinearMul", "a_scale a_zero_point b_scale b_zero_point y_scale y_zero_point",
     SCALAR},
    {"QLinearAveragePool", "x_scale x_zero_point y_scale y_zero_point", SCALAR},
    {"QLinearGlobalAveragePool", "x_scale x_zero_point y_scale y_zero_point", ONE},
    {"QLinearSoftmax", "x_scale", ONE},
    {"MatMulInteger MatMulIntegerToFloat", "a_zero_point", ONE},
    {"MatMulInteger MatMulIntegerToFloat", "b_zero_point", COLUMNS},
    {"ConvInteger", "x_zero_point w_zero_point", ONE},
    {"QLinearMatMul QGemm", "a_scale a_zero_point y_scale y_zero_point", ONE},
    {"QLinearMatMul", "b_scale b_zero_point", COLUMNS},
    {"QGemm", "b_scale b_zero_point", LIST},
    {"QLinearConv", "x_scale x_zero_point y_scale y_zero_point", ONE},
    {"QLinearConv", "w_scale w_zero_point", LIST},
};

// Returns the shape of b, with one row in place of all.
static qdq_shape one_row_of(const qdq_op_context *ctx) {
    qdq_shape b = {0};
    for (size_t i = 0; i < ctx->op->input_count; i++)
        if (strcmp(ctx->op->inputs[i].name, "b") == 0) b = ctx->inputs[i].type.shape;
    if (b.rank > 1) b.dims[b.rank - 2] = 1;
    return b;
}

static bool fits(const qdq_op_context *ctx, form wanted, qdq_shape shape) {
    qdq_shape b;
    if (shape.rank == 0) return true;
    if (wanted == SCALAR) return false;
    if (shape.rank == 1 && (shape.dims[0] == 1 || wanted == LIST)) return true;
    if (wanted != COLUMNS) return false;
    b = one_row_of(ctx);
    return qdq_shape_equal(shape, b) || (shape.rank == 1 && b.rank <= 2);
}

static const char *wanted_text(const qdq_op_context *ctx, form wanted) {
    qdq_shape b;
    if (wanted == SCALAR) return "[]";
    if (wanted == ONE) return "[] or [1]";
    if (wanted == LIST) return "[], [1] or a list";
    b = one_row_of(ctx);
    return qdq_text(ctx->findings, "[], [1]%s or %s", b.rank <= 2 ? ", a list" : "",
                    qdq_shape_text(ctx->findings, b));
}

void qdq_runtime_check_shapes(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t i = 0; i < ctx->op->input_count; i++) {
        const char *port = ctx->op->inputs[i].name;
        qdq_shape shape = ctx->inputs[i].type.shape;
        if (!ctx->inputs[i].given) continue;
        for (const row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
            if (!qdq_has_word(r->ops, ctx->op->name) || !qdq_has_word(r->ports, port) ||
                fits(ctx, r->form, shape))
                continue;
            qdq_report_target_violation(
                ctx, rule, port,
                qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, shape)),
                wanted_text(ctx, r->form));
            return;
        }
    }
}
