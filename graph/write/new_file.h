// SPDX-License-Identifier: Apache-2.0
// A file that is written beside its place and then takes it, so that the place has the old file or
// the new one, complete.
#ifndef QDQ_GRAPH_WRITE_NEW_FILE_H
#define QDQ_GRAPH_WRITE_NEW_FILE_H

#include <stdio.h>

#include "include/qdq/base.h"

typedef struct qdq_new_file {
    FILE *stream;  // to write to
    const qdq_allocator *allocator;
    char *draft;  // its path until it is complete
    size_t draft_bytes;
} qdq_new_file;

// Begins the file that is to be `path`: a new one, or a regular one that is there, whose mode it
// gets. Errors do not name the path.
qdq_status qdq_new_file_open(qdq_new_file *file, const char *path, const qdq_allocator *allocator,
                             qdq_error *err);

// Completes it, or removes it when `written` is an error or this fails. Returns `written` or the
// error of completing.
qdq_status qdq_new_file_close(qdq_new_file *file, const char *path, qdq_status written,
                              qdq_error *err);

#endif
