// SPDX-License-Identifier: Apache-2.0
// Converts Einsum: operands are multiplied one after the other. A diagonal is a Slice, an index
// that only one operand has is summed first, and a product that sums is a MatMul of rows and
// columns.
#include "graph/formats/onnx/ops/einsum/onnx_einsum.h"

#include <string.h>

#include "runtime/numerics/dtype.h"

// An operand, or the product of the operands before.
typedef struct operand {
    qdq_value value;
    qdq_onnx_indices indices;
} operand;

typedef struct einsum {
    qdq_onnx_node *node;
    const qdq_onnx_op *row;
    qdq_onnx_equation equation;
    bool products;  // MatMul takes this dtype
} einsum;

//---- Dims -------------------------------------------------------------------

static qdq_shape shape_of(const einsum *e, const operand *x) {
    qdq_shape shape = {0};
    (void)qdq_value_type(e->node->im->graph, x->value, NULL, &shape);
    return shape;
}

static void apply(const einsum *e, operand *x, const char *text, qdq_ints list) {
    const qdq_onnx_term terms[] = {{.name = "x", .value = x->value},
                                   {.name = "list", .ints = list}};
    if (x->value.id) x->value = qdq_onnx_formula(e->node, e->row, text, terms, 2);
}

// Orders the dims as `wanted`, which has the same indices.
static void arrange(const einsum *e, operand *x, const qdq_onnx_indices *wanted) {
    int64_t order[QDQ_MAX_RANK];
    bool same = true;
    for (int i = 0; i < wanted->count; i++)
        for (int j = 0; j < x->indices.count; j++)
            if (x->indices.at[j] == wanted->at[i]) {
                order[i] = j;
                same = same && i == j;
            }
    if (!same)
        apply(e, x, "order = StaticTranspose(x, order: list)",
              (qdq_ints){order, (size_t)wanted->count});
    x->indices = *wanted;
}

static void reshape(const einsum *e, operand *x, const int64_t *dims, int count) {
    qdq_shape shape = shape_of(e, x);
    bool same = shape.rank == count;
    for (int i = 0; same && i < count; i++) same = shape.dims[i] == dims[i];
    if (!same)
        apply(e, x, "dims = StaticReshape(x, shape: list, special_zero: 0)",
              (qdq_ints){dims, (size_t)count});
}

static void append(qdq_onnx_indices *to, const qdq_onnx_indices *from) {
    for (int i = 0; i < from->count && to->count < QDQ_MAX_RANK; i++)
        to->at[to->count++] = from->at[i];
}

// Replaces dims i and j, which have the same index, by their diagonal as the last dim.
static void take_diagonal(const einsum *e, operand *x, int i, int j) {
    int64_t order[QDQ_MAX_RANK], dims[QDQ_MAX_RANK], step;
    qdq_shape shape = shape_of(e, x);
    qdq_onnx_indices left = {0};
    int n = 0;
    for (int k = 0; k < shape.rank; k++)
        if (k != i && k != j) {
            left.at[left.count++] = x->indices.at[k];
            dims[n] = shape.dims[k];
            order[n++] = k;
        }
    left.at[left.count++] = x->indices.at[i];
    order[n] = i, order[n + 1] = j;
    apply(e, x, "order = StaticTranspose(x, order: list)", (qdq_ints){order, (size_t)shape.rank});
    dims[n] = shape.dims[i] * shape.dims[j];
    reshape(e, x, dims, n + 1);
    step = shape.dims[i] + 1;
    const int64_t axis = n, end = dims[n];
    const qdq_onnx_term terms[] = {{.name = "x", .value = x->value},
                                   {.name = "axis", .ints = {&axis, 1}},
                                   {.name = "end", .ints = {&end, 1}},
                                   {.name = "step", .ints = {&step, 1}}};
    if (x->value.id)
        x->value = qdq_onnx_formula(
            e->node, e->row, "diagonal = Slice(x, starts: [0], ends: end, axes: axis, steps: step)",
            terms, 4);
    x->indices = left;
}

