// SPDX-License-Identifier: Apache-2.0
// States as .safetensors files (docs/many_machines.md lists the tensors).
#ifndef QDQ_TOOLS_DATASET_STATE_FILE_H
#define QDQ_TOOLS_DATASET_STATE_FILE_H

#include "tools/lab/dataset/state.h"

// Replaces `path` by the state, completely or not at all. One state has one file content.
qdq_status state_write(const state *s, const char *path, qdq_error *err);
// Reads a state of any kind and checks its version, sizes and hash. Errors begin with the path;
// `out` is all zero then. state_release frees it.
qdq_status state_read(state *out, const char *path, qdq_error *err);

#endif
