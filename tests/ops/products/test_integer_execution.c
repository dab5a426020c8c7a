// SPDX-License-Identifier: Apache-2.0
// Integer execution of products of Dequantize results: compared with the literal product, and both
// with exact arithmetic.
#include "tests/ops/products/integer_execution.h"

//---- Matrices ---------------------------------------------------------------

typedef struct example {
    qdq_shape a, b, y;
    size_t batch, m, k, n;
    bool transpose_a, transpose_b, b_is_shared, bias;
    code_params of_a, of_b;
} example;

static qdq_value build(qdq_graph *g, const qdq_value *v, const void *self) {
    const example *e = self;
    return qdq_matmul(g, qdq_dequantize(g, v[0], codes_attrs(&e->of_a)),
                      qdq_dequantize(g, v[1], codes_attrs(&e->of_b)),
                      (qdq_matmul_attrs){.name = "y",
                                         .bias = v[2],
                                         .transpose_a = e->transpose_a ? QDQ_TRUE : QDQ_FALSE,
                                         .transpose_b = e->transpose_b ? QDQ_TRUE : QDQ_FALSE});
}

static code_sum sum_of(const example *e, const tensor *in, size_t i) {
    size_t c = i % e->n, r = i / e->n % e->m, batch = i / e->n / e->m;
    size_t first_a = batch * e->m * e->k, first_b = e->b_is_shared ? 0 : batch * e->k * e->n;
    code_sum s = {0};
    for (size_t k = 0; k < e->k; k++) {
        size_t at_a = first_a + (e->transpose_a ? k * e->m + r : r * e->k + k);
        size_t at_b = first_b + (e->transpose_b ? c * e->k + k : k * e->n + c);
        codes_add(&s, codes_less_zero(&e->of_a, &in[0], at_a, 0),
                  codes_less_zero(&e->of_b, &in[1], at_b, c));
    }
    codes_scale_sum(&s, codes_scale(&e->of_a, 0), codes_scale(&e->of_b, c),
                    e->bias ? tensor_at(&in[2], c) : 0);
    return s;
}

static code_errors check(example *e, code_scales scales, bool per_channel, bool middle) {
    uint64_t seed = 77 + e->k + e->n;
    e->of_a.axis = e->of_b.axis = -1;
    e->of_a.count = e->of_b.count = 1;
    if (per_channel) {
        e->of_b.axis = e->b.rank - (e->transpose_b ? 2 : 1);
        e->of_b.count = e->n;
    }
    codes_choose(&e->of_a, scales, false, &seed);
    codes_choose(&e->of_b, scales, middle, &seed);
    tensor in[3] = {tensor_of("a", e->of_a.dtype, e->a), tensor_of("b", e->of_b.dtype, e->b),
                    tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE((int64_t)e->n))};
    for (int i = 0; i < 3; i++) tensor_fill(&in[i], &seed);
    if (!e->bias) in[2].name = NULL;
    code_sum *sums = oracle_memory(qdq_shape_count(e->y) * sizeof *sums);
    for (size_t i = 0; i < qdq_shape_count(e->y); i++) sums[i] = sum_of(e, in, i);
    code_errors errors = codes_check(
        &(code_check){"MatMul", in, build, e, e->y, e->k, sums, scales == CODES_POWERS});
    tensors_free(in, 3), free(sums);
    return errors;
}

static qdq_shape matrix(size_t batch, size_t rows, size_t columns) {
    if (!batch) return QDQ_SHAPE((int64_t)rows, (int64_t)columns);
    return QDQ_SHAPE((int64_t)batch, (int64_t)rows, (int64_t)columns);
}

static example example_of(size_t batch, size_t m, size_t k, size_t n, int how) {
    example e = {.batch = batch, .m = m, .k = k, .n = n};
    e.transpose_a = how & 1, e.transpose_b = how & 2, e.bias = how & 4;
    e.b_is_shared = batch && how & 8;
    e.a = e.transpose_a ? matrix(batch, k, m) : matrix(batch, m, k);
    size_t of_b = e.b_is_shared ? 0 : batch;
    e.b = e.transpose_b ? matrix(of_b, n, k) : matrix(of_b, k, n);
    e.y = matrix(batch, m, n);
    return e;
}

static const qdq_dtype pairs[][2] = {
    {QDQ_INT8, QDQ_INT8}, {QDQ_UINT8, QDQ_INT8}, {QDQ_UINT8, QDQ_UINT8}, {QDQ_INT8, QDQ_UINT8}};
static const qdq_dtype narrow_pairs[][2] = {
    {QDQ_INT8, QDQ_INT4}, {QDQ_UINT8, QDQ_UINT4}, {QDQ_INT4, QDQ_UINT2}, {QDQ_UINT4, QDQ_INT2}};

