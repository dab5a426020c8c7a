// SPDX-License-Identifier: Apache-2.0
// Opening regular files for reading, also below a folder that must not be left.
#ifndef QDQ_GRAPH_TENSOR_FILE_OPEN_FILE_H
#define QDQ_GRAPH_TENSOR_FILE_OPEN_FILE_H

#include "include/qdq/base.h"

// An open regular file. Whoever opened it closes the descriptor.
typedef struct qdq_open_file {
    int descriptor;
    uint64_t bytes;
    int64_t seconds, nanoseconds;  // when it was last written to
} qdq_open_file;

// Errors do not name the path: the caller does.
qdq_status qdq_open_path(const char *path, qdq_open_file *out, qdq_error *err);

// Opens `relative` step by step from `folder` ("" is the current one). Refused: a path that is
// empty, begins with '/' or has an empty, "." or ".." part (QDQ_ERR_PARSE); a link anywhere below
// `folder`, since it may lead out (QDQ_ERR_IO).
qdq_status qdq_open_beneath(const char *folder, const char *relative, qdq_open_file *out,
                            qdq_error *err);

// Reads exactly `count` bytes from `offset`. Any number of threads may read at once.
qdq_status qdq_open_file_read(int descriptor, void *data, size_t count, uint64_t offset,
                              qdq_error *err);

// QDQ_ERR_IO if the file has been written to since it was opened, as its size and time tell.
qdq_status qdq_open_file_check(const qdq_open_file *file, qdq_error *err);

// QDQ_ERR_LIMIT if a file of `bytes` is larger than `most`.
qdq_status qdq_check_file_bytes(uint64_t bytes, size_t most, qdq_error *err);

// The whole of a file of at most `most` bytes with a NUL behind it, *length + 1 bytes from the
// allocator; NULL with `err` set. Errors do not name the path.
char *qdq_read_file(const char *path, size_t most, const qdq_allocator *allocator, size_t *length,
                    qdq_error *err);

#endif
