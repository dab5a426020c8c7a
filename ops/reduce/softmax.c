// SPDX-License-Identifier: Apache-2.0
// SoftMax and LogSoftmax along one axis. In double, with the functions of
// runtime/numerics/elementary64.h and the order of runtime/numerics/sum.h:
//
//     max = the greatest element of the slice
//     sum = the sum of e^(x - max)
//     SoftMax      y = e^(x - max) * (1 / sum)     stats = max + ln(sum)
//     LogSoftmax   y = (x - max) - ln(sum)
//
// each rounded once to the dtype of the result. A slice with a NaN or +inf becomes NaN. A slice of
// -infinities alone gives NaN (inf - inf), or zeros in SoftMax's mode inf_as_zero.
//
// On target onnx, SoftMax of float16 and bfloat16 computes as ONNX's reference does: each of
// x - max, e^, the sum and the quotient is rounded to the dtype of x; the sum of bfloat16 after
// each addition, in order. SoftMax of float32 computes as ONNX Runtime does, in float32:
//
//     e_i = e^(x_i - max) (runtime/numerics/onnx_runtime.h), added to lane i mod 8
//     sum = ((l0 + l1) + (l2 + l3)) + ((l4 + l5) + (l6 + l7))
//     y_i = e_i * (1 / sum)
//
// On a chip SoftMax of bfloat16 is that of ops/reduce/chip/chip_softmax.h.
//
// With AVX-512 there are 16 lanes; lane l + 8 is added to lane l first.
#include "include/qdq/ops/reduce.h"
#include "ops/infer.h"
#include "ops/reduce/chip/chip_softmax.h"
#include "ops/reduce/reduce_axes.h"
#include "runtime/numerics/dtype.h"

typedef struct softmax_params {
    bool inf_as_zero;
    qdq_dtype stats_dtype;  // NONE: no stats
    qdq_dtype step_dtype;   // of rounded steps
    bool wide;              // ONNX Runtime's with AVX-512
} softmax_params;

//---- Passes -----------------------------------------------------------------

static void begin_greatest(const qdq_part *part) {
    qdq_lanes_fill_keys(&part->state->lanes, INT32_MIN);
}

static void take_greatest(const qdq_part *part) {
    part->kernels->greatest(&part->state->lanes, part->x, part->n, 0);
}

static void end_greatest(const qdq_part *part) {
    part->state->max = (double)qdq_lanes_greatest(&part->state->lanes);
}

static void begin_sum(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, 0); }

static void take_sum(const qdq_part *part) {
    part->kernels->exps(part->x, part->n, part->state->max, part->work);
    part->kernels->sum_exps(&part->state->lanes, part->work, part->n);
}

static bool is_empty(const qdq_part *part) {
    const softmax_params *params = part->params;
    return params->inf_as_zero && part->state->max == -(double)INFINITY;
}

static void end_sum(const qdq_part *part) {
    const softmax_params *params = part->params;
    qdq_slice_state *state = part->state;
    state->sum = qdq_sum_lanes(state->lanes.sums);
    if (params->stats_dtype == QDQ_DTYPE_NONE) return;
    qdq_slice_store(part->tensors, 1, params->stats_dtype, part->slice,
                    is_empty(part) ? 0.0 : state->max + qdq_log64(state->sum));
}

static void take_quotients(const qdq_part *part) {
    const qdq_slice_state *state = part->state;
    if (is_empty(part)) {
        for (size_t i = 0; i < part->n; i++) part->work[i] = 0.0;
        return;
    }
    if (!qdq_part_is_all(part)) part->kernels->exps(part->x, part->n, state->max, part->work);
    part->kernels->scale(part->work, part->n, 1.0 / state->sum);
}

static bool take_all(const qdq_part *part, float *y) {
    const softmax_params *params = part->params;
    return params->stats_dtype == QDQ_DTYPE_NONE && part->kernels->softmax &&
           part->kernels->softmax(part->x, part->n, part->work, y);
}

