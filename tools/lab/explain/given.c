// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/explain/given.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/common.h"
#include "tools/deployed.h"
#include "tools/elements.h"
#include "tools/failure.h"
#include "tools/io/file_kind.h"
#include "tools/io/npz.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"

size_t graph_ids(const qdq_graph *graph, const qdq_plan *plan) {
    size_t ids = count_values(graph);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        uint32_t id = qdq_graph_find(graph, qdq_plan_input(plan, i)->name).id;
        if (id >= ids) ids = (size_t)id + 1;
    }
    for (size_t i = 0; i < qdq_plan_output_count(plan); i++) {
        uint32_t id = qdq_output_value(graph, qdq_plan_output(plan, i)->name).id;
        if (id >= ids) ids = (size_t)id + 1;
    }
    return ids;
}

//---- The dtype of the value -------------------------------------------------

static int not_exact(const char *name, const char *file, const loaded_tensor *t, qdq_dtype dtype,
                     size_t at, double value) {
    char index[128], text[32];
    return tell_failure(QDQ_ERR_PARSE,
                        "%s: '%s'%s is %s as %s, which %s does not have; give the elements that "
                        "the device stored",
                        file, name, index_text(t->shape, at, index, sizeof index),
                        element_text(t->dtype, value, text), qdq_dtype_name(t->dtype),
                        qdq_dtype_name(dtype));
}

static int convert_ints(const given_values *given, const char *name, const char *file,
                        const loaded_tensor *t, qdq_dtype dtype, void *out) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t count = qdq_shape_count(t->shape), size = qdq_dtype_size(dtype);
    double *wide = elements_take_numbers(given->allocator, count);
    if (!wide) return tell_failure(QDQ_ERR_MEMORY, "no memory to read '%s'", name);
    to_doubles(t->dtype, t->data, count, wide);
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < count; i++) {
        bool fits = wide[i] == floor(wide[i]) && wide[i] >= (double)info->least &&
                    wide[i] <= (double)info->greatest;
        if (!fits) code = not_exact(name, file, t, dtype, i, wide[i]);
        int64_t whole = fits ? (int64_t)wide[i] : 0;
        memcpy((char *)out + i * size, &whole, size);  // little-endian
    }
    elements_free(wide);
    return code;
}

// Rounds float32 numbers to a dtype by an exec, and reads them back as float32 for comparison.
static qdq_status round_floats(const given_values *given, qdq_dtype dtype, qdq_shape shape,
                               const float *from, void *own, float *back, qdq_error *err) {
    size_t count = qdq_shape_count(shape);
    const qdq_exec_options exec_options = {.allocator = given->allocator};
    qdq_graph *g = qdq_graph_create("", &(qdq_graph_options){.allocator = given->allocator});
    qdq_output(g, "y", qdq_input(g, "x", dtype, shape));
    qdq_plan *plan = qdq_graph_compile(g, NULL, err);
    qdq_exec *exec = qdq_exec_create(plan, &exec_options, err);
    if (exec && qdq_exec_write(exec, "x", QDQ_FLOAT32, from, count, err) == QDQ_OK) {
        qdq_exec_run(exec);
        (void)qdq_exec_read(exec, "y", dtype, own, count, err);
        (void)qdq_exec_read(exec, "y", QDQ_FLOAT32, back, count, err);
    }
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
    return err->status;
}

static int convert_floats(const given_values *given, const char *name, const char *file,
                          const loaded_tensor *t, qdq_dtype dtype, void *out) {
    size_t count = qdq_shape_count(t->shape);
    double *wide = elements_take_numbers(given->allocator, 2 * count);  // and two arrays of floats
    if (!wide) return tell_failure(QDQ_ERR_MEMORY, "no memory to read '%s'", name);
    float *narrow = (float *)(wide + count), *back = narrow + count;
    qdq_error err = {0};
    to_doubles(t->dtype, t->data, count, wide);
    for (size_t i = 0; i < count; i++) narrow[i] = (float)wide[i];
    int code = round_floats(given, dtype, t->shape, narrow, out, back, &err) == QDQ_OK
                   ? EXIT_OK
                   : report_error(&err);
    for (size_t i = 0; code == EXIT_OK && i < count; i++)
        if ((double)back[i] != wide[i] && !isnan(wide[i]))
            code = not_exact(name, file, t, dtype, i, wide[i]);
    elements_free(wide);
    return code;
}

