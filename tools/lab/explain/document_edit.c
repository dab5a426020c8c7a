// SPDX-License-Identifier: Apache-2.0
// Edits a copy of a node's document.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"
#include "tools/lab/explain/node_document_json.h"

static const node_run *run_of(const node_document *d) { return &d->replay->nodes[d->node].run; }

//---- Changing ---------------------------------------------------------------

void document_begin(node_document *d) {
    cJSON_Delete(d->edit);
    d->edit = d->root ? cJSON_Duplicate(d->root, true) : NULL;
    free(d->text);
    d->text = NULL;
    for (size_t i = d->own_count; i < d->input_count; i++) elements_free(d->data[i - d->own_count]);
    d->input_count = d->own_count;
}

static cJSON *part_of_edit(const node_document *d, const char *part) {
    cJSON *node = d->edit ? document_node_of(d->edit) : NULL;
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
    cJSON *found = document_attr_of(d, attr);
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

// Returns the bits of a float that float16 holds.
static uint16_t float16_bits(float x) {
    int exponent;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(x)) return 0x7E00;
    if (isinf(x)) return sign | 0x7C00;
    float size = frexpf(fabsf(x), &exponent);
    if (size == 0) return sign;
    if (exponent < -13) return sign | (uint16_t)ldexpf(size, exponent + 24);
    return (uint16_t)(sign | ((exponent + 14) << 10) | ((int)ldexpf(size, 11) & 0x3FF));
}

static void narrow_float(qdq_dtype dtype, double value, void *out) {
    float real = (float)value;
    if (dtype == QDQ_FLOAT32) {
        memcpy(out, &real, sizeof real);
        return;
    }
    variant_round(dtype == QDQ_FLOAT16 ? ROUND_FLOAT16 : ROUND_BFLOAT16, &real, 1);
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    uint16_t half = dtype == QDQ_FLOAT16 ? float16_bits(real) : (uint16_t)(bits >> 16);
    memcpy(out, &half, sizeof half);
}

// Converts numbers to elements of a dtype of parameters. NULL for other dtypes, for a number out of
// range, or if memory runs out.
static void *narrowed(const node_document *d, qdq_dtype dtype, const double *values, size_t count) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    bool ints = info->kind == QDQ_KIND_INT, known = ints || info->kind == QDQ_KIND_FLOAT;
    char *data = known ? elements_take(d->replay->exec_options.allocator, count * size) : NULL;
    for (size_t i = 0; data && i < count; i++) {
        bool fits =
            !ints || (values[i] >= (double)info->least && values[i] <= (double)info->greatest);
        int64_t whole = ints && fits ? (int64_t)values[i] : 0;
        if (ints)
            memcpy(data + i * size, &whole, size);
        else
            narrow_float(dtype, values[i], data + i * size);
        if (fits) continue;
        elements_free(data);
        return NULL;
    }
    return data;
}

// Adds an input with elements that it owns from then on, and returns its name; NULL, after freeing
// them, if there is no room.
static const char *add_changed(node_document *d, qdq_dtype dtype, qdq_shape shape, void *data) {
    static const char *const names[MOST_CHANGED] = {"changed 1", "changed 2", "changed 3",
                                                    "changed 4", "changed 5", "changed 6",
                                                    "changed 7", "changed 8"};
    size_t number = d->input_count - d->own_count;
    if (!data || number >= MOST_CHANGED || !d->edit ||
        !document_add_input(d->edit, names[number], dtype, shape)) {
        elements_free(data);
        return NULL;
    }
    d->data[number] = data;
    d->inputs[d->input_count++] = (document_input){names[number], data, {0}};
    return names[number];
}

bool document_put(node_document *d, const char *port, qdq_dtype dtype, qdq_shape shape,
                  void *data) {
    const char *name = add_changed(d, dtype, shape, data);
    cJSON *ports = part_of_edit(d, "inputs");
    cJSON_DeleteItemFromObjectCaseSensitive(ports, port);
    return name && ports && cJSON_AddStringToObject(ports, port, name);
}

