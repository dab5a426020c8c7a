// SPDX-License-Identifier: Apache-2.0
// AvgPool and MaxPool against a window moved element by element.
#include <float.h>
#include <math.h>

#include "tests/network.h"
#include "tests/ops/images.h"

typedef struct pool_case {
    int spatial;
    int64_t in[3], kernel[3], strides[3], begin[3], end[3], dilations[3];
    qdq_auto_pad auto_pad;
    bool ceil;
} pool_case;

static const pool_case cases[] = {
    {1, {7}, {2}, {2}, {0}, {0}, {1}, QDQ_PAD_NONE, false},
    {1, {7}, {2}, {2}, {0}, {0}, {1}, QDQ_PAD_NONE, true},
    {1, {1300}, {3}, {1}, {1}, {1}, {1}, QDQ_PAD_NONE, false},
    {1, {3000}, {2}, {1100}, {0}, {0}, {1}, QDQ_PAD_NONE, true},
    {1, {5}, {2}, {1}, {3}, {3}, {1}, QDQ_PAD_NONE, false},  // windows that lie in the padding
    {1, {5}, {1}, {3}, {0}, {0}, {1}, QDQ_PAD_SAME_UPPER, true},
    {2, {9, 11}, {3, 2}, {2, 3}, {1, 0}, {0, 1}, {1, 1}, QDQ_PAD_NONE, false},
    {2, {9, 11}, {3, 2}, {2, 3}, {1, 0}, {0, 1}, {1, 1}, QDQ_PAD_NONE, true},
    {2, {9, 11}, {3, 2}, {2, 3}, {5, 5}, {5, 5}, {1, 1}, QDQ_PAD_VALID, false},
    {2, {9, 11}, {4, 5}, {2, 3}, {0, 0}, {0, 0}, {1, 1}, QDQ_PAD_SAME_UPPER, false},
    {2, {9, 11}, {4, 5}, {2, 3}, {0, 0}, {0, 0}, {1, 1}, QDQ_PAD_SAME_LOWER, false},
    {2, {9, 11}, {3, 2}, {1, 2}, {2, 1}, {2, 3}, {2, 3}, QDQ_PAD_NONE, false},
    {2, {9, 11}, {3, 2}, {1, 2}, {2, 1}, {2, 3}, {2, 3}, QDQ_PAD_NONE, true},
    {2, {8, 8}, {8, 8}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, QDQ_PAD_NONE, false},
    {3, {4, 5, 6}, {2, 3, 2}, {1, 2, 2}, {1, 1, 0}, {0, 1, 1}, {1, 1, 1}, QDQ_PAD_NONE, true},
    {3, {5, 4, 7}, {2, 2, 3}, {2, 1, 1}, {0, 1, 2}, {1, 0, 2}, {2, 1, 3}, QDQ_PAD_NONE, false},
};

// The number of windows along a dim and the padding before x, by oneDNN Graph's pages.
static int64_t windows(const pool_case *c, int i, bool dilated, int64_t *begin) {
    int64_t reach = (c->kernel[i] - 1) * (dilated ? c->dilations[i] : 1) + 1;
    int64_t end = c->end[i], in = c->in[i], stride = c->strides[i];
    *begin = c->begin[i];
    if (c->auto_pad == QDQ_PAD_VALID) *begin = end = 0;
    if (c->auto_pad == QDQ_PAD_SAME_UPPER || c->auto_pad == QDQ_PAD_SAME_LOWER) {
        int64_t total = reach - (in % stride == 0 ? stride : in % stride);
        if (total < 0) total = 0;
        *begin = c->auto_pad == QDQ_PAD_SAME_UPPER ? total / 2 : (total + 1) / 2;
        end = total - *begin;
    }
    int64_t rest = in + *begin + end - reach;
    return (c->ceil ? (rest + stride - 1) / stride : rest / stride) + 1;
}

enum { BATCH = 2, CHANNELS = 3, MOST = 40000 };

typedef struct pool_kind {
    bool max, exclude_pad;
} pool_kind;

static const pool_kind kinds[] = {{true, false}, {false, false}, {false, true}};

