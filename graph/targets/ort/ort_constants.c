// SPDX-License-Identifier: Apache-2.0
// Constants in ONNX Runtime's optimizer: constants of a few elements with equal numbers become one,
// and constants that a node moves are moved when the model is loaded. Codes behind a Dequantize
// move with a Transpose only, and the Dequantize moves behind it.
#include <string.h>

#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/movement.h"
#include "runtime/numerics/dtype.h"

enum { X };                // port of a node that moves elements
enum { MOST_SHARED = 8 };  // elements of a constant that is compared with others

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

//---- Equal constants ---------------------------------------------------------

bool ort_is_shared(const qdq_graph_value *v) {
    qdq_dtype dtype = v->type.dtype;
    return v->kind == QDQ_VALUE_CONSTANT && qdq_shape_count(v->type.shape) <= MOST_SHARED &&
           (dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_FLOAT64 ||
            dtype == QDQ_INT32 || dtype == QDQ_INT64);
}

bool ort_same_constant(const qdq_rewriter *r, uint32_t a, uint32_t b) {
    const qdq_graph_value *x = value_at(r, a), *y = value_at(r, b);
    if (a == b || !a || !b) return a == b;
    if (!ort_is_shared(x) || !ort_is_shared(y) || x->type.dtype != y->type.dtype ||
        !qdq_shape_equal(x->type.shape, y->type.shape))
        return false;
    size_t bytes = qdq_shape_count(x->type.shape) * qdq_dtype_size(x->type.dtype);
    const void *i = qdq_rewrite_data(r, a), *k = qdq_rewrite_data(r, b);
    return i && k && memcmp(i, k, bytes) == 0;
}

// Returns the number of nodes of ONNX Runtime that read a value: it copies a Dequantize for each
// reader.
static size_t node_count(const qdq_rewriter *r, uint32_t value) {
    size_t count = 0, last = SIZE_MAX;
    for (size_t i = 0; i < qdq_rewrite_reader_count(r, value); i++) {
        size_t node = qdq_rewrite_reader(r, value, i);
        uint32_t y = r->from->nodes[node].outputs[0];
        bool many = qdq_rewrite_is(r, node, "Dequantize");
        if (node == last) continue;
        count += many ? qdq_rewrite_reader_count(r, y) + value_at(r, y)->returned : 1;
        last = node;
    }
    return count;
}

bool ort_has_one_node(const qdq_rewriter *r, uint32_t constant) {
    size_t count = node_count(r, constant);
    if (!ort_is_shared(value_at(r, constant))) return count == 1;
    for (uint32_t id = 1; count <= 1 && id < r->from->value_count; id++)
        if (id != constant && ort_same_constant(r, constant, id)) count += node_count(r, id);
    return count == 1;
}

//---- Moved constants ---------------------------------------------------------

// Sets the dims of the input in the order of the output's.
static void order_of(const qdq_node *node, int rank, int *order) {
    const qdq_transpose_attrs *a = node->attrs;
    for (int i = 0; i < rank; i++) {
        int64_t dim = a->order.count ? a->order.data[i] : rank - 1 - i;
        order[i] = (int)(dim < 0 ? dim + rank : dim);
    }
}

// Copies elements of a size in the order of a transpose.
static void transpose(const qdq_node *node, const qdq_shape *x, size_t size, const char *from,
                      char *to) {
    int order[QDQ_MAX_RANK] = {0};
    size_t strides[QDQ_MAX_RANK] = {0}, at[QDQ_MAX_RANK] = {0}, place = 0, stride = size;
    order_of(node, x->rank, order);
    for (int i = x->rank - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= (size_t)x->dims[i];
    }
    for (size_t n = qdq_shape_count(*x); n > 0; n--, to += size) {
        memcpy(to, from + place, size);
        for (int i = x->rank - 1; i >= 0; i--) {
            place += strides[order[i]];
            if (++at[i] < (size_t)x->dims[order[i]]) break;
            place -= at[i] * strides[order[i]];
            at[i] = 0;
        }
    }
}

// Returns `count` codes as uint8, negative codes as 0.
static uint8_t *as_uint8(const qdq_rewriter *r, qdq_dtype dtype, const char *codes, size_t count) {
    uint8_t *to = qdq_mempool_array(r->mempool, count, 1);
    for (size_t i = 0; to && i < count; i++) {
        int32_t code;
        qdq_decode_int(dtype, codes + i * qdq_dtype_size(dtype), &code, 1);
        to[i] = (uint8_t)(code < 0 ? 0 : code > UINT8_MAX ? UINT8_MAX : code);
    }
    return to;
}

// Adds the constant that a node makes of another one. Codes of another dtype become uint8.
static qdq_value moved(const qdq_rewriter *r, const qdq_node *node, uint32_t constant,
                       qdq_dtype dtype) {
    const qdq_type *x = &value_at(r, constant)->type;
    const qdq_shape *shape = &value_at(r, node->outputs[0])->type.shape;
    size_t size = qdq_dtype_size(x->dtype);
    const char *from = qdq_rewrite_data(r, constant);
    char *to = qdq_mempool_array(r->mempool, qdq_shape_count(x->shape), size);
    if (!from || !to) return (qdq_value){0};
    if (strcmp(node->op->name, "StaticTranspose") == 0)
        transpose(node, &x->shape, size, from, to);
    else
        memcpy(to, from, qdq_shape_count(x->shape) * size);
    if (dtype != x->dtype) to = (char *)as_uint8(r, x->dtype, to, qdq_shape_count(x->shape));
    if (!to) return (qdq_value){0};
    return qdq_rewrite_constant(r, node->name, "_moved", dtype, *shape, to);
}

