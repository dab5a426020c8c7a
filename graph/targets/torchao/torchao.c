// SPDX-License-Identifier: Apache-2.0
// torchao: quantize_affine, dequantize_affine, choose_qparams_affine, the float8 functions, to_mx
// and nvfp4_quantize, on the CPU. Arithmetic is in the dtype that PyTorch promotes x and the scale
// to, so the dtype of the stored scale matters.
#include "graph/targets/torchao/torchao.h"

#include <math.h>

#include "graph/targets/checks.h"
#include "graph/targets/target_ops.h"
#include "runtime/numerics/dtype.h"

static const qdq_named_version versions[] = {{"0.11", QDQ_TORCHAO_0_11, QDQ_TORCHAO_ON_X86},
                                             {"0.12", QDQ_TORCHAO_0_12, QDQ_TORCHAO_ON_X86},
                                             {"0.18", QDQ_TORCHAO_0_18, QDQ_TORCHAO_ON_X86},
                                             {"0.18-ideal", QDQ_TORCHAO_0_18, QDQ_TORCHAO_IDEAL}};

static bool is_grouped_scheme(const qdq_op_context *ctx) {
    return qdq_is_computed(ctx) && qdq_torchao_scheme(ctx) >= QDQ_MX_FLOOR;
}

//---- Rules: dtypes ----------------------------------------------------------

#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(FLOAT16) | QDQ_SET(BFLOAT16))
#define INTEGERS (QDQ_SET_INTS & ~QDQ_SET(UINT16))

static void input_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_x(ctx, rule, FLOATS);
}

static void output_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!is_grouped_scheme(ctx)) qdq_expect_y(ctx, rule, INTEGERS | QDQ_SET_FLOAT8);
}

static void dequantize_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_x(ctx, rule, INTEGERS | QDQ_SET_SMALL_FLOATS);
}

static void dequantize_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_y(ctx, rule, FLOATS);
}

// Scales of small dtypes belong to MX and NVFP4. The affine functions promote to float64.
static void scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool dequantizes = qdq_op_context_is(ctx, "Dequantize");
    bool small = qdq_set_has(QDQ_SET_SMALL_FLOATS, qdq_quantized_dtype(ctx));
    bool affine = dequantizes ? !small : qdq_torchao_is_affine(ctx);
    qdq_expect_scales(ctx, rule,
                      (small && dequantizes ? QDQ_SET_SCALES : FLOATS) |
                          (affine ? QDQ_SET(FLOAT64) : 0));
}

static void wide_is_constant(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale"), z = qdq_argument_of(ctx, "zero_point");
    const qdq_argument *wide = s.dtype == QDQ_FLOAT64 ? &s : z.dtype == QDQ_INT64 ? &z : NULL;
    if (wide && !wide->known)
        qdq_report_target_violation(ctx, rule, wide->name,
                                    qdq_text(ctx->findings, "is %s and known at run time only",
                                             qdq_dtype_name(wide->dtype)),
                                    wide == &s ? "a constant, or float32" : "a constant, or int32");
}

// The dtypes that PyTorch can cast.
static void cast_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_both(ctx, rule,
                    FLOATS | QDQ_SET_FLOAT8 | QDQ_SET(FLOAT8_E8M0) | QDQ_SET(INT8) |
                        QDQ_SET(UINT8) | QDQ_SET(INT16) | QDQ_SET(UINT16) | QDQ_SET(INT32) |
                        QDQ_SET(BOOL) | QDQ_SET_WIDE_INTS | QDQ_SET(FLOAT64));
}

// PyTorch's functions lack most kernels for the unsigned types above uint8.
static void element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_inputs(ctx, rule,
                      FLOATS | QDQ_SET(FLOAT64) | QDQ_SET(INT8) | QDQ_SET(UINT8) | QDQ_SET(INT16) |
                          QDQ_SET(INT32) | QDQ_SET(INT64) | QDQ_SET(BOOL));
}

//---- Rules: granularity -----------------------------------------------------

static void zero_point_count(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale"), z = qdq_argument_of(ctx, "zero_point");
    if (z.given && s.given && z.count != s.count) qdq_report_other_count(ctx, rule, &z, &s);
}