static void take_diagonals(const einsum *e, operand *x) {
    for (int i = 0; i < x->indices.count; i++)
        for (int j = i + 1; j < x->indices.count; j++)
            if (x->indices.at[i] == x->indices.at[j]) {
                take_diagonal(e, x, i, j);
                i = -1;
                break;
            }
}

// Sums along the dims whose index occurs neither in `other`, nor in the result, nor in operand
// `next` or a later operand.
static void sum_up(const einsum *e, operand *x, const operand *other, size_t next) {
    qdq_onnx_indices left = {0};
    int64_t axes[QDQ_MAX_RANK];
    size_t count = 0;
    for (int i = 0; i < x->indices.count; i++) {
        int index = x->indices.at[i];
        bool used = qdq_onnx_has_index(&e->equation.y, index) ||
                    (other && qdq_onnx_has_index(&other->indices, index));
        for (size_t k = next; k < e->node->input_count; k++)
            used = used || qdq_onnx_has_index(&e->equation.operands[k], index);
        if (used)
            left.at[left.count++] = index;
        else
            axes[count++] = i;
    }
    if (count) apply(e, x, "sum = ReduceSum(x, axes: list)", (qdq_ints){axes, count});
    x->indices = left;
}

//---- Products ---------------------------------------------------------------

// The indices of two operands by their part in the product.
typedef struct parts {
    qdq_onnx_indices batch, rows, columns, depth;
} parts;

static void add_index(qdq_onnx_indices *to, int index) { to->at[to->count++] = index; }

static parts split(const einsum *e, const operand *a, const operand *b, size_t next) {
    parts p = {0};
    for (int i = 0; i < a->indices.count; i++) {
        int index = a->indices.at[i];
        bool stays = qdq_onnx_has_index(&e->equation.y, index);
        for (size_t k = next; k < e->node->input_count; k++)
            stays = stays || qdq_onnx_has_index(&e->equation.operands[k], index);
        bool both = qdq_onnx_has_index(&b->indices, index);
        add_index(!both ? &p.rows : stays ? &p.batch : &p.depth, index);
    }
    for (int i = 0; i < b->indices.count; i++)
        if (!qdq_onnx_has_index(&a->indices, b->indices.at[i]))
            add_index(&p.columns, b->indices.at[i]);
    return p;
}

static int64_t size_of(const einsum *e, const qdq_onnx_indices *indices) {
    int64_t size = 1;
    for (int i = 0; i < indices->count; i++) size *= e->equation.sizes[indices->at[i]];
    return size;
}

// Repeats dims of 1 that the other operand has in full.
static void widen(const einsum *e, operand *x, const qdq_onnx_indices *depth) {
    qdq_shape shape = shape_of(e, x);
    bool same = true;
    for (int i = 0; i < x->indices.count; i++) {
        int64_t size = e->equation.sizes[x->indices.at[i]];
        if (!qdq_onnx_has_index(depth, x->indices.at[i]) || shape.dims[i] == size) continue;
        shape.dims[i] = size;
        same = false;
    }
    if (!same)
        apply(e, x, "wide = Expand(x, shape: list)", (qdq_ints){shape.dims, (size_t)shape.rank});
}

// Reshapes x to [batch..., first, second]; the dims of each part become one.
static void as_matrices(const einsum *e, operand *x, const parts *p, const qdq_onnx_indices *first,
                        const qdq_onnx_indices *second) {
    qdq_onnx_indices order = p->batch;
    int64_t dims[QDQ_MAX_RANK + 2];
    widen(e, x, &p->depth);
    append(&order, first);
    append(&order, second);
    arrange(e, x, &order);
    qdq_shape shape = shape_of(e, x);
    int n = p->batch.count;
    for (int i = 0; i < n; i++) dims[i] = shape.dims[i];
    dims[n] = dims[n + 1] = 1;
    for (int i = 0; i < first->count; i++) dims[n] *= shape.dims[n + i];
    for (int i = 0; i < second->count; i++) dims[n + 1] *= shape.dims[n + first->count + i];
    reshape(e, x, dims, n + 2);
}

static operand combine(const einsum *e, const char *text, const operand *a, const operand *b) {
    const qdq_onnx_term terms[] = {{.name = "a", .value = a->value},
                                   {.name = "b", .value = b->value}};
    operand made = {{0}, {0}};
    if (a->value.id && b->value.id) made.value = qdq_onnx_formula(e->node, e->row, text, terms, 2);
    return made;
}

