// SPDX-License-Identifier: Apache-2.0
// QGemm and MatMulIntegerToFloat against sums in 64 bits that are scaled step by step in float32:
// every pair of dtypes, transposed operands, alpha, every shape of a bias, y of codes and of
// floats, with and without saturating pairs.
#include "tests/ops/products/integer_products.h"

enum { F_BIAS = MATMUL_PORTS, FUSED_PORTS };

typedef enum bias_shape { NO_BIAS, ONE, COLUMNS, ROWS, MATRIX, BIAS_SHAPES } bias_shape;

typedef struct example {
    size_t m, k, n;
    qdq_dtype a, b, y;  // y QDQ_FLOAT32: no y_scale
    bias_shape bias;
    bool gemm, transpose_a, transpose_b, per_column, no_zeros, saturates, powers;
    bool fused;  // the bias is added with one rounding
    double alpha;
} example;

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    if (!e->gemm)
        return qdq_matmul_integer_to_float(
            g, (qdq_matmul_integer_to_float_attrs){.name = "y",
                                                   .a = v[A],
                                                   .b = v[B],
                                                   .a_scale = v[A_SCALE],
                                                   .b_scale = v[B_SCALE],
                                                   .a_zero_point = v[A_ZERO],
                                                   .b_zero_point = v[B_ZERO],
                                                   .bias = v[F_BIAS]});
    return qdq_qgemm(g, (qdq_qgemm_attrs){.name = "y",
                                          .a = v[A],
                                          .a_scale = v[A_SCALE],
                                          .a_zero_point = v[A_ZERO],
                                          .b = v[B],
                                          .b_scale = v[B_SCALE],
                                          .b_zero_point = v[B_ZERO],
                                          .bias = v[F_BIAS],
                                          .y_scale = v[Y_SCALE],
                                          .y_zero_point = v[Y_ZERO],
                                          .transpose_a = e->transpose_a ? QDQ_TRUE : QDQ_FALSE,
                                          .transpose_b = e->transpose_b ? QDQ_TRUE : QDQ_FALSE,
                                          .alpha = QDQ_FLOAT(e->alpha)});
}

static qdq_shape shape_of(size_t rows, size_t columns, bool transposed) {
    int64_t r = (int64_t)rows, c = (int64_t)columns;
    return transposed ? QDQ_SHAPE(c, r) : QDQ_SHAPE(r, c);
}

static void set_inputs(const example *e, tensor *in) {
    uint64_t seed = 31 + e->k * 5 + e->n;
    qdq_shape columns = QDQ_SHAPE(e->per_column ? (int64_t)e->n : 1), one = {0};
    qdq_shape biases[BIAS_SHAPES] = {one, one, QDQ_SHAPE((int64_t)e->n),
                                     QDQ_SHAPE((int64_t)e->m, 1),
                                     QDQ_SHAPE((int64_t)e->m, (int64_t)e->n)};
    in[A] = tensor_of("a", e->a, shape_of(e->m, e->k, e->transpose_a));
    in[B] = tensor_of("b", e->b, shape_of(e->k, e->n, e->transpose_b));
    if (!e->no_zeros) in[A_ZERO] = tensor_of("az", e->a, one);
    if (!e->no_zeros) in[B_ZERO] = tensor_of("bz", e->b, columns);
    in[A_SCALE] = tensor_of("as", QDQ_FLOAT32, one);
    in[B_SCALE] = tensor_of("bs", QDQ_FLOAT32, columns);
    if (e->y != QDQ_FLOAT32) in[Y_SCALE] = tensor_of("ys", QDQ_FLOAT32, one);
    if (e->y != QDQ_FLOAT32 && !e->no_zeros) in[Y_ZERO] = tensor_of("yz", e->y, one);
    if (e->bias) in[F_BIAS] = tensor_of("bias", e->gemm ? QDQ_INT32 : QDQ_FLOAT32, biases[e->bias]);
    for (int i = 0; i < FUSED_PORTS; i++)
        if (in[i].name) tensor_fill(&in[i], &seed);
    fill_scales(&in[A_SCALE], &seed, 0.02, e->powers);
    fill_scales(&in[B_SCALE], &seed, 0.01, e->powers);
    if (in[Y_SCALE].name) fill_scales(&in[Y_SCALE], &seed, 0.02 * sqrt((double)e->k), e->powers);
}

static double bias_at(const example *e, const tensor *bias, size_t r, size_t c) {
    const size_t at[BIAS_SHAPES] = {0, 0, c, r, r * e->n + c};
    return e->bias ? tensor_at(bias, at[e->bias]) : 0;
}

// The sum of a row and a column, without the bias.
static int64_t sum_of(const example *e, const tensor *in, size_t r, size_t c) {
    int64_t za = (int64_t)of_index(&in[A_ZERO], 0), zb = (int64_t)of_index(&in[B_ZERO], c);
    int64_t sum = 0, pair = 0;
    for (size_t k = 0; k < e->k; k++) {
        int64_t a = value(&in[A], e->transpose_a ? k * e->m + r : r * e->k + k);
        int64_t b = value(&in[B], e->transpose_b ? c * e->k + k : k * e->n + c);
        sum += za * zb - za * b - zb * a;
        pair += a * b;
        if (k % 2 == 0 && k + 1 < e->k) continue;
        if (e->saturates && e->a == QDQ_UINT8 && e->b == QDQ_INT8)
            pair = pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair;
        sum += pair, pair = 0;
    }
    return sum;
}

