// SPDX-License-Identifier: Apache-2.0
// Examples of Convolution and ConvTranspose and their wanted results, from naive loops in the
// documented order (the same bits). ConvTranspose is also summed in double by scattering, as its
// definition says. 1 to 3 spatial dims, groups, every layout, strides, dilations, explicit and
// automatic pads.
#ifndef QDQ_TESTS_OPS_PRODUCTS_CONVOLUTIONS_H
#define QDQ_TESTS_OPS_PRODUCTS_CONVOLUTIONS_H

#include "tests/ops/products.h"

enum { DIMS = 3 };

typedef struct example {
    bool transposed;
    int spatial;
    int64_t batch, groups, inputs, outputs;  // inputs, outputs: channels of all groups
    int64_t in[DIMS], kernel[DIMS], strides[DIMS], dilations[DIMS];
    int64_t begin[DIMS], end[DIMS], extra[DIMS];
    qdq_auto_pad auto_pad;
    qdq_data_format format;
    bool spatial_last;  // weights are OIX or IOX
    bool bias;
    bool infinite;  // the first tap of the first input channel has infinite weights
    qdq_dtype dtype;
    int64_t channel_block;  // 0: none
    bool addend;            // input 3, instead of a bias
} example;

static inline qdq_ints ints(const int64_t *data, int n) { return (qdq_ints){data, (size_t)n}; }

static inline qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    int n = e->spatial;
    if (!e->transposed)
        return qdq_convolution(
            g, v[0], v[1],
            (qdq_convolution_attrs){.name = "y",
                                    .bias = v[2],
                                    .addend = e->addend ? v[3] : (qdq_value){0},
                                    .channel_block =
                                        e->channel_block ? QDQ_INT(e->channel_block) : (qdq_int){0},
                                    .strides = ints(e->strides, n),
                                    .dilations = ints(e->dilations, n),
                                    .pads_begin = ints(e->begin, n),
                                    .pads_end = ints(e->end, n),
                                    .auto_pad = e->auto_pad,
                                    .groups = QDQ_INT(e->groups),
                                    .data_format = e->format,
                                    .weights_format = e->spatial_last ? QDQ_OIX : QDQ_XIO});
    return qdq_conv_transpose(
        g, v[0], v[1],
        (qdq_conv_transpose_attrs){.name = "y",
                                   .bias = v[2],
                                   .strides = ints(e->strides, n),
                                   .dilations = ints(e->dilations, n),
                                   .pads_begin = ints(e->begin, n),
                                   .pads_end = ints(e->end, n),
                                   .output_padding = ints(e->extra, n),
                                   .auto_pad = e->auto_pad,
                                   .groups = QDQ_INT(e->groups),
                                   .data_format = e->format,
                                   .weights_format = e->spatial_last ? QDQ_IOX : QDQ_XOI});
}

//---- Shapes -----------------------------------------------------------------

static inline qdq_shape image(const example *e, int64_t channels, const int64_t *size) {
    qdq_shape s = {.rank = e->spatial + 2, .dims = {e->batch}};
    int first = e->format == QDQ_NCX ? 2 : 1;
    s.dims[e->format == QDQ_NCX ? 1 : e->spatial + 1] = channels;
    for (int i = 0; i < e->spatial; i++) s.dims[first + i] = size[i];
    return s;
}

static inline qdq_shape weights_shape(const example *e) {
    int64_t i = e->transposed ? e->inputs : e->inputs / e->groups;
    int64_t o = e->transposed ? e->outputs / e->groups : e->outputs;
    qdq_shape s = {.rank = e->spatial + 2};
    bool inputs_first = e->transposed == e->spatial_last;  // XIO or IOX
    int at = e->spatial_last ? 0 : e->spatial;
    s.dims[at] = inputs_first ? i : o, s.dims[at + 1] = inputs_first ? o : i;
    for (int d = 0; d < e->spatial; d++) s.dims[(e->spatial_last ? 2 : 0) + d] = e->kernel[d];
    return s;
}

// Pads and sizes of the result, by the formulas of the reference.
static inline void pads_and_sizes(const example *e, int64_t *begin, int64_t *out) {
    for (int d = 0; d < e->spatial; d++) {
        int64_t eff = (e->kernel[d] - 1) * e->dilations[d] + 1, stride = e->strides[d];
        int64_t rest = e->in[d] % stride == 0 ? stride : e->in[d] % stride;
        int64_t total = eff - (e->transposed ? stride : rest), end = e->end[d];
        begin[d] = e->begin[d];
        if (total < 0) total = 0;
        if (e->auto_pad != QDQ_PAD_NONE) begin[d] = end = 0;
        if (e->auto_pad == QDQ_PAD_SAME_UPPER) begin[d] = total / 2, end = total - begin[d];
        if (e->auto_pad == QDQ_PAD_SAME_LOWER) begin[d] = (total + 1) / 2, end = total - begin[d];
        out[d] = e->transposed ? stride * (e->in[d] - 1) + eff + e->extra[d] - begin[d] - end
                               : (e->in[d] + begin[d] + end - eff) / stride + 1;
        if (e->auto_pad == QDQ_PAD_SAME_UPPER && !e->transposed)
            assert_int_equal(out[d], (e->in[d] + stride - 1) / stride);
    }
}

