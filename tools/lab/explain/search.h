// SPDX-License-Identifier: Apache-2.0
// The stages of a search for a cause. Each runs the graph with a change, and notes the changes that
// reproduce the device's bits as candidates.
#ifndef QDQ_TOOLS_LAB_EXPLAIN_SEARCH_H
#define QDQ_TOOLS_LAB_EXPLAIN_SEARCH_H

#include "tools/lab/explain/explain.h"
#include "tools/lab/explain/variant.h"

typedef struct search {
    const session *s;
    const options *opt;
    replay *r;
    explanation *e;
    size_t *suspects;
    double until;
    int fewest;    // changes of a candidate that reproduces all bits; 0: none does
    size_t after;  // tries since a candidate with a single change was found
} search;

// True if time and memory allow another try. A search that runs out of memory stops, as skipped
// tries would lead to another cause.
bool search_in_time(search *f);

// Runs the graph with a variant of a node. True if it reproduces all bits.
bool search_variant(search *f, size_t node, const variant *v);
// Runs the graph with a variant of a node, and `others` for later nodes, and notes it as a
// candidate of node `as`; SIZE_MAX: of all nodes.
void search_together(search *f, size_t node, const variant *v, const replay_changer *others,
                     size_t as);

// Tries the number formats of a suspect, and of all suspects at once.
void search_formats(search *f, size_t node);
void search_formats_everywhere(search *f);
// Tries the mistakes of every suspect.
void search_mistakes(search *f);

#endif