static double wanted(const example *e, const tensor *in, size_t r, size_t c) {
    int64_t sum = sum_of(e, in, r, c);
    double bias = bias_at(e, &in[F_BIAS], r, c), zero = of_index(&in[Y_ZERO], 0);
    double a = oracle_mul((double)(float)e->alpha, tensor_at(&in[A_SCALE], 0));
    if (e->gemm) sum += (int64_t)bias;
    if (e->y != QDQ_FLOAT32)
        return requantized(wrapped(sum), a, of_index(&in[B_SCALE], c), tensor_at(&in[Y_SCALE], 0),
                           (int64_t)zero, e->y);
    double m = oracle_mul(a, of_index(&in[B_SCALE], c));
    double of_sum = oracle_of_integer(wrapped(sum)), y = oracle_mul(of_sum, m);
    if (e->fused && e->bias) return oracle_fma(of_sum, m, bias);
    return e->gemm || !e->bias ? y : oracle_add(y, bias);
}

static void check(const example *e) {
    const qdq_numerics numerics = {
        .pair_sums = e->saturates ? QDQ_PAIR_SUMS_SATURATE : QDQ_PAIR_SUMS_EXACT,
        .float_ops = e->fused ? QDQ_FLOAT_OPS_ONNX_RUNTIME_ARM : QDQ_FLOAT_OPS_ONNX_RUNTIME};
    tensor in[FUSED_PORTS] = {{0}}, y = tensor_of("y", e->y, shape_of(e->m, e->n, false));
    set_inputs(e, in);
    for (size_t i = 0; i < tensor_count(&y); i++)
        tensor_put(&y, i, wanted(e, in, i / e->n, i % e->n));
    product_check_with(e->gemm ? "QGemm" : "MatMulIntegerToFloat", in, FUSED_PORTS, build, e,
                       &numerics, &y);
    tensors_free(in, FUSED_PORTS), free(y.data);
}

//---- Tests ------------------------------------------------------------------

static const size_t sizes[][3] = {{1, 1, 1}, {1, 7, 33}, {5, 2, 3}, {61, 129, 47}, {13, 515, 261}};
static const qdq_dtype bytes[2] = {QDQ_INT8, QDQ_UINT8};
static const double alphas[] = {1, 0.3, -2};

// Every fourth run saturates, and so on, so that all choices meet.
static void check_all(bool gemm, bool fused) {
    unsigned how = 0;
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int bias = 0; bias < BIAS_SHAPES; bias++, how += 7) {
            example e = {.m = sizes[i][0],
                         .k = sizes[i][1],
                         .n = sizes[i][2],
                         .a = how & 3 ? QDQ_UINT8 : QDQ_INT8,
                         .b = how & 4 ? QDQ_INT8 : bytes[how >> 3 & 1],
                         .y = QDQ_FLOAT32,
                         .bias = (bias_shape)bias,
                         .gemm = gemm,
                         .per_column = how & 1,
                         .no_zeros = how % 5 == 4,
                         .saturates = how & 2,
                         .powers = how % 3 == 2,
                         .alpha = 1,
                         .fused = fused};
            if (gemm) {
                e.transpose_a = how & 8, e.transpose_b = how & 1;
                e.alpha = alphas[how % 3];
                check(&e);
                e.y = e.no_zeros ? e.a : bytes[how >> 1 & 1];
            }
            check(&e);
        }
}

static void qgemm_scales_sums_and_their_bias(void **state) {
    (void)state;
    check_all(true, false);
}

static void matmul_integer_to_float_adds_the_bias_last(void **state) {
    (void)state;
    check_all(false, false);
}

static void on_aarch64_matmul_integer_to_float_rounds_once(void **state) {
    (void)state;
    check_all(false, true);
}

static void a_zero_point_of_y_wants_a_scale(void **state) {
    (void)state;
    const example e = {.m = 2, .k = 3, .n = 4, .gemm = true, .alpha = 1};
    tensor in[FUSED_PORTS] = {[A] = {"a", QDQ_UINT8, QDQ_SHAPE(2, 3), NULL},
                              [B] = {"b", QDQ_INT8, QDQ_SHAPE(3, 4), NULL},
                              [A_SCALE] = {"as", QDQ_FLOAT32, {0}, NULL},
                              [B_SCALE] = {"bs", QDQ_FLOAT32, {0}, NULL},
                              [Y_ZERO] = {"yz", QDQ_UINT8, {0}, NULL}};
    product_refused(in, FUSED_PORTS, build, &e, "core/port-missing",
                    "node 'y': QGemm: y_scale is missing, wanted a scale, as y_zero_point is "
                    "given; connect it under \"inputs\"");
}

