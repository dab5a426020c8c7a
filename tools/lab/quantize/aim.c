// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/aim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/lab/quantize/quantize_report.h"
#include "tools/options/quantize.h"

//---- Options ----------------------------------------------------------------

static int read_number(const char *option, const char *text, double least, double most,
                       const char *wanted, bool *given, double *out) {
    char *end;
    if (!text) return EXIT_OK;
    *given = true;
    *out = strtod(text, &end);
    if (*text && !*end && *out >= least && *out <= most) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "%s is '%s', wanted %s", option, text, wanted);
}

int aim_read(quantization *q) {
    aim *a = &q->aim;
    const quantize_options *own = q->own;
    int code = read_number("--at-least", own->at_least, -1000, 1000, "decibels, for example 30",
                           &a->decibels_given, &a->decibels);
    if (code == EXIT_OK)
        code = read_number("--drop", own->drop, 0, 100, "a number of percent from 0 to 100",
                           &a->drop_given, &a->drop);
    if (code == EXIT_OK && a->drop_given && !q->opt->data.labels.count)
        code = tell_failure(QDQ_ERR_ARGUMENT,
                            "--drop is given without --labels, the file with the true classes");
    if (code != EXIT_OK || (!a->decibels_given && !q->opt->data.labels.count)) return code;
    a->opened = true;
    code = trials_open(&a->trials, &q->session, q->opt);
    return code == EXIT_OK
               ? labels_open(&a->labels, q->opt, q->graph, q->session.plan, a->trials.runs)
               : code;
}

void aim_release(aim *a) {
    if (a->opened) trials_close(&a->trials);
    labels_close(&a->labels);
    free(a->ranking);
    free(a->found);
}

//---- Trials -----------------------------------------------------------------

// The runs of a trial, and the labels that they meet.
typedef struct view {
    const aim *aim;
    size_t stride;
    label_counts *counts;
} view;

static bool takes(void *with, size_t run) { return run % ((const view *)with)->stride == 0; }

static void sees(void *with, size_t run, const trial_output *output, const double *real,
                 const double *changed) {
    const view *v = with;
    const labels *l = &v->aim->labels;
    if (l->word && output == &v->aim->trials.outputs[l->output])
        labels_count(l, run, real, changed, v->counts);
}

int aim_try(quantization *q, qdq_graph *graph, const quantize_choice *choice, size_t stride,
            outcome *out) {
    aim *a = &q->aim;
    trial t;
    view v = {.aim = a, .stride = stride, .counts = &out->counts};
    const trial_view seen = {takes, sees, &v};
    *out = (outcome){.counts = {0}};
    int code = trial_open(&t, &a->trials);
    if (code == EXIT_OK)
        code = choice ? trial_add_quantized(&t, graph, &q->state, choice, q->target, &seen)
                      : trial_add(&t, graph, q->target, &seen);
    if (code == EXIT_OK) out->verdict = trial_judge(&t);
    trial_close(&t);
    return code;
}

bool aim_is_reached(const aim *a, const outcome *o) {
    const label_counts *n = &o->counts;
    if (!o->verdict.samples || (a->decibels_given && !(o->verdict.decibels >= a->decibels)))
        return false;
    if (!a->drop_given || n->quantized >= n->real) return true;
    double most = a->drop / 100 * (double)n->rows;
    return (double)(n->real - n->quantized) <= most * (1 + 1e-12);  // 0.1 % of 1,000 rows is one
}