// With a block of one element, choose_qparams_affine reduces over the whole tensor.
static void one_element_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    if (!qdq_is_computed(ctx) || a->qtype == QDQ_PER_TENSOR || qdq_shape_count(shape) == 1) return;
    qdq_shape block = a->qtype == QDQ_PER_GROUP ? qdq_block_shape(ctx) : shape;
    if (a->qtype == QDQ_PER_CHANNEL) block.dims[qdq_channel_axis(ctx)] = 1;
    if (qdq_shape_count(block) == 1)
        qdq_report_target_violation(ctx, rule, a->qtype == QDQ_PER_GROUP ? "group_shape" : "axis",
                                    "makes blocks of one element",
                                    "blocks of two or more elements");
}

static void grouped_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (is_grouped_scheme(ctx)) qdq_expect_x(ctx, rule, QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16));
}

static void grouped_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (is_grouped_scheme(ctx) && qdq_torchao_scheme(ctx) != QDQ_NVFP4)
        qdq_expect_y(ctx, rule,
                     QDQ_SET(FLOAT8_E4M3FN) | QDQ_SET(FLOAT8_E5M2) | QDQ_SET(FLOAT4_E2M1));
}

static void grouped_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (!is_grouped_scheme(ctx)) return;
    bool nvfp4 = qdq_torchao_scheme(ctx) == QDQ_NVFP4, grouped;
    grouped = qdq_quantize_attrs_of(ctx)->qtype == QDQ_PER_GROUP;
    const char *wanted =
        nvfp4 ? "1 for all dims but the last, and 16 for the last" : "1 for all dims but the last";
    if (!grouped) {
        qdq_report_target_violation(ctx, rule, "qtype", "is not per_group", "per_group");
        return;
    }
    qdq_shape block = qdq_block_shape(ctx);
    for (int i = 0; i < block.rank; i++) {
        bool last = i + 1 == block.rank;
        if (last ? !nvfp4 || block.dims[i] == 16 : block.dims[i] == 1) continue;
        qdq_report_target_violation(
            ctx, rule, "group_shape",
            qdq_text(ctx->findings, "has %lld for dim %d", (long long)block.dims[i], i), wanted);
        return;
    }
    qdq_shape x = ctx->inputs[QDQ_PORT_X].type.shape;  // two float4 codes share a byte
    if (ctx->outputs[0].dtype == QDQ_FLOAT4_E2M1 && x.rank && x.dims[x.rank - 1] % 2 != 0)
        qdq_report_target_violation(ctx, rule, "x", "has an odd last dim", "an even one");
}

static void nvfp4_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    int rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    if (qdq_is_computed(ctx) && qdq_torchao_scheme(ctx) == QDQ_NVFP4 && rank != 2 && rank != 3)
        qdq_report_target_violation(ctx, rule, "x", qdq_text(ctx->findings, "has rank %d", rank),
                                    "rank 2 or 3");
}

//---- Rules: surprises -------------------------------------------------------

static bool makes_integers(const qdq_op_context *ctx) {
    return qdq_dtype_is_int(ctx->outputs[0].dtype);
}

static void reciprocal(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    if (!qdq_torchao_is_affine(ctx) || a->zero_point_domain == QDQ_DOMAIN_FLOAT) return;
    for (size_t i = 0; s.known && i < s.count; i++) {
        int exponent;
        if (fabs(frexp(qdq_argument_at(&s, i), &exponent)) == 0.5) continue;
        qdq_report_number(ctx, rule, &s, i, "a power of two, whose reciprocal is exact");
        return;
    }
}

static void half_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale"), z = qdq_argument_of(ctx, "zero_point");
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    int most = x == QDQ_FLOAT16 ? 2048 : 256;
    if (!s.from_port || qdq_torchao_promoted(x, s.dtype) == QDQ_DTYPE_NONE || !z.known) return;
    for (size_t i = 0; i < z.count; i++) {
        if (fabs(qdq_argument_at(&z, i)) <= most) continue;
        qdq_report_number(ctx, rule, &z, i,
                          qdq_text(ctx->findings, "at most %d in magnitude, as it becomes %s", most,
                                   qdq_dtype_name(x)));
        return;
    }
}

static void half_sums(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(ctx, "scale");
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (s.from_port && qdq_torchao_promoted(x, s.dtype) != QDQ_DTYPE_NONE &&
        (y == QDQ_INT16 || y == QDQ_INT32))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s, but x and scale are %s, so results are "
                                             "rounded to %s",
                                             qdq_dtype_name(y), qdq_dtype_name(x),
                                             qdq_dtype_name(x)),
                                    "a float32 scale");
}

