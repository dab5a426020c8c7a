// SPDX-License-Identifier: Apache-2.0
// Interpolate against a sum over all corners with exact positions, and hand-computed examples.
#include <math.h>

#include "tests/network.h"
#include "tests/ops/images.h"

typedef struct interpolate_case {
    int spatial;
    int64_t in[3], out[3];
    float scales[3];  // all 0: sizes are given instead
} interpolate_case;

static const interpolate_case cases[] = {
    {1, {5}, {12}, {0}},
    {1, {12}, {5}, {0}},
    {1, {1}, {7}, {0}},
    {1, {7}, {1}, {0}},
    {1, {300}, {300}, {0}},
    {1, {7}, {70}, {0}},
    {2, {4, 6}, {8, 12}, {2, 2}},
    {2, {4, 6}, {6, 15}, {1.5f, 2.6f}},
    {2, {9, 7}, {4, 3}, {0.5f, 0.5f}},
    {2, {13, 11}, {17, 5}, {0}},
    {2, {1, 11}, {3, 1}, {0}},
    {3, {3, 4, 5}, {5, 4, 9}, {0}},
    {3, {3, 4, 5}, {2, 7, 3}, {0}},
};

enum { BATCH = 2, CHANNELS = 67, MOST = 41000 };

// The position in x of an output element, as a fraction of small integers.
static double position_of(int64_t in, int64_t out, int64_t o, qdq_coordinates by) {
    if (by == QDQ_ASYMMETRIC_POSITIONS) return (double)(o * in) / (double)out;
    if (by == QDQ_ALIGN_CORNERS) return out == 1 ? 0 : (double)(o * (in - 1)) / (double)(out - 1);
    return (double)((2 * o + 1) * in) / (double)(2 * out) - 0.5;
}

static double between(double low, double v, double high) {
    return v < low ? low : v > high ? high : v;
}

// oneDNN Graph's linear Interpolate: the weight of a corner is the product of its weights along
// each dim.
static double interpolated(const interpolate_case *c, const image *x, bool nearest,
                           qdq_coordinates by, int64_t n, int64_t channel, const int64_t *o) {
    double at[3] = {0}, sum = 0;
    int64_t corner[3] = {0};
    for (int i = 0; i < c->spatial; i++) {
        at[i] = position_of(c->in[i], c->out[i], o[i], by);
        corner[i] = (int64_t)between(0, round(at[i]), (double)(c->in[i] - 1));
        at[i] = between(0, at[i], (double)(c->in[i] - 1));
    }
    if (nearest) return (double)image_get(x, n, channel, corner);
    for (int mask = 0; mask < 1 << c->spatial; mask++) {
        double weight = 1;
        for (int i = 0; i < c->spatial; i++) {
            double part = at[i] - floor(at[i]);
            corner[i] = (int64_t)floor(at[i]) + (mask >> i & 1);
            weight *= mask >> i & 1 ? part : 1 - part;
        }
        if (weight > 0) sum += weight * (double)image_get(x, n, channel, corner);
    }
    return sum;
}

static qdq_value add_interpolate(qdq_graph *g, qdq_value x, const interpolate_case *c,
                                 qdq_interpolate_mode mode, qdq_coordinates by,
                                 qdq_data_format format) {
    size_t n = (size_t)c->spatial;
    qdq_interpolate_attrs attrs = {.name = "i",
                                   .mode = QDQ_MODE(mode),
                                   .coordinate_transformation_mode = by,
                                   .data_format = format};
    if (c->scales[0] > 0)
        attrs.scales = (qdq_floats){c->scales, n, false};
    else
        attrs.sizes = (qdq_ints){c->out, n};
    return qdq_interpolate(g, x, attrs);
}

static void check_case(const interpolate_case *c, qdq_interpolate_mode mode, qdq_coordinates by,
                       qdq_data_format format, qdq_dtype dtype) {
    static float numbers[MOST], x[MOST], y[MOST];
    static char stored[MOST * 4], result[MOST * 4];
    uint64_t random = 77;
    for (size_t i = 0; i < MOST; i++)
        numbers[i] = (float)(unit_random(&random) % 20001) / 100 - 100;
    image in = {format, c->spatial, BATCH, CHANNELS, {0}, x}, out = in;
    for (int i = 0; i < c->spatial; i++) in.size[i] = c->in[i], out.size[i] = c->out[i];
    out.data = y;
    size_t count = image_count(&in), results = image_count(&out);
    assert_true(count <= MOST && results <= MOST);
    image_store(dtype, numbers, stored, count);
    qdq_widen_float(dtype, stored, x, count);
    qdq_graph *g = qdq_graph_create("interpolate", NULL);
    qdq_value v =
        add_interpolate(g, qdq_input(g, "x", dtype, image_shape(&in)), c, mode, by, format);
    qdq_output(g, "y", v);
    network_tensor input = {"x", dtype, stored, count};
    network_run(g, &input, 1, (network_tensor){"y", dtype, result, results});
    qdq_graph_destroy(g);
    qdq_widen_float(dtype, result, y, results);
    // Positions are float32, so weights are off by up to 2^-20 here; elements differ by up to 200.
    double slack = mode == QDQ_NEAREST ? 0 : 200 * 0x1p-20;
    double ulp = dtype == QDQ_FLOAT32 ? 0x1p-24 : dtype == QDQ_FLOAT16 ? 0x1p-11 : 0x1p-8;
    for (int64_t n = 0; n < BATCH; n++)
        for (int64_t channel = 0; channel < CHANNELS; channel++)
            for (int64_t flat = 0; flat < image_pixels(&out); flat++) {
                int64_t at[3] = {0};
                image_position(&out, flat, at);
                double wanted = interpolated(c, &in, mode == QDQ_NEAREST, by, n, channel, at);
                double is = (double)image_get(&out, n, channel, at);
                double off = mode == QDQ_NEAREST ? 0 : slack + fabs(wanted) * ulp;
                if (!(fabs(is - wanted) <= off)) fail_msg("%a, wanted %a", is, wanted);
            }
}