// Multiplies elements of [batch..., rows..., columns...], and of depth before these if it is summed
// later.
static operand multiply_elements(const einsum *e, operand a, operand b, const parts *p) {
    qdq_onnx_indices order = p->batch, of_a = p->batch, of_b = p->batch;
    int64_t dims[QDQ_MAX_RANK];
    append(&order, &p->depth), append(&of_a, &p->depth), append(&of_b, &p->depth);
    append(&order, &p->rows), append(&of_a, &p->rows);
    append(&order, &p->columns), append(&of_b, &p->columns);
    arrange(e, &a, &of_a);
    arrange(e, &b, &of_b);
    qdq_shape shape = shape_of(e, &a);
    int n = shape.rank;
    for (int i = 0; i < order.count; i++) dims[i] = i < n ? shape.dims[i] : 1;
    reshape(e, &a, dims, order.count);
    shape = shape_of(e, &b);
    int shared = p->batch.count + p->depth.count, rows = p->rows.count;
    for (int i = 0; i < order.count; i++)
        dims[i] = i < shared ? shape.dims[i] : i < shared + rows ? 1 : shape.dims[i - rows];
    reshape(e, &b, dims, order.count);
    operand made = combine(e, "product = Multiply(a, b)", &a, &b);
    made.indices = order;
    return made;
}

static operand multiply_matrices(const einsum *e, operand a, operand b, const parts *p) {
    qdq_onnx_indices order = p->batch;
    int64_t dims[QDQ_MAX_RANK];
    append(&order, &p->rows);
    append(&order, &p->columns);
    as_matrices(e, &a, p, &p->rows, &p->depth);
    as_matrices(e, &b, p, &p->depth, &p->columns);
    operand made = combine(e, "product = MatMul(a, b)", &a, &b);
    qdq_shape shape = shape_of(e, &made);
    for (int i = 0; i < order.count; i++)
        dims[i] = i < p->batch.count ? shape.dims[i] : e->equation.sizes[order.at[i]];
    if (made.value.id) reshape(e, &made, dims, order.count);
    made.indices = order;
    return made;
}

// Returns the product of two operands; `next` is the number of the operand after them.
static operand multiply(const einsum *e, operand a, operand b, size_t next) {
    sum_up(e, &a, &b, next);
    sum_up(e, &b, &a, next);
    parts p = split(e, &a, &b, next);
    int dims = p.batch.count + p.rows.count + p.columns.count;
    bool matrices = e->products && p.depth.count > 0 && p.batch.count + 2 <= QDQ_MAX_RANK;
    if (dims > QDQ_MAX_RANK || (!matrices && dims + p.depth.count > QDQ_MAX_RANK)) {
        qdq_onnx_refuse(e->node, "equation", ONNX_TEXT(e->node, "has a product of %d dims", dims),
                        ONNX_TEXT(e->node, "at most %d", QDQ_MAX_RANK));
        return (operand){{0}, {0}};
    }
    if (matrices && size_of(e, &p.depth) > 0) return multiply_matrices(e, a, b, &p);
    return multiply_elements(e, a, b, &p);
}

//---- Nodes ------------------------------------------------------------------

void qdq_onnx_einsum(qdq_onnx_node *node, const qdq_onnx_op *row) {
    einsum e = {.node = node, .row = row};
    qdq_dtype dtype = qdq_onnx_dtype(node->inputs[0]->elem);
    if (!qdq_onnx_read_equation(node, &e.equation)) return;
    e.products = dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
    operand all = {{0}, {0}};
    for (size_t k = 0; k < node->input_count && !node->refused; k++) {
        operand x = {qdq_onnx_ref(node, node->inputs[k]), e.equation.operands[k]};
        if (x.value.id) take_diagonals(&e, &x);
        all = k ? multiply(&e, all, x, k + 1) : x;
        if (!all.value.id) return;
    }
    sum_up(&e, &all, NULL, node->input_count);
    arrange(&e, &all, &e.equation.y);
    qdq_onnx_bind(node, 0, all.value);
}
