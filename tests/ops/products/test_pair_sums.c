// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv whose pairs saturate, against sums of
// pairs computed here: of every dtype pair, in every mode, across the blocks of rows, columns and k
// with a remainder, with zero points of tensors, rows, columns and channels.
#include "runtime/numerics/pair_sum.h"
#include "tests/ops/products/integer_products.h"

static const qdq_numerics saturating = {.pair_sums = QDQ_PAIR_SUMS_SATURATE};
static const qdq_dtype bytes[2] = {QDQ_INT8, QDQ_UINT8};

// How large the weights are: none saturates, some columns have a pair that does, or most pairs do.
typedef enum weight_size { SMALL, FEW, LARGE, WEIGHT_SIZES } weight_size;

// Codes at the ends of the range half of the time.
static void fill_activations(tensor *t, uint64_t *seed) {
    tensor_fill(t, seed);
    int least = product_least(t->dtype);
    for (size_t i = 0; i < tensor_count(t); i++) {
        uint64_t r = unit_random(seed) >> 20;
        if (r & 1) tensor_put(t, i, r & 2 ? least : least + 255);
    }
}

static void fill_weights(tensor *t, weight_size size, uint64_t *seed) {
    for (size_t i = 0; i < tensor_count(t); i++) {
        uint64_t r = unit_random(seed) >> 20;
        int code = (int)(r % 256);
        if (size == SMALL || (size == FEW && r >> 10 & 15)) code = code % 129;
        if (t->dtype == QDQ_INT8) code = code > 128 || size == LARGE ? code - 128 : code - 64;
        tensor_put(t, i, code);
    }
}

// The sum of the pairs of n products of codes; `saturates`: each pair does.
static int64_t pairs_of(const int64_t *a, const int64_t *b, size_t n, bool saturates) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i += 2) {
        int64_t pair = a[i] * b[i] + (i + 1 < n ? a[i + 1] * b[i + 1] : 0);
        if (saturates && pair > 32767) pair = 32767;
        if (saturates && pair < -32768) pair = -32768;
        sum += pair;
    }
    return sum;
}

// The sum of a row and a column with zero points, wrapped to 32 bits.
static int32_t sum_of(const int64_t *a, const int64_t *b, size_t n, int64_t za, int64_t zb,
                      bool saturates) {
    int64_t sum = pairs_of(a, b, n, saturates);
    for (size_t i = 0; i < n; i++) sum += za * zb - za * b[i] - zb * a[i];
    return wrapped(sum);
}

//---- Matrices ---------------------------------------------------------------

typedef struct matmul_example {
    size_t batch, m, k, n;  // batch 0: no batch dim
    qdq_dtype a, b;
    bool rows, columns;  // zero points of rows and of columns; else of the tensors
    bool no_zeros, b_is_shared;
    weight_size weights;
} matmul_example;

static qdq_shape matrix_shape(size_t batch, size_t rows, size_t columns) {
    if (!batch) return QDQ_SHAPE((int64_t)rows, (int64_t)columns);
    return QDQ_SHAPE((int64_t)batch, (int64_t)rows, (int64_t)columns);
}

