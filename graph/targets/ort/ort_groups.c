// SPDX-License-Identifier: Apache-2.0
// Fusions of Dequantize, an op and Quantize in ONNX Runtime.
#include "graph/targets/ort/ort_groups.h"

#include "graph/core/copy.h"
#include "include/qdq/ops/products.h"

//---- Units ------------------------------------------------------------------

bool ort_is_constant(const qdq_rewriter *r, uint32_t value) {
    return r->from->values[value].kind == QDQ_VALUE_CONSTANT;
}

const qdq_node *ort_made_by(const qdq_rewriter *r, uint32_t value, const char *op) {
    size_t maker = qdq_rewrite_maker(r, value);
    bool fits = qdq_rewrite_is(r, maker, op) && qdq_rewrite_only_reader(r, value) != SIZE_MAX;
    return fits ? &r->from->nodes[maker] : NULL;
}

const float *ort_scalar_of(const qdq_rewriter *r, uint32_t value) {
    return ort_is_float_constant(r, value) &&
                   qdq_shape_count(r->from->values[value].type.shape) == 1
               ? qdq_rewrite_data(r, value)
               : NULL;
}

bool ort_is_gemm(const qdq_node *node) {
    enum { BIAS = 2 };
    const qdq_matmul_attrs *a = node->attrs;
    if (ort_was(node, "MatMulNBits")) return false;
    return ort_was(node, "Gemm") || ort_has_input(node, BIAS) || a->transpose_a == QDQ_TRUE ||
           a->transpose_b == QDQ_TRUE;
}

bool ort_is_float_constant(const qdq_rewriter *r, uint32_t value) {
    return value && ort_is_constant(r, value) && r->from->values[value].type.dtype == QDQ_FLOAT32;
}

bool ort_has_input(const qdq_node *node, size_t port) {
    return port < node->input_count && node->inputs[port].id;
}

bool ort_is_scalar(const qdq_coder *c) {
    return c->given && c->known && c->count == 1 && c->axis < 0 && !c->blocks;
}

bool ort_is_byte(const qdq_coder *c) {
    return c->given && (c->dtype == QDQ_INT8 || c->dtype == QDQ_UINT8);
}

bool ort_is_per_tensor(const qdq_coder *c) {
    return c->given && c->count == 1 && c->axis < 0 && !c->blocks;
}

// Returns the Relu or Clamp that is the only reader of a value, and whose result one node reads;
// SIZE_MAX: there is none.
static size_t clip_behind(const qdq_rewriter *r, uint32_t value) {
    if (qdq_rewrite_reader_count(r, value) != 1) return SIZE_MAX;
    size_t clip = qdq_rewrite_reader(r, value, 0);
    bool is_clip = qdq_rewrite_is(r, clip, "ReLU") || qdq_rewrite_is(r, clip, "Clamp");
    bool goes_on =
        is_clip && qdq_rewrite_only_reader(r, r->from->nodes[clip].outputs[0]) != SIZE_MAX;
    return goes_on ? clip : SIZE_MAX;
}

// Looks through a Relu or Clamp behind the last node. It keeps the node from any group unless a
// Quantize comes next whose codes it does not change.
static void find_clip(const qdq_rewriter *r, ort_unit *unit) {
    unit->clip = SIZE_MAX;
    unit->blocked = false;
    if (unit->qdq.y.given || r->version->release < QDQ_RUNTIME_GROUPS_SEE_RELU) return;
    uint32_t y = r->from->nodes[unit->last].outputs[0];
    size_t clip = clip_behind(r, y);
    if (clip == SIZE_MAX) return;
    qdq_coder q = qdq_coder_behind(r, r->from->nodes[clip].outputs[0]);
    unit->blocked = true;
    if (!q.given || r->from->values[y].returned || !ort_is_redundant(r, clip, &q)) return;
    unit->blocked = false;
    unit->clip = clip;
    unit->qdq.y = q;
}

void ort_unit_of(const qdq_rewriter *r, size_t node, ort_unit *unit) {
    qdq_node_unit_of(r, node, &unit->qdq);
    unit->last = node;
    find_clip(r, unit);
}

void ort_unit_ends(const qdq_rewriter *r, size_t last, ort_unit *unit) {
    unit->last = last;
    unit->qdq.y = qdq_coder_behind(r, r->from->nodes[last].outputs[0]);
    find_clip(r, unit);
}

size_t ort_reader_count(const qdq_rewriter *r, uint32_t value) {
    size_t all = qdq_rewrite_reader_count(r, value), slices = 0;
    for (size_t i = 0; i < all; i++)
        slices += ort_was(&r->from->nodes[qdq_rewrite_reader(r, value, i)], "Split");
    return slices ? all - slices + 1 : all;
}

bool ort_is_read_once(const qdq_rewriter *r, uint32_t value) {
    return ort_reader_count(r, value) + r->from->values[value].returned == 1;
}

