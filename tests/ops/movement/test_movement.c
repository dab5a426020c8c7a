// SPDX-License-Identifier: Apache-2.0
// Concat, StaticReshape, StaticTranspose, Reorder and GenIndex, with every index computed by
// itself.
#include "tests/network.h"

enum { MOST = 60000 };

#define D(...)                                                                     \
    {                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), { __VA_ARGS__ } \
    }
#define NO_DIMS \
    { 0 }
#define SCALAR ((qdq_shape){0})

static size_t count_of(qdq_shape s) {
    size_t n = 1;
    for (int i = 0; i < s.rank; i++) n *= (size_t)s.dims[i];
    return n;
}

static bool is_block_float(qdq_dtype d) { return qdq_dtype_get(d)->kind == QDQ_KIND_BLOCK_FLOAT; }

// Random legal elements of the dtype.
static void fill(qdq_dtype dtype, void *data, size_t count, uint64_t seed) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = unit_random(&seed) >> 8;
        uint64_t range = (uint64_t)info->greatest - (uint64_t)info->least + 1;  // 0 for int64
        int64_t whole = (int64_t)((uint64_t)info->least + (range ? bits % range : bits));
        if (qdq_dtype_is_real(dtype)) whole = (int64_t)(info->bits < 8 ? bits & 15 : bits);
        memcpy((char *)data + i * size, &whole, size);  // little endian
    }
}

//---- StaticTranspose --------------------------------------------------------

typedef struct transposed {
    qdq_shape x;
    int64_t order[QDQ_MAX_RANK];
    size_t order_count;
    qdq_shape y;
} transposed;

static const transposed transposes[] = {
    {D(2, 3), {1, 0}, 2, D(3, 2)},
    {D(70, 33), {1, 0}, 2, D(33, 70)},
    {D(63, 127), {1, 0}, 2, D(127, 63)},
    {D(5), {0}, 1, D(5)},
    {D(5), {0}, 0, D(5)},
    {NO_DIMS, {0}, 0, NO_DIMS},
    {D(2, 3, 4, 5), {0}, 0, D(5, 4, 3, 2)},
    {D(2, 3, 4, 5), {0, 2, 3, 1}, 4, D(2, 4, 5, 3)},
    {D(2, 35, 7, 9), {0, 3, 1, 2}, 4, D(2, 9, 35, 7)},
    {D(2, 35, 7, 9), {0, 2, 1, 3}, 4, D(2, 7, 35, 9)},
    {D(2, 35, 7, 9), {0, 1, 2, 3}, 4, D(2, 35, 7, 9)},
    {D(2, 35, 7, 9), {0, 1, -1, -2}, 4, D(2, 35, 9, 7)},
    {D(1, 40, 1, 50), {3, 2, 1, 0}, 4, D(50, 1, 40, 1)},
    {D(3, 2, 2, 2, 3, 2, 1, 2), {7, 0, 6, 1, 5, 2, 4, 3}, 8, D(2, 3, 1, 2, 2, 2, 3, 2)},
    {D(3, 5, 4, 6), {3, 0, 2, 1}, 4, D(6, 3, 4, 5)},
    {D(100, 3, 100), {2, 1, 0}, 3, D(100, 3, 100)},
    {D(33, 65, 5), {1, 0, 2}, 3, D(65, 33, 5)},
    {D(130, 3, 66), {2, 1, 0}, 3, D(66, 3, 130)},
};

// Which element of x becomes element `at` of y.
static size_t transposed_from(const transposed *t, size_t at) {
    size_t where = 0;
    for (int i = t->y.rank - 1; i >= 0; i--) {
        int64_t dim = t->order_count ? t->order[i] : t->x.rank - 1 - i;
        if (dim < 0) dim += t->x.rank;
        size_t index = at % (size_t)t->y.dims[i], stride = 1;
        at /= (size_t)t->y.dims[i];
        for (int k = (int)dim + 1; k < t->x.rank; k++) stride *= (size_t)t->x.dims[k];
        where += index * stride;
    }
    return where;
}

static qdq_value add_transpose(qdq_graph *g, qdq_value x, const transposed *t) {
    return qdq_transpose(g, x, (qdq_transpose_attrs){.order = {t->order, t->order_count}});
}

