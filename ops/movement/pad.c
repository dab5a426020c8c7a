// SPDX-License-Identifier: Apache-2.0
// Pad: adds indices at the begin and the end of each dim; a negative pad removes some.
#include <string.h>

#include "include/qdq/ops/movement.h"
#include "ops/movement/runs.h"

enum { IN_X, IN_VALUE };

static const qdq_port_desc inputs[] = {
    {"x", offsetof(qdq_pad_attrs, x), false, QDQ_SET_MOVED},
    {"value", offsetof(qdq_pad_attrs, value), true, QDQ_SET_MOVED}};
static const qdq_port_desc outputs[] = {{"y", 0, false, QDQ_SET_MOVED}};
static const char *const mode_words[] = {"constant", "reflect", "edge", "wrap", NULL};
static const qdq_attr_desc attrs[] = {
    {"pads", QDQ_ATTR_INTS, offsetof(qdq_pad_attrs, pads), NULL, QDQ_REQUIRED,
     "indices added before each axis, then indices added after each axis; negative: removed"},
    {"axes", QDQ_ATTR_INTS, offsetof(qdq_pad_attrs, axes), NULL, "[]",
     "the dims that are padded; empty: all dims"},
    {"mode", QDQ_ATTR_WORD, offsetof(qdq_pad_attrs, mode), mode_words, "constant",
     "constant: `value`, or 0; reflect: mirrored, without the edge; edge: the edge; wrap: from the "
     "other end"}};

//---- Shapes -----------------------------------------------------------------

// The pads of a dim, and its indices left after negative pads have cut it.
typedef struct padding {
    int64_t begin, end, from, left;
} padding;

// Returns the largest pad of a mode for a dim with `left` indices.
static int64_t reach_of(qdq_pad_mode mode, int64_t left) {
    switch (mode) {
    case QDQ_PAD_REFLECT: return left - 1;
    case QDQ_PAD_WRAP: return left;
    default: return INT64_MAX;
    }
}

// False with a finding unless the mode can pad the dim so far, and at least one index is left.
static bool check_padding(const qdq_op_context *ctx, const padding *p, int dim) {
    const qdq_pad_attrs *a = ctx->attrs;
    bool keeps = a->mode == QDQ_PAD_CONSTANT ? p->left >= 0 : p->left > 0;
    if (!keeps || p->left + p->begin + p->end <= 0) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "pads",
                             qdq_text(ctx->findings, "remove all indices of dim %d", dim),
                             "at least one index");
        return false;
    }
    int64_t reach = reach_of(a->mode, p->left), most = p->begin > p->end ? p->begin : p->end;
    if (most <= reach) return true;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "pads",
                         qdq_text(ctx->findings, "have %lld for dim %d", (long long)most, dim),
                         qdq_text(ctx->findings,
                                  "at most %lld, which mode %s can take from %lld indices",
                                  (long long)reach, mode_words[a->mode], (long long)p->left));
    return false;
}

// Pads are limited so that sums cannot overflow.
static bool read_pad(const qdq_op_context *ctx, size_t i, int64_t *pad) {
    const qdq_pad_attrs *a = ctx->attrs;
    const int64_t most = INT64_C(1) << 40;
    *pad = a->pads.data[i];
    if (*pad >= -most && *pad <= most) return true;
    qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "pads",
                         qdq_text(ctx->findings, "has %lld at index %zu", (long long)*pad, i),
                         "-2^40 to 2^40");
    return false;
}

// Splits the pads of entry i into indices to cut and indices to add.
static bool read_entry(const qdq_op_context *ctx, size_t i, size_t count, int axis, padding *p) {
    int64_t begin, end;
    if (!read_pad(ctx, i, &begin) || !read_pad(ctx, i + count, &end)) return false;
    p->from = begin < 0 ? -begin : 0;
    p->left -= p->from + (end < 0 ? -end : 0);
    p->begin = begin > 0 ? begin : 0, p->end = end > 0 ? end : 0;
    return check_padding(ctx, p, axis);
}

