// SPDX-License-Identifier: Apache-2.0
// Rows of inputs are taken evenly: their number is bounded by the columns, so that the moments of a
// product take no more time than their factor.
#include "tools/lab/quantize/correct_fit.h"

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/quantize/correct_rounding.h"

enum { DATA, ROWS_AT_ONCE = 4 };

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory for a correction"); }

//---- Folds ------------------------------------------------------------------

static size_t parts_of(const trials *t) {
    size_t parts = 0;
    for (size_t i = 0; i < t->output_count; i++) {
        const trial_output *o = &t->outputs[i];
        if (o->judged && parts && o->samples != parts) return 1;
        if (o->judged) parts = o->samples;
    }
    return parts ? parts : 1;
}

// Returns a number of samples with which all passes take about 2^43 operations.
static size_t most_samples(const trials *t, size_t passes) {
    double operations = (double)qdq_plan_get_stats(t->real->plan).operations * (double)passes;
    double most = 0x1p43 / (operations + 1);
    if (most >= MOST_SAMPLES) return MOST_SAMPLES;
    return most > LEAST_SAMPLES ? (size_t)most : LEAST_SAMPLES;
}

static bool fits(size_t sample) {
    bool even = true;
    for (; sample; sample >>= 1) even ^= sample & 1;
    return even;
}

sample_folds sample_folds_of(const trials *t, size_t passes) {
    size_t most = most_samples(t, passes);
    sample_folds f = {.step = (t->runs + most - 1) / most, .parts = 1};
    if (t->runs == 1) f.parts = parts_of(t);
    size_t all = t->runs == 1 ? f.parts : (t->runs + f.step - 1) / f.step;
    for (size_t i = 0; all > 1 && i < all; i++) f.fits += fits(i);
    return f;
}

bool folds_take(const sample_folds *f, size_t run, bool fitting) {
    if (f->parts > 1) return true;
    size_t sample = run / f->step;
    return run % f->step == sample % f->step && fits(sample) == fitting;
}

bool folds_take_part(const sample_folds *f, size_t part, bool fitting) {
    return f->parts == 1 || fits(part) == fitting;
}

//---- A run ------------------------------------------------------------------

// A graph that runs, and the elements of one value.
typedef struct fitting {
    trials *trials;
    const sample_folds *folds;
    const qdq_graph *given;
    session session;
    float *elements;
    double *rows;
} fitting;

// Returns the value that a node of the given graph returns, or reads as data, in the graph that
// runs.
static qdq_value value_of(const fitting *f, size_t node, bool result) {
    const qdq_graph *graph = f->session.graph;
    const char *name = qdq_graph_node(f->given, node).name;
    for (size_t n = 0; n < qdq_graph_node_count(graph); n++)
        if (strcmp(qdq_graph_node(graph, n).name, name) == 0)
            return result ? qdq_graph_node_output(graph, n, 0)
                          : qdq_graph_node_input(graph, n, DATA);
    return (qdq_value){0};
}

