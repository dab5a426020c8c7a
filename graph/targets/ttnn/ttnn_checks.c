// SPDX-License-Identifier: Apache-2.0
#include "graph/targets/ttnn/ttnn_checks.h"

#include <math.h>

#include "runtime/numerics/dtype.h"

static bool is_requantize(const qdq_call *call) { return qdq_call_is(call, "Requantize"); }

//---- Paths ------------------------------------------------------------------

static const char *const requantize_ports[] = {"in_scale", "in_zero_point", "out_scale",
                                               "out_zero_point"};

static bool has_axis(const qdq_call *call) {
    return ((const qdq_requantize_attrs *)call->attrs)->axis.set;
}

qdq_ttnn_way qdq_ttnn_path(const qdq_call *call) {
    int scalars = 0;
    for (int k = 0; k < 4; k++) scalars += qdq_argument_of(call, requantize_ports[k]).scalar;
    if (scalars == 4) return QDQ_TTNN_FUSED;
    return scalars == 0 && has_axis(call) ? QDQ_TTNN_EXPANDED : QDQ_TTNN_MIXED;
}

static bool zero_point_is_tensor(const qdq_call *call) {
    return !qdq_argument_of(call, "zero_point").scalar;
}

//---- Rules: dtypes ----------------------------------------------------------

#define INTEGERS (QDQ_SET(INT32) | QDQ_SET(INT8) | QDQ_SET(UINT8))
#define FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16))

void qdq_ttnn_quantize_input(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_x(call, rule, FLOATS | QDQ_SET_BLOCK_FLOATS);
}

void qdq_ttnn_integer_input(const qdq_call *call, const qdq_rule *rule) {
    bool as_shown = is_requantize(call) && call->inputs[QDQ_PORT_X].type.dtype == QDQ_BFLOAT16;
    if (!as_shown) qdq_expect_x(call, rule, INTEGERS);  // that has a rule of its own
}

void qdq_ttnn_integer_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_y(call, rule, INTEGERS);
}

void qdq_ttnn_float_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_y(call, rule, FLOATS);
}

void qdq_ttnn_scale_dtype(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_scales(call, rule, FLOATS);
}

void qdq_ttnn_zero_point_dtype(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_zero_points(call, rule, QDQ_SET(INT32));
}

void qdq_ttnn_page_shows_bfloat16(const qdq_call *call, const qdq_rule *rule) {
    if (call->inputs[QDQ_PORT_X].type.dtype == QDQ_BFLOAT16)
        qdq_call_find_rule(
            call, rule, "x",
            "is bfloat16, which the page of ttnn.requantize shows and its code refuses",
            "int32, int8 or uint8");
}

void qdq_ttnn_page_ranks(const qdq_call *call, const qdq_rule *rule) {
    int rank = call->inputs[QDQ_PORT_X].type.shape.rank;
    if (rank < 2 || rank > 4)
        qdq_call_find_rule(call, rule, "x", qdq_text(call->findings, "has rank %d", rank),
                           "rank 2, 3 or 4, which the page lists");
}

void qdq_ttnn_cast_dtypes(const qdq_call *call, const qdq_rule *rule) {
    qdq_expect_both(call, rule, INTEGERS | QDQ_SET(UINT16) | FLOATS | QDQ_SET_BLOCK_FLOATS);
}

void qdq_ttnn_cast_to_unsigned(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype y = call->outputs[0].dtype;
    if (qdq_dtype_is_real(call->inputs[QDQ_PORT_X].type.dtype) &&
        (y == QDQ_UINT8 || y == QDQ_UINT16))
        qdq_call_find_rule(call, rule, "dtype",
                           y == QDQ_UINT8 ? "is uint8: the device wraps around"
                                          : "is uint16: the device rounds half away",
                           "int32");
}

//---- Rules: per channel -----------------------------------------------------

// Whether the node is given an axis as ttnn's functions are.
static bool along_axis(const qdq_call *call) {
    return is_requantize(call) ? has_axis(call)
                               : qdq_quantize_attrs_of(call)->qtype == QDQ_PER_CHANNEL;
}

void qdq_ttnn_narrow_output(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype y = call->outputs[0].dtype;
    if (along_axis(call) && (y == QDQ_INT8 || y == QDQ_UINT8))
        (void)qdq_expect_dtype(call, rule, "dtype", y, QDQ_SET(INT32));
}

