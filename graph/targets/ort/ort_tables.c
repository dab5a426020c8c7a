// SPDX-License-Identifier: Apache-2.0
// Ops whose groups compute the same codes as their nodes, by tables of 256 codes or by copying
// codes: Sigmoid, LeakyRelu, Concat and Where. The nodes stay. Before, a constant that Where
// chooses is quantized with a separate scale, which changes denormal numbers only.
#include <math.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "runtime/numerics/dtype.h"

//---- Groups -----------------------------------------------------------------

// Returns the first input that the group reads as codes: Where has a condition before them.
static size_t first_of(const qdq_node *node) { return strcmp(node->op->name, "Select") == 0; }

static bool any_coder(const qdq_rewriter *r, const ort_unit *u, size_t first) {
    for (size_t i = first; i < u->qdq.node->input_count; i++)
        if (qdq_coder_at(r, &u->qdq, i).given) return true;
    return false;
}

static const char *table_differs(const qdq_rewriter *r, const ort_unit *u, size_t first) {
    const qdq_coder *y = &u->qdq.y;
    if (u->blocked) return "only a Relu or Clamp that changes codes reads the result";
    if (!y->given) return "the result does not go to one Quantize alone";
    for (size_t i = first; i < u->qdq.node->input_count; i++) {
        const qdq_coder x = qdq_coder_at(r, &u->qdq, i);
        if (!x.given) return "an operand does not come from Dequantize";
        if (!ort_is_byte(&x)) return "an operand has codes of other than 8 bits";
        if (x.dtype != y->dtype) return "operands and result have codes of different dtypes";
    }
    return NULL;
}

bool ort_match_table(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    size_t first = first_of(u.qdq.node), count = u.qdq.node->input_count;
    if (!any_coder(r, &u, first)) return false;
    const char *why = table_differs(r, &u, first);
    if (why) return ort_refuses(m, why);
    if (!ort_takes_scales(r, m, &u, first, count - 1, ORT_ONE_SCALE)) return false;
    for (size_t i = 0; i < count; i++) qdq_match_reads(r, m, u.qdq.node->inputs[i].id);
    ort_replace_unit(r, m, &u);
    return true;
}

void ort_build_table(qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    const qdq_node *quantize = &r->from->nodes[u.qdq.y.node];
    qdq_value of_quantize[QDQ_MAX_PORTS] = {{0}};
    const qdq_value *inputs = qdq_rewrite_inputs(r, u.qdq.node);
    if (!inputs) return;
    of_quantize[0] = qdq_copy_node(r->to, u.qdq.node, NULL, inputs);
    for (size_t i = 1; i < quantize->input_count; i++)
        of_quantize[i] = qdq_rewrite_value(r, quantize->inputs[i].id);
    m->made[0] = qdq_copy_node(r->to, quantize, NULL, of_quantize);
}

bool ort_is_table(const qdq_rewriter *r, size_t node) {
    static const char *const ops[] = {"Sigmoid", "LeakyReLU", "Concat", "Select"};
    ort_unit u;
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (!qdq_rewrite_is(r, node, ops[i])) continue;
        ort_unit_of(r, node, &u);
        return !table_differs(r, &u, first_of(u.qdq.node));
    }
    return false;
}

//---- A constant that Where chooses ------------------------------------------

enum { CONDITION, THEN, ELSE };

// The codes that stand for a number and for 0.
typedef struct dummy {
    int32_t code, zero;
    float scale;
} dummy;

static dummy dummy_of(qdq_dtype dtype, float v) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    dummy d = {.scale = 1, .zero = info->least < 0 ? 0 : (int32_t)(info->greatest / 2)};
    d.code = (int32_t)(v > 0 ? info->greatest : v < 0 ? info->least : d.zero);
    if (d.code != d.zero) d.scale = v / (float)(d.code - d.zero);
    return d;
}

static bool is_scalar_float(const qdq_rewriter *r, uint32_t value) {
    const qdq_type *type = &r->from->values[value].type;
    return ort_is_constant(r, value) && type->dtype == QDQ_FLOAT32 && type->shape.rank == 0;
}

// Returns the port of a scalar constant next to constant codes, whose result one Quantize of their
// dtype reads; 0: there is none.
static size_t dummy_port(const qdq_rewriter *r, const qdq_node *node, qdq_coder *x) {
    uint32_t y = node->outputs[0];
    size_t port = is_scalar_float(r, node->inputs[ELSE].id)   ? ELSE
                  : is_scalar_float(r, node->inputs[THEN].id) ? THEN
                                                              : 0;
    if (!port || qdq_rewrite_reader_count(r, y) != 1) return 0;
    qdq_coder q = qdq_coder_of(r, qdq_rewrite_reader(r, y, 0), "Quantize");
    *x = qdq_coder_before(r, node->inputs[port == ELSE ? THEN : ELSE].id);
    bool known = x->given && x->known && x->zero_given && q.given && q.dtype == x->dtype;
    bool has_codes = ort_is_byte(x) || x->dtype == QDQ_INT16 || x->dtype == QDQ_UINT16;
    return known && has_codes ? port : 0;
}

bool ort_match_where_constant(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x;
    size_t port = dummy_port(r, node, &x);
    const float *v = port ? qdq_rewrite_data(r, node->inputs[port].id) : NULL;
    if (!v) return false;
    if (!isfinite(*v)) return false;  // infinities and NaN keep their bits
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

static qdq_value add_code(qdq_rewriter *r, const char *stem, const char *ending, qdq_dtype dtype,
                          int32_t code) {
    char bytes[8];
    qdq_encode_int(dtype, &code, bytes, 1);
    return qdq_rewrite_constant(r, stem, ending, dtype, (qdq_shape){0}, bytes);
}

static qdq_value dequantized_code(qdq_rewriter *r, const qdq_node *node, qdq_dtype dtype,
                                  const dummy *d) {
    return qdq_dequantize(
        r->to, add_code(r, node->name, "_code", dtype, d->code),
        (qdq_dequantize_attrs){.name = qdq_rewrite_name(r, node->name, "_constant"),
                               .scale = qdq_rewrite_constant(r, node->name, "_scale", QDQ_FLOAT32,
                                                             (qdq_shape){0}, &d->scale),
                               .zero_point = add_code(r, node->name, "_zero_point", dtype, d->zero),
                               .dtype = QDQ_FLOAT32});
}

void ort_build_where_constant(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder x;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    size_t port = dummy_port(r, node, &x);
    dummy d = dummy_of(x.dtype, *(const float *)qdq_rewrite_data(r, node->inputs[port].id));
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    if (d.scale > 0)
        inputs[port] = dequantized_code(r, node, x.dtype, &d);
    else  // of a denormal number
        inputs[port] =
            qdq_rewrite_constant(r, node->name, "_constant", QDQ_FLOAT32, (qdq_shape){0}, &d.scale);
    m->made[0] = qdq_copy_node(r->to, node, NULL, inputs);
}