//---- Passes with rounded steps ----------------------------------------------

static double rounded(const qdq_part *part, double value) {
    const softmax_params *params = part->params;
    return (double)qdq_round_to_dtype(params->step_dtype, (float)value, NULL);
}

static void step_exps(const qdq_part *part) {
    enum { AT_ONCE = 256 };
    float differences[AT_ONCE];
    for (size_t at = 0, n; at < part->n; at += n) {
        n = part->n - at < AT_ONCE ? part->n - at : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            differences[i] = (float)rounded(part, (double)part->x[at + i] - part->state->max);
        part->kernels->exps(differences, n, 0.0, part->work + at);
        for (size_t i = 0; i < n; i++) part->work[at + i] = rounded(part, part->work[at + i]);
    }
}

static void begin_step_sum(const qdq_part *part) { part->state->sum = 0.0; }

static void take_step_sum(const qdq_part *part) {
    const softmax_params *params = part->params;
    qdq_slice_state *state = part->state;
    step_exps(part);
    for (size_t i = 0; i < part->n; i++) {
        state->sum += part->work[i];
        if (params->step_dtype == QDQ_BFLOAT16) state->sum = rounded(part, state->sum);
    }
}

static void end_step_sum(const qdq_part *part) {
    part->state->sum = rounded(part, part->state->sum);
}

static void take_step_quotients(const qdq_part *part) {
    if (!qdq_part_is_all(part)) step_exps(part);
    for (size_t i = 0; i < part->n; i++)
        part->work[i] =
            is_empty(part) ? 0.0 : (double)((float)part->work[i] / (float)part->state->sum);
}

//---- Passes of ONNX Runtime -------------------------------------------------

static float runtime_factor(const float *lanes, bool wide) {
    float l[QDQ_RUNTIME_LANES];
    for (size_t i = 0; i < QDQ_RUNTIME_LANES; i++)
        l[i] = wide ? lanes[i] + lanes[i + QDQ_RUNTIME_LANES] : lanes[i];
    return 1.0f / (((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7])));
}

static void begin_runtime_sum(const qdq_part *part) {
    for (size_t l = 0; l < QDQ_RUNTIME_WIDE_LANES; l++) part->state->floats[l] = 0.0f;
}

static void take_runtime_sum(const qdq_part *part) {
    const softmax_params *params = part->params;
    float unused[QDQ_SLICE_PART];
    part->kernels->runtime_exps(part->x, part->n, (float)part->state->max, params->wide,
                                part->state->floats, unused);
}

static void end_runtime_sum(const qdq_part *part) {
    const softmax_params *params = part->params;
    part->state->sum = (double)runtime_factor(part->state->floats, params->wide);
}

static void take_runtime_quotients(const qdq_part *part) {
    const softmax_params *params = part->params;
    float unused[QDQ_RUNTIME_WIDE_LANES] = {0}, e[QDQ_SLICE_PART];
    part->kernels->runtime_exps(part->x, part->n, (float)part->state->max, params->wide, unused, e);
    part->kernels->runtime_scale(e, part->n, (float)part->state->sum);
    for (size_t i = 0; i < part->n; i++) part->work[i] = is_empty(part) ? 0.0 : (double)e[i];
}

static bool take_all_of_runtime(const qdq_part *part, float *y) {
    const softmax_params *params = part->params;
    return part->kernels->runtime_softmax &&
           part->kernels->runtime_softmax(part->x, part->n, params->wide, y);
}

//---- Ops on slices ----------------------------------------------------------

static void end_log(const qdq_part *part) {
    part->state->sum = qdq_log64(qdq_sum_lanes(part->state->lanes.sums));
}

static void take_differences(const qdq_part *part) {
    part->kernels->shift(part->x, part->n, part->state->max, part->state->sum, part->work);
}

