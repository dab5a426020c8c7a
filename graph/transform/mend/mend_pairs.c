// SPDX-License-Identifier: Apache-2.0
// Mends of Quantize and the Dequantize nodes that read its codes: other codes between them.
#include "graph/transform/mend/mend.h"
#include "include/qdq/ops/elementwise.h"
#include "runtime/numerics/dtype.h"

static qdq_coder reader_at(const qdq_rewriter *r, const qdq_coder *q, size_t i) {
    return qdq_coder_of(r, qdq_rewrite_reader(r, q->codes, i), "Dequantize");
}

// True if the anchor is a Quantize with constant parameters, only Dequantize nodes with the same
// parameters read its codes, and the target has an error about one of them. Then the match replaces
// all of them.
static bool match_pair(const qdq_rewriter *r, qdq_match *m, qdq_coder *q) {
    *q = qdq_coder_of(r, m->anchor, "Quantize");
    size_t readers = q->given ? qdq_rewrite_reader_count(r, q->codes) : 0;
    bool asked = qdq_mend_is_asked(r, m, m->anchor);
    if (!readers || !q->known || r->from->values[q->codes].returned) return false;
    for (size_t i = 0; i < readers; i++) {
        qdq_coder dq = reader_at(r, q, i);
        if (!dq.given || !dq.known || dq.codes != q->codes || dq.count != q->count) return false;
        asked |= qdq_mend_is_asked(r, m, dq.node);
    }
    if (!asked) return false;
    qdq_match_reads(r, m, q->reals);
    for (size_t i = 0; i < readers; i++) {
        qdq_coder dq = reader_at(r, q, i);
        qdq_match_replaces(r, m, dq.node);
        qdq_match_makes(r, m, dq.reals);
    }
    return true;
}

// Adds a Quantize of `x` and its readers to the new graph, each with the parameters that `change`
// derives from its old ones.
static void build_pair(qdq_rewriter *r, qdq_match *m, qdq_value x, qdq_dtype codes,
                       void (*change)(const qdq_rewriter *r, qdq_coder *c, qdq_coder_params *p)) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize"), c = q;
    qdq_coder_params p;
    if (!qdq_coder_read_params(r, &c, &p)) return;
    change(r, &c, &p);
    qdq_quantize_attrs attrs = qdq_coder_attrs(r, &c, codes, &p);
    qdq_value made = qdq_quantize(r->to, x, attrs);
    for (size_t i = 0; i < m->makes.count; i++) {
        c = reader_at(r, &q, i);
        if (!qdq_coder_read_params(r, &c, &p)) return;
        change(r, &c, &p);
        m->made[i] = qdq_dequantize(r->to, made, qdq_coder_attrs(r, &c, codes, &p));
    }
}

//---- uint8 to int8 ----------------------------------------------------------

bool qdq_mend_match_signed_pair(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q;
    if (!match_pair(r, m, &q) || (q.dtype != QDQ_UINT8 && q.dtype != QDQ_UINT4)) return false;
    return q.attrs->quant_min.set == 0 && q.attrs->quant_max.set == 0;
}

static void shift(const qdq_rewriter *r, qdq_coder *c, qdq_coder_params *p) {
    (void)r;
    int32_t middle = c->dtype == QDQ_UINT8 ? 128 : 8;
    for (size_t i = 0; i < p->count; i++) p->zeros[i] -= middle;
}

void qdq_mend_build_signed_pair(qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    build_pair(r, m, qdq_rewrite_value(r, q.reals), q.dtype == QDQ_UINT8 ? QDQ_INT8 : QDQ_INT4,
               shift);
}

//---- One scale, and 0 as the zero point -------------------------------------

bool qdq_mend_match_symmetric_pair(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q;
    if (!match_pair(r, m, &q) || (q.dtype != QDQ_INT8 && q.dtype != QDQ_INT4)) return false;
    for (size_t i = 0; i < m->makes.count; i++) {
        qdq_coder dq = reader_at(r, &q, i);
        for (size_t k = 0; k < q.count; k++)
            if (qdq_coder_scale(r, &dq, k) != qdq_coder_scale(r, &q, k) ||
                qdq_coder_zero(r, &dq, k) != qdq_coder_zero(r, &q, k))
                return false;
    }
    return true;
}

// Sets the least scale whose codes reach the ends of all ranges.
static void make_symmetric(const qdq_rewriter *r, qdq_coder *c, qdq_coder_params *p) {
    const qdq_dtype_info *info = qdq_dtype_get(c->dtype);
    float scale = 0;
    (void)r;
    for (size_t i = 0; i < p->count; i++) {
        float low = (float)(info->least - p->zeros[i]) * p->scales[i] / (float)info->least;
        float high = (float)(info->greatest - p->zeros[i]) * p->scales[i] / (float)info->greatest;
        scale = low > scale ? low : scale;
        scale = high > scale ? high : scale;
    }
    p->count = 1, p->scales[0] = scale, p->zeros[0] = 0;
    c->count = 1, c->axis = -1, c->blocks = false;
}

// True if the least code is 0, so that Quantize also acts as a ReLU: quantizing tools remove a ReLU
// before it.
static bool clamps_at_zero(const qdq_rewriter *r, const qdq_coder *q) {
    int64_t least = qdq_dtype_get(q->dtype)->least;
    for (size_t i = 0; i < q->count; i++)
        if (qdq_coder_zero(r, q, i) != least) return false;
    return !qdq_rewrite_is(r, qdq_rewrite_maker(r, q->reals), "ReLU");
}

void qdq_mend_build_symmetric_pair(qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    qdq_value x = qdq_rewrite_value(r, q.reals);
    if (clamps_at_zero(r, &q)) {
        const char *name = qdq_rewrite_name(r, r->from->nodes[q.node].name, "_relu");
        x = qdq_relu(r->to, x, (qdq_unary_attrs){.name = name});
    }
    build_pair(r, m, x, q.dtype, make_symmetric);
}
