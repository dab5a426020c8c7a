// SPDX-License-Identifier: Apache-2.0
// Reads the header of an .npy array in a file, or in a member of an archive.
#ifndef QDQ_TOOLS_IO_NPY_SOURCE_H
#define QDQ_TOOLS_IO_NPY_SOURCE_H

#include "tools/io/zip/byte_source.h"

// Reads a header of format 1, 2 or 3, and inflates nothing behind it. Sets *bytes to the bytes of
// all elements and *at to their offset. Fails if the source has another size.
qdq_status npy_source_header(byte_source *source, qdq_dtype *dtype, qdq_shape *shape, size_t *bytes,
                             uint64_t *at, qdq_error *err);

#endif
