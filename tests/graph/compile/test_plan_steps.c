// SPDX-License-Identifier: Apache-2.0
// The figures and the text of a plan's steps: bytes counted by hand, words, and reasons.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { ROWS = 20, COLUMNS = 30, COUNT = ROWS * COLUMNS };

typedef struct planned {
    qdq_graph *g;
    qdq_value x;  // float32 [ROWS, COLUMNS], an input
    qdq_plan *plan;
} planned;

static planned begin(void) {
    planned p = {.g = qdq_graph_create("steps", NULL)};
    p.x = qdq_input(p.g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, COLUMNS));
    return p;
}

// Compiles for rows without options.
static void compile(planned *p, const qdq_compile_options *options) {
    qdq_error err = {0};
    qdq_compile_options rows = {.layout = QDQ_PLAN_ROWS};
    p->plan = qdq_graph_compile(p->g, options ? options : &rows, &err);
    if (!p->plan) fail_msg("compile: %s", err.text);
}

static void end(planned *p) { qdq_plan_destroy(p->plan), qdq_graph_destroy(p->g); }

static qdq_value relu(qdq_graph *g, qdq_value x, const char *name) {
    return qdq_relu(g, x, (qdq_unary_attrs){.name = name});
}

static void check_bytes(const qdq_plan *plan, size_t step, size_t read, size_t written) {
    assert_int_equal(qdq_plan_get_step(plan, step)->read_bytes, read);
    assert_int_equal(qdq_plan_get_step(plan, step)->write_bytes, written);
}

static void check_words(const qdq_plan *plan, size_t step, const char *reads, const char *writes) {
    assert_string_equal(qdq_plan_get_step(plan, step)->reads, reads);
    assert_string_equal(qdq_plan_get_step(plan, step)->writes, writes);
}

//---- Bytes ------------------------------------------------------------------

static void a_step_reads_a_value_once(void **state) {
    (void)state;
    planned p = begin();
    qdq_output(p.g, "y", qdq_multiply(p.g, p.x, p.x, (qdq_binary_attrs){0}));
    compile(&p, NULL);
    check_bytes(p.plan, 0, 4 * COUNT, 4 * COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).moved_bytes, 8 * COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).necessary_bytes, 8 * COUNT);
    end(&p);
}

// Each of two steps reads x, of which one time is necessary.
static void a_second_step_reads_a_value_again(void **state) {
    (void)state;
    planned p = begin();
    qdq_output(p.g, "y", qdq_softmax(p.g, p.x, (qdq_softmax_attrs){.axis = QDQ_INT(-1)}));
    qdq_output(p.g, "z", relu(p.g, p.x, "z"));
    compile(&p, NULL);
    for (size_t i = 0; i < 2; i++) check_bytes(p.plan, i, 4 * COUNT, 4 * COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).moved_bytes, 16 * COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).necessary_bytes, 12 * COUNT);
    end(&p);
}

// Numbers of attributes are part of the step; the operand of a sum is read from memory.
static void constants_are_read_numbers_are_not(void **state) {
    (void)state;
    float numbers[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++) numbers[i] = 1 + (float)i;
    planned p = begin();
    qdq_value c = qdq_constant(p.g, "c", QDQ_FLOAT32, QDQ_SHAPE(COLUMNS), numbers);
    qdq_value sum = qdq_add(p.g, p.x, c, (qdq_binary_attrs){0});
    qdq_quantize_attrs attrs = {.scales = {numbers, COLUMNS, true}, .axis = QDQ_INT(1)};
    qdq_output(p.g, "y", qdq_quantize(p.g, sum, attrs));
    compile(&p, NULL);
    check_bytes(p.plan, 0, 4 * COUNT + 4 * COLUMNS, COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).necessary_bytes, 5 * COUNT + 4 * COLUMNS);
    end(&p);
}

// An element of int4 takes four bits. Seven columns of three elements take 84 bits, 11 bytes.
static void packed_weights_take_the_bytes_of_their_bits(void **state) {
    (void)state;
    static const int8_t codes[21] = {1, 2, 3};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    qdq_value w = qdq_constant(g, "w", QDQ_INT4, QDQ_SHAPE(3, 7), codes);
    w = qdq_dequantize(g, w, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1), .dtype = QDQ_FLOAT32});
    qdq_output(g, "y", qdq_matmul(g, x, w, (qdq_matmul_attrs){.name = "m"}));
    planned p = {.g = g};
    compile(&p, NULL);
    check_bytes(p.plan, 0, 6 * 4 + 11, 14 * 4);
    check_words(p.plan, 0, "row-major", "row-major");
    end(&p);
}