static void elements_are_nearest_or_means_of_neighbours(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    uint64_t turn = 0;
    for (size_t c = 0; c < UNIT_COUNT(cases); c++)
        for (qdq_interpolate_mode mode = QDQ_NEAREST; mode <= QDQ_TRILINEAR; mode++)
            for (qdq_coordinates by = QDQ_HALF_PIXEL; by <= QDQ_ASYMMETRIC_POSITIONS; by++)
                for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
                    if (unit_left_out(turn++)) continue;
                    check_case(&cases[c], mode, by, QDQ_NCX, dtypes[d]);
                    check_case(&cases[c], mode, by, QDQ_NXC, dtypes[d]);
                }
}

static void check_codes(const interpolate_case *c, qdq_coordinates by, qdq_data_format format,
                        bool is_signed) {
    static float x[MOST], y[MOST];
    static uint8_t stored[MOST], result[MOST];
    qdq_dtype dtype = is_signed ? QDQ_INT8 : QDQ_UINT8;
    uint64_t random = 78;
    image in = {format, c->spatial, BATCH, CHANNELS, {0}, x}, out = in;
    for (int i = 0; i < c->spatial; i++) in.size[i] = c->in[i], out.size[i] = c->out[i];
    out.data = y;
    size_t count = image_count(&in), results = image_count(&out);
    assert_true(count <= MOST && results <= MOST);
    for (size_t i = 0; i < count; i++) {
        stored[i] = (uint8_t)(unit_random(&random) >> 20);
        x[i] = is_signed ? (float)(int8_t)stored[i] : (float)stored[i];
    }
    qdq_graph *g = qdq_graph_create("codes", NULL);
    qdq_value v = qdq_input(g, "x", dtype, image_shape(&in));
    qdq_output(g, "y", add_interpolate(g, v, c, QDQ_NEAREST, by, format));
    network_tensor input = {"x", dtype, stored, count};
    network_run(g, &input, 1, (network_tensor){"y", dtype, result, results});
    qdq_graph_destroy(g);
    for (size_t i = 0; i < results; i++)
        y[i] = is_signed ? (float)(int8_t)result[i] : (float)result[i];
    for (int64_t n = 0; n < BATCH; n++)
        for (int64_t channel = 0; channel < CHANNELS; channel++)
            for (int64_t flat = 0; flat < image_pixels(&out); flat++) {
                int64_t at[3] = {0};
                image_position(&out, flat, at);
                assert_int_equal((int)image_get(&out, n, channel, at),
                                 (int)interpolated(c, &in, true, by, n, channel, at));
            }
}

static void codes_are_copied_from_the_nearest(void **state) {
    (void)state;
    for (size_t c = 0; c < UNIT_COUNT(cases); c++)
        for (int way = 0; way < 12; way++)
            check_codes(&cases[c], (qdq_coordinates)(way / 4), way & 2 ? QDQ_NCX : QDQ_NXC,
                        way & 1);
}

// One channel has the same memory layout in both formats.
static void run_line(const float *x, size_t in, float *y, size_t out, qdq_interpolate_mode mode,
                     qdq_coordinates by) {
    interpolate_case c = {1, {(int64_t)in}, {(int64_t)out}, {0}};
    float other[16];
    assert_true(out <= UNIT_COUNT(other));
    for (int last = 0; last < 2; last++) {
        qdq_graph *g = qdq_graph_create("line", NULL);
        qdq_shape shape = last ? QDQ_SHAPE(1, (int64_t)in, 1) : QDQ_SHAPE(1, 1, (int64_t)in);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shape);
        qdq_output(g, "y", add_interpolate(g, v, &c, mode, by, last ? QDQ_NXC : QDQ_NCX));
        network_tensor input = {"x", QDQ_FLOAT32, (void *)(uintptr_t)x, in};
        network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, last ? other : y, out});
        qdq_graph_destroy(g);
    }
    assert_memory_equal(other, y, out * sizeof *y);
}

