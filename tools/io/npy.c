// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files.
#include "tools/io/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/posix.h"
#include "tools/elements.h"
#include "tools/io/npy_header.h"
#include "tools/io/replace_file.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               ".npy data is not converted: build for a little-endian machine");

enum {
    PREAMBLE_BYTES = 8,  // magic and version
    MOST_HEADER_BYTES = 64 * 1024,
    HEADER_ALIGN = 64,
};
static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static qdq_status fail_read(FILE *stream, const char *what, qdq_error *err) {
    if (ferror(stream)) return npy_fail(err, QDQ_ERR_IO, "cannot be read: %s", strerror(errno));
    return npy_fail(err, QDQ_ERR_PARSE, "the file ends within its %s", what);
}

//---- Reading ----

// Reads everything before the dict and returns its length.
static qdq_status read_preamble(FILE *stream, size_t *header_bytes, size_t *used, qdq_error *err) {
    unsigned char bytes[PREAMBLE_BYTES], length[4] = {0};
    if (fread(bytes, sizeof bytes, 1, stream) != 1) return fail_read(stream, "first 8 bytes", err);
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return npy_fail(err, QDQ_ERR_PARSE, "the file does not begin like an .npy file");
    unsigned major = bytes[6], minor = bytes[7];
    if (major < 1 || major > 3 || minor != 0)
        return npy_fail(err, QDQ_ERR_UNSUPPORTED, "the format is %u.%u, wanted 1.0, 2.0 or 3.0",
                        major, minor);
    size_t length_bytes = major == 1 ? 2 : 4;
    if (fread(length, length_bytes, 1, stream) != 1) return fail_read(stream, "header length", err);
    *header_bytes = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 |
                    (size_t)length[3] << 24;
    *used = PREAMBLE_BYTES + length_bytes;
    if (*header_bytes > MOST_HEADER_BYTES)
        return npy_fail(err, QDQ_ERR_PARSE, "the header has %zu bytes, wanted at most %d",
                        *header_bytes, (int)MOST_HEADER_BYTES);
    return QDQ_OK;
}

static qdq_status read_header(FILE *stream, size_t bytes, npy_tensor *out, qdq_error *err) {
    char *text = malloc(bytes + 1);
    if (!text) return npy_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", bytes + 1);
    qdq_status status;
    if (bytes > 0 && fread(text, bytes, 1, stream) != 1)
        status = fail_read(stream, "header", err);
    else
        status = npy_header_read(text, bytes, &out->dtype, &out->shape, err);
    free(text);
    return status;
}

static qdq_status read_parts(FILE *stream, uint64_t file_bytes, const qdq_shape *wanted,
                             const qdq_allocator *from, npy_tensor *out, qdq_error *err) {
    size_t header_bytes = 0, used = 0;
    qdq_status status = read_preamble(stream, &header_bytes, &used, err);
    if (status == QDQ_OK) status = read_header(stream, header_bytes, out, err);
    if (status == QDQ_OK) status = npy_bytes(out->dtype, out->shape, &out->bytes, err);
    if (status != QDQ_OK) return status;
    uint64_t data_bytes = file_bytes - used - header_bytes;
    if (data_bytes != out->bytes)
        return npy_fail(err, QDQ_ERR_PARSE,
                        "the file has %" PRIu64 " bytes of data, but its shape and type take %zu",
                        data_bytes, out->bytes);
    if (wanted && !qdq_shape_equal(*wanted, out->shape)) return QDQ_OK;
    out->data = elements_take(from, out->bytes);
    if (!out->data) return npy_fail(err, QDQ_ERR_MEMORY, "no memory for %zu bytes", out->bytes);
    if (fread(out->data, out->bytes, 1, stream) != 1) return fail_read(stream, "data", err);
    return QDQ_OK;
}

// Opens a regular file. With O_NONBLOCK, opening a pipe does not wait for a writer; regular files
// ignore it.
static qdq_status open_regular(const char *path, FILE **out, uint64_t *bytes, qdq_error *err) {
    struct stat facts;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return npy_fail(err, QDQ_ERR_IO, "cannot be opened: %s", strerror(errno));
    qdq_status status = QDQ_OK;
    *out = NULL;
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        status = npy_fail(err, QDQ_ERR_IO, "is not a regular file");
    else if (!(*out = fdopen(descriptor, "rb")))
        status = npy_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to read from");
    else
        *bytes = (uint64_t)facts.st_size;
    if (!*out) close(descriptor);
    return status;
}

