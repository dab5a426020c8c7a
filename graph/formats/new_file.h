// SPDX-License-Identifier: Apache-2.0
// Replaces a file atomically: the path has the old file or the complete new one, never a part.
#ifndef QDQ_GRAPH_FORMATS_NEW_FILE_H
#define QDQ_GRAPH_FORMATS_NEW_FILE_H

#include <stdio.h>

#include "include/qdq/base.h"
#include "runtime/base/file_draft.h"

typedef struct qdq_new_file {
    FILE *stream;  // write here
    const qdq_allocator *allocator;
    qdq_file_draft draft;
    char *name;  // of the draft
} qdq_new_file;

// Begins a file that will replace `path`: a new one, or an existing regular file, whose mode it
// keeps. Errors do not contain the path.
qdq_status qdq_new_file_open(qdq_new_file *file, const char *path, const qdq_allocator *allocator,
                             qdq_error *err);

// Puts the draft at `path`, or removes it if `written` is an error or renaming fails. Returns
// `written` or the new error.
qdq_status qdq_new_file_close(qdq_new_file *file, const char *path, qdq_status written,
                              qdq_error *err);

#endif
