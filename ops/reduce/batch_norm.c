// SPDX-License-Identifier: Apache-2.0
// BatchNormInference and BatchNormForwardTraining: a slice is all elements of a channel.
// ops/reduce/norm.h has the formula; mean and variance are inputs, or computed from the slice.
// Training also returns running = momentum * old + (1 - momentum) * batch, in double, where
// momentum is a float32.
#include <math.h>

#include "include/qdq/ops/reduce.h"
#include "ops/reduce/norm.h"

// The numbers of params->gamma and ->beta are per slice.
static size_t lower_channels(const qdq_op_context *ctx, const qdq_lowering *to,
                             const qdq_slice_op *op, qdq_data_format format,
                             qdq_norm_params *params, qdq_stage *stages) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    qdq_reduce_axes slices = qdq_reduce_axes_of(shape, ~(1u << qdq_channel_dim(shape, format)));
    if (!params) return 0;
    params->across = slices.count;
    params->run = slices.n;
    return qdq_slice_stage(ctx, to, op, slices, params, 4, stages);
}

//---- BatchNormInference -----------------------------------------------------

typedef struct inference_params {
    qdq_norm_params norm;
    qdq_along mean, variance;
} inference_params;

static const qdq_port_desc inference_inputs[] = {
    {"x", offsetof(qdq_batch_norm_attrs, x), false, QDQ_SET_FLOATS},
    {"gamma", offsetof(qdq_batch_norm_attrs, gamma), false, QDQ_SET_AFFINE},
    {"beta", offsetof(qdq_batch_norm_attrs, beta), false, QDQ_SET_AFFINE},
    {"mean", offsetof(qdq_batch_norm_attrs, mean), false, QDQ_SET_AFFINE},
    {"variance", offsetof(qdq_batch_norm_attrs, variance), false, QDQ_SET_AFFINE},
};
static const qdq_port_desc inference_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_attr_desc inference_attrs[] = {
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(qdq_batch_norm_attrs, epsilon), NULL, QDQ_REQUIRED,
     "added to the variance"},
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_batch_norm_attrs, data_format),
     qdq_data_format_words, "NXC", "where the channels are"},
};

static void begin_given(const qdq_part *part) {
    const inference_params *p = part->params;
    part->state->normal.mean = qdq_norm_number(part->tensors, p->mean, part->slice);
    qdq_norm_set_scale(part, qdq_norm_number(part->tensors, p->variance, part->slice));
}

static const qdq_slice_op inference = {
    .passes = {{begin_given, qdq_norm_take_y, NULL}},
    .pass_count = 1,
    .maps = true,
};

// As ONNX Runtime: y = x * a + b with a = gamma * (1 / sqrt(variance + epsilon)) and
// b = beta - mean * a, every operation rounded to float32.
static void take_runtime_floats(const qdq_part *part, float *y) {
    const inference_params *p = part->params;
    float variance = (float)qdq_norm_number(part->tensors, p->variance, part->slice);
    float mean = (float)qdq_norm_number(part->tensors, p->mean, part->slice);
    float root = sqrtf(variance + (float)p->norm.epsilon);
    float a = (float)qdq_norm_number(part->tensors, p->norm.gamma, part->slice) * (1.0f / root);
    float b = (float)qdq_norm_number(part->tensors, p->norm.beta, part->slice) - mean * a;
    part->kernels->line(part->x, part->n, a, b, y);
}

static void take_runtime(const qdq_part *part) { qdq_part_take_widened(part, take_runtime_floats); }

static const qdq_slice_op inference_runtime = {
    .passes = {{NULL, take_runtime, NULL}},
    .pass_count = 1,
    .maps = true,
    .take_floats = take_runtime_floats,
};

static void infer_inference(qdq_op_context *ctx) {
    const qdq_batch_norm_attrs *a = ctx->attrs;
    qdq_check_channels(ctx, a->data_format);
    qdq_require_attr(ctx, "epsilon", a->epsilon.set != 0);
    qdq_check_epsilon(ctx, a->epsilon);
    qdq_check_norm_dtypes(ctx, 1, ctx->input_count);
    ctx->outputs[0] = ctx->inputs[0].type;
}

static size_t lower_inference(const qdq_op_context *ctx, const qdq_lowering *to,
                              qdq_stage *stages) {
    const qdq_batch_norm_attrs *a = ctx->attrs;
    inference_params *params = QDQ_MEMPOOL_NEW(to->mempool, inference_params);
    if (!params) return 0;
    params->norm = qdq_norm_params_of(ctx, a->epsilon, 1, 2);
    params->mean = (qdq_along){3, ctx->inputs[3].type.dtype};
    params->variance = (qdq_along){4, ctx->inputs[4].type.dtype};
    bool by_runtime = qdq_by_onnx_runtime(to) && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    return lower_channels(ctx, to, by_runtime ? &inference_runtime : &inference, a->data_format,
                          &params->norm, stages);
}

const qdq_op qdq_op_batch_norm_inference = {
    .name = "BatchNormInference",
    .summary = "y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, of the channel",
    .attrs_size = sizeof(qdq_batch_norm_attrs),
    QDQ_OP_TABLES(inference_inputs, inference_outputs, inference_attrs),
    .infer = infer_inference,
    .lower = lower_inference,
    .by_float_ops = true,
};

//---- BatchNormForwardTraining -----------------------------------------------

