// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of codes, which XNNPACK does not take.
#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/qlinear.h"
#include "include/qdq/ops/reduce.h"

enum { X };

// The sum of a longer row leaves the bits that the reference kernel has for it.
enum { MOST_OF_ROW = 511 };

static const char *softmax_differs(const qdq_rewriter *r, const litert_unit *u) {
    const qdq_softmax_attrs *a = u->qdq.node->attrs;
    const char *why = litert_bytes_differ(r, u, 1);
    if (why) return why;
    if (u->clip != SIZE_MAX) return "an activation follows";
    const qdq_shape *shape = &r->from->values[u->qdq.x[X].codes].type.shape;
    int64_t axis = a->axis.set != 0 ? a->axis.value : 1;
    if (shape->rank < 1 || (axis < 0 ? axis + shape->rank : axis) != shape->rank - 1)
        return "SOFTMAX is over the last dim";
    if (qdq_coder_scale(r, &u->qdq.y, 0) != 1.0f / 256.0f ||
        qdq_coder_zero(r, &u->qdq.y, 0) != (u->qdq.y.dtype == QDQ_INT8 ? -128 : 0))
        return "codes of SOFTMAX have the scale 1/256 and the least code for 0";
    bool fixed = litert_engine_of(r->version) == LITERT_REFERENCE ||
                 litert_engine_of(r->version) == LITERT_TFLM;
    if (fixed && shape->dims[shape->rank - 1] > MOST_OF_ROW)
        return "the reference kernel has no bits for the sum of so many elements";
    return NULL;
}

bool litert_match_softmax(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("SOFTMAX");
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    litert_engine engine = litert_engine_of(r->version);
    if (!u.qdq.x[X].given) return false;
    const char *why = softmax_differs(r, &u);
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    qdq_match_reads(r, m, u.qdq.x[X].codes);
    qdq_coder_reads(r, m, &u.qdq.x[X]);
    qdq_coder_reads(r, m, &u.qdq.y);
    litert_replace(r, m, &u);
    return true;
}

void litert_build_softmax(qdq_rewriter *r, qdq_match *m) {
    litert_unit u;
    litert_unit_of(r, m->anchor, &u);
    m->made[0] = qdq_qlinear_softmax(
        r->to, (qdq_qlinear_softmax_attrs){.name = litert_name(r, &u),
                                           .x = qdq_rewrite_value(r, u.qdq.x[X].codes),
                                           .x_scale = qdq_coder_scale_value(r, &u.qdq.x[X]),
                                           .x_zero_point = qdq_coder_zero_value(r, &u.qdq.x[X]),
                                           .y_scale = qdq_coder_scale_value(r, &u.qdq.y),
                                           .y_zero_point = qdq_coder_zero_value(r, &u.qdq.y),
                                           .axis = QDQ_INT(-1)});
}
