// SPDX-License-Identifier: Apache-2.0
// Mends of one node: its parameters in another form, a Cast beside it, or nothing in its place.
#include <string.h>

#include "graph/core/copy.h"
#include "graph/transform/mend/mend.h"
#include "runtime/numerics/dtype.h"

enum { X, SCALE, MASK = 1 };  // ports of Quantize and Dequantize; the second output of Dropout

static const qdq_node *node_at(const qdq_rewriter *r, const qdq_match *m) {
    return &r->from->nodes[m->anchor];
}

static void copy_inputs(const qdq_rewriter *r, const qdq_node *node, qdq_value *inputs) {
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
}

//---- The parameters of Quantize and Dequantize ------------------------------

// Matches a Quantize or Dequantize with constant parameters and an error of the target.
static bool match_coder(const qdq_rewriter *r, qdq_match *m, qdq_coder *c) {
    *c = qdq_coder_of(r, m->anchor, node_at(r, m)->op->name);
    if (!c->given || !c->known || !qdq_mend_is_asked(r, m, m->anchor)) return false;
    qdq_match_reads(r, m, node_at(r, m)->inputs[X].id);
    qdq_match_makes(r, m, node_at(r, m)->outputs[0]);
    return true;
}

static void build_coder(qdq_rewriter *r, qdq_match *m, bool whole_range) {
    const qdq_node *node = node_at(r, m);
    qdq_coder c = qdq_coder_of(r, m->anchor, node->op->name);
    qdq_coder_params p;
    if (!qdq_coder_read_params(r, &c, &p)) return;
    qdq_quantize_attrs attrs = qdq_coder_attrs(r, &c, c.dtype, &p);
    if (whole_range) attrs.quant_min = attrs.quant_max = (qdq_int){0};
    attrs.x = qdq_rewrite_value(r, node->inputs[X].id);
    m->made[0] = qdq_add_node(r->to, node->op->name, &attrs, sizeof attrs);
}

bool qdq_mend_match_numbers(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder c;
    qdq_coder_params p;
    if (!match_coder(r, m, &c) || c.blocks || !qdq_coder_read_params(r, &c, &p)) return false;
    bool one = r->choice->a->target->int32_zero_points;
    for (size_t i = 0; one && p.count > 1 && i < p.count; i++)
        if (p.zeros[i]) return false;
    return true;
}

void qdq_mend_build_numbers(qdq_rewriter *r, qdq_match *m) { build_coder(r, m, false); }

bool qdq_mend_match_full_range(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder c;
    return match_coder(r, m, &c) && (c.attrs->quant_min.set != 0 || c.attrs->quant_max.set != 0);
}

void qdq_mend_build_full_range(qdq_rewriter *r, qdq_match *m) { build_coder(r, m, true); }

//---- Floats of 16 bits ------------------------------------------------------

static bool is_half(const qdq_rewriter *r, uint32_t value) {
    qdq_dtype dtype = r->from->values[value].type.dtype;
    return dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
}

static bool match_half(const qdq_rewriter *r, qdq_match *m, uint32_t value) {
    const qdq_node *node = node_at(r, m);
    if (!is_half(r, value) || !qdq_mend_is_asked(r, m, m->anchor)) return false;
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

static qdq_value cast(const qdq_rewriter *r, const char *name, qdq_value x, qdq_dtype dtype) {
    return qdq_cast(r->to, x, (qdq_cast_attrs){.name = name, .dtype = dtype});
}

bool qdq_mend_match_float_input(const qdq_rewriter *r, qdq_match *m) {
    return match_half(r, m, node_at(r, m)->inputs[X].id);
}

void qdq_mend_build_float_input(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m);
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    copy_inputs(r, node, inputs);
    inputs[X] = cast(r, qdq_rewrite_name(r, node->name, "_float32"), inputs[X], QDQ_FLOAT32);
    m->made[0] = qdq_copy_node(r->to, node, NULL, inputs);
}

bool qdq_mend_match_float_result(const qdq_rewriter *r, qdq_match *m) {
    return match_half(r, m, node_at(r, m)->outputs[0]);
}

void qdq_mend_build_float_result(qdq_rewriter *r, qdq_match *m) {
    qdq_node node = *node_at(r, m);
    qdq_dequantize_attrs attrs = *(const qdq_dequantize_attrs *)node.attrs;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    copy_inputs(r, &node, inputs);
    attrs.dtype = QDQ_FLOAT32;
    node.attrs = &attrs;
    qdq_value made =
        qdq_copy_node(r->to, &node, qdq_rewrite_name(r, node.name, "_float32"), inputs);
    m->made[0] = cast(r, node.name, made, r->from->values[node.outputs[0]].type.dtype);
}

//---- Scales of 16 bits ------------------------------------------------------

// Matches a node whose scale has 16 bits while its reals are float32.
bool qdq_mend_match_float_scale(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m);
    bool quantizes = strcmp(node->op->name, "Dequantize") != 0;
    uint32_t real = quantizes ? node->inputs[X].id : node->outputs[0];
    uint32_t scale = node->inputs[SCALE].id;
    if (!scale || !is_half(r, scale) || r->from->values[real].type.dtype != QDQ_FLOAT32 ||
        !qdq_mend_is_asked(r, m, m->anchor))
        return false;
    for (size_t i = 0; i < node->input_count; i++)
        if (i != SCALE || !qdq_rewrite_data(r, scale)) qdq_match_reads(r, m, node->inputs[i].id);
    for (size_t i = 0; i < node->output_count; i++) qdq_match_makes(r, m, node->outputs[i]);
    return true;
}

// Returns a scale as float32: a constant, or a Cast of it.
static qdq_value widened(const qdq_rewriter *r, const qdq_node *node, uint32_t scale) {
    const qdq_type *type = &r->from->values[scale].type;
    size_t count = qdq_shape_count(type->shape);
    const void *data = qdq_rewrite_data(r, scale);
    if (!data)
        return cast(r, qdq_rewrite_name(r, node->name, "_scale"), qdq_rewrite_value(r, scale),
                    QDQ_FLOAT32);
    float *reals = qdq_mempool_array(r->mempool, count, sizeof *reals);
    if (!reals) return (qdq_value){0};
    qdq_decode_float(type->dtype, data, reals, count);
    return qdq_rewrite_constant(r, node->name, "_scale", QDQ_FLOAT32, type->shape, reals);
}

void qdq_mend_build_float_scale(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m);
    uint32_t scale = node->inputs[SCALE].id;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i < node->input_count; i++)
        if (i != SCALE) inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    inputs[SCALE] = widened(r, node, scale);
    qdq_value made = qdq_copy_node(r->to, node, NULL, inputs);
    for (size_t i = 0; i < node->output_count; i++)
        m->made[i] = i ? qdq_port(r->to, made, node->op->outputs[i].name) : made;
}

//---- Dropout ----------------------------------------------------------------

bool qdq_mend_match_dropout(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m);
    bool masks = node->output_count > MASK && (qdq_rewrite_reader_count(r, node->outputs[MASK]) ||
                                               r->from->values[node->outputs[MASK]].returned);
    const qdq_type *x = &r->from->values[node->inputs[X].id].type,
                   *y = &r->from->values[node->outputs[0]].type;
    if (masks || x->dtype != y->dtype || !qdq_mend_is_asked(r, m, m->anchor)) return false;
    qdq_match_reads(r, m, node->inputs[X].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void qdq_mend_build_dropout(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_rewrite_value(r, node_at(r, m)->inputs[X].id);
}
