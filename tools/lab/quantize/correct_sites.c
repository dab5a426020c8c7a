// SPDX-License-Identifier: Apache-2.0
#include "tools/lab/quantize/correct_sites.h"

#include <math.h>
#include <qdq/inspect.h>
#include <string.h>

#include "runtime/base/words.h"

enum { DATA, WEIGHTS, BIAS, ADDEND };

//---- Facts ------------------------------------------------------------------

static qdq_value input(const quantization *q, size_t node, size_t port) {
    if (port >= qdq_graph_node(q->graph, node).input_count) return (qdq_value){0};
    return qdq_graph_node_input(q->graph, node, port);
}

static const float *float_elements(const quantization *q, qdq_value v, qdq_shape *shape) {
    qdq_dtype dtype;
    bool found = v.id && qdq_value_type(q->graph, v, &dtype, shape) && dtype == QDQ_FLOAT32;
    return found ? qdq_value_data(q->graph, v) : NULL;
}

static bool is_op(const quantization *q, size_t node, const char *op) {
    return strcmp(qdq_graph_node(q->graph, node).op, op) == 0;
}

// Returns the node that alone reads the result of a node; SIZE_MAX: several, none, or an output.
static size_t only_reader(const quantization *q, size_t node, size_t *port) {
    const coding_list *list = &q->list;
    size_t id = qdq_graph_node_output(q->graph, node, 0).id, first = list->first_reader[id];
    if (list->first_reader[id + 1] != first + 1 || list->returned[id]) return SIZE_MAX;
    *port = list->readers[first].port;
    return list->readers[first].node;
}

//---- The bias ---------------------------------------------------------------

// True if a constant that is added to the result has one element for each channel.
static bool is_per_channel(const quantization *q, const product_site *site, qdq_value v) {
    qdq_shape c, y;
    if (!float_elements(q, v, &c) || qdq_shape_count(c) != site->channels) return false;
    if (c.rank == 1 && c.dims[0] == (int64_t)site->channels && site->rows.channels_last)
        return true;
    (void)qdq_value_type(q->graph, qdq_graph_node_output(q->graph, site->node, 0), NULL, &y);
    int axis = (site->rows.channels_last ? y.rank - 1 : 1) - (y.rank - c.rank);
    return axis >= 0 && c.rank <= y.rank && c.dims[axis] == (int64_t)site->channels;
}

// Finds the constant of an Add behind a product without a bias.
static bool find_added(const quantization *q, product_site *site) {
    size_t port = 0, node = only_reader(q, site->node, &port);
    if (node == SIZE_MAX || port > 1) return false;
    bool add = is_op(q, node, "Add"), bias = is_op(q, node, "BiasAdd") && port == 0;
    qdq_value v = input(q, node, 1 - port);
    if (add && !is_per_channel(q, site, v)) return false;
    if (bias && !float_elements(q, v, &(qdq_shape){0})) return false;
    if ((!add && !bias) || coding_list_at(&q->list, node, 1 - port)) return false;
    site->reader = (qdq_node_port){node, 1 - port};
    site->bias = v;
    site->result = node;
    return true;
}

// True if the target takes a bias at a product that has none: at convolutions, and at products of
// matrices unless its bias has codes, which only a product of two matrices reads (Gemm).
static bool may_get_bias(const quantization *q, const product_site *site) {
    qdq_shape a;
    if (input(q, site->node, ADDEND).id) return false;
    if (!is_op(q, site->node, "MatMul") || q->choice.form->bias != QDQ_INT32) return true;
    return qdq_value_type(q->graph, input(q, site->node, DATA), NULL, &a) && a.rank == 2;
}

static void find_bias(const quantization *q, product_site *site) {
    qdq_value given = input(q, site->node, BIAS);
    qdq_shape shape;
    site->result = site->node;
    site->bias_coding = SIZE_MAX;
    site->reader = (qdq_node_port){site->node, BIAS};
    const qdq_coding *coding = coding_list_at(&q->list, site->node, BIAS);
    if (!given.id && coding) {  // the target needs a bias, so it has zeros
        site->bias_coding = (size_t)(coding - q->list.codings);
        site->takes_bias = true;
        return;
    }
    if (!given.id) {
        site->takes_bias = find_added(q, site) || may_get_bias(q, site);
        return;
    }
    site->bias = given;
    if (coding) site->bias_coding = (size_t)(coding - q->list.codings);
    site->takes_bias = float_elements(q, given, &shape) && shape.rank > 0 &&
                       qdq_shape_count(shape) == site->channels &&
                       shape.dims[shape.rank - 1] == (int64_t)site->channels;
}

//---- A product --------------------------------------------------------------

bool product_site_of(quantization *q, size_t node, product_site *out) {
    qdq_shape shape;
    *out = (product_site){.node = node};
    if (q->fates[node] != NODE_QUANTIZED ||
        !qdq_has_word(q->choice.form->ops, qdq_graph_node(q->graph, node).op))
        return false;
    const qdq_coding *coding = coding_list_at(&q->list, node, WEIGHTS);
    if (!coding || !coding->codes || coding->attrs.dtype != QDQ_INT8 ||
        !coding_list_at(&q->list, node, DATA) || !product_rows_of(q->graph, node, &out->rows))
        return false;
    out->channels = out->rows.channels * out->rows.groups;
    out->coding = (size_t)(coding - q->list.codings);
    out->real = float_elements(q, coding->value, &shape);
    out->weights = qdq_shape_count(shape);
    out->rounds = coding->reader_count == 1;
    if (!out->real) return false;
    find_bias(q, out);
    return true;
}

