// SPDX-License-Identifier: Apache-2.0
// Reading oneDNN Graph JSON: names, inputs, outputs, and values.
#include "tests/graph/formats/onednn_files.h"

//---- Names, inputs, outputs -------------------------------------------------

static void a_file_is_recognized_by_its_content_and_targets_onednn(void **state) {
    (void)state;
    const char *text = GRAPH(CAST("1", "c", T("0", "f32", "[4]"), T("1", "bf16", "[4]")));
    qdq_graph *graph = load(text);
    assert_string_equal(qdq_graph_target(graph), "onednn");
    check_clean(graph);
    qdq_graph_destroy(graph);
    graph = parse(text, &(qdq_graph_options){.target = "onnx"}, NULL);
    assert_string_equal(qdq_graph_target(graph), "onnx");
    qdq_graph_destroy(graph);
    qdq_error err = {0};
    assert_null(parse("{'format':'qdq/1','graph':[]}", NULL, &err));
    assert_string_equal(err.text,
                        "f.json: key 'graph' is unknown; keys of your own begin with 'x-'");
    err = (qdq_error){0};
    assert_null(parse("{'graph':{}}", NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_PARSE);
}

static void every_dtype_word_has_a_dtype(void **state) {
    (void)state;
    static const struct {
        const char *word;
        qdq_dtype dtype;
    } cases[] = {
        {"f32", QDQ_FLOAT32},
        {"bf16", QDQ_BFLOAT16},
        {"f16", QDQ_FLOAT16},
        {"s32", QDQ_INT32},
        {"s64", QDQ_INT64},
        {"s8", QDQ_INT8},
        {"u8", QDQ_UINT8},
        {"s4", QDQ_INT4},
        {"u4", QDQ_UINT4},
        {"f8_e5m2", QDQ_FLOAT8_E5M2},
        {"f8_e4m3", QDQ_FLOAT8_E4M3FN},
        {"boolean", QDQ_BOOL},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 GRAPH("{'id':1,'kind':'End','inputs':[" T("0", "%s", "[3,2]") "]}"),
                 cases[i].word);
        qdq_graph *graph = load(text);
        check_clean(graph);
        check_input(graph, "t0", cases[i].dtype, QDQ_SHAPE(3, 2));
        qdq_plan *plan = qdq_graph_compile(graph, NULL, NULL);
        assert_int_equal(qdq_plan_input_count(plan), 1);
        assert_string_equal(qdq_plan_output(plan, 0)->name, "t0");
        qdq_plan_destroy(plan);
        qdq_graph_destroy(graph);
    }
}

// Copied through rows and through tiles, of 8 bytes each.
static void int64_goes_through_unchanged(void **state) {
    (void)state;
    enum { COUNT = 35 * 70 };
    static int64_t x[COUNT], y[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = (int64_t)(i * UINT64_C(0x123456789ABCDEF1));
    qdq_graph *graph = load(GRAPH("{'id':1,'kind':'End','inputs':[" T("0", "s64", "[35,70]") "]}"));
    for (int materialize = 0; materialize < 2; materialize++) {
        memset(y, 0, sizeof y);
        qdq_plan *plan =
            qdq_graph_compile(graph, &(qdq_compile_options){.materialize = materialize}, NULL);
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_int_equal(qdq_exec_write(exec, "t0", QDQ_INT64, x, COUNT, NULL), QDQ_OK);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "t0", QDQ_INT64, y, COUNT, NULL), QDQ_OK);
        assert_memory_equal(x, y, sizeof x);
        qdq_exec_destroy(exec);
        qdq_plan_destroy(plan);
    }
    qdq_graph_destroy(graph);
}

static void outputs_are_unread_tensors_and_inputs_of_end(void **state) {
    (void)state;
    qdq_graph *graph =
        load(GRAPH(CAST("1", "a", T("0", "f32", "[4]"), T("10", "bf16", "[4]")) "," CAST(
            "2", "b", T("10", "bf16", "[4]"),
            T("11", "f32",
              "[4]")) "," CAST("3", "c", T("11", "f32", "[4]"),
                               T("12", "f16",
                                 "[4]")) ","
                                         "{'id':4,'kind':'End','inputs':[" T(
                                             "10", "bf16",
                                             "[4]") "]},"
                                                    "{'id':5,'kind':'End','inputs':[" T(
                                                        "12", "f16", "[4]") "]}"));
    check_clean(graph);
    qdq_plan *plan = qdq_graph_compile(graph, NULL, NULL);
    assert_int_equal(qdq_plan_input_count(plan), 1);
    assert_string_equal(qdq_plan_input(plan, 0)->name, "t0");
    assert_int_equal(qdq_plan_output_count(plan), 2);
    assert_string_equal(qdq_plan_output(plan, 0)->name, "t10");
    assert_string_equal(qdq_plan_output(plan, 1)->name, "t12");
    qdq_plan_destroy(plan);
    qdq_graph_destroy(graph);
}