// The bounds of a clamp become float16 numbers, and PyTorch raises for one beyond 65504. Symmetric
// parameters have a constant in place of a clamp.
static void half_bounds(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_dtype_info *y = qdq_dtype_get(ctx->outputs[0].dtype);
    bool computed = qdq_is_computed(ctx),
         clamps = !computed || qdq_torchao_scheme(ctx) == QDQ_ASYMMETRIC;
    qdq_argument s = qdq_argument_of(ctx, "scale");
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (!qdq_dtype_is_int(ctx->outputs[0].dtype) || x != QDQ_FLOAT16) return;
    if (!computed && (!s.from_port || s.dtype != QDQ_FLOAT16)) return;
    double low = a->quant_min.set != 0 ? qdq_bound_value(a->quant_min) : (double)y->least;
    double high = a->quant_max.set != 0 ? qdq_bound_value(a->quant_max) : (double)y->greatest;
    double most = clamps ? fmax(fabs(low), fabs(high)) : fabs(trunc((high + low + 1) / 2));
    if (most > 65504)
        qdq_report_target_violation(
            ctx, rule, clamps ? "dtype" : "scheme",
            qdq_text(ctx->findings, "makes %lld a float16, and PyTorch raises", (long long)most),
            computed ? "a float32 x" : "a float32 scale");
}

static void half_dequantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if ((x == QDQ_INT16 || x == QDQ_INT32) && y != QDQ_FLOAT32)
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s: x is rounded to it before the zero "
                                             "point is subtracted",
                                             qdq_dtype_name(y)),
                                    "float32");
}

static void symmetric_formula(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && qdq_torchao_scheme(ctx) == QDQ_SYMMETRIC && makes_integers(ctx))
        qdq_report_target_violation(
            ctx, rule, "scheme",
            "is symmetric: the scale is max|x| / ((quant_max - quant_min) / 2), and "
            "the zero point lies in the middle of the range",
            NULL);
}

static void computed_in_half(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (qdq_is_computed(ctx) && !is_grouped_scheme(ctx) && x != QDQ_FLOAT32)
        qdq_report_target_violation(
            ctx, rule, "x",
            qdq_text(ctx->findings, "is %s: the scale is computed in it", qdq_dtype_name(x)),
            "float32");
}

// On the CPU, amax, amin, max_pool2d and max_pool3d take all integers.
static void selected_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_type *x = &ctx->inputs[QDQ_PORT_X].type;
    if (qdq_op_context_is(ctx, "MaxPool") ? x->shape.rank == 3 : x->dtype == QDQ_INT8)
        qdq_check_selected_floats(ctx, rule);
}

static void zero_block(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && qdq_torchao_scheme(ctx) == QDQ_SYMMETRIC && !makes_integers(ctx))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s: a block of zeros has scale 0 and becomes NaN",
                                             qdq_dtype_name(ctx->outputs[0].dtype)),
                                    NULL);
}

static void float8_scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_is_computed(ctx) && qdq_torchao_scheme(ctx) == QDQ_SYMMETRIC && !makes_integers(ctx))
        qdq_expect_dtype(ctx, rule, "scale_dtype", ctx->outputs[1].dtype, QDQ_SET(FLOAT32));
}

// A cast overflows; what it does to float8_e4m3fn depends on the release, and evidence has that.
// The other functions clamp before they cast.
static void own_overflow(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set small = QDQ_SET_FLOAT8 | QDQ_SET(FLOAT8_E8M0);
    bool casts = qdq_op_context_is(ctx, "Cast");
    if (casts) small &= ~QDQ_SET(FLOAT8_E4M3FN);
    qdq_bool given = casts ? ((const qdq_cast_attrs *)ctx->attrs)->saturate
                           : qdq_quantize_attrs_of(ctx)->saturate;
    if (!qdq_set_has(small, ctx->outputs[0].dtype) || (!casts && qdq_torchao_is_affine(ctx)))
        return;
    if (given == (casts ? QDQ_TRUE : QDQ_FALSE))
        qdq_report_target_violation(ctx, rule, "saturate",
                                    casts ? "is true, which PyTorch cannot do"
                                          : "is false, which PyTorch cannot do",
                                    casts ? "false" : "true");
}

static qdq_dtype own_dtype(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Dequantize") ? QDQ_FLOAT32 : QDQ_DTYPE_NONE;
}

static void default_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_default_dtype(ctx, rule, own_dtype(ctx));
}

// quantize_affine adds a zero point unconditionally, and fails without it. The float8 functions and
// the domain NONE have none.
static void zero_point_missing(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_domain domain = qdq_quantize_attrs_of(ctx)->zero_point_domain;
    if (!qdq_is_computed(ctx) && qdq_torchao_is_affine(ctx) && domain != QDQ_DOMAIN_NONE &&
        !qdq_argument_of(ctx, "zero_point").given)
        qdq_report_target_violation(
            ctx, rule, "zps",
            "is not given and defaults to 0, but quantize_affine fails without one",
            "a zero point");
}

