// SPDX-License-Identifier: Apache-2.0
#include "tools/io/memory_file.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/shape_text.h"
#include "tools/io/npy_header.h"
#include "tools/io/replace_file.h"

// Returns the width of an element as it is stored: block floats outside of tiles are float32.
static size_t bits_of(qdq_dtype dtype) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t stored = qdq_dtype_size(dtype) * 8;
    return info->kind == QDQ_KIND_BLOCK_FLOAT ? stored : (size_t)info->bits;
}

// Writes one line for each element. Elements are little-endian; a narrow one is the low bits of its
// byte.
static void put_lines(char *text, const qdq_tensor *tensor, size_t digits) {
    static const char hex[] = "0123456789abcdef";
    size_t size = qdq_dtype_size(tensor->dtype), count = qdq_shape_count(tensor->shape);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, (const char *)tensor->data + i * size, size);
        for (size_t k = digits; k-- > 0; bits >>= 4) text[k] = hex[bits & 15];
        text += digits;
        *text++ = '\n';
    }
}

qdq_status memory_file_write(const char *path, const qdq_tensor *tensor, qdq_error *err) {
    char head[2048], shape[256];
    qdq_error own = {0};
    size_t count = qdq_shape_count(tensor->shape), digits = (bits_of(tensor->dtype) + 3) / 4;
    char *text = count < SIZE_MAX / (digits + 1) ? malloc(count * (digits + 1)) : NULL;
    if (!text) return npy_fail(err, QDQ_ERR_MEMORY, "%s: no memory for %zu lines", path, count);
    int head_bytes =
        snprintf(head, sizeof head, "// %.1000s: %s %s, %zu bits, written by qdq\n", tensor->name,
                 qdq_dtype_name(tensor->dtype), qdq_write_shape(tensor->shape, shape, sizeof shape),
                 bits_of(tensor->dtype));
    put_lines(text, tensor, digits);
    qdq_status status =
        replace_file(path, head, (size_t)head_bytes, text, count * (digits + 1), &own);
    free(text);
    return status == QDQ_OK ? QDQ_OK : npy_fail(err, status, "%s: %s", path, own.text);
}
