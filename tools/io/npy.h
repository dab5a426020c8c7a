// SPDX-License-Identifier: Apache-2.0
// Reads and writes .npy files. Each holds one array.
#ifndef QDQ_TOOLS_IO_NPY_H
#define QDQ_TOOLS_IO_NPY_H

#include <qdq/base.h>
#include <stdio.h>

// An array in memory of tools/elements.h; npy_release frees it. All zero is empty.
typedef struct npy_tensor {
    qdq_dtype dtype;
    qdq_shape shape;
    size_t bytes;
    void *data;  // row-major
} npy_tensor;

// Reads a file of format 1, 2 or 3. Accepted: element types that have an .npy name in QDQ_DTYPES,
// row-major, dims of at least 1, no extra bytes. On failure `out` is all zero. Errors begin with
// the path.
qdq_status npy_read(const char *path, npy_tensor *out, qdq_error *err);
// Does the same with memory of `from`, but if `wanted` is given and the header has another shape,
// `out` gets the shape of the header and no data.
qdq_status npy_read_as(const char *path, const qdq_shape *wanted, const qdq_allocator *from,
                       npy_tensor *out, qdq_error *err);
void npy_release(npy_tensor *tensor);

// Writes a file of format 1 under a temporary name and renames it to `path`, so that `path` is the
// old file or the complete new file.
qdq_status npy_write(const char *path, qdq_dtype dtype, qdq_shape shape, const void *data,
                     qdq_error *err);

#endif