qdq_status npy_read_as(const char *path, const qdq_shape *wanted, const qdq_allocator *from,
                       npy_tensor *out, qdq_error *err) {
    FILE *stream = NULL;
    uint64_t bytes = 0;
    qdq_error own = {0};
    *out = (npy_tensor){0};
    qdq_status status = open_regular(path, &stream, &bytes, &own);
    if (status == QDQ_OK) {
        status = read_parts(stream, bytes, wanted, from, out, &own);
        (void)fclose(stream);
    }
    if (status == QDQ_OK) return QDQ_OK;
    npy_release(out);
    return npy_fail(err, status, "%s: %s", path, own.text);
}

qdq_status npy_read(const char *path, npy_tensor *out, qdq_error *err) {
    return npy_read_as(path, NULL, NULL, out, err);
}

void npy_release(npy_tensor *tensor) {
    elements_free(tensor->data);
    *tensor = (npy_tensor){0};
}

//---- Writing ----

// Writes magic, version, length and dict to `out`, padded as numpy does. Returns their length.
static size_t make_header(char out[4 * HEADER_ALIGN], const char *descr, qdq_shape shape) {
    char *dict = out + PREAMBLE_BYTES + 2;
    size_t capacity = 3 * HEADER_ALIGN + HEADER_ALIGN / 2;
    size_t used = (size_t)snprintf(dict, capacity,
                                   "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int i = 0; i < shape.rank; i++)
        used += (size_t)snprintf(dict + used, capacity - used, "%s%" PRId64, i ? ", " : "",
                                 shape.dims[i]);
    used += (size_t)snprintf(dict + used, capacity - used, "%s), }", shape.rank == 1 ? "," : "");
    size_t bytes = PREAMBLE_BYTES + 2 + used + 1;
    size_t padding = (HEADER_ALIGN - bytes % HEADER_ALIGN) % HEADER_ALIGN;
    memset(dict + used, ' ', padding);
    dict[used + padding] = '\n';
    size_t length = used + padding + 1;
    memcpy(out, magic, sizeof magic);
    memcpy(out + sizeof magic, (const char[]){1, 0, (char)(length & 0xFF), (char)(length >> 8)}, 4);
    return bytes + padding;
}

static qdq_status check_array(qdq_dtype dtype, qdq_shape shape, const void *data, size_t *bytes,
                              qdq_error *err) {
    const qdq_dtype_info *row = qdq_dtype_get(dtype);
    if (!row)
        return npy_fail(err, QDQ_ERR_ARGUMENT, "dtype is %d, wanted a known dtype", (int)dtype);
    if (row->npy[0] == '\0')
        return npy_fail(err, QDQ_ERR_ARGUMENT,
                        "dtype is %s, which .npy does not have; widen it to float32", row->name);
    if (shape.rank < 0 || shape.rank > QDQ_MAX_RANK)
        return npy_fail(err, QDQ_ERR_ARGUMENT, "rank is %d, wanted 0 to %d", shape.rank,
                        QDQ_MAX_RANK);
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i] < 1)
            return npy_fail(err, QDQ_ERR_ARGUMENT,
                            "dim %d of shape is %" PRId64 ", wanted at least 1", i, shape.dims[i]);
    if (!data) return npy_fail(err, QDQ_ERR_ARGUMENT, "the data is NULL");
    return npy_bytes(dtype, shape, bytes, err);
}

static qdq_status write_file(const char *path, qdq_dtype dtype, qdq_shape shape, const void *data,
                             qdq_error *err) {
    size_t bytes = 0;
    qdq_status status = check_array(dtype, shape, data, &bytes, err);
    if (status != QDQ_OK) return status;
    char header[4 * HEADER_ALIGN];
    size_t header_bytes = make_header(header, qdq_dtype_get(dtype)->npy, shape);
    return replace_file(path, header, header_bytes, data, bytes, err);
}

qdq_status npy_write(const char *path, qdq_dtype dtype, qdq_shape shape, const void *data,
                     qdq_error *err) {
    qdq_error own = {0};
    qdq_status status = write_file(path, dtype, shape, data, &own);
    return status == QDQ_OK ? QDQ_OK : npy_fail(err, status, "%s: %s", path, own.text);
}