static const qdq_slice_op softmax = {
    .passes = {{begin_greatest, take_greatest, end_greatest},
               {begin_sum, take_sum, end_sum},
               {NULL, take_quotients, NULL}},
    .pass_count = 3,
    .maps = true,
    .quick = take_all,
};
static const qdq_slice_op stepped_softmax = {
    .passes = {{begin_greatest, take_greatest, end_greatest},
               {begin_step_sum, take_step_sum, end_step_sum},
               {NULL, take_step_quotients, NULL}},
    .pass_count = 3,
    .maps = true,
};
static const qdq_slice_op runtime_softmax = {
    .passes = {{begin_greatest, take_greatest, end_greatest},
               {begin_runtime_sum, take_runtime_sum, end_runtime_sum},
               {NULL, take_runtime_quotients, NULL}},
    .pass_count = 3,
    .maps = true,
    .quick = take_all_of_runtime,
};
static const qdq_slice_op log_softmax = {
    .passes = {{begin_greatest, take_greatest, end_greatest},
               {begin_sum, take_sum, end_log},
               {NULL, take_differences, NULL}},
    .pass_count = 3,
    .maps = true,
};

enum { COST = 16 };  // operations per element, roughly

static int dim_of(const qdq_op_context *ctx, qdq_int given, int64_t otherwise) {
    int64_t axis = given.set != 0 ? given.value : otherwise;
    return (int)(axis < 0 ? axis + ctx->inputs[0].type.shape.rank : axis);
}

static size_t lower_along(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_slice_op *op,
                          qdq_int given, int64_t otherwise, softmax_params value,
                          qdq_stage *stages) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    softmax_params *params = QDQ_MEMPOOL_NEW(to->mempool, softmax_params);
    if (params) *params = value;
    qdq_reduce_axes slices = qdq_reduce_axes_of(shape, 1u << dim_of(ctx, given, otherwise));
    return qdq_slice_stage(ctx, to, op, slices, params, COST, stages);
}

//---- SoftMax ----------------------------------------------------------------

enum { SOFTMAX_AXIS = 1, LOG_SOFTMAX_AXIS = -1 };

static const char *const modes[] = {"none", "inf_as_zero", NULL};

static const qdq_port_desc softmax_inputs[] = {
    {"x", offsetof(qdq_softmax_attrs, x), false, QDQ_SET_FLOATS},
};
static const qdq_port_desc softmax_outputs[] = {
    {"y", 0, false, QDQ_SET_FLOATS},
    {"stats", offsetof(qdq_softmax_attrs, keep_stats), true, QDQ_SET(FLOAT32)},
};
static const qdq_attr_desc softmax_attrs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(qdq_softmax_attrs, axis), NULL, "1", "the dim of the sum"},
    {"mode", QDQ_ATTR_WORD, offsetof(qdq_softmax_attrs, mode), modes, "none",
     "inf_as_zero: a slice of -infinities alone gives zeros, not NaN"},
    {"dtype", QDQ_ATTR_DTYPE, offsetof(qdq_softmax_attrs, dtype), NULL, "the dtype of x",
     "of y; may differ from the dtype of x if either is float32"},
    {"keep_stats", QDQ_ATTR_BOOL, offsetof(qdq_softmax_attrs, keep_stats), NULL, "false",
     "also make stats: max + ln(sum)"},
};

static void infer_softmax(qdq_op_context *ctx) {
    const qdq_softmax_attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[0].type;
    int axis =
        qdq_check_axis(ctx, "axis", a->axis.set != 0 ? a->axis.value : SOFTMAX_AXIS, x.shape.rank);
    qdq_dtype y = a->dtype ? a->dtype : x.dtype;
    bool is_float = y < QDQ_DTYPE_COUNT && qdq_set_has(QDQ_SET_FLOATS, y);
    if (y != x.dtype && !(is_float && (y == QDQ_FLOAT32 || x.dtype == QDQ_FLOAT32)))
        qdq_report_violation(
            ctx, QDQ_RULE_DTYPE_RESULT, "dtype",
            qdq_text(ctx->findings, "is %s", qdq_dtype_name(y)),
            x.dtype == QDQ_FLOAT32
                ? "float32, float16 or bfloat16"
                : qdq_text(ctx->findings, "float32, or %s as x is", qdq_dtype_name(x.dtype)));
    ctx->outputs[0] = (qdq_type){y, x.shape};
    ctx->outputs[1] = (qdq_type){QDQ_FLOAT32, x.shape};
    if (axis >= 0) ctx->outputs[1].shape.dims[axis] = 1;
    ctx->output_count = a->keep_stats == QDQ_TRUE ? 2 : 1;
}