// 20 x 30 elements lie in one tile of 32 x 32, whose padding takes no part in a copy.
static void copies_go_from_rows_to_tiles_and_back(void **state) {
    (void)state;
    planned p = begin();
    qdq_output(p.g, "y", qdq_quantize(p.g, p.x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    compile(&p, &(qdq_compile_options){.materialize = true});
    assert_int_equal(qdq_plan_get_stats(p.plan).step_count, 3);
    check_bytes(p.plan, 0, 4 * COUNT, 4 * COUNT), check_words(p.plan, 0, "row-major", "tiles");
    check_bytes(p.plan, 1, 4 * COUNT, COUNT), check_words(p.plan, 1, "tiles", "tiles");
    check_bytes(p.plan, 2, COUNT, COUNT), check_words(p.plan, 2, "tiles", "row-major");
    for (size_t i = 0; i < 3; i++) assert_false(qdq_plan_get_step(p.plan, i)->streamed);
    assert_int_equal(qdq_plan_get_stats(p.plan).moved_bytes, 15 * COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).necessary_bytes, 5 * COUNT);
    end(&p);
}

// The first step writes a scale and a zero point, which the second reads with the elements.
static void a_reduction_writes_its_results(void **state) {
    (void)state;
    planned p = begin();
    qdq_output(
        p.g, "y",
        qdq_dynamic_quantize(p.g, p.x, (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8}));
    compile(&p, NULL);
    check_bytes(p.plan, 0, 4 * COUNT, 4 + 1);
    check_bytes(p.plan, 1, 4 * COUNT + 4 + 1, COUNT);
    assert_int_equal(qdq_plan_get_stats(p.plan).necessary_bytes, 5 * COUNT);
    end(&p);
}

//---- Form -------------------------------------------------------------------

// float32 scales are read where they lie; float16 scales are decoded to a list, beside a copy.
static void scales_of_float32_need_no_scratch(void **state) {
    (void)state;
    size_t scratch[2];
    for (size_t half = 0; half < 2; half++) {
        planned p = begin();
        qdq_quantize_attrs attrs = {.qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(1)};
        attrs.scale = qdq_input(p.g, "s", half ? QDQ_FLOAT16 : QDQ_FLOAT32, QDQ_SHAPE(COLUMNS));
        qdq_output(p.g, "y", qdq_quantize(p.g, p.x, attrs));
        compile(&p, NULL);
        scratch[half] = qdq_plan_get_stats(p.plan).scratch_bytes;
        assert_string_equal(qdq_plan_get_step(p.plan, 0)->shape, "direct");
        end(&p);
    }
    assert_in_range(scratch[1], scratch[0] + 4 * COLUMNS, scratch[0] + 16 * COLUMNS);
}

static void a_step_says_how_it_runs(void **state) {
    (void)state;
    planned p = begin();
    qdq_value s = qdq_softmax(p.g, p.x, (qdq_softmax_attrs){.name = "s", .axis = QDQ_INT(-1)});
    qdq_output(p.g, "y", relu(p.g, relu(p.g, s, "a"), "b"));
    qdq_output(p.g, "z", relu(p.g, s, "c"));
    qdq_output(p.g, "w", relu(p.g, qdq_abs(p.g, p.x, (qdq_unary_attrs){.name = "d"}), "e"));
    compile(&p, NULL);
    static const char *const shapes[] = {"tensor_op", "direct", "blocks"};
    assert_int_equal(qdq_plan_get_stats(p.plan).step_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(qdq_plan_get_step(p.plan, i)->shape, shapes[i]);
        assert_int_equal(qdq_plan_get_step(p.plan, i)->streamed, i > 0);
    }
    assert_null(qdq_plan_get_step(p.plan, 0)->apart);
    assert_string_equal(qdq_plan_get_step(p.plan, 1)->apart, "read-before");
    assert_string_equal(qdq_plan_get_step(p.plan, 1)->apart_from, "s");
    assert_null(qdq_plan_get_step(p.plan, 2)->apart);
    end(&p);
}

static void a_step_shows_the_inferred_form_of_its_scales(void **state) {
    (void)state;
    static const float scales[ROWS * 2] = {1, 2, 3};
    static const int64_t groups[] = {1, 15};
    static const char *const texts[] = {
        "x -> Quantize c (per_channel 0) -> output y",
        "x -> Quantize g (per_group [1, 15]) -> output y",
        "x -> Quantize s -> output y",
    };
    float positive[ROWS * 2];
    for (size_t i = 0; i < ROWS * 2; i++) positive[i] = 1 + scales[i];
    qdq_quantize_attrs attrs[] = {
        {.name = "c", .scales = {positive, ROWS, true}, .axis = QDQ_INT(0)},
        {.name = "g", .scales = {positive, ROWS * 2, true}, .group_shape = {groups, 2}},
        {.name = "s", .scales = QDQ_SCALE(1)},
    };
    for (size_t i = 0; i < 3; i++) {
        planned p = begin();
        qdq_output(p.g, "y", qdq_quantize(p.g, p.x, attrs[i]));
        compile(&p, NULL);
        assert_string_equal(qdq_plan_get_step(p.plan, 0)->text, texts[i]);
        end(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_reads_a_value_once),
        cmocka_unit_test(a_second_step_reads_a_value_again),
        cmocka_unit_test(constants_are_read_numbers_are_not),
        cmocka_unit_test(packed_weights_take_the_bytes_of_their_bits),
        cmocka_unit_test(copies_go_from_rows_to_tiles_and_back),
        cmocka_unit_test(a_reduction_writes_its_results),
        cmocka_unit_test(scales_of_float32_need_no_scratch),
        cmocka_unit_test(a_step_says_how_it_runs),
        cmocka_unit_test(a_step_shows_the_inferred_form_of_its_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
