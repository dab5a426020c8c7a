// SPDX-License-Identifier: Apache-2.0
// Neural-network ops give the same bits under all targets, but for two: chips have products of
// their own, and target onnx rounds each step of SoftMax of 16 bits (docs/onnx.md). The inputs are
// bfloat16 values that some targets round differently or flush.
#include <math.h>
#include <qdq/ops.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { CHANNELS = 4, ROWS = 8, COLUMNS = 16, COUNT = CHANNELS * ROWS * COLUMNS };

typedef struct sample {
    qdq_graph *g;
    qdq_value x;     // bfloat16 [1, CHANNELS, ROWS, COLUMNS]
    qdq_value c;     // bfloat16 [CHANNELS], positive
    qdq_value last;  // bfloat16 [COLUMNS], positive
} sample;

static qdq_value sum_of(const sample *s) {
    return qdq_reduce_sum(s->g, s->x, (qdq_reduce_attrs){.axes = QDQ_INTS(3)});
}

static qdq_value mean_of(const sample *s) {
    return qdq_reduce_mean(s->g, s->x, (qdq_reduce_attrs){.axes = QDQ_INTS(1, 2)});
}

static qdq_value greatest_of(const sample *s) {
    return qdq_reduce_max(s->g, s->x, (qdq_reduce_attrs){.axes = QDQ_INTS(2)});
}

static qdq_value softmax_of(const sample *s) {
    return qdq_softmax(s->g, s->x, (qdq_softmax_attrs){.axis = QDQ_INT(-1)});
}

static qdq_value log_softmax_of(const sample *s) {
    return qdq_log_softmax(s->g, s->x, (qdq_log_softmax_attrs){.axis = QDQ_INT(1)});
}

static qdq_value layer_norm_of(const sample *s) {
    return qdq_layer_norm(s->g, s->x, (qdq_layer_norm_attrs){.gamma = s->last, .beta = s->last});
}

static qdq_value rms_norm_of(const sample *s) {
    return qdq_rms_norm(s->g, s->x, (qdq_rms_norm_attrs){.gamma = s->last});
}

static qdq_value group_norm_of(const sample *s) {
    return qdq_group_norm(
        s->g, s->x,
        (qdq_group_norm_attrs){
            .gamma = s->c, .beta = s->c, .groups = QDQ_INT(2), .data_format = QDQ_NCX});
}

static qdq_value batch_norm_of(const sample *s) {
    return qdq_batch_norm(s->g, s->x,
                          (qdq_batch_norm_attrs){.gamma = s->c,
                                                 .beta = s->c,
                                                 .mean = s->c,
                                                 .variance = s->c,
                                                 .epsilon = QDQ_FLOAT(1e-3),
                                                 .data_format = QDQ_NCX});
}

static qdq_value sigmoid_of(const sample *s) {
    return qdq_sigmoid(s->g, s->x, (qdq_unary_attrs){0});
}

static qdq_value product_of(const sample *s) {
    return qdq_multiply(s->g, s->x, s->x, (qdq_binary_attrs){0});
}

static qdq_value matmul_of(const sample *s) {
    return qdq_matmul(s->g, s->x, s->last, (qdq_matmul_attrs){0});
}

static qdq_value pool_of(const sample *s) {
    return qdq_avg_pool(s->g, s->x,
                        (qdq_pool_attrs){.strides = QDQ_INTS(2, 2),
                                         .kernel = QDQ_INTS(2, 2),
                                         .pads_begin = QDQ_INTS(0, 0),
                                         .pads_end = QDQ_INTS(0, 0),
                                         .exclude_pad = QDQ_TRUE,
                                         .data_format = QDQ_NCX});
}

static const struct {
    const char *name;
    qdq_value (*make)(const sample *s);
} ops[] = {
    {"ReduceSum", sum_of},    {"ReduceMean", mean_of},        {"ReduceMax", greatest_of},
    {"SoftMax", softmax_of},  {"LogSoftmax", log_softmax_of}, {"LayerNorm", layer_norm_of},
    {"RMSNorm", rms_norm_of}, {"GroupNorm", group_norm_of},   {"BatchNormInference", batch_norm_of},
    {"Sigmoid", sigmoid_of},  {"Multiply", product_of},       {"MatMul", matmul_of},
    {"AvgPool", pool_of},
};

// 1 and numbers half a unit off, and numbers below the least normal one.
static float number(size_t i) {
    static const float of[] = {1, 0.00390625f, 0, -0.5f, 5e-39f, 3, 0.01171875f, -1.5f};
    return of[(i * 2654435761u >> 7) % 8] * (i / COLUMNS % 3 == 1 ? 1e-38f : 1);
}

static size_t run(size_t op, const char *target, float out[COUNT]) {
    float x[COUNT], c[COLUMNS];
    for (size_t i = 0; i < COUNT; i++) x[i] = number(i);
    for (size_t i = 0; i < COLUMNS; i++) c[i] = 1 + (float)i / 16;
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("sample", NULL);
    sample s = {
        .g = g,
        .x = qdq_input(g, "x", QDQ_BFLOAT16, QDQ_SHAPE(1, CHANNELS, ROWS, COLUMNS)),
        .c = qdq_input(g, "c", QDQ_BFLOAT16, QDQ_SHAPE(CHANNELS)),
        .last = qdq_input(g, "last", QDQ_BFLOAT16, QDQ_SHAPE(COLUMNS)),
    };
    qdq_output(g, "y", ops[op].make(&s));
    qdq_compile_options options = {.target = target};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    assert_string_equal(err.text, "");
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, COUNT, &err);
    qdq_exec_write(exec, "c", QDQ_FLOAT32, c, CHANNELS, &err);
    qdq_exec_write(exec, "last", QDQ_FLOAT32, c, COLUMNS, &err);
    qdq_exec_run(exec);
    size_t count = qdq_shape_count(qdq_plan_output(plan, 0)->shape);
    qdq_exec_read(exec, "y", QDQ_FLOAT32, out, count, &err);
    assert_string_equal(err.text, "");
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
    return count;
}

static bool has_own_form(const char *target, const char *op) {
    static const char *const of_ttnn[] = {"MatMul", "ReduceSum", "SoftMax", "RMSNorm"};
    for (size_t i = 0; i < sizeof of_ttnn / sizeof of_ttnn[0]; i++)
        if (!strcmp(target, "ttnn") && !strcmp(op, of_ttnn[i])) return true;
    return !strcmp(target, "onnx") && !strcmp(op, "SoftMax");
}

static void neural_network_ops_compute_the_same_for_every_target(void **state) {
    (void)state;
    static const char *const targets[] = {"onnx", "onednn",    "tensorrt", "tripy",
                                          "ttnn", "ttnn@ieee", "torchao"};
    static float wanted[COUNT], got[COUNT];
    for (size_t op = 0; op < sizeof ops / sizeof ops[0]; op++) {
        size_t count = run(op, "core", wanted);
        for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
            bool own = has_own_form(targets[t], ops[op].name);
            assert_int_equal(run(op, targets[t], got), count);
            if ((memcmp(got, wanted, count * sizeof *got) != 0) != own)
                fail_msg("%s: %s computes %s", ops[op].name, targets[t],
                         own ? "as core does" : "otherwise");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neural_network_ops_compute_the_same_for_every_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
