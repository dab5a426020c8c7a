// SPDX-License-Identifier: Apache-2.0
// Values of a model on their way into a graph: constants, numbers that are known, and
// attributes of nodes.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/names.h"
#include "graph/formats/onnx/onnx_tensor.h"
#include "runtime/numerics/dtype.h"

//---- Refusals ---------------------------------------------------------------

bool qdq_onnx_has_room(qdq_onnx_node *node, size_t more) {
    const qdq_onnx_import *im = node->im;
    size_t has = im->graph->node_count, most = qdq_onnx_most_nodes(im);
    if (has <= most && more <= most - has) return true;
    node->refused = true;
    qdq_fail(im->err, QDQ_ERR_LIMIT,
             "node '%.200s': %.64s: brings the graph to at least %zu nodes, wanted at most %zu, a "
             "quarter of the limit of values (--max-values)",
             node->name, node->proto->op, has + more, most);
    return false;
}

// Names the node as the model does, where the graph has another name for it.
static const char *refusal_hint(const qdq_onnx_node *node, const char *hint) {
    const qdq_onnx_proto *proto = node->proto;
    const char *first = proto->outputs.count ? proto->outputs.items[0] : "";
    const char *given = *proto->name ? proto->name : first;
    if (!*given || strcmp(given, node->name) == 0) return hint;
    return ONNX_TEXT(node, "it is '%.200s' in the model; %s", given, hint);
}

void qdq_onnx_refuse_hint(qdq_onnx_node *node, const char *port, const char *found,
                          const char *wanted, const char *hint) {
    qdq_findings *f = &node->im->graph->findings;
    const char *domain = node->proto->domain;
    node->refused = true;
    qdq_subject subject = {.node = node->name, .op = node->proto->op, .port = port};
    if (*domain && strcmp(domain, "ai.onnx") != 0)
        subject.op = qdq_text(f, "%s of %s", node->proto->op, domain);
    qdq_report_add(f, "core", &qdq_core_rules[QDQ_RULE_OP_UNSUPPORTED], subject, found, wanted,
                   refusal_hint(node, hint));
}

void qdq_onnx_refuse(qdq_onnx_node *node, const char *port, const char *found, const char *wanted) {
    qdq_onnx_refuse_hint(node, port, found, wanted, "docs/onnx.md lists what is read");
}

//---- Attributes -------------------------------------------------------------

const qdq_onnx_attr *qdq_onnx_attr_find(const qdq_onnx_node *node, const char *name) {
    for (size_t i = 0; i < node->attr_count; i++)
        if (strcmp(node->attrs[i].name, name) == 0) return &node->attrs[i];
    return NULL;
}

int64_t qdq_onnx_int(const qdq_onnx_node *node, const char *name, int64_t otherwise) {
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, name);
    return attr && attr->has_i ? attr->i : otherwise;
}

double qdq_onnx_float(const qdq_onnx_node *node, const char *name, double otherwise) {
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, name);
    return attr && attr->has_f ? (double)attr->f : otherwise;
}

const char *qdq_onnx_word(const qdq_onnx_node *node, const char *name, const char *otherwise) {
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, name);
    return attr && attr->has_s ? attr->s : otherwise;
}

bool qdq_onnx_int_list(const qdq_onnx_node *node, const char *name, qdq_ints *out) {
    const qdq_onnx_attr *attr = qdq_onnx_attr_find(node, name);
    *out = (qdq_ints){0};
    if (!attr) return false;
    *out = (qdq_ints){attr->ints.items, attr->ints.count};
    return true;
}

//---- Results ----------------------------------------------------------------

qdq_onnx_value *qdq_onnx_new_value(qdq_onnx_import *im, const char *name) {
    qdq_onnx_value *value = QDQ_MEMPOOL_NEW(im->mempool, qdq_onnx_value);
    if (value) value->name = name;
    return value;
}

static qdq_onnx_value *output_of(const qdq_onnx_node *node, size_t i) {
    return i < node->output_count ? node->outputs[i] : NULL;
}

void qdq_onnx_bind(qdq_onnx_node *node, size_t i, qdq_value made) {
    qdq_onnx_value *out = output_of(node, i);
    qdq_dtype dtype;
    qdq_shape shape;
    if (!out || !qdq_value_type(node->im->graph, made, &dtype, &shape)) return;
    *out = (qdq_onnx_value){.name = out->name,
                            .own = out->own,
                            .elem = qdq_onnx_elem_of(dtype),
                            .shape = shape,
                            .ref = made};
    qdq_onnx_note_original(node->im, out);
}

void qdq_onnx_alias(qdq_onnx_node *node, size_t i, qdq_onnx_value *value) {
    qdq_onnx_value *out = output_of(node, i);
    if (!out) return;
    const qdq_onnx_value old = *out;
    *out = *value;
    if (value->ref.id) return;
    out->name = old.name, out->own = old.own;
    if (!out->same) out->same = value;
}

void qdq_onnx_bind_numbers(qdq_onnx_node *node, size_t i, int elem, qdq_shape shape,
                           const int64_t *ints, const double *reals) {
    qdq_onnx_value *out = output_of(node, i);
    if (!out) return;
    *out = (qdq_onnx_value){.name = out->name,
                            .own = out->own,
                            .elem = elem,
                            .shape = shape,
                            .ints = ints,
                            .reals = reals};
}

