// SPDX-License-Identifier: Apache-2.0
// Reads graph files (docs/format.md): a strict scan of the text, then cJSON, then calls that build
// the graph. A file of another format is an error; mistakes in its graph are findings. This file
// reads qdq/1 as a whole; onednn/json_onednn.c reads oneDNN Graph files, onnx/onnx_read.c ONNX
// models.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "graph/read/json_nodes.h"
#include "graph/read/json_originals.h"
#include "graph/read/json_values.h"
#include "graph/read/onednn/json_onednn.h"
#include "graph/read/onnx/onnx_read.h"
#include "graph/target.h"
#include "graph/tensor_file/open_file.h"
#include "runtime/base/fp_environment.h"

//---- Outputs ----------------------------------------------------------------

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

// "$schema" is optional: editors use it to find the schema.
static qdq_status check_schema(qdq_reader *r, const qdq_item *top) {
    qdq_item schema;
    QDQ_TRY(qdq_item_member(r, top, "$schema", false, &schema));
    if (!schema.json || qdq_json_text(schema.json)) return QDQ_OK;
    return qdq_item_wrong_kind(r, &schema, "a string");
}

static qdq_status read_names(qdq_reader *r, const qdq_item *top) {
    qdq_graph *graph = r->graph;
    const char *format;
    qdq_item name, target;
    QDQ_TRY(check_schema(r, top));
    QDQ_TRY(qdq_item_string(r, top, "format", &format));
    if (strcmp(format, "qdq/1") != 0)
        return qdq_fail(r->err, QDQ_ERR_PARSE, "format is '%s', wanted 'qdq/1'", format);
    QDQ_TRY(qdq_item_member(r, top, "name", false, &name));
    QDQ_TRY(qdq_item_member(r, top, "target", false, &target));
    if (name.json && !qdq_json_text(name.json)) return qdq_item_wrong_kind(r, &name, "a string");
    if (target.json && !qdq_json_text(target.json))
        return qdq_item_wrong_kind(r, &target, "a string");
    if (name.json) graph->name = qdq_mempool_strdup(&graph->mempool, qdq_json_text(name.json));
    qdq_graph_set_own_target(graph, "core");
    if (!target.json) return QDQ_OK;
    qdq_error unknown = {0};
    qdq_target_version version;
    if (!qdq_target_version_find(qdq_json_text(target.json), &version, &unknown))
        return graph->target_given ? QDQ_OK : qdq_fail(r->err, QDQ_ERR_PARSE, "%s", unknown.text);
    qdq_graph_set_own_target(graph, qdq_json_text(target.json));
    return QDQ_OK;
}

// Refuses shapes and dims of the options that belong to no input.
static qdq_status check_options(const qdq_reader *r, bool onednn) {
    const qdq_graph_options *options = r->options;
    for (size_t i = 0; options && i < options->dim_count; i++)
        if (!options->dims[i].tentative)
            return qdq_fail(r->err, QDQ_ERR_ARGUMENT,
                            "a size is given for dim '%.200s', and only ONNX models name dims; "
                            "give the shape of an input",
                            options->dims[i].name);
    for (size_t i = 0; options && i < options->shape_count; i++) {
        const qdq_input_shape *given = &options->shapes[i];
        qdq_value value = qdq_graph_find(r->graph, given->name);
        bool is_input = r->graph->values[value.id].kind == QDQ_VALUE_INPUT;
        if (given->tentative || (value.id && is_input && !onednn)) continue;
        return qdq_fail(r->err, QDQ_ERR_ARGUMENT,
                        onednn ? "a shape is given for '%.200s', and a oneDNN Graph file has all "
                                 "shapes; change it there"
                               : "a shape is given for '%.200s', which is no input of the graph",
                        given->name);
    }
    return QDQ_OK;
}

static qdq_status read_graph(qdq_reader *r, const qdq_json_item *json) {
    static const char *const keys[] = {"$schema",   "format", "name",    "target",    "inputs",
                                       "constants", "nodes",  "outputs", "originals", NULL};
    qdq_item top = {.json = json, .where = ""};
    qdq_node_list list = {.r = r};
    if (!qdq_json_is_object(json))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "the file is %s, wanted an object",
                        qdq_json_kind_text(json));
    if (qdq_json_is_onednn(json)) {
        QDQ_TRY(check_options(r, true));
        return qdq_json_read_onednn(r, &top);
    }
    QDQ_TRY(qdq_item_check_keys(r, &top, keys));
    QDQ_TRY(read_names(r, &top));
    QDQ_TRY(read_list(r, &top, "inputs", qdq_json_read_input));
    QDQ_TRY(check_options(r, false));
    QDQ_TRY(read_list(r, &top, "constants", qdq_json_read_constant));
    list.names = qdq_symbols_create(r->graph->allocator, r->err);
    if (!list.names) return r->err->status;
    qdq_status status = qdq_json_read_nodes(&list, &top);
    if (status == QDQ_OK) status = read_outputs(&list, &top);
    if (status == QDQ_OK) status = qdq_json_read_originals(r, &top);
    qdq_symbols_destroy(list.names);
    return status;
}

