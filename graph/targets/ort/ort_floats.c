// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that fuse several nodes into one float op: a product with a scalar
// (FusedMatMul), Gelu (also BiasGelu, which has its bits), and a reciprocal that is multiplied; and
// of sums with 0 and products by 1, which it removes.
#include <math.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/products.h"
#include "ops/gemm/order/gemm_order.h"

enum { A, B, BIAS };  // ports of MatMul

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

static const qdq_node *node_at(const qdq_rewriter *r, size_t index) {
    return &r->from->nodes[index];
}

// True if a value is a constant close to `wanted`, a scalar or of shape [1].
static bool is_about(const qdq_rewriter *r, uint32_t value, float wanted) {
    const float *v = ort_scalar_of(r, value);
    return v && value_at(r, value)->type.shape.rank <= 1 &&
           fabsf(*v - wanted) <= 1e-8f + 1e-5f * fabsf(wanted);
}

// Returns the port of a node with two inputs whose other input is the constant `wanted`; -1 if
// neither is.
static int port_next_to(const qdq_rewriter *r, const qdq_node *node, float wanted) {
    for (int i = 0; i < 2; i++)
        if (is_about(r, node->inputs[1 - i].id, wanted)) return i;
    return -1;
}

//---- Sums with 0, products by 1 ---------------------------------------------

// Returns the port of x of a node whose other operand is one constant number and leaves x as it is;
// -1 if neither does.
static int port_kept(const qdq_rewriter *r, size_t index) {
    const qdq_node *node = node_at(r, index);
    bool adds = qdq_rewrite_is(r, index, "Add"), subtracts = qdq_rewrite_is(r, index, "Subtract");
    bool one_side = subtracts || qdq_rewrite_is(r, index, "Divide");
    for (int i = one_side; i < 2; i++) {
        const float *v = ort_scalar_of(r, node->inputs[i].id);
        int rank = value_at(r, node->inputs[i].id)->type.shape.rank;
        uint32_t x = node->inputs[1 - i].id;
        if (v && *v == (adds || subtracts ? 0.0f : 1.0f) && rank <= value_at(r, x)->type.shape.rank)
            return 1 - i;
    }
    return -1;
}