// Returns the index of the block that an element lies in, in row-major order of the grid.
static size_t block_of(const qdq_quantize_attrs *attrs, qdq_shape shape, size_t element) {
    size_t block = 0, step = 1;
    for (int i = shape.rank - 1; i >= 0; i--) {
        size_t dim = (size_t)shape.dims[i], size = dim;
        if (attrs->qtype == QDQ_PER_CHANNEL && attrs->axis.value == i) size = 1;
        if (attrs->qtype == QDQ_PER_GROUP) size = (size_t)attrs->group_shape.data[i];
        block += element % dim / size * step;
        step *= dim / size;
        element /= dim;
    }
    return block;
}

double site_weight_scale(const quantization *q, const product_site *site, size_t weight) {
    const qdq_coding *coding = &q->list.codings[site->coding];
    qdq_shape shape = {.rank = 0};
    if (coding->attrs.scales.count == 1) return (double)coding->attrs.scales.data[0];
    (void)qdq_value_type(q->graph, coding->value, NULL, &shape);
    return (double)coding->attrs.scales.data[block_of(&coding->attrs, shape, weight)];
}

//---- Bias -------------------------------------------------------------------

void site_bias_read(const quantization *q, const product_site *site, double *out) {
    qdq_shape shape;
    const float *real = float_elements(q, site->bias, &shape);
    const qdq_coding *coding =
        site->bias_coding == SIZE_MAX ? NULL : &q->list.codings[site->bias_coding];
    if (coding && !coding->reader_count) coding = NULL;
    for (size_t c = 0; c < site->channels; c++) {
        if (!coding) {
            out[c] = real ? (double)real[c] : 0;
        } else if (coding->attrs.dtype == QDQ_INT32) {
            qdq_floats scales = coding->attrs.scales;
            out[c] = ((const int32_t *)coding->codes)[c] * (double)scales.data[c % scales.count];
        } else {
            out[c] = (double)((const float *)coding->codes)[c];
        }
    }
}

// Sets the scales of a new bias: of x times those of the weights. False if they do not fit.
static bool scale_bias(quantization *q, const product_site *site, qdq_quantize_attrs *out) {
    const qdq_quantize_attrs *w = &q->list.codings[site->coding].attrs;
    const qdq_coding *x = coding_list_at(&q->list, site->node, DATA);
    float *scales = coding_list_memory(&q->list, w->scales.count, sizeof *scales);
    if (!scales || w->qtype == QDQ_PER_GROUP ||
        (w->scales.count != 1 && w->scales.count != site->channels))
        return false;
    for (size_t i = 0; i < w->scales.count; i++) {
        scales[i] = x->attrs.scales.data[0] * w->scales.data[i];
        if (!(scales[i] >= 0x1p-126F)) return false;
    }
    *out = (qdq_quantize_attrs){.dtype = QDQ_INT32,
                                .scales = {scales, w->scales.count, w->scales.scalar}};
    if (!w->scales.scalar) out->qtype = QDQ_PER_CHANNEL, out->axis = QDQ_INT(0);
    return true;
}

// Adds a coding for the bias: int32 codes for a new bias of a target that takes them, else float32.
static bool add_bias(quantization *q, product_site *site) {
    qdq_coding coding = {.value = site->bias, .attrs = {.dtype = QDQ_FLOAT32}};
    coding.shape = (qdq_shape){1, {(int64_t)site->channels}};
    if (!site->bias.id && q->choice.form->bias == QDQ_INT32)
        (void)scale_bias(q, site, &coding.attrs);
    qdq_node_port *reader = coding_list_memory(&q->list, 1, sizeof *reader);
    if (!reader || q->list.failed) return false;
    *reader = site->reader;
    coding.readers = reader;
    site->bias_coding = coding_list_add(&q->list, coding);
    return !q->list.failed;
}

// Returns the code of a bias that leaves room in int32 for the sum of `depth` products.
static int32_t bias_code(double code, size_t depth) {
    double most = fmax(2147483392 - 255.0 * 128 * (double)depth, 1073741824);
    return (int32_t)fmin(fmax(nearbyint(code), -most), most);
}

bool site_bias_write(quantization *q, product_site *site, const double *bias) {
    if (site->bias_coding == SIZE_MAX && !add_bias(q, site)) return false;
    void *codes = coding_list_memory(&q->list, site->channels, 4);
    qdq_coding *coding = &q->list.codings[site->bias_coding];
    if (!codes) return false;
    for (size_t c = 0; c < site->channels; c++) {
        qdq_floats scales = coding->attrs.scales;
        if (coding->attrs.dtype == QDQ_INT32)
            ((int32_t *)codes)[c] =
                bias_code(bias[c] / (double)scales.data[c % scales.count], site->rows.depth);
        else
            ((float *)codes)[c] = (float)bias[c];
    }
    coding->codes = codes;
    coding->reader_count = 1;
    return true;
}

site_codes site_codes_now(const quantization *q, const product_site *site) {
    site_codes now = {.weights = q->list.codings[site->coding].codes};
    if (site->bias_coding != SIZE_MAX) {
        now.bias = q->list.codings[site->bias_coding].codes;
        now.bias_readers = q->list.codings[site->bias_coding].reader_count;
    }
    return now;
}

void site_codes_restore(quantization *q, const product_site *site, site_codes codes) {
    q->list.codings[site->coding].codes = codes.weights;
    if (site->bias_coding == SIZE_MAX) return;
    if (codes.bias) q->list.codings[site->bias_coding].codes = codes.bias;
    q->list.codings[site->bias_coding].reader_count = codes.bias_readers;
}
