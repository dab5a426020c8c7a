// SPDX-License-Identifier: Apache-2.0
// Prints the output of compare as JSON.
#ifndef QDQ_TOOLS_LAB_COMPARE_COMPARE_JSON_H
#define QDQ_TOOLS_LAB_COMPARE_COMPARE_JSON_H

#include "runtime/base/json_writer.h"
#include "tools/check/evidence_json.h"
#include "tools/lab/compare/compare_graph.h"

// Writes the targets, and begins the list of values, which the caller ends.
void compare_json_start(qdq_json *json, const comparison *c);
// Writes an object for each output of a node. With `rows`, for a page, causes have the numbers of
// rows instead of evidence, and keys that equal elements do not need are left out.
void compare_json_node(qdq_json *json, const comparison *c, const node_comparison *n,
                       evidence_rows *rows);

#endif
