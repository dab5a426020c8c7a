// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that merge, change and remove pairs of Quantize and Dequantize.
#include <math.h>
#include <string.h>

#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "runtime/numerics/dtype.h"

static const qdq_dtype_info *info_of(const qdq_coder *c) { return qdq_dtype_get(c->dtype); }

//---- New coders -------------------------------------------------------------

typedef struct new_coder {
    const char *name;
    qdq_value x, scale, zero_point;
    qdq_dtype dtype;
} new_coder;

static qdq_value add_quantize(qdq_rewriter *r, const new_coder *c) {
    return qdq_quantize(
        r->to, c->x,
        (qdq_quantize_attrs){
            .name = c->name, .scale = c->scale, .zero_point = c->zero_point, .dtype = c->dtype});
}

static qdq_value add_dequantize(qdq_rewriter *r, const new_coder *c) {
    return qdq_dequantize(
        r->to, c->x,
        (qdq_dequantize_attrs){
            .name = c->name, .scale = c->scale, .zero_point = c->zero_point, .dtype = QDQ_FLOAT32});
}

static qdq_value add_zero_point(const qdq_rewriter *r, const char *stem, qdq_dtype dtype,
                                qdq_shape shape, int32_t zero) {
    char code[8];
    qdq_encode_int(dtype, &zero, code, 1);
    return qdq_rewrite_constant(r, stem, "_zero_point", dtype, shape, code);
}

static const char *name_at(const qdq_rewriter *r, size_t node) { return r->from->nodes[node].name; }

//---- Double pairs -----------------------------------------------------------

// True if the parameters of a pair that replaces two have shape [1].
static bool gives_dims(const qdq_target_version *version) {
    return version->release >= QDQ_RUNTIME_GIVES_PAIRS_DIMS &&
           version->release < QDQ_RUNTIME_GIVES_PAIRS_SCALARS;
}

// A double pair, from the first Quantize on. Every reader of the second Quantize is a Dequantize.
typedef struct double_pair {
    qdq_coder q1, dq1, q2;
    size_t dq2_count;
} double_pair;

static qdq_coder dq2_at(const qdq_rewriter *r, const double_pair *p, size_t i) {
    return qdq_coder_of(r, qdq_rewrite_reader(r, p->q2.codes, i), "Dequantize");
}

// True for the dtypes whose double pairs ONNX Runtime merges.
static bool merges(const qdq_coder *c) {
    return ort_is_byte(c) || (c->given && (c->dtype == QDQ_INT16 || c->dtype == QDQ_UINT16));
}

static bool double_pair_at(const qdq_rewriter *r, size_t node, double_pair *p) {
    *p = (double_pair){.q1 = qdq_coder_of(r, node, "Quantize")};
    if (!ort_is_scalar(&p->q1) || !merges(&p->q1)) return false;
    p->dq1 = qdq_coder_of(r, qdq_rewrite_only_reader(r, p->q1.codes), "Dequantize");
    if (!ort_is_scalar(&p->dq1) || !qdq_coders_equal(r, &p->q1, &p->dq1)) return false;
    p->q2 = qdq_coder_behind(r, p->dq1.reals);
    if (!ort_is_scalar(&p->q2) || p->q2.dtype != p->q1.dtype ||
        r->from->values[p->q2.codes].returned)
        return false;
    p->dq2_count = qdq_rewrite_reader_count(r, p->q2.codes);
    for (size_t i = 0; i < p->dq2_count; i++) {
        qdq_coder dq2 = dq2_at(r, p, i);
        if (!ort_is_scalar(&dq2) || !qdq_coders_equal(r, &p->q2, &dq2)) return false;
    }
    return p->dq2_count > 0;
}

bool ort_match_double_pair(const qdq_rewriter *r, qdq_match *m) {
    double_pair p;
    if (!double_pair_at(r, m->anchor, &p)) return false;
    qdq_match_replaces(r, m, p.dq1.node);
    qdq_match_replaces(r, m, p.q2.node);
    qdq_match_reads(r, m, p.q1.reals);
    for (size_t i = 0; i < p.dq2_count; i++) {
        qdq_coder dq2 = dq2_at(r, &p, i);
        qdq_match_replaces(r, m, dq2.node);
        qdq_match_makes(r, m, dq2.reals);
    }
    return true;
}

// The real numbers that codes stand for.
typedef struct real_range {
    float low, high;
} real_range;

static real_range range_of(const qdq_rewriter *r, const qdq_coder *c) {
    float s = qdq_coder_scale(r, c, 0);
    int64_t zero = qdq_coder_zero(r, c, 0);
    return (real_range){(float)(info_of(c)->least - zero) * s,
                        (float)(info_of(c)->greatest - zero) * s};
}

