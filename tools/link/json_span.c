// SPDX-License-Identifier: Apache-2.0
#include "tools/link/json_span.h"

#include <string.h>

void json_squeeze(char *text) {
    char *to = text;
    bool quoted = false;
    for (const char *at = text; *at; at++) {
        if (quoted && *at == '\\' && at[1])
            *to++ = *at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && strchr(" \t\r\n", *at))
            continue;
        *to++ = *at;
    }
    *to = '\0';
}

// Returns the end of a string; NULL if it has none.
static const char *end_of_string(const char *at) {
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && !*++at) return NULL;
    return *at ? at + 1 : NULL;
}

// Returns the end of a value; NULL if it has none. Counts brackets without comparing their kinds.
static const char *end_of_value(const char *at) {
    size_t depth = 0;
    do {
        if (depth) at += strcspn(at, "\"{}[]");
        if (*at == '"')
            at = end_of_string(at);
        else if (*at == '{' || *at == '[')
            depth++, at++;
        else if (depth && *at)
            depth--, at++;
        else
            return depth ? NULL : at + strcspn(at, ",]}");
    } while (at && depth);
    return at;
}

bool json_next(const char **at, json_member *out) {
    const char *from = *at;
    bool first = *from == '{' || *from == '[';
    *out = (json_member){{from, 0}, {from, 0}};
    *at = NULL;
    if (!first && *from != ',' && *from != '}' && *from != ']') return false;
    if (*from == '}' || *from == ']' || (first && (from[1] == '}' || from[1] == ']'))) {
        *at = from + 1 + first;
        return false;
    }
    const char *end = end_of_value(from + 1);
    if (end && *end == ':') {
        out->key = (json_span){from + 2, (size_t)(end - from) - 3};
        if (from[1] != '"') return false;
        from = end;
        end = end_of_value(from + 1);
    }
    if (!end || !*end || !strchr(",]}", *end)) return false;
    out->value = (json_span){from + 1, (size_t)(end - from) - 1};
    *at = end;
    return true;
}

bool json_is(json_span span, const char *word) {
    return strlen(word) == span.length && memcmp(span.at, word, span.length) == 0;
}
