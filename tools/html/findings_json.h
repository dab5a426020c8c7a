// SPDX-License-Identifier: Apache-2.0
// Writes the findings of a check for a page: grouped by target and rule, because many findings of a
// rule share their texts.
#ifndef QDQ_TOOLS_HTML_FINDINGS_JSON_H
#define QDQ_TOOLS_HTML_FINDINGS_JSON_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

// Begin and end the value of the key "check".
void html_findings_begin(qdq_json *json);
void html_findings_end(qdq_json *json);
// Adds a target and its report. `own`: only findings of the target's rules, not the core's. False
// if memory runs out.
bool html_findings_add(qdq_json *json, const char *target, const qdq_report *report, bool own);

#endif
