// SPDX-License-Identifier: Apache-2.0
// Measures and cuts text by terminal columns.
#include "tools/check/text_width.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct range {
    uint32_t first, last, columns;
} range;

// Ranges of characters whose width is not one column, limited to characters that names are likely
// to have.
static const range ranges[] = {
    {0x300, 0x36F, 0},     {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0}, {0xFE00, 0xFE0F, 0},
    {0xFE20, 0xFE2F, 0},   {0x1100, 0x115F, 2},   {0x2E80, 0xA4CF, 2}, {0xAC00, 0xD7A3, 2},
    {0xF900, 0xFAFF, 2},   {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2}, {0xFFE0, 0xFFE6, 2},
    {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
};

static size_t columns_of(uint32_t point) {
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (point >= ranges[i].first && point <= ranges[i].last) return ranges[i].columns;
    return 1;
}

// Returns the bytes of the character at `text` and sets its columns. Invalid UTF-8 bytes count as
// characters.
static size_t next_character(const char *text, size_t *columns) {
    const unsigned char *at = (const unsigned char *)text;
    size_t length = *at < 0xC0 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
    uint32_t point = length == 1 ? *at : *at & (0xFFu >> (length + 1));
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xC0) != 0x80) return *columns = 1, 1;
        point = point << 6 | (at[i] & 0x3F);
    }
    *columns = columns_of(point);
    return length;
}

size_t text_width(const char *text) {
    size_t width = 0, columns;
    while (*text) {
        text += next_character(text, &columns);
        width += columns;
    }
    return width;
}

// Returns the bytes of the longest prefix of `text` that fits in `most` columns.
static size_t beginning(const char *text, size_t most) {
    size_t at = 0, width = 0, columns;
    while (text[at]) {
        size_t length = next_character(text + at, &columns);
        if (width + columns > most) break;
        at += length;
        width += columns;
    }
    return at;
}

void text_cut(const char *text, size_t columns, char out[512]) {
    size_t width = text_width(text);
    if (width <= columns) {
        snprintf(out, 512, "%.*s", (int)(strlen(text) < 511 ? strlen(text) : 511), text);
        return;
    }
    size_t head = (columns - 3) / 2, tail = columns - 3 - head;
    const char *end = text + beginning(text, width - tail);
    if (text_width(end) > tail) end += next_character(end, &(size_t){0});
    snprintf(out, 512, "%.*s...%s", (int)beginning(text, head), text, end);
}
