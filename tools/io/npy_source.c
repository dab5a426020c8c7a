// SPDX-License-Identifier: Apache-2.0
// Reads the header of an .npy array from a source of bytes.
#include "tools/io/npy_source.h"

#include <stdlib.h>
#include <string.h>

#include "tools/io/npy_header.h"

enum { PREAMBLE_BYTES = 8, MOST_HEADER_BYTES = 64 * 1024 };

static qdq_status read_dict(byte_source *source, uint64_t at, size_t bytes, qdq_dtype *dtype,
                            qdq_shape *shape, qdq_error *err) {
    if (bytes > MOST_HEADER_BYTES)
        return source_fail(err, QDQ_ERR_PARSE, "the header has %zu bytes, wanted at most %d", bytes,
                           (int)MOST_HEADER_BYTES);
    char *text = malloc(bytes + 1);
    if (!text) return source_fail(err, QDQ_ERR_MEMORY, "out of memory: %zu bytes", bytes);
    qdq_status status = source_read(source, at, text, bytes, err);
    if (status == QDQ_OK) status = npy_header_read(text, bytes, dtype, shape, err);
    free(text);
    return status;
}

qdq_status npy_source_header(byte_source *source, qdq_dtype *dtype, qdq_shape *shape, size_t *bytes,
                             uint64_t *at, qdq_error *err) {
    unsigned char start[PREAMBLE_BYTES], length[4] = {0};
    size_t dict = 0;
    qdq_status status = source_read(source, 0, start, sizeof start, err);
    if (status != QDQ_OK) return status;
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return source_fail(err, QDQ_ERR_PARSE, "does not begin like an .npy file");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return source_fail(err, QDQ_ERR_UNSUPPORTED, "the format is %d.%d, wanted 1.0, 2.0 or 3.0",
                           start[6], start[7]);
    size_t length_bytes = start[6] == 1 ? 2 : 4;
    status = source_read(source, sizeof start, length, length_bytes, err);
    if (status != QDQ_OK) return status;
    for (size_t i = 4; i-- > 0;) dict = dict << 8 | length[i];
    status = read_dict(source, sizeof start + length_bytes, dict, dtype, shape, err);
    *at = sizeof start + length_bytes + dict;
    if (status == QDQ_OK) status = npy_bytes(*dtype, *shape, bytes, err);
    if (status == QDQ_OK && source->size - *at != *bytes)
        return source_fail(err, QDQ_ERR_PARSE,
                           "has %llu bytes of data, but its shape and type take %zu",
                           (unsigned long long)(source->size - *at), *bytes);
    return status;
}
