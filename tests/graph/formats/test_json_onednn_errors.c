// SPDX-License-Identifier: Apache-2.0
// Reading oneDNN Graph JSON: attributes, and what such a file may not be.
#include "graph/formats/onednn/json_onednn.h"
#include "tests/graph/formats/onednn_files.h"

//---- Made-up attributes -----------------------------------------------------

typedef struct made_up_attrs {
    const char *name;
    qdq_value x;
    qdq_ints pads, axes;
    qdq_bool keep_stats, keep_mask, flag;
    qdq_float epsilon;
    qdq_maybe_word mode;
} made_up_attrs;

static const char *const modes[] = {"nearest", "linear", NULL};
static const qdq_port_desc made_up_inputs[] = {
    {"x", offsetof(made_up_attrs, x), false, QDQ_SET_ALL}};
static const qdq_attr_desc made_up_table[] = {
    {"pads", QDQ_ATTR_INTS, offsetof(made_up_attrs, pads), NULL, "", ""},
    {"axes", QDQ_ATTR_INTS, offsetof(made_up_attrs, axes), NULL, "", ""},
    {"keep_stats", QDQ_ATTR_BOOL, offsetof(made_up_attrs, keep_stats), NULL, "", ""},
    {"keep_mask", QDQ_ATTR_BOOL, offsetof(made_up_attrs, keep_mask), NULL, "", ""},
    {"flag", QDQ_ATTR_BOOL, offsetof(made_up_attrs, flag), NULL, "", ""},
    {"epsilon", QDQ_ATTR_FLOAT, offsetof(made_up_attrs, epsilon), NULL, "", ""},
    {"mode", QDQ_ATTR_MAYBE_WORD, offsetof(made_up_attrs, mode), modes, "", ""},
};
static const qdq_op made_up = {.name = "MadeUp",
                               .attrs_size = sizeof(made_up_attrs),
                               QDQ_OP_TABLES(made_up_inputs, made_up_inputs, made_up_table)};

// Fills `fields` from attributes of an op that lists `outputs`; lists are gone with the next call.
static bool read_made_up(const char *text, size_t outputs, made_up_attrs *fields, int64_t pads[8]) {
    qdq_graph *graph = qdq_graph_create(NULL, NULL);
    qdq_mempool mempool;
    qdq_error err = {0};
    char *json = onednn_json(text);
    qdq_mempool_init(&mempool, qdq_allocator_or_default(NULL));
    qdq_json_item *tree =
        qdq_json_tree_parse(json, strlen(json), qdq_allocator_or_default(NULL), 0, &err);
    assert_non_null(tree);
    qdq_reader r = {.graph = graph, .mempool = &mempool, .err = &err};
    qdq_onednn file = {.r = &r};
    qdq_onednn_op op = {.name = "m", .op = &made_up, .attrs = tree, .output_count = outputs};
    *fields = (made_up_attrs){.x = qdq_input(graph, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 2, 8, 8))};
    bool fine = qdq_onednn_read_attrs(&file, &op, QDQ_DTYPE_NONE, (char *)fields);
    for (size_t i = 0; i < fields->pads.count && i < 8; i++) pads[i] = fields->pads.data[i];
    qdq_json_tree_free(tree);
    qdq_mempool_release(&mempool);
    free(json);
    qdq_graph_destroy(graph);
    return fine;
}

static void a_default_of_twelve_entries_is_cut_to_the_spatial_dims(void **state) {
    (void)state;
    made_up_attrs got;
    int64_t pads[8];
    assert_true(
        read_made_up("{'pads':{'type':'s64[]','value':[1,2,1,1,1,1,1,1,1,1,1,1]}}", 1, &got, pads));
    assert_int_equal(got.pads.count, 2);
    assert_true(pads[0] == 1 && pads[1] == 2);
    assert_true(read_made_up("{'pads':{'type':'s64[]','value':[1,2,3]}}", 1, &got, pads));
    assert_int_equal(got.pads.count, 3);  // is the op's to refuse
    assert_true(read_made_up("{'pads':{'type':'s64[]','value':[]}}", 1, &got, pads));
    assert_int_equal(got.pads.count, 0);
}

static void optional_outputs_exist_if_they_are_listed(void **state) {
    (void)state;
    made_up_attrs got;
    int64_t pads[8];
    assert_true(read_made_up("{'keep_stats':{'type':'bool','value':1}}", 1, &got, pads));
    assert_int_equal(got.keep_stats, QDQ_FALSE);
    assert_int_equal(got.keep_mask, QDQ_FALSE);
    assert_true(read_made_up("{'keep_stats':{'type':'bool','value':0}}", 3, &got, pads));
    assert_int_equal(got.keep_stats, QDQ_TRUE);
    assert_int_equal(got.keep_mask, QDQ_TRUE);
    assert_int_equal(got.flag, QDQ_UNSET);
}

