// SPDX-License-Identifier: Apache-2.0
// Checks that the rules of TensorRT and Tripy share.
#include "graph/targets/tensorrt/tensorrt_shared.h"

#include "runtime/numerics/dtype.h"

//---- A node -----------------------------------------------------------------

size_t qdq_quantized_sides(const qdq_op_context *ctx, qdq_side sides[2]) {
    size_t n = 0;
    bool both = qdq_op_context_is(ctx, "Requantize") || qdq_op_context_is(ctx, "Cast");
    if (both || qdq_op_context_is(ctx, "Dequantize"))
        sides[n++] = (qdq_side){"x", ctx->inputs[QDQ_PORT_X].type.dtype};
    if (both || !qdq_op_context_is(ctx, "Dequantize"))
        sides[n++] = (qdq_side){"dtype", ctx->outputs[0].dtype};
    return n;
}

const char *qdq_real_port(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize") ? "dtype" : "x";
}

bool qdq_is_per_group(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    return a && a->qtype == QDQ_PER_GROUP;
}

int qdq_blocked_dims(const qdq_op_context *ctx, int *first) {
    int count = 0;
    *first = -1;
    if (!qdq_is_per_group(ctx)) return 0;
    qdq_shape block = qdq_block_shape(ctx);
    for (int i = 0; i < block.rank; i++)
        if (block.dims[i] > 1 && ++count == 1) *first = i;
    return count;
}

bool qdq_has_channels(const qdq_op_context *ctx, qdq_argument *scale) {
    if (qdq_is_per_group(ctx)) return false;
    for (size_t k = 0; k < 3; k++) {
        *scale = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (scale->count > 1) return true;
    }
    return false;
}

//---- Dtypes -----------------------------------------------------------------

void qdq_check_quantized(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set,
                         qdq_dtype_set but) {
    qdq_side sides[2];
    size_t n = qdq_quantized_sides(ctx, sides);
    for (size_t i = 0; i < n; i++) {
        if (qdq_set_has(but, sides[i].dtype)) continue;
        if (!qdq_expect_dtype(ctx, rule, sides[i].port, sides[i].dtype, set)) return;
    }
}

void qdq_check_layer_float(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_dtype(ctx, rule, qdq_real_port(ctx), qdq_real_dtype(ctx), QDQ_SET_LAYER_FLOATS);
}

void qdq_check_scale_agrees(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool pair = qdq_op_context_is(ctx, "Requantize");
    qdq_dtype real = pair ? QDQ_FLOAT32 : qdq_real_dtype(ctx);
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.from_port || s.dtype == real || !qdq_set_has(QDQ_SET_16_BIT_FLOATS, s.dtype))
            continue;
        bool narrow = qdq_set_has(QDQ_SET_16_BIT_FLOATS, real);
        qdq_report_target_violation(ctx, rule, s.name,
                                    qdq_text(ctx->findings, "is %s", qdq_dtype_name(s.dtype)),
                                    qdq_text(ctx->findings, "float32%s%s", narrow ? " or " : "",
                                             narrow ? qdq_dtype_name(real) : ""));
        return;
    }
}

void qdq_check_cast(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype_set set) {
    qdq_side sides[2];
    size_t n = qdq_quantized_sides(ctx, sides);
    for (size_t i = 0; i < n; i++)
        if (!qdq_expect_dtype(ctx, rule, sides[i].port, sides[i].dtype, set)) return;
}

//---- Attributes -------------------------------------------------------------

void qdq_check_saturates(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_dtype_info *info = qdq_dtype_get(ctx->outputs[0].dtype);
    const qdq_cast_attrs *cast = qdq_op_context_is(ctx, "Cast") ? ctx->attrs : NULL;
    bool refused = (a && a->saturate == QDQ_FALSE) || (cast && cast->saturate == QDQ_FALSE);
    if (refused && info->kind == QDQ_KIND_SMALL_FLOAT && info->bits == 8)
        qdq_report_target_violation(ctx, rule, "saturate", "is false", "true");
}

//---- Shapes -----------------------------------------------------------------

void qdq_check_no_scalar_x(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[QDQ_PORT_X].type.shape.rank == 0)
        qdq_report_target_violation(ctx, rule, "x", "has no dims", "a shape of 1 to 8 dims");
}

void qdq_check_no_list_of_channels(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s;
    if (ctx->inputs[QDQ_PORT_X].type.shape.rank == 1 && qdq_has_channels(ctx, &s))
        qdq_report_target_violation(
            ctx, rule, "x",
            qdq_text(ctx->findings, "has one dim, but %s has %zu elements", s.name, s.count),
            "two dims or more");
}

bool qdq_has_4_bits(const qdq_op_context *ctx) {
    qdq_side sides[2];
    size_t n = qdq_quantized_sides(ctx, sides);
    bool has = false;
    for (size_t i = 0; i < n; i++) has |= qdq_dtype_get(sides[i].dtype)->bits == 4;
    return has;
}

void qdq_check_even_count(const qdq_op_context *ctx, const qdq_rule *rule) {
    size_t count = qdq_shape_count(ctx->inputs[QDQ_PORT_X].type.shape);
    if (count % 2 != 0 && qdq_has_4_bits(ctx))
        qdq_report_target_violation(
            ctx, rule, "x",
            qdq_text(ctx->findings, "has %zu element%s", count, count == 1 ? "" : "s"),
            "an even number of them");
}

void qdq_check_no_int4_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->returned && !qdq_is_computed(ctx) && ctx->outputs[0].dtype == QDQ_INT4)
        qdq_report_target_violation(ctx, rule, "y", "is int4 and an output of the graph",
                                    "a Dequantize before the output");
}
