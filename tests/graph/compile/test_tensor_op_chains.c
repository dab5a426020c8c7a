// SPDX-License-Identifier: Apache-2.0
// Which links are fused into the step of the tensor op that they follow, and the results.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/network.h"

#define NAME(text) \
    (qdq_unary_attrs) { .name = (text) }

static qdq_value quantize(qdq_graph *g, qdq_value x, const char *name) {
    return qdq_quantize(g, x, (qdq_quantize_attrs){.name = name, .scales = QDQ_SCALE(0.25f)});
}

static qdq_value plus(qdq_graph *g, qdq_value a, qdq_value b, const char *name) {
    return qdq_add(g, a, b, (qdq_binary_attrs){.name = name});
}

static qdq_value softmax(qdq_graph *g, qdq_value x) {
    return qdq_softmax(g, x, (qdq_softmax_attrs){.name = "s", .axis = QDQ_INT(-1)});
}

static const qdq_compile_options in_rows = {.layout = QDQ_PLAN_ROWS};

// Checks that the plan has these steps and no others. Destroys the graph.
static void check_steps(qdq_graph *g, const qdq_compile_options *options, size_t count,
                        const char *const *texts) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, options, &err);
    if (!plan) print_error("%s\n", err.text);
    assert_non_null(plan);
    for (size_t i = 0; i < count && i < qdq_plan_get_stats(plan).step_count; i++)
        assert_string_equal(qdq_plan_get_step(plan, i)->text, texts[i]);
    assert_int_equal(qdq_plan_get_stats(plan).step_count, count);
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

#define CHECK_STEPS(g, options, ...)                                                     \
    check_steps(g, options, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), \
                (const char *const[]){__VA_ARGS__})

static qdq_value input(qdq_graph *g, const char *name) {
    return qdq_input(g, name, QDQ_FLOAT32, QDQ_SHAPE(20, 30));
}

//---- Plans ------------------------------------------------------------------

static void links_are_fused_into_the_step_they_follow(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value r = input(g, "r"), x = softmax(g, input(g, "x"));
    x = qdq_relu(g, plus(g, x, r, "a"), NAME("relu"));
    qdq_output(g, "y", quantize(g, x, "q"));
    qdq_plan *plan = qdq_graph_compile(g, &in_rows, NULL);
    const qdq_plan_step *step = qdq_plan_get_step(plan, 0);
    assert_int_equal(step->read_bytes, 600 * 4 + 600 * 4);  // x and r
    assert_int_equal(step->write_bytes, 600);
    assert_false(step->tiled);
    assert_int_equal(qdq_plan_get_stats(plan).arena_bytes, 0);
    qdq_plan_destroy(plan);
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> Add a -> ReLU relu -> Quantize q -> output y");
}

static void when_materialized_each_node_is_a_step(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_output(g, "y", quantize(g, softmax(g, input(g, "x")), "q"));
    qdq_compile_options materialize = {.materialize = true};
    CHECK_STEPS(g, &materialize, "x -> tilize x", "x -> SoftMax s", "s -> Quantize q",
                "q -> untilize y");
}

static void a_fused_result_that_is_an_output_is_stored_too(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value s = softmax(g, input(g, "x"));
    qdq_output(g, "y", s), qdq_output(g, "z", quantize(g, s, "q"));
    qdq_plan *plan = qdq_graph_compile(g, &in_rows, NULL);
    assert_int_equal(qdq_plan_get_step(plan, 0)->write_bytes, 600 * 4 + 600);
    qdq_plan_destroy(plan);
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> output y -> Quantize q -> output z");
}

static void a_second_reader_is_a_step_of_its_own(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value s = softmax(g, input(g, "x"));
    qdq_output(g, "y", quantize(g, s, "q")), qdq_output(g, "z", qdq_relu(g, s, NAME("r")));
    qdq_plan *plan = qdq_graph_compile(g, &in_rows, NULL);
    assert_int_equal(qdq_plan_get_stats(plan).arena_bytes, (600 * 4 + 63) / 64 * 64);
    assert_int_equal(qdq_plan_get_value(plan, 0)->bytes, 600 * 4);
    qdq_plan_destroy(plan);
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> Quantize q -> output y", "s -> ReLU r -> output z");
}

