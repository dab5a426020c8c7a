// SPDX-License-Identifier: Apache-2.0
// The tokens of JSON text: strings, numbers and words, and where in the text something is wrong.
#ifndef QDQ_GRAPH_READ_JSON_TOKEN_H
#define QDQ_GRAPH_READ_JSON_TOKEN_H

#include "include/qdq/base.h"
#include "runtime/base/error.h"

enum { QDQ_JSON_END = -1 };  // what peek says behind the last byte

// Text that is being read. Borrows all it points to; `at` moves on with each token taken.
typedef struct qdq_json_text {
    const char *text;  // not terminated
    size_t length;
    size_t at;
    qdq_error *err;  // may be NULL
} qdq_json_text;

// Sets the error to "line L, column C: ..." for the byte `at`. Columns count characters.
qdq_status qdq_json_fail(qdq_json_text *json, size_t at, qdq_status status, const char *format, ...)
    QDQ_PRINTF(4, 5);
// "found 'x', wanted `what`", for the byte that is next.
qdq_status qdq_json_wanted(qdq_json_text *json, const char *what);

// The byte that is next, 0..255 or QDQ_JSON_END.
int qdq_json_peek(const qdq_json_text *json);

// Each takes what begins here, or fails: from quote to quote, from '-' or a digit, from a letter.
qdq_status qdq_json_take_string(qdq_json_text *json);
qdq_status qdq_json_take_number(qdq_json_text *json);
qdq_status qdq_json_take_word(qdq_json_text *json);

// Writes to `out` what the string token text[from..to), quotes included, says: at most as many
// bytes as it has. The token must have been taken. Returns how many.
size_t qdq_json_unescape(const qdq_json_text *json, size_t from, size_t to, char *out);

#endif
