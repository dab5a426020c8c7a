// SPDX-License-Identifier: Apache-2.0
// The candidate with the least edit distance, for "did you mean" in messages.
#include "runtime/base/did_you_mean.h"

#include <stdbool.h>
#include <string.h>

#include "runtime/base/posix.h"

enum {
    MOST_BYTES = 64,
    MOST_CANDIDATES = 1000,
    EDIT = 2,  // costs are in halves of an edit
    CASE_EDIT = 1,
};

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

static int least(int a, int b) { return a < b ? a : b; }

static int change(char from, char to) {
    if (from == to) return 0;
    return lower(from) == lower(to) ? CASE_EDIT : EDIT;
}

// Returns the optimal string alignment distance: edit distance in which swapping two neighbours is
// one edit and no part is edited twice. Row i holds the distances from the first i bytes of `a` to
// each start of `b`. Ends with limit + 1 once two rows in turn have nothing below it, as costs only
// grow.
static int distance(const char *a, size_t a_length, const char *b, size_t b_length, int limit) {
    int rows[3][MOST_BYTES + 1];
    int *before = rows[0], *above = rows[1], *row = rows[2];
    int lowest = 0;  // of the row above
    for (size_t c = 0; c <= b_length; c++) above[c] = EDIT * (int)c;
    for (size_t r = 1; r <= a_length; r++) {
        int lowest_above = lowest;
        lowest = row[0] = EDIT * (int)r;
        for (size_t c = 1; c <= b_length; c++) {
            int cost = above[c - 1] + change(a[r - 1], b[c - 1]);
            cost = least(cost, least(above[c], row[c - 1]) + EDIT);
            if (r > 1 && c > 1 && a[r - 1] == b[c - 2] && a[r - 2] == b[c - 1])
                cost = least(cost, before[c - 2] + EDIT);
            row[c] = cost;
            lowest = least(lowest, cost);
        }
        if (lowest > limit && lowest_above > limit) return limit + 1;
        int *oldest = before;
        before = above, above = row, row = oldest;
    }
    return above[b_length];
}

const char *qdq_did_you_mean(const char *name, const char *const *candidates, size_t count) {
    size_t length = name ? strnlen(name, MOST_BYTES + 1) : 0;
    if (!candidates || length == 0 || length > MOST_BYTES) return NULL;
    int limit = least((int)(EDIT * length) / 3, 2 * EDIT);
    if (limit < EDIT) limit = EDIT;
    limit = least(limit, EDIT * (int)length - 1);

    const char *nearest = NULL;
    if (count > MOST_CANDIDATES) count = MOST_CANDIDATES;
    for (size_t i = 0; i < count; i++) {
        if (!candidates[i]) continue;
        size_t other = strnlen(candidates[i], MOST_BYTES + 1);
        size_t longer = other > length ? other - length : length - other;
        if (other > MOST_BYTES || EDIT * (int)longer > limit) continue;
        int edits = distance(name, length, candidates[i], other, limit);
        if (edits > limit) continue;
        nearest = candidates[i];
        limit = edits - 1;
    }
    return nearest;
}
