// SPDX-License-Identifier: Apache-2.0
// Infers the qtype of a node that names none from its axis, its group_shape and the shape of its
// scale.
#include "ops/quantize/quant_params.h"

// Describes the shape of the scale if its type is known. A list of an attribute is flat.
static bool scale_shape(const qdq_op_context *ctx, const qdq_quantize_attrs *attrs,
                        qdq_shape *shape) {
    const qdq_operand *scale = &ctx->inputs[QDQ_PORT_SCALE];
    *shape = (qdq_shape){.rank = 1, .dims = {(int64_t)attrs->scales.count}};
    if (scale->given) *shape = scale->type.shape;
    return scale->given ? scale->valid : attrs->scales.data != NULL;
}

bool qdq_blocks_of(qdq_shape x, qdq_shape scale, int64_t *extents) {
    if (x.rank < 2 || scale.rank != x.rank) return false;
    for (int i = 0; i < x.rank; i++) {
        if (scale.dims[i] < 1 || x.dims[i] < 1 || x.dims[i] % scale.dims[i] != 0) return false;
        extents[i] = x.dims[i] / scale.dims[i];
    }
    return true;
}

// True if the scale has all its elements along the axis, so that both readings agree.
static bool lies_along(qdq_shape x, qdq_shape scale, int64_t axis) {
    return scale.dims[axis] == x.dims[axis] && (int64_t)qdq_shape_count(scale) == x.dims[axis];
}

// True if the scale beside an axis also fits a grid of blocks, which is reported.
static bool is_ambiguous(const qdq_op_context *ctx, qdq_shape x, qdq_shape scale, int64_t axis,
                         const int64_t *extents) {
    if (axis < 0) axis += x.rank;
    if (axis < 0 || axis >= x.rank) return false;
    if ((int64_t)qdq_shape_count(scale) != x.dims[axis] || lies_along(x, scale, axis)) return false;
    qdq_shape blocks = {.rank = x.rank};
    for (int i = 0; i < x.rank; i++) blocks.dims[i] = extents[i];
    qdq_report_violation(ctx, QDQ_RULE_QTYPE_AMBIGUOUS, "scale",
                         qdq_text(ctx->findings,
                                  "of %s is one for each index of dim %lld, or for each block %s",
                                  qdq_shape_text(ctx->findings, scale), (long long)axis,
                                  qdq_shape_text(ctx->findings, blocks)),
                         NULL);
    return true;
}

// False when memory runs out.
static bool set_blocks(const int64_t *extents, int rank, qdq_quantize_attrs *attrs,
                       qdq_mempool *mempool) {
    int64_t *data = qdq_mempool_copy(mempool, extents, (size_t)rank, sizeof *data);
    if (!data) return false;
    attrs->group_shape = (qdq_ints){data, (size_t)rank};
    return true;
}

bool qdq_infer_qtype(const qdq_op_context *ctx, qdq_quantize_attrs *attrs, qdq_mempool *mempool) {
    qdq_shape x = ctx->inputs[QDQ_PORT_X].type.shape, scale;
    int64_t extents[QDQ_MAX_RANK];
    if (attrs->qtype != QDQ_PER_TENSOR || !ctx->inputs[QDQ_PORT_X].valid) return false;
    bool many = scale_shape(ctx, attrs, &scale) && qdq_shape_count(scale) > 1;
    bool blocks = many && qdq_blocks_of(x, scale, extents);
    bool along = many && attrs->axis.set != 0 &&
                 !(blocks && is_ambiguous(ctx, x, scale, attrs->axis.value, extents));
    if (attrs->group_shape.data ||
        (blocks && !along && set_blocks(extents, x.rank, attrs, mempool)))
        attrs->qtype = QDQ_PER_GROUP;
    else if (along)
        attrs->qtype = QDQ_PER_CHANNEL;
    return attrs->qtype != QDQ_PER_TENSOR;
}
