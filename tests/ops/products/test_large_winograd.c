// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution (ops/products/winograd/), on shapes whose tiles, k and output channels
// cross their blocks twice. Codes are convolved in integers. Small integers make all of its sums
// exact, so that they give the bits of the graph. Sums that round must have the bits of plain loops
// over its formula, and lie within the bound of docs/ops_neural_network.md.
#include <float.h>

#include "ops/conv/winograd/conv_winograd.h"
#include "tests/ops/products/run_convolutions.h"

enum {
    SIDE = QDQ_WINOGRAD_SIDE,
    POINTS = QDQ_WINOGRAD_POINTS,
    TILES = QDQ_WINOGRAD_TILES,
    OUTPUTS = QDQ_WINOGRAD_OUTPUTS,
    LEAST = QDQ_WINOGRAD_LEAST_CHANNELS,
    ALL_K = QDQ_WINOGRAD_AREA / TILES,        // most k of a block for as many tiles
    FEW_K = QDQ_WINOGRAD_AREA / (TILES / 2),  // and for half of them
    GROUP = QDQ_WINOGRAD_GROUP,
};

static const large_way ways[] = {
    {1, false, true, 1u << W},
    {2, false, true, ~1u},
    {3, false, true, 1u << W},
};

typedef struct shape {
    int spatial;
    int64_t in[DIMS], begin[DIMS], end[DIMS], batch, groups;
    size_t inputs, outputs;  // of a group
} shape;

static const shape shapes[] = {
    // A row has several parts; the last one has an odd width.
    {2, {9, 4 * TILES + 23}, {1, 1}, {1, 1}, 1, 1, LEAST, LEAST},
    {2, {5, 2 * TILES - 2}, {1, 1}, {1, 1}, 2, 1, LEAST + 1, GROUP + 1},
    // Several rows a unit, in one panel and in two.
    {2, {29, 28}, {1, 1}, {1, 1}, 1, 1, 2 * ALL_K + 3, 2 * ALL_K + 5},
    {2, {14, 13}, {1, 1}, {1, 1}, 1, 1, 2 * FEW_K + 7, OUTPUTS + 1},
    {2, {25, 20}, {0, 1}, {1, 0}, 1, 2, ALL_K + 1, 2 * GROUP + 1},
    {2, {12, 11}, {2, 3}, {3, 0}, 1, 1, FEW_K / 4, 2 * OUTPUTS + 3},
    {2, {61, 3}, {1, 1}, {1, 1}, 3, 2, LEAST, 2 * GROUP},
    {2, {63, 64}, {0, 0}, {0, 0}, 1, 1, 2 * LEAST, 2 * LEAST},
    {3, {3, 15, 17}, {0, 1, 1}, {0, 1, 1}, 2, 1, ALL_K / 2 + 1, LEAST + 5},
};

static void set_shape(example *e, const shape *s) {
    static const int64_t kernels[2][DIMS] = {{3, 3}, {1, 3, 3}};
    set_dims(e, s->spatial, s->in, kernels[s->spatial - 2]);
    e->batch = s->batch, e->format = QDQ_NCX;
    for (int d = 0; d < s->spatial; d++) e->begin[d] = s->begin[d], e->end[d] = s->end[d];
    set_channels(e, s->groups, s->inputs, s->outputs);
}

//---- Exact sums -----------------------------------------------------------------

static void integers_have_the_bits_of_the_graph(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
        uint64_t random = large_state(i);
        window p = WINDOW_OF_FLOATS;
        set_shape(&p.e, &shapes[i]);
        p.e.spatial_last = i % 3 != 1;
        p.block = 5;
        set_link(&p, i);
        make(&p, &random);
        for (size_t n = 0; n < isa_count; n++) run(&p, isas[n], ways[turn++ % UNIT_COUNT(ways)]);
        destroy(&p);
    }
}

//---- Codes ----------------------------------------------------------------------

static const window of_codes[] = {
    WINDOW_OF_BYTES,
    {.name = "int8 codes and zero points",
     .kind = CODES,
     .x = I8,
     .w = I8,
     .real = F32,
     .size = 1,
     .zeros = true,
     .wide = true},
    {.name = "ConvInteger", .kind = INTEGERS, .x = U8, .w = I8, .size = 1, .wide = true},
    {.name = "QLinearConv",
     .kind = QLINEAR,
     .x = U8,
     .w = I8,
     .size = 1,
     .blocks = PER_COLUMN,
     .zeros = true,
     .wide = true},
};

