// SPDX-License-Identifier: Apache-2.0
// Images (tensors with a batch, channels and spatial dims) and windows that slide over their
// spatial dims: shared by convolutions, pooling and Interpolate.
#ifndef QDQ_OPS_SPATIAL_WINDOW_H
#define QDQ_OPS_SPATIAL_WINDOW_H

#include "ops/infer.h"

enum { QDQ_MAX_SPATIAL = 3 };

// The dims of a tensor with a batch, channels and 1 to 3 spatial dims.
typedef struct qdq_image {
    size_t batch, channels;
    int spatial;  // how many dims
    size_t size[QDQ_MAX_SPATIAL];
    size_t pixels;  // of all spatial dims
    // In elements.
    size_t batch_stride, channel_stride, pixel_stride;
} qdq_image;

// False, with a finding about input `input`, unless the rank is 3 to 5.
bool qdq_image_of(const qdq_op_context *ctx, size_t input, qdq_data_format format,
                  qdq_image *image);

// Returns the shape of an image with other channels and sizes.
qdq_shape qdq_image_shape(qdq_data_format format, size_t batch, size_t channels, int spatial,
                          const size_t *size);

// A window that slides over spatial dims.
typedef struct qdq_window {
    int spatial;
    size_t in[QDQ_MAX_SPATIAL], out[QDQ_MAX_SPATIAL], kernel[QDQ_MAX_SPATIAL];
    size_t stride[QDQ_MAX_SPATIAL], dilation[QDQ_MAX_SPATIAL];
    size_t pad_begin[QDQ_MAX_SPATIAL], pad_end[QDQ_MAX_SPATIAL];
} qdq_window;

typedef struct qdq_window_attrs {
    qdq_ints strides, dilations, pads_begin, pads_end;  // empty lists: 1, 1, 0, 0
    qdq_auto_pad auto_pad;
    bool ceil;  // positions are rounded up
} qdq_window_attrs;

// Reads a list of one number per spatial dim; empty: `otherwise` for each. False with a finding if
// the count is wrong or a number is less than `least`.
bool qdq_spatial_list(const qdq_op_context *ctx, const char *attr, qdq_ints list, int spatial,
                      int64_t least, size_t otherwise, size_t *out);

// Fills in *window, whose `in`, `kernel` and `spatial` are given. False with findings for wrong
// counts of lists, values below 1 (pads: below 0), and a window larger than the padded input.
bool qdq_window_of(const qdq_op_context *ctx, const qdq_window_attrs *attrs, qdq_window *window);

#endif
