// SPDX-License-Identifier: Apache-2.0
// Loads and compiles graphs by the options, and prints text and JSON that commands share.
#include "tools/common.h"

#include <qdq/inspect.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/failure.h"
#include "tools/findings.h"
#include "tools/io/input_shapes.h"
#include "tools/io/stream_out.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/io/watch.h"
#include "tools/options.h"
#include "tools/options/option_number.h"

const char *const exit_code_texts[] = {
    [EXIT_OK] = "ok",
    [EXIT_FINDINGS] = "findings or differences",
    [EXIT_USAGE] = "usage",
    [EXIT_BAD_FILE] = "bad input file",
    [EXIT_REFUSED] = "the target refuses the graph or it is not supported",
    [EXIT_LIMIT] = "a resource limit",
    [EXIT_LIMIT + 1] = NULL,
};

size_t find_op(const char *name) {
    size_t op = 0;
    while (op < qdq_op_count() && strcmp(qdq_op_get(op).name, name) != 0) op++;
    return op;
}

int exit_code(qdq_status status) {
    switch (status) {
    case QDQ_OK: return EXIT_OK;
    case QDQ_ERR_ARGUMENT: return EXIT_USAGE;
    case QDQ_ERR_PARSE:
    case QDQ_ERR_GRAPH:
    case QDQ_ERR_IO: return EXIT_BAD_FILE;
    case QDQ_ERR_UNSUPPORTED: return EXIT_REFUSED;
    case QDQ_ERR_MEMORY:
    case QDQ_ERR_LIMIT: return EXIT_LIMIT;
    }
    return EXIT_BAD_FILE;
}

int report_error(const qdq_error *err) { return tell_failure(err->status, "%s", err->text); }

//---- Loading and compiling --------------------------------------------------

// Reads --max-bytes. With --spill it limits the resident memory of the process, not the plan.
static bool read_max_bytes(const options *opt, qdq_limits *limits) {
    if (!options_number("max-bytes", opt->load.max_bytes, 1, 0, &limits->bytes)) return false;
    if (opt->spill) limits->bytes = SIZE_MAX / 4;
    return true;
}

static bool read_limits(const options *opt, qdq_limits *limits) {
    return options_number("max-elements", opt->load.max_elements, 1, 0, &limits->elements) &&
           read_max_bytes(opt, limits) &&
           options_number("max-operations", opt->load.max_operations, 1, 0, &limits->operations) &&
           options_number("max-file-bytes", opt->load.max_file_bytes, 1, 0, &limits->file_bytes) &&
           options_number("max-values", opt->load.max_values, 1, 0, &limits->json_values);
}

// Large enough to keep the findings of a check of every node of a large graph.
enum { KEPT_FINDINGS = 100000 };

static bool writes_model(const options *opt) {
    return opt->outputs.count == 1 && has_ending(opt->outputs.items[0], ".onnx");
}

bool graph_options_of(const options *opt, const char *graph, qdq_graph_options *out) {
    *out = (qdq_graph_options){.allocator = &opt->memory->allocator,
                               .target = opt->load.target,
                               .limits.findings = KEPT_FINDINGS,
                               .until = opt->load.until,
                               .keep_open_dims = writes_model(opt)};
    if (opt->load.target && strcmp(opt->load.target, "all") == 0) out->target = "core";
    if (read_limits(opt, &out->limits) && input_shapes_of(opt, graph, out)) return true;
    input_shapes_release(out);
    return false;
}

static bool is_file_name(const char *text) {
    return strchr(text, '/') || has_ending(text, ".json");
}

bool read_device(options *opt, int *code) {
    qdq_error err = {0};
    if (!opt->compile.device) return true;
    if (is_file_name(opt->compile.device)) {
        if (qdq_device_load(opt->compile.device, NULL, &opt->compile.device_numbers, &err) ==
            QDQ_OK)
            return true;
    } else {
        const qdq_device *found = qdq_device_find(opt->compile.device, &err);
        if (found) opt->compile.device_numbers = *found;
        if (found) return true;
    }
    *code = report_error(&err);
    return false;
}

const qdq_device *device_of(const options *opt) {
    return opt->compile.device ? &opt->compile.device_numbers : NULL;
}

const qdq_device *device_of_plan(const options *opt) {
    return opt->compile.fast ? qdq_device_find("none", NULL) : device_of(opt);
}

const qdq_device *device_for(const options *opt, const char *target) {
    const qdq_device *device = device_of(opt);
    return device && (qdq_device_is_none(device) || qdq_target_device_name(target)) ? device : NULL;
}

// Loads a model whose batch is the only size that nothing gives, with a batch of 1, and says so.
// NULL with `err` as before for another model.
static qdq_graph *load_batch(const char *path, qdq_graph_options *graph_options) {
    qdq_error again = {0};
    graph_options->batch = 1;
    qdq_graph *graph = stream_read_graph(path, graph_options, &again);
    if (graph)
        fprintf(stderr,
                "qdq: %s: the batch is open and is taken as 1; --dim NAME=N gives it a size\n",
                path);
    return graph;
}

