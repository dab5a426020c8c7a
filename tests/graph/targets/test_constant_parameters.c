// SPDX-License-Identifier: Apache-2.0
// Graphs in the form that ONNX models have: scales and zero points are constants at ports. Targets
// whose ops take numbers accept them like numbers in attributes, and compute the same. ttnn counts
// tensors, so that a constant there is what a graph input is.
#include <qdq/device_plan.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { ROWS = 2, CHANNELS = 4, COUNT = ROWS * CHANNELS };

static const float numbers[COUNT] = {-70, -1.1f, -0.1f, 0, 0.35f, 1.9f, 30, 80};
static const float scale = 0.3f, scales[CHANNELS] = {0.3f, 0.5f, 0.02f, 1};
static const int8_t zeros[CHANNELS] = {0}, codes[COUNT] = {-128, -5, 0, 1, 2, 3, 90, 127};

static qdq_value scalar(qdq_graph *g, const char *name, qdq_dtype dtype, const void *data) {
    return qdq_constant(g, name, dtype, (qdq_shape){0}, data);
}

// x through int8 and back; weights per channel. Scalars have no dims, as in most models.
static qdq_graph *symmetric(int8_t zero) {
    qdq_graph *g = qdq_graph_create("symmetric", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, CHANNELS));
    qdq_value s = scalar(g, "s", QDQ_FLOAT32, &scale), z = scalar(g, "z", QDQ_INT8, &zero);
    qdq_value q = qdq_quantize(
        g, x, (qdq_quantize_attrs){.name = "q", .dtype = QDQ_INT8, .scale = s, .zero_point = z});
    qdq_output(g, "y",
               qdq_dequantize(g, q,
                              (qdq_dequantize_attrs){
                                  .dtype = QDQ_FLOAT32, .name = "d", .scale = s, .zero_point = z}));
    qdq_value w = qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(ROWS, CHANNELS), codes);
    qdq_value ws = qdq_constant(g, "ws", QDQ_FLOAT32, QDQ_SHAPE(CHANNELS), scales);
    qdq_value wz = qdq_constant(g, "wz", QDQ_INT8, QDQ_SHAPE(CHANNELS), zeros);
    qdq_output(g, "weights",
               qdq_dequantize(g, w,
                              (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                                     .name = "dw",
                                                     .qtype = QDQ_PER_CHANNEL,
                                                     .axis = QDQ_INT(1),
                                                     .scale = ws,
                                                     .zero_point = wz}));
    return g;
}

// The same with numbers in attributes.
static qdq_graph *in_attributes(int8_t zero) {
    qdq_graph *g = qdq_graph_create("attributes", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, CHANNELS));
    qdq_value q = qdq_quantize(
        g, x,
        (qdq_quantize_attrs){
            .name = "q", .dtype = QDQ_INT8, .scales = QDQ_SCALE(scale), .zps = QDQ_ZP(zero)});
    qdq_output(g, "y",
               qdq_dequantize(g, q,
                              (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                                     .name = "d",
                                                     .scales = QDQ_SCALE(scale),
                                                     .zps = QDQ_ZP(zero)}));
    qdq_value w = qdq_constant(g, "w", QDQ_INT8, QDQ_SHAPE(ROWS, CHANNELS), codes);
    qdq_output(g, "weights",
               qdq_dequantize(g, w,
                              (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32,
                                                     .name = "dw",
                                                     .qtype = QDQ_PER_CHANNEL,
                                                     .axis = QDQ_INT(1),
                                                     .scales = {scales, CHANNELS, false}}));
    return g;
}

static const char *const targets[] = {"onednn", "tensorrt", "tripy", "ttnn"};

static void a_symmetric_graph_is_accepted(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(targets); i++) {
        qdq_error err = {0};
        qdq_graph *g = symmetric(0);
        const qdq_report *report = qdq_graph_validate(g, targets[i], &err);
        assert_non_null(report);
        // ttnn refuses zero points of int8, and its callers leave zeros out.
        for (size_t k = 0; k < report->count; k++)
            if (strcmp(report->findings[k].rule, "ttnn/zeros-left-out") != 0)
                fail_msg("%s", report->findings[k].message);
        assert_int_equal(report->count, strcmp(targets[i], "ttnn") == 0 ? 3 : 0);
        qdq_graph_destroy(g);
    }
}

