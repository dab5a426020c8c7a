// SPDX-License-Identifier: Apache-2.0
// Cast from every dtype to every dtype, against cast_model.h: every value of dtypes of at most 16
// bits, edge cases of wider ones. Also numbers from ONNX's text, ONNX's test vectors and ONNX
// Runtime; shapes, chains, tiles and threads.
#include "tests/ops/quantize/cast_model.h"

//---- Running ----------------------------------------------------------------

// Casts x to y; both are bits.
static void run_cast(const cast_case *c, qdq_shape shape, const uint32_t *x, uint32_t *y) {
    size_t n = qdq_shape_count(shape);
    char *from = oracle_memory(n * 4), *to = oracle_memory(n * 4);
    for (size_t i = 0; i < n; i++) cast_hold(c->from, from, i, x[i]);
    memset(to, 0x55, n * 4);
    qdq_graph *g = qdq_graph_create("cast", NULL);
    qdq_value v = qdq_input(g, "x", c->from, shape);
    qdq_output(
        g, "y",
        qdq_cast(g, v,
                 (qdq_cast_attrs){.dtype = c->to, .saturate = c->saturate, .round_mode = c->mode}));
    assert_int_equal(cast_bytes(c->from), qdq_dtype_size(c->from));
    assert_int_equal(cast_bytes(c->to), qdq_dtype_size(c->to));
    oracle_bound bound[2] = {{"x", from, n * cast_bytes(c->from)},
                             {"y", to, n * cast_bytes(c->to)}};
    oracle_run(g, NULL, bound, 2);
    for (size_t i = 0; i < n; i++) y[i] = cast_held(c->to, to, i);
    qdq_graph_destroy(g);
    free(from), free(to);
}

static void check_case(const cast_case *c, const cast_list *list) {
    static uint32_t y[CAST_MOST];
    run_cast(c, QDQ_SHAPE((int64_t)list->count), list->bits, y);
    for (size_t i = 0; i < list->count; i++) {
        uint32_t want = cast_wanted(c, list->bits[i]);
        if (!cast_same(c->to, y[i], want))
            fail_msg("%s to %s, saturate %d, mode %d: %#x (%a) became %#x, want %#x",
                     qdq_dtype_name(c->from), qdq_dtype_name(c->to), c->saturate, c->mode,
                     list->bits[i], cast_value(c->from, list->bits[i]), y[i], want);
    }
}

// Casts one dtype to all others, with all attributes that matter there.
static void check_from(qdq_dtype from) {
    const cast_list *list = list_of(from);
    assert_true(list->count > 0);
    for (qdq_dtype to = QDQ_FLOAT32; to < QDQ_DTYPE_COUNT; to++) {
        if (!cast_knows(to)) continue;
        bool power = to == QDQ_FLOAT8_E8M0;
        bool saturates = power || (small_format_of(to) && small_is_result(small_format_of(to)));
        for (int mode = QDQ_CAST_ROUND_UP; mode <= (power ? QDQ_CAST_ROUND_NEAREST : 0); mode++)
            for (int s = QDQ_UNSET; s <= (saturates ? QDQ_FALSE : QDQ_UNSET); s++)
                check_case(&(cast_case){from, to, (qdq_bool)s, (qdq_cast_rounding)mode}, list);
    }
}

//---- All values -------------------------------------------------------------

static void every_value_of_at_most_8_bits_casts_to_every_dtype(void **state) {
    (void)state;
    for (qdq_dtype from = QDQ_FLOAT32; from < QDQ_DTYPE_COUNT; from++)
        if (cast_knows(from) && cast_bytes(from) == 1) check_from(from);
}

static void every_value_of_16_bits_casts_to_every_dtype(void **state) {
    (void)state;
    for (qdq_dtype from = QDQ_FLOAT32; from < QDQ_DTYPE_COUNT; from++)
        if (cast_knows(from) && cast_bytes(from) == 2) check_from(from);
}

static void float32_and_int32_around_every_edge_cast_to_every_dtype(void **state) {
    (void)state;
    check_from(QDQ_FLOAT32);
    check_from(QDQ_INT32);
}

