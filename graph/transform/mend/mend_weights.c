// SPDX-License-Identifier: Apache-2.0
// Mends of Dequantize nodes that read constant codes, directly or behind ops that move them, such
// as the Gather of a table: other codes, or the reals themselves.
#include <math.h>

#include "graph/core/copy.h"
#include "graph/transform/mend/mend.h"
#include "runtime/base/words.h"
#include "runtime/numerics/dtype.h"
#include "runtime/numerics/quantize_one.h"

enum { X, MOST_MOVES = 8 };

// Ops between constant codes and a Dequantize, from the Dequantize on.
typedef struct moves {
    size_t nodes[MOST_MOVES];
    size_t count;
    uint32_t source;  // what the first op moves
} moves;

static const qdq_type *codes_type(const qdq_rewriter *r, const qdq_coder *c) {
    return &r->from->values[c->codes].type;
}

//---- Ops that move codes ----------------------------------------------------

// Follows a value through ops whose results are elements of their first input.
static moves moves_of(const qdq_rewriter *r, uint32_t value) {
    moves v = {.source = value};
    while (v.count < MOST_MOVES) {
        size_t node = qdq_rewrite_maker(r, v.source);
        if (node == SIZE_MAX ||
            !qdq_has_word("Gather GatherElements GatherND Slice StaticReshape StaticTranspose "
                          "Expand Tile Reorder",
                          r->from->nodes[node].op->name))
            break;
        v.nodes[v.count++] = node;
        v.source = r->from->nodes[node].inputs[X].id;
    }
    return v;
}

// True if the new nodes take the place of a move, because nothing else reads its result.
static bool is_replaced(const qdq_rewriter *r, const moves *v, size_t i) {
    for (size_t k = 0; k <= i; k++)
        if (qdq_rewrite_only_reader(r, r->from->nodes[v->nodes[k]].outputs[0]) == SIZE_MAX)
            return false;
    return true;
}

// Adds the moves to the new graph, of `x` in place of their source.
static qdq_value moved_as_before(qdq_rewriter *r, const moves *v, qdq_value x) {
    for (size_t i = v->count; i-- > 0;) {
        const qdq_node *node = &r->from->nodes[v->nodes[i]];
        qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
        for (size_t k = 1; k < node->input_count; k++)
            inputs[k] = qdq_rewrite_value(r, node->inputs[k].id);
        inputs[X] = x;
        const char *name =
            is_replaced(r, v, i) ? node->name : qdq_rewrite_name(r, node->name, "_moved");
        x = qdq_copy_node(r->to, node, name, inputs);
    }
    return x;
}

//---- The anchor -------------------------------------------------------------

// Returns the anchor with the constant codes that it reads, possibly behind moves, in place of its
// own.
static qdq_coder coder_of_anchor(const qdq_rewriter *r, const qdq_match *m, moves *v) {
    qdq_coder w = qdq_coder_of(r, m->anchor, "Dequantize");
    *v = moves_of(r, w.given ? w.codes : 0);
    if (w.given && w.count == 1 && !w.blocks) w.codes = v->source;
    return w;
}

// Matches a Dequantize of constant codes with constant parameters and an error of the target. Codes
// behind ops that move them have one scale.
static bool match_constant(const qdq_rewriter *r, qdq_match *m, qdq_coder *w) {
    moves v;
    *w = coder_of_anchor(r, m, &v);
    if (!w->given || !w->known || r->from->values[w->codes].kind != QDQ_VALUE_CONSTANT ||
        !qdq_mend_is_asked(r, m, m->anchor))
        return false;
    for (size_t i = 0; i < v.count; i++) {
        const qdq_node *node = &r->from->nodes[v.nodes[i]];
        if (is_replaced(r, &v, i)) qdq_match_replaces(r, m, v.nodes[i]);
        for (size_t k = 1; k < node->input_count; k++) qdq_match_reads(r, m, node->inputs[k].id);
    }
    qdq_match_makes(r, m, w->reals);
    return true;
}

