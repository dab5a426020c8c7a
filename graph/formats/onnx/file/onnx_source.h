// SPDX-License-Identifier: Apache-2.0
// The bytes of a model: a file, or memory. A file is read through a window, so that elements of
// tensors, which the decoder skips, are not read.
#ifndef QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_SOURCE_H
#define QDQ_GRAPH_FORMATS_ONNX_FILE_ONNX_SOURCE_H

#include "graph/core/open_file.h"

enum { QDQ_ONNX_WINDOW = 1 << 16 };

typedef struct qdq_onnx_source {
    const unsigned char *memory;  // NULL: the file
    const qdq_open_file *file;
    uint64_t size, at;
    uint64_t read, most;  // bytes read by qdq_onnx_take so far, and how many may be
    uint64_t window_at;
    size_t window_length;
    unsigned char window[QDQ_ONNX_WINDOW];
} qdq_onnx_source;

// Fails if the next `count` bytes are not there, or more than may be taken.
qdq_status qdq_onnx_check_left(const qdq_onnx_source *source, size_t count, qdq_error *err);
// Copies the next `count` bytes. Fails beyond the end, and when more than `most` bytes were taken.
qdq_status qdq_onnx_take(qdq_onnx_source *source, void *out, size_t count, qdq_error *err);

// Copies `count` bytes from `at`, which the caller has checked to be inside; does not count them.
qdq_status qdq_onnx_read_at(const qdq_onnx_source *source, uint64_t at, void *out, size_t count,
                            qdq_error *err);

#endif