static void a_link_follows_the_operand_that_is_made_last(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value x = input(g, "x"), v = plus(g, x, softmax(g, x), "first");
    qdq_value n = qdq_rms_norm(g, v, (qdq_rms_norm_attrs){.name = "n"});
    qdq_value m = qdq_subtract(g, v, n, (qdq_binary_attrs){.name = "second"});
    qdq_output(g, "y", quantize(g, m, "q"));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> Add first",
                "first -> RMSNorm n -> Subtract second -> Quantize q -> output y");
}

// A link's other operand must be ready before the step begins.
static void a_value_times_itself_is_a_step_of_its_own(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value s = softmax(g, input(g, "x"));
    qdq_output(g, "y", qdq_multiply(g, s, s, (qdq_binary_attrs){.name = "m"}));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s", "s -> Multiply m -> output y");
    g = qdq_graph_create("chain", NULL);
    s = softmax(g, input(g, "x"));
    qdq_output(g, "y", plus(g, qdq_relu(g, s, NAME("r")), s, "a"));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> ReLU r", "r -> Add a -> output y");
}

static void only_the_first_result_starts_a_chain(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value n = qdq_layer_norm(g, input(g, "x"), (qdq_layer_norm_attrs){.name = "n"});
    qdq_output(g, "y", qdq_relu(g, qdq_port(g, n, "mean"), NAME("r")));
    qdq_output(g, "z", quantize(g, n, "q"));
    CHECK_STEPS(g, &in_rows, "x -> LayerNorm n -> Quantize q -> output z",
                "n.mean -> ReLU r -> output y");
}

// The parameters of a reduction are known only after all elements.
static void a_reduction_is_a_step_of_its_own(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_dynamic_quantize_attrs d = {.quantize = {.name = "d", .dtype = QDQ_INT8}};
    qdq_output(g, "y", qdq_dynamic_quantize(g, softmax(g, input(g, "x")), d));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s", "s -> parameters of d",
                "s -> DynamicQuantize d -> output y");
}

static void block_floats_are_made_in_tiles_by_a_step_of_their_own(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value s = softmax(g, input(g, "x"));
    qdq_output(g, "y", qdq_cast(g, s, (qdq_cast_attrs){.name = "c", .dtype = QDQ_BFLOAT8_B}));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s", "s -> Cast c -> output y");
}

// A tensor op reads and writes row-major values, so a chain may start and end with one.
static void a_chain_may_start_and_end_with_a_tensor_op(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value v = qdq_relu(g, softmax(g, input(g, "x")), NAME("r"));
    v = qdq_transpose(g, v, (qdq_transpose_attrs){.name = "t"});
    qdq_output(g, "y", qdq_relu(g, v, NAME("r2")));
    CHECK_STEPS(g, &in_rows, "x -> SoftMax s -> ReLU r",
                "r -> StaticTranspose t -> ReLU r2 -> output y");
}

static void every_op_that_hands_over_chunks_starts_a_chain(void **state) {
    (void)state;
    static const char *const wanted[] = {
        "x -> LogSoftmax n -> ReLU r -> output y", "x -> RMSNorm n -> ReLU r -> output y",
        "x -> MaxPool n -> ReLU r -> output y",    "x -> AvgPool n -> ReLU r -> output y",
        "x, x -> Concat n -> ReLU r -> output y",  "x -> StaticReshape n -> ReLU r -> output y",
        "x -> Reorder n -> ReLU r -> output y",    "x -> GroupNorm n -> ReLU r -> output y",
    };
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++) {
        qdq_graph *g = qdq_graph_create("chain", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 4, 6)), v = {0};
        qdq_pool_attrs mempool = {.name = "n",
                                  .strides = QDQ_INTS(1),
                                  .kernel = QDQ_INTS(2),
                                  .exclude_pad = i == 3 ? QDQ_TRUE : QDQ_UNSET};
        switch (i) {
        case 0: v = qdq_log_softmax(g, x, (qdq_log_softmax_attrs){.name = "n"}); break;
        case 1: v = qdq_rms_norm(g, x, (qdq_rms_norm_attrs){.name = "n"}); break;
        case 2: v = qdq_max_pool(g, x, mempool); break;
        case 3: v = qdq_avg_pool(g, x, mempool); break;
        case 4:
            v = qdq_concat(
                g, (qdq_concat_attrs){.name = "n", .xs = QDQ_VALUES(x, x), .axis = QDQ_INT(1)});
            break;
        case 5:
            v = qdq_reshape(
                g, x,
                (qdq_reshape_attrs){.name = "n", .shape = QDQ_INTS(-1), .special_zero = QDQ_FALSE});
            break;
        case 6: v = qdq_reorder(g, x, NAME("n")); break;
        default:
            v = qdq_group_norm(
                g, x,
                (qdq_group_norm_attrs){.name = "n", .groups = QDQ_INT(2), .keep_stats = QDQ_FALSE});
        }
        qdq_output(g, "y", qdq_relu(g, v, NAME("r")));
        CHECK_STEPS(g, &in_rows, wanted[i]);
    }
}

