// SPDX-License-Identifier: Apache-2.0
// Tripy 0.1.7: quantize and dequantize. Conditions that its front end checks are errors, in the
// order of its checks; so are nodes that the compiler below always refuses. Documented conditions
// that nothing checks are warnings. The numerics are the core's, except that Cast to int4 is a
// quantize with scale 1.
#include "graph/targets/target_ops.h"
#include "graph/targets/tensorrt/tensorrt_shared.h"
#include "runtime/numerics/dtype.h"

static bool is_dequantize(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize");
}

//---- Checks of the front end ------------------------------------------------

static const qdq_dtype_set quantized_dtypes =
    QDQ_SET(INT4) | QDQ_SET(INT8) | QDQ_SET(FLOAT8_E4M3FN);

static void x_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set set =
        qdq_op_context_is(ctx, "Quantize") ? QDQ_SET_LAYER_FLOATS : quantized_dtypes;
    qdq_expect_dtype(ctx, rule, "x", ctx->inputs[QDQ_PORT_X].type.dtype, set);
}

static void result_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set set = is_dequantize(ctx) ? QDQ_SET_LAYER_FLOATS : quantized_dtypes;
    qdq_expect_dtype(ctx, rule, "dtype", ctx->outputs[0].dtype, set);
}

// Numbers in an attribute get the dtype of the float side. Requantize goes through float32.
static void scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype real = qdq_op_context_is(ctx, "Requantize") ? QDQ_FLOAT32 : qdq_real_dtype(ctx);
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.from_port || s.dtype == real) continue;
        qdq_report_target_violation(
            ctx, rule, s.name, qdq_text(ctx->findings, "is %s", qdq_dtype_name(s.dtype)),
            qdq_text(ctx->findings, "%s, as %s is", qdq_dtype_name(real),
                     qdq_op_context_is(ctx, "Requantize") ? "what is in between"
                                                          : qdq_real_port(ctx)));
        return;
    }
}

// The checks on the rank of the scale run in this order, and only the first failure is reported.
typedef enum form {
    FINE,
    CHANNELS_WANT_LIST,
    BLOCKS_WANT_MATRIX,
    BLOCKS_WANT_INT4,
    WANTS_SCALAR
} form;

// Returns the rank of a scale. A list of scales in an attribute becomes a tensor of the rank that
// qtype implies.
static int scale_rank(const qdq_op_context *ctx, const qdq_argument *s) {
    if (s->from_port || !qdq_is_per_group(ctx)) return s->shape.rank;
    return ctx->inputs[QDQ_PORT_X].type.shape.rank;
}

static form form_of(const qdq_op_context *ctx, const qdq_argument *s) {
    // A side of Requantize with channels has one dim.
    bool pair = qdq_op_context_is(ctx, "Requantize");
    bool has_dim = pair ? s->count > 1
                        : qdq_channel_axis(ctx) >= 0 || qdq_quantize_attrs_of(ctx)->axis.set != 0;
    int rank = scale_rank(ctx, s);
    if (has_dim) return rank == 1 ? FINE : CHANNELS_WANT_LIST;
    if (rank == 2 && ctx->inputs[QDQ_PORT_X].type.shape.rank != 2) return BLOCKS_WANT_MATRIX;
    if (rank == 2 && qdq_quantized_dtype(ctx) != QDQ_INT4) return BLOCKS_WANT_INT4;
    return rank == 0 || rank == 2 ? FINE : WANTS_SCALAR;
}

static void find_form(const qdq_op_context *ctx, const qdq_rule *rule, form wrong,
                      const char *wanted) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.given || form_of(ctx, &s) != wrong) continue;
        qdq_report_target_violation(
            ctx, rule, s.name, qdq_text(ctx->findings, "has rank %d", scale_rank(ctx, &s)), wanted);
        return;
    }
}

static void channels_want_list(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_form(ctx, rule, CHANNELS_WANT_LIST, "rank 1 for channels");
}

static void blocks_want_matrix(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_form(
        ctx, rule, BLOCKS_WANT_MATRIX,
        qdq_text(ctx->findings, "x of rank 2, not %d", ctx->inputs[QDQ_PORT_X].type.shape.rank));
}

static void blocks_want_int4(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_form(ctx, rule, BLOCKS_WANT_INT4,
              qdq_text(ctx->findings, "int4, not %s", qdq_dtype_name(qdq_quantized_dtype(ctx))));
}

