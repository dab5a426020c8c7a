// SPDX-License-Identifier: Apache-2.0
// Converts convolutions and pooling, whose window slides over the spatial dims of [N, C,
// spatial...].
#include <stdio.h>
#include <string.h>

#include "graph/formats/onnx/ops/onnx_sum_pool.h"

// The window of a node along its spatial dims. ONNX's pads are all begins, then all ends.
typedef struct window {
    size_t spatial;
    int64_t kernel[QDQ_MAX_RANK], strides[QDQ_MAX_RANK], dilations[QDQ_MAX_RANK];
    int64_t begin[QDQ_MAX_RANK], end[QDQ_MAX_RANK];
    const char *auto_pad;  // "NOTSET": the pads count
} window;

static bool fill_list(qdq_onnx_node *node, const char *name, size_t count, int64_t otherwise,
                      int64_t *out) {
    qdq_ints list;
    bool given = qdq_onnx_int_list(node, name, &list) && list.count;
    for (size_t i = 0; i < count; i++) out[i] = given && i < list.count ? list.data[i] : otherwise;
    for (size_t i = 0; i < count; i++)
        if (out[i] > INT32_MAX || out[i] < INT32_MIN) {
            qdq_onnx_refuse(node, name, ONNX_TEXT(node, "has %lld", (long long)out[i]),
                            "numbers of 32 bits");
            return false;
        }
    if (!given || list.count == count) return true;
    qdq_onnx_refuse(node, name, ONNX_TEXT(node, "has %zu numbers", list.count),
                    ONNX_TEXT(node, "%zu", count));
    return false;
}

static bool read_window(qdq_onnx_node *node, window *w) {
    int64_t pads[2 * QDQ_MAX_RANK];
    int rank = node->inputs[0]->shape.rank;
    *w = (window){.auto_pad = qdq_onnx_word(node, "auto_pad", "NOTSET")};
    if (rank < 3) {
        qdq_findings *f = &node->im->graph->findings;
        qdq_onnx_refuse(node, NULL,
                        qdq_text(f, "reads %s", qdq_shape_text(f, node->inputs[0]->shape)),
                        "[N, C, spatial...]");
        return false;
    }
    w->spatial = (size_t)rank - 2;
    if (!fill_list(node, "strides", w->spatial, 1, w->strides) ||
        !fill_list(node, "dilations", w->spatial, 1, w->dilations) ||
        !fill_list(node, "pads", 2 * w->spatial, 0, pads))
        return false;
    if (strcmp(w->auto_pad, "NOTSET") != 0) return true;
    memcpy(w->begin, pads, w->spatial * sizeof *pads);
    memcpy(w->end, pads + w->spatial, w->spatial * sizeof *pads);
    return true;
}

static void set_window(qdq_onnx_call *call, const window *w, bool dilations) {
    qdq_onnx_set_ints(call, "strides", w->strides, w->spatial);
    if (dilations) qdq_onnx_set_ints(call, "dilations", w->dilations, w->spatial);
    qdq_onnx_set_ints(call, "pads_begin", w->begin, w->spatial);
    qdq_onnx_set_ints(call, "pads_end", w->end, w->spatial);
    if (strcmp(w->auto_pad, "NOTSET") != 0) qdq_onnx_set_word(call, "auto_pad", w->auto_pad);
}

bool qdq_onnx_set_windows(qdq_onnx_call *call, bool groups) {
    window w;
    if (!read_window(call->node, &w)) return false;
    set_window(call, &w, true);
    if (groups) qdq_onnx_set_int(call, "groups", qdq_onnx_int(call->node, "group", 1));
    return true;
}

static qdq_value end_conv(qdq_onnx_call *call) {
    if (!qdq_onnx_set_windows(call, true)) return (qdq_value){0};
    qdq_onnx_set_word(call, "data_format", "NCX");
    qdq_onnx_set_word(call, "weights_format", "OIX");
    return qdq_onnx_end(call);
}

void qdq_onnx_conv(qdq_onnx_node *node, const qdq_onnx_op *row) {
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    qdq_onnx_bind(node, 0, end_conv(&call));
}

