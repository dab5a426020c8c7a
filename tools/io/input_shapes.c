// SPDX-License-Identifier: Apache-2.0
// Collects the shapes of inputs from options and files.
#include "tools/io/input_shapes.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <qdq/inspect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/failure.h"
#include "tools/io/array_file.h"
#include "tools/io/file_kind.h"
#include "tools/io/streams.h"
#include "tools/io/tensor_io.h"
#include "tools/options.h"
#include "tools/session.h"

// Shapes and dims collected so far; names are copies.
typedef struct collected {
    qdq_input_shape *shapes;
    qdq_dim_size *dims;
    size_t shape_count, dim_count;
} collected;

static bool no_memory(void) {
    return tell_failure(QDQ_ERR_MEMORY, "no memory for the shapes of inputs") == 0;
}

static bool add(collected *all, const char *name, size_t length, qdq_input_shape shape) {
    qdq_input_shape *shapes = realloc(all->shapes, (all->shape_count + 1) * sizeof *shapes);
    if (!shapes) return no_memory();
    all->shapes = shapes;
    char *copy = strndup(name, length);
    if (!copy) return no_memory();
    shape.name = copy;
    shapes[all->shape_count++] = shape;
    return true;
}

// Adds the shape of a tensor in a file or a graph.
static bool add_found(collected *all, const char *name, qdq_shape shape, bool samples) {
    return add(all, name, strlen(name),
               (qdq_input_shape){.shape = shape, .tentative = true, .samples = samples});
}

//---- Options ----------------------------------------------------------------

// Parses a whole number of at least 1 and sets *end to the byte behind it. 0 for other text.
static int64_t read_dim(const char *text, const char **end) {
    char *stop;
    errno = 0;
    long long value = *text >= '0' && *text <= '9' ? strtoll(text, &stop, 10) : 0;
    if (value < 1 || errno) return 0;
    *end = stop;
    return value;
}

// Adds the shape of "NAME=1,3,8,8", or "NAME=" for a scalar.
static bool take_shape(collected *all, const char *text) {
    const char *equals = strrchr(text, '='), *at = equals ? equals + 1 : "";
    qdq_shape shape = {0};
    bool fine = equals && equals > text;
    while (fine && *at) {
        int64_t dim = shape.rank < QDQ_MAX_RANK ? read_dim(at, &at) : 0;
        fine = dim > 0 && (*at == '\0' || (*at == ',' && at[1]));
        if (fine) shape.dims[shape.rank++] = dim;
        if (fine && *at == ',') at++;
    }
    if (fine) return add(all, text, (size_t)(equals - text), (qdq_input_shape){.shape = shape});
    (void)tell_failure(QDQ_ERR_ARGUMENT, "--shape is '%s', wanted NAME=1,3,8,8 with at most 8 dims",
                       text);
    return false;
}

static bool take_dim(collected *all, const char *text, bool tentative) {
    const char *equals = strrchr(text, '='), *end = "x";
    int64_t size = equals && equals > text ? read_dim(equals + 1, &end) : 0;
    if (!size || *end) {
        (void)tell_failure(QDQ_ERR_ARGUMENT, "--dim is '%s', wanted NAME=8", text);
        return false;
    }
    qdq_dim_size *dims = realloc(all->dims, (all->dim_count + 1) * sizeof *dims);
    if (!dims) return no_memory();
    all->dims = dims;
    char *copy = strndup(text, (size_t)(equals - text));
    if (!copy) return no_memory();
    dims[all->dim_count++] = (qdq_dim_size){copy, size, tentative};
    return true;
}

//---- Files ------------------------------------------------------------------

// Adds the shapes of a file of arrays. A file or an array that cannot be read is reported later,
// when a run reads it.
static bool take_arrays(collected *all, const char *path, bool samples, qdq_budget *memory) {
    array_file file;
    qdq_error ignored = {0};
    bool fine = true, open = array_file_open(&file, path, memory, &ignored) == QDQ_OK;
    for (size_t i = 0; open && fine && i < file.count; i++)
        if (file.arrays[i].problem.status == QDQ_OK)
            fine = add_found(all, file.nameless ? "" : file.arrays[i].name, file.arrays[i].shape,
                             samples);
    array_file_close(&file);
    return fine;
}