static void wants_scalar(const qdq_op_context *ctx, const qdq_rule *rule) {
    find_form(ctx, rule, WANTS_SCALAR,
              qdq_is_per_group(ctx) ? "rank 2, for x of rank 2" : "rank 0, a single number");
}

static void scale_is_constant(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument s = qdq_argument_of(ctx, qdq_scale_ports[k]);
        if (!s.given || s.known) continue;
        qdq_report_target_violation(ctx, rule, s.name,
                                    s.constant ? "is made by a node" : "is made at run time",
                                    "a constant");
        return;
    }
}

//---- Attributes without an argument -----------------------------------------

static void no_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument z = qdq_literal_of(ctx, qdq_zero_point_ports[k]);
        size_t i = z.known ? qdq_argument_first_nonzero(&z) : z.count;
        if (i < z.count) {
            qdq_report_number(ctx, rule, &z, i, "none");
        } else if (z.from_port) {
            qdq_report_target_violation(ctx, rule, z.name, "is given", "none");
        } else {
            continue;
        }
        return;
    }
}

//---- Cast -------------------------------------------------------------------

static void cast_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_check_cast(ctx, rule,
                   QDQ_SET_LAYER_FLOATS | QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(INT4) | QDQ_SET(INT8) |
                       QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(BOOL));
}

static void element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_inputs(ctx, rule,
                      QDQ_SET_LAYER_FLOATS | QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(BOOL));
}

static const struct {
    qdq_dtype from;
    qdq_dtype_set to;
} no_casts[] = {
    {QDQ_FLOAT8_E4M3FN, QDQ_SET(INT4) | QDQ_SET(INT8)},
    {QDQ_INT8, QDQ_SET(FLOAT8_E4M3FN)},
    {QDQ_INT4, QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(INT8)},
};

static void cast_pair(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    for (size_t i = 0; i < sizeof no_casts / sizeof no_casts[0]; i++)
        if (no_casts[i].from == x && qdq_set_has(no_casts[i].to, y))
            qdq_report_target_violation(
                ctx, rule, "dtype",
                qdq_text(ctx->findings, "is %s, but x is %s", qdq_dtype_name(y), qdq_dtype_name(x)),
                "float32 in between");
}

static void selected_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_type *x = &ctx->inputs[QDQ_PORT_X].type;
    bool takes_int8 = qdq_op_context_is(ctx, "Interpolate") ||
                      (qdq_op_context_is(ctx, "MaxPool") && x->shape.rank == 4);
    if (x->dtype != QDQ_INT8 || !takes_int8) qdq_check_selected_floats(ctx, rule);
}

//---- Documented but unchecked -----------------------------------------------

static void literal_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    qdq_dtype real = qdq_real_dtype(ctx);
    if (s.given && !s.from_port && qdq_set_has(QDQ_SET_16_BIT_FLOATS, real))
        qdq_report_target_violation(
            ctx, rule, s.name,
            qdq_text(ctx->findings, "is given as numbers, but %s is %s", qdq_real_port(ctx),
                     qdq_dtype_name(real)),
            qdq_text(ctx->findings, "a constant of %s", qdq_dtype_name(real)));
}

static void block_columns(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!qdq_is_per_group(ctx) || ctx->inputs[QDQ_PORT_X].type.shape.rank != 2) return;
    long long columns = (long long)qdq_block_shape(ctx).dims[1];
    if (columns != 1)
        qdq_report_target_violation(ctx, rule, "group_shape",
                                    qdq_text(ctx->findings, "has %lld for dim 1", columns),
                                    "1: blocks of rows");
}

static void quantized_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype dtype = ctx->outputs[0].dtype;
    if (ctx->returned && (dtype == QDQ_INT8 || dtype == QDQ_FLOAT8_E4M3FN))
        qdq_report_target_violation(
            ctx, rule, "y",
            qdq_text(ctx->findings, "is %s and an output of the graph", qdq_dtype_name(dtype)),
            "a Dequantize before the output");
}

static void int4_of_constant(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[QDQ_PORT_X].constant && ctx->outputs[0].dtype == QDQ_INT4)
        qdq_report_target_violation(ctx, rule, "x", "is a constant, but the quantized type is int4",
                                    "constant codes and a Dequantize");
}

static void float16_channels(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s;
    if (qdq_real_dtype(ctx) == QDQ_FLOAT16 && qdq_quantized_dtype(ctx) == QDQ_INT8 &&
        qdq_has_channels(ctx, &s))
        qdq_report_target_violation(
            ctx, rule, qdq_real_port(ctx),
            qdq_text(ctx->findings, "is float16, but %s has %zu elements", s.name, s.count),
            "float32 or bfloat16");
}

