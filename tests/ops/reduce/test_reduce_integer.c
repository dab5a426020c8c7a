// SPDX-License-Identifier: Apache-2.0
// ReduceMaxInteger, ReduceMinInteger and ReduceSumInteger along each dim, element by element.
#include "tests/network.h"

enum { COUNT = 3 * 7 * 130 };

typedef qdq_value reduce_call(qdq_graph *g, qdq_value x, qdq_reduce_integer_attrs attrs);

static const int64_t dims[3] = {3, 7, 130};

static int64_t element(qdq_dtype dtype, const void *x, size_t i) {
    if (dtype == QDQ_INT8) return ((const int8_t *)x)[i];
    return dtype == QDQ_INT16 ? ((const int16_t *)x)[i] : ((const int32_t *)x)[i];
}

// Leaves the elements of x in `x` and the results along a dim in `y`.
static void reduce(reduce_call *call, qdq_dtype dtype, int64_t axis, void *x, void *y) {
    size_t count = COUNT / (size_t)dims[axis], bytes = COUNT * qdq_dtype_size(dtype);
    uint64_t random = 3;
    for (size_t i = 0; i < bytes; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        ((uint8_t *)x)[i] = (uint8_t)(random >> 40);
    }
    qdq_graph *g = qdq_graph_create("reduce", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE(dims[0], dims[1], dims[2]));
    qdq_reduce_integer_attrs attrs = {.axis = QDQ_INT(axis - 3),
                                      .keep_dims = axis ? QDQ_TRUE : QDQ_FALSE};
    qdq_output(g, "y", call(g, v, attrs));
    network_tensor in = {"x", dtype, x, COUNT};
    network_run(g, &in, 1, (network_tensor){"y", dtype, y, count});
    qdq_graph_destroy(g);
}

// Returns element k of the slice that y[i] reduces.
static int64_t slice_element(qdq_dtype dtype, const void *x, int64_t axis, size_t i, size_t k) {
    size_t at[3], whole = i;
    for (int d = 2; d >= 0; d--) {
        size_t dim = d == axis ? 1 : (size_t)dims[d];
        at[d] = d == axis ? k : whole % dim;
        whole /= dim;
    }
    return element(dtype, x, (at[0] * 7 + at[1]) * 130 + at[2]);
}

static void the_greatest_and_the_least_are_found(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_INT8, QDQ_INT16, QDQ_INT32};
    static int32_t x[COUNT], y[COUNT];
    (void)state;
    for (size_t t = 0; t < UNIT_COUNT(dtypes); t++)
        for (int64_t axis = 0; axis < 3; axis++)
            for (int max = 0; max < 2; max++) {
                reduce(max ? qdq_reduce_max_integer : qdq_reduce_min_integer, dtypes[t], axis, x,
                       y);
                for (size_t i = 0; i < COUNT / (size_t)dims[axis]; i++) {
                    int64_t want = slice_element(dtypes[t], x, axis, i, 0);
                    for (size_t k = 1; k < (size_t)dims[axis]; k++) {
                        int64_t v = slice_element(dtypes[t], x, axis, i, k);
                        if (max ? v > want : v < want) want = v;
                    }
                    assert_true(element(dtypes[t], y, i) == want);
                }
            }
}

static void sums_wrap_around(void **state) {
    static int32_t x[COUNT], y[COUNT];
    bool beyond = false;
    (void)state;
    for (int64_t axis = 0; axis < 3; axis++) {
        reduce(qdq_reduce_sum_integer, QDQ_INT32, axis, x, y);
        for (size_t i = 0; i < COUNT / (size_t)dims[axis]; i++) {
            int64_t want = 0;
            for (size_t k = 0; k < (size_t)dims[axis]; k++)
                want += slice_element(QDQ_INT32, x, axis, i, k);
            beyond |= want > INT32_MAX;
            assert_int_equal((uint32_t)y[i], (uint32_t)(uint64_t)want);
        }
    }
    assert_true(beyond);
}

static void an_axis_beyond_the_rank_is_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create("reduce", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT32, QDQ_SHAPE(2, 3));
    qdq_reduce_integer_attrs attrs = {.axis = QDQ_INT(2)};
    qdq_output(g, "y", qdq_reduce_sum_integer(g, v, attrs));
    network_refuses(g, "core/axis-range", "axis is 2");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_greatest_and_the_least_are_found),
        cmocka_unit_test(sums_wrap_around),
        cmocka_unit_test(an_axis_beyond_the_rank_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
