// SPDX-License-Identifier: Apache-2.0
// ONNX at opset 25: the limits of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, and
// how ONNX Runtime computes them. Cast supports every dtype, so no rule concerns it. The numerics
// of the quantizing ops are the core's up to int32; float ops add and round as ONNX Runtime does.
// Versions are releases on CPUs whose integer products differ.
#include "graph/targets/checks.h"
#include "graph/targets/onnx/onnx_evidence.h"
#include "graph/targets/onnx/runtime_versions.h"
#include "graph/targets/target_ops.h"

#define OPERATORS "ONNX operators "

// clang-format off
static const qdq_named_version versions[] = {
    QDQ_RUNTIME_OLD_RELEASES
    QDQ_RUNTIME_X86("1.29", 129) QDQ_RUNTIME_ARM("1.29", 129)
    QDQ_RUNTIME_X86("1.30", 130)
    QDQ_RUNTIME_X86("1.31", 131) QDQ_RUNTIME_ARM("1.31", 131)
    QDQ_RUNTIME_X86("1.32", 132) QDQ_RUNTIME_ARM("1.32", 132)
    {"spec", QDQ_RUNTIME_1_32, QDQ_RUNTIME_NONE}};
// clang-format on

//---- Rules ------------------------------------------------------------------

static void result_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->outputs[0].dtype == QDQ_INT32)
        qdq_report_target_violation(ctx, rule, "dtype", "is int32",
                                    "an integer of at most 16 bits, a float8 or float4_e2m1");
}

static bool is_block_float(qdq_dtype dtype) { return qdq_set_has(QDQ_SET_BLOCK_FLOATS, dtype); }

static void dequantize_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!is_block_float(ctx->inputs[QDQ_PORT_X].type.dtype))  // of another rule
        // NOLINTNEXTLINE(misc-redundant-expression): both sets come from one list
        qdq_expect_x(ctx, rule, QDQ_SET_INTS | QDQ_SET_SMALL_FLOATS);
}

static void no_block_float(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!ctx->op->by_target) {
        qdq_check_no_block_float(ctx, rule);
        return;
    }
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (is_block_float(x) || is_block_float(y))
        qdq_report_target_violation(
            ctx, rule, is_block_float(x) ? "x" : "dtype",
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(is_block_float(x) ? x : y)),
            "a type that ONNX has");
}

static void scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_operand *scale = &ctx->inputs[QDQ_PORT_SCALE];
    if (scale->given && scale->type.dtype == QDQ_FLOAT8_E4M3FN)
        qdq_report_target_violation(ctx, rule, "scale", "is float8_e4m3fn",
                                    "float32, float16, bfloat16 or float8_e8m0");
}

static void zero_point_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_operand *zero_point = &ctx->inputs[QDQ_PORT_ZERO_POINT];
    qdq_dtype wanted = qdq_quantized_dtype(ctx);
    if (zero_point->given && zero_point->type.dtype != wanted)
        qdq_report_target_violation(
            ctx, rule, "zero_point",
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(zero_point->type.dtype)),
            qdq_text(ctx->findings, "%s, the quantized type", qdq_dtype_name(wanted)));
}

// [] and [1] stand for each other, except among blocks.
static void expect_shape(const qdq_op_context *ctx, const qdq_rule *rule, const char *port) {
    qdq_argument a = qdq_argument_of(ctx, port);
    qdq_shape wanted = qdq_parameter_shape(ctx);
    bool one = qdq_quantize_attrs_of(ctx)->qtype != QDQ_PER_GROUP && qdq_shape_count(wanted) == 1;
    if (!a.from_port || qdq_shape_equal(a.shape, wanted)) return;
    if (one && a.count == 1 && a.shape.rank <= 1) return;
    qdq_report_target_violation(
        ctx, rule, a.name, qdq_text(ctx->findings, "is %s", qdq_shape_text(ctx->findings, a.shape)),
        one ? "[] or [1]" : qdq_shape_text(ctx->findings, wanted));
}

static void scale_shape(const qdq_op_context *ctx, const qdq_rule *rule) {
    expect_shape(ctx, rule, "scale");
}

static void zero_point_shape(const qdq_op_context *ctx, const qdq_rule *rule) {
    expect_shape(ctx, rule, "zero_point");
}

