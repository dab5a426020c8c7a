// SPDX-License-Identifier: Apache-2.0
// Checks of ttnn's rules.
#include "graph/targets/ttnn/ttnn_checks.h"

#include <math.h>

#include "include/qdq/ops/products.h"
#include "ops/matmul/chip/chip_matmul.h"
#include "runtime/numerics/dtype.h"

static bool is_requantize(const qdq_op_context *ctx) {
    return qdq_op_context_is(ctx, "Requantize");
}

//---- Arguments --------------------------------------------------------------

// Returns the argument of a port, which is a tensor, without dims too. A caller leaves out a zero
// point of zeros that ttnn refuses as a tensor.
qdq_argument qdq_ttnn_argument(const qdq_op_context *ctx, const char *port) {
    qdq_argument a = qdq_argument_of(ctx, port);
    return a.dtype == QDQ_INT32 ? a : qdq_without_zeros(ctx, port);
}

//---- Paths ------------------------------------------------------------------

static const char *const requantize_ports[] = {"in_scale", "in_zero_point", "out_scale",
                                               "out_zero_point"};

static bool has_axis(const qdq_op_context *ctx) {
    return ((const qdq_requantize_attrs *)ctx->attrs)->axis.set != 0;
}

qdq_ttnn_way qdq_ttnn_path(const qdq_op_context *ctx) {
    int scalars = 0;
    for (int k = 0; k < 4; k++) scalars += qdq_ttnn_argument(ctx, requantize_ports[k]).scalar;
    if (scalars == 4) return QDQ_TTNN_FUSED;
    return scalars == 0 && has_axis(ctx) ? QDQ_TTNN_EXPANDED : QDQ_TTNN_MIXED;
}

static bool zero_point_is_tensor(const qdq_op_context *ctx) {
    return !qdq_ttnn_argument(ctx, "zero_point").scalar;
}

//---- Rules: dtypes ----------------------------------------------------------

#define INTEGERS (QDQ_SET(INT32) | QDQ_SET(INT8) | QDQ_SET(UINT8))
#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16))

// True for dtypes that the page of requantize shows and the code refuses: the table has bfloat16,
// and the layout TILE has block floats too.
static bool is_shown(qdq_dtype x) {
    return x == QDQ_BFLOAT16 || qdq_set_has(QDQ_SET_BLOCK_FLOATS, x);
}

void qdq_ttnn_quantize_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_x(ctx, rule, FLOATS | QDQ_SET_BLOCK_FLOATS);
}

void qdq_ttnn_integer_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    bool as_shown = is_requantize(ctx) && is_shown(ctx->inputs[QDQ_PORT_X].type.dtype);
    if (!as_shown) qdq_expect_x(ctx, rule, INTEGERS);  // the others have page-shows-bfloat16
}

void qdq_ttnn_integer_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_y(ctx, rule, INTEGERS);
}

void qdq_ttnn_float_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_y(ctx, rule, FLOATS);
}

// Checks the dtype of tensors; numbers have none.
static void expect_tensors(const qdq_op_context *ctx, const qdq_rule *rule,
                           const char *const ports[3], qdq_dtype_set set) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument v = qdq_ttnn_argument(ctx, ports[k]);
        if (v.from_port && !qdq_expect_dtype(ctx, rule, v.name, v.dtype, set)) return;
    }
}

void qdq_ttnn_scale_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    expect_tensors(ctx, rule, qdq_scale_ports, FLOATS);
}

void qdq_ttnn_zero_point_dtype(const qdq_op_context *ctx, const qdq_rule *rule) {
    expect_tensors(ctx, rule, qdq_zero_point_ports, QDQ_SET(INT32));
}

void qdq_ttnn_zeros_left_out(const qdq_op_context *ctx, const qdq_rule *rule) {
    for (size_t k = 0; k < 3; k++) {
        qdq_argument z = qdq_argument_of(ctx, qdq_zero_point_ports[k]);
        if (!z.given || qdq_ttnn_argument(ctx, qdq_zero_point_ports[k]).given) continue;
        qdq_report_target_violation(ctx, rule, z.name,
                                    qdq_text(ctx->findings,
                                             "is %s with zeros alone, and not given to ttnn",
                                             qdq_dtype_name(z.dtype)),
                                    "none, or int32");
        return;
    }
}

void qdq_ttnn_page_shows_bfloat16(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    if (is_shown(x))
        qdq_report_target_violation(
            ctx, rule, "x",
            qdq_text(ctx->findings,
                     "is %s, which the page of ttnn.requantize shows but the code refuses",
                     qdq_dtype_name(x)),
            "int32, int8 or uint8");
}

