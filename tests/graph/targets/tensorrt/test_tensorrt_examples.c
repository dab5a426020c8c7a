// SPDX-License-Identifier: Apache-2.0
// Worked examples from TensorRT's operator pages and from the tests of Tripy, MLIR-TensorRT and
// Model-Optimizer.
#include "tests/ops/small_example.h"

enum { LONGEST = 32, ALL = 7 };

typedef enum backend { ONNX = 1, TENSORRT = 2, TRIPY = 4 } backend;
static const struct {
    backend bit;
    const char *name;
} backends[] = {{ONNX, "onnx"}, {TENSORRT, "tensorrt"}, {TRIPY, "tripy"}};

typedef struct example_row {
    const char *what;
    unsigned backends;
    bool narrow;   // also with float16 and bfloat16 for x, y and the scale
    qdq_dtype to;  // the quantized type
    grain grain;   // the shape of x and its parameters
    float scales[16];
    bool codes;  // x holds codes, and the only node is a Dequantize
    float x[LONGEST];
    float q[LONGEST];  // the codes, unless x holds them
    float y[LONGEST];  // the dequantized results to six digits
} example_row;

#define TENSOR(...)                             \
    {                                           \
        QDQ_PER_TENSOR, 0, {__VA_ARGS__}, { 0 } \
    }
#define CHANNEL(axis, ...)                          \
    {                                               \
        QDQ_PER_CHANNEL, axis, {__VA_ARGS__}, { 0 } \
    }
#define PAIRS(...)                         \
    {                                      \
        QDQ_PER_GROUP, 0, {__VA_ARGS__}, { \
            2, { 2, 1 }                    \
        }                                  \
    }
#define SAME(...) \
    {__VA_ARGS__}, { __VA_ARGS__ }

