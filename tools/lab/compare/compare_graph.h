// SPDX-License-Identifier: Apache-2.0
// Compares several targets node by node. The first target is compared with each other target twice:
// on the first target's data, so that a difference belongs to the node, and on the other target's
// own data so far. Where a target rewrites the graph, nodes whose results it does not have are
// compared with the node behind them that has a result in both targets.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_GRAPH_H
#define QDQ_TOOLS_COMPARE_COMPARE_GRAPH_H

#include <qdq/numerics.h>

#include "tools/lab/compare/causes.h"
#include "tools/lab/compare/comparison.h"
#include "tools/lab/compare/spread.h"

// An example of the elements with one cause.
typedef struct example {
    bool has_x;  // x has the shape of the value
    double x, values[2];
    uint64_t bits[2];  // of the values
} example;

// One output of a node, in the first target and another.
typedef struct value_pair {
    bool absent;        // one of the targets does not have it; nothing else is set
    difference local;   // both computed from the first target's data
    size_t overall;     // elements that differ if each target runs the whole graph
    example *examples;  // one per cause
    spread *spread;     // of both results, if they differ from the same inputs
} value_pair;

// A node in the first target and another.
typedef struct node_pair {
    reason_list reasons;
    value_pair *values;  // one per output
    qdq_dtype x_dtype;
    const char *ops[2];  // what makes the result in each target
    const char *group;  // the op that takes the place of several nodes, or of another op; else NULL
    size_t *nodes;      // of the graph: those nodes, in ascending order
    size_t node_count;
} node_pair;

typedef struct node_comparison {
    size_t node;
    node_value *outputs;  // empty if no other target has a result of the node
    size_t output_count;
    spread *spreads;         // one per output: of the first target
    qdq_numerics *numerics;  // [target]: of the node
    node_pair *pairs;        // [target - 1]
    size_t pair_count;
    uint64_t left_out;  // bit i: left_out[i] computes the node differently from the first target
} node_comparison;

// Compares the next node; call it in the order of the nodes. EXIT_OK, or another exit code after a
// message; release `out` in either case.
int compare_node(comparison *c, size_t node, node_comparison *out);
void node_comparison_release(node_comparison *n);

#endif
