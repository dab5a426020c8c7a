// SPDX-License-Identifier: Apache-2.0
// Patterns of ONNX Runtime's last pass, which lays images out in blocks of channels (NCHWc).
// Convolutions of float32 with constant weights then add the input channels of a block under all
// taps before the next block, and an image that an Add behind them adds is the first summand, or
// the bias is the last one. Float pools add row by row there.
#include "graph/core/copy.h"
#include "graph/targets/ort/ort_groups.h"
#include "include/qdq/ops/elementwise.h"
#include "include/qdq/ops/movement.h"
#include "include/qdq/ops/products.h"
#include "include/qdq/ops/reduce.h"
#include "include/qdq/ops/spatial.h"

enum { X, W, BIAS, ADDEND, PORTS };  // of Convolution

enum { AVX2_BLOCK = 8, BLOCK = 16, ALIGNED = 4, POINTWISE_BLOCK = 128 };  // channels

enum { MOST_STEPS = 64 };  // from a value to the convolutions before it

static const qdq_type *type_of(const qdq_rewriter *r, uint32_t value) {
    return &r->from->values[value].type;
}

static int64_t block_of_cpu(const qdq_target_version *version) {
    return version->variant == QDQ_RUNTIME_AVX2 ? AVX2_BLOCK : BLOCK;
}

bool ort_is_global_pool(const qdq_node *mean) {
    return ((const qdq_reduce_attrs *)mean->attrs)->global_pool == QDQ_TRUE;
}

//---- Convolutions -----------------------------------------------------------

static bool is_pointwise(const qdq_convolution_attrs *a, const qdq_shape *w) {
    for (int i = 2; i < w->rank; i++)
        if (w->dims[i] != 1) return false;
    for (size_t i = 0; i < a->pads_begin.count; i++)
        if (a->pads_begin.data[i]) return false;
    for (size_t i = 0; i < a->pads_end.count; i++)
        if (a->pads_end.data[i]) return false;
    return true;
}

// Returns the input channels of a block of a convolution's sum; 0: ONNX Runtime multiplies matrices
// there. Fewer channels than a block has are read in place, one by one.
static int64_t channel_block(const qdq_rewriter *r, const qdq_node *node) {
    const qdq_convolution_attrs *a = node->attrs;
    const qdq_shape *w = &type_of(r, node->inputs[W].id)->shape;
    if (!ort_is_float_constant(r, node->inputs[W].id) || w->rank != 4 ||
        a->data_format != QDQ_NCX || a->weights_format != QDQ_OIX ||
        (ort_has_input(node, BIAS) && !ort_is_float_constant(r, node->inputs[BIAS].id)))
        return 0;
    int64_t outputs = w->dims[0], inputs = w->dims[1], block = block_of_cpu(r->version),
            groups = a->groups.set != 0 ? a->groups.value : 1;
    bool depthwise = inputs == 1 && outputs == groups && outputs % ALIGNED == 0;
    bool fills = inputs % block == 0 && outputs / groups % block == 0;
    if (groups > 1 && !depthwise && !fills) return 0;
    if (inputs < block) return 1;
    if (inputs % ALIGNED) return 0;
    return is_pointwise(a, w) ? POINTWISE_BLOCK : block;
}

bool ort_is_blocked(const qdq_rewriter *r, const qdq_node *node) {
    return channel_block(r, node) != 0;
}

bool ort_reads_channels(const qdq_rewriter *r, const qdq_node *conv) {
    const qdq_convolution_attrs *a = conv->attrs;
    bool grouped = a->groups.set != 0 && a->groups.value > 1;
    return !grouped && type_of(r, conv->inputs[W].id)->shape.dims[1] < block_of_cpu(r->version);
}

//---- Values in blocks -------------------------------------------------------

static bool is_image(const qdq_rewriter *r, uint32_t value) {
    const qdq_type *type = type_of(r, value);
    return type->dtype == QDQ_FLOAT32 && type->shape.rank == 4;
}

static bool fills_blocks(const qdq_rewriter *r, uint32_t value) {
    return type_of(r, value)->shape.dims[1] % block_of_cpu(r->version) == 0;
}

