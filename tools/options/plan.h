// SPDX-License-Identifier: Apache-2.0
// The options of `qdq plan` alone.
#ifndef QDQ_TOOLS_OPTIONS_PLAN_H
#define QDQ_TOOLS_OPTIONS_PLAN_H

#include <stdbool.h>

typedef struct plan_options {
    const char *pages, *memory_csv, *trace, *emit_c, *emit_header;
    bool map, from_capture;
} plan_options;

#endif
