// SPDX-License-Identifier: Apache-2.0
// The graph that a target runs, and the values of the given graph that its values stand for.
#ifndef QDQ_TOOLS_DEPLOYED_H
#define QDQ_TOOLS_DEPLOYED_H

#include <qdq/base.h>
#include <qdq/graph.h>
#include <qdq/inspect.h>

// A rewrite of a node of the given graph.
typedef struct rewritten_node {
    size_t node;     // of the given graph
    size_t rewrite;  // index in the record
} rewritten_node;

typedef struct deployed {
    const qdq_graph *graph;
    qdq_graph *owned;  // NULL: the given graph, which the target runs as it is
    size_t value_count;
    qdq_value_source *sources;  // [value]
    size_t *makers;             // [value]: the node that computes it; SIZE_MAX: none
    qdq_value *own;             // [value of the given graph]: its stand-in; id 0: none
    rewritten_node *rewritten;  // sorted
    size_t rewritten_count;
    bool *seen;  // [node], for cone_find; all false
} deployed;

// Returns a number greater than the id of every value that a node of the graph reads or writes.
size_t count_values(const qdq_graph *graph);

// Describes a graph from qdq_graph_deployed, which it then owns, or, if `owned` is NULL, the given
// graph itself. `ids`: count_values of the given graph. False if memory runs out; close it in
// either case.
bool deployed_open(deployed *d, const qdq_graph *given, size_t ids, qdq_graph *owned);
// Describes the graph that a target runs. If the target does not rewrite the given graph, this is
// the given graph itself, including nodes that no output needs. Close it in either case.
qdq_status deployed_open_target(deployed *d, qdq_graph *given, size_t ids, const char *target,
                                qdq_error *err);
void deployed_close(deployed *d);

// The entries of `rewritten` for a node of the given graph.
typedef struct rewritten_range {
    size_t first, end;
} rewritten_range;
rewritten_range rewrites_of(const deployed *d, size_t node);
// True if the node also has a rewrite equal to `wanted`.
bool has_rewrite(const deployed *d, size_t node, const qdq_rewrite_info *wanted);

// The part of a deployed graph that computes some values of the given graph from others.
typedef struct cone {
    size_t *nodes;  // of the deployed graph, in ascending order
    size_t node_count;
    qdq_value *inputs;  // of the given graph, each once
    size_t input_count;
} cone;

// Walks from `outputs`, values of the given graph (entries without a value are skipped), back to
// the values marked in `cut` and to inputs of the graph. `cut` is indexed by values of the given
// graph and marks only values that the deployed graph has. False if memory runs out; release it in
// either case.
bool cone_find(const deployed *d, const bool *cut, const qdq_value *outputs, size_t count,
               cone *out);
void cone_release(cone *c);

#endif
