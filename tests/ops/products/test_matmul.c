// SPDX-License-Identifier: Apache-2.0
// MatMul against a naive loop in the documented order (the same bits) and sums in double (within a
// tolerance): operands of rank 1, batches that broadcast on either side, transposes, every form of
// bias.
#include "tests/ops/products.h"

typedef struct example {
    qdq_shape a, b, bias;  // rank -1: no bias
    bool transpose_a, transpose_b;
    qdq_dtype dtype, y_dtype;  // dtype: of a and b; y_dtype: requested or none
} example;

#define NO_BIAS \
    { .rank = -1 }

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    return qdq_matmul(g, v[0], v[1],
                      (qdq_matmul_attrs){.name = "y",
                                         .bias = v[2],
                                         .transpose_a = e->transpose_a ? QDQ_TRUE : QDQ_UNSET,
                                         .transpose_b = e->transpose_b ? QDQ_TRUE : QDQ_FALSE,
                                         .dtype = e->y_dtype});
}

enum { MOST = 2048 };  // the largest k

//---- The reference ----------------------------------------------------------

// A tensor as a batch of matrices.
typedef struct matrices {
    size_t rows, columns;
    qdq_shape batch;
} matrices;

static matrices matrices_of(qdq_shape s, bool transposed, bool first) {
    if (s.rank == 1) {
        size_t n = (size_t)s.dims[0];
        return (matrices){first ? 1 : n, first ? n : 1, {0}};
    }
    matrices m = {(size_t)s.dims[s.rank - 2], (size_t)s.dims[s.rank - 1], s};
    if (transposed) m = (matrices){m.columns, m.rows, s};
    m.batch.rank -= 2;
    return m;
}

static int64_t dim_from_end(qdq_shape s, int i) { return i < s.rank ? s.dims[s.rank - 1 - i] : 1; }

// Which element of a broadcast tensor goes with an element of the other.
static size_t broadcast_at(qdq_shape from, qdq_shape onto, size_t at) {
    size_t index = 0, step = 1;
    for (int i = 0; i < onto.rank; i++) {
        size_t own = (size_t)dim_from_end(from, i), dim = (size_t)dim_from_end(onto, i);
        index += at % dim % own * step;
        step *= own, at /= dim;
    }
    return index;
}

static qdq_shape batch_of(qdq_shape a, qdq_shape b) {
    qdq_shape s = {.rank = a.rank > b.rank ? a.rank : b.rank};
    for (int i = 0; i < s.rank; i++) {
        int64_t x = dim_from_end(a, i), y = dim_from_end(b, i);
        s.dims[s.rank - 1 - i] = x > y ? x : y;
    }
    return s;
}

static qdq_shape result_shape(const example *e) {
    matrices a = matrices_of(e->a, e->transpose_a, true);
    matrices b = matrices_of(e->b, e->transpose_b, false);
    qdq_shape s = batch_of(a.batch, b.batch);
    if (e->a.rank > 1) s.dims[s.rank++] = (int64_t)a.rows;
    if (e->b.rank > 1) s.dims[s.rank++] = (int64_t)b.columns;
    return s;
}

static double element(const tensor *t, const matrices *m, bool transposed, size_t matrix, size_t r,
                      size_t c) {
    size_t at = transposed && t->shape.rank > 1 ? c * m->rows + r : r * m->columns + c;
    return tensor_at(t, matrix * m->rows * m->columns + at);
}

