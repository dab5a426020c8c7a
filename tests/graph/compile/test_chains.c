// SPDX-License-Identifier: Apache-2.0
// Chains whose links run on several strips at once, or are fused into one lookup table.
#include <math.h>
#include <qdq/qdq.h>

#include "tests/unit.h"

// x -> Quantize -> Dequantize and so on, with another scale each time, then a DynamicQuantize. With
// `seen` the result of the second Dequantize is an output, too.
static qdq_graph *long_chain(int64_t count, qdq_dtype middle, bool seen) {
    qdq_graph *g = qdq_graph_create("chain", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE(count));
    for (int i = 0; i < 4; i++) {
        float scale = 0.3f + 0.17f * (float)i;
        qdq_quantize_attrs q = {.scales = QDQ_SCALE(scale), .zps = QDQ_ZP(i), .dtype = QDQ_INT8};
        qdq_dequantize_attrs d = {.scales = QDQ_SCALE(scale), .zps = QDQ_ZP(i), .dtype = middle};
        if (i == 2) q.dtype = QDQ_UINT8;
        v = qdq_quantize(g, v, q);
        v = qdq_dequantize(g, v, d);
        if (i == 1 && seen) qdq_output(g, "seen", v);
    }
    qdq_dynamic_quantize_attrs dynamic = {.quantize = {.dtype = QDQ_INT8}};
    qdq_value y = qdq_dynamic_quantize(g, v, dynamic);
    qdq_output(g, "v", v), qdq_output(g, "y", y), qdq_output(g, "scale", qdq_port(g, y, "scale"));
    return g;
}

// Each link rounds, whatever links are fused and whatever strips they run on.
static void long_chains_give_the_bits_of_their_single_nodes(void **state) {
    static const int64_t counts[] = {1, 1023, 1025, 4095, 4096, 4097, 9001};
    static const qdq_dtype middles[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static float x[9001];
    static unsigned char got[2][4][9001 * 4];
    (void)state;
    uint64_t random = 5;
    for (size_t i = 0; i < UNIT_COUNT(x); i++)
        x[i] = (float)((int64_t)(unit_random(&random) % 4001) - 2000) / 32.0f;
    for (size_t i = 0; i < UNIT_COUNT(counts) * 3 * 2; i++) {
        int64_t count = counts[i / 6];
        qdq_graph *g = long_chain(count, middles[i % 3], i / 3 % 2 == 1);
        for (int k = 0; k < 2; k++) {
            qdq_compile_options options = {.materialize = k == 1};
            qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
            qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
            assert_non_null(exec);
            qdq_exec_write(exec, "x", QDQ_FLOAT32, x, (size_t)count, NULL);
            qdq_exec_run(exec);
            for (size_t o = 0; o < qdq_plan_output_count(plan); o++) {
                const qdq_tensor_info *info = qdq_plan_output(plan, o);
                size_t n = info->bytes / qdq_dtype_size(info->dtype);
                qdq_exec_read(exec, info->name, info->dtype, got[k][o], n, NULL);
            }
            qdq_exec_destroy(exec), qdq_plan_destroy(plan);
        }
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        qdq_graph_destroy(g);
    }
}

// Codes to codes through functions: with scales of powers of two every step is exact, and ties go
// to even. The factor is a dequantized constant. With `seen` the codes in between are an output.
enum { BY_TABLE = 9001 };

static qdq_graph *chain_of_functions(int64_t count, bool seen) {
    static const int8_t factor[] = {3};
    qdq_graph *g = qdq_graph_create("functions", NULL);
    qdq_value x = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(count));
    qdq_value f = qdq_constant(g, "factor", QDQ_INT8, (qdq_shape){0}, factor);
    qdq_dequantize_attrs of_x = {.scales = QDQ_SCALE(0.25f), .zps = QDQ_ZP(100)};
    qdq_dequantize_attrs of_factor = {.scales = QDQ_SCALE(0.5f)};
    qdq_quantize_attrs to_middle = {
        .scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(-7), .dtype = QDQ_INT8};
    qdq_dequantize_attrs of_middle = {.scales = QDQ_SCALE(0.5f), .zps = QDQ_ZP(-7)};
    qdq_quantize_attrs to_y = {.scales = QDQ_SCALE(0.75f), .zps = QDQ_ZP(3), .dtype = QDQ_UINT8};
    of_x.dtype = of_factor.dtype = of_middle.dtype = QDQ_FLOAT32;
    qdq_value product = qdq_multiply(g, qdq_dequantize(g, x, of_x), qdq_dequantize(g, f, of_factor),
                                     (qdq_binary_attrs){0});
    qdq_value middle = qdq_quantize(g, product, to_middle);
    if (seen) qdq_output(g, "seen", middle);
    qdq_clamp_attrs bounds = {.min = QDQ_FLOAT(-6), .max = QDQ_FLOAT(37.5f)};
    qdq_value cut = qdq_clamp(g, qdq_dequantize(g, middle, of_middle), bounds);
    qdq_output(g, "y", qdq_quantize(g, cut, to_y));
    return g;
}