static void set_matmul_inputs(const matmul_example *e, bool scaled, tensor *in) {
    uint64_t seed = 11 + e->k * 3 + e->n;
    qdq_shape of_rows = QDQ_SHAPE(e->rows ? (int64_t)e->m : 1);
    qdq_shape of_columns = QDQ_SHAPE(e->columns ? (int64_t)e->n : 1);
    in[A] = tensor_of("a", e->a, matrix_shape(e->batch, e->m, e->k));
    in[B] = tensor_of("b", e->b, matrix_shape(e->b_is_shared ? 0 : e->batch, e->k, e->n));
    if (!e->no_zeros || scaled) {
        in[A_ZERO] = tensor_of("az", e->a, of_rows);
        in[B_ZERO] = tensor_of("bz", e->b, of_columns);
        tensor_fill(&in[A_ZERO], &seed), tensor_fill(&in[B_ZERO], &seed);
    }
    fill_activations(&in[A], &seed), fill_weights(&in[B], e->weights, &seed);
    if (!scaled) return;
    in[A_SCALE] = tensor_of("as", QDQ_FLOAT32, of_rows);
    in[B_SCALE] = tensor_of("bs", QDQ_FLOAT32, of_columns);
    in[Y_SCALE] = tensor_of("ys", QDQ_FLOAT32, QDQ_SHAPE(1));
    in[Y_ZERO] = tensor_of("yz", e->a, QDQ_SHAPE(1));
    tensor_fill(&in[Y_ZERO], &seed);
    fill_scales(&in[A_SCALE], &seed, 0.02, false), fill_scales(&in[B_SCALE], &seed, 0.01, false);
    fill_scales(&in[Y_SCALE], &seed, 0.03 * sqrt((double)e->k), false);
}

static void check_matmul(const matmul_example *e, bool scaled) {
    tensor in[MATMUL_PORTS] = {{0}};
    set_matmul_inputs(e, scaled, in);
    bool saturates = e->a == QDQ_UINT8 && e->b == QDQ_INT8;
    tensor y = tensor_of("y", scaled ? e->a : QDQ_INT32, matrix_shape(e->batch, e->m, e->n));
    int64_t *a = oracle_memory(e->k * sizeof *a), *b = oracle_memory(e->k * sizeof *b);
    for (size_t i = 0; i < tensor_count(&y); i++) {
        size_t c = i % e->n, r = i / e->n % e->m, n = i / e->n / e->m, nb = e->b_is_shared ? 0 : n;
        for (size_t k = 0; k < e->k; k++) {
            a[k] = value(&in[A], (n * e->m + r) * e->k + k);
            b[k] = value(&in[B], (nb * e->k + k) * e->n + c);
        }
        int32_t sum = sum_of(a, b, e->k, (int64_t)of_index(&in[A_ZERO], r),
                             (int64_t)of_index(&in[B_ZERO], c), saturates);
        double want = sum;
        if (scaled)
            want = requantized(sum, of_index(&in[A_SCALE], r), of_index(&in[B_SCALE], c),
                               tensor_at(&in[Y_SCALE], 0), value(&in[Y_ZERO], 0), e->a);
        tensor_put(&y, i, want);
    }
    product_check_with(scaled ? "QLinearMatMul" : "MatMulInteger", in, MATMUL_PORTS,
                       scaled ? build_qlinear_matmul : build_matmul_integer, NULL, &saturating, &y);
    tensors_free(in, MATMUL_PORTS), free(a), free(b), free(y.data);
}

static void pairs_of_matrices_saturate(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},    {1, 3, 33},   {5, 2, 3},      {12, 129, 32},
                                      {13, 511, 7}, {61, 47, 65}, {49, 513, 257}, {2, 1027, 31}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int how = 0; how < 4; how++) {
            if (unit_left_out(4 * i + (size_t)how)) continue;
            matmul_example e = {.m = sizes[i][0],
                                .k = sizes[i][1],
                                .n = sizes[i][2],
                                .a = QDQ_UINT8,
                                .b = QDQ_INT8,
                                .rows = how & 1,
                                .columns = how & 2,
                                .no_zeros = how == 3,
                                .weights = (weight_size)((i + (size_t)how) % WEIGHT_SIZES)};
            check_matmul(&e, how & 1);
            check_matmul(&e, !(how & 1));
        }
}

static void other_dtypes_are_exact(void **state) {
    (void)state;
    for (int types = 0; types < 4; types++)
        for (int scaled = 0; scaled < 2; scaled++)
            check_matmul(&(matmul_example){.m = 7,
                                           .k = 35,
                                           .n = 33,
                                           .a = bytes[types & 1],
                                           .b = bytes[types >> 1],
                                           .columns = true,
                                           .weights = LARGE},
                         scaled);
}

