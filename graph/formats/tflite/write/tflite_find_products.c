// SPDX-License-Identifier: Apache-2.0
// Finds units of products and of SOFTMAX: weights that were turned, a bias of int64, rows of x,
// codes of x that are computed, and a factor before a softmax.
#include "graph/formats/tflite/tflite_read.h"
#include "graph/formats/tflite/write/tflite_units.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/inspect.h"
#include "include/qdq/ops.h"

enum { X, WEIGHTS, BIAS };

// Sets the bias: codes of int32 or of int64, which a Cast turns to int32.
static void set_bias(const qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    if (u->in_count <= BIAS || !node->inputs[BIAS].id) return;
    qdq_tflite_set_operand(draft, node, u, BIAS, node->inputs[BIAS].id);
    const qdq_node *cast = qdq_tflite_maker(draft, u->in[BIAS].value);
    if (!u->in[BIAS].coder || !cast || !qdq_tflite_is(cast, "Cast")) return;
    uint32_t wide = cast->inputs[0].id;
    if (draft->graph->values[wide].type.dtype == QDQ_INT64 && qdq_tflite_share_operator(node, cast))
        u->in[BIAS].value = wide;
}

// True if x, weights and bias are codes of dtypes that a product of codes takes.
static bool is_product_of_codes(const qdq_tflite_draft *draft, const qdq_node *node,
                                const qdq_tflite_unit *u) {
    const qdq_graph_value *values = draft->graph->values;
    bool biased = u->in_count > BIAS && u->in[BIAS].value;
    if (!u->in[WEIGHTS].coder || (biased && !u->in[BIAS].coder)) return false;
    if (qdq_tflite_was_read(node, u)) return u->in[X].coder != NULL;
    qdq_dtype x = values[u->in[X].value].type.dtype, w = values[u->in[WEIGHTS].value].type.dtype;
    qdq_dtype bias = biased ? values[u->in[BIAS].value].type.dtype : QDQ_INT32;
    bool fits = w == QDQ_INT4 || w == (x == QDQ_UINT8 ? QDQ_UINT8 : QDQ_INT8);
    return qdq_tflite_is_coded(draft, node, u, 1) && fits &&
           (bias == QDQ_INT32 || bias == QDQ_INT64);
}

//---- Convolutions -----------------------------------------------------------

bool qdq_tflite_is_depthwise(const qdq_tflite_draft *draft, const qdq_node *node) {
    const qdq_convolution_attrs *a = node->attrs;
    const qdq_shape *w = &draft->graph->values[node->inputs[WEIGHTS].id].type.shape;
    if (qdq_tflite_was(node, "DEPTHWISE_CONV_2D")) return true;
    return !qdq_tflite_was(node, "CONV_2D") && a->groups.set != 0 && a->groups.value > 1 &&
           w->rank == 4 && w->dims[1] == 1;
}

// True if the node brings the weights of another one from the format's order of dims to ours.
static bool is_turn(const qdq_node *turn, const qdq_node *node, const int64_t *order) {
    if (!turn || !qdq_tflite_is(turn, "StaticTranspose") || !qdq_tflite_share_operator(node, turn))
        return false;
    const qdq_transpose_attrs *a = turn->attrs;
    for (size_t i = 0; i < 4; i++)
        if (a->order.count != 4 || a->order.data[i] != order[i]) return false;
    return true;
}

void qdq_tflite_find_conv(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    static const int64_t orders[2][4] = {{0, 3, 1, 2}, {3, 0, 1, 2}};
    qdq_tflite_set_operand(draft, node, u, X, node->inputs[X].id);
    qdq_tflite_set_operand(draft, node, u, WEIGHTS, node->inputs[WEIGHTS].id);
    set_bias(draft, node, u);
    qdq_tflite_find_result(draft, node, u, is_product_of_codes(draft, node, u), true);
    const qdq_node *turn = qdq_tflite_maker(draft, u->in[WEIGHTS].value);
    u->stored = is_turn(turn, node, orders[qdq_tflite_is_depthwise(draft, node)]);
    if (u->stored) u->in[WEIGHTS].value = turn->inputs[0].id;
}

