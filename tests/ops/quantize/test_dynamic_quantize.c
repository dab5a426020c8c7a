// SPDX-License-Identifier: Apache-2.0
// DynamicQuantize: parameters computed from the data (docs/ops_quantizing.md) at every granularity,
// on shapes whose tiles have padding, and the form with given parameters.
#include <fenv.h>

#include "runtime/base/profile.h"
#include "tests/network.h"
#include "tests/ops/oracle.h"

enum { MOST = 20000 };

// x of `shape` and `dtype` in blocks of `group`; every qtype is written as such blocks.
typedef struct dynamic_case {
    qdq_dtype dtype;
    qdq_shape shape;
    int64_t group[QDQ_MAX_RANK];
    qdq_dynamic_quantize_attrs attrs;
} dynamic_case;

static dynamic_case make_case(qdq_dtype dtype, qdq_shape shape, qdq_dtype to, qdq_scheme scheme) {
    dynamic_case c = {.dtype = dtype, .shape = shape, .attrs.scheme = scheme};
    c.attrs.quantize.dtype = to;
    for (int d = 0; d < shape.rank; d++) c.group[d] = shape.dims[d];
    return c;
}

static void per_channel(dynamic_case *c, int axis) {
    c->attrs.quantize.qtype = QDQ_PER_CHANNEL;
    c->attrs.quantize.axis = QDQ_INT(axis);
    c->group[axis < 0 ? axis + c->shape.rank : axis] = 1;
}

// `given` must outlive the case; its -1 means the whole dim.
static void per_group(dynamic_case *c, const int64_t *given) {
    c->attrs.quantize.qtype = QDQ_PER_GROUP;
    c->attrs.quantize.group_shape = (qdq_ints){given, (size_t)c->shape.rank};
    for (int d = 0; d < c->shape.rank; d++)
        c->group[d] = given[d] < 0 ? c->shape.dims[d] : given[d];
}

// Names the three results of DynamicQuantize.
static void put_out(qdq_graph *g, qdq_value y) {
    qdq_output(g, "y", y);
    qdq_output(g, "s", qdq_port(g, y, "scale"));
    qdq_output(g, "z", qdq_port(g, y, "zero_point"));
}

// The block of element i, both in row-major order.
static size_t block_of(const dynamic_case *c, size_t i) {
    size_t block = 0, step = 1;
    for (int d = c->shape.rank - 1; d >= 0; d--) {
        size_t dim = (size_t)c->shape.dims[d], g = (size_t)c->group[d];
        block += i % dim / g * step;
        i /= dim, step *= (dim + g - 1) / g;
    }
    return block;
}

static size_t block_count(const dynamic_case *c) {
    return block_of(c, qdq_shape_count(c->shape) - 1) + 1;
}

static oracle_range range_of(const dynamic_case *c) {
    qdq_numerics n = {.narrow = c->attrs.quantize.quant_min.set != 0,
                      .quant_min = (int32_t)c->attrs.quantize.quant_min.value,
                      .quant_max = (int32_t)c->attrs.quantize.quant_max.value};
    return oracle_range_of(c->attrs.quantize.dtype, &n);
}

