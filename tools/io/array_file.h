// SPDX-License-Identifier: Apache-2.0
// Reads files of arrays, whole or in part: .npy (a single array without a name), .npz or
// .safetensors.
#ifndef QDQ_TOOLS_IO_ARRAY_FILE_H
#define QDQ_TOOLS_IO_ARRAY_FILE_H

#include <qdq/tensor_file.h>

#include "runtime/base/budget.h"
#include "tools/io/zip/zip_file.h"

typedef struct file_array {
    char *name;
    qdq_dtype dtype;
    qdq_shape shape;
    byte_source source;
    uint64_t data_at;             // offset of the elements in `source`
    const qdq_tensor_info *info;  // tensor of a .safetensors file
    void *loaded;                 // all elements of the tensor after the first read; else NULL
    qdq_error problem;            // reason for which the array cannot be read
} file_array;

typedef struct array_file {
    qdq_budget *memory;  // of elements
    FILE *file;
    qdq_tensor_file *tensors;
    file_array *arrays;  // in the order of their names
    size_t count;
    bool nameless;
} array_file;

// True if array_file_open knows the ending of the path.
bool is_array_file_name(const char *path);

// Opens a file by its ending and lists its arrays. The deflated members of an archive may inflate
// to the bytes that `memory` has left, though only parts of them are held. Errors do not begin with
// the path. Close it in either case.
qdq_status array_file_open(array_file *file, const char *path, qdq_budget *memory, qdq_error *err);
// Does the same for a file whose kind its first bytes tell, whatever its name.
qdq_status array_file_open_kind(array_file *file, const char *path, qdq_budget *memory,
                                qdq_error *err);
void array_file_close(array_file *file);

// Finds the array named `name`, or the only array of an .npy file. NULL with `err` set if the file
// has no such array or it cannot be read.
file_array *array_file_find(const array_file *file, const char *name, qdq_error *err);

// Reads `count` elements, beginning with element `from`.
qdq_status file_array_read(const array_file *file, file_array *array, uint64_t from, void *out,
                           size_t count, qdq_error *err);

#endif