//---- Known numbers ----------------------------------------------------------

static uint32_t cast_one(qdq_dtype from, uint32_t x, qdq_dtype to, qdq_bool saturate) {
    uint32_t y = 0;
    run_cast(&(cast_case){from, to, saturate, QDQ_CAST_ROUND_UP}, (qdq_shape){0}, &x, &y);
    return y;
}

static uint32_t cast_float(float x, qdq_dtype to) {
    return cast_one(QDQ_FLOAT32, unit_bits_of_float(x), to, QDQ_UNSET);
}

// From ONNX Runtime 1.31, Cast-24 of float32 in all six forms: codes for up, down and nearest.
static void powers_of_two_are_those_of_onnx_runtime(void **state) {
    (void)state;
    static const struct {
        float x;
        uint8_t saturated[3], not_saturated[3];
    } rows[] = {
        {0.0f, {0, 0, 0}, {255, 255, 255}},
        {-0.0f, {0, 0, 0}, {255, 255, 255}},
        {NAN, {255, 255, 255}, {255, 255, 255}},
        {INFINITY, {254, 254, 254}, {255, 255, 255}},
        {-INFINITY, {0, 0, 0}, {255, 255, 255}},
        {-1.0f, {0, 0, 0}, {255, 255, 255}},
        {-1e-44f, {0, 0, 0}, {255, 255, 255}},
        {1.4f * 0x1p127f, {254, 254, 254}, {255, 255, 255}},
        {0x1p127f, {254, 254, 254}, {254, 254, 254}},
        {0x1p-149f, {0, 0, 0}, {255, 255, 255}},
        {0x1.8p-128f, {0, 0, 0}, {255, 255, 255}},
        {0x1p-127f, {0, 0, 0}, {0, 0, 0}},
        {1.2f * 0x1p-127f, {1, 0, 0}, {1, 0, 0}},
        {0x1.8p-127f, {1, 0, 1}, {1, 0, 1}},
        {0x1p-126f, {1, 1, 1}, {1, 1, 1}},
        {1.2f * 0x1p-126f, {2, 1, 1}, {2, 1, 1}},
        {1.4999f, {128, 127, 127}, {128, 127, 127}},
        {1.5f, {128, 127, 128}, {128, 127, 128}},
        {3.0f, {129, 128, 129}, {129, 128, 129}},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        for (int mode = 0; mode < 6; mode++) {
            uint32_t x = unit_bits_of_float(rows[i].x), y;
            cast_case c = {QDQ_FLOAT32, QDQ_FLOAT8_E8M0, mode < 3 ? QDQ_TRUE : QDQ_FALSE,
                           (qdq_cast_rounding)(mode % 3)};
            run_cast(&c, (qdq_shape){0}, &x, &y);
            assert_int_equal(y,
                             mode < 3 ? rows[i].saturated[mode] : rows[i].not_saturated[mode - 3]);
        }
}

// The tables in the text of Cast 25, and its test vectors.
static void numbers_from_onnx_text_and_vectors_come_out(void **state) {
    (void)state;
    static const struct {
        float x;
        qdq_dtype to;
        qdq_bool saturate;
        uint32_t y;
    } rows[] = {
        {-9, QDQ_INT4, QDQ_UNSET, 7},
        {8, QDQ_INT4, QDQ_UNSET, 0xF8},
        {-9, QDQ_UINT4, QDQ_UNSET, 7},
        {-3, QDQ_INT2, QDQ_UNSET, 1},
        {2, QDQ_INT2, QDQ_UNSET, 0xFE},
        {-3, QDQ_UINT2, QDQ_UNSET, 1},
        {2.5f, QDQ_INT4, QDQ_UNSET, 2},
        {3.5f, QDQ_INT4, QDQ_UNSET, 4},
        {NAN, QDQ_FLOAT4_E2M1, QDQ_UNSET, 8},
        {-INFINITY, QDQ_FLOAT4_E2M1, QDQ_UNSET, 15},
        {9, QDQ_FLOAT4_E2M1, QDQ_UNSET, 7},
        {INFINITY, QDQ_FLOAT8_E4M3FN, QDQ_UNSET, 0x7E},
        {INFINITY, QDQ_FLOAT8_E4M3FN, QDQ_FALSE, 0x7F},
        {-1e6f, QDQ_FLOAT8_E4M3FN, QDQ_FALSE, 0xFF},
        {INFINITY, QDQ_FLOAT8_E4M3FNUZ, QDQ_TRUE, 0x7F},
        {INFINITY, QDQ_FLOAT8_E4M3FNUZ, QDQ_FALSE, 0x80},
        {INFINITY, QDQ_FLOAT8_E5M2, QDQ_TRUE, 0x7B},
        {-1e6f, QDQ_FLOAT8_E5M2, QDQ_FALSE, 0xFC},
        {-1e6f, QDQ_FLOAT8_E5M2FNUZ, QDQ_TRUE, 0xFF},
        {-0.0f, QDQ_FLOAT8_E5M2FNUZ, QDQ_UNSET, 0},
        {-0.0f, QDQ_FLOAT8_E5M2, QDQ_UNSET, 0x80},
        {-0.0f, QDQ_BOOL, QDQ_UNSET, 0},
        {NAN, QDQ_BOOL, QDQ_UNSET, 1},
        {1e-45f, QDQ_BOOL, QDQ_UNSET, 1},
        {65520, QDQ_FLOAT16, QDQ_UNSET, 0x7C00},
        {2.9f, QDQ_INT8, QDQ_UNSET, 2},
        {-2.9f, QDQ_INT32, QDQ_UNSET, 0xFFFFFFFE},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++) {
        uint32_t x = unit_bits_of_float(rows[i].x);
        uint32_t y = cast_one(QDQ_FLOAT32, x, rows[i].to, rows[i].saturate);
        if (y != rows[i].y)
            fail_msg("%a to %s: %#x, want %#x", (double)rows[i].x, qdq_dtype_name(rows[i].to), y,
                     rows[i].y);
    }
    assert_int_equal(cast_one(QDQ_INT16, 200, QDQ_INT8, QDQ_UNSET), (uint8_t)-56);
    assert_int_equal(cast_one(QDQ_INT32, (uint32_t)-9, QDQ_INT4, QDQ_UNSET), 7);
    assert_int_equal(cast_one(QDQ_BOOL, 1, QDQ_FLOAT16, QDQ_UNSET), 0x3C00);
    assert_int_equal(cast_one(QDQ_UINT16, 36, QDQ_BOOL, QDQ_UNSET), 1);
}

// ONNX leaves these cases undefined; docs/numerics.md defines them.
static void numbers_beyond_an_integer_are_clamped_and_nan_is_0(void **state) {
    (void)state;
    assert_int_equal(cast_float(300, QDQ_INT8), 127);
    assert_int_equal(cast_float(-300, QDQ_INT8), (uint8_t)-128);
    assert_int_equal(cast_float(-1, QDQ_UINT8), 0);
    assert_int_equal(cast_float(-0.9f, QDQ_UINT8), 0);
    assert_int_equal(cast_float(1e10f, QDQ_INT32), INT32_MAX);
    assert_int_equal(cast_float(-INFINITY, QDQ_INT32), (uint32_t)INT32_MIN);
    assert_int_equal(cast_float(INFINITY, QDQ_UINT16), 65535);
    assert_int_equal(cast_float(INFINITY, QDQ_INT4), 0);
    for (size_t i = 0; i < UNIT_COUNT(whole_formats); i++)
        assert_int_equal(cast_float(NAN, whole_formats[i].dtype), 0);
}

//---- Shapes, chains, tiles, threads -----------------------------------------

static const qdq_shape shapes[] = {
    {0, {0}},       {1, {1}},           {1, {67}},
    {1, {5000}},    {2, {33, 65}},      {2, {1, 1025}},
    {3, {3, 5, 7}}, {4, {2, 3, 31, 9}}, {8, {1, 2, 1, 2, 1, 3, 4, 5}},
};

enum { MOST = 5000 };
static uint32_t chain_wanted[QDQ_DTYPE_COUNT][MOST];

// Casts x to every dtype; or, chained, through every dtype in turn, with every fourth result an
// output.
static qdq_graph *make_casts(qdq_shape shape, bool chained, const char *x) {
    size_t n = qdq_shape_count(shape);
    qdq_graph *g = qdq_graph_create("casts", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, shape);
    qdq_dtype from = QDQ_FLOAT32;
    for (size_t i = 0; i < n; i++) chain_wanted[from][i] = cast_held(from, x, i);
    for (qdq_dtype to = QDQ_FLOAT16; to < QDQ_DTYPE_COUNT; to++) {
        if (!cast_knows(to)) continue;
        cast_case c = {from, to, QDQ_UNSET, QDQ_CAST_ROUND_UP};
        for (size_t i = 0; i < n; i++) chain_wanted[to][i] = cast_wanted(&c, chain_wanted[from][i]);
        qdq_value y = qdq_cast(g, v, (qdq_cast_attrs){.dtype = to});
        if (!chained || (int)to % 4 == 0) qdq_output(g, qdq_dtype_name(to), y);
        if (chained) v = y, from = to;
    }
    qdq_output(g, "back", qdq_cast(g, v, (qdq_cast_attrs){.dtype = from}));
    return g;
}

static void check_casts(qdq_shape shape, bool chained, bool materialize, int threads) {
    static char x[MOST * 4], y[MOST * 4];
    size_t n = qdq_shape_count(shape);
    const cast_list *list = list_of(QDQ_FLOAT32);
    for (size_t i = 0; i < n; i++) cast_hold(QDQ_FLOAT32, x, i, list->bits[i * 7 % list->count]);
    qdq_error err = {0};
    qdq_graph *g = make_casts(shape, chained, x);
    qdq_plan *plan = qdq_graph_compile(g, &(qdq_compile_options){.materialize = materialize}, &err);
    qdq_exec_options run = {.poison = true};
    if (threads > 1) run.parallel = qdq_parallel_openmp(threads), run.parallel.least = 0;
    qdq_exec *exec = qdq_exec_create(plan, &run, &err);
    assert_string_equal(err.text, "");
    assert_int_equal(qdq_exec_bind(exec, "x", x, n * 4, &err), QDQ_OK);
    qdq_exec_run(exec);
    for (size_t k = 0; k < qdq_plan_output_count(plan); k++) {
        const qdq_tensor_info *o = qdq_plan_output(plan, k);
        assert_int_equal(qdq_exec_read(exec, o->name, o->dtype, y, n, &err), QDQ_OK);
        for (size_t i = 0; i < n; i++)
            if (!cast_same(o->dtype, cast_held(o->dtype, y, i), chain_wanted[o->dtype][i]))
                fail_msg(
                    "rank %d, chained %d, materialize %d, %d threads: %s[%zu] is %#x, want %#x",
                    shape.rank, chained, materialize, threads, o->name, i,
                    cast_held(o->dtype, y, i), chain_wanted[o->dtype][i]);
    }
    qdq_exec_destroy(exec), qdq_plan_destroy(plan), qdq_graph_destroy(g);
}

static void casts_and_chains_of_them_are_the_same_in_strips_tiles_and_threads(void **state) {
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(shapes); s++)
        for (int way = 0; way < 8; way++) check_casts(shapes[s], way & 4, way & 1, way & 2 ? 3 : 1);
}

