// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/norm.h"

#include <math.h>

#include "ops/blocking.h"
#include "runtime/numerics/dtype.h"

//---- Checks -----------------------------------------------------------------

void qdq_check_epsilon(const qdq_op_context *ctx, qdq_float epsilon) {
    if (epsilon.set == 0 || (epsilon.value >= 0 && isfinite((float)epsilon.value))) return;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "epsilon",
                         qdq_text_is(ctx->findings, epsilon.value), "0 or more, as a float32");
}

static void find_dtype(const qdq_op_context *ctx, size_t input, const char *wanted) {
    qdq_report_violation(
        ctx, QDQ_RULE_PORT_DTYPE, qdq_op_port(ctx->op, input)->name,
        qdq_text(ctx->findings, "is %s", qdq_dtype_name(ctx->inputs[input].type.dtype)), wanted);
}

static bool is_of_port(const qdq_op_context *ctx, size_t input) {
    return qdq_has_input(ctx, input) &&
           qdq_set_has(qdq_op_port(ctx->op, input)->dtypes, ctx->inputs[input].type.dtype);
}

void qdq_check_norm_dtypes(const qdq_op_context *ctx, size_t first, size_t end) {
    if (!is_of_port(ctx, first)) return;
    qdq_dtype x = ctx->inputs[0].type.dtype, is = ctx->inputs[first].type.dtype;
    const char *x_name = qdq_dtype_name(x);
    bool both = x != QDQ_FLOAT32 && qdq_set_has(qdq_op_port(ctx->op, first)->dtypes, x);
    if (is != QDQ_FLOAT32 && is != x)
        find_dtype(
            ctx, first,
            qdq_text(ctx->findings, both ? "float32, or %s as x is" : "float32: x is %s", x_name));
    for (size_t i = first + 1; i < end; i++)
        if (is_of_port(ctx, i) && ctx->inputs[i].type.dtype != is)
            find_dtype(ctx, i,
                       qdq_text(ctx->findings, "%s, as %s is", qdq_dtype_name(is),
                                qdq_op_port(ctx->op, first)->name));
}

void qdq_check_both(const qdq_op_context *ctx, size_t gamma, size_t beta) {
    if (ctx->inputs[gamma].given == ctx->inputs[beta].given) return;
    size_t missing = ctx->inputs[gamma].given ? beta : gamma;
    qdq_report_violation(ctx, QDQ_RULE_PORT_MISSING, qdq_op_port(ctx->op, missing)->name,
                         "is not connected", "both gamma and beta, or none");
}

qdq_dtype qdq_stats_dtype(const qdq_op_context *ctx, size_t input) {
    return qdq_has_input(ctx, input) ? ctx->inputs[input].type.dtype : QDQ_FLOAT32;
}

bool qdq_check_channels(const qdq_op_context *ctx, qdq_data_format format) {
    qdq_shape x = ctx->inputs[0].type.shape;
    if (x.rank < 2) {
        qdq_report_shape(ctx, "x", x, "a batch and channels: 2 dims or more");
        return false;
    }
    qdq_shape channels = {.rank = 1, .dims = {x.dims[qdq_channel_dim(x, format)]}};
    bool fine = true;
    for (size_t i = 1; i < ctx->input_count; i++)
        fine &= qdq_check_shape(ctx, i, channels, "the channels of x");
    return fine;
}

void qdq_infer_norm(qdq_op_context *ctx, qdq_shape stats, qdq_bool keep_stats) {
    qdq_check_both(ctx, QDQ_NORM_GAMMA, QDQ_NORM_BETA);
    qdq_check_norm_dtypes(ctx, QDQ_NORM_GAMMA, QDQ_NORM_BETA + 1);
    ctx->outputs[0] = ctx->inputs[0].type;
    ctx->outputs[QDQ_NORM_MEAN] = (qdq_type){qdq_stats_dtype(ctx, QDQ_NORM_GAMMA), stats};
    ctx->outputs[QDQ_NORM_VARIANCE] = ctx->outputs[QDQ_NORM_MEAN];
    ctx->output_count = keep_stats != QDQ_FALSE ? 3 : 1;
}

//---- Parameters -------------------------------------------------------------

static qdq_along along_of(const qdq_op_context *ctx, size_t input) {
    if (input == 0 || !ctx->inputs[input].given) return (qdq_along){0};
    return (qdq_along){input, ctx->inputs[input].type.dtype};
}

qdq_norm_params qdq_norm_params_of(const qdq_op_context *ctx, qdq_float epsilon, size_t gamma,
                                   size_t beta) {
    return (qdq_norm_params){
        .epsilon = (double)(float)(epsilon.set != 0 ? epsilon.value : 1e-5),
        .gamma = along_of(ctx, gamma),
        .beta = along_of(ctx, beta),
        .across = 1,
        .width = 1,
        .run = 1,
    };
}

qdq_norm_params qdq_norm_stats_params(const qdq_op_context *ctx, qdq_float epsilon) {
    qdq_norm_params params = qdq_norm_params_of(ctx, epsilon, QDQ_NORM_GAMMA, QDQ_NORM_BETA);
    if (ctx->output_count > 1) {
        params.mean = QDQ_NORM_MEAN, params.variance = QDQ_NORM_VARIANCE;
        params.mean_dtype = ctx->outputs[QDQ_NORM_MEAN].dtype;
        params.variance_dtype = ctx->outputs[QDQ_NORM_VARIANCE].dtype;
    }
    return params;
}

static const void *element(const qdq_tensors *tensors, qdq_along along, size_t index) {
    return (const char *)tensors->x[along.input] + index * qdq_dtype_size(along.dtype);
}

