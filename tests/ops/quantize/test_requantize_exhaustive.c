// SPDX-License-Identifier: Apache-2.0
// Requantize under the core numerics (Dequantize to float32, then Quantize): every bfloat16, every
// 8-bit code and int32 values full of ties, for every pair of scales and zero points.
#include "tests/ops/oracle.h"

enum { ALL = 65536, CODES = 256, PAIRS = ORACLE_SCALES * ORACLE_SCALES, CHANNELS = PAIRS * 16 };

static void check(const char *what, double q, oracle_side in, oracle_side out, qdq_dtype to,
                  double got) {
    int64_t want = oracle_requantize(q, in, out, oracle_range_of(to, &oracle_core), &oracle_core);
    if (got == (double)want) return;
    fail_msg(
        "%s: q %.9g (float32 %08x) in (%.9g, %lld) out (%.9g, %lld) to %s: got %.0f, want %lld",
        what, q, unit_bits_of_float((float)q), in.scale, (long long)in.zp, out.scale,
        (long long)out.zp, qdq_dtype_name(to), got, (long long)want);
}

//---- Floats that hold codes -------------------------------------------------

// Runs all 16 pairs of zero points and 3 dtypes on one x, with scalar parameters.
static void check_floats(qdq_dtype dtype, void *x, size_t count, float in_scale, float out_scale,
                         bool materialize) {
    enum { NODES = 48 };
    oracle_bound bound[NODES + 1] = {{"x", x, count * qdq_dtype_size(dtype)}};
    qdq_graph *g = qdq_graph_create("floats", NULL);
    qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE((int64_t)count / 256, 256));
    for (size_t i = 0; i < NODES; i++) {
        oracle_bound *y = &bound[i + 1];
        qdq_requantize_attrs attrs = {.in_scales = QDQ_SCALE(in_scale),
                                      .in_zps = QDQ_ZP((double)oracle_zps[i % 4]),
                                      .out_scales = QDQ_SCALE(out_scale),
                                      .out_zps = QDQ_ZP((double)oracle_zps[i / 4 % 4]),
                                      .dtype = oracle_dtypes[i / 16]};
        snprintf(y->name, sizeof y->name, "y%zu", i);
        y->bytes = count * qdq_dtype_size(attrs.dtype);
        y->data = memset(oracle_memory(y->bytes), 0x55, y->bytes);
        qdq_output(g, y->name, qdq_requantize(g, v, attrs));
    }
    oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, NODES + 1);
    for (size_t i = 0; i < NODES; i++) {
        oracle_side in = {(double)in_scale, oracle_zps[i % 4]};
        oracle_side out = {(double)out_scale, oracle_zps[i / 4 % 4]};
        qdq_dtype to = oracle_dtypes[i / 16];
        for (size_t k = 0; k < count; k++) {
            check(qdq_dtype_name(dtype), oracle_at(dtype, x, k), in, out, to,
                  oracle_at(to, bound[i + 1].data, k));
        }
        free(bound[i + 1].data);
    }
    qdq_graph_destroy(g);
}

static void requantize_of_every_bfloat16_equals_the_oracle(void **state) {
    (void)state;
    static const uint8_t pairs[][2] = {{7, 8},  {4, 7},   {7, 6}, {19, 14},
                                       {15, 5}, {11, 13}, {3, 18}};
    uint16_t *x = oracle_memory(ALL * sizeof *x);
    for (size_t i = 0; i < ALL; i++) x[i] = (uint16_t)i;
    for (size_t i = 0; i < UNIT_COUNT(pairs); i++) {
        check_floats(QDQ_BFLOAT16, x, ALL, oracle_scale(pairs[i][0]), oracle_scale(pairs[i][1]),
                     i % 2 != 0);
    }
    free(x);
}

// Values near integers and halves, and so near the ties of every power of two; and random bits.
static void requantize_of_float32_equals_the_oracle(void **state) {
    (void)state;
    enum { COUNT = 8192 };
    float *x = oracle_memory(COUNT * sizeof *x);
    uint64_t seed = 11;
    for (int i = 0; i < COUNT; i++) {
        float half = (float)(i / 4 - COUNT / 8) / 2.0f;
        x[i] = i % 4 == 0 ? half : nextafterf(half, i % 4 == 1 ? INFINITY : -INFINITY);
        if (i % 4 == 3) x[i] = unit_float_of_bits((uint32_t)unit_random(&seed));
    }
    for (size_t s = 0; s < ORACLE_SCALES; s++)
        if (!unit_left_out(s))
            check_floats(QDQ_FLOAT32, x, COUNT, oracle_scale(s), oracle_scale(s * 7 % 20),
                         s % 2 != 0);
    free(x);
}

//---- Every code, every pair of scales ---------------------------------------

