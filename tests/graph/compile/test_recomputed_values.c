// SPDX-License-Identifier: Apache-2.0
// Floats that steps make again of bytes have no memory, and sums of them have the bits that numpy's
// arithmetic gives: sizes that cross strips and rows of convolutions, in every mode.
#include "runtime/exec/plan.h"
#include "tests/ops/large_links.h"

enum { CHANNELS = 5 };

static const float scales[] = {0.25f, 0.5f, 2.0f};
static const double zeros[] = {-128, 127, 3};

typedef struct residual {
    size_t products, turns;  // in front of the second chain; Transposes of the first's codes
    large_graph c;
    qdq_value first, second;         // floats that two chains make of codes
    tensor first_reals, sum, codes;  // what they and the end must be
} residual;

static float code_of(double x, size_t i) {
    double q = rint(x / (double)scales[i]) + zeros[i];
    return (float)(q < -128 ? -128 : q > 127 ? 127 : q);
}

static qdq_quantize_attrs attrs_of(size_t i, qdq_dtype dtype) {
    return (qdq_quantize_attrs){
        .scales = {&scales[i], 1, true}, .zps = {&zeros[i], 1, true}, .dtype = dtype};
}

static qdq_value through_codes(qdq_graph *g, qdq_value x, size_t i, size_t turns) {
    qdq_value codes = qdq_quantize(g, x, attrs_of(i, QDQ_INT8));
    for (size_t k = 0; k < turns; k++) codes = qdq_transpose(g, codes, (qdq_transpose_attrs){0});
    qdq_quantize_attrs attrs = attrs_of(i, QDQ_FLOAT32);
    attrs.name = i ? "second" : "first";
    return qdq_dequantize(g, codes, attrs);
}

// The value as the product with an identity matrix, whose chunks are runs of columns.
static qdq_value product_of(large_graph *c, qdq_value x, qdq_shape shape) {
    tensor *identity;
    size_t n = (size_t)shape.dims[shape.rank - 1];
    qdq_value b = large_input(c, QDQ_FLOAT32, QDQ_SHAPE((int64_t)n, (int64_t)n), &identity);
    for (size_t i = 0; i < n * n; i++) large_put(identity, i, i % (n + 1) == 0);
    return qdq_matmul(c->graph, x, b, (qdq_matmul_attrs){0});
}

// Quantize and Dequantize of two inputs, the sum of both, and its codes as an output.
static void residual_begin(residual *r, const char *what, qdq_shape shape, uint64_t seed) {
    uint64_t state = large_state(seed);
    tensor *in[2];
    large_graph_begin(&r->c, what);
    for (size_t i = 0; i < 2; i++) {
        qdq_value x = large_input(&r->c, QDQ_FLOAT32, shape, &in[i]);
        for (size_t k = 0; i && k < r->products; k++) x = product_of(&r->c, x, shape);
        *(i ? &r->second : &r->first) = through_codes(r->c.graph, x, i, i ? 0 : r->turns);
        for (size_t at = 0; at < tensor_count(in[i]); at++)
            large_put(in[i], at, (double)(int)large_pick(&state, 4096) / 16 - 128);
    }
    r->first_reals = large_like(in[0], QDQ_FLOAT32);
    r->sum = large_like(in[0], QDQ_FLOAT32);
    r->codes = large_like(in[0], QDQ_INT8);
    for (size_t at = 0; at < tensor_count(&r->sum); at++) {
        float reals[2];
        for (size_t i = 0; i < 2; i++)
            reals[i] = (code_of(tensor_at(in[i], at), i) - (float)zeros[i]) * scales[i];
        large_put(&r->first_reals, at, (double)reals[0]);
        large_put(&r->sum, at, (double)(reals[0] + reals[1]));
        large_put(&r->codes, at, (double)code_of((double)(reals[0] + reals[1]), 2));
    }
    qdq_value sum = qdq_add(r->c.graph, r->second, r->first, (qdq_binary_attrs){0});
    large_output(&r->c, qdq_quantize(r->c.graph, sum, attrs_of(2, QDQ_INT8)), r->codes);
}

// Bytes of an element of value "first" in the arena; 0: it has no memory.
static size_t bytes_of_first(const residual *r, const char *keep) {
    qdq_error err;
    qdq_compile_options options = {
        .layout = QDQ_PLAN_ROWS, .keep = &keep, .keep_count = keep != NULL};
    qdq_plan *plan = qdq_graph_compile(r->c.graph, &options, &err);
    size_t bytes = 0;
    assert_non_null(plan);
    for (size_t i = 0; i < qdq_plan_get_stats(plan).value_count; i++)
        if (!strcmp(qdq_plan_get_value(plan, i)->name, "first"))
            bytes = qdq_dtype_size(qdq_plan_get_value(plan, i)->dtype);
    qdq_plan_destroy(plan);
    return bytes;
}

static void residual_end(residual *r) {
    free(r->sum.data);
    large_graph_check(&r->c, 0);
}

static void operands_of_sums_are_made_again_of_their_codes(void **state) {
    (void)state;
    const qdq_shape shapes[] = {
        QDQ_SHAPE(2 * QDQ_BLOCK_ELEMENTS + 5),
        QDQ_SHAPE(2),
        QDQ_SHAPE(5, 7),
        QDQ_SHAPE(2, CHANNELS, 19, 37),
        QDQ_SHAPE(3, 2 * 4096 + 1),
    };
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
        residual r = {0};
        residual_begin(&r, "sum of dequantized values", shapes[i], i);
        assert_int_equal(bytes_of_first(&r, NULL), 0);
        free(r.first_reals.data);
        residual_end(&r);
    }
}