// Runs the case on x in strips and in tiles, and compares with the oracle.
static void check_case(const char *what, const dynamic_case *c, void *x) {
    static double lo[MOST], hi[MOST];
    static float scale[MOST];
    static int32_t zp[MOST], y[MOST];
    size_t count = qdq_shape_count(c->shape), blocks = block_count(c);
    qdq_dtype to = c->attrs.quantize.dtype;
    oracle_range range = range_of(c);
    assert_true(count <= MOST);
    for (size_t b = 0; b < blocks; b++) lo[b] = hi[b] = 0;
    for (size_t i = 0; i < count; i++) {
        double v = oracle_x(c->dtype, x, i);
        size_t b = block_of(c, i);
        if (v < lo[b]) lo[b] = v;
        if (v > hi[b]) hi[b] = v;
    }
    qdq_graph *g = qdq_graph_create(what, NULL);
    qdq_value q = qdq_dynamic_quantize(g, qdq_input(g, "x", c->dtype, c->shape), c->attrs);
    put_out(g, q);
    size_t size = qdq_dtype_size(to);
    oracle_bound bound[] = {{"x", x, count * qdq_dtype_size(c->dtype)},
                            {"y", y, count * size},
                            {"s", scale, blocks * sizeof *scale},
                            {"z", zp, blocks * size}};
    for (int materialize = 0; materialize < 2; materialize++) {
        memset(y, 0x55, sizeof y), memset(scale, 0x55, sizeof scale), memset(zp, 0x55, sizeof zp);
        oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, 4);
        for (size_t b = 0; b < blocks; b++) {
            double eps = c->attrs.eps.set != 0 ? c->attrs.eps.value : 0;
            oracle_side want = oracle_parameters(lo[b], hi[b], c->attrs.scheme, eps, range);
            double z = oracle_at(to, zp, b);
            if ((double)scale[b] != want.scale || z != (double)want.zp)
                fail_msg(
                    "%s, materialize %d, scheme %d to %s, block %zu of %zu in [%.9g, %.9g]: got "
                    "scale %.9g zp %.0f, want %.9g %lld",
                    what, materialize, c->attrs.scheme, qdq_dtype_name(to), b, blocks, lo[b], hi[b],
                    (double)scale[b], z, want.scale, (long long)want.zp);
        }
        for (size_t i = 0; i < count; i++) {
            size_t b = block_of(c, i);
            int64_t z = (int64_t)oracle_at(to, zp, b);
            double v = oracle_x(c->dtype, x, i);
            oracle_check(what, v, (double)scale[b], z, to, oracle_at(to, y, i),
                         oracle_quantize(v, (double)scale[b], z, range, &oracle_core));
        }
    }
    qdq_graph_destroy(g);
}

//---- Data -------------------------------------------------------------------

// The block's number picks its contents: all zero, all -0, one value, NaN among numbers, only NaN,
// one sign only, huge, tiny, wide.
static float value_for(size_t block, uint64_t *seed) {
    uint64_t r = unit_random(seed);
    float unit = (float)(int32_t)(r >> 32) * 0x1p-31f;
    switch (block % 12) {
    case 0: return unit;
    case 1: return 0.0f;
    case 2: return -0.0f;
    case 3: return 2.5f;
    case 4: return -3.0f;
    case 5: return r % 5 ? unit * 7.0f : NAN;
    case 6: return NAN;
    case 7: return fabsf(unit) + 1.0f;
    case 8: return -fabsf(unit) * 100.0f - 0.5f;
    case 9: return unit * 0x1p120f;
    case 10: return unit < 0 ? (unit - 1.0f) * 0x1p-117f : 0.0f;
    default: return r % 64 ? (float)(r % 9) * 0.5f - 2.0f : unit * 1000.0f;
    }
}

// `first` is the contents of block 0.
static void fill(const dynamic_case *c, void *x, size_t first) {
    uint64_t seed = first + 1;
    for (size_t i = 0, n = qdq_shape_count(c->shape); i < n; i++) {
        float v = value_for(block_of(c, i) + first, &seed);
        if (c->dtype == QDQ_FLOAT32) ((float *)x)[i] = v;
        if (c->dtype == QDQ_BFLOAT16)
            ((uint16_t *)x)[i] = oracle_to_bfloat16((double)v, QDQ_BFLOAT16_HALF_EVEN);
        if (c->dtype == QDQ_INT32)
            ((int32_t *)x)[i] = fabsf(v) < 2000.0f ? (int32_t)(v * 1e6f) : INT32_MAX - (int32_t)i;
    }
}

static const qdq_dtype x_dtypes[3] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_INT32};

// All x dtypes, result dtypes and schemes for one granularity.
static void check_all(const char *what, qdq_shape shape, int axis, const int64_t *group) {
    static float x[MOST];
    for (unsigned k = 0; k < 18; k++) {
        dynamic_case c = make_case(x_dtypes[k % 3], shape, oracle_dtypes[k / 3 % 3],
                                   k / 9 ? QDQ_SYMMETRIC : QDQ_ASYMMETRIC);
        if (group) per_group(&c, group);
        if (!group && axis < 9) per_channel(&c, axis);
        for (size_t first = 0; first < (block_count(&c) > 11 ? 1 : 12); first += block_count(&c)) {
            fill(&c, x, first);
            check_case(what, &c, x);
        }
    }
}