qdq_graph *load_graph(const char *path, const options *opt, int *code) {
    qdq_graph_options graph_options;
    qdq_error err = {0};
    *code = EXIT_USAGE;
    if (!graph_options_of(opt, path, &graph_options)) return NULL;
    watch_tell(opt->watch, "reading %s", path);
    qdq_graph *graph = stream_read_graph(path, &graph_options, &err);
    if (!graph && err.status == QDQ_ERR_ARGUMENT) graph = load_batch(path, &graph_options);
    input_shapes_release(&graph_options);
    watch_clear(opt->watch);
    *code = graph ? EXIT_OK : report_error(&err);
    return graph;
}

const char *isa_of(const options *opt) {
    const char *environment = getenv("QDQ_ISA");
    if (opt->compile.isa) return opt->compile.isa;
    return environment && *environment ? environment : NULL;
}

static bool keeps_all(const string_list *keep) {
    return keep->count == 1 && strcmp(keep->items[0], "all") == 0;
}

bool compile_options_of(const options *opt, qdq_compile_options *out) {
    if (opt->compile.rows && opt->compile.tiles) {
        (void)tell_failure(QDQ_ERR_ARGUMENT,
                           "--rows and --tiles are both given, wanted one of them");
        return false;
    }
    *out = (qdq_compile_options){.target = opt->load.target,
                                 .layout = opt->compile.rows    ? QDQ_PLAN_ROWS
                                           : opt->compile.tiles ? QDQ_PLAN_TILES
                                                                : QDQ_PLAN_DEFAULT,
                                 .keep_all = keeps_all(&opt->compile.keep),
                                 .materialize = opt->compile.materialize,
                                 .fast = opt->compile.fast,
                                 .device = device_of(opt),
                                 .isa = isa_of(opt)};
    if (!out->keep_all)
        out->keep = opt->compile.keep.items, out->keep_count = opt->compile.keep.count;
    const char *storage = opt->compile.float_storage ? opt->compile.float_storage : "declared";
    if (strcmp(storage, "bfloat16") == 0) {
        out->float_storage = QDQ_FLOAT_BFLOAT16;
    } else if (strcmp(storage, "declared") != 0) {
        (void)tell_failure(QDQ_ERR_ARGUMENT, "--float-storage is '%s', wanted bfloat16 or declared",
                           storage);
        return false;
    }
    return true;
}

static size_t count_core_errors(const qdq_report *report) {
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++)
        count += report->findings[i].severity == QDQ_SEVERITY_ERROR &&
                 strcmp(report->findings[i].target, "core") == 0;
    return count;
}

// Returns the report for `core`, or, if core finds errors, for the graph's own target, which may
// accept more.
static const qdq_report *report_of_core(qdq_graph *graph, qdq_error *err) {
    const char *own = qdq_graph_target(graph);
    const qdq_report *report = qdq_graph_validate(graph, "core", err);
    if (!report || !report->errors || strcmp(own, "core") == 0) return report;
    return qdq_graph_validate(graph, own, err);
}

// Tells which dims that the model leaves open are fixed when it is written, and why.
static int tell_fixed_dims(qdq_graph *graph) {
    const qdq_open_dim *dims;
    size_t count;
    qdq_error err = {0};
    if (qdq_graph_open_dims(graph, &dims, &count, &err) != QDQ_OK) return report_error(&err);
    for (size_t i = 0; i < count; i++)
        if (dims[i].fixed_by)
            fprintf(stderr, "qdq: input '%s': dim %zu%s%s%s is fixed at %lld in the model: %s\n",
                    dims[i].input, dims[i].dim, *dims[i].name ? " ('" : "", dims[i].name,
                    *dims[i].name ? "')" : "", (long long)dims[i].size, dims[i].fixed_by);
    return EXIT_OK;
}

bool names_model(const char *path) {
    return has_ending(path, ".onnx") || has_ending(path, ".tflite");
}

int check_to_write(qdq_graph *graph, const char *path) {
    qdq_error err = {0};
    bool onnx = path && has_ending(path, ".onnx"), tflite = path && has_ending(path, ".tflite");
    const qdq_report *report = onnx     ? qdq_graph_validate_onnx(graph, &err)
                               : tflite ? qdq_graph_validate_tflite(graph, &err)
                                        : report_of_core(graph, &err);
    if (!report) return report_error(&err);
    if (onnx || tflite ? !report->errors : !count_core_errors(report))
        return onnx ? tell_fixed_dims(graph) : EXIT_OK;
    print_findings(stderr, report, NULL, LIST_ALL);
    return EXIT_REFUSED;
}

