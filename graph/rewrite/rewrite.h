// SPDX-License-Identifier: Apache-2.0
// Rewriting: turns a checked graph into the graph that a target runs. A target has a table of
// patterns, sorted by pass. A pass tries every node as the anchor of each of its patterns, then
// copies the graph; nodes that a match replaces are left out, and nodes without remaining readers
// disappear. graph/targets/ort/ort_rewrites.c has the table of target ort.
#ifndef QDQ_GRAPH_REWRITE_REWRITE_H
#define QDQ_GRAPH_REWRITE_REWRITE_H

#include "graph/core/graph.h"
#include "graph/core/target.h"

typedef struct qdq_rewriter qdq_rewriter;

typedef struct qdq_id_list {
    uint32_t *items;
    size_t count, capacity;
} qdq_id_list;

// Nodes of the graph before the pass that others take the place of.
typedef struct qdq_match {
    const qdq_pattern *pattern;
    const qdq_target_version *version;  // that decided about the pattern
    size_t anchor;                      // index of a node
    const char *name;   // of the group, "QLinearConv"; NULL: the name of the pattern
    const char *why;    // why it does not match, if users would like to know
    const char *found;  // a finding, also of nodes that do not match; NULL: there is none
    const char *rule;   // id of the target's rule that it is about; NULL: the pattern's
    const char *port;   // that it is about; NULL: the anchor
    qdq_id_list nodes;  // nodes that are replaced, the anchor first
    qdq_id_list reads;  // values that the new nodes read
    qdq_id_list makes;  // outputs of the new nodes
    qdq_value *made;    // by the builder: these values in the new graph, zeroed before
    int form;           // of the pattern's own
} qdq_match;

struct qdq_pattern {
    const char *pass;    // consecutive patterns of one name are one pass
    const char *name;    // the form, such as "QLinearMatMul" or "double pair"
    const char *anchor;  // op of the anchor; NULL: any
    // Names the nodes to replace, by the calls below. False if the nodes do not fit; `why` may give
    // the reason.
    bool (*match)(const qdq_rewriter *r, qdq_match *m);
    // Adds the new nodes to the new graph and sets `made`.
    void (*build)(qdq_rewriter *r, qdq_match *m);
    // True if the pattern applies at a version and its options; NULL: always.
    bool (*applies)(const qdq_target_version *version);
    // Id ("ort/softmax-scale") of the target's rule whose finding a match is, about the anchor;
    // NULL: none.
    const char *rule;
    bool repeats;  // first pattern of a pass: the pass runs until nothing matches
    // Why results differ where it applies: "single multiplier"; NULL: it changes no number.
    const char *cause;
};

// The rewrites up to now.
typedef struct qdq_rewrite_record {
    qdq_mempool mempool;
    qdq_rewrite_info *items;
    size_t count, capacity;
} qdq_rewrite_record;

// The target version that decides about a pattern: `b` if its cause is one of `causes`, else `a`. A
// pattern without a cause applies if it does for either. For the graph of one target both are the
// same.
typedef struct qdq_rewrite_choice {
    const qdq_target_version *a, *b;
    const char *const *causes;
    size_t cause_count;
} qdq_rewrite_choice;

// One pass.
struct qdq_rewriter {
    const qdq_graph *from;
    bool first;                // `from` is the given graph
    const char *const *asked;  // by node: the rule to mend there, or NULL; NULL: no mends
    qdq_graph *to;             // NULL while nodes are matched
    const qdq_pattern *table;  // whose patterns the pass has
    const qdq_rewrite_choice *choice;
    const qdq_target_version *version;  // that decides about the pattern at hand
    qdq_mempool *mempool;               // lives as long as the pass
    const size_t *first_reader;         // by value, and one more: its first entry in `readers`
    const uint32_t *readers;            // nodes, one entry for each port
    qdq_value *copies;                  // by value: the value of the new graph
    qdq_match **matches;                // by node: the match that replaces it; NULL: it is copied
    qdq_rewrite_record *record;
    qdq_findings *findings;  // NULL: findings are not wanted
};

