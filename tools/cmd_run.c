// SPDX-License-Identifier: Apache-2.0
// qdq run: runs a graph, and writes, compares or summarizes its outputs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/check/bits.h"
#include "tools/commands.h"
#include "tools/common.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/compare_output.h"
#include "tools/io/frames.h"
#include "tools/io/inputs.h"
#include "tools/io/outputs.h"
#include "tools/io/stream_out.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/options.h"
#include "tools/options/option_number.h"
#include "tools/options/run.h"
#include "tools/session.h"

// The outputs of a run and the kept values that options name, or all that are kept if a file gets
// them, copied from the exec. Outputs come first.
typedef struct results {
    const qdq_graph *graph;
    qdq_tensor *tensors;
    void **data;  // of the tensors; owned
    size_t count, output_count;
    size_t frames;  // along the first dim of each; 0: one run
} results;

static void release_results(results *r) {
    for (size_t i = 0; r->data && i < r->count; i++) elements_free(r->data[i]);
    free(r->tensors);
    free(r->data);
}

static int take_result(const session *s, const qdq_tensor_info *info, results *r) {
    size_t bytes;
    qdq_shape shape = r->frames ? frames_shape(info->shape, r->frames) : info->shape;
    void *data = NULL;
    if (!__builtin_mul_overflow(info->bytes, r->frames ? r->frames : 1, &bytes))
        data = elements_take(s->exec_options.allocator, bytes);
    if (!data) return tell_failure(QDQ_ERR_MEMORY, "no memory for '%s'", info->name);
    r->tensors[r->count] = (qdq_tensor){info->name, info->dtype, shape, data};
    r->data[r->count++] = data;
    return EXIT_OK;
}

static bool names(const qdq_graph *graph, const string_list *list, const char *name) {
    tensor_spec spec;
    for (size_t i = 0; i < list->count; i++)
        if (tensor_spec_of_result(graph, list->items[i], &spec) && strcmp(spec.name, name) == 0)
            return true;
    return false;
}

// True if a file without NAME gets the kept values too.
static bool writes_kept(const qdq_graph *graph, const options *opt) {
    tensor_spec spec;
    for (size_t i = 0; opt->compile.keep.count && i < opt->outputs.count; i++)
        if (tensor_spec_of_result(graph, opt->outputs.items[i], &spec) && !*spec.name) return true;
    return false;
}

static bool is_output(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++)
        if (strcmp(qdq_plan_output(plan, i)->name, name) == 0) return true;
    return false;
}

// Allocates memory for the results before the run.
static int take_results(const session *s, const options *opt, results *r) {
    const run_options *own = opt->own;
    size_t outputs = qdq_plan_output_count(s->plan), kept = qdq_plan_kept_count(s->plan);
    bool all = writes_kept(s->graph, opt);
    int code = EXIT_OK;
    r->graph = s->graph;
    r->output_count = outputs;
    r->tensors = calloc(outputs + kept, sizeof *r->tensors);
    r->data = calloc(outputs + kept, sizeof *r->data);
    if (!r->tensors || !r->data) return tell_failure(QDQ_ERR_MEMORY, "no memory for the outputs");
    for (size_t i = 0; code == EXIT_OK && i < outputs; i++)
        code = take_result(s, qdq_plan_output(s->plan, i), r);
    for (size_t i = 0; code == EXIT_OK && i < kept; i++) {
        const char *name = qdq_plan_kept(s->plan, i)->name;
        if (is_output(s->plan, name)) continue;
        if (all || names(s->graph, &opt->outputs, name) || names(s->graph, &own->expects, name))
            code = take_result(s, qdq_plan_kept(s->plan, i), r);
    }
    return code;
}