static void transposing_moves_every_element_of_every_dtype(void **state) {
    (void)state;
    static char x[MOST * 8], y[MOST * 8];
    for (int d = 1; d < QDQ_DTYPE_COUNT; d++) {
        if (is_block_float((qdq_dtype)d)) continue;
        size_t size = qdq_dtype_size((qdq_dtype)d);
        for (size_t k = 0; k < UNIT_COUNT(transposes); k++) {
            const transposed *t = &transposes[k];
            size_t count = count_of(t->x);
            fill((qdq_dtype)d, x, count, 7);
            qdq_graph *g = qdq_graph_create("transpose", NULL);
            qdq_output(g, "y", add_transpose(g, qdq_input(g, "x", (qdq_dtype)d, t->x), t));
            network_tensor input = {"x", (qdq_dtype)d, x, count};
            network_run(g, &input, 1, (network_tensor){"y", (qdq_dtype)d, y, count});
            qdq_graph_destroy(g);
            for (size_t i = 0; i < count; i++)
                assert_memory_equal(y + i * size, x + transposed_from(t, i) * size, size);
        }
    }
}

// The value between two transposes is stored as bfloat16.
static void bfloat16_storage_rounds_moved_values(void **state) {
    (void)state;
    static float x[MOST], y[MOST];
    static uint16_t narrow[MOST];
    uint64_t random = 3;
    for (size_t i = 0; i < 2310; i++) x[i] = (float)(unit_random(&random) % 100000) / 7;
    qdq_graph *g = qdq_graph_create("storage", NULL);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(70, 33));
    qdq_value t = add_transpose(g, in, &transposes[1]);
    qdq_value joined = qdq_concat(g, (qdq_concat_attrs){.xs = QDQ_VALUES(t), .axis = QDQ_INT(0)});
    qdq_value flat = qdq_reshape(
        g, joined, (qdq_reshape_attrs){.shape = QDQ_INTS(-1), .special_zero = QDQ_FALSE});
    qdq_output(g, "y", qdq_reorder(g, flat, (qdq_unary_attrs){0}));
    network_tensor input = {"x", QDQ_FLOAT32, x, 2310}, output = {"y", QDQ_FLOAT32, y, 2310};
    network_run_once(g, &(qdq_compile_options){.float_storage = QDQ_FLOAT_BFLOAT16}, NULL, &input,
                     1, &output);
    qdq_graph_destroy(g);
    qdq_graph *cast = qdq_graph_create("cast", NULL);
    in = qdq_input(cast, "x", QDQ_FLOAT32, QDQ_SHAPE(2310));
    qdq_output(cast, "y", qdq_cast(cast, in, (qdq_cast_attrs){.dtype = QDQ_BFLOAT16}));
    network_run(cast, &input, 1, (network_tensor){"y", QDQ_BFLOAT16, narrow, 2310});
    qdq_graph_destroy(cast);
    for (size_t i = 0; i < 2310; i++) {
        float wanted;
        qdq_widen_float(QDQ_BFLOAT16, &narrow[transposed_from(&transposes[1], i)], &wanted, 1);
        assert_true(y[i] == wanted);
    }
}

//---- Concat -----------------------------------------------------------------

static void concat_joins_inputs_along_any_axis(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_INT4, QDQ_BOOL, QDQ_INT32};
    static char x[3][MOST * 8], y[MOST * 8];
    static const int64_t lengths[] = {3, 1, 140};
    for (size_t k = 0; k < UNIT_COUNT(dtypes) * 6; k++) {
        qdq_dtype dtype = dtypes[k / 6];
        int axis = (int)(k % 6) - 3, dim = axis < 0 ? axis + 3 : axis;
        size_t size = qdq_dtype_size(dtype), inner = 1, outer = 1, total = 144;
        qdq_shape shape = QDQ_SHAPE(7, 5, 11);
        for (int i = 0; i < 3; i++)
            if (i != dim) *(i < dim ? &outer : &inner) *= (size_t)shape.dims[i];
        qdq_graph *g = qdq_graph_create("concat", NULL);
        qdq_value values[3];
        network_tensor inputs[3];
        static const char *const names[] = {"a", "b", "c"};
        for (size_t i = 0; i < 3; i++) {
            shape.dims[dim] = lengths[i];
            size_t count = count_of(shape);
            fill(dtype, x[i], count, i + 5);
            values[i] = qdq_input(g, names[i], dtype, shape);
            inputs[i] = (network_tensor){names[i], dtype, x[i], count};
        }
        qdq_output(g, "y",
                   qdq_concat(g, (qdq_concat_attrs){.xs = {values, 3}, .axis = QDQ_INT(axis)}));
        network_run(g, inputs, 3, (network_tensor){"y", dtype, y, outer * total * inner});
        qdq_graph_destroy(g);
        for (size_t i = 0; i < outer * total * inner; i++) {
            size_t at = i / inner % total, input = at < 3 ? 0 : at < 4 ? 1 : 2;
            size_t before = input == 0 ? 0 : input == 1 ? 3 : 4;
            size_t from =
                (i / inner / total * (size_t)lengths[input] + at - before) * inner + i % inner;
            assert_memory_equal(y + i * size, x[input] + from * size, size);
        }
    }
}

