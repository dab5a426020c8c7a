// SPDX-License-Identifier: Apache-2.0
// The options of `qdq convert` alone.
#ifndef QDQ_TOOLS_OPTIONS_CONVERT_H
#define QDQ_TOOLS_OPTIONS_CONVERT_H

#include <stdbool.h>

typedef struct convert_options {
    bool deployed, whole;
} convert_options;

#endif
