// SPDX-License-Identifier: Apache-2.0
// Writes CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED and BATCH_MATMUL. Constant
// weights are turned to the order of dims of the format; weights that are computed get a TRANSPOSE.
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

enum { X, WEIGHTS, BIAS };
enum {
    CONV_OPTIONS = 1,
    DEPTHWISE_OPTIONS = 2,
    PRODUCT_OPTIONS = 8,
    TRANSPOSE_OPTIONS = 26,
    TRANSPOSED_OPTIONS = 49,
    BATCH_OPTIONS = 101
};
enum { BIAS_OF_INT32 = 2 };  // quantized_bias_type

//---- Weights ----------------------------------------------------------------

// Writes a TRANSPOSE of weights that are computed, and returns its result.
static int32_t turn_weights(qdq_tflite_writer *w, const qdq_tflite_params *params,
                            const qdq_tflite_turn *turn) {
    uint32_t value = w->unit->in[WEIGHTS].value;
    const qdq_type *type = qdq_tflite_type_at(w, value);
    qdq_type turned = *type;
    int64_t order[4];
    for (int i = 0; i < type->shape.rank; i++) {
        order[i] = turn->order[i];
        turned.shape.dims[i] = type->shape.dims[order[i]];
    }
    int32_t x = qdq_tflite_tensor_of(w, value, NULL, NULL);
    int32_t perm = qdq_tflite_new_ints(w, "order", order, (size_t)type->shape.rank, 0);
    int32_t y = qdq_tflite_new(w, "weights", turned, params);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_TRANSPOSE, TRANSPOSE_OPTIONS);
    qdq_tflite_add_input(w, op, x);
    qdq_tflite_add_input(w, op, perm);
    qdq_tflite_add_output(w, op, y);
    return y;
}

// Returns the tensor of weights in an order of dims, where several scales are along dim `axis` of
// the format, which is dim `ours` of the graph's weights.
static int32_t weights_tensor(qdq_tflite_writer *w, const qdq_tflite_turn *turn, int ours,
                              int axis) {
    const qdq_tflite_params *given = qdq_tflite_operand_params(w, WEIGHTS);
    uint32_t value = w->unit->in[WEIGHTS].value;
    qdq_tflite_params params = given ? *given : (qdq_tflite_params){0};
    if (params.count > 1 && params.axis != ours) {
        qdq_tflite_cannot(w, "weights", TFLITE_FOUND(w, "have scales along dim %d", params.axis),
                          TFLITE_FOUND(w, "dim %d", ours));
        return TFLITE_NO_TENSOR;
    }
    if (params.count > 1) params.axis = axis;  // an axis of one scale is as it was read
    bool constant = w->draft->graph->values[value].kind == QDQ_VALUE_CONSTANT;
    if (constant) return qdq_tflite_tensor_of(w, value, &params, w->unit->stored ? NULL : turn);
    if (w->unit->stored || !turn) return qdq_tflite_tensor_of(w, value, NULL, NULL);
    return turn_weights(w, &params, turn);
}

// Returns the bias, one element for each output; `outputs` of them. -1: none, or a refusal.
static int32_t bias_tensor(qdq_tflite_writer *w, int64_t outputs) {
    if (w->unit->in_count <= BIAS || !w->unit->in[BIAS].value) return TFLITE_NO_TENSOR;
    qdq_shape shape = qdq_tflite_type_at(w, w->unit->in[BIAS].value)->shape;
    if ((int64_t)qdq_shape_count(shape) == outputs && shape.rank == 1)
        return qdq_tflite_in(w, BIAS);
    qdq_tflite_cannot(w, "bias",
                      TFLITE_FOUND(w, "is %s", qdq_shape_text(w->draft->findings, shape)),
                      TFLITE_FOUND(w, "[%lld]", (long long)outputs));
    return TFLITE_NO_TENSOR;
}

// True if the operator sums codes of int16 in int32, as its bias says.
static bool has_narrow_bias(const qdq_tflite_writer *w) {
    const qdq_tflite_unit *u = w->unit;
    return u->codes && u->in_count > BIAS && u->in[BIAS].value &&
           qdq_tflite_type_at(w, u->in[X].value)->dtype == QDQ_INT16 &&
           qdq_tflite_type_at(w, u->in[BIAS].value)->dtype == QDQ_INT32;
}

//---- Convolutions -----------------------------------------------------------

static const qdq_tflite_turn conv_turn = {true, {0, 2, 3, 1}},
                             depthwise_turn = {true, {1, 2, 3, 0}};

static void write_options(qdq_tflite_writer *w, qdq_tflite_operator *op,
                          const qdq_tflite_window *window, bool depthwise, int64_t multiplier) {
    unsigned slot = 3;
    qdq_tflite_option_byte(op, 0, window->rule);
    qdq_tflite_option_int(op, 1, window->strides[1]);
    qdq_tflite_option_int(op, 2, window->strides[0]);
    if (depthwise) qdq_tflite_option_int(op, slot++, multiplier);
    qdq_tflite_option_byte(op, slot++, w->unit->activation);
    qdq_tflite_option_int(op, slot++, window->dilations[1]);
    qdq_tflite_option_int(op, slot++, window->dilations[0]);
    if (!depthwise && has_narrow_bias(w)) qdq_tflite_option_byte(op, slot, BIAS_OF_INT32);
}

