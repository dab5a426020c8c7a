// SPDX-License-Identifier: Apache-2.0
// The tokens of JSON text: strings, numbers and words, with errors by line and column.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_TOKEN_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_TOKEN_H

#include "include/qdq/base.h"
#include "runtime/base/error.h"

enum { QDQ_JSON_END = -1 };  // returned by qdq_json_peek at the end of the text

// Text being read. Borrows everything it points to; each token taken advances `at`.
typedef struct qdq_json_source {
    const char *text;  // without a terminating NUL
    size_t length;
    size_t at;
    qdq_error *err;  // may be NULL
} qdq_json_source;

// Sets the error to "line L, column C: ..." for the byte `at`; columns count characters.
qdq_status qdq_json_fail(qdq_json_source *json, size_t at, qdq_status status, const char *format,
                         ...) QDQ_PRINTF(4, 5);
// Fails with "found 'x', wanted `what`" for the next byte.
qdq_status qdq_json_wanted(qdq_json_source *json, const char *what);

// Returns the next byte, 0..255, or QDQ_JSON_END.
static inline int qdq_json_peek(const qdq_json_source *json) {
    return json->at < json->length ? (unsigned char)json->text[json->at] : QDQ_JSON_END;
}

// Take one token that begins at the next byte, or fail: a string with its quotes, a number, or a
// word of letters.
qdq_status qdq_json_take_string(qdq_json_source *json);
qdq_status qdq_json_take_number(qdq_json_source *json);
qdq_status qdq_json_take_word(qdq_json_source *json);

// Writes the text of the string token [from..to), quotes included, without its escapes to `out`; it
// never gets longer. The token must have been taken. Returns its length.
size_t qdq_json_unescape(const qdq_json_source *json, size_t from, size_t to, char *out);

#endif
