// SPDX-License-Identifier: Apache-2.0
// What a file is, told by its first bytes.
#ifndef QDQ_TOOLS_IO_FILE_KIND_H
#define QDQ_TOOLS_IO_FILE_KIND_H

#include <qdq/base.h>

typedef enum file_kind {
    KIND_UNKNOWN = 0,  // also a file that cannot be read
    KIND_JSON,
    KIND_NPY,
    KIND_SAFETENSORS,
    KIND_ONNX,
    KIND_NPZ,
    KIND_TORCH,
    KIND_PICKLE,
    KIND_ZIP,
    KIND_TFLITE,
    KIND_GZIP,
    KIND_BZIP2,
    KIND_XZ,
    KIND_ZSTD,
    KIND_HDF5,
    KIND_GGUF,
    KIND_COUNT
} file_kind;

// Never waits for the other end of a pipe.
file_kind file_kind_of(const char *path);

// Sets `err` to "PATH: is ..., wanted ...; ..." where a graph or tensors are wanted and the file is
// known to be something else. False where it may be what is wanted.
bool is_no_graph(const char *path, qdq_error *err);
bool is_no_tensor_file(const char *path, qdq_error *err);

#endif
