// SPDX-License-Identifier: Apache-2.0
// The float graph runs once on each sample; its outputs stay in memory while they take no more than
// half of the bytes that are left.
#include "tools/lab/quantize/trials.h"

#include <math.h>
#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/inputs.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/lab/explain/accuracy/decisions.h"

static int no_memory(void) { return tell_failure(QDQ_ERR_MEMORY, "no memory for a trial"); }

//---- The setting ------------------------------------------------------------

static qdq_allocator *memory_of(const trials *t) { return &t->opt.memory->allocator; }

static void describe_outputs(trials *t) {
    size_t floats = 0, most = 0;
    for (size_t i = 0; i < t->output_count; i++) {
        const qdq_tensor_info *info = qdq_plan_output(t->real->plan, i);
        trial_output *o = &t->outputs[i];
        *o = (trial_output){.name = info->name, .dtype = info->dtype, .shape = info->shape};
        o->count = qdq_shape_count(o->shape);
        o->bytes = info->bytes;
        o->offset = t->run_bytes;
        o->samples = o->shape.rank > 1 ? (size_t)o->shape.dims[0] : 1;
        o->first = t->samples;
        o->judged = qdq_dtype_is_real(o->dtype);
        floats += o->judged;
        t->run_bytes += o->bytes;
        t->samples += o->samples * t->runs;
        if (o->count > most) most = o->count;
    }
    for (size_t i = 0; !floats && i < t->output_count; i++) t->outputs[i].judged = true;
    t->elements = elements_take(memory_of(t), 2 * t->run_bytes);
    t->numbers = elements_take_numbers(memory_of(t), 2 * most);
}

int trials_open(trials *t, const session *real, const options *opt) {
    int code = EXIT_OK;
    *t = (trials){.opt = *opt, .real = real, .runs = 1};
    if (!opt->inputs.count && !opt->fill) t->opt.fill = "1";
    if (opt->data.samples)
        code = samples_open(&t->data, opt->data.samples, real->graph, real->plan, opt->memory);
    if (code != EXIT_OK) return code;
    if (opt->data.samples) t->runs = t->data.count;
    t->output_count = qdq_plan_output_count(real->plan);
    t->outputs = calloc(t->output_count + 1, sizeof *t->outputs);
    t->unreadable = calloc(t->runs + 1, sizeof *t->unreadable);
    t->kept = calloc(t->runs + 1, sizeof *t->kept);
    if (!t->outputs || !t->unreadable || !t->kept) return no_memory();
    describe_outputs(t);
    return t->elements && t->numbers ? EXIT_OK : no_memory();
}

void trials_close(trials *t) {
    for (size_t i = 0; t->kept && i < t->runs; i++) elements_free(t->kept[i]);
    elements_free(t->elements);
    elements_free(t->numbers);
    free(t->kept);
    free(t->unreadable);
    free(t->outputs);
    samples_close(&t->data);
}

//---- Runs -------------------------------------------------------------------

int trials_give(trials *t, size_t run, const session *s) {
    unsigned char digest[QDQ_SHA256_BYTES];
    qdq_error err = {0};
    if (!t->opt.data.samples) return give_inputs(s->graph, s->plan, s->exec, &t->opt);
    qdq_status status = sample_load(&t->data, run, s->exec, digest, &err);
    if (status == QDQ_ERR_MEMORY) return report_error(&err);
    t->unreadable[run] = status != QDQ_OK;
    return EXIT_OK;
}

// Runs a graph and reads its outputs.
static int run_graph(trials *t, size_t run, const session *s, char *out) {
    qdq_error err = {0};
    int code = trials_give(t, run, s);
    if (code != EXIT_OK || t->unreadable[run]) return code;
    qdq_exec_run(s->exec);
    for (size_t i = 0; i < t->output_count; i++) {
        const trial_output *o = &t->outputs[i];
        if (qdq_exec_read(s->exec, o->name, o->dtype, out + o->offset, o->count, &err) != QDQ_OK)
            return report_error(&err);
    }
    return EXIT_OK;
}

