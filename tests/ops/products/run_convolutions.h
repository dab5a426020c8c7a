// SPDX-License-Identifier: Apache-2.0
// Makes the operands and the exact results of a large convolution, and runs it.
#ifndef QDQ_TESTS_OPS_PRODUCTS_RUN_CONVOLUTIONS_H
#define QDQ_TESTS_OPS_PRODUCTS_RUN_CONVOLUTIONS_H

#include "tests/ops/products/large_convolutions.h"

//---- Nodes ------------------------------------------------------------------

static inline conv_example window_integers(const example *e) {
    conv_example c = {.groups = e->groups};
    for (int d = 0; d < 2; d++) {
        c.strides[d] = e->strides[d], c.dilations[d] = e->dilations[d];
        c.begin[d] = e->begin[d], c.end[d] = e->end[d];
    }
    return c;
}

static inline qdq_value window_node(qdq_graph *g, const qdq_value *v, const void *self) {
    const window *p = self;
    conv_example integers = window_integers(&p->e);
    qdq_value operands[] = {v[X], v[W], v[BIAS]};
    if (p->kind == INTEGERS) return large_follow(g, build_conv_integer(g, v, &integers), &p->after);
    if (p->kind == QLINEAR) return large_follow(g, build_qlinear_conv(g, v, &integers), &p->after);
    if (p->kind == CODES) operands[0] = qdq_dequantize(g, v[X], window_dequantize(p, false));
    if (p->kind != FLOATS) operands[1] = qdq_dequantize(g, v[W], window_dequantize(p, true));
    return large_follow(g, build(g, operands, &p->e), &p->after);
}

//---- One convolution --------------------------------------------------------

static inline void put_along(tensor *t, const char *name, qdq_dtype dtype, size_t count) {
    *t = tensor_of(name, dtype, QDQ_SHAPE((int64_t)count));
}

static inline void fill_ports(window *p, uint64_t *state) {
    if (p->e.bias) {
        put_along(&p->in[BIAS], "bias", p->kind == QLINEAR ? QDQ_INT32 : p->real,
                  (size_t)p->e.outputs);
        for (size_t i = 0; i < (size_t)p->e.outputs; i++)
            large_put(&p->in[BIAS], i, (double)large_pick(state, 8) - 4);
    }
    if (!large_is_integer(p->kind) || (!p->zeros && p->kind == INTEGERS)) return;
    put_along(&p->in[X_ZERO], "x_zero", p->x, 1);
    put_along(&p->in[W_ZERO], "w_zero", p->w, p->count);
    tensor_put(&p->in[X_ZERO], 0, p->x_zero);
    for (size_t i = 0; i < p->count; i++) tensor_put(&p->in[W_ZERO], i, p->zps[i]);
    if (p->kind == INTEGERS) return;
    put_along(&p->in[X_SCALE], "x_scale", QDQ_FLOAT32, 1);
    put_along(&p->in[W_SCALE], "w_scale", QDQ_FLOAT32, p->count);
    put_along(&p->in[CONV_Y_SCALE], "y_scale", QDQ_FLOAT32, 1);
    put_along(&p->in[CONV_Y_ZERO], "y_zero", p->x, 1);
    for (size_t i = 0; i < p->count; i++) tensor_put(&p->in[W_SCALE], i, (double)p->scales[i]);
    tensor_put(&p->in[X_SCALE], 0, (double)p->x_scale);
    tensor_put(&p->in[CONV_Y_SCALE], 0, (double)p->y_scale);
    tensor_put(&p->in[CONV_Y_ZERO], 0, LARGE_ZERO);
}

static inline void make(window *p, uint64_t *state) {
    pads_and_sizes(&p->e, p->begin, p->out);
    p->in[W] = tensor_of("w", p->w, weights_shape(&p->e));
    window_parameters(p, state);
    window_fill_x(p, state), window_fill_w(p, state);
    window_sum_up(p);
    size_t sums = (size_t)(p->e.batch * p->e.outputs) * window_out_volume(p);
    p->y_scale = large_fitting(p->sums, sums, 100);
    p->after.scale = 0.25f;
    if (p->after.link != DEQUANTIZE)
        p->after.scale = large_fitting(p->sums, sums, 200) * p->x_scale;
    fill_ports(p, state);
    window_expect(p);
}

static inline void destroy(window *p) {
    tensors_free(p->in, CONV_PORTS);
    free(p->want.data), free(p->of_x), free(p->of_w), free(p->sums), free(p->scales), free(p->zps);
}

static inline void run(const window *p, const char *isa, large_way way) {
    const example *e = &p->e;
    char what[400], sizes[200];
    int at = 0;
    for (int d = 0; d < e->spatial; d++)
        at += snprintf(sizes + at, sizeof sizes - (size_t)at,
                       " [%d, kernel %d /%d *%d, pads %d %d]", (int)e->in[d], (int)e->kernel[d],
                       (int)e->strides[d], (int)e->dilations[d], (int)e->begin[d], (int)e->end[d]);
    snprintf(what, sizeof what, "%s%s, %d images of%s, %d to %d channels, groups %d%s%s%s, link %d",
             p->name, e->transposed ? " transposed" : "", (int)e->batch, sizes, (int)e->inputs,
             (int)e->outputs, (int)e->groups, e->format == QDQ_NCX ? ", NCX" : "",
             e->spatial_last ? ", spatial last" : "", e->bias ? ", bias" : "", (int)p->after.link);
    if (p->kind == CODES && p->wide) way.fast = true, way.materialize = false;  // sums need 32 bits
    large_run(&(large_case){what, p->in, CONV_PORTS, window_node, p, &p->want}, isa, &way);
}

static inline void set_link(window *p, size_t choice) {
    p->after.link = large_link_after(p->kind, choice);
    p->e.bias = p->kind != INTEGERS && choice % 3;
}

#endif
