// SPDX-License-Identifier: Apache-2.0
// Writes outputs to standard output ("-") and to pipes.
#ifndef QDQ_TOOLS_IO_STREAM_OUT_H
#define QDQ_TOOLS_IO_STREAM_OUT_H

#include <qdq/tensor_file.h>

#include "tools/options.h"

// Whether a file is written directly from front to end, instead of under a temporary name.
bool is_stream(const char *file);

// Checks that nothing else uses standard output if --output is "-". 0, or an exit code after a
// message.
int check_stdout(const options *opt);

// Writes one tensor as .npy, or all tensors as .safetensors.
qdq_status stream_save(const char *file, const qdq_tensor *tensors, size_t count, bool npy,
                       qdq_error *err);

#endif
