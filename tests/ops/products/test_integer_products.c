// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, ConvInteger, QLinearMatMul and QLinearConv against 64-bit sums that are wrapped to
// 32 bits and rescaled exactly.
#include "tests/ops/products/integer_products.h"

static const qdq_dtype bytes[2] = {QDQ_INT8, QDQ_UINT8};

//---- Matrices ---------------------------------------------------------------

// a and b both have a batch dim, or neither has.
typedef struct matmul_example {
    size_t batch, m, k, n;
    qdq_dtype a, b;
    qdq_shape a_zero, b_zero;  // rank -1: no zero point
    bool b_is_shared, powers;
} matmul_example;

#define NONE \
    { .rank = -1 }

static qdq_shape matrix_shape(size_t batch, size_t rows, size_t columns) {
    if (!batch) return QDQ_SHAPE((int64_t)rows, (int64_t)columns);
    return QDQ_SHAPE((int64_t)batch, (int64_t)rows, (int64_t)columns);
}

// The index of a parameter: [], [1], [M], [batch, M, 1].
static size_t parameter_at(const tensor *t, size_t n, size_t count, size_t i) {
    return t->name && t->shape.rank > 1 ? n * count + i : i;
}

static void check_matmul(const matmul_example *e, bool scaled) {
    uint64_t seed = 5 + e->k;
    tensor in[MATMUL_PORTS] = {{0}};
    in[A] = tensor_of("a", e->a, matrix_shape(e->batch, e->m, e->k));
    in[B] = tensor_of("b", e->b, matrix_shape(e->b_is_shared ? 0 : e->batch, e->k, e->n));
    if (e->a_zero.rank >= 0) in[A_ZERO] = tensor_of("az", e->a, e->a_zero);
    if (e->b_zero.rank >= 0) in[B_ZERO] = tensor_of("bz", e->b, e->b_zero);
    if (scaled) {
        in[A_SCALE] = tensor_of("as", QDQ_FLOAT32, e->a_zero);
        in[B_SCALE] = tensor_of("bs", QDQ_FLOAT32, e->b_zero);
        in[Y_SCALE] = tensor_of("ys", QDQ_FLOAT32, QDQ_SHAPE(1));
        in[Y_ZERO] = tensor_of("yz", e->a, QDQ_SHAPE(1));
    }
    for (int i = 0; i < MATMUL_PORTS; i++)
        if (in[i].name) tensor_fill(&in[i], &seed);
    if (scaled) {
        fill_scales(&in[A_SCALE], &seed, 0.02, e->powers);
        fill_scales(&in[B_SCALE], &seed, 0.01, e->powers);
        fill_scales(&in[Y_SCALE], &seed, 0.02 * sqrt((double)e->k), e->powers);
    }
    tensor y = tensor_of("y", scaled ? e->a : QDQ_INT32, matrix_shape(e->batch, e->m, e->n));
    for (size_t i = 0; i < tensor_count(&y); i++) {
        size_t c = i % e->n, r = i / e->n % e->m, n = i / e->n / e->m;
        size_t row = parameter_at(&in[A_ZERO], n, e->m, r);
        size_t column = parameter_at(&in[B_ZERO], n, e->n, c), nb = e->b_is_shared ? 0 : n;
        int64_t sum = 0;
        for (size_t k = 0; k < e->k; k++)
            sum +=
                (value(&in[A], (n * e->m + r) * e->k + k) - (int64_t)of_index(&in[A_ZERO], row)) *
                (value(&in[B], (nb * e->k + k) * e->n + c) -
                 (int64_t)of_index(&in[B_ZERO], column));
        double want = wrapped(sum);
        if (scaled)
            want = requantized(wrapped(sum), of_index(&in[A_SCALE], row),
                               of_index(&in[B_SCALE], column), tensor_at(&in[Y_SCALE], 0),
                               value(&in[Y_ZERO], 0), e->a);
        tensor_put(&y, i, want);
    }
    product_check(scaled ? "QLinearMatMul" : "MatMulInteger", in, MATMUL_PORTS,
                  scaled ? build_qlinear_matmul : build_matmul_integer, NULL, &y);
    tensors_free(in, MATMUL_PORTS), free(y.data);
}