static void a_bfloat16_is_stored_as_the_numerics_say(void **state) {
    (void)state;
    float x[3] = {257, 259, -257};
    uint16_t y[3];
    static const uint16_t wanted[3][3] = {
        {0x4380, 0x4382, 0xC380}, {0x4381, 0x4382, 0xC381}, {0x4380, 0x4381, 0xC380}};
    for (int store = 0; store < 3; store++) {
        qdq_numerics n = {.bfloat16_store = (qdq_bfloat16_store)store};
        qdq_graph *g = qdq_graph_create("store", NULL);
        qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(3));
        qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = QDQ_BFLOAT16}));
        oracle_run(g, &(qdq_compile_options){.numerics = &n},
                   (oracle_bound[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2);
        assert_memory_equal(y, wanted[store], sizeof y);
        qdq_graph_destroy(g);
    }
}

// The same as Quantize with scale 1, which test_quantize_exhaustive.c covers.
static void under_cast_quantizes_narrow_integers_saturate(void **state) {
    (void)state;
    float x[9] = {-9, -8.5f, -0.5f, 2.5f, 3.5f, 7.5f, 1e10f, INFINITY, NAN};
    int8_t y[9];
    static const int8_t wanted[9] = {-8, -8, 0, 2, 4, 7, 7, 7, -8};
    qdq_numerics n = {.cast_quantizes = true};
    qdq_graph *g = qdq_graph_create("narrow", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(9));
    qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = QDQ_INT4}));
    oracle_run(g, &(qdq_compile_options){.numerics = &n},
               (oracle_bound[]){{"x", x, sizeof x}, {"y", y, sizeof y}}, 2);
    assert_memory_equal(y, wanted, sizeof y);
    qdq_graph_destroy(g);
}