//---- Computed parameters ----------------------------------------------------

static void per_tensor_parameters_equal_the_oracle_whatever_the_padding(void **state) {
    (void)state;
    static const qdq_shape shapes[] = {{3, {3, 33, 65}}, {1, {1000}}, {5, {2, 2, 1, 3, 5}},
                                       {2, {33, 1}},     {1, {1}},    {0, {0}}};
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) check_all("per tensor", shapes[i], 9, NULL);
}

static void per_channel_parameters_equal_the_oracle_on_every_axis(void **state) {
    (void)state;
    for (int axis = -3; axis < 3; axis++) check_all("channel", QDQ_SHAPE(3, 33, 65), axis, NULL);
    for (int axis = 0; axis < 3; axis++) check_all("channel", QDQ_SHAPE(40, 5, 37), axis, NULL);
    check_all("channel", QDQ_SHAPE(77), 0, NULL);
    for (int axis = 0; axis < 4; axis++) check_all("channel", QDQ_SHAPE(2, 3, 5, 7), axis, NULL);
}

static void per_group_parameters_equal_the_oracle_with_ragged_blocks(void **state) {
    (void)state;
    static const int64_t groups[][3] = {{2, 10, 32}, {1, 1, 65}, {1, 32, 32}, {-1, 7, -1},
                                        {3, 33, 64}, {1, 1, 1},  {1, 33, 2},  {2, -1, 17},
                                        {3, 16, 16}, {1, 1, 31}};
    for (size_t i = 0; i < UNIT_COUNT(groups); i++)
        check_all("group", QDQ_SHAPE(3, 33, 65), 9, groups[i]);
    check_all("group", QDQ_SHAPE(100), 9, (const int64_t[]){32});
    check_all("group", QDQ_SHAPE(2, 3, 5, 7), 9, (const int64_t[]){2, 2, 2, 3});
}

static void eps_is_the_least_scale(void **state) {
    (void)state;
    static float x[MOST];
    for (int k = 0; k < 4; k++) {
        dynamic_case c = make_case(QDQ_FLOAT32, QDQ_SHAPE(40, 33), oracle_dtypes[k % 2],
                                   k / 2 ? QDQ_SYMMETRIC : QDQ_ASYMMETRIC);
        per_channel(&c, 0);
        c.attrs.eps = QDQ_FLOAT(0.03125);
        for (size_t i = 0; i < 40 * 33; i++)
            x[i] = ldexpf((float)(i % 33) - 11.0f, (int)(i / 33) % 20 - 10);
        check_case("eps", &c, x);
    }
}

static void the_range_is_spread_over_quant_min_and_max(void **state) {
    (void)state;
    static float x[MOST];
    static const int64_t ranges[][2] = {{-127, 127}, {-8, 7}, {0, 100}, {-100, 0}};
    for (size_t k = 0; k < 7; k++) {
        dynamic_case c = make_case(QDQ_FLOAT32, QDQ_SHAPE(12, 50), QDQ_INT8,
                                   k < 4 ? QDQ_ASYMMETRIC : QDQ_SYMMETRIC);
        per_channel(&c, 0);
        c.attrs.quantize.quant_min = QDQ_INT(ranges[k % 4][0]);
        c.attrs.quantize.quant_max = QDQ_INT(ranges[k % 4][1]);
        fill(&c, x, 0);
        check_case("range", &c, x);
    }
}

