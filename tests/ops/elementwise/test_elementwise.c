// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: unary functions against long double, binary ops against a naive broadcast,
// special cases against IEEE 754.
#include <math.h>

#include "tests/network.h"

//---- One input --------------------------------------------------------------

typedef struct unary_case {
    const char *op;
    long double (*formula)(long double x);
    double ulps;  // how far a float32 result may be off; half an ulp is its own rounding
    float alpha, beta;
} unary_case;

// Every unary op here has the attributes of one of these.
typedef union unary_attrs {
    qdq_unary_attrs plain;
    qdq_alpha_attrs alpha;
    qdq_hard_sigmoid_attrs hard_sigmoid;
    qdq_clamp_attrs clamp;
    qdq_gelu_attrs gelu;
} unary_attrs;

static long double negative(long double x) { return -x; }
static long double square(long double x) { return x * x; }
static long double sigmoid(long double x) { return 1 / (1 + expl(-x)); }
static long double silu(long double x) { return x / (1 + expl(-x)); }
static long double relu(long double x) { return x > 0 ? x : 0; }
static long double relu6(long double x) { return x > 0 ? fminl(x, 6) : 0; }
static long double rsqrt(long double x) { return 1 / sqrtl(x); }
static long double reciprocal(long double x) { return 1 / x; }
static long double swish(long double x) { return x * fmaxl(0, fminl(1, x / 6 + 0.5L)); }
static long double mish(long double x) { return x * tanhl(log1pl(expl(x))); }
static long double leaky(long double x) { return x > 0 ? x : 0.3f * x; }
static long double elu(long double x) { return x > 0 ? x : 1.7f * expm1l(x); }
static long double hard_sigmoid(long double x) { return fmaxl(0, fminl(1, 0.2f * x + 0.5f)); }
static long double clamp(long double x) { return fminl(fmaxl(x, -1.5f), 2.25f); }
static long double gelu_erf(long double x) { return 0.5L * x * erfcl(-x * sqrtl(0.5L)); }
static long double gelu_tanh(long double x) {
    return x / (1 + expl(-2 * 0.7978845608L * (x + 0.044715L * x * x * x)));
}

