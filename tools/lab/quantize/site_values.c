// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/site_values.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/watch.h"
#include "tools/lab/calibrate/calibrate_kind.h"

typedef struct collecting {
    trials *trials;
    const qdq_equalize_sites *sites;
    size_t first, count;
    session session;  // of the graph, which keeps the values
    const char **names;
    size_t name_count;
    float *elements;  // room for the largest value
    site_values *out;
} collecting;

static const qdq_equalize_site *site_at(const collecting *c, size_t index) {
    return qdq_equalize_site_get(c->sites, c->first + index);
}

static int no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the statistics of channels");
}

void statistics_replace(state *into, size_t row, const state *from, size_t from_row) {
    const state_table_kind *kind = into->tables[0].kind;
    kind->clear(&into->tables[0], row);
    kind->merge(&into->tables[0], row, &from->tables[0], from_row);
}

// Adds a row for each value, in both folds, and the memory of its channels.
static int add_rows(collecting *c) {
    const qdq_graph *given = c->trials->real->graph;
    site_values *out = c->out;
    size_t values = 0;
    for (size_t i = 0; i < c->count; i++) values += site_at(c, i)->value_count;
    for (int fold = 0; fold < FOLDS; fold++) state_open(&out->folds[fold], &calibrate_kind);
    c->names = calloc(values + 1, sizeof *c->names);
    out->greatest = calloc(c->count + 1, sizeof *out->greatest);
    if (!c->names || !out->greatest) return no_memory();
    out->site_count = c->count;
    for (size_t i = 0; i < c->count; i++) {
        out->greatest[i] = calloc(site_at(c, i)->channels, sizeof(double));
        if (!out->greatest[i]) return no_memory();
        for (size_t k = 0; k < site_at(c, i)->value_count; k++) {
            const char *name = qdq_value_name(given, site_at(c, i)->values[k].value);
            const char *const texts[] = {name, qdq_dtype_name(QDQ_FLOAT32)};
            c->names[c->name_count++] = name;
            for (int fold = 0; fold < FOLDS; fold++)
                if (state_add_row(&out->folds[fold].tables[0], texts) == SIZE_MAX)
                    return no_memory();
        }
    }
    return EXIT_OK;
}

// Compiles the graph as target core, and keeps the values.
static int compile(collecting *c) {
    qdq_compile_options compile;
    qdq_error err = {0};
    session *s = &c->session;
    size_t most = 1;
    if (!compile_options_of(&c->trials->opt, &compile)) return EXIT_USAGE;
    s->exec_options = c->trials->real->exec_options;
    compile.target = "core";
    compile.layout = QDQ_PLAN_ROWS;
    compile.device = qdq_device_find("none", NULL);
    compile.parallel = s->exec_options.parallel;
    compile.keep = c->names, compile.keep_count = c->name_count;
    s->plan = qdq_graph_compile(s->graph, &compile, &err);
    s->exec = qdq_exec_create(s->plan, &s->exec_options, &err);
    if (!s->exec) return report_error(&err);
    for (size_t i = 0; i < qdq_plan_kept_count(s->plan); i++) {
        size_t count = qdq_shape_count(qdq_plan_kept(s->plan, i)->shape);
        if (count > most) most = count;
    }
    c->elements = elements_take(s->exec_options.allocator, most * sizeof *c->elements);
    return c->elements ? EXIT_OK : no_memory();
}

// True if a product of the site reads the value.
static bool is_read(const qdq_graph *given, const qdq_equalize_site *site, qdq_value value) {
    for (size_t i = 0; i < site->reader_count; i++)
        if (qdq_graph_node_input(given, site->readers[i].node, site->readers[i].port).id ==
            value.id)
            return true;
    return false;
}

static void add_channels(const collecting *c, size_t site, size_t stride, size_t count) {
    const qdq_equalize_site *s = site_at(c, site);
    double *greatest = c->out->greatest[site];
    for (size_t i = 0; i < count; i++) {
        double x = fabs((double)c->elements[i]), *most = &greatest[i / stride % s->channels];
        if (isfinite(x) && x > *most) *most = x;
    }
}

static int add_values(const collecting *c, size_t fold) {
    const qdq_graph *given = c->trials->real->graph;
    const state_table *table = &c->out->folds[fold].tables[0];
    size_t row = 0;
    for (size_t i = 0; i < c->count; i++) {
        for (size_t k = 0; k < site_at(c, i)->value_count; k++, row++) {
            const qdq_site_value *v = &site_at(c, i)->values[k];
            qdq_shape shape;
            qdq_error err = {0};
            (void)qdq_value_type(given, v->value, NULL, &shape);
            size_t count = qdq_shape_count(shape);
            if (qdq_exec_read(c->session.exec, c->names[row], QDQ_FLOAT32, c->elements, count,
                              &err) != QDQ_OK)
                return report_error(&err);
            statistics one = calibrate_statistics(table, row);
            statistics_add(&one, QDQ_FLOAT32, c->elements, count);
            if (is_read(given, site_at(c, i), v->value)) add_channels(c, i, v->stride, count);
        }
    }
    return EXIT_OK;
}

static int add_runs(collecting *c) {
    trials *t = c->trials;
    int code = EXIT_OK;
    for (size_t run = 0; code == EXIT_OK && run < t->runs; run++) {
        bool same, ran;
        watch_tell(t->opt.watch, "collecting channels, sample %zu of %zu", run + 1, t->runs);
        code = trials_compare(t, run, &c->session, &ran, &same);
        if (code != EXIT_OK || !ran) continue;
        c->out->runs[run % FOLDS]++;
        c->out->same += same;
        code = add_values(c, run % FOLDS);
    }
    watch_clear(t->opt.watch);
    return code;
}

int site_values_collect(trials *t, qdq_graph *graph, const qdq_equalize_sites *sites, size_t first,
                        size_t count, site_values *out) {
    collecting c = {.trials = t,
                    .sites = sites,
                    .first = first,
                    .count = count,
                    .session.graph = graph,
                    .out = out};
    *out = (site_values){0};
    int code = add_rows(&c);
    if (code == EXIT_OK) code = compile(&c);
    if (code == EXIT_OK) code = add_runs(&c);
    elements_free(c.elements);
    qdq_exec_destroy(c.session.exec);
    qdq_plan_destroy(c.session.plan);
    free(c.names);
    return code;
}

void site_values_release(site_values *v) {
    for (int fold = 0; fold < FOLDS; fold++) state_release(&v->folds[fold]);
    for (size_t i = 0; v->greatest && i < v->site_count; i++) free(v->greatest[i]);
    free(v->greatest);
    *v = (site_values){0};
}
