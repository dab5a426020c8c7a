// SPDX-License-Identifier: Apache-2.0
// Finds the node at which a device's results first differ from a graph's, and a cause that
// reproduces the device's bits: a target, a number format or a mistake in a node. Each is run and
// compared bit by bit.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_EXPLAIN_H
#define QDQ_TOOLS_LAB_EXPLAIN_EXPLAIN_H

#include "tools/lab/explain/replay.h"
#include "tools/session.h"

enum { MOST_CANDIDATES = 12, MOST_REPRODUCING = 64 };

// A cause that was tried.
typedef struct candidate {
    size_t node;  // index in the form; SIZE_MAX: all nodes
    char cause[96], detail[160];
    int changes;  // from the graph
    replay_left left;
} candidate;

typedef struct explanation {
    bool differs;
    qdq_value first;        // the first value of the form that differs
    const char *value;      // its name, or the name of the output
    const char *node, *op;  // the node at fault
    char cause[128], detail[192];
    char names[MOST_REPRODUCING][64];  // targets that reproduce all bits; the first is the cause
    size_t target_count;
    size_t elements, differing;        // elements of `value`
    size_t left, total;                // differing elements of all values: with the cause, without
    bool near;                         // the cause does not reproduce all bits
    bool noise;                        // all differences are small enough for another order of sums
    candidate found[MOST_CANDIDATES];  // reproduce all bits, those with the fewest changes first
    size_t found_count;
    candidate nearest;  // if none reproduces all bits
    void *result;       // result of the node with the candidate; NULL: not known; owned
    size_t suspects, tried;
    bool stopped;             // the search reached the time limit
    size_t later, noisy;      // given values that differ by themselves too; that differ by noise
    const char *later_value;  // the first of `later`
} explanation;

// Runs an open replay, `base`, and fills `e`. `other`: the target that computed the given values;
// NULL: not known. EXIT_OK, or another exit code after a message.
int explain(const session *s, const options *opt, const char *other, replay *base, explanation *e);

void explanation_release(explanation *e);

// Returns the name of a value of the form for people: of the output, or in the graph.
const char *explain_name(const session *s, const replay *r, qdq_value value);

#endif