// clang-format off
static const example_row example_rows[] = {
    // Needs a division: multiplying by 1 / s gives 17 and 64.
    {"17.5", ALL, false, QDQ_INT8, TENSOR(1, {1}), {1.0f / 7}, false, {2.5f}, {18}, {18.0f / 7}},
    {"63.5", ALL, false, QDQ_INT8, TENSOR(1, {1}), {13.0f / 127}, false, {6.5f}, {63}, {6.4488189f}},
    // From the operator pages.
    {"3x3", ALL, false, QDQ_INT8, TENSOR(4, {1, 1, 3, 3}), {1.0f / 127}, false,
     {.56f, .89f, 1.4f, -.56f, .39f, 6, .67f, .11f, -3.6f}, {71, 113, 127, -71, 50, 127, 85, 14, -128},
     {.559055f, .889764f, 1, -.559055f, .393701f, 1, .669291f, .110236f, -1.007874f}},
    {"4x8 blocks of 2", ALL, false, QDQ_INT4, PAIRS(2, {4, 8}), {1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7}, false,
     {1, 1, 2, 2, 3, 3, 4, 4, 1.1f, 1.1f, 2.1f, 2.1f, 3.1f, 3.1f, 4.1f, 4.1f,
      4, 4, 5, 5, 6, 6, 7, 7, 4.2f, 4.2f, 5.2f, 5.2f, 6.2f, 6.2f, 7.2f, 7.2f},
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     {1, 1, 2, 2, 3, 3, 4, 4, 1, 1, 2, 2, 3, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 7, 4, 4, 5, 5, 6, 6, 7, 7}},
    {"ties of e4m3", ALL, true, QDQ_FLOAT8_E4M3FN, TENSOR(1, {10}), {1}, false,
     {25, 35, 50, 70, 127, -25, -35, -50, -70, -127}, SAME(24, 36, 48, 72, 128, -24, -36, -48, -72, -128)},
    {"ties of e2m1", ONNX | TENSORRT, true, QDQ_FLOAT4_E2M1, TENSOR(1, {14}), {1}, false,
     {.25f, .75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, -.25f, -.75f, -1.25f, -1.75f, -2.5f, -3.5f, -5},
     SAME(0, 1, 1, 2, 2, 4, 4, 0, -1, -1, -2, -2, -4, -4)},
    // From MLIR-TensorRT: its JAX wrapper, and graphs that its verifier accepts.
    {"dq tensor", ALL, true, QDQ_INT8, TENSOR(2, {2, 4}), {.5f}, true, {10, 20, 30, 40, 50, 60, 70, 80}, {0},
     {5, 10, 15, 20, 25, 30, 35, 40}},
    {"dq channel", ALL, false, QDQ_INT8, CHANNEL(0, 2, {2, 4}), {.5f, .1f}, true, {10, 20, 30, 40, 50, 60, 70, 80}, {0},
     {5, 10, 15, 20, 5, 6, 7, 8}},
    {"dq block", ONNX | TENSORRT, true, QDQ_FLOAT8_E4M3FN, PAIRS(2, {2, 4}), {2, 2, 2, 2}, true,
     {5, 10, 15, 20, 25, 30, 35, 40}, {0}, {10, 20, 30, 40, 48, 60, 72, 80}},
    {"q tensor", ALL, true, QDQ_INT8, TENSOR(2, {2, 4}), {1}, false, {10, 20, 30, 40, 50, 60, 70, 80},
     SAME(10, 20, 30, 40, 50, 60, 70, 80)},
    {"q channel", ALL, true, QDQ_INT8, CHANNEL(0, 2, {2, 4}), {2, 10}, false, {10, 20, 30, 40, 50, 60, 70, 80},
     {5, 10, 15, 20, 5, 6, 7, 8}, {10, 20, 30, 40, 50, 60, 70, 80}},
    {"q block", ONNX | TENSORRT, true, QDQ_FLOAT8_E4M3FN, PAIRS(2, {2, 4}), {1, 1, 1, 1}, false,
     {10, 20, 30, 40, 50, 60, 70, 80}, SAME(10, 20, 30, 40, 48, 60, 72, 80)},
    {"4.0", ALL, true, QDQ_INT4, PAIRS(2, {2, 4}), {1, 1, 1, 1}, false, {4, 4, 4, 4, 4, 4, 4, 4},
     SAME(4, 4, 4, 4, 4, 4, 4, 4)},
    {"odd last dim", ALL, true, QDQ_INT4, PAIRS(2, {4, 3}), {1, 2, 3, 4, 5, 6}, false,
     {1, 2, 3, 2, 4, 6, 4, 5, 6, 8, 10, 12}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}, {1, 2, 3, 2, 4, 6, 4, 5, 6, 8, 10, 12}},
    // From Tripy's integration tests.
    {"int8", ALL, true, QDQ_INT8, TENSOR(1, {2}), {.5f}, false, {1, 2}, {2, 4}, {1, 2}},
    {"int8 channels", ALL, false, QDQ_INT8, CHANNEL(0, 2, {2, 2}), {.2f, .1f}, false, {1, 2, 3, 4}, {5, 10, 30, 40}, {1, 2, 3, 4}},
    {"fp8", ALL, true, QDQ_FLOAT8_E4M3FN, TENSOR(1, {2}), {.5f}, false, {1, 2}, {2, 4}, {1, 2}},
    {"fp8 channels", ALL, false, QDQ_FLOAT8_E4M3FN, CHANNEL(0, 2, {2, 2}), {.2f, .1f}, false, {1, 2, 3, 4}, {5, 10, 30, 40}, {1, 2, 3, 4}},
    {"int4 blocks", ALL, true, QDQ_INT4, PAIRS(2, {4, 4}), {1, 1, 1, 1, 1, 1, 1, 1}, false,
     {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, SAME(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)},
    {"int4", ALL, true, QDQ_INT4, TENSOR(2, {2, 2}), {1}, false, {1, 1, 1, 1}, SAME(1, 1, 1, 1)},
    {"int4 rows", ALL, true, QDQ_INT4, CHANNEL(0, 2, {2, 4}), {1, 1}, false, {1, 1, 1, 1, 1, 1, 1, 1}, SAME(1, 1, 1, 1, 1, 1, 1, 1)},
    {"int4 columns", ALL, true, QDQ_INT4, CHANNEL(1, 2, {2, 4}), {1, 1, 1, 1}, false, {1, 1, 1, 1, 1, 1, 1, 1}, SAME(1, 1, 1, 1, 1, 1, 1, 1)},
    {"dq int8", ALL, true, QDQ_INT8, TENSOR(1, {2}), {.5f}, true, {4, 8}, {0}, {2, 4}},
    {"dq int8 channels", ALL, true, QDQ_INT8, CHANNEL(0, 2, {2, 2}), {.8f, .9f}, true, {4, 8, 4, 8}, {0}, {3.2f, 6.4f, 3.6f, 7.2f}},
    {"dq fp8", ALL, true, QDQ_FLOAT8_E4M3FN, TENSOR(1, {2}), {.5f}, true, {1, 1}, {0}, {.5f, .5f}},
    {"dq fp8 channels", ALL, true, QDQ_FLOAT8_E4M3FN, CHANNEL(0, 2, {2, 2}), {.8f, .9f}, true, {1, 1, 1, 1}, {0}, {.8f, .8f, .9f, .9f}},
    {"cast fp8", ALL, true, QDQ_FLOAT8_E4M3FN, TENSOR(1, {4}), {1}, false, {-1, 0, 0, 1}, SAME(-1, 0, 0, 1)},
    {"cast int4", ALL, true, QDQ_INT4, TENSOR(1, {4}), {1}, false, {-1, 0, 0, 1}, SAME(-1, 0, 0, 1)},
    // From Tripy's documents.
    {"doc tensor", ALL, false, QDQ_INT8, TENSOR(2, {2, 3}), {.99872f}, false, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5},
     {0, .99872f, 1.99744f, 2.99616f, 3.99488f, 4.9936f}},
    {"doc channels", ALL, false, QDQ_INT8, CHANNEL(0, 2, {2, 3}), {.99872f, .96125f}, false, {0, 1, 2, 3, 4, 5}, {0, 1, 2, 3, 4, 5},
     {0, .99872f, 1.99744f, 2.88375f, 3.845f, 4.80625f}},
    {"doc block", ALL, true, QDQ_INT4, PAIRS(2, {2, 2}), {1, 1}, false, {0, 1, 2, 3}, SAME(0, 1, 2, 3)},
    {"doc dq", ALL, false, QDQ_INT8, TENSOR(1, {3}), {.99872f}, true, {1, 2, 3}, {0}, {.99872f, 1.99744f, 2.99616f}},
    {"doc dq channels", ALL, false, QDQ_INT8, CHANNEL(0, 2, {2, 3}), {.99872f, .96125f}, true, {1, 2, 3, 4, 5, 6}, {0},
     {.99872f, 1.99744f, 2.99616f, 3.845f, 4.80625f, 5.7675f}},
    // From Model-Optimizer's packing tests: bytes 78 87, 33 16, 73 2B 81 40, 08 07 78.
    {"packed, clamped", ALL, true, QDQ_INT4, TENSOR(2, {2, 2}), {1}, false, {-10, 15, 9, -20}, SAME(-8, 7, 7, -8)},
    {"packed, rounded", ALL, true, QDQ_INT4, TENSOR(2, {2, 2}), {1}, false, {2.7f, 3.2f, 5.6f, 1.4f}, SAME(3, 3, 6, 1)},
    {"packed, rows", ALL, true, QDQ_INT4, TENSOR(2, {2, 4}), {1}, false, {3, 7, -5, 2, 1, -8, 0, 4}, SAME(3, 7, -5, 2, 1, -8, 0, 4)},
    {"packed, list", ALL, true, QDQ_INT4, TENSOR(1, {6}), {1}, false, {-8, 0, 7, 0, -8, 7}, SAME(-8, 0, 7, 0, -8, 7)},
};
// clang-format on

