// SPDX-License-Identifier: Apache-2.0
#include "graph/rewrite/node_unit.h"

#include <string.h>

#include "include/qdq/inspect.h"
#include "runtime/numerics/dtype.h"

enum { X, SCALE, ZERO_POINT };  // ports of Quantize and Dequantize

static const qdq_graph_value *value_at(const qdq_rewriter *r, uint32_t id) {
    return &r->from->values[id];
}

//---- Finding them -----------------------------------------------------------

static bool is_known(const qdq_rewriter *r, uint32_t id) {
    return id == 0 || value_at(r, id)->kind == QDQ_VALUE_CONSTANT;
}

static size_t scale_count(const qdq_rewriter *r, const qdq_node *node,
                          const qdq_quantize_attrs *attrs) {
    uint32_t id = node->inputs[SCALE].id;
    if (!id) return attrs->scales.count;
    return value_at(r, id)->type.dtype == QDQ_FLOAT32 ? qdq_shape_count(value_at(r, id)->type.shape)
                                                      : 0;
}

static int axis_of(const qdq_coder *c, int rank) {
    if (c->attrs->qtype != QDQ_PER_CHANNEL) return -1;
    int64_t axis = c->attrs->axis.set != 0 ? c->attrs->axis.value : 1;
    return (int)(axis < 0 ? axis + rank : axis);
}

qdq_coder qdq_coder_of(const qdq_rewriter *r, size_t index, const char *op) {
    if (!qdq_rewrite_is(r, index, op)) return (qdq_coder){0};
    const qdq_node *node = &r->from->nodes[index];
    bool quantize = strcmp(op, "Quantize") == 0;
    uint32_t x = node->inputs[X].id, y = node->outputs[0];
    qdq_coder c = {.given = true, .node = index, .attrs = node->attrs};
    c.codes = quantize ? y : x;
    c.reals = quantize ? x : y;
    c.dtype = value_at(r, c.codes)->type.dtype;
    c.count = scale_count(r, node, c.attrs);
    c.axis = axis_of(&c, value_at(r, x)->type.shape.rank);
    c.blocks = c.attrs->qtype == QDQ_PER_GROUP;
    c.known = is_known(r, node->inputs[SCALE].id) && is_known(r, node->inputs[ZERO_POINT].id);
    c.zero_given = node->inputs[ZERO_POINT].id || c.attrs->zps.count;
    c.given = c.count && value_at(r, c.reals)->type.dtype == QDQ_FLOAT32 &&
              c.attrs->zero_point_domain == QDQ_DOMAIN_INT;
    return c;
}

qdq_coder qdq_coder_before(const qdq_rewriter *r, uint32_t value) {
    return qdq_coder_of(r, qdq_rewrite_maker(r, value), "Dequantize");
}

qdq_coder qdq_coder_behind(const qdq_rewriter *r, uint32_t value) {
    return qdq_coder_of(r, qdq_rewrite_only_reader(r, value), "Quantize");
}

qdq_coder qdq_coder_at(const qdq_rewriter *r, const qdq_node_unit *unit, size_t input) {
    return input < QDQ_MAX_PORTS ? unit->x[input]
                                 : qdq_coder_before(r, unit->node->inputs[input].id);
}

void qdq_node_unit_of(const qdq_rewriter *r, size_t index, qdq_node_unit *unit) {
    const qdq_node *node = &r->from->nodes[index];
    unit->node = node;
    for (size_t i = 0; i < node->input_count && i < QDQ_MAX_PORTS; i++)
        unit->x[i] = qdq_coder_before(r, node->inputs[i].id);
    unit->y = qdq_coder_behind(r, node->outputs[0]);
    for (size_t i = 1; i < node->output_count; i++)
        if (qdq_rewrite_reader_count(r, node->outputs[i])) unit->y.given = false;
}

//---- Their numbers ----------------------------------------------------------