// Converts FusedConv: Conv, whose sums begin with another tensor if one is given and then end with
// the bias, and an activation with up to two numbers.
void qdq_onnx_fused_conv(qdq_onnx_node *node, const qdq_onnx_op *row) {
    static const char *const known[][3] = {
        {"", "", ""},
        {"Relu", "ReLU(", ")"},
        {"Tanh", "Tanh(", ")"},
        {"Sigmoid", "Sigmoid(", ")"},
        {"LeakyRelu", "LeakyReLU(", ", alpha: first)"},
        {"Clip", "Clamp(", ", min: first, max: second)"},
        {"HardSigmoid", "HardSigmoid(", ", alpha: first, beta: second)"}};
    const qdq_onnx_attr *params = qdq_onnx_attr_find(node, "activation_params");
    const char *word = qdq_onnx_word(node, "activation", ""), *sum = "y";
    const char *const *activation = NULL;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(word, known[i][0]) == 0) activation = known[i];
    double numbers[2] = {0.2, 0.5};
    for (size_t i = 0; i < 2 && params && i < params->floats.count; i++)
        numbers[i] = (double)params->floats.items[i];
    if (!activation) {
        qdq_onnx_refuse(node, "activation", ONNX_TEXT(node, "is '%.40s'", word),
                        "Relu, Tanh, Sigmoid, LeakyRelu, Clip or HardSigmoid");
        return;
    }
    qdq_onnx_value *bias = qdq_onnx_input(node, 2), *image = qdq_onnx_input(node, 3);
    const qdq_shape *weights = &qdq_onnx_input(node, 1)->shape;
    int64_t column[QDQ_MAX_RANK] = {weights->rank ? weights->dims[0] : 1, 1, 1, 1};
    size_t dims = weights->rank > 2 ? (size_t)weights->rank - 1 : 1;
    if (bias && image) sum = "Add(y, StaticReshape(b, shape: column, special_zero: 0))";
    bool alone = !*word && *sum == 'y';
    qdq_onnx_call call;
    qdq_onnx_begin(&call, node, row->ours, alone ? NULL : "sums");
    qdq_onnx_port(&call, "x", qdq_onnx_input(node, 0));
    qdq_onnx_port(&call, "weights", qdq_onnx_input(node, 1));
    qdq_onnx_port(&call, image ? "addend" : "bias", image ? image : bias);
    const qdq_onnx_term terms[] = {{.name = "y", .value = end_conv(&call)},
                                   {.name = "b", .input = bias},
                                   {.name = "column", .ints = {column, dims}},
                                   {.name = "first", .number = numbers[0]},
                                   {.name = "second", .number = numbers[1]}};
    char formula[160];
    snprintf(formula, sizeof formula, "%s%s%s", activation[1], sum, activation[2]);
    if (!terms[0].value.id) return;
    qdq_onnx_bind(node, 0, alone ? terms[0].value : qdq_onnx_formula(node, row, formula, terms, 5));
}

// Says padding by rule, or by the shape of the output, in numbers.
static bool transpose_pads(qdq_onnx_node *node, window *w, int64_t *extra) {
    const qdq_shape *x = &node->inputs[0]->shape, *weights = &node->inputs[1]->shape;
    qdq_ints asked;
    bool given = qdq_onnx_int_list(node, "output_shape", &asked) && asked.count >= w->spatial;
    bool same = strncmp(w->auto_pad, "SAME", 4) == 0;
    bool upper = strcmp(w->auto_pad, "SAME_UPPER") == 0;
    w->auto_pad = "NOTSET";
    if (weights->rank != x->rank || (!given && !same)) return true;
    for (size_t i = 0; i < w->spatial; i++) {
        int64_t size = x->dims[i + 2], reach = (weights->dims[i + 2] - 1) * w->dilations[i] + 1;
        int64_t out = given ? asked.data[asked.count - w->spatial + i] : size * w->strides[i];
        if (out < 0 || out > INT32_MAX) {
            qdq_onnx_refuse(node, "output_shape", "has a dim that cannot be", "dims of at least 1");
            return false;
        }
        int64_t total = w->strides[i] * (size - 1) + extra[i] + reach - out;
        if (total < 0) extra[i] -= total, total = 0;
        int64_t half = upper ? total / 2 : total - total / 2;
        w->begin[i] = half, w->end[i] = total - half;
    }
    return true;
}

