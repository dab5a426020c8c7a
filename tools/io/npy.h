// SPDX-License-Identifier: Apache-2.0
// Reading and writing .npy files, one array each.
#ifndef QDQ_TOOLS_IO_NPY_H
#define QDQ_TOOLS_IO_NPY_H

#include <qdq/base.h>

// An array in memory from malloc. All zero is empty; npy_release gives the memory back.
typedef struct npy_tensor {
    qdq_dtype dtype;
    qdq_shape shape;
    size_t bytes;
    void *data;  // row-major
} npy_tensor;

// Reads a file of format 1, 2 or 3. Accepted: the element types that have an .npy name in
// QDQ_DTYPES, row-major, dims of at least 1, no bytes left over. On failure `out` is all zero.
// Errors begin with the path.
qdq_status npy_read(const char *path, npy_tensor *out, qdq_error *err);
void npy_release(npy_tensor *tensor);

// Writes a file of format 1. It goes to a new file in the same folder that then takes the place of
// `path`, which therefore is either as it was or complete.
qdq_status npy_write(const char *path, qdq_dtype dtype, qdq_shape shape, const void *data,
                     qdq_error *err);

#endif