//---- Results ----------------------------------------------------------------

enum { ROWS = 37, COLUMNS = 70 };

// relu(transpose(x) + r), in quarters of its row: exact except for rounding ties.
static void a_chain_after_a_transpose_gives_the_expected_codes(void **state) {
    static float x[COLUMNS * ROWS], r[ROWS * COLUMNS];
    static int8_t got[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    float scales[ROWS];
    uint64_t seed = 3;
    (void)state;
    for (size_t i = 0; i < ROWS; i++) scales[i] = i % 2 ? 0.25f : 0.5f;
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        x[i] = (float)((int)(unit_random(&seed) >> 30 & 511) - 200) / 8.0f;
        r[i] = (float)((int)(unit_random(&seed) >> 30 & 511) - 200) / 8.0f;
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = (double)x[j * ROWS + i] + (double)r[i * COLUMNS + j];
            double code = rint((sum > 0 ? sum : 0) / (double)scales[i]);
            wanted[i * COLUMNS + j] = (int8_t)(code > 127 ? 127 : code);
        }
    qdq_graph *g = qdq_graph_create("transposed", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COLUMNS, ROWS));
    v = plus(g, qdq_transpose(g, v, (qdq_transpose_attrs){0}),
             qdq_input(g, "r", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLUMNS)), NULL);
    v = qdq_relu(g, v, (qdq_unary_attrs){0});
    v = qdq_quantize(g, v,
                     (qdq_quantize_attrs){.qtype = QDQ_PER_CHANNEL,
                                          .axis = QDQ_INT(0),
                                          .scales = {scales, ROWS, false},
                                          .dtype = QDQ_INT8});
    qdq_output(g, "y", v);
    network_tensor inputs[] = {{"x", QDQ_FLOAT32, x, ROWS * COLUMNS},
                               {"r", QDQ_FLOAT32, r, ROWS * COLUMNS}};
    network_run(g, inputs, 2, (network_tensor){"y", QDQ_INT8, got, ROWS * COLUMNS});
    assert_memory_equal(got, wanted, sizeof got);
    qdq_graph_destroy(g);
}

