// SPDX-License-Identifier: Apache-2.0
// Opens regular files for reading and detects later changes to them.
#include "graph/core/open_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "runtime/base/posix.h"

// With O_NONBLOCK, opening a pipe does not wait for a writer. Regular files ignore it.
enum {
    FILE_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
    FOLDER_FLAGS = O_RDONLY | O_CLOEXEC | O_DIRECTORY,
    MOST_PART_BYTES = 255,
    MOST_READ_BYTES = 1 << 30,  // Linux reads less than 2 GiB per call
};

static qdq_status take_regular(int descriptor, qdq_open_file *out, qdq_error *err) {
    struct stat facts;
    if (fstat(descriptor, &facts) != 0)
        return qdq_fail(err, QDQ_ERR_IO, "cannot be looked at: %s", strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return qdq_fail(err, QDQ_ERR_IO, "is %s, wanted a regular file",
                        S_ISDIR(facts.st_mode) ? "a folder" : "a device or pipe");
    *out = (qdq_open_file){descriptor, (uint64_t)facts.st_size, facts.st_mtim.tv_sec,
                           facts.st_mtim.tv_nsec};
    return QDQ_OK;
}

static qdq_status take_or_close(int descriptor, qdq_open_file *out, qdq_error *err) {
    qdq_status status = take_regular(descriptor, out, err);
    if (status != QDQ_OK) close(descriptor);
    return status;
}

qdq_status qdq_open_path(const char *path, qdq_open_file *out, qdq_error *err) {
    int descriptor = open(path, FILE_FLAGS);
    if (descriptor < 0) return qdq_fail(err, QDQ_ERR_IO, "cannot be opened: %s", strerror(errno));
    return take_or_close(descriptor, out, err);
}

static qdq_status check_part(const char *part, size_t length, qdq_error *err) {
    if (length == 0)
        return qdq_fail(err, QDQ_ERR_PARSE, "the path has an empty part, wanted names between '/'");
    if (length > MOST_PART_BYTES)
        return qdq_fail(err, QDQ_ERR_PARSE, "the path has a part of %zu bytes, wanted at most %d",
                        length, (int)MOST_PART_BYTES);
    if (part[0] == '.' && (length == 1 || (length == 2 && part[1] == '.')))
        return qdq_fail(err, QDQ_ERR_PARSE, "the path has a part '%.*s', wanted one without",
                        (int)length, part);
    return QDQ_OK;
}

// Checks every part of the path before anything is opened.
static qdq_status check_relative(const char *relative, qdq_error *err) {
    if (relative[0] == '\0')
        return qdq_fail(err, QDQ_ERR_PARSE, "the path is empty, wanted the name of a file");
    if (relative[0] == '/')
        return qdq_fail(err, QDQ_ERR_PARSE,
                        "the path is absolute, wanted one relative to the folder of the file that "
                        "names it");
    for (const char *part = relative;; part++) {
        size_t length = strcspn(part, "/");
        QDQ_TRY(check_part(part, length, err));
        part += length;
        if (*part == '\0') return QDQ_OK;
    }
}

static qdq_status fail_part(int folder, const char *part, int error, qdq_error *err) {
    struct stat facts;
    if (fstatat(folder, part, &facts, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(facts.st_mode))
        return qdq_fail(err, QDQ_ERR_IO,
                        "'%s' is a link, which may lead out of the folder; wanted a file or folder",
                        part);
    return qdq_fail(err, QDQ_ERR_IO, "'%s' cannot be opened: %s", part, strerror(error));
}

qdq_status qdq_open_beneath(const char *folder, const char *relative, qdq_open_file *out,
                            qdq_error *err) {
    QDQ_TRY(check_relative(relative, err));
    int at = open(folder[0] ? folder : ".", FOLDER_FLAGS);
    if (at < 0)
        return qdq_fail(err, QDQ_ERR_IO, "the folder cannot be opened: %s", strerror(errno));
    for (const char *next = relative;;) {
        char part[MOST_PART_BYTES + 1];
        size_t length = strcspn(next, "/");
        memcpy(part, next, length);
        part[length] = '\0';
        bool last = next[length] == '\0';
        int inner = openat(at, part, O_NOFOLLOW | (last ? FILE_FLAGS : FOLDER_FLAGS));
        qdq_status status = inner < 0 ? fail_part(at, part, errno, err) : QDQ_OK;
        close(at);
        if (inner < 0) return status;
        if (last) return take_or_close(inner, out, err);
        at = inner;
        next += length + 1;
    }
}

qdq_status qdq_open_file_read(int descriptor, void *data, size_t count, uint64_t offset,
                              qdq_error *err) {
    char *next = data;
    while (count > 0) {
        size_t wanted = count < MOST_READ_BYTES ? count : MOST_READ_BYTES;
        ssize_t got = pread(descriptor, next, wanted, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return qdq_fail(err, QDQ_ERR_IO, "cannot be read: %s", strerror(errno));
        if (got == 0)
            return qdq_fail(err, QDQ_ERR_IO, "ends %zu bytes too early: it was cut while open",
                            count);
        next += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return QDQ_OK;
}

qdq_status qdq_open_file_check(const qdq_open_file *file, qdq_error *err) {
    qdq_open_file now = {0};
    QDQ_TRY(take_regular(file->descriptor, &now, err));
    if (now.bytes == file->bytes && now.seconds == file->seconds &&
        now.nanoseconds == file->nanoseconds)
        return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_IO, "has changed since it was opened; load the graph again");
}

qdq_status qdq_check_file_bytes(uint64_t bytes, size_t most, qdq_error *err) {
    if (bytes <= most) return QDQ_OK;
    return qdq_fail(err, QDQ_ERR_LIMIT,
                    "the file has %llu bytes, wanted at most %zu; raise --max-file-bytes",
                    (unsigned long long)bytes, most);
}

char *qdq_read_file(const char *path, size_t most, const qdq_allocator *allocator, size_t *length,
                    qdq_error *err) {
    qdq_open_file file = {.descriptor = -1};
    if (qdq_open_path(path, &file, err) != QDQ_OK) return NULL;
    char *text = NULL;
    if (qdq_check_file_bytes(file.bytes, most, err) == QDQ_OK) {
        *length = (size_t)file.bytes;
        text = qdq_alloc_array(allocator, *length + 1, 1, 16);
        if (!text) qdq_fail_memory(err, *length + 1);
    }
    if (text && qdq_open_file_read(file.descriptor, text, *length, 0, err) != QDQ_OK) {
        qdq_free_array(allocator, text, *length + 1, 1);
        text = NULL;
    }
    close(file.descriptor);
    if (text) text[*length] = '\0';
    return text;
}