// The tile padding of the intermediate value is (anything - 100) * 1; if it counted, lo would fall
// below 0.
static void tile_padding_never_counts(void **state) {
    (void)state;
    enum { COUNT = 3 * 33 * 65 };
    static int8_t x[COUNT];
    static uint8_t y[COUNT];
    for (size_t i = 0; i < COUNT; i++) x[i] = (int8_t)(110 + i % 17);
    for (unsigned k = 0; k < 8; k++) {
        float s = 0;
        uint8_t z = 0x55;
        qdq_graph *g = qdq_graph_create("padding", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(3, 33, 65));
        v = qdq_dequantize(g, v,
                           (qdq_dequantize_attrs){.scales = QDQ_SCALE(k & 4 ? -1.0f : 1.0f),
                                                  .zps = QDQ_ZP(100),
                                                  .dtype = k & 1 ? QDQ_FLOAT32 : QDQ_BFLOAT16});
        v = qdq_dynamic_quantize(g, v, (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8});
        put_out(g, v);
        oracle_bound bound[] = {
            {"x", x, sizeof x}, {"y", y, sizeof y}, {"s", &s, sizeof s}, {"z", &z, sizeof z}};
        oracle_run(g, &(qdq_compile_options){.materialize = k & 2}, bound, 4);
        qdq_graph_destroy(g);
        assert_true(s == 26.0f / 255.0f);
        assert_int_equal(z, k & 4 ? 255 : 0);
        for (size_t i = 0; i < COUNT; i++) {
            double real = (x[i] - 100) * (k & 4 ? -1.0 : 1.0);
            oracle_check("padding", real, (double)s, z, QDQ_UINT8, y[i],
                         oracle_quantize(real, (double)s, z,
                                         oracle_range_of(QDQ_UINT8, &oracle_core), &oracle_core));
        }
    }
}

//---- By hand ----------------------------------------------------------------

static void rows_measured_on_onnx_runtime_come_out(void **state) {
    (void)state;
    static const struct {
        size_t count;
        float x[8], scale;
        int zp;
        uint8_t y[8];
    } rows[] = {
        {8, {0}, 1.0f, 0, {0}},
        {8, {NAN, 1, 2, 3, 4, 5, 6, 7}, 7.0f / 255, 0, {0, 36, 73, 109, 146, 182, 219, 255}},
        {8, {1, 1, 1, 1, 1, 1, 1, 1}, 1.0f / 255, 0, {255, 255, 255, 255, 255, 255, 255, 255}},
        {8, {-3, -2, -2.5f, -1, 0, 1, 2, 2}, 5.0f / 255, 153, {0, 51, 26, 102, 153, 204, 255, 255}},
        {3, {2, -2.5f, -3}, 5.0f / 255, 153, {255, 26, 0}},
    };
    for (size_t r = 0; r < UNIT_COUNT(rows); r++) {
        float x[8], s;
        uint8_t y[8], z;
        memcpy(x, rows[r].x, sizeof x);
        qdq_graph *g = qdq_graph_create("ort", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)rows[r].count));
        v = qdq_dynamic_quantize(g, v, (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8});
        put_out(g, v);
        oracle_bound bound[] = {{"x", x, rows[r].count * sizeof *x},
                                {"y", y, rows[r].count},
                                {"s", &s, sizeof s},
                                {"z", &z, sizeof z}};
        oracle_run(g, NULL, bound, 4);
        assert_true(s == rows[r].scale);
        assert_int_equal(z, rows[r].zp);
        assert_memory_equal(y, rows[r].y, rows[r].count);
        qdq_graph_destroy(g);
    }
}

// Results of ONNX Runtime 1.20.1 and 1.32.0; the core's scale is 1.
static void a_scale_that_underflows_stays_0_in_onnx_runtime(void **state) {
    (void)state;
    static const char *const targets[] = {"core", QDQ_FULL("onnx", "ort")};
    static const struct {
        uint32_t x[4];
        uint8_t y[4];
    } rows[] = {
        {{1, 0x80000001, 0, 0}, {255, 0, 0, 0}},
        {{1, 0, 0, 0}, {255, 0, 0, 0}},
        {{0x80000001, 0, 0, 0}, {0, 0, 0, 0}},
        {{5, 0x80000030, 7, 0}, {255, 0, 255, 0}},
    };
    for (size_t i = 0; i < UNIT_COUNT(targets) * UNIT_COUNT(rows); i++) {
        bool core = i % UNIT_COUNT(targets) == 0;
        size_t row = i / UNIT_COUNT(targets);
        uint32_t x[4];
        float s;
        uint8_t y[4], z;
        memcpy(x, rows[row].x, sizeof x);
        qdq_graph *g = qdq_graph_create(
            "tiny", &(qdq_graph_options){.target = targets[i % UNIT_COUNT(targets)]});
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(4));
        put_out(g, qdq_dynamic_quantize(g, v,
                                        (qdq_dynamic_quantize_attrs){.quantize.dtype = QDQ_UINT8}));
        oracle_bound bound[] = {
            {"x", x, sizeof x}, {"y", y, sizeof y}, {"s", &s, sizeof s}, {"z", &z, sizeof z}};
        oracle_run(g, NULL, bound, 4);
        assert_true(s == (core ? 1.0f : 0.0f));
        assert_int_equal(z, core ? 0 : 255);
        for (size_t e = 0; e < 4; e++) assert_int_equal(y[e], core ? 0 : rows[row].y[e]);
        qdq_graph_destroy(g);
    }
}

