// SPDX-License-Identifier: Apache-2.0
// Writes the attributes of a node as JSON, by the table of its op.
#include "graph/formats/json/json_attrs_write.h"

#include <math.h>
#include <string.h>

#include "graph/core/graph.h"
#include "include/qdq/inspect.h"
#include "runtime/base/fp_environment.h"

// Writes a number, without a fraction if it is an integer: nearly all zero points are integers
// stored as doubles.
static void write_number(qdq_json *json, double number) {
    if (number == floor(number) && fabs(number) < 9007199254740992.0)
        qdq_json_int(json, (int64_t)number);
    else
        qdq_json_double(json, number);
}

// Begins a list and returns how many of its numbers follow.
static size_t begin_list(qdq_json *json, size_t count, bool scalar, size_t most) {
    bool cut = most && count > most;
    if (cut) {
        qdq_json_begin_object(json);
        qdq_json_key(json, "count");
        qdq_json_uint(json, count);
        qdq_json_key(json, "first");
    }
    if (!scalar) qdq_json_begin_line(json);
    return cut ? most : count;
}

static void end_list(qdq_json *json, size_t count, bool scalar, size_t most) {
    if (!scalar) qdq_json_end_array(json);
    if (most && count > most) qdq_json_end_object(json);
}

static void write_floats(qdq_json *json, const qdq_floats *list, size_t most) {
    size_t count = begin_list(json, list->count, list->scalar, most);
    for (size_t i = 0; i < count; i++) qdq_json_float32(json, list->data[i]);
    end_list(json, list->count, list->scalar, most);
}

static void write_numbers(qdq_json *json, const qdq_numbers *list, size_t most) {
    size_t count = begin_list(json, list->count, list->scalar, most);
    for (size_t i = 0; i < count; i++) write_number(json, list->data[i]);
    end_list(json, list->count, list->scalar, most);
}

static void write_ints(qdq_json *json, const qdq_ints *list, size_t most) {
    size_t count = begin_list(json, list->count, false, most);
    for (size_t i = 0; i < count; i++) qdq_json_int(json, list->data[i]);
    end_list(json, list->count, false, most);
}

static qdq_maybe_word maybe_word(const void *field) {
    qdq_maybe_word word;
    memcpy(&word, field, sizeof word);
    return word;
}

static void write_bound(qdq_json *json, const qdq_int *bound) {
    if (bound->fraction == 0)
        qdq_json_int(json, bound->value);
    else
        write_number(json, (double)bound->value + bound->fraction);
}

// Writes an attribute if it differs from its default.
static void write_attr(qdq_json *json, const qdq_graph *graph, const qdq_attr_desc *attr,
                       const void *field, size_t most) {
    if (!qdq_attr_is_set(attr, field)) return;
    qdq_json_key(json, attr->name);
    switch (attr->kind) {
    case QDQ_ATTR_INT: qdq_json_int(json, ((const qdq_int *)field)->value); break;
    case QDQ_ATTR_BOUND: write_bound(json, field); break;
    case QDQ_ATTR_FLOAT: write_number(json, ((const qdq_float *)field)->value); break;
    case QDQ_ATTR_BOOL: qdq_json_bool(json, *(const qdq_bool *)field == QDQ_TRUE); break;
    case QDQ_ATTR_WORD: qdq_json_string(json, attr->words[*(const int *)field]); break;
    case QDQ_ATTR_MAYBE_WORD: qdq_json_string(json, attr->words[maybe_word(field).value]); break;
    case QDQ_ATTR_DTYPE: qdq_json_string(json, qdq_dtype_name(*(const qdq_dtype *)field)); break;
    case QDQ_ATTR_INTS: write_ints(json, field, most); break;
    case QDQ_ATTR_FLOATS: write_floats(json, field, most); break;
    case QDQ_ATTR_NUMBERS: write_numbers(json, field, most); break;
    case QDQ_ATTR_VALUE:
        qdq_json_string(json, graph->values[((const qdq_value *)field)->id].name);
        break;
    }
}

void qdq_json_write_attrs(qdq_json *json, const qdq_graph *graph, const qdq_node *node,
                          size_t most) {
    const qdq_op *op = node->op;
    qdq_json_begin_object(json);
    for (size_t i = 0; i < op->attr_count; i++)
        write_attr(json, graph, &op->attrs[i], (const char *)node->attrs + op->attrs[i].offset,
                   most);
    qdq_json_end_object(json);
}

//---- As text ----------------------------------------------------------------

typedef struct text {
    char *out;
    size_t capacity, length;  // of the whole text, even if it does not fit
} text;

static void to_text(void *self, const char *bytes, size_t count) {
    text *t = self;
    size_t room = t->capacity > t->length ? t->capacity - t->length : 0;
    if (room) memcpy(t->out + t->length, bytes, count < room ? count : room);
    t->length += count;
}

size_t qdq_graph_node_attrs(const qdq_graph *graph, size_t index, size_t most, char *out,
                            size_t capacity) {
    QDQ_FIXED_ENVIRONMENT;
    text t = {out, out && capacity ? capacity - 1 : 0, 0};
    if (index < qdq_graph_node_count(graph) && graph->nodes[index].valid) {
        qdq_json json;
        qdq_json_init(&json, to_text, &t, 0);
        qdq_json_write_attrs(&json, graph, &graph->nodes[index], most);
    }
    if (out && capacity) out[t.length < t.capacity ? t.length : t.capacity] = '\0';
    return t.length;
}
