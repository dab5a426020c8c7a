// SPDX-License-Identifier: Apache-2.0
// ReduceL1, ReduceL2, ReduceMax, ReduceMean, ReduceMin, ReduceProd, ReduceSum over any dims. Sums
// and products are in double, in the order of runtime/numerics/sum.h over the row-major elements of
// the reduced dims; the result rounds once to the dtype of x:
//
//     L1 sum |x|    L2 sqrt(sum x^2)    Mean (sum x) / n    Prod    Sum
//
// If the target's float ops are ONNX Runtime's, ReduceMean with `global_pool` is its
// GlobalAveragePool (ops/reduce/order/global_pool.h), and other sums and means of float32 have the
// orders of ops/reduce/order/sum_order.h; L1, L2, Prod and sums with `in_order` those of
// element_order.h there.
//
// Max and Min are exact, and also take int8 and uint8. NaN wins; +0 is greater than -0.
//
// On a chip the reductions of ops/reduce/chip/chip_reduce.h have the chip's order and rounding.
#include "include/qdq/ops/reduce.h"

#include <math.h>

#include "ops/infer.h"
#include "ops/reduce/chip/chip_reduce.h"
#include "ops/reduce/order/column_sums.h"
#include "ops/reduce/order/element_order.h"
#include "ops/reduce/order/global_pool.h"
#include "ops/reduce/order/sum_order.h"
#include "ops/reduce/reduce_axes.h"
#include "ops/reduce/reduced_dims.h"

typedef struct reduce_params {
    qdq_dtype dtype;
} reduce_params;

static void store(const qdq_part *part, double value) {
    const reduce_params *params = part->params;
    uint8_t *codes = part->tensors->y[0];
    if (qdq_dtype_get(params->dtype)->kind != QDQ_KIND_INT)
        qdq_slice_store(part->tensors, 0, params->dtype, part->slice, value);
    else if (codes)
        codes[part->slice] = (uint8_t)(int)value;
}

//---- Passes of each op ------------------------------------------------------

static void begin_sum(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, 0); }
static void begin_product(const qdq_part *part) { qdq_lanes_fill(&part->state->lanes, 1); }
static void begin_max(const qdq_part *part) { qdq_lanes_fill_keys(&part->state->lanes, INT32_MIN); }
static void begin_min(const qdq_part *part) { qdq_lanes_fill_keys(&part->state->lanes, INT32_MAX); }

#define PASS(kernel)                                                       \
    static void pass_##kernel(const qdq_part *part) {                      \
        part->kernels->kernel(&part->state->lanes, part->x, part->n, 0.0); \
    }
PASS(sum)
PASS(squares)
PASS(magnitudes)
PASS(product)
PASS(greatest)
PASS(least)

static double sum_of(const qdq_part *part) { return qdq_sum_lanes(part->state->lanes.sums); }

static void end_sum(const qdq_part *part) { store(part, sum_of(part)); }
static void end_root(const qdq_part *part) { store(part, sqrt(sum_of(part))); }
static void end_mean(const qdq_part *part) { store(part, sum_of(part) / (double)part->slice_n); }
static void end_product(const qdq_part *part) {
    store(part, qdq_product_lanes(part->state->lanes.sums));
}
static void end_max(const qdq_part *part) {
    store(part, (double)qdq_lanes_greatest(&part->state->lanes));
}
static void end_min(const qdq_part *part) {
    store(part, (double)qdq_lanes_least(&part->state->lanes));
}

//---- The ops ----------------------------------------------------------------

#define EXTREMES (QDQ_SET_FLOATS | QDQ_SET(INT8) | QDQ_SET(UINT8))

static const qdq_port_desc floats_inputs[] = {
    {"x", offsetof(qdq_reduce_attrs, x), false, QDQ_SET_FLOATS},
};
static const qdq_port_desc floats_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_port_desc extreme_inputs[] = {
    {"x", offsetof(qdq_reduce_attrs, x), false, EXTREMES}};
static const qdq_port_desc extreme_outputs[] = {{"y", 0, false, EXTREMES}};
#define REDUCE_ATTRS                                                                      \
    {"axes", QDQ_ATTR_INTS, offsetof(qdq_reduce_attrs, axes),                             \
     NULL,   QDQ_REQUIRED,  "the dims to reduce, each once"},                             \
    {                                                                                     \
        "keep_dims", QDQ_ATTR_BOOL, offsetof(qdq_reduce_attrs, keep_dims), NULL, "false", \
            "keep the reduced dims, with size 1"                                          \
    }
