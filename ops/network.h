// SPDX-License-Identifier: Apache-2.0
// What neural-network ops share: checks that their descriptions cannot say, words of their
// attributes, where channels and spatial dims are, and windows that slide over spatial dims.
#ifndef QDQ_OPS_NETWORK_H
#define QDQ_OPS_NETWORK_H

#include "include/qdq/network.h"
#include "ops/op.h"

extern const char *const qdq_data_format_words[];  // NXC, NCX
extern const char *const qdq_auto_pad_words[];     // None, SAME_UPPER, SAME_LOWER, VALID
extern const char *const qdq_broadcast_words[];    // numpy, none

//---- Checks -----------------------------------------------------------------

// "[2, 3]"
const char *qdq_shape_text(qdq_findings *findings, qdq_shape shape);

// A finding unless the attribute is given.
bool qdq_require_attr(const qdq_op_context *ctx, const char *attr, bool given);

// The dim that `axis` of an attribute means, or -1 with a finding.
int qdq_check_axis(const qdq_op_context *ctx, const char *attr, int64_t axis, int rank);

// A finding unless the input, if it is there, has the dtype of the first one.
bool qdq_check_same_dtype(const qdq_op_context *ctx, size_t input);

// A finding unless the input, if both are there, has the dtype of the other.
bool qdq_check_dtype_as(const qdq_op_context *ctx, size_t input, size_t other);

// A finding unless the input, if it is there, has one element.
bool qdq_check_one(const qdq_op_context *ctx, size_t input);

// A finding unless the input, if it is there, has this shape; `why` is what it follows from: "the
// channels of x".
bool qdq_check_shape(const qdq_op_context *ctx, size_t input, qdq_shape wanted, const char *why);

// Whether an input is there and its type is known.
static inline bool qdq_has_input(const qdq_op_context *ctx, size_t input) {
    return input < ctx->input_count && ctx->inputs[input].valid;
}

// The shape that two become by numpy's rule; false if they do not go together.
bool qdq_broadcast_shapes(qdq_shape a, qdq_shape b, qdq_shape *out);

//---- Channels and windows ---------------------------------------------------

enum { QDQ_MAX_SPATIAL = 3 };

// The dims of a tensor with a batch, channels and 1 to 3 spatial dims.
typedef struct qdq_image {
    size_t batch, channels;
    int spatial;  // how many dims
    size_t size[QDQ_MAX_SPATIAL];
    size_t pixels;  // of all spatial dims
    // Elements from one to the next.
    size_t batch_stride, channel_stride, pixel_stride;
} qdq_image;

// The dim of the channels.
static inline int qdq_channel_dim(qdq_shape shape, qdq_data_format format) {
    return format == QDQ_NCX ? 1 : shape.rank - 1;
}

// False, with a finding about input `input`, unless the rank is 3 to 5.
bool qdq_image_of(const qdq_op_context *ctx, size_t input, qdq_data_format format,
                  qdq_image *image);

// The shape of an image with other channels and sizes.
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

// A list of one number per spatial dim; empty: `otherwise` for each. False with a finding if the
// count is wrong or a number is less than `least`.
bool qdq_depthwise_list(const qdq_op_context *ctx, const char *attr, qdq_ints list, int spatial,
                        int64_t least, size_t otherwise, size_t *out);

// `in`, `kernel` and `spatial` of *window are given; fills in the rest. False with findings about
// what is wrong: counts of the lists, values below 1 (pads: 0), a window larger than the padded
// input.
bool qdq_window_of(const qdq_op_context *ctx, const qdq_window_attrs *attrs, qdq_window *window);

#endif
