// SPDX-License-Identifier: Apache-2.0
// The options of `qdq run` alone.
#ifndef QDQ_TOOLS_OPTIONS_RUN_H
#define QDQ_TOOLS_OPTIONS_RUN_H

#include "tools/options/string_list.h"

typedef struct run_options {
    string_list expects;
    const char *tolerance, *worst, *frames;
} run_options;

#endif
