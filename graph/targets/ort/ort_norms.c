// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that fuse several float nodes into a normalization.
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/reduce.h"

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

static const qdq_node *node_at(const qdq_rewriter *r, size_t index) {
    return &r->from->nodes[index];
}

//---- LayerNormalization -----------------------------------------------------

static bool is_last_mean(const qdq_rewriter *r, const qdq_node *mean) {
    const qdq_reduce_attrs *a = mean ? mean->attrs : NULL;
    if (!mean || a->axes.count != 1 || a->keep_dims != QDQ_TRUE) return false;
    int rank = value_at(r, mean->inputs[0].id)->type.shape.rank;
    return a->axes.data[0] == -1 || a->axes.data[0] == rank - 1;
}

static const qdq_node *maker_if(const qdq_rewriter *r, uint32_t value, const char *op) {
    size_t maker = qdq_rewrite_maker(r, value);
    return qdq_rewrite_is(r, maker, op) ? node_at(r, maker) : NULL;
}

static bool is_read_by(const qdq_rewriter *r, uint32_t value, size_t ports) {
    return qdq_rewrite_reader_count(r, value) == ports && !value_at(r, value)->returned;
}

// Returns the x of x - mean(x) behind a value, if `readers` ports read the mean; else 0.
static uint32_t centered(const qdq_rewriter *r, uint32_t value, size_t readers) {
    const qdq_node *minus = maker_if(r, value, "Subtract");
    const qdq_node *mean = minus ? maker_if(r, minus->inputs[1].id, "ReduceMean") : NULL;
    bool fits = is_last_mean(r, mean) && mean->inputs[0].id == minus->inputs[0].id &&
                is_read_by(r, mean->outputs[0], readers);
    return fits ? minus->inputs[0].id : 0;
}

// Returns the operand of an Add or Multiply next to an input or constants of one dim, which are
// *row.
static uint32_t next_to_row(const qdq_rewriter *r, const qdq_node *node, uint32_t *row) {
    for (size_t i = 0; node && i < 2; i++) {
        uint32_t id = node->inputs[i].id;
        if (qdq_rewrite_maker(r, id) != SIZE_MAX || value_at(r, id)->type.shape.rank != 1) continue;
        *row = id;
        return node->inputs[1 - i].id;
    }
    return 0;
}

static int64_t row_length(const qdq_rewriter *r, uint32_t row) {
    return value_at(r, row)->type.shape.dims[0];
}

// True if gamma has an element for each element along the last dim of x. ONNX Runtime has a
// normalization with a single gamma as well, in another form.
static bool fits_row(const qdq_rewriter *r, qdq_match *m, uint32_t row, uint32_t x) {
    const qdq_shape *shape = &value_at(r, x)->type.shape;
    if (row_length(r, row) == shape->dims[shape->rank - 1]) return true;
    m->rule = "ort/float-bits";
    m->found = "becomes a normalization with one gamma, and is computed node by node";
    return false;
}

typedef struct layer_norm {
    uint32_t x, gamma, beta;
    float epsilon;
} layer_norm;

// Finds mean((x - mean(x))^2) + epsilon behind a value.
static bool variance_at(const qdq_rewriter *r, uint32_t value, layer_norm *n, uint32_t *x) {
    const qdq_node *add = ort_made_by(r, value, "Add");
    for (size_t i = 0; add && i < 2; i++) {
        const float *epsilon = ort_scalar_of(r, add->inputs[i].id);
        const qdq_node *mean = epsilon ? ort_made_by(r, add->inputs[1 - i].id, "ReduceMean") : NULL;
        const qdq_node *pow =
            is_last_mean(r, mean) ? ort_made_by(r, mean->inputs[0].id, "Pow") : NULL;
        const float *two = pow ? ort_scalar_of(r, pow->inputs[1].id) : NULL;
        if (!two || *two != 2.0f) continue;
        n->epsilon = *epsilon;
        *x = pow->inputs[0].id;
        return true;
    }
    return false;
}

