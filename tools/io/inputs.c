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
#include "tools/io/frames.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"
#include "tools/options/option_number.h"

enum { NONE = -1 };  // no --input

// An input of the plan, and the numbers of the --input that names it and of the file that gives it.
typedef struct input_row {
    const qdq_tensor_info *info;
    size_t number;  // in the plan
    ptrdiff_t named, chosen;
} input_row;

typedef struct input_list {
    const qdq_graph *graph;
    const qdq_plan *plan;
    const options *opt;
    input_row *rows;
    size_t count;
    tensor_source source;
} input_list;

//---- Choosing files ---------------------------------------------------------

static int compare_names(const void *a, const void *b) {
    return strcmp(((const input_row *)a)->info->name, ((const input_row *)b)->info->name);
}

static int find_name(const void *name, const void *row) {
    return strcmp(name, ((const input_row *)row)->info->name);
}

static input_row *find_input(const input_list *list, const char *name) {
    if (!list->count) return NULL;
    return bsearch(name, list->rows, list->count, sizeof *list->rows, find_name);
}

static bool list_inputs(input_list *list, const qdq_plan *plan) {
    list->count = qdq_plan_input_count(plan);
    list->rows = calloc(list->count + 1, sizeof *list->rows);
    for (size_t i = 0; list->rows && i < list->count; i++)
        list->rows[i] = (input_row){qdq_plan_input(plan, i), i, NONE, NONE};
    if (list->rows) qsort(list->rows, list->count, sizeof *list->rows, compare_names);
    return list->rows != NULL;
}

static int unknown_input(const qdq_plan *plan, const char *name) {
    size_t count = qdq_plan_input_count(plan);
    const char **names = calloc(count + 1, sizeof *names);
    for (size_t i = 0; names && i < count; i++) names[i] = qdq_plan_input(plan, i)->name;
    int code = tell_unknown("input", name, names, names ? count : 0);
    free(names);
    return code;
}

// Returns the word of an --input or, behind the last, of a file of results.
static const char *word_at(const input_list *list, ptrdiff_t option) {
    const string_list *inputs = &list->opt->inputs;
    size_t k = (size_t)option;
    return k < inputs->count ? inputs->items[k] : list->opt->results->items[k - inputs->count];
}

static int given_twice(const input_list *list, const input_row *row, ptrdiff_t first,
                       const tensor_spec *second) {
    tensor_spec spec;
    (void)tensor_spec_parse(word_at(list, first), &spec);
    return tell_failure(QDQ_ERR_ARGUMENT, "input '%s' is given twice: %s and %s", row->info->name,
                        spec.file, second->file);
}

// Chooses a file for the input that the spec names.
static int choose_for_one(input_list *list, const qdq_plan *plan, const tensor_spec *spec,
                          size_t option) {
    input_row *row = find_input(list, spec->name);
    if (!row) return unknown_input(plan, spec->name);
    if (row->named != NONE) return given_twice(list, row, row->named, spec);
    row->named = (ptrdiff_t)option;
    return EXIT_OK;
}

// True if a file without NAME has a tensor of the name of an input or, then with *tensor set, of
// its original name in the file of the graph.
static bool has_tensor_for(input_list *list, const char *file, const char *name,
                           const char **tensor) {
    const char *original = qdq_value_original(list->graph, name);
    *tensor = NULL;
    if (tensor_file_has(&list->source, file, name)) return true;
    if (original == name || !tensor_file_has(&list->source, file, original)) return false;
    *tensor = original;
    return true;
}