// True if a node takes images in blocks if all that it reads are: also an activation that is fused
// into a convolution before it.
static bool keeps_blocks(const qdq_rewriter *r, size_t index) {
    static const char *const ops[] = {"ReLU",      "Sigmoid",     "Tanh",
                                      "HardSwish", "HardSigmoid", "BatchNormInference",
                                      "Add",       "Multiply",    "Concat"};
    static const char *const fused[] = {"LeakyReLU", "Clamp"};
    const qdq_node *node = &r->from->nodes[index];
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (qdq_rewrite_is(r, index, ops[i])) return true;
    if (qdq_rewrite_is(r, index, "GELU")) return !ort_was(node, "FastGelu");
    for (size_t i = 0; i < sizeof fused / sizeof fused[0]; i++)
        if (qdq_rewrite_is(r, index, fused[i]))
            return ort_made_by(r, node->inputs[0].id, "Convolution");
    return qdq_rewrite_is(r, index, "ReduceMean") && ort_is_global_pool(node) &&
           fills_blocks(r, node->outputs[0]);
}

// True if a convolution or a pool makes an image in blocks, or nodes that read such images alone.
static bool is_blocked_value(const qdq_rewriter *r, uint32_t value, size_t *steps) {
    size_t maker = qdq_rewrite_maker(r, value);
    if (maker == SIZE_MAX || !is_image(r, value) || ++*steps > MOST_STEPS) return false;
    const qdq_node *node = &r->from->nodes[maker];
    bool concat = qdq_rewrite_is(r, maker, "Concat"), adds = qdq_rewrite_is(r, maker, "Add");
    bool both = adds || (qdq_rewrite_is(r, maker, "Multiply") && !ort_was(node, "QuickGelu"));
    bool norm = qdq_rewrite_is(r, maker, "BatchNormInference"),
         pool = qdq_rewrite_is(r, maker, "MaxPool") || qdq_rewrite_is(r, maker, "AvgPool");
    if (qdq_rewrite_is(r, maker, "Convolution")) return ort_is_blocked(r, node);
    if (pool) return fills_blocks(r, value);
    if (!keeps_blocks(r, maker) || (norm && !ort_is_constant_norm(r, node))) return false;
    for (size_t i = 0; i < (both || concat ? node->input_count : 1); i++) {
        uint32_t x = node->inputs[i].id;
        bool given = qdq_rewrite_is(r, maker, "ReduceMean") &&
                     qdq_rewrite_maker(r, x) == SIZE_MAX;  // a pool of an input runs on blocks
        if (!given && !is_blocked_value(r, x, steps)) return false;
        if (concat && !fills_blocks(r, x)) return false;
        if (both && !qdq_shape_equal(type_of(r, x)->shape, type_of(r, value)->shape))
            return false;  // no operand is broadcast in blocks
        if (both && !adds && i && !ort_shapes_match(r, node->inputs[0].id, x)) return false;
    }
    return true;
}

bool ort_is_in_blocks(const qdq_rewriter *r, uint32_t value) {
    size_t steps = 0;
    return is_blocked_value(r, value, &steps);
}

//---- Sums behind convolutions -----------------------------------------------

// True if a convolution in blocks computes a value: also the norm of an image in blocks is one.
static bool is_blocked_sum(const qdq_rewriter *r, uint32_t value) {
    size_t maker = qdq_rewrite_maker(r, value), steps = 0;
    return (qdq_rewrite_is(r, maker, "Convolution") ||
            qdq_rewrite_is(r, maker, "BatchNormInference")) &&
           is_blocked_value(r, value, &steps);
}

// Returns which input of an Add of two images in blocks is a convolution that adds the other one:
// the first that nothing else reads; 2: neither.
static size_t fused_input(const qdq_rewriter *r, const qdq_node *add) {
    for (size_t i = 0; i < 2; i++) {
        size_t steps = 0;
        if (!is_blocked_value(r, add->inputs[i].id, &steps)) return 2;
    }
    if (!ort_shapes_match(r, add->inputs[0].id, add->inputs[1].id)) return 2;
    for (size_t i = 0; i < 2; i++)
        if (is_blocked_sum(r, add->inputs[i].id) &&
            qdq_rewrite_only_reader(r, add->inputs[i].id) != SIZE_MAX)
            return i;
    return 2;
}

