// SPDX-License-Identifier: Apache-2.0
// Checks of TensorRT's rules about IQuantizeLayer and IDequantizeLayer, and about Requantize as the
// pair of both. tensorrt.c has the rules.
#include "graph/targets/tensorrt/tensorrt.h"
#include "runtime/numerics/dtype.h"

static const qdq_shape *x_shape(const qdq_op_context *ctx) {
    return &ctx->inputs[QDQ_PORT_X].type.shape;
}

static bool x_is_constant(const qdq_op_context *ctx) { return ctx->inputs[QDQ_PORT_X].constant; }

//---- Dtypes -----------------------------------------------------------------

void qdq_trt_quantized_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set set =
        QDQ_SET(INT8) | QDQ_SET(INT4) | QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(FLOAT4_E2M1);
    qdq_check_quantized(ctx, rule, set, QDQ_SET(UINT8));
}

void qdq_trt_no_uint8(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_side sides[2];
    size_t n = qdq_quantized_sides(ctx, sides);
    for (size_t i = 0; i < n; i++) {
        if (sides[i].dtype != QDQ_UINT8) continue;
        qdq_report_target_violation(ctx, rule, sides[i].port, "is uint8", "int8");
        return;
    }
}

void qdq_trt_no_float4(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_is_computed(ctx) && qdq_quantized_dtype(ctx) == QDQ_FLOAT4_E2M1)
        qdq_report_target_violation(ctx, rule, qdq_op_context_is(ctx, "Dequantize") ? "x" : "dtype",
                                    "is float4_e2m1", "int8, int4 or float8_e4m3fn");
}

void qdq_trt_static_float4(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_is_computed(ctx) && ctx->outputs[0].dtype == QDQ_FLOAT4_E2M1)
        qdq_report_target_violation(ctx, rule, "dtype",
                                    "is float4_e2m1, with scales that are given",
                                    "DynamicQuantize with the scheme nvfp4");
}

//---- Scales -----------------------------------------------------------------

void qdq_trt_scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    if (s.from_port)
        qdq_expect_dtype(ctx, rule, s.name, s.dtype, QDQ_SET_LAYER_FLOATS | QDQ_SET(FLOAT8_E8M0));
}

void qdq_trt_no_e8m0_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    if (s.dtype == QDQ_FLOAT8_E8M0)
        qdq_report_target_violation(ctx, rule, s.name, "is float8_e8m0",
                                    "float32, float16 or bfloat16");
}

void qdq_trt_e8m0_is_mxfp8(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    int first, count = qdq_blocked_dims(ctx, &first);
    if (s.dtype != QDQ_FLOAT8_E8M0) return;
    bool is_block = count == 1 && qdq_block_shape(ctx).dims[first] == 32;
    qdq_dtype quantized = qdq_quantized_dtype(ctx);
    if (quantized != QDQ_FLOAT8_E4M3FN)
        qdq_report_target_violation(ctx, rule, s.name,
                                    qdq_text(ctx->findings,
                                             "is float8_e8m0, but the quantized type is %s",
                                             qdq_dtype_name(quantized)),
                                    "float8_e4m3fn in blocks of 32");
    else if (!is_block)
        qdq_report_target_violation(ctx, rule, s.name, "is float8_e8m0, but not for blocks of 32",
                                    "blocks of 32 elements along one dim");
}

// Numbers in attributes are float32.
void qdq_trt_one_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    qdq_dtype real = qdq_real_dtype(ctx);
    if (s.given && s.dtype == QDQ_FLOAT32 && qdq_set_has(QDQ_SET_16_BIT_FLOATS, real))
        qdq_report_target_violation(ctx, rule, s.name, "is float32",
                                    qdq_text(ctx->findings, "a constant of %s, as %s is",
                                             qdq_dtype_name(real), qdq_real_port(ctx)));
}

// Releases without run-time scales still accepted them for NVFP4 and MXFP8, whose scales a layer
// computes.
void qdq_trt_run_time_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_quantized_dtype(ctx) == QDQ_FLOAT4_E2M1) return;
    qdq_argument s = qdq_argument_of(ctx, "scale");
    if (s.dtype != QDQ_FLOAT8_E8M0) qdq_check_constant_scale(ctx, rule);
}

