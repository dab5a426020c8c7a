// SPDX-License-Identifier: Apache-2.0
// Products are corrected in the order of the graph, each with the corrections that were taken
// before it: first the bias, then the rounding of the weights, then the bias again. Each correction
// is fitted on half of the samples and judged on the other half, as the target deploys the graph.
//
// Costs are bounded: more than MOST_GROUPS products are corrected in as many groups of neighbours,
// and a group that does not gain is halved, MOST_HALVES times in all.
#include "tools/lab/quantize/correct.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/lab/quantize/correct_fit.h"
#include "tools/lab/quantize/correct_product.h"
#include "tools/options.h"
#include "tools/options/quantize.h"

enum { MOST_GROUPS = 32, MOST_HALVES = 64, PASSES = 5 };  // passes: of each group
static const double least_gain = 0.1, most_ratio = 400;   // in decibels

typedef struct correcting {
    quantization *q;
    corrections *out;
    trials trials;
    sample_folds folds;
    candidate *all;
    size_t count, halves;
    trial now;  // of the corrections that were taken
} correcting;

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory for a correction"); }

//---- Judging ----------------------------------------------------------------

static bool judges(void *with, size_t run) { return folds_take(with, run, false); }

// Takes samples of a batch that fit out of a trial.
static void keep_judges(const correcting *c, trial *t) {
    for (size_t i = 0; c->folds.parts > 1 && i < t->of->output_count; i++) {
        const trial_output *o = &t->of->outputs[i];
        for (size_t k = 0; o->judged && k < o->samples * t->of->runs; k++)
            if (!folds_take_part(&c->folds, k % o->samples, false))
                t->fates[o->first + k] = NOT_RUN;
    }
}

// Replaces the quantized graph by one with the present codes.
static int quantize_again(correcting *c) {
    quantization *q = c->q;
    qdq_error err = {0};
    qdq_graph_destroy(q->quantized);
    q->quantized = qdq_graph_quantized(q->graph, q->list.codings, q->list.count, &err);
    return q->quantized ? EXIT_OK : report_error(&err);
}

// Runs the quantized graph with the present codes on the samples that judge. Close the trial in
// either case.
static int judge(correcting *c, trial *out) {
    const trial_view view = {.takes = judges, .with = &c->folds};
    int code = quantize_again(c);
    if (code == EXIT_OK) code = trial_open(out, &c->trials);
    if (code == EXIT_OK) code = trial_add(out, c->q->quantized, c->q->target, &view);
    if (code == EXIT_OK) keep_judges(c, out);
    return code;
}

// Returns the ratio of a sample, within bounds.
static double ratio_of(const trial *t, size_t sample) {
    return fmax(fmin(noise_sum_decibels(&t->sums[sample]), most_ratio), -most_ratio);
}

// True if the mean gain of the samples is at least its standard error: else a few samples decide,
// by chance.
static bool gains_surely(const trial *before, const trial *after, size_t output) {
    const trial_output *o = &after->of->outputs[output];
    double sum = 0, squares = 0, count = 0;
    for (size_t i = o->first; i < o->first + o->samples * after->of->runs; i++) {
        if (after->fates[i] == NOT_RUN) continue;
        double gain = ratio_of(after, i) - ratio_of(before, i);
        sum += gain, squares += gain * gain, count++;
    }
    double variance = squares / count - sum / count * sum / count;
    return sum / count >= sqrt(fmax(variance, 0) / count);
}

static bool gains(const correcting *c, const trial *after, verdict v) {
    return v.samples && v.median >= c->out->after + least_gain &&
           gains_surely(&c->now, after, v.output);
}

//---- Attempts ---------------------------------------------------------------

// True if a correction changes nothing, so that no trial is needed.
static bool is_idle(const candidate *a, size_t count, bool rounding) {
    for (size_t i = 0; i < count; i++)
        if (rounding ? a[i].changed : a[i].site.takes_bias) return false;
    return true;
}

static void note_taken(correcting *c, candidate *a, size_t count, bool rounding, double after) {
    corrections *out = c->out;
    correction *taken = &out->taken[out->count++];
    *taken = (correction){.node = a->site.node,
                          .last = a[count - 1].site.node,
                          .products = count,
                          .rounding = rounding,
                          .before = out->after,
                          .after = after};
    for (size_t i = 0; i < count; i++) {
        a[i].biased |= !rounding && a[i].site.takes_bias;
        taken->changed += a[i].changed;
        if (a[i].sums.moments) taken->count += a[i].site.weights;
    }
    out->after = after;
}