static void zero_point_range(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_dtype_info *info = qdq_dtype_get(qdq_quantized_dtype(ctx));
    for (size_t i = 0; info->kind == QDQ_KIND_INT && i < a->zps.count; i++) {
        if (a->zps.data[i] >= (double)info->least && a->zps.data[i] <= (double)info->greatest)
            continue;
        qdq_report_target_violation(
            ctx, rule, "zps", qdq_text_number(ctx->findings, a->zps.data[i], i, false),
            qdq_text(ctx->findings, "%lld to %lld, the range of %s", (long long)info->least,
                     (long long)info->greatest, info->name));
        return;
    }
}

// ONNX's text says that int32 has no zero point. Its checker and ONNX Runtime take one, and ONNX
// Runtime subtracts int32 numbers.
static void int32_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(ctx, "zero_point");
    if (ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_INT32)
        qdq_expect_zeros(ctx, rule, &z, "0, as x is int32");
}

static void one_blocked_axis(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    int blocked = 0;
    if (a->qtype != QDQ_PER_GROUP) return;
    for (int i = 0; i < shape.rank; i++)
        blocked += shape.dims[i] > 1 && a->group_shape.data[i] != 1;
    if (blocked > 1)
        qdq_report_target_violation(ctx, rule, "group_shape",
                                    qdq_text(ctx->findings, "blocks %d dims", blocked),
                                    "blocks along one dim, and 1 for all others");
}

static void dynamic_form(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_dynamic_quantize_attrs *a = ctx->attrs;
    const char *port = NULL, *found = NULL, *wanted = NULL;
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (!qdq_is_computed(ctx)) return;
    if (x != QDQ_FLOAT32)
        port = "x", found = qdq_dtype_name(x), wanted = "float32";
    else if (y != QDQ_UINT8)
        port = "dtype", found = qdq_dtype_name(y), wanted = "uint8";
    else if (a->quantize.qtype != QDQ_PER_TENSOR)
        port = "qtype", found = qdq_qtype_words[a->quantize.qtype], wanted = "per_tensor";
    else if (a->scheme != QDQ_ASYMMETRIC)
        port = "scheme", found = qdq_scheme_word(ctx), wanted = "asymmetric";
    else if (a->eps.set != 0)
        port = "eps", found = "given", wanted = "none";
    else if (ctx->outputs[1].dtype != QDQ_FLOAT32)
        port = "scale_dtype", found = qdq_dtype_name(ctx->outputs[1].dtype), wanted = "float32";
    if (port)
        qdq_report_target_violation(ctx, rule, port, qdq_text(ctx->findings, "is %s", found),
                                    wanted);
}

// Returns the result's dtype: for QuantizeLinear the dtype of its zero point, or uint8 without one;
// for DequantizeLinear the dtype of its scale.
static qdq_dtype own_dtype(const qdq_op_context *ctx) {
    if (!qdq_quantize_attrs_of(ctx)) return QDQ_DTYPE_NONE;
    bool dequantize = qdq_op_context_is(ctx, "Dequantize");
    qdq_argument from = qdq_argument_of(ctx, dequantize ? "scale" : "zero_point");
    qdq_dtype own = from.from_port ? from.dtype : dequantize ? QDQ_FLOAT32 : QDQ_UINT8;
    return qdq_set_has(dequantize ? QDQ_SET_FLOATS : QDQ_SET_QUANTIZED, own) ? own : QDQ_DTYPE_NONE;
}

static void default_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_default_dtype(ctx, rule, own_dtype(ctx));
}

static void no_requantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(
        ctx, rule, NULL,
        "ONNX has no such operator, so DequantizeLinear and QuantizeLinear are computed", NULL);
}

static void int4_runs(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_is_computed(ctx) && qdq_runtime_splits_runs(ctx))
        qdq_report_target_violation(
            ctx, rule, "x",
            "has an odd number of elements that share a scale, so codes at the ends of runs wrap "
            "around at 2^31 and are computed as if they saturated",
            NULL);
}

static void int2_zero_points(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument zero = qdq_argument_of(ctx, "zero_point");
    if (!qdq_is_computed(ctx) && zero.given && qdq_runtime_takes_other_zero_points(ctx) &&
        !(zero.known && qdq_argument_first_nonzero(&zero) == zero.count))
        qdq_report_target_violation(ctx, rule, zero.name,
                                    "is read at other places, and is computed with its own entries",
                                    NULL);
}

