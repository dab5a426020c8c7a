// SPDX-License-Identifier: Apache-2.0
// AvgPool and MaxPool: their description, and how they are lowered. AvgPool adds the elements of a
// window in row-major order, in double, or in float32 as ONNX Runtime does, which has another order
// for `columns_first` (column_means.c). MaxPool also takes int8 and uint8. mean_rows.c and
// peak_rows.c compute the usual windows, pool_band.c and max_rows.c all others.
#include <float.h>

#include "include/qdq/ops/spatial.h"
#include "ops/spatial/pool_band.h"
#include "runtime/base/size.h"
#include "runtime/numerics/dtype.h"

#define SELECTED (QDQ_SET_FLOATS | QDQ_SET(INT8) | QDQ_SET(UINT8))

static const qdq_port_desc avg_inputs[] = {
    {"x", offsetof(qdq_pool_attrs, x), false, QDQ_SET_FLOATS}};
static const qdq_port_desc avg_outputs[] = {{"y", 0, false, QDQ_SET_FLOATS}};
static const qdq_port_desc max_inputs[] = {{"x", offsetof(qdq_pool_attrs, x), false, SELECTED}};
static const qdq_port_desc max_outputs[] = {{"y", 0, false, SELECTED}};
static const char *const rounding_words[] = {"floor", "ceil", NULL};

#define POOL_ATTR(name, kind, words, text, summary) \
    { #name, QDQ_ATTR_##kind, offsetof(qdq_pool_attrs, name), words, text, summary }
#define POOL_WINDOW_ATTRS                                                                          \
    POOL_ATTR(strides, INTS, NULL, QDQ_REQUIRED, "elements from one window to the next"),          \
        POOL_ATTR(kernel, INTS, NULL, QDQ_REQUIRED, "size of the window"),                         \
        POOL_ATTR(pads_begin, INTS, NULL, "[]", "padding before; empty: 0"),                       \
        POOL_ATTR(pads_end, INTS, NULL, "[]", "padding after; empty: 0"),                          \
        POOL_ATTR(rounding_type, WORD, rounding_words, "floor", "of the number of windows"),       \
        POOL_ATTR(auto_pad, WORD, qdq_auto_pad_words, "None", "padding by rule, instead of pads"), \
        POOL_ATTR(data_format, WORD, qdq_data_format_words, "NXC", "where the channels are")

static const qdq_attr_desc avg_attrs[] = {
    POOL_WINDOW_ATTRS,
    POOL_ATTR(exclude_pad, BOOL, NULL, QDQ_REQUIRED,
              "divide by the elements that there are, not by all of the window"),
    POOL_ATTR(columns_first, BOOL, NULL, "false",
              "targets onnx and ort, float32: add the columns of a window first, as ONNX Runtime "
              "before opset 19")};
static const qdq_attr_desc max_attrs[] = {
    POOL_WINDOW_ATTRS, POOL_ATTR(dilations, INTS, NULL, "[]",
                                 "distance of neighbouring elements of a window; empty: 1")};

//---- Shapes -----------------------------------------------------------------

static bool read_window(const qdq_op_context *ctx, qdq_image *image, qdq_window *window) {
    const qdq_pool_attrs *a = ctx->attrs;
    bool fine = qdq_require_attr(ctx, "strides", a->strides.count > 0);
    fine &= qdq_require_attr(ctx, "kernel", a->kernel.count > 0);
    if (!fine || !qdq_image_of(ctx, 0, a->data_format, image)) return false;
    *window = (qdq_window){.spatial = image->spatial};
    for (int i = 0; i < image->spatial; i++) window->in[i] = image->size[i];
    qdq_window_attrs attrs = {.strides = a->strides,
                              .dilations = a->dilations,
                              .pads_begin = a->pads_begin,
                              .pads_end = a->pads_end,
                              .auto_pad = a->auto_pad,
                              .ceil = a->rounding_type == QDQ_POOL_ROUND_CEIL};
    return qdq_spatial_list(ctx, "kernel", a->kernel, image->spatial, 1, 1, window->kernel) &&
           qdq_window_of(ctx, &attrs, window);
}

static void infer(qdq_op_context *ctx) {
    const qdq_pool_attrs *a = ctx->attrs;
    qdq_image image;
    qdq_window window;
    if (!read_window(ctx, &image, &window)) return;
    ctx->outputs[0] = (qdq_type){
        ctx->inputs[0].type.dtype,
        qdq_image_shape(a->data_format, image.batch, image.channels, image.spatial, window.out)};
}

static void infer_avg(qdq_op_context *ctx) {
    const qdq_pool_attrs *a = ctx->attrs;
    if (qdq_require_attr(ctx, "exclude_pad", a->exclude_pad != QDQ_UNSET)) infer(ctx);
}

//---- Entry ------------------------------------------------------------------

static float lowest_of(qdq_dtype dtype) {
    if (dtype == QDQ_FLOAT16) return -65504.0f;
    return dtype == QDQ_BFLOAT16 ? -0x1.fep127f : -FLT_MAX;
}

static void set_axes(const qdq_window *w, qdq_pool_axis *axes) {
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) {
        int own = i - (QDQ_MAX_SPATIAL - w->spatial);
        axes[i] = (qdq_pool_axis){.in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1};
        if (own >= 0)
            axes[i] = (qdq_pool_axis){.in = w->in[own],
                                      .out = w->out[own],
                                      .kernel = w->kernel[own],
                                      .stride = w->stride[own],
                                      .dilation = w->dilation[own],
                                      .pad = w->pad_begin[own]};
    }
}