static long double sign(long double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static long double softplus(long double x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }

static const unary_case cases[] = {
    {"Abs", fabsl, 0, 0, 0},
    {"Neg", negative, 0, 0, 0},
    {"Exp", expl, 0.5001, 0, 0},
    {"Log", logl, 0.5001, 0, 0},
    {"Log1p", log1pl, 0.5001, 0, 0},
    {"Sqrt", sqrtl, 0.5, 0, 0},
    {"Rsqrt", rsqrt, 0.5, 0, 0},
    {"Square", square, 0.5, 0, 0},
    {"Tanh", tanhl, 0.5001, 0, 0},
    {"Sigmoid", sigmoid, 0.5001, 0, 0},
    {"SiLU", silu, 0.5001, 0, 0},
    {"ReLU", relu, 0, 0, 0},
    {"ReLU6", relu6, 0, 0, 0},
    {"Reciprocal", reciprocal, 0.5, 0, 0},
    {"Round", rintl, 0, 0, 0},
    {"HardSwish", swish, 0.5001, 0, 0},
    {"Mish", mish, 0.5001, 0, 0},
    {"Sign", sign, 0, 0, 0},
    {"Floor", floorl, 0, 0, 0},
    {"Ceil", ceill, 0, 0, 0},
    {"Trunc", truncl, 0, 0, 0},
    {"Erf", erfl, 0.5001, 0, 0},
    {"Softplus", softplus, 0.5001, 0, 0},
    {"Sin", sinl, 0.5001, 0, 0},
    {"Cos", cosl, 0.5001, 0, 0},
    {"Tan", tanl, 0.5001, 0, 0},
    {"Asin", asinl, 0.5001, 0, 0},
    {"Acos", acosl, 0.5001, 0, 0},
    {"Atan", atanl, 0.5001, 0, 0},
    {"Sinh", sinhl, 0.5001, 0, 0},
    {"Cosh", coshl, 0.5001, 0, 0},
    {"Asinh", asinhl, 0.5001, 0, 0},
    {"Acosh", acoshl, 0.5001, 0, 0},
    {"Atanh", atanhl, 0.5001, 0, 0},
    {"LeakyReLU", leaky, 0.5, 0.3f, 0},
    {"Elu", elu, 0.5001, 1.7f, 0},
    {"HardSigmoid", hard_sigmoid, 0.5001, 0.2f, 0.5f},
    {"Clamp", clamp, 0, -1.5f, 2.25f},
    {"GELU", gelu_erf, 0.5001, 0, 0},
    {"GELU", gelu_tanh, 0.5001, 1, 0},  // alpha selects the mode
};

static qdq_value add_unary(qdq_graph *g, const unary_case *c, qdq_value x) {
    unary_attrs attrs = {.plain = {.x = x}};
    if (strcmp(c->op, "LeakyReLU") == 0 || strcmp(c->op, "Elu") == 0)
        attrs.alpha.alpha = QDQ_FLOAT((double)c->alpha);
    if (strcmp(c->op, "HardSigmoid") == 0)
        attrs.hard_sigmoid.alpha = QDQ_FLOAT((double)c->alpha),
        attrs.hard_sigmoid.beta = QDQ_FLOAT((double)c->beta);
    if (strcmp(c->op, "Clamp") == 0)
        attrs.clamp.min = QDQ_FLOAT((double)c->alpha), attrs.clamp.max = QDQ_FLOAT((double)c->beta);
    if (strcmp(c->op, "GELU") == 0) attrs.gelu.mode = (qdq_gelu_mode)c->alpha;
    return qdq_add_node(g, c->op, &attrs, sizeof attrs);
}

enum { ROWS = 47, COLS = 61, COUNT = ROWS * COLS };

static void run_unary(const unary_case *c, qdq_dtype dtype, void *x, void *y, size_t count) {
    qdq_graph *g = qdq_graph_create("unary", NULL);
    int64_t rows = count == COUNT ? ROWS : 1;
    qdq_value in = qdq_input(g, "x", dtype, QDQ_SHAPE(rows, (int64_t)count / rows));
    qdq_output(g, "y", add_unary(g, c, in));
    network_tensor input = {"x", dtype, x, count};
    network_run(g, &input, 1, (network_tensor){"y", dtype, y, count});
    qdq_graph_destroy(g);
}

// Every sign and exponent, and more numbers where the functions bend.
static void fill(float *x) {
    uint64_t random = 11;
    for (size_t i = 0; i < COUNT; i++) {
        uint32_t exponent = i % 3 ? 117 + (uint32_t)(unit_random(&random) % 16)
                                  : (uint32_t)(unit_random(&random) % 255);
        uint32_t bits = (uint32_t)unit_random(&random);
        x[i] = unit_float_of_bits((bits & 0x807FFFFF) | exponent << 23);
    }
}

// The distance between the floats around v.
static long double ulp(long double v) {
    float f = fabsf((float)v);
    if (f >= 0x1p127f) return 0x1p104L;
    return (long double)nextafterf(f, INFINITY) - (long double)f;
}

static void results_are_rounded_as_stated(void **state) {
    (void)state;
    static float x[COUNT], y[COUNT];
    fill(x);
    for (size_t k = 0; k < UNIT_COUNT(cases); k++) {
        run_unary(&cases[k], QDQ_FLOAT32, x, y, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            long double wanted = cases[k].formula((long double)x[i]);
            if (isnan(wanted)) {
                assert_int_equal(unit_bits_of_float(y[i]), 0x7FC00000);
            } else if (fabsl(wanted) >= 0x1.ffffffp127L) {
                if (!(isinf(y[i]) && !signbit(y[i]) == !signbit(wanted)))
                    fail_msg("%s of %a is %a, wanted %La", cases[k].op, (double)x[i], (double)y[i],
                             wanted);
            } else if (!(fabsl((long double)y[i] - wanted) <=
                         (long double)cases[k].ulps * ulp(wanted))) {
                fail_msg("%s of %a is %a, wanted %La", cases[k].op, (double)x[i], (double)y[i],
                         wanted);
            }
        }
    }
}

// bfloat16 and float16 are widened; the float32 result is rounded to them.
static void narrow_floats_are_float32_rounded_once_more(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_BFLOAT16, QDQ_FLOAT16};
    static uint16_t x[COUNT], y[COUNT], rounded[COUNT];
    static float wide[COUNT], result[COUNT];
    uint64_t random = 5;
    for (size_t i = 0; i < COUNT; i++) x[i] = (uint16_t)unit_random(&random);
    for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
        qdq_widen_float(dtypes[d], x, wide, COUNT);
        for (size_t k = 0; k < UNIT_COUNT(cases); k++) {
            run_unary(&cases[k], dtypes[d], x, y, COUNT);
            run_unary(&cases[k], QDQ_FLOAT32, wide, result, COUNT);
            qdq_graph *g = qdq_graph_create("cast", NULL);
            qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(COUNT));
            qdq_output(g, "y", qdq_cast(g, in, (qdq_cast_attrs){.dtype = dtypes[d]}));
            network_tensor input = {"x", QDQ_FLOAT32, result, COUNT};
            network_run(g, &input, 1, (network_tensor){"y", dtypes[d], rounded, COUNT});
            qdq_graph_destroy(g);
            assert_memory_equal(y, rounded, sizeof y);
        }
    }
}

