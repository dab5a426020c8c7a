// SPDX-License-Identifier: Apache-2.0
// Building graphs in C: findings are collected, names and ports are checked, and graphs built in C
// and read from JSON agree.
#include <qdq/qdq.h>

#include "runtime/base/utf8.h"
#include "tests/unit.h"

static void all_errors_of_a_graph_are_reported(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(2, 3));
    qdq_value a = qdq_quantize(g, x, (qdq_quantize_attrs){.name = "a"});
    qdq_value b = qdq_dequantize(g, x, (qdq_dequantize_attrs){.name = "b", .scales = QDQ_SCALE(1)});
    qdq_value c = qdq_quantize(
        g, x,
        (qdq_quantize_attrs){.name = "c", .qtype = QDQ_PER_CHANNEL, .scales = QDQ_SCALES(1, 2)});
    qdq_output(g, "a", a), qdq_output(g, "b", b), qdq_output(g, "c", c);
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(g, NULL, &err);
    assert_non_null(report);
    assert_int_equal(report->errors, 3);
    assert_string_equal(report->findings[0].rule, "core/scale-missing");
    assert_string_equal(report->findings[0].node, "a");
    assert_string_equal(report->findings[1].rule, "core/port-dtype");
    assert_string_equal(report->findings[1].found, "is float32");
    assert_string_equal(report->findings[2].rule, "core/scale-count");
    assert_null(qdq_graph_compile(g, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_GRAPH);
    assert_string_equal(err.text, report->findings[0].message);
    qdq_graph_destroy(g);
}

static void nodes_after_a_bad_node_are_not_blamed(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value q = qdq_quantize(g, x, (qdq_quantize_attrs){0});
    for (int i = 0; i < 5; i++)
        q = qdq_dequantize(g, q, (qdq_dequantize_attrs){.scales = QDQ_SCALE(1)});
    qdq_output(g, "y", q);
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_int_equal(report->errors, 1);
    assert_int_equal(report->warnings, 0);
    qdq_graph_destroy(g);
}

static void nodes_without_names_get_free_ones(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "Quantize_0", QDQ_FLOAT32, QDQ_SHAPE(4));
    for (int i = 0; i < 3; i++)
        qdq_output(g, (const char *[]){"a", "b", "c"}[i],
                   qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    qdq_graph_destroy(g);
}

// An id does not name its graph.
static void a_value_of_another_graph_is_refused_if_its_id_is_beyond_this_graph(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL), *other = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value first = qdq_input(other, "a", QDQ_FLOAT32, QDQ_SHAPE(8));
    qdq_value second = qdq_input(other, "b", QDQ_FLOAT32, QDQ_SHAPE(8));
    assert_int_equal(first.id, x.id);
    qdq_output(g, "y", qdq_relu(g, first, (qdq_unary_attrs){.name = "r"}));
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    qdq_dtype dtype;
    qdq_shape shape;
    assert_true(qdq_value_type(g, qdq_graph_find(g, "r"), &dtype, &shape));
    assert_int_equal(shape.dims[0], 4);
    qdq_graph_destroy(g);
    g = qdq_graph_create(NULL, NULL);
    qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "y", qdq_relu(g, second, (qdq_unary_attrs){.name = "r"}));
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_true(report->errors);
    assert_non_null(strstr(report->findings[0].message, "is a value of another graph"));
    qdq_graph_destroy(g), qdq_graph_destroy(other);
}

static void every_output_of_a_node_can_be_reached(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4, 6));
    qdq_value y = qdq_dynamic_quantize(
        g, x,
        (qdq_dynamic_quantize_attrs){
            .quantize = {.name = "dyn", .dtype = QDQ_UINT8, .qtype = QDQ_PER_CHANNEL}});
    qdq_value scale = qdq_port(g, y, "scale");
    qdq_dtype dtype;
    qdq_shape shape;
    assert_true(qdq_value_type(g, scale, &dtype, &shape));
    assert_int_equal(dtype, QDQ_FLOAT32);
    assert_int_equal(shape.rank, 1);
    assert_int_equal(shape.dims[0], 6);
    assert_int_equal(qdq_graph_find(g, "dyn.scale").id, scale.id);
    assert_int_equal(qdq_graph_find(g, "dyn").id, y.id);
    assert_int_equal(qdq_graph_find(g, "dyn.y").id, y.id);
    assert_int_equal(qdq_port(g, y, "nothing").id, 0);
    assert_int_equal(qdq_port(g, x, "y").id, 0);
    qdq_graph_destroy(g);
}

