// SPDX-License-Identifier: Apache-2.0
// Scales and zero points: of nodes, and of the values whose tensors have them. A value has the
// parameters of the nodes around it; codes that only move have the ones of the values they come
// from, else of the values they go to.
#include <string.h>

#include "graph/formats/tflite/write/tflite_units.h"
#include "graph/formats/tflite/write/tflite_writers.h"
#include "include/qdq/inspect.h"
#include "include/qdq/ops.h"
#include "runtime/numerics/dtype.h"

enum { SCALE = 1, ZERO_POINT = 2 };

//---- Numbers of a node ------------------------------------------------------

// One side of a node that converts codes: a list of numbers, or the value in its place.
typedef struct side {
    qdq_floats scales;
    qdq_numbers zps;
    uint32_t scale, zp;
    int axis;
    bool keeps_axis;  // also of one scale
} side;

static bool is_constant(const qdq_tflite_draft *draft, uint32_t value) {
    return !value || draft->graph->values[value].kind == QDQ_VALUE_CONSTANT;
}

static size_t count_of(const qdq_tflite_draft *draft, uint32_t value, size_t otherwise) {
    return value ? qdq_shape_count(draft->graph->values[value].type.shape) : otherwise;
}

// Reads a constant list of floats into memory of the draft; NULL: it is none.
static const float *read_floats(const qdq_tflite_draft *draft, uint32_t value, size_t count) {
    const qdq_graph_value *v = &draft->graph->values[value];
    const void *data = qdq_value_data(draft->graph, (qdq_value){value});
    float *out = qdq_mempool_array(draft->mempool, count, sizeof *out);
    if (!data || !out) return NULL;
    qdq_decode_float(v->type.dtype, data, out, count);
    return out;
}

// Reads zero points, `count` of them.
static const int64_t *read_zps(const qdq_tflite_draft *draft, const side *s, size_t count) {
    int64_t *out = qdq_mempool_array(draft->mempool, count, sizeof *out);
    size_t given = count_of(draft, s->zp, s->zps.count);
    if (!out || !given) return out;
    const qdq_graph_value *v = &draft->graph->values[s->zp];
    const unsigned char *data = s->zp ? qdq_value_data(draft->graph, (qdq_value){s->zp}) : NULL;
    if (s->zp && !data) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t at = given == 1 ? 0 : i;
        float real;
        if (!s->zp) {
            out[i] = (int64_t)s->zps.data[at];
        } else if (qdq_dtype_is_real(v->type.dtype)) {
            qdq_decode_float(v->type.dtype, data + at * qdq_dtype_size(v->type.dtype), &real, 1);
            out[i] = (int64_t)real;
        } else {
            qdq_widen_int64(v->type.dtype, data + at * qdq_dtype_size(v->type.dtype), &out[i], 1);
        }
    }
    return out;
}

// Returns one side of a Quantize or Dequantize; false if it cannot be scales and zero points.
static bool side_of(const qdq_tflite_draft *draft, const qdq_node *node, side *s) {
    if (!qdq_tflite_is(node, "Quantize") && !qdq_tflite_is(node, "Dequantize")) return false;
    const qdq_quantize_attrs *a = node->attrs;
    int rank = draft->graph->values[node->inputs[0].id].type.shape.rank;
    int64_t axis = a->axis.set != 0 ? a->axis.value : 1;
    *s = (side){a->scales, a->zps, node->inputs[SCALE].id, node->inputs[ZERO_POINT].id, 0, false};
    uint32_t codes = qdq_tflite_is(node, "Quantize") ? node->outputs[0] : node->inputs[0].id;
    s->keeps_axis = a->qtype == QDQ_PER_TENSOR && a->axis.set != 0 &&
                    draft->graph->values[codes].type.dtype == QDQ_UINT8;
    if (a->qtype == QDQ_PER_CHANNEL || s->keeps_axis)
        s->axis = (int)(axis < 0 ? axis + rank : axis);
    return a->qtype != QDQ_PER_GROUP && a->zero_point_domain != QDQ_DOMAIN_FLOAT &&
           qdq_dtype_is_whole(draft->graph->values[codes].type.dtype) &&
           is_constant(draft, s->scale) && is_constant(draft, s->zp) &&
           (!s->scale || qdq_dtype_is_real(draft->graph->values[s->scale].type.dtype));
}

static bool read_side(const qdq_tflite_draft *draft, const side *s, qdq_tflite_params *out) {
    size_t count = count_of(draft, s->scale, s->scales.count);
    *out = (qdq_tflite_params){.count = count, .axis = count > 1 || s->keeps_axis ? s->axis : 0};
    out->scales = s->scale ? read_floats(draft, s->scale, count) : s->scales.data;
    out->zps = read_zps(draft, s, count);
    return count && out->scales && out->zps;
}

bool qdq_tflite_params_of(const qdq_tflite_draft *draft, const qdq_node *coder,
                          qdq_tflite_params *out) {
    side s;
    if (!side_of(draft, coder, &s)) return false;
    return !out || read_side(draft, &s, out);
}