// Small integers, so that sums are exact in any order.
static void a_chain_after_a_product_gives_the_expected_codes(void **state) {
    enum { DEPTH = 19 };
    static float a[ROWS * DEPTH], b[DEPTH * COLUMNS], r[ROWS * COLUMNS], bias[COLUMNS];
    static uint8_t got[ROWS * COLUMNS], wanted[ROWS * COLUMNS];
    uint64_t seed = 8;
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(a); i++) a[i] = (float)(unit_random(&seed) >> 30 & 7) - 3;
    for (size_t i = 0; i < UNIT_COUNT(b); i++) b[i] = (float)(unit_random(&seed) >> 30 & 7) - 4;
    for (size_t i = 0; i < UNIT_COUNT(r); i++) r[i] = (float)(unit_random(&seed) >> 30 & 63);
    for (size_t i = 0; i < UNIT_COUNT(bias); i++) bias[i] = (float)(unit_random(&seed) >> 30 & 15);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = (double)bias[j] + (double)r[i * COLUMNS + j];
            for (size_t k = 0; k < DEPTH; k++)
                sum += (double)a[i * DEPTH + k] * (double)b[k * COLUMNS + j];
            double code = rint((sum > 0 ? sum : 0) / 0.5) + 3;
            wanted[i * COLUMNS + j] = (uint8_t)(code > 255 ? 255 : code);
        }
    qdq_graph *g = qdq_graph_create("residual", NULL);
    qdq_value v = qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(ROWS, DEPTH));
    v = qdq_matmul(g, v, qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(DEPTH, COLUMNS)),
                   (qdq_matmul_attrs){.name = "m"});
    v = qdq_bias_add(g, v, qdq_input(g, "bias", QDQ_FLOAT32, QDQ_SHAPE(COLUMNS)),
                     (qdq_bias_add_attrs){0});
    v = plus(g, v, qdq_input(g, "r", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLUMNS)), NULL);
    v = qdq_relu(g, v, (qdq_unary_attrs){0});
    v = qdq_quantize(
        g, v,
        (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(3), .dtype = QDQ_UINT8});
    qdq_output(g, "y", v);
    network_tensor inputs[] = {{"a", QDQ_FLOAT32, a, UNIT_COUNT(a)},
                               {"b", QDQ_FLOAT32, b, UNIT_COUNT(b)},
                               {"bias", QDQ_FLOAT32, bias, COLUMNS},
                               {"r", QDQ_FLOAT32, r, UNIT_COUNT(r)}};
    network_run(g, inputs, 4, (network_tensor){"y", QDQ_UINT8, got, ROWS * COLUMNS});
    assert_memory_equal(got, wanted, sizeof got);
    qdq_graph_destroy(g);
}

// Moved bytes go through one lookup table made of two links.
static void a_table_of_two_links_runs_after_a_concat(void **state) {
    enum { COUNT = 3000 };
    static int8_t x[COUNT], got[2 * COUNT], wanted[2 * COUNT];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        x[i] = (int8_t)(i * 7 % 256 - 128);
        double code = rint((double)x[i] * 0.5 / 0.25);  // the quotient is exact
        wanted[i] = wanted[COUNT + i] = (int8_t)(code > 127 ? 127 : code < -128 ? -128 : code);
    }
    qdq_graph *g = qdq_graph_create("moved", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(COUNT));
    v = qdq_concat(g, (qdq_concat_attrs){.name = "c", .xs = QDQ_VALUES(v, v), .axis = QDQ_INT(0)});
    v = qdq_dequantize(g, v, (qdq_dequantize_attrs){.name = "d", .scales = QDQ_SCALE(0.5f)});
    qdq_output(g, "y", quantize(g, v, "q"));
    network_tensor in = {"x", QDQ_INT8, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", QDQ_INT8, got, UNIT_COUNT(got)});
    assert_memory_equal(got, wanted, sizeof got);
    CHECK_STEPS(g, &in_rows, "x, x -> Concat c -> Dequantize d -> Quantize q -> output y");
}

// z lies after y in memory and is written first.
// Multiplies by dequantized constants with the arithmetic of a chip; fused, the constants are
// folded.
static void weights_of_a_chip_are_numbers(void **state) {
    enum { M = 3, K = 40, N = 24 };
    static int8_t codes[K * N];
    static float x[M * K], y[2][M * N];
    qdq_numerics chip = {.multiply_add = QDQ_MULTIPLY_ADD_WORMHOLE};
    (void)state;
    for (int i = 0; i < K * N; i++) codes[i] = (int8_t)(i * 37 % 15 - 7);
    for (int i = 0; i < M * K; i++) x[i] = 1.0f / (float)(i + 3);
    for (int tiled = 0; tiled < 2; tiled++) {
        qdq_graph *g = qdq_graph_create("weights", NULL);
        qdq_value w = qdq_constant(g, "w", QDQ_INT4, QDQ_SHAPE(K, N), codes);
        w = qdq_dequantize(g, w,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(0.1f), .dtype = QDQ_FLOAT32});
        qdq_value a = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(M, K));
        qdq_output(g, "y", qdq_matmul(g, a, w, (qdq_matmul_attrs){0}));
        qdq_compile_options options = {.numerics = &chip, .materialize = tiled};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, UNIT_COUNT(x), NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y[tiled], M * N, NULL), QDQ_OK);
        qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
    assert_memory_equal(y[0], y[1], sizeof y[0]);
}

