// SPDX-License-Identifier: Apache-2.0
// The pair form: operands of an operator as floats, and its result as codes.
#include "graph/formats/tflite/ops/tflite_ops.h"
#include "runtime/base/error.h"
#include "runtime/numerics/dtype.h"

//---- Parameters -------------------------------------------------------------

static bool are_zeros(const qdq_tflite_tensor *tensor) {
    for (size_t i = 0; i < tensor->zp_count; i++)
        if (tensor->zps[i] != 0.0) return false;
    return true;
}

// Returns the scales and zero points of a tensor, along `axis` if there are several. A constant of
// uint8 with one scale keeps its axis, as XNNPACK takes filters of axis 0 only.
static qdq_quantize_attrs parameters(const qdq_tflite_tensor *tensor, int axis) {
    size_t count = tensor->scale_count, zps = tensor->zp_count;
    qdq_quantize_attrs attrs = {.scales = {tensor->scales, count, count == 1}};
    if (!are_zeros(tensor)) attrs.zps = (qdq_numbers){tensor->zps, zps, zps == 1};
    if (count > 1) attrs.qtype = QDQ_PER_CHANNEL;
    bool kept =
        tensor->dtype == QDQ_UINT8 && tensor->bytes && axis > 0 && axis < tensor->shape.rank;
    if (count > 1 || kept) attrs.axis = QDQ_INT(axis);
    return attrs;
}

static qdq_value dequantize(qdq_tflite_node *node, const qdq_tflite_tensor *codes, int axis,
                            qdq_value value, const char *helper) {
    qdq_dequantize_attrs attrs = parameters(codes, axis);
    if (!value.id || node->refused) return (qdq_value){0};
    attrs.name = helper ? qdq_tflite_helper(node, helper) : node->name;
    attrs.dtype = QDQ_FLOAT32;
    return qdq_dequantize(node->im->graph, value, attrs);
}

qdq_value qdq_tflite_dequantized(qdq_tflite_node *node, const qdq_tflite_tensor *codes,
                                 qdq_value value, const char *helper) {
    return dequantize(node, codes, codes->axis, value, helper);
}

//---- Operands ---------------------------------------------------------------

// Returns the axis that a constant's parameters have in an order of dims. False after a refusal.
static bool find_axis(qdq_tflite_node *node, const qdq_tflite_tensor *tensor,
                      qdq_tflite_order order, const char *port, int *axis) {
    int wanted = order == QDQ_TFLITE_DEPTHWISE ? 3 : 0;
    *axis = tensor->axis;
    if (order == QDQ_TFLITE_AS_STORED || tensor->scale_count <= 1) return true;
    *axis = 0;
    if (tensor->axis == wanted) return true;
    qdq_tflite_refuse(node, port, TFLITE_TEXT(node, "has scales along dim %d", tensor->axis),
                      TFLITE_TEXT(node, "dim %d", wanted));
    return false;
}

qdq_value qdq_tflite_operand(qdq_tflite_node *node, size_t i, qdq_tflite_order order,
                             const char *helper) {
    const qdq_tflite_tensor *tensor = qdq_tflite_input(node, i);
    int axis;
    if (!tensor || node->refused) return (qdq_value){0};
    if (!qdq_tflite_is_codes(tensor)) return qdq_tflite_ref(node, i, order);
    if (!find_axis(node, tensor, order, helper, &axis)) return (qdq_value){0};
    return dequantize(node, tensor, axis, qdq_tflite_ref(node, i, order), helper);
}

// Returns the codes of a bias as int32: those of int64 by a Cast, if each fits.
static qdq_value bias_codes(qdq_tflite_node *node, const qdq_tflite_tensor *bias) {
    qdq_value codes = qdq_tflite_ref(node, 2, QDQ_TFLITE_AS_STORED);
    if (bias->dtype != QDQ_INT64 || !codes.id) return codes;
    qdq_flat_list list = {bias->at, qdq_shape_count(bias->shape)};
    bool fits = !bias->made;
    for (size_t i = 0; fits && i < list.count; i++) {
        int64_t code = qdq_flat_int_at(node->im->flat, list, i, QDQ_FLAT_I64);
        fits = code >= INT32_MIN && code <= INT32_MAX;
    }
    if (!fits) {
        qdq_tflite_refuse(node, "bias", "has sums beyond int32", NULL);
        return (qdq_value){0};
    }
    return qdq_cast(
        node->im->graph, codes,
        (qdq_cast_attrs){.name = qdq_tflite_helper(node, "bias_codes"), .dtype = QDQ_INT32});
}

