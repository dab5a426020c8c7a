// SPDX-License-Identifier: Apache-2.0
// Which changes of a graph and of numerics change which part of its fingerprint.
#include <math.h>

#include "graph/fingerprint/graph_hash.h"
#include "include/qdq/fingerprint.h"
#include "include/qdq/qdq.h"
#include "tests/unit.h"

static qdq_fingerprint fingerprint_of(qdq_graph *g, const char *target, uint64_t seed) {
    qdq_error err = {0};
    qdq_fingerprint f = {.text = ""};
    qdq_compile_options options = {.target = target};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (qdq_graph_fingerprint(g, target, exec, seed, &f, &err) != QDQ_OK) fail_msg("%s", err.text);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
    return f;
}

// JSON with single quotes.
static qdq_graph *parse(const char *quoted) {
    qdq_error err = {0};
    char text[2048] = "";
    assert_true(strlen(quoted) < sizeof text);
    memcpy(text, quoted, strlen(quoted));
    for (char *at = text; (at = strchr(at, '\''));) *at = '"';
    qdq_graph *g = qdq_graph_parse(text, strlen(text), "test", NULL, NULL, &err);
    if (!g) fail_msg("%s", err.text);
    return g;
}

//---- The graph --------------------------------------------------------------

#define GRAPH(nodes, outputs)                                                             \
    "{'format': 'qdq/1', 'inputs': [{'name': 'x', 'dtype': 'float32', 'shape': [2, 2]}, " \
    "{'name': 'b', 'dtype': 'int8', 'shape': [2, 2]}, {'name': 's', 'dtype': 'float32', " \
    "'shape': []}], 'nodes': [" nodes "], 'outputs': [" outputs "]}"
#define QUANTIZE(name) \
    "{'op': 'Quantize', 'name': '" name "', 'inputs': {'x': 'x'}, 'attrs': {'scales': 0.3}}"
#define DEQUANTIZE(name, x)                                        \
    "{'op': 'Dequantize', 'name': '" name "', 'inputs': {'x': '" x \
    "'}, 'attrs': {'scales': 0.3, 'dtype': 'float32'}}"
#define UNARY(op, name) "{'op': '" op "', 'name': '" name "', 'inputs': {'x': 'x'}}"
#define OUTPUT(name, value) "{'name': '" name "', 'value': '" value "'}"

static const char in_order[] = GRAPH(QUANTIZE("q") "," DEQUANTIZE("d", "q") "," UNARY("Exp", "e"),
                                     OUTPUT("y", "d") "," OUTPUT("z", "e"));

// Other names between, nodes and outputs in another order, and a node that nothing needs.
static const char shuffled[] = GRAPH(UNARY("Exp", "other") "," UNARY("Abs", "unused") "," QUANTIZE(
                                         "codes") "," DEQUANTIZE("reals", "codes"),
                                     OUTPUT("z", "other") "," OUTPUT("y", "reals"));

static void order_of_nodes_and_names_between_do_not_count(void **state) {
    (void)state;
    assert_string_equal(fingerprint_of(parse(in_order), "onnx", 1).text,
                        fingerprint_of(parse(shuffled), "onnx", 1).text);
}

// A graph that returns a constant, and its product with x.
static qdq_graph *with_constant(uint32_t bits, const char *output) {
    float value;
    memcpy(&value, &bits, sizeof value);
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value c = qdq_constant(g, "c", QDQ_FLOAT32, QDQ_SHAPE(1), &value);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "constant", c);
    qdq_output(g, output, qdq_multiply(g, x, c, (qdq_binary_attrs){.name = "m"}));
    return g;
}

static void a_bit_of_a_constant_changes_graph_and_outputs(void **state) {
    (void)state;
    qdq_fingerprint one = fingerprint_of(with_constant(0x3F800000, "y"), "onnx", 1);
    qdq_fingerprint two = fingerprint_of(with_constant(0x3F800001, "y"), "onnx", 1);
    assert_string_not_equal(one.graph, two.graph);
    assert_string_not_equal(one.outputs, two.outputs);
    assert_string_equal(one.numerics, two.numerics);
    assert_string_equal(one.target, two.target);
}

static void the_name_of_an_output_is_part_of_the_graph(void **state) {
    (void)state;
    assert_string_not_equal(fingerprint_of(with_constant(0x3F800000, "y"), "onnx", 1).graph,
                            fingerprint_of(with_constant(0x3F800000, "z"), "onnx", 1).graph);
}