// Refuses weights whose order of dims is not read. False after a refusal.
static bool check_weights(qdq_tflite_writer *w, qdq_shape shape, bool depthwise) {
    const qdq_convolution_attrs *a = w->node->attrs;
    if (a->weights_format != QDQ_OIX)
        qdq_tflite_cannot(w, "weights_format", "is XIO", "OIX");
    else if (shape.rank != 4)
        qdq_tflite_cannot(w, "weights", TFLITE_FOUND(w, "have %d dims", shape.rank), "4");
    else if (depthwise && shape.dims[1] != 1)
        qdq_tflite_cannot(w, "weights", "have several input channels for a channel", "one");
    return !w->refused;
}

void qdq_tflite_write_conv(qdq_tflite_writer *w) {
    const qdq_convolution_attrs *a = w->node->attrs;
    bool depthwise = qdq_tflite_is_depthwise(w->draft, w->node);
    qdq_shape x = qdq_tflite_type_at(w, w->node->inputs[X].id)->shape;
    qdq_shape k = qdq_tflite_type_at(w, w->node->inputs[WEIGHTS].id)->shape;
    if (!check_weights(w, k, depthwise)) return;
    qdq_tflite_window window = {.kernel = {k.dims[2], k.dims[3]}};
    const qdq_tflite_window_attrs attrs = {&a->strides,      &a->dilations,
                                           &a->pads_begin,   &a->pads_end,
                                           (int)a->auto_pad, a->data_format == QDQ_NXC};
    qdq_shape y = qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    if (!qdq_tflite_read_window(w, &attrs, x, y, &window)) return;
    bool ruled = qdq_tflite_find_rule(&window, x, y);
    int32_t weights =
        weights_tensor(w, depthwise ? &depthwise_turn : &conv_turn, 0, depthwise ? 3 : 0);
    int32_t bias = bias_tensor(w, k.dims[0]), in = qdq_tflite_in(w, X), out = qdq_tflite_out(w, 0);
    if (w->refused) return;
    if (!ruled) in = qdq_tflite_pad_window(w, &window, in, false);
    qdq_tflite_operator *op = depthwise
                                  ? qdq_tflite_emit(w, TFLITE_DEPTHWISE_CONV_2D, DEPTHWISE_OPTIONS)
                                  : qdq_tflite_emit(w, TFLITE_CONV_2D, CONV_OPTIONS);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_input(w, op, weights);
    if (bias != TFLITE_NO_TENSOR) qdq_tflite_add_input(w, op, bias);
    qdq_tflite_add_output(w, op, out);
    write_options(w, op, &window, depthwise, k.dims[0] / x.dims[3]);
}

// Sets the rule of padding of a window over y, as in the convolution that is transposed. False
// after a refusal.
static bool find_transposed_rule(qdq_tflite_writer *w, qdq_shape y, qdq_tflite_window *window) {
    const qdq_conv_transpose_attrs *a = w->node->attrs;
    qdq_tflite_window same = *window;
    if (a->data_format != QDQ_NXC)
        qdq_tflite_cannot(w, "data_format", "is NCX", "NXC: channels in the last dim");
    else if (y.rank != 4)
        qdq_tflite_cannot(w, "x", TFLITE_FOUND(w, "has %d dims", y.rank), "4: [N, H, W, C]");
    else if (a->groups.set != 0 && a->groups.value != 1)
        qdq_tflite_cannot(w, "groups", TFLITE_FOUND(w, "is %lld", (long long)a->groups.value), "1");
    else if (a->auto_pad != QDQ_PAD_NONE)
        qdq_tflite_cannot(w, "auto_pad", "is set", "numbers of padding");
    for (size_t i = 0; i < a->dilations.count; i++)
        if (a->dilations.data[i] != 1) qdq_tflite_cannot(w, "dilations", "are not 1", "1");
    if (w->refused) return false;
    for (int i = 0; i < 2; i++) {
        window->strides[i] = a->strides.data[i];
        window->begin[i] = a->pads_begin.count ? a->pads_begin.data[i] : 0;
        window->end[i] = a->pads_end.count ? a->pads_end.data[i] : 0;
    }
    same = *window;
    qdq_tflite_pad_same(&same, y);
    bool is_same = true, is_valid = true;
    for (int i = 0; i < 2; i++) {
        is_same = is_same && same.begin[i] == window->begin[i] && same.end[i] == window->end[i];
        is_valid = is_valid && !window->begin[i] && !window->end[i];
    }
    window->rule = is_valid ? 1 : 0;
    if (!is_same && !is_valid)
        qdq_tflite_cannot(w, "pads_begin", "and pads_end are no padding of SAME or VALID", NULL);
    return is_same || is_valid;
}

