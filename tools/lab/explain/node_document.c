// SPDX-License-Identifier: Apache-2.0
// Edits a node as a JSON document. Constants in a file become inputs, so that the text is small and
// needs no folder. cJSON reads and prints numbers in the locale "C", because the command line never
// calls setlocale.
#include "tools/lab/explain/node_document.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/elements.h"
#include "tools/io/tensor_io.h"

enum { MOST_CHANGED = 4 };  // ports

struct node_document {
    const replay *replay;
    size_t node, op;
    cJSON *root, *edit;  // `edit`: changed copy; NULL: none
    char *text;
    document_input *inputs;         // room for the ports of the node and the changed ones
    size_t input_count, own_count;  // the first `own_count` belong to the unchanged graph
    void *data[MOST_CHANGED];       // elements of changed ports; owned
};

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

static cJSON *node_of(cJSON *root) {
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(root, "nodes"), 0);
}

static bool add_input(cJSON *root, const char *name, qdq_dtype dtype, qdq_shape shape) {
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

static void know_input(node_document *d, const char *name, const void *data) {
    for (size_t i = 0; i < d->input_count; i++)
        if (strcmp(d->inputs[i].name, name) == 0) return;
    d->inputs[d->input_count++] = (document_input){name, data};
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
    know_input(d, name, qdq_value_data(graph, value));
    return add_input(d->root, name, dtype, shape);
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
        know_input(d, qdq_value_name(run->graph, own), d->replay->used[value.id]);
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
    return d->root && node_of(d->root) && take_inputs(d);
}

node_document *document_open(const replay *r, size_t node, const char *folder, qdq_error *err) {
    node_document *d = calloc(1, sizeof *d);
    if (d) {
        d->replay = r;
        d->node = node;
        while (d->op < qdq_op_count() && strcmp(qdq_op_get(d->op).name, document_op(d)) != 0)
            d->op++;
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

static cJSON *attr_of(const node_document *d, const char *attr) {
    cJSON *attrs = cJSON_GetObjectItemCaseSensitive(node_of(d->root), "attrs");
    return cJSON_GetObjectItemCaseSensitive(attrs, attr);
}

double *document_attr_numbers(const node_document *d, const char *attr, size_t *count) {
    const cJSON *found = attr_of(d, attr), *one;
    bool list = cJSON_IsArray(found);
    if (!list && !cJSON_IsNumber(found)) return NULL;
    *count = list ? (size_t)cJSON_GetArraySize(found) : 1;
    double *numbers = elements_take_numbers(d->replay->exec_options.allocator, *count);
    size_t at = 0;
    if (numbers && !list) numbers[0] = found->valuedouble;
    if (numbers && list) cJSON_ArrayForEach(one, found) numbers[at++] = one->valuedouble;
    return numbers;
}

const char *document_attr_word(const node_document *d, const char *attr) {
    const char *word = cJSON_GetStringValue(attr_of(d, attr));
    return word ? word : "";
}

//---- Changing ---------------------------------------------------------------

void document_begin(node_document *d) {
    cJSON_Delete(d->edit);
    d->edit = d->root ? cJSON_Duplicate(d->root, true) : NULL;
    free(d->text);
    d->text = NULL;
    for (size_t i = d->own_count; i < d->input_count; i++) free(d->data[i - d->own_count]);
    d->input_count = d->own_count;
}

static cJSON *part_of_edit(const node_document *d, const char *part) {
    cJSON *node = d->edit ? node_of(d->edit) : NULL;
    cJSON *found = cJSON_GetObjectItemCaseSensitive(node, part);
    return found || !node ? found : cJSON_AddObjectToObject(node, part);
}

static bool put_attr(node_document *d, const char *attr, cJSON *value) {
    cJSON *attrs = part_of_edit(d, "attrs");
    cJSON_DeleteItemFromObjectCaseSensitive(attrs, attr);
    return attrs && value && cJSON_AddItemToObject(attrs, attr, value);
}

bool document_set_attr(node_document *d, const char *attr, const char *instead_of,
                       const double *values, size_t count) {
    if (instead_of) cJSON_DeleteItemFromObjectCaseSensitive(part_of_edit(d, "inputs"), instead_of);
    cJSON *found = attr_of(d, attr);
    bool list = count != 1 || cJSON_IsArray(found);
    cJSON *numbers =
        list ? cJSON_CreateDoubleArray(values, (int)count) : cJSON_CreateNumber(values[0]);
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) {
            cJSON_Delete(numbers);
            return false;
        }
    return put_attr(d, attr, numbers);
}

bool document_set_flag(node_document *d, const char *attr, bool value) {
    return put_attr(d, attr, cJSON_CreateBool(value));
}

// Converts numbers to elements of a dtype of parameters. NULL for other dtypes, for a number out of
// range, or if memory runs out.
static void *narrowed(qdq_dtype dtype, const double *values, size_t count) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    bool ints = info->kind == QDQ_KIND_INT;
    char *data = dtype == QDQ_FLOAT32 || ints ? malloc(count * size + 1) : NULL;
    for (size_t i = 0; data && i < count; i++) {
        float real = (float)values[i];
        bool fits =
            !ints || (values[i] >= (double)info->least && values[i] <= (double)info->greatest);
        int64_t whole = ints && fits ? (int64_t)values[i] : 0;
        memcpy(data + i * size, ints ? (const void *)&whole : (const void *)&real, size);
        if (fits) continue;
        free(data);
        return NULL;
    }
    return data;
}

bool document_set_port(node_document *d, const char *port, const double *values, size_t count) {
    static const char *const names[MOST_CHANGED] = {"changed parameter", "changed parameter 2",
                                                    "changed parameter 3", "changed parameter 4"};
    qdq_dtype dtype;
    qdq_shape shape;
    size_t number = d->input_count - d->own_count;
    qdq_value value = document_value(d, port);
    if (number >= MOST_CHANGED || !qdq_value_type(d->replay->form.graph, value, &dtype, &shape) ||
        qdq_shape_count(shape) != count)
        return false;
    void *data = narrowed(dtype, values, count);
    if (!data) return false;
    d->data[number] = data;
    d->inputs[d->input_count++] = (document_input){names[number], data};
    cJSON *ports = part_of_edit(d, "inputs");
    return ports && add_input(d->edit, names[number], dtype, shape) &&
           cJSON_ReplaceItemInObjectCaseSensitive(ports, port, cJSON_CreateString(names[number]));
}

bool document_swap(node_document *d, const char *port, const char *other) {
    cJSON *ports = part_of_edit(d, "inputs");
    cJSON *a = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(ports, port), true);
    cJSON *b = cJSON_Duplicate(cJSON_GetObjectItemCaseSensitive(ports, other), true);
    bool done = a && b && cJSON_ReplaceItemInObjectCaseSensitive(ports, port, b);
    if (done) b = NULL;
    done = done && cJSON_ReplaceItemInObjectCaseSensitive(ports, other, a);
    if (done) a = NULL;
    cJSON_Delete(a);
    cJSON_Delete(b);
    return done;
}