static void computed_parameters_do_not_depend_on_the_rounding_mode_of_the_caller(void **state) {
    (void)state;
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static float x[64 * 64];
    static struct {
        int8_t y[64 * 64], z[64];
        float s[64];
    } out, first;
    for (size_t i = 0; i < UNIT_COUNT(x); i++) x[i] = (float)(i * 31 % 4001) * 0.3f - 100.0f;
    qdq_graph *g = qdq_graph_create("mode", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(64, 64));
    qdq_dynamic_quantize_attrs attrs = {.quantize.qtype = QDQ_PER_CHANNEL};
    put_out(g, qdq_dynamic_quantize(g, v, attrs));
    oracle_bound bound[] = {{"x", x, sizeof x},
                            {"y", out.y, sizeof out.y},
                            {"s", out.s, sizeof out.s},
                            {"z", out.z, sizeof out.z}};
    for (int k = 0; k < 8; k++) {
        fesetround(modes[k % 4]);
        oracle_run(g, &(qdq_compile_options){.materialize = k / 4}, bound, 4);
        int kept = fegetround();
        fesetround(FE_TONEAREST);
        assert_int_equal(kept, modes[k % 4]);
        if (k == 0) first = out;
        for (size_t i = 0; i < 64; i++) {
            if (out.s[i] != first.s[i] || out.z[i] != first.z[i])
                fail_msg("mode %x, channel %zu: got scale %.9g zp %d, want %.9g %d",
                         (unsigned)modes[k % 4], i, (double)out.s[i], out.z[i], (double)first.s[i],
                         first.z[i]);
        }
        assert_memory_equal(out.y, first.y, sizeof out.y);
    }
    qdq_graph_destroy(g);
}

//---- Given parameters -------------------------------------------------------

// Scales, and zero points of dtype `zps`, are inputs; the op then has the single output y.
static void check_given(dynamic_case c, qdq_dtype zps, bool wide_scale, bool materialize) {
    static float x[MOST], s[MOST];
    static uint16_t half[MOST];
    static int32_t z[MOST], y[MOST];
    size_t count = qdq_shape_count(c.shape), blocks = block_count(&c);
    qdq_dtype to = c.attrs.quantize.dtype, scale = wide_scale ? QDQ_FLOAT32 : QDQ_BFLOAT16;
    qdq_shape shape = {0};  // of the parameters: [], [dim] or the shape of the block grid
    if (c.attrs.quantize.qtype == QDQ_PER_CHANNEL) shape = QDQ_SHAPE((int64_t)blocks);
    if (c.attrs.quantize.qtype == QDQ_PER_GROUP) {
        shape.rank = c.shape.rank;
        for (int d = 0; d < shape.rank; d++)
            shape.dims[d] = (c.shape.dims[d] + c.group[d] - 1) / c.group[d];
    }
    fill(&c, x, 5);
    for (size_t b = 0; b < blocks; b++) {
        half[b] = oracle_to_bfloat16((double)oracle_scale(b * 3 % 20), QDQ_BFLOAT16_HALF_EVEN);
        s[b] = wide_scale ? oracle_scale(b * 3 % 20) : (float)oracle_of_bfloat16(half[b]);
        int32_t value = (int32_t)(b * 11 % 200) - (zps == QDQ_UINT8 ? 0 : 100);
        if (zps == QDQ_INT32) z[b] = value * 3;
        if (zps != QDQ_INT32) ((uint8_t *)z)[b] = (uint8_t)value;
    }
    qdq_graph *g = qdq_graph_create("given", NULL);
    c.attrs.quantize.scale = qdq_input(g, "s", scale, shape);
    c.attrs.quantize.zero_point = qdq_input(g, "z", zps, shape);
    qdq_value q = qdq_dynamic_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, c.shape), c.attrs);
    assert_int_equal(qdq_port(g, q, "scale").id, 0);
    qdq_output(g, "y", q);
    oracle_bound bound[] = {{"x", x, count * sizeof *x},
                            {"s", wide_scale ? (void *)s : half, blocks * qdq_dtype_size(scale)},
                            {"z", z, blocks * qdq_dtype_size(zps)},
                            {"y", y, count * qdq_dtype_size(to)}};
    oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, 4);
    for (size_t i = 0; i < count; i++) {
        size_t b = block_of(&c, i);
        int64_t zp = (int64_t)oracle_at(zps, z, b);
        oracle_check("given", (double)x[i], (double)s[b], zp, to, oracle_at(to, y, i),
                     oracle_quantize((double)x[i], (double)s[b], zp, range_of(&c), &oracle_core));
    }
    qdq_graph_destroy(g);
}

