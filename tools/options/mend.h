// SPDX-License-Identifier: Apache-2.0
// The options of `qdq mend` alone.
#ifndef QDQ_TOOLS_OPTIONS_MEND_H
#define QDQ_TOOLS_OPTIONS_MEND_H

#include <stdbool.h>

typedef struct mend_options {
    bool allow_lossy;
} mend_options;

#endif
