// SPDX-License-Identifier: Apache-2.0
// Extracting a node as a graph of its own: test_extract MODELS_DIR.
#include <qdq/qdq.h>

#include "tests/unit.h"

static const char *models;

//---- The same results as in the graph ----------------------------------------

// The results of all nodes of a graph, with the data of its inputs.
typedef struct observed {
    qdq_plan *plan;
    qdq_exec *exec;
    void *inputs[16];
} observed;

static void observed_name(char out[64], qdq_value value) {
    snprintf(out, 64, "value %u", (unsigned)value.id);
}

// Fills inputs from a file, or from a seed if there is no file.
static void fill_inputs(observed *o, const char *path) {
    qdq_error err = {0};
    uint64_t state = 7;
    qdq_tensor_file *file = path ? qdq_tensor_file_open(path, NULL, &err) : NULL;
    for (size_t i = 0; i < qdq_plan_input_count(o->plan); i++) {
        const qdq_tensor_info *input = qdq_plan_input(o->plan, i);
        o->inputs[i] = malloc(input->bytes);
        assert_int_equal(qdq_exec_bind(o->exec, input->name, o->inputs[i], input->bytes, &err), 0);
        if (file) {
            const qdq_tensor_info *info = qdq_tensor_file_find(file, input->name);
            void *data = malloc(info->bytes);
            assert_int_equal(qdq_tensor_file_read(file, info, data, &err), QDQ_OK);
            qdq_exec_write(o->exec, input->name, info->dtype, data, qdq_shape_count(info->shape),
                           &err);
            free(data);
            continue;
        }
        for (size_t k = 0; k < input->bytes / 4; k++)
            ((float *)o->inputs[i])[k] = (float)(unit_random(&state) >> 40) * 0x1p-21f - 4.0f;
    }
    assert_string_equal(err.text, "");
    qdq_tensor_file_close(file);
}

static observed observe(qdq_graph *g, const char *path, const qdq_numerics *numerics) {
    observed o = {0};
    qdq_error err = {0};
    qdq_compile_options options = {.target = "core", .numerics = numerics};
    for (size_t n = 0; n < qdq_graph_node_count(g); n++)
        for (size_t k = 0; k < qdq_graph_node(g, n).output_count; k++) {
            char name[64];
            qdq_value value = qdq_graph_node_output(g, n, k);
            observed_name(name, value);
            qdq_output(g, name, value);
        }
    o.plan = qdq_graph_compile(g, &options, &err);
    o.exec = qdq_exec_create(o.plan, NULL, &err);
    assert_string_equal(err.text, "");
    fill_inputs(&o, path);
    qdq_exec_run(o.exec);
    return o;
}

static void release(observed *o) {
    for (size_t i = 0; i < 16; i++) free(o->inputs[i]);
    qdq_exec_destroy(o->exec), qdq_plan_destroy(o->plan);
}

// The elements of a value, of an input or a node's result; the caller frees them.
static void *elements(const qdq_graph *g, const observed *o, qdq_value value,
                      const qdq_tensor_info *info) {
    char name[64];
    void *data = malloc(info->bytes);
    observed_name(name, value);
    for (size_t i = 0; i < qdq_plan_input_count(o->plan); i++)
        if (strcmp(qdq_plan_input(o->plan, i)->name, qdq_value_name(g, value)) == 0)
            return memcpy(data, o->inputs[i], info->bytes);
    assert_int_equal(
        qdq_exec_read(o->exec, name, info->dtype, data, qdq_shape_count(info->shape), NULL), 0);
    return data;
}