// Sets *image to the image that a convolution adds to its sums, if an Add behind it is fused into
// it. If it multiplies matrices, it needs a bias and known sizes, and the image may come from
// anywhere.
static bool adds_image(const qdq_rewriter *r, const qdq_node *node, size_t *sum, uint32_t *image) {
    uint32_t y = node->outputs[0];
    *sum = qdq_rewrite_only_reader(r, y);
    if (!is_image(r, y) || !qdq_rewrite_is(r, *sum, "Add")) return false;
    const qdq_node *add = &r->from->nodes[*sum];
    size_t own = add->inputs[0].id != y;
    *image = add->inputs[!own].id;
    if (*image == y || !qdq_shape_equal(type_of(r, *image)->shape, type_of(r, y)->shape))
        return false;
    if (is_blocked_sum(r, y)) return fused_input(r, add) == own;
    return ort_has_input(node, BIAS) && !ort_leaves_open(r);
}

bool ort_match_conv_sum(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const qdq_convolution_attrs *a = node->attrs;
    size_t sum;
    uint32_t image;
    if (a->data_format != QDQ_NCX || a->weights_format != QDQ_OIX || ort_has_input(node, ADDEND) ||
        (ort_is_arm(r->version) && ort_is_blocked(r, node)) || !adds_image(r, node, &sum, &image))
        return false;
    qdq_match_replaces(r, m, sum);
    for (size_t i = 0; i < BIAS; i++) qdq_match_reads(r, m, node->inputs[i].id);
    if (ort_has_input(node, BIAS)) qdq_match_reads(r, m, node->inputs[BIAS].id);
    qdq_match_reads(r, m, image);
    qdq_match_makes(r, m, r->from->nodes[sum].outputs[0]);
    return true;
}

// Returns a copy of a convolution that adds in its blocks.
static qdq_value add_blocked(const qdq_rewriter *r, const qdq_node *node, const char *name,
                             const qdq_value *inputs) {
    qdq_node own = *node;
    qdq_convolution_attrs attrs = *(const qdq_convolution_attrs *)node->attrs;
    int64_t block = channel_block(r, node);
    if (block && attrs.channel_block.set == 0) attrs.channel_block = QDQ_INT(block);
    own.attrs = &attrs;
    return qdq_copy_node(r->to, &own, name, inputs);
}

// Returns the image that the convolution of a match adds.
static uint32_t image_of(const qdq_rewriter *r, const qdq_match *m) {
    const qdq_node *add = &r->from->nodes[m->nodes.items[1]];
    return add->inputs[add->inputs[0].id == r->from->nodes[m->anchor].outputs[0]].id;
}

// Adds a bias of the channels to a sum.
static qdq_value add_bias(const qdq_rewriter *r, const char *name, qdq_value sum, qdq_value bias,
                          int64_t channels) {
    qdq_shape column = {3, {channels, 1, 1}};
    bias = qdq_reshape(r->to, bias,
                       (qdq_reshape_attrs){.name = qdq_rewrite_name(r, name, "_bias"),
                                           .special_zero = QDQ_FALSE,
                                           .shape = {column.dims, (size_t)column.rank}});
    return qdq_add(r->to, sum, bias, (qdq_binary_attrs){.name = name});
}

void ort_build_conv_sum(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const char *name = r->from->nodes[m->nodes.items[1]].name;
    qdq_value inputs[PORTS] = {{0}};
    bool biased = ort_has_input(node, BIAS);
    for (size_t i = 0; i < BIAS; i++) inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    inputs[ADDEND] = qdq_rewrite_value(r, image_of(r, m));
    m->made[0] = add_blocked(r, node, biased ? node->name : name, inputs);
    if (biased)
        m->made[0] = add_bias(r, name, m->made[0], qdq_rewrite_value(r, node->inputs[BIAS].id),
                              type_of(r, node->outputs[0])->shape.dims[1]);
}

