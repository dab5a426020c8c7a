// SPDX-License-Identifier: Apache-2.0
// The options of `qdq compare` alone.
#ifndef QDQ_TOOLS_OPTIONS_COMPARE_H
#define QDQ_TOOLS_OPTIONS_COMPARE_H

typedef struct compare_options {
    const char *atol, *rtol;
} compare_options;

#endif
