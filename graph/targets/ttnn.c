// SPDX-License-Identifier: Apache-2.0
// Tenstorrent's ttnn.quantize, dequantize and requantize: int32, int8 and uint8, per tensor and per
// channel. Which kernel runs, and so what comes out, depends on whether each scale and zero point
// is a number or a tensor (docs/targets.md has the paths).
#include <math.h>

#include "graph/targets/checks.h"

static bool is_requantize(const qdq_call *call) { return qdq_call_is(call, "Requantize"); }

//---- Paths ------------------------------------------------------------------

typedef enum path { PATH_FUSED, PATH_EXPANDED, PATH_MIXED } path;

static const char *const requantize_ports[] = {"in_scale", "in_zero_point", "out_scale",
                                               "out_zero_point"};

static bool has_axis(const qdq_call *call) {
    return ((const qdq_requantize_attrs *)call->attrs)->axis.set;
}

static path requantize_path(const qdq_call *call) {
    int scalars = 0;
    for (int k = 0; k < 4; k++) scalars += qdq_argument_of(call, requantize_ports[k]).scalar;
    if (scalars == 4) return PATH_FUSED;
    return scalars == 0 && has_axis(call) ? PATH_EXPANDED : PATH_MIXED;
}

static bool zero_point_is_tensor(const qdq_call *call) {
    return !qdq_argument_of(call, "zero_point").scalar;
}

//---- Numerics ---------------------------------------------------------------

// The integer stage of the fused kernels.
static void round_as_fused(qdq_numerics *n, qdq_dtype y) {
    n->rounding = y == QDQ_INT8 ? QDQ_ROUND_HALF_UP_BIASED : QDQ_ROUND_HALF_AWAY;
    n->overflow = y == QDQ_UINT8 ? QDQ_OVERFLOW_MAGNITUDE : QDQ_OVERFLOW_SATURATE;
    n->nan = QDQ_NAN_QUANT_MAX;
    if (y != QDQ_INT32) return;
    n->narrow = true;
    n->quant_min = -127, n->quant_max = 127;
}

static void quantize_as(qdq_numerics *n, const qdq_argument *scale, const qdq_argument *zero_point,
                        qdq_dtype x, qdq_dtype y) {
    if (zero_point->scalar) {
        n->zero_point_order = QDQ_ZERO_POINT_FMA;
        round_as_fused(n, y);
        return;
    }
    n->zero_point_order = QDQ_ZERO_POINT_BEFORE;
    if (x != QDQ_FLOAT32) {
        n->quantize_step_dtype = QDQ_BFLOAT16;
        if (!scale->scalar) n->scale_dtype = QDQ_BFLOAT16;
    }
    if (y == QDQ_INT8) {
        round_as_fused(n, y);
        return;
    }
    n->rounding = QDQ_ROUND_TRUNCATE;
    n->overflow = y == QDQ_UINT8 ? QDQ_OVERFLOW_WRAP : QDQ_OVERFLOW_SATURATE;
}

static void dequantize_as(qdq_numerics *n, const qdq_argument *zero_point, qdq_dtype x) {
    if (!zero_point->scalar) return;
    n->subtraction = QDQ_SUBTRACT_FLOAT;
    n->code_bias = x == QDQ_INT8 ? 128 : 0;
}

static void requantize_as(qdq_numerics *n, const qdq_call *call) {
    qdq_dtype x = call->inputs[QDQ_PORT_X].type.dtype, y = call->outputs[0].dtype;
    qdq_argument scale = qdq_argument_of(call, "out_scale");
    qdq_argument in_zero_point = qdq_argument_of(call, "in_zero_point");
    qdq_argument out_zero_point = qdq_argument_of(call, "out_zero_point");
    switch (requantize_path(call)) {
    case PATH_FUSED:
        n->requantize_form = QDQ_REQUANTIZE_FUSED;
        n->code_bias = x == QDQ_INT8 ? 128 : 0;
        round_as_fused(n, y);
        break;
    case PATH_EXPANDED:
        n->requantize_form = QDQ_REQUANTIZE_EXPANDED;
        n->rounding = QDQ_ROUND_TRUNCATE;
        break;
    case PATH_MIXED:
        n->requantize_dtype = QDQ_BFLOAT16;
        dequantize_as(n, &in_zero_point, x);
        quantize_as(n, &scale, &out_zero_point, QDQ_BFLOAT16, y);
        break;
    }
}