static const size_t sizes[][4] = {{0, 1, 1, 1},     {0, 5, 2, 3},   {0, 13, 131, 47},
                                  {0, 49, 257, 33}, {3, 4, 30, 9},  {2, 50, 128, 32},
                                  {0, 1, 300, 64},  {4, 1, 129, 35}};

static code_errors check_all(code_scales scales, const qdq_dtype (*dtypes)[2]) {
    code_errors all = {0};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++)
        for (int how = 0; how < 16; how++) {
            example e = example_of(sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], how);
            e.of_a.dtype = dtypes[(i + (size_t)how / 4) % 4][0];
            e.of_b.dtype = dtypes[(i + (size_t)how / 4) % 4][1];
            code_errors one = check(&e, scales, (how ^ how >> 2) & 1, (how >> 1 ^ how >> 3) & 1);
            all.integer += one.integer, all.literal += one.literal, all.different += one.different;
        }
    return all;
}

static void power_of_two_scales_keep_the_bits(void **state) {
    (void)state;
    assert_int_equal(check_all(CODES_POWERS, pairs).different, 0);
    assert_int_equal(check_all(CODES_POWERS, narrow_pairs).different, 0);
}

static void other_scales_come_closer_to_the_exact_result(void **state) {
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        code_errors errors = check_all(CODES_RANDOM, narrow ? narrow_pairs : pairs);
        assert_true(errors.different > 0);
        if (errors.integer > errors.literal)
            fail_msg("errors are %g, literally %g", errors.integer, errors.literal);
    }
}

static void operands_of_rank_1_have_no_rows_or_no_columns(void **state) {
    (void)state;
    for (int way = 0; way < 6; way++) {
        example e = {.m = 1, .n = 1, .k = 75, .transpose_a = way & 1};
        e.of_a.dtype = QDQ_UINT8, e.of_b.dtype = QDQ_INT8;
        e.a = e.b = QDQ_SHAPE(75);
        if (way / 2 == 1) e.n = 20, e.b = QDQ_SHAPE(75, 20), e.y = QDQ_SHAPE(20);
        if (way / 2 == 2) e.m = 9, e.a = QDQ_SHAPE(9, 75), e.y = QDQ_SHAPE(9), e.transpose_a = 0;
        check(&e, CODES_POWERS, way / 2 == 1, way & 1);
        check(&e, CODES_RANDOM, way / 2 == 1, way & 1);
    }
}

// 33025 * 255 * 255 < 2^31.
static void the_longest_sums_do_not_wrap_around(void **state) {
    (void)state;
    enum { K = 33025 };
    example e = example_of(0, 1, K, 1, 0);
    e.of_a = e.of_b = (code_params){QDQ_UINT8, -1, 1, {1}, {0}};
    tensor in[3] = {tensor_of("a", QDQ_UINT8, e.a), tensor_of("b", QDQ_UINT8, e.b)};
    assert_true(in[0].data && in[1].data);
    memset(in[0].data, 255, K), memset(in[1].data, 255, K);
    tensor y = tensor_of("y", QDQ_FLOAT32, e.y);
    product_run_as(in, 2, 0, build, &e, &(qdq_compile_options){.fast = true}, 1, &y);
    assert_true(tensor_at(&y, 0) == (double)(float)(K * 65025LL));
    tensors_free(in, 2), free(y.data);
}

// Scales of different sign and a bias of -0: float sums start at +0, so a zero result is +0.
static void a_sum_of_zero_has_no_sign(void **state) {
    (void)state;
    example e = example_of(0, 2, 5, 3, 4);
    e.of_a = (code_params){QDQ_INT8, -1, 1, {-0.3f}, {7}};
    e.of_b = (code_params){QDQ_INT8, -1, 1, {0.1f}, {0}};
    tensor in[3] = {tensor_of("a", QDQ_INT8, e.a), tensor_of("b", QDQ_INT8, e.b),
                    tensor_of("bias", QDQ_FLOAT32, QDQ_SHAPE(3))};
    memset(in[0].data, 7, tensor_count(&in[0])), memset(in[1].data, 1, tensor_count(&in[1]));
    for (size_t i = 0; i < 3; i++) tensor_put(&in[2], i, -0.0);
    tensor y = tensor_of("y", QDQ_FLOAT32, e.y);
    for (int fast = 0; fast < 2; fast++) {
        qdq_compile_options options = {.fast = fast};
        product_run_as(in, 3, 0, build, &e, &options, 1, &y);
        for (size_t i = 0; i < tensor_count(&y); i++)
            assert_true(tensor_at(&y, i) == 0 && !signbit(tensor_at(&y, i)));
    }
    tensors_free(in, 3), free(y.data);
}

//---- Integer execution ------------------------------------------------------

