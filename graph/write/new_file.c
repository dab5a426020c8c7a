// SPDX-License-Identifier: Apache-2.0
// Writes a file under a temporary name and renames it when it is complete.
#include "graph/write/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/mempool.h"

enum { MOST_DRAFTS = 100, MODE_BITS = 07777 };

// Creates the draft under an unused name. open() applies the user's umask to new files; mkstemp()
// would not. A draft of a private file is private as well.
static int create_draft(const qdq_new_file *file, const char *path, const struct stat *old) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    int descriptor = -1;
    for (int i = 0; i < MOST_DRAFTS && descriptor < 0; i++) {
        (void)snprintf(file->draft, file->draft_bytes, "%.*s.qdq-%ld-%d", folder, path,
                       (long)getpid(), i);
        descriptor = open(file->draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
        if (descriptor < 0 && errno != EEXIST) break;
    }
    if (descriptor >= 0 && old)
        (void)!fchmod(descriptor, old->st_mode & MODE_BITS);  // some file systems have no modes
    return descriptor;
}

static qdq_status open_stream(qdq_new_file *file, const char *path, const struct stat *old,
                              qdq_error *err) {
    int descriptor = create_draft(file, path, old);
    if (descriptor < 0)
        return qdq_fail(err, QDQ_ERR_IO, "a new file cannot be made in its folder: %s",
                        strerror(errno));
    file->stream = fdopen(descriptor, "wb");
    if (file->stream) return QDQ_OK;
    close(descriptor);
    unlink(file->draft);
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to write to");
}

qdq_status qdq_new_file_open(qdq_new_file *file, const char *path, const qdq_allocator *allocator,
                             qdq_error *err) {
    struct stat old;
    bool exists = lstat(path, &old) == 0;
    *file = (qdq_new_file){.allocator = allocator, .draft_bytes = strlen(path) + 64};
    // Renaming would replace a link, a device or a pipe by a regular file.
    if (exists && !S_ISREG(old.st_mode))
        return qdq_fail(err, QDQ_ERR_IO, "is not a regular file, wanted a new or a regular one");
    file->draft = qdq_alloc_array(allocator, file->draft_bytes, 1, 1);
    if (!file->draft) return qdq_fail_memory(err, file->draft_bytes);
    qdq_status status = open_stream(file, path, exists ? &old : NULL, err);
    if (status != QDQ_OK) qdq_free_array(allocator, file->draft, file->draft_bytes, 1);
    return status;
}

qdq_status qdq_new_file_close(qdq_new_file *file, const char *path, qdq_status written,
                              qdq_error *err) {
    qdq_status status = written;
    bool flushed = fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    if (!flushed && status == QDQ_OK)
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (fclose(file->stream) != 0 && status == QDQ_OK)
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (status == QDQ_OK && rename(file->draft, path) != 0)
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be replaced: %s", strerror(errno));
    if (status != QDQ_OK) unlink(file->draft);
    qdq_free_array(file->allocator, file->draft, file->draft_bytes, 1);
    return status;
}