void qdq_ttnn_channel_scale(const qdq_call *call, const qdq_rule *rule) {
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

void qdq_ttnn_channel_zero_point(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(call, "zero_point");
    if (along_axis(call) && !z.scalar) (void)expect_channels(call, rule, &z, channels_of(call));
}

//---- Rules: Requantize ------------------------------------------------------

void qdq_ttnn_int8_input(const qdq_call *call, const qdq_rule *rule) {
    qdq_dtype x = call->inputs[QDQ_PORT_X].type.dtype, y = call->outputs[0].dtype;
    if (x == QDQ_INT8 && y != QDQ_INT32 && qdq_ttnn_path(call) != QDQ_TTNN_FUSED)
        qdq_call_find_rule(call, rule, "dtype",
                           qdq_text(call->findings, "is %s, x is int8, and a parameter is a tensor",
                                    qdq_dtype_name(y)),
                           "int32, or single numbers for all four parameters");
}

static bool is_full(const qdq_argument *v, int64_t channels) {
    return (int64_t)v->count == channels;
}

void qdq_ttnn_sides_agree(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_ttnn_path(call) != QDQ_TTNN_EXPANDED) return;
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

void qdq_ttnn_channel_rank(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_ttnn_path(call) != QDQ_TTNN_EXPANDED) return;
    int64_t channels = channels_of(call);
    for (int k = 0; k < 4; k++) {
        qdq_argument v = qdq_argument_of(call, requantize_ports[k]);
        if (is_full(&v, channels) && !expect_channels(call, rule, &v, channels)) return;
    }
}

// The axis goes to a half of the pair only where that half's scale is a tensor.
void qdq_ttnn_mixed_arguments(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_ttnn_path(call) != QDQ_TTNN_MIXED || !has_axis(call)) return;
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

void qdq_ttnn_composite_truncates(const qdq_call *call, const qdq_rule *rule) {
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
    return is_requantize(call) ? qdq_ttnn_path(call) == QDQ_TTNN_FUSED
                               : !zero_point_is_tensor(call);
}

void qdq_ttnn_int32_range(const qdq_call *call, const qdq_rule *rule) {
    if (fused_to(call, QDQ_INT32))
        qdq_call_find_rule(call, rule, "dtype",
                           "is int32: results are clamped to -127..127, and halves go away from 0",
                           NULL);
}

void qdq_ttnn_uint8_sign(const qdq_call *call, const qdq_rule *rule) {
    if (fused_to(call, QDQ_UINT8))
        qdq_call_find_rule(call, rule, "dtype",
                           "is uint8: what would be negative loses its sign (-5 becomes 5)", NULL);
}

void qdq_ttnn_bfloat16_zero_point(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument z = qdq_argument_of(call, "zero_point");
    if (z.scalar || !z.known || call->inputs[QDQ_PORT_X].type.dtype == QDQ_FLOAT32) return;
    for (size_t i = 0; i < z.count; i++) {
        double value = qdq_argument_at(&z, i);
        if (fabs(value) <= 256) continue;
        qdq_find_number(call, rule, &z, i, "at most 256 in size, as it is rounded to bfloat16");
        return;
    }
}

void qdq_ttnn_expanded_truncates(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_ttnn_path(call) == QDQ_TTNN_EXPANDED)
        qdq_call_find_rule(call, rule, NULL,
                           "all four parameters are tensors along an axis: the result is "
                           "truncated, and not brought into the range of int8",
                           NULL);
}

void qdq_ttnn_through_bfloat16(const qdq_call *call, const qdq_rule *rule) {
    if (qdq_ttnn_path(call) == QDQ_TTNN_MIXED)
        qdq_call_find_rule(call, rule, NULL,
                           "numbers and tensors are mixed, or no axis is given: the values go "
                           "through bfloat16",
                           NULL);
}

void qdq_ttnn_axis_ignored(const qdq_call *call, const qdq_rule *rule) {
    if (has_axis(call) && qdq_ttnn_path(call) == QDQ_TTNN_FUSED)
        qdq_call_find_rule(call, rule, "axis", "is given, and ignored beside four single numbers",
                           "none");
}

void qdq_ttnn_mlir_mixes(const qdq_call *call, const qdq_rule *rule) {
    qdq_argument in = qdq_argument_of(call, "in_scale"), out = qdq_argument_of(call, "out_scale");
    if ((in.count > 1) != (out.count > 1))
        qdq_call_find_rule(call, rule, out.name,
                           qdq_text(call->findings, "has %zu element%s, %s has %zu", out.count,
                                    out.count == 1 ? "" : "s", in.name, in.count),
                           "both per channel, or both per tensor");
}
