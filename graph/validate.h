// SPDX-License-Identifier: Apache-2.0
// The check of a complete graph for callers that stop at the first error.
#ifndef QDQ_GRAPH_VALIDATE_H
#define QDQ_GRAPH_VALIDATE_H

#include "graph/device/device_pass.h"
#include "graph/graph.h"
#include "graph/target.h"

// Like qdq_graph_validate, but fails with the first error: of building, of the whole graph, of the
// target, of the memory of `request` (NULL: none is checked).
qdq_status qdq_graph_check(qdq_graph *graph, const qdq_target_version *version,
                           const qdq_device_request *request, qdq_error *err);

#endif
