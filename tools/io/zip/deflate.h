// SPDX-License-Identifier: Apache-2.0
// Deflates and inflates bytes in memory, in zlib's format. Only in builds with zlib.
#ifndef QDQ_TOOLS_IO_ZIP_DEFLATE_H
#define QDQ_TOOLS_IO_ZIP_DEFLATE_H

#include <stddef.h>

// Return memory from malloc; NULL if it runs out. inflate_text ends the text with a zero, and also
// returns NULL if the bytes are damaged, hold a zero, or hold more than `most` bytes.
unsigned char *deflate_bytes(const void *bytes, size_t count, size_t *out_count);
char *inflate_text(const unsigned char *bytes, size_t count, size_t most);

#endif