// Adds a Dequantize of other codes in place of the anchor.
static void build(qdq_rewriter *r, qdq_match *m, const qdq_coder *w, qdq_dtype dtype,
                  const int32_t *codes, const qdq_coder_params *p) {
    qdq_shape shape = codes_type(r, w)->shape;
    size_t count = qdq_shape_count(shape);
    char *data = qdq_mempool_array(r->mempool, count, qdq_dtype_size(dtype));
    moves v;
    if (!codes || !data) return;
    (void)coder_of_anchor(r, m, &v);
    qdq_encode_int(dtype, codes, data, count);
    qdq_quantize_attrs attrs = qdq_coder_attrs(r, w, dtype, p);
    qdq_value x = qdq_rewrite_constant(r, attrs.name, "_codes", dtype, shape, data);
    m->made[0] = qdq_dequantize(r->to, moved_as_before(r, &v, x), attrs);
}

// Returns codes minus zero points.
static int32_t *moved(const qdq_rewriter *r, const qdq_coder *w, const qdq_coder_params *p) {
    size_t count = qdq_shape_count(codes_type(r, w)->shape);
    const int64_t *steps = qdq_coder_steps(r, w, p);
    int32_t *codes = qdq_mempool_array(r->mempool, count, sizeof *codes);
    for (size_t i = 0; steps && codes && i < count; i++) codes[i] = (int32_t)steps[i];
    return steps ? codes : NULL;
}

//---- uint8 to int8 ----------------------------------------------------------

bool qdq_mend_match_signed_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w;
    return match_constant(r, m, &w) && (w.dtype == QDQ_UINT8 || w.dtype == QDQ_UINT4);
}

void qdq_mend_build_signed_codes(qdq_rewriter *r, qdq_match *m) {
    moves v;
    qdq_coder w = coder_of_anchor(r, m, &v);
    int32_t middle = w.dtype == QDQ_UINT8 ? 128 : 8, same[] = {middle};
    qdq_coder_params p, plain = {.zeros = same, .count = 1};
    qdq_coder whole = w;
    whole.count = 1;
    if (!qdq_coder_read_params(r, &w, &p)) return;
    const int32_t *codes = moved(r, &whole, &plain);
    for (size_t i = 0; i < p.count; i++) p.zeros[i] -= middle;
    build(r, m, &w, w.dtype == QDQ_UINT8 ? QDQ_INT8 : QDQ_INT4, codes, &p);
}

//---- Codes without a zero point ---------------------------------------------

static bool has_zero_point(const qdq_coder_params *p) {
    for (size_t i = 0; i < p->count; i++)
        if (p->zeros[i]) return true;
    return false;
}

bool qdq_mend_match_shifted_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w;
    qdq_coder_params p;
    if (!match_constant(r, m, &w) || (w.dtype != QDQ_INT8 && w.dtype != QDQ_INT4) ||
        !qdq_coder_read_params(r, &w, &p) || !has_zero_point(&p))
        return false;
    const qdq_dtype_info *info = qdq_dtype_get(w.dtype);
    const int64_t *steps = qdq_coder_steps(r, &w, &p);
    size_t count = qdq_shape_count(codes_type(r, &w)->shape);
    for (size_t i = 0; steps && i < count; i++)
        if (steps[i] < info->least || steps[i] > info->greatest) return false;
    return steps != NULL;
}

void qdq_mend_build_shifted_codes(qdq_rewriter *r, qdq_match *m) {
    moves v;
    qdq_coder w = coder_of_anchor(r, m, &v);
    qdq_coder_params p;
    if (!qdq_coder_read_params(r, &w, &p)) return;
    const int32_t *codes = moved(r, &w, &p);
    for (size_t i = 0; i < p.count; i++) p.zeros[i] = 0;
    build(r, m, &w, w.dtype, codes, &p);
}

//---- Other scales -----------------------------------------------------------

