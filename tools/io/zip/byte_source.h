// SPDX-License-Identifier: Apache-2.0
// Reads the bytes of a file, or of a stored or deflated member of a zip archive.
#ifndef QDQ_TOOLS_IO_ZIP_BYTE_SOURCE_H
#define QDQ_TOOLS_IO_ZIP_BYTE_SOURCE_H

#include <qdq/base.h>
#include <stdio.h>

struct inflater;

// A range of a file, stored or deflated. A source may be copied before its first source_read, which
// may allocate memory; source_close frees it.
typedef struct byte_source {
    FILE *file;
    uint64_t start;   // in the file
    uint64_t stored;  // bytes in the file
    uint64_t size;    // bytes that can be read
    bool deflated;
    bool has_crc;
    uint32_t crc;
    // The bytes 0 .. `at` have been read in sequence, with this CRC.
    uint64_t at;
    uint32_t crc_so_far;
    struct inflater *inflater;
} byte_source;

// Sets `err` to one sentence. Returns `status`.
qdq_status source_fail(qdq_error *err, qdq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Opens a regular file; never blocks on a pipe. NULL with `err` set.
FILE *open_regular_file(const char *path, uint64_t *bytes, qdq_error *err);

// Reads bytes from .. from + count. Read forward: if `from` lies before the end of the last read, a
// deflated source is inflated from its start again. The CRC is checked once all bytes have been
// read in sequence.
qdq_status source_read(byte_source *s, uint64_t from, void *out, size_t count, qdq_error *err);
void source_close(byte_source *s);

#endif