void qdq_trt_scale_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    int wanted = qdq_is_per_group(ctx) ? x_shape(ctx)->rank : 1;
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.from_port || s.count == 1 || s.shape.rank == wanted) continue;
        qdq_report_target_violation(
            ctx, rule, s.name,
            qdq_text(ctx->findings, "has %d dim%s", s.shape.rank, s.shape.rank == 1 ? "" : "s"),
            qdq_text(ctx->findings, "%d", wanted));
        return;
    }
}

void qdq_trt_single_scale_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        bool is_grid = qdq_is_per_group(ctx) && s.shape.rank == x_shape(ctx)->rank;
        if (!s.from_port || s.count > 1 || s.shape.rank < 2 || is_grid) continue;
        qdq_report_target_violation(
            ctx, rule, s.name, qdq_text(ctx->findings, "has %d dims and one element", s.shape.rank),
            "the shape [] or [1]");
        return;
    }
}

//---- Zero points ------------------------------------------------------------

void qdq_trt_zero_point_is_zero(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument z = qdq_argument_of(ctx, qdq_zero_point_ports[k]);
        size_t i = z.known ? qdq_argument_first_nonzero(&z) : z.count;
        if (i == z.count) continue;
        qdq_report_number(ctx, rule, &z, i, "0");
        return;
    }
}

void qdq_trt_zero_point_is_constant(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument z = qdq_argument_of(ctx, qdq_zero_point_ports[k]);
        if (!z.given || z.known) continue;
        qdq_report_target_violation(ctx, rule, z.name,
                                    z.constant ? "is made by a node" : "is made at run time",
                                    "a constant of zeros");
        return;
    }
}

// A single number in an attribute stands for one zero point per scale.
void qdq_trt_zero_point_shape(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        qdq_argument z = qdq_argument_of(ctx, qdq_zero_point_ports[k]);
        if (!z.given || z.scalar) continue;
        bool both = s.from_port && z.from_port && s.count > 1;
        if (s.count == z.count && (!both || qdq_shape_equal(s.shape, z.shape))) continue;
        qdq_report_target_violation(
            ctx, rule, z.name,
            s.count == z.count
                ? "has other dims than the scale"
                : qdq_text(ctx->findings, "has %zu element%s", z.count, z.count == 1 ? "" : "s"),
            qdq_text(ctx->findings, "%zu, as %s has", s.count, s.name));
        return;
    }
}

void qdq_trt_zero_point_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool pair = qdq_op_context_is(ctx, "Requantize");
    for (size_t k = 0; k < 3; k++) {
        qdq_argument z = qdq_argument_of(ctx, qdq_zero_point_ports[k]);
        qdq_dtype wanted =
            pair && k == 1 ? ctx->inputs[QDQ_PORT_X].type.dtype : qdq_quantized_dtype(ctx);
        // The operator pages show float32, which the importer accepts.
        if (!z.from_port || z.dtype == wanted || z.dtype == QDQ_FLOAT32) continue;
        qdq_report_target_violation(
            ctx, rule, z.name, qdq_text(ctx->findings, "is %s", qdq_dtype_name(z.dtype)),
            qdq_text(ctx->findings, "%s, the quantized type, or float32", qdq_dtype_name(wanted)));
        return;
    }
}

//---- Shapes -----------------------------------------------------------------

void qdq_trt_volume(const qdq_op_context *ctx, const qdq_rule *rule) {
    size_t count = qdq_shape_count(*x_shape(ctx));
    if (count > INT32_MAX)
        qdq_report_target_violation(ctx, rule, "x",
                                    qdq_text(ctx->findings, "has %zu elements", count),
                                    qdq_text(ctx->findings, "at most %ld", (long)INT32_MAX));
}

