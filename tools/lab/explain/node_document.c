// SPDX-License-Identifier: Apache-2.0
// Reads a node as a JSON document. Constants in a file become inputs, so that the text is small and
// needs no folder.
#include "tools/lab/explain/node_document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/common.h"
#include "tools/elements.h"
#include "tools/io/tensor_io.h"
#include "tools/lab/explain/node_document_json.h"

const replay *document_replay(const node_document *d) { return d->replay; }
size_t document_node(const node_document *d) { return d->node; }

static const node_run *run_of(const node_document *d) { return &d->replay->nodes[d->node].run; }

//---- Reading ----------------------------------------------------------------

static char *read_text(const char *path) {
    FILE *stream = fopen(path, "rb");
    char *text = NULL;
    long bytes = stream && fseek(stream, 0, SEEK_END) == 0 ? ftell(stream) : -1;
    if (bytes >= 0 && fseek(stream, 0, SEEK_SET) == 0) text = calloc((size_t)bytes + 1, 1);
    if (text && fread(text, 1, (size_t)bytes, stream) != (size_t)bytes) {
        free(text);
        text = NULL;
    }
    if (stream) (void)fclose(stream);
    return text;
}

cJSON *document_node_of(cJSON *root) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "nodes"), 0);
}

bool document_add_input(cJSON *root, const char *name, qdq_dtype dtype, qdq_shape shape) {
    cJSON *inputs = cJSON_GetObjectItemCaseSensitive(root, "inputs");
    if (!inputs) inputs = cJSON_AddArrayToObject(root, "inputs");
    cJSON *one = cJSON_CreateObject();
    cJSON *dims = one ? cJSON_AddArrayToObject(one, "shape") : NULL;
    bool done = inputs && dims && cJSON_AddStringToObject(one, "name", name) &&
                cJSON_AddStringToObject(one, "dtype", qdq_dtype_name(dtype));
    for (int i = 0; done && i < shape.rank; i++)
        done = cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)shape.dims[i]));
    if (done && cJSON_AddItemToArray(inputs, one)) return true;
    cJSON_Delete(one);
    return false;
}

static void know_input(node_document *d, const char *name, const void *data, qdq_value value) {
    for (size_t i = 0; i < d->input_count; i++)
        if (strcmp(d->inputs[i].name, name) == 0) return;
    d->inputs[d->input_count++] = (document_input){name, data, value};
}

// Turns a constant in a file into an input.
static bool take_constant(node_document *d, qdq_value value) {
    const qdq_graph *graph = run_of(d)->graph;
    const char *name = qdq_value_name(graph, value);
    cJSON *all = cJSON_GetObjectItemCaseSensitive(d->root, "constants"), *one;
    int at = 0;
    cJSON_ArrayForEach(one, all) {
        const char *own = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "name"));
        if (own && strcmp(own, name) == 0) break;
        at++;
    }
    if (!one || cJSON_GetObjectItemCaseSensitive(one, "data")) return true;
    qdq_dtype dtype;
    qdq_shape shape;
    if (!qdq_value_type(graph, value, &dtype, &shape)) return false;
    cJSON_DeleteItemFromArray(all, at);
    know_input(d, name, qdq_value_data(graph, value), (qdq_value){0});
    return document_add_input(d->root, name, dtype, shape);
}

static bool take_inputs(node_document *d) {
    const node_run *run = run_of(d);
    qdq_node_info info = qdq_graph_node(run->graph, 0);
    d->inputs = calloc(info.input_count + MOST_CHANGED, sizeof *d->inputs);
    if (!d->inputs) return false;
    for (size_t i = 0; i < info.input_count; i++) {
        qdq_value own = qdq_graph_node_input(run->graph, 0, i);
        if (!own.id) continue;
        if (qdq_value_is_constant(run->graph, own)) {
            if (!take_constant(d, own)) return false;
            continue;
        }
        qdq_value value = qdq_graph_node_input(d->replay->form.graph, d->node, i);
        know_input(d, qdq_value_name(run->graph, own), NULL, value);
    }
    d->own_count = d->input_count;
    return true;
}

