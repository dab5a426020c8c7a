// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/accuracy/keep_words.h"

#include <qdq/coding.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/base/words.h"

enum { MOST_NAMED = 3, MOST_DEPTH = 8 };

typedef struct kept_nodes {
    const replay *r;
    size_t nodes[MOST_NAMED], count;  // count: of all
} kept_nodes;

// True if a node reads its operands as codes: products, and sums of branches.
static bool reads_codes(const replay *r, size_t node) {
    static const char *const ops[] = {"MatMul", "Convolution", "ConvTranspose", "Add", NULL};
    for (size_t i = 0; ops[i]; i++)
        if (is_op(r, node, ops[i])) return true;
    return false;
}

static bool results_are_codes(const replay *r) {
    const qdq_quantized_form *form = qdq_target_quantized_form(r->target);
    return form && form->results;
}

// True if a target has codes for the result of an op that moves elements.
static bool moves_codes(const replay *r, size_t node) {
    return results_are_codes(r) && qdq_has_word(qdq_target_quantized_form(r->target)->moves,
                                                qdq_graph_node(r->form.graph, node).op);
}

static void keep(kept_nodes *k, size_t node) {
    for (size_t i = 0; i < k->count && i < MOST_NAMED; i++)
        if (k->nodes[i] == node) return;
    if (k->count < MOST_NAMED) k->nodes[k->count] = node;
    k->count++;
}

// Adds the nodes that read a value, directly or through ops that move or clip elements.
static void keep_readers(kept_nodes *k, qdq_value value, int depth) {
    const replay *r = k->r;
    for (size_t n = 0; depth < MOST_DEPTH && n <= r->last[value.id]; n++) {
        size_t inputs = qdq_graph_node(r->form.graph, n).input_count;
        for (size_t i = 0; i < inputs; i++) {
            if (qdq_graph_node_input(r->form.graph, n, i).id != value.id) continue;
            if (reads_codes(r, n) || moves_codes(r, n)) keep(k, n);
            if (!reads_codes(r, n) && i == 0)
                keep_readers(k, qdq_graph_node_output(r->form.graph, n, 0), depth + 1);
            break;
        }
    }
}

// Adds the node that computes a value, directly or before ops of one operand.
static void keep_maker(kept_nodes *k, qdq_value value) {
    for (int depth = 0; depth < MOST_DEPTH; depth++) {
        size_t maker = k->r->form.makers[value.id];
        if (maker == SIZE_MAX) return;
        if (reads_codes(k->r, maker)) keep(k, maker);
        if (k->count) return;
        value = qdq_graph_node_input(k->r->form.graph, maker, 0);
    }
}

static const char *name_of(const reference *ref, size_t node) {
    size_t real = reference_node(ref, node);
    return real == SIZE_MAX ? qdq_graph_node(ref->quantized->form.graph, node).original
                            : qdq_graph_node(ref->real->form.graph, real).original;
}

static size_t append(char *out, size_t capacity, size_t used, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = used < capacity ? vsnprintf(out + used, capacity - used, format, arguments) : 0;
    va_end(arguments);
    return length > 0 ? used + (size_t)length : used;
}

bool keep_words(const reference *ref, size_t node, char *out, size_t capacity) {
    kept_nodes k = {.r = ref->quantized};
    qdq_value y = qdq_graph_node_output(k.r->form.graph, node, 0);
    keep_readers(&k, y, 0);
    if (!k.count && results_are_codes(k.r)) keep_maker(&k, y);
    size_t used = append(out, capacity, 0, "qdq quantize%s", k.count ? "" : " leaves it in float");
    for (size_t i = 0; i < k.count && i < MOST_NAMED; i++)
        used = append(out, capacity, used, " --keep %s", name_of(ref, k.nodes[i]));
    if (k.count > MOST_NAMED)
        (void)append(out, capacity, used, " and %zu more that read it", k.count - MOST_NAMED);
    return k.count > 0;
}
