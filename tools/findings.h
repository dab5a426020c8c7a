// SPDX-License-Identifier: Apache-2.0
// Printing what a check finds: one line for each finding, or one for each rule.
#ifndef QDQ_TOOLS_FINDINGS_H
#define QDQ_TOOLS_FINDINGS_H

#include <qdq/qdq.h>
#include <stdio.h>

typedef enum listing {
    LIST_BRIEFLY,  // a line for each error, unless there are many; a line for each rule that warns
    LIST_RULES,    // a line for each rule
    LIST_ALL,      // a line for each finding
} listing;

// "error: SENTENCE [rule]". A line that stands for more than one finding has the sentence of the
// first, and how many nodes there are with the names of three. `target` NULL: the findings of all
// targets, else only its own ("NAME" or "NAME@RELEASE"). True if some line stands for more than one
// finding.
bool print_findings(FILE *out, const qdq_report *report, const char *target, listing how);

void json_finding(qdq_json *json, const qdq_finding *finding);

// "1 error, 2 warnings" in `out`.
const char *counts_text(size_t errors, size_t warnings, char out[64]);

#endif
