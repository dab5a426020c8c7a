// SPDX-License-Identifier: Apache-2.0
// The check of a complete graph for callers that stop at the first error.
#ifndef QDQ_GRAPH_VALIDATE_H
#define QDQ_GRAPH_VALIDATE_H

#include "graph/graph.h"
#include "graph/target.h"

// Like qdq_graph_validate, but fails with the first error: of building, of the whole graph, of the
// target.
qdq_status qdq_graph_check(qdq_graph *graph, const qdq_target_version *version, qdq_error *err);

#endif