// Casts the bits `x` to `to` for a target, and compares the bits of the results.
static void casts_to(const char *target, qdq_dtype from, qdq_dtype to, const uint32_t *x,
                     const uint32_t *wanted, size_t count) {
    unsigned char y[64];
    qdq_graph *g = qdq_graph_create("typecast", NULL);
    qdq_value v = qdq_input(g, "x", from, QDQ_SHAPE((int64_t)count));
    qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = to}));
    size_t size = qdq_dtype_size(to), in_size = qdq_dtype_size(from);
    unsigned char in[64];
    for (size_t i = 0; i < count; i++) memcpy(in + i * in_size, &x[i], in_size);
    oracle_run(g, &(qdq_compile_options){.target = target},
               (oracle_bound[]){{"x", in, count * in_size}, {"y", y, count * size}}, 2);
    for (size_t i = 0; i < count; i++) {
        uint32_t got = 0;
        memcpy(&got, y + i * size, size);
        assert_int_equal(got, wanted[i]);
    }
    qdq_graph_destroy(g);
}

// Examples of the text of tt-metal's typecast kernels.
static void the_chips_cast_as_typecast_does(void **state) {
    static const char *const chips[] = {"ttnn@wormhole", "ttnn@blackhole", "ttnn@wormhole-rne",
                                        "ttnn@blackhole-rne"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        casts_to(chips[i], QDQ_FLOAT32, QDQ_BFLOAT16,
                 (const uint32_t[]){0x3F808000, 0x3F818000, 0x3F818001, 0xBF808000, 0x7F800000},
                 (const uint32_t[]){0x3F80, 0x3F82, 0x3F82, 0xBF80, 0x7F80}, 5);
        casts_to(chips[i], QDQ_FLOAT32, QDQ_INT32,
                 (const uint32_t[]){0xC27A0000, 0x4F000000, 0xFF800000, 0x7FC00000, 0x3F7FFFFF},
                 (const uint32_t[]){(uint32_t)-62, 0x80000000, 0x80000000, 0x80000000, 0}, 5);
        casts_to(chips[i], QDQ_FLOAT32, QDQ_UINT16,
                 (const uint32_t[]){0x40200000, 0xBF800000, 0x4F000000},
                 (const uint32_t[]){3, 0, 65535}, 3);
        casts_to(chips[i], QDQ_FLOAT32, QDQ_UINT8, (const uint32_t[]){0x43960000, 0xC0400000},
                 (const uint32_t[]){0x2C, 0xFD}, 2);
        casts_to(chips[i], QDQ_INT32, QDQ_BFLOAT16, (const uint32_t[]){257, 258},
                 (const uint32_t[]){0x4381, 0x4381}, 2);
        // By way of the matrix unit: NaN is infinity, denormals and -0 are +0.
        casts_to(chips[i], QDQ_BFLOAT16, QDQ_FLOAT32,
                 (const uint32_t[]){0x3F81, 0x8000, 0x8001, 0xFFC0, 0x7F7F},
                 (const uint32_t[]){0x3F810000, 0, 0, 0xFF800000, 0x7F7F0000}, 5);
        casts_to(chips[i], QDQ_BFLOAT16, QDQ_INT32, (const uint32_t[]){0xC27A, 0x4F00, 0x7FC0},
                 (const uint32_t[]){(uint32_t)-62, 0x80000000, 0x80000000}, 3);
        casts_to(chips[i], QDQ_BFLOAT16, QDQ_UINT16, (const uint32_t[]){0x4020, 0xBF80, 0x7FC0},
                 (const uint32_t[]){3, 0, 65535}, 3);
        casts_to(chips[i], QDQ_BFLOAT16, QDQ_UINT8, (const uint32_t[]){0x4396, 0xC040},
                 (const uint32_t[]){0x2C, 0xFD}, 2);
        // Alone in their groups, as typecast packs them, and back.
        casts_to(chips[i], QDQ_FLOAT32, QDQ_BFLOAT8_B, (const uint32_t[]){0x3F810000},
                 (const uint32_t[]){0x3F820000}, 1);
        casts_to(chips[i], QDQ_FLOAT32, QDQ_BFLOAT4_B, (const uint32_t[]){0x3FB00000},
                 (const uint32_t[]){0x3FA00000}, 1);
        casts_to(chips[i], QDQ_FLOAT32, QDQ_BFLOAT4_B, (const uint32_t[]){0x3FD80000},
                 (const uint32_t[]){0x3FC00000}, 1);
        casts_to(chips[i], QDQ_BFLOAT8_B, QDQ_BFLOAT16, (const uint32_t[]){0x3FFE0000},
                 (const uint32_t[]){0x3FFE}, 1);
        casts_to(chips[i], QDQ_INT32, QDQ_FLOAT32,
                 (const uint32_t[]){0x01000001, 0x80000000, (uint32_t)-5},
                 (const uint32_t[]){0x4B800000, 0xCF000000, 0xC0A00000}, 3);
    }
}