static void all_nan_are_one_number_of_outputs(void **state) {
    (void)state;
    qdq_fingerprint one = fingerprint_of(with_constant(0x7FC00000, "y"), "onnx", 1);
    qdq_fingerprint two = fingerprint_of(with_constant(0xFFC12345, "y"), "onnx", 1);
    assert_string_not_equal(one.graph, two.graph);
    assert_string_equal(one.outputs, two.outputs);
}

static void the_seed_changes_outputs_alone(void **state) {
    (void)state;
    qdq_fingerprint one = fingerprint_of(parse(in_order), "onnx", 1);
    qdq_fingerprint two = fingerprint_of(parse(in_order), "onnx", 2);
    assert_string_equal(one.graph, two.graph);
    assert_string_equal(one.numerics, two.numerics);
    assert_string_not_equal(one.outputs, two.outputs);
}

//---- The target -------------------------------------------------------------

static void the_plain_name_is_its_version_and_defaults_are_left_out(void **state) {
    (void)state;
    qdq_fingerprint plain = fingerprint_of(parse(in_order), "ort", 1);
    assert_string_equal(plain.target_name, "ort@1.32-vnni");
    assert_string_equal(plain.text,
                        fingerprint_of(parse(in_order), "ort@1.32-vnni:level=all", 1).text);
    qdq_fingerprint basic = fingerprint_of(parse(in_order), "ort:level=basic", 1);
    assert_string_equal(basic.target_name, "ort@1.32-vnni:level=basic");
    assert_string_not_equal(plain.target, basic.target);
}

static void targets_that_compute_alike_have_the_same_numerics(void **state) {
    (void)state;
    qdq_fingerprint core = fingerprint_of(parse(in_order), "core", 1);
    assert_string_equal(core.numerics, fingerprint_of(parse(in_order), "tensorrt", 1).numerics);
    assert_string_not_equal(core.numerics, fingerprint_of(parse(in_order), "onednn", 1).numerics);
}

//---- Numerics ---------------------------------------------------------------

static qdq_numerics chosen;

static qdq_numerics chosen_numerics(const qdq_op_context *ctx, const qdq_target_version *version) {
    (void)ctx, (void)version;
    return chosen;
}

// Nodes that read every field of QDQ_NUMERICS_FIELDS.
static const char reads_all[] = GRAPH(
    QUANTIZE("q") "," UNARY(
        "Exp",
        "e") ","
             "{'op': 'MatMulInteger', 'name': 'm', 'inputs': {'a': 'q', 'b': 'b'}},"
             "{'op': 'QLinearAdd', 'name': 'l', 'inputs': {'a': 'b', 'a_scale': 's', 'b': 'b', "
             "'b_scale': 's', 'y_scale': 's'}}",
    OUTPUT("e", "e") "," OUTPUT("m", "m") "," OUTPUT("l", "l"));

static void every_field_of_the_numerics_changes_their_hash(void **state) {
    static const qdq_target target = {.name = "chosen", .numerics = chosen_numerics};
    const qdq_target_version version = {.target = &target};
    qdq_digest seen[64] = {{{0}}};
    size_t count = 0;
    qdq_error err = {0};
    (void)state;
    qdq_graph *g = parse(reads_all);
    assert_int_equal(g->findings.errors, 0);
    chosen = (qdq_numerics){.rounding = QDQ_ROUND_HALF_EVEN};
    assert_int_equal(qdq_hash_graph(g, &version, &seen[count++], &err), QDQ_OK);
#define CHECK(field, cause)                                                              \
    memset(&chosen, 0, sizeof chosen);                                                   \
    chosen.field = 1;                                                                    \
    assert_int_equal(qdq_hash_graph(g, &version, &seen[count], &err), QDQ_OK);           \
    for (size_t i = 0; i < count; i++)                                                   \
        if (memcmp(&seen[i], &seen[count], sizeof seen[i]) == 0) fail_msg("%s", #field); \
    count++;
    QDQ_NUMERICS_FIELDS(CHECK)
#undef CHECK
    assert_true(count > 30);
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_nodes_and_names_between_do_not_count),
        cmocka_unit_test(a_bit_of_a_constant_changes_graph_and_outputs),
        cmocka_unit_test(the_name_of_an_output_is_part_of_the_graph),
        cmocka_unit_test(all_nan_are_one_number_of_outputs),
        cmocka_unit_test(the_seed_changes_outputs_alone),
        cmocka_unit_test(the_plain_name_is_its_version_and_defaults_are_left_out),
        cmocka_unit_test(targets_that_compute_alike_have_the_same_numerics),
        cmocka_unit_test(every_field_of_the_numerics_changes_their_hash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
