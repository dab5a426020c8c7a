// SPDX-License-Identifier: Apache-2.0
// The options that load a graph.
#ifndef QDQ_TOOLS_OPTIONS_LOAD_H
#define QDQ_TOOLS_OPTIONS_LOAD_H

#include <stdbool.h>

#include "tools/options/string_list.h"

typedef struct load_options {
    string_list shapes, dims;  // NAME=N,N,...; NAME=N
    const char *until, *target;
    const char *max_elements, *max_bytes, *max_file_bytes, *max_values, *max_operations;
    // For commands with two models, to load one of them.
    const struct session *sizes_of;  // the session whose sizes open dims take; NULL: none
    bool loose_dims;                 // --dim may name a dim of the other model only
} load_options;

#endif
