// SPDX-License-Identifier: Apache-2.0
// Convolutions as products: the rows of A are the elements under the window.
#include "ops/conv.h"

#include "runtime/dtype.h"

enum { DEPTH = QDQ_GEMM_DEPTH, DIMS = QDQ_MAX_SPATIAL };
#define NOWHERE SIZE_MAX

//---- Where elements are ------------------------------------------------------

// The index in dim `d` of x that is under tap `t` of the kernel at position `o` of y.
static size_t position(const qdq_conv *c, int d, size_t o, size_t t) {
    size_t at;
    if (c->transposed) {
        if (o + c->pad[d] < t * c->dilation[d]) return NOWHERE;
        at = o + c->pad[d] - t * c->dilation[d];
        if (c->stride[d] > 1) {
            if (at % c->stride[d]) return NOWHERE;
            at /= c->stride[d];
        }
    } else {
        at = o * c->stride[d] + t * c->dilation[d] - c->pad[d];  // below 0: very large
    }
    return at < c->in[d] ? at : NOWHERE;
}

// The offset in the image of the first channel of what is under a tap.
static size_t source_of(const qdq_conv *c, const size_t *o, size_t tap) {
    size_t sum = 0;
    for (int d = DIMS; d-- > 0; tap /= c->kernel[d]) {
        size_t at = position(c, d, o[d], tap % c->kernel[d]);
        if (at == NOWHERE) return NOWHERE;
        sum += at * c->x_stride[d];
    }
    return sum;
}

static void coordinates(const qdq_conv *c, size_t row, size_t *o) {
    for (int d = DIMS; d-- > 0; row /= c->out[d]) o[d] = row % c->out[d];
}

// Whether the window at `o` lies inside of x; then `first` is its first element.
static bool is_inside(const qdq_conv *c, const size_t *o, size_t *first) {
    if (c->transposed) return false;
    *first = 0;
    for (int d = 0; d < DIMS; d++) {
        size_t begin = o[d] * c->stride[d], reach = (c->kernel[d] - 1) * c->dilation[d];
        if (begin < c->pad[d] || begin - c->pad[d] + reach >= c->in[d]) return false;
        *first += (begin - c->pad[d]) * c->x_stride[d];
    }
    return true;
}

// Where k..k + n are in the image of a group. Taps repeat for each channel.
static bool sources(const qdq_conv *c, const size_t *o, size_t k, size_t n, size_t *from) {
    bool all = true;
    size_t taps = c->taps ? c->taps : 1;  // there always are some
    for (size_t i = 0; i < n; i++) {
        if (i >= taps) {
            from[i] = from[i - taps];
            if (from[i] != NOWHERE) from[i] += c->channel_stride;
            continue;
        }
        from[i] = source_of(c, o, (k + i) % taps);
        all &= from[i] != NOWHERE;
        if (from[i] != NOWHERE) from[i] += (k + i) / taps * c->channel_stride;
    }
    return all;
}

bool qdq_conv_sources(const qdq_conv *c, size_t row, size_t k, size_t n, size_t *from) {
    size_t o[DIMS], first;
    coordinates(c, row, o);
    if (!is_inside(c, o, &first)) return sources(c, o, k, n, from);
    for (size_t i = 0; i < n; i++) from[i] = first + c->offsets[k + i];
    return true;
}

//---- Rows of A --------------------------------------------------------------

#define GATHER(type)                                                           \
    for (size_t i = 0; i < n; i++) {                                           \
        size_t at = from[i];                                                   \
        ((type *)out)[i] = at == NOWHERE ? pad : ((const type *)x)[base + at]; \
    }

// n elements at base + from[i]; `pad` for those that are nowhere.
static void gather(size_t size, const void *x, size_t base, const size_t *from, size_t n,
                   uint8_t pad, void *out) {
    if (size == 4) {
        GATHER(uint32_t)
    } else if (size == 2) {
        GATHER(uint16_t)
    } else {
        GATHER(uint8_t)
    }
}

// The codes of a zero point are those that its element has.
static uint8_t pad_of(const qdq_gemm *g, const qdq_tensors *tensors) {
    if (g->a_zero.port == SIZE_MAX) return 0;
    return *(const uint8_t *)qdq_gemm_numbers(&g->a_zero, tensors);
}

