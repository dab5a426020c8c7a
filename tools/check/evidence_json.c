// SPDX-License-Identifier: Apache-2.0
// Evidence as JSON.
#include "tools/check/evidence_json.h"

#include "tools/common.h"

void json_evidence_keys(qdq_json *json, const qdq_evidence *row) {
    json_string_key(json, "kind", row->kind);
    json_string_key(json, "against", row->against);
    json_string_key(json, "compared", row->compared);
    json_string_key(json, "date", row->date);
}

void json_evidence(qdq_json *json, qdq_evidence row) {
    qdq_json_begin_object(json);
    json_evidence_keys(json, &row);
    qdq_json_end_object(json);
}