static void concat_joins_any_number_of_inputs(void **state) {
    (void)state;
    enum { LARGEST = 3000 };
    static const size_t counts[] = {1, 10, 11, 64, 65, LARGEST};
    static int16_t x[100], y[100 * LARGEST];
    static qdq_value values[LARGEST];
    for (int i = 0; i < 100; i++) x[i] = (int16_t)(i * 321);
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        size_t n = counts[k];
        qdq_graph *g = qdq_graph_create("many", NULL);
        qdq_value in = qdq_input(g, "x", QDQ_INT16, QDQ_SHAPE(20, 5));
        for (size_t i = 0; i < n; i++) values[i] = in;
        qdq_output(g, "y",
                   qdq_concat(g, (qdq_concat_attrs){.xs = {values, n}, .axis = QDQ_INT(1)}));
        network_tensor input = {"x", QDQ_INT16, x, 100};
        network_run(g, &input, 1, (network_tensor){"y", QDQ_INT16, y, 100 * n});
        for (size_t i = 0; i < 100 * n; i++) assert_int_equal(y[i], x[i / (5 * n) * 5 + i % 5]);
        qdq_graph_destroy(g);
    }
}

//---- StaticReshape, Reorder, GenIndex ----------------------------------------

static void reshaping_keeps_the_order_of_elements(void **state) {
    (void)state;
    static const struct {
        qdq_shape x;
        int64_t shape[QDQ_MAX_RANK];
        size_t count;
        bool special_zero;
        qdq_shape y;
    } rows[] = {
        {D(4, 6), {24}, 1, false, D(24)},
        {D(4, 6), {2, -1}, 2, false, D(2, 12)},
        {D(4, 6), {0, 2, -1}, 3, true, D(4, 2, 3)},
        {D(4, 6), {-1, 0}, 2, true, D(4, 6)},
        {D(70, 45), {3, 5, -1, 2}, 4, false, D(3, 5, 105, 2)},
        {NO_DIMS, {1, 1}, 2, false, D(1, 1)},
        {D(1, 1), {0}, 0, false, NO_DIMS},
        {D(30, 1200), {1200, 30}, 2, false, D(1200, 30)},
    };
    static char x[MOST * 8], y[MOST * 8];
    for (size_t k = 0; k < UNIT_COUNT(rows); k++)
        for (int d = 1; d < QDQ_DTYPE_COUNT; d++) {
            qdq_dtype dtype = (qdq_dtype)d, is;
            if (is_block_float(dtype)) continue;
            qdq_shape shape;
            size_t count = count_of(rows[k].x);
            fill(dtype, x, count, 5);
            qdq_graph *g = qdq_graph_create("reshape", NULL);
            qdq_reshape_attrs attrs = {.shape = {rows[k].shape, rows[k].count},
                                       .special_zero = rows[k].special_zero ? QDQ_TRUE : QDQ_FALSE};
            qdq_value v = qdq_reshape(g, qdq_input(g, "x", dtype, rows[k].x), attrs);
            assert_true(qdq_value_type(g, v, &is, &shape));
            assert_true(qdq_shape_equal(shape, rows[k].y));
            qdq_output(g, "y", v);
            qdq_output(g, "z", qdq_reorder(g, v, (qdq_unary_attrs){0}));
            network_tensor input = {"x", dtype, x, count};
            network_run(g, &input, 1, (network_tensor){"y", dtype, y, count});
            assert_memory_equal(x, y, count * qdq_dtype_size(dtype));
            network_run(g, &input, 1, (network_tensor){"z", dtype, y, count});
            assert_memory_equal(x, y, count * qdq_dtype_size(dtype));
            qdq_graph_destroy(g);
        }
}