static void special_values_follow_the_limits_of_the_functions(void **state) {
    (void)state;
    static const struct {
        const char *op;
        float x, y;
    } rows[] = {
        {"Exp", -INFINITY, 0},
        {"Exp", INFINITY, INFINITY},
        {"Log", 0.0f, -INFINITY},
        {"Log", -1.0f, NAN},
        {"Sqrt", -0.0f, -0.0f},
        {"Sqrt", -1.0f, NAN},
        {"Neg", 0.0f, -0.0f},
        {"Neg", -0.0f, 0.0f},
        {"Neg", INFINITY, -INFINITY},
        {"Tanh", -0.0f, -0.0f},
        {"Tanh", INFINITY, 1},
        {"Sigmoid", -INFINITY, 0},
        {"ReLU", -0.0f, 0.0f},
        {"ReLU", -INFINITY, 0},
        {"Reciprocal", 0.0f, INFINITY},
        {"Reciprocal", -0.0f, -INFINITY},
        {"Round", 0.5f, 0},
        {"Round", 1.5f, 2},
        {"Round", 2.5f, 2},
        {"Round", -0.5f, -0.0f},
        {"Round", 8388609.0f, 8388609.0f},
        {"Mish", -INFINITY, -0.0f},
        {"Sign", -0.0f, -0.0f},
        {"Sign", -INFINITY, -1},
        {"Ceil", -0.5f, -0.0f},
        {"Floor", -0.5f, -1},
        {"Trunc", -0.5f, -0.0f},
        {"Trunc", -1.5f, -1},
        {"Trunc", INFINITY, INFINITY},
        {"Log1p", -0.0f, -0.0f},
        {"Log1p", -1.0f, -INFINITY},
        {"Log1p", -1.5f, NAN},
        {"Log1p", INFINITY, INFINITY},
        {"Rsqrt", 0.0f, INFINITY},
        {"Rsqrt", -0.0f, -INFINITY},
        {"Rsqrt", -1.0f, NAN},
        {"Rsqrt", INFINITY, 0},
        {"Rsqrt", 0x1p-149f, 0x1.6a09e6p+74f},
        {"ReLU6", -0.0f, 0.0f},
        {"ReLU6", 0x1.800002p+2f, 6},
        {"ReLU6", -INFINITY, 0},
        {"SiLU", -0.0f, -0.0f},
        {"SiLU", -INFINITY, -0.0f},
        {"SiLU", INFINITY, INFINITY},
        {"SiLU", -108.6f, -0x1p-149f},
        {"Erf", -INFINITY, -1},
        {"Erf", -0.0f, -0.0f},
        {"Softplus", -INFINITY, 0},
        {"Softplus", INFINITY, INFINITY},
        {"Sin", -0.0f, -0.0f},
        {"Sin", INFINITY, NAN},
        {"Cos", -INFINITY, NAN},
        {"Tan", -0.0f, -0.0f},
        {"Asin", 1.5f, NAN},
        {"Acos", 1, 0},
        {"Atan", -INFINITY, -0x1.921fb6p+0f},
        {"Sinh", -INFINITY, -INFINITY},
        {"Cosh", -INFINITY, INFINITY},
        {"Asinh", -INFINITY, -INFINITY},
        {"Acosh", INFINITY, INFINITY},
        {"Acosh", -5, NAN},
        {"Atanh", -1, -INFINITY},
        {"Atanh", -0.0f, -0.0f},
        {"Mish", INFINITY, INFINITY},
        {"Elu", -INFINITY, -1.7f},
        {"Elu", -0.0f, -0.0f},
        {"HardSigmoid", -INFINITY, 0},
        {"Clamp", NAN, NAN},
        {"GELU", -INFINITY, -0.0f},
        {"GELU", INFINITY, INFINITY},
    };
    for (size_t i = 0; i < UNIT_COUNT(rows); i++)
        for (size_t k = 0; k < UNIT_COUNT(cases); k++) {
            float x = rows[i].x, y;
            if (strcmp(cases[k].op, rows[i].op) != 0) continue;
            run_unary(&cases[k], QDQ_FLOAT32, &x, &y, 1);
            uint32_t wanted = isnan(rows[i].y) ? 0x7FC00000 : unit_bits_of_float(rows[i].y);
            if (unit_bits_of_float(y) != wanted)
                fail_msg("%s of %a is %a", rows[i].op, (double)x, (double)y);
        }
    for (size_t k = 0; k < UNIT_COUNT(cases); k++) {
        float x = unit_float_of_bits(0xFFC12345), y;
        run_unary(&cases[k], QDQ_FLOAT32, &x, &y, 1);
        assert_true(isnan(y));
    }
}

