// SPDX-License-Identifier: Apache-2.0
// Lets a node read the input of a transpose in place. A product packs its operands anyway, so it
// can pack them from memory in another order of dims, and the transpose needs neither time nor
// memory. It is dropped if the node is its only reader. The elements are the same, and so are the
// bits.
//
// Two hooks of an op take part: `transposes` gives the order of its result's dims in its input,
// `reads_transposed` is true if an op can read an operand in that order.
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

// True if a node can read input i in an order of dims, with the orders of its other inputs.
static bool takes(search *s, size_t index, size_t i, const int *order) {
    qdq_op_context ctx;
    qdq_draft_context(s->draft, index, &s->silent, &ctx);
    ctx.inputs[i].order = order;
    qdq_lowering to = qdq_draft_lowering(s->draft, &ctx, s->draft->mempool);
    return !ctx.inputs[i].constant && qdq_fusion_of(ctx.op)->reads_transposed(&ctx, &to);
}

static bool replace(search *s, size_t index, size_t i, uint32_t x, const int *order) {
    const qdq_node *node = &s->draft->graph->nodes[index];
    qdq_draft_node *of = &s->draft->nodes[index];
    qdq_value *inputs =
        qdq_mempool_copy(s->draft->mempool, of->inputs, node->input_count, sizeof *inputs);
    if (!of->orders)
        of->orders = qdq_mempool_array(s->draft->mempool, node->input_count, sizeof(const int *));
    if (!inputs || !of->orders) return false;
    inputs[i].id = x;
    of->inputs = inputs;
    of->orders[i] = order;
    return true;
}

// Skips one transpose after the other, as long as the node can read the transpose's input.
static bool read_input(search *s, size_t index, size_t i) {
    const qdq_draft_node *node = &s->draft->nodes[index];
    int inner[QDQ_MAX_RANK] = {0};
    uint32_t id, x;
    while ((id = node->inputs[i].id) != 0 && has_one_reader(s, id) && order_of(s, id, inner, &x)) {
        int *order = qdq_mempool_array(s->draft->mempool, QDQ_MAX_RANK, sizeof *order);
        const int *outer = node->orders ? node->orders[i] : NULL;
        if (!order) return false;
        for (int d = 0; d < s->draft->values[id].type.shape.rank; d++)
            order[d] = inner[outer ? outer[d] : d];
        if (!takes(s, index, i, order)) break;
        if (!replace(s, index, i, x, order)) return false;
    }
    return true;
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
