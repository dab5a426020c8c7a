// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/data/pair_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/compare/data/pair_state.h"
#include "tools/lab/dataset/exact_sum.h"
#include "tools/lab/dataset/state_report.h"
#include "tools/options.h"

enum { MOST_ROWS_SHOWN = 30 };

static const state_table *pairs_of(const state *s) { return &s->tables[0]; }

static const int64_t *counts_of(const state *s, size_t row) {
    return state_ints(pairs_of(s), PAIR_COUNTS, row);
}

static double ratio_of(const state *s, size_t row, pair_column noise) {
    return exact_decibels(state_ints(pairs_of(s), PAIR_SIGNALS, row),
                          state_ints(pairs_of(s), noise, row));
}

static qdq_dtype dtype_of(const state *s, size_t row, pair_column column) {
    // The name may be unknown if another program wrote the file.
    qdq_dtype dtype = qdq_dtype_from_name(state_text(pairs_of(s), column, row));
    return dtype == QDQ_DTYPE_NONE ? QDQ_FLOAT64 : dtype;
}

// Copies line `number` of a text; NULL if it has fewer.
static const char *line_of(const char *text, size_t number, char *out, size_t capacity) {
    for (; *text && number > 0; number--) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    if (!*text) return NULL;
    snprintf(out, capacity, "%.*s", (int)strcspn(text, "\n"), text);
    return out;
}

// Moves *row to the next cause of a row of pairs. False after the last.
static bool next_cause(const state *s, size_t pair, size_t *row) {
    const state_table *t = &s->tables[1];
    while (*row < t->rows && *state_ints(t, CAUSE_PAIR, *row) < (int64_t)pair) ++*row;
    return *row < t->rows && *state_ints(t, CAUSE_PAIR, *row) == (int64_t)pair;
}

//---- Text -------------------------------------------------------------------

static const char *place_text(const state *s, size_t row, int64_t sample, int64_t element,
                              char out[320]) {
    char index[256];
    snprintf(out, 320, "sample %" PRId64 " %s", sample,
             index_text(pair_shape(pairs_of(s), row), (size_t)element, index, sizeof index));
    return out;
}

static void print_greatest(const state *s, size_t row) {
    const state_table *t = pairs_of(s);
    const int64_t *steps = state_ints(t, PAIR_STEPS, row), *at = state_ints(t, PAIR_AT, row);
    const double *greatest = state_reals(t, PAIR_GREATEST, row);
    qdq_dtype dtype = dtype_of(s, row, PAIR_DTYPE);
    char place[320], a[32], b[32];
    bool told = steps[0] && tells_steps(dtype, (uint64_t)steps[0]);
    if (told)
        printf(", at most %" PRIu64 " step%s (%s)", (uint64_t)steps[0], steps[0] == 1 ? "" : "s",
               place_text(s, row, steps[1], steps[2], place));
    if (at[0] != NO_SAMPLE)
        printf("%s %.6g (%s: %s and %s)", told ? " and" : ", at most", greatest[0],
               place_text(s, row, at[0], at[1], place), element_text(dtype, greatest[1], a),
               element_text(dtype, greatest[2], b));
}

static void print_ratio(double ratio) {
    if (ratio == INFINITY)
        printf("exact");
    else
        printf("%.1f dB", ratio);
}

static void print_op(const state *s, size_t row) {
    const state_table *t = pairs_of(s);
    const char *group = state_text(t, PAIR_GROUP, row);
    char name[1024];
    printf("%s", *group ? line_of(group, 0, name, sizeof name) : state_text(t, PAIR_OP, row));
    for (size_t i = 1; line_of(group, i, name, sizeof name); i++)
        printf("%s%s", i == 1 ? " in place of " : ", ", name);
}

static void print_cause(const state *s, size_t row, size_t own) {
    const state_table *t = &s->tables[1];
    const int64_t *counts = state_ints(t, CAUSE_COUNTS, own), *at = state_ints(t, CAUSE_AT, own);
    const double *values = state_reals(t, CAUSE_VALUES, own);
    qdq_dtype dtype = dtype_of(s, row, PAIR_DTYPE);
    char place[320], x[32], a[32], b[32];
    printf("  %s: %" PRId64 " element%s in %" PRId64 " sample%s, e.g. %s: ",
           state_text(t, CAUSE_TEXT, own), counts[0], counts[0] == 1 ? "" : "s", counts[1],
           counts[1] == 1 ? "" : "s", place_text(s, row, at[0], at[1], place));
    if (at[2]) printf("x %s, ", element_text(dtype_of(s, row, PAIR_X_DTYPE), values[0], x));
    printf("%s %s, %s %s\n", s->targets.items[0], element_text(dtype, values[1], a),
           state_text(pairs_of(s), PAIR_OTHER, row), element_text(dtype, values[2], b));
}