bool qdq_tflite_requantize_params(const qdq_tflite_draft *draft, const qdq_node *node, bool in,
                                  qdq_tflite_params *out) {
    const qdq_requantize_attrs *a = node->attrs;
    size_t first = in ? 1 : 3;
    side s = {.scales = in ? a->in_scales : a->out_scales,
              .zps = in ? a->in_zps : a->out_zps,
              .scale = node->inputs[first].id,
              .zp = node->inputs[first + 1].id};
    return is_constant(draft, s.scale) && is_constant(draft, s.zp) &&
           count_of(draft, s.scale, s.scales.count) == 1 && read_side(draft, &s, out);
}

bool qdq_tflite_is_narrowed(const qdq_tflite_draft *draft, const qdq_node *node) {
    const qdq_quantize_attrs *a = node->attrs;
    const qdq_dtype_info *info = qdq_dtype_get(draft->graph->values[node->outputs[0]].type.dtype);
    return (a->quant_min.set != 0 && (double)a->quant_min.value != (double)info->least) ||
           (a->quant_max.set != 0 && (double)a->quant_max.value != (double)info->greatest);
}

//---- Parameters of values ---------------------------------------------------

// Gives parameters to a value that is no constant; refuses other ones than it has.
static void claim(qdq_tflite_draft *draft, const qdq_node *node, uint32_t value,
                  const qdq_tflite_params *params) {
    qdq_tflite_params **mine = &draft->params[value];
    const qdq_graph_value *v = &draft->graph->values[value];
    if (v->kind == QDQ_VALUE_CONSTANT) return;
    if (!*mine) {
        *mine = qdq_mempool_copy(draft->mempool, params, 1, sizeof *params);
        return;
    }
    if (qdq_tflite_params_equal(*mine, params)) return;
    qdq_tflite_writer w = {.draft = draft, .node = node};
    qdq_tflite_cannot(
        &w, "scale",
        TFLITE_FOUND(&w, "gives '%.128s' another scale or zero point than another node", v->name),
        "one of each for a tensor");
}

// Gives the parameters that the nodes of a unit name.
static void claim_own(qdq_tflite_draft *draft, const qdq_node *node, const qdq_tflite_unit *u) {
    qdq_tflite_params params;
    if (u->coder && qdq_tflite_params_of(draft, u->coder, &params))
        claim(draft, u->coder, u->outs[0], &params);
    for (size_t i = 0; i < u->in_count; i++)
        if (u->in[i].coder && is_constant(draft, u->in[i].value) == false &&
            qdq_tflite_params_of(draft, u->in[i].coder, &params))
            claim(draft, u->in[i].coder, u->in[i].value, &params);
    if (!qdq_tflite_is(node, "Requantize")) return;
    if (qdq_tflite_requantize_params(draft, node, true, &params))
        claim(draft, node, node->inputs[0].id, &params);
    if (qdq_tflite_requantize_params(draft, node, false, &params))
        claim(draft, node, node->outputs[0], &params);
}

// Copies parameters along codes that move: to results without any, or `back` to operands.
static void pass_on(const qdq_tflite_draft *draft, const qdq_tflite_unit *u, bool back) {
    qdq_tflite_params *known = NULL;
    size_t from = back ? u->out_count : u->in_count, to = back ? u->in_count : u->out_count;
    for (size_t i = 0; i < from && !known; i++)
        known = draft->params[back ? u->outs[i] : u->in[i].value];
    for (size_t i = 0; known && known->count == 1 && i < to; i++) {
        uint32_t value = back ? u->in[i].value : u->outs[i];
        if (value && !draft->params[value]) draft->params[value] = known;
    }
}

void qdq_tflite_find_params(qdq_tflite_draft *draft) {
    const qdq_graph *graph = draft->graph;
    for (size_t i = 0; i < graph->node_count; i++)
        if (draft->units[i].needed) claim_own(draft, &graph->nodes[i], &draft->units[i]);
    for (size_t i = 0; i < graph->node_count; i++)
        if (draft->units[i].needed && draft->units[i].moves)
            pass_on(draft, &draft->units[i], false);
    for (size_t i = graph->node_count; i-- > 0;)
        if (draft->units[i].needed && draft->units[i].moves) pass_on(draft, &draft->units[i], true);
    for (size_t i = 0; i < graph->node_count; i++)
        if (draft->units[i].needed && draft->units[i].moves)
            pass_on(draft, &draft->units[i], false);
}

const qdq_tflite_params *qdq_tflite_operand_params(qdq_tflite_writer *w, size_t i) {
    const qdq_tflite_source *source = &w->unit->in[i];
    if (!source->coder) return w->unit->moves ? w->draft->params[w->unit->outs[0]] : NULL;
    qdq_tflite_params *params = QDQ_MEMPOOL_NEW(w->draft->mempool, qdq_tflite_params);
    bool known = params && qdq_tflite_params_of(w->draft, source->coder, params);
    return known ? params : NULL;
}