static void batches_saturate(void **state) {
    (void)state;
    for (int scaled = 0; scaled < 2; scaled++)
        for (int shared = 0; shared < 2; shared++)
            check_matmul(&(matmul_example){.batch = 3,
                                           .m = 25,
                                           .k = 37,
                                           .n = 34,
                                           .a = QDQ_UINT8,
                                           .b = QDQ_INT8,
                                           .columns = scaled,
                                           .b_is_shared = shared,
                                           .weights = LARGE},
                         scaled);
}

// There is no room for all k of so many rows.
static void long_rows_saturate(void **state) {
    (void)state;
    check_matmul(&(matmul_example){.m = 61,
                                   .k = 4103,
                                   .n = 33,
                                   .a = QDQ_UINT8,
                                   .b = QDQ_INT8,
                                   .columns = true,
                                   .weights = LARGE},
                 false);
}

//---- Convolutions -----------------------------------------------------------

// The elements under the window and the weights of an output, in the order of k of the op: channels
// innermost, or taps.
typedef struct window {
    int64_t *x, *w;
    size_t n;
} window;

static void put(window *to, const conv_example *e, const tensor *in, bool channels_last,
                const int64_t *at, int64_t i, int64_t ky, int64_t kx) {
    int64_t inputs = e->inputs / e->groups, taps = e->kernel[0] * e->kernel[1];
    int64_t tap = ky * e->kernel[1] + kx, group = at[1] / (e->outputs / e->groups);
    int64_t y = at[2] * e->strides[0] + ky * e->dilations[0] - e->begin[0];
    int64_t x = at[3] * e->strides[1] + kx * e->dilations[1] - e->begin[1];
    size_t k = (size_t)(channels_last ? tap * inputs + i : i * taps + tap);
    bool inside = y >= 0 && y < e->in[0] && x >= 0 && x < e->in[1];
    int64_t pixel = ((at[0] * e->inputs + group * inputs + i) * e->in[0] + y) * e->in[1] + x;
    to->x[k] = inside ? value(&in[X], (size_t)pixel) : (int64_t)of_index(&in[X_ZERO], 0);
    to->w[k] = value(&in[W], (size_t)((at[1] * inputs + i) * taps + tap));
    to->n = (size_t)(inputs * taps);
}

// ONNX Runtime's depthwise kernel multiplies without pairs, but takes one zero point of w only.
static bool is_depthwise(const conv_example *e, const tensor *in) {
    bool alike = true;
    for (size_t o = 1; o < tensor_count(&in[W_ZERO]); o++)
        alike &= value(&in[W_ZERO], o) == value(&in[W_ZERO], 0);
    return e->inputs == e->groups && e->outputs == e->groups && alike;
}

static int32_t conv_sum(const conv_example *e, const tensor *in, bool scaled, const int64_t *at,
                        window *to) {
    bool saturates = scaled ? e->x == QDQ_UINT8 && e->w == QDQ_INT8 && !is_depthwise(e, in)
                            : e->x == QDQ_INT8 && e->w == QDQ_UINT8;
    for (int64_t i = 0; i < e->inputs / e->groups; i++)
        for (int64_t ky = 0; ky < e->kernel[0]; ky++)
            for (int64_t kx = 0; kx < e->kernel[1]; kx++) put(to, e, in, scaled, at, i, ky, kx);
    return sum_of(to->x, to->w, to->n, (int64_t)of_index(&in[X_ZERO], 0),
                  (int64_t)of_index(&in[W_ZERO], (size_t)at[1]), saturates);
}

static int64_t out_of(const conv_example *e, int d) {
    int64_t reach = (e->kernel[d] - 1) * e->dilations[d] + 1;
    return (e->in[d] + e->begin[d] + e->end[d] - reach) / e->strides[d] + 1;
}

