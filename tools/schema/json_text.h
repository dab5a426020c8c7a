// SPDX-License-Identifier: Apache-2.0
// Writes JSON from a printf format, for documents that are mostly fixed.
#ifndef QDQ_TOOLS_SCHEMA_JSON_TEXT_H
#define QDQ_TOOLS_SCHEMA_JSON_TEXT_H

#include "runtime/base/json_writer.h"

// Writes the tokens of a JSON text, which may be incomplete: later calls continue it. `format` is
// as for printf; strings are in single quotes without escapes. Arrays stay on one line. The
// formatted text has at most 1023 bytes.
__attribute__((format(printf, 2, 3))) void json_text(qdq_json *json, const char *format, ...);

#endif
