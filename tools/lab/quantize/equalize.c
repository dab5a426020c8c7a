// SPDX-License-Identifier: Apache-2.0
// Takes sites one after another, in rounds over the graph. A candidate for a site is judged by the
// median sample: the graph with it, deployed, runs on each half of the samples with ranges of the
// changed values from the other half. Without a candidate the ranges also come from the other half.
#include "tools/lab/quantize/equalize.h"

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/calibrate/calibrate_kind.h"
#include "tools/lab/quantize/site_values.h"
#include "tools/options.h"
#include "tools/options/quantize.h"

static const double least_gain = 0.1;  // dB
enum { ROUNDS = 3 };                   // at most, over all sites

typedef struct equalizing {
    quantization *q;
    trials trials;
    size_t count;
    size_t *first;              // [site]: its first value among the values of all sites
    size_t *rows;               // [value]: its row in the state; SIZE_MAX: none
    state given;                // [value]: its row, without equalizing
    site_values values;         // [value], without equalizing, then as the sites taken have it
    bool *is_inexact;           // [site][candidate]
    bool *is_taken;             // [site]
    qdq_equalize_factors *all;  // of the sites taken, and of a candidate behind them
} equalizing;

// A candidate with its results.
typedef struct attempt {
    const factor_candidate *candidate;  // NULL: no factors
    int *exponents;
    qdq_graph *graph;
    site_values values;  // of the site
    double median;
} attempt;

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory to equalize"); }

static void attempt_release(attempt *a) {
    free(a->exponents);
    qdq_graph_destroy(a->graph);
    site_values_release(&a->values);
    *a = (attempt){0};
}

static const qdq_equalize_site *site_at(const equalizing *e, size_t index) {
    return qdq_equalize_site_get(e->q->equalization.sites, index);
}

//---- Statistics -------------------------------------------------------------

// Copies statistics to the state, of values from `first` on. `from` NULL: as given.
static void set_rows(const equalizing *e, size_t first, size_t count, const state *from,
                     size_t from_first) {
    for (size_t i = 0; i < count; i++)
        if (e->rows[first + i] != SIZE_MAX)
            statistics_replace(&e->q->state, e->rows[first + i], from, from_first + i);
}

// Gives the values of the sites taken and of site `own` the statistics of a fold.
static void use_fold(const equalizing *e, size_t own, const attempt *a, int fold) {
    const equalization *done = &e->q->equalization;
    for (size_t i = 0; i < done->count; i++) {
        size_t site = done->taken[i].site;
        set_rows(e, e->first[site], site_at(e, site)->value_count, &e->values.folds[fold],
                 e->first[site]);
    }
    if (a->candidate)
        set_rows(e, e->first[own], site_at(e, own)->value_count, &a->values.folds[fold], 0);
    else
        set_rows(e, e->first[own], site_at(e, own)->value_count, &e->values.folds[fold],
                 e->first[own]);
}

//---- One candidate ----------------------------------------------------------

static bool is_of_fold(void *with, size_t run) { return run % FOLDS == *(const size_t *)with; }

// Runs the graph on each fold with ranges of the other.
static int judge(equalizing *e, size_t site, qdq_graph *graph, attempt *a, bool *refused) {
    const quantization *q = e->q;
    trial t;
    int code = trial_open(&t, &e->trials);
    for (size_t fold = 0; code == EXIT_OK && fold < FOLDS; fold++) {
        const trial_view view = {.takes = is_of_fold, .with = &fold};
        use_fold(e, site, a, (int)(FOLDS - 1 - fold));
        code = trial_add_quantized(&t, graph, &q->state, &q->choice, q->target, &view);
    }
    set_rows(e, e->first[site], site_at(e, site)->value_count, &e->given, e->first[site]);
    a->median = trial_judge(&t).median;
    *refused = t.refused;
    trial_close(&t);
    return code;
}

