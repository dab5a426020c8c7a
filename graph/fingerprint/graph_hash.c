// SPDX-License-Identifier: Apache-2.0
// Hashes a graph value by value: an input by its name and type, a constant by its elements, a
// node's result by the node and the hashes of the node's inputs.
#include "graph/fingerprint/graph_hash.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/held_constants.h"
#include "runtime/numerics/dtype.h"

typedef struct hasher {
    const qdq_graph *graph;
    const qdq_target_version *version;  // NULL: attributes and constants are hashed
    qdq_digest *values;                 // by value id
} hasher;

//---- Parts ------------------------------------------------------------------

void qdq_hash_number(qdq_sha256 *hash, uint64_t number) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)(number >> (8 * i));
    qdq_sha256_add(hash, bytes, sizeof bytes);
}

void qdq_hash_text(qdq_sha256 *hash, const char *text) {
    qdq_hash_number(hash, strlen(text));
    qdq_sha256_add(hash, text, strlen(text));
}

void qdq_hash_type(qdq_sha256 *hash, qdq_type type) {
    qdq_hash_text(hash, qdq_dtype_name(type.dtype));
    qdq_hash_number(hash, (uint64_t)type.shape.rank);
    for (int i = 0; i < type.shape.rank; i++) qdq_hash_number(hash, (uint64_t)type.shape.dims[i]);
}

static void hash_double(qdq_sha256 *hash, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    qdq_hash_number(hash, bits);
}

//---- Attributes -------------------------------------------------------------

static void hash_floats(qdq_sha256 *hash, const qdq_floats *list) {
    qdq_hash_number(hash, list->scalar);
    qdq_hash_number(hash, list->count);
    for (size_t i = 0; i < list->count; i++) hash_double(hash, (double)list->data[i]);
}

static void hash_numbers(qdq_sha256 *hash, const qdq_numbers *list) {
    qdq_hash_number(hash, list->scalar);
    qdq_hash_number(hash, list->count);
    for (size_t i = 0; i < list->count; i++) hash_double(hash, list->data[i]);
}

static void hash_ints(qdq_sha256 *hash, const qdq_ints *list) {
    qdq_hash_number(hash, list->count);
    for (size_t i = 0; i < list->count; i++) qdq_hash_number(hash, (uint64_t)list->data[i]);
}

static void hash_int(qdq_sha256 *hash, const qdq_int *number) {
    qdq_hash_number(hash, (uint64_t)number->value);
    hash_double(hash, number->fraction);
}

static const char *word_of(const qdq_attr_desc *attr, const void *field) {
    qdq_maybe_word word = {QDQ_GIVEN, *(const int *)field};
    if (attr->kind == QDQ_ATTR_MAYBE_WORD) memcpy(&word, field, sizeof word);
    return attr->words[word.value];
}

// Hashes an attribute that differs from its default, unless it names a value: that only says where
// a result lies on a device. hash_attrs leaves out a default that is written only for `--target`.
static void hash_attr(qdq_sha256 *hash, const qdq_attr_desc *attr, const void *field) {
    if (attr->kind == QDQ_ATTR_VALUE || !qdq_attr_is_set(attr, field)) return;
    qdq_hash_text(hash, attr->name);
    switch (attr->kind) {
    case QDQ_ATTR_INT:
    case QDQ_ATTR_BOUND: hash_int(hash, field); break;
    case QDQ_ATTR_FLOAT: hash_double(hash, ((const qdq_float *)field)->value); break;
    case QDQ_ATTR_BOOL: qdq_hash_number(hash, *(const qdq_bool *)field == QDQ_TRUE); break;
    case QDQ_ATTR_WORD:
    case QDQ_ATTR_MAYBE_WORD: qdq_hash_text(hash, word_of(attr, field)); break;
    case QDQ_ATTR_DTYPE: qdq_hash_text(hash, qdq_dtype_name(*(const qdq_dtype *)field)); break;
    case QDQ_ATTR_INTS: hash_ints(hash, field); break;
    case QDQ_ATTR_FLOATS: hash_floats(hash, field); break;
    case QDQ_ATTR_NUMBERS: hash_numbers(hash, field); break;
    case QDQ_ATTR_VALUE: break;
    }
}

static void hash_attrs(qdq_sha256 *hash, const qdq_node *node) {
    for (size_t i = 0; i < node->op->attr_count; i++) {
        const qdq_attr_desc *attr = &node->op->attrs[i];
        if (node->dtype_kept && strcmp(attr->name, "dtype") == 0) continue;
        hash_attr(hash, attr, (const char *)node->attrs + attr->offset);
    }
}

//---- Numerics ---------------------------------------------------------------

static void hash_field(qdq_sha256 *hash, const char *name, uint64_t bits) {
    if (!bits) return;  // a field that is added later changes no hash
    qdq_hash_text(hash, name);
    qdq_hash_number(hash, bits);
}

static uint64_t float_bits(float value) { return qdq_float_bits(value); }
static uint64_t whole_bits(int64_t value) { return (uint64_t)value; }

