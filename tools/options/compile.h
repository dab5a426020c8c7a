// SPDX-License-Identifier: Apache-2.0
// The options that compile a graph.
#ifndef QDQ_TOOLS_OPTIONS_COMPILE_H
#define QDQ_TOOLS_OPTIONS_COMPILE_H

#include <qdq/device.h>

#include "tools/options/string_list.h"

typedef struct compile_options {
    const char *isa, *float_storage, *device;
    qdq_device device_numbers;  // described by `device`: see read_device
    string_list keep;           // names; "all" alone: every value
    bool rows, tiles, materialize, fast;
    bool literal;  // the default: nothing reads it
} compile_options;

#endif