void qdq_tflite_write_transposed(qdq_tflite_writer *w) {
    static const qdq_tflite_turn turns[2] = {{true, {2, 0, 1, 3}}, {true, {1, 2, 3, 0}}};
    const qdq_conv_transpose_attrs *a = w->node->attrs;
    bool iox = a->weights_format == QDQ_IOX;
    int first = iox ? 2 : 0, outputs = iox ? 1 : 2;  // dims: rows, and output channels
    qdq_shape k = qdq_tflite_type_at(w, w->node->inputs[WEIGHTS].id)->shape;
    qdq_shape y = qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    qdq_tflite_window window = {.kernel = {k.dims[first], k.dims[first + 1]}, .dilations = {1, 1}};
    if (!find_transposed_rule(w, y, &window)) return;
    int32_t shape = qdq_tflite_new_ints(w, "shape", y.dims, 4, 0);
    int32_t weights = weights_tensor(w, &turns[iox], w->unit->stored ? 0 : outputs, 0);
    int32_t bias = bias_tensor(w, k.dims[outputs]), in = qdq_tflite_in(w, X),
            out = qdq_tflite_out(w, 0);
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_TRANSPOSE_CONV, TRANSPOSED_OPTIONS);
    qdq_tflite_add_input(w, op, shape);
    qdq_tflite_add_input(w, op, weights);
    qdq_tflite_add_input(w, op, in);
    if (bias != TFLITE_NO_TENSOR) qdq_tflite_add_input(w, op, bias);
    qdq_tflite_add_output(w, op, out);
    qdq_tflite_option_byte(op, 0, window.rule);
    qdq_tflite_option_int(op, 1, window.strides[1]);
    qdq_tflite_option_int(op, 2, window.strides[0]);
    qdq_tflite_option_byte(op, 3, w->unit->activation);
    if (has_narrow_bias(w)) qdq_tflite_option_byte(op, 4, BIAS_OF_INT32);
}

//---- FULLY_CONNECTED --------------------------------------------------------

// Returns the weights as [outputs, inputs]; constants are turned. -1 after a refusal.
static int32_t matrix_tensor(qdq_tflite_writer *w) {
    static const qdq_tflite_turn turn = {true, {1, 0}};
    const qdq_matmul_attrs *a = w->node->attrs;
    bool turned = a->transpose_b != QDQ_TRUE;
    qdq_shape shape = qdq_tflite_type_at(w, w->node->inputs[WEIGHTS].id)->shape;
    if (shape.rank == 2) return weights_tensor(w, turned ? &turn : NULL, turned ? 1 : 0, 0);
    qdq_tflite_cannot(w, "b", TFLITE_FOUND(w, "has %d dims", shape.rank), "2: weights");
    return TFLITE_NO_TENSOR;
}

static void write_batch(qdq_tflite_writer *w) {
    const qdq_matmul_attrs *a = w->node->attrs;
    if (w->node->inputs[BIAS].id) {
        qdq_tflite_cannot(w, "bias", "is given", "none: BATCH_MATMUL has no bias");
        return;
    }
    qdq_tflite_operator *op = qdq_tflite_emit_unit(w, TFLITE_BATCH_MATMUL, BATCH_OPTIONS, 2);
    qdq_tflite_option_byte(op, 0, a->transpose_a == QDQ_TRUE);
    qdq_tflite_option_byte(op, 1, a->transpose_b == QDQ_TRUE);
}

void qdq_tflite_write_matmul(qdq_tflite_writer *w) {
    if (w->unit->batch) {
        write_batch(w);
        return;
    }
    const qdq_matmul_attrs *a = w->node->attrs;
    const qdq_tflite_unit *u = w->unit;
    if (a->transpose_a == QDQ_TRUE) qdq_tflite_cannot(w, "transpose_a", "is true", "false");
    const qdq_shape *x = &qdq_tflite_type_at(w, u->in[X].value)->shape;
    const qdq_shape *k = &qdq_tflite_type_at(w, w->node->inputs[WEIGHTS].id)->shape;
    const qdq_shape *y = &qdq_tflite_type_at(w, w->node->outputs[0])->shape;
    int32_t weights = matrix_tensor(w);
    if (w->refused) return;
    int64_t outputs = k->dims[a->transpose_b == QDQ_TRUE ? 0 : 1];
    int32_t bias = bias_tensor(w, outputs), in = qdq_tflite_in(w, X), out = qdq_tflite_out(w, 0);
    if (w->refused) return;
    qdq_tflite_operator *op = qdq_tflite_emit(w, TFLITE_FULLY_CONNECTED, PRODUCT_OPTIONS);
    qdq_tflite_add_input(w, op, in);
    qdq_tflite_add_input(w, op, weights);
    if (bias != TFLITE_NO_TENSOR) qdq_tflite_add_input(w, op, bias);
    qdq_tflite_add_output(w, op, out);
    qdq_tflite_option_byte(op, 0, u->activation);
    // keep_num_dims; without it x becomes rows.
    if (y->rank != 2) qdq_tflite_option_byte(op, 2, x->rank == y->rank);
    if (u->asymmetric) qdq_tflite_option_byte(op, 3, 1);
    if (has_narrow_bias(w)) qdq_tflite_option_byte(op, 4, BIAS_OF_INT32);
}