//---- Two inputs -------------------------------------------------------------

typedef struct shapes {
    qdq_shape a, b, y;
} shapes;

#define S(...) QDQ_SHAPE(__VA_ARGS__)
#define SCALAR ((qdq_shape){0})
#define D(...)                                                                     \
    {                                                                              \
        (int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), { __VA_ARGS__ } \
    }
#define NO_DIMS \
    { 0 }

static size_t count_of(qdq_shape s) {
    size_t n = 1;
    for (int i = 0; i < s.rank; i++) n *= (size_t)s.dims[i];
    return n;
}

// Which element of an operand goes with element `at` of y.
static size_t source(qdq_shape y, qdq_shape of, size_t at) {
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

static qdq_value add_binary(qdq_graph *g, const char *op, qdq_value a, qdq_value b,
                            qdq_dtype dtype) {
    qdq_binary_attrs attrs = {.a = a, .b = b, .dtype = dtype};
    return qdq_add_node(g, op, &attrs, sizeof attrs);
}

enum { MOST = 40000 };

static double as_double(qdq_dtype dtype, const void *data, size_t i) {
    float f;
    int32_t whole;
    if (!qdq_dtype_is_real(dtype)) {
        qdq_widen_int(dtype, (const char *)data + i * qdq_dtype_size(dtype), &whole, 1);
        return whole;
    }
    qdq_widen_float(dtype, (const char *)data + i * qdq_dtype_size(dtype), &f, 1);
    return (double)f;
}

// Small integers and halves: every dtype holds them, their sums and their products.
static void fill_small(qdq_dtype dtype, void *data, size_t count, uint64_t seed) {
    for (size_t i = 0; i < count; i++) {
        int32_t v = (int32_t)(unit_random(&seed) % 17) - 8;
        v = v ? v : 1;
        float f = (float)v;
        if (dtype == QDQ_INT32)
            ((int32_t *)data)[i] = v;
        else if (dtype == QDQ_FLOAT32)
            ((float *)data)[i] = f;
        else if (dtype == QDQ_BFLOAT16)
            ((uint16_t *)data)[i] = (uint16_t)(unit_bits_of_float(f) >> 16);
        else
            ((uint16_t *)data)[i] =
                (uint16_t)((unit_bits_of_float(f) >> 16 & 0x8000) |
                           (((unit_bits_of_float(f) >> 23 & 0xFF) - 112) << 10) |
                           (unit_bits_of_float(f) >> 13 & 0x3FF));
    }
}

static void run_binary(const char *op, const shapes *s, qdq_dtype da, qdq_dtype db, qdq_dtype dy,
                       void *a, void *b, void *y) {
    qdq_graph *g = qdq_graph_create("binary", NULL);
    qdq_value va = qdq_input(g, "a", da, s->a), vb = qdq_input(g, "b", db, s->b);
    bool own =
        strcmp(op, "Minimum") != 0 && strcmp(op, "Maximum") != 0 && strcmp(op, "GreaterEqual") != 0;
    qdq_output(g, "y", add_binary(g, op, va, vb, own ? dy : QDQ_DTYPE_NONE));
    network_tensor inputs[] = {{"a", da, a, count_of(s->a)}, {"b", db, b, count_of(s->b)}};
    network_run(g, inputs, 2, (network_tensor){"y", dy, y, count_of(s->y)});
    qdq_graph_destroy(g);
}

static const shapes joins[] = {
    {D(33, 40), D(33, 40), D(33, 40)},
    {D(33, 40), D(40), D(33, 40)},
    {D(33, 40), D(33, 1), D(33, 40)},
    {D(33, 40), NO_DIMS, D(33, 40)},
    {D(33, 40), D(1, 1), D(33, 40)},
    {D(40), D(33, 40), D(33, 40)},
    {NO_DIMS, D(5, 7), D(5, 7)},
    {D(33, 1), D(1, 40), D(33, 40)},
    {D(5, 1, 7), D(3, 1), D(5, 3, 7)},
    {D(2, 3, 4, 5), D(3, 1, 5), D(2, 3, 4, 5)},
    {NO_DIMS, NO_DIMS, NO_DIMS},
    {D(1), D(1, 1, 1), D(1, 1, 1)},
    {D(2, 3, 70, 31), D(2, 1, 70, 31), D(2, 3, 70, 31)},
    {D(4, 1, 300), D(1, 5, 300), D(4, 5, 300)},
};

static void operands_are_broadcast_to_one_shape(void **state) {
    (void)state;
    static float a[MOST], b[MOST], y[MOST];
    static const char *const ops[] = {"Add",    "Subtract", "Multiply",
                                      "Divide", "Minimum",  "Maximum"};
    fill_small(QDQ_FLOAT32, a, MOST, 3), fill_small(QDQ_FLOAT32, b, MOST, 7);
    for (size_t k = 0; k < UNIT_COUNT(joins); k++)
        for (size_t o = 0; o < UNIT_COUNT(ops); o++) {
            const shapes *s = &joins[k];
            run_binary(ops[o], s, QDQ_FLOAT32, QDQ_FLOAT32, QDQ_FLOAT32, a, b, y);
            for (size_t i = 0; i < count_of(s->y); i++) {
                float x = a[source(s->y, s->a, i)], z = b[source(s->y, s->b, i)];
                float wanted = o == 0   ? x + z
                               : o == 1 ? x - z
                               : o == 2 ? x * z
                               : o == 3 ? x / z
                               : o == 4 ? fminf(x, z)
                                        : fmaxf(x, z);
                assert_true(y[i] == wanted);
            }
        }
}

static void every_dtype_goes_with_every_other(void **state) {
    (void)state;
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16, QDQ_INT32};
    static float a[MOST], b[MOST], y[MOST];
    for (size_t i = 0; i < 4 * 4 * 4; i++) {
        qdq_dtype da = dtypes[i % 4], db = dtypes[i / 4 % 4], dy = dtypes[i / 16];
        fill_small(da, a, MOST, 3), fill_small(db, b, MOST, 7);
        for (size_t k = 0; k < UNIT_COUNT(joins); k++) {
            const shapes *s = &joins[k];
            run_binary("Subtract", s, da, db, dy, a, b, y);
            for (size_t e = 0; e < count_of(s->y); e++)
                assert_true(as_double(dy, y, e) == as_double(da, a, source(s->y, s->a, e)) -
                                                       as_double(db, b, source(s->y, s->b, e)));
        }
    }
}

