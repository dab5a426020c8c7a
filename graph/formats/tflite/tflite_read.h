// SPDX-License-Identifier: Apache-2.0
// Reads TensorFlow Lite models (.tflite) into graphs (docs/tflite.md). In the profile core
// formats_absent.c says that the build cannot.
#ifndef QDQ_GRAPH_FORMATS_TFLITE_TFLITE_READ_H
#define QDQ_GRAPH_FORMATS_TFLITE_TFLITE_READ_H

#include "graph/core/graph.h"
#include "graph/core/open_file.h"

// True if a file begins like a TensorFlow Lite model; 8 bytes are enough.
bool qdq_tflite_is_model(const void *head, size_t length);

// Returns the operator of a TensorFlow Lite model that a node stands for, NULL: none is known.
// Operators of ONNX, whose names have small letters, do not count.
const char *qdq_tflite_mark(const qdq_node *node);

// A model, in memory or else in a file.
typedef struct qdq_tflite_bytes {
    const void *memory;
    size_t length;              // of memory
    const qdq_open_file *file;  // used if memory is NULL
    const char *path;           // of the file, for messages
} qdq_tflite_bytes;

// Reads the model into a new graph.
qdq_status qdq_tflite_read(qdq_graph *graph, const qdq_tflite_bytes *bytes,
                           const qdq_graph_options *options, qdq_error *err);

#endif