// Sets *out to the outputs of the float graph, which lie in `own` if they are not kept.
static int run_real(trials *t, size_t run, char *own, const char **out) {
    char **kept = &t->kept[run];
    *out = *kept;
    if (*kept) return EXIT_OK;
    if (t->run_bytes <= t->opt.memory->left / 2) *kept = elements_take(memory_of(t), t->run_bytes);
    *out = *kept ? *kept : own;
    return run_graph(t, run, t->real, *kept ? *kept : own);
}

// Runs both graphs, and sets *real to the outputs of the float graph. Those of the other lie behind
// t->elements + t->run_bytes.
static int run_both(trials *t, size_t run, const session *s, const char **real) {
    int code = t->unreadable[run] ? EXIT_OK : run_real(t, run, t->elements, real);
    if (code != EXIT_OK || t->unreadable[run]) return code;
    return run_graph(t, run, s, t->elements + t->run_bytes);
}

int trials_compare(trials *t, size_t run, const session *s, bool *ran, bool *same) {
    const char *real = NULL;
    int code = run_both(t, run, s, &real);
    *ran = code == EXIT_OK && !t->unreadable[run];
    *same = *ran && memcmp(real, t->elements + t->run_bytes, t->run_bytes) == 0;
    return code;
}

//---- A trial ----------------------------------------------------------------

int trial_open(trial *t, trials *of) {
    *t = (trial){.of = of};
    t->sums = calloc(of->samples + 1, sizeof *t->sums);
    t->fates = calloc(of->samples + 1, sizeof *t->fates);
    return t->sums && t->fates ? EXIT_OK : no_memory();
}

void trial_close(trial *t) {
    free(t->sums);
    free(t->fates);
    *t = (trial){0};
}

// Adds elements. An element that only the changed graph makes infinite or NaN is an infinite error.
static void add_noise(noise_sum *sum, const double *real, const double *changed, size_t count) {
    noise_sum_add(sum, real, changed, count);
    for (size_t i = 0; i < count; i++)
        if (isfinite(real[i]) && !isfinite(changed[i])) sum->error = INFINITY;
}

// True if a sample of an output decides alike. Integers are decisions themselves.
static bool is_alike(const trial_output *o, const double *real, const double *changed,
                     size_t count) {
    qdq_shape one = o->shape;
    if (one.rank > 1) one.dims[0] = 1;
    if (qdq_dtype_is_real(o->dtype)) return decisions_alike(real, changed, one) >= 1;
    return memcmp(real, changed, count * sizeof *real) == 0;
}

static void add_output(trial *t, size_t run, const trial_output *o, const double *real,
                       const double *changed) {
    size_t count = o->samples ? o->count / o->samples : 0;
    for (size_t i = 0; i < o->samples; i++) {
        size_t at = o->first + run * o->samples + i;
        add_noise(&t->sums[at], real + i * count, changed + i * count, count);
        t->fates[at] = is_alike(o, real + i * count, changed + i * count, count)
                           ? DECIDES_ALIKE
                           : DECIDES_OTHERWISE;
    }
}

static int add_run(trial *t, size_t run, const session *changed, const trial_view *view) {
    trials *of = t->of;
    const char *real, *own = of->elements + of->run_bytes;
    int code = run_both(of, run, changed, &real);
    if (code != EXIT_OK || of->unreadable[run]) return code;
    t->runs++;
    t->same += memcmp(real, own, of->run_bytes) == 0;
    for (size_t i = 0; i < of->output_count; i++) {
        const trial_output *o = &of->outputs[i];
        to_doubles(o->dtype, real + o->offset, o->count, of->numbers);
        to_doubles(o->dtype, own + o->offset, o->count, of->numbers + o->count);
        add_output(t, run, o, of->numbers, of->numbers + o->count);
        if (view && view->sees) view->sees(view->with, run, o, of->numbers, of->numbers + o->count);
    }
    return EXIT_OK;
}