//---- Rules ------------------------------------------------------------------

#define PAIR "Quantize Dequantize"
#define ALL "Quantize Dequantize Requantize"
#define MAKES "Quantize Requantize"
#define WITH_CAST(ops) ops " Cast"
#define CHECK "Tripy 0.1.7, check_qdq_args"
#define CONSTRAINTS "Tripy 0.1.7, input requirements of quantize and dequantize"
#define DOCS "Tripy 0.1.7, documents of quantize and dequantize"

#define ERROR(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "tripy", id, summary, hint, source, ops, check, 0, 0)
#define WARNING(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "tripy", id, summary, hint, source, ops, check, 0, 0)

// clang-format off
static const qdq_rule rules[] = {
    ERROR("x-dtype", "quantize takes float32, float16 and bfloat16, dequantize int4, int8 and float8_e4m3fn",
          "cast x to one of them", CONSTRAINTS "; check_qdq_args", ALL, x_dtype),
    ERROR("result-dtype", "quantize makes int4, int8 and float8_e4m3fn, dequantize float32, float16 and bfloat16",
          "choose one of them", CONSTRAINTS "; check_qdq_args", ALL, result_dtype),
    ERROR("scale-dtype", "the scale has the dtype of the float side", "cast the scale: dtypes cannot be mixed",
          CONSTRAINTS "; check_qdq_args", ALL, scale_dtype),
    ERROR("per-channel-scale", "a per-channel scale has rank 1", "write the scale of one channel as [s]", CHECK,
          ALL, channels_want_list),
    ERROR("block-x", "x in blocks has rank 2", "reshape it", CHECK, ALL, blocks_want_matrix),
    ERROR("block-dtype", "blocks hold int4", "use per_tensor or per_channel for other types", CHECK, ALL, blocks_want_int4),
    ERROR("per-tensor-scale", "a per-tensor scale has rank 0, a scale of blocks rank 2",
          "write one scale as a number", CHECK, ALL, wants_scalar),
    ERROR("scale-is-constant", "a scale is a constant", "give its numbers", CHECK, ALL, scale_is_constant),

    ERROR("no-zero-point", "Tripy has no zero point", "quantize symmetrically and leave it out", DOCS,
          ALL, no_zero_point),
    ERROR("no-clamp-range", "results use the full range of their dtype", "leave it out", DOCS, MAKES,
          qdq_check_whole_range),
    ERROR("saturates", "float8 results saturate", "leave it out", DOCS, "Quantize Cast", qdq_check_saturates),
    ERROR("int-domain", "Tripy has no zero point, so no zero-point domain either", "leave zero_point_domain out",
          DOCS, PAIR, qdq_check_no_float_domain),
    ERROR("no-dynamic-quantize", "the backend has no DynamicQuantize", "give the scale to a Quantize",
          "Tripy 0.1.7 has none", "DynamicQuantize", qdq_check_no_such_op),
    ERROR("x-is-no-scalar", "x has at least one dim", "give it the shape [1]",
          "MLIR-TensorRT verifier", ALL, qdq_check_no_scalar_x),
    ERROR("channels-of-a-list", "x with per-channel scales has two dims or more", "reshape it", "MLIR-TensorRT verifier",
          ALL, qdq_check_no_list_of_channels),
    QDQ_NO_INT4_OUTPUT_ROW("tripy", "Tripy 0.1.7, documents of int4", WITH_CAST(MAKES) " " QDQ_MOVES),

    ERROR("element-dtypes", "elementwise ops take float32, float16, bfloat16, int32, int64 and bool",
          "cast the operands", "Tripy 0.1.7, input requirements", QDQ_ELEMENT_OPS, element_dtypes),
    ERROR("selected-dtype", "ops that select elements take floats; maxpool of two spatial dims and resize take int8",
          "dequantize x first", "Tripy 0.1.7, input requirements", QDQ_SELECTING_OPS, selected_dtype),
    ERROR("cast-dtype", "Cast converts between float32, float16, bfloat16, float8_e4m3fn, int4, int8, int32, int64 and bool",
          "choose one of them", "Tripy 0.1.7, input requirements of cast", "Cast", cast_dtype),
    ERROR("cast-pair", "float8_e4m3fn, int4 and int8 are not cast to each other, except int8 to int4",
          "cast twice", "Tripy 0.1.7, input requirements of cast", "Cast", cast_pair),

    WARNING("literal-scale", "a 16-bit scale is a constant tensor",
            "give it as a constant: Tripy 0.1.7 casts numbers, and the result of a cast is not a constant",
            "Tripy 0.1.7, type conversion of arguments", PAIR, literal_scale),
    ERROR("dim-counts-from-0", "`axis` counts from 0", "count dims from the front: quantize accepts it, MLIR-TensorRT refuses it",
            DOCS "; MLIR-TensorRT verifier", ALL, qdq_check_axis_from_front),
    ERROR("blocks-divide", "blocks divide the dims of x", "pad x, or use another group_shape", DOCS, PAIR,
            qdq_check_group_divides),
    ERROR("block-columns", "every column has its own blocks", "give the scale as many columns as x has",
            DOCS, PAIR, block_columns),
    WARNING("scale-is-positive", "every scale is above 0", "change it: Tripy accepts it, TensorRT may not", DOCS, ALL,
            qdq_check_positive_scale),
    WARNING("even-count", "int4 has an even number of elements", "change it: Tripy accepts it, TensorRT may not",
            "Tripy 0.1.7, tests of cast; onnx-tensorrt importer", WITH_CAST(ALL), qdq_check_even_count),
    WARNING("quantized-output", "a Dequantize follows a Quantize",
            "dequantize it: TensorRT needs to see the pair, and float8 cannot be exported", DOCS, MAKES, quantized_output),
    WARNING("int4-of-constant", "Quantize to int4 has no constant x", "store the codes: TensorRT fails on their size otherwise",
            "TensorRT-Incubator issue 579", "Quantize", int4_of_constant),
    WARNING("float16-channels", "per-channel int8 is not used with float16",
            "use one of them: TensorRT cannot dequantize to float16 here, and quantizes wrongly from it",
            "TensorRT-Incubator issues 153 and 392", PAIR, float16_channels),
    WARNING("no-requantize", "the backend has no Requantize", "write dequantize to float32 and quantize, as computed here",
            "Tripy 0.1.7 has none", "Requantize", qdq_check_no_such_op),
    QDQ_FIDELITY_ROW("tripy"),
    QDQ_APPROXIMATE_ROW("tripy"),
    QDQ_NO_BLOCK_FLOAT_ROW("tripy", QDQ_BLOCK_FUNCTIONS),
    QDQ_BITS_UNKNOWN_ROW("tripy"),
    QDQ_UNKNOWN_OPS_ROW("tripy", QDQ_TRIPY_OPS, "Tripy 0.1.7, list of operations and modules"),
};
// clang-format on