// Sets the scales of a bias to the products of the scales of x and of the weights.
static bool give_scales(qdq_tflite_node *node, qdq_tflite_tensor *bias) {
    const qdq_tflite_tensor *x = node->inputs[0], *w = node->inputs[1];
    if (x->scale_count != 1 || !w->scale_count) return false;
    float *scales = qdq_mempool_array(node->im->mempool, w->scale_count, sizeof *scales);
    if (!scales) return false;
    for (size_t i = 0; i < w->scale_count; i++) scales[i] = x->scales[0] * w->scales[i];
    bias->scales = scales, bias->scale_count = w->scale_count;
    bias->zp_count = 0, bias->axis = 0;
    return true;
}

qdq_value qdq_tflite_bias(qdq_tflite_node *node) {
    qdq_tflite_tensor *bias = qdq_tflite_input(node, 2);
    if (!bias || node->refused) return (qdq_value){0};
    bool whole = bias->dtype == QDQ_INT32 || bias->dtype == QDQ_INT64;
    if (whole && !bias->scale_count && !give_scales(node, bias)) {
        qdq_tflite_refuse(node, "bias", "is whole numbers without a scale", NULL);
        return (qdq_value){0};
    }
    if (!whole) return qdq_tflite_operand(node, 2, QDQ_TFLITE_AS_STORED, "bias");
    return dequantize(node, bias, bias->axis, bias_codes(node, bias), "bias");
}

//---- Results ----------------------------------------------------------------

static bool gives_codes(const qdq_tflite_node *node) {
    return node->output_count && node->outputs[0] && qdq_tflite_is_codes(node->outputs[0]);
}

const char *qdq_tflite_op_name(qdq_tflite_node *node) {
    return node->activation || gives_codes(node) ? qdq_tflite_helper(node, "real") : node->name;
}

static qdq_value activate(qdq_tflite_node *node, qdq_value y) {
    qdq_graph *graph = node->im->graph;
    enum { NONE, RELU, RELU_N1_TO_1, RELU6, TANH };
    if (node->activation == NONE) return y;
    const char *name = gives_codes(node) ? qdq_tflite_helper(node, "activation") : node->name;
    if (node->activation == RELU) return qdq_relu(graph, y, (qdq_unary_attrs){.name = name});
    if (node->activation == TANH) return qdq_tanh(graph, y, (qdq_unary_attrs){.name = name});
    bool six = node->activation == RELU6;
    if (six || node->activation == RELU_N1_TO_1)
        return qdq_clamp(graph, y,
                         (qdq_clamp_attrs){.name = name,
                                           .min = QDQ_FLOAT(six ? 0.0 : -1.0),
                                           .max = QDQ_FLOAT(six ? 6.0 : 1.0)});
    qdq_tflite_refuse(node, "activation", TFLITE_TEXT(node, "is %d", node->activation), "0 to 4");
    return (qdq_value){0};
}

qdq_value qdq_tflite_quantized(qdq_tflite_node *node, qdq_value y, const char *helper) {
    const qdq_tflite_tensor *out = node->outputs[0];
    qdq_quantize_attrs attrs = parameters(out, out->axis);
    if (!y.id || node->refused) return (qdq_value){0};
    attrs.name = helper ? qdq_tflite_helper(node, helper) : node->name;
    attrs.dtype = out->dtype;
    return qdq_quantize(node->im->graph, y, attrs);
}

void qdq_tflite_finish(qdq_tflite_node *node, qdq_value y) {
    if (!y.id || node->refused) return;
    if (qdq_tflite_is_codes(node->inputs[0]) != gives_codes(node)) {
        qdq_tflite_refuse(node, NULL,
                          gives_codes(node) ? "makes codes of floats" : "makes floats of codes",
                          "both quantized, or none");
        return;
    }
    y = activate(node, y);
    if (!y.id || !gives_codes(node)) {
        qdq_tflite_bind(node, 0, y);
        return;
    }
    qdq_tflite_bind(node, 0, qdq_tflite_quantized(node, y, NULL));
}

qdq_shape qdq_tflite_shape(const qdq_tflite_node *node, qdq_value value, bool *known) {
    qdq_shape shape = {0};
    *known = qdq_value_type(node->im->graph, value, NULL, &shape);
    return shape;
}

bool qdq_tflite_axis(qdq_tflite_node *node, int64_t axis, int rank, int *out) {
    *out = (int)(axis < 0 ? axis + rank : axis);
    if (axis >= -rank && axis < rank) return true;
    qdq_tflite_refuse(node, "axis", TFLITE_TEXT(node, "is %lld", (long long)axis),
                      TFLITE_TEXT(node, "%d to %d", -rank, rank - 1));
    return false;
}