//---- Constants --------------------------------------------------------------

bool qdq_onnx_take_numbers(qdq_onnx_import *im, size_t count) {
    if (count > QDQ_ONNX_MOST_IN_ALL - im->numbers) return false;
    im->numbers += count;
    return true;
}

const char *qdq_onnx_why_unknown(const qdq_onnx_node *node, const qdq_onnx_value *value) {
    bool computed = value->ref.id && node->im->graph->values[value->ref.id].constant;
    if (!value->tensor && !computed) return "which depends on inputs";
    return ONNX_TEXT(node,
                     "which has %zu elements and is left to the run: reading computes at most %d "
                     "numbers of a value, and %d of all",
                     qdq_onnx_count(value->shape), QDQ_ONNX_MOST_NUMBERS, QDQ_ONNX_MOST_IN_ALL);
}

bool qdq_onnx_known(qdq_onnx_import *im, qdq_onnx_value *value) {
    size_t count = qdq_onnx_count(value->shape);
    if (value->ints || value->reals) return true;
    if (!value->tensor || count > QDQ_ONNX_MOST_NUMBERS) return false;
    if (!qdq_onnx_take_numbers(im, count)) return false;
    bool real = qdq_onnx_elem_is_real(value->elem);
    int64_t *ints = real ? NULL : qdq_mempool_array(im->mempool, count, sizeof *ints);
    double *reals = real ? qdq_mempool_array(im->mempool, count, sizeof *reals) : NULL;
    if (!ints && !reals) return false;
    if (qdq_onnx_tensor_numbers(im, value->tensor, count, ints, reals) != QDQ_OK) return false;
    value->ints = ints, value->reals = reals;
    return true;
}

int64_t qdq_onnx_int_at(const qdq_onnx_value *value, size_t i) {
    return value->ints ? value->ints[i] : (int64_t)value->reals[i];
}

double qdq_onnx_real_at(const qdq_onnx_value *value, size_t i) {
    return value->reals ? value->reals[i] : (double)value->ints[i];
}

static void store_number(qdq_dtype dtype, const qdq_onnx_value *value, size_t i, char *out) {
    if (value->reals && dtype != QDQ_FLOAT64) {
        float real = (float)value->reals[i];
        qdq_encode_float(dtype, &real, out, 1, NULL);
    } else {
        qdq_encode_wide(dtype, value->reals ? (const void *)&value->reals[i] : &value->ints[i], out,
                        1);
    }
}

static qdq_value add_constant(qdq_onnx_import *im, const qdq_onnx_value *value) {
    const char *name = qdq_onnx_free_name(im, value->name, value->own);
    qdq_dtype dtype = qdq_onnx_dtype(value->elem);
    qdq_value made = {0};
    if (!name) return made;
    if (value->tensor) {
        (void)qdq_onnx_tensor_add(im, name, value->tensor, value->first, value->shape, &made);
        return made;
    }
    char *memory = qdq_graph_add_constant(im->graph, name, dtype, value->shape, &made);
    size_t count = memory ? qdq_onnx_count(value->shape) : 0;
    for (size_t i = 0; i < count; i++)
        store_number(dtype, value, i, memory + i * qdq_dtype_size(dtype));
    return made;
}

qdq_value qdq_onnx_ref(qdq_onnx_node *node, qdq_onnx_value *value) {
    if (value->ref.id) return value->ref;
    if (value->same && value->same->elem != ONNX_UNDEFINED)
        return value->ref = qdq_onnx_ref(node, value->same);
    if (qdq_onnx_dtype(value->elem) == QDQ_DTYPE_NONE) {
        qdq_onnx_refuse(node, NULL,
                        ONNX_TEXT(node, "reads '%.128s', which is %s", value->name,
                                  qdq_onnx_elem_name(value->elem)),
                        "a dtype that `qdq ops --dtypes` lists");
        return (qdq_value){0};
    }
    if (qdq_onnx_count(value->shape) == 0) {
        qdq_onnx_refuse(node, NULL,
                        ONNX_TEXT(node, "reads '%.128s', which has no elements: %s", value->name,
                                  qdq_shape_text(&node->im->graph->findings, value->shape)),
                        "dims of at least 1");
        return (qdq_value){0};
    }
    value->ref = add_constant(node->im, value);
    qdq_onnx_note_original(node->im, value);
    return value->ref;
}

qdq_value qdq_onnx_constant_part(qdq_onnx_node *node, qdq_onnx_value *value, size_t first,
                                 qdq_shape shape) {
    while (value->same) value = value->same;
    if (!value->tensor && !value->ints && !value->reals) return (qdq_value){0};
    qdq_onnx_value *part = value->parts;
    while (part && (part->first != first || !qdq_shape_equal(part->shape, shape)))
        part = part->next;
    if (part) return qdq_onnx_ref(node, part);
    part = qdq_onnx_new_value(node->im, ONNX_TEXT(node, "%.200s/part", value->name));
    if (!part) return (qdq_value){0};
    *part = (qdq_onnx_value){.name = part->name,
                             .elem = value->elem,
                             .shape = shape,
                             .tensor = value->tensor,
                             .ints = value->ints ? value->ints + first : NULL,
                             .reals = value->reals ? value->reals + first : NULL,
                             .first = first,
                             .next = value->parts};
    value->parts = part;
    return qdq_onnx_ref(node, part);
}
