// SPDX-License-Identifier: Apache-2.0
// What compare prints of the nodes of a graph: those that differ, worst first, and how many do not.
#ifndef QDQ_TOOLS_COMPARE_COMPARE_TEXT_H
#define QDQ_TOOLS_COMPARE_COMPARE_TEXT_H

#include "tools/compare/compare_graph.h"

// How a node fares, in the order in which nodes are printed.
typedef enum node_outcome {
    NODE_DIFFERS,   // from the same inputs
    NODE_INHERITS,  // only where each target runs the whole graph
    NODE_EQUAL,
    NODE_OUTCOMES,
} node_outcome;

typedef struct node_lines {
    node_outcome outcome;
    size_t node;
    double share;  // of the elements that differ, the largest of all outputs and pairs of targets
    uint64_t steps;
    char *text;  // from malloc
    size_t line_count;
} node_lines;

typedef struct compare_list {
    node_lines *items;
    size_t count, capacity;
    size_t counts[NODE_OUTCOMES];
    size_t equal_here;      // equal nodes that targets compute differently
    size_t equal_elsewise;  // equal nodes that a target that was left out computes differently
} compare_list;

// Counts a node and, where `prints`, keeps what there is to print of it: of an equal one nothing
// unless `all`. False when memory runs out.
bool compare_list_add(compare_list *list, const comparison *c, const node_comparison *n,
                      bool prints, bool all);
// Prints all that is kept, worst first; unless `all`, at most two screens, and then how many nodes
// are left.
void compare_list_print(compare_list *list, const comparison *c, const char *path, bool all);
void compare_list_release(compare_list *list);

#endif