static qdq_numerics numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return (qdq_numerics){.cast_quantizes = true};
}

// clang-format off
static const qdq_evidence_row evidence[] = {
    QDQ_READ_IF(NULL, "", "Quantize Dequantize", "quantizing ops", "", "tests and documents of Tripy and MLIR-TensorRT"),
    QDQ_READ_IF(NULL, "", QDQ_MOVING_OPS, "moves", "", "Tripy 0.1.7: elements are not computed"),
    QDQ_READ_IF(NULL, "", QDQ_CHOOSING_OPS, "choices and comparisons", "", "Tripy 0.1.7: elements are not rounded"),
    {{0}, NULL},
};
// clang-format on

static const qdq_mended_rules mended[] = {
    {"parameters as numbers", "tripy/per-tensor-scale tripy/per-channel-scale"},
    {"float constant", "tripy/x-dtype"},
    {"signed codes", "tripy/x-dtype tripy/result-dtype"},
    {"codes without a zero point", "tripy/no-zero-point"},
    {"the whole range", "tripy/no-clamp-range"},
    {"symmetric codes", "tripy/no-zero-point"},
    {"one symmetric scale", "tripy/no-zero-point"},
    {"one scale for each channel",
     "tripy/block-x tripy/block-dtype tripy/blocks-divide tripy/block-columns"},
    {NULL, NULL},
};

const qdq_target qdq_target_tripy = {
    .name = "tripy",
    .summary = "Tripy 0.1.7, the Python front end of TensorRT",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .mended = mended,
    .evidence = evidence,
    .default_dtype = qdq_dtype_of_scale,  // no default, but a scale has the dtype of the floats
    .numerics = numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_INT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .residual = QDQ_RESIDUAL_BRANCH,
                  .symmetric = true,
                  .stacks = true},
};