// One element of y; a window that lies in the padding gives 0 or the lowest float.
static float pooled(const pool_case *c, pool_kind kind, const image *x, const int64_t *begin,
                    int64_t n, int64_t channel, const int64_t *at, float lowest) {
    double sum = 0, most = -INFINITY, volume = 1;
    int64_t seen = 0, k[3] = {0};
    bool nan = false;
    for (int i = 0; i < c->spatial; i++) volume *= (double)c->kernel[i];
    for (int64_t flat = 0; flat < (int64_t)volume; flat++) {
        int64_t rest = flat, where[3] = {0};
        bool inside = true;
        for (int i = c->spatial < 3 ? c->spatial - 1 : 2; i >= 0; i--) {
            k[i] = rest % c->kernel[i], rest /= c->kernel[i];
            where[i] = at[i] * c->strides[i] + k[i] * (kind.max ? c->dilations[i] : 1) - begin[i];
            inside = inside && where[i] >= 0 && where[i] < c->in[i];
        }
        if (!inside) continue;
        double v = (double)image_get(x, n, channel, where);
        nan |= isnan(v);
        seen++, sum += v, most = v > most ? v : most;
    }
    if (kind.max) return nan ? NAN : seen ? (float)most : lowest;
    if (kind.exclude_pad) return seen ? (float)(sum / (double)seen) : 0;
    return (float)(sum / volume);
}

static qdq_value add_pool(qdq_graph *g, qdq_value x, const pool_case *c, pool_kind kind,
                          qdq_data_format format) {
    size_t n = (size_t)c->spatial;
    qdq_pool_attrs attrs = {.name = "p",
                            .strides = {c->strides, n},
                            .kernel = {c->kernel, n},
                            .pads_begin = {c->begin, n},
                            .pads_end = {c->end, n},
                            .rounding_type = c->ceil ? QDQ_POOL_ROUND_CEIL : QDQ_POOL_ROUND_FLOOR,
                            .auto_pad = c->auto_pad,
                            .data_format = format};
    if (kind.max) {
        attrs.dilations = (qdq_ints){c->dilations, n};
        return qdq_max_pool(g, x, attrs);
    }
    attrs.exclude_pad = kind.exclude_pad ? QDQ_TRUE : QDQ_FALSE;
    return qdq_avg_pool(g, x, attrs);
}

static void check_case(const pool_case *c, pool_kind kind, qdq_data_format format, qdq_dtype dtype,
                       const float *numbers) {
    static float x[MOST], y[MOST], wanted[MOST];
    static char stored[MOST * 4], result[MOST * 4];
    image in = {format, c->spatial, BATCH, CHANNELS, {0}, x}, out = in;
    int64_t begin[3] = {0};
    for (int i = 0; i < c->spatial; i++) {
        in.size[i] = c->in[i];
        out.size[i] = windows(c, i, kind.max, &begin[i]);
    }
    out.data = wanted;
    size_t count = image_count(&in), results = image_count(&out);
    assert_true(count <= MOST && results <= MOST);
    image_store(dtype, numbers, stored, count);
    qdq_widen_float(dtype, stored, x, count);
    qdq_graph *g = qdq_graph_create("pool", NULL);
    qdq_output(g, "y", add_pool(g, qdq_input(g, "x", dtype, image_shape(&in)), c, kind, format));
    network_tensor input = {"x", dtype, stored, count};
    network_run(g, &input, 1, (network_tensor){"y", dtype, result, results});
    qdq_graph_destroy(g);
    float lowest = dtype == QDQ_FLOAT16 ? -65504 : dtype == QDQ_BFLOAT16 ? -0x1.fep127f : -FLT_MAX;
    for (int64_t n = 0; n < BATCH; n++)
        for (int64_t channel = 0; channel < CHANNELS; channel++)
            for (int64_t flat = 0; flat < image_pixels(&out); flat++) {
                int64_t at[3] = {0};
                image_position(&out, flat, at);
                *image_at(&out, n, channel, at) =
                    pooled(c, kind, &in, begin, n, channel, at, lowest);
            }
    image_store(dtype, wanted, stored, results);
    qdq_widen_float(dtype, stored, wanted, results);
    qdq_widen_float(dtype, result, y, results);
    for (size_t i = 0; i < results; i++)
        if (!(y[i] == wanted[i] || (isnan(y[i]) && isnan(wanted[i]))))
            fail_msg("element %zu is %a, wanted %a", i, (double)y[i], (double)wanted[i]);
}

static void windows_reduce_the_elements_they_cover(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static float numbers[MOST];
    uint64_t random = 9;
    for (size_t i = 0; i < MOST; i++)
        numbers[i] = ldexpf((float)(int32_t)unit_random(&random), (int)(i % 17) - 36);
    for (size_t c = 0; c < UNIT_COUNT(cases); c++)
        for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
            for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
                check_case(&cases[c], kinds[k], QDQ_NCX, dtypes[d], numbers);
                check_case(&cases[c], kinds[k], QDQ_NXC, dtypes[d], numbers);
            }
}

