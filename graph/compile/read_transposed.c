// SPDX-License-Identifier: Apache-2.0
// Lets a node read the input of a transpose in place. A product packs its operands anyway, so it
// can pack them from memory in another order of dims, and the transpose needs neither time nor
// memory. It is dropped if the node is its only reader. The elements are the same, and so are the
// bits.
//
// Two hooks of an op take part: `transposes` gives the order of its result's dims in its input,
// `reads_transposed` is true if an op can read an operand in that order.
//
// The keys and values of grouped queries are repeated for the heads of a group: a new dim is
// broadcast and joined with the dim before it. A product reads them in place, too, and multiplies
// the heads of a group at once.
#include "graph/compile/lower.h"

typedef struct search {
    qdq_draft *draft;
    size_t *readers;  // of each value, among live nodes
    qdq_findings silent;
} search;

// True if only one node needs the result of another.
static bool has_one_reader(const search *s, uint32_t id) {
    const qdq_draft_value *v = &s->draft->values[id];
    return s->readers[id] == 1 && s->draft->graph->values[id].kind == QDQ_VALUE_MADE && !v->kept &&
           v->output == SIZE_MAX;
}

// True if the producer of a value is a transpose: sets the order of dims in which the input of that
// node holds the elements, and the input.
static bool order_of(search *s, uint32_t id, int *order, uint32_t *x) {
    const qdq_draft *draft = s->draft;
    size_t maker = draft->graph->values[id].node;
    const qdq_op_fusion *fusion = qdq_fusion_of(draft->graph->nodes[maker].op);
    qdq_op_context ctx;
    if (!fusion->transposes || draft->nodes[maker].quantized) return false;
    qdq_draft_context(draft, maker, &s->silent, &ctx);
    *x = draft->nodes[maker].inputs[0].id;
    return draft->values[*x].type.dtype == draft->values[id].type.dtype &&
           fusion->transposes(&ctx, order);
}

// True if the maker of a value only renames the elements of *x, or only broadcasts them.
static bool moves(const search *s, uint32_t id, bool broadcasts, uint32_t *x) {
    const qdq_draft *draft = s->draft;
    if (!id || draft->graph->values[id].kind != QDQ_VALUE_MADE) return false;
    size_t maker = draft->graph->values[id].node;
    const qdq_op_fusion *fusion = qdq_fusion_of(draft->graph->nodes[maker].op);
    *x = draft->nodes[maker].inputs[0].id;
    return (broadcasts ? fusion->broadcasts : fusion->renames) && !draft->nodes[maker].quantized &&
           draft->values[*x].type.dtype == draft->values[id].type.dtype;
}

// Returns how often each matrix of x lies in `wide`, x with a dim of 1 broadcast, if `joined` has
// that dim joined with the one before it, and the last two dims are rows and columns of matrices;
// else 0.
static size_t repeat_between(qdq_shape x, qdq_shape wide, qdq_shape joined) {
    int dim = wide.rank - 3;
    if (dim < 1 || x.rank != wide.rank || joined.rank != wide.rank - 1 || x.dims[dim] != 1)
        return 0;
    for (int i = 0; i < wide.rank; i++) {
        int64_t is = i == dim - 1 ? wide.dims[i] * wide.dims[dim] : wide.dims[i];
        if (i != dim && x.dims[i] != wide.dims[i]) return 0;
        if (i != dim && joined.dims[i < dim ? i : i - 1] != is) return 0;
    }
    return (size_t)wide.dims[dim];
}

// True if a value repeats the matrices of *x, whose elements may have had other dims before.
static bool repeat_of(const search *s, uint32_t id, size_t *repeat, uint32_t *x) {
    const qdq_draft_value *values = s->draft->values;
    uint32_t wide, before;
    if (!moves(s, id, false, &wide) || !has_one_reader(s, wide) || !moves(s, wide, true, x))
        return false;
    *repeat = repeat_between(values[*x].type.shape, values[wide].type.shape, values[id].type.shape);
    while (moves(s, *x, false, &before)) *x = before;
    return *repeat > 1;
}

