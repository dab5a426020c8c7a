// SPDX-License-Identifier: Apache-2.0
// Prints the rewrites of a graph by its target, and the groups that did not form.
#ifndef QDQ_TOOLS_PLAN_REWRITES_H
#define QDQ_TOOLS_PLAN_REWRITES_H

#include "tools/common.h"

// Prints the rewrites of a graph from qdq_graph_deployed; nothing if it has none.
void print_rewrites(const qdq_graph *deployed);
// Writes the key "rewrites", a list.
void json_rewrites(qdq_json *json, const qdq_graph *deployed);

#endif
