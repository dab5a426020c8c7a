// SPDX-License-Identifier: Apache-2.0
// oneDNN Graph 3.14: Quantize, Dequantize, DynamicQuantize, DynamicDequantize and TypeCast, as its
// CPU backend on x86-64 computes them. The specification's limits are errors; limits of the CPU
// backend alone are warnings. A scale from a port selects the Dynamic op of each kind, unless it is
// a constant that an attribute can hold. onednn_network.c has the checks of the rules about
// neural-network ops.
#include "graph/targets/onednn/onednn.h"

#include <math.h>
#include <string.h>

#include "graph/targets/products.h"
#include "graph/targets/target_ops.h"
#include "runtime/base/words.h"

#define FLOAT8 (QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(FLOAT8_E5M2))
#define BYTES (QDQ_SET(INT8) | QDQ_SET(UINT8))
#define NIBBLES (QDQ_SET(INT4) | QDQ_SET(UINT4))
#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16))

//---- Attributes or ports ----------------------------------------------------

// True if attributes can hold the parameters that come through ports: constants of an op that has
// a static form.
static bool fit_attributes(const qdq_op_context *ctx) {
    qdq_argument s = qdq_argument_of(ctx, "scale"), z = qdq_argument_of(ctx, "zero_point");
    if (!s.known || (z.from_port && !z.known)) return false;
    if (!qdq_onednn_is_dequantize(ctx)) return qdq_op_context_is(ctx, "Quantize");
    return !qdq_onednn_is_grouped(ctx) &&
           !qdq_set_has(NIBBLES, ctx->inputs[QDQ_PORT_X].type.dtype) &&
           ctx->outputs[0].dtype == QDQ_FLOAT32;
}

// Returns a parameter as a oneDNN Graph has it, where it may be an attribute: a constant zero point
// of zeros is not given then.
qdq_argument qdq_onednn_parameter(const qdq_op_context *ctx, const char *port) {
    qdq_argument a = qdq_argument_of(ctx, port);
    if (!a.from_port || !a.known || !fit_attributes(ctx)) return a;
    a = qdq_literal_of(ctx, port);
    a.from_port = false;
    return a;
}

// True if the node is the Dynamic op of its kind.
static bool is_dynamic(const qdq_op_context *ctx) {
    return qdq_onednn_parameter(ctx, "scale").from_port;
}

// Versions are releases; main is what is developed after 3.14.
enum { RELEASE_3_14 = 314, RELEASE_MAIN = 315 };

static const qdq_named_version versions[] = {{"3.14", RELEASE_3_14, 0}, {"main", RELEASE_MAIN, 0}};

//---- Numerics ---------------------------------------------------------------

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    bool extreme = qdq_has_word("ReLU LeakyReLU Clamp Minimum Maximum", ctx->op->name);
    (void)version;
    return (qdq_numerics){
        .nan = qdq_onednn_converts_nan(ctx) ? QDQ_NAN_LOW_BITS : QDQ_NAN_QUANT_MIN,
        .scaling = QDQ_SCALE_RECIPROCAL,
        .zero_point_order = QDQ_ZERO_POINT_BEFORE,
        .subtraction = QDQ_SUBTRACT_FLOAT,
        .float_overflow = QDQ_FLOAT_THROUGH_FLOAT16,
        .bfloat16_store = QDQ_BFLOAT16_FLUSH,
        .unit_scale_tolerance = (float)QDQ_ONEDNN_UNIT_TOLERANCE,
        .cast_form = qdq_op_context_is(ctx, "Cast") ? QDQ_CAST_ONEDNN : QDQ_CAST_TEXT,
        .float_ops = extreme ? QDQ_FLOAT_OPS_ONEDNN : QDQ_FLOAT_OPS_CORE,
    };
}

//---- Rules: dtypes ----------------------------------------------------------

static void quantize_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_x(ctx, rule, QDQ_SET(FLOAT32));
}

