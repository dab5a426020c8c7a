// SPDX-License-Identifier: Apache-2.0
// A list of texts that owns them.
#ifndef QDQ_TOOLS_LAB_DATASET_TEXT_LIST_H
#define QDQ_TOOLS_LAB_DATASET_TEXT_LIST_H

#include <stdbool.h>
#include <stddef.h>

// All zero is an empty list.
typedef struct text_list {
    char **items;  // owned
    size_t count;
} text_list;

// Add a copy of the text. False if memory runs out.
bool text_list_add(text_list *list, const char *text);
bool text_list_insert(text_list *list, size_t at, const char *text);
void text_list_release(text_list *list);
bool text_list_equal(const text_list *a, const text_list *b);

// Concatenates the texts, each with its NUL, in memory from malloc; NULL if memory runs out.
char *text_list_pack(const text_list *list, size_t *bytes);
// Adds the texts of packed bytes, which end with a NUL. False if memory runs out.
bool text_list_unpack(text_list *list, const char *packed, size_t bytes);

#endif