static bool layer_norm_at(const qdq_rewriter *r, qdq_match *m, layer_norm *n) {
    const qdq_node *last = node_at(r, m->anchor);
    uint32_t scaled = next_to_row(r, last, &n->beta), squared = 0;
    const qdq_node *multiply = scaled ? ort_made_by(r, scaled, "Multiply") : NULL;
    uint32_t normal = next_to_row(r, multiply, &n->gamma);
    const qdq_node *divide = normal ? ort_made_by(r, normal, "Divide") : NULL;
    const qdq_node *root = divide ? ort_made_by(r, divide->inputs[1].id, "Sqrt") : NULL;
    if (!root || !variance_at(r, root->inputs[0].id, n, &squared)) return false;
    // Older exporters compute the difference twice.
    uint32_t normed = divide->inputs[0].id;
    bool twice = squared != normed;
    if (!is_read_by(r, normed, twice ? 1 : 2) || !is_read_by(r, squared, twice ? 1 : 2))
        return false;
    n->x = centered(r, normed, twice ? 2 : 1);
    return n->x && !ort_is_duplicated(r, n->x) && centered(r, squared, twice ? 2 : 1) == n->x &&
           value_at(r, n->x)->type.dtype == QDQ_FLOAT32 &&
           row_length(r, n->gamma) == row_length(r, n->beta) && fits_row(r, m, n->gamma, n->x);
}

// Returns the Transpose that ONNX Runtime moves behind the differences from the mean, before it
// looks for a LayerNormalization: below opset 17, which introduced the op. NULL: none.
static const qdq_node *turn_of(const qdq_rewriter *r, const layer_norm *n) {
    const qdq_shape *x = &value_at(r, n->x)->type.shape;
    bool moves = r->from->opset && r->from->opset < 17 && x->dims[x->rank - 1] > 1;
    return moves ? maker_if(r, n->x, "StaticTranspose") : NULL;
}

// Level basic forms no LayerNormalization below opset 17.
bool ort_match_layer_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (r->from->opset < 17 && r->version->options[ORT_LEVEL] == ORT_BASIC) return false;
    if (!layer_norm_at(r, m, &n)) return false;
    const qdq_node *turn = turn_of(r, &n);
    qdq_match_reads(r, m, turn ? turn->inputs[0].id : n.x);
    qdq_match_reads(r, m, n.gamma);
    qdq_match_reads(r, m, n.beta);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

// Builds the norm of a transposed image: what is left of it is a SimplifiedLayerNormalization.
static qdq_value build_turned(qdq_rewriter *r, const char *stem, const layer_norm *n,
                              const qdq_node *turn) {
    qdq_transpose_attrs order = *(const qdq_transpose_attrs *)turn->attrs;
    int rank = value_at(r, n->x)->type.shape.rank;
    int64_t axis = ort_taken_dim(turn, rank, rank - 1);
    qdq_value x = qdq_rewrite_value(r, turn->inputs[0].id);
    qdq_reduce_attrs mean = {
        .name = qdq_rewrite_name(r, stem, "_mean"), .axes = {&axis, 1}, .keep_dims = QDQ_TRUE};
    x = qdq_subtract(r->to, x, qdq_reduce_mean(r->to, x, mean),
                     (qdq_binary_attrs){.name = qdq_rewrite_name(r, stem, "_centered")});
    order.name = qdq_rewrite_name(r, stem, "_turned");
    qdq_rms_norm_attrs norm = {.name = qdq_rewrite_name(r, stem, "_normed"),
                               .gamma = qdq_rewrite_value(r, n->gamma),
                               .epsilon = QDQ_FLOAT(n->epsilon)};
    return qdq_add(r->to, qdq_rms_norm(r->to, qdq_transpose(r->to, x, order), norm),
                   qdq_rewrite_value(r, n->beta), (qdq_binary_attrs){.name = stem});
}

void ort_build_layer_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!layer_norm_at(r, m, &n)) return;
    const qdq_node *turn = turn_of(r, &n);
    if (turn) {
        m->made[0] = build_turned(r, last->name, &n, turn);
        return;
    }
    m->made[0] = qdq_layer_norm(r->to, qdq_rewrite_value(r, n.x),
                                (qdq_layer_norm_attrs){.name = last->name,
                                                       .gamma = qdq_rewrite_value(r, n.gamma),
                                                       .beta = qdq_rewrite_value(r, n.beta),
                                                       .epsilon = QDQ_FLOAT(n.epsilon),
                                                       .keep_stats = QDQ_FALSE});
}

//---- LayerNormalization of a sum --------------------------------------------

// A sum of images [N, L, H], in this order: a + b, then the bias of H.
typedef struct skipped_sum {
    uint32_t a, b, bias;
} skipped_sum;

// Takes an operand apart that is itself x + constants of the last dim, which only the sum reads.
static bool take_bias(const qdq_rewriter *r, uint32_t *operand, uint32_t *bias) {
    const qdq_node *add = ort_made_by(r, *operand, "Add");
    if (!add || !ort_is_constant(r, add->inputs[1].id) ||
        value_at(r, add->inputs[1].id)->type.shape.rank != 1)
        return false;
    *operand = add->inputs[0].id, *bias = add->inputs[1].id;
    return true;
}

