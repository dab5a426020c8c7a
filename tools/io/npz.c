// SPDX-License-Identifier: Apache-2.0
// The directory at the end of the archive says where each file begins and how long it is; headers
// of the files are only skipped. Archives of more than 4 GiB have another directory and are
// refused.
#include "tools/io/npz.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/npy_header.h"

#ifdef QDQ_ZLIB
#include <zlib.h>
#endif

enum {
    END_BYTES = 22,     // the record that ends the archive
    ENTRY_BYTES = 46,   // of the directory, without the name
    HEADER_BYTES = 30,  // before a file, without the name
    MOST_COMMENT = 65535,
    MOST_NAME = 1023,
    STORED = 0,
    DEFLATED = 8,
    MOST_RATIO = 1100,  // deflate cannot shrink data more
};

typedef struct member {
    char *name;  // owned
    unsigned method;
    uint32_t packed, bytes, offset;
} member;

struct npz_file {
    FILE *stream;
    char *path;
    uint64_t bytes;
    member *members;
    size_t count;
};

static uint32_t u16(const unsigned char *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t u32(const unsigned char *p) { return u16(p) | u16(p + 2) << 16; }

static qdq_status broken(const npz_file *f, qdq_error *err) {
    return npy_fail(err, QDQ_ERR_PARSE, "%s: is no whole .npz file; save it again with numpy.savez",
                    f->path);
}

static bool read_at(const npz_file *f, uint64_t at, void *out, size_t bytes) {
    return at <= f->bytes && bytes <= f->bytes - at && fseek(f->stream, (long)at, SEEK_SET) == 0 &&
           (bytes == 0 || fread(out, bytes, 1, f->stream) == 1);
}

//---- The directory ----------------------------------------------------------

// Finds the end record, which a comment may follow, and copies it.
static bool find_end(const npz_file *f, unsigned char end[END_BYTES]) {
    size_t most = f->bytes < END_BYTES + MOST_COMMENT ? (size_t)f->bytes : END_BYTES + MOST_COMMENT;
    unsigned char *tail = malloc(most + 1);
    bool found = tail && most >= END_BYTES && read_at(f, f->bytes - most, tail, most);
    size_t at = found ? most - END_BYTES + 1 : 0;
    while (at > 0 && memcmp(tail + at - 1, "PK\5\6", 4) != 0) at--;
    if (at > 0) memcpy(end, tail + at - 1, END_BYTES);
    free(tail);
    return at > 0;
}

// Adds an entry and moves `at` to the next one.
static bool add_entry(npz_file *f, uint64_t *at) {
    unsigned char entry[ENTRY_BYTES];
    char name[MOST_NAME + 1];
    if (!read_at(f, *at, entry, sizeof entry) || memcmp(entry, "PK\1\2", 4) != 0) return false;
    size_t length = u16(entry + 28);
    if (length > MOST_NAME || !read_at(f, *at + ENTRY_BYTES, name, length)) return false;
    name[length] = '\0';
    *at += ENTRY_BYTES + length + u16(entry + 30) + u16(entry + 32);
    if (length < 4 || strcmp(name + length - 4, ".npy") != 0) return true;
    name[length - 4] = '\0';
    member m = {.name = malloc(length),
                .method = u16(entry + 10),
                .packed = u32(entry + 20),
                .bytes = u32(entry + 24),
                .offset = u32(entry + 42)};
    if (!m.name) return false;
    memcpy(m.name, name, length - 3);
    f->members[f->count++] = m;
    return true;
}

static qdq_status read_directory(npz_file *f, qdq_error *err) {
    unsigned char end[END_BYTES];
    if (!find_end(f, end)) return broken(f, err);
    size_t count = u16(end + 10);
    uint64_t at = u32(end + 16);
    if (at == UINT32_MAX || count == 0xFFFF)
        return npy_fail(err, QDQ_ERR_UNSUPPORTED,
                        "%s: the archive is larger than 4 GiB; save its arrays one by one",
                        f->path);
    f->members = calloc(count + 1, sizeof *f->members);
    if (!f->members) return npy_fail(err, QDQ_ERR_MEMORY, "%s: out of memory", f->path);
    for (size_t i = 0; i < count; i++)
        if (!add_entry(f, &at)) return broken(f, err);
    return QDQ_OK;
}

npz_file *npz_open(const char *path, qdq_error *err) {
    npz_file *f = calloc(1, sizeof *f);
    if (f) f->path = malloc(strlen(path) + 1);
    if (!f || !f->path) {
        (void)npy_fail(err, QDQ_ERR_MEMORY, "%s: out of memory", path);
        free(f);
        return NULL;
    }
    memcpy(f->path, path, strlen(path) + 1);
    f->stream = fopen(path, "rb");
    long bytes = -1;
    if (f->stream && fseek(f->stream, 0, SEEK_END) == 0) bytes = ftell(f->stream);
    f->bytes = bytes > 0 ? (uint64_t)bytes : 0;
    qdq_status status =
        bytes >= 0 ? read_directory(f, err)
                   : npy_fail(err, QDQ_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (status == QDQ_OK) return f;
    npz_close(f);
    return NULL;
}

void npz_close(npz_file *file) {
    if (!file) return;
    for (size_t i = 0; i < file->count; i++) free(file->members[i].name);
    free(file->members);
    free(file->path);
    if (file->stream) (void)fclose(file->stream);
    free(file);
}

size_t npz_count(const npz_file *file) { return file->count; }
const char *npz_name(const npz_file *file, size_t index) { return file->members[index].name; }

size_t npz_find(const npz_file *file, const char *name) {
    size_t i = 0;
    while (i < file->count && strcmp(file->members[i].name, name) != 0) i++;
    return i;
}

//---- Reading ----------------------------------------------------------------

#ifdef QDQ_ZLIB
static bool inflate_all(unsigned char *packed, size_t count, unsigned char *out, size_t bytes) {
    z_stream z = {.next_in = packed, .avail_in = (uInt)count};
    if (inflateInit2(&z, -MAX_WBITS) != Z_OK) return false;
    z.next_out = out;
    z.avail_out = (uInt)bytes;
    int code = inflate(&z, Z_FINISH);
    bool whole = code == Z_STREAM_END && z.avail_out == 0;
    (void)inflateEnd(&z);
    return whole;
}
#endif

static qdq_status unpack(const npz_file *f, const member *m, unsigned char *packed,
                         unsigned char **out, qdq_error *err) {
#ifdef QDQ_ZLIB
    if (m->bytes / MOST_RATIO > m->packed) return broken(f, err);
    *out = malloc((size_t)m->bytes + 1);
    if (!*out) return npy_fail(err, QDQ_ERR_MEMORY, "%s: no memory for '%s'", f->path, m->name);
    return inflate_all(packed, m->packed, *out, m->bytes) ? QDQ_OK : broken(f, err);
#else
    (void)packed, (void)out;
    return npy_fail(err, QDQ_ERR_UNSUPPORTED,
                    "%s: '%s' is compressed, and this build has no zlib; save it with numpy.savez",
                    f->path, m->name);
#endif
}

static qdq_status parse(const npz_file *f, const member *m, unsigned char *data, npy_tensor *out,
                        qdq_error *err) {
    qdq_error own = {0};
    FILE *stream = m->bytes ? fmemopen(data, m->bytes, "rb") : NULL;
    if (!stream) return broken(f, err);
    qdq_status status = npy_read_stream(stream, m->bytes, out, &own);
    (void)fclose(stream);
    if (status == QDQ_OK) return QDQ_OK;
    return npy_fail(err, status, "%s: '%s': %s", f->path, m->name, own.text);
}

qdq_status npz_read(npz_file *file, size_t index, npy_tensor *out, qdq_error *err) {
    const member *m = &file->members[index];
    unsigned char header[HEADER_BYTES], *packed = NULL, *data = NULL;
    *out = (npy_tensor){0};
    if (!read_at(file, m->offset, header, sizeof header) || memcmp(header, "PK\3\4", 4) != 0 ||
        m->packed > file->bytes || (m->method == STORED && m->packed != m->bytes))
        return broken(file, err);
    uint64_t at = (uint64_t)m->offset + HEADER_BYTES + u16(header + 26) + u16(header + 28);
    packed = malloc((size_t)m->packed + 1);
    if (!packed)
        return npy_fail(err, QDQ_ERR_MEMORY, "%s: no memory for '%s'", file->path, m->name);
    qdq_status status = read_at(file, at, packed, m->packed) ? QDQ_OK : broken(file, err);
    if (status == QDQ_OK && m->method == DEFLATED) status = unpack(file, m, packed, &data, err);
    if (status == QDQ_OK && m->method != STORED && m->method != DEFLATED)
        status =
            npy_fail(err, QDQ_ERR_UNSUPPORTED, "%s: '%s' is compressed by method %u, wanted 0 or 8",
                     file->path, m->name, m->method);
    if (status == QDQ_OK) status = parse(file, m, data ? data : packed, out, err);
    free(packed);
    free(data);
    return status;
}
