// SPDX-License-Identifier: Apache-2.0
// Reads ONNX models into graphs. Without the build option `onnx`, onnx_absent.c says that it
// cannot.
#ifndef QDQ_GRAPH_FORMATS_ONNX_ONNX_READ_H
#define QDQ_GRAPH_FORMATS_ONNX_ONNX_READ_H

#include "graph/core/graph.h"
#include "graph/core/open_file.h"

// True if a file begins like an ONNX model; 3 bytes are enough.
bool qdq_onnx_is_model(const void *head, size_t length);

// A model, in memory or else in a file.
typedef struct qdq_onnx_bytes {
    const void *memory;
    size_t length;              // of memory
    const qdq_open_file *file;  // used if memory is NULL
    const char *path;           // of the file, for messages
    const char *folder;         // of external data; NULL: none
} qdq_onnx_bytes;

// Reads the model into a new graph.
qdq_status qdq_onnx_read(qdq_graph *graph, const qdq_onnx_bytes *bytes,
                         const qdq_graph_options *options, qdq_error *err);

#endif
