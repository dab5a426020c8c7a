// SPDX-License-Identifier: Apache-2.0
// The lowering that all convolutions share, transposed and integer ones too: a product of matrices
// for each image and group. Its rows are the positions of the result and its columns the output
// channels. Its k are the elements under the window: input channel outermost, then the spatial dims
// of the kernel in order. Elements beyond the border have no product at all; in a transposed
// convolution, neither do positions between the strides. Other forms replace this product where
// they suit a shape better; qdq_conv_stage chooses.
#ifndef QDQ_OPS_CONV_CONV_LOWERING_H
#define QDQ_OPS_CONV_CONV_LOWERING_H

#include "ops/gemm/gemm.h"
#include "ops/spatial/window.h"

// Padding and groups of every convolution; `attrs_type` is the op's struct.
// clang-format off
#define QDQ_PAD_ATTRS(attrs_type) \
        {"pads_begin", QDQ_ATTR_INTS, offsetof(attrs_type, pads_begin), \
         NULL, "zeros", "one per spatial dim"}, \
        {"pads_end", QDQ_ATTR_INTS, offsetof(attrs_type, pads_end), \
         NULL, "zeros", "one per spatial dim"}, \
        {"auto_pad", QDQ_ATTR_WORD, offsetof(attrs_type, auto_pad), \
         qdq_auto_pad_words, "None", "in place of pads_begin and pads_end"}, \
        {"groups", QDQ_ATTR_INT, offsetof(attrs_type, groups), \
         NULL, "1", "number of equal groups of channels, each with separate weights"}
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

// The attributes that sizes follow from. x is input 0.
typedef struct qdq_conv_attrs {
    size_t weights_port, bias_port;  // bias_port SIZE_MAX: none
    qdq_window_attrs window;
    qdq_ints output_padding;
    qdq_int groups;
    qdq_data_format format;
    bool transposed, spatial_last;  // of the weights
    qdq_int channel_block;
    bool addend;
} qdq_conv_attrs;

// False with findings if shapes and attributes do not go together. x and the weights are valid.
bool qdq_conv_sizes_of(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       qdq_conv_sizes *sizes);

// Sizes of parts and limits of the forms below. Tests take their sizes from these.
enum {
    QDQ_CONV_FEW_TAPS = 64,
    QDQ_CONV_PART = 128,  // k of the rows of A
    QDQ_CONV_PART_ROWS = 16,
    QDQ_CONV_BORDER_TAPS = 32,
    QDQ_CONV_TRANSPOSED_TAPS = 16,  // of neighbours that become columns
    QDQ_CONV_LANES_OUTPUTS = 8,     // in a group; with this many or more it is a product
    QDQ_CONV_LANES_DEPTH = 128,     // k of lanes
    QDQ_CONV_PANELS_ROWS = 264,     // most output channels of a unit of all positions, whole tiles
    QDQ_CONV_PANELS_POSITIONS = 8 * QDQ_GEMM_COLUMNS,  // of a unit
    QDQ_CONV_PANELS_IN_PLACE = 128,                    // most output channels that read panels in x
    QDQ_CONV_PLANES_WIDTH = 48,                        // of rows of results that read planes
    QDQ_CONV_PANELS_LEAST = 65,                        // positions
    QDQ_CONV_PANELS_LEAST_CODES = 33,                  // positions, of codes
    QDQ_CONV_PANELS_STAGED = 32,                       // k of codes that are staged together
    QDQ_CONV_PANELS_TAPS = 128,                        // most taps
    QDQ_CONV_PANELS_WAYS = 8,                          // most tiles that share slots of weights
    QDQ_CONV_PANELS_UNITS = 2,                         // that a large product is cut into at least
};

// Spatial dims come last; dims that are missing have size 1.
typedef struct qdq_conv {
    qdq_gemm gemm;
    bool transposed;
    size_t in[QDQ_MAX_SPATIAL], out[QDQ_MAX_SPATIAL], kernel[QDQ_MAX_SPATIAL];
    size_t stride[QDQ_MAX_SPATIAL], dilation[QDQ_MAX_SPATIAL], pad[QDQ_MAX_SPATIAL];
    size_t x_stride[QDQ_MAX_SPATIAL], channel_stride, taps;
    size_t groups, group_inputs, group_outputs;
    bool taps_first;           // k is blocks of input channels, then taps, then the channels
    size_t block;              // with taps_first: channels of a block, the last may have fewer
    const size_t *offsets;     // from the first element under a window to each k; not transposed
    size_t run;                // k that are neighbours, from each multiple of it on
    bool positions, channels;  // are neighbours in memory, and copied together
    const void *lanes;         // packed constant weights of qdq_conv_lanes_stage
    bool pairs;                // lanes multiply bfloat16, the second k of each pair first
} qdq_conv;

