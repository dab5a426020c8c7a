// SPDX-License-Identifier: Apache-2.0
// Writes convolutions and pooling, whose window slides over spatial dims, and Interpolate.
#include <string.h>

#include "graph/formats/onnx/write/onnx_writers.h"
#include "runtime/numerics/dtype.h"

static const char *auto_pad(qdq_onnx_writer *w) {
    const char *word = qdq_onnx_given_word(w, "auto_pad");
    return word && strcmp(word, "None") != 0 ? word : NULL;
}

static void put_pads(qdq_onnx_writer *w, qdq_onnx_new_node *n, size_t spatial, const int64_t *end) {
    qdq_ints begin = qdq_onnx_given_ints(w, "pads_begin");
    int64_t pads[2 * QDQ_MAX_RANK] = {0};
    for (size_t i = 0; i < spatial; i++) {
        pads[i] = i < begin.count ? begin.data[i] : 0;
        pads[spatial + i] = end[i];
    }
    qdq_onnx_add_ints(w, n, "pads", (qdq_ints){pads, 2 * spatial});
}

static void put_list(qdq_onnx_writer *w, qdq_onnx_new_node *n, const char *attr) {
    qdq_ints list = qdq_onnx_given_ints(w, attr);
    if (list.count) qdq_onnx_add_ints(w, n, attr, list);
}

//---- Convolutions -----------------------------------------------------------

static void put_window(qdq_onnx_writer *w, qdq_onnx_new_node *n, size_t spatial) {
    const char *rule = auto_pad(w);
    qdq_ints given = qdq_onnx_given_ints(w, "pads_end");
    int64_t end[QDQ_MAX_RANK] = {0};
    put_list(w, n, "strides");
    put_list(w, n, "dilations");
    for (size_t i = 0; i < spatial && i < given.count; i++) end[i] = given.data[i];
    if (rule) {
        (void)qdq_onnx_given_ints(w, "pads_begin");
        qdq_onnx_add_word(w, n, "auto_pad", rule);
    } else {
        put_pads(w, n, spatial, end);
    }
    qdq_onnx_add_int(w, n, "group", qdq_onnx_given_int(w, "groups"));
}

// Returns weights as ONNX has them: XIO to OIX, XOI to IOX.
static const char *weights_of(qdq_onnx_writer *w, int rank) {
    const char *format = qdq_onnx_given_word(w, "weights_format");
    const char *name = qdq_onnx_port_name(w, "weights");
    int64_t order[QDQ_MAX_RANK] = {rank - 1, rank - 2};
    if (!format || *format != 'X') return name;
    for (int i = 2; i < rank; i++) order[i] = i - 2;
    return qdq_onnx_with_order(w, name, "weights", order, rank);
}

static bool one_dtype(qdq_onnx_writer *w) {
    const qdq_graph_value *weights = qdq_onnx_at_port(w, "weights");
    const qdq_graph_value *bias = qdq_onnx_at_port(w, "bias");
    qdq_dtype dtype = qdq_onnx_result_type(w).dtype;
    if (!qdq_onnx_keeps_dtype(w)) return false;
    if (weights->type.dtype == dtype && (!bias || bias->type.dtype == dtype)) return true;
    qdq_onnx_cannot(w, NULL, "has operands of two dtypes", "one dtype", "cast one of them");
    return false;
}

void qdq_onnx_write_conv(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    if (!one_dtype(w)) return;
    const char *x = qdq_onnx_first_channels(w, &c, qdq_onnx_port_name(w, "x"));
    const char *weights = weights_of(w, c.rank), *bias = qdq_onnx_port_name(w, "bias");
    const char *addend = qdq_onnx_port_name(w, "addend");
    if (addend) addend = qdq_onnx_first_channels(w, &c, addend), name = "FusedConv";
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 11);
    if (addend) qdq_onnx_set_domain(w, n, QDQ_ONNX_MICROSOFT);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_input(w, n, weights);
    if (bias || addend) qdq_onnx_add_input(w, n, bias ? bias : "");
    if (addend) qdq_onnx_add_input(w, n, addend);
    put_window(w, n, (size_t)c.rank - 2);
    put_list(w, n, "output_padding");
    qdq_onnx_yield_channels(w, &c, n);
}

// Writes ConvInteger and QLinearConv, whose channels are always in dim 1 there.
void qdq_onnx_write_integer_conv(qdq_onnx_writer *w, const char *name) {
    int rank = qdq_onnx_at_port(w, "x")->type.shape.rank;
    qdq_onnx_channels c = {.rank = rank};
    if (qdq_onnx_has(w, "data_format")) c = qdq_onnx_find_channels(w);
    size_t count = w->node->input_count;
    while (count && !w->node->inputs[count - 1].id) count--;
    const char *x = qdq_onnx_first_channels(w, &c, qdq_onnx_input_name(w, 0));
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 10);
    qdq_onnx_add_input(w, n, x);
    for (size_t i = 1; i < count; i++) qdq_onnx_add_input(w, n, qdq_onnx_input_name(w, i));
    put_window(w, n, (size_t)rank - 2);
    qdq_onnx_yield_channels(w, &c, n);
}

//---- Pooling ----------------------------------------------------------------

