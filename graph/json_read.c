// SPDX-License-Identifier: Apache-2.0
// Reading qdq/1 files (docs/format.md): bytes, a strict scan, cJSON, then the calls of graph.h.
// What is not such a file stops with an error; what is wrong with the graph in it becomes findings.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/json_attrs.h"
#include "graph/json_nodes.h"
#include "graph/open_file.h"
#include "graph/safetensors.h"
#include "graph/target.h"
#include "runtime/dtype.h"

//---- Inputs, constants, outputs ---------------------------------------------

// A shape of more than 8 dims keeps its rank, which the graph then refuses.
static qdq_status read_shape(const qdq_reader *r, const qdq_item *object, qdq_shape *shape) {
    qdq_item list;
    QDQ_TRY(qdq_item_array(r, object, "shape", true, &list));
    *shape = (qdq_shape){0};
    QDQ_JSON_EACH(dim, list.json) {
        int64_t value;
        if (!qdq_json_whole(dim, &value))
            return qdq_fail(r->err, QDQ_ERR_PARSE, "%s[%d] is %s, wanted a whole number",
                            list.where, shape->rank, qdq_json_kind_text(dim));
        if (shape->rank < QDQ_MAX_RANK) shape->dims[shape->rank] = value;
        shape->rank++;
    }
    return QDQ_OK;
}

typedef struct declaration {
    const char *name;
    qdq_dtype dtype;
    qdq_shape shape;
} declaration;

static qdq_status read_declaration(const qdq_reader *r, const qdq_item *at, const char *kind,
                                   declaration *out) {
    const char *dtype;
    QDQ_TRY(qdq_item_string(r, at, "name", &out->name));
    QDQ_TRY(qdq_item_string(r, at, "dtype", &dtype));
    QDQ_TRY(read_shape(r, at, &out->shape));
    out->dtype =
        qdq_json_read_dtype(r->graph, dtype, (qdq_subject){out->name, NULL, "dtype", kind});
    return QDQ_OK;
}

static qdq_status read_input(qdq_reader *r, const qdq_item *at) {
    static const char *const keys[] = {"name", "dtype", "shape", NULL};
    declaration d;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, "input", &d));
    if (d.dtype == QDQ_DTYPE_NONE)
        (void)qdq_graph_add_invalid(r->graph, d.name);
    else
        (void)qdq_input(r->graph, d.name, d.dtype, d.shape);
    return QDQ_OK;
}

static void bad_data(const qdq_reader *r, const declaration *d, const char *found,
                     const char *wanted) {
    qdq_graph_find_core(r->graph, QDQ_RULE_CONSTANT_DATA,
                        (qdq_subject){d->name, NULL, "data", "constant"}, found, wanted);
}

// One number of a constant; false with a finding if the dtype does not hold it.
static bool store_number(const qdq_reader *r, const declaration *d, const qdq_json_item *json,
                         size_t i, char *out) {
    const qdq_dtype_info *info = qdq_dtype_get(d->dtype);
    qdq_findings *f = &r->graph->findings;
    double number;
    if (!qdq_json_any_number(json, &number)) {
        bad_data(r, d, qdq_text(f, "has %s at index %zu", qdq_json_kind_text(json), i), "a number");
        return false;
    }
    if (qdq_dtype_is_real(d->dtype)) {
        float real = (float)number, stored;
        static const qdq_numerics overflow = {.float_overflow = QDQ_FLOAT_OVERFLOW};
        qdq_encode_float(d->dtype, &real, out, 1, &overflow);
        qdq_decode_float(d->dtype, out, &stored, 1);
        bool held = isnan(number)   ? isnan(stored)
                    : isinf(number) ? isinf(stored)
                                    : isfinite(stored);
        if (held) return true;
        bad_data(r, d, qdq_text(f, "has %.17g at index %zu", number, i),
                 qdq_text(f, "numbers that %s can hold", info->name));
        return false;
    }
    if (!(number >= (double)info->least && number <= (double)info->greatest) ||
        number != floor(number)) {
        bad_data(r, d, qdq_text(f, "has %.17g at index %zu", number, i),
                 qdq_text(f, "whole numbers from %lld to %lld of %s", (long long)info->least,
                          (long long)info->greatest, info->name));
        return false;
    }
    int32_t whole = (int32_t)number;
    qdq_encode_int(d->dtype, &whole, out, 1);
    return true;
}

