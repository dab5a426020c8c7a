// SPDX-License-Identifier: Apache-2.0
// Large convolutions of all kinds: their operands and their exact results.
#ifndef QDQ_TESTS_OPS_PRODUCTS_LARGE_CONVOLUTIONS_H
#define QDQ_TESTS_OPS_PRODUCTS_LARGE_CONVOLUTIONS_H

#include "tests/ops/products/integer_products.h"
#include "tests/ops/products/large_products.h"
#include "tests/ops/products/large_sums.h"

typedef struct window {
    const char *name;
    large_kind kind;
    qdq_dtype x, w, real;  // real: the dtype of a float result
    size_t size;           // bytes of an element in the kernel's operands
    large_blocks blocks;   // PER_COLUMN: by output channel; PER_BLOCK: by blocks of input channels
    bool zeros, wide;      // zeros: zero points other than 0; wide: codes of the whole range
    bool peaks;            // codes are all the greatest of their dtype
    bool ends;             // the same for x; weights are the least and the greatest
    example e;
    large_after after;
    // Made from the fields above. Elements are ordered by image, group, channel and position.
    int64_t block, begin[DIMS], out[DIMS];
    tensor in[CONV_PORTS], want;
    int32_t *of_x, *of_w, *sums;
    size_t count;  // parameters of w
    float *scales, x_scale, y_scale;
    double *zps, x_zero;
    int64_t extents[DIMS + 2];
} window;

// Kinds of operands that several tests run.
#define WINDOW_OF_FLOATS \
    { .name = "float32", .x = F32, .w = F32, .real = F32, .size = 4 }
#define WINDOW_OF_BYTES                                                                     \
    {                                                                                       \
        .name = "codes, of bytes", .kind = CODES, .x = U8, .w = I8, .real = F32, .size = 1, \
        .blocks = PER_COLUMN, .wide = true                                                  \
    }
#define WINDOW_OF_INT8_WEIGHTS                                                              \
    {                                                                                       \
        .name = "int8 weights", .kind = WEIGHTS, .x = F32, .w = I8, .real = F32, .size = 4, \
        .blocks = PER_COLUMN                                                                \
    }

static inline int64_t window_volume(const int64_t *size) { return size[0] * size[1] * size[2]; }

//---- Nodes ------------------------------------------------------------------

// The dim of the weights that holds the input channels, or the output channels.
static inline int window_dim(const window *p, bool inputs) {
    bool first = (p->e.transposed == p->e.spatial_last) == inputs;
    return (p->e.spatial_last ? 0 : p->e.spatial) + !first;
}

static inline qdq_dequantize_attrs window_dequantize(const window *p, bool weights) {
    bool many = weights && p->blocks != PER_TENSOR;
    qdq_dequantize_attrs attrs = {
        .dtype = p->real,
        .qtype = many ? QDQ_PER_CHANNEL : QDQ_PER_TENSOR,
        .axis = QDQ_INT(many ? window_dim(p, false) : 0),
        .scales = {.data = weights ? p->scales : &p->x_scale, .count = weights ? p->count : 1},
        .zps = {.data = weights ? p->zps : &p->x_zero, .count = weights ? p->count : 1}};
    if (many && p->blocks == PER_BLOCK) {
        attrs.qtype = QDQ_PER_GROUP;
        attrs.group_shape = (qdq_ints){p->extents, (size_t)p->in[W].shape.rank};
    }
    return attrs;
}

//---- Operands ---------------------------------------------------------------

// Which parameter a weight uses; `i` and `o` count channels within group `g`.
static inline size_t window_block(const window *p, int64_t g, int64_t i, int64_t o) {
    const example *e = &p->e;
    if (p->blocks == PER_TENSOR) return 0;
    if (p->blocks == PER_COLUMN)
        return (size_t)(e->transposed ? o : g * (e->outputs / e->groups) + o);
    return (size_t)((e->transposed ? g * (e->inputs / e->groups) + i : i) / p->block);
}

static inline void window_parameters(window *p, uint64_t *state) {
    const example *e = &p->e;
    int codes = product_codes(p->w);
    if (p->block > e->inputs / e->groups) p->block = 1;
    p->count =
        1 + window_block(p, e->groups - 1, e->inputs / e->groups - 1, e->outputs / e->groups - 1);
    for (int d = 0; d < p->in[W].shape.rank; d++) p->extents[d] = -1;
    p->extents[window_dim(p, true)] = p->block;
    p->scales = oracle_memory(p->count * sizeof *p->scales);
    p->zps = oracle_memory(p->count * sizeof *p->zps);
    for (size_t i = 0; i < p->count; i++) {
        // No block size is a multiple of 13.
        p->scales[i] = (float)(1 << (i % 13 % 3)), p->zps[i] = 0;
        if (p->zeros && codes)
            p->zps[i] = product_least(p->w) + (int)large_pick(state, (size_t)codes);
    }
    p->x_scale = p->kind == QLINEAR ? 1.0f : 0.25f;
    p->x_zero = p->zeros && product_codes(p->x) ? product_least(p->x) + 37 : 0;
}

