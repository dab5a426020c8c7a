// SPDX-License-Identifier: Apache-2.0
#include "tools/io/zip/deflate.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef QDQ_ZLIB
#define ZLIB_CONST
#include <zlib.h>

unsigned char *deflate_bytes(const void *bytes, size_t count, size_t *out_count) {
    uLongf room = compressBound((uLong)count);
    unsigned char *out = malloc(room);
    if (out && compress2(out, &room, bytes, (uLong)count, Z_BEST_COMPRESSION) == Z_OK) {
        *out_count = room;
        return out;
    }
    free(out);
    return NULL;
}

// True if all bytes are one stream that ends within `size` bytes, which becomes its length. This is
// uncompress2, which zlib 1.2.8 lacks and auditwheel refuses in a wheel for manylinux_2_28.
static bool inflate_all(const unsigned char *bytes, size_t count, unsigned char *out,
                        size_t *size) {
    z_stream z = {0};
    if (count > UINT_MAX || *size > UINT_MAX || inflateInit(&z) != Z_OK) return false;
    z.next_in = bytes;
    z.avail_in = (uInt)count;
    z.next_out = out;
    z.avail_out = (uInt)*size;
    bool ended = inflate(&z, Z_FINISH) == Z_STREAM_END && z.avail_in == 0;
    *size = z.total_out;
    inflateEnd(&z);
    return ended;
}

char *inflate_text(const unsigned char *bytes, size_t count, size_t most) {
    char *out = malloc(most + 1);
    size_t size = most;
    if (out && inflate_all(bytes, count, (unsigned char *)out, &size) && !memchr(out, '\0', size)) {
        out[size] = '\0';
        return out;
    }
    free(out);
    return NULL;
}
#endif