//---- The reference ----------------------------------------------------------

// The row-major index of coordinates.
static inline size_t at_of(qdq_shape s, const int64_t *at) {
    int64_t index = 0;
    for (int i = 0; i < s.rank; i++) index = index * s.dims[i] + at[i];
    return (size_t)index;
}

static inline size_t image_at(const example *e, qdq_shape s, int64_t n, int64_t c,
                              const int64_t *at) {
    int64_t full[DIMS + 2] = {n};
    int first = e->format == QDQ_NCX ? 2 : 1;
    full[e->format == QDQ_NCX ? 1 : e->spatial + 1] = c;
    for (int i = 0; i < e->spatial; i++) full[first + i] = at[i];
    return at_of(s, full);
}

// `i` and `o` count channels within group `g`.
static inline size_t weight_at(const example *e, qdq_shape s, int64_t g, int64_t i, int64_t o,
                               const int64_t *k) {
    int64_t full[DIMS + 2] = {0};
    if (e->transposed)
        i += g * (e->inputs / e->groups);
    else
        o += g * (e->outputs / e->groups);
    bool inputs_first = e->transposed == e->spatial_last;
    int at = e->spatial_last ? 0 : e->spatial;
    full[at] = inputs_first ? i : o, full[at + 1] = inputs_first ? o : i;
    for (int d = 0; d < e->spatial; d++) full[(e->spatial_last ? 2 : 0) + d] = k[d];
    return at_of(s, full);
}

// The next coordinates in row-major order; false after the last ones.
static inline bool next(int n, const int64_t *size, int64_t *at) {
    for (int d = n; d-- > 0; at[d] = 0)
        if (++at[d] < size[d]) return true;
    return false;
}

// Where tap `k` of the window at position `o` lies in x; false: in the padding.
static inline bool under(const example *e, const int64_t *begin, const int64_t *o, const int64_t *k,
                         int64_t *at) {
    for (int d = 0; d < e->spatial; d++) {
        int64_t p = o[d] * e->strides[d] + k[d] * e->dilations[d] - begin[d];
        if (e->transposed) {
            p = o[d] + begin[d] - k[d] * e->dilations[d];
            if (p < 0 || p % e->strides[d]) return false;
            p /= e->strides[d];
        }
        if (p < 0 || p >= e->in[d]) return false;
        at[d] = p;
    }
    return true;
}

// Returns the chain of the input channels i..end of a group under all taps.
static inline float block_sum(const example *e, const tensor *in, const int64_t *begin, int64_t n,
                              int64_t c, const int64_t *o, int64_t i, int64_t end) {
    int64_t outputs = e->outputs / e->groups, inputs = e->inputs / e->groups, g = c / outputs;
    int64_t k[DIMS] = {0}, at[DIMS] = {0};
    float sum = 0;
    do {
        bool inside = under(e, begin, o, k, at);
        for (int64_t j = i; inside && j < end; j++)
            sum = fmaf((float)tensor_at(&in[0], image_at(e, in[0].shape, n, g * inputs + j, at)),
                       (float)tensor_at(&in[1], weight_at(e, in[1].shape, g, j, c % outputs, k)),
                       sum);
    } while (next(e->spatial, e->kernel, k));
    return sum;
}

// The sums of blocks in order, behind the addend and before the bias.
static inline float blocked_element(const example *e, const tensor *in, const int64_t *begin,
                                    int64_t n, int64_t c, const int64_t *o) {
    int64_t inputs = e->inputs / e->groups, block = e->channel_block;
    float sum = 0;
    if (e->addend) sum = (float)tensor_at(&in[3], image_at(e, in[3].shape, n, c, o));
    for (int64_t i = 0; i < inputs; i += block) {
        float more = block_sum(e, in, begin, n, c, o, i, i + block < inputs ? i + block : inputs);
        sum = i || e->addend ? sum + more : more;
    }
    return in[2].name ? sum + (float)tensor_at(&in[2], (size_t)c) : sum;
}