// A graph of one product; its parts can be changed one by one.
typedef struct pattern {
    qdq_shape a, b;
    qdq_dequantize_attrs of_a, of_b;
    qdq_dtype codes;
    bool returns_real, scale_is_input, scale_is_constant, b_is_float, quantized_before;
} pattern;

static const float half[] = {0.5f, 0.25f, 0.5f, 0.5f};

static pattern plain_pattern(void) {
    return (pattern){
        .a = QDQ_SHAPE(3, 4),
        .b = QDQ_SHAPE(4, 2),
        .of_a = {.name = "af", .dtype = QDQ_FLOAT32, .scales = {.data = half, .count = 1}},
        .of_b = {.name = "bf", .dtype = QDQ_FLOAT32, .scales = {.data = half, .count = 1}},
        .codes = QDQ_UINT8};
}

static qdq_graph *graph_of(const pattern *p) {
    qdq_graph *g = qdq_graph_create("pattern", NULL);
    qdq_dequantize_attrs of_a = p->of_a;
    qdq_value a = qdq_input(g, "a", p->quantized_before ? QDQ_FLOAT32 : p->codes, p->a);
    qdq_value b = qdq_input(g, "b", p->b_is_float ? QDQ_FLOAT32 : p->codes, p->b);
    if (p->quantized_before)
        a = qdq_quantize(g, a,
                         (qdq_quantize_attrs){.name = "aq",
                                              .scales = {.data = half, .count = 1},
                                              .dtype = p->codes});
    if (p->scale_is_input || p->scale_is_constant) of_a.scales = (qdq_floats){0};
    if (p->scale_is_input) of_a.scale = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(1));
    if (p->scale_is_constant) of_a.scale = qdq_constant(g, "s", QDQ_FLOAT32, (qdq_shape){0}, half);
    a = qdq_dequantize(g, a, of_a);
    if (!p->b_is_float) b = qdq_dequantize(g, b, p->of_b);
    qdq_output(g, "y", qdq_matmul(g, a, b, (qdq_matmul_attrs){.name = "m"}));
    if (p->returns_real) qdq_output(g, "real", a);
    return g;
}

static bool uses_codes(const pattern *p, const qdq_compile_options *options) {
    qdq_graph *g = graph_of(p);
    bool used = codes_are_used(g, options);
    qdq_graph_destroy(g);
    return used;
}

static void known_parameters_are_enough(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool scalar;  // whether the target wants scalar scales
    } targets[] = {{"core", true}, {"onnx", true}, {"onednn", false}};
    static const float channels[] = {0.5f, -3e-5f};
    pattern p = plain_pattern();
    assert_true(uses_codes(&p, NULL));
    p.codes = QDQ_INT4;
    assert_true(uses_codes(&p, NULL));
    p.codes = QDQ_INT8;
    for (size_t i = 0; i < UNIT_COUNT(targets); i++) {
        p.of_a.scales.scalar = p.of_b.scales.scalar = targets[i].scalar;
        assert_true(uses_codes(&p, &(qdq_compile_options){.target = targets[i].name}));
    }
    p.scale_is_constant = true;
    assert_true(uses_codes(&p, NULL));
    p.quantized_before = true;
    assert_true(uses_codes(&p, NULL));
    p.of_b.qtype = QDQ_PER_CHANNEL, p.of_b.axis = QDQ_INT(-1), p.of_b.scales.data = channels;
    p.of_b.scales.count = 2;
    assert_true(uses_codes(&p, NULL));
}

static void other_numerics_and_parameters_are_computed_literally(void **state) {
    (void)state;
    static const double far[] = {300};
    static const float tiny[] = {1e-20f};
    static const int64_t groups[] = {2, 2};
    const pattern plain = plain_pattern();
    pattern p = plain;
    qdq_numerics flushes = {.flush_denormals = true};
    qdq_numerics rounds = {.dequantize_step_dtype = QDQ_BFLOAT16};
    assert_false(uses_codes(&p, &(qdq_compile_options){.numerics = &flushes}));
    assert_false(uses_codes(&p, &(qdq_compile_options){.numerics = &rounds}));
    p.returns_real = true;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.scale_is_input = true;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.b_is_float = true;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_a.dtype = p.of_b.dtype = QDQ_BFLOAT16;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.codes = QDQ_INT16;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_a.zps = (qdq_numbers){.data = far, .count = 1};
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_a.scales.data = p.of_b.scales.data = tiny;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_a.qtype = QDQ_PER_CHANNEL, p.of_a.scales.count = 4;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_b.qtype = QDQ_PER_CHANNEL, p.of_b.axis = QDQ_INT(0), p.of_b.scales.count = 4;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.of_b.qtype = QDQ_PER_GROUP,
    p.of_b.group_shape = (qdq_ints){.data = groups, .count = 2};
    p.of_b.scales.count = 2;
    assert_false(uses_codes(&p, NULL));
    p = plain, p.a = QDQ_SHAPE(1, 33025), p.b = QDQ_SHAPE(33025, 1);
    assert_true(uses_codes(&p, NULL));
    p.a = QDQ_SHAPE(1, 33026), p.b = QDQ_SHAPE(33026, 1);
    assert_false(uses_codes(&p, NULL));
}