void qdq_ttnn_page_ranks(const qdq_op_context *ctx, const qdq_rule *rule) {
    int rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    if (rank < 2 || rank > 4)
        qdq_report_target_violation(ctx, rule, "x", qdq_text(ctx->findings, "has rank %d", rank),
                                    "rank 2, 3 or 4, as documented");
}

void qdq_ttnn_element_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype_set others = QDQ_SET(INT32) | QDQ_SET(UINT32) | QDQ_SET(UINT16) | QDQ_SET(UINT8);
    // NOLINTNEXTLINE(misc-redundant-expression): both sets of reals come from one list
    qdq_expect_inputs(ctx, rule, QDQ_SET_REALS | others | QDQ_SET(BOOL));
}

void qdq_ttnn_cast_dtypes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_expect_both(ctx, rule, INTEGERS | QDQ_SET(UINT16) | FLOATS | QDQ_SET_BLOCK_FLOATS);
}

void qdq_ttnn_cast_to_unsigned(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype y = ctx->outputs[0].dtype;
    if (qdq_dtype_is_real(ctx->inputs[QDQ_PORT_X].type.dtype) &&
        (y == QDQ_UINT8 || y == QDQ_UINT16))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    y == QDQ_UINT8 ? "is uint8: the device wraps around"
                                                   : "is uint16: the device rounds half away",
                                    "int32");
}

//---- Rules: per channel -----------------------------------------------------

// True if the call has an axis. One beside a single scale is an error of quantize and dequantize.
static bool along_axis(const qdq_op_context *ctx) {
    if (is_requantize(ctx)) return has_axis(ctx);
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    return a->qtype == QDQ_PER_CHANNEL || a->axis.set != 0;
}

void qdq_ttnn_narrow_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype y = ctx->outputs[0].dtype;
    if (along_axis(ctx) && (y == QDQ_INT8 || y == QDQ_UINT8))
        (void)qdq_expect_dtype(ctx, rule, "dtype", y, QDQ_SET(INT32));
}

// True if a tensor that goes with an axis has one element per channel; reports a finding otherwise.
static bool expect_channels(const qdq_op_context *ctx, const qdq_rule *rule, const qdq_argument *v,
                            int64_t channels) {
    if (v->shape.rank == 1 && v->shape.dims[0] == channels) return true;
    qdq_report_target_violation(ctx, rule, v->name,
                                qdq_text(ctx->findings, "has rank %d and %zu element%s",
                                         v->shape.rank, v->count, v->count == 1 ? "" : "s"),
                                qdq_text(ctx->findings, "rank 1 and %lld element%s",
                                         (long long)channels, channels == 1 ? "" : "s"));
    return false;
}

static int64_t channels_of(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    qdq_shape x = ctx->inputs[QDQ_PORT_X].type.shape;
    int64_t axis = a && a->axis.set != 0 ? a->axis.value : qdq_channel_axis(ctx);
    return x.dims[axis < 0 ? axis + x.rank : axis];
}

void qdq_ttnn_channel_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_ttnn_argument(ctx, "scale");
    if (!along_axis(ctx)) return;
    if (s.scalar)
        qdq_report_target_violation(ctx, rule, s.name, "is a single number",
                                    "a list, even of one number");
    else if (!is_requantize(ctx))
        (void)expect_channels(ctx, rule, &s, channels_of(ctx));
    else if (s.shape.rank != 1)
        qdq_report_target_violation(ctx, rule, s.name,
                                    qdq_text(ctx->findings, "has rank %d", s.shape.rank), "rank 1");
}

void qdq_ttnn_channel_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_ttnn_argument(ctx, "zero_point");
    bool one_scale = qdq_ttnn_argument(ctx, "scale").scalar;  // qdq_ttnn_channel_scale reports it
    if (along_axis(ctx) && !z.scalar && !one_scale)
        (void)expect_channels(ctx, rule, &z, channels_of(ctx));
}

//---- Rules: Requantize ------------------------------------------------------

void qdq_ttnn_int8_input(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype, y = ctx->outputs[0].dtype;
    if (x == QDQ_INT8 && y != QDQ_INT32 && qdq_ttnn_path(ctx) != QDQ_TTNN_FUSED)
        qdq_report_target_violation(ctx, rule, "dtype",
                                    qdq_text(ctx->findings,
                                             "is %s, x is int8, and a parameter is a tensor",
                                             qdq_dtype_name(y)),
                                    "int32, or single numbers for all four parameters");
}