static void indices_are_coordinates(void **state) {
    (void)state;
    static float x[MOST];
    static int32_t y[MOST];
    const qdq_shape shape = QDQ_SHAPE(5, 70, 130);
    for (int axis = -3; axis < 3; axis++) {
        qdq_graph *g = qdq_graph_create("index", NULL);
        qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, shape);
        qdq_output(g, "y", qdq_gen_index(g, in, (qdq_gen_index_attrs){.axis = QDQ_INT(axis)}));
        network_tensor input = {"x", QDQ_FLOAT32, x, 45500};
        network_run(g, &input, 1, (network_tensor){"y", QDQ_INT32, y, 45500});
        qdq_graph_destroy(g);
        for (int i = 0; i < 45500; i++) {
            int wanted[] = {i / 130 / 70, i / 130 % 70, i % 130};
            assert_int_equal(y[i], wanted[axis < 0 ? axis + 3 : axis]);
        }
    }
}

//---- Refusals ---------------------------------------------------------------

static qdq_value input_of(qdq_graph *g, qdq_shape shape) {
    return qdq_input(g, "x", QDQ_FLOAT32, shape);
}

static void refuse_reshape(qdq_ints shape, qdq_bool special_zero, const char *rule,
                           const char *words) {
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_reshape_attrs attrs = {.name = "r", .shape = shape, .special_zero = special_zero};
    qdq_output(g, "y", qdq_reshape(g, input_of(g, QDQ_SHAPE(4, 6)), attrs));
    network_refuses(g, rule, words);
}

static void reshaping_is_refused_with_a_reason(void **state) {
    (void)state;
    refuse_reshape(QDQ_INTS(24), QDQ_UNSET, "core/attr-required",
                   "node 'r': StaticReshape: special_zero is missing");
    refuse_reshape(QDQ_INTS(0, 6), QDQ_FALSE, "core/attr-value",
                   "shape has 0 at index 0, wanted 1 or more, or special_zero");
    refuse_reshape(QDQ_INTS(1, 1, 0), QDQ_TRUE, "core/attr-value",
                   "shape has 0 at index 2, wanted 0 for the 2 dims of x only");
    refuse_reshape(QDQ_INTS(-1, -1), QDQ_TRUE, "core/attr-value",
                   "shape has -1 at index 0 and 1, wanted one -1 at most");
    refuse_reshape(QDQ_INTS(-2), QDQ_TRUE, "core/attr-value",
                   "shape has -2 at index 0, wanted 1 or more, or one -1");
    refuse_reshape(QDQ_INTS(1, 1, 1, 1, 1, 1, 1, 1, 24), QDQ_TRUE, "core/attr-value",
                   "shape has 9 entries, wanted at most 8");
    refuse_reshape(QDQ_INTS(5, -1), QDQ_TRUE, "core/port-shape",
                   "x has the shape [4, 6], wanted as many elements as the shape [5, -1] has");
    refuse_reshape(QDQ_INTS(25), QDQ_TRUE, "core/port-shape",
                   "x has the shape [4, 6], wanted as many elements as the shape [25] has");
    refuse_reshape((qdq_ints){NULL, 0}, QDQ_TRUE, "core/port-shape",
                   "x has the shape [4, 6], wanted as many elements as the shape [] has");
    refuse_reshape(QDQ_INTS(INT64_MAX, INT64_MAX), QDQ_TRUE, "core/port-shape",
                   "wanted as many elements as");
    refuse_reshape(QDQ_INTS(INT64_C(1) << 32, INT64_C(1) << 32, -1), QDQ_TRUE, "core/port-shape",
                   "wanted as many elements as");
}

static void refuse_transpose(qdq_ints order, const char *rule, const char *words) {
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value x = input_of(g, QDQ_SHAPE(4, 6, 2));
    qdq_output(g, "y", qdq_transpose(g, x, (qdq_transpose_attrs){.name = "t", .order = order}));
    network_refuses(g, rule, words);
}

