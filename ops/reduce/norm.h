// SPDX-License-Identifier: Apache-2.0
// Shared by the norms: y = ((x - mean) * (1 / sqrt(variance + epsilon))) * gamma + beta, where the
// elements that share a mean and a variance are a slice (ops/reduce/reduce_axes.h). In double, each
// operation rounds to double and the result once to the dtype of y; epsilon is a float32. Without
// gamma and beta the last two operations are left out.
#ifndef QDQ_OPS_REDUCE_NORM_H
#define QDQ_OPS_REDUCE_NORM_H

#include "ops/infer.h"
#include "ops/reduce/reduce_axes.h"

// Dtypes of gamma, beta, and of means and variances.
#define QDQ_SET_AFFINE (QDQ_SET(FLOAT32) | QDQ_SET(BFLOAT16))

//---- LayerNorm and GroupNorm ------------------------------------------------

enum { QDQ_NORM_GAMMA = 1, QDQ_NORM_BETA, QDQ_NORM_MEAN = 1, QDQ_NORM_VARIANCE };  // ports

// Ports and attributes that both ops have; S is the op's struct.
// clang-format off
#define QDQ_NORM_INPUTS(S)                                              \
    {"x", offsetof(S, x), false, QDQ_SET_FLOATS},                       \
        {"gamma", offsetof(S, gamma), true, QDQ_SET_AFFINE},            \
        {"beta", offsetof(S, beta), true, QDQ_SET_AFFINE}

#define QDQ_NORM_OUTPUTS(S)                                             \
    {"y", 0, false, QDQ_SET_FLOATS},                                    \
        {"mean", offsetof(S, keep_stats), true, QDQ_SET_AFFINE},        \
        {"variance", offsetof(S, keep_stats), true, QDQ_SET_AFFINE}

#define QDQ_NORM_ATTRS(S)                                               \
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(S, epsilon), NULL, "1e-5",     \
     "added to the variance"},                                          \
        {"use_affine", QDQ_ATTR_BOOL, offsetof(S, use_affine), NULL, "true", \
         "no effect: gamma and beta are used if they are given"},       \
        {"keep_stats", QDQ_ATTR_BOOL, offsetof(S, keep_stats), NULL, "true", \
         "also output mean and variance"}
// clang-format on

// Checks gamma and beta, and sets the types of the outputs; mean and variance have the shape
// `stats`.
void qdq_infer_norm(qdq_op_context *ctx, qdq_shape stats, qdq_bool keep_stats);

//---- Checks -----------------------------------------------------------------

// Reports a finding unless epsilon, if it is given, is finite and not negative.
void qdq_check_epsilon(const qdq_op_context *ctx, qdq_float epsilon);

// Reports findings unless an input is float32 or has the dtype of x, and later inputs, up to input
// number `end`, have its dtype.
void qdq_check_norm_dtypes(const qdq_op_context *ctx, size_t first, size_t end);

// Reports a finding unless both or none are connected.
void qdq_check_both(const qdq_op_context *ctx, size_t gamma, size_t beta);

// Returns the dtype of mean and variance: the dtype of an input if it is connected, else float32.
qdq_dtype qdq_stats_dtype(const qdq_op_context *ctx, size_t input);

// Returns false, with a finding, unless x has a batch and channels, and the inputs after it one
// element for each channel.
bool qdq_check_channels(const qdq_op_context *ctx, qdq_data_format format);

//---- Parameters -------------------------------------------------------------

// An input whose numbers go with the elements of slices: element i of slice s uses number s %
// across * width + i / run % width.
typedef struct qdq_along {
    size_t input;  // 0: nothing
    qdq_dtype dtype;
} qdq_along;

typedef struct qdq_norm_params {
    double epsilon;
    qdq_along gamma, beta;
    size_t across, width, run;  // of both
    // The outputs for the mean and the variance of each slice; 0: none.
    size_t mean, variance;
    qdq_dtype mean_dtype, variance_dtype;
} qdq_norm_params;

// `epsilon` unset: 1e-5. gamma and beta are input numbers; 0: none. An input that is not connected
// is ignored.
qdq_norm_params qdq_norm_params_of(const qdq_op_context *ctx, qdq_float epsilon, size_t gamma,
                                   size_t beta);

// The same for LayerNorm and GroupNorm, which have gamma, beta, mean and variance in the ports
// above.
qdq_norm_params qdq_norm_stats_params(const qdq_op_context *ctx, qdq_float epsilon);

// Returns number `index` of an input.
double qdq_norm_number(const qdq_tensors *tensors, qdq_along along, size_t index);

//---- Passes: their params begin with qdq_norm_params ------------------------

void qdq_norm_begin(const qdq_part *part);
// Returns the sum of the lanes divided by the number of elements of the slice.
double qdq_norm_mean(const qdq_part *part);
void qdq_norm_take_sum(const qdq_part *part);
void qdq_norm_end_mean(const qdq_part *part);
// The variance is the mean of (x - mean)^2. Its end stores mean and variance.
void qdq_norm_take_deviations(const qdq_part *part);
void qdq_norm_end_variance(const qdq_part *part);
// The same as qdq_norm_end_variance; returns the variance.
double qdq_norm_variance(const qdq_part *part);
// Sets the scale 1 / sqrt(variance + epsilon).
void qdq_norm_set_scale(const qdq_part *part, double variance);
// Computes y: by `normalize` of the kernels, or as floats by a function with the same meaning.
void qdq_norm_take_y(const qdq_part *part);
void qdq_norm_take_floats_by(const qdq_part *part, qdq_normalize_floats_fn *normalize, float *y);

// The three passes: mean, variance, y.
extern const qdq_slice_op qdq_norm_slices;

#endif