// `qdq plan` prints the integer product and the values that it reads.
static void the_plan_names_integer_products(void **state) {
    (void)state;
    pattern p = plain_pattern();
    qdq_graph *g = graph_of(&p);
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = true}, NULL);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, 1);
    assert_string_equal(qdq_plan_get_step(plan, 0)->text, "a, b -> MatMul m on codes -> output y");
    assert_int_equal(qdq_plan_get_step(plan, 0)->read_bytes, 20);
    qdq_plan_destroy(plan);
    plan = qdq_graph_compile(g, &(qdq_compile_options){.layout = QDQ_PLAN_ROWS}, NULL);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, 3);
    assert_string_equal(qdq_plan_get_step(plan, 2)->text, "af, bf -> MatMul m -> output y");
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static void fast_excludes_materialize_and_bfloat16_storage(void **state) {
    (void)state;
    static const struct {
        qdq_compile_options options;
        const char *text;
    } wrong[] = {
        {{.fast = true, .materialize = true}, "fast and materialize are both given"},
        {{.fast = true, .float_storage = QDQ_FLOAT_BFLOAT16},
         "fast and float-storage bfloat16 are both given"},
    };
    pattern p = plain_pattern();
    qdq_graph *g = graph_of(&p);
    for (size_t i = 0; i < UNIT_COUNT(wrong); i++) {
        qdq_error err = {0};
        assert_null(qdq_graph_compile(g, &wrong[i].options, &err));
        assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
        assert_memory_equal(err.text, wrong[i].text, strlen(wrong[i].text));
    }
    qdq_graph_destroy(g);
}

// One Dequantize is read by two products and by another op.
static void reals_that_other_nodes_read_are_computed(void **state) {
    (void)state;
    int8_t a[] = {1, -2, 3, 4}, b[] = {5, 6, -7, 8};
    float y[4], z[4], r[4], want[3][4];
    for (int fast = 0; fast < 2; fast++) {
        qdq_graph *g = qdq_graph_create("shared", NULL);
        qdq_dequantize_attrs attrs = {.dtype = QDQ_FLOAT32, .scales = {.data = half, .count = 1}};
        qdq_value x = qdq_input(g, "a", QDQ_INT8, QDQ_SHAPE(2, 2));
        x = qdq_quantize(g, qdq_dequantize(g, x, attrs),
                         (qdq_quantize_attrs){.name = "q", .scales = {.data = half, .count = 1}});
        qdq_value real = qdq_dequantize(g, x, attrs);
        qdq_value w = qdq_dequantize(g, qdq_input(g, "b", QDQ_INT8, QDQ_SHAPE(2, 2)), attrs);
        qdq_output(g, "y", qdq_matmul(g, real, w, (qdq_matmul_attrs){.name = "m"}));
        qdq_output(g, "z", qdq_matmul(g, real, real, (qdq_matmul_attrs){.name = "n"}));
        qdq_output(g, "r", qdq_relu(g, real, (qdq_unary_attrs){.name = "o"}));
        const oracle_bound bound[] = {
            {"a", a, 4}, {"b", b, 4}, {"y", y, 16}, {"z", z, 16}, {"r", r, 16}};
        oracle_run(g, &(qdq_compile_options){.fast = fast}, bound, 5);
        qdq_graph_destroy(g);
        if (fast) {
            assert_memory_equal(want[0], y, 16);
            assert_memory_equal(want[1], z, 16);
            assert_memory_equal(want[2], r, 16);
        }
        memcpy(want[0], y, 16), memcpy(want[1], z, 16), memcpy(want[2], r, 16);
    }
    static const float products[] = {4.75f, -2.5f, -3.25f, 12.5f};
    assert_memory_equal(y, products, 16);
    assert_true(r[0] == 0.5f && r[1] == 0 && r[2] == 1.5f && r[3] == 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_of_two_scales_keep_the_bits),
        cmocka_unit_test(other_scales_come_closer_to_the_exact_result),
        cmocka_unit_test(operands_of_rank_1_have_no_rows_or_no_columns),
        cmocka_unit_test(the_longest_sums_do_not_wrap_around),
        cmocka_unit_test(a_sum_of_zero_has_no_sign),
        cmocka_unit_test(known_parameters_are_enough),
        cmocka_unit_test(other_numerics_and_parameters_are_computed_literally),
        cmocka_unit_test(the_plan_names_integer_products),
        cmocka_unit_test(fast_excludes_materialize_and_bfloat16_storage),
        cmocka_unit_test(reals_that_other_nodes_read_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