// Odd sizes have the least and the greatest codes.
static void codes_are_convolved_exactly(void **unused) {
    (void)unused;
    const char *isas[32];
    size_t isa_count = large_isas(isas), turn = 0;
    for (size_t v = 0; v < UNIT_COUNT(of_codes); v++)
        for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
            if (of_codes[v].kind != CODES && shapes[i].spatial > 2) continue;
            uint64_t random = large_state(v * 50 + i);
            window p = of_codes[v];
            set_shape(&p.e, &shapes[i]);
            p.e.spatial_last = true;
            p.block = 5, p.ends = i % 2;
            set_link(&p, i);
            make(&p, &random);
            for (size_t n = 0; n < isa_count; n++)
                run(&p, isas[n], (large_way){(int)(turn++ % 3) + 1, false, true, ~1u});
            destroy(&p);
        }
}

//---- Sums that round --------------------------------------------------------

// Four sums of the formula, of elements `step` apart.
typedef void four_fn(const float *from, size_t step, float *to);

static void begin_four(const float *d, size_t step, float *t) {
    t[0] = d[0] - d[2 * step];
    t[step] = d[step] + d[2 * step];
    t[2 * step] = d[2 * step] - d[step];
    t[3 * step] = d[step] - d[3 * step];
}

// In place: the first two of each four are the results.
static void end_four(const float *m, size_t step, float *y) {
    float first = (m[0] + m[step]) + m[2 * step];
    float second = (m[step] - m[2 * step]) - m[3 * step];
    y[0] = first, y[step] = second;
}

static void each_four(four_fn *fn, float *tile) {
    float made[POINTS];
    for (size_t c = 0; c < SIDE; c++) fn(tile + c, SIDE, made + c);
    for (size_t r = 0; r < SIDE; r++) fn(made + r * SIDE, 1, tile + r * SIDE);
}

