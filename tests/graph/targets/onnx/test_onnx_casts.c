// SPDX-License-Identifier: Apache-2.0
// Cast on target `onnx` against ONNX Runtime on x86-64, recorded by tools/peers/onnx_casts.py:
// every value of the small floats and float32 of any size to bool and integers, also NaN and
// numbers out of range.
#include "tests/crc32.h"
#include "tests/graph/targets/onnx/onnx_casts.h"
#include "tests/ops/oracle.h"

enum { COUNT = 65536 };

static const qdq_dtype floats[] = {QDQ_FLOAT32,         QDQ_FLOAT16,         QDQ_BFLOAT16,
                                   QDQ_FLOAT8_E4M3FN,   QDQ_FLOAT8_E4M3FNUZ, QDQ_FLOAT8_E5M2,
                                   QDQ_FLOAT8_E5M2FNUZ, QDQ_FLOAT8_E8M0};
static const qdq_dtype results[] = {QDQ_BOOL,   QDQ_INT8,  QDQ_UINT8, QDQ_INT16,
                                    QDQ_UINT16, QDQ_INT32, QDQ_INT64, QDQ_INT4,
                                    QDQ_UINT4,  QDQ_INT2,  QDQ_UINT2};

// Writes float32 numbers that the dtype holds, and returns their count.
static size_t values_of(qdq_dtype dtype, float *x) {
    int bits = qdq_dtype_get(dtype)->bits;
    size_t count = bits == 8 ? 256 : COUNT;
    for (uint64_t i = 0; i < count; i++) {
        uint16_t wide = (uint16_t)i;
        uint8_t narrow = (uint8_t)i;
        if (bits == 32)
            x[i] = i % 2 ? unit_float_of_bits((uint32_t)(i * 2654435761u))
                         : ((float)(i * 40503 / 16 % 2001) - 1000) * 0.125f;
        else
            qdq_widen_float(dtype, bits == 8 ? (const void *)&narrow : &wide, &x[i], 1);
    }
    return count;
}

static uint32_t crc_of_casts(const char *target, qdq_dtype from, qdq_dtype to) {
    static float x[COUNT];
    static unsigned char y[COUNT * 8];
    size_t count = values_of(from, x), size = count * qdq_dtype_size(to);
    qdq_graph *g = qdq_graph_create("casts", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_FLOAT32, QDQ_SHAPE((int64_t)count));
    v = qdq_cast(g, v, (qdq_cast_attrs){.dtype = from});
    qdq_output(g, "y", qdq_cast(g, v, (qdq_cast_attrs){.dtype = to}));
    const oracle_bound bound[] = {{"x", x, count * sizeof *x}, {"y", y, size}};
    oracle_run(g, &(qdq_compile_options){.target = target}, bound, 2);
    qdq_graph_destroy(g);
    return crc32_of(y, size);
}

static void casts_are_those_of_onnx_runtime_on_x86(void **state) {
    static const char *const targets[] = {"onnx@1.32-avx2", "onnx@1.31-vnni", "ort@1.31-avx2"};
    (void)state;
    assert_int_equal(UNIT_COUNT(onnx_casts), UNIT_COUNT(floats) * UNIT_COUNT(results));
    for (size_t i = 0; i < UNIT_COUNT(onnx_casts); i++) {
        qdq_dtype from = floats[i / UNIT_COUNT(results)], to = results[i % UNIT_COUNT(results)];
        for (size_t t = 0; t < UNIT_COUNT(targets); t++)
            if (crc_of_casts(targets[t], from, to) != onnx_casts[i])
                fail_msg("%s: %s to %s differs", targets[t], qdq_dtype_name(from),
                         qdq_dtype_name(to));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_are_those_of_onnx_runtime_on_x86),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
