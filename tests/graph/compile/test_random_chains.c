// SPDX-License-Identifier: Apache-2.0
// Random chains after each kind of tensor op: fused or node by node, on any number of threads and
// with every instruction set, the bits are the same.
#include <qdq/qdq.h>

#include "tests/unit.h"

enum { MOST_INPUTS = 12, MOST_OUTPUTS = 4, MOST_DIM = 20000 };

typedef struct random_graph {
    qdq_graph *graph;
    uint64_t seed;
    char names[MOST_INPUTS][8];
    size_t inputs;
    float scales[MOST_DIM];
} random_graph;

static size_t below(random_graph *r, size_t n) { return (size_t)(unit_random(&r->seed) >> 11) % n; }

static qdq_dtype dtype_of(const random_graph *r, qdq_value v, qdq_shape *shape) {
    qdq_dtype dtype = QDQ_DTYPE_NONE;
    assert_true(qdq_value_type(r->graph, v, &dtype, shape));
    return dtype;
}

static qdq_value input(random_graph *r, qdq_dtype dtype, qdq_shape shape) {
    char *name = r->names[r->inputs];
    assert_true(r->inputs < MOST_INPUTS);
    snprintf(name, sizeof r->names[0], "in%zu", r->inputs++);
    return qdq_input(r->graph, name, dtype, shape);
}

static qdq_value floats(random_graph *r, qdq_shape shape) { return input(r, QDQ_FLOAT32, shape); }

//---- Heads ------------------------------------------------------------------

typedef qdq_value head_fn(random_graph *r, qdq_value x, qdq_shape s);

static qdq_value softmax_of_rows(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_softmax(r->graph, x, (qdq_softmax_attrs){.axis = QDQ_INT(-1)});
}

static qdq_value softmax_of_columns(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_softmax(r->graph, x, (qdq_softmax_attrs){.dtype = QDQ_BFLOAT16});
}

static qdq_value log_softmax(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_log_softmax(r->graph, x, (qdq_log_softmax_attrs){.axis = QDQ_INT(0)});
}

static qdq_value layer_norm(random_graph *r, qdq_value x, qdq_shape s) {
    qdq_layer_norm_attrs a = {.begin_norm_axis = QDQ_INT(below(r, 2) ? -1 : -2)};
    if (a.begin_norm_axis.value == -1)
        a.gamma = floats(r, QDQ_SHAPE(s.dims[2])), a.beta = floats(r, QDQ_SHAPE(s.dims[2]));
    qdq_value y = qdq_layer_norm(r->graph, x, a);
    qdq_output(r->graph, "variance", qdq_port(r->graph, y, "variance"));
    return y;
}

static qdq_value rms_norm(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_rms_norm(r->graph, x, (qdq_rms_norm_attrs){.begin_norm_axis = QDQ_INT(1)});
}

static qdq_value group_norm(random_graph *r, qdq_value x, qdq_shape s) {
    qdq_data_format format = below(r, 2) ? QDQ_NCX : QDQ_NXC;
    int64_t channels = s.dims[format == QDQ_NCX ? 1 : 2], groups = 3;
    while (channels % groups) groups--;
    return qdq_group_norm(r->graph, x,
                          (qdq_group_norm_attrs){.groups = QDQ_INT(groups), .data_format = format});
}

static qdq_value max_pool(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_max_pool(r->graph, x,
                        (qdq_pool_attrs){.strides = QDQ_INTS(1),
                                         .kernel = QDQ_INTS(3),
                                         .auto_pad = QDQ_PAD_SAME_UPPER,
                                         .data_format = below(r, 2) ? QDQ_NCX : QDQ_NXC});
}

static qdq_value concat(random_graph *r, qdq_value x, qdq_shape s) {
    s.dims[2] = (int64_t)below(r, 40) + 1;
    return qdq_concat(r->graph,
                      (qdq_concat_attrs){.xs = QDQ_VALUES(x, floats(r, s), x), .axis = QDQ_INT(2)});
}

static qdq_value transpose(random_graph *r, qdq_value x, qdq_shape s) {
    static const int64_t orders[][3] = {{0, 2, 1}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}};
    (void)s;
    return qdq_transpose(r->graph, x, (qdq_transpose_attrs){.order = {orders[below(r, 4)], 3}});
}