// Chooses a file without NAME, a .safetensors or .npz file with a tensor for some input.
static int choose_for_all(input_list *list, const tensor_spec *spec, size_t option) {
    qdq_error err = {0};
    const char *tensor;
    if (is_no_tensor_file(stream_path(spec->file), &err)) return report_error(&err);
    if (!holds_named_tensors(spec->file))
        return tell_failure(
            QDQ_ERR_ARGUMENT,
            "--input is '%s', wanted NAME=%s, or a .safetensors or .npz file for all", spec->file,
            spec->file);
    if (!tensor_file_opens(&list->source, spec->file, &err)) return report_error(&err);
    bool used = false;
    for (size_t i = 0; i < list->count; i++) {
        input_row *row = &list->rows[i];
        if (!has_tensor_for(list, spec->file, row->info->name, &tensor)) continue;
        if (row->chosen != NONE) return given_twice(list, row, row->chosen, spec);
        row->chosen = (ptrdiff_t)option;
        used = true;
    }
    if (used) return EXIT_OK;
    return tell_failure(QDQ_ERR_PARSE,
                        "%s has no tensor with the name of an input; use -i NAME=%s#TENSOR",
                        spec->file, spec->file);
}

// Chooses files of results for inputs that no --input gives.
static void choose_results(input_list *list) {
    const string_list *results = list->opt->results;
    const char *tensor;
    for (size_t k = 0; results && k < results->count; k++) {
        tensor_spec spec;
        if (!tensor_spec_of_input(list->graph, results->items[k], &spec)) continue;
        for (size_t i = 0; i < list->count; i++) {
            input_row *row = &list->rows[i];
            if (row->chosen == NONE &&
                (*spec.name ? strcmp(spec.name, row->info->name) == 0
                            : has_tensor_for(list, spec.file, row->info->name, &tensor)))
                row->chosen = (ptrdiff_t)(list->opt->inputs.count + k);
        }
    }
}

// Chooses a file for each input that is given. NAME=FILE comes before files without NAME.
static int choose_files(input_list *list, const qdq_plan *plan) {
    const string_list *inputs = &list->opt->inputs;
    int code = EXIT_OK;
    for (size_t k = 0; k < inputs->count && code == EXIT_OK; k++) {
        tensor_spec spec;
        if (!tensor_spec_of_input(list->graph, inputs->items[k], &spec))
            return tell_failure(QDQ_ERR_ARGUMENT, "--input is '%s', wanted [NAME=]FILE",
                                inputs->items[k]);
        code = *spec.name ? choose_for_one(list, plan, &spec, k) : choose_for_all(list, &spec, k);
    }
    for (size_t i = 0; i < list->count; i++)
        if (list->rows[i].named != NONE) list->rows[i].chosen = list->rows[i].named;
    if (code == EXIT_OK) choose_results(list);
    return code;
}

//---- Reading them -----------------------------------------------------------

// Writes the elements of an input: of each frame to its place.
static qdq_status write_frames(const input_list *list, qdq_exec *exec, const input_row *row,
                               const loaded_tensor *tensor, qdq_error *err) {
    const frames *f = list->opt->frames;
    size_t count = qdq_shape_count(row->info->shape), size = qdq_dtype_size(tensor->dtype);
    size_t runs = f && f->inputs[row->number] ? f->count : 1;
    qdq_status status = QDQ_OK;
    for (size_t i = 0; i < runs && status == QDQ_OK; i++) {
        if (runs > 1) status = frames_bind_input(f, exec, list->plan, row->number, i, err);
        if (status == QDQ_OK)
            status = qdq_exec_write(exec, row->info->name, tensor->dtype,
                                    (const char *)tensor->data + i * count * size, count, err);
    }
    return status;
}