static qdq_pool_kind kind_of(const qdq_op_context *ctx, const qdq_lowering *to, bool max) {
    qdq_dtype dtype = ctx->outputs[0].dtype;
    if (max) return qdq_dtype_get(dtype)->kind == QDQ_KIND_INT ? QDQ_POOL_BYTES : QDQ_POOL_KEYS;
    return qdq_by_onnx_runtime(to) && dtype == QDQ_FLOAT32 ? QDQ_POOL_FLOATS : QDQ_POOL_DOUBLES;
}

static size_t lower_as(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages,
                       bool max) {
    const qdq_pool_attrs *a = ctx->attrs;
    qdq_dtype dtype = ctx->outputs[0].dtype;
    qdq_pool_params *p = QDQ_MEMPOOL_NEW(to->mempool, qdq_pool_params);
    qdq_image image;
    qdq_window w;
    if (!p || !read_window(ctx, &image, &w)) return 0;
    bool last = a->data_format == QDQ_NXC;
    *p = (qdq_pool_params){.kind = kind_of(ctx, to, max),
                           .kernels = qdq_pool_find(to->isas),
                           .exclude_pad = a->exclude_pad == QDQ_TRUE,
                           .spatial = w.spatial,
                           .sums = qdq_slice_kernels_find(to->isas),
                           .x_dtype = ctx->inputs[0].type.dtype,
                           .y_dtype = dtype,
                           .channels = last ? image.channels : 1,
                           .lowest = lowest_of(dtype),
                           .sign = (uint8_t)(qdq_dtype_get(dtype)->least < 0 ? 0x80 : 0)};
    size_t volume = 1;
    set_axes(&w, p->axes);
    if (!qdq_pool_set_bands(to->mempool, p)) return 0;
    for (int i = 0; i < QDQ_MAX_SPATIAL; i++) volume = qdq_size_times(volume, p->axes[i].kernel);
    p->columns = p->kind == QDQ_POOL_FLOATS && a->columns_first == QDQ_TRUE &&
                 qdq_pool_columns_stage(p, &w, image.batch * image.channels, stages);
    if (p->columns) return 1;
    qdq_tensor_op_fn *sums = p->by_rows ? qdq_pool_run_means : qdq_pool_run_mean;
    qdq_tensor_op_fn *maxima = p->peaks ? qdq_pool_run_peaks : qdq_pool_run_max;
    stages[0] = (qdq_stage){.params = p,
                            .tensor_op = max ? maxima : sums,
                            .units = image.batch * (last ? 1 : image.channels) * qdq_pool_bands(p),
                            .cost = qdq_size_times(qdq_shape_count(ctx->outputs[0].shape), volume),
                            .chunks = true};
    return 1;
}

static size_t lower_avg(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_as(ctx, to, stages, false);
}

static size_t lower_max(const qdq_op_context *ctx, const qdq_lowering *to, qdq_stage *stages) {
    return lower_as(ctx, to, stages, true);
}

// True if every window has an element in x.
static bool none_is_empty(const qdq_op_context *ctx) {
    qdq_image image;
    qdq_window window;
    qdq_pool_axis axes[QDQ_MAX_SPATIAL];
    if (!read_window(ctx, &image, &window)) return false;
    set_axes(&window, axes);
    return qdq_pool_none_is_empty(axes);
}

// With a scale above 0, fl((code - zero_point) * scale) never falls as the code rises, so the
// greatest code stands for the greatest real. Codes that round to the same real are
// interchangeable. An empty window of floats gives the lowest float, which no code stands for.
static bool passes_quantized(const qdq_op_context *ctx, qdq_quantized *quantized) {
    *quantized = *ctx->inputs[0].quantized;
    return quantized->axis < 0 && quantized->scales[0] > 0 && none_is_empty(ctx);
}

const qdq_op qdq_op_avg_pool = {
    .name = "AvgPool",
    .summary = "y = the mean of a window that slides over x",
    .attrs_size = sizeof(qdq_pool_attrs),
    QDQ_OP_TABLES(avg_inputs, avg_outputs, avg_attrs),
    .infer = infer_avg,
    .lower = lower_avg,
    .by_float_ops = true,
};

static const qdq_op_fusion fusion = {.passes_quantized = passes_quantized};

const qdq_op qdq_op_max_pool = {
    .name = "MaxPool",
    .summary = "y = the greatest element of a window that slides over x",
    .attrs_size = sizeof(qdq_pool_attrs),
    QDQ_OP_TABLES(max_inputs, max_outputs, max_attrs),
    .infer = infer,
    .lower = lower_max,
    .fusion = &fusion,
};