//---- Running ----------------------------------------------------------------

// In TensorRT 4-bit values must be dequantized before they leave the graph.
static bool shows_codes(qdq_dtype to, backend on) {
    return on == ONNX || qdq_dtype_get(to)->bits == 8;
}

static qdq_quantize_attrs attrs_of(const example_row *row, qdq_dtype wide, run *r, size_t blocks) {
    qdq_quantize_attrs a = {.qtype = row->grain.qtype, .dtype = row->to};
    int64_t extents[QDQ_MAX_RANK];
    uint32_t bits[16];
    qdq_shape shape = {0};
    for (size_t i = 0; i < blocks; i++) bits[i] = bits_of(wide, (double)row->scales[i]);
    if (a.qtype == QDQ_PER_CHANNEL) shape = QDQ_SHAPE((int64_t)blocks);
    if (a.qtype == QDQ_PER_CHANNEL) a.axis = QDQ_INT(row->grain.axis);
    if (a.qtype == QDQ_PER_GROUP) {
        shape = grid_of(&row->grain, extents);
        a.group_shape = (qdq_ints){row->grain.group.dims, (size_t)row->grain.group.rank};
    }
    a.scale = tensor(r, "s", CONSTANT, wide, shape, bits);
    return a;
}

// `wide` is the dtype of x or y and of the scale.
static void check_example_row(const example_row *row, qdq_dtype wide, size_t on) {
    int64_t extents[QDQ_MAX_RANK];
    size_t count = qdq_shape_count(row->grain.shape);
    bool shown = !row->codes && shows_codes(row->to, backends[on].bit);
    bool constant = row->grain.qtype != QDQ_PER_TENSOR || row->to == QDQ_INT4;
    qdq_dtype x_dtype = row->codes ? row->to : wide;
    uint32_t x[LONGEST];
    for (size_t i = 0; i < count; i++) x[i] = bits_of(x_dtype, (double)row->x[i]);
    run r = {.graph = qdq_graph_create("example", NULL)};
    qdq_quantize_attrs a = attrs_of(row, wide, &r, qdq_shape_count(grid_of(&row->grain, extents)));
    qdq_value v = tensor(&r, "x", constant ? CONSTANT : INPUT, x_dtype, row->grain.shape, x);
    if (!row->codes) v = qdq_quantize(r.graph, v, a);
    if (shown) qdq_output(r.graph, "q", v);
    a.dtype = wide;
    qdq_output(r.graph, "y", qdq_dequantize(r.graph, v, a));
    void *y = bind_bits(&r, "y", wide, NULL, count);
    void *q = shown ? bind_bits(&r, "q", row->to, NULL, count) : NULL;
    oracle_run(r.graph, &(qdq_compile_options){.target = backends[on].name}, r.bound, r.count);
    for (size_t i = 0; i < count; i++) {
        double code = q ? value_of(row->to, held(row->to, q, i)) : (double)row->q[i];
        double got = value_of(wide, held(wide, y, i));
        double want = value_of(wide, bits_of(wide, (double)row->y[i]));
        if (code != (double)row->q[i] || fabs(got - want) > fabs(want) * 5e-6)
            fail_msg("%s on %s, %s, element %zu: got %g and %g, want %g and %g", row->what,
                     backends[on].name, qdq_dtype_name(wide), i, code, got, (double)row->q[i],
                     want);
    }
    for (size_t i = 0; i < r.count; i++) free(r.bound[i].data);
    // NOLINTNEXTLINE(clang-analyzer-unix.Malloc): what the run holds is freed
    qdq_graph_destroy(r.graph);
}

static void examples_give_the_published_numbers(void **state) {
    (void)state;
    static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_FLOAT16, QDQ_BFLOAT16};
    for (size_t e = 0; e < UNIT_COUNT(example_rows); e++)
        for (size_t on = 0; on < UNIT_COUNT(backends); on++)
            for (size_t f = 0; f < (example_rows[e].narrow ? 3 : 1); f++)
                if (example_rows[e].backends & backends[on].bit)
                    check_example_row(&example_rows[e], floats[f], on);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_give_the_published_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