// Adds the shape of the tensor in a file of --input.
static bool take_file(collected *all, const char *text, qdq_budget *memory) {
    tensor_spec spec;
    qdq_error ignored = {0};
    if (!tensor_spec_parse(text, &spec)) return true;
    if (!*spec.name && is_array_file_name(spec.file))
        return take_arrays(all, spec.file, false, memory);
    if (!*spec.name && holds_named_tensors(spec.file)) {
        qdq_tensor_file *file = tensor_file_open(spec.file, &ignored);
        bool fine = true;
        for (size_t i = 0; fine && i < qdq_tensor_file_count(file); i++) {
            const qdq_tensor_info *info = qdq_tensor_file_at(file, i);
            fine = add_found(all, info->name, info->shape, false);
        }
        qdq_tensor_file_close(file);
        return fine;
    }
    qdq_shape shape;
    if (!*spec.name || tensor_shape(&spec, spec.name, &shape, &ignored) != QDQ_OK) return true;
    return add_found(all, spec.name, shape, false);
}

// Finds the file of the first sample in a folder; "" if there is none.
static void first_file(const char *where, char *out, size_t capacity) {
    DIR *folder = opendir(where);
    char first[NAME_MAX + 1] = "";
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.' && is_array_file_name(entry->d_name) &&
            (!*first || strcmp(entry->d_name, first) < 0))
            snprintf(first, sizeof first, "%s", entry->d_name);
    if (folder) (void)closedir(folder);
    snprintf(out, capacity, "%s%s%s", *first ? where : "", *first ? "/" : "", first);
}

// Adds the shapes of the samples of --data: a folder, or a file whose arrays count samples first.
static bool take_samples(collected *all, const char *where, qdq_budget *memory) {
    char path[4096 + NAME_MAX];
    if (is_array_file_name(where)) return take_arrays(all, where, true, memory);
    first_file(where, path, sizeof path);
    return !*path || take_arrays(all, path, false, memory);
}

// Adds the shapes of another graph's inputs, so that open dims take its sizes.
static bool take_graph(collected *all, const session *other) {
    bool fine = true;
    for (size_t i = 0; fine && i < qdq_plan_input_count(other->plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(other->plan, i);
        const char *original = qdq_value_original(other->graph, info->name);
        fine = add_found(all, original, info->shape, false) &&
               add_found(all, info->name, info->shape, false);
    }
    return fine;
}

//---- All --------------------------------------------------------------------

static void store(const collected *all, qdq_graph_options *out) {
    out->shapes = all->shapes, out->shape_count = all->shape_count;
    out->dims = all->dims, out->dim_count = all->dim_count;
}

bool input_shapes_of(const options *opt, const char *graph, qdq_graph_options *out) {
    const load_options *load = &opt->load;
    collected all = {0};
    bool fine = true;
    for (size_t i = 0; fine && i < load->shapes.count; i++)
        fine = take_shape(&all, load->shapes.items[i]);
    for (size_t i = 0; fine && i < load->dims.count; i++)
        fine = take_dim(&all, load->dims.items[i], load->loose_dims);
    if (fine && load->sizes_of) fine = take_graph(&all, load->sizes_of);
    bool reads = opt->inputs.count || opt->data.samples;
    bool model = fine && reads && file_kind_of(stream_path(graph)) == KIND_ONNX;
    for (size_t i = 0; model && fine && i < opt->inputs.count; i++)
        fine = take_file(&all, opt->inputs.items[i], opt->memory);
    if (model && fine && opt->data.samples)
        fine = take_samples(&all, opt->data.samples, opt->memory);
    store(&all, out);
    return fine;
}

void input_shapes_release(qdq_graph_options *out) {
    for (size_t i = 0; i < out->shape_count; i++) free((void *)(uintptr_t)out->shapes[i].name);
    for (size_t i = 0; i < out->dim_count; i++) free((void *)(uintptr_t)out->dims[i].name);
    free((void *)(uintptr_t)out->shapes);
    free((void *)(uintptr_t)out->dims);
    store(&(collected){0}, out);
}
