// SPDX-License-Identifier: Apache-2.0
// The options of `qdq link` alone.
#ifndef QDQ_TOOLS_OPTIONS_LINK_H
#define QDQ_TOOLS_OPTIONS_LINK_H

#include "tools/options/string_list.h"

typedef struct link_options {
    const char *base, *command;
    string_list gots;
} link_options;

#endif
