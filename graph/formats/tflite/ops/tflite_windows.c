// SPDX-License-Identifier: Apache-2.0
// Converts convolutions, also transposed ones, and pooling, whose window slides over the rows and
// columns of [N, H, W, C]. Padding by rule becomes numbers.
#include "graph/formats/tflite/ops/tflite_ops.h"

// The window of an operator, along rows and columns.
typedef struct window {
    int64_t kernel[2], strides[2], dilations[2];
    int64_t begin[2], end[2];
} window;

static bool refuse_rank(qdq_tflite_node *node, const char *port, qdq_shape shape) {
    if (shape.rank == 4) return false;
    qdq_tflite_refuse(node, port, TFLITE_TEXT(node, "has %d dims", shape.rank), "4");
    return true;
}

static bool check_positive(qdq_tflite_node *node, const char *name, const int64_t *values) {
    for (int i = 0; i < 2; i++)
        if (values[i] < 1) {
            qdq_tflite_refuse(node, name, TFLITE_TEXT(node, "is %lld", (long long)values[i]),
                              "1 or more");
            return false;
        }
    return true;
}

// Sets the padding of SAME: ceil(in / stride) windows, and of an odd element the larger part after.
static void pad_same(window *w, const int64_t *in) {
    for (int i = 0; i < 2; i++) {
        int64_t out = (in[i] - 1) / w->strides[i] + 1;
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t total = (out - 1) * w->strides[i] + reach - in[i];
        w->begin[i] = total > 0 ? total / 2 : 0;
        w->end[i] = total > 0 ? total - w->begin[i] : 0;
    }
}

// Reads strides and padding of a window that slides over `x`. False after a refusal.
static bool read_window(qdq_tflite_node *node, qdq_shape x, window *w) {
    int64_t padding = qdq_tflite_int(node, 0, QDQ_FLAT_I8, 0);
    w->strides[1] = qdq_tflite_int(node, 1, QDQ_FLAT_I32, 0);
    w->strides[0] = qdq_tflite_int(node, 2, QDQ_FLAT_I32, 0);
    if (refuse_rank(node, "x", x) || !check_positive(node, "stride", w->strides) ||
        !check_positive(node, "dilation", w->dilations) ||
        !check_positive(node, "filter", w->kernel))
        return false;
    if (padding == 0) pad_same(w, x.dims + 1);
    if (padding == 0 || padding == 1) return true;
    qdq_tflite_refuse(node, "padding", TFLITE_TEXT(node, "is %lld", (long long)padding),
                      "0 (SAME) or 1 (VALID)");
    return false;
}

//---- Convolutions -----------------------------------------------------------

// Converts a convolution whose options have the dilations of columns and rows from a slot on, and
// whose weights have an order.
static void convolve(qdq_tflite_node *node, unsigned slot, qdq_tflite_order order) {
    bool known, depthwise = order == QDQ_TFLITE_DEPTHWISE;
    qdq_shape w_shape = node->inputs[1]->shape;
    if (node->inputs[1]->made)
        w_shape = qdq_tflite_shape(node, node->inputs[1]->refs[QDQ_TFLITE_AS_STORED], &known);
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    if (!known || refuse_rank(node, "weights", w_shape)) return;
    window w = {.kernel = {w_shape.dims[1], w_shape.dims[2]}};
    w.dilations[1] = qdq_tflite_int(node, slot, QDQ_FLAT_I32, 1);
    w.dilations[0] = qdq_tflite_int(node, slot + 1, QDQ_FLAT_I32, 1);
    if (!read_window(node, shape, &w)) return;
    int64_t channels = shape.dims[3], each = depthwise ? 1 : w_shape.dims[3];
    bool fits = !depthwise || (w_shape.dims[0] == 1 && w_shape.dims[3] % channels == 0);
    if (!fits || each < 1 || channels % each) {
        qdq_tflite_refuse(
            node, "weights",
            TFLITE_TEXT(node, "are %s", qdq_shape_text(&node->im->graph->findings, w_shape)),
            TFLITE_TEXT(node, "%s for %lld channels",
                        depthwise ? "[1, rows, columns, channels * n]"
                                  : "[outputs, rows, columns, channels / groups]",
                        (long long)channels));
        return;
    }
    qdq_convolution_attrs attrs = {.strides = {w.strides, 2},
                                   .dilations = {w.dilations, 2},
                                   .pads_begin = {w.begin, 2},
                                   .pads_end = {w.end, 2},
                                   .groups = QDQ_INT(channels / each),
                                   .data_format = QDQ_NXC,
                                   .weights_format = QDQ_OIX};
    qdq_value weights = qdq_tflite_operand(node, 1, order, "weights");
    attrs.bias = qdq_tflite_bias(node);
    if (node->refused) return;
    attrs.name = qdq_tflite_op_name(node);
    qdq_tflite_finish(node, qdq_convolution(node->im->graph, x, weights, attrs));
}

void qdq_tflite_conv(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    convolve(node, 4, QDQ_TFLITE_CONV);
}

void qdq_tflite_depthwise(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    convolve(node, 5, QDQ_TFLITE_DEPTHWISE);
}

//---- Transposed convolution -------------------------------------------------