static void values_and_outputs_are_listed_in_the_order_of_the_graph(void **state) {
    (void)state;
    const float two = 2;
    qdq_graph *g = qdq_graph_create("g", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1));
    qdq_value w = qdq_constant(g, "w", QDQ_FLOAT32, QDQ_SHAPE(1), &two);
    qdq_value sum = qdq_add(g, x, w, (qdq_binary_attrs){.name = "sum"});
    qdq_output(g, "y", sum), qdq_output(g, "x again", x);
    static const char *const names[] = {"x", "w", "sum"};
    assert_int_equal(qdq_graph_value_count(g), UNIT_COUNT(names));
    for (size_t i = 0; i < UNIT_COUNT(names); i++) {
        qdq_value value = qdq_graph_get_value(g, i);
        assert_string_equal(qdq_value_name(g, value), names[i]);
        assert_int_equal(qdq_value_is_input(g, value), i == 0);
        assert_int_equal(qdq_value_is_constant(g, value), i == 1);
    }
    assert_int_equal(qdq_graph_output_count(g), 2);
    assert_string_equal(qdq_graph_get_output(g, 0), "y");
    assert_string_equal(qdq_graph_get_output(g, 1), "x again");
    assert_int_equal(qdq_output_value(g, qdq_graph_get_output(g, 1)).id, x.id);
    qdq_graph_destroy(g);
}

static void an_older_smaller_struct_is_accepted(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_quantize_attrs attrs = {
        .name = "q", .scales = QDQ_SCALE(0.5f), .quant_min = QDQ_INT(7), .quant_max = QDQ_INT(3)};
    attrs.x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(g, "y",
               qdq_add_node(g, "Quantize", &attrs, offsetof(qdq_quantize_attrs, quant_min)));
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    qdq_graph_destroy(g);
}

static void check_attrs_size(const void *attrs, size_t size, bool good) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    assert_int_equal(x.id, 1);
    qdq_output(g, "y", qdq_add_node(g, "Quantize", attrs, size));
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    if (good != (plan != NULL)) fail_msg("%zu bytes: %s", size, err.text);
    if (!good) assert_non_null(strstr(err.text, "pass sizeof of the struct of the op"));
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// A part of a pointer would be read as a pointer, and a field that is not known here would be lost.
static void a_struct_that_ends_within_a_field_is_refused(void **state) {
    (void)state;
    struct {
        qdq_quantize_attrs known;
        size_t newer;
    } attrs = {.known = {.name = "q", .x = {1}, .scales = QDQ_SCALE(0.5f)}};
    check_attrs_size(&attrs, sizeof attrs.known, true);
    check_attrs_size(&attrs, sizeof attrs, true);
    for (size_t size = 1; size < sizeof attrs.known.name; size++)
        check_attrs_size(&attrs, size, false);
    check_attrs_size(&attrs, offsetof(qdq_quantize_attrs, scales) + sizeof(void *), false);
    check_attrs_size(&attrs, offsetof(qdq_quantize_attrs, axis) + 1, false);
    attrs.newer = 1;
    check_attrs_size(&attrs, sizeof attrs, false);
}

static void a_null_graph_is_reported_once_at_the_end(void **state) {
    (void)state;
    qdq_value x = qdq_input(NULL, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_output(NULL, "y", qdq_quantize(NULL, x, (qdq_quantize_attrs){0}));
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(NULL, NULL, &err);
    assert_null(plan);
    assert_int_equal(err.status, QDQ_ERR_MEMORY);
    assert_null(qdq_exec_create(plan, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_MEMORY);
    qdq_exec_destroy(NULL), qdq_plan_destroy(NULL), qdq_graph_destroy(NULL);
}

static void a_value_of_another_graph_is_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_output(g, "y",
               qdq_quantize(g, (qdq_value){77}, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)}));
    assert_string_equal(qdq_graph_validate(g, NULL, NULL)->findings[0].rule, "core/value-unknown");
    qdq_graph_destroy(g);
}

