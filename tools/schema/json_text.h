// SPDX-License-Identifier: Apache-2.0
// JSON written from a text with gaps, for documents most of whose parts are fixed.
#ifndef QDQ_TOOLS_SCHEMA_JSON_TEXT_H
#define QDQ_TOOLS_SCHEMA_JSON_TEXT_H

#include <qdq/qdq.h>

// Writes the tokens of a JSON text, which need not be complete: later calls go on with it. `format`
// is as for printf; strings stand between ' and have no escapes. Arrays stay on one line. The text
// has at most 1023 bytes once it is filled in.
__attribute__((format(printf, 2, 3))) void json_text(qdq_json *json, const char *format, ...);

#endif
