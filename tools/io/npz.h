// SPDX-License-Identifier: Apache-2.0
// Reads .npz files: zip archives of .npy files, stored or, in builds with zlib, deflated.
#ifndef QDQ_TOOLS_IO_NPZ_H
#define QDQ_TOOLS_IO_NPZ_H

#include "tools/io/npy.h"

typedef struct npz_file npz_file;

// Opens a file and reads the names of its arrays. NULL with `err` set, which begins with the path.
npz_file *npz_open(const char *path, qdq_error *err);
void npz_close(npz_file *file);

size_t npz_count(const npz_file *file);
// Returns the name of an array, without ".npy". Arrays are in the order of their names.
const char *npz_name(const npz_file *file, size_t index);
// Returns the index of the array of this name; npz_count(file) if the file has none.
size_t npz_find(const npz_file *file, const char *name);
// Reads an array into memory of `from`; npy_release frees it. If `wanted` is given and the header
// has another shape, `out` gets the shape of the header and no data, and nothing is inflated.
qdq_status npz_read(npz_file *file, size_t index, const qdq_shape *wanted,
                    const qdq_allocator *from, npy_tensor *out, qdq_error *err);

#endif
