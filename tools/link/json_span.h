// SPDX-License-Identifier: Apache-2.0
// Walks JSON as text, without a tree, so that numbers keep their digits.
#ifndef QDQ_TOOLS_LINK_JSON_SPAN_H
#define QDQ_TOOLS_LINK_JSON_SPAN_H

#include <stdbool.h>
#include <stddef.h>

// A part of a text that outlives it.
typedef struct json_span {
    const char *at;
    size_t length;
} json_span;

// A member of an object, or an element of an array, whose key is empty.
typedef struct json_member {
    json_span key, value;
} json_member;

// Removes the white space outside strings in place.
void json_squeeze(char *text);

// Reads the next member of the object or array without white space of which *at is the opening
// bracket at first, and moves *at to the comma or bracket behind it. False after the last one, with
// *at behind the closing bracket, and with *at NULL if the text is malformed. Values may be
// malformed inside.
bool json_next(const char **at, json_member *out);

// True if a span is equal to a word.
bool json_is(json_span span, const char *word);

#endif