static void quantize_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_y(ctx, rule, BYTES | FLOAT8);
}

static void dequantize_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_x(ctx, rule, BYTES | FLOAT8 | (is_dynamic(ctx) ? NIBBLES : 0));
}

static void dynamic_float8(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool dequantizes = qdq_onednn_is_dequantize(ctx);
    if (!is_dynamic(ctx) && !qdq_op_context_is(ctx, "DynamicQuantize")) return;
    if (qdq_set_has(FLOAT8, qdq_quantized_dtype(ctx)))
        qdq_report_target_violation(
            ctx, rule, dequantizes ? "x" : "dtype",
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(qdq_quantized_dtype(ctx))),
            dequantizes ? "an integer, or a scale attribute" : "int8 or uint8");
}

static void dequantize_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_y(ctx, rule, is_dynamic(ctx) ? FLOATS : QDQ_SET(FLOAT32));
}

static void scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!is_dynamic(ctx)) return;
    qdq_expect_scales(ctx, rule,
                      qdq_onednn_is_dequantize(ctx) ? (qdq_dtype_set)1 << ctx->outputs[0].dtype
                                                    : QDQ_SET(FLOAT32));
}

static void zero_point_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(ctx, "zero_point");
    if (z.from_port && qdq_onednn_parameter(ctx, "zero_point").given)
        qdq_expect_dtype(ctx, rule, z.name, z.dtype,
                         BYTES | QDQ_SET(INT32) | (qdq_onednn_is_dequantize(ctx) ? NIBBLES : 0));
}

// Only float32 <-> bfloat16 and float32 <-> float16.
static void cast_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (!qdq_expect_dtype(ctx, rule, "x", x, FLOATS)) return;
    qdq_expect_y(ctx, rule,
                 x == QDQ_FLOAT32 ? QDQ_SET(BFLOAT16) | QDQ_SET(FLOAT16) : QDQ_SET(FLOAT32));
}

//---- Rules: parameters ------------------------------------------------------

static void one_kind(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (z.given && s.from_port != z.from_port)
        qdq_report_target_violation(ctx, rule, z.name,
                                    qdq_text(ctx->findings, "is given together with %s", s.name),
                                    s.from_port ? "the port zero_point" : "the attribute zps");
}

static void dynamic_ports(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    if (s.given && !s.from_port)
        qdq_report_target_violation(ctx, rule, s.name, "is an attribute", "the port scale");
}

static void zero_point_count(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (z.given && !z.from_port && z.count != s.count) qdq_report_other_count(ctx, rule, &z, &s);
}

static void float8_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_onednn_parameter(ctx, "zero_point");
    if (z.given && qdq_set_has(FLOAT8, qdq_quantized_dtype(ctx)))
        qdq_report_target_violation(
            ctx, rule, z.name, "is given, but the quantized type is a float8", "none, not even 0");
}

// oneDNN compares first dims, and takes 0 for the first dim of a scalar.
static void dynamic_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    const qdq_argument *scalar = s.from_port && s.shape.rank == 0   ? &s
                                 : z.from_port && z.shape.rank == 0 ? &z
                                                                    : NULL;
    if (scalar) qdq_report_target_violation(ctx, rule, scalar->name, "has rank 0", "the shape [1]");
}

// The first dim of the zero points is 1 or the same as that dim of the scales; other dims are not
// compared.
static void first_dims(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    bool channels = qdq_quantize_attrs_of(ctx)->qtype == QDQ_PER_CHANNEL;
    if (!channels || !s.from_port || !z.from_port || !s.shape.rank || !z.shape.rank) return;
    long long at = (long long)z.shape.dims[0], wanted = (long long)s.shape.dims[0];
    if (at != 1 && at != wanted)
        qdq_report_target_violation(ctx, rule, z.name,
                                    qdq_text(ctx->findings, "has the first dim %lld", at),
                                    qdq_text(ctx->findings, "%lld, as the scale has", wanted));
}