static qdq_value reshape(random_graph *r, qdq_value x, qdq_shape s) {
    return qdq_reshape(
        r->graph, x,
        (qdq_reshape_attrs){.shape = QDQ_INTS(-1, 1, s.dims[1]), .special_zero = QDQ_FALSE});
}

static qdq_value outer_sum(random_graph *r, qdq_value x, qdq_shape s) {
    (void)x;
    qdq_value a = floats(r, QDQ_SHAPE(s.dims[0], s.dims[1], 1));
    return qdq_add(r->graph, a, floats(r, QDQ_SHAPE(s.dims[2])), (qdq_binary_attrs){0});
}

static qdq_value reorder(random_graph *r, qdq_value x, qdq_shape s) {
    (void)s;
    return qdq_reorder(r->graph, x, (qdq_unary_attrs){0});
}

static qdq_value product(random_graph *r, qdq_value x, qdq_shape s) {
    qdq_matmul_attrs a = {.bias = floats(r, QDQ_SHAPE(70))};
    return qdq_matmul(r->graph, x, floats(r, QDQ_SHAPE(s.dims[2], 70)), a);
}

// Scales are powers of two, so that the integer product equals the real one.
static qdq_value product_of_codes(random_graph *r, qdq_value x, qdq_shape s) {
    qdq_dequantize_attrs d = {.scales = QDQ_SCALE(0.125f)};
    qdq_value a = qdq_dequantize(r->graph, input(r, QDQ_INT8, s), d);
    qdq_value b = qdq_dequantize(r->graph, input(r, QDQ_INT8, QDQ_SHAPE(s.dims[2], 33)), d);
    (void)x;
    return qdq_matmul(r->graph, a, b, (qdq_matmul_attrs){0});
}

static qdq_value convolution(random_graph *r, qdq_value x, qdq_shape s) {
    qdq_data_format format = below(r, 2) ? QDQ_NCX : QDQ_NXC;
    qdq_value w = floats(r, QDQ_SHAPE(37, s.dims[format == QDQ_NCX ? 1 : 2], 3));
    return qdq_convolution(r->graph, x, w,
                           (qdq_convolution_attrs){.strides = QDQ_INTS(1),
                                                   .dilations = QDQ_INTS(1),
                                                   .auto_pad = QDQ_PAD_SAME_LOWER,
                                                   .data_format = format,
                                                   .weights_format = QDQ_OIX});
}

static head_fn *const heads[] = {
    softmax_of_rows,  softmax_of_columns,
    log_softmax,      layer_norm,
    rms_norm,         group_norm,
    max_pool,         concat,
    transpose,        reshape,
    outer_sum,        reorder,
    product,          convolution,
    product_of_codes,
};

//---- Links ------------------------------------------------------------------

// The other operand of an Add: some of its dims are left out or 1, and broadcast.
static qdq_value beside(random_graph *r, qdq_shape shape) {
    size_t keep = below(r, 3) ? below(r, 8) : 7;
    for (int i = 0; i < shape.rank; i++)
        if (!(keep >> i & 1)) shape.dims[i] = 1;
    return input(r, below(r, 3) ? QDQ_FLOAT32 : below(r, 2) ? QDQ_BFLOAT16 : QDQ_INT32, shape);
}

static qdq_quantize_attrs parameters(random_graph *r, qdq_shape shape) {
    static const float scale = 0.043f;
    static const double zero_point = 3;
    qdq_quantize_attrs q = {.scales = {&scale, 1, true}, .zps = {&zero_point, 1, true}};
    int64_t axis = (int64_t)below(r, 3);
    if (below(r, 2) || shape.dims[axis] > MOST_DIM) return q;
    q.qtype = QDQ_PER_CHANNEL, q.axis = QDQ_INT(axis), q.zps = (qdq_numbers){0};
    q.scales = (qdq_floats){r->scales, (size_t)shape.dims[axis], false};
    return q;
}

