// SPDX-License-Identifier: Apache-2.0
// Compares several targets node by node. The first target is compared with each other target twice:
// on the first target's data, so that a difference belongs to the node, and on the other target's
// own data so far.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_GRAPH_H
#define QDQ_TOOLS_COMPARE_COMPARE_GRAPH_H

#include "tools/compare/causes.h"

enum { MAX_TARGETS = 64 };

typedef struct comparison {
    const qdq_graph *graph;
    const char *targets[MAX_TARGETS];
    size_t target_count;
    const char *left_out[MAX_TARGETS];  // targets that refuse the graph
    size_t left_out_count;
    watch *watch;
    qdq_exec_options exec_options;
    const char *isa;
    size_t ids;        // greater than any value id
    void **data;       // [target * ids + id], from malloc; NULL: same as the first target's
    size_t *last_use;  // [id]: the last node that reads or makes it
} comparison;

// An example of the elements with one cause.
typedef struct example {
    bool has_x;  // x has the shape of the value
    double x, values[2];
} example;

// One output of a node, in the first target and another.
typedef struct value_pair {
    difference local;   // both computed from the first target's data
    size_t overall;     // elements that differ if each target runs the whole graph
    example *examples;  // one per cause
} value_pair;

// A node in the first target and another.
typedef struct node_pair {
    switch_list switches;
    value_pair *values;  // one per output
} node_pair;

typedef struct node_comparison {
    size_t node;
    node_run run;
    qdq_dtype x_dtype;
    node_pair *pairs;  // [target - 1]
    size_t pair_count;
    uint64_t left_out;  // bit i: left_out[i] computes the node differently from the first target
} node_comparison;

// Begins with the elements of the graph's inputs, in the order of the plan, and takes ownership of
// them. EXIT_OK, or another exit code after a message; close it in either case.
int comparison_open(comparison *c, const qdq_plan *plan, void *const *inputs);
void comparison_close(comparison *c);

// Compares the next node; call it in the order of the nodes. EXIT_OK, or another exit code after a
// message; release `out` in either case.
int compare_node(comparison *c, size_t node, node_comparison *out);
void node_comparison_release(node_comparison *n);

#endif