static qdq_numerics numerics(const qdq_call *call, int release) {
    qdq_numerics n = {.bfloat16_store = QDQ_BFLOAT16_DEVICE, .flush_denormals = true};
    qdq_dtype x = call->inputs[QDQ_PORT_X].type.dtype;
    qdq_argument scale = qdq_argument_of(call, "scale");
    qdq_argument zero_point = qdq_argument_of(call, "zero_point");
    (void)release;
    if (is_requantize(call))
        requantize_as(&n, call);
    else if (qdq_call_is(call, "Dequantize"))
        dequantize_as(&n, &zero_point, x);
    else if (qdq_quantize_attrs_of(call))
        quantize_as(&n, &scale, &zero_point, x, call->outputs[0].dtype);
    return n;
}

//---- Rules: dtypes ----------------------------------------------------------

#define INTEGERS (QDQ_SET(INT32) | QDQ_SET(INT8) | QDQ_SET(UINT8))
#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16))

static void quantize_input(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_x(call, rule, FLOATS | QDQ_SET_BLOCK_FLOATS);
}

static void integer_input(const qdq_call *call, const qdq_rule *rule) {
    bool as_shown = is_requantize(call) && call->inputs[QDQ_PORT_X].type.dtype == QDQ_BFLOAT16;
    if (!as_shown) qdq_expect_x(call, rule, INTEGERS);  // that has a rule of its own
}

static void integer_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_y(call, rule, INTEGERS);
}

static void float_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_y(call, rule, FLOATS);
}

static void scale_dtype(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_scales(call, rule, FLOATS);
}

static void zero_point_dtype(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_zero_points(call, rule, QDQ_SET(INT32));
}

static void page_shows_bfloat16(const qdq_call *call, const qdq_rule *rule) {
    if (call->inputs[QDQ_PORT_X].type.dtype == QDQ_BFLOAT16)
        qdq_call_find_rule(
            call, rule, "x",
            "is bfloat16, which the page of ttnn.requantize shows and its code refuses",
            "int32, int8 or uint8");
}

//---- Rules: per channel -----------------------------------------------------

// Whether the node is given an axis as ttnn's functions are.
static bool along_axis(const qdq_call *call) {
    return is_requantize(call) ? has_axis(call)
                               : qdq_quantize_attrs_of(call)->qtype == QDQ_PER_CHANNEL;
}

static void narrow_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype y = call->outputs[0].dtype;
    if (along_axis(call) && (y == QDQ_INT8 || y == QDQ_UINT8))
        (void)qdq_expect_dtype(call, rule, "dtype", y, QDQ_SET(INT32));
}

static void channel_scale(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument s = qdq_argument_of(call, "scale");
    if (!along_axis(call)) return;
    if (s.scalar)
        qdq_call_find_rule(call, rule, s.name, "is a single number", "a list, even of one number");
    else if (s.shape.rank != 1)
        qdq_call_find_rule(call, rule, s.name,
                           qdq_text(call->findings, "has rank %d", s.shape.rank), "rank 1");
}

// A tensor that goes with an axis has one element for each channel.
static bool expect_channels(const qdq_call *call, const qdq_rule *rule, const qdq_argument *v,
                            int64_t channels) {
    if (v->shape.rank == 1 && v->shape.dims[0] == channels) return true;
    qdq_call_find_rule(call, rule, v->name,
                       qdq_text(call->findings, "has rank %d and %zu element%s", v->shape.rank,
                                v->count, v->count == 1 ? "" : "s"),
                       qdq_text(call->findings, "rank 1 and %lld element%s", (long long)channels,
                                channels == 1 ? "" : "s"));
    return false;
}

static int64_t channels_of(const qdq_call *call) {
    return call->inputs[QDQ_PORT_X].type.shape.dims[qdq_channel_axis(call)];
}

static void channel_zero_point(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(call, "zero_point");
    if (along_axis(call) && !z.scalar) (void)expect_channels(call, rule, &z, channels_of(call));
}

