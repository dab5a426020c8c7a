// SPDX-License-Identifier: Apache-2.0
#include "ops/infer.h"

const char *const qdq_data_format_words[] = {"NXC", "NCX", NULL};
const char *const qdq_auto_pad_words[] = {"None", "SAME_UPPER", "SAME_LOWER", "VALID", NULL};
const char *const qdq_broadcast_words[] = {"numpy", "none", NULL};

//---- Checks -----------------------------------------------------------------

void qdq_report_shape(const qdq_op_context *ctx, const char *port, qdq_shape found,
                      const char *wanted) {
    qdq_report_violation(
        ctx, QDQ_RULE_PORT_SHAPE, port,
        qdq_text(ctx->findings, "has the shape %s", qdq_shape_text(ctx->findings, found)), wanted);
}

bool qdq_require_attr(const qdq_op_context *ctx, const char *attr, bool given) {
    if (!given) qdq_report_violation(ctx, QDQ_RULE_ATTR_REQUIRED, attr, "is missing", NULL);
    return given;
}

int qdq_check_axis(const qdq_op_context *ctx, const char *attr, int64_t axis, int rank) {
    if (axis >= -rank && axis < rank) return (int)(axis < 0 ? axis + rank : axis);
    qdq_report_violation(ctx, QDQ_RULE_AXIS_RANGE, attr,
                         qdq_text(ctx->findings, "is %lld", (long long)axis),
                         rank ? qdq_text(ctx->findings, "%d to %d", -rank, rank - 1)
                              : "an x with dims: this one has none");
    return -1;
}

bool qdq_check_dtype_as(const qdq_op_context *ctx, size_t input, size_t other) {
    if (!qdq_has_input(ctx, input) || !qdq_has_input(ctx, other)) return true;
    qdq_dtype is = ctx->inputs[input].type.dtype, wanted = ctx->inputs[other].type.dtype;
    if (is == wanted) return true;
    qdq_report_violation(ctx, QDQ_RULE_PORT_DTYPE, qdq_op_port(ctx->op, input)->name,
                         qdq_text(ctx->findings, "is %s", qdq_dtype_name(is)),
                         qdq_text(ctx->findings, "%s, as %s is", qdq_dtype_name(wanted),
                                  qdq_op_port(ctx->op, other)->name));
    return false;
}

bool qdq_check_same_dtype(const qdq_op_context *ctx, size_t input) {
    return qdq_check_dtype_as(ctx, input, 0);
}

bool qdq_check_one(const qdq_op_context *ctx, size_t input) {
    if (!qdq_has_input(ctx, input)) return true;
    qdq_shape is = ctx->inputs[input].type.shape;
    if (qdq_shape_count(is) == 1) return true;
    qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, is, "one element");
    return false;
}

bool qdq_check_shape(const qdq_op_context *ctx, size_t input, qdq_shape wanted, const char *why) {
    if (!qdq_has_input(ctx, input)) return true;
    qdq_shape is = ctx->inputs[input].type.shape;
    if (qdq_shape_equal(is, wanted)) return true;
    qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, is,
                     qdq_text(ctx->findings, "%s: %s", qdq_shape_text(ctx->findings, wanted), why));
    return false;
}

bool qdq_broadcast_shapes(qdq_shape a, qdq_shape b, qdq_shape *out) {
    *out = (qdq_shape){.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 1; i <= out->rank; i++) {
        int64_t da = i <= a.rank ? a.dims[a.rank - i] : 1;
        int64_t db = i <= b.rank ? b.dims[b.rank - i] : 1;
        if (da != db && da != 1 && db != 1) return false;
        out->dims[out->rank - i] = da == 1 ? db : da;
    }
    return true;
}

bool qdq_broadcasts_to(qdq_shape shape, qdq_shape to) {
    qdq_shape both;
    return qdq_broadcast_shapes(shape, to, &both) && qdq_shape_equal(both, to);
}

bool qdq_check_broadcasts_to(const qdq_op_context *ctx, size_t input, qdq_shape to,
                             const char *name) {
    if (!qdq_has_input(ctx, input)) return true;
    qdq_shape is = ctx->inputs[input].type.shape;
    if (qdq_broadcasts_to(is, to)) return true;
    qdq_report_shape(ctx, qdq_op_port(ctx->op, input)->name, is,
                     qdq_text(ctx->findings, "one that can be broadcast to %s, %s",
                              qdq_shape_text(ctx->findings, to), name));
    return false;
}