static void set_conv_inputs(const conv_example *e, bool scaled, weight_size weights, tensor *in) {
    uint64_t seed = 21 + (uint64_t)(e->inputs * 7 + e->outputs);
    qdq_shape channels = QDQ_SHAPE(e->per_channel ? e->outputs : 1);
    in[X] = tensor_of("x", e->x, QDQ_SHAPE(e->batch, e->inputs, e->in[0], e->in[1]));
    in[W] = tensor_of("w", e->w,
                      QDQ_SHAPE(e->outputs, e->inputs / e->groups, e->kernel[0], e->kernel[1]));
    in[X_ZERO] = tensor_of("xz", e->x, QDQ_SHAPE(1));
    in[W_ZERO] = tensor_of("wz", e->w, channels);
    fill_activations(&in[X], &seed), fill_weights(&in[W], weights, &seed);
    tensor_fill(&in[X_ZERO], &seed), tensor_fill(&in[W_ZERO], &seed);
    if (!scaled) return;
    in[X_SCALE] = tensor_of("xs", QDQ_FLOAT32, QDQ_SHAPE(1));
    in[W_SCALE] = tensor_of("ws", QDQ_FLOAT32, channels);
    in[CONV_Y_SCALE] = tensor_of("ys", QDQ_FLOAT32, QDQ_SHAPE(1));
    in[CONV_Y_ZERO] = tensor_of("yz", e->x, QDQ_SHAPE(1));
    in[BIAS] = tensor_of("bias", QDQ_INT32, QDQ_SHAPE(e->outputs));
    tensor_fill(&in[CONV_Y_ZERO], &seed), tensor_fill(&in[BIAS], &seed);
    fill_scales(&in[X_SCALE], &seed, 0.02, false), fill_scales(&in[W_SCALE], &seed, 0.01, false);
    fill_scales(&in[CONV_Y_SCALE], &seed, 0.2, false);
}

static void check_conv(const conv_example *e, bool scaled, weight_size weights) {
    tensor in[CONV_PORTS] = {{0}};
    int64_t out[2] = {out_of(e, 0), out_of(e, 1)};
    set_conv_inputs(e, scaled, weights, in);
    tensor y =
        tensor_of("y", scaled ? e->x : QDQ_INT32, QDQ_SHAPE(e->batch, e->outputs, out[0], out[1]));
    size_t depth = (size_t)(e->inputs * e->kernel[0] * e->kernel[1]);
    window k = {oracle_memory(depth * sizeof *k.x), oracle_memory(depth * sizeof *k.w), 0};
    for (size_t i = 0; i < tensor_count(&y); i++) {
        int64_t n = (int64_t)i;
        int64_t at[4] = {n / out[1] / out[0] / e->outputs, n / out[1] / out[0] % e->outputs,
                         n / out[1] % out[0], n % out[1]};
        size_t o = (size_t)at[1];
        int32_t sum = conv_sum(e, in, scaled, at, &k);
        double want = sum;
        if (scaled)
            want = requantized(wrapped(sum + (int64_t)tensor_at(&in[BIAS], o)),
                               of_index(&in[X_SCALE], 0), of_index(&in[W_SCALE], o),
                               tensor_at(&in[CONV_Y_SCALE], 0), value(&in[CONV_Y_ZERO], 0), e->x);
        tensor_put(&y, i, want);
    }
    product_check_with(scaled ? "QLinearConv" : "ConvInteger", in, CONV_PORTS,
                       scaled ? build_qlinear_conv : build_conv_integer, e, &saturating, &y);
    tensors_free(in, CONV_PORTS), free(k.x), free(k.w), free(y.data);
}

