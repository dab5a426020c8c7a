// SPDX-License-Identifier: Apache-2.0
// Ports and attributes of a node that is written to a model. Ports and attributes that no writer
// reads are refused afterwards.
#include <stdlib.h>
#include <string.h>

#include "graph/formats/onnx/write/onnx_draft.h"

//---- Ports ------------------------------------------------------------------

const qdq_graph_value *qdq_onnx_at_port(qdq_onnx_writer *w, const char *port) {
    const qdq_node *node = w->node;
    for (size_t i = 0; i < node->op->input_count && i < node->input_count; i++) {
        if (strcmp(node->op->inputs[i].name, port) != 0) continue;
        w->ports |= UINT64_C(1) << i;
        return node->inputs[i].id ? &w->draft->graph->values[node->inputs[i].id] : NULL;
    }
    return NULL;
}

const char *qdq_onnx_input_name(qdq_onnx_writer *w, size_t i) {
    size_t last = w->node->op->input_count - 1;
    w->ports |= UINT64_C(1) << (i < last ? i : last);
    uint32_t id = i < w->node->input_count ? w->node->inputs[i].id : 0;
    if (!id) return NULL;
    w->draft->read[id] = true;
    return w->draft->names[id];
}

const char *qdq_onnx_port_name(qdq_onnx_writer *w, const char *port) {
    const qdq_op *op = w->node->op;
    for (size_t i = 0; i < op->input_count; i++)
        if (strcmp(op->inputs[i].name, port) == 0) return qdq_onnx_input_name(w, i);
    return NULL;
}

qdq_type qdq_onnx_result_type(const qdq_onnx_writer *w) {
    return w->draft->graph->values[w->node->outputs[0]].type;
}

//---- Attributes -------------------------------------------------------------

static const qdq_attr_desc *look_at(qdq_onnx_writer *w, const char *attr, const void **field) {
    const qdq_op *op = w->node->op;
    *field = NULL;
    for (size_t i = 0; i < op->attr_count; i++) {
        if (strcmp(op->attrs[i].name, attr) != 0) continue;
        w->attrs |= UINT64_C(1) << i;
        *field = (const char *)w->node->attrs + op->attrs[i].offset;
        return &op->attrs[i];
    }
    return NULL;
}

bool qdq_onnx_has(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    return desc && qdq_attr_is_set(desc, field);
}

int64_t qdq_onnx_given_int(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    if (!desc) return 0;
    const qdq_int *number = field;
    return number->set != 0 ? number->value : strtoll(desc->default_text, NULL, 10);
}

double qdq_onnx_given_real(qdq_onnx_writer *w, const char *attr, double otherwise) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    if (!desc || !qdq_attr_is_set(desc, field)) return otherwise;
    if (desc->kind == QDQ_ATTR_FLOAT) return ((const qdq_float *)field)->value;
    const qdq_int *bound = field;
    return (double)bound->value + bound->fraction;
}

bool qdq_onnx_given_bool(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    if (!desc) return false;
    qdq_bool given = *(const qdq_bool *)field;
    return given == QDQ_UNSET ? strcmp(desc->default_text, "true") == 0 : given == QDQ_TRUE;
}

const char *qdq_onnx_given_word(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    if (!desc) return NULL;
    if (desc->kind == QDQ_ATTR_WORD) return desc->words[*(const int *)field];
    qdq_maybe_word word;
    memcpy(&word, field, sizeof word);
    return word.set != 0 ? desc->words[word.value] : NULL;
}

qdq_dtype qdq_onnx_given_dtype(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    return look_at(w, attr, &field) ? *(const qdq_dtype *)field : QDQ_DTYPE_NONE;
}

qdq_ints qdq_onnx_given_ints(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    return look_at(w, attr, &field) ? *(const qdq_ints *)field : (qdq_ints){0};
}

const void *qdq_onnx_given_list(qdq_onnx_writer *w, const char *attr) {
    const void *field;
    const qdq_attr_desc *desc = look_at(w, attr, &field);
    return desc && qdq_attr_is_set(desc, field) ? field : NULL;
}
