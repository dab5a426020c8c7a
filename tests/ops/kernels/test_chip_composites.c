// SPDX-License-Identifier: Apache-2.0
// The kernels of Quantize with a zero point that is a tensor, on a chip, equal the definition of
// one element: on every bfloat16 with 24 sets of parameters, on float32 next to whole sums, and on
// random patterns, with one scale and with lists.
#include "ops/kernels/kernel.h"
#include "runtime/tenstorrent/tile_formats.h"
#include "tests/ops/oracle.h"

enum { SETS = 24, ALL = 65536, COUNT = 4096 };

static const struct {
    float scale;
    int32_t zero_point;
} sets[SETS] = {{0.03f, 127},      {0.02f, 3},    {0.1f, -5},      {0.3f, 0},       {0.03125f, 10},
                {0.0078431f, -77}, {0.0123f, 64}, {1.7f, -128},    {1, 0},          {0.5f, 1},
                {0.7f, 128},       {2, -1},       {0.25f, 255},    {1e-3f, 100},    {1e-20f, 7},
                {1e20f, 7},        {-0.3f, 2},    {0x1p-100f, 0},  {0x1p100f, 0},   {3e-39f, 1},
                {3, -300},         {0.9f, 511},   {0.6f, 1 << 20}, {0.04f, 1 << 21}};

// Where the sum becomes an integer.
static const struct {
    qdq_dtype y;
    qdq_rounding rounding;
    qdq_overflow overflow;
    qdq_nan nan;
    bool fold_128;
} stages[] = {
    {QDQ_INT32, QDQ_ROUND_TRUNCATE, QDQ_OVERFLOW_SATURATE, QDQ_NAN_QUANT_MIN, false},
    {QDQ_UINT8, QDQ_ROUND_TRUNCATE, QDQ_OVERFLOW_WRAP, QDQ_NAN_QUANT_MIN, false},
    {QDQ_INT8, QDQ_ROUND_HALF_AWAY, QDQ_OVERFLOW_SATURATE, QDQ_NAN_BY_SIGN, true},
    {QDQ_INT8, QDQ_ROUND_HALF_EVEN, QDQ_OVERFLOW_SATURATE, QDQ_NAN_BY_SIGN, false},
};

// The numerics that the target gives a composite Quantize.
static qdq_numerics numerics_of(qdq_multiply_add chip, bool tensor, size_t stage, qdq_dtype x) {
    qdq_numerics n = {.multiply_add = chip,
                      .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,
                      .bfloat16_store = QDQ_BFLOAT16_DEVICE,
                      .sign_magnitude = true,
                      .zero_point_order = QDQ_ZERO_POINT_BEFORE,
                      .rounding = stages[stage].rounding,
                      .overflow = stages[stage].overflow,
                      .nan = stages[stage].nan,
                      .fold_128 = stages[stage].fold_128};
    n.scaling = tensor ? QDQ_SCALE_DIVIDE : QDQ_SCALE_RECIPROCAL;
    if (x == QDQ_FLOAT32) return n;
    n.quantize_step_dtype = QDQ_BFLOAT16;
    if (tensor)
        n.scale_dtype = QDQ_BFLOAT16;
    else
        n.reciprocal_dtype = QDQ_BFLOAT16;
    return n;
}

static void compare(const qdq_quant_params *p, qdq_isa isa, const qdq_view *views, const void *x,
                    const int32_t *want, size_t n, const char *where) {
    static uint8_t y[ALL * 4];
    static int32_t got[ALL];
    qdq_tile_fn *fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, p, 1u << isa | 1u << QDQ_ISA_PORTABLE);
    if (isa == QDQ_ISA_AVX2 || isa == QDQ_ISA_AVX512)
        assert_ptr_not_equal(fn, qdq_quantize_tile_portable);
    fn(p, views, x, y, n);
    qdq_decode_int(p->y_dtype, y, got, n);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("%s, isa %d, chip %d, scaling %d, to %s, element %zu: want %d, got %d", where,
                     (int)isa, (int)p->numerics.multiply_add, (int)p->numerics.scaling,
                     qdq_dtype_name(p->y_dtype), i, want[i], got[i]);
}

