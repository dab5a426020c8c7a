// SPDX-License-Identifier: Apache-2.0
// The header of an .npy file: a Python dict literal, parsed by a fixed grammar and never evaluated.
#ifndef QDQ_TOOLS_IO_NPY_HEADER_H
#define QDQ_TOOLS_IO_NPY_HEADER_H

#include <qdq/base.h>

// Sets `err` (may be NULL) to one sentence unless it is already set. Returns `status`.
qdq_status npy_fail(qdq_error *err, qdq_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Computes the bytes of an array. Fails if they exceed size_t.
qdq_status npy_bytes(qdq_dtype dtype, qdq_shape shape, size_t *out, qdq_error *err);

// Reads the dict with 'descr', 'fortran_order' and 'shape'; only white space may follow.
qdq_status npy_header_read(const char *text, size_t length, qdq_dtype *dtype, qdq_shape *shape,
                           qdq_error *err);

#endif
