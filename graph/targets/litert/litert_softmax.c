// SPDX-License-Identifier: Apache-2.0
// SOFTMAX of codes, which XNNPACK does not take.
#include "graph/targets/litert/litert.h"
#include "include/qdq/ops/qlinear.h"
#include "include/qdq/ops/reduce.h"

enum { X };

// The sum of a longer row leaves the bits that the reference kernel has for it.
enum { MOST_OF_ROW = 511 };

// A unit of SOFTMAX; `beta` multiplies x.
typedef struct softmax_unit {
    litert_unit of;
    float beta;
} softmax_unit;

// Looks through a Multiply by a number before SOFTMAX.
static void softmax_unit_of(const qdq_rewriter *r, size_t node, softmax_unit *s) {
    enum { BETA = 1 };
    litert_unit_of(r, node, &s->of);
    s->beta = 1.0f;
    if (s->of.qdq.x[X].given) return;
    size_t before = qdq_rewrite_maker(r, s->of.qdq.node->inputs[X].id);
    if (!qdq_rewrite_is(r, before, "Multiply")) return;
    const qdq_node *product = &r->from->nodes[before];
    qdq_coder x = qdq_coder_before(r, product->inputs[X].id);
    if (!x.given || !litert_share_operator(product, s->of.qdq.node) ||
        !litert_share_operator(product, &r->from->nodes[x.node]))
        return;
    uint32_t factor = product->inputs[BETA].id;
    const qdq_type *type = &r->from->values[factor].type;
    const float *beta = qdq_rewrite_data(r, factor);
    if (!beta || type->dtype != QDQ_FLOAT32 || qdq_shape_count(type->shape) != 1) return;
    s->beta = *beta;
    s->of.qdq.x[X] = x;
}

// Returns the scale of x times beta.
static float scale_of(const qdq_rewriter *r, const softmax_unit *s) {
    return qdq_coder_scale(r, &s->of.qdq.x[X], 0) * s->beta;
}

// True if the product is exact.
static bool scale_is_exact(const qdq_rewriter *r, const softmax_unit *s) {
    return (double)scale_of(r, s) ==
           (double)qdq_coder_scale(r, &s->of.qdq.x[X], 0) * (double)s->beta;
}

static const char *softmax_differs(const qdq_rewriter *r, const softmax_unit *s) {
    const litert_unit *u = &s->of;
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
    if (!(s->beta > 0)) return "beta is not above 0";
    if (fixed && !scale_is_exact(r, s))
        return "the reference kernel multiplies the scale of x and beta in float64";
    if (fixed && !(scale_of(r, s) > 0x1p-26f))
        return "the reference kernel aborts for such a small scale of x";
    return NULL;
}

bool litert_match_softmax(const qdq_rewriter *r, qdq_match *m) {
    static const char *const names[] = LITERT_NAMES("SOFTMAX");
    softmax_unit s;
    softmax_unit_of(r, m->anchor, &s);
    litert_engine engine = litert_engine_of(r->version);
    if (!s.of.qdq.x[X].given) return false;
    const char *why = softmax_differs(r, &s);
    if (why) return litert_refuses(m, why);
    litert_run_by(m, engine == LITERT_XNNPACK ? LITERT_BUILTIN : engine, names);
    qdq_match_reads(r, m, s.of.qdq.x[X].codes);
    qdq_coder_reads(r, m, &s.of.qdq.x[X]);
    qdq_coder_reads(r, m, &s.of.qdq.y);
    litert_replace(r, m, &s.of);
    return true;
}

void litert_build_softmax(qdq_rewriter *r, qdq_match *m) {
    softmax_unit s;
    softmax_unit_of(r, m->anchor, &s);
    const qdq_coder *x = &s.of.qdq.x[X], *y = &s.of.qdq.y;
    const char *name = litert_name(r, &s.of);
    float scale = scale_of(r, &s);
    qdq_value x_scale = s.beta == 1.0f ? qdq_coder_scale_value(r, x)
                                       : qdq_rewrite_constant(r, name, "/scale", QDQ_FLOAT32,
                                                              (qdq_shape){0}, &scale);
    m->made[0] = qdq_qlinear_softmax(
        r->to, (qdq_qlinear_softmax_attrs){.name = name,
                                           .x = qdq_rewrite_value(r, x->codes),
                                           .x_scale = x_scale,
                                           .x_zero_point = qdq_coder_zero_value(r, x),
                                           .y_scale = qdq_coder_scale_value(r, y),
                                           .y_zero_point = qdq_coder_zero_value(r, y),
                                           .axis = QDQ_INT(-1)});
}