// True if a node stands for a node of the model that moves elements, and is not one of several
// that the reader adds for another op.
static bool is_of_model(const qdq_node *node) {
    static const char *const ops[] = {"Transpose", "Reshape", "Squeeze", "Unsqueeze", "Flatten"};
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (ort_was(node, ops[i])) return true;
    return !node->original_op;
}

// Matches a node that moves a constant; its result is a constant.
bool ort_match_moved_constant(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    if (!is_of_model(node) || !ort_is_constant(r, node->inputs[X].id) ||
        value_at(r, node->outputs[0])->returned)
        return false;
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_moved_constant(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    uint32_t x = node->inputs[X].id;
    m->made[0] = moved(r, node, x, value_at(r, x)->type.dtype);
}

//---- Moved codes -------------------------------------------------------------

// True if one node at most reads a value, and it is no Quantize.
static bool has_float_reader(const qdq_rewriter *r, uint32_t value) {
    size_t count = qdq_rewrite_reader_count(r, value);
    for (size_t i = 1; i < count; i++)
        if (qdq_rewrite_reader(r, value, i) != qdq_rewrite_reader(r, value, 0)) return false;
    return count > 0 && !ort_is_quantized(r, value);
}

// True if a Transpose of codes with one scale is a case of propagation, which moves pairs behind
// constants too.
static bool propagates(const qdq_rewriter *r, const qdq_coder *c) {
    return ort_is_scalar(c) && !ort_leaves_constants(r->version) &&
           ort_knows_opset(r, 23, QDQ_RUNTIME_KNOWS_OPSETS);
}

// True if ONNX Runtime adds Quantize and Dequantize behind a Transpose of codes: Gemm takes the
// Transpose before.
static bool gets_pair(const qdq_rewriter *r, const qdq_node *node, const qdq_coder *c) {
    uint32_t y = node->outputs[0];
    if (!c->given || !c->known || c->blocks || ort_joins_gemm(r, node) ||
        (node->original_op && !ort_was(node, "Transpose")))
        return false;
    return propagates(r, c) ? ort_float_readers(r, y) > 0 : has_float_reader(r, y);
}

// True if the added Quantize has the dtype of the codes. Without a zero point the optimizer leaves
// the Transpose as it is, if there is no output_dtype.
static bool keeps_dtype(const qdq_rewriter *r, const qdq_coder *c) {
    return c->zero_given || c->dtype == QDQ_UINT8 ||
           (ort_has_output_dtype(r) && r->version->release >= QDQ_RUNTIME_TRANSPOSES_CODES);
}

// Reports a Quantize that releases before 1.28 add as if its codes were uint8.
static void find_other_dtype(const qdq_rewriter *r, qdq_match *m) {
    if (r->version->release >= QDQ_RUNTIME_TRANSPOSES_CODES) return;
    m->rule = "ort/transposed-dtype";
    m->found = "moves codes without a zero point that are not uint8; ONNX Runtime before 1.28 adds "
               "a QuantizeLinear to uint8 behind it, and refuses the model";
}

// Matches a Transpose of constant codes, or of codes of channels, behind Dequantize. ONNX Runtime
// adds Quantize and Dequantize behind it and computes all up to the new codes.
bool ort_match_moved_codes(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder c = qdq_coder_before(r, node->inputs[X].id);
    if (!gets_pair(r, node, &c)) return false;
    bool constant = ort_is_constant(r, c.codes);
    if (constant && propagates(r, &c)) {
        if (ort_dtype_again(r, &c) != c.dtype) m->found = ort_uint8_found;
    } else if (!keeps_dtype(r, &c)) {
        if (constant || !ort_is_scalar(&c)) find_other_dtype(r, m);
        return false;
    } else if (!constant && ort_is_scalar(&c)) {
        return false;
    }
    if (!constant) qdq_match_reads(r, m, c.codes);
    qdq_coder_reads(r, m, &c);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_moved_codes(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_coder c = qdq_coder_before(r, node->inputs[X].id);
    int rank = value_at(r, c.codes)->type.shape.rank, order[QDQ_MAX_RANK] = {0}, axis = 0;
    qdq_dequantize_attrs a = {.name = node->name, .qtype = c.attrs->qtype, .dtype = QDQ_FLOAT32};
    order_of(node, rank, order);
    while (axis < rank && order[axis] != c.axis) axis++;
    if (c.axis >= 0) a.axis = QDQ_INT(axis);
    a.scale = qdq_coder_scale_value(r, &c);
    if (c.zero_given) a.zero_point = qdq_coder_zero_value(r, &c);
    qdq_dtype dtype = propagates(r, &c) ? ort_dtype_again(r, &c) : c.dtype;
    qdq_value codes = qdq_rewrite_value(r, c.codes);
    codes = ort_is_constant(r, c.codes)
                ? moved(r, node, c.codes, dtype)
                : qdq_copy_node(r->to, node, qdq_rewrite_name(r, node->name, "_codes"), &codes);
    m->made[0] = qdq_dequantize(r->to, codes, a);
}