static void a_zero_point_that_is_not_zero_is_refused_by_its_number(void **state) {
    static const struct {
        const char *target, *message;
    } rows[] = {
        {"tensorrt", "zero_point has 3 at index 0, wanted 0"},
        {"tripy", "zero_point has 3 at index 0, wanted none"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        qdq_graph *g = symmetric(3);
        const qdq_report *report = qdq_graph_validate(g, rows[i].target, &err);
        assert_non_null(report);
        assert_int_equal(report->errors, 2);
        assert_non_null(strstr(report->findings[0].message, rows[i].message));
        qdq_graph_destroy(g);
    }
}

static void parameters_made_at_run_time_are_still_refused(void **state) {
    static const struct {
        const char *target, *rule;
    } rows[] = {
        {"onednn", "onednn/dynamic-scale-rank"},
        {"tripy", "tripy/scale-is-constant"},
        {"ttnn", "ttnn/zero-point-dtype"},
    };
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create("run_time", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, CHANNELS));
        qdq_value s = qdq_input(g, "s", QDQ_FLOAT32, (qdq_shape){0});
        qdq_value z = qdq_input(g, "z", QDQ_INT8, (qdq_shape){0});
        qdq_output(g, "q",
                   qdq_quantize(
                       g, x, (qdq_quantize_attrs){.dtype = QDQ_INT8, .scale = s, .zero_point = z}));
        const qdq_report *report = qdq_graph_validate(g, rows[i].target, &err);
        bool found = false;
        for (size_t k = 0; report && k < report->count; k++)
            found |= strcmp(report->findings[k].rule, rows[i].rule) == 0;
        if (!found) fail_msg("%s is missing", rows[i].rule);
        qdq_graph_destroy(g);
    }
}

static void the_hint_for_an_int32_bias_names_the_option_of_the_quantizer(void **state) {
    (void)state;
    static const int32_t bias[CHANNELS] = {1, 2, 3, 4};
    for (size_t i = 0; i < 3; i++) {  // ttnn dequantizes int32
        qdq_error err = {0};
        qdq_graph *g = qdq_graph_create("bias", NULL);
        qdq_value b = qdq_constant(g, "b", QDQ_INT32, QDQ_SHAPE(1, CHANNELS), bias);
        qdq_value s = scalar(g, "s", QDQ_FLOAT32, &scale);
        qdq_output(g, "y",
                   qdq_dequantize(g, b, (qdq_dequantize_attrs){.dtype = QDQ_FLOAT32, .scale = s}));
        const qdq_report *report = qdq_graph_validate(g, targets[i], &err);
        assert_non_null(report);
        assert_int_equal(report->count, 1);
        assert_string_equal(report->findings[0].found, "is int32");
        assert_non_null(strstr(report->findings[0].hint, "QuantizeBias=False"));
        qdq_graph_destroy(g);
    }
}

