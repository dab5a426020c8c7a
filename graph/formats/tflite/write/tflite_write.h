// SPDX-License-Identifier: Apache-2.0
// Writes graphs as TensorFlow Lite models (docs/tflite.md). In the profile core formats_absent.c
// says that the build cannot.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_WRITE_H
#define QDQ_GRAPH_FORMATS_TFLITE_WRITE_TFLITE_WRITE_H

#include "graph/core/graph.h"

// Writes the graph, which has no errors. QDQ_ERR_UNSUPPORTED with the first of the findings, if the
// format lacks something.
qdq_status qdq_tflite_write(const qdq_graph *graph, const char *path, qdq_error *err);

// Adds a finding for each node that cannot be written.
qdq_status qdq_tflite_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err);

#endif