static void sums_of_int32_wrap_around(void **state) {
    (void)state;
    int32_t a[] = {INT32_MAX, INT32_MIN, 16777217, -16777217, 7};
    int32_t b[] = {1, -1, 1, 16777216, INT32_MIN}, y[5];
    uint8_t more[5];
    shapes s = {S(5), S(5), S(5)};
    run_binary("Add", &s, QDQ_INT32, QDQ_INT32, QDQ_INT32, a, b, y);
    assert_memory_equal(y, ((int32_t[]){INT32_MIN, INT32_MAX, 16777218, -1, -2147483641}), 20);
    run_binary("Subtract", &s, QDQ_INT32, QDQ_INT32, QDQ_INT32, a, b, y);
    assert_memory_equal(y, ((int32_t[]){2147483646, -2147483647, 16777216, -33554433, -2147483641}),
                        20);
    int32_t near[] = {INT32_MAX - 1, INT32_MIN, 16777216, -16777217, 7};
    run_binary("GreaterEqual", &s, QDQ_INT32, QDQ_INT32, QDQ_BOOL, near, a, more);
    assert_memory_equal(more, ((uint8_t[]){0, 1, 0, 1, 1}), 5);
}

static void nan_wins_and_zeros_have_an_order(void **state) {
    (void)state;
    float a[] = {NAN, 1, -0.0f, 0.0f, INFINITY, NAN}, b[] = {1, NAN, 0.0f, -0.0f, 5, NAN}, y[6];
    uint8_t more[6];
    shapes s = {S(6), S(6), S(6)};
    uint32_t bits[6];
    run_binary("Minimum", &s, QDQ_FLOAT32, QDQ_FLOAT32, QDQ_FLOAT32, a, b, y);
    memcpy(bits, y, sizeof bits);
    assert_memory_equal(
        bits,
        ((uint32_t[]){0x7FC00000, 0x7FC00000, 0x80000000, 0x80000000, 0x40A00000, 0x7FC00000}),
        sizeof bits);
    run_binary("Maximum", &s, QDQ_FLOAT32, QDQ_FLOAT32, QDQ_FLOAT32, a, b, y);
    memcpy(bits, y, sizeof bits);
    assert_memory_equal(bits, ((uint32_t[]){0x7FC00000, 0x7FC00000, 0, 0, 0x7F800000, 0x7FC00000}),
                        sizeof bits);
    run_binary("GreaterEqual", &s, QDQ_FLOAT32, QDQ_FLOAT32, QDQ_BOOL, a, b, more);
    assert_memory_equal(more, ((uint8_t[]){0, 0, 1, 1, 1, 0}), 6);
}