static void ops_may_stand_in_any_order(void **state) {
    (void)state;
    qdq_graph *graph =
        load(GRAPH(CAST("2", "b", T("10", "bf16", "[4]"), T("11", "f32", "[4]")) "," CAST(
            "1", "a", T("0", "f32", "[4]"), T("10", "bf16", "[4]"))));
    check_clean(graph);
    assert_string_equal(qdq_graph_node(graph, 0).name, "a");
    assert_string_equal(qdq_graph_node(graph, 1).name, "b");
    qdq_graph_destroy(graph);
}

static void a_node_has_its_own_name_or_one_made_of_its_id(void **state) {
    (void)state;
#define NAMED(id, name, out) CAST(id, name, T("0", "f32", "[4]"), T(out, "bf16", "[4]"))
    qdq_graph *graph = load(GRAPH(
        NAMED("1", "own", "101") "," NAMED("2", "", "102") "," NAMED("3", "twice", "103") "," NAMED("4", "twice", "104") "," NAMED(
            "5", "t0",
            "105") "," NAMED("6", "t101",
                             "106") "," NAMED("7", "op2",
                                              "107") "," NAMED("8", "op8",
                                                               "108") "," NAMED("9", "op99",
                                                                                "109") "," NAMED("1"
                                                                                                 "8"
                                                                                                 "4"
                                                                                                 "4"
                                                                                                 "6"
                                                                                                 "7"
                                                                                                 "4"
                                                                                                 "4"
                                                                                                 "0"
                                                                                                 "7"
                                                                                                 "3"
                                                                                                 "7"
                                                                                                 "0"
                                                                                                 "9"
                                                                                                 "5"
                                                                                                 "5"
                                                                                                 "1"
                                                                                                 "6"
                                                                                                 "1"
                                                                                                 "5",
                                                                                                 "a"
                                                                                                 "\\tb",
                                                                                                 "1"
                                                                                                 "1"
                                                                                                 "0") "," NAMED("11",
                                                                                                                "t00",
                                                                                                                "111")));
    static const char *const wanted[] = {"own",  "op2", "op3", "op4",  "op5",
                                         "t101", "op7", "op8", "op99", "op18446744073709551615",
                                         "t00"};
    check_clean(graph);
    assert_int_equal(qdq_graph_node_count(graph), UNIT_COUNT(wanted));
    for (size_t i = 0; i < UNIT_COUNT(wanted); i++)
        assert_string_equal(qdq_graph_node(graph, i).name, wanted[i]);
    qdq_graph_destroy(graph);
}

static void ids_beyond_two_to_the_53_do_not_collide(void **state) {
    (void)state;
    qdq_graph *graph = load(
        GRAPH(CAST("9007199254740992", "", T("9007199254740992", "f32", "[4]"),
                   T("18446744073709551615", "bf16",
                     "[4]")) "," CAST("9007199254740993", "", T("9007199254740993", "f32", "[2]"),
                                      T("18446744073709551614", "bf16", "[2]"))));
    check_clean(graph);
    check_input(graph, "t9007199254740992", QDQ_FLOAT32, QDQ_SHAPE(4));
    check_input(graph, "t9007199254740993", QDQ_FLOAT32, QDQ_SHAPE(2));
    check_input(graph, "op9007199254740993", QDQ_BFLOAT16, QDQ_SHAPE(2));
    qdq_graph_destroy(graph);
}