static void print_pair(const state *s, size_t row) {
    const state_table *t = pairs_of(s);
    const int64_t *counts = counts_of(s, row);
    printf("%s (", state_text(t, PAIR_VALUE, row));
    print_op(s, row);
    printf("), %s and %s: ", s->targets.items[0], state_text(t, PAIR_OTHER, row));
    if (counts[COUNT_DIFFERENT]) {
        printf("%" PRId64 " of %" PRId64 " differ, in %" PRId64 " sample%s",
               counts[COUNT_DIFFERENT], counts[COUNT_ELEMENTS], counts[COUNT_SAMPLES],
               counts[COUNT_SAMPLES] == 1 ? "" : "s");
        print_greatest(s, row);
        if (counts[COUNT_NAN_ON_ONE_SIDE])
            printf(", %" PRId64 " NaN on one side", counts[COUNT_NAN_ON_ONE_SIDE]);
        printf(", ");
        print_ratio(ratio_of(s, row, PAIR_NOISES));
    } else {
        printf("equal%s", counts[COUNT_OVERALL] ? " from the same inputs" : "");
    }
    if (counts[COUNT_OVERALL] != counts[COUNT_DIFFERENT]) {
        printf("; %" PRId64 " of %" PRId64 " differ when each runs the whole graph, ",
               counts[COUNT_OVERALL], counts[COUNT_ELEMENTS]);
        print_ratio(ratio_of(s, row, PAIR_OVERALL_NOISES));
    }
    printf("\n");
    for (size_t own = 0; next_cause(s, row, &own); own++) print_cause(s, row, own);
}

//---- The list ---------------------------------------------------------------

// The outcome of a row, in the order of the output.
typedef enum outcome { ROW_DIFFERS, ROW_INHERITS, ROW_EQUAL, OUTCOMES } outcome;

typedef struct ranked {
    outcome outcome;
    double share;  // fraction of elements that differ
    size_t row;
} ranked;

static ranked rank(const state *s, size_t row) {
    const int64_t *counts = counts_of(s, row);
    ranked r = {.outcome = ROW_EQUAL, .row = row};
    int64_t most = 0;
    if (counts[COUNT_OVERALL]) r.outcome = ROW_INHERITS, most = counts[COUNT_OVERALL];
    if (counts[COUNT_DIFFERENT]) r.outcome = ROW_DIFFERS, most = counts[COUNT_DIFFERENT];
    if (most) r.share = (double)most / (double)counts[COUNT_ELEMENTS];
    return r;
}

static int worst_first(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->outcome != y->outcome) return x->outcome < y->outcome ? -1 : 1;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    return x->row < y->row ? -1 : 1;
}

static void print_list(const state *s, const ranked *list, const size_t *counts, bool all) {
    size_t rows = pairs_of(s)->rows, differ = counts[ROW_DIFFERS] + counts[ROW_INHERITS];
    size_t shown = all ? rows : differ < MOST_ROWS_SHOWN ? differ : MOST_ROWS_SHOWN;
    for (size_t i = 0; i < shown; i++) print_pair(s, list[i].row);
    if (shown < differ) printf("and %zu more that differ\n", differ - shown);
    if (s->refused.count) printf("left out:");
    for (size_t i = 0; i < s->refused.count; i++)
        printf("%s %s", i ? "," : "", s->refused.items[i]);
    if (s->refused.count) printf("\n");
    printf("%zu of %zu pairs of values differ", counts[ROW_DIFFERS], rows);
    if (counts[ROW_INHERITS]) printf(", and %zu more by what they are given", counts[ROW_INHERITS]);
    printf("; ");
    print_samples(s);
}

//---- JSON -------------------------------------------------------------------

static void json_lines(qdq_json *json, const char *key, const char *text, size_t from) {
    char line[1024];
    qdq_json_key(json, key);
    qdq_json_begin_line(json);
    for (size_t i = from; line_of(text, i, line, sizeof line); i++) qdq_json_string(json, line);
    qdq_json_end_array(json);
}

static void json_place(qdq_json *json, const state *s, size_t row, int64_t sample,
                       int64_t element) {
    json_uint_key(json, "sample", (size_t)sample);
    qdq_json_key(json, "index");
    json_shape(json, index_of(pair_shape(pairs_of(s), row), (size_t)element));
}

// Writes a number of a state. In a file of another program it may exceed the integers of the dtype.
static void json_number(qdq_json *json, qdq_dtype dtype, double value) {
    static const double most = 4611686018427387904.0;  // 2^62
    bool fits = value > -most && value < most;
    if (fits || qdq_dtype_is_real(dtype))
        json_element(json, dtype, value);
    else
        qdq_json_double(json, value);
}

static void json_results(qdq_json *json, qdq_dtype dtype, const double *values) {
    qdq_json_key(json, "results");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < 2; i++) json_number(json, dtype, values[i]);
    qdq_json_end_array(json);
}

