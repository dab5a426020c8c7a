// SPDX-License-Identifier: Apache-2.0
// Writes JSON from a printf format.
#include "tools/schema/json_text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Writes the string that begins at `at`, as a key if a colon follows. Returns the text behind it.
static char *write_string(qdq_json *json, char *at) {
    char *end = strchr(at + 1, '\'');
    if (!end) return at + strlen(at);
    *end = '\0';
    if (end[1] == ':')
        qdq_json_key(json, at + 1);
    else
        qdq_json_string(json, at + 1);
    return end + 1;
}

static char *write_number(qdq_json *json, char *at) {
    char *end;
    double value = strtod(at, &end);
    if (end == at) return at + 1;
    if (strcspn(at, ".e") < (size_t)(end - at))
        qdq_json_double(json, value);
    else
        qdq_json_int(json, (int64_t)value);
    return end;
}

static char *write_bool(qdq_json *json, char *at) {
    qdq_json_bool(json, *at == 't');
    return at + strspn(at, "truefals");
}

static char *write_token(qdq_json *json, char *at) {
    switch (*at) {
    case '{': qdq_json_begin_object(json); return at + 1;
    case '}': qdq_json_end_object(json); return at + 1;
    case '[': qdq_json_begin_line(json); return at + 1;
    case ']': qdq_json_end_array(json); return at + 1;
    case '\'': return write_string(json, at);
    case 't':
    case 'f': return write_bool(json, at);
    default: return write_number(json, at);
    }
}

void json_text(qdq_json *json, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *at = text;
    while (*(at += strspn(at, " ,:"))) at = write_token(json, at);
}
