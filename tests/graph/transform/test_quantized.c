// SPDX-License-Identifier: Apache-2.0
// Putting codes into a graph: who reads them, names, and what does not fit. Wanted numbers are
// worked out by hand.
#include "include/qdq/qdq.h"
#include "tests/unit.h"

// y = x * w, z = x + x; x is read by three ports.
static qdq_graph *small(void) {
    static const float weights[2] = {0.5F, -1.0F};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(2), weights);
    qdq_output(g, "y", qdq_multiply(g, x, w, (qdq_binary_attrs){.name = "product"}));
    qdq_output(g, "z", qdq_add(g, x, x, (qdq_binary_attrs){.name = "sum"}));
    qdq_output(g, "same", x);
    return g;
}

static void run(qdq_graph *g, const char *output, float x0, float x1, float out[2]) {
    qdq_error err = {0};
    const float x[2] = {x0, x1};
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 2, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, output, QDQ_FLOAT32, out, 2, &err), QDQ_OK);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

static void ports_of_a_coding_read_codes_and_others_the_value(void **state) {
    (void)state;
    qdq_graph *g = small();
    const qdq_node_port readers[] = {{0, 0}, {1, 1}};
    qdq_coding coding = {.value = qdq_graph_find(g, "x"), .readers = readers, .reader_count = 2};
    coding.attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
    float out[2];
    assert_int_equal(qdq_graph_node_count(q), 4);
    run(q, "y", 1.3F, 100.0F, out);  // 1.5 and 127 * 0.5
    assert_true(out[0] == 0.75F && out[1] == -63.5F);
    run(q, "z", 1.3F, 100.0F, out);
    assert_true(out[0] == 1.3F + 1.5F && out[1] == 163.5F);
    run(q, "same", 1.3F, 100.0F, out);
    assert_true(out[0] == 1.3F && out[1] == 100.0F);
    qdq_graph_destroy(q);
    qdq_graph_destroy(g);
}

static void codes_take_the_place_of_a_constant(void **state) {
    (void)state;
    static const int8_t codes[2] = {3, -2};
    qdq_graph *g = small();
    const qdq_node_port reader = {0, 1};
    qdq_coding coding = {.value = qdq_graph_find(g, "w"), .codes = codes, .readers = &reader};
    coding.attrs = (qdq_quantize_attrs){.dtype = QDQ_INT8,
                                        .qtype = QDQ_PER_CHANNEL,
                                        .axis = QDQ_INT(0),
                                        .scales = QDQ_SCALES(0.25F, 0.5F)};
    coding.reader_count = 1;
    qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
    float out[2];
    assert_int_equal(qdq_graph_find(q, "w").id, 0);
    assert_true(qdq_value_is_constant(q, qdq_graph_find(q, "w_quantized")));
    run(q, "y", 4.0F, 2.0F, out);
    assert_true(out[0] == 3.0F && out[1] == -2.0F);
    qdq_graph_destroy(q);
    qdq_graph_destroy(g);
}

static void elements_of_its_dtype_replace_a_constant_as_they_are(void **state) {
    (void)state;
    static const float changed[2] = {0.3F, -2.7F};
    qdq_graph *g = small();
    const qdq_node_port reader = {0, 1};
    qdq_coding coding = {.value = qdq_graph_find(g, "w"), .codes = changed, .readers = &reader};
    coding.attrs.dtype = QDQ_FLOAT32;
    coding.reader_count = 1;
    qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
    float out[2];
    assert_int_equal(qdq_graph_node_count(q), 2);
    assert_true(qdq_value_is_constant(q, qdq_graph_find(q, "w_changed")));
    run(q, "y", 4.0F, 2.0F, out);
    assert_true(out[0] == 4.0F * 0.3F && out[1] == 2.0F * -2.7F);
    qdq_graph_destroy(q);
    qdq_graph_destroy(g);
}

// y = x * w without a bias.
static qdq_graph *product(void) {
    static const float weights[4] = {1, 2, 3, 4};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 2));
    qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(2, 2), weights);
    qdq_output(g, "y", qdq_matmul(g, x, w, (qdq_matmul_attrs){.name = "m"}));
    return g;
}

