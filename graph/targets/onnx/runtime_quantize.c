// SPDX-License-Identifier: Apache-2.0
// Chooses the kernel of ONNX Runtime that computes a QuantizeLinear. MLAS has kernels from float32
// to integers of 16, 8 and 4 bits, which saturate and map NaN to the least code. Everything else
// runs in a loop over elements that converts to int32 before it clamps, as the CPU converts.
#include "graph/targets/checks.h"
#include "graph/targets/onnx/runtime_versions.h"

static qdq_qtype qtype_of(const qdq_op_context *ctx) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    return a ? a->qtype : QDQ_PER_TENSOR;
}

// Returns the last dim of more than one element.
static int last_dim(qdq_shape shape) {
    int last = shape.rank - 1;
    while (last > 0 && shape.dims[last] == 1) last--;
    return last;
}

// Returns the number of neighbouring elements that share a scale. 0: blocks along a dim with others
// behind it, for which MLAS has no kernel.
static int64_t run_length(const qdq_op_context *ctx) {
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    qdq_qtype qtype = qtype_of(ctx);
    int last = last_dim(shape);
    int64_t run = 1;
    if (qtype == QDQ_PER_TENSOR || last < 0) return (int64_t)qdq_shape_count(shape);
    if (qtype == QDQ_PER_CHANNEL) {
        for (int i = qdq_channel_axis(ctx) + 1; i < shape.rank; i++) run *= shape.dims[i];
        return run;
    }
    qdq_shape block = qdq_block_shape(ctx);
    for (int i = 0; i < last; i++)
        if (block.dims[i] > 1) return 0;
    return block.dims[last];
}

static bool is_int4(qdq_dtype dtype) { return dtype == QDQ_INT4 || dtype == QDQ_UINT4; }
static bool is_int2(qdq_dtype dtype) { return dtype == QDQ_INT2 || dtype == QDQ_UINT2; }

static bool converts(qdq_dtype x, qdq_dtype y, int64_t run) {
    if (x == QDQ_FLOAT16 || is_int2(y)) return true;
    return x == QDQ_FLOAT32 && (run == 0 || (run == 1 && is_int4(y)));
}

bool qdq_runtime_splits_runs(const qdq_op_context *ctx) {
    if (qdq_real_dtype(ctx) != QDQ_FLOAT32 || !is_int4(qdq_quantized_dtype(ctx))) return false;
    qdq_shape shape = ctx->inputs[QDQ_PORT_X].type.shape;
    int64_t run = run_length(ctx);
    bool blocked = run > 1 && qtype_of(ctx) == QDQ_PER_GROUP;
    return run > 1 && (run % 2 || (blocked && shape.dims[last_dim(shape)] % run % 2));
}

bool qdq_runtime_takes_other_zero_points(const qdq_op_context *ctx) {
    return qdq_real_dtype(ctx) == QDQ_FLOAT32 && is_int2(qdq_quantized_dtype(ctx)) &&
           qtype_of(ctx) == QDQ_PER_CHANNEL && run_length(ctx) == 1;
}

void qdq_runtime_divide_in_scale_dtype(const qdq_op_context *ctx, qdq_numerics *n) {
    bool requantizes = qdq_op_context_is(ctx, "Requantize");
    qdq_argument scale = qdq_argument_of(ctx, requantizes ? "out_scale" : "scale");
    qdq_dtype x = requantizes ? QDQ_FLOAT32 : qdq_real_dtype(ctx);
    if (!scale.from_port || (scale.dtype != QDQ_FLOAT16 && scale.dtype != QDQ_BFLOAT16)) return;
    n->input_dtype = x == scale.dtype ? QDQ_DTYPE_NONE : scale.dtype;
    n->quantize_step_dtype = scale.dtype;
}

// On aarch64 conversions differ by the dtype of the result, and were not measured.
static void cast(const qdq_target_version *version, qdq_numerics *n) {
    n->cast_form = QDQ_CAST_ONNX_RUNTIME;
    if (version->variant < QDQ_RUNTIME_NEON) n->overflow = QDQ_OVERFLOW_X86;
}

