// SPDX-License-Identifier: Apache-2.0
// The sizes of a convolution and its sums in integers, tap by tap. A transposed convolution
// scatters each element of x, as its definition says.
#ifndef QDQ_TESTS_OPS_PRODUCTS_LARGE_SUMS_H
#define QDQ_TESTS_OPS_PRODUCTS_LARGE_SUMS_H

#include "tests/ops/products/convolutions.h"

//---- Sizes ------------------------------------------------------------------

static inline void set_dims(example *e, int spatial, const int64_t *in, const int64_t *kernel) {
    e->spatial = spatial;
    for (int d = 0; d < DIMS; d++) {
        e->in[d] = d < spatial ? in[d] : 1, e->kernel[d] = d < spatial ? kernel[d] : 1;
        e->strides[d] = e->dilations[d] = 1;
    }
}

static inline void set_image(example *e, int64_t height, int64_t width, int64_t kernel) {
    set_dims(e, 2, (int64_t[]){height, width}, (int64_t[]){kernel, kernel});
}

static inline void set_channels(example *e, int64_t groups, size_t inputs, size_t outputs) {
    e->groups = groups;
    e->inputs = groups * (int64_t)inputs, e->outputs = groups * (int64_t)outputs;
}

//---- Sums -------------------------------------------------------------------

// One tap of one line: y[t * y_step] += w * x[t * x_step] wherever both elements exist.
typedef struct window_line {
    const int32_t *x;
    int32_t *y, w;
    // t < count; the other index is t * stride + shift, which must be < other
    int64_t count, other, stride, shift;
    bool scatters;  // t counts along x instead of y
} window_line;

static inline void window_add_line(const window_line *l) {
    int64_t begin = 0, end = l->count, x_step = l->scatters ? 1 : l->stride;
    while (begin < end && begin * l->stride + l->shift < 0) begin++;
    while (end > begin && (end - 1) * l->stride + l->shift >= l->other) end--;
    int64_t x = l->scatters ? 0 : l->shift, y = l->scatters ? l->shift : 0;
    int64_t y_step = l->scatters ? l->stride : 1;
    for (int64_t t = begin; t < end; t++) l->y[y + t * y_step] += l->w * l->x[x + t * x_step];
}

// Always three dims; the missing ones come first, with length 1.
typedef struct window_dims {
    int64_t in[DIMS], out[DIMS], kernel[DIMS], stride[DIMS], dilation[DIMS], begin[DIMS];
} window_dims;

// Adds the products of one channel of x with the weights of one pair of channels.
static inline void window_add_channel(const window_dims *d, bool transposed, const int32_t *x,
                                      const int32_t *w, int32_t *y) {
    const int64_t *t = transposed ? d->in : d->out, *others = transposed ? d->out : d->in;
    int64_t at[DIMS], k[DIMS] = {0};
    do {
        for (at[0] = 0; at[0] < t[0]; at[0]++)
            for (at[1] = 0; at[1] < t[1]; at[1]++) {
                int64_t other[2], own = (at[0] * t[1] + at[1]) * t[2];
                for (int i = 0; i < 2; i++)
                    other[i] = at[i] * d->stride[i] + k[i] * d->dilation[i] - d->begin[i];
                if (other[0] < 0 || other[0] >= others[0]) continue;
                if (other[1] < 0 || other[1] >= others[1]) continue;
                int64_t far = (other[0] * others[1] + other[1]) * others[2];
                int64_t shift = k[2] * d->dilation[2] - d->begin[2];
                window_add_line(&(window_line){x + (transposed ? own : far),
                                               y + (transposed ? far : own), *w, t[2], others[2],
                                               d->stride[2], shift, transposed});
            }
        w++;
    } while (next(DIMS, d->kernel, k));
}

#endif
