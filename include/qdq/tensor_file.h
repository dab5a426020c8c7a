// SPDX-License-Identifier: Apache-2.0
// Reading and writing .safetensors files.
#ifndef QDQ_TENSOR_FILE_H
#define QDQ_TENSOR_FILE_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Reading ----------------------------------------------------------------

// An open file and the list of its tensors. Data stays on disk until it is read, so the file must
// not change while it is open. Immutable: any number of threads may use it at the same time.
typedef struct qdq_tensor_file qdq_tensor_file;

// Returns NULL on failure. Checks the whole header: every byte of data must belong to one tensor.
QDQ_API qdq_tensor_file *qdq_tensor_file_open(const char *path, const qdq_allocator *allocator,
                                              qdq_error *err);
// Closes a file. NULL is allowed.
QDQ_API void qdq_tensor_file_close(qdq_tensor_file *file);

// Returns the number of tensors; 0 for a NULL file.
QDQ_API size_t qdq_tensor_file_count(const qdq_tensor_file *file);
// Returns tensor `index` in the order of the header; NULL after the last and for a NULL file. It
// lives as long as the file. A tensor with an element type that this library lacks has
// QDQ_DTYPE_NONE: it is listed with its size in bytes but cannot be read.
QDQ_API const qdq_tensor_info *qdq_tensor_file_at(const qdq_tensor_file *file, size_t index);
// Returns the tensor called `name`; NULL if the file has none.
QDQ_API const qdq_tensor_info *qdq_tensor_file_find(const qdq_tensor_file *file, const char *name);
// Returns the name of the element type in the file ("F64"). NULL if `info` is not from this file.
QDQ_API const char *qdq_tensor_file_dtype(const qdq_tensor_file *file, const qdq_tensor_info *info);

// Reads info->bytes bytes, row-major, into `data`. Refuses NULL `data`, and an `info` that is NULL
// or not from this file.
QDQ_API qdq_status qdq_tensor_file_read(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                        void *data, qdq_error *err);

//---- Writing ----------------------------------------------------------------

// A tensor to write; the call borrows all its pointers and keeps none.
typedef struct qdq_tensor {
    const char *name;  // UTF-8, not empty, different from all others
    qdq_dtype dtype;
    qdq_shape shape;
    const void *data;  // row-major; types narrower than a byte take one byte per element
} qdq_tensor;

// Writes the tensors in the order given, to a new file in the same folder that then takes the place
// of `path`, which is therefore either unchanged or complete. `tensors` may be NULL if `count` is
// 0.
QDQ_API qdq_status qdq_tensor_file_write(const char *path, const qdq_tensor *tensors, size_t count,
                                         const qdq_allocator *allocator, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
