// SPDX-License-Identifier: Apache-2.0
// Reads graphs from JSON (docs/format.md): a strict scan of the text, then cJSON, then calls that
// build the graph. A text of another format is an error; mistakes in its graph are findings.
// onednn/json_onednn.c reads oneDNN Graph files from the same tree.
#include "graph/formats/json/json_read.h"

#include <stdio.h>
#include <string.h>

#include "graph/core/target.h"
#include "graph/formats/capture/capture.h"
#include "graph/formats/json/json_nodes.h"
#include "graph/formats/json/json_originals.h"
#include "graph/formats/json/json_values.h"
#include "graph/formats/onednn/json_onednn.h"

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

// Checks "$schema", which is optional: editors use it to find the schema.
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

// Refuses shapes and dims of the options that belong to no input. `with_all_shapes` names a kind of
// file in which inputs have shapes that cannot be given; NULL: another kind.
static qdq_status check_options(const qdq_reader *r, const char *with_all_shapes) {
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
        if (given->tentative || (value.id && is_input && !with_all_shapes)) continue;
        if (with_all_shapes)
            return qdq_fail(r->err, QDQ_ERR_ARGUMENT,
                            "a shape is given for '%.200s', and %s has all shapes; change it there",
                            given->name, with_all_shapes);
        return qdq_fail(r->err, QDQ_ERR_ARGUMENT,
                        "a shape is given for '%.200s', which is no input of the graph",
                        given->name);
    }
    return QDQ_OK;
}

static qdq_status read_graph(qdq_reader *r, const qdq_json_item *json) {
    static const char *const keys[] = {"$schema", "format",    "name",  "target",
                                       "inputs",  "constants", "nodes", "outputs",
                                       "states",  "originals", NULL};
    qdq_item top = {.json = json, .where = ""};
    qdq_node_list list = {.r = r};
    if (qdq_json_is_capture(json)) {
        QDQ_TRY(check_options(r, "a ttnn graph capture"));
        return qdq_json_read_capture(r, json);
    }
    if (!qdq_json_is_object(json))
        return qdq_fail(r->err, QDQ_ERR_PARSE, "the file is %s, wanted an object",
                        qdq_json_kind_text(json));
    if (qdq_json_is_onednn(json)) {
        QDQ_TRY(check_options(r, "a oneDNN Graph file"));
        return qdq_json_read_onednn(r, &top);
    }
    QDQ_TRY(qdq_item_check_keys(r, &top, keys));
    QDQ_TRY(read_names(r, &top));
    QDQ_TRY(read_list(r, &top, "inputs", qdq_json_read_input));
    QDQ_TRY(check_options(r, NULL));
    QDQ_TRY(read_list(r, &top, "constants", qdq_json_read_constant));
    list.names = qdq_symbols_create(r->graph->allocator, r->err);
    if (!list.names) return r->err->status;
    qdq_status status = qdq_json_read_nodes(&list, &top);
    if (status == QDQ_OK) status = read_outputs(&list, &top);
    if (status == QDQ_OK) status = read_list(r, &top, "states", qdq_json_read_state);
    if (status == QDQ_OK) status = qdq_json_read_originals(r, &top);
    qdq_symbols_destroy(list.names);
    return status;
}

qdq_status qdq_json_read(qdq_graph *graph, const char *text, size_t length, const char *folder,
                         const qdq_graph_options *options, qdq_error *err) {
    qdq_json_item *json =
        qdq_json_tree_parse(text, length, graph->allocator, graph->limits.json_values, err);
    if (!json) return err->status;
    qdq_mempool scratch;
    qdq_mempool_init(&scratch, graph->allocator);
    qdq_reader r = {
        .graph = graph, .mempool = &scratch, .folder = folder, .options = options, .err = err};
    r.file_names = qdq_symbols_create(graph->allocator, err);
    qdq_status status = r.file_names ? read_graph(&r, json) : err->status;
    qdq_symbols_destroy(r.file_names);
    for (size_t i = 0; i < r.file_count; i++) qdq_tensor_file_close(r.files[i].file);
    qdq_mempool_release(&scratch);
    qdq_json_tree_free(json);
    return status;
}
