// SPDX-License-Identifier: Apache-2.0
// ConvTranspose of float32 on target onnx, which adds tap by tap, against a plain loop in the order
// of docs/onnx.md: with weights that are an input and that are a constant, in every layout.
// Channels, rows and columns cross the units of ops/products/taps/ twice.
#include "ops/conv/taps/conv_taps.h"
#include "tests/ops/products/convolutions.h"
#include "tests/ops/products/runtime_chunks.h"

//---- The order --------------------------------------------------------------

// A product of ONNX Runtime: [m, k] weights, transposed or not, by [k, n] elements of x.
typedef struct runtime_order {
    size_t m, n, k;
    bool transposed;
} runtime_order;

static float fours(const float *x, const float *w, size_t k) {
    float sum = 0;
    for (size_t i = 0, n; i < k; i += n) {
        n = k - i >= 4 ? 4 : k - i >= 2 ? 2 : 1;
        float own = x[i] * w[i];
        for (size_t j = 1; j < n; j++) own += x[i + j] * w[i + j];
        sum += own;
    }
    return sum;
}

static float eights(const float *x, const float *w, size_t k, size_t row, size_t rows) {
    float l[8] = {0};
    for (size_t i = 0; i < k; i++) l[i % 8] += x[i] * w[i];
    if (row < rows / 4 * 4)
        return (((l[0] + l[1]) + l[2]) + l[3]) + (((l[4] + l[5]) + l[6]) + l[7]);
    if (row < rows / 2 * 2)
        return ((l[0] + l[2]) + (l[4] + l[6])) + ((l[1] + l[3]) + (l[5] + l[7]));
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}

static float tap_sum(const runtime_order *o, const float *x, const float *w, size_t row) {
    if (o->n > 1) return runtime_sum(x, w, o->k, o->transposed ? 128 : runtime_chunk(o->n, o->k));
    return o->transposed ? fours(x, w, o->k) : eights(x, w, o->k, row, o->m);
}

//---- The reference ----------------------------------------------------------

static float result_at(const example *e, const tensor *in, const runtime_order *order,
                       const int64_t *begin, int64_t n, int64_t c, const int64_t *o) {
    enum { MOST = 2048 };
    float x[MOST], w[MOST], sum = 0;
    int64_t outputs = e->outputs / e->groups, inputs = e->inputs / e->groups, g = c / outputs;
    int64_t k[DIMS] = {0}, at[DIMS] = {0};
    size_t tap = 0, taps = order->m / (size_t)outputs;
    assert_in_range(inputs, 1, MOST);
    do {
        size_t row = (size_t)(c % outputs) * taps + tap++;
        if (!under(e, begin, o, k, at)) continue;
        for (int64_t i = 0; i < inputs; i++) {
            x[i] = (float)tensor_at(&in[0], image_at(e, in[0].shape, n, g * inputs + i, at));
            w[i] = (float)tensor_at(&in[1], weight_at(e, in[1].shape, g, i, c % outputs, k));
        }
        sum += tap_sum(order, x, w, row);
    } while (next(e->spatial, e->kernel, k));
    return in[2].name ? sum + (float)tensor_at(&in[2], (size_t)c) : sum;
}

static void expect(const example *e, const tensor *in, bool initial, const int64_t *begin,
                   const int64_t *out, tensor *y) {
    runtime_order order = {(size_t)(e->outputs / e->groups), 1, (size_t)(e->inputs / e->groups),
                           false};
    for (int d = 0; d < e->spatial; d++)
        order.m *= (size_t)e->kernel[d], order.n *= (size_t)e->in[d];
    order.transposed = !initial || order.m == 1 || order.k == 1;
    for (int64_t n = 0; n < e->batch; n++)
        for (int64_t c = 0; c < e->outputs; c++) {
            int64_t o[DIMS] = {0};
            do {
                float v = result_at(e, in, &order, begin, n, c, o);
                tensor_put(y, image_at(e, y->shape, n, c, o), v == v ? (double)v : (double)NAN);
            } while (next(e->spatial, out, o));
        }
}

//---- One convolution --------------------------------------------------------