static void nan_and_infinity_pass_through(void **state) {
    (void)state;
    static float numbers[MOST];
    uint64_t random = 9;
    for (size_t i = 0; i < MOST; i++) {
        uint64_t r = unit_random(&random);
        numbers[i] = r % 23 == 0   ? NAN
                     : r % 11 == 0 ? INFINITY
                     : r % 3 == 0  ? -INFINITY
                                   : (float)(r % 100);
    }
    for (size_t c = 0; c < UNIT_COUNT(cases); c++)
        for (size_t k = 0; k < UNIT_COUNT(kinds); k++)
            for (int f = 0; f < 2; f++)
                check_case(&cases[c], kinds[k], (qdq_data_format)f, QDQ_FLOAT32, numbers);
}

// Channels last, with more channels than one pass of lanes takes. NaN has the bits 0x7FC00000, and
// +0 is greater than -0 at any place.
static void many_channels_zeros_and_nan_have_fixed_bits(void **state) {
    (void)state;
    static float x[4 * 600], y[600];
    for (size_t i = 0; i < 600; i++) {
        x[i] = x[1200 + i] = -0.0f, x[600 + i] = i % 2 ? 0.0f : -0.0f;
        x[1800 + i] = i % 5 ? -1.0f : -NAN;
    }
    qdq_graph *g = qdq_graph_create("zeros", NULL);
    qdq_pool_attrs attrs = {.strides = QDQ_INTS(4), .kernel = QDQ_INTS(4)};
    qdq_output(g, "y",
               qdq_max_pool(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 4, 600)), attrs));
    network_tensor input = {"x", QDQ_FLOAT32, x, 2400};
    network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, 600});
    qdq_graph_destroy(g);
    for (size_t i = 0; i < 600; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        assert_int_equal(bits, i % 5 == 0 ? 0x7FC00000 : i % 2 ? 0 : 0x80000000);
    }
}

// The ends of the first row cancel, and swallow the ones between them. The ones of the other rows
// are added afterwards.
static void large_windows_are_added_row_by_row(void **state) {
    (void)state;
    enum { SIZE = 40 };
    static float x[SIZE * SIZE], y[1];
    for (size_t i = 0; i < SIZE * SIZE; i++) x[i] = 1.0f;
    x[0] = 1e20f, x[SIZE - 1] = -1e20f;
    qdq_graph *g = qdq_graph_create("large", NULL);
    qdq_pool_attrs attrs = {
        .strides = QDQ_INTS(1, 1), .kernel = QDQ_INTS(SIZE, SIZE), .exclude_pad = QDQ_FALSE};
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, SIZE, SIZE, 1));
    qdq_output(g, "y", qdq_avg_pool(g, in, attrs));
    network_tensor input = {"x", QDQ_FLOAT32, x, SIZE * SIZE};
    network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, 1});
    qdq_graph_destroy(g);
    assert_true(y[0] == (float)((double)((SIZE - 1) * SIZE) / (SIZE * SIZE)));
}

// int8 or uint8. A window of padding alone gives the least code.
static void check_codes(const pool_case *c, qdq_data_format format, bool is_signed) {
    static float x[MOST], wanted[MOST];
    static uint8_t stored[MOST], result[MOST];
    image in = {format, c->spatial, BATCH, CHANNELS, {0}, x}, out = in;
    int64_t begin[3] = {0};
    uint64_t random = 31;
    for (int i = 0; i < c->spatial; i++) {
        in.size[i] = c->in[i];
        out.size[i] = windows(c, i, true, &begin[i]);
    }
    out.data = wanted;
    size_t count = image_count(&in), results = image_count(&out);
    assert_true(count <= MOST && results <= MOST);
    for (size_t i = 0; i < count; i++) {
        stored[i] = (uint8_t)(unit_random(&random) >> 20);
        x[i] = is_signed ? (float)(int8_t)stored[i] : (float)stored[i];
    }
    qdq_dtype dtype = is_signed ? QDQ_INT8 : QDQ_UINT8;
    qdq_graph *g = qdq_graph_create("codes", NULL);
    qdq_value v = qdq_input(g, "x", dtype, image_shape(&in));
    qdq_output(g, "y", add_pool(g, v, c, (pool_kind){true, false}, format));
    network_tensor input = {"x", dtype, stored, count};
    network_run(g, &input, 1, (network_tensor){"y", dtype, result, results});
    qdq_graph_destroy(g);
    for (int64_t n = 0; n < BATCH; n++)
        for (int64_t channel = 0; channel < CHANNELS; channel++)
            for (int64_t flat = 0; flat < image_pixels(&out); flat++) {
                int64_t at[3] = {0};
                image_position(&out, flat, at);
                *image_at(&out, n, channel, at) =
                    pooled(c, kinds[0], &in, begin, n, channel, at, is_signed ? -128 : 0);
            }
    for (size_t i = 0; i < results; i++)
        assert_int_equal(is_signed ? (int8_t)result[i] : result[i], (int)wanted[i]);
}