void qdq_runtime_quantize(const qdq_op_context *ctx, const qdq_target_version *version,
                          qdq_numerics *n) {
    if (qdq_op_context_is(ctx, "Cast")) cast(version, n);
    if (qdq_op_context_is(ctx, "DynamicQuantize") && qdq_is_computed(ctx))
        n->choice = version->variant < QDQ_RUNTIME_NEON ? QDQ_CHOOSE_ORT_X86 : QDQ_CHOOSE_ORT_ARM;
    bool requantizes = qdq_op_context_is(ctx, "Requantize"), quantizes;
    quantizes = qdq_op_context_is(ctx, "Quantize") ||
                (qdq_op_context_is(ctx, "DynamicQuantize") && !qdq_is_computed(ctx));
    qdq_dtype x = requantizes ? QDQ_FLOAT32 : qdq_real_dtype(ctx), y = qdq_quantized_dtype(ctx);
    if (!quantizes && !requantizes) return;
    if (version->release >= QDQ_RUNTIME_1_32) {
        // QuantizeLinear of an opset below 23 divides float16 in float32.
        bool widens = ctx->opset && ctx->opset < 23;
        if (!widens) qdq_runtime_divide_in_scale_dtype(ctx, n);
        return;
    }
    if (!qdq_dtype_is_int(y)) return;
    if (converts(x, y, run_length(ctx)))
        n->overflow = version->variant < QDQ_RUNTIME_NEON ? QDQ_OVERFLOW_X86 : QDQ_OVERFLOW_ARM;
    if (version->release < QDQ_RUNTIME_ROUNDS_HALVES && x == QDQ_FLOAT16 && qtype_of(ctx) != QDQ_PER_GROUP)
        n->rounding = QDQ_ROUND_TRUNCATE;
}

//---- Existing kernels -------------------------------------------------------

#define KERNEL_FLOATS (QDQ_SET(FLOAT32) | QDQ_SET(FLOAT16))

void qdq_runtime_check_any_quantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument scale = qdq_argument_of(ctx, "scale");
    if (qdq_is_computed(ctx)) return;
    if (!qdq_expect_dtype(ctx, rule, "x", qdq_real_dtype(ctx), KERNEL_FLOATS) ||
        !qdq_expect_dtype(ctx, rule, scale.name, scale.dtype, KERNEL_FLOATS))
        return;
    if (ctx->outputs[0].dtype == QDQ_FLOAT4_E2M1)
        qdq_report_target_violation(ctx, rule, "dtype", "is float4_e2m1",
                                    "an integer of at most 16 bits or a float8");
}

// Numbers in an attribute are a float32 scale.
void qdq_runtime_check_quantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument scale = qdq_argument_of(ctx, "scale");
    qdq_dtype x = qdq_real_dtype(ctx);
    if (qdq_is_computed(ctx)) return;
    if (!qdq_expect_dtype(ctx, rule, "x", x, KERNEL_FLOATS)) return;
    if (scale.dtype != x)
        qdq_report_target_violation(
            ctx, rule, scale.name, qdq_text(ctx->findings, "is %s", qdq_dtype_name(scale.dtype)),
            qdq_text(ctx->findings, "%s, the dtype of x", qdq_dtype_name(x)));
    else if (ctx->outputs[0].dtype == QDQ_FLOAT4_E2M1)
        qdq_report_target_violation(ctx, rule, "dtype", "is float4_e2m1",
                                    "an integer of at most 16 bits or a float8");
}

void qdq_runtime_check_dequantize(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument scale = qdq_argument_of(ctx, "scale");
    if (ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_FLOAT4_E2M1)
        qdq_report_target_violation(ctx, rule, "x", "is float4_e2m1", "an integer or a float8");
    else if (qdq_expect_dtype(ctx, rule, scale.name, scale.dtype, KERNEL_FLOATS))
        qdq_expect_y(ctx, rule, KERNEL_FLOATS);
}

void qdq_runtime_check_blocks(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_quantize_attrs *a = qdq_quantize_attrs_of(ctx);
    bool blocks = a->qtype == QDQ_PER_GROUP && !qdq_is_computed(ctx);
    if (blocks && ctx->inputs[QDQ_PORT_X].type.shape.rank == 1 &&
        qdq_shape_count(qdq_parameter_shape(ctx)) == 1)
        qdq_report_target_violation(ctx, rule, "group_shape", "makes a single block",
                                    "several, as x has rank 1");
}