static void reference(const example *e, const tensor *in, tensor *y) {
    matrices a = matrices_of(e->a, e->transpose_a, true);
    matrices b = matrices_of(e->b, e->transpose_b, false);
    qdq_shape batch = batch_of(a.batch, b.batch);
    for (size_t i = 0; i < tensor_count(y); i++) {
        size_t c = i % b.columns, r = i / b.columns % a.rows, n = i / b.columns / a.rows;
        size_t na = broadcast_at(a.batch, batch, n), nb = broadcast_at(b.batch, batch, n);
        static float x[MOST], w[MOST];
        double exact = 0, size = 0;
        assert_in_range(a.columns, 0, MOST);
        for (size_t k = 0; k < a.columns; k++) {
            double p = element(&in[0], &a, e->transpose_a, na, r, k);
            double q = element(&in[1], &b, e->transpose_b, nb, k, c);
            x[k] = (float)p, w[k] = (float)q;
            exact += p * q, size += fabs(p * q);
        }
        float sum = product_sum(e->dtype, x, w, NULL, a.columns);
        if (isfinite(exact) && fabs(exact - (double)sum) > size * (double)a.columns * 0x1p-23)
            fail_msg("the reference is off: %g, %g", exact, (double)sum);
        if (in[2].name) sum += (float)tensor_at(&in[2], broadcast_at(e->bias, y->shape, i));
        tensor_put(y, i, (double)sum);
    }
}

static void check(const char *what, const example *e) {
    uint64_t seed = 77;
    tensor in[3] = {tensor_of("a", e->dtype, e->a), tensor_of("b", e->dtype, e->b), {0}};
    if (e->bias.rank >= 0) in[2] = tensor_of("bias", e->dtype, e->bias);
    tensor y = tensor_of("y", e->y_dtype ? e->y_dtype : e->dtype, result_shape(e));
    for (int i = 0; i < 3; i++)
        if (in[i].name) tensor_fill(&in[i], &seed);
    reference(e, in, &y);
    product_check(what, in, 3, build, e, &y);
    tensors_free(in, 3), free(y.data);
}

//---- Tests ------------------------------------------------------------------

static void sums_are_fused_multiply_adds_in_order_of_k(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{1, 1, 1},    {1, 7, 33},    {2, 3, 5},     {11, 64, 32},
                                       {12, 65, 1},  {13, 127, 31}, {47, 128, 65}, {49, 129, 129},
                                       {70, 69, 70}, {3, 300, 131}, {97, 1, 3}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int form = 0; form < 4; form++) {
            int64_t m = sizes[i][0], k = sizes[i][1], n = sizes[i][2];
            example e = {.bias = NO_BIAS, .dtype = QDQ_FLOAT32};
            e.transpose_a = form & 1, e.transpose_b = form & 2;
            e.a = e.transpose_a ? QDQ_SHAPE(k, m) : QDQ_SHAPE(m, k);
            e.b = e.transpose_b ? QDQ_SHAPE(n, k) : QDQ_SHAPE(k, n);
            check("sizes", &e);
        }
}

static void every_float_dtype_is_widened_and_rounded_once(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    for (size_t i = 0; i < UNIT_COUNT(dtypes); i++)
        for (int form = 0; form < 8; form++) {
            example e = {.bias = {1, {37}}, .dtype = dtypes[i]};
            e.transpose_a = form & 1, e.transpose_b = form & 2;
            e.y_dtype = form & 4 ? QDQ_FLOAT32 : QDQ_DTYPE_NONE;
            e.a = e.transpose_a ? QDQ_SHAPE(131, 15) : QDQ_SHAPE(15, 131);
            e.b = e.transpose_b ? QDQ_SHAPE(37, 131) : QDQ_SHAPE(131, 37);
            check("dtypes", &e);
        }
}

static void sums_of_bfloat16_continue_across_k_blocks(void **state) {
    (void)state;
    static const int64_t sizes[][3] = {{13, 257, 33}, {3, 511, 5}, {50, 1501, 3}, {1, 1, 1}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int form = 0; form < 4; form++) {
            int64_t m = sizes[i][0], k = sizes[i][1], n = sizes[i][2];
            example e = {.bias = NO_BIAS, .dtype = QDQ_BFLOAT16, .y_dtype = QDQ_FLOAT32};
            e.transpose_a = form & 1, e.transpose_b = form & 2;
            e.a = e.transpose_a ? QDQ_SHAPE(k, m) : QDQ_SHAPE(m, k);
            e.b = e.transpose_b ? QDQ_SHAPE(n, k) : QDQ_SHAPE(k, n);
            check("chunks", &e);
        }
}