static void check_node(const qdq_graph *g, size_t n, const observed *o,
                       const qdq_numerics *numerics) {
    qdq_error err = {0};
    qdq_compile_options options = {.target = "core", .numerics = numerics};
    qdq_graph *one = qdq_graph_extract(g, n, NULL, &err);
    qdq_plan *plan = qdq_graph_compile(one, &options, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    assert_string_equal(err.text, "");
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *input = qdq_plan_input(plan, i);
        void *data = elements(g, o, qdq_graph_find(g, input->name), input);
        assert_int_equal(qdq_exec_write(exec, input->name, input->dtype, data,
                                        qdq_shape_count(input->shape), &err),
                         QDQ_OK);
        free(data);
    }
    qdq_exec_run(exec);
    assert_int_equal(qdq_plan_output_count(plan), qdq_graph_node(g, n).output_count);
    for (size_t k = 0; k < qdq_plan_output_count(plan); k++) {
        const qdq_tensor_info *output = qdq_plan_output(plan, k);
        assert_string_equal(output->name, qdq_value_name(g, qdq_graph_node_output(g, n, k)));
        void *wanted = elements(g, o, qdq_graph_node_output(g, n, k), output);
        void *got = malloc(output->bytes);
        qdq_exec_read(exec, output->name, output->dtype, got, qdq_shape_count(output->shape), &err);
        assert_memory_equal(got, wanted, output->bytes);
        free(got), free(wanted);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(one);
}

// The numerics of no target: every field that can be told apart differs from the core's.
static const qdq_numerics other_numerics = {
    .rounding = QDQ_ROUND_HALF_AWAY,
    .scaling = QDQ_SCALE_RECIPROCAL,
    .zero_point_order = QDQ_ZERO_POINT_FMA,
    .nan = QDQ_NAN_QUANT_MAX,
    .subtraction = QDQ_SUBTRACT_FLOAT,
    .requantize_form = QDQ_REQUANTIZE_FUSED,
    .bfloat16_store = QDQ_BFLOAT16_DEVICE,
    .narrow = true,
    .quant_min = -100,
    .quant_max = 100,
};

static size_t check_graph(qdq_graph *g, const char *path, const qdq_numerics *numerics) {
    observed o = observe(g, path, numerics);
    size_t count = qdq_graph_node_count(g);
    for (size_t n = 0; n < count; n++) check_node(g, n, &o, numerics);
    release(&o);
    qdq_graph_destroy(g);
    return count;
}

static void every_extracted_node_gives_the_results_of_its_graph(void **state) {
    (void)state;
    static const qdq_numerics core;
    char graph[512], inputs[512];
    size_t count = 0;
    DIR *dir = opendir(models);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        snprintf(graph, sizeof graph, "%s/%s/graph.json", models, entry->d_name);
        snprintf(inputs, sizeof inputs, "%s/%s/inputs.safetensors", models, entry->d_name);
        if (entry->d_name[0] == '.' || access(graph, F_OK) != 0) continue;
        count += check_graph(qdq_graph_load(graph, NULL, NULL), inputs, &core);
        count += check_graph(qdq_graph_load(graph, NULL, NULL), inputs, &other_numerics);
    }
    closedir(dir);
    assert_true(count >= 50);
}

// All quantizing ops, with scales and zero points that are constants, inputs, and results of other
// nodes.
static qdq_graph *every_kind_of_operand(void) {
    qdq_graph *g = qdq_graph_create("operands", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3, 40));
    qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, QDQ_SHAPE(3));
    qdq_value c = qdq_constant(g, "c", QDQ_FLOAT32, QDQ_SHAPE(3), (const float[]){0.5f, 0.25f, 3});
    qdq_value z = qdq_constant(g, "z", QDQ_INT8, QDQ_SHAPE(1), (const int8_t[]){5});
    qdq_value dyn = qdq_dynamic_quantize(
        g, x,
        (qdq_dynamic_quantize_attrs){
            .quantize = {
                .name = "dyn", .qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(0), .dtype = QDQ_UINT8}});
    qdq_value real =
        qdq_dequantize(g, dyn,
                       (qdq_dequantize_attrs){.name = "real",
                                              .scale = qdq_port(g, dyn, "scale"),
                                              .zero_point = qdq_port(g, dyn, "zero_point"),
                                              .qtype = QDQ_PER_CHANNEL,
                                              .axis = QDQ_INT(0)});
    qdq_value q = qdq_quantize(g, real,
                               (qdq_quantize_attrs){.name = "q",
                                                    .scale = s,
                                                    .zero_point = z,
                                                    .qtype = QDQ_PER_CHANNEL,
                                                    .axis = QDQ_INT(0)});
    qdq_value r = qdq_requantize(g, q,
                                 (qdq_requantize_attrs){.name = "r",
                                                        .in_scale = c,
                                                        .out_scale = qdq_port(g, dyn, "scale"),
                                                        .axis = QDQ_INT(0)});
    qdq_output(g, "y", r);
    return g;
}

static void operands_of_every_kind_are_carried_over(void **state) {
    (void)state;
    static const qdq_numerics core;
    assert_int_equal(check_graph(every_kind_of_operand(), NULL, &core), 4);
    assert_int_equal(check_graph(every_kind_of_operand(), NULL, &other_numerics), 4);
}

//---- The extracted graph -------------------------------------------------------

static void check_names(const qdq_tensor_info *(*at)(const qdq_plan *, size_t), size_t count,
                        const qdq_plan *plan, const char *const *names) {
    size_t wanted = 0;
    while (names[wanted]) wanted++;
    assert_int_equal(count, wanted);
    for (size_t i = 0; i < count; i++) assert_string_equal(at(plan, i)->name, names[i]);
}

