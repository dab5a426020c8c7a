// SPDX-License-Identifier: Apache-2.0
// Checks of a complete graph: stopping at the first error, and with the rules of a file format.
#ifndef QDQ_GRAPH_COMPILE_VALIDATE_H
#define QDQ_GRAPH_COMPILE_VALIDATE_H

#include "graph/core/graph.h"
#include "graph/core/target.h"
#include "graph/device/device_pass.h"

// Like qdq_graph_validate, but fails with the first error: of building, of the whole graph, of the
// target, of the memory of `request` (NULL: none is checked).
qdq_status qdq_graph_check(qdq_graph *graph, const qdq_target_version *version,
                           const qdq_device_request *request, qdq_error *err);

// Adds findings about constructs that a file format cannot express.
typedef qdq_status (*qdq_format_check)(qdq_graph *graph, qdq_findings *findings, qdq_error *err);

// Returns the report of a graph without errors: the findings of building it, and of its format.
// NULL with `err` set.
const qdq_report *qdq_graph_report_of(qdq_graph *graph, qdq_format_check check_format,
                                      qdq_error *err);

#endif