//---- Storage ----------------------------------------------------------------

enum { M = 5, K = 16, N = 37 };

static qdq_value build_to_float(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    qdq_matmul_integer_to_float_attrs attrs = {
        .a = v[0], .b = v[1], .a_scale = v[2], .b_scale = v[2]};
    return qdq_reorder(g, qdq_matmul_integer_to_float(g, attrs), (qdq_unary_attrs){0});
}

static qdq_value build_nbits(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    qdq_matmul_nbits_attrs attrs = {
        .a = v[0], .b = v[1], .b_scale = v[2], .block_size = QDQ_INT(16)};
    return qdq_reorder(g, qdq_matmul_nbits(g, attrs), (qdq_unary_attrs){0});
}

// y_scale is a value between nodes.
static qdq_value build_requantized(qdq_graph *g, const qdq_value *v, const void *self) {
    (void)self;
    qdq_qgemm_attrs attrs = {.a = v[0],
                             .b = v[1],
                             .a_scale = v[2],
                             .b_scale = v[2],
                             .y_scale = qdq_abs(g, v[3], (qdq_unary_attrs){0})};
    return qdq_qgemm(g, attrs);
}

// Compares a * (b - b_zero), as bfloat16 or divided by 2048 to int8, with a graph whose floats are
// stored as bfloat16. Scales are 1, so sums are integers, most of which bfloat16 must round.
static void check_stored(qdq_dtype a, qdq_dtype b, int b_zero, product_build *add, qdq_dtype y) {
    uint64_t seed = 9;
    tensor in[4] = {tensor_of("a", a, QDQ_SHAPE(M, K)), tensor_of("b", b, QDQ_SHAPE(K, N)),
                    tensor_of("scale", QDQ_FLOAT32, QDQ_SHAPE(1)),
                    tensor_of("y_scale", QDQ_FLOAT32, QDQ_SHAPE(1))};
    tensor want = tensor_of("y", y, QDQ_SHAPE(M, N)), got = tensor_of("out", y, want.shape);
    // MatMulNBits quantizes rows of floats: with a 127 in each, their scales are 1.
    for (size_t i = 0; i < M * K; i++)
        tensor_put(&in[0], i, i % K ? (double)(unit_random(&seed) % 255) - 127 : 127);
    for (size_t i = 0; i < K * N; i++)
        tensor_put(&in[1], i, (double)(unit_random(&seed) % 256) - 128 + b_zero);
    tensor_put(&in[2], 0, 1), tensor_put(&in[3], 0, 2048);
    const small_format *f = small_format_of(QDQ_BFLOAT16);
    for (size_t i = 0; i < M * N; i++) {
        double sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += tensor_at(&in[0], i / N * K + k) * (tensor_at(&in[1], k * N + i % N) - b_zero);
        tensor_put(&want, i,
                   y == QDQ_INT8 ? fmax(-128, fmin(127, rint(sum / 2048)))
                                 : small_value(f, small_encode(f, sum, QDQ_FLOAT_OVERFLOW)));
    }
    for (int way = 0; way < 4; way++) {
        qdq_compile_options options = {.float_storage = QDQ_FLOAT_BFLOAT16, .materialize = way & 1};
        product_run_as(in, y == QDQ_INT8 ? 4 : 3, 0, add, NULL, &options, way & 2 ? 3 : 1, &got);
        for (size_t i = 0; i < M * N; i++)
            if (tensor_at(&got, i) != tensor_at(&want, i))
                fail_msg("way %d, element %zu: got %.9g, want %.9g", way, i, tensor_at(&got, i),
                         tensor_at(&want, i));
    }
    tensors_free(in, 4), free(want.data), free(got.data);
}

static void results_of_matmul_integer_to_float_have_the_dtype_of_their_storage(void **unused) {
    (void)unused;
    check_stored(QDQ_INT8, QDQ_INT8, 0, build_to_float, QDQ_FLOAT32);
}

static void results_of_matmul_nbits_have_the_dtype_of_their_storage(void **unused) {
    (void)unused;
    check_stored(QDQ_FLOAT32, QDQ_UINT8, 128, build_nbits, QDQ_FLOAT32);
}

static void the_y_scale_of_qgemm_has_the_dtype_of_its_storage(void **unused) {
    (void)unused;
    check_stored(QDQ_INT8, QDQ_INT8, 0, build_requantized, QDQ_INT8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_of_matmul_integer_to_float_have_the_dtype_of_their_storage),
        cmocka_unit_test(results_of_matmul_nbits_have_the_dtype_of_their_storage),
        cmocka_unit_test(the_y_scale_of_qgemm_has_the_dtype_of_its_storage),
        cmocka_unit_test(qgemm_scales_sums_and_their_bias),
        cmocka_unit_test(matmul_integer_to_float_adds_the_bias_last),
        cmocka_unit_test(on_aarch64_matmul_integer_to_float_rounds_once),
        cmocka_unit_test(a_zero_point_of_y_wants_a_scale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
