// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime that let a product read transposed operands: Gemm and its own result's
// Transpose, and MatMul, which becomes FusedMatMul; and that move a Transpose behind a reduction.
// The order of sums depends on it.
#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"

enum { A, B, BIAS };  // ports of MatMul

static const qdq_node *node_at(const qdq_rewriter *r, size_t index) {
    return &r->from->nodes[index];
}

static const qdq_type *type_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type;
}

// Returns the Transpose that computes a value, which is no output of the graph; NULL: none.
static const qdq_node *transpose_before(const qdq_rewriter *r, uint32_t value) {
    size_t maker = qdq_rewrite_maker(r, value);
    return qdq_rewrite_is(r, maker, "StaticTranspose") && !r->from->values[value].returned
               ? node_at(r, maker)
               : NULL;
}

int64_t ort_taken_dim(const qdq_node *transpose, int rank, int i) {
    const qdq_transpose_attrs *a = transpose->attrs;
    int64_t dim = a->order.count ? a->order.data[i] : rank - 1 - i;
    return dim < 0 ? dim + rank : dim;
}

// True if dim `i` of the result of a Transpose is dim `from` of its input.
static bool takes_dim(const qdq_node *transpose, int rank, int i, int from) {
    return ort_taken_dim(transpose, rank, i) == from;
}

// True if a Transpose exchanges the two last dims only.
static bool exchanges(const qdq_rewriter *r, const qdq_node *transpose) {
    int rank = type_of(r, transpose->inputs[0].id)->shape.rank;
    for (int i = 0; i < rank - 2; i++)
        if (!takes_dim(transpose, rank, i, i)) return false;
    return rank >= 2 && takes_dim(transpose, rank, rank - 1, rank - 2) &&
           takes_dim(transpose, rank, rank - 2, rank - 1);
}

// True if a Transpose moves dim 0 behind all others, or before the last dim if it is not `last`.
static bool moves_first(const qdq_rewriter *r, const qdq_node *transpose, bool last) {
    int rank = type_of(r, transpose->inputs[0].id)->shape.rank;
    for (int i = 0; i < rank - 2; i++)
        if (!takes_dim(transpose, rank, i, i + 1)) return false;
    return rank > 2 && takes_dim(transpose, rank, rank - 2, last ? rank - 1 : 0) &&
           takes_dim(transpose, rank, rank - 1, last ? 0 : rank - 1);
}

static qdq_bool other(qdq_bool b) { return b == QDQ_TRUE ? QDQ_FALSE : QDQ_TRUE; }

// Adds a product of `inputs`, whose operands are transposed as `attrs` says.
static qdq_value add_product(qdq_rewriter *r, const qdq_node *node, const char *name,
                             const qdq_matmul_attrs *attrs, const qdq_value *inputs) {
    qdq_node changed = *node;
    changed.attrs = (void *)attrs;
    return qdq_copy_node(r->to, &changed, name, inputs);
}

//---- Gemm --------------------------------------------------------------------

// True if a Gemm may take a Transpose: one port at most reads its result.
static bool may_take(const qdq_rewriter *r, const qdq_node *node) {
    return ort_is_gemm(node) && qdq_rewrite_reader_count(r, node->outputs[0]) <= 1;
}

// True if only Gemm reads a value, and one of them may take its Transpose.
static bool is_read_by_gemm(const qdq_rewriter *r, uint32_t value) {
    bool taken = false;
    for (size_t i = 0; i < qdq_rewrite_reader_count(r, value); i++) {
        size_t reader = qdq_rewrite_reader(r, value, i);
        if (!qdq_rewrite_is(r, reader, "MatMul") || !ort_is_gemm(node_at(r, reader))) return false;
        taken = taken || may_take(r, node_at(r, reader));
    }
    return taken;
}

bool ort_joins_gemm(const qdq_rewriter *r, const qdq_node *transpose) {
    uint32_t id = transpose->outputs[0];
    return ort_knows_opset(r, 21, QDQ_RUNTIME_KNOWS_OPSETS) && !r->from->values[id].returned &&
           type_of(r, id)->shape.rank == 2 && exchanges(r, transpose) && is_read_by_gemm(r, id);
}

// Returns the Transpose that a Gemm takes as an operand; NULL: none.
static const qdq_node *gemm_takes(const qdq_rewriter *r, const qdq_node *gemm, size_t i) {
    const qdq_node *t = transpose_before(r, gemm->inputs[i].id);
    return t && ort_joins_gemm(r, t) ? t : NULL;
}