static double bounded(double x, double least, double greatest) {
    return x < least ? least : x > greatest ? greatest : x;
}

static int middle_code(int x) { return (int)bounded(nearbyint((x - 100) * 0.75) - 7, -128, 127); }

static int last_code(int middle) {
    double real = bounded((middle + 7) * 0.5, -6, 37.5);
    return (int)bounded(nearbyint(real / 0.75) + 3, 0, 255);
}

static void chains_of_functions_map_codes_to_codes(void **state) {
    static const int64_t counts[] = {1, 4095, 4096, BY_TABLE};
    static const char *const isas[] = {NULL, "avx2", "portable"};
    static uint8_t x[BY_TABLE], y[BY_TABLE];
    static int8_t seen[BY_TABLE];
    (void)state;
    for (size_t i = 0; i < BY_TABLE; i++) x[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < UNIT_COUNT(counts) * 2 * UNIT_COUNT(isas); i++) {
        size_t count = (size_t)counts[i / 6];
        qdq_graph *g = chain_of_functions(counts[i / 6], i % 2);
        qdq_compile_options options = {.isa = isas[i / 2 % 3]};
        qdq_plan *plan = qdq_graph_compile(g, &options, NULL);
        qdq_graph_destroy(g);
        if (!plan && options.isa) continue;  // another kind of machine
        qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
        assert_non_null(exec);
        qdq_exec_write(exec, "x", QDQ_UINT8, x, count, NULL);
        qdq_exec_run(exec);
        assert_int_equal(qdq_exec_read(exec, "y", QDQ_UINT8, y, count, NULL), QDQ_OK);
        if (i % 2)
            assert_int_equal(qdq_exec_read(exec, "seen", QDQ_INT8, seen, count, NULL), QDQ_OK);
        for (size_t k = 0; k < count; k++) {
            int middle = middle_code(x[k]);
            assert_int_equal(y[k], last_code(middle));
            if (i % 2) assert_int_equal(seen[k], middle);
        }
        qdq_exec_destroy(exec), qdq_plan_destroy(plan);
    }
}

// A ReLU before a Quantize can be dropped if the least code stands for 0. Not with another zero
// point, a negative scale, scales given at run time, or another rounding. A ReLU6 can if the
// greatest code stands for at most 6, too: 63.75, 7.5, 6.0, 5.95 and 3.75 are the greatest below.
typedef struct cut {
    qdq_dtype x, y;
    const char *target;
    float scale;
    int zero;
    bool bounded, later;  // bounded: quant_min is the zero point; later: the scale is an input
    qdq_overflow overflow;
    bool at_6;  // ReLU6
} cut;

static const cut cuts[] = {
    {QDQ_FLOAT32, QDQ_UINT8, "onnx", 0.25f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_INT8, "onnx", 0.25f, -128, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_INT8, "core", 0.25f, -3, true, false, 0, false},
    {QDQ_BFLOAT16, QDQ_UINT8, "onnx", 0.3f, 0, false, false, 0, false},
    {QDQ_FLOAT16, QDQ_INT4, "onnx@1.31", 0.5f, -8, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "onnx", 0.25f, 3, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_INT8, "onnx", 0.25f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "core", -0.25f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "onnx", 0.25f, 0, false, true, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "ttnn", 0.25f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "onednn", 0.3f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_FLOAT8_E4M3FN, "onnx", 0.25f, 0, false, false, 0, false},
    {QDQ_FLOAT32, QDQ_UINT8, "core", 0.25f, 0, false, false, QDQ_OVERFLOW_MAGNITUDE, false},
    {QDQ_FLOAT32, QDQ_INT8, "core", 0.25f, -128, false, false, QDQ_OVERFLOW_WRAP, false},
    {QDQ_FLOAT32, QDQ_UINT8, "onnx", 0.25f, 0, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_UINT4, "onnx", 0.5f, 0, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_UINT4, "core", 0.4f, 0, false, false, 0, true},
    {QDQ_BFLOAT16, QDQ_UINT4, "onnx", 0.25f, 0, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_UINT4, "onnx", 0.25f, 3, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_INT8, "core", 6 / 255.0f, -128, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_INT8, "core", 5.95f / 255.0f, -128, false, false, 0, true},
    {QDQ_FLOAT32, QDQ_UINT8, "ttnn", 0.0234375f, 0, false, false, 0, true},
};

