// SPDX-License-Identifier: Apache-2.0
// Sums and products of two tensors of codes.
#include "graph/targets/ort/ort_groups.h"

enum { A, B };

static const char *binary_differs(const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    if (u->blocked) return "a Relu or Clamp that changes codes stands before Quantize";
    if (!a->given || !b->given) return "an operand does not come from Dequantize";
    if (!y->given) return "the result does not go to one Quantize alone";
    if (!ort_is_byte(a) || !ort_is_byte(b)) return "an operand has codes of other than 8 bits";
    if (a->dtype != b->dtype || a->dtype != y->dtype)
        return "operands and result have codes of different dtypes";
    if (!ort_is_per_tensor(a) || !ort_is_per_tensor(b) || !ort_is_per_tensor(y))
        return "an operand or the result has more than one scale";
    return NULL;
}

bool ort_match_binary(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    if (!u.qdq.x[A].given && !u.qdq.x[B].given) return false;
    const char *why = binary_differs(&u);
    if (why) return ort_refuses(m, why);
    ort_read_input(r, m, &u.qdq.x[A]);
    ort_read_input(r, m, &u.qdq.x[B]);
    ort_replace_unit(r, m, &u);
    return true;
}

static qdq_qlinear_binary_attrs binary_attrs(qdq_rewriter *r, const qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    const qdq_coder *a = &u.qdq.x[A], *b = &u.qdq.x[B], *y = &u.qdq.y;
    return (qdq_qlinear_binary_attrs){.name = ort_unit_name(r, &u),
                                      .a = qdq_rewrite_value(r, a->codes),
                                      .a_scale = qdq_coder_scale_value(r, a),
                                      .a_zero_point = qdq_coder_zero_value(r, a),
                                      .b = qdq_rewrite_value(r, b->codes),
                                      .b_scale = qdq_coder_scale_value(r, b),
                                      .b_zero_point = qdq_coder_zero_value(r, b),
                                      .y_scale = qdq_coder_scale_value(r, y),
                                      .y_zero_point = qdq_coder_zero_value(r, y)};
}

void ort_build_add(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_qlinear_add(r->to, binary_attrs(r, m));
}

void ort_build_multiply(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_qlinear_mul(r->to, binary_attrs(r, m));
}
