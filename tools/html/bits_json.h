// SPDX-License-Identifier: Apache-2.0
// How well the bits of nodes are known, for the page of --html.
#ifndef QDQ_TOOLS_HTML_BITS_JSON_H
#define QDQ_TOOLS_HTML_BITS_JSON_H

#include <qdq/graph.h>

#include "runtime/base/json_writer.h"

// Writes the key "bits": the number of nodes for each word, and groups of nodes with the same op,
// word, rule and evidence. False if memory runs out.
bool html_bits(qdq_json *json, const qdq_report *report);

#endif
