// SPDX-License-Identifier: Apache-2.0
// Finds units of pairs: an op on floats between Dequantize and Quantize.
#include "graph/formats/tflite/write/tflite_units.h"

#include <string.h>

#include "graph/formats/tflite/tflite_read.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

//---- Nodes ------------------------------------------------------------------

bool qdq_tflite_was_read(const qdq_node *node, const qdq_tflite_unit *u) {
    return qdq_tflite_mark(node) && (!u->in[0].coder || qdq_tflite_mark(u->in[0].coder));
}

bool qdq_tflite_share_operator(const qdq_node *a, const qdq_node *b) {
    const char *one = qdq_tflite_mark(a), *other = qdq_tflite_mark(b);
    return !one || !other || strcmp(one, other) == 0;
}

bool qdq_tflite_was(const qdq_node *node, const char *op) {
    const char *mark = qdq_tflite_mark(node);
    return mark && strcmp(mark, op) == 0;
}

const qdq_node *qdq_tflite_maker(const qdq_tflite_draft *draft, uint32_t value) {
    const qdq_graph_value *v = &draft->graph->values[value];
    return value && v->kind == QDQ_VALUE_MADE ? &draft->graph->nodes[v->node] : NULL;
}

const qdq_node *qdq_tflite_only_reader(const qdq_tflite_draft *draft, uint32_t value) {
    bool alone = draft->reader_counts[value] == 1 && !draft->graph->values[value].returned;
    return alone ? &draft->graph->nodes[draft->reader[value]] : NULL;
}

static qdq_dtype dtype_of(const qdq_tflite_draft *draft, uint32_t value) {
    return draft->graph->values[value].type.dtype;
}

//---- Coders -----------------------------------------------------------------

// True if the node turns float32 to codes, or codes to float32, with constant parameters and the
// whole range of the codes.
static bool is_coder(const qdq_tflite_draft *draft, const qdq_node *node, const char *op) {
    if (!node || !qdq_tflite_is(node, op)) return false;
    bool quantizes = op[0] == 'Q';
    uint32_t real = quantizes ? node->inputs[0].id : node->outputs[0];
    return dtype_of(draft, real) == QDQ_FLOAT32 && qdq_tflite_params_of(draft, node, NULL) &&
           !(quantizes && qdq_tflite_is_narrowed(draft, node));
}

const qdq_node *qdq_tflite_coder_of(const qdq_tflite_draft *draft, const qdq_node *node,
                                    uint32_t value) {
    const qdq_node *coder = qdq_tflite_maker(draft, value);
    bool found = is_coder(draft, coder, "Dequantize") && qdq_tflite_share_operator(node, coder);
    return found ? coder : NULL;
}

const qdq_node *qdq_tflite_coder_behind(const qdq_tflite_draft *draft, const qdq_node *node,
                                        uint32_t value) {
    const qdq_node *coder = qdq_tflite_only_reader(draft, value);
    bool found = is_coder(draft, coder, "Quantize") && coder->inputs[0].id == value &&
                 qdq_tflite_share_operator(node, coder);
    return found ? coder : NULL;
}

void qdq_tflite_set_operand(const qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u,
                            size_t i, uint32_t value) {
    const qdq_node *coder = qdq_tflite_coder_of(draft, node, value);
    u->in[i] = (qdq_tflite_source){coder ? coder->inputs[0].id : value, coder};
}

bool qdq_tflite_is_coded(const qdq_tflite_draft *draft, const qdq_node *node,
                         const qdq_tflite_unit *u, size_t operands) {
    qdq_dtype first = dtype_of(draft, u->in[0].value);
    bool read = qdq_tflite_was_read(node, u);
    for (size_t i = 0; i < operands; i++) {
        if (!u->in[i].coder) return false;
        if (!read && dtype_of(draft, u->in[i].value) != first) return false;
    }
    return read || first == QDQ_INT8 || first == QDQ_UINT8 || first == QDQ_INT16;
}

//---- Results ----------------------------------------------------------------

// Returns the activation that a node is; none if it may not belong to the operator of another one.
// Codes that were chosen after a model was read have no operator: its activations are fused then.
static int activation_of(const qdq_node *node, const qdq_node *clip, bool coded) {
    const qdq_clamp_attrs *a = clip ? clip->attrs : NULL;
    if (!clip || !(coded || qdq_tflite_share_operator(node, clip))) return TFLITE_NO_ACTIVATION;
    if (qdq_tflite_is(clip, "ReLU")) return TFLITE_FUSED_RELU;
    if (qdq_tflite_is(clip, "ReLU6")) return TFLITE_FUSED_RELU6;
    if (qdq_tflite_is(clip, "Tanh") && qdq_tflite_mark(node) && qdq_tflite_mark(clip))
        return TFLITE_FUSED_TANH;
    if (!qdq_tflite_is(clip, "Clamp")) return TFLITE_NO_ACTIVATION;
    if (a->min.value == 0.0 && a->max.value == 6.0) return TFLITE_FUSED_RELU6;
    bool one = a->min.value == -1.0 && a->max.value == 1.0;
    return one ? TFLITE_FUSED_RELU_N1_TO_1 : TFLITE_NO_ACTIVATION;
}

static void make_part(qdq_tflite_draft *draft, const qdq_node *node) {
    draft->units[node - draft->graph->nodes].part = true;
}

void qdq_tflite_find_result(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u,
                            bool coded, bool fuses) {
    uint32_t y = node->outputs[0];
    const qdq_node *clip = fuses ? qdq_tflite_only_reader(draft, y) : NULL;
    u->activation = activation_of(node, clip, coded && !qdq_tflite_was_read(node, u));
    if (u->activation) y = clip->outputs[0];
    const qdq_node *coder = coded ? qdq_tflite_coder_behind(draft, node, y) : NULL;
    for (size_t i = 1; i < node->output_count; i++)
        if (draft->graph->values[node->outputs[i]].uses) coder = NULL;
    if (coder && !qdq_tflite_was_read(node, u) &&
        dtype_of(draft, coder->outputs[0]) != dtype_of(draft, u->in[0].value))
        coder = NULL;
    if (u->activation) make_part(draft, clip);
    if (coder) make_part(draft, coder), y = coder->outputs[0];
    u->codes = coder != NULL;
    u->coder = coder;
    u->outs[0] = y;
    for (size_t i = 0; !coder && i < u->in_count && i < node->input_count; i++)
        u->in[i] = (qdq_tflite_source){node->inputs[i].id, NULL};
}

//---- Units ------------------------------------------------------------------

void qdq_tflite_find_pair(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    for (size_t i = 0; i < node->input_count; i++)
        qdq_tflite_set_operand(draft, node, u, i, node->inputs[i].id);
    bool coded = (u->pairs || qdq_tflite_was_read(node, u)) &&
                 qdq_tflite_is_coded(draft, node, u, node->input_count);
    qdq_tflite_find_result(draft, node, u, coded, u->fuses);
}

// Quantize, Dequantize, Requantize and Cast, and ops that the format lacks.
void qdq_tflite_find_alone(qdq_tflite_draft *draft, const qdq_node *node, qdq_tflite_unit *u) {
    bool quantizes = qdq_tflite_is(node, "Quantize"),
         dequantizes = qdq_tflite_is(node, "Dequantize");
    if (quantizes || dequantizes || qdq_tflite_is(node, "Requantize")) u->in_count = 1;
    if (!qdq_tflite_params_of(draft, node, NULL)) return;
    if (dequantizes) u->in[0].coder = node;
    if (quantizes) u->coder = node;
}