void qdq_onnx_conv_transpose(qdq_onnx_node *node, const qdq_onnx_op *row) {
    window w;
    int64_t extra[QDQ_MAX_RANK];
    bool any = false;
    qdq_onnx_call call;
    qdq_onnx_begin_row(&call, node, row);
    if (!read_window(node, &w) || !fill_list(node, "output_padding", w.spatial, 0, extra)) return;
    if (!transpose_pads(node, &w, extra)) return;
    set_window(&call, &w, true);
    for (size_t i = 0; i < w.spatial; i++) any |= extra[i] != 0;
    if (any) qdq_onnx_set_ints(&call, "output_padding", extra, w.spatial);
    qdq_onnx_set_int(&call, "groups", qdq_onnx_int(node, "group", 1));
    qdq_onnx_set_word(&call, "data_format", "NCX");
    qdq_onnx_set_word(&call, "weights_format", "IOX");
    qdq_onnx_finish(&call);
}

//---- Pooling ----------------------------------------------------------------

// Extends the padding at the end for the last window with ceil_mode; a window that would begin in
// the padding at the end is left out. *beyond: a window reaches beyond the model's padding.
static void lengthen_pads(const qdq_onnx_node *node, window *w, bool *beyond) {
    for (size_t i = 0; i < w->spatial; i++) {
        int64_t size = node->inputs[0]->shape.dims[i + 2];
        int64_t reach = (w->kernel[i] - 1) * w->dilations[i] + 1;
        int64_t room = size + w->begin[i] + w->end[i] - reach, stride = w->strides[i];
        if (room < 0 || stride < 1) continue;
        int64_t last = (room + stride - 1) / stride;  // index of the last window
        if (last * stride >= size + w->begin[i]) last--;
        int64_t end = last * stride + reach - size - w->begin[i];
        if (end <= w->end[i]) continue;
        w->end[i] = end;
        *beyond = true;
    }
}

static bool read_pool(qdq_onnx_node *node, window *w, bool *beyond) {
    *beyond = false;
    bool dilated = false;
    if (!read_window(node, w) || !fill_list(node, "kernel_shape", w->spatial, 1, w->kernel))
        return false;
    for (size_t i = 0; i < w->spatial; i++) dilated |= w->dilations[i] != 1;
    bool by_rule = strncmp(w->auto_pad, "SAME", 4) == 0;
    if (by_rule && dilated) {
        qdq_onnx_refuse(node, "auto_pad",
                        ONNX_TEXT(node,
                                  "is %s with dilations, for which ONNX and ONNX Runtime "
                                  "differ in the shape",
                                  w->auto_pad),
                        "pads in numbers");
        return false;
    }
    if (!qdq_onnx_int(node, "ceil_mode", 0) || by_rule) return true;
    if (strcmp(w->auto_pad, "VALID") == 0) {
        qdq_onnx_refuse(node, "ceil_mode", "is 1 and auto_pad VALID", "pads in numbers");
        return false;
    }
    lengthen_pads(node, w, beyond);
    return true;
}

static void set_pool(qdq_onnx_call *call, const window *w, bool dilations) {
    set_window(call, w, dilations);
    qdq_onnx_set_ints(call, "kernel", w->kernel, w->spatial);
    qdq_onnx_set_word(call, "data_format", "NCX");
}

static bool refuse_dilations(qdq_onnx_node *node, const window *w) {
    for (size_t i = 0; i < w->spatial; i++) {
        if (w->dilations[i] == 1) continue;
        qdq_onnx_refuse(node, "dilations", ONNX_TEXT(node, "has %lld", (long long)w->dilations[i]),
                        "1: QLinearAveragePool has none");
        return true;
    }
    return false;
}

static bool is_dilated(const window *w) {
    for (size_t i = 0; i < w->spatial; i++)
        if (w->dilations[i] != 1) return true;
    return false;
}

// Returns a pool of sums with the node's window. `counted`: padding at the end as the node has it.
static qdq_onnx_sum_pool sum_pool(qdq_onnx_node *node, const qdq_onnx_op *row, const window *w,
                                  int64_t *counted, bool exclude) {
    int64_t pads[2 * QDQ_MAX_RANK] = {0};
    if (strcmp(w->auto_pad, "NOTSET") == 0) (void)fill_list(node, "pads", 2 * w->spatial, 0, pads);
    for (size_t i = 0; i < w->spatial; i++) counted[i] = pads[w->spatial + i];
    return (qdq_onnx_sum_pool){node,         row,      w->spatial, w->kernel, w->strides,
                               w->dilations, w->begin, w->end,     counted,   exclude};
}

