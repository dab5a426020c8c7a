// SPDX-License-Identifier: Apache-2.0
// The options of `qdq ops` alone.
#ifndef QDQ_TOOLS_OPTIONS_OPS_H
#define QDQ_TOOLS_OPTIONS_OPS_H

#include <stdbool.h>

typedef struct ops_options {
    bool dtypes, schema;
} ops_options;

#endif