// 4 to 2: positions 0.5 and 2.5; halves round away from zero. 3 to 5 with align_corners: 0, 0.5, 1,
// ...
static void positions_halfway_are_rounded_up(void **state) {
    (void)state;
    static const float x[] = {1, 2, 4, 8};
    float y[5];
    run_line(x, 4, y, 2, QDQ_NEAREST, QDQ_HALF_PIXEL);
    assert_memory_equal(y, ((float[]){2, 8}), 8);
    run_line(x, 4, y, 2, QDQ_LINEAR, QDQ_HALF_PIXEL);
    assert_memory_equal(y, ((float[]){1.5f, 6}), 8);
    run_line(x, 3, y, 5, QDQ_NEAREST, QDQ_ALIGN_CORNERS);
    assert_memory_equal(y, ((float[]){1, 2, 2, 4, 4}), 20);
    run_line(x, 3, y, 5, QDQ_LINEAR, QDQ_ALIGN_CORNERS);
    assert_memory_equal(y, ((float[]){1, 1.5f, 2, 3, 4}), 20);
    run_line(x, 2, y, 4, QDQ_LINEAR, QDQ_HALF_PIXEL);
    assert_memory_equal(y, ((float[]){1, 1.25f, 1.75f, 2}), 16);
    run_line(x, 2, y, 4, QDQ_LINEAR, QDQ_ASYMMETRIC_POSITIONS);
    assert_memory_equal(y, ((float[]){1, 1.5f, 2, 2}), 16);
    run_line(x, 3, y, 5, QDQ_NEAREST, QDQ_ASYMMETRIC_POSITIONS);  // 0, 0.6, 1.2, 1.8, 2.4
    assert_memory_equal(y, ((float[]){1, 2, 2, 4, 4}), 20);
}

// An element with weight 0 does not count, even if it is infinite; the sign of zero is kept.
static void infinity_affects_only_results_that_weigh_it(void **state) {
    (void)state;
    static const float x[] = {-0.0f, INFINITY, NAN, 3};
    float y[4];
    uint32_t bits[4];
    run_line(x, 4, y, 4, QDQ_LINEAR, QDQ_HALF_PIXEL);
    memcpy(bits, y, sizeof bits);
    assert_memory_equal(bits, ((uint32_t[]){0x80000000, 0x7F800000, 0x7FC00000, 0x40400000}), 16);
}

//---- Refusals ---------------------------------------------------------------

static void refuse(qdq_interpolate_attrs attrs, const char *rule, const char *words) {
    qdq_graph *g = qdq_graph_create("bad", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(1, 4, 5, 2));
    attrs.name = "i";
    qdq_output(g, "y", qdq_interpolate(g, x, attrs));
    network_refuses(g, rule, words);
}

static void wrong_sizes_are_refused_with_a_reason(void **state) {
    (void)state;
    qdq_interpolate_attrs attrs = {.sizes = QDQ_INTS(3, 3)};
    refuse(attrs, "core/attr-required", "node 'i': Interpolate: mode is missing");
    attrs.mode = QDQ_MODE(QDQ_LINEAR);
    attrs.scales = QDQ_SCALES(1, 1);
    refuse(attrs, "core/attr-required",
           "sizes is given, and scales as well, wanted one of the two");
    attrs.sizes = (qdq_ints){0};
    attrs.scales = QDQ_SCALES(1, 0.125f);
    refuse(attrs, "core/attr-value",
           "scales has 0.125 at index 1, wanted one that makes 1 to 2^30 elements of 5");
    attrs.scales = QDQ_SCALES(1, NAN);
    refuse(attrs, "core/attr-value", "wanted one that makes 1 to 2^30 elements of 5");
    attrs.scales = QDQ_SCALE(2);
    refuse(attrs, "core/attr-value", "scales has 1 entries, wanted 2, one for each spatial dim");
    attrs.scales = (qdq_floats){0};
    refuse(attrs, "core/attr-required", "sizes is missing, and scales too, wanted one of the two");
    attrs.sizes = QDQ_INTS(3, 0);
    refuse(attrs, "core/attr-value", "sizes has 0 at index 1, wanted 1 to 1073741824");
    attrs.sizes = QDQ_INTS(3, 3, 3);
    refuse(attrs, "core/attr-value", "sizes has 3 entries, wanted 2, one for each spatial dim");
}

static void means_of_codes_are_refused(void **state) {
    (void)state;
    for (qdq_interpolate_mode mode = QDQ_LINEAR; mode <= QDQ_TRILINEAR; mode++) {
        qdq_graph *g = qdq_graph_create("bad", NULL);
        qdq_value x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(1, 4, 5, 2));
        qdq_interpolate_attrs attrs = {
            .name = "i", .mode = QDQ_MODE(mode), .sizes = QDQ_INTS(3, 3)};
        qdq_output(g, "y", qdq_interpolate(g, x, attrs));
        network_refuses(g, "core/port-dtype",
                        "node 'i': Interpolate: x is uint8, wanted a float unless mode is nearest");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_nearest_or_means_of_neighbours),
        cmocka_unit_test(positions_halfway_are_rounded_up),
        cmocka_unit_test(infinity_affects_only_results_that_weigh_it),
        cmocka_unit_test(codes_are_copied_from_the_nearest),
        cmocka_unit_test(means_of_codes_are_refused),
        cmocka_unit_test(wrong_sizes_are_refused_with_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