bool ort_match_gemm_operands(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    if (!may_take(r, node) || (!gemm_takes(r, node, A) && !gemm_takes(r, node, B))) return false;
    for (size_t i = 0; i < node->input_count; i++) {
        const qdq_node *t = i == BIAS ? NULL : gemm_takes(r, node, i);
        qdq_match_reads(r, m, t ? t->inputs[0].id : node->inputs[i].id);
    }
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

// The same, of a Gemm that the model has. That of a MatMul and an Add is there only after pairs
// have moved.
bool ort_match_own_gemm_operands(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    return (!node->original_op || ort_was(node, "Gemm")) && ort_match_gemm_operands(r, m);
}

void ort_build_own_gemm_operands(qdq_rewriter *r, qdq_match *m) { ort_build_gemm_operands(r, m); }

void ort_build_gemm_operands(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    qdq_matmul_attrs attrs = *(const qdq_matmul_attrs *)node->attrs;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    const qdq_node *a = gemm_takes(r, node, A), *b = gemm_takes(r, node, B);
    if (a) inputs[A] = qdq_rewrite_value(r, a->inputs[0].id);
    if (b) inputs[B] = qdq_rewrite_value(r, b->inputs[0].id);
    if (a) attrs.transpose_a = other(attrs.transpose_a);
    if (b) attrs.transpose_b = other(attrs.transpose_b);
    m->made[0] = add_product(r, node, node->name, &attrs, inputs);
}

// Matches the Transpose of a Gemm without a bias: the product of the transposed operands in the
// other order.
bool ort_match_gemm_result(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor),
                   *gemm = ort_made_by(r, node->inputs[0].id, "MatMul");
    if (!gemm || !ort_was(gemm, "Gemm") || ort_has_input(gemm, BIAS) || !exchanges(r, node) ||
        !ort_knows_opset(r, 21, QDQ_RUNTIME_KNOWS_OPSETS) ||
        type_of(r, node->outputs[0])->shape.rank != 2)
        return false;
    qdq_match_replaces(r, m, qdq_rewrite_maker(r, node->inputs[0].id));
    qdq_match_reads(r, m, gemm->inputs[B].id);
    qdq_match_reads(r, m, gemm->inputs[A].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_gemm_result(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor), *gemm = node_at(r, m->nodes.items[1]);
    const qdq_matmul_attrs *from = gemm->attrs;
    qdq_matmul_attrs attrs = *from;
    qdq_value inputs[QDQ_MAX_PORTS] = {qdq_rewrite_value(r, m->reads.items[0]),
                                       qdq_rewrite_value(r, m->reads.items[1])};
    attrs.transpose_a = other(from->transpose_b), attrs.transpose_b = other(from->transpose_a);
    m->made[0] = add_product(r, gemm, node->name, &attrs, inputs);
}

//---- MatMul ------------------------------------------------------------------

// Returns the Transpose that a MatMul takes as an operand; NULL: none.
static const qdq_node *matmul_takes(const qdq_rewriter *r, const qdq_node *matmul, size_t i) {
    const qdq_node *t = transpose_before(r, matmul->inputs[i].id);
    return t && (exchanges(r, t) || moves_first(r, t, true)) ? t : NULL;
}

// True if FusedMatMul reads a single column that does not lie together: its dim 0 is in the middle.
static bool reads_spread_column(const qdq_rewriter *r, const qdq_node *matmul) {
    const qdq_shape *b = &type_of(r, matmul->inputs[B].id)->shape;
    const qdq_node *t = transpose_before(r, matmul->inputs[B].id);
    return t && b->dims[b->rank - 1] == 1 && (moves_first(r, t, false) || moves_first(r, t, true));
}

bool ort_match_matmul_operands(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    const qdq_node *a = matmul_takes(r, node, A), *b = matmul_takes(r, node, B);
    if (ort_is_gemm(node) || ort_was(node, "MatMulNBits") ||
        type_of(r, node->outputs[0])->dtype != QDQ_FLOAT32)
        return false;
    if (reads_spread_column(r, node)) {
        m->found = "becomes FusedMatMul, whose only column is spread over its operand";
        return false;
    }
    if (!a && !b) return false;
    qdq_match_reads(r, m, a ? a->inputs[0].id : node->inputs[A].id);
    qdq_match_reads(r, m, b ? b->inputs[0].id : node->inputs[B].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

// Returns the input of a Transpose with its dim 0 before the last one.
static qdq_value first_moved(qdq_rewriter *r, const qdq_node *transpose) {
    int64_t order[QDQ_MAX_RANK], rank = type_of(r, transpose->inputs[0].id)->shape.rank;
    for (int64_t i = 0; i < rank - 2; i++) order[i] = i + 1;
    order[rank - 2] = 0, order[rank - 1] = rank - 1;
    return qdq_transpose(
        r->to, qdq_rewrite_value(r, transpose->inputs[0].id),
        (qdq_transpose_attrs){.name = qdq_rewrite_name(r, transpose->name, "_batches"),
                              .order = {order, (size_t)rank}});
}

static qdq_value operand(qdq_rewriter *r, const qdq_node *node, size_t i, qdq_bool *transposed) {
    const qdq_node *t = matmul_takes(r, node, i);
    if (!t) return qdq_rewrite_value(r, node->inputs[i].id);
    *transposed = QDQ_TRUE;
    return exchanges(r, t) ? qdq_rewrite_value(r, t->inputs[0].id) : first_moved(r, t);
}

void ort_build_matmul_operands(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    qdq_matmul_attrs attrs = *(const qdq_matmul_attrs *)node->attrs;
    qdq_value inputs[QDQ_MAX_PORTS] = {{0}};
    inputs[A] = operand(r, node, A, &attrs.transpose_a);
    inputs[B] = operand(r, node, B, &attrs.transpose_b);
    m->made[0] = add_product(r, node, node->name, &attrs, inputs);
}

//---- Reductions --------------------------------------------------------------

// Returns the Transpose before a sum, mean or product of float32; NULL: none.
static const qdq_node *turned_before(const qdq_rewriter *r, size_t index) {
    const qdq_node *node = node_at(r, index);
    const qdq_reduce_attrs *a = node->attrs;
    uint32_t x = node->inputs[0].id;
    if (node->expanded || a->global_pool == QDQ_TRUE || type_of(r, x)->dtype != QDQ_FLOAT32)
        return NULL;
    return transpose_before(r, x);
}

// ONNX Runtime transposes the result, which is smaller. Beside other readers of the Transpose it
// depends on them.
bool ort_match_turned_sum(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor), *turn = turned_before(r, m->anchor);
    if (!turn) return false;
    if (qdq_rewrite_reader_count(r, node->inputs[0].id) != 1) {
        m->rule = "ort/float-bits";
        m->found = "may add in the order of the dims before the Transpose";
        return false;
    }
    qdq_match_replaces(r, m, qdq_rewrite_maker(r, node->inputs[0].id));
    qdq_match_reads(r, m, turn->inputs[0].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

// Returns the result with the dims that stay in their order behind the Transpose.
static qdq_value turn_kept(qdq_rewriter *r, const qdq_node *node, const int64_t *from,
                           uint32_t gone, int rank, qdq_value sum) {
    bool keeps = ((const qdq_reduce_attrs *)node->attrs)->keep_dims == QDQ_TRUE, turns = false;
    int64_t order[QDQ_MAX_RANK];
    int count = 0;
    for (int i = 0; i < rank; i++) {
        if (!keeps && gone >> from[i] & 1) continue;
        int64_t before = 0;  // dims of the sum before this one
        for (int64_t d = 0; d < from[i]; d++) before += keeps || !(gone >> d & 1);
        turns |= before != count;
        order[count++] = before;
    }
    qdq_transpose_attrs attrs = {.name = node->name, .order = {order, (size_t)count}};
    return turns ? qdq_transpose(r->to, sum, attrs) : sum;
}

void ort_build_turned_sum(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor), *turn = turned_before(r, m->anchor);
    qdq_reduce_attrs a = *(const qdq_reduce_attrs *)node->attrs;
    int rank = type_of(r, node->inputs[0].id)->shape.rank;
    int64_t from[QDQ_MAX_RANK], axes[QDQ_MAX_RANK];
    uint32_t gone = 0;
    for (int i = 0; i < rank; i++) from[i] = ort_taken_dim(turn, rank, i);
    for (size_t i = 0; i < a.axes.count; i++) {
        int64_t axis = a.axes.data[i] < 0 ? a.axes.data[i] + rank : a.axes.data[i];
        axes[i] = from[axis];
        gone |= 1u << from[axis];
    }
    a.axes.data = axes;
    qdq_node changed = *node;
    changed.attrs = &a;
    qdq_value x = qdq_rewrite_value(r, turn->inputs[0].id);
    const char *name = qdq_rewrite_name(r, node->name, "_before");
    m->made[0] = turn_kept(r, node, from, gone, rank, qdq_copy_node(r->to, &changed, name, &x));
}
