// SPDX-License-Identifier: Apache-2.0
// Finds the shapes of a model's inputs: sizes in the file, then shapes and dims of the options. A
// name of a dim has one size everywhere.
#include "graph/formats/onnx/onnx_inputs.h"

#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/onnx_tensor.h"

// Sizes of named dims, and where each was found.
typedef struct dim_sizes {
    ONNX_LIST(qdq_dim_size) all;
    qdq_onnx_import *im;
    size_t inputs;  // of the graph
} dim_sizes;

static int64_t *size_of(dim_sizes *sizes, const char *name) {
    for (size_t i = 0; i < sizes->all.count; i++)
        if (strcmp(sizes->all.items[i].name, name) == 0) return &sizes->all.items[i].size;
    return NULL;
}

static bool add_size(dim_sizes *sizes, const char *name, int64_t size) {
    qdq_dim_size *items = qdq_mempool_grow(sizes->im->mempool, sizes->all.items, sizes->all.count,
                                           &sizes->all.capacity, sizeof *items);
    if (!items) return false;
    sizes->all.items = items;
    items[sizes->all.count++] = (qdq_dim_size){.name = name, .size = size};
    return true;
}

static bool is_open(const qdq_onnx_info *info) {
    for (size_t i = 0; i < info->dims.count; i++)
        if (info->dims.items[i].size < 0) return true;
    return !info->has_shape;
}

// Notes the dims of an input that have no size.
static void note_open_dims(qdq_graph *graph, const qdq_onnx_info *info) {
    for (size_t i = 0; i < info->dims.count && i < QDQ_MAX_RANK; i++) {
        const qdq_onnx_dim *dim = &info->dims.items[i];
        if (dim->size >= 0) continue;
        graph->open_dims |= 1u << i;
        if (!*dim->name) graph->unnamed_dims |= 1u << i;
    }
}

// Returns the shape that the options give to an input; NULL: none. A tentative one fills open dims
// only.
static const qdq_input_shape *option_of(const dim_sizes *sizes, const qdq_onnx_info *info) {
    const qdq_graph_options *options = sizes->im->options;
    for (size_t i = 0; options && i < options->shape_count; i++) {
        const qdq_input_shape *shape = &options->shapes[i];
        bool only = shape->tentative && !*shape->name && sizes->inputs == 1;
        if ((only || qdq_onnx_is_name(sizes->im, info->name, shape->name)) &&
            (!shape->tentative || is_open(info)))
            return shape;
    }
    return NULL;
}

static int64_t first_dim(dim_sizes *sizes, const qdq_onnx_info *info) {
    const qdq_onnx_dim *dim = &info->dims.items[0];
    const int64_t *known = *dim->name ? size_of(sizes, dim->name) : NULL;
    return dim->size > 0 ? dim->size : known ? *known : 1;
}

// Sets *out to the shape that the options give to an input; false: none. The shape of an array may
// count samples first, or lack dims of 1.
static bool given_shape(dim_sizes *sizes, const qdq_onnx_info *info, qdq_shape *out) {
    const qdq_input_shape *given = option_of(sizes, info);
    if (!given) return false;
    *out = given->shape;
    int rank = info->has_shape ? (int)info->dims.count : out->rank - given->samples;
    bool extra = given->samples && out->rank == rank + 1;
    if (extra) {
        memmove(out->dims, out->dims + 1, (size_t)rank * sizeof *out->dims);
        out->rank = rank;
    } else if (given->samples && out->rank == rank && rank > 0) {
        out->dims[0] = first_dim(sizes, info);
    }
    while (given->tentative && out->rank < rank && rank <= QDQ_MAX_RANK) {
        memmove(out->dims + 1, out->dims, (size_t)out->rank++ * sizeof *out->dims);
        out->dims[0] = 1;
    }
    return true;
}

//---- Options that name nothing -----------------------------------------------

static bool names_dim(const qdq_onnx_graph *graph, const char *name) {
    for (size_t i = 0; i < graph->inputs.count; i++)
        for (size_t k = 0; k < graph->inputs.items[i].dims.count; k++)
            if (strcmp(graph->inputs.items[i].dims.items[k].name, name) == 0) return true;
    return false;
}

static bool names_input(const qdq_onnx_import *im, const char *name) {
    const qdq_onnx_graph *graph = &im->model.graph;
    for (size_t i = 0; i < graph->inputs.count; i++)
        if (qdq_onnx_is_name(im, graph->inputs.items[i].name, name)) return true;
    return false;
}