static int write_input(input_list *list, qdq_exec *exec, const input_row *row,
                       const tensor_spec *spec) {
    const qdq_tensor_info *input = row->info;
    const frames *f = list->opt->frames;
    qdq_shape shape =
        f && f->inputs[row->number] ? frames_shape(input->shape, f->count) : input->shape;
    qdq_error err = {0};
    loaded_tensor tensor;
    char has[128], wants[128];
    if (tensor_load(&list->source, spec, input->name, shape, &tensor, &err) != QDQ_OK)
        return report_error(&err);
    int code = EXIT_OK;
    if (are_codes_of(input->dtype, tensor.dtype, spec->file)) tensor.dtype = input->dtype;
    if (!qdq_shape_equal(tensor.shape, shape)) {
        code = tell_failure(QDQ_ERR_PARSE, "input '%s': %s has shape %s, wanted %s", input->name,
                            spec->file, qdq_write_shape(tensor.shape, has, sizeof has),
                            qdq_write_shape(shape, wants, sizeof wants));
    } else if (write_frames(list, exec, row, &tensor, &err) != QDQ_OK) {
        bool narrows = tensor.dtype == QDQ_FLOAT64 && qdq_dtype_is_real(input->dtype);
        code = tell_failure(QDQ_ERR_PARSE, "%s: %s%s", spec->file, err.text,
                            narrows ? "; convert it in numpy with x.astype('float32')" : "");
    }
    tensor_release(&tensor);
    return code;
}

static int give_input(input_list *list, qdq_exec *exec, const input_row *row) {
    tensor_spec spec;
    const char *tensor = NULL;
    if (row->chosen == NONE) return EXIT_OK;
    (void)tensor_spec_of_input(list->graph, word_at(list, row->chosen), &spec);
    if (!*spec.name) (void)has_tensor_for(list, spec.file, row->info->name, &tensor);
    if (tensor) snprintf(spec.tensor, sizeof spec.tensor, "%s", tensor);
    return write_input(list, exec, row, &spec);
}

// Orders inputs by their files, which are then opened once, and in the plan.
static int compare_files(const void *a, const void *b) {
    const input_row *x = a, *y = b;
    int order = (x->chosen > y->chosen) - (x->chosen < y->chosen);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

// Inputs without a file come first. State begins with its first elements.
static int check_all_given(const input_list *list) {
    if (list->opt->fill) return EXIT_OK;
    for (size_t i = 0; i < list->count && list->rows[i].chosen == NONE; i++) {
        const char *name = list->rows[i].info->name;
        if (!is_state_input(list->graph, name))
            return tell_failure(QDQ_ERR_ARGUMENT,
                                "input '%s' is not given; add -i %s=FILE, or --fill SEED", name,
                                name);
    }
    return EXIT_OK;
}

static int fill_inputs(const input_list *list, qdq_exec *exec) {
    size_t seed;
    qdq_error err = {0};
    const char *fill = list->opt->fill;
    if (!options_number("fill", fill, 0, 0, &seed)) return EXIT_USAGE;
    const frames *f = list->opt->frames;
    for (size_t i = 0; fill && i < (f ? f->count : 1) && err.status == QDQ_OK; i++) {
        if (f) (void)frames_bind(f, exec, list->plan, i, &err);
        if (err.status == QDQ_OK) (void)qdq_exec_fill(exec, list->graph, seed + i, &err);
    }
    if (err.status == QDQ_OK) (void)qdq_exec_first_states(exec, list->graph, &err);
    return err.status == QDQ_OK ? EXIT_OK : report_error(&err);
}

int give_inputs(const qdq_graph *graph, const qdq_plan *plan, qdq_exec *exec, const options *opt) {
    input_list list = {
        .graph = graph, .plan = plan, .opt = opt, .source.from = &opt->memory->allocator};
    int code = list_inputs(&list, plan)
                   ? choose_files(&list, plan)
                   : tell_failure(QDQ_ERR_MEMORY, "no memory for the names of inputs");
    if (code == EXIT_OK) code = fill_inputs(&list, exec);
    if (code == EXIT_OK && list.count)
        qsort(list.rows, list.count, sizeof *list.rows, compare_files);
    if (code == EXIT_OK) code = check_all_given(&list);
    for (size_t i = 0; i < list.count && code == EXIT_OK; i++)
        code = give_input(&list, exec, &list.rows[i]);
    tensor_source_close(&list.source);
    free(list.rows);
    return code;
}
