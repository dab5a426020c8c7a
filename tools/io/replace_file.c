// SPDX-License-Identifier: Apache-2.0
#include "tools/io/replace_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/file_draft.h"
#include "runtime/base/posix.h"
#include "tools/io/npy_header.h"

static qdq_status open_draft(const char *path, qdq_file_draft *draft, char *name, FILE **out,
                             qdq_error *err) {
    if (!qdq_file_draft_open(draft, path, name))
        return npy_fail(err, QDQ_ERR_IO, "its folder takes no new file: %s", strerror(errno));
    *out = fdopen(draft->descriptor, "wb");
    if (*out) return QDQ_OK;
    close(draft->descriptor);
    qdq_file_draft_drop(draft);
    return npy_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to write to");
}

static qdq_status write_draft(const char *path, char *name, const char *header, size_t header_bytes,
                              const void *data, size_t bytes, qdq_error *err) {
    FILE *stream = NULL;
    qdq_file_draft draft;
    qdq_status status = open_draft(path, &draft, name, &stream, err);
    if (status != QDQ_OK) return status;
    bool done = fwrite(header, header_bytes, 1, stream) == 1 &&
                fwrite(data, bytes, 1, stream) == 1 && fflush(stream) == 0 &&
                fsync(fileno(stream)) == 0;
    if (!done) status = npy_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (done && !qdq_file_draft_link(&draft, path))
        status = npy_fail(err, QDQ_ERR_IO, "its folder takes no new file: %s", strerror(errno));
    if (fclose(stream) != 0 && status == QDQ_OK)
        status = npy_fail(err, QDQ_ERR_IO, "cannot be written: %s", strerror(errno));
    if (status == QDQ_OK && !qdq_file_draft_place(&draft, path))
        status = npy_fail(err, QDQ_ERR_IO, "cannot be replaced: %s", strerror(errno));
    if (status != QDQ_OK) qdq_file_draft_drop(&draft);
    return status;
}

// Refuses a link, a device or a pipe, which renaming would replace by a regular file.
static qdq_status check_target(const char *path, qdq_error *err) {
    struct stat facts;
    if (lstat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return npy_fail(err, QDQ_ERR_IO, "is not a regular file, wanted a new or a regular one");
    return QDQ_OK;
}

qdq_status replace_file(const char *path, const void *head, size_t head_bytes, const void *data,
                        size_t bytes, qdq_error *err) {
    qdq_status status = check_target(path, err);
    if (status != QDQ_OK) return status;
    size_t capacity = strlen(path) + QDQ_FILE_DRAFT_NAME;
    char *name = malloc(capacity);
    if (!name) return npy_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", capacity);
    status = write_draft(path, name, head, head_bytes, data, bytes, err);
    free(name);
    return status;
}