static void hash_numerics(qdq_sha256 *hash, const hasher *h, const qdq_node *node) {
    qdq_findings silent = {0};
    qdq_op_context ctx;
    qdq_graph_context(h->graph, node, &silent, &ctx);
    const qdq_numerics n = qdq_target_numerics(h->version, &ctx);
#define FIELD(field, cause) \
    hash_field(hash, #field, _Generic(n.field, float : float_bits, default : whole_bits)(n.field));
    QDQ_NUMERICS_FIELDS(FIELD)
#undef FIELD
}

//---- Values -----------------------------------------------------------------

// Hashes elements; elements that are still in their file are read part by part.
static bool hash_elements(qdq_sha256 *hash, const qdq_graph_value *v) {
    unsigned char part[4096] = {0};
    size_t bytes = qdq_shape_count(v->type.shape) * qdq_dtype_size(v->type.dtype);
    if (!v->stored) qdq_sha256_add(hash, v->data, bytes);
    for (size_t at = 0; v->stored && at < bytes; at += sizeof part) {
        size_t size = bytes - at < sizeof part ? bytes - at : sizeof part;
        if (!v->stored->read(v->stored, at, size, part)) return false;
        qdq_sha256_add(hash, part, size);
    }
    return true;
}

static bool hash_given(const hasher *h, uint32_t id) {
    const qdq_graph_value *v = &h->graph->values[id];
    qdq_sha256 hash;
    qdq_sha256_begin(&hash);
    qdq_hash_text(&hash, v->kind == QDQ_VALUE_INPUT ? "input" : "constant");
    if (h->version)
        qdq_hash_text(&hash, qdq_dtype_name(v->type.dtype));
    else
        qdq_hash_type(&hash, v->type);
    if (!h->version && v->kind == QDQ_VALUE_INPUT) qdq_hash_text(&hash, v->name);
    if (!h->version && v->kind == QDQ_VALUE_CONSTANT && !hash_elements(&hash, v)) return false;
    qdq_sha256_end(&hash, h->values[id].bytes);
    return true;
}

// Hashes a node. Value 0, of a port that is not connected, has the digest of zeros.
static void hash_node(const hasher *h, const qdq_node *node) {
    qdq_sha256 hash;
    qdq_digest own;
    qdq_sha256_begin(&hash);
    qdq_hash_text(&hash, "node");
    qdq_hash_text(&hash, node->op->name);
    if (h->version)
        hash_numerics(&hash, h, node);
    else
        hash_attrs(&hash, node);
    qdq_hash_number(&hash, node->input_count);
    for (size_t i = 0; i < node->input_count; i++)
        qdq_sha256_add(&hash, h->values[node->inputs[i].id].bytes, QDQ_SHA256_BYTES);
    qdq_sha256_end(&hash, own.bytes);
    for (size_t i = 0; i < node->output_count; i++) {
        qdq_sha256_begin(&hash);
        qdq_hash_text(&hash, "result");
        qdq_hash_number(&hash, h->graph->values[node->outputs[i]].port);
        qdq_sha256_add(&hash, own.bytes, QDQ_SHA256_BYTES);
        qdq_sha256_end(&hash, h->values[node->outputs[i]].bytes);
    }
}

//---- The graph --------------------------------------------------------------

// An input or an output.
typedef struct end {
    const char *name;
    uint32_t value;
} end;

static int by_name(const void *a, const void *b) {
    return strcmp(((const end *)a)->name, ((const end *)b)->name);
}

static void hash_ends(qdq_sha256 *hash, const hasher *h, const char *what, end *ends,
                      size_t count) {
    qsort(ends, count, sizeof *ends, by_name);
    qdq_hash_text(hash, what);
    qdq_hash_number(hash, count);
    for (size_t i = 0; i < count; i++) {
        if (!h->version) qdq_hash_text(hash, ends[i].name);
        qdq_sha256_add(hash, h->values[ends[i].value].bytes, QDQ_SHA256_BYTES);
    }
}

static void hash_all(const hasher *h, end *ends, qdq_digest *out) {
    const qdq_graph *graph = h->graph;
    qdq_sha256 hash;
    size_t inputs = 0;
    for (size_t i = 0; i < graph->node_count; i++) hash_node(h, &graph->nodes[i]);
    for (uint32_t i = 1; !h->version && i < graph->value_count; i++)
        if (graph->values[i].kind == QDQ_VALUE_INPUT)
            ends[inputs++] = (end){graph->values[i].name, i};
    qdq_sha256_begin(&hash);
    hash_ends(&hash, h, "inputs", ends, inputs);
    for (size_t i = 0; i < graph->output_count; i++)
        ends[i] = (end){graph->outputs[i].name, graph->outputs[i].value.id};
    hash_ends(&hash, h, "outputs", ends, graph->output_count);
    qdq_sha256_end(&hash, out->bytes);
}

qdq_status qdq_hash_graph(const qdq_graph *graph, const qdq_target_version *version,
                          qdq_digest *out, qdq_error *err) {
    qdq_mempool pool;
    qdq_mempool_init(&pool, graph->allocator);
    hasher h = {graph, version, NULL};
    h.values = qdq_mempool_array(&pool, graph->value_count, sizeof *h.values);
    end *ends = qdq_mempool_array(&pool, graph->value_count + graph->output_count, sizeof *ends);
    bool has_memory = h.values && ends, hashed = has_memory;
    for (uint32_t i = 1; hashed && i < graph->value_count; i++)
        if (graph->values[i].kind != QDQ_VALUE_MADE) hashed = hash_given(&h, i);
    if (hashed) hash_all(&h, ends, out);
    qdq_mempool_release(&pool);
    if (hashed) return QDQ_OK;
    if (!has_memory || !graph->failure)
        return qdq_fail(err, QDQ_ERR_MEMORY, "no memory to hash the graph");
    return qdq_fail(err, graph->failure->status, "%s", graph->failure->text);
}