// Fills in the padding of each dim. False with a finding.
static bool read_paddings(const qdq_op_context *ctx, padding *dims) {
    const qdq_pad_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[IN_X].type.shape;
    size_t count = a->axes.count ? a->axes.count : (size_t)x.rank;
    unsigned seen = 0;
    for (int i = 0; i < x.rank; i++) dims[i] = (padding){.left = x.dims[i]};
    if (a->pads.count != 2 * count) {
        qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "pads",
                             qdq_text(ctx->findings, "has %zu entries", a->pads.count),
                             qdq_text(ctx->findings, "%zu, two for each dim", 2 * count));
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int axis =
            qdq_check_axis(ctx, "axes", a->axes.count ? a->axes.data[i] : (int64_t)i, x.rank);
        if (axis < 0) return false;
        if (seen >> axis & 1) {
            qdq_report_violation(ctx, QDQ_RULE_ATTR_VALUE, "axes",
                                 qdq_text(ctx->findings, "has dim %d twice", axis),
                                 "each dim of x once at most");
            return false;
        }
        seen |= 1u << axis;
        if (!read_entry(ctx, i, count, axis, &dims[axis])) return false;
    }
    return true;
}

static void infer(qdq_op_context *ctx) {
    qdq_type y = ctx->inputs[IN_X].type;
    padding dims[QDQ_MAX_RANK];
    if (!qdq_check_same_dtype(ctx, IN_VALUE) || !qdq_check_one(ctx, IN_VALUE) ||
        !read_paddings(ctx, dims))
        return;
    for (int i = 0; i < y.shape.rank; i++)
        y.shape.dims[i] = dims[i].begin + dims[i].left + dims[i].end;
    ctx->outputs[0] = y;
}

//---- Tables -----------------------------------------------------------------

// Appends `count` indices, from index `first` of x on, to the runs of a dim.
static void append(qdq_run *runs, size_t *run_count, size_t *at, int64_t count, ptrdiff_t first,
                   ptrdiff_t step, ptrdiff_t stride, int input) {
    if (count <= 0) return;
    runs[(*run_count)++] = (qdq_run){*at, first * stride, step * stride, input, 1};
    *at += (size_t)count;
}

static bool add_dim(qdq_runs *table, qdq_mempool *mempool, const padding *p, qdq_pad_mode mode,
                    ptrdiff_t stride) {
    static const struct { int input, step; } modes[] = {{QDQ_RUN_FILL, 0}, {0, -1}, {0, 0}, {0, 1}};
    qdq_run runs[3];
    size_t count = 0, at = 0;
    ptrdiff_t first = (ptrdiff_t)p->from, last = first + (ptrdiff_t)p->left - 1;
    ptrdiff_t before = mode == QDQ_PAD_REFLECT ? first + (ptrdiff_t)p->begin
                       : mode == QDQ_PAD_WRAP  ? last + 1 - (ptrdiff_t)p->begin
                                               : first;
    ptrdiff_t after = mode == QDQ_PAD_REFLECT ? last - 1 : mode == QDQ_PAD_WRAP ? first : last;
    int input = modes[mode].input, step = modes[mode].step;
    append(runs, &count, &at, p->begin, before, step, stride, input);
    append(runs, &count, &at, p->left, first, 1, stride, 0);
    append(runs, &count, &at, p->end, after, step, stride, input);
    return qdq_runs_add(table, mempool, at, runs, count);
}

static size_t lower(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    const qdq_pad_attrs *a = ctx->attrs;
    qdq_shape x = ctx->inputs[IN_X].type.shape;
    qdq_runs *table = qdq_runs_new(ctx, to);
    padding dims[QDQ_MAX_RANK];
    ptrdiff_t strides[QDQ_MAX_RANK];
    if (!table || !read_paddings(ctx, dims)) return 0;
    qdq_strides_of(x, strides);
    for (int i = 0; i < x.rank; i++)
        if (!add_dim(table, to->mempool, &dims[i], a->mode, strides[i])) return 0;
    const qdq_quantized *quantized = ctx->inputs[IN_X].quantized;
    if (quantized) memcpy(&table->fill, quantized->zero_points, 1);
    if (ctx->inputs[IN_VALUE].given) table->fill_input = IN_VALUE;
    return qdq_lower_runs(table, stages);
}

//---- Codes ------------------------------------------------------------------

// A 0 is the zero point, which has to be one for all.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    const qdq_pad_attrs *a = ctx->attrs;
    if (ctx->inputs[IN_VALUE].given || !qdq_runs_quantized(ctx, quantized)) return false;
    for (size_t i = 1; i < quantized->count && a->mode == QDQ_PAD_CONSTANT; i++)
        if (quantized->zero_points[i] != quantized->zero_points[0]) return false;
    return true;
}

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_pad = {
    .name = "Pad",
    .summary = "y = x with indices added before and after each dim",
    .attrs_size = sizeof(qdq_pad_attrs),
    QDQ_OP_TABLES(inputs, outputs, attrs),
    .infer = infer,
    .lower = lower,
    .fusion = &fusion,
};
