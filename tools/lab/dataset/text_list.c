// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/dataset/text_list.h"

#include <stdlib.h>
#include <string.h>

bool text_list_insert(text_list *list, size_t at, const char *text) {
    // Grows at each power of two, so that the capacity follows from the count.
    if ((list->count & (list->count - 1)) == 0) {
        size_t capacity = list->count ? 2 * list->count : 1;
        char **more = realloc(list->items, capacity * sizeof *more);
        if (!more) return false;
        list->items = more;
    }
    size_t bytes = strlen(text) + 1;
    char *copy = malloc(bytes);
    if (!copy) return false;
    memcpy(copy, text, bytes);
    memmove(list->items + at + 1, list->items + at, (list->count - at) * sizeof *list->items);
    list->items[at] = copy;
    list->count++;
    return true;
}

bool text_list_add(text_list *list, const char *text) {
    return text_list_insert(list, list->count, text);
}

void text_list_release(text_list *list) {
    for (size_t i = 0; i < list->count; i++) free(list->items[i]);
    free(list->items);
    *list = (text_list){0};
}

bool text_list_equal(const text_list *a, const text_list *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (strcmp(a->items[i], b->items[i]) != 0) return false;
    return true;
}

char *text_list_pack(const text_list *list, size_t *bytes) {
    *bytes = 0;
    for (size_t i = 0; i < list->count; i++) *bytes += strlen(list->items[i]) + 1;
    char *packed = malloc(*bytes + 1), *at = packed;
    for (size_t i = 0; packed && i < list->count; i++) {
        size_t size = strlen(list->items[i]) + 1;
        memcpy(at, list->items[i], size);
        at += size;
    }
    return packed;
}

bool text_list_unpack(text_list *list, const char *packed, size_t bytes) {
    for (size_t at = 0; at < bytes; at += strlen(packed + at) + 1)
        if (!text_list_add(list, packed + at)) return false;
    return true;
}
