// SPDX-License-Identifier: Apache-2.0
// Holds the values that the targets of a comparison have computed so far.
#ifndef QDQ_TOOLS_LAB_COMPARE_COMPARISON_H
#define QDQ_TOOLS_LAB_COMPARE_COMPARISON_H

#include <qdq/exec.h>

#include "tools/io/watch.h"
#include "tools/lab/compare/tolerance.h"
#include "tools/lab/compare/units/piece.h"
#include "tools/lab/compare/units/target_pair.h"

struct node_comparison;

// Receives the results of each output of a node that the first target and another target have:
// `first`, `local` from the first target's data, and `overall` from the other target's own data.
// Equal pointers: equal elements. All NULL: nothing is computed. EXIT_OK, or another exit code
// after a message.
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
    tolerances tolerance;  // differences within it do not count; all zero: exact
    bool wants_spread;     // measure histograms, for JSON
    bool describes;        // compute nothing, and only describe what the targets do at nodes
    comparison_sink sink;  // all zero: none
    qdq_exec_options exec_options;
    const char *isa;
    size_t ids;          // greater than any value id
    target_pair *pairs;  // [target]: the first target and this target
    deployed given;      // the given graph, not rewritten
    void **data;         // [target * ids + id], of elements_take; NULL: same as the first target's
    // Lists of values by the last node that needs them: [node] the first value, [value] the next
    // value.
    uint32_t *ends, *next_end;
} comparison;

// Opens a comparison. EXIT_OK, or another exit code after a message; close it in either case.
int comparison_open(comparison *c, const qdq_plan *plan);
void comparison_close(comparison *c);
// Takes ownership of the elements of the graph's inputs, in the order of the plan, even if the
// comparison could not be opened.
void comparison_give(comparison *c, const qdq_plan *plan, void *const *inputs);

// Returns the slot of a target's elements for a value, which holds NULL for the same elements as
// the first target's.
void **comparison_slot(const comparison *c, size_t target, qdq_value value);
// Returns a target's elements for a value.
void *comparison_data_of(const comparison *c, size_t target, qdq_value value);
// Frees the elements that no node after `node` needs.
void comparison_drop_ended(comparison *c, size_t node);

// The elements of a target, as a feed for pieces.
typedef struct target_data {
    const comparison *c;
    size_t target;
} target_data;
feed comparison_feed(const target_data *of);

#endif
