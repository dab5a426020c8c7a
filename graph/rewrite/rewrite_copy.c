// SPDX-License-Identifier: Apache-2.0
// Copies a graph with its matches replaced. A node is copied after the producers of its inputs; an
// input of a match may come from a match whose other nodes come later.
#include <stdio.h>
#include <string.h>

#include "graph/core/copy.h"
#include "graph/core/names.h"
#include "graph/rewrite/rewrite.h"

//---- For builders -----------------------------------------------------------

qdq_value qdq_rewrite_value(const qdq_rewriter *r, uint32_t value) {
    return value ? r->copies[value] : (qdq_value){0};
}

qdq_value *qdq_rewrite_inputs(const qdq_rewriter *r, const qdq_node *node) {
    qdq_value *inputs = qdq_mempool_array(r->mempool, node->input_count, sizeof *inputs);
    for (size_t i = 0; inputs && i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    return inputs;
}

const char *qdq_rewrite_name(const qdq_rewriter *r, const char *stem, const char *ending) {
    return qdq_copy_name(r->mempool, r->from, r->to, stem, ending);
}

const char *qdq_rewrite_name_of(const qdq_rewriter *r, uint32_t value) {
    return r->from->nodes[r->from->values[value].node].name;
}

void qdq_rewrite_shifts(const qdq_rewriter *r, qdq_value shifted, uint32_t value, int32_t offset) {
    const qdq_graph_value *from = &r->from->values[value];
    qdq_graph_value *to = &r->to->values[shifted.id];
    to->source = r->first ? value : from->source;
    to->source_offset = from->source_offset + offset;
}

//---- Which nodes are needed -------------------------------------------------

static qdq_id_list *reads_of_match(const qdq_rewriter *r, size_t node) {
    return r->matches[node] ? &r->matches[node]->reads : NULL;
}

static size_t read_count(const qdq_rewriter *r, size_t node) {
    const qdq_id_list *reads = reads_of_match(r, node);
    return reads ? reads->count : r->from->nodes[node].input_count;
}

static uint32_t read_at(const qdq_rewriter *r, size_t node, size_t i) {
    const qdq_id_list *reads = reads_of_match(r, node);
    return reads ? reads->items[i] : r->from->nodes[node].inputs[i].id;
}

// Returns the node, or the anchor of the match, that computes a value; SIZE_MAX: none.
static size_t maker_of(const qdq_rewriter *r, uint32_t value) {
    size_t maker = qdq_rewrite_maker(r, value);
    return maker == SIZE_MAX || !r->matches[maker] ? maker : r->matches[maker]->anchor;
}

// Pushes the unmarked producers of the inputs of `node` on the stack. Returns their number.
static size_t push_makers(const qdq_rewriter *r, size_t node, const bool *marked, size_t *stack) {
    size_t count = 0;
    for (size_t i = 0; i < read_count(r, node); i++) {
        size_t maker = maker_of(r, read_at(r, node, i));
        if (maker != SIZE_MAX && !marked[maker]) stack[count++] = maker;
    }
    return count;
}

// Returns a stack with room for the makers of all nodes at once.
static size_t *new_stack(const qdq_rewriter *r) {
    size_t room = r->from->output_count + 1;
    for (size_t i = 0; i < r->from->node_count; i++) room += read_count(r, i);
    return qdq_mempool_array(r->mempool, room, sizeof(size_t));
}

static void mark_live(const qdq_rewriter *r, bool *live, size_t *stack) {
    size_t count = 0;
    for (size_t i = 0; i < r->from->output_count; i++) {
        size_t maker = maker_of(r, r->from->outputs[i].value.id);
        if (maker != SIZE_MAX) stack[count++] = maker;
    }
    while (count) {
        size_t node = stack[--count];
        if (live[node]) continue;
        live[node] = true;
        count += push_makers(r, node, live, stack + count);
    }
}

//---- Copying ----------------------------------------------------------------

// Gives the replacement of a value its name in the file and its source, unless the replacement has
// them already.
static void keep_identity(const qdq_rewriter *r, uint32_t from) {
    const char *original = r->from->values[from].original;
    qdq_value to = r->copies[from];
    if (!to.id) return;
    if (original && !r->to->values[to.id].original) qdq_graph_set_original(r->to, to, original);
    if (!r->to->values[to.id].source) qdq_rewrite_shifts(r, to, from, 0);
}

static void copy_given(qdq_rewriter *r, uint32_t id) {
    const qdq_graph_value *v = &r->from->values[id];
    if (!id || v->kind == QDQ_VALUE_MADE || r->copies[id].id) return;
    r->copies[id] = qdq_copy_given(r->to, v->name, v);
    keep_identity(r, id);
}

static void copy_node(qdq_rewriter *r, size_t index) {
    const qdq_node *node = &r->from->nodes[index];
    const qdq_value *inputs = qdq_rewrite_inputs(r, node);
    if (!inputs || !qdq_copy_whole_node(r->to, node, inputs, r->copies)) return;
    for (size_t i = 0; i < node->output_count; i++) keep_identity(r, node->outputs[i]);
}

static bool build(qdq_rewriter *r, qdq_match *m) {
    const char *result = NULL;
    r->version = m->version;
    m->pattern->build(r, m);
    for (size_t i = 0; i < m->makes.count; i++) {
        if (!m->made[i].id) return false;
        r->copies[m->makes.items[i]] = m->made[i];
        keep_identity(r, m->makes.items[i]);
        if (i == 0) result = r->to->values[m->made[0].id].name;
    }
    return qdq_rewrite_note(r, m, result, NULL);
}

static bool emit(qdq_rewriter *r, size_t node) {
    for (size_t i = 0; i < read_count(r, node); i++) copy_given(r, read_at(r, node, i));
    if (r->matches[node]) return build(r, r->matches[node]);
    copy_node(r, node);
    return true;
}

// Emits the nodes on the stack, each after its producers.
static bool emit_stack(qdq_rewriter *r, bool *done, size_t *stack, size_t count) {
    while (count) {
        size_t node = stack[count - 1];
        size_t more = done[node] ? 0 : push_makers(r, node, done, stack + count);
        count += more;
        if (more) continue;
        if (!done[node] && !emit(r, node)) return false;
        done[node] = true;
        count--;
    }
    return true;
}

static void copy_outputs(qdq_rewriter *r) {
    for (size_t i = 0; i < r->from->output_count; i++) {
        const qdq_graph_output *out = &r->from->outputs[i];
        copy_given(r, out->value.id);
        qdq_output(r->to, out->name, qdq_rewrite_value(r, out->value.id));
        if (out->original) qdq_graph_set_output_original(r->to, i, out->original);
    }
    qdq_copy_states(r->to, r->from);
}

bool qdq_rewrite_copy(qdq_rewriter *r) {
    size_t count = r->from->node_count;
    bool *live = qdq_mempool_array(r->mempool, count, sizeof *live);
    bool *done = qdq_mempool_array(r->mempool, count, sizeof *done);
    size_t *stack = new_stack(r);
    if (!live || !done || !stack) return false;
    for (uint32_t id = 1; id < r->from->value_count; id++)
        if (r->from->values[id].kind == QDQ_VALUE_INPUT) copy_given(r, id);
    mark_live(r, live, stack);
    for (size_t i = 0; i < count; i++) {
        stack[0] = i;
        if (live[i] && !emit_stack(r, done, stack, 1)) return false;
    }
    copy_outputs(r);
    return !r->mempool->failed && !r->to->mempool.failed;
}
