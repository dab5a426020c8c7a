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

static int open_labels(quantization *q) {
    const string_list *given = &q->own->labels;
    aim *a = &q->aim;
    if (given->count != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is given %zu times, wanted once: the classes of one output",
                            given->count);
    if (noise_seed(q->opt))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--labels is given for random inputs; give the samples with --data "
                            "or -i");
    return labels_open(&a->labels, given->items[0], q->graph, q->session.plan, a->trials.runs,
                       q->opt->memory);
}

int aim_read(quantization *q) {
    aim *a = &q->aim;
    const quantize_options *own = q->own;
    int code = read_number("--at-least", own->at_least, -1000, 1000, "decibels, for example 30",
                           &a->decibels_given, &a->decibels);
    if (code == EXIT_OK)
        code = read_number("--drop", own->drop, 0, 100, "a number of percent from 0 to 100",
                           &a->drop_given, &a->drop);
    if (code == EXIT_OK && a->drop_given && !own->labels.count)
        code = tell_failure(QDQ_ERR_ARGUMENT,
                            "--drop is given without --labels, the file with the true classes");
    if (code != EXIT_OK || (!a->decibels_given && !own->labels.count)) return code;
    a->opened = true;
    code = trials_open(&a->trials, &q->session, q->opt);
    return code == EXIT_OK && own->labels.count ? open_labels(q) : code;
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
    if (!l->word || output != &v->aim->trials.outputs[l->output]) return;
    v->counts->rows += l->rows;
    v->counts->real += labels_right(l, run, real);
    v->counts->changed += labels_right(l, run, changed);
    v->counts->alike += labels_alike(l, real, changed);
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
    if (!a->drop_given || n->changed >= n->real) return true;
    double most = a->drop / 100 * (double)n->rows;
    return (double)(n->real - n->changed) <= most * (1 + 1e-12);  // 0.1 % of 1,000 rows is one
}

int aim_measure(quantization *q) {
    return q->aim.opened ? aim_try(q, q->quantized, NULL, 1, &q->aim.result) : EXIT_OK;
}