//---- For `match` ------------------------------------------------------------

// Returns the node that computes a value; SIZE_MAX: an input or a constant.
size_t qdq_rewrite_maker(const qdq_rewriter *r, uint32_t value);
// Return the number of ports that read a value, and the node of one of them.
size_t qdq_rewrite_reader_count(const qdq_rewriter *r, uint32_t value);
size_t qdq_rewrite_reader(const qdq_rewriter *r, uint32_t value, size_t i);
// Returns the only node that reads a value, at one port, which is no output of the graph; else
// SIZE_MAX.
size_t qdq_rewrite_only_reader(const qdq_rewriter *r, uint32_t value);
bool qdq_rewrite_is(const qdq_rewriter *r, size_t node, const char *op);

void qdq_match_replaces(const qdq_rewriter *r, qdq_match *m, size_t node);
void qdq_match_reads(const qdq_rewriter *r, qdq_match *m, uint32_t value);
void qdq_match_makes(const qdq_rewriter *r, qdq_match *m, uint32_t value);

//---- For `build` ------------------------------------------------------------

// Returns the value of the new graph that stands for a value which the match reads; no value for 0.
qdq_value qdq_rewrite_value(const qdq_rewriter *r, uint32_t value);
// Returns the values of the new graph that stand for the inputs of a node; NULL: no memory.
qdq_value *qdq_rewrite_inputs(const qdq_rewriter *r, const qdq_node *node);
// Returns a name for a new node or constant: `stem` if it is free in both graphs, else with a
// number.
const char *qdq_rewrite_name(const qdq_rewriter *r, const char *stem, const char *ending);
// Returns the name of the node that computes a value, for the node that replaces it.
const char *qdq_rewrite_name_of(const qdq_rewriter *r, uint32_t value);
// Notes that a value of the new graph has the codes of `value` with `offset` added.
void qdq_rewrite_shifts(const qdq_rewriter *r, qdq_value shifted, uint32_t value, int32_t offset);

//---- The steps of a pass ----------------------------------------------------

// Matches every node. False when memory runs out.
bool qdq_rewrite_match(qdq_rewriter *r, const qdq_pattern *patterns, size_t count, bool *any);
// Copies the graph with all matches replaced. False if a builder or memory fails.
bool qdq_rewrite_copy(qdq_rewriter *r);
// Adds to the record that a match was replaced by `result`, or why it was not.
bool qdq_rewrite_note(const qdq_rewriter *r, const qdq_match *m, const char *result,
                      const char *why);

// A graph on its way through passes.
typedef struct qdq_rewriting {
    const qdq_graph *given;
    qdq_graph *graph;  // NULL: nothing is rewritten yet
    const qdq_rewrite_choice *choice;
    const qdq_pattern *table;
    const char *const *asked;  // as in qdq_rewriter
    qdq_rewrite_record record;
    qdq_findings *findings;
    qdq_error *err;
} qdq_rewriting;

// Replaces the graph by a copy with all matches of `count` patterns; sets *any to true if something
// matched. `always`: copies the graph even if nothing matched.
qdq_status qdq_rewrite_pass(qdq_rewriting *w, const qdq_pattern *patterns, size_t count,
                            bool always, bool *any);
// Gives the graph to *out with the record, or destroys it after a failure.
qdq_status qdq_rewrite_end(qdq_rewriting *w, qdq_status status, qdq_graph **out);

//---- Entry ------------------------------------------------------------------

// Sets *out to the graph that a target at a version runs, with the record of all matches. `graph`
// has no errors. Findings of patterns go to `findings` unless it is NULL.
qdq_status qdq_rewrite(const qdq_graph *graph, const qdq_target_version *version,
                       qdq_findings *findings, qdq_graph **out, qdq_error *err);
// The same for something between two targets.
qdq_status qdq_rewrite_between(const qdq_graph *graph, const qdq_rewrite_choice *choice,
                               qdq_findings *findings, qdq_graph **out, qdq_error *err);

#endif
