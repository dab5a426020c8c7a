// SPDX-License-Identifier: Apache-2.0
// Writes graphs as ONNX models. Without the build option `onnx`, onnx_write_absent.c says that it
// cannot.
#ifndef QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITE_H
#define QDQ_GRAPH_FORMATS_ONNX_WRITE_ONNX_WRITE_H

#include "graph/core/graph.h"

// A protobuf file has less than 2 GiB.
#define QDQ_ONNX_MOST_BYTES (UINT64_C(0x7FFFFFFF) - (1 << 20))

// Writes the graph, which has no errors. Elements of large constants go to a file beside the model,
// if this would have more than `most` bytes. QDQ_ERR_UNSUPPORTED with the first of the findings, if
// ONNX lacks something.
qdq_status qdq_onnx_write(const qdq_graph *graph, const char *path, uint64_t most, qdq_error *err);

// Sets *fixed_by to the reasons why sizes that the graph leaves free are fixed in a model, by their
// numbers; NULL: open. The texts live in `mempool`.
qdq_status qdq_onnx_fixed_sizes(const qdq_graph *graph, qdq_mempool *mempool, const char **fixed_by,
                                qdq_error *err);

// Adds a finding for each node that cannot be written.
qdq_status qdq_onnx_write_check(const qdq_graph *graph, qdq_findings *findings, qdq_error *err);

#endif