unsigned qdq_conv_fill(const qdq_gemm *g, const qdq_tensors *tensors, const qdq_gemm_block *block,
                       size_t k, size_t n, void *a, uint16_t (*keep)[QDQ_GEMM_KEEP]) {
    const qdq_conv *c = (const qdq_conv *)g;
    size_t size = qdq_dtype_size(g->a_dtype);
    const char *x =
        (const char *)tensors->x[g->a_port] + qdq_gemm_at(g, g->batches.a, block->batch) * size;
    uint8_t pad = pad_of(g, tensors);
    int32_t zero = 0;
    if (g->a_zero.port != SIZE_MAX)
        zero = qdq_gemm_integer_at(g->a_zero.dtype, qdq_gemm_numbers(&g->a_zero, tensors), 0);
    unsigned skips = 0;
    for (size_t r = 0; r < block->rows; r++) {
        size_t o[DIMS], first, from[DEPTH];
        uint32_t raw[DEPTH];
        coordinates(c, block->row + r, o);
        if (is_inside(c, o, &first)) {
            gather(size, x, first, c->offsets + k, n, pad, raw);
        } else {
            bool all = sources(c, o, k, n, from);
            gather(size, x, 0, from, n, pad, raw);
            size_t tile = r / QDQ_GEMM_ROWS;
            if (!all && keep) skips |= 1u << tile;
            for (size_t i = 0; !all && keep && i < n; i++)
                if (from[i] == NOWHERE) keep[tile][i] &= (uint16_t) ~(1u << r % QDQ_GEMM_ROWS);
        }
        qdq_gemm_put_row(g, zero, raw, n, r, a);
    }
    return skips;
}

//---- Laying out -------------------------------------------------------------

// Sizes, with the dims that are missing first.
static void set_dims(qdq_conv *c, const qdq_conv_sizes *s) {
    const qdq_window *w = &s->window;
    size_t stride = s->x.pixel_stride;
    for (int d = DIMS, i = s->x.spatial; d-- > 0;) {
        c->in[d] = c->out[d] = c->kernel[d] = c->stride[d] = c->dilation[d] = 1;
        if (i-- <= 0) continue;
        c->in[d] = w->in[i], c->out[d] = w->out[i], c->kernel[d] = w->kernel[i];
        c->stride[d] = w->stride[i], c->dilation[d] = w->dilation[i], c->pad[d] = w->pad_begin[i];
        c->x_stride[d] = stride;
        stride *= w->in[i];
    }
    c->transposed = s->transposed;
    c->channel_stride = s->x.channel_stride;
    c->taps = s->taps;
    c->groups = s->groups;
    c->group_inputs = s->group_inputs, c->group_outputs = s->group_outputs;
}

void qdq_conv_set_product(qdq_gemm *g, const qdq_call *call, const qdq_conv_sizes *s) {
    size_t outputs = s->group_outputs * s->groups;
    g->rows = 1;
    for (int i = 0; i < s->x.spatial; i++) g->rows *= s->window.out[i];
    g->columns = s->group_outputs;
    g->depth = s->group_inputs * s->taps;
    g->batch = s->x.batch * s->groups;
    bool first = s->format == QDQ_NCX;
    size_t channel = first ? g->rows : 1;
    g->batches = (qdq_gemm_batches){
        .rank = 2,
        .dims = {s->x.batch, s->groups},
        .a = {s->x.batch_stride, s->group_inputs * s->x.channel_stride},
        .b = {0, 1},
        .y = {outputs * g->rows, s->group_outputs * channel},
        .bias = {0, s->group_outputs},
    };
    g->a_port = 0;
    g->a_dtype = call->inputs[0].type.dtype;
    g->fill = qdq_conv_fill;
    g->weights = s->weights;
    g->weights.dtype = call->inputs[s->weights.port].type.dtype;
    g->y = (qdq_gemm_along){0, call->outputs[0].dtype, first ? 1 : outputs, channel, NULL};
}

// From the first element under a window to the one of each k.
static bool set_offsets(qdq_conv *c, qdq_pool *pool) {
    size_t *offsets = qdq_pool_array(pool, c->gemm.depth, sizeof *offsets);
    if (!offsets) return false;
    for (size_t k = 0; k < c->gemm.depth; k++) {
        size_t tap = k % c->taps;
        offsets[k] = k / c->taps * c->channel_stride;
        for (int d = DIMS; d-- > 0; tap /= c->kernel[d])
            offsets[k] += tap % c->kernel[d] * c->dilation[d] * c->x_stride[d];
    }
    c->offsets = offsets;
    return true;
}

qdq_conv *qdq_conv_new(const qdq_call *call, const qdq_conv_attrs *attrs, const qdq_lowering *to,
                       bool integer) {
    qdq_conv_sizes sizes;
    qdq_conv *c = QDQ_POOL_NEW(to->pool, qdq_conv);
    if (!c || !qdq_conv_sizes_of(call, attrs, &sizes)) return NULL;
    qdq_gemm_init(&c->gemm, to, integer);
    set_dims(c, &sizes);
    qdq_conv_set_product(&c->gemm, call, &sizes);
    return set_offsets(c, to->pool) ? c : NULL;
}

bool qdq_conv_has_lanes(const qdq_conv *c) {
    enum { FEW = 8 };
    return c->groups > 1 && c->group_outputs < FEW;
}

bool qdq_conv_stage(qdq_conv *c, const qdq_call *call, const qdq_lowering *to, qdq_stage *stage) {
    if (qdq_conv_has_lanes(c)) return qdq_conv_lanes_stage(c, call, to, stage);
    return qdq_gemm_stage(&c->gemm, call, to, stage);
}
