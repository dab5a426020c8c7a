// SPDX-License-Identifier: Apache-2.0
// Writes ops of elements and of slices: sums and products, functions, SOFTMAX, MEAN and its like.
#include <string.h>

#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/base/number.h"

enum { LEAKY_RELU_OPTIONS = 75, GELU_OPTIONS = 116, SOFTMAX_OPTIONS = 9 };

void qdq_tflite_write_binary(qdq_tflite_writer *w) {
    const qdq_tflite_writer_row *row = w->row;
    bool sum = row->code == TFLITE_ADD || row->code == TFLITE_SUB;
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, (qdq_tflite_code)row->code, row->kind, 2);
    if (row->fuses) qdq_tflite_option_byte(op, 0, w->unit->activation);
    // pot_scale_int16 is true by default, and its kernels take powers of two alone.
    if (sum && w->unit->codes) qdq_tflite_option_byte(op, 1, 0);
}

void qdq_tflite_write_unary(qdq_tflite_writer *w) {
    const qdq_tflite_writer_row *row = w->row;
    (void)qdq_tflite_emit_unit(w, (qdq_tflite_code)row->code, row->kind, 1);
}

void qdq_tflite_write_clamp(qdq_tflite_writer *w) {
    const qdq_clamp_attrs *a = w->node->attrs;
    char low[QDQ_NUMBER_BYTES], high[QDQ_NUMBER_BYTES];
    double min = a->min.value, max = a->max.value;
    if (min == 0.0 && max == 6.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU6, 0, 1);
    else if (min == -1.0 && max == 1.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU_N1_TO_1, 0, 1);
    else if (min == 0.0 && max == 1.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_RELU_0_TO_1, 0, 1);
    else
        qdq_tflite_cannot(w, NULL,
                          TFLITE_FOUND(w, "has the bounds %s and %s",
                                       qdq_number_text(low, min, false),
                                       qdq_number_text(high, max, false)),
                          "0 and 6, -1 and 1, or 0 and 1");
}

void qdq_tflite_write_leaky_relu(qdq_tflite_writer *w) {
    const qdq_alpha_attrs *a = w->node->attrs;
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_LEAKY_RELU, LEAKY_RELU_OPTIONS, 1);
    qdq_tflite_option_float(op, 0, a->alpha.value);
}

void qdq_tflite_write_elu(qdq_tflite_writer *w) {
    const qdq_alpha_attrs *a = w->node->attrs;
    if (a->alpha.value == 1.0)
        (void)qdq_tflite_emit_unit(w, TFLITE_ELU, 0, 1);
    else
        qdq_tflite_cannot(w, "alpha", qdq_text_is(w->draft->findings, a->alpha.value), "1");
}

void qdq_tflite_write_gelu(qdq_tflite_writer *w) {
    const qdq_gelu_attrs *a = w->node->attrs;
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_GELU, GELU_OPTIONS, 1);
    qdq_tflite_option_byte(op, 0, a->mode == QDQ_GELU_TANH);
}

// A slope in one dim goes with the channels, which are last.
void qdq_tflite_write_prelu(qdq_tflite_writer *w) {
    const qdq_prelu_attrs *a = w->node->attrs;
    bool last = a->data_format == QDQ_NXC || a->per_channel_broadcast == QDQ_FALSE;
    if (last || qdq_tflite_type_at(w, w->node->inputs[1].id)->shape.rank > 1)
        (void)qdq_tflite_emit_unit(w, TFLITE_PRELU, 0, 2);
    else
        qdq_tflite_cannot(w, "data_format", "is NCX", "NXC: channels in the last dim");
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

void qdq_tflite_write_reduce(qdq_tflite_writer *w) {
    const qdq_tflite_writer_row *row = w->row;
    const qdq_reduce_attrs *a = w->node->attrs;
    int32_t axes = qdq_tflite_new_ints(w, "axes", a->axes.data, a->axes.count, 0);
    int32_t x = qdq_tflite_in(w, 0), y = qdq_tflite_out(w, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, (qdq_tflite_code)row->code, row->kind);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, axes);
    qdq_tflite_add_output(w, op, y);
    qdq_tflite_option_byte(op, 0, a->keep_dims == QDQ_TRUE);
}