// One number is read as one for all elements, whatever they are.
static void a_single_float_is_stored(void **state) {
    (void)state;
    residual r = {0};
    residual_begin(&r, "sum of two numbers", QDQ_SHAPE(1), 13);
    assert_int_equal(bytes_of_first(&r, NULL), sizeof(float));
    free(r.first_reals.data);
    residual_end(&r);
}

static void sums_that_follow_products_make_them_by_runs(void **state) {
    (void)state;
    const int64_t sizes[][2] = {{130, 70}, {7, 1}, {61, 600}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        residual r = {.products = 1};
        residual_begin(&r, "sum behind a product", QDQ_SHAPE(sizes[i][0], sizes[i][1]), 9 + i);
        assert_int_equal(bytes_of_first(&r, NULL), 0);
        free(r.first_reals.data);
        residual_end(&r);
    }
}

// The products in between have values of their own, which must not lie over the codes.
static void codes_stay_until_the_sum_reads_them(void **state) {
    (void)state;
    residual r = {.products = 3};
    residual_begin(&r, "products between the codes and their sum", QDQ_SHAPE(40, 33), 8);
    assert_int_equal(bytes_of_first(&r, NULL), 0);
    free(r.first_reals.data);
    residual_end(&r);
}

// The first link of a tensor op's step makes them, of the codes that the op gives.
static void codes_of_tensor_ops_are_read_in_place_of_floats(void **state) {
    (void)state;
    residual r = {.turns = 2};
    residual_begin(&r, "codes that are transposed twice", QDQ_SHAPE(70, 33), 11);
    assert_int_equal(bytes_of_first(&r, NULL), 0);
    free(r.first_reals.data);
    residual_end(&r);
}

// Two links read the floats as their x, and only one of them can follow the link that makes the
// floats.
static void floats_that_begin_a_step_are_stored(void **state) {
    (void)state;
    residual r = {0};
    residual_begin(&r, "a value that begins a step", QDQ_SHAPE(3, 700), 10);
    tensor squared = large_like(&r.first_reals, QDQ_FLOAT32);
    tensor absolute = large_like(&r.first_reals, QDQ_FLOAT32);
    for (size_t at = 0; at < tensor_count(&squared); at++) {
        large_put(&squared, at, tensor_at(&r.first_reals, at) * tensor_at(&r.first_reals, at));
        large_put(&absolute, at, fabs(tensor_at(&r.first_reals, at)));
    }
    large_output(&r.c, qdq_square(r.c.graph, r.first, (qdq_unary_attrs){0}), squared);
    large_output(&r.c, qdq_abs(r.c.graph, r.first, (qdq_unary_attrs){0}), absolute);
    assert_int_equal(bytes_of_first(&r, NULL), sizeof(float));
    free(r.first_reals.data);
    residual_end(&r);
}

// Other readers need the floats: an output, the caller, a step that reads them as its x, a product
// whose other operand is packed.
static void floats_with_other_readers_are_stored(void **state) {
    (void)state;
    residual r = {0};
    residual_begin(&r, "a value that is an output", QDQ_SHAPE(3, 700), 5);
    large_output(&r.c, r.first, r.first_reals);
    residual_end(&r);
    residual_begin(&r, "a value that is kept", QDQ_SHAPE(3, 700), 6);
    assert_int_equal(bytes_of_first(&r, "first"), sizeof(float));
    free(r.first_reals.data);
    residual_end(&r);
    residual_begin(&r, "a value that is transposed", QDQ_SHAPE(70, 33), 7);
    qdq_value turned = qdq_transpose(r.c.graph, r.first, (qdq_transpose_attrs){0});
    tensor want = tensor_of(NULL, QDQ_FLOAT32, QDQ_SHAPE(33, 70));
    for (size_t at = 0; at < 70 * (size_t)33; at++)
        large_put(&want, at % 33 * 70 + at / 33, tensor_at(&r.first_reals, at));
    large_output(&r.c, turned, want);
    free(r.first_reals.data);
    residual_end(&r);
    residual_begin(&r, "a value that is multiplied by constants", QDQ_SHAPE(70, 33), 12);
    float identity[33 * 33] = {0};
    for (size_t i = 0; i < 33; i++) identity[i * 34] = 1;
    qdq_value b = qdq_constant(r.c.graph, "identity", QDQ_FLOAT32, QDQ_SHAPE(33, 33), identity);
    large_output(&r.c, qdq_matmul(r.c.graph, r.first, b, (qdq_matmul_attrs){0}), r.first_reals);
    residual_end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operands_of_sums_are_made_again_of_their_codes),
        cmocka_unit_test(a_single_float_is_stored),
        cmocka_unit_test(sums_that_follow_products_make_them_by_runs),
        cmocka_unit_test(codes_stay_until_the_sum_reads_them),
        cmocka_unit_test(codes_of_tensor_ops_are_read_in_place_of_floats),
        cmocka_unit_test(floats_that_begin_a_step_are_stored),
        cmocka_unit_test(floats_with_other_readers_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