static qdq_value link_of_floats(random_graph *r, qdq_value v, qdq_shape shape, bool is_float32) {
    static const qdq_dtype codes[] = {QDQ_INT8, QDQ_UINT8, QDQ_INT4, QDQ_FLOAT8_E4M3FN};
    static const qdq_dtype casts[] = {QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_FLOAT32, QDQ_INT32};
    qdq_quantize_attrs q;
    switch (below(r, is_float32 ? 7 : 3)) {
    case 0:
        return below(r, 2) ? qdq_relu(r->graph, v, (qdq_unary_attrs){0})
                           : qdq_relu6(r->graph, v, (qdq_unary_attrs){0});
    case 1:
        q = parameters(r, shape);
        q.dtype = codes[below(r, 4)];
        if (q.dtype == QDQ_FLOAT8_E4M3FN) q.zps = (qdq_numbers){0};
        return qdq_quantize(r->graph, v, q);
    case 2: return qdq_cast(r->graph, v, (qdq_cast_attrs){.dtype = casts[below(r, 4)]});
    case 3: return qdq_multiply(r->graph, v, v, (qdq_binary_attrs){0});
    case 4:
        return qdq_subtract(r->graph, beside(r, shape), v,
                            (qdq_binary_attrs){.dtype = QDQ_FLOAT32});
    default: return qdq_add(r->graph, v, beside(r, shape), (qdq_binary_attrs){0});
    }
}

static qdq_value link_of(random_graph *r, qdq_value v) {
    qdq_shape shape;
    qdq_dtype dtype = dtype_of(r, v, &shape);
    if (dtype == QDQ_FLOAT32 || dtype == QDQ_BFLOAT16 || dtype == QDQ_FLOAT16)
        return link_of_floats(r, v, shape, dtype == QDQ_FLOAT32);
    if (dtype == QDQ_INT32) return qdq_cast(r->graph, v, (qdq_cast_attrs){.dtype = QDQ_FLOAT32});
    qdq_quantize_attrs q = parameters(r, shape);
    if (dtype == QDQ_FLOAT8_E4M3FN) q.zps = (qdq_numbers){0};
    return qdq_dequantize(
        r->graph, v,
        (qdq_dequantize_attrs){.qtype = q.qtype,
                               .axis = q.axis,
                               .scales = q.scales,
                               .zps = q.zps,
                               .dtype = below(r, 2) ? QDQ_FLOAT32 : QDQ_BFLOAT16});
}

// Sometimes another node reads the tensor op's result, or a value within the chain.
static void build(random_graph *r, head_fn *head, qdq_shape shape) {
    r->graph = qdq_graph_create("random", NULL);
    r->inputs = 0;
    qdq_value v = head(r, floats(r, shape), shape), first = v;
    size_t links = below(r, 5) + 1, seen = below(r, 2 * links);
    if (below(r, 4) == 0) qdq_output(r->graph, "first", v);
    for (size_t i = 0; i < links; i++) {
        v = link_of(r, v);
        if (i == seen) qdq_output(r->graph, "seen", v);
    }
    if (below(r, 4) == 0)
        qdq_output(r->graph, "other", qdq_relu(r->graph, first, (qdq_unary_attrs){0}));
    qdq_output(r->graph, "last", v);
}

//---- Runs -------------------------------------------------------------------

static void fill(qdq_dtype dtype, void *x, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        int number = (int)(unit_random(&seed) >> 30 & 4095) - 2048;
        float v = (float)number / 700.0f;
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        if (dtype == QDQ_FLOAT32)
            ((float *)x)[i] = v;
        else if (dtype == QDQ_BFLOAT16)
            ((uint16_t *)x)[i] = (uint16_t)(bits >> 16);
        else if (dtype == QDQ_INT32)
            ((int32_t *)x)[i] = number;
        else
            ((int8_t *)x)[i] = (int8_t)(number % 128);
    }
}