static int attempt(correcting *c, candidate *a, size_t count, bool rounding, bool alone,
                   bool *taken);

// Tries both halves of neighbours that do not gain together.
static int attempt_halves(correcting *c, candidate *a, size_t count, bool rounding, bool *taken) {
    bool first = false, second = false;
    if (count < 2 || c->halves >= MOST_HALVES) return EXIT_OK;
    c->halves++;
    int code = attempt(c, a, count / 2, rounding, false, &first);
    if (code == EXIT_OK)
        code = attempt(c, a + count / 2, count - count / 2, rounding, false, &second);
    *taken = first || second;
    return code;
}

static int attempt(correcting *c, candidate *a, size_t count, bool rounding, bool alone,
                   bool *taken) {
    trial t = {0};
    verdict v = {0};
    site_codes *before = calloc(count, sizeof *before);
    size_t changed = 0;
    int code = before ? EXIT_OK : no_memory();
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        before[changed++] = site_codes_now(c->q, &a[i].site);
        bool done = rounding ? correct_rounding(c->q, &a[i]) : correct_bias(c->q, &a[i], alone);
        if (!done) code = no_memory();
    }
    bool idle = is_idle(a, count, rounding);
    if (code == EXIT_OK && !idle) code = judge(c, &t);
    if (code == EXIT_OK && !idle) v = trial_judge(&t);
    *taken = code == EXIT_OK && gains(c, &t, v);
    if (*taken) {
        note_taken(c, a, count, rounding, v.median);
        trial other = c->now;
        c->now = t, t = other;
    }
    trial_close(&t);
    for (size_t i = 0; !*taken && i < changed; i++) site_codes_restore(c->q, &a[i].site, before[i]);
    free(before);
    if (code != EXIT_OK || *taken || idle) return code;
    c->out->refused++;
    return attempt_halves(c, a, count, rounding, taken);
}

//---- Sums -------------------------------------------------------------------

static void note_skipped(correcting *c, const product_site *site, size_t bytes) {
    not_rounded *s = &c->out->skipped[c->out->skipped_count++];
    *s = (not_rounded){site->node, site->rows.depth, bytes, !site->rounds};
}

// Takes memory for the sums of a product: with `moments` those too, if they fit within --max-bytes.
// False if memory runs out.
static bool open_sums(correcting *c, candidate *a, bool moments, bool alone) {
    const product_rows *p = &a->site.rows;
    const qdq_allocator *memory = &c->q->opt->memory->allocator;
    size_t columns = p->groups * p->depth, square = 0;
    a->sums = (site_sums){.site = &a->site};
    a->sums.results = calloc(a->site.channels + 1, sizeof(double));
    if (moments || !alone) a->sums.inputs = calloc(columns + 1, sizeof(double));
    a->rounded = NULL, a->changed = 0;
    if (!a->sums.results || (!a->sums.inputs && (moments || !alone))) return false;
    if (!moments) return true;
    if (p->depth <= MOST_DEPTH) square = columns * p->depth;
    if (a->site.rounds && square) a->sums.moments = elements_take_numbers(memory, square);
    if (a->sums.moments) memset(a->sums.moments, 0, square * sizeof(double));
    if (!a->sums.moments) note_skipped(c, &a->site, columns * p->depth * sizeof(double));
    return true;
}

static void close_sums(candidate *a) {
    free(a->sums.results);
    free(a->sums.inputs);
    elements_free(a->sums.moments);
    a->sums = (site_sums){0};
}

// Runs the quantized graph for the sums of neighbours.
static int fit(correcting *c, candidate *a, size_t count, bool moments) {
    site_sums *sums = calloc(count, sizeof *sums);
    bool opened = sums != NULL;
    for (size_t i = 0; i < count; i++) {
        close_sums(&a[i]);
        opened = opened && open_sums(c, &a[i], moments, count == 1);
        if (opened) sums[i] = a[i].sums;
    }
    int code = opened ? EXIT_OK : no_memory();
    if (code == EXIT_OK) code = quantize_again(c);
    if (code == EXIT_OK)
        code = fit_add(&c->trials, &c->folds, c->q->graph, c->q->quantized, sums, count);
    for (size_t i = 0; opened && i < count; i++)
        a[i].sums.count = sums[i].count, a[i].sums.rows = sums[i].rows;
    free(sums);
    return code;
}

