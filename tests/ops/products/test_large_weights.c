// SPDX-License-Identifier: Apache-2.0
// Constant dequantized weights that are transposed or moved on the way to a product: they are
// packed when the graph is compiled, into several panels and a remainder. All numbers are small
// integers times a power of two, so every order of summation is exact.
#include "ops/gemm/gemm.h"
#include "tests/ops/large_graph.h"

// A Dequantize of constant codes; numbers[i] gets the real values, halves of (code - zero point).
static qdq_value weights(qdq_graph *g, uint64_t *state, qdq_dtype dtype, qdq_shape shape,
                         double *numbers) {
    tensor codes = tensor_of(NULL, dtype, shape);
    int zero = dtype == QDQ_INT8 ? 0 : 2;
    for (size_t i = 0; i < tensor_count(&codes); i++) {
        int code = zero + (int)large_pick(state, 5) - 2;
        tensor_put(&codes, i, code);
        numbers[i] = (code - zero) * 0.5;
    }
    qdq_value v = qdq_constant(g, "w", dtype, shape, codes.data);
    free(codes.data);
    return qdq_dequantize(g, v,
                          (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.5f),
                                                 .zps = QDQ_ZP(zero),
                                                 .dtype = QDQ_FLOAT32});
}

//---- Transposed convolutions ------------------------------------------------

typedef struct scatter {
    size_t groups, inputs, outputs, kernel, stride, size, made;  // channels of one group
    bool spatial_last;
} scatter;

static size_t weight_at(const scatter *s, size_t group, size_t in, size_t out, size_t k) {
    size_t input = group * s->inputs + in, all = s->groups * s->inputs;
    return s->spatial_last ? (input * s->outputs + out) * s->kernel + k
                           : (k * s->outputs + out) * all + input;
}

// Adds x[i] * w[k] to y[i * stride + k]; channels come first.
static void scatter_all(const scatter *s, const tensor *x, const double *w, double *y) {
    size_t outputs = s->groups * s->outputs;
    memset(y, 0, outputs * s->made * sizeof *y);
    for (size_t g = 0; g < s->groups; g++)
        for (size_t in = 0; in < s->inputs; in++)
            for (size_t out = 0; out < s->outputs; out++)
                for (size_t k = 0; k < s->kernel; k++)
                    for (size_t i = 0; i < s->size; i++)
                        y[(g * s->outputs + out) * s->made + i * s->stride + k] +=
                            tensor_at(x, (g * s->inputs + in) * s->size + i) *
                            w[weight_at(s, g, in, out, k)];
}

static void check_transposed(scatter s, qdq_dtype dtype, uint64_t seed) {
    uint64_t state = large_state(seed);
    int64_t stride = (int64_t)s.stride, one = 1;
    int64_t inputs = (int64_t)(s.groups * s.inputs), outputs = (int64_t)s.outputs;
    large_graph c;
    tensor *x;
    large_graph_begin(&c, s.spatial_last ? "ConvTranspose IOX" : "ConvTranspose XOI");
    large_say(&c, " ", QDQ_SHAPE(1, inputs, (int64_t)s.size), dtype);
    s.made = (s.size - 1) * s.stride + s.kernel;
    qdq_value v = large_input(&c, QDQ_FLOAT32, QDQ_SHAPE(1, inputs, (int64_t)s.size), &x);
    large_fill_whole(x, &state, 3);
    qdq_shape shape = s.spatial_last ? QDQ_SHAPE(inputs, outputs, (int64_t)s.kernel)
                                     : QDQ_SHAPE((int64_t)s.kernel, outputs, inputs);
    double *w = oracle_memory(qdq_shape_count(shape) * sizeof *w);
    qdq_value packed = weights(c.graph, &state, dtype, shape, w);
    tensor y =
        tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(1, (int64_t)s.groups * outputs, (int64_t)s.made));
    double *sums = oracle_memory(tensor_count(&y) * sizeof *sums);
    scatter_all(&s, x, w, sums);
    for (size_t i = 0; i < tensor_count(&y); i++) large_put(&y, i, sums[i]);
    free(w), free(sums);
    qdq_conv_transpose_attrs attrs = {.strides = {&stride, 1},
                                      .dilations = {&one, 1},
                                      .groups = QDQ_INT((int64_t)s.groups),
                                      .data_format = QDQ_NCX,
                                      .weights_format = s.spatial_last ? QDQ_IOX : QDQ_XOI};
    large_output(&c, qdq_conv_transpose(c.graph, v, packed, attrs), y);
    large_graph_check(&c, seed);
}

static void weights_of_transposed_convolutions_are_packed(void **unused) {
    enum { PANEL = QDQ_GEMM_COLUMNS };
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_UINT8, QDQ_UINT4};
    (void)unused;
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t state = large_state(i);
        scatter s = {.groups = 1 + i % 2,
                     .inputs = 9 + large_pick(&state, 9),
                     .outputs = large_across(&state, PANEL),
                     .kernel = 1 + i % 3,
                     .stride = 1 + i / 2 % 2,
                     .size = 40 + large_pick(&state, 40),
                     .spatial_last = i / 2 % 2};
        check_transposed(s, dtypes[i % 3], i);
    }
}

//---- Quantized movement -----------------------------------------------------

// a [rows, depth] by w [columns, depth] transposed. With `fast` all of it is integer, and the codes
// of w are transposed when the graph is compiled.
static void check_moved(uint64_t seed) {
    uint64_t state = large_state(seed);
    int64_t rows = 5, depth = (int64_t)large_across(&state, 64), columns = 77;
    large_graph c;
    tensor *x, y = tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(rows, columns));
    large_graph_begin(&c, "MatMul by turned codes");
    qdq_value a = large_input(&c, QDQ_INT8, QDQ_SHAPE(rows, depth), &x);
    large_fill_whole(x, &state, 3);
    double *w = oracle_memory((size_t)(columns * depth) * sizeof *w);
    qdq_value b =
        weights(c.graph, &state, seed % 2 ? QDQ_INT8 : QDQ_UINT8, QDQ_SHAPE(columns, depth), w);
    b = qdq_transpose(c.graph, b, (qdq_transpose_attrs){.order = QDQ_INTS(1, 0)});
    if (seed % 3 == 0) b = qdq_reorder(c.graph, b, (qdq_unary_attrs){0});
    for (int64_t r = 0; r < rows; r++)
        for (int64_t k = 0; k < columns; k++) {
            double sum = 0;
            for (int64_t d = 0; d < depth; d++)
                sum += tensor_at(x, (size_t)(r * depth + d)) * w[k * depth + d];
            large_put(&y, (size_t)(r * columns + k), sum);
        }
    free(w);
    a = qdq_dequantize(c.graph, a,
                       (qdq_dequantize_attrs){.scales = QDQ_SCALE(1.0f), .dtype = QDQ_FLOAT32});
    large_output(&c, qdq_matmul(c.graph, a, b, (qdq_matmul_attrs){0}), y);
    large_graph_check(&c, seed);
}

static void constant_codes_are_moved_when_compiling(void **unused) {
    (void)unused;
    for (uint64_t i = 0; i < 6; i++) check_moved(i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_of_transposed_convolutions_are_packed),
        cmocka_unit_test(constant_codes_are_moved_when_compiling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
