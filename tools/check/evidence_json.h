// SPDX-License-Identifier: Apache-2.0
// Evidence as JSON.
#ifndef QDQ_TOOLS_CHECK_EVIDENCE_JSON_H
#define QDQ_TOOLS_CHECK_EVIDENCE_JSON_H

#include <qdq/qdq.h>

#include "runtime/base/json_writer.h"

// Writes the keys kind, against, compared and date.
void json_evidence_keys(qdq_json *json, const qdq_evidence *row);
// Writes an object with them.
void json_evidence(qdq_json *json, qdq_evidence row);

#endif