// The weights of ConvTranspose are [rows, columns, outputs, inputs], turned from the format's by a
// StaticTranspose behind their Dequantize.
void qdq_tflite_find_transposed(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    static const int64_t order[4] = {1, 2, 0, 3};
    uint32_t weights = node->inputs[WEIGHTS].id;
    const qdq_node *turn = qdq_tflite_maker(draft, weights);
    const qdq_conv_transpose_attrs *a = node->attrs;
    bool stored = a->weights_format == QDQ_XOI && is_turn(turn, node, order);
    if (stored) weights = turn->inputs[0].id;
    qdq_tflite_set_operand(draft, node, u, X, node->inputs[X].id);
    qdq_tflite_set_operand(draft, node, u, WEIGHTS, weights);
    set_bias(draft, node, u);
    qdq_tflite_find_result(draft, node, u, is_product_of_codes(draft, node, u), true);
    u->stored = stored;
    if (!u->codes) u->in[WEIGHTS].value = weights;
}

//---- FULLY_CONNECTED --------------------------------------------------------

// Returns x before the StaticReshape to rows that FULLY_CONNECTED does itself.
static uint32_t before_rows(const qdq_tflite_draft *draft, uint32_t value) {
    const qdq_node *rows = qdq_tflite_maker(draft, value);
    bool own = rows && qdq_tflite_is(rows, "StaticReshape") &&
               qdq_tflite_was(rows, "FULLY_CONNECTED") &&
               draft->graph->values[value].type.shape.rank == 2;
    return own ? rows->inputs[0].id : value;
}

// True if the codes have the range and scheme of a product with codes of weights: rows of int8.
static bool is_row_scheme(const qdq_tflite_draft *draft, const qdq_node *node) {
    const qdq_dynamic_quantize_attrs *a = node->attrs;
    const qdq_shape *shape = &draft->graph->values[node->inputs[0].id].type.shape;
    const qdq_ints *group = &a->quantize.group_shape;
    bool symmetric = a->scheme == QDQ_SYMMETRIC && a->quantize.quant_min.set != 0 &&
                     a->quantize.quant_min.value == -127;
    bool asymmetric = a->scheme == QDQ_ASYMMETRIC && a->quantize.quant_min.set == 0;
    if (draft->graph->values[node->outputs[0]].type.dtype != QDQ_INT8 ||
        a->quantize.qtype != QDQ_PER_GROUP || group->count != (size_t)shape->rank ||
        a->quantize.quant_max.set != 0 || a->eps.set != 0 || node->output_count < 3)
        return false;
    for (int i = 0; i < shape->rank; i++) {
        bool last = i == shape->rank - 1, whole = group->data[i] == -1;
        if (last ? !whole && group->data[i] != shape->dims[i] : group->data[i] != 1) return false;
    }
    return symmetric || asymmetric;
}

// Finds the rows of floats whose codes are computed for the product, if the weights are constant
// codes.
static void find_dynamic(const qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    const qdq_node *coder = qdq_tflite_maker(draft, node->inputs[X].id);
    if (!coder || !qdq_tflite_is(coder, "Dequantize") || !qdq_tflite_share_operator(node, coder))
        return;
    const qdq_node *rows = qdq_tflite_maker(draft, coder->inputs[0].id);
    const qdq_node *weights = qdq_tflite_coder_of(draft, node, node->inputs[WEIGHTS].id);
    if (!rows || !weights || !qdq_tflite_is(rows, "DynamicQuantize") ||
        !qdq_tflite_share_operator(node, rows) || !is_row_scheme(draft, rows) ||
        coder->inputs[0].id != rows->outputs[0] || coder->inputs[1].id != rows->outputs[1] ||
        (coder->inputs[2].id && coder->inputs[2].id != rows->outputs[2]))
        return;
    const qdq_dynamic_quantize_attrs *a = rows->attrs;
    u->dynamic = true;
    u->asymmetric = a->scheme == QDQ_ASYMMETRIC;
    u->in[X] = (qdq_tflite_source){before_rows(draft, rows->inputs[0].id), NULL};
    u->in[WEIGHTS] = (qdq_tflite_source){weights->inputs[0].id, weights};
}

