// SPDX-License-Identifier: Apache-2.0
// Prints the output of compare: the nodes that differ, worst first, and the number of equal nodes.
#ifndef QDQ_TOOLS_LAB_COMPARE_COMPARE_TEXT_H
#define QDQ_TOOLS_LAB_COMPARE_COMPARE_TEXT_H

#include "tools/lab/compare/compare_graph.h"

// The outcome of a node, in the order of the output.
typedef enum node_outcome {
    NODE_DIFFERS,   // from the same inputs
    NODE_INHERITS,  // only if each target runs the whole graph
    NODE_EQUAL,
    NODE_OUTCOMES,
} node_outcome;

typedef struct node_lines {
    node_outcome outcome;
    size_t node;
    double share;  // largest fraction of elements that differ, of all outputs and pairs of targets
    uint64_t steps;
    size_t within;  // elements whose difference is within the tolerance
    char *text;     // owned, from malloc
    size_t line_count;
} node_lines;

typedef struct compare_list {
    node_lines *items;
    size_t count, capacity;
    size_t counts[NODE_OUTCOMES];
    size_t within;          // elements whose difference is within the tolerance
    size_t groups;          // nodes at which a group is compared
    size_t equal_here;      // equal nodes whose numerics differ
    size_t equal_elsewise;  // equal nodes that a left-out target computes differently
} compare_list;

// Counts a node and, if `prints`, keeps its text; equal nodes have text only with `all`. False if
// memory runs out.
bool compare_list_add(compare_list *list, const comparison *c, const node_comparison *n,
                      bool prints, bool all);
// Prints all kept nodes, worst first; without `all` at most two screens, and the number of nodes
// that are left.
void compare_list_print(compare_list *list, const comparison *c, const char *path, bool all);
void compare_list_release(compare_list *list);

#endif
