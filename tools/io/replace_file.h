// SPDX-License-Identifier: Apache-2.0
// Writes whole files: a reader sees the old one or the complete new one.
#ifndef QDQ_TOOLS_IO_REPLACE_FILE_H
#define QDQ_TOOLS_IO_REPLACE_FILE_H

#include <qdq/base.h>

// Writes a head and data, neither empty, under a temporary name and renames it to `path`. Errors do
// not begin with the path.
qdq_status replace_file(const char *path, const void *head, size_t head_bytes, const void *data,
                        size_t bytes, qdq_error *err);

#endif
