// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that make one float op of several: a product with a scalar
// (FusedMatMul), Gelu (also BiasGelu, which has its bits), LayerNormalization, the same of a sum,
// RMS normalization, and a reciprocal that is multiplied.
#include <math.h>
#include <string.h>

#include "graph/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "ops/products/order/gemm_order.h"

enum { A, B, BIAS };  // ports of MatMul

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

static const qdq_node *node_at(const qdq_rewriter *r, size_t index) {
    return &r->from->nodes[index];
}

// The node that makes a value, if it is `op` and one port alone reads the value; else NULL.
static const qdq_node *made_by(const qdq_rewriter *r, uint32_t value, const char *op) {
    size_t maker = qdq_rewrite_maker(r, value);
    bool fits = qdq_rewrite_is(r, maker, op) && qdq_rewrite_only_reader(r, value) != SIZE_MAX;
    return fits ? node_at(r, maker) : NULL;
}

// A constant float32 of one element; NULL: it is none.
static const float *scalar_of(const qdq_rewriter *r, uint32_t value) {
    if (!value || !ort_is_constant(r, value)) return NULL;
    const qdq_type *type = &value_at(r, value)->type;
    return type->dtype == QDQ_FLOAT32 && qdq_shape_count(type->shape) == 1
               ? qdq_rewrite_data(r, value)
               : NULL;
}

static bool is_about(const float *v, float wanted) {
    return v && fabsf(*v - wanted) <= 1e-8f + 1e-5f * fabsf(wanted);
}

// The port of a node with two inputs whose other one is the constant `wanted`; -1: there is none.
static int beside_constant(const qdq_rewriter *r, const qdq_node *node, float wanted) {
    for (int i = 0; i < 2; i++)
        if (is_about(scalar_of(r, node->inputs[1 - i].id), wanted)) return i;
    return -1;
}

//---- Products with a scalar -------------------------------------------------

// A Multiply or Divide by a constant scalar: the factor and the other operand.
static bool scales(const qdq_rewriter *r, size_t node, float *factor, uint32_t *x) {
    bool divides = qdq_rewrite_is(r, node, "Divide");
    if (!divides && !qdq_rewrite_is(r, node, "Multiply")) return false;
    for (size_t i = divides; i < 2; i++) {
        const qdq_value *in = node_at(r, node)->inputs;
        const float *v = scalar_of(r, in[i].id);
        const qdq_type *type = &value_at(r, in[1 - i].id)->type;
        if (!v || type->dtype != QDQ_FLOAT32 ||
            value_at(r, in[i].id)->type.shape.rank > type->shape.rank)
            continue;
        *factor = divides ? 1.0f / *v : *v;
        *x = in[1 - i].id;
        return true;
    }
    return false;
}

// A product, the values that it multiplies, and the node whose result it makes.
typedef struct scaled_product {
    uint32_t x[2];
    size_t last;
    float factor;
    bool any;
} scaled_product;

static bool is_product(const qdq_rewriter *r, size_t index) {
    if (!qdq_rewrite_is(r, index, "MatMul")) return false;
    const qdq_node *node = node_at(r, index);
    return !(node->input_count > BIAS && node->inputs[BIAS].id) && !ort_was(node, "Gemm") &&
           value_at(r, node->outputs[0])->type.dtype == QDQ_FLOAT32;
}

// Takes the scalars before and behind the product that are next to it. One between two products
// belongs to the first of them, of two scalars each product gets one.
static bool take_scalars(const qdq_rewriter *r, scaled_product *p) {
    float factor;
    uint32_t x, y = node_at(r, p->last)->outputs[0];
    bool any = false;
    for (size_t i = 0; i < 2; i++)
        if (scales(r, qdq_rewrite_maker(r, p->x[i]), &factor, &x) &&
            value_at(r, x)->type.shape.rank > 0 &&
            !(is_product(r, qdq_rewrite_maker(r, x)) && qdq_rewrite_only_reader(r, x) != SIZE_MAX))
            p->x[i] = x, p->factor *= factor, any = true;
    size_t next = qdq_rewrite_only_reader(r, y);
    if (next == SIZE_MAX || !scales(r, next, &factor, &x) || x != y) return any;
    size_t then = qdq_rewrite_only_reader(r, node_at(r, next)->outputs[0]);
    if (!is_product(r, p->last) && then != SIZE_MAX && is_product(r, then)) return any;
    p->last = next, p->factor *= factor;
    return true;
}

