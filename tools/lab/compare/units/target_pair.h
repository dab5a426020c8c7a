// SPDX-License-Identifier: Apache-2.0
// The graphs that the first target and another one run, and graphs between the two, in which only
// some of the rewrites are made.
#ifndef QDQ_TOOLS_COMPARE_UNITS_TARGET_PAIR_H
#define QDQ_TOOLS_COMPARE_UNITS_TARGET_PAIR_H

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
    deployed own;                      // what the other target runs
    const deployed *first;             // what the first target runs
    bool *cut;                         // [value of the given graph]: both targets have it
    const char *causes[MAX_SWITCHES];  // of all rewrites of the two, in the order of passes
    size_t cause_count;
    between_graph between[MAX_BETWEEN];
    size_t between_count, oldest;
} target_pair;

// Opens the pair of the first target, whose pair is `first`, and `target`; `ids` as count_values of
// the graph. For the first target itself both are the same. EXIT_OK, or another exit code after a
// message; close it in either case.
int target_pair_open(target_pair *p, target_pair *first, qdq_graph *given, size_t ids,
                     const char *target);
void target_pair_close(target_pair *p);

// A cause as a set of `causes`; empty if it is none of them.
uint32_t target_pair_cause(const target_pair *p, const char *cause);

// The graph in which rewrites are the other target's, except those whose cause is one of `reasons`:
// of these, only the ones in the set `on`. NULL after a message. It stays as it is until
// MAX_BETWEEN others were asked for.
const deployed *target_pair_between(target_pair *p, const reason_list *reasons, uint32_t on);

#endif