static int convert(const given_values *given, const char *name, const char *file,
                   const loaded_tensor *t, qdq_dtype dtype, void *out) {
    size_t bytes = qdq_shape_count(t->shape) * qdq_dtype_size(dtype);
    if (t->dtype == dtype || are_codes_of(dtype, t->dtype, file)) {
        memcpy(out, t->data, bytes);
        return EXIT_OK;
    }
    bool real = qdq_dtype_is_real(dtype);
    if (real && (qdq_dtype_is_real(t->dtype) || dtype != QDQ_FLOAT64))
        return convert_floats(given, name, file, t, dtype, out);
    if (!real) return convert_ints(given, name, file, t, dtype, out);
    return tell_failure(QDQ_ERR_PARSE, "%s: '%s' is %s, wanted %s", file, name,
                        qdq_dtype_name(t->dtype), qdq_dtype_name(dtype));
}

//---- Values -----------------------------------------------------------------

static qdq_value value_called(const qdq_graph *graph, const char *name) {
    qdq_value value = qdq_output_value(graph, qdq_output_name_of(graph, name));
    if (!value.id) value = qdq_graph_find(graph, name);
    return value.id ? value : qdq_graph_find(graph, qdq_value_name_of(graph, name));
}

// Loads the tensor of a value; without data if it has another shape.
static qdq_status load_value(given_values *given, const qdq_graph *graph, const tensor_spec *spec,
                             const char *name, qdq_value value, loaded_tensor *out,
                             qdq_error *err) {
    qdq_dtype dtype;
    qdq_shape shape = {0};
    (void)qdq_value_type(graph, value, &dtype, &shape);
    return tensor_load(&given->source, spec, name, shape, out, err);
}

// Checks a value that was given before: a file may have it under two names, with equal elements.
static int check_again(const given_values *given, uint32_t id, const char *name, const char *file,
                       const void *data, size_t bytes) {
    if (given->files[id] != given->file)
        return tell_failure(QDQ_ERR_ARGUMENT, "value '%s' is given twice: --got %s and --got %s",
                            name, given->files[id], given->file);
    if (memcmp(given->data[id], data, bytes) == 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE,
                        "%s: '%s' is there under another name too, with other elements; leave one "
                        "of them out",
                        file, name);
}

// Takes the elements of a value.
static int take(given_values *given, const qdq_graph *graph, const char *name, qdq_value value,
                const char *file, const loaded_tensor *t) {
    qdq_dtype dtype;
    qdq_shape shape;
    char has[128], wants[128];
    if (!qdq_value_type(graph, value, &dtype, &shape)) return EXIT_OK;
    if (!qdq_shape_equal(shape, t->shape))
        return tell_failure(QDQ_ERR_PARSE, "%s: '%s' has shape %s, wanted %s", file, name,
                            qdq_write_shape(t->shape, has, sizeof has),
                            qdq_write_shape(shape, wants, sizeof wants));
    if (value.id >= given->ids) return EXIT_OK;
    size_t bytes = qdq_shape_count(shape) * qdq_dtype_size(dtype);
    void *data = elements_take(given->allocator, bytes);
    if (!data) return tell_failure(QDQ_ERR_MEMORY, "no memory for '%s'", name);
    int code = convert(given, name, file, t, dtype, data);
    if (given->data[value.id]) {
        if (code == EXIT_OK) code = check_again(given, value.id, name, file, data, bytes);
        elements_free(data);
        return code;
    }
    given->data[value.id] = data;
    given->files[value.id] = given->file;
    given->count++;
    return code;
}

static int unknown_value(const qdq_graph *graph, const char *name) {
    size_t count = qdq_graph_node_count(graph);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++)
        names[i] = qdq_value_name(graph, qdq_graph_node_output(graph, i, 0));
    int code = tell_unknown("value", name, names, names ? count : 0);
    free(names);
    return code;
}