static scaled_product product_at(const qdq_rewriter *r, size_t index) {
    const qdq_node *node = node_at(r, index);
    scaled_product p = {.x = {node->inputs[A].id, node->inputs[B].id}, .last = index, .factor = 1};
    while (take_scalars(r, &p)) p.any = true;
    return p;
}

// Whether ONNX Runtime multiplies each sum as a whole: products of one row or column and those in
// several chunks of k have another order, with the scalar in it.
static bool sums_are_whole(const qdq_rewriter *r, const scaled_product *p, const qdq_node *node) {
    const qdq_shape *a = &value_at(r, p->x[A])->type.shape, *b = &value_at(r, p->x[B])->type.shape;
    const qdq_matmul_attrs *attrs = node->attrs;
    if (a->rank < 2 || b->rank < 2) return false;
    size_t k = (size_t)a->dims[a->rank - (attrs->transpose_a == QDQ_TRUE ? 2 : 1)];
    qdq_runtime_product whole = {
        .m = b->rank == 2 ? qdq_shape_count(*a) / (k ? k : 1) : (size_t)a->dims[a->rank - 2],
        .n = (size_t)b->dims[b->rank - (attrs->transpose_b == QDQ_TRUE ? 2 : 1)],
        .k = k,
        .transpose_a = attrs->transpose_a == QDQ_TRUE,
        .transpose_b = attrs->transpose_b == QDQ_TRUE,
        .packed = ort_is_constant(r, p->x[B]) && b->rank == 2,
    };
    qdq_gemm_order order = qdq_gemm_order_of(&whole);
    return order.sums == QDQ_SUM_CHUNKS && k <= order.chunk;
}

bool ort_match_scaled_product(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    if (!is_product(r, m->anchor)) return false;
    scaled_product p = product_at(r, m->anchor);
    if (!p.any) return false;
    for (size_t at = m->anchor; at != p.last;) {
        at = qdq_rewrite_only_reader(r, node_at(r, at)->outputs[0]);
        qdq_match_replaces(r, m, at);
    }
    qdq_match_reads(r, m, p.x[A]);
    qdq_match_reads(r, m, p.x[B]);
    qdq_match_makes(r, m, node_at(r, p.last)->outputs[0]);
    if (!sums_are_whole(r, &p, node))
        m->found = "becomes FusedMatMul, which multiplies by a scalar within its sums";
    return true;
}

void ort_build_scaled_product(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    scaled_product p = product_at(r, m->anchor);
    const char *name = node_at(r, p.last)->name;
    qdq_value inputs[QDQ_MAX_INPUTS] = {qdq_rewrite_value(r, p.x[A]), qdq_rewrite_value(r, p.x[B])};
    qdq_value y = qdq_copy_node(r->to, node, qdq_rewrite_name(r, name, "_product"), inputs);
    qdq_value factor =
        qdq_rewrite_constant(r, name, "_factor", QDQ_FLOAT32, (qdq_shape){0}, &p.factor);
    m->made[0] = qdq_multiply(r->to, y, factor, (qdq_binary_attrs){.name = name});
}

//---- Gelu -------------------------------------------------------------------

// x, of erf(x / sqrt 2) + 1 behind a value; 0: it is none.
static uint32_t erf_and_one(const qdq_rewriter *r, uint32_t value) {
    const qdq_node *add = made_by(r, value, "Add");
    int port = add ? beside_constant(r, add, 1) : -1;
    const qdq_node *erf = port < 0 ? NULL : made_by(r, add->inputs[port].id, "Erf");
    const qdq_node *divide = erf ? made_by(r, erf->inputs[0].id, "Divide") : NULL;
    return divide && is_about(scalar_of(r, divide->inputs[1].id), 1.41421356f)
               ? divide->inputs[0].id
               : 0;
}