// Channel c has one pair of scales and one pair of zero points; row c of x holds the codes.
static oracle_side in_of(size_t c) {
    return (oracle_side){(double)oracle_scale(c / 16 / ORACLE_SCALES), oracle_zps[c % 4]};
}
static oracle_side out_of(size_t c) {
    return (oracle_side){(double)oracle_scale(c / 16 % ORACLE_SCALES), oracle_zps[c / 4 % 4]};
}

static void check_codes(qdq_dtype dtype, void *x) {
    float *scales = oracle_memory(2 * CHANNELS * sizeof *scales);
    double *zps = oracle_memory(2 * CHANNELS * sizeof *zps);
    for (size_t c = 0; c < CHANNELS; c++) {
        scales[c] = (float)in_of(c).scale, scales[CHANNELS + c] = (float)out_of(c).scale;
        zps[c] = (double)in_of(c).zp, zps[CHANNELS + c] = (double)out_of(c).zp;
    }
    for (size_t d = 0; d < 3; d++) {
        qdq_dtype to = oracle_dtypes[d];
        size_t bytes = (size_t)CHANNELS * CODES * qdq_dtype_size(to);
        void *y = memset(oracle_memory(bytes), 0x55, bytes);
        qdq_graph *g = qdq_graph_create("codes", NULL);
        qdq_value v = qdq_input(g, "x", dtype, QDQ_SHAPE(CHANNELS, CODES));
        qdq_output(g, "y",
                   qdq_requantize(
                       g, v,
                       (qdq_requantize_attrs){.in_scales = {scales, CHANNELS, false},
                                              .in_zps = {zps, CHANNELS, false},
                                              .out_scales = {scales + CHANNELS, CHANNELS, false},
                                              .out_zps = {zps + CHANNELS, CHANNELS, false},
                                              .axis = QDQ_INT(0),
                                              .dtype = to}));
        oracle_bound bound[] = {{"x", x, (size_t)CHANNELS * CODES * qdq_dtype_size(dtype)},
                                {"y", y, bytes}};
        oracle_run(g, &(qdq_compile_options){.materialize = d == 1}, bound, 2);
        for (size_t i = 0; i < (size_t)CHANNELS * CODES; i++) {
            check(qdq_dtype_name(dtype), oracle_at(dtype, x, i), in_of(i / CODES),
                  out_of(i / CODES), to, oracle_at(to, y, i));
        }
        qdq_graph_destroy(g);
        free(y);
    }
    free(scales), free(zps);
}

static void check_8_bits(qdq_dtype dtype) {
    uint8_t *x = oracle_memory((size_t)CHANNELS * CODES);
    for (size_t i = 0; i < (size_t)CHANNELS * CODES; i++) x[i] = (uint8_t)i;
    check_codes(dtype, x);
    free(x);
}

static void requantize_of_every_int8_with_every_pair_of_scales_equals_the_oracle(void **state) {
    (void)state;
    check_8_bits(QDQ_INT8);
}

static void requantize_of_every_uint8_with_every_pair_of_scales_equals_the_oracle(void **state) {
    (void)state;
    check_8_bits(QDQ_UINT8);
}

// Odd numbers, which tie under every power of two; then integers that float32 cannot hold, and the
// extremes.
static void requantize_of_int32_with_every_pair_of_scales_equals_the_oracle(void **state) {
    (void)state;
    static const int64_t ends[] = {1 << 24, -(1 << 24), 1 << 25, -(1 << 30), INT32_MAX, INT32_MIN};
    int32_t *x = oracle_memory((size_t)CHANNELS * CODES * sizeof *x);
    for (size_t i = 0; i < (size_t)CHANNELS * CODES; i++) {
        int64_t k = (int64_t)(i % CODES), q = k - 64;
        if (k >= 128) q = (k - 160) * (2 * k + 1);
        if (k >= 192) q = ends[k % 6] + (k - 224);
        if (q > INT32_MAX || q < INT32_MIN) q = -ends[k % 6] / 2;
        x[i] = (int32_t)q;
    }
    check_codes(QDQ_INT32, x);
    free(x);
}

//---- Scalars, channels, ports -----------------------------------------------

enum { D0 = 3, D1 = 37, D2 = 35 };
static const size_t dims[3] = {D0, D1, D2};

static size_t channel_of(size_t i, int axis) {
    return axis == 0 ? i / (D1 * D2) : axis == 1 ? i / D2 % D1 : i % D2;
}