static void a_value_may_be_both_operands(void **state) {
    (void)state;
    static float x[MOST], y[MOST];
    fill_small(QDQ_FLOAT32, x, MOST, 9);
    qdq_graph *g = qdq_graph_create("twice", NULL);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, S(130, 70));
    qdq_value sum = qdq_add(g, in, in, (qdq_binary_attrs){.name = "sum"});
    qdq_value more = qdq_multiply(g, sum, in, (qdq_binary_attrs){.name = "more"});
    qdq_value last = qdq_add(g, more, sum, (qdq_binary_attrs){.name = "last"});
    qdq_output(g, "y", last);
    network_tensor input = {"x", QDQ_FLOAT32, x, 9100};
    network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, 9100});
    for (size_t i = 0; i < 9100; i++) assert_true(y[i] == 2 * x[i] * x[i] + 2 * x[i]);
    qdq_graph_destroy(g);
}

static void constants_are_operands(void **state) {
    (void)state;
    static float x[MOST], table[2000], y[MOST];
    fill_small(QDQ_FLOAT32, x, MOST, 9), fill_small(QDQ_FLOAT32, table, 2000, 4);
    qdq_graph *g = qdq_graph_create("constants", NULL);
    qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, S(3, 2000));
    qdq_value c = qdq_constant(g, "c", QDQ_FLOAT32, S(2000), table);
    qdq_value one = qdq_constant(g, "one", QDQ_FLOAT32, SCALAR, &(float){1.0f});
    qdq_value sum = qdq_add(g, c, in, (qdq_binary_attrs){0});
    qdq_output(g, "y", qdq_subtract(g, one, sum, (qdq_binary_attrs){0}));
    network_tensor input = {"x", QDQ_FLOAT32, x, 6000};
    network_run(g, &input, 1, (network_tensor){"y", QDQ_FLOAT32, y, 6000});
    for (size_t i = 0; i < 6000; i++) assert_true(y[i] == 1 - (table[i % 2000] + x[i]));
    qdq_graph_destroy(g);
}

//---- Select, BiasAdd, PReLU -------------------------------------------------