static void numbers_and_words_are_read_as_declared(void **state) {
    (void)state;
    made_up_attrs got;
    int64_t pads[8];
    assert_true(read_made_up("{'flag':{'type':'bool','value':1},'epsilon':{'type':'f32','value':"
                             "1e-05},'mode':{'type':'string','value':'linear'}}",
                             1, &got, pads));
    assert_int_equal(got.flag, QDQ_TRUE);
    assert_true(got.epsilon.set != 0 && got.epsilon.value == (double)1e-5f);  // not 1e-5
    assert_true(got.mode.set != 0 && got.mode.value == 1);
    assert_true(read_made_up(
        "{'flag':{'type':'bool','value':0},'epsilon':{'type':'f32','value':2}}", 1, &got, pads));
    assert_int_equal(got.flag, QDQ_FALSE);
    assert_true(got.epsilon.value == 2);
}

//---- Errors -----------------------------------------------------------------

static void an_inconsistent_file_is_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {GRAPH("7"), "graph[0] is a number, wanted an object"},
        {GRAPH("{'kind':'TypeCast'}"), "graph[0]: key 'id' is missing"},
        {GRAPH("{'id':-1,'kind':'TypeCast'}"),
         "graph[0].id is a number, wanted a whole number from 0 to 2^64 - 1"},
        {GRAPH("{'id':18446744073709551616,'kind':'TypeCast'}"),
         "graph[0].id is a number, wanted a whole number from 0 to 2^64 - 1"},
        {GRAPH("{'id':'1','kind':'TypeCast'}"),
         "graph[0].id is a string, wanted a whole number from 0 to 2^64 - 1"},
        {GRAPH("{'id':1}"), "graph[0]: key 'kind' is missing"},
        {GRAPH("{'id':1,'kind':'TypeCast','name':3}"),
         "graph[0].name is a number, wanted a string"},
        {GRAPH("{'id':1,'kind':'TypeCast','attrs':[]}"),
         "graph[0].attrs is an array, wanted an object"},
        {GRAPH("{'id':1,'kind':'TypeCast','inputs':{}}"),
         "graph[0].inputs is an object, wanted an array"},
        {GRAPH(CAST("1", "c", "5", OUT)), "graph[0].inputs[0] is a number, wanted an object"},
        {GRAPH(CAST("1", "c", IN, "{}")), "graph[0].outputs[0]: key 'id' is missing"},
        {GRAPH(CAST("1", "a", IN, OUT) "," CAST("1", "b", IN, T("2", "f16", "[4]"))),
         "op 'b' (TypeCast, id 1) has the id of op 'a', graph[0]; give each an id of its own"},
        {GRAPH(CAST("1", "a", IN, OUT) "," CAST("2", "b", IN, OUT)),
         "op 'b' (TypeCast, id 2) makes tensor 1, which op 'a' (id 1) makes as well; give each "
         "tensor an id of its own"},
        {GRAPH(CAST("1", "a", IN, OUT "," OUT)),
         "op 'a' (TypeCast, id 1) makes tensor 1, which op 'a' (id 1) makes as well; give each "
         "tensor an id of its own"},
        {GRAPH(CAST("1", "a", IN, IN)),
         "op 'a' (TypeCast, id 1) needs its own result: 'a' <- 'a'; remove one of these edges"},
        {GRAPH(CAST("1", "a", IN, OUT) "," CAST("2", "b", OUT, IN)),
         "op 'a' (TypeCast, id 1) needs its own result: 'a' <- 'b' <- 'a'; remove one of these "
         "edges"},
        {GRAPH("{'id':3,'name':'e','kind':'End','inputs':[" IN "],'outputs':[" OUT "]}"),
         "op 'e' (End, id 3) has 1 outputs, wanted none"},
        {GRAPH(CAST("1", "c", T("0", "f32", "[-9223372036854775808]"), OUT)),
         "op 'c' (TypeCast, id 1) reads tensor 0, which no op makes and which has an unknown shape "
         "(input 0); write its dims"},
        {GRAPH(CAST("1", "c", "{'id':0,'dtype':'f32'}", OUT)),
         "op 'c' (TypeCast, id 1) has nothing as shape of input 0, wanted a list of dims"},
        {GRAPH(CAST("1", "c", T("0", "f32", "[0.5]"), OUT)),
         "op 'c' (TypeCast, id 1) has a number in the shape of input 0, wanted whole numbers"},
        {GRAPH(CAST("1", "c", T("0", "undef", "[4]"), OUT)),
         "op 'c' (TypeCast, id 1) reads tensor 0, which no op makes and which has no dtype (input "
         "0); write it"},
        {GRAPH(CAST("1", "c", T("0", "f64", "[4]"), OUT)),
         "op 'c' (TypeCast, id 1) has 'f64' as dtype of input 0, wanted one of: f32, bf16, f16, "
         "s32, s64, s8, u8, s4, u4, f8_e5m2, f8_e4m3, boolean, undef"},
        {GRAPH(CAST("1", "c", IN, "{'id':1}")),
         "op 'c' (TypeCast, id 1) has nothing as dtype of output 0, wanted one of: f32, bf16, f16, "
         "s32, s64, s8, u8, s4, u4, f8_e5m2, f8_e4m3, boolean, undef"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        qdq_error err = {0};
        assert_null(parse(cases[i].text, NULL, &err));
        unit_check_error(&err, QDQ_ERR_PARSE, "f.json", cases[i].wanted);
    }
}