static inline float element(const example *e, const tensor *in, const int64_t *begin, int64_t n,
                            int64_t c, const int64_t *o) {
    enum { MOST = 4096 };
    static float x[MOST], w[MOST];
    static unsigned char has[MOST];
    int64_t outputs = e->outputs / e->groups, inputs = e->inputs / e->groups, g = c / outputs;
    size_t count = 0;
    for (int64_t i = 0; i < inputs; i++) {
        int64_t k[DIMS] = {0}, at[DIMS] = {0};
        do {
            assert_in_range(count, 0, MOST - 1);
            has[count] = under(e, begin, o, k, at);
            size_t of_w = weight_at(e, in[1].shape, g, i, c % outputs, k);
            w[count] = (float)tensor_at(&in[1], of_w);
            x[count] = 0;
            if (has[count])
                x[count] =
                    (float)tensor_at(&in[0], image_at(e, in[0].shape, n, g * inputs + i, at));
            count++;
        } while (next(e->spatial, e->kernel, k));
    }
    float sum = product_sum(e->dtype, x, w, has, count);
    return in[2].name ? sum + (float)tensor_at(&in[2], (size_t)c) : sum;
}

static inline void reference(const example *e, const tensor *in, const int64_t *begin,
                             const int64_t *out, tensor *y) {
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t c = 0; c < e->outputs; c++) {
            int64_t o[DIMS] = {0};
            do {
                float v = e->channel_block ? blocked_element(e, in, begin, n, c, o)
                                           : element(e, in, begin, n, c, o);
                tensor_put(y, image_at(e, y->shape, n, c, o), v == v ? (double)v : (double)NAN);
            } while (next(e->spatial, out, o));
        }
}

// dst[ih * stride + kh * dilation - begin] += src[ih] * w[kh], in double.
static inline void check_by_scattering(const example *e, const tensor *in, const int64_t *begin,
                                       const int64_t *out, const tensor *y) {
    double *sums = calloc(tensor_count(y), sizeof *sums);
    int64_t outputs = e->outputs / e->groups, inputs = e->inputs / e->groups;
    assert_non_null(sums);
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t i = 0; i < e->inputs; i++) {
            int64_t at[DIMS] = {0};
            do {
                for (int64_t c = 0; c < outputs; c++) {
                    int64_t k[DIMS] = {0}, o[DIMS], g = i / inputs;
                    do {
                        bool inside = true;
                        for (int d = 0; d < e->spatial; d++) {
                            o[d] = at[d] * e->strides[d] + k[d] * e->dilations[d] - begin[d];
                            inside &= o[d] >= 0 && o[d] < out[d];
                        }
                        if (inside)
                            sums[image_at(e, y->shape, n, g * outputs + c, o)] +=
                                tensor_at(&in[0], image_at(e, in[0].shape, n, i, at)) *
                                tensor_at(&in[1], weight_at(e, in[1].shape, g, i % inputs, c, k));
                    } while (next(e->spatial, e->kernel, k));
                }
            } while (next(e->spatial, e->in, at));
        }
    for (size_t i = 0; i < tensor_count(y); i++) {
        assert_false(in[2].name);
        assert_true(fabs(sums[i] - tensor_at(y, i)) < 1e-4);
    }
    free(sums);
}

static inline void make_infinite(const example *e, tensor *weights) {
    const int64_t first[DIMS] = {0};
    for (int64_t g = 0; g < e->groups; g++)
        for (int64_t o = 0; o < e->outputs / e->groups; o++)
            tensor_put(weights, weight_at(e, weights->shape, g, 0, o, first),
                       o % 3 == 2 && e->dtype == QDQ_FLOAT32 ? (double)NAN : (double)INFINITY);
}

static inline void check(const example *e) {
    uint64_t seed = 99;
    char what[200];
    int64_t begin[DIMS], out[DIMS];
    pads_and_sizes(e, begin, out);
    tensor in[4] = {tensor_of("x", e->dtype, image(e, e->inputs, e->in)),
                    tensor_of("weights", e->dtype, weights_shape(e))};
    if (e->addend) in[3] = tensor_of("addend", e->dtype, image(e, e->outputs, out));
    if (e->bias) in[2] = tensor_of("bias", e->dtype, QDQ_SHAPE(e->outputs));
    tensor y = tensor_of("y", e->dtype, image(e, e->outputs, out));
    for (int i = 0; i < 4; i++)
        if (in[i].name) tensor_fill(&in[i], &seed);
    if (e->infinite) make_infinite(e, &in[1]);
    reference(e, in, begin, out, &y);
    if (!e->infinite && e->transposed && e->dtype == QDQ_FLOAT32 && !e->bias)
        check_by_scattering(e, in, begin, out, &y);
    snprintf(what, sizeof what, "%s of %d dims, groups %d, format %d, weights %d, auto_pad %d",
             e->transposed ? "ConvTranspose" : "Convolution", e->spatial, (int)e->groups,
             (int)e->format, e->spatial_last, (int)e->auto_pad);
    product_check(what, in, e->addend ? 4 : 3, build, e, &y);
    tensors_free(in, 4), free(y.data);
}

// Both ops in all layouts.
static inline void check_layouts(example e) {
    for (int i = 0; i < 8; i++) {
        e.transposed = i & 1, e.spatial_last = i & 2;
        e.format = i & 4 ? QDQ_NCX : QDQ_NXC;
        check(&e);
    }
}

#endif
