// SPDX-License-Identifier: Apache-2.0
// Checks the limits of oneDNN's CPU backend on quantizing ops, and results that depend on its
// choice of a kernel. Measured with oneDNN 3.13.2, limited to AVX2 and unlimited.
#include <math.h>

#include "graph/targets/checks.h"
#include "graph/targets/onednn/onednn.h"

#define NIBBLES (QDQ_SET(INT4) | QDQ_SET(UINT4))

//---- Kernels that are missing -------------------------------------------------

void qdq_onednn_nibbles_per_tensor(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (qdq_set_has(NIBBLES, ctx->inputs[QDQ_PORT_X].type.dtype) &&
        qdq_onednn_parameter(ctx, "scale").count == 1)
        qdq_report_target_violation(ctx, rule, "x",
                                    qdq_text(ctx->findings, "is %s with a single scale",
                                             qdq_dtype_name(ctx->inputs[QDQ_PORT_X].type.dtype)),
                                    "scales per channel or per group");
}

void qdq_onednn_nibble_pairs(const qdq_op_context *ctx, const qdq_rule *rule) {
    const qdq_type *x = &ctx->inputs[QDQ_PORT_X].type;
    int last = x->shape.rank - 1;
    if (qdq_set_has(NIBBLES, x->dtype) && last >= 0 && x->shape.dims[last] % 2 != 0)
        qdq_report_target_violation(ctx, rule, "x",
                                    qdq_text(ctx->findings, "is %s with a last dim of %lld",
                                             qdq_dtype_name(x->dtype),
                                             (long long)x->shape.dims[last]),
                                    "an even last dim");
}

void qdq_onednn_uint8_to_float16(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->inputs[QDQ_PORT_X].type.dtype == QDQ_UINT8 && ctx->outputs[0].dtype == QDQ_FLOAT16)
        qdq_report_target_violation(ctx, rule, "dtype", "is float16, and x is uint8",
                                    "float32 or bfloat16");
}

void qdq_onednn_half_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale");
    if (s.from_port && s.count == 1 && s.dtype != QDQ_FLOAT32)
        qdq_report_target_violation(ctx, rule, s.name,
                                    qdq_text(ctx->findings,
                                             "is %s, but the library reads it as a float32",
                                             qdq_dtype_name(s.dtype)),
                                    "float32");
}

//---- Scales of 1 --------------------------------------------------------------

// True if a Quantize has nothing to apply: scales that count as 1, and no zero point.
static bool only_rounds(const qdq_op_context *ctx) {
    if (!qdq_op_context_is(ctx, "Quantize") || qdq_onednn_parameter(ctx, "scale").from_port)
        return false;
    qdq_argument s = qdq_onednn_parameter(ctx, "scale"),
                 z = qdq_onednn_parameter(ctx, "zero_point");
    if (!s.known || (z.given && !(z.known && qdq_argument_first_nonzero(&z) == z.count)))
        return false;
    for (size_t i = 0; i < s.count; i++)
        if (fabs(qdq_argument_at(&s, i) - 1) > QDQ_ONEDNN_UNIT_TOLERANCE) return false;
    return true;
}

// True if x has three or four dims, for which the CPU has another kernel.
static bool has_image_rank(const qdq_op_context *ctx) {
    int rank = ctx->inputs[QDQ_PORT_X].type.shape.rank;
    return rank == 3 || rank == 4;
}

bool qdq_onednn_converts_nan(const qdq_op_context *ctx) {
    return only_rounds(ctx) && has_image_rank(ctx) && qdq_dtype_is_int(ctx->outputs[0].dtype);
}

void qdq_onednn_nan_without_scale(const qdq_op_context *ctx, const qdq_rule *rule) {
    if (ctx->outputs[0].dtype == QDQ_UINT8 && only_rounds(ctx) && !has_image_rank(ctx))
        qdq_report_target_violation(
            ctx, rule, NULL, "has nothing to scale: NaN is 255 with AVX-512, and 0 here", NULL);
}

void qdq_onednn_scale_near_one(const qdq_op_context *ctx, const qdq_rule *rule) {
    qdq_argument s = qdq_onednn_parameter(ctx, "scale");
    size_t other = s.count;
    for (size_t i = 0; !s.from_port && s.known && i < s.count; i++) {
        double value = qdq_argument_at(&s, i);
        if (fabs(value - 1) > QDQ_ONEDNN_UNIT_TOLERANCE) return;
        if (value != 1) other = i;
    }
    if (other < s.count) qdq_report_number(ctx, rule, &s, other, "1, as the library treats it");
}