// One product, odd channels that pair across taps, groups of many and of one output, depthwise with
// several zero points and with one, groups of one channel with two outputs, strides, dilations,
// padding at both ends, a window as large as two k blocks.
// clang-format off
static const conv_example convolutions[] = {
    {1, 1, 3, 9, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, QDQ_UINT8, QDQ_INT8, false, false},
    {2, 1, 5, 33, {8, 7}, {3, 2}, {2, 1}, {1, 2}, {1, 2}, {1, 2}, QDQ_UINT8, QDQ_INT8, true, false},
    {2, 2, 6, 20, {8, 8}, {3, 3}, {1, 2}, {2, 1}, {1, 1}, {2, 0}, QDQ_UINT8, QDQ_INT8, true, false},
    {1, 4, 12, 4, {6, 19}, {2, 3}, {1, 1}, {1, 1}, {0, 1}, {1, 1}, QDQ_UINT8, QDQ_INT8, false, false},
    {1, 6, 6, 6, {6, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, QDQ_UINT8, QDQ_INT8, true, false},
    {1, 6, 6, 6, {6, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, QDQ_UINT8, QDQ_INT8, false, false},
    {1, 3, 3, 6, {6, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, QDQ_UINT8, QDQ_INT8, true, false},
    {1, 1, 37, 10, {4, 22}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, QDQ_UINT8, QDQ_INT8, false, false},
    {1, 1, 41, 9, {9, 8}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}, QDQ_UINT8, QDQ_INT8, true, false},
    {1, 1, 2, 3, {12, 12}, {9, 9}, {1, 1}, {1, 1}, {4, 0}, {0, 4}, QDQ_UINT8, QDQ_INT8, true, false},
};
// clang-format on

static void pairs_of_convolutions_saturate(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(convolutions); i++)
        for (int weights = 0; weights < WEIGHT_SIZES; weights++)
            if (!unit_left_out(4 * i + (size_t)weights))
                check_conv(&convolutions[i], true, (weight_size)weights);
}

// The unsigned operand is w.
static void conv_integer_saturates_with_signed_elements(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(convolutions); i++) {
        conv_example e = convolutions[i];
        check_conv(&e, false, LARGE);
        e.x = QDQ_INT8, e.w = QDQ_UINT8;
        check_conv(&e, false, (weight_size)(i % WEIGHT_SIZES));
    }
}

static void other_convolutions_are_exact(void **state) {
    (void)state;
    for (int types = 0; types < 4; types++) {
        conv_example e = convolutions[1];
        e.x = bytes[types & 1], e.w = bytes[types >> 1];
        check_conv(&e, true, LARGE);
        check_conv(&e, false, LARGE);
    }
}

//---- The static rule --------------------------------------------------------

// Whether a pair of weights saturates with any two of 256 codes from `least` on.
static bool saturates_somewhere(int w0, int w1, int least) {
    for (int a0 = least; a0 < least + 256; a0++)
        for (int a1 = least; a1 < least + 256; a1++)
            if (a0 * w0 + a1 * w1 > 32767 || a0 * w0 + a1 * w1 < -32768) return true;
    return false;
}

static void the_static_rule_finds_the_pairs_that_can_saturate(void **state) {
    (void)state;
    for (int w0 = -128; w0 < 128; w0 += 3)
        for (int w1 = -128; w1 < 128; w1++) {
            if (unit_left_out(256 * (uint64_t)(w0 + 128) + (uint64_t)(w1 + 128))) continue;
            assert_int_equal(qdq_pair_can_saturate(w0, w1, false), saturates_somewhere(w0, w1, 0));
            assert_int_equal(qdq_pair_can_saturate(w0 + 128, w1 + 128, true),
                             saturates_somewhere(w0 + 128, w1 + 128, -128));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_matrices_saturate),
        cmocka_unit_test(other_dtypes_are_exact),
        cmocka_unit_test(batches_saturate),
        cmocka_unit_test(long_rows_saturate),
        cmocka_unit_test(pairs_of_convolutions_saturate),
        cmocka_unit_test(conv_integer_saturates_with_signed_elements),
        cmocka_unit_test(other_convolutions_are_exact),
        cmocka_unit_test(the_static_rule_finds_the_pairs_that_can_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