static int add_runs(trial *t, const session *changed, const trial_view *view) {
    trials *of = t->of;
    int code = EXIT_OK;
    for (size_t run = 0; code == EXIT_OK && run < of->runs; run++) {
        if (view && view->takes && !view->takes(view->with, run)) continue;
        watch_tell(of->opt.watch, "trying a change, sample %zu of %zu", run + 1, of->runs);
        code = add_run(t, run, changed, view);
    }
    watch_clear(of->opt.watch);
    return code;
}

// True if the target refuses the graph, rather than that something failed.
static bool is_refusal(qdq_status status) {
    return status == QDQ_ERR_GRAPH || status == QDQ_ERR_UNSUPPORTED;
}

int trial_add(trial *t, qdq_graph *graph, const char *target, const trial_view *view) {
    qdq_compile_options compile;
    qdq_error err = {0};
    session s = {.graph = graph};
    if (!compile_options_of(&t->of->opt, &compile)) return EXIT_USAGE;
    compile.target = target;
    compile.layout = QDQ_PLAN_ROWS;
    compile.device = qdq_device_find("none", NULL);
    compile.parallel = t->of->real->exec_options.parallel;
    s.plan = qdq_graph_compile(graph, &compile, &err);
    if (!s.plan && is_refusal(err.status)) {
        t->refused = true;
        return EXIT_OK;
    }
    s.exec = qdq_exec_create(s.plan, &t->of->real->exec_options, &err);
    int code = s.exec ? add_runs(t, &s, view) : report_error(&err);
    qdq_exec_destroy(s.exec);
    qdq_plan_destroy(s.plan);
    return code;
}

int trial_add_quantized(trial *t, qdq_graph *graph, const state *s, const quantize_choice *choice,
                        const char *target, const trial_view *view) {
    coding_list list = {0};
    qdq_error err = {0};
    qdq_graph *quantized = NULL;
    bool opened = coding_list_open(&list, graph, t->of->real->plan);
    node_fate *fates =
        opened ? coding_list_memory(&list, qdq_graph_node_count(graph), sizeof *fates) : NULL;
    int code = fates && place_codes(&list, s, choice, fates) ? EXIT_OK : no_memory();
    if (code == EXIT_OK) {
        quantized = qdq_graph_quantized(graph, list.codings, list.count, &err);
        code = quantized ? trial_add(t, quantized, target, view) : report_error(&err);
    }
    qdq_graph_destroy(quantized);
    coding_list_release(&list);
    return code;
}

//---- The verdict ------------------------------------------------------------

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static verdict judge_output(const trial *t, size_t output) {
    const trial_output *o = &t->of->outputs[output];
    size_t count = o->samples * t->of->runs;
    double *ratios = malloc((count + 1) * sizeof *ratios);
    verdict v = {.output = output, .median = NAN};
    noise_sum all = {0};
    for (size_t i = o->first; i < o->first + count; i++) {
        if (t->fates[i] == NOT_RUN) continue;
        if (ratios) ratios[v.samples] = noise_sum_decibels(&t->sums[i]);
        v.samples++;
        v.alike += t->fates[i] == DECIDES_ALIKE;
        all.signal += t->sums[i].signal, all.error += t->sums[i].error;
    }
    v.decibels = noise_sum_decibels(&all);
    if (ratios && v.samples) {
        qsort(ratios, v.samples, sizeof *ratios, by_size);
        double low = ratios[(v.samples - 1) / 2], high = ratios[v.samples / 2];
        v.median = low >= high ? low : (low + high) / 2;
    }
    free(ratios);
    return v;
}

verdict trial_judge(const trial *t) {
    verdict worst = {0};
    for (size_t i = 0; !t->refused && i < t->of->output_count; i++) {
        if (!t->of->outputs[i].judged) continue;
        verdict v = judge_output(t, i);
        if (v.samples && (!worst.samples || v.decibels < worst.decibels)) worst = v;
    }
    return worst;
}