static void products_of_bytes_are_exact(void **state) {
    (void)state;
    static const size_t sizes[][3] = {{1, 1, 1},     {1, 7, 33},    {5, 2, 3},
                                      {12, 128, 32}, {13, 131, 47}, {70, 257, 129}};
    for (int types = 0; types < 4; types++)
        for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
            matmul_example e = {
                0,    sizes[i][0], sizes[i][1], sizes[i][2], bytes[types & 1], bytes[types >> 1],
                NONE, NONE,        false,       i % 2};
            check_matmul(&e, false);
            e.a_zero = e.b_zero = QDQ_SHAPE(1);
            check_matmul(&e, false);
            check_matmul(&e, true);
            e.a_zero = QDQ_SHAPE((int64_t)e.m), e.b_zero = QDQ_SHAPE((int64_t)e.n);
            check_matmul(&e, false);
            check_matmul(&e, true);
        }
}

static void batches_have_zero_points_of_their_own(void **state) {
    (void)state;
    const qdq_shape one = {0};
    for (int scaled = 0; scaled < 2; scaled++) {
        check_matmul(&(matmul_example){3, 5, 9, 33, QDQ_UINT8, QDQ_INT8, QDQ_SHAPE(3, 5, 1),
                                       QDQ_SHAPE(3, 1, 33), false, false},
                     scaled);
        check_matmul(&(matmul_example){3, 5, 9, 33, QDQ_INT8, QDQ_INT8, QDQ_SHAPE(3, 5, 1), one,
                                       true, false},
                     scaled);
        check_matmul(
            &(matmul_example){4, 25, 9, 33, QDQ_UINT8, QDQ_UINT8, one, QDQ_SHAPE(33), true, true},
            scaled);
    }
}

// 2^31 / 255^2 is 33026: a sum of that many products of the largest codes wraps around.
static void sums_wrap_around(void **state) {
    (void)state;
    enum { K = 33100 };
    tensor in[MATMUL_PORTS] = {{0}};
    in[A] = tensor_of("a", QDQ_UINT8, QDQ_SHAPE(1, K));
    in[B] = tensor_of("b", QDQ_UINT8, QDQ_SHAPE(K, 1));
    memset(in[A].data, 255, K), memset(in[B].data, 255, K);
    tensor y = tensor_of("y", QDQ_INT32, QDQ_SHAPE(1, 1));
    tensor_put(&y, 0, (double)(int64_t)(K * 65025LL - (1LL << 32)));
    product_check("wrap", in, MATMUL_PORTS, build_matmul_integer, NULL, &y);
    tensors_free(in, MATMUL_PORTS), free(y.data);
}

//---- Convolutions -----------------------------------------------------------

// The sum at position (r, c) of output channel o of image n. Padding holds x's zero point, so it
// adds nothing.
static int64_t conv_sum(const conv_example *e, const tensor *in, int64_t n, int64_t o, int64_t r,
                        int64_t c) {
    int64_t inputs = e->inputs / e->groups, first = o / (e->outputs / e->groups) * inputs, sum = 0;
    int64_t x_zero = (int64_t)of_index(&in[X_ZERO], 0);
    int64_t w_zero = (int64_t)of_index(&in[W_ZERO], (size_t)o);
    for (int64_t i = 0; i < inputs; i++)
        for (int64_t p = 0; p < e->kernel[0]; p++)
            for (int64_t q = 0; q < e->kernel[1]; q++) {
                int64_t y = r * e->strides[0] + p * e->dilations[0] - e->begin[0];
                int64_t x = c * e->strides[1] + q * e->dilations[1] - e->begin[1];
                if (y < 0 || y >= e->in[0] || x < 0 || x >= e->in[1]) continue;
                int64_t at = ((n * e->inputs + first + i) * e->in[0] + y) * e->in[1] + x;
                int64_t w = ((o * inputs + i) * e->kernel[0] + p) * e->kernel[1] + q;
                sum += (value(&in[X], (size_t)at) - x_zero) * (value(&in[W], (size_t)w) - w_zero);
            }
    return sum;
}

