// SPDX-License-Identifier: Apache-2.0
#include "tools/mend/noise.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/session.h"

static bool is_float(qdq_dtype dtype) {
    return dtype == QDQ_FLOAT32 || dtype == QDQ_FLOAT16 || dtype == QDQ_BFLOAT16;
}

// The type of an output or a kept value of a plan; NULL: it has none of this name.
static const qdq_tensor_info *find(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        if (strcmp(qdq_plan_output(plan, i)->name, name) == 0) return qdq_plan_output(plan, i);
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++)
        if (strcmp(qdq_plan_kept(plan, i)->name, name) == 0) return qdq_plan_kept(plan, i);
    return NULL;
}

static double decibels_of(const float *y, const float *changed, size_t count) {
    double signal = 0, error = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)y[i] - (double)changed[i];
        if (!isfinite(y[i]) || !isfinite(changed[i])) continue;
        signal += (double)y[i] * (double)y[i];
        error += difference * difference;
    }
    return error > 0 ? 10 * log10(signal / error) : INFINITY;
}

static int measure(const session *before, const session *after, const char *name, noise *out,
                   bool *measured) {
    const qdq_tensor_info *a = find(before->plan, name), *b = find(after->plan, name);
    qdq_error err = {0};
    *measured = a && b && is_float(a->dtype) && is_float(b->dtype) &&
                qdq_shape_count(a->shape) == qdq_shape_count(b->shape);
    if (!*measured) return EXIT_OK;
    size_t count = qdq_shape_count(a->shape);
    float *y = malloc(2 * count * sizeof *y);
    if (!y) return tell_failure(QDQ_ERR_MEMORY, "no memory for value '%s'", name);
    qdq_status status = qdq_exec_read(before->exec, name, QDQ_FLOAT32, y, count, &err);
    if (status == QDQ_OK)
        status = qdq_exec_read(after->exec, name, QDQ_FLOAT32, y + count, count, &err);
    if (status == QDQ_OK) out->decibels = decibels_of(y, y + count, count);
    snprintf(out->name, sizeof out->name, "%s", name);
    free(y);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Runs a graph with the values of the options' `keep` that it has.
static int run(session *s, qdq_graph *graph, const options *opt) {
    const session of = {.graph = graph};
    options own = *opt;
    size_t count = 0;
    const char **keep = malloc((opt->keep.count + 1) * sizeof *keep);
    if (!keep) return tell_failure(QDQ_ERR_MEMORY, "no memory for names");
    for (size_t i = 0; i < opt->keep.count; i++)
        if (qdq_graph_find(graph, opt->keep.items[i]).id) keep[count++] = opt->keep.items[i];
    own.keep = (string_list){.items = keep, .count = count};
    int code = session_open_mode(s, &of, &own, false);
    if (code == EXIT_OK) session_run(s, &own);
    free(keep);
    return code;
}

static int measure_all(const session *before, const session *after, const char *const *names,
                       size_t count, noise *out, size_t *out_count) {
    size_t outputs = qdq_plan_output_count(before->plan);
    for (size_t i = 0; i < count + outputs; i++) {
        const char *name = i < count ? names[i] : qdq_plan_output(before->plan, i - count)->name;
        bool measured = false;
        int code = measure(before, after, name, &out[*out_count], &measured);
        if (code != EXIT_OK) return code;
        *out_count += measured;
    }
    return EXIT_OK;
}

int measure_noise(qdq_graph *before, qdq_graph *after, const options *opt, const char *const *names,
                  size_t count, noise **out, size_t *out_count) {
    session a = {0}, b = {0};
    options own = *opt;
    own.target = "core", own.device = NULL;
    if (!own.inputs.count && !own.fill) own.fill = "1";
    own.keep = (string_list){.items = (const char **)names, .count = count};
    int code = run(&a, before, &own);
    if (code == EXIT_OK) code = run(&b, after, &own);
    *out_count = 0;
    *out = a.plan ? calloc(count + qdq_plan_output_count(a.plan) + 1, sizeof **out) : NULL;
    if (code == EXIT_OK && !*out) code = tell_failure(QDQ_ERR_MEMORY, "no memory for results");
    if (code == EXIT_OK) code = measure_all(&a, &b, names, count, *out, out_count);
    session_close(&b);
    session_close(&a);
    return code;
}
