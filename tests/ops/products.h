// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of products: tensors of random numbers, and running a graph of one node in
// every mode (instruction sets, row-major and tiles, one thread and three, operands as inputs and
// as constants), which must all give the same bits.
#ifndef QDQ_TESTS_OPS_PRODUCTS_H
#define QDQ_TESTS_OPS_PRODUCTS_H

#include "oracle.h"
#include "tests/ops/products/fused_model.h"
#include "tests/small_floats.h"

enum { PRODUCT_OPERANDS = 10 };

typedef struct tensor {
    const char *name;  // NULL: the optional operand is absent
    qdq_dtype dtype;
    qdq_shape shape;
    void *data;
} tensor;

static inline size_t tensor_count(const tensor *t) { return qdq_shape_count(t->shape); }

static inline tensor tensor_of(const char *name, qdq_dtype dtype, qdq_shape shape) {
    tensor t = {name, dtype, shape, NULL};
    t.data = oracle_memory(tensor_count(&t) * qdq_dtype_size(dtype));
    return t;
}

// How many codes an integer dtype of at most 8 bits has, and the least one; 0 for other dtypes.
static inline int product_codes(qdq_dtype dtype) {
    switch (dtype) {
    case QDQ_INT8:
    case QDQ_UINT8: return 256;
    case QDQ_INT4:
    case QDQ_UINT4: return 16;
    case QDQ_INT2:
    case QDQ_UINT2: return 4;
    default: return 0;
    }
}
static inline int product_least(qdq_dtype dtype) {
    bool has_sign = dtype == QDQ_INT8 || dtype == QDQ_INT4 || dtype == QDQ_INT2;
    return has_sign ? -product_codes(dtype) / 2 : 0;
}

static inline double tensor_at(const tensor *t, size_t i) {
    const small_format *f = small_format_of(t->dtype);
    uint16_t half;
    if (!f && product_codes(t->dtype))  // the API holds a narrow code in a byte of its own
        return oracle_at(product_least(t->dtype) < 0 ? QDQ_INT8 : QDQ_UINT8, t->data, i);
    if (!f) return oracle_at(t->dtype, t->data, i);
    memcpy(&half, (const char *)t->data + i * 2, 2);
    return small_value(f, half);
}

// Stores a number, rounded once to the dtype.
static inline void tensor_put(tensor *t, size_t i, double value) {
    const small_format *f = small_format_of(t->dtype);
    char *at = (char *)t->data + i * qdq_dtype_size(t->dtype);
    if (!t->data) return;
    if (f) {
        uint16_t code = (uint16_t)small_encode(f, value, QDQ_FLOAT_OVERFLOW);
        memcpy(at, &code, 2);
    } else if (t->dtype == QDQ_FLOAT32) {
        float v = (float)value;
        memcpy(at, &v, 4);
    } else if (t->dtype == QDQ_INT32) {
        int32_t v = (int32_t)value;
        memcpy(at, &v, 4);
    } else {
        int v = (int)value;
        *at = (char)v;
    }
}

// Floats between -2 and 2 whose sums round; integers of the whole range.
static inline void tensor_fill(tensor *t, uint64_t *seed) {
    for (size_t i = 0; i < tensor_count(t); i++) {
        uint64_t r = unit_random(seed) >> 20;
        double value = (double)((int)(r % 4001) - 2000) / 1000.0;
        int codes = product_codes(t->dtype);
        if (codes) value = product_least(t->dtype) + (int)(r % 256) % codes;
        if (t->dtype == QDQ_INT32) value = (int)(r % 20001) - 10000;
        tensor_put(t, i, value);
    }
}

// The sum of n products of a dtype, in the documented order. `has` says which products take part;
// NULL: all.
static inline float product_sum(qdq_dtype dtype, const float *a, const float *b,
                                const unsigned char *has, size_t n) {
    float sum = 0;
    if (dtype == QDQ_BFLOAT16) return fused_sum(a, b, has, n, 0);
    for (size_t k = 0; k < n; k++)
        if (!has || has[k]) sum = fmaf(a[k], b[k], sum);
    return sum;
}

// Adds the node and returns its result. `values` are the operands in order, empty for absent ones.
typedef qdq_value product_build(qdq_graph *graph, const qdq_value *values, const void *self);

