// SPDX-License-Identifier: Apache-2.0
// Writes ops that reduce, order or normalize slices of a tensor.
#include <string.h>

#include "graph/formats/onnx/write/onnx_writers.h"
#include "runtime/base/words.h"
#include "runtime/numerics/dtype.h"

// Zeros where all of a slice is -Infinity, in place of NaN.
static void zero_empty_slices(qdq_onnx_writer *w, const char *softmax, int64_t axis) {
    qdq_dtype dtype = qdq_onnx_result_type(w).dtype;
    const char *zero = qdq_onnx_new_fill(w, "zero", (qdq_type){dtype, {0}}, 0);
    int64_t *axes = qdq_mempool_copy(w->draft->mempool, &axis, 1, sizeof axis);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "ReduceMax", 13, "greatest");
    qdq_onnx_add_port(w, n, "x");
    n->axes = (qdq_ints){axes, 1};
    const char *greatest = qdq_onnx_part(w, n);
    n = qdq_onnx_emit(w, "IsInf", dtype == QDQ_FLOAT32 ? 10 : 20, "empty");
    qdq_onnx_add_input(w, n, greatest);
    qdq_onnx_add_int(w, n, "detect_positive", 0);
    const char *empty = qdq_onnx_part(w, n);
    n = qdq_onnx_emit(w, "Where", 9, NULL);
    qdq_onnx_add_input(w, n, empty);
    qdq_onnx_add_input(w, n, zero);
    qdq_onnx_add_input(w, n, softmax);
    qdq_onnx_yield(w, n, 0);
}

// Writes SoftMax and LogSoftmax.
void qdq_onnx_write_softmax(qdq_onnx_writer *w, const char *name) {
    const char *mode = qdq_onnx_given_word(w, "mode");
    bool zeros = mode && strcmp(mode, "inf_as_zero") == 0;
    int64_t axis = qdq_onnx_given_int(w, "axis");
    (void)qdq_onnx_given_bool(w, "keep_stats");
    if (!qdq_onnx_keeps_dtype(w)) return;
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, zeros ? "softmax" : NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_int(w, n, "axis", axis);
    if (zeros)
        zero_empty_slices(w, qdq_onnx_part(w, n), axis);
    else
        qdq_onnx_yield(w, n, 0);
}

//---- Norms ------------------------------------------------------------------

// Returns the name of a scale or shift in the dtype of x: the value itself, or the input of its
// Cast. A missing value is `fill`.
static const char *affine(qdq_onnx_writer *w, const char *port, qdq_shape shape, double fill) {
    const qdq_graph *graph = w->draft->graph;
    const qdq_graph_value *v = qdq_onnx_at_port(w, port);
    qdq_dtype x = graph->values[w->node->inputs[0].id].type.dtype;
    if (!v) return qdq_onnx_new_fill(w, port, (qdq_type){x, shape}, fill);
    const char *name = qdq_onnx_port_name(w, port);
    if (v->type.dtype == x) return name;
    const qdq_node *maker = v->kind == QDQ_VALUE_MADE ? &graph->nodes[v->node] : NULL;
    if (maker && strcmp(maker->op->name, "Cast") == 0 &&
        graph->values[maker->inputs[0].id].type.dtype == x) {
        w->draft->read[maker->inputs[0].id] = true;
        return w->draft->names[maker->inputs[0].id];
    }
    qdq_onnx_cannot(w, port, WRITE_TEXT(w, "is %s", qdq_dtype_name(v->type.dtype)),
                    qdq_dtype_name(x), "cast it from the dtype of x");
    return name;
}

static qdq_shape last_dims(qdq_onnx_writer *w, int64_t *axis) {
    qdq_shape x = qdq_onnx_at_port(w, "x")->type.shape, shape = {0};
    *axis = qdq_onnx_given_int(w, "begin_norm_axis");
    int first = (int)(*axis < 0 ? *axis + x.rank : *axis);
    for (int i = first; i < x.rank; i++) shape.dims[shape.rank++] = x.dims[i];
    return shape;
}