static void a_port_that_is_not_connected_gets_a_constant(void **state) {
    (void)state;
    static const float elements[2] = {0.5F, -0.25F};
    static const int32_t codes[2] = {2, -3};
    const qdq_node_port reader = {0, 2};
    qdq_coding coding = {.codes = elements, .readers = &reader, .reader_count = 1};
    coding.shape = QDQ_SHAPE(2);
    for (int i = 0; i < 2; i++) {
        float out[2];
        qdq_graph *g = product();
        coding.attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.125F), .dtype = QDQ_INT32};
        if (i) coding.codes = codes;
        if (!i) coding.attrs.dtype = QDQ_FLOAT32;
        qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
        assert_true(qdq_value_is_constant(q, qdq_graph_find(q, i ? "m_bias_quantized" : "m_bias")));
        run(q, "y", 1, 2, out);  // (7, 10) and the bias
        assert_true(out[0] == (i ? 7.25F : 7.5F) && out[1] == (i ? 9.625F : 9.75F));
        qdq_graph_destroy(q);
        qdq_graph_destroy(g);
    }
}

static void names_stay_and_new_ones_are_free(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_value y = qdq_relu(g, x, (qdq_unary_attrs){.name = "x_quantized"});
    qdq_output(g, "y", qdq_relu(g, y, (qdq_unary_attrs){.name = "x_dequantized"}));
    const qdq_node_port reader = {0, 0};
    qdq_coding coding = {.value = x, .readers = &reader, .reader_count = 1};
    coding.attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    qdq_graph *q = qdq_graph_quantized(g, &coding, 1, NULL);
    static const char *const names[] = {"x_quantized_1", "x_dequantized_1", "x_quantized",
                                        "x_dequantized"};
    for (size_t i = 0; i < 4; i++) assert_string_equal(qdq_graph_node(q, i).name, names[i]);
    qdq_graph_destroy(q);
    qdq_graph_destroy(g);
}

static void assert_refused(qdq_graph *g, const qdq_coding *codings, size_t count,
                           const char *text) {
    qdq_error err = {0};
    assert_null(qdq_graph_quantized(g, codings, count, &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, text);
}

// A Pad of x by 1 on each side goes to an output and a sum.
static qdq_graph *padded(void) {
    static const int64_t pads[] = {1, 1};
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2));
    qdq_value p = qdq_pad(g, x, (qdq_pad_attrs){.name = "pad", .pads = {pads, 2}});
    qdq_output(g, "y", p);
    qdq_output(g, "z", qdq_add(g, p, p, (qdq_binary_attrs){.name = "sum"}));
    return g;
}

static void a_moving_node_reads_codes_and_returns_codes(void **state) {
    (void)state;
    static const double zero = -3;
    static const float half = 0.5F;
    static const int8_t zero_code = -3;
    qdq_graph *g = padded();
    qdq_error err = {0};
    const qdq_node_port x_reader = {0, 0}, value_reader = {0, 1}, sum_readers[] = {{1, 0}, {1, 1}};
    qdq_coding codings[3] = {
        {.value = qdq_graph_find(g, "x"), .readers = &x_reader, .reader_count = 1},
        {.codes = &zero_code, .readers = &value_reader, .reader_count = 1},
        {.value = qdq_graph_find(g, "pad"), .readers = sum_readers, .reader_count = 2}};
    for (int i = 0; i < 3; i++)
        codings[i].attrs = (qdq_quantize_attrs){
            .scales = {&half, 1, true}, .zps = {&zero, 1, true}, .dtype = QDQ_INT8};
    codings[2].moved = codings[2].outputs = true;
    qdq_graph *q = qdq_graph_quantized(g, codings, 3, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_graph_node_count(q), 4);  // Quantize, Pad, Dequantize, Add
    qdq_dtype dtype;
    assert_true(qdq_value_type(q, qdq_graph_find(q, "pad"), &dtype, NULL));
    assert_int_equal(dtype, QDQ_INT8);
    float out[4];
    qdq_plan *plan = qdq_graph_compile(q, NULL, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    const float x[2] = {1.3F, 100.0F};
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, x, 2, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, out, 4, &err), QDQ_OK);
    assert_true(out[0] == 0.0F && out[1] == 1.5F && out[2] == 65.0F && out[3] == 0.0F);
    assert_int_equal(qdq_exec_read(exec, "z", QDQ_FLOAT32, out, 4, &err), QDQ_OK);
    assert_true(out[0] == 0.0F && out[1] == 3.0F && out[2] == 130.0F && out[3] == 0.0F);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(q);
    codings[0].reader_count = 0;
    assert_refused(g, codings, 3,
                   "coding 2: is moved, but port 0 of node 'pad' reads no codes of its dtype");
    codings[0].moved = true;
    assert_refused(g, codings, 3,
                   "coding 0: is moved, but value 'x' is not the first result of a node, or has "
                   "another source");
    qdq_graph_destroy(g);
}

