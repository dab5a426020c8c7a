// SPDX-License-Identifier: Apache-2.0
// The graphs that the first target and another target run, and graphs between the two, to which
// only some of the rewrites are applied.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_TARGET_PAIR_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_TARGET_PAIR_H

#include "tools/deployed.h"
#include "tools/lab/compare/units/switches.h"

enum { MAX_TARGETS = 64, MAX_BETWEEN = 8 };

// A graph with the other target's rewrites for a set of causes.
typedef struct between_graph {
    uint32_t causes;
    deployed graph;
} between_graph;

typedef struct target_pair {
    qdq_graph *given;
    size_t ids;
    const char *targets[2];
    deployed own;                      // the graph that the other target runs
    const deployed *first;             // the graph that the first target runs
    bool *cut;                         // [value of the given graph]: both targets have it
    const char *causes[MAX_SWITCHES];  // causes of all rewrites of both, in the order of passes
    size_t cause_count;
    between_graph between[MAX_BETWEEN];
    size_t between_count, oldest;
} target_pair;

// Opens the pair of the first target and `target`. `first`: the pair of the first target with
// itself, which may be `p`. `ids`: count_values of the graph. EXIT_OK, or another exit code after a
// message; close it in either case.
int target_pair_open(target_pair *p, target_pair *first, qdq_graph *given, size_t ids,
                     const char *target);
void target_pair_close(target_pair *p);

// Returns a cause as a set of `causes`; the empty set for an unknown cause.
uint32_t target_pair_cause(const target_pair *p, const char *cause);

// Returns the graph with the other target's rewrites; of the rewrites whose cause is among
// `reasons`, only causes of the set `on` are applied. NULL after a message. The graph lives until
// MAX_BETWEEN others have been requested.
const deployed *target_pair_between(target_pair *p, const reason_list *reasons, uint32_t on);

#endif