// Pages of both ops: as many elements as the dim of the axis.
static void channel_count(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    bool channels = qdq_quantize_attrs_of(ctx)->qtype == QDQ_PER_CHANNEL;
    if (channels && z.from_port && z.count < s.count) qdq_report_other_count(ctx, rule, &z, &s);
}

static void one_dim(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (qdq_onednn_is_grouped(ctx)) return;
    const qdq_argument *a = s.from_port && s.shape.rank > 1 ? &s : &z;
    if (a->from_port && a->shape.rank > 1)
        qdq_report_target_violation(
            ctx, rule, a->name,
            qdq_text(ctx->findings, "has rank %d, which only the code accepts", a->shape.rank),
            "rank 1, as documented");
}

// oneDNN computes the mask of dims with scales as 1 << axis.
static void negative_axis(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    int at = qdq_channel_axis(ctx);
    if (at >= 0 && a->axis.set != 0 && a->axis.value < 0)
        qdq_report_target_violation(
            ctx, rule, "axis",
            qdq_text(ctx->findings,
                     "is %lld: results are wrong because the CPU uses the first "
                     "scale for all channels, or it fails to compile",
                     (long long)a->axis.value),
            qdq_text(ctx->findings, "%d, the same dim from the front", at));
}

//---- Rules: gaps and surprises of the CPU backend ---------------------------

static void channel_zero_points(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_onednn_parameter(ctx, "zero_point");
    if (qdq_quantize_attrs_of(ctx)->qtype == QDQ_PER_CHANNEL)
        qdq_expect_zeros(ctx, rule, &z, "0 for every channel");
}

static void float8_overflows(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_dtype y = ctx->outputs[0].dtype;
    if (qdq_set_has(FLOAT8, y) && a->saturate != QDQ_TRUE)
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s: values that are too large become %s, and all "
                                             "results are rounded to float16 first",
                                             qdq_dtype_name(y),
                                             y == QDQ_FLOAT8_E5M2 ? "infinite" : "NaN"),
                                    NULL);
}

static void never_saturates(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_quantize_attrs_of(ctx)->saturate == QDQ_TRUE &&
        qdq_set_has(FLOAT8, ctx->outputs[0].dtype))
        qdq_report_target_violation(ctx, rule, "saturate", "is true, which the library cannot do",
                                    "false");
}

static void no_requantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(
        ctx, rule, NULL, "oneDNN Graph has no such op, so Dequantize and Quantize are computed",
        NULL);
}

//---- The target -------------------------------------------------------------

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "onednn", id, summary, hint, source, ops, check, 0, 0)
#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "onednn", id, summary, hint, source, ops, check, 0, 0)
#define UNKNOWN_ROW(id, summary, hint, source, ops, check) \
    QDQ_BITS_ROW(UNKNOWN, "onednn", id, summary, hint, source, ops, check, 0, 0)
#define OLD_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "onednn", id, summary, hint, source, ops, check, 0, RELEASE_MAIN)
#define SCHEMA "oneDNN op_def.hpp"
#define CONSTRAINT "oneDNN op_def_constraint.cpp"
#define LOWERING "oneDNN lower.cpp"
#define OBSERVED "oneDNN 3.13 and 3.14, CPU, measured"
#define MEASURED "run of oneDNN 3.13.2"
#define PATTERNS "oneDNN graph patterns"
#define Q "Quantize DynamicQuantize"
#define ALL "Quantize Dequantize DynamicQuantize"