static float larger(float a, float b) { return a > b ? a : b; }
static float smaller(float a, float b) { return a < b ? a : b; }

// Sets the parameters of the pair that replaces two.
static void merge(const qdq_rewriter *r, const double_pair *p, float *scale, int32_t *zero) {
    *scale = qdq_coder_scale(r, &p->q1, 0), *zero = qdq_coder_zero(r, &p->q1, 0);
    if (qdq_coders_equal(r, &p->q1, &p->q2)) return;
    real_range a = range_of(r, &p->q1), b = range_of(r, &p->q2);
    float low = larger(a.low, b.low), high = smaller(a.high, b.high);
    *scale = (high - low) / (float)(info_of(&p->q1)->greatest - info_of(&p->q1)->least);
    *zero = (int32_t)roundf((float)info_of(&p->q1)->least - low / *scale);
}

void ort_build_double_pair(qdq_rewriter *r, qdq_match *m) {
    double_pair p;
    float scale;
    int32_t zero;
    if (!double_pair_at(r, m->anchor, &p)) return;
    merge(r, &p, &scale, &zero);
    const char *name = name_at(r, p.q2.node);
    new_coder c = {.name = name, .x = qdq_rewrite_value(r, p.q1.reals), .dtype = p.q1.dtype};
    bool merges = !qdq_coders_equal(r, &p.q1, &p.q2);
    qdq_shape shape = merges && gives_dims(r->version) ? (qdq_shape){1, {1}} : (qdq_shape){0};
    c.scale = qdq_rewrite_constant(r, name, "_scale", QDQ_FLOAT32, shape, &scale);
    c.zero_point = add_zero_point(r, name, c.dtype, shape, zero);
    c.x = add_quantize(r, &c);
    for (size_t i = 0; i < p.dq2_count; i++) {
        c.name = name_at(r, dq2_at(r, &p, i).node);
        m->made[i] = add_dequantize(r, &c);
    }
}

// Matches a Dequantize and Quantize of equal parameters: the codes stay, if they and the floats
// have no other reader.
bool ort_match_equal_pair(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder dq = qdq_coder_of(r, m->anchor, "Dequantize");
    if (!ort_is_scalar(&dq) || !merges(&dq) || !ort_is_read_once(r, dq.codes)) return false;
    qdq_coder q = qdq_coder_behind(r, dq.reals);
    if (!ort_is_scalar(&q) || !qdq_coders_equal(r, &dq, &q)) return false;
    qdq_match_replaces(r, m, q.node);
    qdq_match_reads(r, m, dq.codes);
    qdq_match_makes(r, m, q.codes);
    return true;
}

void ort_build_equal_pair(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_rewrite_value(r, m->reads.items[0]);
}

//---- Relu and Clamp before Quantize -----------------------------------------

static bool relu_is_redundant(const qdq_rewriter *r, const qdq_coder *q) {
    return qdq_coder_zero(r, q, 0) == info_of(q)->least;
}

static bool clamp_is_redundant(const qdq_rewriter *r, const qdq_clamp_attrs *a,
                               const qdq_coder *q) {
    const float tolerance = 0x1p-23f;
    real_range range = range_of(r, q);
    return (float)a->min.value - range.low <= tolerance &&
           range.high - (float)a->max.value <= tolerance;
}

// True for a Clamp whose bounds have the codes of the range's ends: a group skips it too.
static bool clamp_has_end_codes(const qdq_rewriter *r, const qdq_clamp_attrs *a,
                                const qdq_coder *q) {
    float s = qdq_coder_scale(r, q, 0), zero = (float)qdq_coder_zero(r, q, 0);
    return rintf((float)a->min.value / s) + zero <= (float)info_of(q)->least &&
           rintf((float)a->max.value / s) + zero >= (float)info_of(q)->greatest;
}

// True if ONNX Runtime compares a Relu or Clip with the codes of a Quantize.
static bool is_compared(const qdq_rewriter *r, const qdq_coder *q) {
    return ort_is_scalar(q) && ort_is_byte(q) && !(gives_dims(r->version) && ort_has_dims(r, q));
}

bool ort_is_redundant(const qdq_rewriter *r, size_t node, const qdq_coder *q) {
    if (!is_compared(r, q)) return false;
    const void *attrs = r->from->nodes[node].attrs;
    if (qdq_rewrite_is(r, node, "ReLU")) return relu_is_redundant(r, q);
    return qdq_rewrite_is(r, node, "Clamp") &&
           (clamp_is_redundant(r, attrs, q) || clamp_has_end_codes(r, attrs, q));
}