// Reads `text`, which has a NUL after its `length` bytes, into a new graph.
static qdq_status read_text(qdq_graph *graph, const char *text, size_t length, const char *folder,
                            const qdq_graph_options *options, qdq_error *err) {
    qdq_json_item *json =
        qdq_json_tree_parse(text, length, graph->allocator, graph->limits.json_values, err);
    if (!json) return err->status;
    qdq_mempool scratch;
    qdq_mempool_init(&scratch, graph->allocator);
    qdq_reader r = {
        .graph = graph, .mempool = &scratch, .folder = folder, .options = options, .err = err};
    qdq_status status = read_graph(&r, json);
    for (size_t i = 0; i < r.file_count; i++) qdq_tensor_file_close(r.files[i].file);
    qdq_mempool_release(&scratch);
    qdq_json_tree_free(json);
    return status;
}

// Text, or a model if `onnx` is not NULL.
typedef struct contents {
    const char *text;
    size_t length;
    const char *folder;
    const qdq_onnx_bytes *onnx;
} contents;

static qdq_status read_contents(qdq_graph *graph, const contents *from,
                                const qdq_graph_options *options, qdq_error *err) {
    if (!from->onnx && options && options->until)
        return qdq_fail(err, QDQ_ERR_ARGUMENT,
                        "only an ONNX model can end at '%.200s'; this is a graph file",
                        options->until);
    qdq_status status =
        from->onnx ? qdq_onnx_read(graph, from->onnx, options, err)
                   : read_text(graph, from->text, from->length, from->folder, options, err);
    if (status == QDQ_OK && graph->mempool.failed) status = qdq_fail_memory(err, 1);
    if (status == QDQ_OK && graph->broken.status)
        status = qdq_fail(err, graph->broken.status, "%s", graph->broken.text);
    return status;
}

// Passes on an error with the file's name in front.
static void give_up(qdq_error *own, const char *name, qdq_error *err) {
    if (name && *name) qdq_error_prefix(own, name);
    qdq_fail(err, own->status, "%s", own->text);
}

// Makes a graph from a file, whose text has a NUL after its bytes; NULL with `err` set.
static qdq_graph *read_new_graph(const contents *from, const char *name,
                                 const qdq_graph_options *options, qdq_error *err) {
    qdq_error own = {0};
    qdq_graph *graph = qdq_graph_create(NULL, options);
    if (!graph) {
        qdq_fail_memory(err, sizeof *graph);
        return NULL;
    }
    const char *file = qdq_mempool_strdup(&graph->mempool, name ? name : "");
    graph->file = graph->findings.file = file ? file : "";
    if (read_contents(graph, from, options, &own) == QDQ_OK) {
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
    QDQ_FIXED_ENVIRONMENT;
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    char *copy = NULL;
    if (!text)
        qdq_fail(&own, QDQ_ERR_ARGUMENT, "the text is NULL");
    else if (qdq_check_file_bytes(length, limits.file_bytes, &own) == QDQ_OK) {
        copy = qdq_alloc_array(allocator, length + 1, 1, 16);
        if (!copy) qdq_fail_memory(&own, length + 1);
    }
    if (!copy) {
        give_up(&own, name, err);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    qdq_onnx_bytes model = {.memory = copy, .length = length, .path = name, .folder = folder};
    contents all = {copy, length, folder, qdq_onnx_is_model(copy, length) ? &model : NULL};
    qdq_graph *graph = read_new_graph(&all, name, options, err);
    qdq_free_array(allocator, copy, length + 1, 1);
    return graph;
}

// The folder of a path, "." if it has none.
static void folder_of(const char *path, char *out, size_t capacity) {
    const char *slash = strrchr(path, '/');
    snprintf(out, capacity, "%.*s", slash && slash != path ? (int)(slash - path) : 1,
             slash ? path : ".");
}

// Whether the file is an ONNX model, which `file` then has open; the caller closes it.
static bool open_model(const char *path, qdq_open_file *file) {
    unsigned char head[16];
    if (qdq_open_path(path, file, NULL) != QDQ_OK) return false;
    size_t count = file->bytes < sizeof head ? (size_t)file->bytes : sizeof head;
    if (qdq_open_file_read(file->descriptor, head, count, 0, NULL) == QDQ_OK &&
        qdq_onnx_is_model(head, count))
        return true;
    close(file->descriptor);
    return false;
}

static qdq_graph *load_text(const char *path, const char *folder, const qdq_graph_options *options,
                            qdq_error *err) {
    qdq_error own = {0};
    qdq_limits limits = qdq_limits_or_default(options ? &options->limits : NULL);
    const qdq_allocator *allocator = qdq_allocator_or_default(options ? options->allocator : NULL);
    size_t length = 0;
    char *text = qdq_read_file(path, limits.file_bytes, allocator, &length, &own);
    if (!text) {
        give_up(&own, path, err);
        return NULL;
    }
    contents all = {text, length, folder, NULL};
    qdq_graph *graph = read_new_graph(&all, path, options, err);
    qdq_free_array(allocator, text, length + 1, 1);
    return graph;
}

qdq_graph *qdq_graph_load(const char *path, const qdq_graph_options *options, qdq_error *err) {
    QDQ_FIXED_ENVIRONMENT;
    char folder[4096];
    qdq_open_file file;
    if (!path) {
        qdq_fail(err, QDQ_ERR_ARGUMENT, "the path of a graph is NULL");
        return NULL;
    }
    folder_of(path, folder, sizeof folder);
    if (!open_model(path, &file)) return load_text(path, folder, options, err);
    qdq_onnx_bytes model = {.file = &file, .path = path, .folder = folder};
    contents all = {.onnx = &model};
    qdq_graph *graph = read_new_graph(&all, path, options, err);
    close(file.descriptor);
    return graph;
}
