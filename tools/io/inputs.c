// SPDX-License-Identifier: Apache-2.0
// Fills the inputs of an exec from files or with random data.
#include "tools/io/inputs.h"

#include <qdq/fingerprint.h>
#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/failure.h"
#include "tools/io/file_kind.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"

//---- Inputs from files ------------------------------------------------------

static int write_input(qdq_exec *exec, const qdq_tensor_info *input, const tensor_spec *spec) {
    qdq_error err = {0};
    loaded_tensor tensor;
    char has[128], wants[128];
    if (tensor_load(spec, input->name, input->shape, &tensor, &err) != QDQ_OK)
        return report_error(&err);
    int code = EXIT_OK;
    if (are_codes_of(input->dtype, tensor.dtype, spec->file)) tensor.dtype = input->dtype;
    if (!qdq_shape_equal(tensor.shape, input->shape)) {
        code = tell_failure(QDQ_ERR_PARSE, "input '%s': %s has shape %s, wanted %s", input->name,
                            spec->file, qdq_write_shape(tensor.shape, has, sizeof has),
                            qdq_write_shape(input->shape, wants, sizeof wants));
    } else if (qdq_exec_write(exec, input->name, tensor.dtype, tensor.data,
                              qdq_shape_count(tensor.shape), &err) != QDQ_OK) {
        bool narrows = tensor.dtype == QDQ_FLOAT64 && qdq_dtype_is_real(input->dtype);
        code = tell_failure(QDQ_ERR_PARSE, "%s: %s%s", spec->file, err.text,
                            narrows ? "; convert it in numpy with x.astype('float32')" : "");
    }
    tensor_release(&tensor);
    return code;
}

//---- All inputs -------------------------------------------------------------

static bool has_input(const qdq_plan *plan, const char *name) {
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++)
        if (strcmp(qdq_plan_input(plan, i)->name, name) == 0) return true;
    return false;
}

static int unknown_input(const qdq_plan *plan, const char *name) {
    size_t count = qdq_plan_input_count(plan);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = qdq_plan_input(plan, i)->name;
    int code = tell_unknown("input", name, names, names ? count : 0);
    free(names);
    return code;
}

// Checks a file without NAME: it must be a .safetensors or .npz file with a tensor for some input.
static int check_nameless(const qdq_graph *graph, const qdq_plan *plan, const tensor_spec *spec) {
    size_t count = qdq_plan_input_count(plan);
    qdq_error err = {0};
    if (is_no_tensor_file(stream_path(spec->file), &err)) return report_error(&err);
    if (!holds_named_tensors(spec->file))
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "--input is '%s', wanted NAME=%s, or a .safetensors or .npz file for all", spec->file,
            spec->file);
    if (!tensor_file_opens(spec->file, &err)) return report_error(&err);
    bool used = false;
    for (size_t i = 0; i < count; i++) {
        const char *name = qdq_plan_input(plan, i)->name;
        used |= tensor_file_has(spec->file, name) ||
                tensor_file_has(spec->file, qdq_value_original(graph, name));
    }
    if (used) return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE,
                        "%s has no tensor with the name of an input; use -i NAME=%s#TENSOR",
                        spec->file, spec->file);
}

// Checks that every --input matches an input.
static int check_names(const qdq_graph *graph, const qdq_plan *plan, const options *opt) {
    for (size_t k = 0; k < opt->inputs.count; k++) {
        tensor_spec spec;
        if (!tensor_spec_of_input(graph, opt->inputs.items[k], &spec))
            return tell_failure(QDQ_ERR_ARGUMENT, "--input is '%s', wanted [NAME=]FILE",
                                opt->inputs.items[k]);
        if (*spec.name && !has_input(plan, spec.name)) return unknown_input(plan, spec.name);
        for (size_t i = 0; *spec.name && i < k; i++) {
            tensor_spec other;
            if (tensor_spec_of_input(graph, opt->inputs.items[i], &other) &&
                strcmp(other.name, spec.name) == 0)
                return tell_failure(QDQ_ERR_ARGUMENT, "input '%s' is given twice: %s and %s",
                                    spec.name, other.file, spec.file);
        }
        int code = *spec.name ? EXIT_OK : check_nameless(graph, plan, &spec);
        if (code != EXIT_OK) return code;
    }
    return EXIT_OK;
}

// Finds the --input for an input: NAME=FILE with its name, or a file without NAME that has a tensor
// of its name or of its original name in the file of the graph.
static bool find_spec(const qdq_graph *graph, const options *opt, const char *name,
                      tensor_spec *spec) {
    const char *original = qdq_value_original(graph, name);
    for (size_t k = 0; k < opt->inputs.count; k++) {
        (void)tensor_spec_of_input(graph, opt->inputs.items[k], spec);
        if (*spec->name ? strcmp(spec->name, name) == 0 : tensor_file_has(spec->file, name))
            return true;
        if (*spec->name || original == name || !tensor_file_has(spec->file, original)) continue;
        snprintf(spec->tensor, sizeof spec->tensor, "%s", original);
        return true;
    }
    return false;
}

static int give_input(const qdq_graph *graph, qdq_exec *exec, const qdq_tensor_info *input,
                      const options *opt) {
    tensor_spec spec;
    if (find_spec(graph, opt, input->name, &spec)) return write_input(exec, input, &spec);
    if (opt->fill) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT, "input '%s' is not given; add -i %s=FILE, or --fill SEED",
                        input->name, input->name);
}

int give_inputs(const qdq_graph *graph, const qdq_plan *plan, qdq_exec *exec, const options *opt) {
    size_t seed;
    qdq_error err = {0};
    int code = check_names(graph, plan, opt);
    if (code != EXIT_OK) return code;
    if (!options_number("fill", opt->fill, 0, 0, &seed)) return EXIT_USAGE;
    if (opt->fill && qdq_exec_fill(exec, graph, seed, &err) != QDQ_OK) return report_error(&err);
    for (size_t i = 0; i < qdq_plan_input_count(plan) && code == EXIT_OK; i++)
        code = give_input(graph, exec, qdq_plan_input(plan, i), opt);
    return code;
}