static const qdq_attr_desc floats_attrs[] = {REDUCE_ATTRS};
static const qdq_attr_desc extreme_attrs[] = {REDUCE_ATTRS};
static const qdq_attr_desc mean_attrs[] = {
    REDUCE_ATTRS,
    {"global_pool", QDQ_ATTR_BOOL, offsetof(qdq_reduce_attrs, global_pool), NULL, "false",
     "targets onnx and ort, float32: as ONNX Runtime's GlobalAveragePool"}};

static const qdq_attr_desc sum_attrs[] = {
    REDUCE_ATTRS,
    {"in_order", QDQ_ATTR_BOOL, offsetof(qdq_reduce_attrs, in_order), NULL, "false",
     "targets onnx and ort, float32: as the sum in ONNX Runtime's ReduceSumSquare"}};

// Returns a bit for each dim of `axes`, with findings for entries that are no dims of x.
static uint32_t check_axes(const qdq_op_context *ctx, qdq_ints axes, int rank) {
    uint32_t dims = 0;
    for (size_t i = 0; i < axes.count; i++) {
        int dim = qdq_check_axis(ctx, "axes", axes.data[i], rank);
        if (dim < 0) continue;
        if (dims >> dim & 1)
            qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "axes",
                                 qdq_text(ctx->findings, "has dim %d twice", dim), "each dim once");
        dims |= 1u << dim;
    }
    return dims;
}

static void infer(qdq_op_context *ctx) {
    const qdq_reduce_attrs *a = ctx->attrs;
    qdq_type x = ctx->inputs[0].type;
    qdq_require_attr(ctx, "axes", a->axes.count > 0);
    uint32_t dims = check_axes(ctx, a->axes, x.shape.rank);
    ctx->outputs[0] = (qdq_type){.dtype = x.dtype};
    qdq_shape *y = &ctx->outputs[0].shape;
    for (int i = 0; i < x.shape.rank; i++) {
        bool goes = dims >> i & 1;
        if (!goes || a->keep_dims == QDQ_TRUE) y->dims[y->rank++] = goes ? 1 : x.shape.dims[i];
    }
}

static uint32_t dims_of(const qdq_op_context *ctx) {
    return qdq_reduced_dims(ctx->attrs, ctx->inputs[0].type.shape.rank);
}

static void infer_mean(qdq_op_context *ctx) {
    const qdq_reduce_attrs *a = ctx->attrs;
    int rank = ctx->inputs[0].type.shape.rank;
    infer(ctx);
    bool images = rank > 2 && dims_of(ctx) == (1u << rank) - 4 && a->keep_dims == QDQ_TRUE;
    if (a->global_pool == QDQ_TRUE && !images)
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "global_pool",
                             "is true for a mean of other dims than the spatial dims, or without "
                             "keep_dims",
                             "all dims from 2 on in `axes`, and `keep_dims`");
}

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, const qdq_slice_op *op,
                       qdq_stage *stages) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    uint32_t dims = dims_of(ctx);
    reduce_params *params = QDQ_MEMPOOL_NEW(to->mempool, reduce_params);
    if (params) *params = (reduce_params){ctx->outputs[0].dtype};
    return qdq_slice_stage(ctx, to, op, qdq_reduce_axes_of(shape, dims), params, 1, stages);
}

// How ONNX Runtime computes an op; EXACT: as it is defined.
typedef enum runtime_form { EXACT, SUM, MEAN, MAGNITUDES, SQUARES, FACTORS, TERMS } runtime_form;

static size_t lower_runtime(const qdq_op_context *ctx, const qdq_lowering *to, runtime_form form,
                            qdq_stage *stages) {
    qdq_shape shape = ctx->inputs[0].type.shape;
    uint32_t dims = dims_of(ctx);
    bool is_mean = form == MEAN;
    if (form == SUM && ((const qdq_reduce_attrs *)ctx->attrs)->in_order == QDQ_TRUE) form = TERMS;
    if (form >= MAGNITUDES)
        return qdq_element_order_stage(ctx, to, (qdq_element_kind)(form - MAGNITUDES),
                                       dims == (1u << shape.rank) - 1,
                                       qdq_reduce_axes_of(shape, dims), stages)
                   ? 1
                   : 0;
    if (is_mean && ((const qdq_reduce_attrs *)ctx->attrs)->global_pool == QDQ_TRUE)
        return qdq_global_pool_stage(ctx, to, stages) ? 1 : 0;
    qdq_reduce_axes slices = qdq_reduce_axes_of(shape, dims);
    qdq_slice_order *order = QDQ_MEMPOOL_NEW(to->mempool, qdq_slice_order);
    if (!order) return 0;
    const qdq_slice_op *ordered = qdq_slice_order_of(shape, dims, order);
    order->divisor = is_mean ? (float)slices.n : 1.0f;
    order->dtype = ctx->outputs[0].dtype;
    if (order->is_plain && qdq_column_sums_fit(&slices))
        return qdq_column_sums_stage(to, &slices, order->divisor, order->dtype, stages);
    return qdq_slice_stage(ctx, to, ordered, slices, order, 1, stages);
}