void qdq_trt_channels_of_weights(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s;
    if (!x_is_constant(ctx) && qdq_has_channels(ctx, &s))
        qdq_report_target_violation(
            ctx, rule, "x",
            qdq_text(ctx->findings, "is made at run time, and %s has %zu elements for its channels",
                     s.name, s.count),
            "a constant, or one scale for all");
}

void qdq_trt_axis_alone(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    if (a && a->axis.set != 0 && a->qtype != QDQ_PER_CHANNEL)
        qdq_report_target_violation(
            ctx, rule, "axis",
            qdq_text(ctx->findings, "is given, but qtype is %s", qdq_qtype_words[a->qtype]),
            "none");
}

void qdq_trt_even_last_dim(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_shape *shape = x_shape(ctx);
    long long last = shape->rank ? (long long)shape->dims[shape->rank - 1] : 1;
    if (last % 2 != 0 && qdq_has_4_bits(ctx))
        qdq_report_target_violation(ctx, rule, "x",
                                    qdq_text(ctx->findings, "has %lld as its last dim", last),
                                    "an even one");
}

//---- Blocks -----------------------------------------------------------------

void qdq_trt_block_rank_2(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_per_group(ctx) && x_shape(ctx)->rank != 2)
        qdq_report_target_violation(
            ctx, rule, "x", qdq_text(ctx->findings, "has rank %d, in blocks", x_shape(ctx)->rank),
            "rank 2");
}

void qdq_trt_no_blocks_of_a_list(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_per_group(ctx) && x_shape(ctx)->rank == 1)
        qdq_report_target_violation(ctx, rule, "x", "has rank 1, in blocks", "rank 2 or more");
}

void qdq_trt_one_blocked_dim(const qdq_op_context *ctx, const qdq_rule *rule) {
    int first, count = qdq_blocked_dims(ctx, &first);
    if (qdq_is_per_group(ctx) && count != 1)
        qdq_report_target_violation(ctx, rule, "group_shape",
                                    qdq_text(ctx->findings, "blocks %d dims", count),
                                    "blocks along one dim, and 1 for all others");
}

void qdq_trt_blocked_dim_is_late(const qdq_op_context *ctx, const qdq_rule *rule) {
    int first, rank = x_shape(ctx)->rank;
    if (qdq_blocked_dims(ctx, &first) > 0 && first < rank - 2)
        qdq_report_target_violation(
            ctx, rule, "group_shape", qdq_text(ctx->findings, "blocks dim %d of %d", first, rank),
            qdq_text(ctx->findings, "blocks along dim %d or %d", rank - 2, rank - 1));
}

void qdq_trt_needs_block_shape(const qdq_op_context *ctx, const qdq_rule *rule) {
    int first, count = qdq_blocked_dims(ctx, &first), rank = x_shape(ctx)->rank;
    if (!qdq_is_per_group(ctx) || (count == 1 && rank > 1 && first >= rank - 2)) return;
    qdq_report_target_violation(ctx, rule, "group_shape",
                                count == 1
                                    ? qdq_text(ctx->findings, "blocks dim %d of %d", first, rank)
                                    : qdq_text(ctx->findings, "blocks %d dims", count),
                                "blocks along one of the last two dims of at least two");
}

static void report_blocks(const qdq_op_context *ctx, const qdq_rule *rule, qdq_dtype of,
                          const char *wanted) {
    if (qdq_is_per_group(ctx) && !qdq_is_computed(ctx) && qdq_quantized_dtype(ctx) == of)
        qdq_report_target_violation(ctx, rule, "qtype",
                                    qdq_text(ctx->findings,
                                             "is per_group, but the quantized type is %s",
                                             qdq_dtype_name(of)),
                                    wanted);
}

void qdq_trt_no_int8_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    report_blocks(ctx, rule, QDQ_INT8, "per_tensor or per_channel");
}

void qdq_trt_no_float8_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_argument_of(ctx, "scale").dtype !=
        QDQ_FLOAT8_E8M0)  // MXFP8 is the exception: it had blocks earlier
        report_blocks(ctx, rule, QDQ_FLOAT8_E4M3FN, "per_tensor or per_channel");
}