// True if the model leaves dims open, none with a name: ONNX Runtime does not know then that the
// summands have one shape.
static bool has_unnamed_dims(const qdq_rewriter *r) {
    return r->from->open_dims && r->from->unnamed_dims == r->from->open_dims;
}

static bool skipped_sum_at(const qdq_rewriter *r, const qdq_node *node, skipped_sum *s) {
    const qdq_layer_norm_attrs *a = node->attrs;
    const qdq_type *x = &value_at(r, node->inputs[0].id)->type;
    const qdq_node *add = ort_made_by(r, node->inputs[0].id, "Add");
    int64_t axis = a->begin_norm_axis.set != 0 ? a->begin_norm_axis.value : -1;
    if (!add || has_unnamed_dims(r) || a->one_pass == QDQ_TRUE || x->dtype != QDQ_FLOAT32 ||
        x->shape.rank != 3 || (axis != -1 && axis != 2) || a->keep_stats != QDQ_FALSE)
        return false;
    for (size_t i = 0; i < 2; i++)
        if (!qdq_shape_equal(value_at(r, add->inputs[i].id)->type.shape, x->shape)) return false;
    *s = (skipped_sum){.a = add->inputs[0].id, .b = add->inputs[1].id};
    if (!take_bias(r, &s->a, &s->bias)) (void)take_bias(r, &s->b, &s->bias);
    return true;
}

bool ort_match_skip_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    skipped_sum s;
    if (!skipped_sum_at(r, node, &s)) return false;
    qdq_match_replaces(r, m, qdq_rewrite_maker(r, node->inputs[0].id));
    qdq_match_reads(r, m, s.a);
    qdq_match_reads(r, m, s.b);
    qdq_match_reads(r, m, s.bias);
    for (size_t i = 1; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_skip_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    qdq_layer_norm_attrs a = *(const qdq_layer_norm_attrs *)node->attrs;
    skipped_sum s;
    if (!skipped_sum_at(r, node, &s)) return;
    const char *stem = node_at(r, m->nodes.items[1])->name;
    qdq_value sum = qdq_add(r->to, qdq_rewrite_value(r, s.a), qdq_rewrite_value(r, s.b),
                            (qdq_binary_attrs){.name = qdq_rewrite_name(r, stem, "_sum")});
    if (s.bias)
        sum = qdq_add(r->to, sum, qdq_rewrite_value(r, s.bias),
                      (qdq_binary_attrs){.name = qdq_rewrite_name(r, stem, "_biased")});
    a.gamma = qdq_rewrite_value(r, node->inputs[1].id);
    a.beta = qdq_rewrite_value(r, node->inputs[2].id);
    a.one_pass = QDQ_TRUE;
    m->made[0] = qdq_layer_norm(r->to, sum, a);
}

//---- RMS normalization ------------------------------------------------------

// Finds x / sqrt(mean(x^2) + epsilon) * gamma.
static bool rms_norm_at(const qdq_rewriter *r, qdq_match *m, layer_norm *n) {
    const qdq_node *last = node_at(r, m->anchor);
    uint32_t squared = 0, normal = next_to_row(r, last, &n->gamma);
    const qdq_node *divide = normal ? ort_made_by(r, normal, "Divide") : NULL;
    const qdq_node *root = divide ? ort_made_by(r, divide->inputs[1].id, "Sqrt") : NULL;
    if (!root || !variance_at(r, root->inputs[0].id, n, &squared)) return false;
    n->x = divide->inputs[0].id;
    return squared == n->x && !ort_is_duplicated(r, n->x) &&
           value_at(r, n->x)->type.dtype == QDQ_FLOAT32 && fits_row(r, m, n->gamma, n->x);
}

bool ort_match_rms_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!rms_norm_at(r, m, &n)) return false;
    qdq_match_reads(r, m, n.x);
    qdq_match_reads(r, m, n.gamma);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

void ort_build_rms_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!rms_norm_at(r, m, &n)) return;
    m->made[0] = qdq_rms_norm(r->to, qdq_rewrite_value(r, n.x),
                              (qdq_rms_norm_attrs){.name = last->name,
                                                   .gamma = qdq_rewrite_value(r, n.gamma),
                                                   .epsilon = QDQ_FLOAT(n.epsilon)});
}