// Returns symmetric codes of reals and sets their scales, with the blocks of `w`.
static int32_t *quantized(const qdq_rewriter *r, const qdq_coder *w, qdq_dtype dtype,
                          const float *reals, qdq_coder_params *p) {
    size_t count = qdq_shape_count(codes_type(r, w)->shape);
    const uint32_t *blocks = qdq_coder_blocks(r, w);
    int32_t *codes = qdq_mempool_array(r->mempool, count, sizeof *codes);
    qdq_numerics plain = {0};
    qdq_range range = qdq_range_of(dtype, NULL, NULL, &plain);
    float greatest = (float)qdq_dtype_get(dtype)->greatest;
    p->count = w->count;
    p->scales = qdq_mempool_array(r->mempool, p->count, sizeof *p->scales);
    p->zeros = qdq_mempool_array(r->mempool, p->count, sizeof *p->zeros);
    if (!blocks || !codes || !reals || !p->scales || !p->zeros) return NULL;
    for (size_t i = 0; i < count; i++)
        p->scales[blocks[i]] = fmaxf(p->scales[blocks[i]], fabsf(reals[i]));
    for (size_t i = 0; i < p->count; i++)
        p->scales[i] = p->scales[i] > 0 ? p->scales[i] / greatest : 1.0f;
    for (size_t i = 0; i < count; i++)
        codes[i] = qdq_quantize_one(&plain, reals[i], p->scales[blocks[i]], 0, &range);
    return codes;
}

bool qdq_mend_match_symmetric_codes(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w;
    qdq_coder_params p;
    return match_constant(r, m, &w) && (w.dtype == QDQ_INT8 || w.dtype == QDQ_INT4) &&
           qdq_coder_read_params(r, &w, &p) && has_zero_point(&p);
}

void qdq_mend_build_symmetric_codes(qdq_rewriter *r, qdq_match *m) {
    moves v;
    qdq_coder w = coder_of_anchor(r, m, &v);
    qdq_coder_params p, made;
    if (!qdq_coder_read_params(r, &w, &p)) return;
    const int32_t *codes = quantized(r, &w, w.dtype, qdq_coder_reals(r, &w, &p), &made);
    build(r, m, &w, w.dtype, codes, &made);
}

// Returns the only dim that is not cut into blocks of several elements: the channels. -1: none, or
// several.
static int channel_dim(const qdq_rewriter *r, const qdq_coder *w) {
    qdq_shape shape = codes_type(r, w)->shape;
    int axis = -1;
    for (int i = 0; i < shape.rank; i++) {
        if (w->attrs->group_shape.data[i] != 1 || shape.dims[i] == 1) continue;
        if (axis >= 0) return -1;
        axis = i;
    }
    return axis;
}

bool qdq_mend_match_channels(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w;
    return match_constant(r, m, &w) && w.blocks && qdq_dtype_is_int(w.dtype) &&
           w.dtype != QDQ_INT32;
}

void qdq_mend_build_channels(qdq_rewriter *r, qdq_match *m) {
    moves v;
    qdq_coder w = coder_of_anchor(r, m, &v);
    qdq_coder_params p, made;
    if (!qdq_coder_read_params(r, &w, &p)) return;
    const float *reals = qdq_coder_reals(r, &w, &p);
    w.axis = channel_dim(r, &w);
    w.blocks = false;
    w.count = w.axis < 0 ? 1 : (size_t)codes_type(r, &w)->shape.dims[w.axis];
    const int32_t *codes = quantized(r, &w, QDQ_INT8, reals, &made);
    build(r, m, &w, QDQ_INT8, codes, &made);
}

//---- Reals ------------------------------------------------------------------

bool qdq_mend_match_float_bias(const qdq_rewriter *r, qdq_match *m) {
    qdq_coder w;
    return match_constant(r, m, &w) && w.dtype == QDQ_INT32;
}

void qdq_mend_build_float_bias(qdq_rewriter *r, qdq_match *m) {
    moves v;
    qdq_coder w = coder_of_anchor(r, m, &v);
    qdq_coder_params p;
    if (!qdq_coder_read_params(r, &w, &p)) return;
    const float *reals = qdq_coder_reals(r, &w, &p);
    if (!reals) return;
    qdq_value x = qdq_rewrite_constant(r, r->from->nodes[m->anchor].name, "_float", QDQ_FLOAT32,
                                       codes_type(r, &w)->shape, reals);
    m->made[0] = moved_as_before(r, &v, x);
}