// Builds the graph of a candidate. *exact: false if a constant under- or overflows, or an output
// of the float graph changes.
static int build(equalizing *e, size_t site, attempt *a, bool *exact) {
    equalization *done = &e->q->equalization;
    qdq_error err = {0};
    e->all[done->count] = (qdq_equalize_factors){site, a->exponents};
    a->graph = qdq_graph_equalized(done->sites, e->all, done->count + 1, &err);
    *exact = a->graph != NULL;
    if (!a->graph && err.status == QDQ_ERR_UNSUPPORTED) return EXIT_OK;
    if (!a->graph) return report_error(&err);
    int code = site_values_collect(&e->trials, a->graph, done->sites, site, 1, &a->values);
    *exact = a->values.same == a->values.runs[0] + a->values.runs[1];
    return code;
}

// Sets the factors of a candidate. False if there are none, or a candidate before it has the same.
static bool set_factors(const equalizing *e, size_t site, size_t candidate, int *exponents,
                        int *others) {
    const qdq_equalize_site *s = site_at(e, site);
    const double *greatest = e->values.greatest[site];
    if (!choose_factors(s, greatest, &factor_candidates[candidate], exponents)) return false;
    for (size_t i = 0; i < candidate; i++)
        if (choose_factors(s, greatest, &factor_candidates[i], others) &&
            memcmp(exponents, others, s->channels * sizeof *others) == 0)
            return false;
    return true;
}

// Tries a candidate, and keeps it as *best if it is better.
static int try_candidate(equalizing *e, size_t site, size_t candidate, attempt *best) {
    size_t channels = site_at(e, site)->channels;
    attempt a = {.candidate = &factor_candidates[candidate],
                 .exponents = calloc(2 * channels, sizeof(int))};
    bool exact = false, refused = false;
    bool *is_inexact = &e->is_inexact[site * FACTOR_CANDIDATES + candidate];
    if (!a.exponents) return no_memory();
    int code = EXIT_OK;
    if (!*is_inexact && set_factors(e, site, candidate, a.exponents, a.exponents + channels)) {
        code = build(e, site, &a, &exact);
        if (code == EXIT_OK && exact) code = judge(e, site, a.graph, &a, &refused);
        *is_inexact = !exact;
        if (code == EXIT_OK && exact && !refused && a.median > best->median) {
            attempt worse = *best;
            *best = a, a = worse;
        }
    }
    attempt_release(&a);
    return code;
}

//---- One site ---------------------------------------------------------------

static void take(equalizing *e, size_t site, attempt *best, double before) {
    quantization *q = e->q;
    equalization *done = &q->equalization;
    for (int fold = 0; fold < FOLDS; fold++)
        for (size_t i = 0; i < site_at(e, site)->value_count; i++)
            statistics_replace(&e->values.folds[fold], e->first[site] + i,
                               &best->values.folds[fold], i);
    e->all[done->count] = (qdq_equalize_factors){site, best->exponents};
    done->taken[done->count++] = (equalized_site){
        .site = site,
        .candidate = best->candidate,
        .exponents = best->exponents,
        .ratio = imbalance_of(e->values.greatest[site], site_at(e, site)->channels),
        .before = before,
        .after = best->median,
    };
    best->exponents = NULL;
    e->is_taken[site] = true;
    done->same = best->values.same;
    qdq_graph_destroy(q->equalized);
    q->graph = q->equalized = best->graph;
    best->graph = NULL;
}

static int try_site(equalizing *e, size_t site, bool *refused) {
    attempt none = {0}, best = {0};
    int code = judge(e, site, e->q->graph, &none, refused);
    best.median = none.median;
    for (size_t i = 0; code == EXIT_OK && !*refused && i < FACTOR_CANDIDATES; i++)
        code = try_candidate(e, site, i, &best);
    if (code == EXIT_OK && best.candidate && best.median >= none.median + least_gain)
        take(e, site, &best, none.median);
    attempt_release(&best);
    return code;
}

//---- All sites --------------------------------------------------------------