// Reads a kept value as float32. The elements belong to `f`. *count is 0 if an output that is
// another value has its name, and is read in its place.
static int read_value(fitting *f, size_t node, bool result, size_t *count) {
    qdq_error err = {0};
    qdq_shape shape = {.rank = 0};
    qdq_value v = value_of(f, node, result);
    const char *name = qdq_value_name(f->session.graph, v);
    size_t output = qdq_output_value(f->session.graph, name).id;
    (void)qdq_value_type(f->session.graph, v, NULL, &shape);
    *count = output && output != v.id ? 0 : qdq_shape_count(shape);
    if (!*count) return EXIT_OK;
    elements_free(f->elements);
    f->elements = elements_take(&f->trials->opt.memory->allocator, *count * sizeof(float));
    if (!f->elements) return no_memory();
    qdq_status status =
        qdq_exec_read(f->session.exec, name, QDQ_FLOAT32, f->elements, *count, &err);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

static size_t part_of(const fitting *f, const product_rows *p, size_t row) {
    return row * f->folds->parts / p->rows;
}

static int add_results(fitting *f, site_sums *s) {
    const product_rows *p = &s->site->rows;
    size_t count;
    int code = read_value(f, s->site->result, true, &count);
    if (code != EXIT_OK || count != p->rows * s->site->channels) return code;
    for (size_t row = 0; row < p->rows; row++) {
        if (!folds_take_part(f->folds, part_of(f, p, row), true)) continue;
        for (size_t c = 0; c < s->site->channels; c++)
            s->results[c] += (double)f->elements[product_result(p, row, c)];
        s->count++;
    }
    return EXIT_OK;
}

static void add_rows(site_sums *s, size_t group, const double *rows, size_t count) {
    size_t depth = s->site->rows.depth;
    double *inputs = s->inputs + group * depth;
    for (size_t r = 0; r < count; r++)
        for (size_t k = 0; k < depth; k++) inputs[k] += rows[r * depth + k];
    if (s->moments) moments_add(s->moments + group * depth * depth, depth, rows, count);
}

// Adds every `step`-th row of the parts that fit.
static void add_group(const fitting *f, site_sums *s, size_t group, size_t step, size_t *added) {
    const product_rows *p = &s->site->rows;
    size_t held = 0;
    *added = 0;
    for (size_t row = 0; row < p->rows; row += step) {
        if (!folds_take_part(f->folds, part_of(f, p, row), true)) continue;
        product_row(p, f->elements, row, group, f->rows + held++ * p->depth);
        ++*added;
        if (held < ROWS_AT_ONCE) continue;
        add_rows(s, group, f->rows, held);
        held = 0;
    }
    add_rows(s, group, f->rows, held);
}

static int add_inputs(fitting *f, site_sums *s) {
    const product_rows *p = &s->site->rows;
    size_t count, added = 0, most = 2 * p->depth;
    int code = read_value(f, s->site->node, false, &count);
    if (code != EXIT_OK || !count) return code;
    if (most < ENOUGH_ROWS) most = ENOUGH_ROWS;
    size_t step = p->rows * f->folds->fits / f->folds->parts / most + 1;
    elements_free(f->rows);
    f->rows = elements_take_numbers(&f->trials->opt.memory->allocator, ROWS_AT_ONCE * p->depth);
    if (!f->rows) return no_memory();
    for (size_t g = 0; g < p->groups; g++) add_group(f, s, g, step, &added);
    s->rows += added;
    return EXIT_OK;
}

static int add_sums(fitting *f, site_sums *sums, size_t count) {
    int code = EXIT_OK;
    qdq_exec_run(f->session.exec);
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        if (sums[i].results) code = add_results(f, &sums[i]);
        if (code == EXIT_OK && sums[i].inputs) code = add_inputs(f, &sums[i]);
    }
    return code;
}

//---- All runs ---------------------------------------------------------------

static int compile(fitting *f, const site_sums *sums, size_t count) {
    const session *real = f->trials->real;
    qdq_compile_options how;
    qdq_error err = {0};
    const char **keep = calloc(2 * count + 1, sizeof *keep);
    if (!keep) return no_memory();
    if (!compile_options_of(&f->trials->opt, &how)) {
        free(keep);
        return EXIT_USAGE;
    }
    how.target = "core", how.layout = QDQ_PLAN_ROWS, how.device = qdq_device_find("none", NULL);
    how.keep = keep, how.keep_all = false, how.keep_count = 0;
    how.parallel = real->exec_options.parallel;
    for (size_t i = 0; i < count; i++) {
        qdq_value result = value_of(f, sums[i].site->result, true);
        qdq_value data = value_of(f, sums[i].site->node, false);
        if (sums[i].results) keep[how.keep_count++] = qdq_value_name(f->session.graph, result);
        if (sums[i].inputs) keep[how.keep_count++] = qdq_value_name(f->session.graph, data);
    }
    f->session.plan = qdq_graph_compile(f->session.graph, &how, &err);
    f->session.exec = qdq_exec_create(f->session.plan, &real->exec_options, &err);
    free(keep);
    return f->session.exec ? EXIT_OK : report_error(&err);
}

int fit_add(trials *t, const sample_folds *folds, const qdq_graph *given, qdq_graph *graph,
            site_sums *sums, size_t count) {
    fitting f = {.trials = t, .folds = folds, .given = given, .session = {.graph = graph}};
    int code = compile(&f, sums, count);
    for (size_t run = 0; code == EXIT_OK && run < t->runs; run++) {
        if (!folds_take(folds, run, true)) continue;
        watch_tell(t->opt.watch, "fitting a correction, sample %zu of %zu", run + 1, t->runs);
        code = trials_give(t, run, &f.session);
        if (code == EXIT_OK && !t->unreadable[run]) code = add_sums(&f, sums, count);
    }
    watch_clear(t->opt.watch);
    elements_free(f.elements);
    elements_free(f.rows);
    qdq_exec_destroy(f.session.exec);
    qdq_plan_destroy(f.session.plan);
    return code;
}
