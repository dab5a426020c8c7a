// SPDX-License-Identifier: Apache-2.0
// Data, shapes and runs for tests of elementwise ops on integers and float64.
#ifndef QDQ_TESTS_OPS_TYPED_ELEMENTS_H
#define QDQ_TESTS_OPS_TYPED_ELEMENTS_H

#include "ops/blocking.h"
#include "tests/network.h"

__extension__ typedef __int128 big;
__extension__ typedef unsigned __int128 big_bits;

enum {
    MOST = 2 * QDQ_ELEMENTS_UNIT + QDQ_ELEMENTS_PART + 3,
    EXTREMES = 12,
};

//---- Dtypes -----------------------------------------------------------------

#define SUMMED (QDQ_BIT(INT32) | QDQ_BIT(UINT32) | QDQ_BIT(INT64) | QDQ_BIT(UINT64))
#define BITS (SUMMED | QDQ_BIT(INT8) | QDQ_BIT(UINT8) | QDQ_BIT(INT16) | QDQ_BIT(UINT16))
#define ALL_INTS (BITS | QDQ_BIT(INT4) | QDQ_BIT(UINT4) | QDQ_BIT(INT2) | QDQ_BIT(UINT2))
#define QDQ_BIT(name) (1u << QDQ_##name)

static inline big value_of(qdq_dtype dtype, const void *data, size_t i) {
    int64_t whole;
    size_t size = qdq_dtype_size(dtype);
    qdq_widen_int64(dtype, (const char *)data + i * size, &whole, 1);
    return dtype == QDQ_UINT64 ? (big)(uint64_t)whole : whole;
}

static inline big least_of(qdq_dtype dtype) { return qdq_dtype_get(dtype)->least; }

static inline big greatest_of(qdq_dtype dtype) {
    return dtype == QDQ_UINT64 ? (big)UINT64_MAX : qdq_dtype_get(dtype)->greatest;
}

//---- Data -------------------------------------------------------------------

static uint64_t a_data[MOST], b_data[MOST], y_data[MOST];

// The ends of the range, numbers near 0 and powers of two beyond what a double holds, and random
// bits.
static inline void fill(qdq_dtype dtype, void *data, size_t count, uint64_t seed) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype);
    uint64_t least = (uint64_t)info->least, greatest = (uint64_t)greatest_of(dtype);
    const uint64_t extremes[EXTREMES] = {least,
                                         greatest,
                                         0,
                                         1,
                                         (uint64_t)-1,
                                         2,
                                         least + 1,
                                         greatest - 1,
                                         greatest / 2,
                                         (UINT64_C(1) << 53) + 1,
                                         (UINT64_C(1) << 31) + 1,
                                         7};
    for (size_t i = 0; i < count; i++) {
        uint64_t random = unit_random(&seed);
        uint64_t v = random % 3 ? extremes[random / 3 % EXTREMES] : unit_random(&seed);
        if (info->bits < 8) {  // held in a byte, in its range
            int64_t span = info->greatest - info->least + 1;
            v = (uint64_t)(info->least + (int64_t)(v % (uint64_t)span));
        }
        if (dtype == QDQ_BOOL) v &= 1;
        memcpy((char *)data + i * size, &v, size);
    }
}

typedef struct join {
    qdq_shape a, b, y;
} join;

#define D(...)                                                              \
    {                                                                       \
        sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), { __VA_ARGS__ } \
    }
static const join joins[] = {
    {D(MOST), D(MOST), D(MOST)},
    {D(32, 257), D(257), D(32, 257)},
    {D(32, 257), D(32, 1), D(32, 257)},
    {{0, {0}}, D(5, 7), D(5, 7)},
    {D(65, 1), D(1, 129), D(65, 129)},
    {D(2, 1, 3, 5), D(4, 3, 1), D(2, 4, 3, 5)},
    {D(1), D(1), D(1)},
};

static inline size_t source(qdq_shape y, qdq_shape of, size_t at) {
    size_t where = 0, stride = 1;
    for (int i = 1; i <= y.rank; i++) {
        size_t index = at % (size_t)y.dims[y.rank - i];
        at /= (size_t)y.dims[y.rank - i];
        if (i > of.rank) continue;
        if (of.dims[of.rank - i] != 1) where += index * stride;
        stride *= (size_t)of.dims[of.rank - i];
    }
    return where;
}

static inline void run(const char *op, const join *j, qdq_dtype in, qdq_dtype out) {
    qdq_graph *g = qdq_graph_create("typed", NULL);
    qdq_binary_attrs attrs = {.a = qdq_input(g, "a", in, j->a), .b = qdq_input(g, "b", in, j->b)};
    qdq_output(g, "y", qdq_add_node(g, op, &attrs, sizeof attrs));
    network_tensor inputs[] = {{"a", in, a_data, qdq_shape_count(j->a)},
                               {"b", in, b_data, qdq_shape_count(j->b)}};
    network_run(g, inputs, 2, (network_tensor){"y", out, y_data, qdq_shape_count(j->y)});
    qdq_graph_destroy(g);
}

static inline void run_unary(const char *op, qdq_dtype in, qdq_dtype out, const void *x, void *y,
                             size_t count) {
    qdq_graph *g = qdq_graph_create("typed", NULL);
    qdq_unary_attrs attrs = {.x = qdq_input(g, "x", in, QDQ_SHAPE((int64_t)count))};
    qdq_output(g, "y", qdq_add_node(g, op, &attrs, sizeof attrs));
    network_tensor input = {"x", in, (void *)(uintptr_t)x, count};
    network_run(g, &input, 1, (network_tensor){"y", out, y, count});
    qdq_graph_destroy(g);
}

#endif