// Phases of y under the strides of a transposed convolution: for each position of x, `stride`
// results in each dim.
typedef struct qdq_conv_phases {
    size_t count;  // of an output channel
    size_t in[QDQ_MAX_SPATIAL], stride[QDQ_MAX_SPATIAL];
} qdq_conv_phases;

// Returns a convolution whose product lacks only bias, zero points and epilogue. NULL when memory
// runs out.
qdq_conv *qdq_conv_new(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       const qdq_lowering *to, bool integer);

// Sizes and strides of the product.
void qdq_conv_set_product(qdq_gemm *gemm, const qdq_op_context *ctx, const qdq_conv_sizes *sizes);

// The k of a block of channels: the first of them, the first channel, and the number of channels.
typedef struct qdq_conv_block {
    size_t k, channel, channels;
} qdq_conv_block;

// Returns the block that k belongs to; all channels if k is not taps first.
static inline qdq_conv_block qdq_conv_block_of(const qdq_conv *c, size_t k) {
    qdq_conv_block of = {0, 0, c->group_inputs};
    if (!c->taps_first || c->block == c->group_inputs) return of;
    size_t number = k / (c->block * c->taps), left;
    of.k = number * c->block * c->taps, of.channel = number * c->block;
    left = c->group_inputs - of.channel;
    of.channels = left < c->block ? left : c->block;
    return of;
}

// Makes the product add the input channels of a block under all taps, and then the sums of blocks.
void qdq_conv_set_block_order(qdq_conv *conv, size_t block);

// Makes the sums begin with an operand of the shape of y.
void qdq_conv_begin_with(qdq_conv *conv, size_t port);

// Makes the product add in the order of ONNX Runtime. initial: the weights are a constant of the
// graph.
void qdq_conv_set_runtime_order(qdq_conv *conv, bool initial);

// True if some sums of a convolution of float32, or of a transposed one, have another order in ONNX
// Runtime with `threads` threads than with one.
bool qdq_conv_depends_on_threads(const qdq_op_context *ctx, size_t threads);

// Packs the rows of A.
qdq_gemm_pack_a_fn qdq_conv_im2col;

// Finds the places of k..k + n of a row in the image of a group; SIZE_MAX: beyond the border. True
// if no element is beyond the border.
bool qdq_conv_sources(const qdq_conv *conv, size_t row, size_t k, size_t n, size_t *from);

// Writes the stage of a complete convolution.
bool qdq_conv_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage);

// True if groups have few enough output channels for lanes.
bool qdq_conv_has_lanes(const qdq_conv *conv);

// A way to compute a convolution: writes its stage, or leaves *done false if the way does not suit
// the shape. False when memory runs out.
typedef bool qdq_conv_way_fn(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_stage *stage, bool *done);

// A transposed convolution as a product of phases (conv_phases.c).
qdq_conv_way_fn qdq_conv_phases_stage;
// Winograd's convolution (winograd/conv_winograd.h), with `fast`.
qdq_conv_way_fn qdq_conv_winograd_stage;
// Direct convolution (direct/conv_direct.h).
qdq_conv_way_fn qdq_conv_direct_stage;

// Writes the stage for groups of few output channels, where a product of matrices would have little
// to do: lanes are output channels of many groups.
bool qdq_conv_lanes_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                          qdq_stage *stage);

// Writes the stage of a transposed convolution whose order is by taps (taps/conv_taps.h). Its k are
// taps, then input channels. False when memory runs out.
bool qdq_conv_taps_stage(const qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                         qdq_stage *stage);

// A form for dense float32 or codes with constant weights whose positions are neighbours in memory:
// rows of the product are output channels, and panels are lines of x. The first: true if it suits a
// convolution. The second writes its stage.
bool qdq_conv_has_panels(const qdq_conv *conv, const qdq_op_context *ctx);
bool qdq_conv_panels_stage(qdq_conv *conv, const qdq_op_context *ctx, const qdq_lowering *to,
                           qdq_stage *stage);

#endif
