// SPDX-License-Identifier: Apache-2.0
// The library's definitions as text, which embed.py collects while building.
#ifndef QDQ_GRAPH_FORMATS_C_C_ITEMS_H
#define QDQ_GRAPH_FORMATS_C_C_ITEMS_H

#include <stddef.h>

// A function, type, table or macro. `needs`: the items that it uses, up to 65535.
typedef struct qdq_c_item {
    const char *const *lines;  // NULL-terminated
    const unsigned short *needs;
} qdq_c_item;

// A name that an item defines.
typedef struct qdq_c_name {
    const char *name;
    unsigned short item;
} qdq_c_name;

extern const qdq_c_item qdq_c_items[];
extern const size_t qdq_c_item_count;
extern const qdq_c_name qdq_c_names[];  // sorted
extern const size_t qdq_c_name_count;

#endif