// Copies the results of a run, which are one frame of them.
static int read_results(const session *s, const results *r, size_t frame) {
    qdq_error err = {0};
    for (size_t i = 0; err.status == QDQ_OK && i < r->count; i++) {
        const qdq_tensor *t = &r->tensors[i];
        size_t count = qdq_shape_count(t->shape) / (r->frames ? r->frames : 1);
        char *to = (char *)r->data[i] + frame * count * qdq_dtype_size(t->dtype);
        (void)qdq_exec_read(s->exec, t->name, t->dtype, to, count, &err);
    }
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Returns the output or kept value of this name, which outputs_check has found valid.
static const qdq_tensor *find_result(const results *r, const char *name) {
    size_t i = 0;
    while (i + 1 < r->count && strcmp(r->tensors[i].name, name) != 0) i++;
    return &r->tensors[i];
}

//---- Writing ----------------------------------------------------------------

static int write_output(const results *r, const tensor_spec *spec) {
    qdq_error err = {0};
    qdq_status status;
    if (*spec->name)
        status = tensor_save(spec->file, find_result(r, spec->name), &err);
    else if (is_stream(spec->file))
        status = stream_save(spec->file, r->tensors, r->count, false, &err);
    else
        status = qdq_tensor_file_write(spec->file, r->tensors, r->count, NULL, &err);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

// Writes the outputs of --output. Signals wait while a file is written, but not while a pipe is.
static int write_outputs(const results *r, const options *opt) {
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < opt->outputs.count; i++) {
        tensor_spec spec;
        (void)tensor_spec_of_result(r->graph, opt->outputs.items[i], &spec);
        bool holds = !is_stream(spec.file);
        watch_tell(opt->watch, "writing %s", spec.file);
        if (holds) watch_hold_signals(opt->watch);
        code = write_output(r, &spec);
        if (code == EXIT_OK)
            watch_saved(opt->watch, "%zu of %zu files of -o %s written", i + 1, opt->outputs.count,
                        i == 0 ? "was" : "were");
        if (holds) watch_release_signals(opt->watch);
    }
    watch_clear(opt->watch);
    return code;
}

//---- Summing up -------------------------------------------------------------

enum { FIRST_VALUES = 8 };

typedef struct summary {
    double first[FIRST_VALUES];
    size_t first_count, nan_count;
    double least, greatest;  // NaN if every element is
} summary;

static summary sum_up(const qdq_tensor *tensor) {
    summary s = {.least = NAN, .greatest = NAN};
    size_t count = qdq_shape_count(tensor->shape), size = qdq_dtype_size(tensor->dtype);
    for (size_t i = 0; i < count; i++) {
        double value;
        to_doubles(tensor->dtype, (const char *)tensor->data + i * size, 1, &value);
        if (i < FIRST_VALUES) s.first[s.first_count++] = value;
        s.nan_count += isnan(value) != 0;
        if (!(s.least <= value) && !isnan(value)) s.least = value;
        if (!(s.greatest >= value) && !isnan(value)) s.greatest = value;
    }
    return s;
}

static void print_summary(const qdq_tensor *tensor) {
    char shape[128], least[32], greatest[32], element[32];
    summary s = sum_up(tensor);
    printf("%s: %s %s, min %s, max %s", tensor->name, qdq_dtype_name(tensor->dtype),
           qdq_write_shape(tensor->shape, shape, sizeof shape),
           element_text(tensor->dtype, s.least, least),
           element_text(tensor->dtype, s.greatest, greatest));
    if (s.nan_count) printf(", %zu NaN", s.nan_count);
    printf("\n ");
    for (size_t i = 0; i < s.first_count; i++)
        printf(" %s", element_text(tensor->dtype, s.first[i], element));
    printf("%s\n", qdq_shape_count(tensor->shape) > s.first_count ? " ..." : "");
}

static void json_summary(qdq_json *json, const qdq_tensor *tensor) {
    summary s = sum_up(tensor);
    qdq_json_begin_object(json);
    json_string_key(json, "name", tensor->name);
    json_string_key(json, "dtype", qdq_dtype_name(tensor->dtype));
    qdq_json_key(json, "shape");
    json_shape(json, tensor->shape);
    qdq_json_key(json, "first");
    qdq_json_begin_line(json);
    for (size_t i = 0; i < s.first_count; i++) json_element(json, tensor->dtype, s.first[i]);
    qdq_json_end_array(json);
    qdq_json_key(json, "min");
    json_element(json, tensor->dtype, s.least);
    qdq_json_key(json, "max");
    json_element(json, tensor->dtype, s.greatest);
    json_uint_key(json, "nan_count", s.nan_count);
    qdq_json_end_object(json);
}

//---- Comparing --------------------------------------------------------------

// Compares the outputs that an --expect names: one output, or every output in the file.
static int compare_expect(const results *r, tensor_source *source, const run_options *own,
                          const char *text, qdq_json *json) {
    tensor_spec spec;
    int code = EXIT_OK;
    size_t compared = 0;
    (void)tensor_spec_of_result(r->graph, text, &spec);
    if (*spec.name) return compare_output(source, find_result(r, spec.name), &spec, own, json);
    for (size_t i = 0; i < r->output_count; i++) {
        if (!tensor_file_has(source, spec.file, r->tensors[i].name)) continue;
        int one = compare_output(source, &r->tensors[i], &spec, own, json);
        if (one > code) code = one;
        compared++;
    }
    if (compared) return code;
    return tell_failure(QDQ_ERR_PARSE, "%s has no tensor with the name of an output", spec.file);
}

// True if an --expect has a tensor for an output.
static bool is_expected(const results *r, tensor_source *source, const run_options *own,
                        const char *name) {
    tensor_spec spec;
    for (size_t i = 0; i < own->expects.count; i++)
        if (tensor_spec_of_result(r->graph, own->expects.items[i], &spec) &&
            (*spec.name ? strcmp(spec.name, name) == 0 : tensor_file_has(source, spec.file, name)))
            return true;
    return false;
}

// True if some --expect stands for all outputs.
static bool expects_all(const results *r, const run_options *own) {
    tensor_spec spec;
    for (size_t i = 0; i < own->expects.count; i++)
        if (tensor_spec_of_result(r->graph, own->expects.items[i], &spec) && !*spec.name)
            return true;
    return false;
}

// Names the outputs that are not compared, although all were to be.
static void tell_not_compared(const results *r, tensor_source *source, const run_options *own,
                              qdq_json *json) {
    if (json) qdq_json_key(json, "not_compared");
    if (json) qdq_json_begin_array(json);
    for (size_t i = 0; expects_all(r, own) && i < r->output_count; i++) {
        const char *name = r->tensors[i].name;
        if (is_expected(r, source, own, name)) continue;
        if (json)
            qdq_json_string(json, name);
        else
            printf("%s: not compared, because no --expect has a tensor of this name\n", name);
    }
    if (json) qdq_json_end_array(json);
}

// `bits`: the report with the bits of the nodes.
static int show_results(const results *r, const options *opt, double seconds,
                        const qdq_report *bits) {
    const run_options *own = opt->own;
    qdq_json json;
    int code = EXIT_OK;
    bool sum = opt->outputs.count == 0 && own->expects.count == 0;
    if (opt->json) {
        json_begin(&json);
        json_string_key(&json, "graph", opt->operands.items[0]);
        qdq_json_key(&json, "seconds");
        qdq_json_double(&json, seconds);
        qdq_json_key(&json, "outputs");
        qdq_json_begin_array(&json);
        for (size_t i = 0; i < r->output_count; i++) json_summary(&json, &r->tensors[i]);
        qdq_json_end_array(&json);
        qdq_json_key(&json, "comparisons");
        qdq_json_begin_array(&json);
    } else if (sum) {
        for (size_t i = 0; i < r->output_count; i++) print_summary(&r->tensors[i]);
    }
    tensor_source source = {.from = &opt->memory->allocator};
    for (size_t i = 0; i < own->expects.count; i++) {
        const char *text = own->expects.items[i];
        int one = compare_expect(r, &source, own, text, opt->json ? &json : NULL);
        if (one > code) code = one;
    }
    if (opt->json) qdq_json_end_array(&json);
    tell_not_compared(r, &source, own, opt->json ? &json : NULL);
    tensor_source_close(&source);
    if (opt->json) json_bits(&json, bits);
    if (opt->json) json_end(&json);
    return code;
}

// Runs the graph once, or on each frame, and copies the results.
static int run_frames(const session *s, const options *opt, const results *r) {
    qdq_error err = {0};
    int code = EXIT_OK;
    for (size_t i = 0; i < (r->frames ? r->frames : 1) && code == EXIT_OK; i++) {
        if (r->frames) (void)frames_bind(opt->frames, s->exec, s->plan, i, &err);
        if (i) (void)qdq_exec_next_states(s->exec, s->graph, &err);
        if (err.status) return report_error(&err);
        session_run(s, opt);
        code = read_results(s, r, i);
    }
    return code;
}

int run_run(const options *opt) {
    const run_options *own = opt->own;
    options with_frames = *opt;
    frames f = {0};
    session s;
    results r = {0};
    if (!options_number("frames", own->frames, 1, 0, &r.frames)) return EXIT_USAGE;
    int code = check_stdout(&opt->outputs, opt->json            ? "--json"
                                           : own->expects.count ? "--expect"
                                                                : NULL);
    if (code != EXIT_OK) return code;
    if (opt->outputs.count) watch_saved(opt->watch, "no output was written");
    code = session_start(&s, opt);
    if (code == EXIT_OK) code = outputs_check(s.graph, s.plan, opt);
    if (code == EXIT_OK && r.frames)
        code = frames_open(&f, r.frames, s.graph, s.plan, s.exec_options.allocator);
    if (r.frames) {
        with_frames.frames = &f;
        opt = &with_frames;
    }
    if (code == EXIT_OK) code = give_inputs(s.graph, s.plan, s.exec, opt);
    if (code == EXIT_OK) code = take_results(&s, opt, &r);
    double seconds = 0;
    if (code == EXIT_OK) {
        double start = now();
        code = run_frames(&s, opt, &r);
        seconds = now() - start;
        qdq_exec_destroy(s.exec);  // its memory is for the files that are compared
        s.exec = NULL;
    }
    if (code == EXIT_OK) {
        const char *target = opt->load.target ? opt->load.target : qdq_graph_target(s.graph);
        tell_bits("run", s.report, target, opt);
    }
    if (code == EXIT_OK) code = write_outputs(&r, opt);
    if (code == EXIT_OK) code = show_results(&r, opt, seconds, s.report);
    release_results(&r);
    frames_close(&f);
    session_close(&s);
    return code;
}