bool ort_is_duplicated(const qdq_rewriter *r, uint32_t value) {
    return !r->version->options[ORT_DISABLE_QUANT_QDQ] &&
           qdq_rewrite_is(r, qdq_rewrite_maker(r, value), "Dequantize");
}

bool ort_is_quantized(const qdq_rewriter *r, uint32_t value) {
    for (size_t i = 0; i < qdq_rewrite_reader_count(r, value); i++)
        if (qdq_rewrite_is(r, qdq_rewrite_reader(r, value, i), "Quantize")) return true;
    return false;
}

// Reports a group that gives its result a zero point of uint8, because it has none.
static void find_uint8(const qdq_rewriter *r, qdq_match *m, const qdq_coder *y) {
    if (!y->given || y->zero_given || y->dtype == QDQ_UINT8 || !ort_has_output_dtype(r)) return;
    m->rule = "ort/output-dtype";
    m->found = "goes to a QuantizeLinear with an output_dtype and no zero point; ONNX Runtime "
               "fuses them with a zero point of uint8, and refuses the model";
}

void ort_replace_unit(const qdq_rewriter *r, qdq_match *m, const ort_unit *unit) {
    find_uint8(r, m, &unit->qdq.y);
    if (unit->clip != SIZE_MAX) qdq_match_replaces(r, m, unit->clip);
    if (unit->qdq.y.given) qdq_match_replaces(r, m, unit->qdq.y.node);
    if (unit->qdq.y.given) qdq_coder_reads(r, m, &unit->qdq.y);
    qdq_match_makes(r, m,
                    unit->qdq.y.given ? unit->qdq.y.codes : r->from->nodes[unit->last].outputs[0]);
}

void ort_read_input(const qdq_rewriter *r, qdq_match *m, const qdq_coder *x) {
    qdq_match_reads(r, m, x->codes);
    qdq_coder_reads(r, m, x);
}

bool ort_refuses(qdq_match *m, const char *why) {
    m->why = why;
    return false;
}

//---- Groups that ONNX Runtime forms, and fails with --------------------------

bool ort_fails(qdq_match *m, const char *port, const char *found) {
    m->rule = "ort/group-scales";
    m->port = port;
    m->found = found;
    return ort_refuses(m, "ONNX Runtime makes this group and fails");
}

bool ort_has_dims(const qdq_rewriter *r, const qdq_coder *c) {
    const qdq_value *inputs = r->from->nodes[c->node].inputs;
    for (size_t i = 1; i <= 2; i++)
        if (inputs[i].id && r->from->values[inputs[i].id].type.shape.rank) return true;
    return false;
}

static bool takes_one(const qdq_rewriter *r, qdq_match *m, const qdq_coder *c, const char *port,
                      ort_scales wanted) {
    if (c->count > 1) return ort_fails(m, port, "has more than one scale, and the group takes one");
    if (wanted == ORT_SCALAR_SCALE && ort_has_dims(r, c))
        return ort_fails(m, port,
                         "has a scale or zero point of shape [1], and the group takes a scalar");
    return true;
}

bool ort_takes_scales(const qdq_rewriter *r, qdq_match *m, const ort_unit *u, size_t first,
                      size_t last, ort_scales wanted) {
    for (size_t i = first; i <= last; i++) {
        const qdq_coder x = qdq_coder_at(r, &u->qdq, i);
        if (!takes_one(r, m, &x, qdq_op_port(u->qdq.node->op, i)->name, wanted)) return false;
    }
    const char *y = u->qdq.node->op->outputs[0].name;
    return !u->qdq.y.given || takes_one(r, m, &u->qdq.y, y, wanted);
}

//---- Names ------------------------------------------------------------------

const char *ort_unit_name(const qdq_rewriter *r, const ort_unit *unit) {
    return r->from->nodes[unit->qdq.y.given ? unit->qdq.y.node : unit->last].name;
}

//---- Ops that move or choose elements ---------------------------------------

bool ort_match_moved(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    const qdq_coder *x = &u.qdq.x[0], *y = &u.qdq.y;
    if (!x->given || !y->given || u.clip != SIZE_MAX || !qdq_node_takes(u.qdq.node, x->dtype))
        return false;
    if (!qdq_coders_equal(r, x, y))
        return ort_refuses(m, "Dequantize and Quantize have different parameters, or one of them "
                              "has no constant scale and zero point");
    qdq_match_reads(r, m, x->codes);
    for (size_t i = 1; i < u.qdq.node->input_count; i++)
        qdq_match_reads(r, m, u.qdq.node->inputs[i].id);
    ort_replace_unit(r, m, &u);
    return true;
}

void ort_build_moved(qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    qdq_value inputs[QDQ_MAX_PORTS] = {qdq_rewrite_value(r, u.qdq.x[0].codes)};
    for (size_t i = 1; i < u.qdq.node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, u.qdq.node->inputs[i].id);
    m->made[0] = qdq_copy_node(r->to, u.qdq.node, ort_unit_name(r, &u), inputs);
}
