// SPDX-License-Identifier: Apache-2.0
// Cast from and to uint32, int64, uint64 and float64: every pair with every integer, bool and
// float, against arithmetic in 128 bits and long double, around every edge.
#include <math.h>

#include "tests/network.h"

__extension__ typedef __int128 big;

enum { MOST = 2600 };

static bool is_wide(qdq_dtype dtype) {
    return dtype == QDQ_UINT32 || dtype == QDQ_INT64 || dtype == QDQ_UINT64 || dtype == QDQ_FLOAT64;
}

// Whether a dtype is in this test: every integer, bool, float32 and float64.
static bool is_known(qdq_dtype dtype) {
    qdq_dtype_kind kind = qdq_dtype_get(dtype)->kind;
    return kind == QDQ_KIND_INT || kind == QDQ_KIND_BOOL || is_wide(dtype) || dtype == QDQ_FLOAT32;
}

static big greatest_of(qdq_dtype dtype) {
    return dtype == QDQ_UINT64 ? (big)UINT64_MAX : qdq_dtype_get(dtype)->greatest;
}

//---- The model --------------------------------------------------------------

typedef struct number {
    bool is_real;
    double real;
    big whole;
} number;

static number number_at(qdq_dtype dtype, const void *data, size_t i) {
    const char *at = (const char *)data + i * qdq_dtype_size(dtype);
    number n = {.is_real = qdq_dtype_is_real(dtype)};
    int64_t whole;
    if (n.is_real) {
        qdq_widen_float64(dtype, at, &n.real, 1);
    } else {
        qdq_widen_int64(dtype, at, &whole, 1);
        n.whole = dtype == QDQ_UINT64 ? (big)(uint64_t)whole : whole;
    }
    return n;
}

static big low_bits(qdq_dtype dtype, big v) {
    big least = qdq_dtype_get(dtype)->least, count = greatest_of(dtype) - least + 1;
    big low = ((v - least) % count + count) % count;
    return low + least;
}

// A finite number that is whole, or the nearest whole number with ties to even.
static big half_even(double v) {
    double down = floor(v), rest = v - down;
    big whole = (big)down;
    return rest > 0.5 || (rest == 0.5 && whole % 2 != 0) ? whole + 1 : whole;
}

static big to_whole(qdq_dtype dtype, number n) {
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    if (info->kind == QDQ_KIND_BOOL) return n.is_real ? n.real != 0 : n.whole != 0;
    if (!n.is_real) return low_bits(dtype, n.whole);
    if (isnan(n.real)) return 0;
    if (info->bits < 8) return fabs(n.real) < 0x1p100 ? low_bits(dtype, half_even(n.real)) : 0;
    if (n.real >= 0x1p100 || n.real <= -0x1p100)
        return n.real > 0 ? greatest_of(dtype) : (big)info->least;
    big whole = (big)n.real;  // toward zero
    return whole < info->least          ? (big)info->least
           : whole > greatest_of(dtype) ? greatest_of(dtype)
                                        : whole;
}

//---- Data -------------------------------------------------------------------

static size_t add_real(double *list, size_t count, double v) {
    const double near[] = {v, nextafter(v, 0), nextafter(v, 1e308), v + 0.5, v - 1, v + 1};
    for (size_t i = 0; i < UNIT_COUNT(near); i++) list[count++] = near[i], list[count++] = -near[i];
    return count;
}

static size_t reals(double *list) {
    size_t count = 0;
    const double odd[] = {
        (double)NAN, (double)INFINITY, -(double)INFINITY,  -0.0, 5e-324, 1e300, 0.5, 1.5,
        2.5,         0x1.000001p0,     0x1.0000010000001p0};
    for (size_t i = 0; i < UNIT_COUNT(odd); i++) list[count++] = odd[i], list[count++] = -odd[i];
    for (int k = 0; k < 130; k++) count = add_real(list, count, ldexp(1, k / 2 + (k & 1)));
    return count;
}

static size_t wholes(uint64_t *list) {
    size_t count = 0;
    for (int k = 0; k < 64; k++)
        for (int near = -3; near <= 3; near++) {
            uint64_t v = (UINT64_C(1) << k) + (uint64_t)(int64_t)near;
            list[count++] = v, list[count++] = 0 - v, list[count++] = v + (v >> 24);
        }
    return count;
}