enum { RUNNING_MEAN = 1, RUNNING_VARIANCE, BATCH_MEAN, BATCH_VARIANCE };

typedef struct training_params {
    qdq_norm_params norm;
    qdq_along old_mean, old_variance;
    qdq_dtype mean_dtype, variance_dtype;  // of the running mean and variance
    double momentum;
} training_params;

static const qdq_port_desc training_inputs[] = {
    {"x", offsetof(qdq_batch_norm_training_attrs, x), false, QDQ_SET_FLOATS},
    {"mean", offsetof(qdq_batch_norm_training_attrs, mean), false, QDQ_SET_AFFINE},
    {"variance", offsetof(qdq_batch_norm_training_attrs, variance), false, QDQ_SET_AFFINE},
    {"gamma", offsetof(qdq_batch_norm_training_attrs, gamma), true, QDQ_SET_AFFINE},
    {"beta", offsetof(qdq_batch_norm_training_attrs, beta), true, QDQ_SET_AFFINE},
};
static const qdq_port_desc training_outputs[] = {
    {"y", 0, false, QDQ_SET_FLOATS},
    {"running_mean", 0, false, QDQ_SET_AFFINE},
    {"running_variance", 0, false, QDQ_SET_AFFINE},
    {"batch_mean", 0, false, QDQ_SET_AFFINE},
    {"batch_variance", 0, false, QDQ_SET_AFFINE},
};
static const qdq_attr_desc training_attrs[] = {
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(qdq_batch_norm_training_attrs, epsilon), NULL,
     QDQ_REQUIRED, "added to the variance"},
    {"momentum", QDQ_ATTR_FLOAT, offsetof(qdq_batch_norm_training_attrs, momentum), NULL, "0.5",
     "weight of the old mean and variance in the running ones"},
    {"data_format", QDQ_ATTR_WORD, offsetof(qdq_batch_norm_training_attrs, data_format),
     qdq_data_format_words, "NXC", "where the channels are"},
};

static void store_running(const qdq_part *part, size_t output, qdq_dtype dtype, qdq_along old,
                          double batch) {
    const training_params *p = part->params;
    double before = qdq_norm_number(part->tensors, old, part->slice);
    qdq_slice_store(part->tensors, output, dtype, part->slice,
                    p->momentum * before + (1.0 - p->momentum) * batch);
}

static void end_batch(const qdq_part *part) {
    const training_params *p = part->params;
    double variance = qdq_norm_variance(part);
    store_running(part, RUNNING_MEAN, p->mean_dtype, p->old_mean, part->state->normal.mean);
    store_running(part, RUNNING_VARIANCE, p->variance_dtype, p->old_variance, variance);
}

static const qdq_slice_op training = {
    .passes = {{qdq_norm_begin, qdq_norm_take_sum, qdq_norm_end_mean},
               {qdq_norm_begin, qdq_norm_take_deviations, end_batch},
               {NULL, qdq_norm_take_y, NULL}},
    .pass_count = 3,
    .maps = true,
};

static void infer_training(qdq_op_context *ctx) {
    const qdq_batch_norm_training_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    qdq_check_channels(ctx, a->data_format);
    qdq_require_attr(ctx, "epsilon", a->epsilon.set != 0);
    qdq_check_epsilon(ctx, a->epsilon);
    qdq_check_both(ctx, 3, 4);
    qdq_check_norm_dtypes(ctx, 1, ctx->input_count);
    ctx->outputs[0] = ctx->inputs[0].type;
    qdq_type stats = {qdq_stats_dtype(ctx, 1), {.rank = 1}};
    if (x.rank >= 2) stats.shape.dims[0] = x.dims[qdq_channel_dim(x, a->data_format)];
    for (size_t i = RUNNING_MEAN; i <= BATCH_VARIANCE; i++) ctx->outputs[i] = stats;
}

static size_t lower_training(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_batch_norm_training_attrs *a = ctx->attrs;
    training_params *params = QDQ_MEMPOOL_NEW(to->mempool, training_params);
    if (!params) return 0;
    *params = (training_params){
        .norm = qdq_norm_params_of(ctx, a->epsilon, 3, 4),
        .old_mean = {1, ctx->inputs[1].type.dtype},
        .old_variance = {2, ctx->inputs[2].type.dtype},
        .mean_dtype = ctx->outputs[RUNNING_MEAN].dtype,
        .variance_dtype = ctx->outputs[RUNNING_VARIANCE].dtype,
        .momentum = (double)(float)(a->momentum.set != 0 ? a->momentum.value : 0.5),
    };
    params->norm.mean = BATCH_MEAN, params->norm.variance = BATCH_VARIANCE;
    params->norm.mean_dtype = ctx->outputs[BATCH_MEAN].dtype;
    params->norm.variance_dtype = ctx->outputs[BATCH_VARIANCE].dtype;
    return lower_channels(ctx, to, &training, a->data_format, &params->norm, stages);
}

const qdq_op qdq_op_batch_norm_forward_training = {
    .name = "BatchNormForwardTraining",
    .summary = "BatchNormInference with the mean and variance of x, which are outputs too",
    .attrs_size = sizeof(qdq_batch_norm_training_attrs),
    QDQ_OP_TABLES(training_inputs, training_outputs, training_attrs),
    .infer = infer_training,
    .lower = lower_training,
};