static bool read_document(node_document *d, const char *folder, qdq_error *err) {
    char path[4096];
    snprintf(path, sizeof path, "%s/node.json", folder);
    if (qdq_graph_write(run_of(d)->graph, path, err) != QDQ_OK) return false;
    char *text = read_text(path);
    d->root = text ? cJSON_Parse(text) : NULL;
    free(text);
    unlink(path);
    snprintf(path, sizeof path, "%s/node.safetensors", folder);
    unlink(path);
    return d->root && document_node_of(d->root) && take_inputs(d);
}

node_document *document_open(const replay *r, size_t node, const char *folder, qdq_error *err) {
    node_document *d = calloc(1, sizeof *d);
    if (d) {
        d->replay = r;
        d->node = node;
        d->op = find_op(document_op(d));
        if (read_document(d, folder, err)) return d;
    }
    if (err->status == QDQ_OK) err->status = QDQ_ERR_MEMORY;
    document_close(d);
    return NULL;
}

void document_close(node_document *d) {
    if (!d) return;
    document_begin(d);
    cJSON_Delete(d->edit);
    cJSON_Delete(d->root);
    free(d->inputs);
    free(d);
}

//---- Looking ----------------------------------------------------------------

const char *document_op(const node_document *d) {
    return qdq_graph_node(d->replay->form.graph, d->node).op;
}

size_t document_port(const node_document *d, const char *port) {
    for (size_t i = 0; i < qdq_op_get(d->op).input_count; i++)
        if (strcmp(qdq_op_input(d->op, i).name, port) == 0) return i;
    return SIZE_MAX;
}

qdq_value document_value(const node_document *d, const char *port) {
    size_t index = document_port(d, port);
    if (index == SIZE_MAX) return (qdq_value){0};
    return qdq_graph_node_input(d->replay->form.graph, d->node, index);
}

static const void *elements(const node_document *d, qdq_value value) {
    const qdq_graph *graph = d->replay->form.graph;
    return qdq_value_is_constant(graph, value) ? qdq_value_data(graph, value)
                                               : d->replay->used[value.id];
}

double *document_port_numbers(const node_document *d, const char *port, size_t *count) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_value value = document_value(d, port);
    if (!value.id || !qdq_value_type(d->replay->form.graph, value, &dtype, &shape)) return NULL;
    const void *data = elements(d, value);
    *count = qdq_shape_count(shape);
    double *numbers =
        data ? elements_take_numbers(d->replay->exec_options.allocator, *count) : NULL;
    if (numbers) to_doubles(dtype, data, *count, numbers);
    return numbers;
}

cJSON *document_attr_of(const node_document *d, const char *attr) {
    cJSON *attrs = cJSON_GetObjectItemCaseSensitive(document_node_of(d->root), "attrs");
    return cJSON_GetObjectItemCaseSensitive(attrs, attr);
}

double *document_attr_numbers(const node_document *d, const char *attr, size_t *count) {
    const cJSON *found = document_attr_of(d, attr), *one;
    bool list = cJSON_IsArray(found);
    if (!list && !cJSON_IsNumber(found)) return NULL;
    *count = list ? (size_t)cJSON_GetArraySize(found) : 1;
    double *numbers = elements_take_numbers(d->replay->exec_options.allocator, *count);
    size_t at = 0;
    if (numbers && !list) numbers[0] = found->valuedouble;
    if (numbers && list) cJSON_ArrayForEach(one, found) numbers[at++] = one->valuedouble;
    return numbers;
}

static const char *default_word(const node_document *d, const char *attr) {
    size_t op = find_op(document_op(d));
    for (size_t k = 0; op < qdq_op_count() && k < qdq_op_get(op).attr_count; k++)
        if (strcmp(qdq_op_attr(op, k).name, attr) == 0) return qdq_op_attr(op, k).default_text;
    return "";
}

const char *document_attr_word(const node_document *d, const char *attr) {
    const char *word = cJSON_GetStringValue(document_attr_of(d, attr));
    return word ? word : default_word(d, attr);
}
