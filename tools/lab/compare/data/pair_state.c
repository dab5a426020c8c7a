// SPDX-License-Identifier: Apache-2.0
// Adds and merges differences. If two samples have the same greatest difference, the state names
// the first in the order of the data, so that the order of shards does not matter.
#include "tools/lab/compare/data/pair_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/io/tensor_io.h"
#include "tools/lab/compare/data/pair_report.h"
#include "tools/lab/dataset/exact_sum.h"

static const state_column pair_columns[PAIR_COLUMNS] = {
    [PAIR_VALUE] = {"values", 1, QDQ_UINT8, false},
    [PAIR_NODE] = {"nodes", 1, QDQ_UINT8, false},
    [PAIR_OP] = {"ops", 1, QDQ_UINT8, false},
    [PAIR_GROUP] = {"groups", 1, QDQ_UINT8, false},
    [PAIR_OTHER] = {"others", 1, QDQ_UINT8, false},
    [PAIR_DTYPE] = {"dtypes", 1, QDQ_UINT8, false},
    [PAIR_X_DTYPE] = {"x_dtypes", 1, QDQ_UINT8, false},
    [PAIR_NUMERICS] = {"numerics", 1, QDQ_UINT8, false},
    [PAIR_LEFT_OUT] = {"left_out", 1, QDQ_UINT8, false},
    [PAIR_SHAPE] = {"shapes", 1, QDQ_UINT8, false},
    [PAIR_COUNTS] = {"counts", PAIR_COUNTERS, QDQ_INT64, false},
    [PAIR_STEPS] = {"steps", 3, QDQ_INT64, false},
    [PAIR_GREATEST] = {"greatest", 3, QDQ_FLOAT64, false},
    [PAIR_AT] = {"greatest_at", 2, QDQ_INT64, false},
    [PAIR_SIGNALS] = {"signals", SQUARE_DIGITS, QDQ_INT64, true},
    [PAIR_NOISES] = {"noises", SQUARE_DIGITS, QDQ_INT64, true},
    [PAIR_OVERALL_NOISES] = {"overall_noises", SQUARE_DIGITS, QDQ_INT64, true},
};

static const state_column cause_columns[CAUSE_COLUMNS] = {
    [CAUSE_TEXT] = {"causes", 1, QDQ_UINT8, false},
    [CAUSE_PAIR] = {"cause_pairs", 1, QDQ_INT64, false},
    [CAUSE_COUNTS] = {"cause_counts", 2, QDQ_INT64, false},
    [CAUSE_AT] = {"cause_at", 3, QDQ_INT64, false},
    [CAUSE_VALUES] = {"cause_values", 3, QDQ_FLOAT64, false},
};

qdq_shape pair_shape(const state_table *pairs, size_t row) {
    const char *text = state_text(pairs, PAIR_SHAPE, row);
    qdq_shape shape = {0};
    for (char *end; shape.rank < QDQ_MAX_RANK; text = end) {
        long long dim = strtoll(text + strcspn(text, "123456789"), &end, 10);
        if (dim < 1) break;
        shape.dims[shape.rank++] = dim;
    }
    return shape;
}

static bool is_before(int64_t sample, int64_t other) {
    return sample != NO_SAMPLE && (other == NO_SAMPLE || sample < other);
}

//---- Greatest differences ---------------------------------------------------

// Replace a difference by a greater difference, or by an equal difference of an earlier sample.
static void raise_steps(int64_t *into, const int64_t *from) {
    uint64_t a = (uint64_t)into[0], b = (uint64_t)from[0];
    if (b > a || (b == a && is_before(from[1], into[1]))) memcpy(into, from, 3 * sizeof *into);
}

static void raise_greatest(double *into, int64_t *into_at, const double *from,
                           const int64_t *from_at) {
    if (from[0] < into[0] || (from[0] == into[0] && !is_before(from_at[0], into_at[0]))) return;
    memcpy(into, from, 3 * sizeof *into);
    memcpy(into_at, from_at, 2 * sizeof *into_at);
}

//---- Adding -----------------------------------------------------------------

// Replaces every NaN by the same NaN.
static double one_nan(double x) { return isnan(x) ? NAN : x; }

static void find_greatest(const double *a, const double *b, size_t count, int64_t sample,
                          double greatest[3], int64_t at[2]) {
    for (size_t i = 0; i < count; i++) {
        double far = a[i] == b[i] ? 0 : fabs(a[i] - b[i]);
        if (!(far > greatest[0])) continue;
        greatest[0] = far, greatest[1] = a[i], greatest[2] = b[i];
        at[0] = sample, at[1] = (int64_t)i;
    }
}

