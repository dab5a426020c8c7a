// SPDX-License-Identifier: Apache-2.0
#include "tools/io/zip/deflate.h"

#include <stdlib.h>
#include <string.h>

#ifdef QDQ_ZLIB
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

char *inflate_text(const unsigned char *bytes, size_t count, size_t most) {
    uLongf size = (uLongf)most;
    uLong taken = (uLong)count;
    char *out = malloc(most + 1);
    if (out && uncompress2((unsigned char *)out, &size, bytes, &taken) == Z_OK && taken == count &&
        !memchr(out, '\0', size)) {
        out[size] = '\0';
        return out;
    }
    free(out);
    return NULL;
}
#endif
