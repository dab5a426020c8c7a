// SPDX-License-Identifier: Apache-2.0
// Compares several targets node by node. The first target is compared with each other target twice:
// on the first target's data, so that a difference belongs to the node, and on the data that the
// other target has computed so far. If a target rewrites the graph and lacks the results of some
// nodes, these are compared together with the next node whose result both targets have.
#ifndef QDQ_TOOLS_LAB_COMPARE_COMPARE_GRAPH_H
#define QDQ_TOOLS_LAB_COMPARE_COMPARE_GRAPH_H

#include <qdq/numerics.h>

#include "tools/lab/compare/causes.h"
#include "tools/lab/compare/closeness.h"
#include "tools/lab/compare/comparison.h"
#include "tools/lab/compare/spread.h"

// An example of the elements with a cause.
typedef struct example {
    bool has_x;  // an input x has the shape of the value
    double x, values[2];
    uint64_t bits[2];  // bits of the values
} example;

// An output of a node in the first target and in another target.
typedef struct value_pair {
    bool absent;           // a target does not have it; nothing else is set
    difference local;      // both computed from the first target's data
    closeness closeness;   // of a float, if `local` has differences
    size_t overall;        // elements that differ if each target runs the whole graph
    double overall_error;  // their relative error, of a float
    example *examples;     // one per cause
    spread *spread;        // spread of both results, if they differ from the same inputs
} value_pair;

// A node in the first target and in another target.
typedef struct node_pair {
    reason_list reasons;
    value_pair *values;  // one per output
    qdq_dtype x_dtype;
    const char *ops[2];  // op that computes the result in each target
    const char *group;   // op that replaces several nodes, or another op; else NULL
    size_t *nodes;       // replaced nodes of the graph, in ascending order
    size_t node_count;
} node_pair;

typedef struct node_comparison {
    size_t node;
    node_value *outputs;  // empty if no other target has a result of the node
    size_t output_count;
    spread *spreads;         // [output]: spread of the first target's result
    qdq_numerics *numerics;  // [target]: numerics of the node
    node_pair *pairs;        // [target - 1]
    size_t pair_count;
    uint64_t left_out;  // bit i: left_out[i] computes the node differently from the first target
} node_comparison;

// Compares the next node; call it in the order of the nodes. EXIT_OK, or another exit code after a
// message; release `out` in either case.
int compare_node(comparison *c, size_t node, node_comparison *out);
void node_comparison_release(node_comparison *n);

#endif