static void unknown_ops_and_targets_are_named(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    const char *name = "q";
    (void)qdq_add_node(g, "Quantise", &name, sizeof name);
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_string_equal(report->findings[0].rule, "core/op-unknown");
    assert_string_equal(report->findings[0].hint, "did you mean 'Quantize'?");
    qdq_error err = {0};
    assert_null(qdq_graph_validate(g, "cpre", &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "did you mean 'core'?"));
    qdq_graph_destroy(g);
}

// 5 nodes with a negative scale, 300 without a scale, and no output.
static const qdq_report *report_of_many(qdq_graph *g) {
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    for (int i = 0; i < 155; i++) {
        float scale = -1;
        qdq_floats scales = {.data = &scale, .count = 1};
        (void)qdq_quantize(g, x, (qdq_quantize_attrs){.scales = scales});
    }
    for (int i = 0; i < 300; i++) (void)qdq_quantize(g, x, (qdq_quantize_attrs){0});
    return qdq_graph_validate(g, NULL, NULL);
}

static size_t count_kept(const qdq_report *report, qdq_severity severity) {
    size_t count = 0;
    for (size_t i = 0; i < report->count; i++) count += report->findings[i].severity == severity;
    return count;
}

static void a_report_keeps_as_many_findings_as_the_limits_say(void **state) {
    (void)state;
    qdq_graph_options options[] = {{0}, {.limits.findings = 3}, {.limits.findings = 1000}};
    size_t kept_errors[] = {100, 3, 301}, kept_warnings[] = {100, 3, 310};
    for (size_t i = 0; i < 3; i++) {
        qdq_graph *g = qdq_graph_create(NULL, &options[i]);
        const qdq_report *report = report_of_many(g);
        assert_int_equal(report->errors, 301);
        assert_int_equal(report->warnings,
                         155 + 155);  // unused results of valid nodes are warnings
        assert_int_equal(count_kept(report, QDQ_SEVERITY_ERROR), kept_errors[i]);
        assert_int_equal(count_kept(report, QDQ_SEVERITY_WARNING), kept_warnings[i]);
        for (size_t k = 0; k < report->count; k++)
            assert_string_not_equal(report->findings[k].message, "");
        qdq_graph_destroy(g);
    }
}

static void keep_line(void *self, const char *text) { snprintf(self, 256, "%s", text); }

static void loading_and_compiling_are_logged(void **state) {
    (void)state;
    static const char text[] =
        "{\"format\": \"qdq/1\", \"inputs\": [{\"name\": \"x\", \"dtype\": \"int8\", \"shape\": "
        "[4]}],"
        " \"nodes\": [{\"op\": \"Dequantize\", \"name\": \"d\", \"inputs\": {\"x\": \"x\"},"
        " \"attrs\": {\"scales\": 1}}], \"outputs\": [{\"name\": \"y\", \"value\": \"d\"}]}";
    char line[256] = "";
    qdq_graph_options options = {.log = {keep_line, line}};
    qdq_graph *g = qdq_graph_parse(text, strlen(text), "a.json", NULL, &options, NULL);
    assert_string_equal(line, "a.json: loaded 1 nodes, 0 errors found so far");
    qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
    assert_string_equal(line, "compiled 1 nodes for core: 1 steps, 4096 bytes of arena");
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// A column of 1000 float32 takes 125 KiB in tiles, but counts as 4000 bytes. Results that are not
// stored do not count.
static void inputs_outputs_and_constants_are_counted_row_major(void **state) {
    (void)state;
    qdq_graph_options options = {.limits = {.bytes = 8003}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1000, 1));
    qdq_value c = qdq_constant(g, "c", QDQ_INT8, QDQ_SHAPE(3), "123");
    qdq_value y = qdq_relu(g, qdq_sigmoid(g, x, (qdq_unary_attrs){0}), (qdq_unary_attrs){0});
    qdq_output(g, "y", y);
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    qdq_output(g, "c", c);
    qdq_output(g, "again", y);
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_int_equal(report->errors, 1);
    assert_string_equal(
        report->findings[0].message,
        "output 'c': shape brings inputs, outputs and constants to 8006 bytes, "
        "wanted at most 8003; raise --max-elements or --max-bytes if you trust the file");
    qdq_graph_destroy(g);
}

