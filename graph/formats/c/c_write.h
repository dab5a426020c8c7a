// SPDX-License-Identifier: Apache-2.0
// Writes a graph as one C file that computes it (docs/firmware.md).
#ifndef QDQ_GRAPH_FORMATS_C_C_WRITE_H
#define QDQ_GRAPH_FORMATS_C_C_WRITE_H

#include "graph/core/graph.h"

// Adds a finding for each node and value that cannot be written.
qdq_status qdq_c_write_check(qdq_graph *graph, qdq_findings *findings, qdq_error *err);

#endif