// Takes a tensor of a file of named tensors. Ignores constants, which are no results of the device.
static int take_named(given_values *given, const qdq_graph *graph, const tensor_spec *file,
                      const char *name) {
    qdq_error err = {0};
    tensor_spec spec = *file;
    loaded_tensor t;
    qdq_value value = value_called(graph, name);
    if (!value.id || qdq_value_is_constant(graph, value)) {
        given->ignored += value.id == 0;
        if (!value.id) snprintf(given->ignored_name, sizeof given->ignored_name, "%s", name);
        return EXIT_OK;
    }
    snprintf(spec.tensor, sizeof spec.tensor, "%s", name);
    if (load_value(given, graph, &spec, name, value, &t, &err) != QDQ_OK) return report_error(&err);
    int code = take(given, graph, name, value, spec.file, &t);
    tensor_release(&t);
    return code;
}

static int take_npz(given_values *given, const qdq_graph *graph, const tensor_spec *spec) {
    qdq_error err = {0};
    npz_file *file = npz_open(stream_path(spec->file), &err);
    if (!file) return report_error(&err);
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < npz_count(file); i++)
        code = take_named(given, graph, spec, npz_name(file, i));
    npz_close(file);
    return code;
}

static int take_safetensors(given_values *given, const qdq_graph *graph, const tensor_spec *spec) {
    qdq_error err = {0};
    qdq_tensor_file *file = tensor_file_open(spec->file, &err);
    if (!file) return report_error(&err);
    int code = EXIT_OK;
    for (size_t i = 0; code == EXIT_OK && i < qdq_tensor_file_count(file); i++)
        code = take_named(given, graph, spec, qdq_tensor_file_at(file, i)->name);
    qdq_tensor_file_close(file);
    return code;
}

static int take_file(given_values *given, const qdq_graph *graph, const qdq_plan *plan,
                     const char *text) {
    qdq_error err = {0};
    tensor_spec spec;
    loaded_tensor t;
    given->file = text;
    if (!tensor_spec_parse(text, &spec))
        return tell_failure(QDQ_ERR_ARGUMENT, "--got is '%s', wanted [NAME=]FILE", text);
    if (!*spec.name && !*spec.tensor && holds_named_tensors(spec.file))
        return file_kind_of(stream_path(spec.file)) == KIND_NPZ
                   ? take_npz(given, graph, &spec)
                   : take_safetensors(given, graph, &spec);
    if (!*spec.name && qdq_plan_output_count(plan) != 1)
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "--got is '%s', and the graph has %zu outputs, wanted NAME=FILE", text,
                            qdq_plan_output_count(plan));
    if (!*spec.name) snprintf(spec.name, sizeof spec.name, "%s", qdq_plan_output(plan, 0)->name);
    qdq_value value = value_called(graph, spec.name);
    if (!value.id) return unknown_value(graph, spec.name);
    if (qdq_value_is_constant(graph, value))
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "--got has '%s', which is a constant of the graph; give values that nodes "
            "compute",
            spec.name);
    if (load_value(given, graph, &spec, spec.name, value, &t, &err) != QDQ_OK)
        return report_error(&err);
    int code = take(given, graph, spec.name, value, spec.file, &t);
    tensor_release(&t);
    return code;
}

int given_open(given_values *given, const session *s) {
    size_t ids = graph_ids(s->graph, s->plan);
    const qdq_allocator *from = s->exec_options.allocator;
    *given = (given_values){.ids = ids, .allocator = from, .source.from = from};
    given->data = calloc(ids, sizeof *given->data);
    given->inputs = calloc(ids, sizeof *given->inputs);
    given->names = calloc(ids, sizeof *given->names);
    given->files = calloc(ids, sizeof *given->files);
    if (!given->data || !given->inputs || !given->names || !given->files)
        return tell_failure(QDQ_ERR_MEMORY, "no memory for %zu values", ids);
    for (size_t i = 0; i < qdq_plan_output_count(s->plan); i++) {
        const char *name = qdq_plan_output(s->plan, i)->name;
        given->names[qdq_output_value(s->graph, name).id] = name;
    }
    return EXIT_OK;
}

