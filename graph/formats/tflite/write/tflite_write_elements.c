// SPDX-License-Identifier: Apache-2.0
// Writes ops of elements and of slices: sums and products, functions, SOFTMAX and MEAN.
#include <string.h>

#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"

enum {
    ADD_OPTIONS = 11,
    SUB_OPTIONS = 28,
    MUL_OPTIONS = 21,
    LEAKY_RELU_OPTIONS = 75,
    HARD_SWISH_OPTIONS = 91,
    SOFTMAX_OPTIONS = 9,
    REDUCER_OPTIONS = 27
};

void qdq_tflite_write_binary(qdq_tflite_writer *w) {
    bool product = qdq_tflite_is(w->node, "Multiply"), sum = qdq_tflite_is(w->node, "Add");
    qdq_tflite_code code = product ? TFLITE_MUL : sum ? TFLITE_ADD : TFLITE_SUB;
    int kind = product ? MUL_OPTIONS : sum ? ADD_OPTIONS : SUB_OPTIONS;
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, code, kind, 2);
    qdq_tflite_option_byte(op, 0, w->unit->activation);
    // pot_scale_int16 is true by default, and its kernels take powers of two alone.
    if (!product && w->unit->codes) qdq_tflite_option_byte(op, 1, 0);
}

void qdq_tflite_write_unary(qdq_tflite_writer *w) {
    static const struct {
        const char *op;
        qdq_tflite_code code;
        int kind;
    } rows[] = {{"Sigmoid", TFLITE_LOGISTIC, 0},
                {"Tanh", TFLITE_TANH, 0},
                {"HardSwish", TFLITE_HARD_SWISH, HARD_SWISH_OPTIONS},
                {"ReLU", TFLITE_RELU, 0},
                {"ReLU6", TFLITE_RELU6, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (qdq_tflite_is(w->node, rows[i].op))
            (void)qdq_tflite_emit_unit(w, rows[i].code, rows[i].kind, 1);
}

void qdq_tflite_write_clamp(qdq_tflite_writer *w) {
    const qdq_clamp_attrs *a = w->node->attrs;
    double min = a->min.value, max = a->max.value;
    if (min == 0.0 && max == 6.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU6, 0, 1);
    else if (min == -1.0 && max == 1.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU_N1_TO_1, 0, 1);
    else if (min == 0.0 && max == 1.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU_0_TO_1, 0, 1);
    else
        qdq_tflite_cannot(w, NULL, TFLITE_FOUND(w, "has the bounds %g and %g", min, max),
                          "0 and 6, -1 and 1, or 0 and 1");
}

void qdq_tflite_write_leaky_relu(qdq_tflite_writer *w) {
    const qdq_alpha_attrs *a = w->node->attrs;
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_LEAKY_RELU, LEAKY_RELU_OPTIONS, 1);
    qdq_tflite_option_float(op, 0, a->alpha.value);
}

void qdq_tflite_write_softmax(qdq_tflite_writer *w) {
    const qdq_softmax_attrs *a = w->node->attrs;
    int rank = qdq_tflite_type_at(w, w->node->inputs[0].id)->shape.rank;
    int64_t axis = a->axis.set != 0 ? a->axis.value : 1;
    if (axis != -1 && axis != rank - 1) {
        qdq_tflite_cannot(w, "axis", TFLITE_FOUND(w, "is %lld", (long long)axis),
                          TFLITE_FOUND(w, "%d, the last dim", rank - 1));
        return;
    }
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_SOFTMAX, SOFTMAX_OPTIONS, 1);
    qdq_tflite_option_float(op, 0, (double)w->unit->beta);
}

void qdq_tflite_write_mean(qdq_tflite_writer *w) {
    const qdq_reduce_attrs *a = w->node->attrs;
    int32_t axes = qdq_tflite_new_ints(w, "axes", a->axes.data, a->axes.count, 0);
    int32_t x = qdq_tflite_in(w, 0), y = qdq_tflite_out(w, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_MEAN, REDUCER_OPTIONS);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, axes);
    qdq_tflite_add_output(w, op, y);
    qdq_tflite_option_byte(op, 0, a->keep_dims == QDQ_TRUE);
}
