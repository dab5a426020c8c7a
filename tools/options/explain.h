// SPDX-License-Identifier: Apache-2.0
// The options of `qdq explain` alone.
#ifndef QDQ_TOOLS_OPTIONS_EXPLAIN_H
#define QDQ_TOOLS_OPTIONS_EXPLAIN_H

#include "tools/options/string_list.h"

typedef struct explain_options {
    string_list gots;
    const char *against;
} explain_options;

#endif
