// SPDX-License-Identifier: Apache-2.0
// Opens a .safetensors file that a graph file names.
#ifndef QDQ_GRAPH_FORMATS_TENSOR_FILE_SAFETENSORS_H
#define QDQ_GRAPH_FORMATS_TENSOR_FILE_SAFETENSORS_H

#include "graph/core/open_file.h"
#include "include/qdq/tensor_file.h"

// Like qdq_tensor_file_open, but `relative` must lead to a regular file below `folder` ("" is the
// current folder) without "..", "." and links.
qdq_tensor_file *qdq_tensor_file_open_beneath(const char *folder, const char *relative,
                                              const qdq_allocator *allocator, qdq_error *err);

// Returns the open file, its path, and the offset at which the data of a tensor begins.
const qdq_open_file *qdq_tensor_file_place(const qdq_tensor_file *file, const qdq_tensor_info *info,
                                           const char **path, uint64_t *at);

#endif