static inline void window_fill_x(window *p, uint64_t *state) {
    const example *e = &p->e;
    size_t volume = (size_t)window_volume(e->in), count = (size_t)(e->batch * e->inputs) * volume;
    p->in[X] = tensor_of("x", p->x, image(e, e->inputs, e->in));
    p->of_x = oracle_memory(count * sizeof *p->of_x);
    int64_t at[DIMS] = {0};
    for (size_t i = 0; i < count; i++, next(e->spatial, e->in, at)) {
        int64_t channel = (int64_t)(i / volume);
        bool greatest = p->peaks || p->ends;
        int v = greatest ? product_least(p->x) + product_codes(p->x) - 1
                         : large_number(state, p->x, (int)p->x_zero, p->wide ? 255 : 3);
        large_put(&p->in[X],
                  image_at(e, p->in[X].shape, channel / e->inputs, channel % e->inputs, at), v);
        p->of_x[i] = v - (int)p->x_zero;
    }
}

static inline void window_fill_w(window *p, uint64_t *state) {
    const example *e = &p->e;
    int64_t inputs = e->inputs / e->groups, outputs = e->outputs / e->groups;
    size_t taps = (size_t)window_volume(e->kernel), depth = (size_t)inputs * taps;
    size_t count = (size_t)e->outputs * depth;
    int reach = p->wide ? 255 : 3;
    if (p->kind == WEIGHTS) reach = (int)((1 << 20) / depth) + 1;
    p->of_w = oracle_memory(count * sizeof *p->of_w);
    int64_t k[DIMS] = {0};
    for (size_t n = 0; n < count; n++, next(e->spatial, e->kernel, k)) {
        int64_t i = (int64_t)(n / taps) % inputs, o = (int64_t)(n / depth) % outputs;
        int64_t g = (int64_t)(n / depth) / outputs;
        size_t block = window_block(p, g, i, o);
        int zero = (int)p->zps[block], scale = p->kind == WEIGHTS ? (int)p->scales[block] : 1;
        bool greatest = p->peaks || (p->ends && large_pick(state, 2));
        int v = greatest  ? product_least(p->w) + product_codes(p->w) - 1
                : p->ends ? product_least(p->w)
                          : large_number(state, p->w, zero, reach > 255 ? 255 : reach);
        large_put(&p->in[W], weight_at(e, p->in[W].shape, g, i, o, k), v);
        p->of_w[n] = (v - zero) * scale;
    }
}

//---- Results ----------------------------------------------------------------

static inline window_dims window_dims_of(const window *p) {
    const example *e = &p->e;
    window_dims w = {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}};
    for (int d = 0, to = DIMS - e->spatial; d < e->spatial; d++, to++) {
        w.in[to] = e->in[d], w.out[to] = p->out[d], w.kernel[to] = e->kernel[d];
        w.stride[to] = e->strides[d], w.dilation[to] = e->dilations[d], w.begin[to] = p->begin[d];
    }
    return w;
}

static inline size_t window_out_volume(const window *p) {
    size_t volume = 1;
    for (int d = 0; d < p->e.spatial; d++) volume *= (size_t)p->out[d];
    return volume;
}

static inline void window_sum_up(window *p) {
    const example *e = &p->e;
    window_dims dims = window_dims_of(p);
    int64_t inputs = e->inputs / e->groups, outputs = e->outputs / e->groups;
    int64_t taps = window_volume(dims.kernel), from = window_volume(dims.in),
            to = (int64_t)window_out_volume(p);
    p->sums = calloc((size_t)(e->batch * e->outputs * to), sizeof *p->sums);
    assert_non_null(p->sums);
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t c = 0; c < e->outputs; c++)
            for (int64_t i = 0; i < inputs; i++)
                window_add_channel(&dims, e->transposed,
                                   p->of_x + (n * e->inputs + c / outputs * inputs + i) * from,
                                   p->of_w + (c * inputs + i) * taps,
                                   p->sums + (n * e->outputs + c) * to);
}

static inline double window_result_of(const window *p, int32_t sum, int64_t channel) {
    int64_t outputs = p->e.outputs / p->e.groups;
    size_t block = window_block(p, channel / outputs, 0, channel % outputs);
    float scale = p->scales[p->blocks == PER_COLUMN ? block : 0] * p->x_scale;
    double bias = p->e.bias ? tensor_at(&p->in[BIAS], (size_t)channel) : 0;
    if (p->kind == INTEGERS) return sum;
    if (p->kind == CODES) return (double)((float)sum * scale + (float)bias);
    if (p->kind == QLINEAR) return large_requantized(p->x, sum + (int32_t)bias, scale / p->y_scale);
    return large_round(p->real, sum + (int64_t)bias);
}

static inline void window_expect(window *p) {
    const example *e = &p->e;
    qdq_dtype made = p->kind == INTEGERS ? QDQ_INT32 : p->kind == QLINEAR ? p->x : p->real;
    p->want = tensor_of("want", large_dtype(made, &p->after), image(e, e->outputs, p->out));
    size_t volume = window_out_volume(p);
    int64_t at[DIMS] = {0};
    for (size_t i = 0; i < tensor_count(&p->want); i++, next(e->spatial, p->out, at)) {
        int64_t channel = (int64_t)(i / volume);
        double y = window_result_of(p, p->sums[i], channel % e->outputs);
        size_t to = image_at(e, p->want.shape, channel / e->outputs, channel % e->outputs, at);
        large_put(&p->want, to, large_followed(y, &p->after));
    }
}

#endif
