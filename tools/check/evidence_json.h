// SPDX-License-Identifier: Apache-2.0
// Evidence as JSON.
#ifndef QDQ_TOOLS_CHECK_EVIDENCE_JSON_H
#define QDQ_TOOLS_CHECK_EVIDENCE_JSON_H

#include <qdq/evidence.h>

#include "runtime/base/json_writer.h"

// Writes the keys kind, against, compared and date.
void json_evidence_keys(qdq_json *json, const qdq_evidence *row);
// The rows of evidence that a page needs, each once.
typedef struct evidence_rows {
    qdq_evidence *items;  // owned, from malloc
    size_t count, capacity;
} evidence_rows;
// The number of a row, which is added if it is new; 0 if memory runs out.
size_t evidence_number(evidence_rows *rows, qdq_evidence row);
// Writes the key "evidence", a list of the rows.
void json_evidence_list(qdq_json *json, const evidence_rows *rows);
void evidence_rows_release(evidence_rows *rows);

// Writes an object with them.
void json_evidence(qdq_json *json, qdq_evidence row);

#endif
