// SPDX-License-Identifier: Apache-2.0
// Checks --output and --expect before a run.
#include "tools/io/outputs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/compare_output.h"
#include "tools/io/file_kind.h"
#include "tools/io/output_places.h"
#include "tools/io/stream_out.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"
#include "tools/options/run.h"

// Checks that `name` is an output or a kept value.
static int check_name(const qdq_plan *plan, const char *name) {
    size_t count = qdq_plan_output_count(plan);
    for (size_t i = 0; i < count; i++)
        if (strcmp(qdq_plan_output(plan, i)->name, name) == 0) return EXIT_OK;
    for (size_t i = 0; i < qdq_plan_kept_count(plan); i++)
        if (strcmp(qdq_plan_kept(plan, i)->name, name) == 0) return EXIT_OK;
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = qdq_plan_output(plan, i)->name;
    int code = tell_unknown("output", name, names, names ? count : 0);
    free(names);
    return code;
}

//---- Files to write ---------------------------------------------------------

static int check_output(const qdq_graph *graph, const qdq_plan *plan, const char *text) {
    tensor_spec spec;
    if (!tensor_spec_of_result(graph, text, &spec) || *spec.tensor)
        return tell_failure(QDQ_ERR_ARGUMENT, "--output is '%s', wanted [NAME=]FILE", text);
    bool npy = has_ending(spec.file, ".npy"), named = has_ending(spec.file, ".safetensors");
    if (!*spec.name && !named && (npy || !is_stream(spec.file)))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--output is '%s', wanted NAME=FILE, or a .safetensors file for all",
                            text);
    bool memory = has_ending(spec.file, ".mem");
    if (memory && is_stream(spec.file))
        return tell_failure(QDQ_ERR_ARGUMENT, "%s: a pipe takes .npy or .safetensors, not .mem",
                            spec.file);
    int code = *spec.name ? check_name(plan, spec.name) : EXIT_OK;
    if (code != EXIT_OK || is_stream(spec.file)) return code;
    if (!npy && !named && !memory)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "%s: a tensor file ends in .npy, .safetensors or .mem; needed for '%s'",
                            spec.file, spec.name);
    return place_check(spec.file);
}

//---- Files to read ----------------------------------------------------------

// True if the run writes the file before reading it.
static bool is_written(const string_list *outputs, const char *file) {
    tensor_spec spec;
    for (size_t i = 0; i < outputs->count; i++)
        if (tensor_spec_parse(outputs->items[i], &spec) && strcmp(spec.file, file) == 0)
            return true;
    return false;
}

static int check_expect(const qdq_graph *graph, const qdq_plan *plan, const options *opt,
                        const char *text) {
    tensor_spec spec;
    if (!tensor_spec_of_result(graph, text, &spec))
        return tell_failure(QDQ_ERR_ARGUMENT, "--expect is '%s', wanted [NAME=]FILE", text);
    int code = *spec.name ? check_name(plan, spec.name) : EXIT_OK;
    if (code != EXIT_OK || is_written(&opt->outputs, spec.file)) return code;
    const char *path = stream_path(spec.file);
    qdq_error err = {0};
    if (access(path, R_OK) != 0)
        return tell_failure(QDQ_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    if (is_no_tensor_file(path, &err)) return report_error(&err);
    tensor_source source = {.from = &opt->memory->allocator};
    bool found = *spec.name != '\0';
    for (size_t i = 0; !found && i < qdq_plan_output_count(plan); i++)
        found = tensor_file_has(&source, spec.file, qdq_plan_output(plan, i)->name);
    bool opens = found || tensor_file_opens(&source, spec.file, &err);
    tensor_source_close(&source);
    if (found) return EXIT_OK;
    if (!opens) return report_error(&err);
    return tell_failure(QDQ_ERR_PARSE, "%s has no tensor with the name of an output", spec.file);
}

int outputs_check(const qdq_graph *graph, const qdq_plan *plan, const options *opt) {
    const run_options *own = opt->own;
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < opt->outputs.count; i++)
        code = check_output(graph, plan, opt->outputs.items[i]);
    for (size_t i = 0; code == EXIT_OK && i < own->expects.count; i++)
        code = check_expect(graph, plan, opt, own->expects.items[i]);
    return code == EXIT_OK ? compare_check_options(own) : code;
}