static void layer_norm_bits(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[0].type.dtype == QDQ_FLOAT32)
        qdq_report_target_violation(ctx, rule, NULL, "is computed as by ONNX Runtime 1.31", NULL);
}

//---- The target -------------------------------------------------------------

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "onnx", id, summary, hint, OPERATORS source, ops, check, 0, 0)
#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "onnx", id, summary, hint, OPERATORS source, ops, check, 0, 0)

// clang-format off
static const qdq_rule rules[] = {
    ERROR_ROW("result-dtype", "QuantizeLinear does not make int32", "use int32 only as the input of Dequantize",
              "QuantizeLinear-25", "Quantize DynamicQuantize", result_dtype),
    ERROR_ROW("dequantize-input-dtype", "DequantizeLinear takes integers, float8 and float4_e2m1", "quantize x first",
              "DequantizeLinear-25", "Dequantize", dequantize_input),
    ERROR_ROW("no-block-float", "ONNX has no block floats", "use bfloat16, or quantize to an integer or a float8",
              "QuantizeLinear-25, DequantizeLinear-25",
              "Quantize Dequantize DynamicQuantize Requantize Cast " QDQ_BLOCK_OPS, no_block_float),
    ERROR_ROW("no-clamp-range", "QuantizeLinear clamps to the full range of its dtype", "leave it out",
              "QuantizeLinear-25", "Quantize DynamicQuantize", qdq_check_whole_range),
    ERROR_ROW("scale-dtype", "a scale is float32, float16, bfloat16 or float8_e8m0",
              "dequantize the scale first", "QuantizeLinear-25, DequantizeLinear-25",
              "Quantize Dequantize DynamicQuantize", scale_dtype),
    ERROR_ROW("zero-point-dtype", "a zero point has the quantized type", "give it that dtype",
              "QuantizeLinear-25, DequantizeLinear-25", "Quantize Dequantize DynamicQuantize",
              zero_point_dtype),
    ERROR_ROW("zero-point-range", "a zero point lies in the range of the quantized type",
              "use a zero point in this range, as ONNX stores it in the quantized type", "QuantizeLinear-25, DequantizeLinear-25",
              "Quantize Dequantize DynamicQuantize", zero_point_range),
    ERROR_ROW("scale-shape", "a scale that is a tensor has the shape [] or [1] for all of x, [dim] for channels, and that of the grid for blocks",
              "reshape it", "QuantizeLinear-25, DequantizeLinear-25", "Quantize Dequantize DynamicQuantize", scale_shape),
    ERROR_ROW("zero-point-shape", "a zero point that is a tensor has the shape of the scale",
              "repeat it for each scale, or give numbers in `zps`", "QuantizeLinear-25, DequantizeLinear-25",
              "Quantize Dequantize DynamicQuantize", zero_point_shape),
    WARNING_ROW("int32-zero-point", "by ONNX's text DequantizeLinear of int32 has no zero point; ONNX Runtime subtracts one, and a difference beyond int32, which wraps around there, is exact here",
                "subtract it first, or keep x - zero_point within int32", "DequantizeLinear-25; run of ONNX Runtime 1.32", "Dequantize", int32_zero_point),
    ERROR_ROW("one-blocked-axis", "blocks lie along one axis", "use a group_shape of 1 elsewhere",
              "QuantizeLinear-25, DequantizeLinear-25, block_size",
              "Quantize Dequantize DynamicQuantize", one_blocked_axis),
    ERROR_ROW("int-domain", "a zero point is an integer", "leave zero_point_domain out and give an integer",
              "QuantizeLinear-25, DequantizeLinear-25", "Quantize Dequantize DynamicQuantize",
              qdq_check_no_float_domain),
    ERROR_ROW("dynamic-form", "DynamicQuantizeLinear takes float32 and makes uint8, asymmetric, per tensor",
              "compute the scale in another way and give it", "DynamicQuantizeLinear-11",
              "DynamicQuantize", dynamic_form),
    WARNING_ROW("no-requantize", "the backend has no Requantize",
                "write Dequantize and Quantize", "has none", "Requantize", no_requantize),
    WARNING_ROW("default-dtype", "without `dtype`, QuantizeLinear makes the dtype of its zero point, or uint8, and DequantizeLinear the dtype of its scale",
                "give `dtype`", "QuantizeLinear-25, DequantizeLinear-25", "Quantize Dequantize DynamicQuantize", default_dtype),
    {.id = "onnx/parameter-shape", .severity = QDQ_SEVERITY_ERROR, .status = QDQ_ERR_UNSUPPORTED,
     .summary = "ONNX Runtime takes fewer shapes of scales and zero points of integer products and QLinear ops than ONNX's text has",
     .hint = "reshape it, or repeat it as wanted", .source = "run of ONNX Runtime 1.32",
     .ops = QDQ_INTEGER_PRODUCTS " " QDQ_QLINEAR_OPS, .check = qdq_runtime_check_shapes, .versions = "1.*"},
    QDQ_RULE_ROW(WARNING, "onnx", "int4-runs", "ONNX Runtime before 1.32 quantizes the codes at the ends of an odd run of int4 in another kernel, which wraps around at 2^31",
                 "keep |x / scale| below 2^31", "run of ONNX Runtime 1.31.1", "Quantize DynamicQuantize", int4_runs, 0, QDQ_RUNTIME_1_32),
    QDQ_RULE_ROW(WARNING, "onnx", "int2-zero-points", "ONNX Runtime 1.29 takes the zero points of other entries for int2 of float32 along the last dim",
                 "use ONNX Runtime 1.31, one zero point, or float16", "run of ONNX Runtime 1.29.0", "Quantize DynamicQuantize",
                 int2_zero_points, 0, QDQ_RUNTIME_1_31),
    QDQ_BITS_ROW(CLOSE, "onnx", "layer-norm-bits", "LayerNormalization of ONNX Runtime before 1.30 gives other last bits",
                 "compare with a tolerance", "run of ONNX Runtime 1.29.0", "LayerNorm", layer_norm_bits, 0, QDQ_RUNTIME_ROUNDS_HALVES),
    {.id = "onnx/newer-than-opset", .severity = QDQ_SEVERITY_ERROR, .status = QDQ_ERR_UNSUPPORTED,
     .summary = "a model uses dtypes and attributes that its opset has", .hint = "convert the model to that opset, as onnx.version_converter does",
     .source = "schemas of onnx 1.23.2; run of ONNX Runtime 1.32", .newer_than_opset = true},
    QDQ_FIDELITY_ROW("onnx"),
    QDQ_APPROXIMATE_ROW("onnx"),
    QDQ_BITS_UNKNOWN_ROW("onnx"),
    QDQ_UNKNOWN_OPS_ROW("onnx", QDQ_ONNX_OPS, "ONNX operators, opset 25"),
};
// clang-format on