//---- Rules: Requantize ------------------------------------------------------

static void int8_input(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype x = call->inputs[QDQ_PORT_X].type.dtype, y = call->outputs[0].dtype;
    if (x == QDQ_INT8 && y != QDQ_INT32 && requantize_path(call) != PATH_FUSED)
        qdq_call_find_rule(call, rule, "dtype",
                           qdq_text(call->findings, "is %s, x is int8, and a parameter is a tensor",
                                    qdq_dtype_name(y)),
                           "int32, or single numbers for all four parameters");
}

static bool is_full(const qdq_argument *v, int64_t channels) {
    return (int64_t)v->count == channels;
}

static void sides_agree(const qdq_call *call, const qdq_rule *rule) {
    if (requantize_path(call) != PATH_EXPANDED) return;
    int64_t channels = channels_of(call);
    for (int k = 0; k < 4; k += 2) {
        qdq_argument s = qdq_argument_of(call, requantize_ports[k]);
        qdq_argument z = qdq_argument_of(call, requantize_ports[k + 1]);
        if (is_full(&s, channels) == is_full(&z, channels)) continue;
        const qdq_argument *full = is_full(&s, channels) ? &s : &z;
        qdq_call_find_rule(
            call, rule, full == &s ? z.name : s.name,
            qdq_text(call->findings, "has one element, but %s is per channel", full->name),
            "both per channel, or both with one element");
        return;
    }
}

static void channel_rank(const qdq_call *call, const qdq_rule *rule) {
    if (requantize_path(call) != PATH_EXPANDED) return;
    int64_t channels = channels_of(call);
    for (int k = 0; k < 4; k++) {
        qdq_argument v = qdq_argument_of(call, requantize_ports[k]);
        if (is_full(&v, channels) && !expect_channels(call, rule, &v, channels)) return;
    }
}

// The axis goes to a half of the pair only where that half's scale is a tensor.
static void mixed_arguments(const qdq_call *call, const qdq_rule *rule) {
    if (requantize_path(call) != PATH_MIXED || !has_axis(call)) return;
    int64_t channels = channels_of(call);
    for (int k = 0; k < 4; k += 2) {
        qdq_argument s = qdq_argument_of(call, requantize_ports[k]);
        qdq_argument z = qdq_argument_of(call, requantize_ports[k + 1]);
        if (!s.scalar) {
            if (!expect_channels(call, rule, &s, channels) ||
                (!z.scalar && !expect_channels(call, rule, &z, channels)))
                return;
        } else if (!z.scalar && z.count != 1) {
            qdq_call_find_rule(call, rule, z.name,
                               qdq_text(call->findings,
                                        "has %zu elements, but %s is a single number", z.count,
                                        s.name),
                               "one element, or a list of scales beside it");
            return;
        }
    }
}

//---- Rules: surprises -------------------------------------------------------

static void composite_truncates(const qdq_call *call, const qdq_rule *rule) {
    if (zero_point_is_tensor(call) && call->outputs[0].dtype != QDQ_INT8)
        qdq_call_find_rule(call, rule, qdq_argument_of(call, "zero_point").name,
                           call->outputs[0].dtype == QDQ_UINT8
                               ? "is a tensor: the result is truncated, and wraps around"
                               : "is a tensor: the result is truncated, and not brought into "
                                 "the range of int8",
                           "a single number");
}

static bool fused_to(const qdq_call *call, qdq_dtype y) {
    if (call->outputs[0].dtype != y) return false;
    return is_requantize(call) ? requantize_path(call) == PATH_FUSED : !zero_point_is_tensor(call);
}

static void int32_range(const qdq_call *call, const qdq_rule *rule) {
    if (fused_to(call, QDQ_INT32))
        qdq_call_find_rule(call, rule, "dtype",
                           "is int32: results are clamped to -127..127, and halves go away from 0",
                           NULL);
}

static void uint8_sign(const qdq_call *call, const qdq_rule *rule) {
    if (fused_to(call, QDQ_UINT8))
        qdq_call_find_rule(call, rule, "dtype",
                           "is uint8: what would be negative loses its sign (-5 becomes 5)", NULL);
}