static void run(qdq_graph *g, const char *target, float y[2 * COUNT]) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = target}, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec) fail_msg("%s: %s", target, err.text);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, numbers, COUNT, &err), QDQ_OK);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_FLOAT32, y, COUNT, &err), QDQ_OK);
    assert_int_equal(qdq_exec_read(exec, "weights", QDQ_FLOAT32, y + COUNT, COUNT, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void results_are_those_of_numbers_in_attributes(void **state) {
    static const char *const all[] = {"onednn", "tensorrt", "tripy"};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(all); i++) {
        for (int8_t zero = 0; zero <= 3; zero += 3) {
            if (zero && strcmp(all[i], "onednn") != 0) continue;
            float from_ports[2 * COUNT], from_attributes[2 * COUNT];
            run(symmetric(zero), all[i], from_ports);
            run(in_attributes(zero), all[i], from_attributes);
            assert_memory_equal(from_ports, from_attributes, sizeof from_ports);
        }
    }
}

//---- Dynamic ops of oneDNN have ports alone ---------------------------------

static bool finds(qdq_graph *g, const char *target, const char *rule) {
    qdq_error err = {0};
    const qdq_report *report = qdq_graph_validate(g, target, &err);
    bool found = false;
    for (size_t k = 0; report && k < report->count; k++)
        found |= strcmp(report->findings[k].rule, rule) == 0;
    qdq_graph_destroy(g);
    return found;
}

// A DynamicQuantize or Quantize with a constant scale of 1.
static qdq_graph *with_scale(bool dynamic, qdq_dtype dtype, int rank) {
    qdq_graph *g = qdq_graph_create("scale", NULL);
    static const uint16_t ones[QDQ_DTYPE_COUNT] = {
        [QDQ_FLOAT16] = 0x3c00, [QDQ_BFLOAT16] = 0x3f80, [QDQ_FLOAT8_E8M0] = 127};
    static const float one = 1;
    qdq_value s = qdq_constant(g, "s", dtype, (qdq_shape){rank, {1}},
                               dtype == QDQ_FLOAT32 ? (const void *)&one : &ones[dtype]);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, CHANNELS));
    qdq_quantize_attrs attrs = {.dtype = QDQ_INT8, .scale = s};
    qdq_value y = dynamic
                      ? qdq_dynamic_quantize(g, x, (qdq_dynamic_quantize_attrs){.quantize = attrs})
                      : qdq_quantize(g, x, attrs);
    qdq_output(g, "y", y);
    return g;
}

static void a_dynamic_op_of_onednn_checks_constants_as_ports(void **state) {
    static const qdq_dtype others[] = {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_FLOAT8_E8M0};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(others); i++) {
        assert_true(finds(with_scale(true, others[i], 1), "onednn", "onednn/scale-dtype"));
        assert_false(finds(with_scale(false, others[i], 1), "onednn", "onednn/scale-dtype"));
    }
    assert_false(finds(with_scale(true, QDQ_FLOAT32, 1), "onednn", "onednn/scale-dtype"));
    assert_true(finds(with_scale(true, QDQ_FLOAT32, 0), "onednn", "onednn/dynamic-scale-rank"));
    assert_false(finds(with_scale(false, QDQ_FLOAT32, 0), "onednn", "onednn/dynamic-scale-rank"));
}

//---- ttnn counts tensors ----------------------------------------------------

static const float tensor_scale = 1;
static const int32_t tensor_zero = 1;
static const double number_zero = 1;
static const float halves[COUNT] = {0.5f, 1.5f, -0.5f, -2.5f, 2.5f, 126.5f, 200, -300};

// Where a parameter of ttnn_quantize comes from.
typedef enum source { ATTRIBUTE, CONSTANT, INPUT } source;

static qdq_value parameter(qdq_graph *g, source from, const char *name, qdq_dtype dtype,
                           const void *data) {
    if (from == ATTRIBUTE) return (qdq_value){0};
    return from == CONSTANT ? scalar(g, name, dtype, data)
                            : qdq_input(g, name, dtype, (qdq_shape){0});
}

static qdq_graph *ttnn_quantize(source scale_from, source zero_from) {
    qdq_graph *g = qdq_graph_create("tensors", NULL);
    qdq_quantize_attrs attrs = {.name = "q",
                                .dtype = QDQ_INT32,
                                .scale = parameter(g, scale_from, "s", QDQ_FLOAT32, &tensor_scale),
                                .zero_point =
                                    parameter(g, zero_from, "z", QDQ_INT32, &tensor_zero)};
    if (scale_from == ATTRIBUTE) attrs.scales = (qdq_floats){&tensor_scale, 1, true};
    if (zero_from == ATTRIBUTE) attrs.zps = (qdq_numbers){&number_zero, 1, true};
    qdq_output(g, "y",
               qdq_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, CHANNELS)), attrs));
    return g;
}

