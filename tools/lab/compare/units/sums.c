// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/compare/units/sums.h"

#include <qdq/inspect.h>
#include <qdq/ops/movement.h>
#include <stdlib.h>
#include <string.h>

#include "tools/elements.h"

static bool is_op(const sums *s, size_t node, const char *op) {
    return strcmp(qdq_graph_node(s->of->of->graph, node).op, op) == 0;
}

// Returns the attributes of a Requantize by multiplier and shift with constant zero points; NULL:
// the node is none.
static const qdq_requantize_attrs *fixed_attrs(const sums *s, size_t node) {
    const qdq_graph *graph = s->of->of->graph;
    const qdq_requantize_attrs *a = qdq_graph_node_struct(graph, node);
    if (!a || !is_op(s, node, "Requantize") || !a->multiplier.count || !a->shift.count) return NULL;
    for (size_t i = 1; i < qdq_graph_node(graph, node).input_count; i++)
        if (qdq_graph_node_input(graph, node, i).id) return NULL;
    return a;
}

//---- Keeping ----------------------------------------------------------------

// Returns the value that node `at` of the cone scales.
static node_value x_of(const sums *s, size_t at) {
    const qdq_graph *graph = s->of->of->graph;
    return node_value_of(graph, qdq_graph_node_input(graph, s->of->cone.nodes[at], 0));
}

static void keep(void *with, size_t at, void *const *inputs) {
    sums *s = with;
    if (!fixed_attrs(s, s->of->cone.nodes[at])) return;
    node_value x = x_of(s, at);
    const void *constant = qdq_value_data(s->of->of->graph, x.value);
    s->x[at] = elements_take(s->allocator, x.info.bytes);
    if (s->x[at])
        memcpy(s->x[at], constant ? constant : inputs[0], x.info.bytes);
    else
        s->failed = true;
}

bool sums_open(sums *s, const piece *of, const qdq_allocator *allocator) {
    *s = (sums){.of = of, .allocator = allocator};
    s->x = calloc(of->cone.node_count + 1, sizeof *s->x);
    return s->x != NULL;
}

piece_watch sums_watch(sums *s) { return (piece_watch){keep, s}; }

void sums_close(sums *s) {
    for (size_t i = 0; s->x && i < s->of->cone.node_count; i++) elements_free(s->x[i]);
    free(s->x);
    *s = (sums){0};
}

//---- Finding ----------------------------------------------------------------

static double pick(const qdq_numbers *list, size_t channel) {
    return list->count ? list->data[list->count > 1 ? channel : 0] : 0;
}

// Returns the index of an element on a dim.
static size_t index_on(qdq_shape shape, int64_t axis, size_t at) {
    if (axis < 0) axis += shape.rank;
    for (int d = shape.rank - 1; d > axis; d--) at /= (size_t)shape.dims[d];
    return axis < shape.rank ? at % (size_t)shape.dims[axis] : 0;
}

static void describe(const sums *s, size_t cone_at, const qdq_requantize_attrs *a, size_t at,
                     rescaling *out) {
    const qdq_tensor_info x = x_of(s, cone_at).info;
    const qdq_dtype_info *y = qdq_dtype_get(s->of->runs[cone_at].outputs[0].info.dtype);
    size_t channel = a->axis.set != 0 ? index_on(x.shape, a->axis.value, at) : 0;
    int64_t sum = 0;
    qdq_widen_int64(x.dtype, (const char *)s->x[cone_at] + at * qdq_dtype_size(x.dtype), &sum, 1);
    *out =
        (rescaling){.sum = sum - (int64_t)pick(&a->in_zps, channel),
                    .multiplier = pick(&a->multiplier, channel),
                    .shift = (int)pick(&a->shift, channel),
                    .zero = (int64_t)pick(&a->out_zps, channel),
                    .least = a->quant_min.set != 0 ? a->quant_min.value : (int64_t)y->least,
                    .greatest = a->quant_max.set != 0 ? a->quant_max.value : (int64_t)y->greatest};
    rescaling_set_rounding(out, a->rounding);
}

// Moves to the part of a Concat that has an element.
static bool enter_part(const sums *s, size_t node, qdq_value *value, size_t *at) {
    const qdq_graph *graph = s->of->of->graph;
    const qdq_concat_attrs *a = qdq_graph_node_struct(graph, node);
    qdq_shape whole, part;
    if (!a || !qdq_value_type(graph, *value, NULL, &whole)) return false;
    int64_t axis = a->axis.value < 0 ? a->axis.value + whole.rank : a->axis.value;
    size_t behind = 1, index = index_on(whole, axis, *at);
    for (int d = whole.rank - 1; d > axis; d--) behind *= (size_t)whole.dims[d];
    size_t before = *at / behind / (size_t)whole.dims[axis], rest = *at % behind;
    for (size_t i = 0; i < qdq_graph_node(graph, node).input_count; i++) {
        *value = qdq_graph_node_input(graph, node, i);
        if (!qdq_value_type(graph, *value, NULL, &part)) return false;
        size_t size = (size_t)part.dims[axis];
        *at = (before * size + index) * behind + rest;
        if (index < size) return true;
        index -= size;
    }
    return false;
}

// Goes back from an element of a value through Concat and StaticReshape to a Requantize. Returns
// its number in the cone; SIZE_MAX: there is none.
static size_t find_node(const sums *s, qdq_value value, size_t *at) {
    const deployed *d = s->of->of;
    for (;;) {
        size_t node = d->makers[value.id], i = 0;
        while (i < s->of->cone.node_count && s->of->cone.nodes[i] != node) i++;
        if (i == s->of->cone.node_count || s->x[i])
            return i < s->of->cone.node_count ? i : SIZE_MAX;
        if (is_op(s, node, "StaticReshape"))
            value = qdq_graph_node_input(d->graph, node, 0);
        else if (!is_op(s, node, "Concat") || !enter_part(s, node, &value, at))
            return SIZE_MAX;
    }
}

// True for a Requantize that only adds zero points and clamps.
static bool only_moves(const rescaling *r) { return r->multiplier == 1 && r->shift == 0; }

static bool find_from(const sums *s, qdq_value value, size_t at, rescaling *out) {
    size_t found = find_node(s, value, &at);
    if (found == SIZE_MAX) return false;
    size_t node = s->of->cone.nodes[found];
    describe(s, found, fixed_attrs(s, node), at, out);
    if (!only_moves(out)) return true;
    qdq_value x = qdq_graph_node_input(s->of->of->graph, node, 0);
    rescaling last = *out;
    int64_t in_zero = (int64_t)pick(&fixed_attrs(s, node)->in_zps, 0);
    found = find_node(s, x, &at);
    if (found == SIZE_MAX) return false;
    describe(s, found, fixed_attrs(s, s->of->cone.nodes[found]), at, out);
    out->zero += last.zero - in_zero;
    out->least = last.least, out->greatest = last.greatest;
    return true;
}

static qdq_value own_output(const sums *s, size_t output) {
    qdq_value given = s->of->outputs[output].value;
    return given.id ? s->of->of->own[given.id] : given;
}

bool sums_find(const sums *s, size_t output, size_t at, rescaling *out) {
    qdq_value own = own_output(s, output);
    return own.id && find_from(s, own, at, out);
}

size_t sums_maker(const sums *s, size_t output) {
    qdq_value own = own_output(s, output);
    return own.id ? s->of->of->makers[own.id] : SIZE_MAX;
}
