// SPDX-License-Identifier: Apache-2.0
// A run needs no more stack than include/qdq/parallel.h says: ops whose buffers lie on the stack
// run on a thread that has as much, with a link behind them and alone.
#include <pthread.h>

#include "tests/ops/products/convolutions.h"

enum { STACK = 768 << 10 };

typedef struct op {
    const char *name;
    qdq_value (*build)(qdq_graph *g);
    bool fast;
} op;

static qdq_value input(qdq_graph *g, qdq_shape shape) {
    return qdq_input(g, "x", QDQ_FLOAT32, shape);
}

static qdq_value constant(qdq_graph *g, const char *name, qdq_shape shape) {
    tensor t = tensor_of(name, QDQ_FLOAT32, shape);
    for (size_t i = 0; i < tensor_count(&t); i++) tensor_put(&t, i, (double)(i % 7) - 3);
    qdq_value v = qdq_constant(g, name, QDQ_FLOAT32, shape, t.data);
    free(t.data);
    return v;
}

static qdq_value convolve(qdq_graph *g, const example *e) {
    qdq_value v[3] = {input(g, image(e, e->inputs, e->in)), constant(g, "w", weights_shape(e))};
    return build(g, v, e);
}

// 3x3 on images of 23x21.
static example example_of(int64_t inputs, int64_t outputs, int64_t groups) {
    example e = {.spatial = 2,
                 .batch = 1,
                 .groups = groups,
                 .inputs = inputs,
                 .outputs = outputs,
                 .format = QDQ_NCX,
                 .spatial_last = true};
    for (int d = 0; d < 2; d++) {
        e.in[d] = d ? 21 : 23, e.kernel[d] = 3;
        e.strides[d] = e.dilations[d] = e.begin[d] = e.end[d] = 1;
    }
    return e;
}

static qdq_value dense(qdq_graph *g) {
    example e = example_of(24, 50, 1);
    return convolve(g, &e);
}

static qdq_value depthwise(qdq_graph *g) {
    example e = example_of(20, 20, 20);
    return convolve(g, &e);
}

static qdq_value few_channels(qdq_graph *g) {
    example e = example_of(14, 7, 7);
    return convolve(g, &e);
}

static qdq_value pixels(qdq_graph *g) {
    example e = example_of(24, 50, 1);
    e.format = QDQ_NXC;
    return convolve(g, &e);
}

static qdq_value transposed(qdq_graph *g) {
    example e = example_of(20, 30, 1);
    e.transposed = true;
    e.strides[0] = e.strides[1] = 2;
    return convolve(g, &e);
}

static qdq_value phases(qdq_graph *g) {
    example e = example_of(20, 30, 1);
    e.transposed = true;
    for (int d = 0; d < 2; d++) e.kernel[d] = e.strides[d] = 2, e.begin[d] = e.end[d] = 0;
    return convolve(g, &e);
}

static qdq_value codes(qdq_graph *g) {
    static const float scale = 0.125f;
    example e = example_of(24, 50, 1);
    qdq_quantize_attrs attrs = {.scales = {&scale, 1, true}, .dtype = QDQ_INT8};
    qdq_dequantize_attrs back = {.scales = {&scale, 1, true}, .dtype = QDQ_FLOAT32};
    qdq_value x = qdq_quantize(g, input(g, image(&e, e.inputs, e.in)), attrs);
    qdq_value w = qdq_quantize(g, constant(g, "w", weights_shape(&e)), attrs);
    qdq_value v[3] = {qdq_dequantize(g, x, back), qdq_dequantize(g, w, back)};
    return qdq_quantize(g, build(g, v, &e), attrs);
}

static qdq_value product(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(60, 300)), constant(g, "b", QDQ_SHAPE(300, 300)),
                      (qdq_matmul_attrs){0});
}

static qdq_value row(qdq_graph *g) {
    return qdq_matmul(g, input(g, QDQ_SHAPE(1, 3000)), constant(g, "b", QDQ_SHAPE(3000, 70)),
                      (qdq_matmul_attrs){0});
}

static qdq_value softmax(qdq_graph *g) {
    return qdq_softmax(g, input(g, QDQ_SHAPE(3, 200, 45)), (qdq_softmax_attrs){.axis = QDQ_INT(1)});
}

static const op ops[] = {
    {"a dense convolution", dense, false},
    {"Winograd's convolution", dense, true},
    {"a depthwise convolution", depthwise, false},
    {"few channels", few_channels, false},
    {"pixels", pixels, false},
    {"a transposed convolution", transposed, false},
    {"phases", phases, false},
    {"codes", codes, false},
    {"codes, fast", codes, true},
    {"a product", product, false},
    {"a row", row, false},
    {"SoftMax", softmax, false},
};

static void *run_exec(void *exec) {
    qdq_exec_run(exec);
    return NULL;
}

static void run_on_thread(const qdq_plan *plan) {
    qdq_error err = {0};
    pthread_attr_t attr;
    pthread_t thread;
    qdq_exec *exec = qdq_exec_create(plan, NULL, &err);
    if (!exec) fail_msg("%s", err.text);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, run_exec, exec), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
    qdq_exec_destroy(exec);
}

static void run_op(const op *o, bool link, const char *target, const char *isa) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("stack", NULL);
    qdq_value y = o->build(g);
    bool is_float = o->build != codes;
    qdq_output(g, "y", link && is_float ? qdq_sigmoid(g, y, (qdq_unary_attrs){0}) : y);
    qdq_compile_options options = {.target = target, .fast = o->fast, .isa = isa};
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    if (!plan) fail_msg("%s: %s", o->name, err.text);
    print_message("%s, %s, %s\n", o->name, target, isa);
    run_on_thread(plan);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

static void runs_fit_in_the_stack(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(ops); i++)
        for (size_t isa = 0; qdq_isa_get(isa).name; isa++)
            for (int link = 0; link < 2 && qdq_isa_get(isa).available; link++) {
                run_op(&ops[i], link, "core", qdq_isa_get(isa).name);
                run_op(&ops[i], link, "onnx", qdq_isa_get(isa).name);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_fit_in_the_stack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
