// SPDX-License-Identifier: Apache-2.0
// Writes findings as SARIF 2.1.0 (OASIS), which code hosts show next to the files.
#ifndef QDQ_TOOLS_CHECK_SARIF_H
#define QDQ_TOOLS_CHECK_SARIF_H

#include <qdq/graph.h>
#include <qdq/inspect.h>

#include "runtime/base/json_writer.h"

enum { SARIF_MOST_RULES = 512 };

// A log with a single run. Findings are written as they come; the rules that they break follow at
// the end.
typedef struct sarif {
    qdq_json json;
    qdq_rule_info rules[SARIF_MOST_RULES];
    size_t rule_count;
    struct sarif_left *left;  // unchecked nodes; owned
    size_t left_count, left_capacity;
} sarif;

// Begins a log on stdout.
void sarif_begin(sarif *log);
// Adds a finding about the graph of the file `path`.
void sarif_add(sarif *log, const char *path, const qdq_finding *finding);
// Notes that a target did not check a node by every rule. False if memory runs out.
bool sarif_leaves(sarif *log, const char *path, const char *node, const char *target);
// Ends the log, and frees it. `fine`: every file could be checked.
void sarif_end(sarif *log, bool fine);

#endif
