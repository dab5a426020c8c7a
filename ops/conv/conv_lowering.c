// SPDX-License-Identifier: Apache-2.0
// Lowers convolutions to products of matrices: sizes, strides and the offset of each k.
#include "ops/conv/conv_lowering.h"

#include <string.h>

#include "ops/conv/panels/product_stage.h"
#include "ops/gemm/pairs/pair_sums.h"
#include "runtime/numerics/dtype.h"

enum { DIMS = QDQ_MAX_SPATIAL, LAST = DIMS - 1 };

//---- Laying out -------------------------------------------------------------

// Sizes. Missing spatial dims come first, with size 1.
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

void qdq_conv_set_product(qdq_gemm *g, const qdq_op_context *ctx, const qdq_conv_sizes *s) {
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
    g->a_dtype = ctx->inputs[0].type.dtype;
    g->pack_a = qdq_conv_im2col;
    g->weights = s->weights;
    g->weights.dtype = ctx->inputs[s->weights.port].type.dtype;
    g->y = (qdq_gemm_along){0, ctx->outputs[0].dtype, first ? 1 : outputs, channel, NULL};
}

qdq_conv *qdq_conv_new(const qdq_op_context *ctx, const qdq_conv_attrs *attrs,
                       const qdq_lowering *to, bool integer) {
    qdq_conv_sizes sizes;
    qdq_conv *c = QDQ_MEMPOOL_NEW(to->mempool, qdq_conv);
    if (!c || !qdq_conv_sizes_of(ctx, attrs, &sizes)) return NULL;
    qdq_gemm_init(&c->gemm, to, integer);
    set_dims(c, &sizes);
    qdq_conv_set_product(&c->gemm, ctx, &sizes);
    return c;
}

// Orders k by taps first, so that more elements are neighbours. Only for sums of integers, which do
// not depend on the order, for sums of taps, and within blocks of channels.
static void put_taps_first(qdq_conv *c, size_t block) {
    qdq_gemm_weights *w = &c->gemm.weights;
    size_t tap_stride = w->tap_stride, blocks = block ? c->group_inputs / block : 0;
    c->taps_first = true;
    c->block = w->taps = block;
    w->tap_stride = w->depth_stride, w->depth_stride = tap_stride;
    if (block == c->group_inputs) return;
    w->block = block * c->taps, w->block_stride = block * w->tap_stride;
    w->whole = blocks * w->block, w->last_taps = c->group_inputs % block;
}

// Sets the offset of each k from the first element under a window, and how many are neighbours.
static bool set_offsets(qdq_conv *c, qdq_mempool *mempool) {
    size_t depth = c->gemm.depth, *offsets = qdq_mempool_array(mempool, depth, sizeof *offsets);
    if (!offsets) return false;
    for (size_t k = 0; k < depth; k++) {
        qdq_conv_block of = qdq_conv_block_of(c, k);
        size_t tap = c->taps_first ? (k - of.k) / of.channels : k % c->taps;
        size_t channel = c->taps_first ? of.channel + (k - of.k) % of.channels : k / c->taps;
        offsets[k] = channel * c->channel_stride;
        for (int d = DIMS; d-- > 0; tap /= c->kernel[d])
            offsets[k] += tap % c->kernel[d] * c->dilation[d] * c->x_stride[d];
    }
    c->offsets = offsets;
    c->run = 1;
    if (c->taps_first && c->group_inputs % c->block) return true;  // runs of two lengths
    while (c->run < depth && offsets[c->run] == offsets[0] + c->run) c->run++;
    return true;
}

// True if each row of A holds the channels of one pixel. *all: the rows are all pixels of x, in
// order.
static bool is_of_pixels(const qdq_conv *c, bool *all) {
    bool own = c->taps == 1 && !c->transposed;
    *all = true;
    for (int d = 0; d < DIMS; d++) {
        own &= (c->out[d] - 1) * c->stride[d] < c->in[d] && !c->pad[d];
        *all &= c->stride[d] == 1;
    }
    return own;
}