// The elements of a legal shape; SIZE_MAX for one that the graph will refuse.
static size_t count_of(qdq_shape shape) {
    size_t count = 1;
    if (shape.rank > QDQ_MAX_RANK) return SIZE_MAX;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dims[i] < 1 || __builtin_mul_overflow(count, (size_t)shape.dims[i], &count))
            return SIZE_MAX;
    return count;
}

static void read_inline(const qdq_reader *r, const declaration *d, const qdq_json_item *data) {
    size_t count = qdq_json_count(data), wanted = count_of(d->shape), i = 0;
    qdq_findings *f = &r->graph->findings;
    if (wanted != SIZE_MAX && (count != wanted || count > QDQ_MAX_INLINE_ELEMENTS)) {
        bad_data(r, d, qdq_text(f, "has %zu elements", count),
                 count != wanted ? qdq_text(f, "%zu, as many as the shape", wanted)
                                 : "at most 4096; more go to a .safetensors file");
        (void)qdq_graph_add_invalid(r->graph, d->name);
        return;
    }
    qdq_value value;
    char *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
    if (!memory) return;
    QDQ_JSON_EACH(json, data) {
        if (!store_number(r, d, json, i, memory + i * qdq_dtype_size(d->dtype))) return;
        i++;
    }
}

// The file called `name`, which stays open for further constants.
static qdq_status open_tensors(qdq_reader *r, const char *name, qdq_tensor_file **file) {
    for (size_t i = 0; i < r->file_count; i++)
        if (strcmp(r->files[i].name, name) == 0) {
            *file = r->files[i].file;
            return QDQ_OK;
        }
    if (!r->folder)
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "a graph that is read from memory without a folder cannot name files");
    if (r->file_count == QDQ_MAX_TENSOR_FILES)
        return qdq_fail(r->err, QDQ_ERR_LIMIT,
                        "constants name more than %d files, the last is '%s'", QDQ_MAX_TENSOR_FILES,
                        name);
    *file = qdq_tensor_file_open_beneath(r->folder, name, r->graph->allocator, r->err);
    if (!*file) return r->err->status;
    r->files[r->file_count].name = name;
    r->files[r->file_count++].file = *file;
    return QDQ_OK;
}

static qdq_status read_from_file(qdq_reader *r, const qdq_item *at, const declaration *d) {
    const char *file, *tensor;
    QDQ_TRY(qdq_item_string(r, at, "file", &file));
    QDQ_TRY(qdq_item_string(r, at, "tensor", &tensor));
    qdq_tensor_file *tensors = NULL;
    QDQ_TRY(open_tensors(r, file, &tensors));
    const qdq_tensor_info *info = qdq_tensor_file_find(tensors, tensor);
    if (!info)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "file '%.200s' has no tensor '%.200s'", file,
                        tensor);
    const char *held = qdq_dtype_get(d->dtype)->safetensors;
    if (strcmp(qdq_tensor_file_dtype(tensors, info), held) != 0 ||
        !qdq_shape_equal(info->shape, d->shape))
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "tensor '%.200s' of file '%.200s' has another dtype (%s) or shape than "
                        "constant '%.200s' declares (%s)",
                        tensor, file, qdq_tensor_file_dtype(tensors, info), d->name, held);
    qdq_value value;
    void *memory = qdq_graph_add_constant(r->graph, d->name, d->dtype, d->shape, &value);
    if (!memory) return QDQ_OK;
    QDQ_TRY(qdq_tensor_file_read(tensors, info, memory, r->err));
    size_t beyond = qdq_find_beyond(d->dtype, memory, qdq_shape_count(d->shape));
    if (beyond != SIZE_MAX)
        bad_data(r, d,
                 qdq_text(&r->graph->findings, "has a byte at index %zu that is no %s", beyond,
                          qdq_dtype_name(d->dtype)),
                 NULL);
    return QDQ_OK;
}

static qdq_status read_file_constant(qdq_reader *r, const qdq_item *at, const declaration *d) {
    qdq_status status = read_from_file(r, at, d);
    if (strncmp(r->err->text, at->where, strlen(at->where)) != 0)
        qdq_error_prefix(r->err, at->where);
    return status;
}