const void *qdq_rewrite_data(const qdq_rewriter *r, uint32_t value) {
    return qdq_value_is_constant(r->from, (qdq_value){value})
               ? qdq_value_data(r->from, (qdq_value){value})
               : NULL;
}

float qdq_coder_scale(const qdq_rewriter *r, const qdq_coder *c, size_t i) {
    uint32_t id = r->from->nodes[c->node].inputs[SCALE].id;
    if (!id) return c->attrs->scales.data[i];
    const float *data = qdq_rewrite_data(r, id);
    return data ? data[i] : 0;
}

int32_t qdq_coder_zero(const qdq_rewriter *r, const qdq_coder *c, size_t i) {
    uint32_t id = r->from->nodes[c->node].inputs[ZERO_POINT].id;
    if (!id) {
        const qdq_numbers *zps = &c->attrs->zps;
        return zps->count ? (int32_t)zps->data[zps->count == 1 ? 0 : i] : 0;
    }
    const qdq_type *type = &value_at(r, id)->type;
    const char *data = qdq_rewrite_data(r, id);
    int64_t zero = 0;
    if (qdq_shape_count(type->shape) == 1) i = 0;
    if (data) qdq_widen_int64(type->dtype, data + i * qdq_dtype_size(type->dtype), &zero, 1);
    return (int32_t)zero;
}

bool qdq_coders_equal(const qdq_rewriter *r, const qdq_coder *a, const qdq_coder *b) {
    return a->given && b->given && a->dtype == b->dtype && a->known && b->known && a->zero_given &&
           b->zero_given && a->count == 1 && b->count == 1 &&
           qdq_coder_scale(r, a, 0) == qdq_coder_scale(r, b, 0) &&
           qdq_coder_zero(r, a, 0) == qdq_coder_zero(r, b, 0);
}

bool qdq_node_takes(const qdq_node *node, qdq_dtype dtype) {
    return qdq_set_has(node->op->inputs[0].dtypes, dtype);
}

//---- Their values in the new graph ------------------------------------------

void qdq_coder_reads(const qdq_rewriter *r, qdq_match *m, const qdq_coder *c) {
    qdq_match_reads(r, m, r->from->nodes[c->node].inputs[SCALE].id);
    qdq_match_reads(r, m, r->from->nodes[c->node].inputs[ZERO_POINT].id);
}

qdq_value qdq_rewrite_constant(const qdq_rewriter *r, const char *stem, const char *ending,
                               qdq_dtype dtype, qdq_shape shape, const void *data) {
    return qdq_constant(r->to, qdq_rewrite_name(r, stem, ending), dtype, shape, data);
}

static const char *name_of(const qdq_rewriter *r, const qdq_coder *c) {
    return r->from->nodes[c->node].name;
}

static qdq_shape list_shape(size_t count) {
    return count == 1 ? (qdq_shape){0} : (qdq_shape){1, {(int64_t)count}};
}

qdq_value qdq_coder_scale_value(const qdq_rewriter *r, const qdq_coder *c) {
    uint32_t id = r->from->nodes[c->node].inputs[SCALE].id;
    if (id) return qdq_rewrite_value(r, id);
    return qdq_rewrite_constant(r, name_of(r, c), "_scale", QDQ_FLOAT32, list_shape(c->count),
                                c->attrs->scales.data);
}

qdq_value qdq_coder_zero_value(const qdq_rewriter *r, const qdq_coder *c) {
    uint32_t id = r->from->nodes[c->node].inputs[ZERO_POINT].id;
    size_t count = c->attrs->zps.count ? c->attrs->zps.count : 1, size = qdq_dtype_size(c->dtype);
    if (id) return qdq_rewrite_value(r, id);
    char *codes = qdq_mempool_array(r->mempool, count, size);
    for (size_t i = 0; codes && i < count; i++) {
        int32_t zero = qdq_coder_zero(r, c, i);
        qdq_encode_int(c->dtype, &zero, codes + i * size, 1);
    }
    return qdq_rewrite_constant(r, name_of(r, c), "_zero_point", c->dtype, list_shape(count),
                                codes);
}