static void shapes_of_results_are_inferred_whatever_the_file_says(void **state) {
    (void)state;
    qdq_graph *graph = load(GRAPH(
        CAST("1", "a", T("0", "f32", "[2,3]"), T("1", "bf16", "[-9223372036854775808]")) "," CAST(
            "2", "b", T("1", "bf16", "[7,7]"),
            T("2", "f32", "[9]")) "," CAST("3", "c", T("0", "f32", "[5]"),
                                           "{'id':3,'dtype':'f16'}")));
    check_clean(graph);
    check_input(graph, "t0", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    check_input(graph, "b", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    check_input(graph, "c", QDQ_FLOAT16, QDQ_SHAPE(2, 3));
    qdq_graph_destroy(graph);
}

static void keys_that_do_not_affect_results_are_ignored(void **state) {
    (void)state;
    qdq_graph *graph = load(
        "{'version':'9','engine_kind':'gpu','fpmath_mode':'any','input_ports':[5,5],'new':[{}],"
        "'output_ports':[],'graph':[{'id':1,'kind':'TypeCast','name':'c','more':1,'attrs':"
        "{'partition_id':{'type':'string','value':'1'},'backend':{'type':'string','value':'d'},"
        "'accumulation_mode':{'type':'string','value':'any'}},'inputs':[{'id':0,'dtype':'f32',"
        "'shape':[2,2],'stride':[-1,77,3],'layout_type':'any','property_type':'host_scalar'}],"
        "'outputs':[" T("1", "bf16", "[2,2]") "]}]}");
    check_clean(graph);
    check_input(graph, "c", QDQ_BFLOAT16, QDQ_SHAPE(2, 2));
    qdq_graph_destroy(graph);
}

//---- Values -----------------------------------------------------------------

static void run_one(qdq_graph *graph, const char *x_name, qdq_dtype dtype, const void *x,
                    size_t count, const char *y_name, void *y) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(graph, NULL, &err);
    assert_string_equal(err.text, "");
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_int_equal(qdq_exec_write(exec, x_name, dtype, x, count, &err), QDQ_OK);
    qdq_exec_run(exec);
    const qdq_tensor_info *info = qdq_plan_output(plan, 0);
    assert_string_equal(info->name, y_name);
    assert_int_equal(qdq_exec_read(exec, y_name, info->dtype, y, count, &err), QDQ_OK);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
}

// y = x / scale + zero point: all are exact here.
static void attributes_carry_their_types(void **state) {
    (void)state;
    qdq_graph *graph = load(QUANTIZE("'qtype':{'type':'string','value':'per_channel'},"
                                     "'axis':{'type':'s64','value':-1},"
                                     "'scales':{'type':'f32[]','value':[1,5e-1]},"
                                     "'zps':{'type':'s64[]','value':[3,7]}",
                                     "[2,2]", "u8"));
    static const float x[] = {1, 2, 5, 10};
    uint8_t y[4];
    check_clean(graph);
    run_one(graph, "t0", QDQ_FLOAT32, x, 4, "t1", y);
    assert_memory_equal(y, ((const uint8_t[]){4, 11, 8, 27}), 4);
    qdq_graph_destroy(graph);
}

static void the_axis_of_per_tensor_is_ignored(void **state) {
    (void)state;
    qdq_graph *graph = load(QUANTIZE("'qtype':{'type':'string','value':'per_tensor'},"
                                     "'axis':{'type':'s64','value':99},"
                                     "'scales':{'type':'f32[]','value':[2]}",
                                     "[2,2]", "s8"));
    static const float x[] = {-2, 4, 6, 1000};
    int8_t y[4];
    check_clean(graph);
    run_one(graph, "t0", QDQ_FLOAT32, x, 4, "t1", y);
    assert_memory_equal(y, ((const int8_t[]){-1, 2, 3, 127}), 4);
    qdq_graph_destroy(graph);
}

// (x - zero point) * scale of the group; scales and zero points are inputs of the graph.
static void dynamic_dequantize_takes_its_parameters_from_ports(void **state) {
    (void)state;
    qdq_graph *graph = load(GRAPH(
        "{'id':1,'name':'d','kind':'DynamicDequantize','attrs':{"
        "'qtype':{'type':'string','value':'per_group'},'axis':{'type':'s64','value':1},"
        "'group_shape':{'type':'s64[]','value':[2,1]}},'inputs':[" T("0", "u4", "[4,2]") "," T(
            "1", "f16", "[2,2]") "," T("2", "u8", "[2,2]") "],'outputs':[" T("3", "f16",
                                                                             "[4,2]") "]}"));
    static const uint8_t x[] = {1, 2, 3, 4, 5, 6, 7, 15}, zero_points[] = {1, 2, 3, 4};
    static const float scales[] = {0.5f, 1, 2, 4}, wanted[] = {0, 0, 1, 2, 4, 8, 8, 44};
    float y[8];
    check_clean(graph);
    qdq_plan *plan = qdq_graph_compile(graph, NULL, NULL);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_int_equal(qdq_exec_write(exec, "t0", QDQ_UINT4, x, 8, NULL), QDQ_OK);
    assert_int_equal(qdq_exec_write(exec, "t1", QDQ_FLOAT32, scales, 4, NULL), QDQ_OK);
    assert_int_equal(qdq_exec_write(exec, "t2", QDQ_UINT8, zero_points, 4, NULL), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_plan_output(plan, 0)->dtype, QDQ_FLOAT16);
    assert_int_equal(qdq_exec_read(exec, "t3", QDQ_FLOAT32, y, 8, NULL), QDQ_OK);
    assert_memory_equal(y, wanted, sizeof wanted);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_recognized_by_its_content_and_targets_onednn),
        cmocka_unit_test(every_dtype_word_has_a_dtype),
        cmocka_unit_test(int64_goes_through_unchanged),
        cmocka_unit_test(outputs_are_unread_tensors_and_inputs_of_end),
        cmocka_unit_test(ops_may_stand_in_any_order),
        cmocka_unit_test(a_node_has_its_own_name_or_one_made_of_its_id),
        cmocka_unit_test(ids_beyond_two_to_the_53_do_not_collide),
        cmocka_unit_test(shapes_of_results_are_inferred_whatever_the_file_says),
        cmocka_unit_test(keys_that_do_not_affect_results_are_ignored),
        cmocka_unit_test(attributes_carry_their_types),
        cmocka_unit_test(the_axis_of_per_tensor_is_ignored),
        cmocka_unit_test(dynamic_dequantize_takes_its_parameters_from_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
