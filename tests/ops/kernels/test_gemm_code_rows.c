// SPDX-License-Identifier: Apache-2.0
// Sums of products to codes on every instruction set that does it in registers, against a quotient
// for each element: scales and biases of rows and of columns, ties, zero points and sums at the
// ends, rows of every length.
#include "ops/kernels/kernel.h"
#include "tests/ops/kernels/gemm_parts.h"

enum { N = 3 * 64 + 63, ROW_ROOM = N + 9, MARGIN = 64 };

typedef struct sums_of_codes {
    int32_t sums[ROWS * ROW_ROOM];
    float scale[ROW_ROOM], bias[ROW_ROOM];
    uint8_t out[ROWS * ROW_ROOM + MARGIN];
} sums_of_codes;

// A scale that is a power of two, so that many quotients are ties, or any of 2^-20 to 2^-4.
static float any_scale(uint64_t *seed) {
    int exponent = 4 + (int)(unit_random(seed) % 17);
    float s = ldexpf(1, -exponent);
    return unit_random(seed) % 2 ? s : s * (1 + (float)(any_word(seed) & 0xFFFF) / 0x10000);
}

static void fill_rows(sums_of_codes *w, uint64_t *seed, bool floats) {
    static const int32_t ends[] = {INT32_MAX, INT32_MIN, 0, 255 * 127, -255 * 128};
    static const float odd[] = {INFINITY, -INFINITY, NAN, -0.0f, 0x1p127f};
    for (size_t i = 0; i < UNIT_COUNT(w->sums); i++) {
        bool end = unit_random(seed) % 64 == 0;
        int32_t sum = (int32_t)(any_word(seed) & 0xFFFF) - 0x8000;
        float real = (float)sum / 64;
        if (end) sum = ends[unit_random(seed) % UNIT_COUNT(ends)];
        if (end) real = odd[unit_random(seed) % UNIT_COUNT(odd)];
        if (floats)
            memcpy(&w->sums[i], &real, sizeof real);
        else
            w->sums[i] = sum;
    }
    for (size_t i = 0; i < ROW_ROOM; i++) {
        w->scale[i] = any_scale(seed);
        w->bias[i] = ((float)(any_word(seed) & 0xFF) - 128) / 16;
    }
    memset(w->out, 0xA5, sizeof w->out);
}

static int32_t wanted(const qdq_gemm_code_rows *c, const qdq_quant_params *p, float s, int32_t z,
                      size_t r, size_t j) {
    const int32_t *at = (const int32_t *)c->sums + r * c->stride + j;
    size_t i = c->by_column ? j : r;
    float v;
    memcpy(&v, at, sizeof v);
    if (c->scale) v = (float)*at * c->scale[i];
    if (c->bias) v += c->bias[i];
    double code = (double)rintf(v / s) + z;
    if (isnan(v) || code < (double)p->range.quant_min) return (int32_t)p->range.quant_min;
    return (int32_t)(code > (double)p->range.quant_max ? (double)p->range.quant_max : code);
}

// Call number `round`: with and without scales and biases, of rows and of columns.
static void check_rows(const qdq_gemm_kernel *kernel, qdq_isa isa, uint64_t *seed, size_t round) {
    static sums_of_codes w;
    bool is_signed = round & 1, floats = round >> 2 & 1, clamps = unit_random(seed) % 4 == 0;
    int32_t least = is_signed ? -128 : 0, z = least + (int32_t)(unit_random(seed) % 256);
    if (round % 5 == 0) z = round % 2 ? least : least + 255;
    qdq_quant_params p = {.x_dtype = QDQ_FLOAT32,
                          .y_dtype = is_signed ? QDQ_INT8 : QDQ_UINT8,
                          .range = {.least = least,
                                    .greatest = least + 255,
                                    .quant_min = least + clamps * 9,
                                    .quant_max = least + 255 - clamps * 7}};
    float s = floats ? 1.0f / 8 : any_scale(seed) * 0x1p8f;
    qdq_view views[] = {{(const uint32_t *)(const void *)&s, 0}, {(const uint32_t *)&z, 0}};
    fill_rows(&w, seed, floats);
    qdq_gemm_code_rows c = {.sums = w.sums,
                            .stride = ROW_ROOM,
                            .rows = 1 + round % ROWS,
                            .n = 1 + round % N,
                            .scale = floats ? NULL : w.scale,
                            .bias = round >> 3 & 1 ? w.bias : NULL,
                            .by_column = round >> 1 & 1,
                            .fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, 1u << isa),
                            .params = &p,
                            .views = views,
                            .out = w.out,
                            .out_stride = ROW_ROOM};
    assert_true(kernel->code_rows(&c));
    for (size_t i = 0; i < sizeof w.out; i++) {
        size_t r = i / ROW_ROOM, j = i % ROW_ROOM;
        int32_t want = 0xA5;  // nothing is written beyond the ends of rows
        if (r < c.rows && j < c.n) want = wanted(&c, &p, s, z, r, j);
        if (w.out[i] != (uint8_t)want)
            fail_msg("%s: round %zu, row %zu of %zu, column %zu of %zu: got %d, want %d",
                     kernel->name, round, r, c.rows, j, c.n, w.out[i], (uint8_t)want);
    }
}

static void codes_of_sums_are_rounded_quotients(void **state) {
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint64_t seed = 21;
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].code_rows) continue;
        qdq_isa isa = strstr(kernels[i].name, "avx512") || strstr(kernels[i].name, "amx")
                          ? QDQ_ISA_AVX512
                          : QDQ_ISA_AVX2;
        for (size_t round = 0; round < 16 * N; round++) check_rows(&kernels[i], isa, &seed, round);
    }
}

// A scale whose reciprocal overflows, a zero point that is no code, and another function.
static void other_arithmetic_is_refused(void **state) {
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].code_rows) continue;
        qdq_quant_params p = {.x_dtype = QDQ_FLOAT32,
                              .y_dtype = QDQ_UINT8,
                              .range = {.greatest = 255, .quant_max = 255}};
        float s = 0x1p-140f;
        int32_t z = 3;
        qdq_view views[] = {{(const uint32_t *)(const void *)&s, 0}, {(const uint32_t *)&z, 0}};
        qdq_gemm_code_rows c = {.params = &p, .views = views};
        c.fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &p, qdq_cpu_isas());
        assert_false(kernels[i].code_rows(&c));
        s = 1, z = 256;
        assert_false(kernels[i].code_rows(&c));
        z = 3, c.fn = qdq_quantize_tile_portable;
        assert_false(kernels[i].code_rows(&c));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_of_sums_are_rounded_quotients),
        cmocka_unit_test(other_arithmetic_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
