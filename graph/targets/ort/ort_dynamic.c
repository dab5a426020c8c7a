// SPDX-License-Identifier: Apache-2.0
// Products of codes that are quantized while the graph runs. MatMulInteger, Cast and Multiply by
// the product of both scales, and the Add of a bias, become MatMulIntegerToFloat; with the
// DynamicQuantize before them DynamicQuantizeMatMul, whose numbers are the same.
#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/products.h"

enum { A, B, A_ZERO, B_ZERO };      // ports of MatMulInteger
enum { CODES, SCALE, ZERO_POINT };  // results of DynamicQuantize

// The nodes of a group, and the values that it reads.
typedef struct dynamic_product {
    const qdq_node *node;         // MatMulInteger
    size_t cast, scaled, scales;  // scaled = cast * scales
    size_t add, quantize;         // SIZE_MAX: none
    uint32_t a_scale, b_scale, bias;
    bool scale_last;  // b_scale has a shape that the kernel does not take: ScaleOutput comes last
    const char *other_bias;  // why ONNX Runtime's result with the bias has another shape
} dynamic_product;

static const qdq_type *type_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type;
}

static uint32_t result_of(const qdq_rewriter *r, size_t node) {
    return r->from->nodes[node].outputs[0];
}

static uint32_t input_at(const qdq_node *node, size_t port) {
    return port < node->input_count ? node->inputs[port].id : 0;
}

// Returns the operand of a node with two that is not `value`.
static uint32_t other_operand(const qdq_node *node, uint32_t value) {
    return node->inputs[node->inputs[0].id == value].id;
}

//---- The nodes --------------------------------------------------------------

// Returns why the nodes behind a product are no group; NULL if they are.
static const char *find_nodes(const qdq_rewriter *r, size_t product, dynamic_product *d) {
    d->node = &r->from->nodes[product];
    d->cast = qdq_rewrite_only_reader(r, result_of(r, product));
    if (!qdq_rewrite_is(r, d->cast, "Cast") ||
        type_of(r, result_of(r, d->cast))->dtype != QDQ_FLOAT32)
        return "the product does not go to one Cast to float32 alone";
    d->scaled = qdq_rewrite_only_reader(r, result_of(r, d->cast));
    if (!qdq_rewrite_is(r, d->scaled, "Multiply"))
        return "the product as float32 does not go to one Multiply alone";
    d->scales =
        qdq_rewrite_maker(r, other_operand(&r->from->nodes[d->scaled], result_of(r, d->cast)));
    if (!qdq_rewrite_is(r, d->scales, "Multiply"))
        return "the factor of the product is not made by a Multiply of two scales";
    if (qdq_rewrite_only_reader(r, result_of(r, d->scales)) != d->scaled)
        return "the product of the scales has other readers";
    const qdq_value *of = r->from->nodes[d->scales].inputs;
    if (ort_is_constant(r, of[0].id) && ort_is_constant(r, of[1].id))
        return "both scales are constants, whose product ONNX Runtime folds";
    return NULL;
}

// Returns the bias that an Add behind the product adds: a constant of the columns. 0: none.
static uint32_t bias_of(const qdq_rewriter *r, dynamic_product *d) {
    size_t add = qdq_rewrite_only_reader(r, result_of(r, d->scaled));
    if (!qdq_rewrite_is(r, add, "Add")) return 0;
    uint32_t bias = other_operand(&r->from->nodes[add], result_of(r, d->scaled));
    const qdq_shape *shape = &type_of(r, bias)->shape,
                    *y = &type_of(r, result_of(r, d->scaled))->shape,
                    *b = &type_of(r, d->node->inputs[B].id)->shape;
    int64_t columns = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    bool fits = ort_is_constant(r, bias) && shape->rank && columns > 1 &&
                shape->dims[shape->rank - 1] == columns;
    for (int i = 0; i + 1 < shape->rank; i++) fits = fits && shape->dims[i] == 1;
    if (!fits) return 0;
    if (shape->rank > y->rank) {
        d->other_bias = "goes to an Add whose bias has more dims, which ONNX Runtime drops";
        return 0;
    }
    d->add = add;
    return bias;
}

//---- Scales -----------------------------------------------------------------

static bool is_single(const qdq_rewriter *r, uint32_t value) {
    const qdq_shape *shape = &type_of(r, value)->shape;
    return shape->rank <= 1 && qdq_shape_count(*shape) == 1;
}

// True if a scale has one element for each column, in the shape that the kernel reads.
static bool is_of_columns(const qdq_shape *scale, const qdq_shape *b) {
    if (b->rank < 2) return false;
    if (scale->rank == 1) return scale->dims[0] == b->dims[b->rank - 1];
    qdq_shape wanted = *b;
    wanted.dims[b->rank - 2] = 1;
    return qdq_shape_equal(*scale, wanted);
}

// Returns why the scales keep a group from forming here, although ONNX Runtime forms it.
static const char *find_scales(const qdq_rewriter *r, dynamic_product *d) {
    const qdq_value *of = r->from->nodes[d->scales].inputs;
    bool turn = !is_single(r, of[0].id) && is_single(r, of[1].id);
    d->a_scale = of[turn].id, d->b_scale = of[!turn].id;
    if (!is_single(r, d->a_scale))
        return "is scaled by two tensors of several elements, in an order that is not modelled";
    if (!qdq_shape_equal(type_of(r, result_of(r, d->scaled))->shape,
                         type_of(r, d->node->outputs[0])->shape))
        return "has scales that change its shape, which ONNX Runtime does not";
    d->scale_last =
        !is_single(r, d->b_scale) &&
        !is_of_columns(&type_of(r, d->b_scale)->shape, &type_of(r, d->node->inputs[B].id)->shape);
    return NULL;
}

