// SPDX-License-Identifier: Apache-2.0
// The options of `qdq help` alone.
#ifndef QDQ_TOOLS_OPTIONS_HELP_H
#define QDQ_TOOLS_OPTIONS_HELP_H

#include <stdbool.h>

typedef struct help_options {
    const char *completion;
    bool man;
} help_options;

#endif