// True if a value was given that a node computes.
static bool has_results(const given_values *given, const qdq_graph *graph) {
    for (size_t node = 0; node < qdq_graph_node_count(graph); node++) {
        for (size_t port = 0; port < qdq_graph_node(graph, node).output_count; port++) {
            qdq_value value = qdq_graph_node_output(graph, node, port);
            if (value.id && value.id < given->ids && given->data[value.id]) return true;
        }
    }
    return false;
}

int given_read(given_values *given, const session *s, const string_list *files) {
    int code = given_open(given, s);
    for (size_t i = 0; code == EXIT_OK && i < files->count; i++)
        code = take_file(given, s->graph, s->plan, files->items[i]);
    if (code == EXIT_OK && given->count == 0)
        return tell_failure(QDQ_ERR_PARSE, "%s has no tensor with the name of a value of the graph",
                            files->items[0]);
    if (code == EXIT_OK && files->count && !has_results(given, s->graph))
        return tell_failure(
            QDQ_ERR_PARSE,
            "%s has inputs of the graph alone, wanted outputs, or other values that "
            "nodes compute",
            files->items[0]);
    return code;
}

// Takes the elements of an input, and checks that --got has no others.
static int take_input(given_values *given, const session *s, const qdq_tensor_info *info,
                      void *data) {
    uint32_t id = qdq_graph_find(s->graph, info->name).id;
    given->inputs[id] = data;
    if (!given->data[id] || memcmp(given->data[id], data, info->bytes) == 0) return EXIT_OK;
    return tell_failure(QDQ_ERR_ARGUMENT,
                        "input '%s' is given by -i and, with other elements, by --got; leave one "
                        "of them out",
                        info->name);
}

int given_take_inputs(given_values *given, session *s, const options *opt,
                      const string_list *files) {
    options both = *opt;
    int code = EXIT_OK;
    both.results = files;
    void **inputs = session_take_inputs(s, &both, &code);
    for (size_t i = 0; inputs && i < qdq_plan_input_count(s->plan); i++) {
        int taken = take_input(given, s, qdq_plan_input(s->plan, i), inputs[i]);
        if (code == EXIT_OK) code = taken;
    }
    free(inputs);
    qdq_exec_destroy(s->exec);
    s->exec = NULL;
    return code;
}

//---- Inputs of another graph ------------------------------------------------

static int copy_input(given_values *out, const session *to, const session *from,
                      const given_values *given, const qdq_tensor_info *info) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_value own = qdq_graph_find(from->graph, info->name);
    const void *data = own.id < given->ids ? given->inputs[own.id] : NULL;
    if (!data || !qdq_value_type(from->graph, own, &dtype, &shape) || dtype != info->dtype ||
        !qdq_shape_equal(shape, info->shape))
        return tell_failure(QDQ_ERR_ARGUMENT,
                            "the second graph has input '%s', wanted inputs of the names and types "
                            "of the first graph",
                            info->name);
    uint32_t id = qdq_graph_find(to->graph, info->name).id;
    out->inputs[id] = elements_take(out->allocator, info->bytes);
    if (!out->inputs[id]) return tell_failure(QDQ_ERR_MEMORY, "no memory for '%s'", info->name);
    memcpy(out->inputs[id], data, info->bytes);
    return EXIT_OK;
}

int given_copy_inputs(given_values *out, const session *to, const session *from,
                      const given_values *given) {
    int code = given_open(out, to);
    for (size_t i = 0; code == EXIT_OK && i < qdq_plan_input_count(to->plan); i++)
        code = copy_input(out, to, from, given, qdq_plan_input(to->plan, i));
    return code;
}

void given_release(given_values *given) {
    for (size_t i = 0; i < given->ids; i++) {
        if (given->data) elements_free(given->data[i]);
        if (given->inputs) elements_free(given->inputs[i]);
    }
    free(given->data), free(given->inputs), free(given->names), free(given->files);
    tensor_source_close(&given->source);
    *given = (given_values){0};
}
