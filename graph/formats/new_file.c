// SPDX-License-Identifier: Apache-2.0
// Writes a file that takes its place when it is complete.
#include "graph/formats/new_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "runtime/base/posix.h"

static size_t name_bytes(const char *path) { return strlen(path) + QDQ_FILE_DRAFT_NAME; }

static qdq_status open_stream(qdq_new_file *file, const char *path, qdq_error *err) {
    if (!qdq_file_draft_open(&file->draft, path, file->name))
        return qdq_fail(err, QDQ_ERR_IO, "its folder takes no new file: %s", strerror(errno));
    file->stream = fdopen(file->draft.descriptor, "wb");
    if (file->stream) return QDQ_OK;
    close(file->draft.descriptor);
    qdq_file_draft_drop(&file->draft);
    return qdq_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to write to");
}

qdq_status qdq_new_file_open(qdq_new_file *file, const char *path, const qdq_allocator *allocator,
                             qdq_error *err) {
    struct stat old;
    *file = (qdq_new_file){.allocator = allocator};
    // Renaming would replace a link, a device or a pipe by a regular file.
    if (lstat(path, &old) == 0 && !S_ISREG(old.st_mode))
        return qdq_fail(err, QDQ_ERR_IO, "is not a regular file, wanted a new or a regular one");
    file->name = qdq_alloc_array(allocator, name_bytes(path), 1, 1);
    if (!file->name) return qdq_fail_memory(err, name_bytes(path));
    qdq_status status = open_stream(file, path, err);
    if (status != QDQ_OK) qdq_free_array(allocator, file->name, name_bytes(path), 1);
    return status;
}

qdq_status qdq_new_file_close(qdq_new_file *file, const char *path, qdq_status written,
                              qdq_error *err) {
    qdq_status status = written;
    bool complete = fflush(file->stream) == 0 && fsync(fileno(file->stream)) == 0;
    if (status == QDQ_OK && !complete)
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (status == QDQ_OK && !qdq_file_draft_link(&file->draft, path))
        status = qdq_fail(err, QDQ_ERR_IO, "its folder takes no new file: %s", strerror(errno));
    if (fclose(file->stream) != 0 && status == QDQ_OK)
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (status == QDQ_OK && !qdq_file_draft_place(&file->draft, path))
        status = qdq_fail(err, QDQ_ERR_IO, "cannot be replaced: %s", strerror(errno));
    if (status != QDQ_OK) qdq_file_draft_drop(&file->draft);
    qdq_free_array(file->allocator, file->name, name_bytes(path), 1);
    return status;
}
