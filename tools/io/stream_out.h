// SPDX-License-Identifier: Apache-2.0
// Outputs to standard output ("-") and to pipes.
#ifndef QDQ_TOOLS_IO_STREAM_OUT_H
#define QDQ_TOOLS_IO_STREAM_OUT_H

#include "tools/options.h"

// Whether a file is written from front to end, and not beside its place.
bool is_stream(const char *file);

// Whether standard output is free for what --output - asks for. 0, or an exit code after a message.
int check_stdout(const options *opt);

// Writes one tensor as .npy, or all of them as .safetensors.
qdq_status stream_save(const char *file, const qdq_tensor *tensors, size_t count, bool npy,
                       qdq_error *err);

#endif
