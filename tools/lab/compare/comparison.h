// SPDX-License-Identifier: Apache-2.0
// What the targets of a comparison have computed so far.
#ifndef QDQ_TOOLS_COMPARE_COMPARISON_H
#define QDQ_TOOLS_COMPARE_COMPARISON_H

#include <qdq/exec.h>

#include "tools/lab/compare/units/piece.h"
#include "tools/lab/compare/units/target_pair.h"
#include "tools/options.h"
#include "tools/spill.h"

struct node_comparison;

// Sees the results of each output of a node in the first target and another one that both have:
// from the first target's data, and if each target runs the whole graph. Equal pointers: equal
// elements. All NULL: nothing is computed. EXIT_OK, or another exit code after a message.
typedef struct comparison_sink {
    int (*take)(void *with, const struct node_comparison *n, size_t target, size_t output,
                const void *first, const void *local, const void *overall);
    void *with;
} comparison_sink;

typedef struct comparison {
    qdq_graph *graph;
    const char *targets[MAX_TARGETS];
    size_t target_count;
    const char *left_out[MAX_TARGETS];  // targets that refuse the graph
    size_t left_out_count;
    watch *watch;
    bool wants_spread;     // histograms, for JSON
    bool describes;        // compute nothing: only what the targets do at nodes is of interest
    comparison_sink sink;  // all zero: none
    qdq_exec_options exec_options;
    const char *isa;
    size_t ids;          // greater than any value id
    target_pair *pairs;  // [target]: the first target and this one
    deployed given;      // the graph as it is
    void **data;         // [target * ids + id], of elements_take; NULL: same as the first target's
    // Values by the last node at which they are needed: the first one, and the next one of each.
    uint32_t *ends, *next_end;
} comparison;

// EXIT_OK, or another exit code after a message; close it in either case.
int comparison_open(comparison *c, const qdq_plan *plan);
void comparison_close(comparison *c);
// Gives the elements of the graph's inputs, in the order of the plan, and takes ownership of them,
// whether the comparison could be opened or not.
void comparison_give(comparison *c, const qdq_plan *plan, void *const *inputs);

// The memory that a target has for a value; NULL: the same elements as the first target.
void **comparison_slot(const comparison *c, size_t target, qdq_value value);
// The elements that a target has for a value.
void *comparison_data_of(const comparison *c, size_t target, qdq_value value);
// Frees what nothing needs after a node.
void comparison_drop_ended(comparison *c, size_t node);

// The data of a target, for pieces.
typedef struct target_data {
    const comparison *c;
    size_t target;
} target_data;
feed comparison_feed(const target_data *of);

#endif