static void json_greatest(qdq_json *json, const state *s, size_t row) {
    const state_table *t = pairs_of(s);
    const int64_t *steps = state_ints(t, PAIR_STEPS, row), *at = state_ints(t, PAIR_AT, row);
    const double *greatest = state_reals(t, PAIR_GREATEST, row);
    if (steps[0]) {
        qdq_json_key(json, "steps");
        qdq_json_begin_object(json);
        json_uint_key(json, "greatest", (size_t)steps[0]);
        json_place(json, s, row, steps[1], steps[2]);
        qdq_json_end_object(json);
    }
    if (at[0] == NO_SAMPLE) return;
    qdq_json_key(json, "difference");
    qdq_json_begin_object(json);
    json_double_key(json, "greatest", greatest[0]);
    json_place(json, s, row, at[0], at[1]);
    json_results(json, dtype_of(s, row, PAIR_DTYPE), greatest + 1);
    qdq_json_end_object(json);
}

static void json_cause(qdq_json *json, const state *s, size_t row, size_t own) {
    const state_table *t = &s->tables[1];
    const int64_t *counts = state_ints(t, CAUSE_COUNTS, own), *at = state_ints(t, CAUSE_AT, own);
    const double *values = state_reals(t, CAUSE_VALUES, own);
    qdq_json_begin_object(json);
    json_string_key(json, "cause", state_text(t, CAUSE_TEXT, own));
    json_uint_key(json, "elements", (size_t)counts[0]);
    json_uint_key(json, "samples", (size_t)counts[1]);
    json_place(json, s, row, at[0], at[1]);
    if (at[2]) {
        qdq_json_key(json, "x");
        json_number(json, dtype_of(s, row, PAIR_X_DTYPE), values[0]);
    }
    json_results(json, dtype_of(s, row, PAIR_DTYPE), values + 1);
    qdq_json_end_object(json);
}

static void json_pair(qdq_json *json, const state *s, size_t row) {
    static const char *const keys[PAIR_COUNTERS] = {"elements", "different", "nan_count", "samples",
                                                    "different_overall"};
    const state_table *t = pairs_of(s);
    const char *group = state_text(t, PAIR_GROUP, row);
    char op[1024];
    qdq_json_begin_object(json);
    json_string_key(json, "name", state_text(t, PAIR_VALUE, row));
    json_string_key(json, "node", state_text(t, PAIR_NODE, row));
    json_string_key(json, "op", state_text(t, PAIR_OP, row));
    json_string_key(json, "dtype", state_text(t, PAIR_DTYPE, row));
    qdq_json_key(json, "shape");
    json_shape(json, pair_shape(t, row));
    qdq_json_key(json, "targets");
    qdq_json_begin_line(json);
    qdq_json_string(json, s->targets.items[0]);
    qdq_json_string(json, state_text(t, PAIR_OTHER, row));
    qdq_json_end_array(json);
    json_lines(json, "left_out", state_text(t, PAIR_LEFT_OUT, row), 0);
    json_lines(json, "numerics", state_text(t, PAIR_NUMERICS, row), 0);
    for (size_t i = 0; i < PAIR_COUNTERS; i++)
        json_uint_key(json, keys[i], (size_t)counts_of(s, row)[i]);
    json_greatest(json, s, row);
    json_ratio_key(json, "snr", ratio_of(s, row, PAIR_NOISES));
    json_ratio_key(json, "snr_overall", ratio_of(s, row, PAIR_OVERALL_NOISES));
    qdq_json_key(json, "causes");
    qdq_json_begin_array(json);
    for (size_t own = 0; next_cause(s, row, &own); own++) json_cause(json, s, row, own);
    qdq_json_end_array(json);
    if (line_of(group, 0, op, sizeof op)) {
        qdq_json_key(json, "group");
        qdq_json_begin_object(json);
        json_string_key(json, "op", op);
        json_lines(json, "nodes", group, 1);
        qdq_json_end_object(json);
    }
    qdq_json_end_object(json);
}

static void json_report(const state *s) {
    qdq_json json;
    json_begin(&json);
    json_samples(&json, s);
    qdq_json_key(&json, "values");
    qdq_json_begin_array(&json);
    for (size_t row = 0; row < pairs_of(s)->rows; row++) json_pair(&json, s, row);
    qdq_json_end_array(&json);
    json_end(&json);
}

//---- Entry ------------------------------------------------------------------

int pair_report(const state *s, const options *opt) {
    size_t rows = pairs_of(s)->rows, counts[OUTCOMES] = {0};
    ranked *list = calloc(rows + 1, sizeof *list);
    if (!list) return tell_failure(QDQ_ERR_MEMORY, "no memory to list %zu values", rows);
    for (size_t row = 0; row < rows; row++) {
        list[row] = rank(s, row);
        counts[list[row].outcome]++;
    }
    qsort(list, rows, sizeof *list, worst_first);
    if (opt->json)
        json_report(s);
    else
        print_list(s, list, counts, opt->all);
    free(list);
    return counts[ROW_EQUAL] == rows ? EXIT_OK : EXIT_FINDINGS;
}