static qdq_graph *cut_graph(const cut *c, int64_t count) {
    qdq_graph *g = qdq_graph_create("cut", NULL);
    qdq_quantize_attrs q = {.scales = QDQ_SCALE(c->scale), .zps = QDQ_ZP(c->zero), .dtype = c->y};
    qdq_value x = qdq_input(g, "x", c->x, QDQ_SHAPE(count));
    qdq_unary_attrs unary = {0};
    q.x = c->at_6 ? qdq_relu6(g, x, unary) : qdq_relu(g, x, unary);
    if (c->y == QDQ_FLOAT8_E4M3FN) q.zps = (qdq_numbers){0};
    if (c->bounded) q.quant_min = QDQ_INT(c->zero);
    if (c->later)
        q.scales = (qdq_floats){0}, q.scale = qdq_input(g, "scale", QDQ_FLOAT32, QDQ_SHAPE(1));
    qdq_output(g, "y", qdq_add_node(g, "Quantize", &q, sizeof q));
    return g;
}

// The codes of x, fused or materialized.
static void run_cut(qdq_graph *g, const cut *c, bool materialize, const float *x, size_t count,
                    void *codes) {
    qdq_error err = {0};
    qdq_numerics numerics = {.overflow = c->overflow};
    qdq_compile_options options = {.materialize = materialize, .target = c->target};
    if (c->overflow) options.numerics = &numerics;
    qdq_plan *plan = qdq_graph_compile(g, &options, &err);
    if (!plan) fail_msg("%s: %s", c->target, err.text);
    qdq_exec *exec = qdq_exec_create(plan, NULL, NULL);
    assert_non_null(exec);
    float scale = c->scale;
    qdq_exec_write(exec, "x", QDQ_FLOAT32, x, count, NULL);
    if (c->later) qdq_exec_write(exec, "scale", QDQ_FLOAT32, &scale, 1, NULL);
    qdq_exec_run(exec);
    assert_int_equal(qdq_exec_read(exec, "y", c->y, codes, count, &err), QDQ_OK);
    qdq_exec_destroy(exec), qdq_plan_destroy(plan);
}

// max(x, 0) by ONNX's formula; all x are multiples of a quarter, or far out of range. ONNX Runtime
// 1.31 converts the quotient of a float16 to int32 first: NaN and infinity become INT32_MIN, to
// which the zero point is added modulo 2^32.
static int cut_code(const cut *c, float x) {
    const qdq_dtype_info *y = qdq_dtype_get(c->y);
    int least = (int)y->least, greatest = (int)y->greatest;
    if (c->at_6 && x > 6) x = 6;
    if (c->bounded) least = (int)c->zero;
    if (c->x == QDQ_FLOAT16 && (x != x || x > 65504.0f)) return c->zero < 0 ? greatest : least;
    if (x != x) return least;
    double q = nearbyint((double)(x > 0 ? x : 0) / (double)c->scale) + (double)c->zero;
    return q < least ? least : q > greatest ? greatest : (int)q;
}

static void a_relu_cuts_negative_values_before_any_quantize(void **state) {
    static const float odd[] = {-INFINITY, INFINITY, NAN, -0.0f, 0, -0x1p-149f, 0x1p-149f, -1e30f};
    enum { COUNT = 5000 };
    static float x[COUNT];
    static int8_t codes[2][COUNT];
    (void)state;
    for (int i = 0; i < COUNT; i++)
        x[i] = i < (int)UNIT_COUNT(odd) ? odd[i] : (float)(i % 801 - 400) / 4;
    for (size_t i = 0; i < UNIT_COUNT(cuts); i++) {
        const cut *c = &cuts[i];
        qdq_graph *g = cut_graph(c, COUNT);
        for (int k = 0; k < 2; k++) run_cut(g, c, k == 1, x, COUNT, codes[k]);
        assert_memory_equal(codes[0], codes[1], COUNT);
        bool exact = c->scale == 0.25f || c->scale == 0.5f;
        for (int j = 0; exact && (strncmp(c->target, "onnx", 4) == 0 || c->bounded) &&
                        c->y != QDQ_FLOAT8_E4M3FN && j < COUNT;
             j++) {
            int code = c->y == QDQ_UINT8 ? (uint8_t)codes[0][j] : codes[0][j];
            if (code != cut_code(c, x[j]))
                fail_msg("case %zu, x %g: got %d, want %d", i, (double)x[j], code,
                         cut_code(c, x[j]));
        }
        qdq_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_chains_give_the_bits_of_their_single_nodes),
        cmocka_unit_test(chains_of_functions_map_codes_to_codes),
        cmocka_unit_test(a_relu_cuts_negative_values_before_any_quantize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
