// SPDX-License-Identifier: Apache-2.0
// Dequantize by table lookup (known scales) and by computing (scales given at run time) both give
// the bits of the portable kernel: for every dtype of at most 8 bits, all numerics, and any
// rounding mode of the caller.
#include <fenv.h>

#include "tests/ops/oracle.h"

enum { COUNT = 4096, CHANNELS = 4 };

static const qdq_dtype x_dtypes[] = {
    QDQ_INT8,       QDQ_UINT8,         QDQ_INT4,        QDQ_UINT4,           QDQ_INT2,
    QDQ_UINT2,      QDQ_FLOAT8_E4M3FN, QDQ_FLOAT8_E5M2, QDQ_FLOAT8_E4M3FNUZ, QDQ_FLOAT8_E5M2FNUZ,
    QDQ_FLOAT4_E2M1};
static const qdq_dtype y_dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};

static const qdq_numerics choices[] = {
    {0},
    {.subtraction = QDQ_SUBTRACT_FLOAT, .bfloat16_store = QDQ_BFLOAT16_FLUSH},
    {.subtraction = QDQ_SUBTRACT_FLOAT,
     .code_bias = 128,
     .flush_denormals = true,
     .bfloat16_store = QDQ_BFLOAT16_DEVICE},
    {.dequantize_step_dtype = QDQ_BFLOAT16},
};

static const float scales[][CHANNELS] = {{0.03f, 1e-38f, -7.3f, 0x1p-130f},
                                         {0x1p-126f, 3e38f, -1e-40f, 0.1f}};
// they fit in 2 bits; 8-bit dtypes use 100 times as much
static const int8_t zps[CHANNELS] = {1, 0, 1, 0};

static int8_t zero_point(qdq_dtype x_dtype, size_t i) {
    return (int8_t)(zps[i] * (qdq_dtype_get(x_dtype)->bits == 8 ? 100 : 1));
}

// axis -1: per tensor. With `given`, scales and zero points are inputs and the kernel is the
// portable one.
static qdq_graph *graph_of(qdq_dtype x_dtype, qdq_dtype y_dtype, int axis, const float *scale,
                           bool given) {
    size_t count = axis < 0 ? 1 : CHANNELS;
    bool whole = !qdq_dtype_is_real(x_dtype);
    qdq_graph *g = qdq_graph_create("tables", NULL);
    qdq_value x = qdq_input(g, "x", x_dtype,
                            axis ? QDQ_SHAPE(COUNT / CHANNELS, CHANNELS)
                                 : QDQ_SHAPE(CHANNELS, COUNT / CHANNELS));
    qdq_shape shape = axis < 0 ? (qdq_shape){0} : QDQ_SHAPE(CHANNELS);
    double numbers[CHANNELS];
    for (size_t i = 0; i < CHANNELS; i++) numbers[i] = zero_point(x_dtype, i);
    qdq_dequantize_attrs attrs = {.dtype = y_dtype};
    if (axis >= 0) attrs.qtype = QDQ_PER_CHANNEL, attrs.axis = QDQ_INT(axis);
    if (given) {
        attrs.scale = qdq_input(g, "s", QDQ_FLOAT32, shape);
        if (whole) attrs.zero_point = qdq_input(g, "z", x_dtype, shape);
    } else {
        attrs.scales = (qdq_floats){scale, count, axis < 0};
        if (whole) attrs.zps = (qdq_numbers){numbers, count, axis < 0};
    }
    qdq_output(g, "y", qdq_dequantize(g, x, attrs));
    return g;
}

typedef struct results {
    unsigned char known[COUNT * 4], given[COUNT * 4], portable[COUNT * 4];
} results;

static void check_case(qdq_dtype x_dtype, qdq_dtype y_dtype, int axis, const float *scale,
                       const qdq_numerics *numerics) {
    static results r;
    static uint8_t x[COUNT];
    size_t size = qdq_dtype_size(y_dtype), count = axis < 0 ? 1 : CHANNELS;
    unsigned bits = (unsigned)qdq_dtype_get(x_dtype)->bits;
    float s[CHANNELS];
    int8_t z[CHANNELS];
    memcpy(s, scale, count * sizeof *s);
    for (size_t i = 0; i < CHANNELS; i++) z[i] = zero_point(x_dtype, i);
    for (size_t i = 0; i < COUNT; i++) x[i] = (uint8_t)((i * 7 + i / 256) & ((1u << bits) - 1));
    oracle_bound bound[] = {{"x", x, COUNT},
                            {"y", r.known, COUNT * size},
                            {"s", s, count * sizeof *s},
                            {"z", z, count}};
    size_t inputs = qdq_dtype_is_real(x_dtype) ? 3 : 4;
    qdq_graph *known = graph_of(x_dtype, y_dtype, axis, scale, false);
    qdq_graph *given = graph_of(x_dtype, y_dtype, axis, scale, true);
    fesetround(FE_UPWARD);
    oracle_run(known, &(qdq_compile_options){.numerics = numerics}, bound, 2);
    fesetround(FE_TONEAREST);
    bound[1].data = r.given;
    oracle_run(given, &(qdq_compile_options){.numerics = numerics}, bound, inputs);
    bound[1].data = r.portable;
    oracle_run(given, &(qdq_compile_options){.numerics = numerics, .isa = "portable"}, bound,
               inputs);
    for (size_t i = 0; i < COUNT; i++) {
        const char *wrong = memcmp(r.known + i * size, r.portable + i * size, size)   ? "known"
                            : memcmp(r.given + i * size, r.portable + i * size, size) ? "given"
                                                                                      : NULL;
        if (wrong)
            fail_msg("%s to %s, axis %d, scale %a, %s: code %#x", qdq_dtype_get(x_dtype)->name,
                     qdq_dtype_get(y_dtype)->name, axis, (double)scale[0], wrong, x[i]);
    }
    qdq_graph_destroy(known), qdq_graph_destroy(given);
}

static void known_and_given_scales_have_the_bits_of_the_portable_kernel(void **state) {
    (void)state;
    for (size_t i = 0; i < UNIT_COUNT(x_dtypes); i++)
        for (size_t k = 0; k < UNIT_COUNT(y_dtypes); k++)
            for (size_t c = 0; c < UNIT_COUNT(choices); c++)
                for (size_t s = 0; s < UNIT_COUNT(scales); s++) {
                    for (int axis = 0; axis < 2; axis++)
                        check_case(x_dtypes[i], y_dtypes[k], axis, scales[s], &choices[c]);
                    for (size_t one = 0; one < CHANNELS; one++)
                        check_case(x_dtypes[i], y_dtypes[k], -1, &scales[s][one], &choices[c]);
                }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_and_given_scales_have_the_bits_of_the_portable_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