// Checks the inputs and outputs of node `n` as a graph of its own. Destroys the graph.
static void check_io(qdq_graph *g, size_t n, const char *const *inputs,
                     const char *const *outputs) {
    qdq_error err = {0};
    qdq_graph *one = qdq_graph_extract(g, n, NULL, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_graph_validate(one, NULL, NULL)->errors, 0);
    assert_string_equal(qdq_graph_node(one, 0).name, qdq_graph_node(g, n).name);
    qdq_plan *plan = qdq_graph_compile(one, NULL, &err);
    assert_string_equal(err.text, "");
    check_names(qdq_plan_input, qdq_plan_input_count(plan), plan, inputs);
    check_names(qdq_plan_output, qdq_plan_output_count(plan), plan, outputs);
    qdq_plan_destroy(plan), qdq_graph_destroy(one), qdq_graph_destroy(g);
}

static void constants_stay_and_all_other_operands_become_inputs(void **state) {
    (void)state;
    check_io(every_kind_of_operand(), 0, (const char *const[]){"x", NULL},
             (const char *const[]){"dyn", "dyn.scale", "dyn.zero_point", NULL});
    check_io(every_kind_of_operand(), 1,
             (const char *const[]){"dyn", "dyn.scale", "dyn.zero_point", NULL},
             (const char *const[]){"real", NULL});
    check_io(every_kind_of_operand(), 2, (const char *const[]){"real", "s", NULL},
             (const char *const[]){"q", NULL});
    check_io(every_kind_of_operand(), 3, (const char *const[]){"q", "dyn.scale", NULL},
             (const char *const[]){"r", NULL});
}

static void a_value_at_two_ports_becomes_one_input(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1));
    qdq_output(g, "y", qdq_quantize(g, x, (qdq_quantize_attrs){.name = "q", .scale = x}));
    check_io(g, 0, (const char *const[]){"x", NULL}, (const char *const[]){"q", NULL});
}

static void names_that_would_clash_become_port_names(void **state) {
    (void)state;
    char name[256] = "";  // 255 bytes, so that "NAME.scale" is too long
    memset(name, 'n', sizeof name - 1);
    for (size_t n = 0; n < 2; n++) {
        qdq_graph *g = qdq_graph_create(NULL, NULL);
        qdq_value x = qdq_input(g, "scale", QDQ_FLOAT32, QDQ_SHAPE(1));
        qdq_value d =
            qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){.quantize = {.name = name}});
        qdq_output(g, "y",
                   qdq_quantize(
                       g, x, (qdq_quantize_attrs){.name = "q", .scale = qdq_port(g, d, "scale")}));
        if (n == 0)
            check_io(g, n, (const char *const[]){"x", NULL},
                     (const char *const[]){name, "scale", "zero_point", NULL});
        else
            check_io(g, n, (const char *const[]){"scale", "scale_1", NULL},
                     (const char *const[]){"q", NULL});
    }
}

static void options_of_the_graph_are_kept_unless_others_are_given(void **state) {
    (void)state;
    qdq_graph_options options = {.target = "onnx", .limits = {.elements = 8}};
    qdq_graph *g = qdq_graph_create(NULL, &options);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(8));
    (void)qdq_quantize(g, x, (qdq_quantize_attrs){.scales = QDQ_SCALE(1)});
    qdq_graph *same = qdq_graph_extract(g, 0, NULL, NULL);
    assert_string_equal(qdq_graph_target(same), "onnx");
    (void)qdq_input(same, "large", QDQ_FLOAT32, QDQ_SHAPE(9));
    assert_int_equal(qdq_graph_validate(same, NULL, NULL)->errors, 1);
    qdq_graph *plain = qdq_graph_extract(g, 0, &(qdq_graph_options){.target = NULL}, NULL);
    assert_string_equal(qdq_graph_target(plain), "core");
    (void)qdq_input(plain, "large", QDQ_FLOAT32, QDQ_SHAPE(9));
    assert_int_equal(qdq_graph_validate(plain, NULL, NULL)->errors, 0);
    qdq_graph_destroy(plain), qdq_graph_destroy(same), qdq_graph_destroy(g);
}

//---- Numerics -------------------------------------------------------------------