static void mistakes_in_an_op_are_findings(void **state) {
    (void)state;
#define SCALES "'scales':{'type':'f32[]','value':[1]}"
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {QUANTIZE("'scales':{'type':'f32','value':1}", "[4]", "s8"),
         "node 'q': Quantize: scales has the type 'f32', wanted 'f32[]'; see `qdq ops Quantize`"},
        {QUANTIZE("'scales':[1]", "[4]", "s8"),
         "node 'q': Quantize: scales is an array, wanted {\"type\": \"f32[]\", \"value\": ...}; "
         "see `qdq ops Quantize`"},
        {QUANTIZE("'scales':{'value':[1]}", "[4]", "s8"),
         "node 'q': Quantize: scales has no type or no value, wanted {\"type\": \"f32[]\", "
         "\"value\": ...}; see `qdq ops Quantize`"},
        {QUANTIZE(SCALES ",'axis':{'type':'s64','value':1.5}", "[4]", "s8"),
         "node 'q': Quantize: axis is 1.5, wanted a whole number; see `qdq ops Quantize`"},
        {QUANTIZE(SCALES ",'saturate':{'type':'bool','value':true}", "[4]", "s8"),
         "node 'q': Quantize: saturate is a bool, wanted 0 or 1; see `qdq ops Quantize`"},
        {QUANTIZE(SCALES ",'saturate':{'type':'bool','value':2}", "[4]", "s8"),
         "node 'q': Quantize: saturate is 2, wanted 0 or 1; see `qdq ops Quantize`"},
        {QUANTIZE(SCALES ",'qtype':{'type':'string','value':'per_row'}", "[4]", "s8"),
         "node 'q': Quantize: qtype is 'per_row', wanted one of: per_tensor, per_channel, "
         "per_group; see `qdq ops Quantize`"},
        {QUANTIZE(SCALES ",'axes':{'type':'s64[]','value':[1]}", "[4]", "s8"),
         "node 'q': Quantize: attribute 'axes' is unknown; did you mean 'axis'?"},
        {QUANTIZE(SCALES ",'dtype':{'type':'string','value':'s8'}", "[4]", "s8"),
         "node 'q': Quantize: attribute 'dtype' is unknown; the first output says it"},
        {QUANTIZE("'qtype':{'type':'string','value':'per_channel'},'axis':{'type':'s64','value':1},"
                  "'scales':{'type':'f32[]','value':[1,1,1,1]}",
                  "[4,1,3,3]", "s8"),
         "node 'q': Quantize: scales has 4 elements, wanted 1 (as dim 1 of x is 1); give 1 per "
         "tensor, dim[axis] per channel, or 1 for each block"},
        {GRAPH(CAST("1", "c", IN "," IN, OUT)),
         "node 'c': Cast: has 2 inputs, wanted at most 1; see `qdq ops Cast`"},
        {GRAPH(CAST("1", "c", IN, OUT "," T("2", "f16", "[4]"))),
         "node 'c': Cast: lists 2 outputs, wanted at most 1, as it makes; see `qdq ops Cast`"},
        {GRAPH(CAST("1", "c", "", OUT)),
         "node 'c': Cast: x is not connected; connect it under \"inputs\""},
        {GRAPH(CAST("1", "c", T("0", "f32", "[4,0]"), OUT)),
         "input 't0': shape is [4, 0], wanted at most 8 dims, each at least 1; a scalar has the "
         "shape []"},
        {GRAPH("{'id':1,'name':'d','kind':'DynamicQuantize','inputs':[" IN
               "],'outputs':[" T("1", "s8", "[4]") "," T("2", "bf16", "[1]") "]}"),
         "node 'd': DynamicQuantize: scale is declared as bfloat16, wanted float32, which the op "
         "makes; see `qdq ops DynamicQuantize`"},
    };
    for (size_t i = 0; i < UNIT_COUNT(cases); i++) {
        char wanted[512];
        snprintf(wanted, sizeof wanted, "f.json: %s", cases[i].wanted);
        qdq_graph *graph = load(cases[i].text);
        const qdq_report *report = qdq_graph_validate(graph, "core", NULL);
        assert_int_equal(report->errors, 1);
        assert_string_equal(report->findings[0].message, wanted);
        qdq_graph_destroy(graph);
    }
}

