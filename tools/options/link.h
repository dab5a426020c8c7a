// SPDX-License-Identifier: Apache-2.0
// The options of `qdq link` alone.
#ifndef QDQ_TOOLS_OPTIONS_LINK_H
#define QDQ_TOOLS_OPTIONS_LINK_H

typedef struct link_options {
    const char *base, *command;
} link_options;

#endif
