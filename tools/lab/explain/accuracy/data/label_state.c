// SPDX-License-Identifier: Apache-2.0
// The digest of the labels keeps states of different labels from being merged.
#include "tools/lab/explain/accuracy/data/label_state.h"

#include <stdio.h>

#include "tools/common.h"
#include "tools/failure.h"

enum { COUNTS = 4 };  // rows, right in the float model, right as deployed, alike

const state_column label_columns[LABEL_COLUMNS] = {
    [LABEL_OUTPUT] = {"labels", 1, QDQ_UINT8, false},
    [LABEL_DIGEST] = {"label_digests", 1, QDQ_UINT8, false},
    [LABEL_COUNTS] = {"label_counts", COUNTS, QDQ_INT64, false},
};

void label_state_merge(const state_table *into, size_t row, const state_table *from,
                       size_t from_row) {
    state_add_counts(state_ints(into, LABEL_COUNTS, row), state_ints(from, LABEL_COUNTS, from_row),
                     COUNTS);
}

int label_state_begin(state_table *t, const labels *l, const char *output) {
    unsigned char digest[QDQ_SHA256_BYTES];
    char text[2 * QDQ_SHA256_BYTES + 1];
    if (!l->word) return EXIT_OK;
    labels_digest(l, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", digest[i]);
    const char *const texts[] = {output, text};
    if (state_add_row(t, texts) != SIZE_MAX) return EXIT_OK;
    return tell_failure(QDQ_ERR_MEMORY, "no memory for labels");
}

void label_state_add(const state_table *t, const label_counts *n) {
    const int64_t counts[COUNTS] = {(int64_t)n->rows, (int64_t)n->real, (int64_t)n->quantized,
                                    (int64_t)n->alike};
    if (t->rows) state_add_counts(state_ints(t, LABEL_COUNTS, 0), counts, COUNTS);
}

const char *label_state_read(const state_table *t, label_counts *n) {
    if (!t->rows) return NULL;
    const int64_t *counts = state_ints(t, LABEL_COUNTS, 0);
    *n = (label_counts){(size_t)counts[0], (size_t)counts[1], (size_t)counts[2], (size_t)counts[3]};
    return state_text(t, LABEL_OUTPUT, 0);
}