static void operands_of_rank_1_have_no_rows_or_no_columns(void **state) {
    (void)state;
    static const example examples[] = {
        {{1, {35}}, {1, {35}}, NO_BIAS, .dtype = QDQ_FLOAT32},
        {{1, {35}}, {1, {35}}, {0, {0}}, true, true, .dtype = QDQ_FLOAT16},
        {{1, {35}}, {2, {35, 33}}, {1, {33}}, .dtype = QDQ_FLOAT32},
        {{1, {35}}, {2, {33, 35}}, NO_BIAS, true, true, .dtype = QDQ_BFLOAT16},
        {{1, {5}}, {4, {3, 2, 5, 7}}, {3, {3, 1, 7}}, .dtype = QDQ_FLOAT32},
        {{2, {14, 35}}, {1, {35}}, {1, {14}}, .dtype = QDQ_FLOAT32},
        {{4, {3, 2, 5, 7}}, {1, {5}}, {1, {1}}, true, .dtype = QDQ_FLOAT32},
        {{3, {3, 50, 7}}, {1, {7}}, {2, {3, 1}}, .dtype = QDQ_FLOAT32},
    };
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) check("vectors", &examples[i]);
}

static void dims_before_the_matrices_broadcast_on_both_sides(void **state) {
    (void)state;
    static const example examples[] = {
        {{3, {3, 5, 7}}, {3, {3, 7, 4}}, NO_BIAS, .dtype = QDQ_FLOAT32},
        {{3, {3, 5, 7}}, {2, {7, 4}}, NO_BIAS, .dtype = QDQ_FLOAT32},
        {{4, {2, 3, 25, 7}}, {4, {1, 1, 7, 40}}, {1, {40}}, .dtype = QDQ_BFLOAT16},
        {{4, {2, 1, 5, 7}}, {3, {3, 7, 4}}, {4, {2, 3, 5, 4}}, .dtype = QDQ_FLOAT32},
        {{5, {2, 2, 3, 5, 6}}, {5, {2, 2, 1, 9, 6}}, NO_BIAS, false, true, .dtype = QDQ_FLOAT32},
        {{3, {1, 6, 5}}, {5, {2, 3, 4, 6, 7}}, {4, {3, 1, 5, 1}}, true, .dtype = QDQ_FLOAT16},
        {{2, {5, 6}}, {3, {4, 6, 7}}, {3, {4, 1, 7}}, .dtype = QDQ_FLOAT32},
        {{3, {4, 30, 6}}, {2, {6, 7}}, {2, {30, 1}}, .dtype = QDQ_FLOAT32},
    };
    for (size_t i = 0; i < UNIT_COUNT(examples); i++) check("batches", &examples[i]);
}

static void a_bias_broadcasts_onto_the_result(void **state) {
    (void)state;
    static const qdq_shape shapes[] = {{0, {0}},      {1, {1}},         {1, {34}},
                                       {2, {1, 1}},   {2, {13, 1}},     {2, {1, 34}},
                                       {2, {13, 34}}, {3, {2, 13, 34}}, {3, {2, 1, 1}}};
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++)
        check("bias", &(example){{3, {2, 13, 9}}, {2, {9, 34}}, shapes[i], .dtype = QDQ_FLOAT32});
}

// 0 * infinity and infinity - infinity are NaN, always the same one; infinities pass.
static void infinities_and_nan_are_those_of_ieee(void **state) {
    (void)state;
    static const float a[] = {1, INFINITY, 0, -NAN, 1, -1, 2, 3, 0x1p-140f};
    static const float b[] = {INFINITY, 1, -1, 1, 1, -1, INFINITY, 0, 0};
    const uint32_t nan = 0x7FC00000, inf = 0x7F800000, less = 0xFF800000;
    const uint32_t want[9] = {nan, inf, less, nan, nan, nan, inf, 0x40A00000, 0xC0A00000};
    example e = {.a = {2, {3, 3}}, .b = {2, {3, 3}}, .bias = NO_BIAS, .dtype = QDQ_FLOAT32};
    tensor in[3] = {tensor_of("a", QDQ_FLOAT32, e.a), tensor_of("b", QDQ_FLOAT32, e.b), {0}};
    tensor y = tensor_of("y", QDQ_FLOAT32, e.a);
    memcpy(in[0].data, a, sizeof a), memcpy(in[1].data, b, sizeof b);
    memcpy(y.data, want, sizeof want);
    product_check("odd numbers", in, 3, build, &e, &y);
    tensors_free(in, 3), free(y.data);
}