static bool is_full(const qdq_argument *v, int64_t channels) {
    return (int64_t)v->count == channels;
}

void qdq_ttnn_sides_agree(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_ttnn_path(ctx) != QDQ_TTNN_EXPANDED) return;
    int64_t channels = channels_of(ctx);
    for (int k = 0; k < 4; k += 2) {
        qdq_argument s = qdq_ttnn_argument(ctx, requantize_ports[k]);
        qdq_argument z = qdq_ttnn_argument(ctx, requantize_ports[k + 1]);
        if (is_full(&s, channels) == is_full(&z, channels)) continue;
        const qdq_argument *full = is_full(&s, channels) ? &s : &z;
        qdq_report_target_violation(
            ctx, rule, full == &s ? z.name : s.name,
            qdq_text(ctx->findings, "has one element, but %s is per channel", full->name),
            "both per channel, or both with one element");
        return;
    }
}

void qdq_ttnn_channel_rank(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_ttnn_path(ctx) != QDQ_TTNN_EXPANDED) return;
    int64_t channels = channels_of(ctx);
    for (int k = 0; k < 4; k++) {
        qdq_argument v = qdq_ttnn_argument(ctx, requantize_ports[k]);
        if (is_full(&v, channels) && !expect_channels(ctx, rule, &v, channels)) return;
    }
}

// A half of the pair gets the axis only if the scale of that half is a tensor.
void qdq_ttnn_mixed_arguments(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_ttnn_path(ctx) != QDQ_TTNN_MIXED || !has_axis(ctx)) return;
    int64_t channels = channels_of(ctx);
    for (int k = 0; k < 4; k += 2) {
        qdq_argument s = qdq_ttnn_argument(ctx, requantize_ports[k]);
        qdq_argument z = qdq_ttnn_argument(ctx, requantize_ports[k + 1]);
        if (!s.scalar) {
            if (!expect_channels(ctx, rule, &s, channels) ||
                (!z.scalar && !expect_channels(ctx, rule, &z, channels)))
                return;
        } else if (!z.scalar && z.count != 1) {
            qdq_report_target_violation(ctx, rule, z.name,
                                        qdq_text(ctx->findings,
                                                 "has %zu elements, but %s is a single number",
                                                 z.count, s.name),
                                        "one element, or a list of scales as well");
            return;
        }
    }
}

//---- Rules: surprises -------------------------------------------------------

void qdq_ttnn_composite_truncates(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (zero_point_is_tensor(ctx) && ctx->outputs[0].dtype != QDQ_INT8)
        qdq_report_target_violation(ctx, rule, qdq_ttnn_argument(ctx, "zero_point").name,
                                    ctx->outputs[0].dtype == QDQ_UINT8
                                        ? "is a tensor: the result is truncated and wraps around"
                                        : "is a tensor: the result is truncated and not clamped to "
                                          "the range of int8",
                                    "a single number");
}

static bool fused_to(const qdq_op_context *ctx, qdq_dtype y) {
    if (ctx->outputs[0].dtype != y) return false;
    return is_requantize(ctx) ? qdq_ttnn_path(ctx) == QDQ_TTNN_FUSED : !zero_point_is_tensor(ctx);
}

void qdq_ttnn_int32_range(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (fused_to(ctx, QDQ_INT32))
        qdq_report_target_violation(
            ctx, rule, "dtype",
            "is int32: results are clamped to -127..127, and halves round away from 0", NULL);
}

void qdq_ttnn_int32_range_rne(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (fused_to(ctx, QDQ_INT32))
        qdq_report_target_violation(ctx, rule, "dtype",
                                    "is int32: results are clamped to -128..127", NULL);
}

// Names the part of a composite Quantize, or of the quantizing half of Requantize, that no source
// settles; NULL: all is settled.
static const char *unsettled(const qdq_op_context *ctx, const char *scale, const char *zero_point,
                             qdq_dtype x) {
    if (qdq_ttnn_argument(ctx, zero_point).scalar) return NULL;
    if (!qdq_ttnn_argument(ctx, scale).scalar)
        return "divides by a kernel that was read, not executed";
    if (x == QDQ_FLOAT32) return NULL;
    return "multiplies by 1 / scale truncated to bfloat16, but the host may truncate the scale "
           "first";
}