int save_graph(qdq_graph *graph, bool whole, const options *opt) {
    qdq_error err = {0};
    const char *path = opt->outputs.items[0];
    bool holds = !is_stream(path);
    watch_tell(opt->watch, "writing %s", path);
    if (holds) watch_hold_signals(opt->watch);
    qdq_status status =
        whole ? qdq_graph_write_whole(graph, path, 0, &err) : qdq_graph_write(graph, path, &err);
    if (status == QDQ_OK) watch_saved(opt->watch, "%s was written", path);
    if (holds) watch_release_signals(opt->watch);
    watch_clear(opt->watch);
    return status == QDQ_OK ? EXIT_OK : report_error(&err);
}

qdq_plan *compile_graph(qdq_graph *graph, const options *opt, qdq_parallel parallel,
                        const qdq_report **report, int *code) {
    qdq_compile_options how;
    qdq_error err = {0};
    *code = EXIT_USAGE;
    if (!compile_options_of(opt, &how)) return NULL;
    how.parallel = parallel;
    watch_tell(opt->watch, "compiling %s", opt->operands.items[0]);
    qdq_plan *plan = qdq_graph_compile(graph, &how, &err);
    const qdq_device *device = device_of_plan(opt);
    *report = qdq_graph_validate_on(graph, opt->load.target, device, plan ? &err : NULL);
    watch_clear(opt->watch);
    if (*report) print_findings(stderr, *report, NULL, LIST_BRIEFLY);
    *code = EXIT_OK;
    if (plan && *report) return plan;
    qdq_plan_destroy(plan);
    if (!*report || (*report)->errors == 0 || err.status == QDQ_ERR_ARGUMENT)
        *code = report_error(&err);
    else
        *code = tell_refusal(&err, graph, &opt->load.target, &device, 1);
    return NULL;
}

//---- Printing ---------------------------------------------------------------

qdq_shape index_of(qdq_shape shape, size_t at) {
    qdq_shape index = {.rank = shape.rank};
    for (int i = shape.rank - 1; i >= 0; i--) {
        index.dims[i] = (int64_t)(at % (size_t)shape.dims[i]);
        at /= (size_t)shape.dims[i];
    }
    return index;
}

const char *index_text(qdq_shape shape, size_t at, char *out, size_t capacity) {
    return qdq_write_shape(index_of(shape, at), out, capacity);
}

const char *node_head(const char *name, const char *original, char *out, size_t capacity) {
    bool same = strcmp(name, original) == 0;
    snprintf(out, capacity, "%.600s (%.600s%s", original, same ? "" : name, same ? "" : ", ");
    return out;
}

void json_shape(qdq_json *json, qdq_shape shape) {
    qdq_json_begin_line(json);
    for (int i = 0; i < shape.rank; i++) qdq_json_int(json, shape.dims[i]);
    qdq_json_end_array(json);
}

static void to_stdout(void *self, const char *bytes, size_t count) {
    (void)self;
    fwrite(bytes, 1, count, stdout);
}

void json_open(qdq_json *json) { qdq_json_init(json, to_stdout, NULL, 2); }

void json_begin(qdq_json *json) {
    failure_wait();
    json_open(json);
    qdq_json_begin_object(json);
    json_uint_key(json, "version", JSON_VERSION);
}

void json_end(qdq_json *json) {
    (void)json_failure(json);
    qdq_json_end_object(json);
    putchar('\n');
}

void json_string_key(qdq_json *json, const char *key, const char *text) {
    qdq_json_key(json, key);
    qdq_json_string(json, text);
}

void json_uint_key(qdq_json *json, const char *key, uint64_t value) {
    qdq_json_key(json, key);
    qdq_json_uint(json, value);
}

void json_original(qdq_json *json, const char *name, const char *original) {
    if (strcmp(name, original) != 0) json_string_key(json, "original", original);
}

double moved_over_necessary(const qdq_plan *plan) {
    qdq_plan_stats s = qdq_plan_get_stats(plan);
    return s.necessary_bytes ? (double)s.moved_bytes / (double)s.necessary_bytes : 0;
}

void json_traffic(qdq_json *json, const qdq_plan *plan) {
    qdq_plan_stats s = qdq_plan_get_stats(plan);
    json_uint_key(json, "moved_bytes", s.moved_bytes);
    json_uint_key(json, "necessary_bytes", s.necessary_bytes);
    qdq_json_key(json, "moved_over_necessary");
    qdq_json_double(json, moved_over_necessary(plan));
}

void json_element(qdq_json *json, qdq_dtype dtype, double value) {
    if (qdq_dtype_get(dtype)->kind == QDQ_KIND_WIDE_INT || dtype == QDQ_FLOAT64)
        qdq_json_double(json, value);
    else if (qdq_dtype_get(dtype)->kind == QDQ_KIND_INT)
        qdq_json_int(json, (int64_t)value);
    else
        qdq_json_float32(json, (float)value);
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int make_folder(char *out, size_t capacity) {
    const char *base = getenv("TMPDIR");
    snprintf(out, capacity, "%s/qdq-XXXXXX", base && *base ? base : "/tmp");
    if (mkdtemp(out)) return EXIT_OK;
    return tell_failure(QDQ_ERR_IO, "%s: no folder can be made there", out);
}