static void the_core_computes_every_node_by_the_onnx_formula(void **state) {
    (void)state;
    static const qdq_numerics zero;
    qdq_graph *g = every_kind_of_operand();
    for (size_t n = 0; n < qdq_graph_node_count(g); n++)
        for (int i = 0; i < 3; i++) {
            qdq_numerics got;
            memset(&got, 0xA5, sizeof got);
            const char *target = (const char *const[]){"core", "onnx", NULL}[i];
            assert_int_equal(qdq_graph_numerics(g, target, n, &got, NULL), QDQ_OK);
            if (target && strcmp(target, "onnx") == 0) got.choice = zero.choice;  // ranges in lanes
#define CHECK_FIELD(field, cause) assert_true(got.field == zero.field);
            QDQ_NUMERICS_FIELDS(CHECK_FIELD)
#undef CHECK_FIELD
        }
    qdq_graph_destroy(g);
}

//---- Failures -------------------------------------------------------------------

static void a_node_that_cannot_be_extracted_is_an_error(void **state) {
    (void)state;
    qdq_numerics numerics;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
    (void)qdq_quantize(g, x, (qdq_quantize_attrs){.name = "bad"});
    (void)qdq_quantize(g, x, (qdq_quantize_attrs){.name = "good", .scales = QDQ_SCALE(1)});
    qdq_error err = {0};
    assert_null(qdq_graph_extract(g, 0, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_GRAPH);
    assert_string_equal(err.text, "node 'bad' has errors; see qdq_graph_validate");
    err = (qdq_error){0};
    assert_null(qdq_graph_extract(g, 2, NULL, &err));
    assert_int_equal(err.status, QDQ_ERR_ARGUMENT);
    assert_string_equal(err.text, "there is no node number 2, wanted less than 2");
    assert_int_equal(qdq_graph_numerics(g, NULL, 0, &numerics, NULL), QDQ_ERR_GRAPH);
    assert_int_equal(qdq_graph_numerics(g, NULL, 2, &numerics, NULL), QDQ_ERR_ARGUMENT);
    assert_int_equal(qdq_graph_numerics(g, "onxn", 1, &numerics, NULL), QDQ_ERR_ARGUMENT);
    assert_int_equal(qdq_graph_numerics(NULL, NULL, 0, &numerics, NULL), QDQ_ERR_MEMORY);
    assert_null(qdq_graph_extract(NULL, 0, NULL, NULL));
    qdq_graph_destroy(g);
}

static void missing_operands_are_no_values(void **state) {
    (void)state;
    qdq_graph *g = every_kind_of_operand();
    assert_int_equal(qdq_graph_node_input(g, 0, 1).id, 0);  // dyn has no scale input
    assert_int_equal(qdq_graph_node_input(g, 0, 99).id, 0);
    assert_int_equal(qdq_graph_node_input(g, 99, 0).id, 0);
    assert_int_equal(qdq_graph_node_output(g, 1, 1).id, 0);
    assert_int_equal(qdq_graph_node_output(NULL, 0, 0).id, 0);
    assert_string_equal(qdq_value_name(g, (qdq_value){0}), "");
    assert_string_equal(qdq_value_name(g, (qdq_value){9999}), "");
    assert_null(qdq_value_data(g, qdq_graph_find(g, "x")));
    assert_int_equal(*(const int8_t *)qdq_value_data(g, qdq_graph_find(g, "z")), 5);
    qdq_graph_destroy(g);
}

static void every_allocation_of_extracting_may_fail(void **state) {
    (void)state;
    qdq_graph *g = every_kind_of_operand();
    bool done = false;
    for (size_t n = 1; !done; n++) {
        unit_memory memory;
        qdq_error err = {0};
        qdq_graph_options options = {.allocator = unit_memory_init(&memory, n)};
        qdq_graph *one = qdq_graph_extract(g, 3, &options, &err);
        done = one != NULL;
        assert_int_equal(err.status, done ? QDQ_OK : QDQ_ERR_MEMORY);
        qdq_graph_destroy(one);
        unit_memory_check(&memory);
        assert_true(n < 1000);
    }
    qdq_graph_destroy(g);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: test_extract MODELS_DIR\n");
        return 2;
    }
    models = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_extracted_node_gives_the_results_of_its_graph),
        cmocka_unit_test(operands_of_every_kind_are_carried_over),
        cmocka_unit_test(constants_stay_and_all_other_operands_become_inputs),
        cmocka_unit_test(a_value_at_two_ports_becomes_one_input),
        cmocka_unit_test(names_that_would_clash_become_port_names),
        cmocka_unit_test(options_of_the_graph_are_kept_unless_others_are_given),
        cmocka_unit_test(the_core_computes_every_node_by_the_onnx_formula),
        cmocka_unit_test(a_node_that_cannot_be_extracted_is_an_error),
        cmocka_unit_test(missing_operands_are_no_values),
        cmocka_unit_test(every_allocation_of_extracting_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
