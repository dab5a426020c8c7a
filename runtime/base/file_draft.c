// SPDX-License-Identifier: Apache-2.0
// Drafts of files: without a name by O_TMPFILE on Linux, else under an unused name.
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE  // O_TMPFILE; NOLINT(bugprone-reserved-identifier)
#endif
#include "runtime/base/file_draft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAMES = 100, MODE_BITS = 07777 };

static int folder_bytes(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path) + 1 : 0;
}

static void put_name(const qdq_file_draft *draft, const char *path, int number) {
    (void)snprintf(draft->name, draft->capacity, "%.*s.qdq-%ld-%d", folder_bytes(path), path,
                   (long)getpid(), number);
}

// open() applies the user's umask to new files; mkstemp() would not. A draft of a private file is
// private as well.
static int open_named(const qdq_file_draft *draft, const char *path, mode_t mode) {
    int descriptor = -1;
    for (int i = 0; i < MOST_NAMES && descriptor < 0; i++) {
        put_name(draft, path, i);
        descriptor = open(draft->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    return descriptor;
}

#if defined(O_TMPFILE)

// Returns the path by which a file without a name can be linked.
static const char *path_of(int descriptor, char out[QDQ_FILE_DRAFT_NAME]) {
    (void)snprintf(out, QDQ_FILE_DRAFT_NAME, "/proc/self/fd/%d", descriptor);
    return out;
}

static int open_unnamed(const qdq_file_draft *draft, const char *path, mode_t mode) {
    char own[QDQ_FILE_DRAFT_NAME];
    int bytes = folder_bytes(path);
    (void)snprintf(draft->name, draft->capacity, "%.*s", bytes ? bytes : 1, bytes ? path : ".");
    int descriptor = open(draft->name, O_WRONLY | O_TMPFILE | O_CLOEXEC, mode);
    if (descriptor < 0 || access(path_of(descriptor, own), F_OK) == 0) return descriptor;
    close(descriptor);  // there is no /proc
    return -1;
}

static bool link_unnamed(const qdq_file_draft *draft, const char *path) {
    char own[QDQ_FILE_DRAFT_NAME];
    for (int i = 0; i < MOST_NAMES; i++) {
        put_name(draft, path, i);
        if (linkat(AT_FDCWD, path_of(draft->descriptor, own), AT_FDCWD, draft->name,
                   AT_SYMLINK_FOLLOW) == 0)
            return true;
        if (errno != EEXIST) return false;
    }
    return false;
}

#else

static int open_unnamed(const qdq_file_draft *draft, const char *path, mode_t mode) {
    (void)draft, (void)path, (void)mode;
    return -1;
}
static bool link_unnamed(const qdq_file_draft *draft, const char *path) {
    (void)draft, (void)path;
    return false;
}

#endif

bool qdq_file_draft_open(qdq_file_draft *draft, const char *path, char *name) {
    struct stat old;
    bool exists = stat(path, &old) == 0;
    mode_t mode = exists ? 0600 : 0666;
    *draft = (qdq_file_draft){.capacity = strlen(path) + QDQ_FILE_DRAFT_NAME};
    draft->name = name;
    draft->descriptor = open_unnamed(draft, path, mode);
    draft->named = draft->descriptor < 0;
    if (draft->named) draft->descriptor = open_named(draft, path, mode);
    if (draft->descriptor >= 0 && exists)
        (void)!fchmod(draft->descriptor, old.st_mode & MODE_BITS);  // some file systems have none
    return draft->descriptor >= 0;
}

bool qdq_file_draft_link(qdq_file_draft *draft, const char *path) {
    if (!draft->named) draft->named = link_unnamed(draft, path);
    return draft->named;
}

bool qdq_file_draft_place(const qdq_file_draft *draft, const char *path) {
    return rename(draft->name, path) == 0;
}

void qdq_file_draft_drop(const qdq_file_draft *draft) {
    if (draft->named) (void)unlink(draft->name);
}
