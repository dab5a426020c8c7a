// SPDX-License-Identifier: Apache-2.0
// Prints the findings of a check: one line per finding, or one per rule.
#ifndef QDQ_TOOLS_FINDINGS_H
#define QDQ_TOOLS_FINDINGS_H

#include <qdq/graph.h>
#include <stdio.h>

#include "runtime/base/json_writer.h"

typedef enum listing {
    LIST_BRIEFLY,  // a line per error, or per rule for many errors; a line per rule for warnings
    LIST_RULES,    // a line per rule
    LIST_ALL,      // a line per finding
} listing;

// Prints "error: SENTENCE [rule]". A line for several findings has the sentence of the first, the
// number of nodes and three of their names. `target`: only findings of this target ("NAME" or
// "NAME@RELEASE"); NULL: all. True if any line stands for several findings.
bool print_findings(FILE *out, const qdq_report *report, const char *target, listing how);

// Prints one of these lines of `length` bytes, with its severity in colour on a terminal.
void print_finding_line(FILE *out, const char *line, size_t length);

// Returns "error" or "warning".
const char *severity_text(qdq_severity severity);

// Writes a finding of a check for `target`, with the evidence of the target that has the rule.
void json_finding(qdq_json *json, const char *target, const qdq_finding *finding);

// Writes "1 error, 2 warnings" to `out`.
const char *counts_text(size_t errors, size_t warnings, char out[64]);

#endif