static qdq_status check_options(const qdq_onnx_import *im) {
    const qdq_graph_options *options = im->options;
    for (size_t i = 0; options && i < options->shape_count; i++)
        if (!options->shapes[i].tentative && !names_input(im, options->shapes[i].name))
            return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                            "a shape is given for '%.200s', which is no input of the model",
                            options->shapes[i].name);
    for (size_t i = 0; options && i < options->dim_count; i++) {
        if (!options->dims[i].tentative && !names_dim(&im->model.graph, options->dims[i].name))
            return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                            "a size is given for dim '%.200s', which no input of the model has",
                            options->dims[i].name);
        if (options->dims[i].size < 1)
            return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                            "dim '%.200s' is given as %lld, wanted 1 or more",
                            options->dims[i].name, (long long)options->dims[i].size);
    }
    return QDQ_OK;
}

//---- Sizes ------------------------------------------------------------------

static qdq_status check_given(const qdq_onnx_import *im, const qdq_onnx_info *info,
                              const qdq_shape *given) {
    if (info->has_shape && info->dims.count != (size_t)given->rank)
        return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                        "input '%.200s' has %zu dims, and the given shape %d", info->name,
                        info->dims.count, given->rank);
    for (size_t i = 0; i < info->dims.count; i++)
        if (info->dims.items[i].size > 0 && info->dims.items[i].size != given->dims[i])
            return qdq_fail(
                im->err, QDQ_ERR_ARGUMENT,
                "input '%.200s': dim %zu is %lld in the model, and %lld in the given shape",
                info->name, i, (long long)info->dims.items[i].size, (long long)given->dims[i]);
    return QDQ_OK;
}

// Takes the sizes of named dims from the shapes that are given.
static qdq_status collect_sizes(dim_sizes *sizes) {
    const qdq_onnx_import *im = sizes->im;
    const qdq_graph_options *options = im->options;
    for (size_t i = 0; options && i < options->dim_count; i++)
        if (!add_size(sizes, options->dims[i].name, options->dims[i].size))
            return qdq_fail_memory(im->err, sizeof(qdq_dim_size));
    for (size_t i = 0; i < im->model.graph.inputs.count; i++) {
        const qdq_onnx_info *info = &im->model.graph.inputs.items[i];
        qdq_shape given;
        if (!given_shape(sizes, info, &given)) continue;
        QDQ_TRY(check_given(im, info, &given));
        for (size_t k = 0; k < info->dims.count; k++) {
            const char *name = info->dims.items[k].name;
            const int64_t *known = *name ? size_of(sizes, name) : NULL;
            if (known && *known != given.dims[k])
                return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                                "dim '%.200s' is %lld, and %lld in the shape given for '%.200s'",
                                name, (long long)*known, (long long)given.dims[k], info->name);
            if (*name && !known && !add_size(sizes, name, given.dims[k]))
                return qdq_fail_memory(im->err, sizeof(qdq_dim_size));
        }
    }
    return QDQ_OK;
}

// The dims that stay open, as text: "x [batch, 3, ?], ids [batch]".
typedef struct open_dims {
    char text[400];
    size_t count;
} open_dims;

static void append(char *out, size_t size, const char *text) {
    size_t length = strlen(out);
    if (length + 1 < size) snprintf(out + length, size - length, "%s", text);
}

static void note_open(open_dims *open, const qdq_onnx_info *info) {
    char number[32];
    append(open->text, sizeof open->text, open->count++ ? ", '" : "'");
    append(open->text, sizeof open->text, info->name);
    append(open->text, sizeof open->text, "' is [");
    if (!info->has_shape) append(open->text, sizeof open->text, "unknown");
    for (size_t i = 0; i < info->dims.count; i++) {
        const qdq_onnx_dim *dim = &info->dims.items[i];
        snprintf(number, sizeof number, "%lld", (long long)dim->size);
        append(open->text, sizeof open->text, i ? ", " : "");
        append(open->text, sizeof open->text,
               dim->size > 0 ? number
               : *dim->name  ? dim->name
                             : "?");
    }
    append(open->text, sizeof open->text, "]");
}

// False if a dim stays open.
static bool find_shape(dim_sizes *sizes, const qdq_onnx_info *info, qdq_shape *out) {
    *out = (qdq_shape){0};
    if (given_shape(sizes, info, out)) return true;
    if (!info->has_shape) return false;
    int64_t batch = sizes->im->options ? sizes->im->options->batch : 0;
    out->rank = info->dims.count > QDQ_MAX_RANK ? QDQ_MAX_RANK + 1 : (int)info->dims.count;
    for (int i = 0; i < out->rank && i < QDQ_MAX_RANK; i++) {
        const qdq_onnx_dim *dim = &info->dims.items[i];
        const int64_t *known = *dim->name ? size_of(sizes, dim->name) : NULL;
        out->dims[i] = dim->size >= 0        ? dim->size
                       : known               ? *known
                       : i == 0 && batch > 0 ? batch
                                             : -1;
        if (out->dims[i] < 0) return false;
    }
    return true;
}