static void a_divided_run_writes_nothing_after_its_end(void **state) {
    enum { COUNT = 5000 };
    static float x[COUNT], y[COUNT];
    float z[8];
    (void)state;
    for (size_t i = 0; i < COUNT; i++) x[i] = (float)i - 2500;
    qdq_graph *g = qdq_graph_create("cut", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT));
    qdq_value one = qdq_relu(g, qdq_input(g, "one", QDQ_FLOAT32, QDQ_SHAPE(8)), NAME("one_again"));
    v = qdq_relu(g, qdq_reorder(g, v, NAME("o")), NAME("r"));
    qdq_output(g, "y", v), qdq_output(g, "z", one);
    qdq_plan *plan = qdq_graph_compile(g, &in_rows, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, COUNT, NULL);
    qdq_exec_write(exec, "one", QDQ_FLOAT32, (float[8]){1, 1, 1, 1, 1, 1, 1, 1}, 8, NULL);
    qdq_exec_run(exec);
    qdq_exec_read(exec, "y", QDQ_FLOAT32, y, COUNT, NULL);
    qdq_exec_read(exec, "z", QDQ_FLOAT32, z, 8, NULL);
    for (size_t i = 0; i < COUNT; i++) assert_true(y[i] == (x[i] > 0 ? x[i] : 0));
    for (size_t i = 0; i < 8; i++) assert_true(z[i] == 1);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    CHECK_STEPS(g, &in_rows, "one -> ReLU one_again -> output z",
                "x -> Reorder o -> ReLU r -> output y");
}

// An op has at most 10 ports; a Concat of 25 values has more inputs.
static void a_tensor_op_may_have_more_inputs_than_ports(void **state) {
    (void)state;
    enum { INPUTS = 25 };
    static float x[INPUTS];
    float y[INPUTS];
    char names[INPUTS][8];
    network_tensor in[INPUTS];
    qdq_value values[INPUTS];
    qdq_graph *g = qdq_graph_create("many", NULL);
    for (size_t i = 0; i < INPUTS; i++) {
        x[i] = (float)i - 7;
        snprintf(names[i], sizeof names[i], "x%zu", i);
        in[i] = (network_tensor){names[i], QDQ_FLOAT32, &x[i], 1};
        values[i] = qdq_input(g, names[i], QDQ_FLOAT32, QDQ_SHAPE(1));
    }
    qdq_concat_attrs attrs = {.xs = {.data = values, .count = INPUTS}, .axis = QDQ_INT(0)};
    qdq_output(g, "y", qdq_concat(g, attrs));
    network_run(g, in, INPUTS, (network_tensor){"y", QDQ_FLOAT32, y, INPUTS});
    assert_memory_equal(y, x, sizeof y);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_fused_into_the_step_they_follow),
        cmocka_unit_test(when_materialized_each_node_is_a_step),
        cmocka_unit_test(a_fused_result_that_is_an_output_is_stored_too),
        cmocka_unit_test(a_second_reader_is_a_step_of_its_own),
        cmocka_unit_test(a_link_follows_the_operand_that_is_made_last),
        cmocka_unit_test(a_value_times_itself_is_a_step_of_its_own),
        cmocka_unit_test(only_the_first_result_starts_a_chain),
        cmocka_unit_test(a_reduction_is_a_step_of_its_own),
        cmocka_unit_test(block_floats_are_made_in_tiles_by_a_step_of_their_own),
        cmocka_unit_test(a_chain_may_start_and_end_with_a_tensor_op),
        cmocka_unit_test(every_op_that_hands_over_chunks_starts_a_chain),
        cmocka_unit_test(a_chain_after_a_transpose_gives_the_expected_codes),
        cmocka_unit_test(a_chain_after_a_product_gives_the_expected_codes),
        cmocka_unit_test(weights_of_a_chip_are_numbers),
        cmocka_unit_test(a_divided_run_writes_nothing_after_its_end),
        cmocka_unit_test(a_table_of_two_links_runs_after_a_concat),
        cmocka_unit_test(a_tensor_op_may_have_more_inputs_than_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