// True if the product is BATCH_MATMUL: its second operand is no matrix of weights as
// FULLY_CONNECTED takes it.
static bool is_batch(const qdq_tflite_draft *draft, const qdq_node *node) {
    const qdq_matmul_attrs *a = node->attrs;
    const qdq_node *coder = qdq_tflite_coder_of(draft, node, node->inputs[WEIGHTS].id);
    uint32_t weights = coder ? coder->inputs[0].id : node->inputs[WEIGHTS].id;
    const qdq_graph_value *v = &draft->graph->values[weights];
    if (qdq_tflite_mark(node)) return qdq_tflite_was(node, "BATCH_MATMUL");
    return v->type.shape.rank != 2 || a->transpose_a == QDQ_TRUE ||
           (v->kind != QDQ_VALUE_CONSTANT && a->transpose_b != QDQ_TRUE);
}

void qdq_tflite_find_matmul(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    u->batch = is_batch(draft, node);
    if (u->batch) {
        for (size_t i = 0; i < 2; i++)
            qdq_tflite_set_operand(draft, node, u, i, node->inputs[i].id);
        qdq_tflite_find_result(draft, node, u, qdq_tflite_is_coded(draft, node, u, 2), false);
        return;
    }
    qdq_tflite_set_operand(draft, node, u, X, node->inputs[X].id);
    qdq_tflite_set_operand(draft, node, u, WEIGHTS, node->inputs[WEIGHTS].id);
    set_bias(draft, node, u);
    qdq_tflite_find_result(draft, node, u, is_product_of_codes(draft, node, u), true);
    u->in[X].value = before_rows(draft, u->in[X].value);
    if (!u->codes) find_dynamic(draft, node, u);
}

//---- SOFTMAX ----------------------------------------------------------------

// Returns the factor that a Multiply in front of a softmax applies; 0: none.
static float factor_of(const qdq_tflite_draft *draft, const qdq_node *multiply) {
    float factor = 0.0f;
    if (!multiply || !qdq_tflite_is(multiply, "Multiply")) return 0.0f;
    const qdq_graph_value *b = &draft->graph->values[multiply->inputs[1].id];
    bool scalar = b->kind == QDQ_VALUE_CONSTANT && b->type.dtype == QDQ_FLOAT32 &&
                  qdq_shape_count(b->type.shape) == 1 && b->type.shape.rank == 0;
    const float *data = scalar ? b->data : NULL;
    if (data) factor = *data;
    return factor;
}

void qdq_tflite_find_softmax(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    uint32_t x = node->inputs[0].id;
    const qdq_node *multiply = qdq_tflite_maker(draft, x);
    float factor = factor_of(draft, multiply);
    bool own =
        factor != 0.0f && qdq_tflite_was(node, "SOFTMAX") && qdq_tflite_was(multiply, "SOFTMAX");
    bool plain = !own && factor != 0.0f && !qdq_tflite_mark(node) && !qdq_tflite_mark(multiply) &&
                 qdq_tflite_only_reader(draft, x) == node;
    if (own || plain) x = multiply->inputs[0].id;
    u->beta = own || plain ? factor : 1.0f;
    qdq_tflite_set_operand(draft, node, u, 0, x);
    qdq_tflite_find_result(draft, node, u, qdq_tflite_is_coded(draft, node, u, 1), false);
    if (!u->codes && own) u->in[0].value = x;
    if (!u->codes && plain) u->beta = 1.0f;
}