// True if a node can read input i in a view, with the views of its other inputs.
static bool takes(search *s, size_t index, size_t i, const qdq_draft_view *view) {
    qdq_op_context ctx;
    qdq_draft_context(s->draft, index, &s->silent, &ctx);
    ctx.inputs[i].order = view->order;
    ctx.inputs[i].repeat = view->repeat;
    qdq_lowering to = qdq_draft_lowering(s->draft, &ctx, s->draft->mempool);
    return !ctx.inputs[i].constant && qdq_fusion_of(ctx.op)->reads_transposed(&ctx, &to);
}

static bool replace(search *s, size_t index, size_t i, uint32_t x, qdq_draft_view view) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    qdq_draft_node *of = &s->draft->nodes[index];
    qdq_value *inputs =
        qdq_mempool_copy(s->draft->mempool, of->inputs, node->input_count, sizeof *inputs);
    if (!of->views)
        of->views = qdq_mempool_array(s->draft->mempool, node->input_count, sizeof *of->views);
    if (!inputs || !of->views) return false;
    inputs[i].id = x;
    of->inputs = inputs;
    of->views[i] = view;
    return true;
}

// Skips one transpose after the other, as long as the node can read the transpose's input, and then
// one repetition.
static bool read_input(search *s, size_t index, size_t i) {
    const qdq_draft_node *node = &s->draft->nodes[index];
    int inner[QDQ_MAX_RANK] = {0};
    uint32_t id, x;
    while ((id = node->inputs[i].id) != 0 && has_one_reader(s, id) && order_of(s, id, inner, &x)) {
        int *order = qdq_mempool_array(s->draft->mempool, QDQ_MAX_RANK, sizeof *order);
        const int *outer = node->views ? node->views[i].order : NULL;
        qdq_draft_view view = {.order = order};
        if (!order) return false;
        for (int d = 0; d < s->draft->values[id].type.shape.rank; d++)
            order[d] = inner[outer ? outer[d] : d];
        if (!takes(s, index, i, &view)) break;
        if (!replace(s, index, i, x, view)) return false;
    }
    qdq_draft_view view = node->views ? node->views[i] : (qdq_draft_view){0};
    if (!id || !has_one_reader(s, id) || !repeat_of(s, id, &view.repeat, &x)) return true;
    return !takes(s, index, i, &view) || replace(s, index, i, x, view);
}

static void count_readers(const search *s) {
    const qdq_graph *graph = s->draft->graph;
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *node = &graph->nodes[i];
        if (!qdq_draft_is_live(s->draft, node)) continue;
        for (size_t k = 0; k < node->input_count; k++)
            s->readers[s->draft->nodes[i].inputs[k].id]++;
    }
}

bool qdq_draft_may_read_transposed(const qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    size_t i = 0;
    if (draft->storage.node_by_node) return false;
    while (i < graph->node_count && !qdq_fusion_of(graph->nodes[i].op)->reads_transposed) i++;
    return i < graph->node_count;
}

bool qdq_draft_read_transposed(qdq_draft *draft) {
    const qdq_graph *graph = draft->graph;
    search s = {.draft = draft,
                .readers = qdq_mempool_array(draft->mempool, graph->value_count, sizeof(size_t)),
                .silent = {.mempool = draft->mempool}};
    if (!s.readers) return false;
    count_readers(&s);
    for (size_t i = 0; i < graph->node_count; i++) {
        const qdq_node *node = &graph->nodes[i];
        if (!qdq_fusion_of(node->op)->reads_transposed || draft->nodes[i].quantized ||
            !qdq_draft_is_live(draft, node))
            continue;
        for (size_t k = 0; k < node->input_count; k++)
            if (!read_input(&s, i, k)) return false;
    }
    return true;
}