// Writes LayerNorm in one pass as SkipLayerNormalization, which adds -0 here: x + -0 is x.
static void write_skip_norm(qdq_onnx_writer *w, int64_t axis, const char *gamma, const char *beta) {
    qdq_type x = qdq_onnx_at_port(w, "x")->type;
    bool last = axis == -1 || axis == x.shape.rank - 1;
    if (!last || (x.shape.rank != 2 && x.shape.rank != 3)) {
        qdq_onnx_cannot(w, "one_pass", "is true",
                        "false, or two or three dims and the last one normalized",
                        "set it to false for LayerNormalization, which has other last bits");
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, "SkipLayerNormalization", 1, NULL);
    qdq_onnx_set_domain(w, n, QDQ_ONNX_MICROSOFT);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, qdq_onnx_new_fill(w, "skip", x, -0.0));
    qdq_onnx_add_input(w, n, gamma);
    qdq_onnx_add_input(w, n, beta);
    qdq_onnx_add_real(w, n, "epsilon", qdq_onnx_given_real(w, "epsilon", 1e-5));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_layer_norm(qdq_onnx_writer *w, const char *name) {
    int64_t axis;
    qdq_shape shape = last_dims(w, &axis);
    (void)qdq_onnx_given_bool(w, "keep_stats"), (void)qdq_onnx_given_bool(w, "use_affine");
    bool one_pass = qdq_onnx_has(w, "one_pass") && qdq_onnx_given_bool(w, "one_pass");
    const char *gamma = affine(w, "gamma", shape, 1), *beta = affine(w, "beta", shape, 0);
    if (one_pass) {
        write_skip_norm(w, axis, gamma, beta);
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 17, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, gamma);
    qdq_onnx_add_input(w, n, beta);
    qdq_onnx_add_int(w, n, "axis", axis);
    qdq_onnx_add_real(w, n, "epsilon", qdq_onnx_given_real(w, "epsilon", 1e-5));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_rms_norm(qdq_onnx_writer *w, const char *name) {
    int64_t axis;
    qdq_shape shape = last_dims(w, &axis);
    const char *gamma = affine(w, "gamma", shape, 1);
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 23, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, gamma);
    qdq_onnx_add_int(w, n, "axis", axis);
    qdq_onnx_add_real(w, n, "epsilon", qdq_onnx_given_real(w, "epsilon", 1e-5));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_group_norm(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    qdq_shape x = qdq_onnx_at_port(w, "x")->type.shape;
    qdq_shape channels = {1, {c.last ? x.dims[x.rank - 1] : x.dims[1]}};
    (void)qdq_onnx_given_bool(w, "keep_stats"), (void)qdq_onnx_given_bool(w, "use_affine");
    const char *gamma = affine(w, "gamma", channels, 1), *beta = affine(w, "beta", channels, 0);
    const char *first = qdq_onnx_first_channels(w, &c, qdq_onnx_port_name(w, "x"));
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 21);
    qdq_onnx_add_input(w, n, first);
    qdq_onnx_add_input(w, n, gamma);
    qdq_onnx_add_input(w, n, beta);
    qdq_onnx_add_int(w, n, "num_groups", qdq_onnx_given_int(w, "groups"));
    qdq_onnx_add_real(w, n, "epsilon", qdq_onnx_given_real(w, "epsilon", 1e-5));
    qdq_onnx_yield_channels(w, &c, n);
}

void qdq_onnx_write_batch_norm(qdq_onnx_writer *w, const char *name) {
    static const char *const ports[] = {"gamma", "beta", "mean", "variance"};
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    const char *first = qdq_onnx_first_channels(w, &c, qdq_onnx_port_name(w, "x"));
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 15);
    qdq_onnx_add_input(w, n, first);
    for (size_t i = 0; i < sizeof ports / sizeof ports[0]; i++) qdq_onnx_add_port(w, n, ports[i]);
    qdq_onnx_add_real(w, n, "epsilon", qdq_onnx_given_real(w, "epsilon", 1e-5));
    qdq_onnx_yield_channels(w, &c, n);
}

//---- Reductions -------------------------------------------------------------

// True if Square or Abs makes x.
static bool is_never_negative(qdq_onnx_writer *w) {
    const qdq_graph *graph = w->draft->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *n = &graph->nodes[i];
        bool makes = n->output_count && n->outputs[0] == w->node->inputs[0].id;
        if (makes) return qdq_has_word("Square Abs", n->op->name);
    }
    return false;
}

void qdq_onnx_write_reduce(qdq_onnx_writer *w, const char *name) {
    if (qdq_onnx_has(w, "in_order") && qdq_onnx_given_bool(w, "in_order")) {
        name = "ReduceL1";  // adds in this order
        if (!is_never_negative(w))
            qdq_onnx_cannot(w, "in_order", "is true", "false, or an x that Square or Abs makes",
                            "set it to false for ReduceSum, which has other last bits");
    }
    if (qdq_onnx_has(w, "global_pool") && qdq_onnx_given_bool(w, "global_pool")) {
        (void)qdq_onnx_given_ints(w, "axes"), (void)qdq_onnx_given_bool(w, "keep_dims");
        qdq_onnx_new_node *pool = qdq_onnx_emit(w, "GlobalAveragePool", 1, NULL);
        qdq_onnx_add_port(w, pool, "x");
        qdq_onnx_yield(w, pool, 0);
        return;
    }
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 13, NULL);
    qdq_onnx_add_port(w, n, "x");
    n->axes = qdq_onnx_given_ints(w, "axes");
    qdq_onnx_add_int(w, n, "keepdims", qdq_onnx_given_bool(w, "keep_dims"));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_cum_sum(qdq_onnx_writer *w, const char *name) {
    const char *axis = qdq_onnx_new_int(w, "axis", qdq_onnx_given_int(w, "axis"));
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 11, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, axis);
    qdq_onnx_add_int(w, n, "exclusive", qdq_onnx_given_bool(w, "exclusive"));
    qdq_onnx_add_int(w, n, "reverse", qdq_onnx_given_bool(w, "reverse"));
    qdq_onnx_yield(w, n, 0);
}

void qdq_onnx_write_top_k(qdq_onnx_writer *w, const char *name) {
    int64_t k = qdq_onnx_given_int(w, "k");
    const char *count = qdq_onnx_new_ints(w, "k", (qdq_ints){&k, 1});
    qdq_onnx_new_node *n = qdq_onnx_emit(w, name, 11, NULL);
    qdq_onnx_add_port(w, n, "x");
    qdq_onnx_add_input(w, n, count);
    qdq_onnx_add_int(w, n, "axis", qdq_onnx_given_int(w, "axis"));
    qdq_onnx_add_int(w, n, "largest", qdq_onnx_given_bool(w, "largest"));
    qdq_onnx_yield(w, n, 0);
    qdq_onnx_yield(w, n, 1);
}
