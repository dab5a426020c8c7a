// SPDX-License-Identifier: Apache-2.0
// The options of `qdq check` alone.
#ifndef QDQ_TOOLS_OPTIONS_CHECK_H
#define QDQ_TOOLS_OPTIONS_CHECK_H

#include <stdbool.h>

typedef struct check_options {
    bool strict, sarif;
} check_options;

#endif
