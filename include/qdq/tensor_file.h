// SPDX-License-Identifier: Apache-2.0
// Reading and writing .safetensors files.
#ifndef QDQ_TENSOR_FILE_H
#define QDQ_TENSOR_FILE_H

#include <qdq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

//---- Reading ----------------------------------------------------------------

// An open file and the list of what is in it; the data stays on disk until it is read. The file
// must not change meanwhile. Immutable: any number of threads may use it at once.
typedef struct qdq_tensor_file qdq_tensor_file;

// NULL on failure. The whole header is checked: every byte of data must belong to one tensor.
QDQ_API qdq_tensor_file *qdq_tensor_file_open(const char *path, const qdq_allocator *allocator,
                                              qdq_error *err);
// NULL is fine.
QDQ_API void qdq_tensor_file_close(qdq_tensor_file *file);

// 0 for a NULL file.
QDQ_API size_t qdq_tensor_file_count(const qdq_tensor_file *file);
// Tensor `index` in the order of the header, NULL after the last and of a NULL file. It lives as
// long as the file. An element type that this library does not have is QDQ_DTYPE_NONE: such a
// tensor is listed with its bytes but cannot be read.
QDQ_API const qdq_tensor_info *qdq_tensor_file_at(const qdq_tensor_file *file, size_t index);
// The tensor called `name`, NULL if there is none.
QDQ_API const qdq_tensor_info *qdq_tensor_file_find(const qdq_tensor_file *file, const char *name);
// The element type in the file's own word ("F64"). `info` is from this file; NULL for another.
QDQ_API const char *qdq_tensor_file_dtype(const qdq_tensor_file *file, const qdq_tensor_info *info);

// Reads info->bytes bytes, row-major, to `data`. `info` is from this file; another, NULL too, is
// refused, as NULL `data` is.
QDQ_API qdq_status qdq_tensor_file_read(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                        void *data, qdq_error *err);

//---- Writing ----------------------------------------------------------------

// What is to be written; all of it is borrowed for the call.
typedef struct qdq_tensor {
    const char *name;  // UTF-8, not empty, unlike the others
    qdq_dtype dtype;
    qdq_shape shape;
    const void *data;  // row-major; types narrower than a byte take a byte for each element
} qdq_tensor;

// Writes the tensors in the order given. They go to a new file in the same folder that then takes
// the place of `path`, which therefore is either as it was or complete. `tensors` may be NULL where
// `count` is 0.
QDQ_API qdq_status qdq_tensor_file_write(const char *path, const qdq_tensor *tensors, size_t count,
                                         const qdq_allocator *allocator, qdq_error *err);

#ifdef __cplusplus
}
#endif
#endif