static qdq_status read_constant(qdq_reader *r, const qdq_item *at) {
    static const char *const keys[] = {"name", "dtype", "shape", "data", "file", "tensor", NULL};
    declaration d;
    qdq_item data, file, tensor;
    QDQ_TRY(qdq_item_check_keys(r, at, keys));
    QDQ_TRY(read_declaration(r, at, "constant", &d));
    QDQ_TRY(qdq_item_array(r, at, "data", false, &data));
    QDQ_TRY(qdq_item_member(r, at, "file", false, &file));
    QDQ_TRY(qdq_item_member(r, at, "tensor", false, &tensor));
    if (!data.json && !file.json)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s has no content, wanted data, or file and tensor",
                        at->where);
    if (data.json && (file.json || tensor.json))
        return qdq_fail(r->err, QDQ_ERR_PARSE,
                        "%s has both data and %s, wanted data, or file and tensor", at->where,
                        file.json ? "file" : "tensor");
    if (d.dtype == QDQ_DTYPE_NONE) {
        (void)qdq_graph_add_invalid(r->graph, d.name);
        return QDQ_OK;
    }
    if (file.json)
        QDQ_TRY(read_file_constant(r, at, &d));
    else
        read_inline(r, &d, data.json);
    return QDQ_OK;
}

static qdq_status read_output(const qdq_node_list *list, const qdq_item *at) {
    static const char *const keys[] = {"name", "value", NULL};
    const char *name, *value;
    QDQ_TRY(qdq_item_check_keys(list->r, at, keys));
    QDQ_TRY(qdq_item_string(list->r, at, "name", &name));
    QDQ_TRY(qdq_item_string(list->r, at, "value", &value));
    qdq_output(list->r->graph, name,
               qdq_json_resolve(list, value, (qdq_subject){.node = name, .kind = "output"}));
    return QDQ_OK;
}

//---- The whole --------------------------------------------------------------

static qdq_status read_list(qdq_reader *r, const qdq_item *top, const char *key,
                            qdq_status (*read)(qdq_reader *r, const qdq_item *at)) {
    qdq_item list, at;
    QDQ_TRY(qdq_item_array(r, top, key, false, &list));
    size_t i = 0;
    QDQ_JSON_EACH(json, list.json) {
        at.json = json;
        snprintf(at.where, sizeof at.where, "%s[%zu]", key, i++);
        QDQ_TRY(read(r, &at));
    }
    return QDQ_OK;
}

static qdq_status read_outputs(const qdq_node_list *list, const qdq_item *top) {
    qdq_item outputs, at;
    QDQ_TRY(qdq_item_array(list->r, top, "outputs", true, &outputs));
    size_t i = 0;
    QDQ_JSON_EACH(json, outputs.json) {
        at.json = json;
        snprintf(at.where, sizeof at.where, "outputs[%zu]", i++);
        QDQ_TRY(read_output(list, &at));
    }
    return QDQ_OK;
}

static qdq_status read_names(qdq_reader *r, const qdq_item *top) {
    qdq_graph *graph = r->graph;
    const char *format;
    qdq_item name, target;
    QDQ_TRY(qdq_item_string(r, top, "format", &format));
    if (strcmp(format, "qdq/1") != 0)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "format is '%s', wanted 'qdq/1'", format);
    QDQ_TRY(qdq_item_member(r, top, "name", false, &name));
    QDQ_TRY(qdq_item_member(r, top, "target", false, &target));
    if (name.json && !qdq_json_text(name.json)) return qdq_item_wrong_kind(r, &name, "a string");
    if (target.json && !qdq_json_text(target.json))
        return qdq_item_wrong_kind(r, &target, "a string");
    if (name.json) graph->name = qdq_pool_strdup(&graph->pool, qdq_json_text(name.json));
    if (!target.json || graph->target_given) return QDQ_OK;
    qdq_error unknown = {0};
    qdq_profile profile;
    if (!qdq_profile_find(qdq_json_text(target.json), &profile, &unknown))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "%s", unknown.text);
    graph->target = qdq_pool_strdup(&graph->pool, qdq_json_text(target.json));
    return QDQ_OK;
}