// Joins the groups into one product whose columns are all output channels.
static void join_groups(qdq_gemm *g, size_t groups) {
    g->batch /= groups;
    g->columns *= groups;
    g->batches.rank = 1;
}

// ONNX Runtime takes an image of one channel as a transposed B if the window is as wide as the
// image and neither steps nor pads.
static bool is_transposed_image(const qdq_conv *c) {
    bool plain = c->group_inputs == 1 && c->taps > 1 && c->in[0] == 1 && c->kernel[0] == 1;
    for (int d = 0; d < DIMS; d++)
        plain &= c->stride[d] == 1 && c->dilation[d] == 1 && c->pad[d] == 0 &&
                 c->out[d] == c->in[d] - c->kernel[d] + 1;
    return plain && c->kernel[LAST] == c->in[LAST];
}

// ONNX Runtime multiplies the weights of a group, [inputs, outputs * taps], by x, and adds the
// products where windows meet. It transposes weights beforehand if they are an initializer.
static void set_order_by_taps(qdq_conv *c, bool initial) {
    size_t n = 1, m = c->group_outputs * c->taps, k = c->group_inputs;
    for (int d = 0; d < DIMS; d++) n *= c->in[d];
    c->gemm.order = qdq_gemm_order_of(&(qdq_runtime_product){
        .m = m,
        .n = n,
        .k = k,
        .transpose_a = !initial || m == 1 || k == 1,
        .together = true,
        .m_is_columns = true,
    });
    c->gemm.order.by_taps = true;
}

void qdq_conv_set_runtime_order(qdq_conv *c, bool initial) {
    if (c->transposed) {
        set_order_by_taps(c, initial);
        return;
    }
    bool transposed = is_transposed_image(c);
    c->gemm.order = qdq_gemm_order_of(&(qdq_runtime_product){
        .m = c->group_outputs,
        .n = c->gemm.rows,
        .k = c->gemm.depth,
        .transpose_b = transposed,
        .together = !transposed || c->in[LAST] == 1,
        .m_is_columns = true,
    });
}

void qdq_conv_set_block_order(qdq_conv *c, size_t block) {
    if (block > c->group_inputs) block = c->group_inputs;
    if (!block) block = 1;  // no channels
    c->gemm.order = (qdq_gemm_order){.sums = QDQ_SUM_CHUNKS,
                                     .chunk = block * c->taps,
                                     .block = block > 1 && c->taps > 1 ? block : 0};
}

// A chain is one chunk of all k, which is added to the operand.
void qdq_conv_begin_with(qdq_conv *c, size_t port) {
    qdq_gemm *g = &c->gemm;
    if (g->order.sums == QDQ_SUM_CHAIN)
        g->order = (qdq_gemm_order){.sums = QDQ_SUM_CHUNKS, .chunk = g->depth ? g->depth : 1};
    g->order.bias_first = true;
    g->bias = (qdq_gemm_along){port, QDQ_FLOAT32, g->y.row_stride, g->y.column_stride, NULL};
    memcpy(g->batches.bias, g->batches.y, sizeof g->batches.bias);
}

// True if lanes can add in the order of the product.
static bool lanes_fit(const qdq_gemm *g) {
    if (g->order.block || g->order.bias_first) return false;
    if (g->order.sums == QDQ_SUM_CHUNKS) return g->depth <= g->order.chunk;
    return g->order.sums != QDQ_SUM_EIGHTS;
}

// Chooses between exact and saturating pairs, which need the order of k of their op.
static bool choose_pair_sums(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to) {
    qdq_gemm *g = &c->gemm;
    const qdq_gemm_weights before = g->weights;
    if (g->pairs_saturate && g->a_dtype == QDQ_UINT8) put_taps_first(c, c->group_inputs);
    if (!qdq_pair_sums_choose(g, ctx, to)) return false;
    if (!qdq_gemm_saturates(g->kind)) c->taps_first = false, g->weights = before;
    return true;
}

