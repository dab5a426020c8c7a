// SPDX-License-Identifier: Apache-2.0
// Ops that compute over slices of a tensor: softmax, normalizations and reductions.
#ifndef QDQ_OPS_REDUCE_H
#define QDQ_OPS_REDUCE_H

#include <qdq/ops/node.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Softmax and normalization ----------------------------------------------

typedef enum qdq_softmax_mode { QDQ_SOFTMAX_NONE = 0, QDQ_SOFTMAX_INF_AS_ZERO } qdq_softmax_mode;

typedef struct qdq_softmax_attrs {
    const char *name;
    qdq_value x;
    qdq_int axis;           // default 1
    qdq_softmax_mode mode;  // inf_as_zero: a slice of only -infinities gives zeros (stats: 0)
    qdq_dtype dtype;        // of y: x's dtype or float32; any float if x is float32
    qdq_bool keep_stats;    // also returns `stats`: float32, max + ln(sum e^(x - max)), with 1
                            // element on the axis. Default false
} qdq_softmax_attrs;

// e^(x - max) / sum, along the axis.
static inline qdq_value qdq_softmax(qdq_graph *graph, qdq_value x, qdq_softmax_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "SoftMax", &attrs, sizeof attrs);
}

typedef struct qdq_log_softmax_attrs {
    const char *name;
    qdq_value x;
    qdq_int axis;  // default -1
} qdq_log_softmax_attrs;

// x - max - ln(sum e^(x - max))
static inline qdq_value qdq_log_softmax(qdq_graph *graph, qdq_value x,
                                        qdq_log_softmax_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "LogSoftmax", &attrs, sizeof attrs);
}

typedef struct qdq_layer_norm_attrs {
    const char *name;
    qdq_value x;
    qdq_value gamma, beta;    // both or none: [the dims from begin_norm_axis on], or as many
                              // elements in one dim; float32, or bfloat16 if x is
    qdq_int begin_norm_axis;  // default -1
    qdq_float epsilon;        // default 1e-5
    qdq_bool use_affine;      // default true; no effect: gamma and beta are used if given
    qdq_bool keep_stats;      // also returns `mean` and `variance` (biased), with the dims before
                              // begin_norm_axis; float32 or gamma's dtype. Default true
    qdq_bool one_pass;        // targets onnx and ort, float32: as ONNX Runtime's
                              // SkipLayerNormalization, by Welford's method. Default false
} qdq_layer_norm_attrs;

static inline qdq_value qdq_layer_norm(qdq_graph *graph, qdq_value x, qdq_layer_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "LayerNorm", &attrs, sizeof attrs);
}

typedef struct qdq_rms_norm_attrs {
    const char *name;
    qdq_value x, gamma;       // gamma as for LayerNorm; float32, or x's dtype
    qdq_int begin_norm_axis;  // default -1
    qdq_float epsilon;        // default 1e-5
} qdq_rms_norm_attrs;

// x / sqrt(mean(x^2) + epsilon) * gamma
static inline qdq_value qdq_rms_norm(qdq_graph *graph, qdq_value x, qdq_rms_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "RMSNorm", &attrs, sizeof attrs);
}

typedef struct qdq_group_norm_attrs {
    const char *name;
    qdq_value x, gamma, beta;  // both or none: [channels]; dtypes as for LayerNorm
    qdq_int groups;            // required; divides the channels
    qdq_float epsilon;         // default 1e-5
    qdq_bool use_affine;       // default true
    qdq_bool keep_stats;       // also returns `mean` and `variance`, [N, groups]. Default true
    qdq_data_format data_format;
} qdq_group_norm_attrs;

static inline qdq_value qdq_group_norm(qdq_graph *graph, qdq_value x, qdq_group_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "GroupNorm", &attrs, sizeof attrs);
}

typedef struct qdq_batch_norm_attrs {
    const char *name;
    qdq_value x, gamma, beta, mean, variance;  // [channels]; float32, or all bfloat16 if x is
    qdq_float epsilon;                         // required
    qdq_data_format data_format;
} qdq_batch_norm_attrs;

// gamma * (x - mean) / sqrt(variance + epsilon) + beta, per channel.
static inline qdq_value qdq_batch_norm(qdq_graph *graph, qdq_value x, qdq_batch_norm_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "BatchNormInference", &attrs, sizeof attrs);
}