static void results_keep_to_the_limit_of_elements(void **state) {
    (void)state;
    qdq_graph_options options = {.limits = {.elements = 100}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    qdq_value column = qdq_input(g, "column", QDQ_FLOAT32, QDQ_SHAPE(11, 1));
    qdq_value row = qdq_input(g, "row", QDQ_FLOAT32, QDQ_SHAPE(1, 11));
    (void)qdq_matmul(g, column, row, (qdq_matmul_attrs){.name = "m"});
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_string_equal(report->findings[0].rule, "core/size");
    assert_string_equal(report->findings[0].node, "m");
    qdq_graph_destroy(g);
}

static void tensors_beyond_the_caps_are_refused(void **state) {
    (void)state;
    qdq_graph_options options = {.limits = {.elements = 1000, .bytes = 7999}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    (void)qdq_input(g, "a", QDQ_FLOAT32, QDQ_SHAPE(1001));
    (void)qdq_input(g, "b", QDQ_FLOAT32, QDQ_SHAPE(INT64_MAX, INT64_MAX, 2));
    qdq_output(g, "y", qdq_input(g, "c", QDQ_FLOAT32, QDQ_SHAPE(1000)));
    (void)qdq_input(g, "d", QDQ_FLOAT32, QDQ_SHAPE(1000));  // adds no second finding
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_int_equal(report->errors, 3);
    for (size_t i = 0; i < 3; i++) assert_string_equal(report->findings[i].rule, "core/size");
    qdq_error err = {0};
    assert_null(qdq_graph_compile(g, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_LIMIT);
    qdq_graph_destroy(g);
}

// What a file calls "d.scale" would be the input or node of this name, not the scale of d.
static void a_further_output_of_a_node_shares_its_name_with_no_value(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, i == 0 ? "d.scale" : "x", QDQ_FLOAT32, QDQ_SHAPE(4));
        if (i == 1) (void)qdq_relu(g, x, (qdq_unary_attrs){.name = "d.scale"});
        qdq_dynamic_quantize_attrs attrs = {.quantize = {.name = "d"}};
        qdq_value d = qdq_dynamic_quantize(g, x, attrs);
        qdq_value r = qdq_relu(g, x, (qdq_unary_attrs){.name = i == 2 ? "d.scale" : "r"});
        qdq_output(g, "s", qdq_port(g, d, "scale"));
        qdq_output(g, "y", r);
        const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
        bool found = false;
        for (size_t k = 0; k < report->count; k++)
            found |= strcmp(report->findings[k].rule, "core/name-duplicate") == 0 &&
                     strstr(report->findings[k].message, "name 'd.scale' is given twice") != NULL;
        assert_true(found);
        qdq_graph_destroy(g);
    }
}

// The name of the first output is the node's, so "q.y" may be another value.
static void the_first_output_leaves_its_port_name_free(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "q.y", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value q = qdq_quantize(g, x, (qdq_quantize_attrs){.name = "q", .scales = QDQ_SCALE(1)});
    qdq_output(g, "y", q);
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    assert_int_equal(qdq_graph_find(g, "q.y").id, x.id);
    assert_int_equal(qdq_graph_find(g, "q").id, q.id);
    qdq_graph_destroy(g);
}

static void a_node_without_a_name_gets_one_whose_outputs_are_free(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "DynamicQuantize_0.scale", QDQ_FLOAT32, QDQ_SHAPE(4));
    qdq_value d = qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){0});
    qdq_output(g, "s", qdq_port(g, d, "scale"));
    assert_int_equal(qdq_graph_validate(g, NULL, NULL)->errors, 0);
    assert_string_equal(qdq_value_name(g, d), "DynamicQuantize_1");
    qdq_graph_destroy(g);
}

// A tensor whose tiles no address can count is good as long as it is not tiled, as on machines of
// 32 bits a weight [2048, 512, 1, 1] is.
static void only_what_is_tiled_must_fit_in_tiles(void **state) {
    enum { BITS = 8 * sizeof(size_t) };
    (void)state;
    qdq_graph_options options = {.limits = {.elements = SIZE_MAX, .bytes = SIZE_MAX}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)1 << (BITS - 7), 1, 1));
    qdq_output(g, "y",
               qdq_relu(g, qdq_relu(g, x, (qdq_unary_attrs){.name = "r"}),
                        (qdq_unary_attrs){.name = "s"}));
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, NULL, &err);
    if (!plan) fail_msg("%s", err.text);
    qdq_plan_destroy(plan);
    assert_null(qdq_graph_compile(
        g, &(qdq_compile_options){.layout = QDQ_PLAN_TILES, .materialize = true}, &err));
    assert_non_null(strstr(err.text, "takes more bytes in tiles than an address can count"));
    assert_int_equal(err.status, QDQ_ERR_LIMIT);
    qdq_graph_destroy(g);
}