// QuantizeLinear divides in the type of y_scale. The reference subtracts floats, which for int32 is
// another number.
static qdq_numerics text_numerics(const qdq_op_context *ctx) {
    if (qdq_op_context_is(ctx, "Dequantize") && qdq_quantized_dtype(ctx) == QDQ_INT32)
        return (qdq_numerics){.subtraction = QDQ_SUBTRACT_FLOAT};
    bool quantizes = qdq_op_context_is(ctx, "Quantize") ||
                     (qdq_op_context_is(ctx, "DynamicQuantize") && !qdq_is_computed(ctx));
    qdq_numerics n = {0};
    if (quantizes) qdq_runtime_divide_in_scale_dtype(ctx, &n);
    return n;
}

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    if (version->variant == QDQ_RUNTIME_NONE) return text_numerics(ctx);
    qdq_numerics n = {.float_ops = qdq_runtime_float_ops(ctx, version),
                      .pair_sums = qdq_runtime_pair_sums(version),
                      .qlinear = qdq_runtime_qlinear(version)};
    qdq_runtime_quantize(ctx, version, &n);
    return n;
}

//---- The target -------------------------------------------------------------

const qdq_target qdq_target_onnx = {
    .name = "onnx",
    .summary = "ONNX at opset 25, as ONNX Runtime 1.20 to 1.32 computes it",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .evidence = qdq_onnx_evidence,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .runs_zero_scales = true,
    .halves_requantize = true,
    .default_dtype = own_dtype,
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .moves = QDQ_CODE_MOVES,
                  .values = QDQ_UINT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_INT32,
                  .residual = QDQ_RESIDUAL_BOTH,
                  .zero_points = true,
                  .results = true,
                  .groups = true},
};
