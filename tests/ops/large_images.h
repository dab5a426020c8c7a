// SPDX-License-Identifier: Apache-2.0
// Images for tests of large shapes: their elements by batch, channel and position.
#ifndef QDQ_TESTS_OPS_LARGE_IMAGES_H
#define QDQ_TESTS_OPS_LARGE_IMAGES_H

#include "large_links.h"

enum { LARGE_DIMS = 3 };

// Always three spatial dims; dims that the graph's tensor does not have are 1 long.
typedef struct large_image {
    qdq_data_format format;
    int spatial;
    size_t batch, channels, size[LARGE_DIMS];
} large_image;

static inline qdq_shape large_image_shape(const large_image *x) {
    qdq_shape shape = {.rank = x->spatial + 2, .dims = {(int64_t)x->batch}};
    shape.dims[x->format == QDQ_NCX ? 1 : x->spatial + 1] = (int64_t)x->channels;
    for (int i = 0; i < x->spatial; i++)
        shape.dims[(x->format == QDQ_NCX ? 2 : 1) + i] =
            (int64_t)x->size[LARGE_DIMS - x->spatial + i];
    return shape;
}

static inline size_t large_image_at(const large_image *x, size_t batch, size_t channel,
                                    const size_t *at) {
    size_t pixels = x->size[0] * x->size[1] * x->size[2];
    size_t pixel = (at[0] * x->size[1] + at[1]) * x->size[2] + at[2];
    return x->format == QDQ_NCX ? (batch * x->channels + channel) * pixels + pixel
                                : (batch * pixels + pixel) * x->channels + channel;
}

// Splits the row-major index of a pixel into its position.
static inline void large_position(const large_image *x, size_t pixel, size_t *at) {
    for (int i = LARGE_DIMS; i-- > 0; pixel /= x->size[i]) at[i] = pixel % x->size[i];
}

// Makes one element of y. Called for all of them in row-major order.
typedef double large_element_fn(const void *self, size_t batch, size_t channel, const size_t *at);

static inline tensor large_image_of(const large_image *y, qdq_dtype dtype,
                                    large_element_fn *element, const void *self) {
    tensor t = tensor_of(NULL, dtype, large_image_shape(y));
    size_t pixels = y->size[0] * y->size[1] * y->size[2], at[LARGE_DIMS];
    for (size_t b = 0; b < y->batch; b++)
        for (size_t c = 0; c < y->channels; c++)
            for (size_t p = 0; p < pixels; p++) {
                large_position(y, p, at);
                large_put(&t, large_image_at(y, b, c, at), element(self, b, c, at));
            }
    return t;
}

#endif
