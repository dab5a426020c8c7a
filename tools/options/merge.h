// SPDX-License-Identifier: Apache-2.0
// The options of `qdq merge` alone.
#ifndef QDQ_TOOLS_OPTIONS_MERGE_H
#define QDQ_TOOLS_OPTIONS_MERGE_H

#include <stdbool.h>

typedef struct merge_options {
    bool partial;
} merge_options;

#endif
