// SPDX-License-Identifier: Apache-2.0
// The numerics of torchao's functions on the CPU, by release: the dtypes that PyTorch computes in,
// reciprocals, bounds of scales, and casts as x86 has them.
#include "graph/targets/checks.h"
#include "graph/targets/torchao/torchao.h"
#include "runtime/numerics/dtype.h"

qdq_scheme qdq_torchao_scheme(const qdq_op_context *ctx) {
    return ((const qdq_dynamic_quantize_attrs *)ctx->attrs)->scheme;
}

qdq_dtype qdq_torchao_promoted(qdq_dtype a, qdq_dtype b) {
    return a == b && a != QDQ_FLOAT32 ? a : QDQ_DTYPE_NONE;
}

static qdq_dtype unless_float32(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 ? QDQ_DTYPE_NONE : dtype;
}

bool qdq_torchao_is_affine(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    return qdq_dtype_is_int(ctx->outputs[0].dtype) ||
           (a && (a->quant_min.set != 0 || a->quant_max.set != 0));
}

static void quantize_as(qdq_numerics *n, const qdq_op_context *ctx) {
    qdq_dtype x = ctx->inputs[QDQ_PORT_X].type.dtype;
    qdq_argument s = qdq_argument_of(ctx, "scale"), z = qdq_argument_of(ctx, "zero_point");
    if (!qdq_torchao_is_affine(ctx)) return;  // computed in float32, by division
    n->scaling = QDQ_SCALE_RECIPROCAL;
    n->zero_point_order = QDQ_ZERO_POINT_AFTER_FLOAT;
    qdq_dtype scale = qdq_is_computed(ctx) ? ctx->outputs[1].dtype : s.dtype;
    if (scale != QDQ_FLOAT64) n->reciprocal_dtype = unless_float32(scale);
    n->quantize_step_dtype = qdq_torchao_promoted(x, scale);
    if (qdq_quantize_attrs_of(ctx)->zero_point_domain != QDQ_DOMAIN_FLOAT) return;
    n->middle_dtype = qdq_torchao_promoted(s.dtype, z.from_port ? z.dtype : QDQ_FLOAT32);
    if (n->middle_dtype != n->quantize_step_dtype) n->quantize_step_dtype = QDQ_DTYPE_NONE;
}

// Returns the dtype of the steps, in which bounds are compared.
static float in_steps(const qdq_numerics *n, double bound) {
    return qdq_round_to(n->quantize_step_dtype, (float)bound, n);
}

// Sets how PyTorch casts the clamped floats to integers on x86: a bound that was rounded outwards
// leaves the range of int16 or int32.
static void cast_codes_as_x86(qdq_numerics *n, const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    const qdq_dtype_info *y = qdq_dtype_get(ctx->outputs[0].dtype);
    if (!qdq_dtype_is_int(ctx->outputs[0].dtype)) return;
    double low = a && a->quant_min.set != 0 ? qdq_bound_value(a->quant_min) : (double)y->least;
    double high = a && a->quant_max.set != 0 ? qdq_bound_value(a->quant_max) : (double)y->greatest;
    n->nan = QDQ_NAN_LOW_BITS;
    if ((double)in_steps(n, low) != low || (double)in_steps(n, high) != high)
        n->overflow = QDQ_OVERFLOW_FLOAT_RANGE;
}

// Returns the lower bound of a scale: the smallest normal number of x's dtype; before 0.18 its
// machine epsilon.
static float least_scale(qdq_dtype x, int release) {
    bool normal = release >= QDQ_TORCHAO_0_18;
    switch (x) {
    case QDQ_FLOAT16: return normal ? 0x1p-14f : 0x1p-10f;
    case QDQ_BFLOAT16: return normal ? 0x1p-126f : 0x1p-7f;
    default: return normal ? 0x1p-126f : 0x1p-23f;
    }
}

static void dequantize_as(qdq_numerics *n, qdq_dtype y, int release) {
    n->dequantize_step_dtype = unless_float32(y);
    if (release >= QDQ_TORCHAO_0_12) n->subtraction = QDQ_SUBTRACT_FLOAT;
}

// Sets the numerics of Tensor.to, which saturates only to float8_e4m3fn, and in PyTorch 2.7 of
// older releases not even to that.
static void cast_as(qdq_numerics *n, qdq_dtype y, const qdq_target_version *version) {
    qdq_dtype_set overflowing = QDQ_SET(FLOAT8_E5M2) | QDQ_SET(FLOAT8_E4M3FNUZ) |
                                QDQ_SET(FLOAT8_E5M2FNUZ) | QDQ_SET(FLOAT8_E8M0);
    if (version->release < QDQ_TORCHAO_0_18) overflowing |= QDQ_SET(FLOAT8_E4M3FN);
    n->cast_form = QDQ_CAST_TORCH;
    if (version->variant != QDQ_TORCHAO_IDEAL) n->overflow = QDQ_OVERFLOW_X86;
    if (qdq_set_has(overflowing, y)) n->float_overflow = QDQ_FLOAT_OVERFLOW;
}

qdq_numerics qdq_torchao_numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    qdq_numerics n = {0};
    bool ideal = version->variant == QDQ_TORCHAO_IDEAL;
    if (qdq_op_context_is(ctx, "Cast")) {
        cast_as(&n, ctx->outputs[0].dtype, version);
    } else if (qdq_op_context_is(ctx, "Requantize")) {
        dequantize_as(&n, QDQ_FLOAT32, version->release);
        n.scaling = QDQ_SCALE_RECIPROCAL;
        n.zero_point_order = QDQ_ZERO_POINT_AFTER_FLOAT;
        n.reciprocal_dtype = unless_float32(qdq_argument_of(ctx, "out_scale").dtype);
    } else if (qdq_op_context_is(ctx, "Dequantize")) {
        dequantize_as(&n, ctx->outputs[0].dtype, version->release);
    } else if (qdq_quantize_attrs_of(ctx)) {
        quantize_as(&n, ctx);
    }
    if (!ideal && !qdq_op_context_is(ctx, "Cast") && !qdq_op_context_is(ctx, "Dequantize"))
        cast_codes_as_x86(&n, ctx);
    if (!qdq_is_computed(ctx)) return n;
    n.choice = ideal ? QDQ_CHOOSE_TORCHAO : QDQ_CHOOSE_TORCHAO_0_18;
    n.least_scale = least_scale(ctx->inputs[QDQ_PORT_X].type.dtype, version->release);
    if (qdq_torchao_scheme(ctx) == QDQ_NVFP4) n.scaling = QDQ_SCALE_RECIPROCAL;
    if (qdq_torchao_scheme(ctx) >= QDQ_MX_FLOOR && qdq_torchao_scheme(ctx) <= QDQ_MX_RCEIL &&
        !ideal)
        n.power_scale =
            qdq_torchao_scheme(ctx) == QDQ_MX_RCEIL ? QDQ_POWER_SCALE_ONE : QDQ_POWER_SCALE_NORMAL;
    return n;
}
