// SPDX-License-Identifier: Apache-2.0
// How well the bits of each node are known that a target runs.
#ifndef QDQ_GRAPH_COMPILE_NODE_BITS_H
#define QDQ_GRAPH_COMPILE_NODE_BITS_H

#include "graph/core/graph.h"
#include "graph/core/target.h"

// Sets the nodes of `report`, and their counts, by the evidence of a target at a version and by the
// findings of its check so far. Adds a finding `TARGET/bits-unknown` for each op with such nodes.
// `run` is the graph that the target runs: `given`, or its rewritten copy. Both have no errors.
// Memory comes from the pool of `findings`, which remembers a failure.
void qdq_node_bits_of(const qdq_graph *given, const qdq_graph *run,
                      const qdq_target_version *version, qdq_findings *findings,
                      qdq_report *report);

#endif