static void given_parameters_of_any_dtype_quantize_as_quantize_does(void **state) {
    (void)state;
    static const int64_t group[3] = {2, 10, 32};
    for (unsigned k = 0; k < 3 * 3 * 5 * 2; k++) {
        dynamic_case c =
            make_case(QDQ_FLOAT32, QDQ_SHAPE(3, 33, 65), oracle_dtypes[k / 3 % 3], QDQ_ASYMMETRIC);
        if (k / 9 % 5 < 3) per_channel(&c, (int)(k / 9 % 5));
        if (k / 9 % 5 == 3) per_group(&c, group);
        check_given(c, oracle_dtypes[k % 3], k % 2, k / 45);
    }
}

// The computed scale is 127 / 127 or 129 / 127, of which the second is rounded to bfloat16 before x
// is divided by it.
static void a_computed_scale_has_the_dtype_of_its_storage(void **state) {
    (void)state;
    enum { ROWS = 37 };
    static float x[ROWS * 2], y[ROWS * 2];
    for (size_t i = 0; i < ROWS; i++) x[2 * i] = i & 1 ? 129 : 127, x[2 * i + 1] = -3;
    qdq_graph *g = qdq_graph_create("storage", NULL);
    qdq_quantize_attrs rows = {.qtype = QDQ_PER_CHANNEL, .axis = QDQ_INT(0)};
    qdq_dynamic_quantize_attrs attrs = {.quantize = rows, .scheme = QDQ_SYMMETRIC};
    attrs.quantize.dtype = QDQ_INT8;
    qdq_value q =
        qdq_dynamic_quantize(g, qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(ROWS, 2)), attrs);
    rows.scale = qdq_port(g, q, "scale"), rows.dtype = QDQ_FLOAT32;
    qdq_output(g, "y", qdq_dequantize(g, q, rows));
    network_tensor in = {"x", QDQ_FLOAT32, x, UNIT_COUNT(x)};
    for (int materialize = 0; materialize < 2; materialize++) {
        qdq_compile_options options = {.float_storage = QDQ_FLOAT_BFLOAT16,
                                       .materialize = materialize};
        network_run_once(g, &options, NULL, &in, 1,
                         &(network_tensor){"y", QDQ_FLOAT32, y, UNIT_COUNT(y)});
        for (size_t i = 0; i < ROWS; i++) {
            float scale = i & 1 ? 1.015625F : 1;  // 130 / 128
            assert_true(y[2 * i] == 127 * scale && y[2 * i + 1] == -3 * scale);
        }
    }
    qdq_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(per_tensor_parameters_equal_the_oracle_whatever_the_padding),
        cmocka_unit_test(per_channel_parameters_equal_the_oracle_on_every_axis),
        cmocka_unit_test(per_group_parameters_equal_the_oracle_with_ragged_blocks),
        cmocka_unit_test(eps_is_the_least_scale),
        cmocka_unit_test(the_range_is_spread_over_quant_min_and_max),
        cmocka_unit_test(tile_padding_never_counts),
        cmocka_unit_test(rows_measured_on_onnx_runtime_come_out),
        cmocka_unit_test(a_scale_that_underflows_stays_0_in_onnx_runtime),
        cmocka_unit_test(computed_parameters_do_not_depend_on_the_rounding_mode_of_the_caller),
        cmocka_unit_test(a_computed_scale_has_the_dtype_of_its_storage),
        cmocka_unit_test(given_parameters_of_any_dtype_quantize_as_quantize_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
