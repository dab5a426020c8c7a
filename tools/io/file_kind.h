// SPDX-License-Identifier: Apache-2.0
// Recognizes the kind of a file by its first bytes.
#ifndef QDQ_TOOLS_IO_FILE_KIND_H
#define QDQ_TOOLS_IO_FILE_KIND_H

#include <qdq/base.h>

typedef enum file_kind {
    KIND_UNKNOWN = 0,  // or the file cannot be read
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

// Returns the kind of a file. Never blocks on a pipe.
file_kind file_kind_of(const char *path);

// True if a file is known not to be a graph, or not to have tensors. Sets `err` to "PATH: is ...,
// wanted ...; ..." then.
bool is_no_graph(const char *path, qdq_error *err);
// Sets the text of a failure to read a graph, if the file is neither text nor an ONNX model.
void tell_binary(const char *path, qdq_error *err);
bool is_no_tensor_file(const char *path, qdq_error *err);

// True if a file is no .safetensors file, as states are, even if its kind is unknown. Sets `err`
// likewise. False for a file that cannot be read, which its reader reports.
bool is_no_state_file(const char *path, qdq_error *err);

#endif
