// SPDX-License-Identifier: Apache-2.0
// The values of an option that may be given several times.
#ifndef QDQ_TOOLS_OPTIONS_STRING_LIST_H
#define QDQ_TOOLS_OPTIONS_STRING_LIST_H

#include <stddef.h>

// options_release frees `items`.
typedef struct string_list {
    const char **items;
    size_t count, capacity;
} string_list;

#endif