// (G g G') with the matrix G itself, in double, where all its products and sums are exact.
static void weights_of(const float *g, float *u) {
    static const double matrix[SIDE][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
    for (size_t p = 0; p < POINTS; p++) {
        double sum = 0;
        for (size_t t = 0; t < 9; t++)
            sum += matrix[p / SIDE][t / 3] * matrix[p % SIDE][t % 3] * (double)g[t];
        u[p] = (float)sum;
    }
}

// A convolution of one image of float32 with pads of 1, without a bias.
typedef struct reals {
    example e;
    tensor in[2], want;
    float *u;  // [output][input][POINTS]
} reals;

static bool is_inside(const reals *r, int64_t row, int64_t column) {
    return row >= 0 && row < r->e.in[0] && column >= 0 && column < r->e.in[1];
}

static float x_at(const reals *r, int64_t channel, int64_t row, int64_t column) {
    const int64_t *in = r->e.in;
    if (!is_inside(r, row, column)) return 0;
    return ((const float *)r->in[0].data)[(channel * in[0] + row) * in[1] + column];
}

static const float *w_at(const reals *r, int64_t output, int64_t input) {
    return (const float *)r->in[1].data + (output * r->e.inputs + input) * 9;
}

// The sum of a result as the graph says, as a chain of fma and in double.
typedef struct direct_sum {
    float chain;
    double wide;
} direct_sum;

static direct_sum direct_of(const reals *r, int64_t output, int64_t row, int64_t column) {
    direct_sum sum = {0, 0};
    for (int64_t i = 0; i < r->e.inputs; i++)
        for (int64_t t = 0; t < 9; t++) {
            int64_t at[] = {row + t / 3 - 1, column + t % 3 - 1};
            float x = x_at(r, i, at[0], at[1]), w = w_at(r, output, i)[t];
            if (!is_inside(r, at[0], at[1])) continue;
            sum.chain = fmaf(x, w, sum.chain);
            sum.wide += (double)x * (double)w;
        }
    return sum;
}

// The sums of magnitudes that the bound is a multiple of: all minus signs of the formula are plus.
static void magnitudes_of(const double *points, double y[4]) {
    static const int takes[2][SIDE] = {{1, 1, 1, 0}, {0, 1, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        y[i] = 0;
        for (size_t p = 0; p < POINTS; p++)
            if (takes[i / 2][p / SIDE] && takes[i % 2][p % SIDE]) y[i] += points[p];
    }
}

static double magnitude_at(const float *d, size_t point) {
    static const int takes[SIDE][SIDE] = {{1, 0, 1, 0}, {0, 1, 1, 0}, {0, 1, 1, 0}, {0, 1, 0, 1}};
    double sum = 0;
    for (size_t i = 0; i < POINTS; i++)
        if (takes[point / SIDE][i / SIDE] && takes[point % SIDE][i % SIDE])
            sum += fabs((double)d[i]);
    return sum;
}

static double weight_magnitude_at(const float *g, size_t point) {
    static const double takes[SIDE][3] = {{1, 0, 0}, {.5, .5, .5}, {.5, .5, .5}, {0, 0, 1}};
    double sum = 0;
    for (size_t t = 0; t < 9; t++)
        sum += takes[point / SIDE][t / 3] * takes[point % SIDE][t % 3] * fabs((double)g[t]);
    return sum;
}

// Sets the results of a tile, and checks that the finite ones lie within the bound.
static void expect_tile(reals *r, int64_t output, int64_t row, int64_t column) {
    float sums[POINTS] = {0}, tile[POINTS], d[POINTS];
    double magnitudes[POINTS] = {0}, scale[4];
    for (int64_t i = 0; i < r->e.inputs; i++) {
        for (int64_t p = 0; p < POINTS; p++)
            d[p] = tile[p] = x_at(r, i, row + p / SIDE - 1, column + p % SIDE - 1);
        each_four(begin_four, tile);
        const float *u = r->u + (output * r->e.inputs + i) * POINTS;
        for (size_t p = 0; p < POINTS; p++) {
            sums[p] = fmaf(tile[p], u[p], sums[p]);
            magnitudes[p] += magnitude_at(d, p) * weight_magnitude_at(w_at(r, output, i), p);
        }
    }
    each_four(end_four, sums);
    magnitudes_of(magnitudes, scale);
    for (int64_t i = 0; i < 4; i++) {
        int64_t at[] = {row + i / 2, column + i % 2};
        if (!is_inside(r, at[0], at[1])) continue;
        float y = sums[i / 2 * SIDE + i % 2];
        direct_sum direct = direct_of(r, output, at[0], at[1]);
        if (isfinite(y))
            assert_true(fabs((double)y - direct.wide) <=
                        ((double)r->e.inputs + 8) * 0x1p-24 * 1.0001 * scale[i]);
        else
            y = direct.chain;
        if (isnan(y)) y = NAN;
        assert_int_equal(isfinite(y), fabs(direct.wide) <= (double)FLT_MAX);
        tensor_put(&r->want, (size_t)((output * r->e.in[0] + at[0]) * r->e.in[1] + at[1]),
                   (double)y);
    }
}

static void make_reals(reals *r, uint64_t *random) {
    r->in[0] = tensor_of("x", QDQ_FLOAT32, image(&r->e, r->e.inputs, r->e.in));
    r->in[1] = tensor_of("w", QDQ_FLOAT32, weights_shape(&r->e));
    r->want = tensor_of("want", QDQ_FLOAT32, image(&r->e, r->e.outputs, r->e.in));
    large_fill_reals(&r->in[0], random);
    large_fill_reals(&r->in[1], random);
}

static void check_reals(reals *r) {
    const char *isas[32];
    size_t isa_count = large_isas(isas);
    r->u = oracle_memory((size_t)(r->e.outputs * r->e.inputs) * POINTS * sizeof *r->u);
    for (int64_t i = 0; i < r->e.outputs * r->e.inputs; i++)
        weights_of((const float *)r->in[1].data + i * 9, r->u + i * POINTS);
    for (int64_t o = 0; o < r->e.outputs; o++)
        for (int64_t row = 0; row < r->e.in[0]; row += 2)
            for (int64_t column = 0; column < r->e.in[1]; column += 2)
                expect_tile(r, o, row, column);
    for (size_t n = 0; n < isa_count; n++)
        for (size_t way = 0; way < UNIT_COUNT(ways); way++)
            large_run(&(large_case){"reals", r->in, 2, build, &r->e, &r->want}, isas[n],
                      &(large_way){ways[way].threads, false, true, 1u << 1});
    tensors_free(r->in, 2);
    free(r->want.data), free(r->u);
}

static reals reals_of(int64_t height, int64_t width, size_t inputs, size_t outputs) {
    reals r = {.e = {.batch = 1, .format = QDQ_NCX, .spatial_last = true}};
    set_image(&r.e, height, width, 3);
    for (int d = 0; d < 2; d++) r.e.begin[d] = r.e.end[d] = 1;
    set_channels(&r.e, 1, inputs, outputs);
    return r;
}

static void sums_round_as_documented(void **unused) {
    (void)unused;
    static const size_t sizes[][4] = {{14, 13, 2 * FEW_K + 7, GROUP + 1},
                                      {28, 20, ALL_K + 1, LEAST},
                                      {5, 2 * TILES + 9, LEAST, LEAST + 3}};
    for (size_t i = 0; i < UNIT_COUNT(sizes); i++) {
        uint64_t random = large_state(100 + i);
        reals r = reals_of((int64_t)sizes[i][0], (int64_t)sizes[i][1], sizes[i][2], sizes[i][3]);
        make_reals(&r, &random);
        check_reals(&r);
    }
}

// Infinities and NaN reach the results whose window has them, and no others of their tile; sums
// whose transforms overflow have their finite results.
static void infinities_stay_in_their_window(void **unused) {
    (void)unused;
    uint64_t random = large_state(200);
    reals r = reals_of(21, 19, LEAST + 1, GROUP + 2);
    make_reals(&r, &random);
    float *x = r.in[0].data;
    for (int64_t i = 0; i < 19; i++) x[7 * 19 + i] = i % 6 ? x[7 * 19 + i] : -INFINITY;
    x[3 * 19 + 4] = NAN, x[0] = INFINITY, x[21 * 19 - 1] = INFINITY;
    x[15 * 19 + 9] = 0x1.8p127f, x[15 * 19 + 11] = -0x1.8p127f;
    for (int64_t o = 0; o < r.e.outputs; o++)
        for (int64_t t = 0; t < 9; t++)
            ((float *)r.in[1].data)[o * r.e.inputs * 9 + t] = (float)(t % 3) / 8;
    check_reals(&r);
}

static void infinite_weights_are_added_as_they_are(void **unused) {
    (void)unused;
    uint64_t random = large_state(300);
    reals r = reals_of(12, 11, LEAST, LEAST);
    make_reals(&r, &random);
    ((float *)r.in[1].data)[3 * LEAST * 9] = INFINITY;  // the first tap: rows and columns from 1 on
    check_reals(&r);
}

//---- The choice -----------------------------------------------------------------

// Whether a plan computes a convolution so.
static bool is_winograd(const example *e, bool constant, bool fast) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("choice", NULL);
    tensor w = tensor_of("w", QDQ_FLOAT32, weights_shape(e));
    qdq_value v[3] = {qdq_input(g, "x", QDQ_FLOAT32, image(e, e->inputs, e->in)),
                      constant ? qdq_constant(g, "w", w.dtype, w.shape, w.data)
                               : qdq_input(g, "w", w.dtype, w.shape)};
    qdq_output(g, "y", build(g, v, e));
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.fast = fast}, &err);
    if (!plan) fail_msg("%s", err.text);
    bool winograd = qdq_plan_get_step(plan, 0)->winograd;
    qdq_plan_destroy(plan);
    qdq_graph_destroy(g);
    free(w.data);
    return winograd;
}

