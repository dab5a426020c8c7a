// SPDX-License-Identifier: Apache-2.0
// Writes and reads states as .safetensors files (docs/many_machines.md lists the tensors).
#ifndef QDQ_TOOLS_LAB_DATASET_STATE_FILE_H
#define QDQ_TOOLS_LAB_DATASET_STATE_FILE_H

#include "tools/lab/dataset/state.h"

// Replaces `path` by the state, completely or not at all. Equal states have equal files.
qdq_status state_write(const state *s, const char *path, qdq_error *err);
// Reads a state of any kind and checks its version, sizes and hash. On failure `out` is all zero,
// and the error begins with the path. state_release frees it.
qdq_status state_read(state *out, const char *path, qdq_error *err);

#endif