// The value whose Gelu a Multiply makes; 0: none. It is x * 0.5 * (erf + 1), or x * (erf + 1) * 0.5
// if no Multiply makes x.
static uint32_t gelu_of(const qdq_rewriter *r, const qdq_node *last) {
    int port = beside_constant(r, last, 0.5f);
    const qdq_node *inner = port < 0 ? NULL : made_by(r, last->inputs[port].id, "Multiply");
    for (size_t i = 0; inner && i < 2; i++) {
        uint32_t x = erf_and_one(r, inner->inputs[i].id);
        if (x && inner->inputs[1 - i].id == x &&
            !qdq_rewrite_is(r, qdq_rewrite_maker(r, x), "Multiply"))
            return x;
    }
    for (size_t i = 0; i < 2; i++) {
        uint32_t x = erf_and_one(r, last->inputs[i].id);
        const qdq_node *half = x ? made_by(r, last->inputs[1 - i].id, "Multiply") : NULL;
        int of = half ? beside_constant(r, half, 0.5f) : -1;
        if (of >= 0 && half->inputs[of].id == x) return x;
    }
    return 0;
}

bool ort_match_gelu(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    uint32_t x = gelu_of(r, last);
    if (!x || value_at(r, x)->type.dtype != QDQ_FLOAT32) return false;
    qdq_match_reads(r, m, x);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

void ort_build_gelu(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_gelu(r->to, qdq_rewrite_value(r, m->reads.items[0]),
                          (qdq_gelu_attrs){.name = node_at(r, m->anchor)->name});
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

// What is subtracted from its mean: x; 0: it is none.
static uint32_t centered(const qdq_rewriter *r, uint32_t value) {
    const qdq_node *minus = maker_if(r, value, "Subtract");
    const qdq_node *mean = minus ? maker_if(r, minus->inputs[1].id, "ReduceMean") : NULL;
    bool fits = is_last_mean(r, mean) && mean->inputs[0].id == minus->inputs[0].id;
    return fits ? minus->inputs[0].id : 0;
}

// The operand of an Add or Multiply next to constants of one dim, whose value is *constant.
static uint32_t beside_row(const qdq_rewriter *r, const qdq_node *node, uint32_t *constant) {
    for (size_t i = 0; node && i < 2; i++) {
        uint32_t id = node->inputs[i].id;
        if (!ort_is_constant(r, id) || value_at(r, id)->type.shape.rank != 1) continue;
        *constant = id;
        return node->inputs[1 - i].id;
    }
    return 0;
}

typedef struct layer_norm {
    uint32_t x, gamma, beta;
    float epsilon;
} layer_norm;

// mean((x - mean(x))^2) + epsilon behind a value.
static bool variance_at(const qdq_rewriter *r, uint32_t value, layer_norm *n, uint32_t *x) {
    const qdq_node *add = made_by(r, value, "Add");
    for (size_t i = 0; add && i < 2; i++) {
        const float *epsilon = scalar_of(r, add->inputs[i].id);
        const qdq_node *mean = epsilon ? made_by(r, add->inputs[1 - i].id, "ReduceMean") : NULL;
        const qdq_node *pow = is_last_mean(r, mean) ? made_by(r, mean->inputs[0].id, "Pow") : NULL;
        const float *two = pow ? scalar_of(r, pow->inputs[1].id) : NULL;
        if (!two || *two != 2.0f) continue;
        n->epsilon = *epsilon;
        *x = pow->inputs[0].id;
        return true;
    }
    return false;
}

static bool layer_norm_at(const qdq_rewriter *r, const qdq_node *last, layer_norm *n) {
    uint32_t scaled = beside_row(r, last, &n->beta), squared = 0;
    const qdq_node *multiply = scaled ? made_by(r, scaled, "Multiply") : NULL;
    uint32_t normal = beside_row(r, multiply, &n->gamma);
    const qdq_node *divide = normal ? made_by(r, normal, "Divide") : NULL;
    const qdq_node *root = divide ? made_by(r, divide->inputs[1].id, "Sqrt") : NULL;
    if (!root || !variance_at(r, root->inputs[0].id, n, &squared)) return false;
    n->x = centered(r, divide->inputs[0].id);
    const qdq_type *type = &value_at(r, n->x)->type;
    return n->x && centered(r, squared) == n->x && type->dtype == QDQ_FLOAT32 &&
           value_at(r, n->gamma)->type.shape.dims[0] == type->shape.dims[type->shape.rank - 1];
}

bool ort_match_layer_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!layer_norm_at(r, last, &n)) return false;
    qdq_match_reads(r, m, n.x);
    qdq_match_reads(r, m, n.gamma);
    qdq_match_reads(r, m, n.beta);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

void ort_build_layer_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!layer_norm_at(r, last, &n)) return;
    m->made[0] = qdq_layer_norm(r->to, qdq_rewrite_value(r, n.x),
                                (qdq_layer_norm_attrs){.name = last->name,
                                                       .gamma = qdq_rewrite_value(r, n.gamma),
                                                       .beta = qdq_rewrite_value(r, n.beta),
                                                       .epsilon = {true, n.epsilon},
                                                       .keep_stats = QDQ_FALSE});
}