void qdq_onnx_average_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    window w;
    int64_t counted[QDQ_MAX_RANK];
    bool beyond, exclude = !qdq_onnx_int(node, "count_include_pad", 0);
    qdq_onnx_call call;
    if (!read_pool(node, &w, &beyond)) return;
    if (is_dilated(&w) || (beyond && !exclude)) {
        const qdq_onnx_sum_pool pool = sum_pool(node, row, &w, counted, exclude);
        qdq_onnx_bind_mean(&pool);
        return;
    }
    bool counts_reach = qdq_onnx_int(node, "ceil_mode", 0) && !exclude;
    qdq_onnx_begin_row(&call, node, row);
    set_pool(&call, &w, false);
    qdq_onnx_set_bool(&call, "exclude_pad", exclude);
    if (node->opset < 19 && !counts_reach) qdq_onnx_set_bool(&call, "columns_first", true);
    qdq_onnx_finish(&call);
}

// Adds a formula with a pool over the node's window, whose attributes are the formula's terms.
static void bind_pool(qdq_onnx_node *node, const qdq_onnx_op *row, const window *w,
                      const char *text, double p, bool exclude) {
    double elements = 1;
    for (size_t i = 0; i < w->spatial; i++) elements *= (double)w->kernel[i];
    const char *by_rule = strcmp(w->auto_pad, "NOTSET") ? w->auto_pad : "None";
    const qdq_onnx_term terms[] = {{.name = "kernel", .ints = {w->kernel, w->spatial}},
                                   {.name = "strides", .ints = {w->strides, w->spatial}},
                                   {.name = "begin", .ints = {w->begin, w->spatial}},
                                   {.name = "end", .ints = {w->end, w->spatial}},
                                   {.name = "dilations", .ints = {w->dilations, w->spatial}},
                                   {.name = "rule", .word = by_rule},
                                   {.name = "exclude", .number = exclude ? 1.0 : 0.0},
                                   qdq_onnx_exponent(node, p),
                                   {.name = "root", .number = 1.0 / p},
                                   {.name = "elements", .number = elements}};
    qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, text, terms, sizeof terms / sizeof *terms));
}

void qdq_onnx_max_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    window w;
    bool beyond;
    qdq_onnx_call call;
    if (!read_pool(node, &w, &beyond)) return;
    qdq_onnx_begin_row(&call, node, row);
    set_pool(&call, &w, true);
    qdq_onnx_finish(&call);
}

#define AVERAGE(x)                                                                        \
    "AvgPool(" x ", kernel: kernel, strides: strides, pads_begin: begin, pads_end: end, " \
    "auto_pad: rule, data_format: NCX, exclude_pad: exclude)"

// Converts LpPool: the root of the sum of powers; padding adds nothing.
void qdq_onnx_lp_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    window w;
    bool beyond;
    double p = (double)qdq_onnx_int(node, "p", 2);
    if (!(p >= 1.0)) {
        qdq_onnx_refuse(node, "p", qdq_text_is(&node->im->graph->findings, p), "1 or more");
        return;
    }
    if (!read_pool(node, &w, &beyond)) return;
    if (is_dilated(&w)) {
        int64_t counted[QDQ_MAX_RANK];
        const qdq_onnx_sum_pool pool = sum_pool(node, row, &w, counted, false);
        qdq_onnx_term terms[] = {
            qdq_onnx_exponent(node, p), {.name = "root", .number = 1.0 / p}, {.name = "sum"}};
        terms[2].value = qdq_onnx_sum_windows(
            &pool, qdq_onnx_formula(node, row, "power = Pow(Abs(x), p)", terms, 1));
        if (terms[2].value.id)
            qdq_onnx_bind(node, 0, qdq_onnx_formula(node, row, "Pow(sum, root)", terms, 3));
        return;
    }
    bind_pool(node, row, &w, "Pow(Multiply(" AVERAGE("Pow(Abs(x), p)") ", elements), root)", p,
              false);
}

void qdq_onnx_qlinear_average_pool(qdq_onnx_node *node, const qdq_onnx_op *row) {
    window w;
    bool beyond, exclude = !qdq_onnx_int(node, "count_include_pad", 0);
    if (qdq_onnx_int(node, "channels_last", 0)) {
        qdq_onnx_refuse(node, "channels_last", "is 1", "0");
        return;
    }
    qdq_onnx_call call;
    if (!read_pool(node, &w, &beyond) || refuse_dilations(node, &w)) return;
    qdq_onnx_begin_row(&call, node, row);
    set_pool(&call, &w, false);
    qdq_onnx_set_bool(&call, "exclude_pad", exclude);
    qdq_onnx_finish(&call);
}