static void fast_convolutions_that_suit_are_winograds(void **unused) {
    (void)unused;
    for (size_t i = 0; i < UNIT_COUNT(shapes); i++) {
        example e = {.spatial_last = true};
        set_shape(&e, &shapes[i]);
        assert_true(is_winograd(&e, true, true));
        assert_false(is_winograd(&e, true, false));
        assert_false(is_winograd(&e, false, true));
    }
    example e = {.spatial_last = true};
    set_shape(&e, &shapes[2]);
    example other = e;
    other.strides[1] = 2;
    assert_false(is_winograd(&other, true, true));
    other = e, other.dilations[0] = 2;
    assert_false(is_winograd(&other, true, true));
    other = e, other.kernel[0] = 5;
    assert_false(is_winograd(&other, true, true));
    other = e, other.format = QDQ_NXC;
    assert_false(is_winograd(&other, true, true));
    other = e, other.inputs = LEAST - 1;
    assert_false(is_winograd(&other, true, true));
    other = e, other.outputs = LEAST - 1;
    assert_false(is_winograd(&other, true, true));
    other = e, other.in[0] = other.in[1] = 2 * 4;  // 16 tiles
    assert_false(is_winograd(&other, true, true));
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_have_the_bits_of_the_graph),
        cmocka_unit_test(codes_are_convolved_exactly),
        cmocka_unit_test(sums_round_as_documented),
        cmocka_unit_test(infinities_stay_in_their_window),
        cmocka_unit_test(infinite_weights_are_added_as_they_are),
        cmocka_unit_test(fast_convolutions_that_suit_are_winograds),
    };
    large_begin(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