// Corrects neighbours: bias, weights, bias again.
static int correct_group(correcting *c, candidate *a, size_t count) {
    bool bias = false, rounding = false, again = false;
    int code = fit(c, a, count, true);
    if (code == EXIT_OK) code = attempt(c, a, count, false, count == 1, &bias);
    if (code == EXIT_OK) code = attempt(c, a, count, true, count == 1, &rounding);
    if (code == EXIT_OK && rounding) code = fit(c, a, count, false);
    if (code == EXIT_OK && rounding) code = attempt(c, a, count, false, count == 1, &again);
    for (size_t i = 0; i < count; i++) close_sums(&a[i]);
    return code;
}

//---- All products -----------------------------------------------------------

static int find_candidates(correcting *c) {
    size_t nodes = qdq_graph_node_count(c->q->graph);
    product_site site;
    for (size_t n = 0; n < nodes; n++) c->count += product_site_of(c->q, n, &site);
    c->all = calloc(c->count + 1, sizeof *c->all);
    c->out->skipped = coding_list_memory(&c->q->list, c->count, sizeof *c->out->skipped);
    c->out->taken = coding_list_memory(&c->q->list, 3 * c->count, sizeof *c->out->taken);
    if (!c->all || !c->out->skipped || !c->out->taken) return no_memory();
    for (size_t n = 0, i = 0; n < nodes; n++) {
        if (!product_site_of(c->q, n, &site)) continue;
        c->all[i].site = site;
        c->all[i].means = calloc(site.channels + 1, sizeof(double));
        if (!c->all[i++].means) return no_memory();
    }
    return EXIT_OK;
}

// Computes the mean results of the float graph.
static int find_means(correcting *c) {
    site_sums *sums = calloc(c->count + 1, sizeof *sums);
    if (!sums) return no_memory();
    for (size_t i = 0; i < c->count; i++)
        sums[i] = (site_sums){.site = &c->all[i].site, .results = c->all[i].means};
    int code = fit_add(&c->trials, &c->folds, c->q->graph, c->q->graph, sums, c->count);
    for (size_t i = 0; i < c->count; i++)
        for (size_t o = 0; sums[i].count && o < c->all[i].site.channels; o++)
            c->all[i].means[o] /= (double)sums[i].count;
    free(sums);
    return code;
}

static int correct_all(correcting *c) {
    size_t size = (c->count + MOST_GROUPS - 1) / MOST_GROUPS;
    int code = find_means(c);
    if (code == EXIT_OK) code = judge(c, &c->now);
    verdict v = code == EXIT_OK ? trial_judge(&c->now) : (verdict){0};
    c->out->before = c->out->after = v.median;
    c->out->judges = v.samples;
    for (size_t i = 0; code == EXIT_OK && v.samples && isfinite(v.median) && i < c->count;
         i += size)
        code = correct_group(c, c->all + i, i + size > c->count ? c->count - i : size);
    trial_close(&c->now);
    return code == EXIT_OK ? quantize_again(c) : code;
}

static int refuse_samples(const correcting *c) {
    const options *opt = c->q->opt;
    if (opt->data.samples)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s: has 1 sample, wanted several for --correct: half of them fit the "
                            "corrections, half judge them",
                            opt->data.samples);
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "--correct is given without samples; give several with --data, or in the "
                        "first dim of the inputs of -i");
}

int correct_codes(quantization *q) {
    if (!q->own->correct) return EXIT_OK;
    corrections *out = coding_list_memory(&q->list, 1, sizeof *out);
    if (!out) return no_memory();
    q->corrections = out;
    correcting c = {.q = q, .out = out};
    if (!q->opt->data.samples && !q->opt->inputs.count) return refuse_samples(&c);
    int code = trials_open(&c.trials, &q->session, q->opt);
    if (code == EXIT_OK) code = find_candidates(&c);
    if (code == EXIT_OK) {
        c.folds =
            sample_folds_of(&c.trials, PASSES * (c.count < MOST_GROUPS ? c.count : MOST_GROUPS));
        out->fits = c.folds.fits;
        if (!out->fits) code = refuse_samples(&c);
    }
    if (code == EXIT_OK && c.count) code = correct_all(&c);
    for (size_t i = 0; c.all && i < c.count; i++) free(c.all[i].means);
    free(c.all);
    trials_close(&c.trials);
    return code;
}
