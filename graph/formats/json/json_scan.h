// SPDX-License-Identifier: Apache-2.0
// A strict check of JSON text before cJSON reads it, because cJSON accepts much that is not JSON.
#ifndef QDQ_GRAPH_FORMATS_JSON_JSON_SCAN_H
#define QDQ_GRAPH_FORMATS_JSON_JSON_SCAN_H

#include "include/qdq/base.h"

// QDQ_OK if `text` is one JSON value of RFC 8259 in UTF-8 that also
// - nests at most 64 levels deep and holds at most `max_values` values (0: 1,000,000),
// - gives no key twice in one object, compared without escapes,
// - has no \u0000 in a string and no lone surrogate,
// - has no number that overflows a double or takes more than 63 characters (cJSON would cut it).
// Too many values is QDQ_ERR_LIMIT, anything else QDQ_ERR_PARSE. The error begins "line L, column
// C: ", with columns in characters. Time is linear in `length`; memory grows with the keys of open
// objects. *longest_number (unless NULL) becomes the characters of the longest number, 0 without
// one.
qdq_status qdq_json_scan(const char *text, size_t length, const qdq_allocator *allocator,
                         size_t max_values, size_t *longest_number, qdq_error *err);

#endif