bool ort_match_redundant(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder q = qdq_coder_behind(r, node->outputs[0]);
    if (!is_compared(r, &q)) return false;
    if (!q.zero_given && r->version->release < QDQ_RUNTIME_GROUPS_SEE_RELU) return false;
    if (qdq_rewrite_is(r, m->anchor, "ReLU") ? !relu_is_redundant(r, &q)
                                             : !clamp_is_redundant(r, node->attrs, &q))
        return false;
    qdq_match_reads(r, m, node->inputs[0].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_redundant(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_rewrite_value(r, m->reads.items[0]);
}

//---- Pairs at the end -------------------------------------------------------

// True if a node is in a group whose nodes stay (ort_tables.c).
static bool is_in_group(const qdq_rewriter *r, size_t node) {
    return !r->version->options[ORT_DISABLE_QUANT_QDQ] && ort_is_table(r, node);
}

// True if a Dequantize with the parameters of `q` can go: no group reads its result, and it was not
// moved past the Reshape of a Gemm, which happens to the only reader of the codes.
static bool is_alone(const qdq_rewriter *r, size_t dequantize, const qdq_coder *q) {
    qdq_coder dq = qdq_coder_of(r, dequantize, "Dequantize");
    if (!qdq_coders_equal(r, q, &dq) || !ort_is_scalar(&dq)) return false;
    for (size_t i = 0; i < qdq_rewrite_reader_count(r, dq.reals); i++) {
        size_t reader = qdq_rewrite_reader(r, dq.reals, i);
        bool moved = !r->version->options[ORT_DISABLE_QUANT_QDQ] &&
                     qdq_rewrite_reader_count(r, q->codes) == 1 &&
                     ort_is_reshaped(r, &r->from->nodes[reader]);
        if (is_in_group(r, reader) || moved) return false;
    }
    return true;
}

// Matches a Quantize and every Dequantize behind it, which go if nothing else reads the codes.
bool ort_match_unread_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    if (!ort_is_scalar(&q) || r->from->values[q.codes].returned ||
        is_in_group(r, qdq_rewrite_maker(r, q.reals)))
        return false;
    size_t count = qdq_rewrite_reader_count(r, q.codes);
    for (size_t i = 0; i < count; i++) {
        size_t dequantize = qdq_rewrite_reader(r, q.codes, i);
        if (!is_alone(r, dequantize, &q)) return false;
        qdq_match_replaces(r, m, dequantize);
        qdq_match_makes(r, m, r->from->nodes[dequantize].outputs[0]);
    }
    qdq_match_reads(r, m, q.reals);
    m->found =
        "and the Dequantize behind it are removed, and groups may form that are not modelled";
    return count > 0;
}

void ort_build_unread_codes(qdq_rewriter *r, qdq_match *m) {
    for (size_t i = 0; i < m->makes.count; i++)
        m->made[i] = qdq_rewrite_value(r, m->reads.items[0]);
}

//---- int8 activations as uint8 ----------------------------------------------

bool ort_match_s8_to_u8(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    if (!ort_is_scalar(&q) || q.dtype != QDQ_INT8 || !q.zero_given) return false;
    qdq_coder dq = qdq_coder_of(r, qdq_rewrite_only_reader(r, q.codes), "Dequantize");
    if (!ort_is_scalar(&dq) || !ort_is_read_once(r, dq.reals) ||
        qdq_coder_zero(r, &q, 0) != qdq_coder_zero(r, &dq, 0))
        return false;
    if (r->from->nodes[q.node].names_dtype)
        m->found =
            "names int8 in output_dtype; ONNX Runtime makes its zero point uint8, and refuses "
            "the model";
    qdq_match_replaces(r, m, dq.node);
    qdq_match_reads(r, m, q.reals);
    qdq_match_reads(r, m, r->from->nodes[q.node].inputs[1].id);
    qdq_match_reads(r, m, r->from->nodes[dq.node].inputs[1].id);
    qdq_match_makes(r, m, dq.reals);
    return true;
}

void ort_build_s8_to_u8(qdq_rewriter *r, qdq_match *m) {
    qdq_coder q = qdq_coder_of(r, m->anchor, "Quantize");
    qdq_coder dq = qdq_coder_of(r, m->nodes.items[1], "Dequantize");
    const char *name = name_at(r, q.node);
    new_coder c = {.name = qdq_rewrite_name(r, name, "_uint8"),
                   .x = qdq_rewrite_value(r, q.reals),
                   .scale = qdq_coder_scale_value(r, &q),
                   .dtype = QDQ_UINT8};
    c.zero_point =
        add_zero_point(r, c.name, QDQ_UINT8, (qdq_shape){0}, qdq_coder_zero(r, &q, 0) + 128);
    c.x = add_quantize(r, &c);
    qdq_rewrite_shifts(r, c.x, q.codes, 128);
    c.name = name_at(r, dq.node);
    c.scale = qdq_coder_scale_value(r, &dq);
    m->made[0] = add_dequantize(r, &c);
}