static size_t fill(qdq_dtype dtype, void *data) {
    static double real[MOST];
    static uint64_t whole[MOST];
    const qdq_dtype_info *info = qdq_dtype_get(dtype);
    size_t size = qdq_dtype_size(dtype),
           count = qdq_dtype_is_real(dtype) ? reals(real) : wholes(whole);
    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        float narrow = (float)real[i];
        uint64_t v = info->kind == QDQ_KIND_BOOL ? whole[i] & 1 : whole[i];
        if (info->bits < 8)
            v = (uint64_t)(info->least +
                           (int64_t)(v % (uint64_t)(info->greatest - info->least + 1)));
        const void *from = dtype == QDQ_FLOAT64   ? (const void *)&real[i]
                           : dtype == QDQ_FLOAT32 ? (const void *)&narrow
                                                  : &v;
        memcpy((char *)data + i * size, from, size);
    }
    return count;
}

//---- Tests ------------------------------------------------------------------

static uint64_t x_data[MOST], y_data[MOST];

static void cast(qdq_dtype from, qdq_dtype to, size_t count) {
    qdq_graph *g = qdq_graph_create("cast", NULL);
    qdq_value v = qdq_input(g, "x", from, QDQ_SHAPE((int64_t)count));
    qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = to}));
    network_tensor input = {"x", from, x_data, count};
    network_run(g, &input, 1, (network_tensor){"y", to, y_data, count});
    qdq_graph_destroy(g);
}

static void check_pair(qdq_dtype from, qdq_dtype to) {
    size_t count = fill(from, x_data);
    cast(from, to, count);
    for (size_t i = 0; i < count; i++) {
        number x = number_at(from, x_data, i), y = number_at(to, y_data, i);
        long double exact = x.is_real ? (long double)x.real : (long double)x.whole;
        bool good = !y.is_real     ? y.whole == to_whole(to, x)
                    : isnan(exact) ? isnan(y.real)
                    : to == QDQ_FLOAT64
                        ? y.real == (double)exact && !signbit(y.real) == !signbit(exact)
                        : y.real == (double)(float)exact && !signbit(y.real) == !signbit(exact);
        if (!good)
            fail_msg("%s to %s, element %zu: %La became %a, %lld", qdq_dtype_name(from),
                     qdq_dtype_name(to), i, exact, y.real, (long long)y.whole);
    }
}

static void wide_dtypes_cast_to_every_dtype(void **state) {
    (void)state;
    for (qdq_dtype from = QDQ_FLOAT32; from < QDQ_DTYPE_COUNT; from++)
        for (qdq_dtype to = QDQ_FLOAT32; to < QDQ_DTYPE_COUNT; to++)
            if (is_known(from) && is_known(to) && is_wide(from)) check_pair(from, to);
}

static void every_dtype_casts_to_wide_dtypes(void **state) {
    (void)state;
    for (qdq_dtype from = QDQ_FLOAT32; from < QDQ_DTYPE_COUNT; from++)
        for (qdq_dtype to = QDQ_FLOAT32; to < QDQ_DTYPE_COUNT; to++)
            if (is_known(from) && is_known(to) && is_wide(to) && !is_wide(from))
                check_pair(from, to);
}

// 0x1.002p0 + 2^-40 is above the midpoint of two float16, but its float32 is the midpoint.
static void float64_becomes_a_narrow_float_by_way_of_float32(void **state) {
    static const double x[] = {0x1.002p0 + 0x1p-40, 0x1.006p0 - 0x1p-40, 448.0, 1e10,
                               65519.999999999};
    static const uint16_t halves[] = {0x3C00, 0x3C02, 0x5F00, 0x7C00, 0x7C00};
    static const uint8_t bytes[] = {0x38, 0x38, 0x7E, 0x7E, 0x7E};
    (void)state;
    memcpy(x_data, x, sizeof x);
    cast(QDQ_FLOAT64, QDQ_FLOAT16, UNIT_COUNT(x));
    assert_memory_equal(y_data, halves, sizeof halves);
    cast(QDQ_FLOAT64, QDQ_FLOAT8_E4M3FN, UNIT_COUNT(x));
    assert_memory_equal(y_data, bytes, sizeof bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_dtypes_cast_to_every_dtype),
        cmocka_unit_test(every_dtype_casts_to_wide_dtypes),
        cmocka_unit_test(float64_becomes_a_narrow_float_by_way_of_float32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