// Returns the reduction by which a chip computes the node, QDQ_CHIP_NONE for one that is unknown.
static qdq_chip_reduction on_chip(const qdq_op_context *ctx, const qdq_lowering *to,
                                  qdq_chip_reduction reduction) {
    bool is_known = to->numerics.multiply_add != QDQ_MULTIPLY_ADD_IEEE &&
                    qdq_chip_order_of(reduction, ctx->inputs[0].type, dims_of(ctx));
    return is_known ? reduction : QDQ_CHIP_NONE;
}

static size_t lower_reduction(const qdq_op_context *ctx, const qdq_lowering *to,
                              const qdq_slice_op *op, runtime_form form,
                              qdq_chip_reduction reduction, qdq_stage *stages) {
    bool by_runtime = qdq_by_onnx_runtime(to) && ctx->inputs[0].type.dtype == QDQ_FLOAT32;
    if (on_chip(ctx, to, reduction))
        return qdq_chip_reduce_stage(ctx, to, reduction, dims_of(ctx), stages);
    if (form && by_runtime) return lower_runtime(ctx, to, form, stages);
    return lower_as(ctx, to, op, stages);
}

// `takes`: the dtypes of x.
#define REDUCE_AS(op, op_name, op_summary, takes, has, infers, begin, take, end, form, chip)   \
    static const qdq_slice_op op##_slices = {.passes = {{begin, take, end}}, .pass_count = 1}; \
    static size_t lower_##op(const qdq_op_context *ctx, const qdq_lowering *to,                \
                             qdq_stage *stages) {                                              \
        return lower_reduction(ctx, to, &op##_slices, form, QDQ_CHIP_##chip, stages);          \
    }                                                                                          \
    const qdq_op qdq_op_##op = {                                                               \
        .name = (op_name),                                                                     \
        .summary = (op_summary),                                                               \
        .attrs_size = sizeof(qdq_reduce_attrs),                                                \
        QDQ_OP_TABLES(takes##_inputs, takes##_outputs, has##_attrs),                           \
        .infer = (infers),                                                                     \
        .lower = lower_##op,                                                                   \
        .by_chip = QDQ_CHIP_##chip != QDQ_CHIP_NONE,                                           \
        .by_float_ops = (form) != EXACT,                                                       \
    };
#define REDUCE(op, op_name, op_summary, begin, take, end, form) \
    REDUCE_AS(op, op_name, op_summary, floats, floats, infer, begin, take, end, form, NONE)
#define EXTREME(op, op_name, op_summary, begin, take, end, chip) \
    REDUCE_AS(op, op_name, op_summary, extreme, extreme, infer, begin, take, end, EXACT, chip)

REDUCE(reduce_l1, "ReduceL1", "y = sum(|x|), over some dims", begin_sum, pass_magnitudes, end_sum,
       MAGNITUDES)
REDUCE(reduce_l2, "ReduceL2", "y = sqrt(sum(x^2)), over some dims", begin_sum, pass_squares,
       end_root, SQUARES)
EXTREME(reduce_max, "ReduceMax", "y = the greatest x, over some dims", begin_max, pass_greatest,
        end_max, MAX)
REDUCE_AS(reduce_mean, "ReduceMean", "y = the mean of x, over some dims", floats, mean, infer_mean,
          begin_sum, pass_sum, end_mean, MEAN, MEAN)
EXTREME(reduce_min, "ReduceMin", "y = the least x, over some dims", begin_min, pass_least, end_min,
        MIN)
REDUCE(reduce_prod, "ReduceProd", "y = the product of x, over some dims", begin_product,
       pass_product, end_product, FACTORS)
REDUCE_AS(reduce_sum, "ReduceSum", "y = the sum of x, over some dims", floats, sum, infer,
          begin_sum, pass_sum, end_sum, SUM, SUM)