// Runs the graph once; bit i of `constant` makes operand i a constant.
static inline void product_run_as(const tensor *in, size_t count, unsigned constant,
                                  product_build *build, const void *self,
                                  const qdq_compile_options *options, int threads, tensor *out) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("product", NULL);
    qdq_value values[PRODUCT_OPERANDS] = {{0}};
    for (size_t i = 0; i < count; i++) {
        if (!in[i].name) continue;
        values[i] = constant >> i & 1
                        ? qdq_constant(g, in[i].name, in[i].dtype, in[i].shape, in[i].data)
                        : qdq_input(g, in[i].name, in[i].dtype, in[i].shape);
    }
    qdq_output(g, "result", build(g, values, self));
    qdq_exec_options run = {.poison = true, .parallel = qdq_parallel_openmp(threads)};
    qdq_compile_options compile = {0};
    if (options) compile = *options;
    run.parallel.least = 1;
    compile.parallel = run.parallel;
    qdq_plan *plan = qdq_graph_compile(g, &compile, &err);
    if (!plan) fail_msg("compile: %s", err.text);
    const qdq_tensor_info *info = qdq_plan_output(plan, 0);
    assert_int_equal(info->dtype, out->dtype);
    assert_true(qdq_shape_equal(info->shape, out->shape));
    qdq_exec *exec = qdq_exec_create(plan, &run, &err);
    if (!exec) fail_msg("exec: %s", err.text);
    for (size_t i = 0; i < count; i++)
        if (in[i].name && !(constant >> i & 1))
            assert_int_equal(qdq_exec_bind(exec, in[i].name, in[i].data,
                                           tensor_count(&in[i]) * qdq_dtype_size(in[i].dtype),
                                           &err),
                             QDQ_OK);
    size_t bytes = tensor_count(out) * qdq_dtype_size(out->dtype);
    memset(out->data, 0xA5, bytes);
    assert_int_equal(qdq_exec_bind(exec, "result", out->data, bytes, &err), QDQ_OK);
    qdq_exec_run(exec);
    qdq_exec_destroy(exec);
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
}

// Fails unless every mode gives `want`, bit for bit. `numerics` NULL: the core's.
static inline void product_check_with(const char *what, const tensor *in, size_t count,
                                      product_build *build, const void *self,
                                      const qdq_numerics *numerics, const tensor *want) {
    static const struct {
        int threads;
        bool materialize;
        qdq_plan_layout layout;
        unsigned constant;
    } ways[] = {{1, false, QDQ_PLAN_ROWS, 0},
                {1, false, QDQ_PLAN_ROWS, ~1u},
                {3, true, QDQ_PLAN_TILES, 0},
                {3, false, QDQ_PLAN_ROWS, ~0u},
                {2, false, QDQ_PLAN_TILES, ~1u}};
    size_t size = qdq_dtype_size(want->dtype);
    tensor out = tensor_of("out", want->dtype, want->shape);
    for (size_t isa = 0; qdq_isa_get(isa).name; isa++) {
        if (!qdq_isa_get(isa).available) continue;
        for (size_t way = 0; way < UNIT_COUNT(ways); way++) {
            qdq_compile_options options = {.isa = qdq_isa_get(isa).name,
                                           .numerics = numerics,
                                           .layout = ways[way].layout,
                                           .materialize = ways[way].materialize};
            product_run_as(in, count, ways[way].constant, build, self, &options, ways[way].threads,
                           &out);
            for (size_t i = 0; i < tensor_count(want); i++)
                if (memcmp((char *)out.data + i * size, (char *)want->data + i * size, size) != 0)
                    fail_msg("%s: %s, way %zu, element %zu of %zu: got %.9g, want %.9g", what,
                             options.isa, way, i, tensor_count(want), tensor_at(&out, i),
                             tensor_at(want, i));
        }
    }
    free(out.data);
}

static inline void product_check(const char *what, const tensor *in, size_t count,
                                 product_build *build, const void *self, const tensor *want) {
    product_check_with(what, in, count, build, self, NULL, want);
}

// Checks the rule and the message of the first finding of a graph with this node.
static inline void product_refused(const tensor *in, size_t count, product_build *build,
                                   const void *self, const char *rule, const char *sentence) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("product", NULL);
    qdq_value values[PRODUCT_OPERANDS] = {{0}};
    for (size_t i = 0; i < count; i++)
        if (in[i].name) values[i] = qdq_input(g, in[i].name, in[i].dtype, in[i].shape);
    qdq_output(g, "result", build(g, values, self));
    const qdq_report *report = qdq_graph_validate(g, NULL, &err);
    assert_non_null(report);
    if (!report->count) fail_msg("nothing was found, wanted: %s", sentence);
    assert_string_equal(report->findings[0].message, sentence);
    assert_string_equal(report->findings[0].rule, rule);
    qdq_graph_destroy(g);
}

static inline void tensors_free(tensor *t, size_t count) {
    for (size_t i = 0; i < count; i++) free(t[i].data);
}

#endif