static void all_unsupported_kinds_are_named_and_stop_compiling(void **state) {
    (void)state;
    qdq_graph *graph =
        load(GRAPH(
            "{'id':1,'name':'a','kind':'ReLUBackward','inputs':[" IN "],'outputs':[" OUT "]}," CAST(
                "2", "c", OUT,
                T("2", "f32",
                  "[4]")) ","
                          "{'id':3,'name':'b','kind':'Requantize','inputs':[" T("2", "f32", "[4]") "],'outputs':[" T(
                              "3", "s8",
                              "[4]") "]},"
                                     "{'id':4,'kind':'Cast','inputs':[" T(
                                         "2", "f32",
                                         "[4]") "],'outputs':[" T("4", "s8",
                                                                  "[4]") "]}," CAST("5", "w",
                                                                                    IN "," IN,
                                                                                    T("5", "f32",
                                                                                      "[4]"))));
    static const char *const hint = "is not supported; see `qdq ops`; there are no backward ops";
    static const char *const begin[] = {"a': ReLUBackward", "b': Requantize", "op4': Cast",
                                        "w': Cast"};
    char wanted[UNIT_COUNT(begin)][160];
    for (size_t i = 0; i < UNIT_COUNT(begin); i++)
        snprintf(wanted[i], sizeof wanted[i], "f.json: node '%s: %s", begin[i],
                 i < 3 ? hint : "has 2 inputs, wanted at most 1; see `qdq ops Cast`");
    const qdq_report *report = qdq_graph_validate(graph, NULL, NULL);
    assert_int_equal(report->count, UNIT_COUNT(wanted));
    for (size_t i = 0; i < report->count; i++)
        assert_string_equal(report->findings[i].message, wanted[i]);
    qdq_error err = {0};
    assert_null(qdq_graph_compile(graph, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_UNSUPPORTED);
    assert_string_equal(err.text, wanted[0]);
    qdq_graph_destroy(graph);
}

static void an_empty_graph_has_no_outputs(void **state) {
    (void)state;
    qdq_graph *graph = load(GRAPH(""));
    const qdq_report *report = qdq_graph_validate(graph, NULL, NULL);
    assert_int_equal(report->errors, 1);
    assert_string_equal(report->findings[0].rule, "core/output-missing");
    qdq_graph_destroy(graph);
}

static void a_failed_allocation_leaks_nothing(void **state) {
    (void)state;
    const char *text =
        GRAPH(CAST("1", "a", T("0", "f32", "[4]"),
                   T("10", "bf16",
                     "[4]")) ","
                             "{'id':4,'kind':'End','inputs':[" T(
                                 "10", "bf16",
                                 "[4]") "]},"
                                        "{'id':2,'name':'q','kind':'Quantize','attrs':{" SCALES
                                        "},'inputs':[" IN "],'outputs':[" T(
                                            "2", "s8", "[4]") "]},{'id':7,'name':'q','kind':'Tan','"
                                                              "inputs':[" T("2", "s8", "[4]") "]}");
    for (size_t fail_at = 1;; fail_at++) {
        unit_memory memory;
        qdq_error err = {0};
        qdq_graph_options options = {.allocator = unit_memory_init(&memory, fail_at)};
        qdq_graph *graph = parse(text, &options, &err);
        bool done = memory.calls < fail_at;
        if (!graph) assert_int_equal(err.status, QDQ_ERR_MEMORY);
        qdq_graph_destroy(graph);
        unit_memory_check(&memory);
        if (done) break;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_default_of_twelve_entries_is_cut_to_the_spatial_dims),
        cmocka_unit_test(optional_outputs_exist_if_they_are_listed),
        cmocka_unit_test(numbers_and_words_are_read_as_declared),
        cmocka_unit_test(an_inconsistent_file_is_refused_with_a_reason),
        cmocka_unit_test(mistakes_in_an_op_are_findings),
        cmocka_unit_test(all_unsupported_kinds_are_named_and_stop_compiling),
        cmocka_unit_test(an_empty_graph_has_no_outputs),
        cmocka_unit_test(a_failed_allocation_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