typedef struct qdq_batch_norm_training_attrs {
    const char *name;
    qdq_value x, mean, variance, gamma, beta;  // in this order; gamma and beta: both or none
    qdq_float epsilon;                         // required
    qdq_float momentum;                        // default 0.5
    qdq_data_format data_format;
} qdq_batch_norm_training_attrs;

// Normalizes by the mean and variance of x. Also returns running_mean and running_variance,
// momentum * old + (1 - momentum) * batch, and batch_mean and batch_variance (biased).
static inline qdq_value qdq_batch_norm_training(qdq_graph *graph, qdq_value x,
                                                qdq_batch_norm_training_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "BatchNormForwardTraining", &attrs, sizeof attrs);
}

//---- Reductions -------------------------------------------------------------

typedef struct qdq_reduce_attrs {
    const char *name;
    qdq_value x;
    qdq_ints axes;       // required, in [-rank, rank - 1], each once
    qdq_bool keep_dims;  // default false
    // ReduceMean only, over all spatial dims of [N, C, spatial...] with keep_dims; targets onnx and
    // ort, float32: as ONNX Runtime's GlobalAveragePool. Default false
    qdq_bool global_pool;
    // ReduceSum only; targets onnx and ort, float32: as the sum in ONNX Runtime's ReduceSumSquare.
    // Default false
    qdq_bool in_order;
} qdq_reduce_attrs;

#define QDQ_REDUCE_CALL(call, op)                                                         \
    static inline qdq_value call(qdq_graph *graph, qdq_value x, qdq_reduce_attrs attrs) { \
        attrs.x = x;                                                                      \
        return qdq_add_node(graph, op, &attrs, sizeof attrs);                             \
    }

QDQ_REDUCE_CALL(qdq_reduce_l1, "ReduceL1")
QDQ_REDUCE_CALL(qdq_reduce_l2, "ReduceL2")
QDQ_REDUCE_CALL(qdq_reduce_max, "ReduceMax")
QDQ_REDUCE_CALL(qdq_reduce_mean, "ReduceMean")
QDQ_REDUCE_CALL(qdq_reduce_min, "ReduceMin")
QDQ_REDUCE_CALL(qdq_reduce_prod, "ReduceProd")
QDQ_REDUCE_CALL(qdq_reduce_sum, "ReduceSum")

typedef struct qdq_cum_sum_attrs {
    const char *name;
    qdq_value x;
    qdq_int axis;                 // required; negative: from the end
    qdq_bool exclusive, reverse;  // default false
} qdq_cum_sum_attrs;

// y[i] = x[0] + ... + x[i] along the axis.
static inline qdq_value qdq_cum_sum(qdq_graph *graph, qdq_value x, qdq_cum_sum_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "CumSum", &attrs, sizeof attrs);
}

typedef struct qdq_arg_attrs {
    const char *name;
    qdq_value x;                 // a float, float64, or any integer
    qdq_int axis;                // required; negative: from the end
    qdq_bool keep_dims;          // default false
    qdq_bool select_last_index;  // of equal elements; default false: the first
} qdq_arg_attrs;

// Returns the index, int64, of the greatest or least element along the axis. NaN wins.
static inline qdq_value qdq_arg_max(qdq_graph *graph, qdq_value x, qdq_arg_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "ArgMax", &attrs, sizeof attrs);
}
static inline qdq_value qdq_arg_min(qdq_graph *graph, qdq_value x, qdq_arg_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "ArgMin", &attrs, sizeof attrs);
}

typedef struct qdq_top_k_attrs {
    const char *name;
    qdq_value x;       // a float, float64, or any integer
    qdq_int k;         // required
    qdq_int axis;      // default -1
    qdq_bool largest;  // default true
} qdq_top_k_attrs;

// Returns the k greatest, or least, elements along the axis, the best first, and their `indices`,
// int64.
static inline qdq_value qdq_top_k(qdq_graph *graph, qdq_value x, qdq_top_k_attrs attrs) {
    attrs.x = x;
    return qdq_add_node(graph, "TopK", &attrs, sizeof attrs);
}

#ifdef __cplusplus
}
#endif
#endif
