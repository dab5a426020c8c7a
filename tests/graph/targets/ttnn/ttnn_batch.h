// SPDX-License-Identifier: Apache-2.0
// A graph with many nodes of target `ttnn`, and the data of its nodes.
#ifndef QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_BATCH_H
#define QDQ_TESTS_GRAPH_TARGETS_TTNN_TTNN_BATCH_H

#include "tests/graph/targets/ttnn/ttnn_oracle.h"

typedef enum cell_op { CELL_QUANTIZE, CELL_DEQUANTIZE, CELL_REQUANTIZE } cell_op;

// A node. A side has one entry, or one for each index of axis 0; scalars are taken from the first
// entry.
typedef struct cell {
    cell_op op;
    qdq_dtype from, to;
    const ttnn_side *in, *out;   // copied when the node is added; out is for Requantize
    size_t in_count, out_count;  // numbers of entries
    bool axis;                   // the node has an axis, 0
    bool ports;                  // tensors are constants, as bfloat16 if that is exact
    bool run_time;               // tensors are inputs
} cell;

enum { BATCH_MOST = 160 };
typedef struct batch {
    qdq_graph *graph;
    qdq_value x[3];
    qdq_shape shape[3];
    size_t x_count, count, bound_count, memory_count, constant_count;
    cell cells[BATCH_MOST];
    size_t cell_x[BATCH_MOST], cell_y[BATCH_MOST];  // indices in `bound`
    oracle_bound bound[4 * BATCH_MOST];             // the x come first
    void *memory[4 * BATCH_MOST];
} batch;

static inline batch *batch_start(void) {
    batch *b = memset(oracle_memory(sizeof *b), 0, sizeof *b);
    b->graph = qdq_graph_create("batch", NULL);
    return b;
}

static inline void *batch_memory(batch *b, size_t bytes) {
    return b->memory[b->memory_count++] = oracle_memory(bytes);
}

static inline oracle_bound *batch_bind(batch *b, char letter, void *data, size_t bytes) {
    oracle_bound *bound = &b->bound[b->bound_count];
    snprintf(bound->name, sizeof bound->name, "%c%zu", letter, b->bound_count++);
    bound->data = data, bound->bytes = bytes;
    return bound;
}

// Adds an x; all x are added before the first node.
static inline size_t batch_input(batch *b, qdq_dtype dtype, qdq_shape shape, void *data) {
    size_t bytes = qdq_shape_count(shape) * qdq_dtype_size(dtype);
    b->shape[b->x_count] = shape;
    b->x[b->x_count] = qdq_input(b->graph, batch_bind(b, 'x', data, bytes)->name, dtype, shape);
    return b->x_count++;
}

//---- The node ---------------------------------------------------------------

typedef struct side_args {
    qdq_value scale, zp;
    qdq_floats scales;
    qdq_numbers zps;
} side_args;

static inline qdq_value batch_port(batch *b, const cell *c, qdq_dtype dtype, size_t count,
                                   void *data) {
    qdq_shape shape = QDQ_SHAPE((int64_t)count);
    if (!c->run_time) {
        char name[24];
        snprintf(name, sizeof name, "c%zu", b->constant_count++);
        return qdq_constant(b->graph, name, dtype, shape, data);
    }
    const oracle_bound *bound = batch_bind(b, 'p', data, count * qdq_dtype_size(dtype));
    return qdq_input(b->graph, bound->name, dtype, shape);
}

// The arguments of a side. Every second side with a scalar zero point of 0 leaves it out.
static inline side_args batch_side(batch *b, const cell *c, const ttnn_side *p, size_t count) {
    side_args a = {0};
    double *z = batch_memory(b, count * (sizeof(double) + sizeof(float) + 8));
    float *s = (float *)(void *)(z + count);
    int32_t *whole = (int32_t *)(void *)(s + count);
    uint16_t *half = (uint16_t *)(void *)(whole + count);
    bool exact = true;
    for (size_t k = 0; k < count; k++) {
        z[k] = (double)p[k].zp, s[k] = (float)p[k].scale, whole[k] = (int32_t)p[k].zp;
        half[k] = (uint16_t)(unit_bits_of_float(s[k]) >> 16);
        if (unit_bits_of_float(s[k]) & 0xFFFF) exact = false;
    }
    bool ports = c->ports || c->run_time;
    if (!ports || !p->scale_tensor)
        a.scales = (qdq_floats){s, count, !p->scale_tensor};
    else
        a.scale = batch_port(b, c, exact ? QDQ_BFLOAT16 : QDQ_FLOAT32, count,
                             exact ? (void *)half : (void *)s);
    if (ports && p->zp_tensor)
        a.zp = batch_port(b, c, QDQ_INT32, count, whole);
    else if (p->zp_tensor || p->zp != 0 || (unit_bits_of_float(s[0]) & 1))
        a.zps = (qdq_numbers){z, p->zp_tensor ? count : 1, !p->zp_tensor};
    return a;
}

static inline qdq_value batch_node(batch *b, const cell *c, qdq_value x) {
    side_args in = batch_side(b, c, c->in, c->in_count);
    if (c->op == CELL_REQUANTIZE) {
        side_args out = batch_side(b, c, c->out, c->out_count);
        qdq_requantize_attrs attrs = {.in_scale = in.scale,
                                      .in_zero_point = in.zp,
                                      .in_scales = in.scales,
                                      .in_zps = in.zps,
                                      .out_scale = out.scale,
                                      .out_zero_point = out.zp,
                                      .out_scales = out.scales,
                                      .out_zps = out.zps,
                                      .axis = {.set = c->axis ? QDQ_GIVEN : 0},
                                      .dtype = c->to};
        return qdq_requantize(b->graph, x, attrs);
    }
    qdq_quantize_attrs attrs = {.scale = in.scale,
                                .zero_point = in.zp,
                                .scales = in.scales,
                                .zps = in.zps,
                                .qtype = c->axis ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR,
                                .axis = {.set = c->axis ? QDQ_GIVEN : 0},
                                .dtype = c->to};
    return c->op == CELL_QUANTIZE ? qdq_quantize(b->graph, x, attrs)
                                  : qdq_dequantize(b->graph, x, attrs);
}

static inline void batch_add(batch *b, size_t x, cell c) {
    assert_true(b->count < BATCH_MOST);
    size_t in = c.in_count * sizeof *c.in, out = c.out_count * sizeof *c.out;
    c.in = memcpy(batch_memory(b, in), c.in, in);
    if (out) c.out = memcpy(batch_memory(b, out), c.out, out);
    qdq_value y = batch_node(b, &c, b->x[x]);
    size_t bytes = qdq_shape_count(b->shape[x]) * qdq_dtype_size(c.to);
    b->cell_x[b->count] = x, b->cell_y[b->count] = b->bound_count;
    qdq_output(b->graph, batch_bind(b, 'y', oracle_memory(bytes), bytes)->name, y);
    b->cells[b->count++] = c;
}

#endif
