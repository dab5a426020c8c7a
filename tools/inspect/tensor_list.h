// SPDX-License-Identifier: Apache-2.0
// Lists the tensors of a .safetensors, .npy or .npz file, and of a state.
#ifndef QDQ_TOOLS_INSPECT_TENSOR_LIST_H
#define QDQ_TOOLS_INSPECT_TENSOR_LIST_H

#include <stdbool.h>

typedef struct options options;

// True if a file holds tensors, by its first bytes.
bool is_tensor_list(const char *path);

// Prints name, dtype, shape and bytes of each tensor, in the order of names. Returns an exit code.
int print_tensor_list(const char *path, const options *opt);

#endif
