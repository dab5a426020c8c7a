// SPDX-License-Identifier: Apache-2.0
// Writes evidence as JSON.
#include "tools/check/evidence_json.h"

#include <stdlib.h>
#include <string.h>

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

//---- Rows of a page ---------------------------------------------------------

static bool equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static bool is_same(const qdq_evidence *a, const qdq_evidence *b) {
    return equal(a->kind, b->kind) && equal(a->against, b->against) &&
           equal(a->compared, b->compared) && equal(a->date, b->date);
}

size_t evidence_number(evidence_rows *rows, qdq_evidence row) {
    for (size_t i = 0; i < rows->count; i++)
        if (is_same(&rows->items[i], &row)) return i;
    if (rows->count == rows->capacity) {
        size_t capacity = rows->capacity ? 2 * rows->capacity : 16;
        qdq_evidence *items = realloc(rows->items, capacity * sizeof *items);
        if (!items) return 0;
        rows->items = items, rows->capacity = capacity;
    }
    rows->items[rows->count] = row;
    return rows->count++;
}

void json_evidence_list(qdq_json *json, const evidence_rows *rows) {
    qdq_json_key(json, "evidence");
    qdq_json_begin_array(json);
    for (size_t i = 0; i < rows->count; i++) json_evidence(json, rows->items[i]);
    qdq_json_end_array(json);
}

void evidence_rows_release(evidence_rows *rows) {
    free(rows->items);
    *rows = (evidence_rows){0};
}