bool ort_match_blocked_conv(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    if (!ort_is_blocked(r, node)) return false;
    if (ort_is_arm(r->version)) {
        m->found = "adds its products in the order of a layout with blocks of channels (NCHWc)";
        return false;
    }
    for (size_t i = 0; i < node->input_count; i++) qdq_match_reads(r, m, node->inputs[i].id);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

void ort_build_blocked_conv(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_value inputs[PORTS] = {{0}};
    for (size_t i = 0; i < node->input_count; i++)
        inputs[i] = qdq_rewrite_value(r, node->inputs[i].id);
    m->made[0] = add_blocked(r, node, node->name, inputs);
}

//---- BatchNormalization -----------------------------------------------------

// Matches the norm of an image in blocks, which becomes a convolution of each channel, possibly
// with an image that an Add behind it adds.
bool ort_match_blocked_norm(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *norm = &r->from->nodes[m->anchor];
    size_t sum;
    uint32_t image, y = norm->outputs[0];
    if (ort_is_arm(r->version) || !is_blocked_sum(r, y)) return false;
    qdq_match_reads(r, m, norm->inputs[X].id);
    if (adds_image(r, norm, &sum, &image)) {
        qdq_match_replaces(r, m, sum);
        qdq_match_reads(r, m, image);
        y = r->from->nodes[sum].outputs[0];
    }
    qdq_match_makes(r, m, y);
    return true;
}

void ort_build_blocked_norm(qdq_rewriter *r, qdq_match *m) {
    static const int64_t ones[] = {1, 1};
    const qdq_node *norm = &r->from->nodes[m->anchor];
    int64_t channels = type_of(r, norm->outputs[0])->shape.dims[1];
    bool adds = m->nodes.count > 1;
    float *scale, *bias;
    if (!ort_norm_line(r, norm, NULL, &scale, &bias)) return;
    qdq_value weights = qdq_rewrite_constant(r, norm->name, "_scale", QDQ_FLOAT32,
                                             QDQ_SHAPE(channels, 1, 1, 1), scale);
    qdq_value by =
        qdq_rewrite_constant(r, norm->name, "_offset", QDQ_FLOAT32, QDQ_SHAPE(channels), bias);
    qdq_convolution_attrs attrs = {.name = norm->name,
                                   .strides = {ones, 2},
                                   .dilations = {ones, 2},
                                   .groups = QDQ_INT(channels),
                                   .data_format = QDQ_NCX,
                                   .weights_format = QDQ_OIX,
                                   .channel_block = QDQ_INT(1)};
    if (adds)
        attrs.addend = qdq_rewrite_value(r, image_of(r, m));
    else
        attrs.bias = by;
    m->made[0] = qdq_convolution(r->to, qdq_rewrite_value(r, norm->inputs[X].id), weights, attrs);
    if (adds)
        m->made[0] = add_bias(r, r->from->nodes[m->nodes.items[1]].name, m->made[0], by, channels);
}

//---- Pools ------------------------------------------------------------------

// Matches a pool of float32 images whose channels fill blocks. Its kernels add the elements of a
// window in row-major order.
static bool match_pool(const qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    uint32_t x = node->inputs[0].id;
    if (!is_image(r, x) || !fills_blocks(r, x)) return false;
    qdq_match_reads(r, m, x);
    qdq_match_makes(r, m, node->outputs[0]);
    return true;
}

bool ort_match_blocked_pool(const qdq_rewriter *r, qdq_match *m) {
    const qdq_pool_attrs *a = r->from->nodes[m->anchor].attrs;
    return a->columns_first == QDQ_TRUE && a->data_format == QDQ_NCX && match_pool(r, m);
}

void ort_build_blocked_pool(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    qdq_pool_attrs a = *(const qdq_pool_attrs *)node->attrs;
    a.name = node->name;
    a.columns_first = QDQ_FALSE;
    m->made[0] = qdq_avg_pool(r->to, qdq_rewrite_value(r, node->inputs[0].id), a);
}

// Global pools run on blocks only if their input is in blocks already, or if no node computes it.
bool ort_match_blocked_mean(const qdq_rewriter *r, qdq_match *m) {
    uint32_t x = r->from->nodes[m->anchor].inputs[0].id;
    bool given = qdq_rewrite_maker(r, x) == SIZE_MAX;
    return ort_is_global_pool(&r->from->nodes[m->anchor]) && (given || ort_is_in_blocks(r, x)) &&
           match_pool(r, m);
}

void ort_build_blocked_mean(qdq_rewriter *r, qdq_match *m) {
    const qdq_node *node = &r->from->nodes[m->anchor];
    const int64_t *size = &r->from->values[node->inputs[0].id].type.shape.dims[2];
    static const int64_t ones[] = {1, 1};
    m->made[0] = qdq_avg_pool(r->to, qdq_rewrite_value(r, node->inputs[0].id),
                              (qdq_pool_attrs){.name = node->name,
                                               .strides = {ones, 2},
                                               .kernel = {size, 2},
                                               .exclude_pad = QDQ_TRUE,
                                               .data_format = QDQ_NCX});
}