static void no_requantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_report_target_violation(
        ctx, rule, NULL,
        "torchao has no such op, so dequantize_affine and quantize_affine are computed", NULL);
}

//---- The target -------------------------------------------------------------

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "torchao", id, summary, hint, source, ops, check, 0, 0)
#define WARNING_ROW(id, summary, hint, source, ops, check, since) \
    QDQ_RULE_ROW(WARNING, "torchao", id, summary, hint, source, ops, check, since, 0)
#define UNKNOWN_ROW(id, summary, hint, source, ops, check) \
    QDQ_BITS_ROW(UNKNOWN, "torchao", id, summary, hint, source, ops, check, 0, 0)
#define PRIMITIVES "torchao quant_primitives.py, "
#define Q "Quantize DynamicQuantize"
#define ALL "Quantize Dequantize DynamicQuantize"
#define DYNAMIC "DynamicQuantize"

// clang-format off
static const qdq_rule rules[] = {
    ERROR_ROW("input-dtype", "quantize takes float32, float16 and bfloat16", "cast x first", PRIMITIVES "quantize_affine", Q, input_dtype),
    ERROR_ROW("output-dtype", "quantize makes float8 and all integers except uint16", "choose one of them; for float4_e2m1 use a scheme of DynamicQuantize", PRIMITIVES "quantize_affine", Q, output_dtype),
    ERROR_ROW("dequantize-input-dtype", "dequantize takes what quantize makes", "choose one of them", PRIMITIVES "dequantize_affine", "Dequantize", dequantize_input),
    ERROR_ROW("dequantize-output-dtype", "dequantize makes float32, float16 or bfloat16", "choose one of them", PRIMITIVES "dequantize_affine", "Dequantize", dequantize_output),
    ERROR_ROW("scale-dtype", "a scale is float32, float16 or bfloat16, of the affine functions also float64; to dequantize float8 or float4 also float8_e8m0 or float8_e4m3fn",
              "dequantize the scale first", PRIMITIVES "quantize_affine; mx_tensor.py", ALL, scale_dtype),
    ERROR_ROW("wide-is-constant", "a float64 scale and an int64 zero point are constants here", "cast it before the node", "qdq", ALL, wide_is_constant),
    ERROR_ROW("cast-dtypes", "PyTorch casts floats, float64, float8, bool and integers of 8 bits or more", "use Quantize for other dtypes", "PyTorch Tensor.to", "Cast", cast_dtypes),
    ERROR_ROW("element-dtypes", "elementwise functions take floats, float64, bool, uint8 and signed integers of 8 bits or more", "cast the operands", "PyTorch torch.add, torch.eq", QDQ_ELEMENT_OPS, element_dtypes),
    ERROR_ROW("selected-dtype", "max_pool1d takes floats; interpolate takes floats and uint8", "dequantize x first", "PyTorch MaxPooling.cpp, MaxPoolKernel.cpp, UpSampleKernel.cpp", "MaxPool Interpolate", selected_dtype),
    ERROR_ROW("zero-point-count", "there are as many zero points as scales", "repeat the zero point", PRIMITIVES "quantize_affine", ALL, zero_point_count),
    ERROR_ROW("group-divides", "block_size divides the shape of x", "pad x", PRIMITIVES "_get_reduction_params", ALL, qdq_check_group_divides),
    ERROR_ROW("one-element-blocks", "a block whose parameters are computed has more than one element", "use a larger block", PRIMITIVES "choose_qparams_affine", DYNAMIC, one_element_blocks),
    ERROR_ROW("scheme-input-dtype", "MX and NVFP4 take float32 and bfloat16", "cast x first", "torchao mx_tensor.py to_mx, nvfp4_tensor.py", DYNAMIC, grouped_input),
    ERROR_ROW("mx-output-dtype", "MX makes float8_e4m3fn, float8_e5m2 and float4_e2m1", "choose one of them", "torchao mx_tensor.py to_mx", DYNAMIC, grouped_output),
    ERROR_ROW("scheme-blocks", "MX and NVFP4 have blocks along the last dim, which is even for float4, and NVFP4 blocks have 16 elements", "transpose or pad x", "torchao mx_tensor.py to_mx, nvfp4_tensor.py", DYNAMIC, grouped_blocks),
    ERROR_ROW("nvfp4-rank", "NVFP4 takes rank 2 and 3", "reshape x", "torchao nvfp4_tensor.py", DYNAMIC, nvfp4_rank),
    ERROR_ROW("float8-scale-dtype", "a computed scale of float8 is float32", "leave scale_dtype out", PRIMITIVES "_choose_scale_float8", DYNAMIC, float8_scale_dtype),
    ERROR_ROW("half-bounds", "clamp bounds that become float16 are at most 65504", "give smaller bounds, or a float32 scale", "run of torchao 0.18.0: torch.clamp", Q, half_bounds),
    WARNING_ROW("no-requantize", "the backend has no Requantize", "write Dequantize and Quantize", "torchao has none", "Requantize", no_requantize, 0),
    WARNING_ROW("reciprocal", "x is multiplied by 1 / scale, which near a tie may round differently from x / scale", "use a power of two, or compare with `qdq compare`", PRIMITIVES "_quantize_affine_no_dtype_cast", Q, reciprocal, 0),
    WARNING_ROW("half-zero-point", "if x and scale have the same 16-bit dtype, the zero point is rounded to it", "use a float32 scale", PRIMITIVES "_quantize_affine_no_dtype_cast", "Quantize", half_zero_point, 0),
    WARNING_ROW("half-sums", "if x and scale have the same 16-bit dtype, int16 and int32 results are rounded to it", "use a float32 scale", PRIMITIVES "_quantize_affine_no_dtype_cast", "Quantize", half_sums, 0),
    WARNING_ROW("half-dequantize", "int16 and int32 are rounded to a 16-bit result dtype before the zero point is subtracted", "make float32 and cast", PRIMITIVES "_dequantize_affine_no_dtype_check", "Dequantize", half_dequantize, QDQ_TORCHAO_0_12),
    WARNING_ROW("symmetric-formula", "a symmetric scale is max|x| over half the range, not over quant_max, and the zero point of unsigned types is not 0",
                "use symmetric_no_clipping", PRIMITIVES "choose_qparams_affine", DYNAMIC, symmetric_formula, 0),
    WARNING_ROW("computed-in-half", "parameters are computed in the dtype of x", "cast x to float32 first", PRIMITIVES "choose_qparams_affine", DYNAMIC, computed_in_half, 0),
    WARNING_ROW("zero-block", "a float8 block of zeros has scale 0 and becomes NaN", "give the scale", PRIMITIVES "_choose_scale_float8; pytorch/ao #4713", DYNAMIC, zero_block, 0),
    UNKNOWN_ROW("own-overflow", "a cast saturates to no small float but float8_e4m3fn, and the quantize functions always do", "leave saturate out", "run of torchao 0.18.0 with PyTorch 2.15.0", Q " Cast", own_overflow),
    WARNING_ROW("default-dtype", "without `dtype`, dequantize makes float32", "give `dtype`", PRIMITIVES "dequantize_affine", "Dequantize", default_dtype, 0),
    WARNING_ROW("zero-point-missing", "quantize to integers needs a zero point", "give 0, or set zero_point_domain to none", PRIMITIVES "quantize_affine; pytorch/ao #3459", Q, zero_point_missing, 0),
    QDQ_FIDELITY_ROW("torchao"),
    QDQ_APPROXIMATE_ROW("torchao"),
    QDQ_NO_BLOCK_FLOAT_ROW("torchao", QDQ_BLOCK_FUNCTIONS),
    QDQ_BITS_UNKNOWN_ROW("torchao"),
    QDQ_UNKNOWN_OPS_ROW("torchao", QDQ_TORCHAO_OPS, "list of PyTorch's functions"),
};
// clang-format on

static const qdq_mended_rules mended[] = {
    {"parameters as numbers", "torchao/zero-point-count"},
    {"one scale for each channel", "torchao/group-divides"},
    {NULL, NULL},
};

const qdq_target qdq_target_torchao = {
    .name = "torchao",
    .summary = "torchao's affine, float8, MX and NVFP4 functions on the CPU",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .mended = mended,
    .evidence = qdq_torchao_evidence,
    .versions = versions,
    .version_count = sizeof versions / sizeof versions[0],
    .lenient_parameters = true,
    .runs_zero_scales = true,
    .halves_requantize = true,
    .default_dtype = own_dtype,
    .numerics = qdq_torchao_numerics,
    .quantized = {.ops = QDQ_PRODUCTS,
                  .values = QDQ_INT8,
                  .weights = QDQ_INT8,
                  .bias = QDQ_FLOAT32,
                  .zero_points = true,
                  .groups = true,
                  .stacks = true},
};