// The bytes of all outputs; the caller frees them.
static unsigned char *run(random_graph *r, qdq_compile_options options, int threads,
                          size_t *bytes) {
    qdq_error err = {0};
    qdq_plan *plan = qdq_graph_compile(r->graph, &options, &err);
    if (!plan) print_error("%s\n", err.text);
    assert_non_null(plan);
    qdq_exec_options how = {.poison = true};
    if (threads > 1) how.parallel = qdq_parallel_openmp(threads), how.parallel.least = 0;
    qdq_exec *exec = qdq_exec_create(plan, &how, &err);
    assert_non_null(exec);
    for (size_t i = 0; i < qdq_plan_input_count(plan); i++) {
        const qdq_tensor_info *info = qdq_plan_input(plan, i);
        void *x = malloc(info->bytes);
        assert_non_null(x);
        fill(info->dtype, x, info->bytes / qdq_dtype_size(info->dtype), 77 + i);
        assert_int_equal(qdq_exec_write(exec, info->name, info->dtype, x,
                                        info->bytes / qdq_dtype_size(info->dtype), &err),
                         QDQ_OK);
        free(x);
    }
    qdq_exec_run(exec);
    *bytes = 0;
    for (size_t o = 0; o < qdq_plan_output_count(plan); o++)
        *bytes += qdq_plan_output(plan, o)->bytes;
    unsigned char *y = malloc(*bytes + 1), *at = y;
    assert_non_null(y);
    for (size_t o = 0; o < qdq_plan_output_count(plan); o++) {
        const qdq_tensor_info *info = qdq_plan_output(plan, o);
        assert_int_equal(qdq_exec_read(exec, info->name, info->dtype, at,
                                       info->bytes / qdq_dtype_size(info->dtype), &err),
                         QDQ_OK);
        at += info->bytes;
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    return y;
}

static void check_as(random_graph *r, qdq_compile_options options, int threads,
                     const unsigned char *wanted, size_t wanted_bytes) {
    size_t bytes;
    unsigned char *got = run(r, options, threads, &bytes);
    assert_int_equal(bytes, wanted_bytes);
    assert_memory_equal(got, wanted, bytes);
    free(got);
}

static void check(random_graph *r) {
    size_t bytes;
    unsigned char *wanted = run(r, (qdq_compile_options){.materialize = true}, 1, &bytes);
    check_as(r, (qdq_compile_options){0}, 1, wanted, bytes);
    check_as(r, (qdq_compile_options){0}, 2, wanted, bytes);
    for (size_t i = 0; qdq_isa_get(i).name; i++)
        if (qdq_isa_get(i).available)
            check_as(r, (qdq_compile_options){.isa = qdq_isa_get(i).name}, 1, wanted, bytes);
    free(wanted);
    qdq_compile_options narrow = {.float_storage = QDQ_FLOAT_BFLOAT16, .materialize = true};
    wanted = run(r, narrow, 1, &bytes);
    narrow.materialize = false;
    check_as(r, narrow, 1, wanted, bytes);
    free(wanted);
    qdq_graph_destroy(r->graph);
}

static void chains_after_tensor_ops_give_the_bits_of_single_nodes(void **state) {
    static const int64_t shapes[][3] = {{2, 3, 130}, {3, 37, 19}, {1, 90, 64}, {2, 65, 1},
                                        {1, 1, 7},   {5, 11, 35}, {1, 40, 129}};
    static random_graph r;
    (void)state;
    r.seed = 4711;
    for (size_t i = 0; i < UNIT_COUNT(r.scales); i++)
        r.scales[i] = 0.01f + 0.001f * (float)(i % 70);
    for (size_t h = 0; h < UNIT_COUNT(heads); h++)
        for (size_t i = 0; i < 42; i++) {
            if (unit_left_out(100 * h + i)) continue;
            const int64_t *dims = shapes[i % UNIT_COUNT(shapes)];
            build(&r, heads[h], QDQ_SHAPE(dims[0], dims[1], dims[2]));
            check(&r);
        }
}

// Rows longer than a chunk.
static void rows_longer_than_a_chunk_give_the_same_bits(void **state) {
    static const int64_t shapes[][3] = {{1, 2, 9001}, {2, 1, 4097}, {1, 1, 16385}};
    static random_graph r;
    (void)state;
    r.seed = 99;
    for (size_t i = 0; i < UNIT_COUNT(r.scales); i++)
        r.scales[i] = 0.01f + 0.001f * (float)(i % 70);
    for (size_t h = 0; h < UNIT_COUNT(heads); h++)
        for (size_t i = 0; heads[h] != convolution && i < 9; i++) {
            if (unit_left_out(100 * h + i)) continue;
            const int64_t *dims = shapes[i % UNIT_COUNT(shapes)];
            build(&r, heads[h], QDQ_SHAPE(dims[0], dims[1], dims[2]));
            check(&r);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_after_tensor_ops_give_the_bits_of_single_nodes),
        cmocka_unit_test(rows_longer_than_a_chunk_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
