// SPDX-License-Identifier: Apache-2.0
// Builds and merges states.
#include "tools/lab/dataset/state.h"

#include <qdq/fingerprint.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"

//---- Rows -------------------------------------------------------------------

static size_t row_bytes(const state_column *column) {
    return column->width * qdq_dtype_size(column->dtype);
}

static bool is_text(const state_column *column) { return column->dtype == QDQ_UINT8; }

static void *at(const state_table *t, size_t column, size_t row) {
    return (char *)t->numbers[column] + row * row_bytes(&t->kind->columns[column]);
}

int64_t *state_ints(const state_table *t, size_t column, size_t row) { return at(t, column, row); }
double *state_reals(const state_table *t, size_t column, size_t row) { return at(t, column, row); }

const char *state_text(const state_table *t, size_t column, size_t row) {
    return t->texts[column].items[row];
}

void state_add_counts(int64_t *into, const int64_t *from, size_t count) {
    for (size_t i = 0; i < count; i++) into[i] = (int64_t)((uint64_t)into[i] + (uint64_t)from[i]);
}

static bool grow(state_table *t) {
    if (t->rows < t->capacity) return true;
    size_t capacity = t->capacity ? 2 * t->capacity : 16;
    for (size_t c = 0; c < t->kind->column_count; c++) {
        if (is_text(&t->kind->columns[c])) continue;
        void *more = realloc(t->numbers[c], capacity * row_bytes(&t->kind->columns[c]));
        if (!more) return false;
        t->numbers[c] = more;
    }
    t->capacity = capacity;
    return true;
}

// Inserts a row with its texts and the numbers of a row without samples.
static bool insert_row(state_table *t, size_t row, const char *const *texts) {
    if (!grow(t)) return false;
    for (size_t c = 0, next = 0; c < t->kind->column_count; c++) {
        if (is_text(&t->kind->columns[c])) {
            if (!text_list_insert(&t->texts[c], row, texts[next++])) return false;
            continue;
        }
        size_t bytes = row_bytes(&t->kind->columns[c]);
        memmove(at(t, c, row + 1), at(t, c, row), (t->rows - row) * bytes);
        memset(at(t, c, row), 0, bytes);
    }
    t->rows++;
    if (t->kind->clear) t->kind->clear(t, row);
    return true;
}

size_t state_add_row(state_table *t, const char *const *texts) {
    return insert_row(t, t->rows, texts) ? t->rows - 1 : SIZE_MAX;
}