static int list_sites(equalizing *e) {
    equalization *out = &e->q->equalization;
    qdq_error err = {0};
    size_t values = 0;
    out->sites = qdq_graph_equalize_sites(e->q->graph, &err);
    if (!out->sites) return report_error(&err);
    e->count = qdq_equalize_site_count(out->sites);
    e->first = calloc(e->count + 1, sizeof *e->first);
    e->all = calloc(e->count + 1, sizeof *e->all);
    e->is_inexact = calloc(e->count + 1, FACTOR_CANDIDATES * sizeof *e->is_inexact);
    e->is_taken = calloc(e->count + 1, sizeof *e->is_taken);
    out->taken = calloc(e->count + 1, sizeof *out->taken);
    if (!e->first || !e->all || !e->is_inexact || !e->is_taken || !out->taken) return no_memory();
    for (size_t i = 0; i < e->count; i++) {
        e->first[i] = values;
        values += site_at(e, i)->value_count;
    }
    e->rows = calloc(values + 1, sizeof *e->rows);
    return e->rows ? EXIT_OK : no_memory();
}

static size_t row_named(const state *s, const char *name) {
    for (size_t i = 0; i < s->tables[0].rows; i++)
        if (strcmp(state_text(&s->tables[0], 0, i), name) == 0) return i;
    return SIZE_MAX;
}

// Finds the rows of all values in the state, and keeps a copy of each.
static int keep_given(equalizing *e) {
    const state *s = &e->q->state;
    const state_table *names = &e->values.folds[0].tables[0];
    state_open(&e->given, &calibrate_kind);
    for (size_t i = 0; i < names->rows; i++) {
        const char *const texts[] = {state_text(names, 0, i), state_text(names, 1, i)};
        e->rows[i] = row_named(s, texts[0]);
        if (state_add_row(&e->given.tables[0], texts) == SIZE_MAX) return no_memory();
        if (e->rows[i] != SIZE_MAX) statistics_replace(&e->given, i, s, e->rows[i]);
    }
    return EXIT_OK;
}

static int check_samples(const equalizing *e) {
    const size_t *runs = e->values.runs;
    if (runs[0] && runs[1]) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "--equalize: %s has samples for one half only, of %zu that can be read, "
                        "wanted two or more: it judges each half with ranges of the other",
                        e->q->opt->data.samples, runs[0] + runs[1]);
}

// Gives the values of the sites taken their statistics over all samples.
static void use_all(equalizing *e) {
    const equalization *done = &e->q->equalization;
    const state_table_kind *kind = calibrate_kind.tables;
    for (size_t i = 0; i < done->count; i++) {
        size_t site = done->taken[i].site;
        for (size_t v = e->first[site]; v < e->first[site] + site_at(e, site)->value_count; v++)
            kind->merge(&e->values.folds[0].tables[0], v, &e->values.folds[1].tables[0], v);
        set_rows(e, e->first[site], site_at(e, site)->value_count, &e->values.folds[0],
                 e->first[site]);
    }
}

// Tries each site, and again the sites that gained too little before others were taken.
static int try_sites(equalizing *e) {
    const equalization *done = &e->q->equalization;
    size_t left = e->count;  // sites behind the last one taken
    bool refused = false;
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && !refused && left && i < ROUNDS * e->count; i++) {
        size_t site = i % e->count, before = done->count;
        if (!e->is_taken[site]) code = try_site(e, site, &refused);
        left = done->count > before ? e->count - 1 : left - 1;
    }
    for (size_t i = 0; i < e->count * FACTOR_CANDIDATES; i++)
        e->q->equalization.inexact += e->is_inexact[i];
    return code;
}

static int run(equalizing *e) {
    equalization *out = &e->q->equalization;
    int code = site_values_collect(&e->trials, e->q->graph, out->sites, 0, e->count, &e->values);
    if (code == EXIT_OK) code = check_samples(e);
    if (code == EXIT_OK) code = keep_given(e);
    out->same = e->values.same;
    out->samples = e->values.runs[0] + e->values.runs[1];
    if (code == EXIT_OK) code = try_sites(e);
    if (code == EXIT_OK) use_all(e);
    return code;
}

int equalize(quantization *q) {
    equalizing e = {.q = q};
    if (!q->own->equalize) return EXIT_OK;
    int code = trials_open(&e.trials, &q->session, q->opt);
    if (code == EXIT_OK) code = list_sites(&e);
    if (code == EXIT_OK) code = run(&e);
    trials_close(&e.trials);
    site_values_release(&e.values);
    state_release(&e.given);
    free(e.first);
    free(e.rows);
    free(e.all);
    free(e.is_inexact);
    free(e.is_taken);
    return code;
}
