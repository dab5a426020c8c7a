// SPDX-License-Identifier: Apache-2.0
// Slice: from each of some dims, the indices from a start to an end in steps, forwards or
// backwards.
#include "include/qdq/ops/movement.h"
#include "ops/movement/runs.h"

static const qdq_port_desc inputs[] = {{"x", offsetof(qdq_slice_attrs, x), false, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const qdq_attr_desc attrs[] = {
    {"starts", QDQ_ATTR_INTS, offsetof(qdq_slice_attrs, starts), NULL, QDQ_REQUIRED,
     "first index of each axis; negative: from the end; beyond the dim: the dim's end"},
    {"ends", QDQ_ATTR_INTS, offsetof(qdq_slice_attrs, ends), NULL, QDQ_REQUIRED,
     "where each axis stops, exclusive; negative: from the end; beyond the dim: the dim's end"},
    {"axes", QDQ_ATTR_INTS, offsetof(qdq_slice_attrs, axes), NULL, "[]",
     "the dims that are cut; empty: the first dims, one for each start"},
    {"steps", QDQ_ATTR_INTS, offsetof(qdq_slice_attrs, steps), NULL, "[]",
     "from an index to the next, not 0; negative: backwards; empty: 1"}};

// The indices of a dim that stay.
typedef struct cut {
    int64_t start, step, count;
} cut;

static int64_t clamp(int64_t v, int64_t low, int64_t high) {
    return v < low ? low : v > high ? high : v;
}

// Returns the indices of a dim that a slice keeps; a count of 0 if it keeps none.
static cut cut_of(int64_t dim, int64_t start, int64_t end, int64_t step) {
    int64_t before = step < 0 ? -1 : 0, last = step < 0 ? dim - 1 : dim;
    start = clamp(start < 0 ? start + dim : start, 0, last);
    end = clamp(end < 0 ? end + dim : end, before, last);
    uint64_t span = (uint64_t)(step < 0 ? start - end : end - start);
    uint64_t stride = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
    bool empty = step < 0 ? start <= end : start >= end;
    return (cut){start, step, empty ? 0 : (int64_t)(1 + (span - 1) / stride)};
}

// False with a finding unless a list has an entry for each start, or may be empty and is.
static bool check_count(const qdq_op_context *ctx, const char *attr, qdq_ints list, bool optional) {
    const qdq_slice_attrs *a = ctx->attrs;
    if (list.count == a->starts.count || (optional && !list.count)) return true;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, attr,
                         qdq_text(ctx->findings, "has %zu entries", list.count),
                         qdq_text(ctx->findings, "%zu, one for each start", a->starts.count));
    return false;
}

// Reads entry i of the attributes. Returns its dim, or -1 with a finding.
static int read_cut(const qdq_op_context *ctx, size_t i, cut *out) {
    const qdq_slice_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    int axis = qdq_check_axis(ctx, "axes", a->axes.count ? a->axes.data[i] : (int64_t)i, x.rank);
    if (axis < 0) return -1;
    int64_t step = a->steps.count ? a->steps.data[i] : 1;
    if (step == 0) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "steps",
                             qdq_text(ctx->findings, "has 0 at index %zu", i), "any other number");
        return -1;
    }
    *out = cut_of(x.dims[axis], a->starts.data[i], a->ends.data[i], step);
    if (out->count) return axis;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "ends",
                         qdq_text(ctx->findings,
                                  "has %lld at index %zu, which leaves no index of dim %d",
                                  (long long)a->ends.data[i], i, axis),
                         "at least one index");
    return -1;
}

// Fills in the indices kept of each dim of x. False with a finding.
static bool read_cuts(const qdq_op_context *ctx, cut *cuts) {
    const qdq_slice_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[0].type.shape;
    unsigned seen = 0;
    if (!qdq_require_attr(ctx, "starts", a->starts.count > 0)) return false;
    for (int i = 0; i < x.rank; i++) cuts[i] = (cut){0, 1, x.dims[i]};
    if (!check_count(ctx, "ends", a->ends, false) || !check_count(ctx, "axes", a->axes, true) ||
        !check_count(ctx, "steps", a->steps, true))
        return false;
    for (size_t i = 0; i < a->starts.count; i++) {
        cut one;
        int axis = read_cut(ctx, i, &one);
        if (axis < 0) return false;
        if (seen >> axis & 1) {
            qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "axes",
                                 qdq_text(ctx->findings, "has dim %d twice", axis),
                                 "each dim of x once at most");
            return false;
        }
        seen |= 1u << axis;
        cuts[axis] = one;
    }
    return true;
}

static void infer(qdq_op_context *ctx) {
    qdq_type y = ctx->inputs[0].type;
    cut cuts[QDQ_MAX_RANK];
    if (!read_cuts(ctx, cuts)) return;
    for (int i = 0; i < y.shape.rank; i++) y.shape.dims[i] = cuts[i].count;
    ctx->outputs[0] = y;
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    qdq_shape x = ctx->inputs[0].type.shape;
    qdq_runs *table = qdq_runs_new(ctx, to);
    cut cuts[QDQ_MAX_RANK];
    ptrdiff_t strides[QDQ_MAX_RANK];
    if (!table || !read_cuts(ctx, cuts)) return 0;
    qdq_strides_of(x, strides);
    for (int i = 0; i < x.rank; i++) {
        ptrdiff_t step = cuts[i].count > 1 ? (ptrdiff_t)cuts[i].step * strides[i] : strides[i];
        if (!qdq_runs_add_one(table, to->mempool, (size_t)cuts[i].count,
                              (ptrdiff_t)cuts[i].start * strides[i], step))
            return 0;
    }
    return qdq_lower_runs(table, stages);
}

// A dim with parameters per entry may be there in full only, and forwards.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    cut cuts[QDQ_MAX_RANK];
    if (!read_cuts(ctx, cuts) || !qdq_runs_quantized(ctx, quantized)) return false;
    return quantized->axis < 0 || cuts[quantized->axis].step > 0;
}

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_slice = {
    .name = "Slice",
    .summary = "y = the indices of x from starts to ends, in steps",
    .attrs_size = sizeof(qdq_slice_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .fusion = &fusion,
};
