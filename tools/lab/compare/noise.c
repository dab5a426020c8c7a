// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/lab/dataset/samples.h"
#include "tools/options.h"
#include "tools/session.h"

static bool is_float(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
}

// Returns the type of an output or a kept value of a plan; NULL if it has none of this name.
static const qdq_tensor_info *find(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        if (strcmp(qdq_plan_output(plan, i)->name, name) == 0) return qdq_plan_output(plan, i);
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++)
        if (strcmp(qdq_plan_kept(plan, i)->name, name) == 0) return qdq_plan_kept(plan, i);
    return NULL;
}

void noise_sum_add(noise_sum *sum, const double *y, const double *changed, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double error = y[i] - changed[i];
        if (!isfinite(error)) continue;
        sum->signal += y[i] * y[i], sum->error += error * error;
    }
}

double noise_sum_decibels(const noise_sum *sum) {
    return sum->error > 0 ? 10 * log10(sum->signal / sum->error) : INFINITY;
}

//---- Measuring --------------------------------------------------------------

static int add_value(const session *before, const session *after, const char *name, noise *out) {
    const qdq_tensor_info *a = find(before->plan, name), *b = find(after->plan, name);
    qdq_error err = {0};
    if (!a || !b || !is_float(a->dtype) || !is_float(b->dtype) ||
        qdq_shape_count(a->shape) != qdq_shape_count(b->shape))
        return EXIT_OK;
    size_t count = qdq_shape_count(a->shape);
    float *read = malloc((count + 1) * sizeof *read);
    double *y = malloc((2 * count + 1) * sizeof *y);
    qdq_status status = read && y ? QDQ_OK : QDQ_ERR_MEMORY;
    if (status == QDQ_OK)
        status = qdq_exec_read(before->exec, name, QDQ_FLOAT32, read, count, &err);
    if (status == QDQ_OK) to_doubles(QDQ_FLOAT32, read, count, y);
    if (status == QDQ_OK) status = qdq_exec_read(after->exec, name, QDQ_FLOAT32, read, count, &err);
    if (status == QDQ_OK) {
        to_doubles(QDQ_FLOAT32, read, count, y + count);
        noise_sum_add(&out->sum, y, y + count, count);
        snprintf(out->name, sizeof out->name, "%s", name);
    }
    free(read);
    free(y);
    if (status == QDQ_ERR_MEMORY) return tell_failure(status, "no memory for value '%s'", name);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Opens a session of a graph, with its inputs and those kept values of the options that it has.
static int open_kept(session *s, qdq_graph *graph, const options *opt) {
    const session of = {.graph = graph};
    options own = *opt;
    size_t count = 0;
    const char **keep = malloc((opt->compile.keep.count + 1) * sizeof *keep);
    if (!keep) return tell_failure(QDQ_ERR_MEMORY, "no memory for names");
    for (size_t i = 0; i < opt->compile.keep.count; i++)
        if (qdq_graph_find(graph, opt->compile.keep.items[i]).id)
            keep[count++] = opt->compile.keep.items[i];
    own.compile.keep = (string_list){.items = keep, .count = count};
    int code = session_open_mode(s, &of, &own, false);
    free(keep);
    return code;
}

// Values before and after a change.
typedef struct comparison {
    session before, after;
    const options *opt;
    const char *const *names;
    size_t count, outputs;
    noise *out;  // noise of `count` values, then of the outputs
} comparison;

// Runs both graphs and adds the noise of all values.
static int add_run(comparison *c) {
    session_run(&c->before, c->opt);
    session_run(&c->after, c->opt);
    for (size_t i = 0; i < c->count + c->outputs; i++) {
        const char *name =
            i < c->count ? c->names[i] : qdq_plan_output(c->before.plan, i - c->count)->name;
        int code = add_value(&c->before, &c->after, name, &c->out[i]);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

// Runs both graphs on a sample. Names a sample that cannot be read, and leaves it out.
static int add_sample(comparison *c, samples *data, size_t index, size_t *used) {
    unsigned char digest[QDQ_SHA256_BYTES];
    qdq_error err = {0};
    qdq_status status = sample_load(data, index, c->before.exec, digest, &err);
    if (status == QDQ_OK) status = sample_load(data, index, c->after.exec, digest, &err);
    if (status == QDQ_ERR_MEMORY) return report_error(&err);
    *used += status == QDQ_OK;
    if (status == QDQ_OK) return add_run(c);
    sample_tell(data, index, &err, c->opt->watch);
    return EXIT_OK;
}

static int add_samples(comparison *c, const qdq_graph *before) {
    samples data = {0};
    size_t used = 0;
    int code = samples_open(&data, c->opt->data.samples, before, c->before.plan, c->opt->memory);
    for (size_t i = 0; code == EXIT_OK && i < data.count; i++) {
        watch_tell(c->opt->watch, "sample %zu of %zu", i + 1, data.count);
        code = add_sample(c, &data, i, &used);
    }
    watch_clear(c->opt->watch);
    size_t count = data.count;
    if (code == EXIT_OK && !used) code = samples_refuse(&data, count);
    samples_close(&data);
    if (code == EXIT_OK && used < count)
        fprintf(stderr, "qdq: %s: %zu of %zu samples could not be read, and are left out\n",
                c->opt->data.samples, count - used, count);
    return code;
}

// Computes the ratios, and removes values that were not measured.
static void finish(comparison *c, size_t *out_count) {
    for (size_t i = 0; i < c->count + c->outputs; i++) {
        noise n = c->out[i];
        if (!*n.name) continue;
        n.decibels = noise_sum_decibels(&n.sum);
        c->out[(*out_count)++] = n;
    }
}

int measure_noise(qdq_graph *before, qdq_graph *after, const options *opt, const char *const *names,
                  size_t count, noise **out, size_t *out_count) {
    options own = *opt;
    own.load.target = "core", own.compile.device = NULL, own.compile.rows = true;
    if (!own.inputs.count && !own.fill) own.fill = "1";  // or the samples of `data` follow
    own.compile.keep = (string_list){.items = (const char **)names, .count = count};
    comparison c = {.opt = &own, .names = names, .count = count};
    int code = open_kept(&c.before, before, &own);
    if (code == EXIT_OK) code = open_kept(&c.after, after, &own);
    *out_count = 0;
    if (code == EXIT_OK) {
        c.outputs = qdq_plan_output_count(c.before.plan);
        c.out = calloc(count + c.outputs + 1, sizeof *c.out);
        code = !c.out              ? tell_failure(QDQ_ERR_MEMORY, "no memory for results")
               : opt->data.samples ? add_samples(&c, before)
                                   : add_run(&c);
    }
    if (code == EXIT_OK && c.out) finish(&c, out_count);
    *out = c.out;
    session_close(&c.after);
    session_close(&c.before);
    return code;
}

//---- Printing ---------------------------------------------------------------

const noise *noise_find(const noise *noises, size_t count, const char *name) {
    for (size_t i = 0; name && i < count; i++)
        if (strcmp(noises[i].name, name) == 0) return &noises[i];
    return NULL;
}

const char *noise_seed(const options *opt) {
    if (opt->fill || opt->inputs.count || opt->data.samples) return opt->fill;
    return "1";
}

void noise_print_seed(const options *opt) {
    if (noise_seed(opt)) printf(", on random inputs (--fill %s)", noise_seed(opt));
}

void noise_json_seed(qdq_json *json, const options *opt) {
    qdq_json_key(json, "fill");
    if (noise_seed(opt))
        qdq_json_string(json, noise_seed(opt));
    else
        qdq_json_null(json);
}

void noise_print(const noise *n) {
    if (!n) return;
    if (isinf(n->decibels))
        printf(", no element differs");
    else
        printf(", %.1f dB", n->decibels);
}

void noise_json(qdq_json *json, const noise *n) {
    qdq_json_key(json, "decibels");
    if (!n || isinf(n->decibels))
        qdq_json_null(json);
    else
        qdq_json_double(json, n->decibels);
}