void qdq_ttnn_chip_division(const qdq_op_context *ctx, const qdq_rule *rule) {
    const char *found = NULL;
    if (!is_requantize(ctx))
        found = unsettled(ctx, "scale", "zero_point", ctx->inputs[QDQ_PORT_X].type.dtype);
    else if (qdq_ttnn_path(ctx) == QDQ_TTNN_EXPANDED)
        found = "divides by a kernel that was read, not executed";
    else if (qdq_ttnn_path(ctx) == QDQ_TTNN_MIXED)
        found = unsettled(ctx, "out_scale", "out_zero_point", QDQ_BFLOAT16);
    if (found) qdq_report_target_violation(ctx, rule, NULL, found, NULL);
}

void qdq_ttnn_matmul_configuration(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_matmul_attrs *a = ctx->attrs;
    bool fidelity = a->math_fidelity != QDQ_FIDELITY_UNSET;
    if (fidelity && a->fp32_dest_acc_en != QDQ_UNSET) return;
    qdq_report_target_violation(
        ctx, rule, fidelity ? "fp32_dest_acc_en" : "math_fidelity",
        fidelity ? "is not given and taken as true" : "is not given and taken as HiFi4", NULL);
}

void qdq_ttnn_matmul_k_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_matmul_attrs *a = ctx->attrs;
    qdq_shape shape = ctx->inputs[0].type.shape;
    int dim = shape.rank - (a->transpose_a == QDQ_TRUE && shape.rank > 1 ? 2 : 1);
    if (shape.dims[dim] > 32)
        qdq_report_target_violation(
            ctx, rule, "a",
            qdq_text(ctx->findings, "has a K of %lld, more than one tile, taken as one block",
                     (long long)shape.dims[dim]),
            NULL);
}

void qdq_ttnn_matmul_bias(const qdq_op_context *ctx, const qdq_rule *rule) {
    enum { BIAS = 2 };
    const qdq_matmul_attrs *a = ctx->attrs;
    const qdq_operand *bias = &ctx->inputs[BIAS];
    bool known = qdq_chip_matmul_adds(ctx->outputs[0].dtype, bias->type.dtype,
                                      a->fp32_dest_acc_en != QDQ_FALSE);
    if (bias->given && !known)
        qdq_report_target_violation(ctx, rule, "bias", "is given, and added in float32", NULL);
}

void qdq_ttnn_uint8_sign(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (fused_to(ctx, QDQ_UINT8))
        qdq_report_target_violation(
            ctx, rule, "dtype", "is uint8: negative values lose their sign (-5 becomes 5)", NULL);
}

void qdq_ttnn_bfloat16_zero_point(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument z = qdq_ttnn_argument(ctx, "zero_point");
    if (z.scalar || !z.known || ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_FLOAT32) return;
    for (size_t i = 0; i < z.count; i++) {
        double value = qdq_argument_at(&z, i);
        if (fabs(value) <= 256) continue;
        qdq_report_number(ctx, rule, &z, i,
                          "at most 256 in magnitude, as it is rounded to bfloat16");
        return;
    }
}

void qdq_ttnn_expanded_truncates(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_ttnn_path(ctx) == QDQ_TTNN_EXPANDED)
        qdq_report_target_violation(ctx, rule, NULL,
                                    "all four parameters are tensors along an axis: the result is "
                                    "truncated and not clamped to the range of int8",
                                    NULL);
}

void qdq_ttnn_through_bfloat16(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_ttnn_path(ctx) == QDQ_TTNN_MIXED)
        qdq_report_target_violation(
            ctx, rule, NULL,
            "numbers and tensors are mixed, or no axis is given: the values are "
            "rounded to bfloat16",
            NULL);
}

void qdq_ttnn_axis_ignored(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (has_axis(ctx) && qdq_ttnn_path(ctx) == QDQ_TTNN_FUSED)
        qdq_report_target_violation(ctx, rule, "axis",
                                    "is given, but ignored with four single numbers", "none");
}

void qdq_ttnn_mlir_mixes(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument in = qdq_ttnn_argument(ctx, "in_scale"), out = qdq_ttnn_argument(ctx, "out_scale");
    if ((in.count > 1) != (out.count > 1))
        qdq_report_target_violation(ctx, rule, out.name,
                                    qdq_text(ctx->findings, "has %zu element%s, %s has %zu",
                                             out.count, out.count == 1 ? "" : "s", in.name,
                                             in.count),
                                    "both per channel, or both per tensor");
}

void qdq_ttnn_expanded_output(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_requantize_attrs *a = ctx->attrs;
    if (a->output_tensor.id && qdq_ttnn_path(ctx) == QDQ_TTNN_EXPANDED)
        qdq_report_target_violation(ctx, rule, "output_tensor",
                                    "is given to an addition within requantize, and the result is "
                                    "a tensor of its own",
                                    NULL);
}
