// SPDX-License-Identifier: Apache-2.0
// Shared by the files that place codes: the graph, and questions about it.
#ifndef QDQ_TOOLS_LAB_QUANTIZE_PLACING_H
#define QDQ_TOOLS_LAB_QUANTIZE_PLACING_H

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/quantize/places.h"

// Ports of products.
enum { DATA, WEIGHTS, BIAS, OPERANDS = 2 };

typedef struct named_row {
    const char *name;
    size_t row;
} named_row;

typedef struct placing {
    coding_list *list;
    const state *state;
    const quantize_choice *choice;
    named_row *rows;  // rows of the state, sorted by name
    node_fate *fates;
} placing;

static inline qdq_node_info node_at(const placing *p, size_t node) {
    return qdq_graph_node(p->list->graph, node);
}

static inline qdq_value input(const placing *p, size_t node, size_t port) {
    if (port >= node_at(p, node).input_count) return (qdq_value){0};
    return qdq_graph_node_input(p->list->graph, node, port);
}

static inline qdq_value result(const placing *p, size_t node) {
    return qdq_graph_node_output(p->list->graph, node, 0);
}

static inline bool is_constant(const placing *p, qdq_value v) {
    return qdq_value_is_constant(p->list->graph, v);
}

static inline qdq_shape shape_of(const placing *p, qdq_value v) {
    qdq_shape shape = {.rank = 0};
    (void)qdq_value_type(p->list->graph, v, NULL, &shape);
    return shape;
}

static inline bool is_float32(const placing *p, qdq_value v) {
    qdq_dtype dtype;
    return v.id && qdq_value_type(p->list->graph, v, &dtype, NULL) && dtype == QDQ_FLOAT32;
}

// Returns the only node that reads a value. SIZE_MAX for no or several nodes, or an output of the
// graph.
static inline size_t only_reader(const placing *p, qdq_value v) {
    const coding_list *list = p->list;
    size_t first = list->first_reader[v.id];
    bool one = list->first_reader[v.id + 1] == first + 1 && !list->returned[v.id];
    return one ? list->readers[first].node : SIZE_MAX;
}

static inline bool attr_is(const placing *p, size_t node, const char *text) {
    char attrs[4096];
    (void)qdq_graph_node_attrs(p->list->graph, node, 8, attrs, sizeof attrs);
    return strstr(attrs, text) != NULL;
}

// Reads the statistics of a value. False if the state has none, or no finite element.
bool statistics_of(const placing *p, qdq_value v, statistics *out);
// Returns the codes of computed values, and the parameters that the user's method chooses for them.
code_range activation_codes(const placing *p);
chosen_params activation_params(const placing *p, const statistics *s);
// Adds a coding of a computed value, without readers, and returns its number.
size_t add_activation(placing *p, qdq_value v, chosen_params params);
// Quantizes a product whose computed operands have codings.
node_fate place_product(placing *p, size_t node);

// Places codes for a target whose form is `whole`.
void place_whole(placing *p);

#endif