static void add_numbers(const state_table *t, size_t row, const pair_results *r) {
    size_t count = r->pair->local.elements;
    double *a = r->scratch, *b = a + count, greatest[3] = {0};
    int64_t noise[SQUARE_DIGITS] = {0}, at[2] = {NO_SAMPLE, 0};
    to_doubles(r->info->dtype, r->first, count, a);
    exact_add_squares(state_ints(t, PAIR_SIGNALS, row), a, NULL, count);
    if (r->pair->local.different) {
        to_doubles(r->info->dtype, r->local, count, b);
        exact_add_squares(noise, a, b, count);
        exact_add_sum(state_ints(t, PAIR_NOISES, row), noise);
        find_greatest(a, b, count, r->sample, greatest, at);
        raise_greatest(state_reals(t, PAIR_GREATEST, row), state_ints(t, PAIR_AT, row), greatest,
                       at);
    }
    if (r->overall == r->local) {
        exact_add_sum(state_ints(t, PAIR_OVERALL_NOISES, row), noise);
    } else if (r->pair->overall) {
        to_doubles(r->info->dtype, r->overall, count, b);
        exact_add_squares(state_ints(t, PAIR_OVERALL_NOISES, row), a, b, count);
    }
}

static bool add_cause(state *s, size_t row, const pair_results *r, size_t number) {
    const cause *why = &r->pair->local.causes[number];
    const example *e = &r->pair->examples[number];
    state_table *t = &s->tables[1];
    char name[1024];
    size_t own =
        state_row(t, (int64_t)row, cause_text(r->reasons, why->switches, name, sizeof name));
    if (own == SIZE_MAX) return false;
    int64_t *counts = state_ints(t, CAUSE_COUNTS, own), *at = state_ints(t, CAUSE_AT, own);
    double *values = state_reals(t, CAUSE_VALUES, own);
    counts[0] += (int64_t)why->count;
    counts[1]++;
    if (!is_before(r->sample, at[0])) return true;
    at[0] = r->sample, at[1] = (int64_t)why->first, at[2] = e->has_x;
    values[0] = e->has_x ? one_nan(e->x) : 0;
    values[1] = one_nan(e->values[0]), values[2] = one_nan(e->values[1]);
    return true;
}

bool pair_state_add(state *s, size_t row, const pair_results *r) {
    const state_table *t = &s->tables[0];
    const difference *d = &r->pair->local;
    int64_t *counts = state_ints(t, PAIR_COUNTS, row);
    counts[COUNT_ELEMENTS] += (int64_t)d->elements;
    counts[COUNT_DIFFERENT] += (int64_t)d->different;
    counts[COUNT_NAN_ON_ONE_SIDE] += (int64_t)d->nan_count;
    counts[COUNT_SAMPLES] += d->different > 0;
    counts[COUNT_OVERALL] += (int64_t)r->pair->overall;
    const int64_t steps[3] = {(int64_t)d->steps, r->sample, (int64_t)d->steps_at};
    if (d->steps) raise_steps(state_ints(t, PAIR_STEPS, row), steps);
    add_numbers(t, row, r);
    for (size_t i = 0; i < d->cause_count; i++)
        if (!add_cause(s, row, r, i)) return false;
    return true;
}

//---- Merging ----------------------------------------------------------------

static void clear_pair(const state_table *t, size_t row) {
    state_ints(t, PAIR_STEPS, row)[1] = NO_SAMPLE;
    state_ints(t, PAIR_AT, row)[0] = NO_SAMPLE;
}

static void merge_pair(const state_table *into, size_t row, const state_table *from,
                       size_t from_row) {
    static const pair_column sums[] = {PAIR_SIGNALS, PAIR_NOISES, PAIR_OVERALL_NOISES};
    state_add_counts(state_ints(into, PAIR_COUNTS, row), state_ints(from, PAIR_COUNTS, from_row),
                     PAIR_COUNTERS);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        exact_add_sum(state_ints(into, sums[i], row), state_ints(from, sums[i], from_row));
    raise_steps(state_ints(into, PAIR_STEPS, row), state_ints(from, PAIR_STEPS, from_row));
    raise_greatest(state_reals(into, PAIR_GREATEST, row), state_ints(into, PAIR_AT, row),
                   state_reals(from, PAIR_GREATEST, from_row), state_ints(from, PAIR_AT, from_row));
}

static void clear_cause(const state_table *t, size_t row) {
    state_ints(t, CAUSE_AT, row)[0] = NO_SAMPLE;
}

static void merge_cause(const state_table *into, size_t row, const state_table *from,
                        size_t from_row) {
    int64_t *at = state_ints(into, CAUSE_AT, row);
    const int64_t *from_at = state_ints(from, CAUSE_AT, from_row);
    state_add_counts(state_ints(into, CAUSE_COUNTS, row), state_ints(from, CAUSE_COUNTS, from_row),
                     2);
    if (!is_before(from_at[0], at[0])) return;
    memcpy(at, from_at, 3 * sizeof *at);
    memcpy(state_reals(into, CAUSE_VALUES, row), state_reals(from, CAUSE_VALUES, from_row),
           3 * sizeof(double));
}

static const state_table_kind tables[] = {
    {.columns = pair_columns,
     .column_count = PAIR_COLUMNS,
     .clear = clear_pair,
     .merge = merge_pair},
    {.columns = cause_columns,
     .column_count = CAUSE_COLUMNS,
     .grows = true,
     .clear = clear_cause,
     .merge = merge_cause},
};

const state_kind compare_kind = {
    .command = "compare",
    .rows = "pairs of values",
    .tables = tables,
    .table_count = sizeof tables / sizeof *tables,
    .report = pair_report,
};