static void codes_are_pooled_as_they_are(void **state) {
    (void)state;
    for (size_t c = 0; c < UNIT_COUNT(cases); c++)
        for (int f = 0; f < 2; f++)
            for (int is_signed = 0; is_signed < 2; is_signed++)
                check_codes(&cases[c], (qdq_data_format)f, is_signed);
}

//---- Refusals ---------------------------------------------------------------

static void refuse(qdq_shape x, qdq_pool_attrs attrs, bool max, const char *rule,
                   const char *words) {
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, x);
    attrs.name = "p";
    qdq_output(g, "y", max ? qdq_max_pool(g, in, attrs) : qdq_avg_pool(g, in, attrs));
    network_refuses(g, rule, words);
}

static void wrong_windows_are_refused_with_a_reason(void **state) {
    (void)state;
    qdq_shape x = QDQ_SHAPE(1, 4, 5, 2);
    qdq_pool_attrs attrs = {.strides = QDQ_INTS(1, 1), .kernel = QDQ_INTS(2, 2)};
    refuse(x, attrs, false, "core/attr-required", "node 'p': AvgPool: exclude_pad is missing");
    attrs.exclude_pad = QDQ_FALSE;
    refuse(x, (qdq_pool_attrs){.strides = QDQ_INTS(1, 1)}, true, "core/attr-required",
           "node 'p': MaxPool: kernel is missing");
    refuse(x, (qdq_pool_attrs){.kernel = QDQ_INTS(1, 1)}, true, "core/attr-required",
           "node 'p': MaxPool: strides is missing");
    refuse(QDQ_SHAPE(4, 5), attrs, true, "core/port-shape",
           "x has the shape [4, 5], wanted a batch, channels and 1 to 3 spatial dims");
    attrs.kernel = QDQ_INTS(2, 2, 2);
    refuse(x, attrs, true, "core/attr-value",
           "kernel has 3 entries, wanted 2, one for each spatial dim");
    attrs.kernel = QDQ_INTS(2, 0);
    refuse(x, attrs, true, "core/attr-value", "kernel has 0 at index 1, wanted 1 to 1073741824");
    attrs.kernel = QDQ_INTS(2, 6);
    refuse(x, attrs, false, "core/port-shape",
           "x has 5 elements in spatial dim 1, with padding, wanted at least the 6 that a window "
           "covers");
    attrs.kernel = QDQ_INTS(2, 2);
    attrs.pads_begin = QDQ_INTS(0, -1);
    refuse(x, attrs, false, "core/attr-value",
           "pads_begin has -1 at index 1, wanted 0 to 1073741824");
    attrs.pads_begin = (qdq_ints){0};
    attrs.dilations = QDQ_INTS(4, 1);
    refuse(x, attrs, true, "core/port-shape",
           "x has 4 elements in spatial dim 0, with padding, wanted at least the 5 that a window "
           "covers");
}

static void other_integers_and_means_of_codes_are_refused(void **state) {
    static const qdq_dtype others[] = {QDQ_INT4,  QDQ_UINT4, QDQ_INT16, QDQ_UINT16,
                                       QDQ_INT32, QDQ_INT64, QDQ_BOOL,  QDQ_FLOAT64};
    (void)state;
    qdq_pool_attrs attrs = {.name = "p", .strides = QDQ_INTS(1), .kernel = QDQ_INTS(2)};
    for (size_t i = 0; i < UNIT_COUNT(others); i++) {
        qdq_graph *g = qdq_graph_create("bad", NULL);
        qdq_output(g, "y",
                   qdq_max_pool(g, qdq_input(g, "x", others[i], QDQ_SHAPE(1, 4, 2)), attrs));
        network_refuses(g, "core/port-dtype",
                        "wanted one of: float32, float16, bfloat16, int8, uint8");
    }
    attrs.exclude_pad = QDQ_TRUE;
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_output(g, "y", qdq_avg_pool(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(1, 4, 2)), attrs));
    network_refuses(g, "core/port-dtype", "wanted one of: float32, float16, bfloat16");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_reduce_the_elements_they_cover),
        cmocka_unit_test(nan_and_infinity_pass_through),
        cmocka_unit_test(many_channels_zeros_and_nan_have_fixed_bits),
        cmocka_unit_test(codes_are_pooled_as_they_are),
        cmocka_unit_test(other_integers_and_means_of_codes_are_refused),
        cmocka_unit_test(large_windows_are_added_row_by_row),
        cmocka_unit_test(wrong_windows_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
