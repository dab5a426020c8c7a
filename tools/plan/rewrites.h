// SPDX-License-Identifier: Apache-2.0
// What a target made of a graph before it ran it, and which groups did not form.
#ifndef QDQ_TOOLS_PLAN_REWRITES_H
#define QDQ_TOOLS_PLAN_REWRITES_H

#include "tools/common.h"

// A graph from qdq_graph_deployed. Prints nothing if its record is empty.
void print_rewrites(const qdq_graph *deployed);
// "rewrites": [...]
void json_rewrites(qdq_json *json, const qdq_graph *deployed);

#endif