// `in` and `out` are the numbers of parameters of each side (1 or dim[axis]), for x of rank 3.
static void check_mix(size_t in, size_t out, int axis, bool ports, bool materialize) {
    enum { COUNT = D0 * D1 * D2 };
    int8_t x[COUNT];
    uint8_t y[COUNT];
    float is[64], os[64];
    double iz[64], oz[64];
    int8_t izp[64];
    int32_t ozp[64];
    for (size_t i = 0; i < COUNT; i++) x[i] = (int8_t)(i * 37 % 256);
    for (size_t i = 0; i < 64; i++) {
        is[i] = oracle_scale(i * 3 % 20), os[i] = oracle_scale(i * 7 % 19);
        izp[i] = (int8_t)((int)i * 5 % 23 - 7), ozp[i] = (int32_t)(i * 3 % 17) - 4;
        iz[i] = izp[i], oz[i] = ozp[i];
    }
    qdq_graph *g = qdq_graph_create("mix", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_INT8, QDQ_SHAPE(D0, D1, D2));
    qdq_requantize_attrs attrs = {.dtype = QDQ_UINT8, .axis = QDQ_INT(axis - (in > 1 ? 3 : 0))};
    oracle_bound bound[6] = {{"x", x, sizeof x},
                             {"y", y, sizeof y},
                             {"is", is, in * sizeof *is},
                             {"os", os, out * sizeof *os},
                             {"iz", izp, in * sizeof *izp},
                             {"oz", ozp, out * sizeof *ozp}};
    if (ports) {
        attrs.in_scale = qdq_input(g, "is", QDQ_FLOAT32, QDQ_SHAPE((int64_t)in));
        attrs.out_scale = qdq_input(g, "os", QDQ_FLOAT32, QDQ_SHAPE((int64_t)out));
        attrs.in_zero_point = qdq_input(g, "iz", QDQ_INT8, QDQ_SHAPE((int64_t)in));
        attrs.out_zero_point = qdq_input(g, "oz", QDQ_INT32, QDQ_SHAPE((int64_t)out));
    } else {
        attrs.in_scales = (qdq_floats){is, in, false}, attrs.in_zps = (qdq_numbers){iz, in, false};
        attrs.out_scales = (qdq_floats){os, out, false};
        attrs.out_zps = (qdq_numbers){oz, out, false};
    }
    qdq_output(g, "y", qdq_requantize(g, v, attrs));
    memset(y, 0x55, sizeof y);
    oracle_run(g, &(qdq_compile_options){.materialize = materialize}, bound, ports ? 6 : 2);
    for (size_t i = 0; i < COUNT; i++) {
        size_t c = channel_of(i, axis), ci = in > 1 ? c : 0, co = out > 1 ? c : 0;
        check(ports ? "ports" : "attributes", x[i], (oracle_side){(double)is[ci], izp[ci]},
              (oracle_side){(double)os[co], ozp[co]}, QDQ_UINT8, y[i]);
    }
    qdq_graph_destroy(g);
}

static void all_four_mixes_of_scalar_and_channel_work_on_every_axis(void **state) {
    (void)state;
    for (int axis = 0; axis < 3; axis++) {
        for (int i = 0; i < 16; i++)
            check_mix(i & 1 ? dims[axis] : 1, i & 2 ? dims[axis] : 1, axis, i & 4, i & 8);
    }
}

static void requantize_keeps_the_dtype_of_x_and_cuts_to_quant_min_and_max(void **state) {
    (void)state;
    uint8_t x[CODES], y[CODES];
    int8_t n[CODES];
    for (size_t i = 0; i < CODES; i++) x[i] = (uint8_t)i;
    qdq_graph *g = qdq_graph_create("range", NULL);
    qdq_value v = qdq_input(g, "x", QDQ_UINT8, QDQ_SHAPE(CODES));
    qdq_requantize_attrs attrs = {.in_scales = QDQ_SCALE(0.5f),
                                  .in_zps = QDQ_ZP(128),
                                  .out_scales = QDQ_SCALE(1.0f),
                                  .out_zps = QDQ_ZP(7)};
    qdq_output(g, "y", qdq_requantize(g, v, attrs));
    attrs.dtype = QDQ_INT8;
    attrs.quant_min = QDQ_INT(-11), attrs.quant_max = QDQ_INT(20);
    qdq_output(g, "n", qdq_requantize(g, v, attrs));
    oracle_bound bound[] = {{"x", x, sizeof x}, {"y", y, sizeof y}, {"n", n, sizeof n}};
    oracle_run(g, NULL, bound, UNIT_COUNT(bound));
    qdq_graph_destroy(g);
    for (size_t i = 0; i < CODES; i++) {
        int64_t sum = oracle_to_integer(((double)i - 128) / 2, QDQ_ROUND_HALF_EVEN) + 7;
        assert_int_equal(y[i], sum < 0 ? 0 : sum);
        assert_int_equal(n[i], sum < -11 ? -11 : sum > 20 ? 20 : sum);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requantize_of_every_bfloat16_equals_the_oracle),
        cmocka_unit_test(requantize_of_float32_equals_the_oracle),
        cmocka_unit_test(requantize_of_every_int8_with_every_pair_of_scales_equals_the_oracle),
        cmocka_unit_test(requantize_of_every_uint8_with_every_pair_of_scales_equals_the_oracle),
        cmocka_unit_test(requantize_of_int32_with_every_pair_of_scales_equals_the_oracle),
        cmocka_unit_test(all_four_mixes_of_scalar_and_channel_work_on_every_axis),
        cmocka_unit_test(requantize_keeps_the_dtype_of_x_and_cuts_to_quant_min_and_max),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