//---- DynamicQuantize --------------------------------------------------------

static bool is_plain(const qdq_dynamic_quantize_attrs *a) {
    const qdq_quantize_attrs *q = &a->quantize;
    return a->scheme == QDQ_ASYMMETRIC && q->qtype == QDQ_PER_TENSOR && q->quant_min.set == 0 &&
           q->quant_max.set == 0 && a->eps.set == 0 && q->dtype == QDQ_UINT8;
}

// Returns the DynamicQuantize whose three results only this product reads, its scale as the first
// factor.
static size_t quantize_of(const qdq_rewriter *r, const dynamic_product *d) {
    size_t node = qdq_rewrite_maker(r, d->node->inputs[A].id);
    if (!qdq_rewrite_is(r, node, "DynamicQuantize")) return SIZE_MAX;
    const qdq_node *quantize = &r->from->nodes[node];
    if (quantize->output_count <= ZERO_POINT || !is_plain(quantize->attrs) ||
        input_at(d->node, A_ZERO) != quantize->outputs[ZERO_POINT] ||
        r->from->nodes[d->scales].inputs[0].id != quantize->outputs[SCALE])
        return SIZE_MAX;
    for (size_t i = CODES; i <= ZERO_POINT; i++)
        if (qdq_rewrite_only_reader(r, quantize->outputs[i]) == SIZE_MAX) return SIZE_MAX;
    return node;
}

//---- Matching ---------------------------------------------------------------

static const char *find_product(const qdq_rewriter *r, size_t node, dynamic_product *d) {
    *d = (dynamic_product){.add = SIZE_MAX, .quantize = SIZE_MAX};
    const char *why = find_nodes(r, node, d);
    if (why) return why;
    d->bias = bias_of(r, d);
    d->quantize = quantize_of(r, d);
    return NULL;
}

static void note_product(const qdq_rewriter *r, qdq_match *m, const dynamic_product *d) {
    const size_t nodes[] = {d->quantize, d->cast, d->scales, d->scaled, d->add};
    const uint32_t reads[] = {input_at(d->node, B), input_at(d->node, B_ZERO), d->b_scale, d->bias};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
        if (nodes[i] != SIZE_MAX) qdq_match_replaces(r, m, nodes[i]);
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i]) qdq_match_reads(r, m, reads[i]);
    if (d->quantize != SIZE_MAX) {
        qdq_match_reads(r, m, r->from->nodes[d->quantize].inputs[0].id);
    } else {
        qdq_match_reads(r, m, d->node->inputs[A].id);
        qdq_match_reads(r, m, d->a_scale);
        if (input_at(d->node, A_ZERO)) qdq_match_reads(r, m, input_at(d->node, A_ZERO));
    }
    qdq_match_makes(r, m, result_of(r, d->add != SIZE_MAX ? d->add : d->scaled));
}

bool ort_match_dynamic(const qdq_rewriter *r, qdq_match *m) {
    dynamic_product d;
    const char *why = find_product(r, m->anchor, &d);
    if (why) return ort_refuses(m, why);
    m->name = d.quantize != SIZE_MAX ? "DynamicQuantizeMatMul" : "MatMulIntegerToFloat";
    m->found = find_scales(r, &d);
    if (!m->found) m->found = d.other_bias;
    if (m->found) return ort_refuses(m, "ONNX Runtime makes this group, which is not modelled");
    if (d.scale_last && d.bias)
        m->found =
            "has a scale of other than the columns, by which ONNX Runtime multiplies the sum "
            "of product and bias";
    note_product(r, m, &d);
    return true;
}

//---- Building ---------------------------------------------------------------

static void read_a(qdq_rewriter *r, const dynamic_product *d,
                   qdq_matmul_integer_to_float_attrs *to) {
    if (d->quantize == SIZE_MAX) {
        to->a = qdq_rewrite_value(r, d->node->inputs[A].id);
        to->a_scale = qdq_rewrite_value(r, d->a_scale);
        to->a_zero_point = qdq_rewrite_value(r, input_at(d->node, A_ZERO));
        return;
    }
    const qdq_node *quantize = &r->from->nodes[d->quantize];
    qdq_value inputs[QDQ_MAX_PORTS] = {qdq_rewrite_value(r, quantize->inputs[0].id)};
    to->a = qdq_copy_node(r->to, quantize, NULL, inputs);
    to->a_scale = qdq_port(r->to, to->a, "scale");
    to->a_zero_point = qdq_port(r->to, to->a, "zero_point");
}

void ort_build_dynamic(qdq_rewriter *r, qdq_match *m) {
    dynamic_product d;
    if (find_product(r, m->anchor, &d) || find_scales(r, &d)) return;
    const char *name = r->from->nodes[d.add != SIZE_MAX ? d.add : d.scaled].name;
    qdq_matmul_integer_to_float_attrs to = {
        .name = d.scale_last ? qdq_rewrite_name(r, name, "_unscaled") : name,
        .b = qdq_rewrite_value(r, d.node->inputs[B].id),
        .b_scale = qdq_rewrite_value(r, d.b_scale),
        .b_zero_point = qdq_rewrite_value(r, input_at(d.node, B_ZERO)),
        .bias = qdq_rewrite_value(r, d.bias)};
    const float one = 1.0f;
    qdq_value b_scale = to.b_scale;
    if (d.scale_last)
        to.b_scale = qdq_rewrite_constant(r, name, "_one", QDQ_FLOAT32, (qdq_shape){0}, &one);
    read_a(r, &d, &to);
    m->made[0] = qdq_matmul_integer_to_float(r->to, to);
    if (d.scale_last)
        m->made[0] = qdq_multiply(r->to, m->made[0], b_scale, (qdq_binary_attrs){.name = name});
}