static void run_ways(const example *e, const tensor *in, bool initial, const tensor *want) {
    static const struct {
        int threads;
        bool materialize;
    } ways[] = {{1, false}, {3, true}, {2, false}};
    tensor out = tensor_of("out", want->dtype, want->shape);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
        for (size_t way = 0; way < UNIT_COUNT(ways) && qdq_isa_get(isa).available; way++) {
            qdq_compile_options options = {.target = "onnx",
                                           .isa = qdq_isa_get(isa).name,
                                           .materialize = ways[way].materialize};
            product_run_as(in, 3, initial ? ~1u : 0, build, e, &options, ways[way].threads, &out);
            for (size_t i = 0; i < tensor_count(want); i++)
                if (memcmp((char *)out.data + i * sizeof(float),
                           (char *)want->data + i * sizeof(float), sizeof(float)) != 0)
                    fail_msg("%s, way %zu, format %d, weights %d, constant %d, element %zu of %zu: "
                             "got %.9g, want %.9g",
                             options.isa, way, (int)e->format, e->spatial_last, initial, i,
                             tensor_count(want), tensor_at(&out, i), tensor_at(want, i));
        }
    free(out.data);
}

// `scale`: of all numbers, so that products underflow; the bias is -0 then.
static void check_one(const example *e, double scale) {
    uint64_t seed = 17;
    int64_t begin[DIMS], out[DIMS];
    pads_and_sizes(e, begin, out);
    tensor in[3] = {tensor_of("x", QDQ_FLOAT32, image(e, e->inputs, e->in)),
                    tensor_of("weights", QDQ_FLOAT32, weights_shape(e)),
                    {0}};
    if (e->bias) in[2] = tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE(e->outputs));
    tensor want = tensor_of("y", QDQ_FLOAT32, image(e, e->outputs, out));
    for (int i = 0; i < 3 && in[i].name; i++) {
        tensor_fill(&in[i], &seed);
        for (size_t at = 0; at < tensor_count(&in[i]); at++)
            tensor_put(&in[i], at, i == 2 && scale < 1 ? -0.0 : tensor_at(&in[i], at) * scale);
    }
    if (e->infinite) make_infinite(e, &in[1]);
    for (int initial = 0; initial < 2; initial++) {
        expect(e, in, initial, begin, out, &want);
        run_ways(e, in, initial, &want);
    }
    tensors_free(in, 3), free(want.data);
}

// In every layout, and with a bias or without.
static void check_all(example e) {
    for (int i = 0; i < 4; i++) {
        if (unit_left_out((uint64_t)(i + e.in[0]))) continue;
        e.transposed = true, e.dtype = QDQ_FLOAT32;
        e.spatial_last = i & 1, e.format = i & 2 ? QDQ_NXC : QDQ_NCX, e.bias = (i + 1) & 2;
        check_one(&e, 1);
    }
}

//---- Tests ------------------------------------------------------------------

#define ONES \
    { 1, 1, 1 }
#define TWOS \
    { 2, 2, 2 }

enum {
    DEPTH = 2 * QDQ_TAPS_DEPTH + 3,      // two parts of a sum, and a chunk of each size but 1024
    OUTPUTS = 2 * QDQ_TAPS_OUTPUTS + 3,  // of which the last ones are in another panel of weights
    ROOM = QDQ_TAPS_RESULTS / QDQ_TAPS_OUTPUTS,
};

static void sums_of_taps_are_chunks_of_channels(void **unused) {
    (void)unused;
    static const int64_t sizes[][2] = {
        {12, 11}, {7, 9}, {4, 8}, {3, 5}};  // n below 256, 64, 32, 16
    example e = {.spatial = 2,
                 .batch = 2,
                 .groups = 1,
                 .inputs = DEPTH,
                 .outputs = 3,
                 .kernel = {3, 2},
                 .strides = TWOS,
                 .dilations = ONES,
                 .begin = {1, 0}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        e.in[0] = sizes[i][0], e.in[1] = sizes[i][1];
        check_all(e);
    }
    e.inputs = 1024 + 5, e.batch = 1;
    check_all(e);
    e.inputs = 512 + 7, e.in[0] = 4, e.in[1] = 7;
    check_all(e);
}

static void one_position_multiplies_a_vector(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 2,
                 .groups = 2,
                 .inputs = 2 * DEPTH,
                 .outputs = 2 * 35,
                 .in = ONES,
                 .kernel = {3, 3},
                 .strides = ONES,
                 .dilations = ONES};
    check_all(e);  // rows of the product: in fours, two, one
    e.kernel[1] = 1, e.begin[0] = 1, e.dilations[0] = 2, e.extra[0] = 1;
    check_all(e);
    e.outputs = 2, e.kernel[0] = 1, e.begin[0] = 0, e.dilations[0] = 1, e.extra[0] = 0;
    check_all(e);  // one row
    e.inputs = 2, e.kernel[0] = 4;
    check_all(e);
}

