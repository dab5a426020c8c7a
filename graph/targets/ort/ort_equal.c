// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime merges nodes with equal ops, attributes and inputs, and constants of one element
// with equal numbers. Of equal nodes the first in its order of nodes stays, and so does every node
// that computes an output of the graph.
#include <string.h>

#include "graph/targets/ort/ort_groups.h"
#include "ops/op.h"

enum { MOST_READERS = 4096 };  // of a value, among which equal nodes are looked for

static const qdq_node *node_at(const qdq_rewriter *r, size_t index) {
    return &r->from->nodes[index];
}

//---- Equal attributes and inputs ---------------------------------------------

static bool node_equal(const qdq_rewriter *r, const qdq_node *a, const qdq_node *b) {
    if (a->op != b->op || a->input_count != b->input_count || a->output_count != b->output_count ||
        a->names_dtype != b->names_dtype)
        return false;
    for (size_t i = 0; i < a->input_count; i++)
        if (!ort_same_constant(r, a->inputs[i].id, b->inputs[i].id)) return false;
    for (size_t i = 0; i < a->op->attr_count; i++)
        if (!qdq_attr_is_equal(&a->op->attrs[i], a->attrs, b->attrs)) return false;
    return true;
}

//---- The order of nodes ------------------------------------------------------

// A walk against the edges of a graph, which leaves a node after its producers.
typedef struct walk {
    size_t *stack, *place;  // 2 * node, plus 1 to leave it; by node: its number in the order
    bool *seen;
    size_t count, left;
} walk;

static bool is_leaf(const qdq_rewriter *r, const qdq_node *node) {
    for (size_t i = 0; i < node->output_count; i++)
        if (qdq_rewrite_reader_count(r, node->outputs[i])) return false;
    return true;
}

// Pushes the producers of a node in the order of their numbers.
static void push_producers(const qdq_rewriter *r, walk *w, size_t index) {
    const qdq_node *node = node_at(r, index);
    size_t first = w->count;
    for (size_t i = 0; i < node->input_count; i++) {
        size_t maker = qdq_rewrite_maker(r, node->inputs[i].id), at = w->count;
        if (maker == SIZE_MAX || w->seen[maker]) continue;
        for (; at > first && w->stack[at - 1] > 2 * maker; at--) w->stack[at] = w->stack[at - 1];
        w->stack[at] = 2 * maker;
        w->count++;
    }
}

// Returns for each node its number in ONNX Runtime's order: a walk from the last leaf on. NULL: no
// memory.
static const size_t *order_of(const qdq_rewriter *r) {
    size_t nodes = r->from->node_count, room = 2 * nodes;
    for (size_t i = 0; i < nodes; i++) room += node_at(r, i)->input_count;
    walk w = {.stack = qdq_mempool_array(r->mempool, room, sizeof(size_t)),
              .place = qdq_mempool_array(r->mempool, nodes, sizeof(size_t)),
              .seen = qdq_mempool_array(r->mempool, nodes, sizeof(bool))};
    if (!w.stack || !w.place || !w.seen) return NULL;
    for (size_t i = 0; i < nodes; i++)
        if (is_leaf(r, node_at(r, i))) w.stack[w.count++] = 2 * i;
    while (w.count) {
        size_t entry = w.stack[--w.count], node = entry / 2;
        if (entry % 2) w.place[node] = w.left++;
        if (entry % 2 || w.seen[node]) continue;
        w.seen[node] = true;
        w.stack[w.count++] = entry + 1;
        push_producers(r, &w, node);
    }
    return w.place;
}

//---- Equal nodes -------------------------------------------------------------

static bool returns(const qdq_rewriter *r, const qdq_node *node) {
    for (size_t i = 0; i < node->output_count; i++)
        if (r->from->values[node->outputs[i]].returned) return true;
    return false;
}

// True if a node may be merged: it reads something, and no Dequantize, because ONNX Runtime
// copies a Dequantize for each reader.
static bool may_merge(const qdq_rewriter *r, const qdq_node *node) {
    bool reads = false;
    if (strcmp(node->op->name, "Dequantize") == 0) return false;
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        if (id && ort_is_duplicated(r, id)) return false;
        reads |= id != 0;
    }
    return reads;
}

// Returns the input of a node that has the fewest readers, and is no constant that others equal.
static uint32_t rarest_input(const qdq_rewriter *r, const qdq_node *node) {
    uint32_t best = 0;
    for (size_t i = 0; i < node->input_count; i++) {
        uint32_t id = node->inputs[i].id;
        if (!id || ort_is_shared(&r->from->values[id])) continue;
        if (!best || qdq_rewrite_reader_count(r, id) < qdq_rewrite_reader_count(r, best)) best = id;
    }
    return best;
}

// The nodes equal to a node, which is one of them.
typedef struct equal_nodes {
    const size_t *order;  // of all nodes; NULL: numbers decide
    size_t first;
} equal_nodes;

// Lets `index` be the first node, if it comes before.
static void take_first(equal_nodes *e, size_t index) {
    bool before = e->order ? e->order[index] < e->order[e->first] : index < e->first;
    if (before) e->first = index;
}

// Returns the node that stands for `index` and the nodes equal to it. The order matters only if one
// of them has to stay.
static size_t representative(const qdq_rewriter *r, size_t index) {
    const qdq_node *node = node_at(r, index);
    uint32_t input = may_merge(r, node) ? rarest_input(r, node) : 0;
    size_t count = input ? qdq_rewrite_reader_count(r, input) : 0;
    if (count < 2 || count > MOST_READERS) return index;
    size_t *equal = qdq_mempool_array(r->mempool, count, sizeof *equal), found = 0;
    bool stays = returns(r, node);
    for (size_t i = 0; equal && i < count; i++) {
        size_t other = qdq_rewrite_reader(r, input, i);
        if (other == index || !node_equal(r, node, node_at(r, other))) continue;
        equal[found++] = other;
        stays |= returns(r, node_at(r, other));
    }
    equal_nodes e = {.order = found && stays ? order_of(r) : NULL, .first = index};
    for (size_t i = 0; i < found; i++) take_first(&e, equal[i]);
    return e.first;
}

bool ort_match_equal_node(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = node_at(r, m->anchor);
    size_t first = representative(r, m->anchor);
    if (first == m->anchor || returns(r, node)) return false;
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_match_reads(r, m, node_at(r, first)->outputs[i]);
        qdq_match_makes(r, m, node->outputs[i]);
    }
    return true;
}

// The new value stands for the value that the given graph computes first.
void ort_build_equal_node(qdq_rewriter *r, qdq_match *m) {
    for (size_t i = 0; i < m->makes.count; i++) {
        uint32_t value = m->makes.items[i];
        m->made[i] = qdq_rewrite_value(r, m->reads.items[i]);
        if (value < m->reads.items[i] && m->made[i].id) qdq_rewrite_shifts(r, m->made[i], value, 0);
    }
}