static size_t lower_softmax(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_softmax_attrs *a = ctx->attrs;
    bool has_stats = ctx->output_count > 1;
    softmax_params params = {
        .inf_as_zero = a->mode == QDQ_SOFTMAX_INF_AS_ZERO,
        .stats_dtype = has_stats ? ctx->outputs[1].dtype : QDQ_DTYPE_NONE,
        .step_dtype = ctx->inputs[0].type.dtype,
        .wide = to->numerics.float_ops == QDQ_FLOAT_OPS_ONNX_RUNTIME_AVX512,
    };
    const qdq_slice_op *op = &softmax;
    if (to->numerics.multiply_add != QDQ_MULTIPLY_ADD_IEEE &&
        qdq_chip_softmax_fits(ctx, dim_of(ctx, a->axis, SOFTMAX_AXIS)))
        return qdq_chip_softmax_stage(ctx, to, stages);
    if (qdq_by_onnx_runtime(to) && params.step_dtype != QDQ_FLOAT32 && !has_stats)
        op = &stepped_softmax;
    if (qdq_by_onnx_runtime(to) && ctx->outputs[0].dtype == params.step_dtype &&
        params.step_dtype == QDQ_FLOAT32 && !has_stats)
        op = &runtime_softmax;
    return lower_along(ctx, to, op, a->axis, SOFTMAX_AXIS, params, stages);
}

const qdq_op qdq_op_softmax = {
    .name = "SoftMax",
    .summary = "y = e^(x - max) / sum(e^(x - max)), along an axis",
    .attrs_size = sizeof(qdq_softmax_attrs),
    QDQ_OP_TABLES(softmax_inputs, softmax_outputs, softmax_attrs),
    .by_chip = true,
    .by_float_ops = true,
    .infer = infer_softmax,
    .lower = lower_softmax,
};

//---- LogSoftmax -------------------------------------------------------------

static const qdq_port_desc log_inputs[] = {
    {"x", offsetof(qdq_log_softmax_attrs, x), false, QDQ_SET_FLOATS},
};
static const qdq_port_desc log_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_attr_desc log_attrs[] = {
    {"axis", QDQ_ATTR_INT, offsetof(qdq_log_softmax_attrs, axis), NULL, "-1", "the dim of the sum"},
};

static void infer_log_softmax(qdq_op_context *ctx) {
    const qdq_log_softmax_attrs *a = ctx->attrs;
    qdq_check_axis(ctx, "axis", a->axis.set != 0 ? a->axis.value : LOG_SOFTMAX_AXIS,
                   ctx->inputs[0].type.shape.rank);
    ctx->outputs[0] = ctx->inputs[0].type;
}

static size_t lower_log_softmax(const qdq_op_context *ctx, const qdq_lowering *to,
                                qdq_stage *stages) {
    const qdq_log_softmax_attrs *a = ctx->attrs;
    return lower_along(ctx, to, &log_softmax, a->axis, LOG_SOFTMAX_AXIS, (softmax_params){0},
                       stages);
}

const qdq_op qdq_op_log_softmax = {
    .name = "LogSoftmax",
    .summary = "y = x - max - ln(sum(e^(x - max))), along an axis",
    .attrs_size = sizeof(qdq_log_softmax_attrs),
    QDQ_OP_TABLES(log_inputs, log_outputs, log_attrs),
    .infer = infer_log_softmax,
    .lower = lower_log_softmax,
};
