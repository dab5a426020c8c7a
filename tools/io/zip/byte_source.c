// SPDX-License-Identifier: Apache-2.0
// Reads bytes of files and of deflated members, and checks their CRC.
#include "tools/io/zip/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef QDQ_ZLIB
#include <zlib.h>
#endif

enum { PIECE = 1 << 14 };

qdq_status source_fail(qdq_error *err, qdq_status status, const char *format, ...) {
    if (!err || err->status != QDQ_OK) return status;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    err->status = status;
    return status;
}

FILE *open_regular_file(const char *path, uint64_t *bytes, qdq_error *err) {
    struct stat facts;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *file = NULL;
    if (descriptor < 0) {
        (void)source_fail(err, QDQ_ERR_IO, "cannot be opened: %s", strerror(errno));
        return NULL;
    }
    if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode))
        (void)source_fail(err, QDQ_ERR_IO, "is not a regular file");
    else if (!(file = fdopen(descriptor, "rb")))
        (void)source_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to read from");
    else
        *bytes = (uint64_t)facts.st_size;
    if (!file) close(descriptor);
    return file;
}

// Updates the CRC-32 of zip archives, four bits at a time.
static uint32_t crc_add(uint32_t crc, const unsigned char *bytes, size_t count) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC,
                                       0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
                                       0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    crc = ~crc;
    for (size_t i = 0; i < count; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static qdq_status read_file(byte_source *s, uint64_t from, void *out, size_t count,
                            qdq_error *err) {
    if (fseeko(s->file, (off_t)(s->start + from), SEEK_SET) == 0 &&
        fread(out, 1, count, s->file) == count)
        return QDQ_OK;
    if (ferror(s->file)) return source_fail(err, QDQ_ERR_IO, "cannot be read: %s", strerror(errno));
    return source_fail(err, QDQ_ERR_PARSE, "the file ends within its data");
}

//---- Deflated bytes ---------------------------------------------------------

#ifdef QDQ_ZLIB
struct inflater {
    z_stream z;
    uint64_t taken;  // stored bytes that are inflated
    unsigned char packed[PIECE];
};

static qdq_status restart(byte_source *s, qdq_error *err) {
    source_close(s);
    s->inflater = calloc(1, sizeof *s->inflater);
    if (s->inflater && inflateInit2(&s->inflater->z, -MAX_WBITS) == Z_OK) return QDQ_OK;
    free(s->inflater);
    s->inflater = NULL;
    return source_fail(err, QDQ_ERR_MEMORY, "out of memory: a stream to inflate");
}

static qdq_status feed(byte_source *s, qdq_error *err) {
    struct inflater *f = s->inflater;
    uint64_t left = s->stored - f->taken;
    size_t count = left < PIECE ? (size_t)left : PIECE;
    if (count == 0) return source_fail(err, QDQ_ERR_PARSE, "deflated data ends early");
    qdq_status status = read_file(s, f->taken, f->packed, count, err);
    f->taken += count;
    f->z.next_in = f->packed;
    f->z.avail_in = (uInt)count;
    return status;
}

// Inflates the next bytes, at most PIECE.
static qdq_status inflate_piece(byte_source *s, unsigned char *out, size_t count, qdq_error *err) {
    z_stream *z = &s->inflater->z;
    z->next_out = out;
    z->avail_out = (uInt)count;
    while (z->avail_out > 0) {
        int code = inflate(z, Z_NO_FLUSH);
        qdq_status status = QDQ_OK;
        if (code == Z_BUF_ERROR && z->avail_in == 0)
            status = feed(s, err);
        else if (code != Z_OK && !(code == Z_STREAM_END && z->avail_out == 0))
            status = source_fail(err, QDQ_ERR_PARSE, "deflated data is damaged");
        if (status != QDQ_OK) return status;
    }
    s->crc_so_far = crc_add(s->crc_so_far, out, count);
    s->at += count;
    return QDQ_OK;
}

static qdq_status read_deflated(byte_source *s, uint64_t from, unsigned char *out, size_t count,
                                qdq_error *err) {
    unsigned char skipped[PIECE];
    qdq_status status = !s->inflater || from < s->at ? restart(s, err) : QDQ_OK;
    if (!s->inflater) return status;
    while (status == QDQ_OK && s->at < from) {
        uint64_t left = from - s->at;
        status = inflate_piece(s, skipped, left < PIECE ? (size_t)left : PIECE, err);
    }
    while (status == QDQ_OK && count > 0) {
        size_t piece = count < PIECE ? count : PIECE;
        status = inflate_piece(s, out, piece, err);
        out += piece, count -= piece;
    }
    return status;
}
#else
struct inflater {
    int unused;
};

static qdq_status read_deflated(byte_source *s, uint64_t from, unsigned char *out, size_t count,
                                qdq_error *err) {
    (void)s, (void)from, (void)out, (void)count;
    return source_fail(err, QDQ_ERR_UNSUPPORTED,
                       "is compressed, and this build has no zlib; write it with numpy.savez");
}
#endif

//---- Entry ------------------------------------------------------------------

qdq_status source_read(byte_source *s, uint64_t from, void *out, size_t count, qdq_error *err) {
    qdq_status status;
    if (from > s->size || count > s->size - from)
        return source_fail(err, QDQ_ERR_PARSE, "the file ends within its data");
    if (s->deflated) {
        status = read_deflated(s, from, out, count, err);
    } else {
        status = read_file(s, from, out, count, err);
        if (from == 0) s->at = 0, s->crc_so_far = 0;
        if (status == QDQ_OK && from == s->at) {
            s->crc_so_far = s->has_crc ? crc_add(s->crc_so_far, out, count) : 0;
            s->at += count;
        }
    }
    if (status == QDQ_OK && s->has_crc && s->at == s->size && s->crc_so_far != s->crc)
        return source_fail(err, QDQ_ERR_PARSE, "is damaged: the CRC of its data is another one");
    return status;
}

void source_close(byte_source *s) {
#ifdef QDQ_ZLIB
    if (s->inflater) (void)inflateEnd(&s->inflater->z);
#endif
    free(s->inflater);
    s->inflater = NULL;
    s->at = 0;
    s->crc_so_far = 0;
}