static void select_takes_a_where_the_condition_holds(void **state) {
    (void)state;
    static const struct {
        qdq_shape c, a, b, y;
    } rows[] = {
        {D(33, 40), D(33, 40), D(33, 40), D(33, 40)}, {D(1, 40), D(33, 40), NO_DIMS, D(33, 40)},
        {D(33, 1), NO_DIMS, D(33, 40), D(33, 40)},    {NO_DIMS, D(33, 1), D(1, 40), D(33, 40)},
        {D(40), D(33, 1), D(1, 40), D(33, 40)},
    };
    static uint8_t c[MOST];
    static float a[MOST], b[MOST], y[MOST];
    uint64_t random = 8;
    for (size_t i = 0; i < MOST; i++) c[i] = unit_random(&random) % 2;
    fill_small(QDQ_FLOAT32, a, MOST, 3), fill_small(QDQ_FLOAT32, b, MOST, 7);
    a[1] = unit_float_of_bits(0xFFC12345);  // a NaN passes unchanged
    for (size_t k = 0; k < UNIT_COUNT(rows); k++) {
        qdq_graph *g = qdq_graph_create("select", NULL);
        qdq_value vc = qdq_input(g, "c", QDQ_BOOL, rows[k].c);
        qdq_value va = qdq_input(g, "a", QDQ_FLOAT32, rows[k].a);
        qdq_value vb = qdq_input(g, "b", QDQ_FLOAT32, rows[k].b);
        qdq_output(g, "y", qdq_select(g, vc, va, vb, (qdq_select_attrs){0}));
        network_tensor inputs[] = {{"c", QDQ_BOOL, c, count_of(rows[k].c)},
                                   {"a", QDQ_FLOAT32, a, count_of(rows[k].a)},
                                   {"b", QDQ_FLOAT32, b, count_of(rows[k].b)}};
        network_run(g, inputs, 3, (network_tensor){"y", QDQ_FLOAT32, y, count_of(rows[k].y)});
        for (size_t i = 0; i < count_of(rows[k].y); i++) {
            float wanted = c[source(rows[k].y, rows[k].c, i)] ? a[source(rows[k].y, rows[k].a, i)]
                                                              : b[source(rows[k].y, rows[k].b, i)];
            assert_int_equal(unit_bits_of_float(y[i]), unit_bits_of_float(wanted));
        }
        qdq_graph_destroy(g);
    }
}

static void channels_have_their_own_bias_and_slope(void **state) {
    (void)state;
    static float x[MOST], per[64], y[MOST];
    fill_small(QDQ_FLOAT32, x, MOST, 3), fill_small(QDQ_FLOAT32, per, 64, 5);
    for (int format = 0; format < 2; format++)
        for (int op = 0; op < 2; op++) {
            qdq_graph *g = qdq_graph_create("channels", NULL);
            qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, S(2, 6, 5, 7));
            int64_t channels = format == QDQ_NCX ? 6 : 7;
            qdq_value vp = qdq_input(g, "p", QDQ_FLOAT32, S(channels));
            qdq_value out =
                op ? qdq_prelu(g, in, vp, (qdq_prelu_attrs){.data_format = (qdq_data_format)format})
                   : qdq_bias_add(g, in, vp,
                                  (qdq_bias_add_attrs){.data_format = (qdq_data_format)format});
            qdq_output(g, "y", out);
            network_tensor inputs[] = {{"x", QDQ_FLOAT32, x, 420},
                                       {"p", QDQ_FLOAT32, per, (size_t)channels}};
            network_run(g, inputs, 2, (network_tensor){"y", QDQ_FLOAT32, y, 420});
            for (size_t i = 0; i < 420; i++) {
                float p = per[format == QDQ_NCX ? i / 35 % 6 : i % 7];
                assert_true(y[i] == (op ? x[i] > 0 ? x[i] : p * x[i] : x[i] + p));
            }
            qdq_graph_destroy(g);
        }
}

static void a_slope_of_another_shape_is_broadcast(void **state) {
    (void)state;
    static float x[420], per[420], y[420];
    fill_small(QDQ_FLOAT32, x, 420, 3), fill_small(QDQ_FLOAT32, per, 420, 5);
    const qdq_shape slopes[] = {SCALAR, S(1), S(7), S(6, 1, 1), S(2, 6, 5, 7)}, xs = S(2, 6, 5, 7);
    for (size_t k = 0; k < UNIT_COUNT(slopes); k++) {
        qdq_graph *g = qdq_graph_create("slopes", NULL);
        qdq_value in = qdq_input(g, "x", QDQ_FLOAT32, xs);
        qdq_value vp = qdq_input(g, "p", QDQ_FLOAT32, slopes[k]);
        qdq_output(g, "y",
                   qdq_prelu(g, in, vp,
                             (qdq_prelu_attrs){.data_format = QDQ_NCX,
                                               .per_channel_broadcast = QDQ_FALSE}));
        network_tensor inputs[] = {{"x", QDQ_FLOAT32, x, 420},
                                   {"p", QDQ_FLOAT32, per, count_of(slopes[k])}};
        network_run(g, inputs, 2, (network_tensor){"y", QDQ_FLOAT32, y, 420});
        for (size_t i = 0; i < 420; i++)
            assert_true(y[i] == (x[i] > 0 ? x[i] : per[source(xs, slopes[k], i)] * x[i]));
        qdq_graph_destroy(g);
    }
}