void qdq_trt_weight_block_size(const qdq_op_context *ctx, const qdq_rule *rule) {
    int first, count = qdq_blocked_dims(ctx, &first);
    qdq_dtype quantized = qdq_quantized_dtype(ctx);
    if (count != 1 || qdq_is_computed(ctx)) return;
    long long size = (long long)qdq_block_shape(ctx).dims[first];
    bool fine = quantized == QDQ_INT4 ? size == 64 || size == 128
                                      : quantized != QDQ_FLOAT4_E2M1 || size == 16;
    if (!fine)
        qdq_report_target_violation(
            ctx, rule, "group_shape", qdq_text(ctx->findings, "has %lld for dim %d", size, first),
            quantized == QDQ_INT4 ? "64 or 128, as the quantized type is int4"
                                  : "16, as the quantized type is float4_e2m1");
}

//---- Use --------------------------------------------------------------------

void qdq_trt_int4_is_for_weights(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!x_is_constant(ctx) && !qdq_is_computed(ctx) && qdq_quantized_dtype(ctx) == QDQ_INT4)
        qdq_report_target_violation(
            ctx, rule, "x", "is made at run time, but the quantized type is int4", "a constant");
}

void qdq_trt_dynamic_activations(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool block = qdq_quantized_dtype(ctx) == QDQ_FLOAT4_E2M1 ||
                 qdq_argument_of(ctx, "scale").dtype == QDQ_FLOAT8_E8M0;
    if (block && !x_is_constant(ctx) && !qdq_is_computed(ctx))
        qdq_report_target_violation(ctx, rule, "x", "is made at run time, but the scales are given",
                                    "a constant, or a DynamicQuantize that computes them");
}

void qdq_trt_equal_scales(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument in = qdq_argument_of(ctx, "in_scale"), out = qdq_argument_of(ctx, "out_scale");
    bool same = in.known && out.known && in.count == out.count &&
                ctx->inputs[QDQ_PORT_X].type.dtype == ctx->outputs[0].dtype;
    for (size_t i = 0; same && i < in.count; i++)
        same = qdq_argument_at(&in, i) == qdq_argument_at(&out, i);
    if (same)
        qdq_report_target_violation(ctx, rule, out.name,
                                    qdq_text(ctx->findings, "is the same as %s", in.name),
                                    "another scale");
}

void qdq_trt_both_quantized(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_check_both_dequantized(ctx, rule, QDQ_SET(INT8) | QDQ_SET(FLOAT8_E4M3FN));
}

//---- Elements ---------------------------------------------------------------

void qdq_trt_element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_inputs(ctx, rule,
                      QDQ_SET_LAYER_FLOATS | QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(BOOL));
}

//---- Cast -------------------------------------------------------------------

void qdq_trt_cast_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set set = QDQ_SET_LAYER_FLOATS | QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT32) |
                        QDQ_SET(INT64) | QDQ_SET(BOOL);
    qdq_check_cast(ctx, rule, set);
}

void qdq_trt_cast_uint8(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    qdq_dtype_set set = QDQ_SET(UINT8) | QDQ_SET(FLOAT32) | QDQ_SET(FLOAT16);
    if (x == QDQ_UINT8)
        qdq_expect_dtype(ctx, rule, "dtype", y, set);
    else if (y == QDQ_UINT8)
        qdq_expect_dtype(ctx, rule, "x", x, set);
}

void qdq_trt_cast_int8(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if ((x == QDQ_INT8) == (y == QDQ_INT8)) return;
    qdq_report_target_violation(ctx, rule, x == QDQ_INT8 ? "x" : "dtype",
                                "is int8, a quantized type",
                                x == QDQ_INT8 ? "Dequantize" : "Quantize");
}

//---- Defaults ---------------------------------------------------------------

qdq_dtype qdq_trt_own_dtype(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "DynamicQuantize")) return QDQ_FLOAT4_E2M1;
    return qdq_op_context_is(ctx, "Dequantize") ? QDQ_FLOAT32 : QDQ_DTYPE_NONE;
}

void qdq_trt_default_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_default_dtype(ctx, rule, qdq_trt_own_dtype(ctx));
}