// Runs every kernel on n elements of x, whose values are `real`; `only` is a stage, or -1.
static void compare_all(qdq_dtype from, const void *x, const float *real, size_t n, qdq_view scales,
                        qdq_view zero_points, int only, const char *where) {
    static int32_t want[ALL];
    for (size_t kind = 0; kind < 16; kind++) {
        size_t stage = kind / 4;
        if (only >= 0 && stage != (size_t)only) continue;
        qdq_multiply_add chip = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE;
        qdq_quant_params p = {.numerics = numerics_of(chip, kind & 2, stage, from),
                              .x_dtype = from,
                              .y_dtype = stages[stage].y};
        p.range = qdq_range_of(p.y_dtype, NULL, NULL, &p.numerics);
        for (size_t i = 0; i < n; i++)
            want[i] = qdq_quantize_one(&p.numerics, real[i],
                                       qdq_float_from_bits(scales.data[i * scales.step]),
                                       (int32_t)zero_points.data[i * zero_points.step], &p.range);
        const qdq_view views[2] = {scales, zero_points};
        for (int isa = 1; isa < 32; isa++)
            if (qdq_cpu_isas() >> isa & 1) compare(&p, (qdq_isa)isa, views, x, want, n, where);
    }
}

static void every_bfloat16_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    static uint16_t x[ALL];
    static float real[ALL];
    for (size_t i = 0; i < ALL; i++) {
        x[i] = (uint16_t)i;
        real[i] = qdq_float_from_bits(qdq_chip_load_bfloat16((uint16_t)i));
    }
    for (size_t set = 0; set < SETS; set++) {
        if (unit_left_out(set)) continue;
        uint32_t s = qdq_float_bits(sets[set].scale), z = (uint32_t)sets[set].zero_point;
        compare_all(QDQ_BFLOAT16, x, real, ALL, (qdq_view){&s, 0}, (qdq_view){&z, 0}, (int)set % 4,
                    "one scale");
    }
}

// (k - z) * s, a few units in the last place away, and random patterns.
static void fill(float *x, size_t n, float scale, int32_t zero, bool wild, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) {
        uint64_t r = unit_random(seed);
        float whole = (float)((int)(r & 1023) - 500) / (r & 1024 ? 2.0f : 1.0f) - (float)zero;
        uint32_t bits = qdq_float_bits(whole * scale) + (uint32_t)(r >> 11 & 15) - 8;
        x[i] = qdq_float_from_bits(wild && r >> 60 == 0 ? (uint32_t)(r >> 16) : bits);
    }
}

// Parts with random patterns have infinities and NaN; lanes take those without.
static void float32_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    static float x[COUNT];
    uint64_t seed = 7;
    for (size_t set = 0; set < SETS; set++)
        for (int wild = 0; wild < 2; wild++) {
            if (unit_left_out(2 * set + (size_t)wild)) continue;
            uint32_t s = qdq_float_bits(sets[set].scale), z = (uint32_t)sets[set].zero_point;
            fill(x, COUNT, sets[set].scale, sets[set].zero_point, wild, &seed);
            for (size_t i = 5; i < COUNT; i += 97) x[i] = i % 2 ? 0.0f : 1e-41f * (float)i;
            compare_all(QDQ_FLOAT32, x, x, COUNT, (qdq_view){&s, 0}, (qdq_view){&z, 0}, -1,
                        "one scale");
        }
}

static void lists_of_parameters_give_the_bits_of_the_definition(void **state) {
    (void)state;
    static float x[COUNT], real[COUNT];
    static uint16_t halves[COUNT];
    static uint32_t scales[COUNT], zero_points[COUNT];
    uint64_t seed = 9;
    for (size_t i = 0; i < COUNT; i++) {
        // Sets with ordinary scales; one part in eight has any.
        size_t set = (i * 7 + i / 256) % (i / 256 % 8 == 7 ? SETS : 14);
        scales[i] = qdq_float_bits(sets[set].scale);
        zero_points[i] = (uint32_t)sets[set].zero_point;
        fill(&x[i], 1, sets[set].scale, sets[set].zero_point, i / 256 % 8 == 6, &seed);
        halves[i] = (uint16_t)(qdq_float_bits(x[i]) >> 16);
        real[i] = qdq_float_from_bits(qdq_chip_load_bfloat16(halves[i]));
    }
    qdq_view s = {scales, 1}, z = {zero_points, 1};
    compare_all(QDQ_FLOAT32, x, x, COUNT, s, z, -1, "lists");
    compare_all(QDQ_BFLOAT16, halves, real, COUNT, s, z, -1, "lists");
    s.step = 0;
    compare_all(QDQ_FLOAT32, x, x, COUNT, s, z, -1, "a list of zero points");
    compare_all(QDQ_BFLOAT16, halves, real, COUNT - 3, s, z, -1, "a list of zero points");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bfloat16_gives_the_bits_of_the_definition),
        cmocka_unit_test(float32_gives_the_bits_of_the_definition),
        cmocka_unit_test(lists_of_parameters_give_the_bits_of_the_definition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