static void bfloat16_zero_point(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(call, "zero_point");
    if (z.scalar || !z.known || call->inputs[QDQ_PORT_X].type.dtype == QDQ_FLOAT32) return;
    for (size_t i = 0; i < z.count; i++) {
        double value = qdq_argument_at(&z, i);
        if (fabs(value) <= 256) continue;
        qdq_find_number(call, rule, &z, i, "at most 256 in size, as it is rounded to bfloat16");
        return;
    }
}

static void expanded_truncates(const qdq_call *call, const qdq_rule *rule) {
    if (requantize_path(call) == PATH_EXPANDED)
        qdq_call_find_rule(call, rule, NULL,
                           "all four parameters are tensors along an axis: the result is "
                           "truncated, and not brought into the range of int8",
                           NULL);
}

static void through_bfloat16(const qdq_call *call, const qdq_rule *rule) {
    if (requantize_path(call) == PATH_MIXED)
        qdq_call_find_rule(call, rule, NULL,
                           "numbers and tensors are mixed, or no axis is given: the values go "
                           "through bfloat16",
                           NULL);
}

static void axis_ignored(const qdq_call *call, const qdq_rule *rule) {
    if (has_axis(call) && requantize_path(call) == PATH_FUSED)
        qdq_call_find_rule(call, rule, "axis", "is given, and ignored beside four single numbers",
                           "none");
}

static void mlir_mixes(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument in = qdq_argument_of(call, "in_scale"), out = qdq_argument_of(call, "out_scale");
    if ((in.count > 1) != (out.count > 1))
        qdq_call_find_rule(call, rule, out.name,
                           qdq_text(call->findings, "has %zu element%s, %s has %zu", out.count,
                                    out.count == 1 ? "" : "s", in.name, in.count),
                           "both per channel, or both per tensor");
}

//---- The target -------------------------------------------------------------

#define ERROR_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(ERROR, "ttnn", id, summary, hint, source, ops, check, 0, 0)
#define WARNING_ROW(id, summary, hint, source, ops, check) \
    QDQ_RULE_ROW(WARNING, "ttnn", id, summary, hint, source, ops, check, 0, 0)
#define CODE "tt-metal quantization.cpp, "
#define KERNEL "tt-metal ckernel_sfpu_quant.h"
#define ALL "Quantize Dequantize DynamicQuantize Requantize"
#define GIVEN "Quantize Dequantize DynamicQuantize"

