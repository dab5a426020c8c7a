// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: channels become blocks of pixels, or the reverse. Both are a
// transpose of six dims.
#include "include/qdq/ops/movement.h"
#include "ops/movement/movement.h"

static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_blocks_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const char *const mode_words[] = {"DCR", "CRD", NULL};
#define BLOCKSIZE_ATTR                                                                        \
    {                                                                                         \
        "blocksize", QDQ_ATTR_INT, offsetof(qdq_blocks_attrs, blocksize), NULL, QDQ_REQUIRED, \
            "height and width of a block of pixels"                                           \
    }
static const qdq_attr_desc depth_attrs[] = {
    BLOCKSIZE_ATTR,
    {"mode", QDQ_ATTR_WORD, offsetof(qdq_blocks_attrs, mode), mode_words, "DCR",
     "DCR: channel = pixel of the block * channels of y + channel of y; CRD: the reverse"}};
static const qdq_attr_desc space_attrs[] = {BLOCKSIZE_ATTR};

// Reports a finding unless x is an image and `blocksize` can divide it: channels by its square, or
// sides.
static bool check(const qdq_op_context *ctx, bool channels) {
    const qdq_blocks_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    if (!qdq_require_attr(ctx, "blocksize", a->blocksize.set != 0)) return false;
    if (x.rank != 4) {
        qdq_report_shape(ctx, "x", x, "4 dims: [N, C, H, W]");
        return false;
    }
    int64_t b = a->blocksize.value;
    bool fits = b > 0 && b <= INT32_MAX &&
                (channels ? x.dims[1] % (b * b) == 0 : x.dims[2] % b == 0 && x.dims[3] % b == 0);
    if (fits) return true;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "blocksize",
                         qdq_text(ctx->findings, "is %lld", (long long)b),
                         qdq_text(ctx->findings, "1 or more, %s of x, %s",
                                  channels ? "a number whose square divides the channels"
                                           : "a divisor of height and width",
                                  qdq_shape_text(ctx->findings, x)));
    return false;
}

static void infer_depth(qdq_op_context *ctx) {
    const qdq_blocks_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    if (!check(ctx, true)) return;
    int64_t b = a->blocksize.value;
    y.shape.dims[1] /= b * b, y.shape.dims[2] *= b, y.shape.dims[3] *= b;
    ctx->outputs[0] = y;
}

static size_t lower_depth(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    static const int orders[][6] = {{0, 3, 4, 1, 5, 2}, {0, 1, 4, 2, 5, 3}};
    const qdq_blocks_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    int64_t b = a->blocksize.value, depth = x.dims[1] / (b * b);
    qdq_shape split = a->mode == QDQ_DEPTH_DCR
                          ? QDQ_SHAPE(x.dims[0], b, b, depth, x.dims[2], x.dims[3])
                          : QDQ_SHAPE(x.dims[0], depth, b, b, x.dims[2], x.dims[3]);
    return qdq_lower_transpose(ctx, to, split, orders[a->mode], stages);
}

static void infer_space(qdq_op_context *ctx) {
    const qdq_blocks_attrs *a = ctx->attrs;
    qdq_type y = ctx->inputs[0].type;
    if (!check(ctx, false)) return;
    int64_t b = a->blocksize.value;
    y.shape.dims[1] *= b * b, y.shape.dims[2] /= b, y.shape.dims[3] /= b;
    ctx->outputs[0] = y;
}

static size_t lower_space(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    static const int order[] = {0, 3, 5, 1, 2, 4};
    const qdq_blocks_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    int64_t b = a->blocksize.value;
    return qdq_lower_transpose(ctx, to,
                               QDQ_SHAPE(x.dims[0], x.dims[1], x.dims[2] / b, b, x.dims[3] / b, b),
                               order, stages);
}

// Only parameters along the batch stay valid: all other dims change.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[0].quantized;
    return quantized->axis <= 0;
}

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_depth_to_space = {
    .name = "DepthToSpace",
    .summary = "y = x with channels as blocks of pixels",
    .attrs_size = sizeof(qdq_blocks_attrs),
    QDQ_OP_TABLES(inputs, outputs, depth_attrs),
    .infer = infer_depth,
    .lower = lower_depth,
    .fusion = &fusion,
};

const qdq_op qdq_op_space_to_depth = {
    .name = "SpaceToDepth",
    .summary = "y = x with blocks of pixels as channels",
    .attrs_size = sizeof(qdq_blocks_attrs),
    QDQ_OP_TABLES(inputs, outputs, space_attrs),
    .infer = infer_space,
    .lower = lower_space,
    .fusion = &fusion,
};