static qdq_status read_graph(qdq_reader *r, const qdq_json_item *json) {
    static const char *const keys[] = {"format",    "name",  "target",  "inputs",
                                       "constants", "nodes", "outputs", NULL};
    qdq_item top = {.json = json, .where = ""};
    qdq_node_list list = {.r = r};
    if (!qdq_json_is_object(json))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "the file is %s, wanted an object",
                        qdq_json_kind_text(json));
    QDQ_TRY(qdq_item_check_keys(r, &top, keys));
    QDQ_TRY(read_names(r, &top));
    QDQ_TRY(read_list(r, &top, "inputs", read_input));
    QDQ_TRY(read_list(r, &top, "constants", read_constant));
    list.names = qdq_symbols_create(r->graph->allocator, r->err);
    if (!list.names) return r->err->status;
    qdq_status status = qdq_json_read_nodes(&list, &top);
    if (status == QDQ_OK) status = read_outputs(&list, &top);
    qdq_symbols_destroy(list.names);
    return status;
}

// Reads `text`, which has a NUL behind its `length` bytes, into a new graph.
static qdq_status read_text(qdq_graph *graph, const char *text, size_t length, const char *folder,
                            qdq_error *err) {
    qdq_json_item *json =
        qdq_json_tree_parse(text, length, graph->allocator, graph->limits.json_values, err);
    if (!json) return err->status;
    qdq_pool scratch;
    qdq_pool_init(&scratch, graph->allocator);
    qdq_reader r = {.graph = graph, .pool = &scratch, .folder = folder, .err = err};
    qdq_status status = read_graph(&r, json);
    for (size_t i = 0; i < r.file_count; i++) qdq_tensor_file_close(r.files[i].file);
    qdq_pool_release(&scratch);
    qdq_json_tree_free(json);
    if (status == QDQ_OK && graph->pool.failed) status = qdq_fail_memory(err, 1);
    if (status == QDQ_OK && graph->broken.status)
        status = qdq_fail(err, graph->broken.status, "%s", graph->broken.text);
    return status;
}

// Hands an error on, with the name of the file in front.
static void give_up(qdq_error *own, const char *name, qdq_error *err) {
    if (name && *name) qdq_error_prefix(own, name);
    qdq_fail(err, own->status, "%s", own->text);
}

// The graph in `text`, which has a NUL behind its `length` bytes; NULL with `err` set.
static qdq_graph *read_new_graph(const char *text, size_t length, const char *name,
                                 const char *folder, const qdq_graph_options *options,
                                 qdq_error *err) {
    qdq_error own = {0};
    qdq_graph *graph = qdq_graph_create(NULL, options);
    if (!graph) {
        qdq_fail_memory(err, sizeof *graph);
        return NULL;
    }
    const char *file = qdq_pool_strdup(&graph->pool, name ? name : "");
    graph->file = graph->findings.file = file ? file : "";
    if (read_text(graph, text, length, folder, &own) == QDQ_OK) {
        qdq_graph_tell(graph, "%s: loaded %zu nodes, %zu errors found so far", graph->file,
                       graph->node_count, graph->findings.errors);
        return graph;
    }
    give_up(&own, name, err);
    qdq_graph_destroy(graph);
    return NULL;
}

qdq_graph *qdq_graph_parse(const char *text, size_t length, const char *name, const char *folder,
                           const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    char *copy = NULL;
    if (qdq_check_file_bytes(length, limits.file_bytes, &own) == QDQ_OK) {
        copy = qdq_alloc_array(allocator, length + 1, 1, 16);
        if (!copy) qdq_fail_memory(&own, length + 1);
    }
    if (!copy) {
        give_up(&own, name, err);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    qdq_graph *graph = read_new_graph(copy, length, name, folder, options, err);
    qdq_free_array(allocator, copy, length + 1, 1);
    return graph;
}

// The folder that a path lies in, "." for none.
static const char *folder_of(const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(path, '/');
    if (!slash) return ".";
    snprintf(out, capacity, "%.*s", slash == path ? 1 : (int)(slash - path), path);
    return out;
}

qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    char folder[4096];
    size_t length = 0;
    char *text = qdq_read_file(path, limits.file_bytes, allocator, &length, &own);
    if (!text) {
        give_up(&own, path, err);
        return NULL;
    }
    qdq_graph *graph =
        read_new_graph(text, length, path, folder_of(path, folder, sizeof folder), options, err);
    qdq_free_array(allocator, text, length + 1, 1);
    return graph;
}