//---- LayerNormalization of a sum --------------------------------------------

// A sum of images [N, L, H], in this order: a + b, then the bias of H.
typedef struct skipped_sum {
    uint32_t a, b, bias;
} skipped_sum;

// An operand that is itself x + constants of the last dim, which only the sum reads.
static bool take_bias(const qdq_rewriter *r, uint32_t *operand, uint32_t *bias) {
    const qdq_node *add = made_by(r, *operand, "Add");
    if (!add || !ort_is_constant(r, add->inputs[1].id) ||
        value_at(r, add->inputs[1].id)->type.shape.rank != 1)
        return false;
    *operand = add->inputs[0].id, *bias = add->inputs[1].id;
    return true;
}

static bool skipped_sum_at(const qdq_rewriter *r, const qdq_node *node, skipped_sum *s) {
    const qdq_layer_norm_attrs *a = node->attrs;
    const qdq_type *x = &value_at(r, node->inputs[0].id)->type;
    const qdq_node *add = made_by(r, node->inputs[0].id, "Add");
    int64_t axis = a->begin_norm_axis.set ? a->begin_norm_axis.value : -1;
    if (!add || a->one_pass == QDQ_TRUE || x->dtype != QDQ_FLOAT32 || x->shape.rank != 3 ||
        (axis != -1 && axis != 2) || a->keep_stats != QDQ_FALSE)
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

// x / sqrt(mean(x^2) + epsilon) * gamma.
static bool rms_norm_at(const qdq_rewriter *r, const qdq_node *last, layer_norm *n) {
    uint32_t squared = 0, normal = beside_row(r, last, &n->gamma);
    const qdq_node *divide = normal ? made_by(r, normal, "Divide") : NULL;
    const qdq_node *root = divide ? made_by(r, divide->inputs[1].id, "Sqrt") : NULL;
    if (!root || !variance_at(r, root->inputs[0].id, n, &squared)) return false;
    n->x = divide->inputs[0].id;
    const qdq_type *type = &value_at(r, n->x)->type;
    return squared == n->x && type->dtype == QDQ_FLOAT32 &&
           value_at(r, n->gamma)->type.shape.dims[0] == type->shape.dims[type->shape.rank - 1];
}

bool ort_match_rms_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!rms_norm_at(r, last, &n)) return false;
    qdq_match_reads(r, m, n.x);
    qdq_match_reads(r, m, n.gamma);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

void ort_build_rms_norm(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    layer_norm n;
    if (!rms_norm_at(r, last, &n)) return;
    m->made[0] = qdq_rms_norm(r->to, qdq_rewrite_value(r, n.x),
                              (qdq_rms_norm_attrs){.name = last->name,
                                                   .gamma = qdq_rewrite_value(r, n.gamma),
                                                   .epsilon = {true, n.epsilon}});
}

//---- 1 / x, times y ---------------------------------------------------------

static bool divided_at(const qdq_rewriter *r, const qdq_node *last, uint32_t *x, uint32_t *y) {
    for (size_t i = 0; i < 2; i++) {
        const qdq_node *divide = made_by(r, last->inputs[i].id, "Divide");
        const float *one = divide ? scalar_of(r, divide->inputs[0].id) : NULL;
        if (!one || *one != 1.0f) continue;
        *x = divide->inputs[1].id, *y = last->inputs[1 - i].id;
        return true;
    }
    return false;
}

bool ort_match_divided(const qdq_rewriter *r, qdq_match *m) {
    uint32_t x, y;
    if (!divided_at(r, node_at(r, m->anchor), &x, &y)) return false;
    qdq_match_reads(r, m, y);
    qdq_match_reads(r, m, x);
    qdq_match_makes(r, m, node_at(r, m->anchor)->outputs[0]);
    return true;
}

void ort_build_divided(qdq_rewriter *r, qdq_match *m) {
    qdq_value y = qdq_rewrite_value(r, m->reads.items[0]),
              x = qdq_rewrite_value(r, m->reads.items[1]);
    m->made[0] = qdq_divide(r->to, y, x, (qdq_binary_attrs){.name = node_at(r, m->anchor)->name});
}