// Finds the first row that is not before (number, text).
static size_t find_place(const state_table *t, int64_t number, const char *text) {
    size_t low = 0, high = t->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int64_t own = *state_ints(t, 1, middle);
        bool before = own != number ? own < number : strcmp(state_text(t, 0, middle), text) < 0;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t state_row(state_table *t, int64_t number, const char *text) {
    size_t row = find_place(t, number, text);
    if (row < t->rows && *state_ints(t, 1, row) == number &&
        strcmp(state_text(t, 0, row), text) == 0)
        return row;
    if (!insert_row(t, row, &text)) return SIZE_MAX;
    *state_ints(t, 1, row) = number;
    return row;
}

//---- States -----------------------------------------------------------------

void state_open(state *s, const state_kind *kind) {
    *s = (state){.kind = kind};
    for (size_t i = 0; i < kind->table_count; i++) s->tables[i].kind = &kind->tables[i];
}

void state_release(state *s) {
    for (size_t i = 0; s->kind && i < s->kind->table_count; i++)
        for (size_t c = 0; c < MOST_COLUMNS; c++) {
            text_list_release(&s->tables[i].texts[c]);
            free(s->tables[i].numbers[c]);
        }
    text_list_release(&s->fingerprints);
    text_list_release(&s->targets);
    text_list_release(&s->refused);
    text_list_release(&s->unreadable);
    free(s->shards);
    *s = (state){0};
}

int state_add_graph(state *s, qdq_graph *graph, const char *target, qdq_exec *exec) {
    qdq_fingerprint print;
    qdq_error err = {0};
    if (qdq_graph_fingerprint(graph, target, exec, 1, &print, &err) != QDQ_OK)
        return report_error(&err);
    if (text_list_add(&s->fingerprints, print.text) &&
        text_list_add(&s->targets, print.target_name))
        return EXIT_OK;
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the state");
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

// Parses the number of "sample N"; -1 for the name of a file.
static int64_t number_of_sample(const char *name) {
    static const char word[] = "sample ";
    size_t length = sizeof word - 1, digits;
    if (strncmp(name, word, length) != 0) return -1;
    digits = strspn(name + length, "0123456789");
    bool number = digits > 0 && digits < 19 && !name[length + digits];
    return number ? strtoll(name + length, NULL, 10) : -1;
}

// Orders samples by number, or by file name.
static int compare_samples(const char *a, const char *b) {
    int64_t one = number_of_sample(a), two = number_of_sample(b);
    if (one < 0 || two < 0 || one == two) return strcmp(a, b);
    return one < two ? -1 : 1;
}

bool state_add_unreadable(state *s, const char *name) {
    size_t place = s->unreadable.count;
    while (place > 0 && compare_samples(name, s->unreadable.items[place - 1]) < 0) place--;
    return text_list_insert(&s->unreadable, place, name);
}

//---- Merging ----------------------------------------------------------------

// Names the first table that has other texts; NULL: none.
static const char *other_rows(const state *a, const state *b) {
    for (size_t i = 0; i < a->kind->table_count; i++) {
        const state_table_kind *kind = &a->kind->tables[i];
        if (kind->grows) continue;
        for (size_t c = 0; c < kind->column_count; c++)
            if (!text_list_equal(&a->tables[i].texts[c], &b->tables[i].texts[c]))
                return kind->called ? kind->called : "list of values";
    }
    return NULL;
}

// Finds the first graph whose own part of the fingerprint differs; SIZE_MAX: none.
static size_t other_graph(const state *a, const state *b) {
    for (size_t i = 0; i < a->fingerprints.count && i < b->fingerprints.count; i++) {
        const char *one = a->fingerprints.items[i], *two = b->fingerprints.items[i];
        size_t part = (size_t)(strchr(one, '-') - one) + QDQ_FINGERPRINT_PART;
        if (strncmp(one, two, part) != 0) return i;
    }
    return SIZE_MAX;
}

const char *state_differs(const state *a, const state *b) {
    if (a->kind != b->kind) return "kind";
    size_t graph = other_graph(a, b);
    if (graph != SIZE_MAX) return graph == 0 ? "graph" : "float model";
    if (!text_list_equal(&a->targets, &b->targets) || !text_list_equal(&a->refused, &b->refused))
        return a->targets.count == 1 ? "target" : "list of targets";
    if (!text_list_equal(&a->fingerprints, &b->fingerprints)) return "version of qdq";
    const char *rows = other_rows(a, b);
    if (rows) return rows;
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

static bool merge_tables(state_table *into, const state_table *from) {
    for (size_t row = 0; row < from->rows; row++) {
        size_t own = row;
        if (into->kind->grows)
            own = state_row(into, *state_ints(from, 1, row), state_text(from, 0, row));
        if (own == SIZE_MAX) return false;
        into->kind->merge(into, own, from, row);
    }
    return true;
}

bool state_merge(state *into, const state *from) {
    if (!merge_shards(into, from)) return false;
    for (size_t i = 0; i < from->unreadable.count; i++)
        if (!state_add_unreadable(into, from->unreadable.items[i])) return false;
    into->taken += from->taken;
    state_add_digest(into->samples, from->samples);
    for (size_t i = 0; i < into->kind->table_count; i++)
        if (!merge_tables(&into->tables[i], &from->tables[i])) return false;
    return true;
}