//---- Findings ---------------------------------------------------------------

static void check_refused(qdq_cast_attrs attrs, const char *text) {
    qdq_error err = {0};
    qdq_graph *g = qdq_graph_create("refused", NULL);
    attrs.name = "c";
    qdq_output(g, "y", qdq_cast(g, qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(2)), attrs));
    assert_null(qdq_graph_compile(g, NULL, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(err.status, QDQ_ERR_GRAPH);
    qdq_graph_destroy(g);
}

static void a_cast_without_a_dtype_is_refused(void **state) {
    (void)state;
    check_refused((qdq_cast_attrs){0}, "node 'c': Cast: dtype is missing, wanted the dtype of y; "
                                       "give the dtype of the result");
    check_refused((qdq_cast_attrs){.dtype = QDQ_INT8, .round_mode = (qdq_cast_rounding)3},
                  "node 'c': Cast: round_mode is 3, wanted 0 to 2; see `qdq ops Cast`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_of_at_most_8_bits_casts_to_every_dtype),
        cmocka_unit_test(every_value_of_16_bits_casts_to_every_dtype),
        cmocka_unit_test(float32_and_int32_around_every_edge_cast_to_every_dtype),
        cmocka_unit_test(powers_of_two_are_those_of_onnx_runtime),
        cmocka_unit_test(numbers_from_onnx_text_and_vectors_come_out),
        cmocka_unit_test(numbers_beyond_an_integer_are_clamped_and_nan_is_0),
        cmocka_unit_test(casts_and_chains_of_them_are_the_same_in_strips_tiles_and_threads),
        cmocka_unit_test(a_bfloat16_is_stored_as_the_numerics_say),
        cmocka_unit_test(under_cast_quantizes_narrow_integers_saturate),
        cmocka_unit_test(the_chips_cast_as_typecast_does),
        cmocka_unit_test(a_cast_without_a_dtype_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