void document_drop_attr(node_document *d, const char *attr) {
    cJSON_DeleteItemFromObjectCaseSensitive(part_of_edit(d, "attrs"), attr);
}

static cJSON *number(double value) {
    if (isnan(value)) return cJSON_CreateString("NaN");
    if (isinf(value)) return cJSON_CreateString(value > 0 ? "Infinity" : "-Infinity");
    if (value == 0 && signbit(value)) return cJSON_CreateRaw("-0.0");
    return cJSON_CreateNumber(value);
}

// Removes the items with this name from a list.
static void drop_named(cJSON *list, const char *name) {
    for (int i = cJSON_GetArraySize(list); i-- > 0;) {
        const char *own = cJSON_GetStringValue(
            cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list, i), "name"));
        if (own && strcmp(own, name) == 0) cJSON_DeleteItemFromArray(list, i);
    }
}

bool document_set_constant(node_document *d, size_t port, qdq_dtype dtype, qdq_shape shape,
                           const double *values, size_t count) {
    const qdq_graph *graph = run_of(d)->graph;
    const char *name = qdq_value_name(graph, qdq_graph_node_input(graph, 0, port));
    cJSON *all = cJSON_GetObjectItemCaseSensitive(d->edit, "constants");
    if (!all) all = cJSON_AddArrayToObject(d->edit, "constants");
    drop_named(cJSON_GetObjectItemCaseSensitive(d->edit, "inputs"), name);
    drop_named(all, name);
    cJSON *one = cJSON_CreateObject();
    cJSON *dims = one ? cJSON_AddArrayToObject(one, "shape") : NULL;
    cJSON *data = one ? cJSON_AddArrayToObject(one, "data") : NULL;
    bool done = all && dims && data && cJSON_AddStringToObject(one, "name", name) &&
                cJSON_AddStringToObject(one, "dtype", qdq_dtype_name(dtype));
    for (int i = 0; done && i < shape.rank; i++)
        done = cJSON_AddItemToArray(dims, cJSON_CreateNumber((double)shape.dims[i]));
    for (size_t i = 0; done && i < count; i++) done = cJSON_AddItemToArray(data, number(values[i]));
    if (done && cJSON_AddItemToArray(all, one)) return true;
    cJSON_Delete(one);
    return false;
}

const char *document_output(const node_document *d) {
    const cJSON *outputs = cJSON_GetObjectItemCaseSensitive(d->root, "outputs");
    const char *name = cJSON_GetStringValue(
        cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(outputs, 0), "name"));
    return name ? name : "";
}

char *document_text(const node_document *d, const char *target) {
    cJSON_DeleteItemFromObjectCaseSensitive(d->edit, "target");
    if (!cJSON_AddStringToObject(d->edit, "target", target)) return NULL;
    return cJSON_PrintUnformatted(d->edit);
}

bool document_take(node_document *d, variant *out) {
    d->text = d->edit ? cJSON_PrintUnformatted(d->edit) : NULL;
    out->kind = VARIANT_DOCUMENT;
    out->numerics = d->replay->nodes[d->node].numerics;
    out->document = d->text;
    out->inputs = d->inputs;
    out->input_count = d->input_count;
    return d->text != NULL;
}