// clang-format off
static const qdq_rule rules[] = {
    ERROR_ROW("quantize-input-dtype", "Quantize takes float32", "insert a Cast to float32 before it", SCHEMA, Q, quantize_input),
    ERROR_ROW("quantize-output-dtype", "Quantize and DynamicQuantize make int8, uint8, float8_e4m3fn or float8_e5m2",
              "choose one of them", SCHEMA, Q, quantize_output),
    ERROR_ROW("dequantize-input-dtype", "Dequantize takes int8, uint8, float8_e4m3fn or float8_e5m2; DynamicDequantize also takes int4 or uint4",
              "4-bit types need a scale port", SCHEMA, "Dequantize", dequantize_input),
    ERROR_ROW("dequantize-output-dtype", "Dequantize makes float32; DynamicDequantize also makes bfloat16 and float16",
              "make float32 and add a Cast after it", SCHEMA, "Dequantize", dequantize_output),
    ERROR_ROW("scale-dtype", "a scale port has the dtype of the float side", "cast the scale", SCHEMA, ALL, scale_dtype),
    ERROR_ROW("zero-point-dtype", "a zero-point port is int8, uint8 or int32; for DynamicDequantize also int4 or uint4",
              "cast the zero point", SCHEMA, ALL, zero_point_dtype),
    ERROR_ROW("one-kind-of-parameters", "scale and zero point are both attributes or both ports", "give both in the same way", SCHEMA, ALL, one_kind),
    ERROR_ROW("dynamic-ports", "DynamicQuantize takes scale and zero point through ports", "give a constant at the port, or write Quantize", SCHEMA, "DynamicQuantize", dynamic_ports),
    ERROR_ROW("zero-point-count", "there are as many zero points as scales", "repeat the zero point", CONSTRAINT, ALL, zero_point_count),
    ERROR_ROW("float8-zero-point", "float8 has no zero point", "leave it out", CONSTRAINT, ALL, float8_zero_point),
    OLD_ROW("dynamic-float8", "DynamicQuantize makes int8 or uint8, and DynamicDequantize takes no float8, up to 3.14", "give the scale as an attribute", SCHEMA, ALL, dynamic_float8),
    ERROR_ROW("group-op", "only DynamicDequantize has groups", "quantize per channel; dequantize groups with a scale port", SCHEMA, ALL, qdq_onednn_grouped_op),
    OLD_ROW("masked-quantize", "DynamicQuantize has scales along one dim at most, up to 3.14", "quantize per channel", "oneDNN RFC 5743", "Quantize DynamicQuantize", qdq_onednn_masked_quantize),
    ERROR_ROW("group-divides", "group_shape divides the shape of x", "pad x", LOWERING, "Dequantize", qdq_check_group_divides),
    ERROR_ROW("group-dims", "an x with groups has at least two dims", "reshape x", LOWERING, "Dequantize", qdq_onednn_group_dims),
    OLD_ROW("leading-groups", "groups lie along the last two dims, up to 3.14", "transpose x", LOWERING, "Dequantize", qdq_onednn_leading_groups),
    ERROR_ROW("group-scale", "the scale of groups has the rank of x, and each dim of x divided by the group's, possibly without the dims of 1", "reshape the scale", LOWERING, "Dequantize", qdq_onednn_group_scale),
    OLD_ROW("masked-scale", "the scale of groups has the rank of x, up to 3.14", "reshape the scale", LOWERING, "Dequantize", qdq_onednn_masked_scale),
    ERROR_ROW("group-zero-point", "zero points of groups have the shape of the scales, or one element", "repeat the zero point", CONSTRAINT, "Dequantize", qdq_onednn_group_zero_point),
    OLD_ROW("one-group-zero-point", "zero points of groups have the shape of the scales, up to 3.14", "repeat the zero point", CONSTRAINT, "Dequantize", qdq_onednn_one_group_zero_point),
    ERROR_ROW("dynamic-scale-rank", "a scale or zero-point port has rank 1 or more", "give it the shape [1]", CONSTRAINT, ALL, dynamic_rank),
    ERROR_ROW("first-dims", "the first dim of a per-channel zero-point port is 1, or equals the first dim of the scale port", "give both the shape [channels]", CONSTRAINT, ALL, first_dims),
    ERROR_ROW("no-clamp-range", "results use the full range of their dtype", "leave it out", SCHEMA, Q, qdq_check_whole_range),
    ERROR_ROW("int-domain", "a zero point is an integer", "leave zero_point_domain out and give an integer", SCHEMA, ALL, qdq_check_no_float_domain),
    ERROR_ROW("no-computed-parameters", "the backend has no op that computes scales", "compute the scale outside the graph and give it", SCHEMA, "DynamicQuantize", qdq_check_not_computed),
    ERROR_ROW("cast-dtypes", "TypeCast converts between float32 and bfloat16, or float32 and float16", "cast to float32 in between", CONSTRAINT, "Cast", cast_dtypes),
    ERROR_ROW("no-integer-product", "the backend has no integer products", "write Dequantize, the float product and Quantize: the backend fuses them", SCHEMA,
              QDQ_INTEGER_PRODUCTS, qdq_check_no_such_op),
    ERROR_ROW("moved-dtype", "data movement takes float32, bfloat16 and float16", "move the floats before Quantize or after Dequantize", SCHEMA,
              "Concat StaticReshape StaticTranspose Reorder GenIndex", qdq_onednn_moved_dtype),
    WARNING_ROW("concat-inputs", "the library takes at most 64 values in a Concat", "join some of them first", MEASURED, "Concat", qdq_onednn_concat_inputs),
    ERROR_ROW("selected-dtype", "ops that select elements take float32, bfloat16 and float16", "dequantize x first", SCHEMA, QDQ_SELECTING_OPS, qdq_check_selected_floats),
    ERROR_ROW("element-dtypes", "elementwise ops take float32, bfloat16, float16 and int32, and bool as a condition", "cast the operands", SCHEMA, QDQ_ELEMENT_OPS, qdq_onednn_element_dtypes),
    ERROR_ROW("dropout-dtypes", "seed and offset of Dropout are int64, probability is float32", "give it in that dtype", SCHEMA, "Dropout", qdq_onednn_dropout_dtypes),
    WARNING_ROW("no-requantize", "the backend has no Requantize", "write Dequantize and Quantize", SCHEMA, "Requantize", no_requantize),
    UNKNOWN_ROW("channel-zero-points", "the CPU has no per-channel zero points: an unfused op fails to compile, a fused op uses the first one for all channels",
                "quantize symmetrically", OBSERVED, ALL, channel_zero_points),
    UNKNOWN_ROW("negative-axis", "with a negative axis results are wrong: the CPU uses the first scale for all channels, or fails to compile", "count dims from the front", OBSERVED, ALL, negative_axis),
    WARNING_ROW("one-dim-parameters", "the documentation wants scale and zero-point ports of rank 1; the code accepts others", "reshape them to [channels] or [1]",
                "pages of DynamicQuantize and DynamicDequantize; " CONSTRAINT, ALL, one_dim),
    WARNING_ROW("channel-zero-point-count", "the documentation wants a zero point for each channel; the code accepts one for all", "repeat the zero point",
                "pages of DynamicQuantize and DynamicDequantize; " CONSTRAINT, ALL, channel_count),
    WARNING_ROW("nibbles-per-tensor", "the CPU takes int4 and uint4 only with several scales", "use per_channel or per_group", "oneDNN primitive attributes", "Dequantize", qdq_onednn_nibbles_per_tensor),
    WARNING_ROW("nibble-pairs", "the CPU takes int4 and uint4 only with an even last dim", "pad x", MEASURED, "Dequantize", qdq_onednn_nibble_pairs),
    WARNING_ROW("uint8-to-float16", "the CPU does not dequantize uint8 to float16", "make float32 and add a Cast after it", MEASURED, "Dequantize", qdq_onednn_uint8_to_float16),
    WARNING_ROW("nan-without-scale", "with a scale of 1 and no zero point, NaN becomes 255 as uint8 with AVX-512, and 0 without or in three or four dims", "keep NaN out of x", MEASURED, "Quantize", qdq_onednn_nan_without_scale),
    UNKNOWN_ROW("half-scale", "the CPU reads a single 16-bit scale as a float32", "use a float32 scale and add a Cast after it", OBSERVED, "Dequantize", qdq_onednn_half_scale),
    WARNING_ROW("scale-near-one", "the library treats scales that are all within 1e-6 of 1 as 1", "use 1", "oneDNN graph passes", "Quantize Dequantize", qdq_onednn_scale_near_one),
    WARNING_ROW("float8-overflows", "float8 results do not saturate, and are rounded twice", "choose a scale that keeps all values in range", OBSERVED, Q, float8_overflows),
    UNKNOWN_ROW("never-saturates", "float8 results cannot be made to saturate", "leave saturate out", SCHEMA, Q, never_saturates),
    WARNING_ROW("weight-axis", "the CPU takes per-channel scales of MatMul's b only along its columns", "quantize b along its output channels", LOWERING, "MatMul", qdq_check_weight_axis),
    WARNING_ROW("not-alone", "the CPU has Reciprocal and Dropout only as parts of fused patterns", "call is_supported() of its partition to see whether it runs",
                PATTERNS, "Reciprocal Dropout", qdq_onednn_not_alone),
    WARNING_ROW("round-dtype", "the CPU rounds float32 only", "insert a Cast to float32 before it", PATTERNS, "Round", qdq_onednn_round_dtype),
    WARNING_ROW("norm-dtype", "the CPU takes gamma, beta, mean and variance only as float32", "give it as float32", PATTERNS,
                "LayerNorm GroupNorm BatchNormInference BatchNormForwardTraining", qdq_onednn_norm_dtype),
    WARNING_ROW("norm-axis", "the CPU normalizes only the last dim", "reshape x so that the dims to normalize are one", PATTERNS, "LayerNorm", qdq_onednn_norm_axis),
    WARNING_ROW("norm-rank", "LayerNorm on the CPU takes 2 to 5 dims", "reshape x", PATTERNS, "LayerNorm", qdq_onednn_norm_rank),
    WARNING_ROW("half-pixel", "the CPU interpolates only with half_pixel", "leave coordinate_transformation_mode out", PATTERNS, "Interpolate", qdq_onednn_half_pixel),
    QDQ_FIDELITY_ROW("onednn"),
    QDQ_APPROXIMATE_ROW("onednn"),
    QDQ_NO_BLOCK_FLOAT_ROW("onednn", QDQ_BLOCK_FUNCTIONS),
    QDQ_BITS_UNKNOWN_ROW("onednn"),
    QDQ_UNKNOWN_OPS_ROW("onednn", QDQ_ONEDNN_OPS, SCHEMA),
};
// clang-format on

static const qdq_mended_rules mended[] = {
    {"parameters as numbers", "onednn/zero-point-count onednn/one-kind-of-parameters"},
    {"Cast before it", "onednn/quantize-input-dtype"},
    {"Cast behind it", "onednn/dequantize-output-dtype"},
    {"float constant", "onednn/dequantize-input-dtype"},
    {"codes without a zero point", "onednn/float8-zero-point"},
    {"the whole range", "onednn/no-clamp-range"},
    {"symmetric codes", "onednn/float8-zero-point"},
    {"one symmetric scale", "onednn/float8-zero-point"},
    {"one scale for each channel", "onednn/group-op onednn/group-divides onednn/group-dims"},
    {NULL, NULL},
};

const qdq_target qdq_target_onednn = {
    .name = "onednn",
    .summary = "oneDNN Graph 3.14 or main with its CPU backend on x86-64",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .mended = mended,
    .evidence = qdq_onednn_evidence,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .halves_requantize = true,
    .default_dtype = qdq_dtype_of_scale,  // no default, but a scale has the dtype of the floats
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_UINT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .residual = QDQ_RESIDUAL_BRANCH,
                  .zero_points = true,
                  .stacks = true},
};