// clang-format off
static const qdq_rule rules[] = {
    ERROR_ROW("quantize-input-dtype", "quantize takes float32, bfloat16 and block floats", "cast x first", CODE "quantize", "Quantize DynamicQuantize", quantize_input),
    ERROR_ROW("quantize-output-dtype", "quantize makes int32, int8 or uint8", "choose one of them", CODE "quantize", "Quantize DynamicQuantize", integer_output),
    ERROR_ROW("dequantize-input-dtype", "dequantize takes int32, int8 or uint8", "choose one of them", CODE "dequantize", "Dequantize", integer_input),
    ERROR_ROW("dequantize-output-dtype", "dequantize makes float32 or bfloat16", "choose one of them", CODE "dequantize", "Dequantize", float_output),
    ERROR_ROW("requantize-input-dtype", "requantize takes int32, int8 or uint8", "quantize x first", CODE "requantize", "Requantize", integer_input),
    ERROR_ROW("requantize-output-dtype", "requantize makes int32, int8 or uint8", "choose one of them", CODE "requantize", "Requantize", integer_output),
    ERROR_ROW("per-channel-output", "what has an axis makes int32", "use int32, or one scale", CODE "quantize, requantize", "Quantize DynamicQuantize Requantize",
              narrow_output),
    ERROR_ROW("per-channel-scale", "a per-channel scale is a tensor of rank 1", "give the scales as a list", CODE "quantize, dequantize", GIVEN, channel_scale),
    ERROR_ROW("per-channel-zero-point", "a per-channel zero point that is a tensor has one element for each channel",
              "repeat it for each channel, or give a single number", CODE "quantize, dequantize", GIVEN, channel_zero_point),
    ERROR_ROW("scale-dtype", "a scale is float32 or bfloat16", "cast the scale", CODE "all three", ALL, scale_dtype),
    ERROR_ROW("zero-point-dtype", "a zero point that is a tensor is int32", "cast the zero point", CODE "all three", ALL, zero_point_dtype),
    ERROR_ROW("requantize-int8-tensors", "requantize of int8 with a tensor among its parameters makes int32", "use single numbers, or make int32", CODE "requantize",
              "Requantize", int8_input),
    ERROR_ROW("requantize-sides-agree", "with an axis and four tensors, scale and zero point of a side are both per channel or both of one element",
              "repeat the one that has one element", CODE "requantize", "Requantize", sides_agree),
    ERROR_ROW("requantize-channel-rank", "with an axis and four tensors, what is per channel has rank 1", "give it as a list", CODE "requantize", "Requantize",
              channel_rank),
    ERROR_ROW("requantize-mixed-arguments", "with an axis and a mix of numbers and tensors, each side is what dequantize or quantize take",
              "per channel needs a list of scales; a single scale wants a single zero point", CODE "requantize", "Requantize", mixed_arguments),
    ERROR_ROW("no-group", "there are no groups", "reshape x so that a group is a channel", CODE "all three", GIVEN, qdq_check_no_group),
    ERROR_ROW("no-clamp-range", "there is no narrower clamp range", "leave it out", CODE "all three", "Quantize DynamicQuantize Requantize", qdq_check_no_clamp_range),
    ERROR_ROW("int-domain", "a zero point is a code", "leave zero_point_domain out", CODE "all three", GIVEN, qdq_check_int_domain),
    ERROR_ROW("no-computed-parameters", "no op computes scales", "compute the scale outside and give it", "ttnn has none", "DynamicQuantize", qdq_check_not_computed),
    WARNING_ROW("page-shows-bfloat16", "the page of requantize shows a bfloat16 input, its code refuses it", "quantize x first",
              "page of ttnn.requantize; " CODE "requantize", "Requantize", page_shows_bfloat16),
    WARNING_ROW("composite-truncates", "with a zero point that is a tensor, quantize truncates and does not saturate", "give the zero point as a single number",
              "tt-metal #51304, #57500", "Quantize DynamicQuantize", composite_truncates),
    WARNING_ROW("int32-range", "int32 results have the range -127..127", "use int8 for -128", KERNEL "; tt-metal #56526", "Quantize DynamicQuantize Requantize",
              int32_range),
    WARNING_ROW("uint8-sign", "uint8 results lose the sign of what is negative", "use int8, or a zero point that keeps results positive", KERNEL "; tt-metal #56290",
              "Quantize DynamicQuantize Requantize", uint8_sign),
    WARNING_ROW("bfloat16-zero-point", "a zero point that is a tensor is rounded to the dtype of x", "give it as a single number, or use float32", CODE "quantize",
              "Quantize DynamicQuantize", bfloat16_zero_point),
    WARNING_ROW("requantize-truncates", "with an axis and four tensors, requantize truncates and does not saturate", "use single numbers where there is one channel",
              "tt-metal #51304", "Requantize", expanded_truncates),
    WARNING_ROW("requantize-bfloat16", "a mix of numbers and tensors goes through bfloat16", "give all four as single numbers, or all as tensors with an axis",
              CODE "requantize", "Requantize", through_bfloat16),
    WARNING_ROW("axis-ignored", "requantize ignores an axis beside four single numbers", "leave it out", CODE "requantize", "Requantize", axis_ignored),
    WARNING_ROW("mlir-mixed-granularity", "tt-mlir wants both sides per channel or both per tensor", "repeat the single scale for each channel",
              "tt-mlir verifier of requantize", "Requantize", mlir_mixes),
    WARNING_ROW("mlir-axis", "tt-mlir wants an axis of at least 0", "count it from the front", "tt-mlir verifier of quantize, dequantize and requantize", ALL,
              qdq_check_axis_from_front),
};
// clang-format on

const qdq_target qdq_target_ttnn = {
    .name = "ttnn",
    .summary = "Tenstorrent ttnn in mid-2026, as tt-metal's kernels compute it",
    .rules = rules,
    .rule_count = sizeof rules / sizeof rules[0],
    .numerics = numerics,
};