static void units_cross_channels_rows_and_columns(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 2,
                 .groups = 1,
                 .inputs = 5,
                 .outputs = OUTPUTS,
                 .in = {21, 30},
                 .kernel = {4, 4},
                 .strides = TWOS,
                 .dilations = ONES,
                 .begin = {1, 1},
                 .end = {1, 1}};
    check_all(e);
    e.groups = 2, e.inputs = 6, e.outputs = 2 * OUTPUTS, e.batch = 1;
    e.kernel[0] = 3, e.strides[0] = 1, e.strides[1] = 3, e.extra[1] = 2, e.dilations[1] = 2;
    check_all(e);
    example line = {.spatial = 1,
                    .batch = 1,
                    .groups = 1,
                    .inputs = 9,
                    .outputs = QDQ_TAPS_OUTPUTS,
                    .in = {2 * ROOM + 9},
                    .kernel = {3},
                    .strides = ONES,
                    .dilations = {2}};
    check_all(line);  // wider than a band
    line.strides[0] = 2, line.kernel[0] = 5, line.begin[0] = 3;
    check_all(line);
    line.strides[0] = QDQ_TAPS_PHASES, line.kernel[0] = 2 * QDQ_TAPS_PHASES - 3, line.in[0] = 200;
    check_all(line);
    line.strides[0] = QDQ_TAPS_PHASES + 1;  // results lie as in y
    check_all(line);
    line.outputs = 1, line.strides[0] = 2 * QDQ_TAPS_RESULTS + 3, line.in[0] = 3,
    line.kernel[0] = 2;
    check_all(line);  // most results have no tap
}

static void few_columns_of_a_wide_image_are_needed(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 1,
                 .groups = 1,
                 .inputs = 4,
                 .outputs = 3,
                 .in = {9, 70},
                 .kernel = {3, 60},
                 .strides = ONES,
                 .dilations = ONES,
                 .begin = {0, 59},
                 .end = {1, 59}};
    check_all(e);
    example volume = {.spatial = 3,
                      .batch = 1,
                      .groups = 1,
                      .inputs = 7,
                      .outputs = 5,
                      .in = {4, 6, 9},
                      .kernel = {2, 3, 3},
                      .strides = {2, 1, 2},
                      .dilations = {2, 1, 1},
                      .begin = {1, 1, 0},
                      .end = {0, 1, 2}};
    check_all(volume);
}

static void taps_beyond_the_border_have_no_product(void **unused) {
    (void)unused;
    example e = {.spatial = 2,
                 .batch = 1,
                 .groups = 1,
                 .inputs = 5,
                 .outputs = 4,
                 .in = {9, 11},
                 .kernel = {3, 3},
                 .strides = TWOS,
                 .dilations = ONES,
                 .begin = {1, 1},
                 .end = {1, 1},
                 .infinite = true};
    check_all(e);
}

// Windows that do not overlap are a product of phases (ops/conv/conv_phases.c). Sums of -0 are
// added to 0 there too.
static void no_result_is_minus_zero(void **unused) {
    (void)unused;
    example e = {.transposed = true,
                 .spatial = 2,
                 .batch = 2,
                 .groups = 2,
                 .inputs = 2 * DEPTH,
                 .outputs = 6,
                 .in = {8, 9},
                 .kernel = {2, 2},
                 .strides = TWOS,
                 .dilations = ONES,
                 .dtype = QDQ_FLOAT32,
                 .spatial_last = true,
                 .format = QDQ_NCX};
    for (int i = 0; i < 8; i++) {
        if (unit_left_out((uint64_t)i)) continue;
        e.bias = i & 1, e.strides[1] = i & 2 ? 1 : 2, e.inputs = i & 4 ? 2 : 2 * DEPTH;
        check_one(&e, 1);
        check_one(&e, 0x1p-80);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_taps_are_chunks_of_channels),
        cmocka_unit_test(one_position_multiplies_a_vector),
        cmocka_unit_test(units_cross_channels_rows_and_columns),
        cmocka_unit_test(few_columns_of_a_wide_image_are_needed),
        cmocka_unit_test(taps_beyond_the_border_have_no_product),
        cmocka_unit_test(no_result_is_minus_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