// Matches Add and Sub of 0, of either sign, Mul and Div by 1, between a node that makes x and nodes
// that read the result: x may not be an input, nor the result an output.
bool ort_match_no_op(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    const qdq_graph_value *y = value_at(r, node->outputs[0]);
    int x = node->expanded || y->returned || y->constant ? -1 : port_kept(r, m->anchor);
    if (x < 0 || y->type.dtype != QDQ_FLOAT32) return false;
    if (qdq_rewrite_maker(r, node->inputs[x].id) == SIZE_MAX) return false;
    qdq_match_reads(r, m, node->inputs[x].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_no_op(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_rewrite_value(r, m->reads.items[0]);
}

//---- Products with a scalar -------------------------------------------------

// Finds the factor and the other operand of a Multiply or Divide by a constant scalar.
static bool scales(const qdq_rewriter *r, size_t node, float *factor, uint32_t *x) {
    bool divides = qdq_rewrite_is(r, node, "Divide");
    if (!divides && !qdq_rewrite_is(r, node, "Multiply")) return false;
    for (size_t i = divides; i < 2; i++) {
        const qdq_value *in = node_at(r, node)->inputs;
        const float *v = ort_scalar_of(r, in[i].id);
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

// A product: its operands without their scalar factors, the last node that it replaces, and the
// factor.
typedef struct scaled_product {
    uint32_t x[2];
    size_t last;
    float factor;
    bool any;
} scaled_product;

static bool is_product(const qdq_rewriter *r, size_t index) {
    if (!qdq_rewrite_is(r, index, "MatMul")) return false;
    const qdq_node *node = node_at(r, index);
    return !ort_has_input(node, BIAS) && !ort_was(node, "Gemm") && !ort_was(node, "MatMulNBits") &&
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

// True if ONNX Runtime multiplies each sum as a whole: products of one row or column, and sums in
// several chunks of k, have another order with the scalar in it.
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
    qdq_value inputs[QDQ_MAX_PORTS] = {qdq_rewrite_value(r, p.x[A]), qdq_rewrite_value(r, p.x[B])};
    qdq_value y = qdq_copy_node(r->to, node, qdq_rewrite_name(r, name, "_product"), inputs);
    qdq_value factor =
        qdq_rewrite_constant(r, name, "_factor", QDQ_FLOAT32, (qdq_shape){0}, &p.factor);
    m->made[0] = qdq_multiply(r->to, y, factor, (qdq_binary_attrs){.name = name});
}

//---- Gelu -------------------------------------------------------------------

// Returns x of erf(x / sqrt 2) + 1 behind a value; 0 if the value has another form.
static uint32_t erf_and_one(const qdq_rewriter *r, uint32_t value) {
    const qdq_node *add = ort_made_by(r, value, "Add");
    int port = add ? port_next_to(r, add, 1) : -1;
    const qdq_node *erf = port < 0 ? NULL : ort_made_by(r, add->inputs[port].id, "Erf");
    const qdq_node *divide = erf ? ort_made_by(r, erf->inputs[0].id, "Divide") : NULL;
    return divide && is_about(r, divide->inputs[1].id, 1.41421356f) ? divide->inputs[0].id : 0;
}

// Returns the value whose Gelu a Multiply computes; 0 if it computes none. Gelu is x * 0.5 * (erf +
// 1), or x * (erf + 1) * 0.5 if no Multiply computes x.
static uint32_t gelu_of(const qdq_rewriter *r, const qdq_node *last) {
    int port = port_next_to(r, last, 0.5f);
    const qdq_node *inner = port < 0 ? NULL : ort_made_by(r, last->inputs[port].id, "Multiply");
    for (size_t i = 0; inner && i < 2; i++) {
        uint32_t x = erf_and_one(r, inner->inputs[i].id);
        if (x && inner->inputs[1 - i].id == x &&
            !qdq_rewrite_is(r, qdq_rewrite_maker(r, x), "Multiply"))
            return x;
    }
    for (size_t i = 0; i < 2; i++) {
        uint32_t x = erf_and_one(r, last->inputs[i].id);
        const qdq_node *half = x ? ort_made_by(r, last->inputs[1 - i].id, "Multiply") : NULL;
        int of = half ? port_next_to(r, half, 0.5f) : -1;
        if (of >= 0 && half->inputs[of].id == x) return x;
    }
    return 0;
}

// Level basic forms no Gelu below opset 20, which introduced the op.
bool ort_match_gelu(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *last = node_at(r, m->anchor);
    if (r->from->opset < 20 && r->version->options[ORT_LEVEL] == ORT_BASIC) return false;
    uint32_t x = gelu_of(r, last);
    if (!x || ort_is_duplicated(r, x) || value_at(r, x)->type.dtype != QDQ_FLOAT32) return false;
    qdq_match_reads(r, m, x);
    qdq_match_makes(r, m, last->outputs[0]);
    return true;
}

void ort_build_gelu(qdq_rewriter *r, qdq_match *m) {
    m->made[0] = qdq_gelu(r->to, qdq_rewrite_value(r, m->reads.items[0]),
                          (qdq_gelu_attrs){.name = node_at(r, m->anchor)->name});
}

//---- 1 / x, times y ---------------------------------------------------------

static bool divided_at(const qdq_rewriter *r, const qdq_node *last, uint32_t *x, uint32_t *y) {
    for (size_t i = 0; i < 2; i++) {
        const qdq_node *divide = ort_made_by(r, last->inputs[i].id, "Divide");
        const float *one = divide ? ort_scalar_of(r, divide->inputs[0].id) : NULL;
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