static void codes_with_a_source_are_requantized(void **state) {
    (void)state;
    qdq_graph *g = small();
    const qdq_node_port first = {1, 0}, second = {1, 1};
    qdq_coding codings[2] = {{.readers = &first, .source = 2}, {.readers = &second}};
    for (int i = 0; i < 2; i++) codings[i].value = qdq_graph_find(g, "x");
    for (int i = 0; i < 2; i++) codings[i].reader_count = 1;
    codings[0].attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(2.0F), .dtype = QDQ_INT8};
    codings[1].attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    qdq_graph *q = qdq_graph_quantized(g, codings, 2, NULL);
    float out[2];
    // 1.3 is code 3 of 0.5, and 1.5 / 2 rounds to code 1; 100 is 63.5, and 31.75 rounds to 32.
    run(q, "z", 1.3F, 100.0F, out);
    assert_true(out[0] == 1.5F + 2.0F && out[1] == 63.5F + 64.0F);
    qdq_graph_destroy(q);
    codings[1].source = 1;
    assert_refused(g, codings, 2,
                   "coding 0: its source is 2, wanted another coding of the value, counted from 1, "
                   "that has none");
    qdq_graph_destroy(g);
}

static void a_coding_that_does_not_fit_is_an_error(void **state) {
    (void)state;
    qdq_graph *g = small();
    const qdq_node_port reader = {0, 0}, other = {0, 1};
    qdq_coding codings[2] = {{.value = qdq_graph_find(g, "x"), .readers = &reader}};
    codings[0].reader_count = 1;
    codings[0].attrs = (qdq_quantize_attrs){.scales = QDQ_SCALE(0.5F), .dtype = QDQ_INT8};
    codings[1] = codings[0];
    assert_refused(g, codings, 2, "codings 0 and 1 are both for port 0 of node 'product'");
    codings[0].readers = &other;
    assert_refused(g, codings, 1, "coding 0: port 1 of node 'product' does not read value 'x'");
    codings[0].codes = "ab";
    assert_refused(g, codings, 1,
                   "coding 0: codes are given, but value 'x' is no constant: leave them out");
    codings[0].value = (qdq_value){0};
    codings[0].shape = QDQ_SHAPE(2);
    assert_refused(g, codings, 1, "coding 0: has no value, but port 1 of node 'product' reads one");
    codings[0].codes = NULL;
    assert_refused(g, codings, 1,
                   "coding 0: the value is no float of the graph: give float32, float16 or "
                   "bfloat16");
    codings[0] = codings[1];
    codings[0].attrs.scales = QDQ_SCALES(0.5F, 0.25F);
    qdq_error err = {0};
    assert_null(qdq_graph_quantized(g, codings, 1, &err));
    assert_non_null(strstr(err.text, "node 'x_quantized': Quantize: scales"));
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_of_a_coding_read_codes_and_others_the_value),
        cmocka_unit_test(codes_take_the_place_of_a_constant),
        cmocka_unit_test(elements_of_its_dtype_replace_a_constant_as_they_are),
        cmocka_unit_test(a_port_that_is_not_connected_gets_a_constant),
        cmocka_unit_test(names_stay_and_new_ones_are_free),
        cmocka_unit_test(a_moving_node_reads_codes_and_returns_codes),
        cmocka_unit_test(codes_with_a_source_are_requantized),
        cmocka_unit_test(a_coding_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
