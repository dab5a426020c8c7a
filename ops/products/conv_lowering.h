// SPDX-License-Identifier: Apache-2.0
// What convolutions share, transposed and integer ones too: a product of matrices for each image
// and group, whose rows are the positions of the result, whose columns are output channels, and
// whose k are the elements under the window: input channel outermost, then the spatial dims of the
// kernel in order. Elements beyond the border have no product at all, and of a transposed
// convolution those between the strides.
#ifndef QDQ_OPS_PRODUCTS_CONV_LOWERING_H
#define QDQ_OPS_PRODUCTS_CONV_LOWERING_H

#include "ops/products/gemm.h"
#include "ops/spatial/window.h"

// Padding and groups, as every convolution has them; `attrs_type` is the op's struct.
// clang-format off
#define QDQ_PAD_ATTRS(attrs_type) \
        {"pads_begin", QDQ_ATTR_INTS, offsetof(attrs_type, pads_begin), \
         NULL, "zeros", "one per spatial dim"}, \
        {"pads_end", QDQ_ATTR_INTS, offsetof(attrs_type, pads_end), \
         NULL, "zeros", "one per spatial dim"}, \
        {"auto_pad", QDQ_ATTR_WORD, offsetof(attrs_type, auto_pad), \
         qdq_auto_pad_words, "None", "in place of pads_begin and pads_end"}, \
        {"groups", QDQ_ATTR_INT, offsetof(attrs_type, groups), \
         NULL, "1", "channels are cut into so many, each with weights of its own"}
// clang-format on

// The sizes of a node.
typedef struct qdq_conv_sizes {
    bool transposed;
    qdq_data_format format;
    qdq_image x;
    qdq_window window;
    size_t groups, group_inputs, group_outputs, taps;
    qdq_gemm_weights weights;  // strides
    qdq_shape y;
} qdq_conv_sizes;

// Where the sizes come from. Ports: x is input 0.
typedef struct qdq_conv_attrs {
    size_t weights_port, bias_port;  // bias_port SIZE_MAX: none
    qdq_window_attrs window;
    qdq_ints output_padding;
    qdq_int groups;
    qdq_data_format format;
    bool transposed, spatial_last;  // of the weights
} qdq_conv_attrs;

// False with findings if they do not go together. x and the weights are valid.
bool qdq_conv_sizes_of(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       qdq_conv_sizes *sizes);

// What is worked on at a time. Tests take their sizes from these.
enum {
    QDQ_CONV_FEW_TAPS = 64,
    QDQ_CONV_PART = 128,  // k of the rows of A
    QDQ_CONV_PART_ROWS = 16,
    QDQ_CONV_BORDER_TAPS = 32,
    QDQ_CONV_TRANSPOSED_TAPS = 16,  // of neighbours that become columns
    QDQ_CONV_LANES_OUTPUTS = 8,     // of a group: from so many on it is a product of its own
    QDQ_CONV_LANES_DEPTH = 128,     // k of lanes
    QDQ_CONV_LINES_CHANNELS = 16,
    QDQ_CONV_LINES_DEPTH = 32,  // k of lines, and most of all
    QDQ_CONV_LINES_MOST = 256,
};

// Spatial dims behind as many of size 1 as are missing.
typedef struct qdq_conv {
    qdq_gemm gemm;
    bool transposed;
    size_t in[QDQ_MAX_SPATIAL], out[QDQ_MAX_SPATIAL], kernel[QDQ_MAX_SPATIAL];
    size_t stride[QDQ_MAX_SPATIAL], dilation[QDQ_MAX_SPATIAL], pad[QDQ_MAX_SPATIAL];
    size_t x_stride[QDQ_MAX_SPATIAL], channel_stride, taps;
    size_t groups, group_inputs, group_outputs;
    bool taps_first;           // k is taps, then input channels
    const size_t *offsets;     // from the first element under a window to each k; not transposed
    size_t run;                // so many are neighbours, from every multiple of it on
    bool positions, channels;  // that are neighbours, and worth being copied as such
    const void *lanes;         // of qdq_conv_lanes_stage: constant weights
    bool pairs;                // of it: products of bfloat16, of each two k the second first
} qdq_conv;

// A convolution with its product laid out, but for bias, zero points and finish. NULL when memory
// runs out.
qdq_conv *qdq_conv_new(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       const qdq_lowering *to, bool integer);

// Sizes and strides of the product.
void qdq_conv_set_product(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_conv_sizes *sizes);

// Rows of A.
qdq_gemm_pack_a_fn qdq_conv_im2col;

// Where k..k + n of a row are in the image of a group, SIZE_MAX: nowhere. True if all are there.
bool qdq_conv_sources(const qdq_conv *conv, size_t row, size_t k, size_t n, size_t *from);

// The stage of a convolution that lacks nothing.
bool qdq_conv_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage);

// Whether it has such groups.
bool qdq_conv_has_lanes(const qdq_conv *conv);

// The same for groups of few output channels, where a product of matrices would have little to do:
// lanes are output channels of many groups.
bool qdq_conv_lanes_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                          qdq_stage *stage);

// The same for float32 where positions are neighbours in memory: lanes are those of one channel.
bool qdq_conv_has_lines(const qdq_conv *conv);
bool qdq_conv_lines_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                          qdq_stage *stage);

#endif