double qdq_norm_number(const qdq_tensors *tensors, qdq_along along, size_t index) {
    float number;
    qdq_decode_float(along.dtype, element(tensors, along, index), &number, 1);
    return (double)number;
}

// Returns one float32 per element from `from` on: expanded into the buffer, or in place if the
// input stores them as float32.
static const float *numbers_of(const qdq_part *part, qdq_along along, size_t from, size_t n,
                               float *buffer) {
    const qdq_norm_params *p = part->params;
    if (!along.input) return NULL;
    size_t first = part->slice % p->across * p->width;
    for (size_t i = 0, run; i < n; i += run) {
        size_t at = from + i, index = first + at / p->run % p->width;
        size_t left = n - i, more = p->run - at % p->run;
        if (p->run == 1) more = p->width - at % p->width;
        run = more < left ? more : left;
        const void *numbers = element(part->tensors, along, index);
        if (p->run == 1 && run == n && along.dtype == QDQ_FLOAT32) return numbers;
        part->kernels->decode(along.dtype, numbers, buffer + i, p->run == 1 ? run : 1);
        for (size_t k = 1; p->run > 1 && k < run; k++) buffer[i + k] = buffer[i];
    }
    return buffer;
}

//---- Passes -----------------------------------------------------------------

void qdq_norm_begin(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, 0); }

void qdq_norm_take_sum(const qdq_part *part) {
    part->kernels->sum(&part->state->lanes, part->x, part->n, 0);
}

double qdq_norm_mean(const qdq_part *part) {
    return qdq_sum_lanes(part->state->lanes.sums) / (double)part->slice_n;
}

void qdq_norm_end_mean(const qdq_part *part) { part->state->normal.mean = qdq_norm_mean(part); }

void qdq_norm_take_deviations(const qdq_part *part) {
    part->kernels->deviations(&part->state->lanes, part->x, part->n, part->state->normal.mean);
}

void qdq_norm_set_scale(const qdq_part *part, double variance) {
    const qdq_norm_params *p = part->params;
    part->state->normal.scale = 1.0 / sqrt(variance + p->epsilon);
}

double qdq_norm_variance(const qdq_part *part) {
    const qdq_norm_params *p = part->params;
    double variance = qdq_norm_mean(part);
    if (p->mean)
        qdq_slice_store(part->tensors, p->mean, p->mean_dtype, part->slice,
                        part->state->normal.mean);
    if (p->variance)
        qdq_slice_store(part->tensors, p->variance, p->variance_dtype, part->slice, variance);
    qdq_norm_set_scale(part, variance);
    return variance;
}

void qdq_norm_end_variance(const qdq_part *part) { (void)qdq_norm_variance(part); }

enum { PART = QDQ_NORM_PART };

// Sets gamma and beta of the elements from number i of a part on; returns how many.
static size_t set_numbers(const qdq_part *part, size_t i, qdq_normal *normal, float *gamma,
                          float *beta) {
    const qdq_norm_params *p = part->params;
    size_t n = part->n - i < PART ? part->n - i : PART;
    normal->gamma = numbers_of(part, p->gamma, part->at + i, n, gamma);
    normal->beta = numbers_of(part, p->beta, part->at + i, n, beta);
    return n;
}

static void take_parts(const qdq_part *part) {
    float gamma[PART], beta[PART];
    qdq_normal normal = part->state->normal;
    normal.same = false;
    for (size_t i = 0, n; i < part->n; i += n) {
        n = set_numbers(part, i, &normal, gamma, beta);
        part->kernels->normalize(part->x + i, n, &normal, part->work + i);
    }
}

void qdq_norm_take_floats_by(const qdq_part *part, qdq_normalize_floats_fn *normalize, float *y) {
    float gamma[PART], beta[PART];
    qdq_normal normal = part->state->normal;
    normal.same = false;
    for (size_t i = 0, n; i < part->n; i += n) {
        n = set_numbers(part, i, &normal, gamma, beta);
        normalize(part->x + i, n, &normal, y + i);
    }
}

// Runs of elements that share gamma and beta.
static void take_runs(const qdq_part *part) {
    const qdq_norm_params *p = part->params;
    qdq_normal normal = part->state->normal;
    size_t first = part->slice % p->across * p->width;
    normal.same = true;
    for (size_t i = 0, n; i < part->n; i += n) {
        size_t at = part->at + i, left = p->run - at % p->run,
               index = first + at / p->run % p->width;
        float gamma = (float)qdq_norm_number(part->tensors, p->gamma, index), beta;
        if (p->beta.input) beta = (float)qdq_norm_number(part->tensors, p->beta, index);
        normal.gamma = &gamma, normal.beta = p->beta.input ? &beta : NULL;
        n = left < part->n - i ? left : part->n - i;
        part->kernels->normalize(part->x + i, n, &normal, part->work + i);
    }
}

void qdq_norm_take_y(const qdq_part *part) {
    enum { LONG_RUN = 64 };  // shorter runs are joined in buffers
    const qdq_norm_params *p = part->params;
    if (p->gamma.input && p->run >= LONG_RUN)
        take_runs(part);
    else
        take_parts(part);
}

const qdq_slice_op qdq_norm_slices = {
    .passes = {{qdq_norm_begin, qdq_norm_take_sum, qdq_norm_end_mean},
               {qdq_norm_begin, qdq_norm_take_deviations, qdq_norm_end_variance},
               {NULL, qdq_norm_take_y, NULL}},
    .pass_count = 3,
    .maps = true,
};
