// SPDX-License-Identifier: Apache-2.0
// Writes evidence as JSON: as objects, or as a list of distinct rows that other keys number.
#ifndef QDQ_TOOLS_CHECK_EVIDENCE_JSON_H
#define QDQ_TOOLS_CHECK_EVIDENCE_JSON_H

#include <qdq/evidence.h>

#include "runtime/base/json_writer.h"

// Writes the keys kind, against, compared and date.
void json_evidence_keys(qdq_json *json, const qdq_evidence *row);
// The distinct rows of evidence of a page.
typedef struct evidence_rows {
    qdq_evidence *items;  // owned, from malloc
    size_t count, capacity;
} evidence_rows;
// Returns the number of a row, after adding it if it is new; 0 if memory runs out.
size_t evidence_number(evidence_rows *rows, qdq_evidence row);
// Writes the key "evidence", a list of the rows.
void json_evidence_list(qdq_json *json, const evidence_rows *rows);
void evidence_rows_release(evidence_rows *rows);

// Writes an object with these keys.
void json_evidence(qdq_json *json, qdq_evidence row);

#endif
