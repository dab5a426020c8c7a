// SPDX-License-Identifier: Apache-2.0
// Checking a whole graph, for those who go on with it.
#ifndef QDQ_GRAPH_VALIDATE_H
#define QDQ_GRAPH_VALIDATE_H

#include "graph/graph.h"
#include "graph/target.h"

// Checks as qdq_graph_validate does and fails with the first error that there is: of building, of
// the whole, of the target.
qdq_status qdq_graph_check(qdq_graph *graph, const qdq_target_version *version, qdq_error *err);

#endif