bool document_put_numbers(node_document *d, const char *port, qdq_dtype dtype, qdq_shape shape,
                          const double *values) {
    return document_put(d, port, dtype, shape, narrowed(d, dtype, values, qdq_shape_count(shape)));
}

bool document_set_port(node_document *d, const char *port, const double *values, size_t count) {
    qdq_dtype dtype;
    qdq_shape shape;
    qdq_value value = document_value(d, port);
    return qdq_value_type(d->replay->form.graph, value, &dtype, &shape) &&
           qdq_shape_count(shape) == count && document_put_numbers(d, port, dtype, shape, values);
}

void document_drop_port(node_document *d, const char *port) {
    cJSON_DeleteItemFromObjectCaseSensitive(part_of_edit(d, "inputs"), port);
}

bool document_set_op(node_document *d, const char *op) {
    cJSON *node = d->edit ? document_node_of(d->edit) : NULL;
    return node && cJSON_ReplaceItemInObjectCaseSensitive(node, "op", cJSON_CreateString(op));
}

bool document_pass(node_document *d, const char *port, qdq_dtype dtype) {
    cJSON *node = d->edit ? document_node_of(d->edit) : NULL;
    const char *from =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(part_of_edit(d, "inputs"), port));
    cJSON *ports = from ? cJSON_CreateObject() : NULL;
    bool done = node && ports && cJSON_AddStringToObject(ports, "x", from);
    if (!done || !cJSON_ReplaceItemInObjectCaseSensitive(node, "inputs", ports)) {
        cJSON_Delete(ports);
        return false;
    }
    cJSON_DeleteItemFromObjectCaseSensitive(node, "attrs");
    return document_set_op(d, "Cast") && document_set_word(d, "dtype", qdq_dtype_name(dtype));
}

bool document_set_word(node_document *d, const char *attr, const char *word) {
    return put_attr(d, attr, cJSON_CreateString(word));
}

bool document_set_list(node_document *d, const char *attr, const double *values, size_t count) {
    return put_attr(d, attr, cJSON_CreateDoubleArray(values, (int)count));
}

// Returns the JSON of a Pad of the value called `x`; NULL if memory runs out.
static cJSON *pad_node(const char *name, const char *x, const char *value, const double *pads,
                       size_t count) {
    cJSON *node = cJSON_CreateObject();
    cJSON *ports = node ? cJSON_AddObjectToObject(node, "inputs") : NULL;
    cJSON *attrs = node ? cJSON_AddObjectToObject(node, "attrs") : NULL;
    bool done = ports && attrs && cJSON_AddStringToObject(node, "op", "Pad") &&
                cJSON_AddStringToObject(node, "name", name) &&
                cJSON_AddStringToObject(ports, "x", x) &&
                cJSON_AddStringToObject(ports, "value", value) &&
                cJSON_AddItemToObject(attrs, "pads", cJSON_CreateDoubleArray(pads, (int)count));
    if (done) return node;
    cJSON_Delete(node);
    return NULL;
}

bool document_pad_port(node_document *d, const char *port, const double *pads, size_t count,
                       double value) {
    qdq_dtype dtype;
    if (!qdq_value_type(d->replay->form.graph, document_value(d, port), &dtype, NULL)) return false;
    const char *filler = add_changed(d, dtype, (qdq_shape){0}, narrowed(d, dtype, &value, 1));
    cJSON *ports = part_of_edit(d, "inputs");
    const char *x = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(ports, port));
    cJSON *node = filler && x ? pad_node("padded", x, filler, pads, count) : NULL;
    return node &&
           cJSON_ReplaceItemInObjectCaseSensitive(ports, port, cJSON_CreateString("padded")) &&
           cJSON_InsertItemInArray(cJSON_GetObjectItemCaseSensitive(d->edit, "nodes"), 0, node);
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
