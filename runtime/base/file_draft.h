// SPDX-License-Identifier: Apache-2.0
// A file that takes the place of another when it is complete. Until then it has no name, if the
// file system has nameless files, so that a killed process leaves nothing.
#ifndef QDQ_RUNTIME_BASE_FILE_DRAFT_H
#define QDQ_RUNTIME_BASE_FILE_DRAFT_H

#include <stdbool.h>
#include <stddef.h>

enum { QDQ_FILE_DRAFT_NAME = 64 };  // bytes of a name beyond the path

typedef struct qdq_file_draft {
    int descriptor;
    char *name;  // in the folder of the path
    size_t capacity;
    bool named;
} qdq_file_draft;

// Begins a file that will replace `path`, a new or a regular file, whose mode it gets. `name` has
// strlen(path) + QDQ_FILE_DRAFT_NAME bytes and must live as long. False with errno set.
bool qdq_file_draft_open(qdq_file_draft *draft, const char *path, char *name);
// Gives the file a name next to `path`: call it when all is written, before the descriptor is
// closed. False with errno set.
bool qdq_file_draft_link(qdq_file_draft *draft, const char *path);
// Renames it to `path`, after the descriptor was closed. False with errno set.
bool qdq_file_draft_place(const qdq_file_draft *draft, const char *path);
// Removes its name. The caller closes the descriptor.
void qdq_file_draft_drop(const qdq_file_draft *draft);

#endif
