// SPDX-License-Identifier: Apache-2.0
// A graph under several targets, node by node. The first target is compared with each of the
// others: once on the data that the first has, so that a difference belongs to the node, and once
// on what the other has made of the graph so far.
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
    size_t ids;        // more than any id of a value
    void **data;       // [target * ids + id], from malloc; NULL: as the first target has it
    size_t *last_use;  // [id]: the last node that reads or makes it
} comparison;

// An element that stands for those of a cause.
typedef struct example {
    bool has_x;  // x has the shape of the value
    double x, values[2];
} example;

// One output of a node, in the first target and in another.
typedef struct value_pair {
    difference local;   // both from the data of the first
    size_t overall;     // elements that differ where each target runs the whole graph
    example *examples;  // one for each cause
} value_pair;

// A node in the first target and in another.
typedef struct node_pair {
    switch_list switches;
    value_pair *values;  // one for each output
} node_pair;

typedef struct node_comparison {
    size_t node;
    node_run run;
    qdq_dtype x_dtype;
    node_pair *pairs;  // [target - 1]
    size_t pair_count;
    uint64_t left_out;  // bit i: left_out[i] computes the node differently than the first target
} node_comparison;

// Starts with the elements of the graph's inputs as the plan lists them; they are taken over.
// EXIT_OK, or another exit code after a message; close it in either case.
int comparison_open(comparison *c, const qdq_plan *plan, void *const *inputs);
void comparison_close(comparison *c);

// Compares the next node; nodes come in their order. EXIT_OK, or another exit code after a message;
// release it in either case.
int compare_node(comparison *c, size_t node, node_comparison *out);
void node_comparison_release(node_comparison *n);

#endif