bool qdq_conv_has_lanes(const qdq_conv *c) {
    return c->groups > 1 && c->group_outputs < QDQ_CONV_LANES_OUTPUTS;
}

//---- Ways -------------------------------------------------------------------

static bool add_by_taps(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                        qdq_stage *stage, bool *done) {
    *done = c->gemm.order.by_taps;
    if (!*done) return true;
    put_taps_first(c, c->group_inputs);
    return qdq_conv_taps_stage(c, ctx, to, stage);
}

static bool run_lanes(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                      qdq_stage *stage, bool *done) {
    *done = qdq_conv_has_lanes(c) && lanes_fit(&c->gemm);
    if (!*done) return true;
    join_groups(&c->gemm, c->groups);
    return qdq_conv_lanes_stage(c, ctx, to, stage);
}

static bool run_panels(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                       qdq_stage *stage, bool *done) {
    *done = qdq_conv_has_panels(c, ctx);
    return !*done || qdq_conv_panels_stage(c, ctx, to, stage);
}

// Positions are rows of the product.
static bool run_rows(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                     qdq_stage *stage, bool *done) {
    qdq_gemm *g = &c->gemm;
    bool all, pixels = is_of_pixels(c, &all);
    *done = true;
    if (g->order.block) {
        put_taps_first(c, g->order.block);
        if (!set_offsets(c, to->mempool)) return false;
    }
    c->channels = !c->transposed && c->channel_stride == 1 && c->run == 1 && !c->taps_first &&
                  c->taps < g->depth / 4;
    if (pixels && all && c->channel_stride == 1) {
        g->pack_a = qdq_gemm_pack_rows;
        g->a_row_stride = c->x_stride[LAST], g->a_depth_stride = 1;
    }
    return qdq_product_stage(g, ctx, to, stage);
}

// Integer sums are the same in any order, so k takes the order in which x lies.
static bool reorder_integers(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                             qdq_stage *stage, bool *done) {
    (void)ctx, (void)stage;
    *done = false;
    if (c->gemm.kind != QDQ_GEMM_INTEGERS || c->channel_stride != 1) return true;
    put_taps_first(c, c->group_inputs);
    return set_offsets(c, to->mempool);
}

// All ways to compute a convolution, in the order in which they are tried. reorder_integers only
// prepares the two ways after it, and the last way suits every shape.
static const struct {
    qdq_conv_way_fn *make;
    bool saturated;  // also for pairs that saturate
} ways[] = {
    {qdq_conv_phases_stage, false},
    {add_by_taps, true},
    {qdq_conv_direct_stage, false},
    {qdq_conv_winograd_stage, true},
    {run_lanes, false},
    {reorder_integers, true},
    {run_panels, true},
    {run_rows, true},
};

bool qdq_conv_stage(qdq_conv *c, const qdq_op_context *ctx, const qdq_lowering *to,
                    qdq_stage *stage) {
    qdq_gemm *g = &c->gemm;
    if (!choose_pair_sums(c, ctx, to)) return false;
    if (to->plain && g->order.by_taps) put_taps_first(c, c->group_inputs);
    if (!set_offsets(c, to->mempool)) return false;
    if (to->plain) {
        *stage = (qdq_stage){.params = c};
        return true;
    }
    c->positions = !c->transposed && c->x_stride[LAST] == 1 && c->stride[LAST] == 1 &&
                   c->taps <= QDQ_CONV_FEW_TAPS;
    bool done = false, saturates = qdq_gemm_saturates(g->kind);
    for (size_t i = 0; !done; i++)
        if ((ways[i].saturated || !saturates) && !ways[i].make(c, ctx, to, stage, &done))
            return false;
    return true;
}