// Gives the batch its size, where the first dim of an input is open. The other inputs follow by its
// name.
static qdq_status assume_batch(dim_sizes *sizes) {
    const qdq_onnx_import *im = sizes->im;
    int64_t batch = im->options ? im->options->batch : 0;
    for (size_t i = 0; batch > 0 && i < im->model.graph.inputs.count; i++) {
        const qdq_onnx_info *info = &im->model.graph.inputs.items[i];
        const qdq_onnx_dim *first = info->dims.count ? &info->dims.items[0] : NULL;
        qdq_shape given;
        if (!first || first->size >= 0 || given_shape(sizes, info, &given)) continue;
        if (*first->name && !size_of(sizes, first->name) && !add_size(sizes, first->name, batch))
            return qdq_fail_memory(im->err, sizeof(qdq_dim_size));
    }
    return QDQ_OK;
}

//---- Inputs -----------------------------------------------------------------

// True if an initializer does not give the input, and a node reads it.
static bool is_input(const qdq_onnx_scope *scope, const qdq_onnx_info *info) {
    qdq_onnx_value *value;
    return !info->left_out && !qdq_onnx_scope_find(scope, info->name, &value);
}

static qdq_status add_input(qdq_onnx_scope *scope, const qdq_onnx_info *info, qdq_shape shape) {
    qdq_onnx_import *im = scope->im;
    qdq_onnx_value *value = qdq_onnx_new_value(im, info->name);
    if (!value || !qdq_onnx_scope_add(scope, info->name, value))
        return qdq_fail_memory(im->err, sizeof *value);
    qdq_dtype dtype = info->other ? QDQ_DTYPE_NONE : qdq_onnx_dtype(info->elem);
    qdq_findings *f = &im->graph->findings;
    if (dtype == QDQ_DTYPE_NONE) {
        qdq_report_add(
            f, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED],
            (qdq_subject){.node = info->name, .kind = "input"},
            qdq_text(f, "is %s", info->other ? info->other : qdq_onnx_elem_name(info->elem)),
            "a tensor of a dtype that `qdq ops --dtypes` lists", "docs/onnx.md lists what is read");
        return QDQ_OK;
    }
    const char *name = qdq_onnx_free_name(im, info->name, true);
    if (!name) return qdq_fail_memory(im->err, 1);
    value->ref = qdq_input(im->graph, name, dtype, shape);
    value->own = true;
    qdq_onnx_note_original(im, value);
    if (qdq_value_type(im->graph, value->ref, NULL, &value->shape)) value->elem = info->elem;
    return QDQ_OK;
}

qdq_status qdq_onnx_add_inputs(qdq_onnx_scope *scope) {
    qdq_onnx_import *im = scope->im;
    const qdq_onnx_infos *inputs = &im->model.graph.inputs;
    dim_sizes sizes = {.im = im};
    open_dims open = {.count = 0};
    for (size_t i = 0; i < inputs->count; i++) sizes.inputs += is_input(scope, &inputs->items[i]);
    QDQ_TRY(check_options(im));
    QDQ_TRY(collect_sizes(&sizes));
    QDQ_TRY(assume_batch(&sizes));
    qdq_shape *shapes = qdq_mempool_array(im->mempool, inputs->count, sizeof *shapes);
    if (!shapes) return qdq_fail_memory(im->err, inputs->count * sizeof *shapes);
    for (size_t i = 0; i < inputs->count; i++) {
        const qdq_onnx_info *info = &inputs->items[i];
        if (!is_input(scope, info) || info->other) continue;
        if (!find_shape(&sizes, info, &shapes[i])) note_open(&open, info);
        note_open_dims(im->graph, info);
    }
    if (open.count)
        return qdq_fail(im->err, QDQ_ERR_ARGUMENT,
                        "dims of inputs are open: %.400s; give sizes with --dim NAME=N or "
                        "--shape INPUT=N,N,...",
                        open.text);
    for (size_t i = 0; i < inputs->count; i++)
        if (is_input(scope, &inputs->items[i]))
            QDQ_TRY(add_input(scope, &inputs->items[i], shapes[i]));
    return QDQ_OK;
}
