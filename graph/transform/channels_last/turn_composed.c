// SPDX-License-Identifier: Apache-2.0
// Writes nodes that no kernel on codes has as sums and products with constants.
#include <math.h>

#include "graph/core/names.h"
#include "graph/transform/channels_last/turning.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/reduce.h"

// Returns the first operand, turned if it is an image that is turned already.
static qdq_value operand(qdq_turning *t, const qdq_node *node, bool *last) {
    uint32_t x = node->inputs[0].id;
    *last = qdq_is_turned(t, x);
    return *last ? qdq_turned_value(t, x) : qdq_plain_value(t, x);
}

// Notes the result of a node, which has its name.
static void finish(qdq_turning *t, const qdq_node *node, qdq_value made, bool last) {
    (last ? t->turned : t->plain)[node->outputs[0]] = made;
    if (made.id && node->original)
        qdq_graph_set_node_original(t->to, t->to->node_count - 1, node->original);
}

static float *new_constant(qdq_turning *t, const qdq_node *node, const char *ending,
                           qdq_shape shape, qdq_value *made) {
    return qdq_graph_add_constant(t->to, qdq_turning_name(t, node->name, ending), QDQ_FLOAT32,
                                  shape, made);
}

static qdq_value scalar(qdq_turning *t, const qdq_node *node, const char *ending, double number) {
    qdq_value made = {0};
    float *to = new_constant(t, node, ending, (qdq_shape){0}, &made);
    if (to) *to = (float)number;
    return made;
}

//---- Quotients --------------------------------------------------------------

bool qdq_turn_divide(qdq_turning *t, const qdq_node *node) {
    enum { A, B };
    const float *data;
    bool last;
    qdq_value by = {0};
    uint32_t b = node->inputs[B].id;
    qdq_shape shape = t->from->values[b].type.shape;
    if (!qdq_turning_constant(t, b, &data) ||
        (qdq_is_turned(t, node->inputs[A].id) && shape.rank > 0))
        return false;
    float *to = new_constant(t, node, "_reciprocal", shape, &by);
    for (size_t i = 0; to && i < qdq_shape_count(shape); i++) to[i] = 1 / data[i];
    qdq_value a = operand(t, node, &last);
    finish(t, node, qdq_multiply(t->to, a, by, (qdq_binary_attrs){.name = node->name}), last);
    return true;
}

//---- Norms ------------------------------------------------------------------

bool qdq_turn_batch_norm(qdq_turning *t, const qdq_node *node) {
    enum { X, GAMMA, BETA, MEAN, VARIANCE, INPUTS };
    const qdq_batch_norm_attrs *given = node->attrs;
    const float *of[INPUTS] = {0};
    bool last;
    qdq_value by = {0}, plus = {0};
    qdq_shape x = t->from->values[node->inputs[X].id].type.shape,
              shape = t->from->values[node->inputs[GAMMA].id].type.shape;
    bool first = given->data_format == QDQ_NCX && x.rank > 2;
    if (node->input_count != INPUTS || (first && !qdq_is_turned(t, node->inputs[X].id)))
        return false;
    for (int i = GAMMA; i < INPUTS; i++)
        if (!qdq_turning_constant(t, node->inputs[i].id, &of[i])) return false;
    if (qdq_norm_meets_product(t, node)) {
        t->folded[node - t->from->nodes] = true;
        t->plain[node->outputs[0]] = qdq_plain_value(t, node->inputs[X].id);
        return true;
    }
    float *factors = new_constant(t, node, "_factors", shape, &by);
    float *offsets = new_constant(t, node, "_offsets", shape, &plus);
    for (int64_t c = 0; factors && offsets && c < shape.dims[0]; c++) {
        double factor = (double)of[GAMMA][c] / sqrt((double)of[VARIANCE][c] + given->epsilon.value);
        factors[c] = (float)factor;
        offsets[c] = (float)((double)of[BETA][c] - factor * (double)of[MEAN][c]);
    }
    qdq_value a = operand(t, node, &last);
    a = qdq_multiply(t->to, a, by,
                     (qdq_binary_attrs){.name = qdq_turning_name(t, node->name, "_scaled")});
    finish(t, node, qdq_add(t->to, a, plus, (qdq_binary_attrs){.name = node->name}), last);
    return true;
}

//---- Functions --------------------------------------------------------------

// clamp(alpha * x + beta, 0, 1) is relu6(6 * alpha * x + 6 * beta) / 6.
bool qdq_turn_hard_sigmoid(qdq_turning *t, const qdq_node *node) {
    const double six = 6;
    const qdq_hard_sigmoid_attrs *given = node->attrs;
    bool last;
    float factor = (float)(six * given->alpha.value);
    double offset = six * given->beta.value;
    qdq_value a = operand(t, node, &last);
    if (fabsf(factor - 1) > 1e-6F)
        a = qdq_multiply(t->to, a, scalar(t, node, "_factor", (double)factor),
                         (qdq_binary_attrs){.name = qdq_turning_name(t, node->name, "_scaled")});
    a = qdq_add(t->to, a, scalar(t, node, "_offset", offset),
                (qdq_binary_attrs){.name = qdq_turning_name(t, node->name, "_moved")});
    a = qdq_clamp(t->to, a,
                  (qdq_clamp_attrs){.name = qdq_turning_name(t, node->name, "_clipped"),
                                    .min = QDQ_FLOAT(0.0),
                                    .max = QDQ_FLOAT(six)});
    a = qdq_multiply(t->to, a, scalar(t, node, "_sixth", 1 / six),
                     (qdq_binary_attrs){.name = node->name});
    finish(t, node, a, last);
    return true;
}
