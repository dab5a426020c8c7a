// SPDX-License-Identifier: Apache-2.0
// Sums and products of two tensors of codes.
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/qlinear.h"
#include "include/qdq/ops/reduce.h"

enum { A, B };

static const char *binary_differs(const ort_unit *u) {
    const qdq_coder *a = &u->qdq.x[A], *b = &u->qdq.x[B], *y = &u->qdq.y;
    if (u->blocked) return "only a Relu or Clamp that changes codes reads the result";
    if (!a->given || !b->given) return "an operand does not come from Dequantize";
    if (!y->given) return "the result does not go to one Quantize alone";
    if (!ort_is_byte(a) || !ort_is_byte(b)) return "an operand has codes of other than 8 bits";
    if (a->dtype != b->dtype || a->dtype != y->dtype)
        return "operands and result have codes of different dtypes";
    return NULL;
}

bool ort_match_binary(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    if (!u.qdq.x[A].given && !u.qdq.x[B].given) return false;
    const char *why = binary_differs(&u);
    if (why) return ort_refuses(m, why);
    if (!ort_takes_scales(r, m, &u, A, B, ORT_SCALAR_SCALE)) return false;
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

//---- Means and softmax ------------------------------------------------------

enum { X };

static const char *one_differs(const ort_unit *u) {
    const qdq_coder *x = &u->qdq.x[X], *y = &u->qdq.y;
    if (u->blocked) return "only a Relu or Clamp that changes codes reads the result";
    if (!y->given) return "the result does not go to one Quantize alone";
    if (!ort_is_byte(x)) return "x has codes of other than 8 bits";
    if (x->dtype != y->dtype) return "x and the result have codes of different dtypes";
    return NULL;
}

bool ort_match_one(const qdq_rewriter *r, qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    if (!u.qdq.x[X].given) return false;
    const char *why = one_differs(&u);
    if (why) return ort_refuses(m, why);
    bool pool = qdq_rewrite_is(r, m->anchor, "AvgPool");
    if (!ort_takes_scales(r, m, &u, X, X, pool ? ORT_SCALAR_SCALE : ORT_ONE_SCALE)) return false;
    ort_read_input(r, m, &u.qdq.x[X]);
    ort_replace_unit(r, m, &u);
    return true;
}

// The input that these nodes share, with its parameters and the result's.
typedef struct one_input {
    const char *name;
    qdq_value x, x_scale, x_zero_point, y_scale, y_zero_point;
} one_input;

static one_input input_of(qdq_rewriter *r, const qdq_match *m) {
    ort_unit u;
    ort_unit_of(r, m->anchor, &u);
    return (one_input){.name = ort_unit_name(r, &u),
                       .x = qdq_rewrite_value(r, u.qdq.x[X].codes),
                       .x_scale = qdq_coder_scale_value(r, &u.qdq.x[X]),
                       .x_zero_point = qdq_coder_zero_value(r, &u.qdq.x[X]),
                       .y_scale = qdq_coder_scale_value(r, &u.qdq.y),
                       .y_zero_point = qdq_coder_zero_value(r, &u.qdq.y)};
}

#define PORTS_OF(i)                                                                         \
    .name = (i).name, .x = (i).x, .x_scale = (i).x_scale, .x_zero_point = (i).x_zero_point, \
    .y_scale = (i).y_scale, .y_zero_point = (i).y_zero_point

void ort_build_average_pool(qdq_rewriter *r, qdq_match *m) {
    const qdq_pool_attrs *a = r->from->nodes[m->anchor].attrs;
    one_input i = input_of(r, m);
    m->made[0] = qdq_qlinear_average_pool(
        r->to,
        (qdq_qlinear_pool_attrs){PORTS_OF(i), .strides = a->strides, .kernel = a->kernel,
                                 .pads_begin = a->pads_begin, .pads_end = a->pads_end,
                                 .exclude_pad = a->exclude_pad, .rounding_type = a->rounding_type,
                                 .auto_pad = a->auto_pad, .data_format = a->data_format});
}

// Matches GlobalAveragePool; ReduceMean of the same dims has no group.
bool ort_match_global_pool(const qdq_rewriter *r, qdq_match *m) {
    return ort_is_global_pool(&r->from->nodes[m->anchor]) && ort_match_one(r, m);
}

void ort_build_global_pool(qdq_rewriter *r, qdq_match *m) {
    one_input i = input_of(r, m);
    m->made[0] = qdq_qlinear_global_average_pool(
        r->to, (qdq_qlinear_global_pool_attrs){PORTS_OF(i), .data_format = QDQ_NCX});
}

void ort_build_softmax(qdq_rewriter *r, qdq_match *m) {
    const qdq_softmax_attrs *a = r->from->nodes[m->anchor].attrs;
    one_input i = input_of(r, m);
    m->made[0] = qdq_qlinear_softmax(
        r->to,
        (qdq_qlinear_softmax_attrs){PORTS_OF(i), .axis = a->axis.set != 0 ? a->axis : QDQ_INT(1)});
}
