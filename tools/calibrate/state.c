// SPDX-License-Identifier: Apache-2.0
// Makes and merges states.
#include "tools/calibrate/state.h"

#include <stdlib.h>
#include <string.h>

//---- Texts ------------------------------------------------------------------

bool text_list_add(text_list *list, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *more = realloc(list->bytes, list->size + bytes);
    if (!more) return false;
    memcpy(more + list->size, text, bytes);
    list->bytes = more;
    list->size += bytes;
    list->count++;
    return true;
}

const char *text_list_next(const text_list *list, const char *text) {
    const char *next = text ? text + strlen(text) + 1 : list->bytes;
    return list->count && next < list->bytes + list->size ? next : NULL;
}

//---- Arrays -----------------------------------------------------------------

bool state_make_arrays(state *s) {
    size_t n = s->values.count;
    s->ranges = calloc(n, 2 * sizeof *s->ranges);
    s->counts = calloc(n, COUNTS * sizeof *s->counts);
    s->sums = calloc(n, SUM_DIGITS * sizeof *s->sums);
    s->squares = calloc(n, SQUARE_DIGITS * sizeof *s->squares);
    s->histograms = calloc(n, HISTOGRAM_BINS * sizeof *s->histograms);
    if (!s->ranges || !s->counts || !s->sums || !s->squares || !s->histograms) return false;
    for (size_t i = 0; i < n; i++) {
        statistics value = state_value(s, i);
        statistics_clear(&value);
    }
    return true;
}

void state_release(state *s) {
    free(s->shards);
    free(s->unreadable.bytes);
    free(s->values.bytes);
    free(s->dtypes.bytes);
    free(s->ranges);
    free(s->counts);
    free(s->sums);
    free(s->squares);
    free(s->histograms);
    *s = (state){0};
}

statistics state_value(const state *s, size_t value) {
    return (statistics){s->ranges + 2 * value, s->counts + COUNTS * value,
                        s->sums + SUM_DIGITS * value, s->squares + SQUARE_DIGITS * value,
                        s->histograms + HISTOGRAM_BINS * value};
}

//---- Samples ----------------------------------------------------------------

void state_add_digest(unsigned char sum[QDQ_SHA256_BYTES],
                      const unsigned char digest[QDQ_SHA256_BYTES]) {
    unsigned carry = 0;
    for (size_t i = 0; i < QDQ_SHA256_BYTES; i++) {
        carry += (unsigned)sum[i] + digest[i];
        sum[i] = (unsigned char)carry;
        carry >>= 8;
    }
}

bool state_add_unreadable(state *s, const char *name) {
    text_list sorted = {0};
    bool added = false, done = true;
    for (const char *t = NULL; done && (t = text_list_next(&s->unreadable, t));) {
        if (!added && strcmp(name, t) < 0) added = done = text_list_add(&sorted, name);
        done = done && text_list_add(&sorted, t);
    }
    if (done && !added) done = text_list_add(&sorted, name);
    free(done ? s->unreadable.bytes : sorted.bytes);
    if (done) s->unreadable = sorted;
    return done;
}

//---- Merging ----------------------------------------------------------------

static bool same_texts(const text_list *a, const text_list *b) {
    return a->size == b->size && (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

const char *state_differs(const state *a, const state *b) {
    size_t part = (size_t)(strchr(a->fingerprint, '-') - a->fingerprint) + QDQ_FINGERPRINT_PART;
    if (strncmp(a->fingerprint, b->fingerprint, part) != 0) return "graph";
    if (strcmp(a->target, b->target) != 0) return "target";
    if (strcmp(a->fingerprint, b->fingerprint) != 0) return "version of qdq";
    if (!same_texts(&a->values, &b->values) || !same_texts(&a->dtypes, &b->dtypes))
        return "list of values";
    if (a->sample_count != b->sample_count ||
        memcmp(a->listing, b->listing, sizeof a->listing) != 0)
        return "set of data";
    return a->shard_count != b->shard_count ? "number of shards" : NULL;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static bool merge_shards(state *into, const state *from) {
    size_t count = into->shards_held + from->shards_held;
    int64_t *more = realloc(into->shards, count * sizeof *more);
    if (!more) return false;
    memcpy(more + into->shards_held, from->shards, from->shards_held * sizeof *more);
    qsort(more, count, sizeof *more, by_number);
    into->shards = more;
    into->shards_held = count;
    if ((int64_t)count == into->shard_count) {
        into->shard_count = 1;
        into->shards_held = 1;
    }
    return true;
}

bool state_merge(state *into, const state *from) {
    if (!merge_shards(into, from)) return false;
    for (const char *t = NULL; (t = text_list_next(&from->unreadable, t));)
        if (!state_add_unreadable(into, t)) return false;
    into->taken += from->taken;
    state_add_digest(into->samples, from->samples);
    for (size_t i = 0; i < into->values.count; i++) {
        statistics a = state_value(into, i), b = state_value(from, i);
        statistics_merge(&a, &b);
    }
    return true;
}
