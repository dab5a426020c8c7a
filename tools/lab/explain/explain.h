// SPDX-License-Identifier: Apache-2.0
// Finds the node at which a device's results leave a graph's, and what gives the device's bits: a
// target, a number format or a mistake in a node. Each is run and compared bit by bit.
#ifndef QDQ_TOOLS_EXPLAIN_EXPLAIN_H
#define QDQ_TOOLS_EXPLAIN_EXPLAIN_H

#include "tools/lab/explain/replay.h"
#include "tools/session.h"

enum { MOST_CANDIDATES = 12, MOST_REPRODUCING = 64 };

// Something that was tried.
typedef struct candidate {
    size_t node;  // of the form; SIZE_MAX: all
    char cause[96], detail[160];
    replay_left left;
} candidate;

typedef struct explanation {
    bool differs;
    qdq_value first;        // of the form: the first value that differs
    const char *value;      // its name in the graph, or of the output
    const char *node, *op;  // at fault
    char cause[128], detail[192];
    char names[MOST_REPRODUCING][64];  // targets that give all bits; the first is named
    size_t target_count;
    size_t elements, differing;        // of `value`
    size_t left, total;                // elements of all values: with the cause, and without
    bool near;                         // the cause does not give all bits
    bool noise;                        // all differences are as small as another order of sums
    candidate found[MOST_CANDIDATES];  // that give all bits, the one that is named first
    size_t found_count;
    candidate nearest;  // if none does
    void *result;       // what the named node makes with the candidate; NULL: not known; owned
    size_t suspects, tried;
    bool stopped;             // by the time limit
    size_t later, noisy;      // given values that differ by themselves as well; by noise before
    const char *later_value;  // one of them
} explanation;

// Fills `e` and runs `base`, which is open. `other`: the target that gave the values; NULL: it is
// not known. EXIT_OK, or another exit code after a message.
int explain(const session *s, const options *opt, const char *other, replay *base, explanation *e);

void explanation_release(explanation *e);

// The name under which a value of the form is known: of an output, or in the graph.
const char *explain_name(const session *s, const replay *r, qdq_value value);

#endif