static void check_conv(const conv_example *e, bool scaled) {
    uint64_t seed = 11;
    int64_t out[2];
    for (int d = 0; d < 2; d++)
        out[d] = (e->in[d] + e->begin[d] + e->end[d] - (e->kernel[d] - 1) * e->dilations[d] - 1) /
                     e->strides[d] +
                 1;
    qdq_shape channels = e->per_channel ? QDQ_SHAPE(e->outputs) : (qdq_shape){0};
    tensor in[CONV_PORTS] = {{0}};
    in[X] = tensor_of("x", e->x, QDQ_SHAPE(e->batch, e->inputs, e->in[0], e->in[1]));
    in[W] = tensor_of("w", e->w,
                      QDQ_SHAPE(e->outputs, e->inputs / e->groups, e->kernel[0], e->kernel[1]));
    in[X_ZERO] = tensor_of("xz", e->x, QDQ_SHAPE(1));
    in[W_ZERO] = tensor_of("wz", e->w, channels);
    if (scaled) {
        in[X_SCALE] = tensor_of("xs", QDQ_FLOAT32, (qdq_shape){0});
        in[W_SCALE] = tensor_of("ws", QDQ_FLOAT32, channels);
        in[CONV_Y_SCALE] = tensor_of("ys", QDQ_FLOAT32, (qdq_shape){0});
        in[CONV_Y_ZERO] = tensor_of("yz", e->w, (qdq_shape){0});
        in[BIAS] = tensor_of("bias", QDQ_INT32, QDQ_SHAPE(e->outputs));
    }
    for (int i = 0; i < CONV_PORTS; i++)
        if (in[i].name) tensor_fill(&in[i], &seed);
    if (scaled) {
        fill_scales(&in[X_SCALE], &seed, 0.02, e->powers);
        fill_scales(&in[W_SCALE], &seed, 0.01, e->powers);
        fill_scales(&in[CONV_Y_SCALE], &seed, 0.1, e->powers);
    }
    tensor y =
        tensor_of("y", scaled ? e->w : QDQ_INT32, QDQ_SHAPE(e->batch, e->outputs, out[0], out[1]));
    for (int64_t i = 0; i < (int64_t)tensor_count(&y); i++) {
        int64_t c = i % out[1], r = i / out[1] % out[0];
        int64_t o = i / out[1] / out[0] % e->outputs, n = i / out[1] / out[0] / e->outputs;
        int64_t sum = conv_sum(e, in, n, o, r, c);
        double want = wrapped(sum);
        if (scaled)
            want = requantized(wrapped(sum + value(&in[BIAS], (size_t)o)),
                               tensor_at(&in[X_SCALE], 0), of_index(&in[W_SCALE], (size_t)o),
                               tensor_at(&in[CONV_Y_SCALE], 0), value(&in[CONV_Y_ZERO], 0), e->w);
        tensor_put(&y, (size_t)i, want);
    }
    product_check(scaled ? "QLinearConv" : "ConvInteger", in, CONV_PORTS,
                  scaled ? build_qlinear_conv : build_conv_integer, e, &y);
    if (!scaled)
        product_check("ConvInteger, channels last", in, CONV_PORTS, build_conv_integer_last, e, &y);
    tensors_free(in, CONV_PORTS), free(y.data);
}

static void convolutions_of_bytes_are_exact(void **state) {
    (void)state;
    static const conv_example examples[] = {
        {2, 1, 5, 7, {9, 11}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, .per_channel = false},
        {1, 1, 19, 37, {9, 8}, {3, 2}, {2, 1}, {1, 2}, {0, 2}, {1, 0}, .per_channel = true},
        {1, 3, 6, 9, {5, 6}, {1, 3}, {1, 2}, {2, 1}, {2, 0}, {0, 1}, .per_channel = true},
        {2, 35, 35, 35, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, .per_channel = true},
        {1, 1, 64, 3, {13, 5}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, .per_channel = false},
    };
    for (size_t i = 0; i < UNIT_COUNT(examples); i++)
        for (int types = 0; types < 4; types++) {
            conv_example e = examples[i];
            e.x = bytes[types & 1], e.w = bytes[types >> 1], e.powers = i % 2;
            check_conv(&e, false);
            check_conv(&e, true);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_of_bytes_are_exact),
        cmocka_unit_test(batches_have_zero_points_of_their_own),
        cmocka_unit_test(sums_wrap_around),
        cmocka_unit_test(convolutions_of_bytes_are_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
