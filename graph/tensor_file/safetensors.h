// SPDX-License-Identifier: Apache-2.0
// Opening a .safetensors file that another file names.
#ifndef QDQ_GRAPH_TENSOR_FILE_SAFETENSORS_H
#define QDQ_GRAPH_TENSOR_FILE_SAFETENSORS_H

#include "graph/tensor_file/open_file.h"
#include "include/qdq/tensor_file.h"

// As qdq_tensor_file_open, but `relative` must be relative and lead to a regular file beneath
// `folder` ("" is the current one) without "..", "." and links.
qdq_tensor_file *qdq_tensor_file_open_beneath(const char *folder, const char *relative,
                                              const qdq_allocator *allocator, qdq_error *err);

// The file itself, its path, and the byte that the data of a tensor of it begins at.
const qdq_open_file *qdq_tensor_file_place(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                           const char **path, uint64_t *at);

#endif