// Sets the padding of a window over y that makes `in` windows, and how many last rows and columns
// of y no whole window reaches. False after a refusal.
static bool fit_output(qdq_tflite_node *node, const int64_t *in, const int64_t *y, window *w,
                       int64_t *more) {
    for (int i = 0; i < 2; i++) {
        int64_t reached = (in[i] - 1) * w->strides[i] + w->kernel[i] - w->begin[i] - w->end[i];
        more[i] = y[i] - reached;
        if (more[i] >= 0 && more[i] < w->strides[i]) continue;
        qdq_tflite_refuse(node, "output_shape", TFLITE_TEXT(node, "has %lld", (long long)y[i]),
                          TFLITE_TEXT(node, "%lld to %lld", (long long)reached,
                                      (long long)(reached + w->strides[i] - 1)));
        return false;
    }
    return true;
}

// Returns weights [O, kh, kw, I] as [kh, kw, O, I].
static qdq_value transposed_weights(qdq_tflite_node *node) {
    static const int64_t order[4] = {1, 2, 0, 3};
    qdq_value weights = qdq_tflite_operand(node, 1, QDQ_TFLITE_AS_STORED, "weights");
    if (!weights.id) return weights;
    return qdq_transpose(
        node->im->graph, weights,
        (qdq_transpose_attrs){.name = qdq_tflite_helper(node, "weights_xoi"), .order = {order, 4}});
}

// Converts the operator with inputs x, weights and bias to a y with these dims.
static void convolve_transposed(qdq_tflite_node *node, const int64_t *y_dims) {
    bool known, known_weights;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    qdq_value weights = transposed_weights(node);
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    qdq_shape w_shape = qdq_tflite_shape(node, weights, &known_weights);
    if (!known || !known_weights || refuse_rank(node, "x", shape)) return;
    qdq_shape y = {.rank = 4, .dims = {y_dims[0], y_dims[1], y_dims[2], y_dims[3]}};
    window w = {.kernel = {w_shape.dims[0], w_shape.dims[1]}, .dilations = {1, 1}};
    int64_t more[2];
    if (!read_window(node, y, &w) || !fit_output(node, shape.dims + 1, y.dims + 1, &w, more))
        return;
    qdq_conv_transpose_attrs attrs = {.strides = {w.strides, 2},
                                      .dilations = {w.dilations, 2},
                                      .pads_begin = {w.begin, 2},
                                      .pads_end = {w.end, 2},
                                      .output_padding = {more, 2},
                                      .data_format = QDQ_NXC,
                                      .weights_format = QDQ_XOI,
                                      .bias = qdq_tflite_bias(node)};
    if (node->refused) return;
    attrs.name = qdq_tflite_op_name(node);
    qdq_tflite_finish(node, qdq_conv_transpose(node->im->graph, x, weights, attrs));
}

// The inputs are the shape of y, weights, x and a bias.
void qdq_tflite_transpose_conv(qdq_tflite_node *node, const qdq_tflite_op *row) {
    (void)row;
    int64_t dims[4];
    size_t count;
    if (!qdq_tflite_ints(node, 0, "output_shape", 4, dims, &count)) return;
    if (count != 4) {
        qdq_tflite_refuse(node, "output_shape", TFLITE_TEXT(node, "has %zu numbers", count), "4");
        return;
    }
    qdq_tflite_tensor *inputs[3] = {node->inputs[2], node->inputs[1], qdq_tflite_input(node, 3)};
    qdq_tflite_node same = *node;
    same.inputs = inputs, same.input_count = 3;
    convolve_transposed(&same, dims);
    node->refused = same.refused;
}

//---- Pooling ----------------------------------------------------------------

// Reads the window of a pool over x. False after a refusal.
static bool read_pool(qdq_tflite_node *node, qdq_value x, window *w) {
    bool known;
    qdq_shape shape = qdq_tflite_shape(node, x, &known);
    *w = (window){.dilations = {1, 1}};
    w->kernel[1] = qdq_tflite_int(node, 3, QDQ_FLAT_I32, 0);
    w->kernel[0] = qdq_tflite_int(node, 4, QDQ_FLAT_I32, 0);
    return known && read_window(node, shape, w);
}

// The window in the attributes of a pool.
#define POOL_WINDOW(w)                                                                    \
    .kernel = {(w).kernel, 2}, .strides = {(w).strides, 2}, .pads_begin = {(w).begin, 2}, \
    .pads_end = {(w).end, 2}, .data_format = QDQ_NXC

void qdq_tflite_average_pool(qdq_tflite_node *node, const qdq_tflite_op *row) {
    window w;
    (void)row;
    qdq_value x = qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    if (!read_pool(node, x, &w)) return;
    qdq_pool_attrs attrs = {.name = qdq_tflite_op_name(node), POOL_WINDOW(w)};
    attrs.exclude_pad = QDQ_TRUE;
    qdq_tflite_finish(node, qdq_avg_pool(node->im->graph, x, attrs));
}

// Takes the greatest codes where that is all: the dtype is one of MaxPool's, and nothing follows.
void qdq_tflite_max_pool(qdq_tflite_node *node, const qdq_tflite_op *row) {
    window w;
    (void)row;
    qdq_dtype dtype = node->inputs[0]->dtype;
    bool codes = !node->activation && (dtype == QDQ_INT8 || dtype == QDQ_UINT8);
    qdq_value x = codes ? qdq_tflite_ref(node, 0, QDQ_TFLITE_AS_STORED)
                        : qdq_tflite_operand(node, 0, QDQ_TFLITE_AS_STORED, "x");
    if (!read_pool(node, x, &w)) return;
    qdq_pool_attrs attrs = {.name = codes ? node->name : qdq_tflite_op_name(node), POOL_WINDOW(w)};
    qdq_value y = qdq_max_pool(node->im->graph, x, attrs);
    if (codes)
        qdq_tflite_bind(node, 0, y);
    else
        qdq_tflite_finish(node, y);
}
