// SPDX-License-Identifier: Apache-2.0
// Opens regular files for reading, on request only below a given folder.
#ifndef QDQ_GRAPH_CORE_OPEN_FILE_H
#define QDQ_GRAPH_CORE_OPEN_FILE_H

#include "include/qdq/base.h"

// An open regular file. The caller that opened it closes the descriptor.
typedef struct qdq_open_file {
    int descriptor;
    uint64_t bytes;
    int64_t seconds, nanoseconds;  // time of the last change
} qdq_open_file;

// Errors do not contain the path; the caller adds it.
qdq_status qdq_open_path(const char *path, qdq_open_file *out, qdq_error *err);

// Opens `relative` below `folder` ("" is the current folder). Refuses a path that is empty, begins
// with '/' or has an empty, "." or ".." part (QDQ_ERR_PARSE), and a link anywhere below `folder`,
// which could lead out of it (QDQ_ERR_IO).
qdq_status qdq_open_beneath(const char *folder, const char *relative, qdq_open_file *out,
                            qdq_error *err);

// Reads exactly `count` bytes from `offset`. Threads may read concurrently.
qdq_status qdq_open_file_read(int descriptor, void *data, size_t count, uint64_t offset,
                              qdq_error *err);

// QDQ_ERR_IO if size or time of the file differ from when it was opened.
qdq_status qdq_open_file_check(const qdq_open_file *file, qdq_error *err);

// QDQ_ERR_LIMIT if `bytes` exceed `most`.
qdq_status qdq_check_file_bytes(uint64_t bytes, size_t most, qdq_error *err);

// Reads a complete file of at most `most` bytes and adds a NUL: the allocator returns *length + 1
// bytes. NULL with `err` set; errors do not contain the path.
char *qdq_read_file(const char *path, size_t most, const qdq_allocator *allocator, size_t *length,
                    qdq_error *err);

#endif
