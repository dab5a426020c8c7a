// SPDX-License-Identifier: Apache-2.0
// Describes the table of values of calibrate states, and prints their report.
#include "tools/lab/calibrate/calibrate_kind.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "tools/common.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/options.h"

enum { VALUE_NAME, VALUE_DTYPE, RANGES, VALUE_COUNTS, SUMS, SQUARES, HISTOGRAMS };

static const state_column columns[] = {
    {"values", 1, QDQ_UINT8, false},
    {"dtypes", 1, QDQ_UINT8, false},
    {"ranges", 2, QDQ_FLOAT64, false},
    {"counts", COUNTS, QDQ_INT64, false},
    {"sums", SUM_DIGITS, QDQ_INT64, true},
    {"squares", SQUARE_DIGITS, QDQ_INT64, true},
    {"histograms", HISTOGRAM_BINS, QDQ_INT64, false},
};

statistics calibrate_statistics(const state_table *values, size_t row) {
    return (statistics){state_reals(values, RANGES, row), state_ints(values, VALUE_COUNTS, row),
                        state_ints(values, SUMS, row), state_ints(values, SQUARES, row),
                        state_ints(values, HISTOGRAMS, row)};
}

static void clear(const state_table *table, size_t row) {
    statistics s = calibrate_statistics(table, row);
    statistics_clear(&s);
}

static void merge(const state_table *into, size_t row, const state_table *from, size_t from_row) {
    statistics a = calibrate_statistics(into, row), b = calibrate_statistics(from, from_row);
    statistics_merge(&a, &b);
}

static const state_table_kind values = {
    .columns = columns,
    .column_count = sizeof columns / sizeof *columns,
    .clear = clear,
    .merge = merge,
};

//---- The report -------------------------------------------------------------

typedef struct moments {
    double mean, deviation;
} moments;

static moments moments_of(const statistics *s) {
    double count = (double)s->counts[COUNT_FINITE];
    double mean = exact_value(s->sum, SUM_DIGITS, SUM_SHIFT) / count;
    double square = exact_value(s->squares, SQUARE_DIGITS, SQUARE_SHIFT) / count;
    return (moments){mean, sqrt(fmax(square - mean * mean, 0))};
}

static void print_value(const state *s, size_t row) {
    const state_table *t = &s->tables[0];
    statistics v = calibrate_statistics(t, row);
    int64_t finite = v.counts[COUNT_FINITE];
    int64_t infinite = v.counts[COUNT_POSITIVE_INFINITY];
    state_add_counts(&infinite, &v.counts[COUNT_NEGATIVE_INFINITY], 1);
    printf("%s (%s): ", state_text(t, VALUE_NAME, row), state_text(t, VALUE_DTYPE, row));
    if (finite) {
        moments m = moments_of(&v);
        printf("%.6g to %.6g, mean %.6g, deviation %.6g, %" PRId64 " elements", v.range[0],
               v.range[1], m.mean, m.deviation, finite);
    } else {
        printf("no finite element");
    }
    if (v.counts[COUNT_ZERO]) printf(", %" PRId64 " are zero", v.counts[COUNT_ZERO]);
    if (v.counts[COUNT_NAN]) printf(", %" PRId64 " NaN", v.counts[COUNT_NAN]);
    if (infinite) printf(", %" PRId64 " infinite", infinite);
    printf("\n");
}

// Warns of values with NaN or infinity. They spread from value to value; the value with most of
// them is named.
static void warn_not_finite(const state *s, const char *file) {
    const state_table *t = &s->tables[0];
    size_t count = 0, row = 0;
    int64_t most = 0, nans = 0;
    for (size_t i = 0; i < t->rows; i++) {
        const int64_t *counts = calibrate_statistics(t, i).counts;
        int64_t found = counts[COUNT_NAN];
        state_add_counts(&found, &counts[COUNT_POSITIVE_INFINITY], 1);
        state_add_counts(&found, &counts[COUNT_NEGATIVE_INFINITY], 1);
        count += found > 0;
        if (found > most) most = found, nans = counts[COUNT_NAN], row = i;
    }
    if (!count) return;
    fprintf(stderr,
            "warning: %s: %zu of %zu values have elements that are not finite, which count for no "
            "range: '%s' has %" PRId64 " NaN and %" PRId64 " infinite ones; look at the samples\n",
            file, count, t->rows, state_text(t, VALUE_NAME, row), nans, most - nans);
}

static void json_value(qdq_json *json, const state *s, size_t row) {
    const state_table *t = &s->tables[0];
    statistics v = calibrate_statistics(t, row);
    static const char *const names[COUNTS] = {"elements", "zeros", "nan", "infinity",
                                              "negative_infinity"};
    moments m = moments_of(&v);
    qdq_json_begin_object(json);
    json_string_key(json, "name", state_text(t, VALUE_NAME, row));
    json_string_key(json, "dtype", state_text(t, VALUE_DTYPE, row));
    for (size_t i = 0; i < COUNTS; i++) json_uint_key(json, names[i], (size_t)v.counts[i]);
    if (v.counts[COUNT_FINITE]) {
        const double numbers[] = {v.range[0], v.range[1], m.mean, m.deviation};
        static const char *const keys[] = {"least", "greatest", "mean", "deviation"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            json_double_key(json, keys[i], numbers[i]);
    }
    qdq_json_end_object(json);
}

static int report(const state *s, const options *opt) {
    if (!opt->json) {
        for (size_t row = 0; row < s->tables[0].rows; row++) print_value(s, row);
        print_samples(s);
        return EXIT_OK;
    }
    qdq_json json;
    json_begin(&json);
    json_samples(&json, s);
    qdq_json_key(&json, "values");
    qdq_json_begin_array(&json);
    for (size_t row = 0; row < s->tables[0].rows; row++) json_value(&json, s, row);
    qdq_json_end_array(&json);
    json_end(&json);
    return EXIT_OK;
}

const state_kind calibrate_kind = {
    .command = "calibrate",
    .rows = "values",
    .tables = &values,
    .table_count = 1,
    .report = report,
    .warn = warn_not_finite,
};
