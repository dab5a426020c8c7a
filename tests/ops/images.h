// SPDX-License-Identifier: Apache-2.0
// Images for tests of pooling, interpolation and normalization: their elements by batch, channel
// and position, in both data formats (NCX and NXC).
#ifndef QDQ_TESTS_OPS_IMAGES_H
#define QDQ_TESTS_OPS_IMAGES_H

#include <math.h>

#include "tests/network.h"

typedef struct image {
    qdq_data_format format;
    int spatial;
    int64_t batch, channels, size[3];
    float *data;
} image;

static inline int64_t image_pixels(const image *x) {
    int64_t n = 1;
    for (int i = 0; i < x->spatial; i++) n *= x->size[i];
    return n;
}

static inline size_t image_count(const image *x) {
    return (size_t)(x->batch * x->channels * image_pixels(x));
}

static inline qdq_shape image_shape(const image *x) {
    qdq_shape shape = {.rank = x->spatial + 2, .dims = {x->batch}};
    shape.dims[x->format == QDQ_NCX ? 1 : x->spatial + 1] = x->channels;
    for (int i = 0; i < x->spatial; i++)
        shape.dims[(x->format == QDQ_NCX ? 2 : 1) + i] = x->size[i];
    return shape;
}

// Splits the index of a pixel into its position on each spatial dim.
static inline void image_position(const image *x, int64_t pixel, int64_t at[3]) {
    at[0] = at[1] = at[2] = 0;
    for (int i = x->spatial - 1; i >= 0; i--) at[i] = pixel % x->size[i], pixel /= x->size[i];
}

static inline float *image_at(const image *x, int64_t n, int64_t channel, const int64_t *at) {
    int64_t pixel = 0;
    for (int i = 0; i < x->spatial && i < 3; i++) pixel = pixel * x->size[i] + at[i];
    return x->format == QDQ_NCX ? &x->data[(n * x->channels + channel) * image_pixels(x) + pixel]
                                : &x->data[(n * image_pixels(x) + pixel) * x->channels + channel];
}

static inline float image_get(const image *x, int64_t n, int64_t channel, const int64_t *at) {
    return *image_at(x, n, channel, at);
}

static inline uint16_t image_bfloat16(float v) {
    int exponent;
    uint32_t bits;
    (void)frexp((double)v, &exponent);
    double step = ldexp(1.0, (exponent < -125 ? -125 : exponent) - 8);
    v = isfinite(v) ? (float)(rint((double)v / step) * step) : v;
    memcpy(&bits, &v, sizeof bits);
    return (uint16_t)(isnan(v) ? 0x7FC0 : bits >> 16);
}

static inline uint16_t image_float16(float v) {
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    int exponent;
    if (isnan(v)) return 0x7E00;
    double size = fabs((double)v);
    (void)frexp(size, &exponent);
    if (exponent < -13 || size == 0) exponent = -13;
    if (size >= 65520.0) return sign | 0x7C00;
    double steps = rint(ldexp(size, 11 - exponent));  // 1024 to 2048, less for a denormal
    return (uint16_t)(sign + (exponent + 13) * 1024 + (int)steps);
}

// Rounds float32 to a float dtype, ties to even.
static inline void image_store(qdq_dtype dtype, const float *numbers, void *out, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (dtype == QDQ_FLOAT32)
            ((float *)out)[i] = numbers[i];
        else
            ((uint16_t *)out)[i] =
                dtype == QDQ_FLOAT16 ? image_float16(numbers[i]) : image_bfloat16(numbers[i]);
    }
}

#endif