// The product of the dims has more than 64 bits, also where the limit is the greatest number.
static void elements_beyond_64_bits_are_refused_at_any_limit(void **state) {
    (void)state;
    qdq_graph_options options = {.limits = {.elements = SIZE_MAX, .bytes = SIZE_MAX}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    (void)qdq_input(g, "a", QDQ_INT4, QDQ_SHAPE(65552, 281406274007041));
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_true(report->errors >= 1);  // a graph without outputs is another
    assert_string_equal(report->findings[0].rule, "core/size");
    qdq_graph_destroy(g);
}

static void an_invalid_rank_is_reported(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    (void)qdq_input(g, "less", QDQ_INT8, (qdq_shape){.rank = -1});
    (void)qdq_input(g, "more", QDQ_INT8, (qdq_shape){.rank = 9});
    const qdq_report *report = qdq_graph_validate(g, NULL, NULL);
    assert_string_equal(report->findings[0].found, "has rank -1");
    assert_string_equal(report->findings[1].found, "has rank 9");
    qdq_graph_destroy(g);
}

// Two-byte characters in names so long that the text of a step is cut.
static void the_text_of_a_step_is_cut_between_characters(void **state) {
    (void)state;
    static const char *const starts[] = {"", "a"};
    for (int odd = 0; odd < 2; odd++) {
        char name[128];
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
        for (int i = 0; i < 12; i++) {
            snprintf(name, sizeof name, "%s%c", starts[odd], 'a' + i);
            for (int k = 0; k < 40; k++) strcat(name, "\xC3\xA9");
            x = qdq_abs(g, x, (qdq_unary_attrs){.name = name});
        }
        qdq_output(g, "y", x);
        qdq_plan *plan = qdq_graph_compile(g, NULL, NULL);
        const char *text = qdq_plan_get_step(plan, 0)->text;
        assert_true(strlen(text) > 500);
        assert_int_equal(qdq_utf8_valid(text, strlen(text)), strlen(text));
        qdq_plan_destroy(plan), qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_errors_of_a_graph_are_reported),
        cmocka_unit_test(nodes_after_a_bad_node_are_not_blamed),
        cmocka_unit_test(nodes_without_names_get_free_ones),
        cmocka_unit_test(a_value_of_another_graph_is_refused_if_its_id_is_beyond_this_graph),
        cmocka_unit_test(every_output_of_a_node_can_be_reached),
        cmocka_unit_test(values_and_outputs_are_listed_in_the_order_of_the_graph),
        cmocka_unit_test(an_older_smaller_struct_is_accepted),
        cmocka_unit_test(a_struct_that_ends_within_a_field_is_refused),
        cmocka_unit_test(a_null_graph_is_reported_once_at_the_end),
        cmocka_unit_test(a_value_of_another_graph_is_refused),
        cmocka_unit_test(unknown_ops_and_targets_are_named),
        cmocka_unit_test(a_report_keeps_as_many_findings_as_the_limits_say),
        cmocka_unit_test(loading_and_compiling_are_logged),
        cmocka_unit_test(inputs_outputs_and_constants_are_counted_row_major),
        cmocka_unit_test(results_keep_to_the_limit_of_elements),
        cmocka_unit_test(tensors_beyond_the_caps_are_refused),
        cmocka_unit_test(a_further_output_of_a_node_shares_its_name_with_no_value),
        cmocka_unit_test(the_first_output_leaves_its_port_name_free),
        cmocka_unit_test(a_node_without_a_name_gets_one_whose_outputs_are_free),
        cmocka_unit_test(only_what_is_tiled_must_fit_in_tiles),
        cmocka_unit_test(elements_beyond_64_bits_are_refused_at_any_limit),
        cmocka_unit_test(an_invalid_rank_is_reported),
        cmocka_unit_test(the_text_of_a_step_is_cut_between_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