// Extends the padding at the end for the last window: ceil_mode of ONNX leaves out some windows
// that rounding up keeps.
static void end_pads(qdq_onnx_writer *w, const qdq_onnx_channels *c, int64_t *end) {
    qdq_shape x = qdq_onnx_at_port(w, "x")->type.shape, y = qdq_onnx_result_type(w).shape;
    qdq_ints kernel = qdq_onnx_given_ints(w, "kernel"), strides = qdq_onnx_given_ints(w, "strides");
    qdq_ints begin = qdq_onnx_given_ints(w, "pads_begin");
    qdq_ints given = qdq_onnx_given_ints(w, "pads_end");
    qdq_ints dilations = qdq_onnx_given_ints(w, "dilations");
    for (size_t i = 0; i + 2 < (size_t)c->rank; i++) {
        size_t dim = i + (c->last ? 1 : 2);
        int64_t reach = (kernel.data[i] - 1) * (dilations.count ? dilations.data[i] : 1) + 1;
        int64_t need = (y.dims[dim] - 1) * strides.data[i] + reach - x.dims[dim] -
                       (begin.count ? begin.data[i] : 0);
        end[i] = given.count ? given.data[i] : 0;
        if (need > end[i]) end[i] = need;
    }
}

void qdq_onnx_write_pool(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    int64_t end[QDQ_MAX_RANK] = {0};
    bool average = strcmp(w->node->op->name, "AvgPool") == 0;
    const char *rule = auto_pad(w);
    const char *x = qdq_onnx_first_channels(w, &c, qdq_onnx_port_name(w, "x"));
    (void)qdq_onnx_given_word(w, "rounding_type");
    bool columns =
        average && qdq_onnx_has(w, "columns_first") && qdq_onnx_given_bool(w, "columns_first");
    int since = !average ? 12 : !columns && w->draft->graph->opset >= 19 ? 19 : 11;
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, since);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_ints(w, n, "kernel_shape", qdq_onnx_given_ints(w, "kernel"));
    put_list(w, n, "strides");
    if (!average) put_list(w, n, "dilations");
    end_pads(w, &c, end);
    if (rule && strncmp(rule, "SAME", 4) == 0)
        qdq_onnx_add_word(w, n, "auto_pad", rule);
    else
        put_pads(w, n, (size_t)c.rank - 2, end);
    if (average)
        qdq_onnx_add_int(w, n, "count_include_pad", !qdq_onnx_given_bool(w, "exclude_pad"));
    qdq_onnx_yield_channels(w, &c, n);
}

void qdq_onnx_write_qlinear_pool(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    int64_t end[QDQ_MAX_RANK] = {0};
    const char *names[QDQ_MAX_PORTS], *rule = auto_pad(w);
    qdq_onnx_qlinear_inputs(w, names);
    names[0] = qdq_onnx_first_channels(w, &c, names[0]);
    (void)qdq_onnx_given_word(w, "rounding_type");
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 1);
    qdq_onnx_make_qlinear(w, n, names);
    qdq_onnx_add_ints(w, n, "kernel_shape", qdq_onnx_given_ints(w, "kernel"));
    put_list(w, n, "strides");
    end_pads(w, &c, end);
    if (rule && strncmp(rule, "SAME", 4) == 0)
        qdq_onnx_add_word(w, n, "auto_pad", rule);
    else
        put_pads(w, n, (size_t)c.rank - 2, end);
    qdq_onnx_add_int(w, n, "count_include_pad", !qdq_onnx_given_bool(w, "exclude_pad"));
    qdq_onnx_yield_channels(w, &c, n);
}

//---- Interpolate ------------------------------------------------------------

// Sizes are written, never scales: they give the same positions.
void qdq_onnx_write_interpolate(qdq_onnx_writer *w, const char *name) {
    qdq_onnx_channels c = qdq_onnx_find_channels(w);
    qdq_shape y = qdq_onnx_result_type(w).shape, sizes = y;
    bool nearest = strcmp(qdq_onnx_given_word(w, "mode"), "nearest") == 0;
    const char *coordinates = qdq_onnx_given_word(w, "coordinate_transformation_mode");
    (void)qdq_onnx_given_ints(w, "sizes"), (void)qdq_onnx_given_list(w, "scales");
    const char *x = qdq_onnx_first_channels(w, &c, qdq_onnx_port_name(w, "x"));
    if (c.last) sizes.dims[1] = y.dims[y.rank - 1];
    for (int i = 2; i < y.rank && c.last; i++) sizes.dims[i] = y.dims[i - 1];
    const char *list = qdq_onnx_new_ints(w, "sizes", (qdq_ints){sizes.dims, (size_t)y.rank});
    qdq_onnx_new_node *n = qdq_onnx_emit_channels(w, &c, name, 13);
    qdq_onnx_add_input(w, n, x);
    qdq_onnx_add_input(w, n, NULL);
    qdq_onnx_add_input(w, n, NULL);
    qdq_onnx_add_input(w, n, list);
    qdq_onnx_add_word(w, n, "mode", nearest ? "nearest" : "linear");
    qdq_onnx_add_word(w, n, "coordinate_transformation_mode", coordinates);
    if (nearest) qdq_onnx_add_word(w, n, "nearest_mode", "round_prefer_ceil");
    qdq_onnx_yield_channels(w, &c, n);
}