static void run_ttnn(source scale_from, source zero_from, const char *target, int32_t y[COUNT]) {
    qdq_error err = {0};
    qdq_graph *g = ttnn_quantize(scale_from, zero_from);
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = target}, &err);
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec) fail_msg("%s: %s", target, err.text);
    assert_int_equal(qdq_exec_write(exec, "x", QDQ_FLOAT32, halves, COUNT, &err), QDQ_OK);
    if (scale_from == INPUT) qdq_exec_write(exec, "s", QDQ_FLOAT32, &tensor_scale, 1, &err);
    if (zero_from == INPUT) qdq_exec_write(exec, "z", QDQ_INT32, &tensor_zero, 1, &err);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", QDQ_INT32, y, COUNT, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

// By hand, with scale 1 and zero point 1: a number takes the fused kernel, which rounds halves of
// the sum away from 0 and clamps to 127; a tensor the composite one, which truncates the sum.
static const int32_t fused[COUNT] = {2, 3, 1, -2, 4, 127, 127, -127};
static const int32_t composite[COUNT] = {1, 2, 0, -1, 3, 127, 201, -299};

static void a_constant_without_dims_is_a_tensor_of_ttnn(void **state) {
    static const char *const chips[] = {"ttnn@wormhole", "ttnn@blackhole", "ttnn@ieee"};
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(chips); i++)
        for (source s = ATTRIBUTE; s <= INPUT; s++)
            for (source z = ATTRIBUTE; z <= INPUT; z++) {
                int32_t y[COUNT];
                run_ttnn(s, z, chips[i], y);
                assert_memory_equal(y, z == ATTRIBUTE ? fused : composite, sizeof y);
            }
}

static void tensors_take_memory_of_a_device_and_numbers_do_not(void **state) {
    (void)state;
    for (source s = ATTRIBUTE; s <= CONSTANT; s++)
        for (source z = ATTRIBUTE; z <= CONSTANT; z++) {
            qdq_error err = {0};
            qdq_graph *g = ttnn_quantize(s, z);
            qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = "ttnn"}, &err);
            if (!plan) fail_msg("%s", err.text);
            const qdq_device_plan *device = qdq_plan_device(plan);
            size_t tensors = 0;
            for (size_t i = 0; i < device->buffer_count; i++)
                tensors += device->buffers[i].role == QDQ_ROLE_CONSTANT;
            assert_int_equal(tensors, (s == CONSTANT) + (z == CONSTANT));
            qdq_plan_destroy(plan), qdq_graph_destroy(g);
        }
}

// ttnn's caller leaves them out.
static void zeros_of_int8_take_no_memory_of_a_device(void **state) {
    (void)state;
    qdq_error err = {0};
    qdq_graph *g = symmetric(0);
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.target = "ttnn"}, &err);
    if (!plan) fail_msg("%s", err.text);
    const qdq_device_plan *device = qdq_plan_device(plan);
    size_t tensors = 0;
    for (size_t i = 0; i < device->buffer_count; i++) {
        const qdq_device_buffer *b = &device->buffers[i];
        if (b->role != QDQ_ROLE_CONSTANT) continue;
        assert_true(strcmp(b->name, "z") != 0 && strcmp(b->name, "wz") != 0);
        tensors++;
    }
    assert_int_equal(tensors, 3);  // s, w and ws
    qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_symmetric_graph_is_accepted),
        cmocka_unit_test(a_zero_point_that_is_not_zero_is_refused_by_its_number),
        cmocka_unit_test(parameters_made_at_run_time_are_still_refused),
        cmocka_unit_test(the_hint_for_an_int32_bias_names_the_option_of_the_quantizer),
        cmocka_unit_test(results_are_those_of_numbers_in_attributes),
        cmocka_unit_test(a_dynamic_op_of_onednn_checks_constants_as_ports),
        cmocka_unit_test(a_constant_without_dims_is_a_tensor_of_ttnn),
        cmocka_unit_test(tensors_take_memory_of_a_device_and_numbers_do_not),
        cmocka_unit_test(zeros_of_int8_take_no_memory_of_a_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
