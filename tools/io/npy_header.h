// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: a Python dict literal, read by a fixed grammar and never evaluated.
#ifndef QDQ_TOOLS_IO_NPY_HEADER_H
#define QDQ_TOOLS_IO_NPY_HEADER_H

#include <qdq/base.h>

// Sets `err` (may be NULL) to one sentence unless it is set, and returns `status`.
qdq_status npy_fail(qdq_error *err, qdq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Bytes of an array, unless they are more than a size_t holds.
qdq_status npy_bytes(qdq_dtype dtype, qdq_shape shape, size_t *out, qdq_error *err);

// The dict with 'descr', 'fortran_order' and 'shape', and nothing but white space behind it.
qdq_status npy_header_read(const char *text, size_t length, qdq_dtype *dtype, qdq_shape *shape,
                           qdq_error *err);

#endif