static void refuse(example e, qdq_dtype b, const char *rule, const char *sentence) {
    tensor in[3] = {{"a", e.dtype, e.a, NULL}, {"b", b, e.b, NULL}, {0}};
    if (e.bias.rank >= 0) in[2] = (tensor){"c", e.dtype, e.bias, NULL};
    product_refused(in, 3, build, &e, rule, sentence);
}

static void mismatched_operands_are_refused(void **state) {
    (void)state;
    refuse((example){{2, {3, 4}}, {2, {5, 6}}, NO_BIAS, .dtype = QDQ_FLOAT32}, QDQ_FLOAT32,
           "core/port-shape",
           "node 'y': MatMul: b has the shape [5, 6], wanted 4 in dim 0, as many as a has columns; "
           "see docs/ops_neural_network.md");
    refuse((example){{2, {3, 4}}, {3, {2, 5, 6}}, NO_BIAS, true, true, .dtype = QDQ_FLOAT32},
           QDQ_FLOAT32, "core/port-shape",
           "node 'y': MatMul: b has the shape [2, 5, 6], wanted 3 in dim 2, as many as a has "
           "columns when transposed; see docs/ops_neural_network.md");
    refuse((example){{3, {2, 3, 4}}, {3, {3, 4, 6}}, NO_BIAS, .dtype = QDQ_FLOAT32}, QDQ_FLOAT32,
           "core/port-shape",
           "node 'y': MatMul: b has the shape [3, 4, 6], wanted dims before the last two that are "
           "equal to those of a, [2], or 1; see docs/ops_neural_network.md");
    refuse(
        (example){{2, {3, 4}}, {2, {4, 6}}, {1, {3}}, .dtype = QDQ_FLOAT32}, QDQ_FLOAT32,
        "core/port-shape",
        "node 'y': MatMul: bias has the shape [3], wanted one that can be broadcast to [3, 6], the "
        "shape of y; see docs/ops_neural_network.md");
    refuse((example){{0, {0}}, {2, {4, 6}}, NO_BIAS, .dtype = QDQ_FLOAT32}, QDQ_FLOAT32,
           "core/port-shape",
           "node 'y': MatMul: a has the shape [], wanted one dim or more; see "
           "docs/ops_neural_network.md");
    refuse((example){{2, {3, 4}}, {2, {4, 6}}, NO_BIAS, .dtype = QDQ_FLOAT32}, QDQ_FLOAT16,
           "core/port-dtype",
           "node 'y': MatMul: b is float16, wanted float32, as a is; see `qdq ops MatMul`");
    refuse(
        (example){{2, {3, 4}}, {2, {4, 6}}, NO_BIAS, .dtype = QDQ_BFLOAT16, .y_dtype = QDQ_FLOAT16},
        QDQ_BFLOAT16, "core/dtype-result",
        "node 'y': MatMul: dtype is float16, wanted bfloat16, as a is, or float32; see `qdq ops "
        "MatMul`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_fused_multiply_adds_in_order_of_k),
        cmocka_unit_test(every_float_dtype_is_widened_and_rounded_once),
        cmocka_unit_test(sums_of_bfloat16_continue_across_k_blocks),
        cmocka_unit_test(operands_of_rank_1_have_no_rows_or_no_columns),
        cmocka_unit_test(dims_before_the_matrices_broadcast_on_both_sides),
        cmocka_unit_test(a_bias_broadcasts_onto_the_result),
        cmocka_unit_test(infinities_and_nan_are_those_of_ieee),
        cmocka_unit_test(mismatched_operands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
