// SPDX-License-Identifier: Apache-2.0
// Writes outputs to standard output ("-") and to pipes.
#ifndef QDQ_TOOLS_IO_STREAM_OUT_H
#define QDQ_TOOLS_IO_STREAM_OUT_H

#include <qdq/tensor_file.h>

typedef struct string_list string_list;

// True if a file is written directly from start to end, without a temporary name.
bool is_stream(const char *file);

// Checks that nothing else uses standard output if --output is "-". `printed`: another option that
// prints there, or NULL. EXIT_OK, or another exit code after a message.
int check_stdout(const string_list *outputs, const char *printed);

// Writes the only tensor as .npy if `npy`, else all tensors as .safetensors.
qdq_status stream_save(const char *file, const qdq_tensor *tensors, size_t count, bool npy,
                       qdq_error *err);

#endif