static void an_order_that_is_no_permutation_is_refused(void **state) {
    (void)state;
    refuse_transpose(QDQ_INTS(1, 0), "core/attr-value",
                     "node 't': StaticTranspose: order has 2 entries, wanted 3, one for each dim "
                     "of x");
    refuse_transpose(QDQ_INTS(1, 0, -2), "core/attr-value",
                     "order has dim 1 twice, wanted each dim of x once");
    refuse_transpose(QDQ_INTS(1, 0, 3), "core/axis-range", "order is 3, wanted -3 to 2");
}

static void refuse_concat(qdq_dtype dtype, qdq_shape a, qdq_shape b, qdq_int axis, const char *rule,
                          const char *words) {
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value va = qdq_input(g, "a", QDQ_FLOAT32, a), vb = qdq_input(g, "b", dtype, b);
    qdq_concat_attrs attrs = {.name = "c", .xs = QDQ_VALUES(va, vb), .axis = axis};
    qdq_output(g, "y", qdq_concat(g, attrs));
    network_refuses(g, rule, words);
}

static void mismatched_inputs_are_refused(void **state) {
    (void)state;
    qdq_shape x = QDQ_SHAPE(4, 6);
    refuse_concat(QDQ_FLOAT32, x, x, (qdq_int){0}, "core/attr-required",
                  "node 'c': Concat: axis is missing");
    refuse_concat(QDQ_FLOAT32, x, x, QDQ_INT(2), "core/axis-range", "axis is 2, wanted -2 to 1");
    refuse_concat(QDQ_FLOAT32, SCALAR, SCALAR, QDQ_INT(0), "core/axis-range",
                  "axis is 0, wanted an x with dims: this one has none");
    refuse_concat(QDQ_FLOAT16, x, x, QDQ_INT(0), "core/port-dtype",
                  "node 'c': Concat: xs[1] is float16, wanted float32, as xs[0] is");
    refuse_concat(QDQ_FLOAT32, x, QDQ_SHAPE(4, 7), QDQ_INT(0), "core/port-shape",
                  "xs[1] has the shape [4, 7], wanted [4, 6], the shape of xs[0], but for dim 0");
    refuse_concat(QDQ_FLOAT32, x, QDQ_SHAPE(24), QDQ_INT(0), "core/port-shape",
                  "xs[1] has the shape [24], wanted [4, 6], the shape of xs[0], but for dim 0");
    qdq_value values[65];
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value y = qdq_input(g, "y", QDQ_INT8, x);
    for (size_t i = 0; i < 65; i++) values[i] = i == 64 ? y : i ? values[0] : input_of(g, x);
    qdq_output(g, "z", qdq_concat(g, (qdq_concat_attrs){.xs = {values, 65}, .axis = QDQ_INT(0)}));
    network_refuses(g, "core/port-dtype", "xs[64] is int8, wanted float32, as xs[0] is");
}

static void block_floats_and_missing_axes_are_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_BFLOAT8_B, QDQ_SHAPE(32, 32));
    qdq_output(g, "y", qdq_transpose(g, x, (qdq_transpose_attrs){.name = "t"}));
    network_refuses(g, "core/port-dtype",
                    "node 't': StaticTranspose: x is bfloat8_b, wanted one of: float32");
    g = qdq_graph_create("bad", NULL);
    qdq_output(g, "y", qdq_gen_index(g, input_of(g, QDQ_SHAPE(4)), (qdq_gen_index_attrs){0}));
    network_refuses(g, "core/attr-required", "axis is missing");
    g = qdq_graph_create("bad", NULL);
    qdq_output(
        g, "y",
        qdq_gen_index(g, input_of(g, QDQ_SHAPE(4)), (qdq_gen_index_attrs){.axis = QDQ_INT(-2)}));
    network_refuses(g, "core/axis-range", "axis is -2, wanted -1 to 0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposing_moves_every_element_of_every_dtype),
        cmocka_unit_test(bfloat16_storage_rounds_moved_values),
        cmocka_unit_test(concat_joins_inputs_along_any_axis),
        cmocka_unit_test(concat_joins_any_number_of_inputs),
        cmocka_unit_test(reshaping_keeps_the_order_of_elements),
        cmocka_unit_test(indices_are_coordinates),
        cmocka_unit_test(reshaping_is_refused_with_a_reason),
        cmocka_unit_test(an_order_that_is_no_permutation_is_refused),
        cmocka_unit_test(mismatched_inputs_are_refused),
        cmocka_unit_test(block_floats_and_missing_axes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