//---- Refusals ---------------------------------------------------------------

static void mismatched_operands_are_refused(void **state) {
    (void)state;
    qdq_graph *g = qdq_graph_create(NULL, NULL);
    qdq_value a = qdq_input(g, "a", QDQ_FLOAT32, S(3, 4));
    qdq_value b = qdq_input(g, "b", QDQ_FLOAT32, S(3));
    qdq_output(g, "y", qdq_add(g, a, b, (qdq_binary_attrs){.name = "n"}));
    network_refuses(g, "core/port-shape",
                    "node 'n': Add: b has the shape [3], wanted one that goes with [3, 4] of a");

    g = qdq_graph_create(NULL, NULL);
    a = qdq_input(g, "a", QDQ_FLOAT32, S(3, 4)), b = qdq_input(g, "b", QDQ_FLOAT32, S(4));
    qdq_output(
        g, "y",
        qdq_add(g, a, b, (qdq_binary_attrs){.name = "n", .auto_broadcast = QDQ_BROADCAST_NONE}));
    network_refuses(g, "core/port-shape", "b has the shape [4], wanted [3, 4], the shape of a");

    g = qdq_graph_create(NULL, NULL);
    a = qdq_input(g, "a", QDQ_FLOAT32, S(4)), b = qdq_input(g, "b", QDQ_BFLOAT16, S(4));
    qdq_output(g, "y", qdq_minimum(g, a, b, (qdq_binary_attrs){.name = "n"}));
    network_refuses(g, "core/port-dtype", "b is bfloat16, wanted float32, as a is");

    g = qdq_graph_create(NULL, NULL);
    a = qdq_input(g, "a", QDQ_FLOAT32, S(4));
    qdq_output(g, "y", qdq_elu(g, a, (qdq_alpha_attrs){.name = "n"}));
    network_refuses(g, "core/attr-required", "node 'n': Elu: alpha is missing");

    g = qdq_graph_create(NULL, NULL);
    a = qdq_input(g, "a", QDQ_FLOAT32, S(4));
    qdq_output(
        g, "y",
        qdq_clamp(g, a, (qdq_clamp_attrs){.name = "n", .min = QDQ_FLOAT(2), .max = QDQ_FLOAT(1)}));
    network_refuses(g, "core/attr-value", "min is 2, wanted at most max, which is 1");

    g = qdq_graph_create(NULL, NULL);
    a = qdq_input(g, "a", QDQ_FLOAT32, S(2, 3, 4)), b = qdq_input(g, "b", QDQ_FLOAT32, S(3));
    qdq_output(g, "y", qdq_bias_add(g, a, b, (qdq_bias_add_attrs){.name = "n"}));
    network_refuses(g, "core/port-shape", "bias has the shape [3], wanted [4]: the channels of x");

    g = qdq_graph_create(NULL, NULL);
    qdq_value c = qdq_input(g, "c", QDQ_BOOL, S(2, 4));
    a = qdq_input(g, "a", QDQ_FLOAT32, S(4)), b = qdq_input(g, "b", QDQ_FLOAT32, S(4));
    qdq_output(g, "y", qdq_select(g, c, a, b, (qdq_select_attrs){.name = "n"}));
    network_refuses(g, "core/port-shape",
                    "condition has the shape [2, 4], wanted one that can be broadcast to [4]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_rounded_as_stated),
        cmocka_unit_test(narrow_floats_are_float32_rounded_once_more),
        cmocka_unit_test(special_values_follow_the_limits_of_the_functions),
        cmocka_unit_test(operands_are_broadcast_to_one_shape),
        cmocka_unit_test(every_dtype_goes_with_every_other),
        cmocka_unit_test(sums_of_int32_wrap_around),
        cmocka_unit_test(nan_wins_and_zeros_have_an_order),
        cmocka_unit_test(a_value_may_be_both_operands),
        cmocka_unit_test(constants_are_operands),
        cmocka_unit_test(select_takes_a_where_the_condition_holds),
        cmocka_unit_test(channels_have_their_own_bias_and_slope),
        cmocka_unit_test(a_slope_of_another_shape_is_broadcast),
        cmocka_unit_test(mismatched_operands_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
