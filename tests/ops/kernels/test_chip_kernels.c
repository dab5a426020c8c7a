// SPDX-License-Identifier: Apache-2.0
// The kernels of chip arithmetic equal the definition of one element, which calls the chip's
// instructions one by one: on every bfloat16 with 24 sets of parameters, and on float32 next to
// ties; and the multiply-add without branches equals SFPMAD.
#include "ops/kernels/quantize/chip_lanes.inc.h"
#include "runtime/tenstorrent/quantize_device.h"
#include "runtime/tenstorrent/sfpmad.h"
#include "runtime/tenstorrent/sfpu.h"
#include "runtime/tenstorrent/tile_formats.h"
#include "tests/ops/oracle.h"

enum { SETS = 24, ALL = 65536 };

static const struct {
    float scale;
    int32_t zero_point;
} sets[SETS] = {{0.03f, 127},      {0.02f, 3},    {0.1f, -5},      {0.3f, 0},       {0.03125f, 10},
                {0.0078431f, -77}, {0.0123f, 64}, {1.7f, -128},    {1, 0},          {0.5f, 1},
                {0.7f, 128},       {2, -1},       {0.25f, 255},    {1e-3f, 100},    {1e-20f, 7},
                {1e20f, 7},        {-0.3f, 2},    {0x1p-100f, 0},  {0x1p100f, 0},   {3e-39f, 1},
                {3, -300},         {0.9f, 511},   {0.6f, 1 << 20}, {0.04f, 1 << 21}};

// The numerics that the target gives a fused Quantize.
static qdq_numerics numerics_of(qdq_multiply_add chip, bool even, bool by_chip, qdq_dtype y) {
    qdq_numerics n = {.multiply_add = chip,
                      .bfloat16_load = QDQ_BFLOAT16_LOAD_DEVICE,
                      .nan = QDQ_NAN_BY_SIGN,
                      .sign_magnitude = true,
                      .bfloat16_store = QDQ_BFLOAT16_DEVICE};
    n.zero_point_order = even ? QDQ_ZERO_POINT_AFTER_MAGIC : QDQ_ZERO_POINT_FMA;
    n.rounding = even ? QDQ_ROUND_HALF_EVEN : QDQ_ROUND_HALF_AWAY;
    n.overflow = y == QDQ_UINT8 && !even ? QDQ_OVERFLOW_MAGNITUDE : QDQ_OVERFLOW_SATURATE;
    n.fold_128 = y == QDQ_INT8 && !even;
    n.scaling = by_chip ? QDQ_SCALE_DEVICE_RECIPROCAL : QDQ_SCALE_DIVIDE;
    n.narrow = y == QDQ_INT32, n.quant_min = even ? -128 : -127, n.quant_max = 127;
    return n;
}

// Compares the kernel of an instruction set with the definition, on n elements of x.
static size_t compare(const qdq_quant_params *p, qdq_isa isa, size_t set, const void *x,
                      const int32_t *want, size_t n, bool lists) {
    static uint32_t scales[ALL], zero_points[ALL];
    static uint8_t y[ALL * 4];
    static int32_t got[ALL];
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        scales[i] =
            qdq_float_bits(p->scale_is_inverse ? qdq_quantize_inverse(&p->numerics, sets[set].scale)
                                               : sets[set].scale);
        zero_points[i] = (uint32_t)sets[set].zero_point;
    }
    qdq_view views[2] = {{scales, lists}, {zero_points, lists}};
    qdq_tile_fn *fn = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, p, 1u << isa | 1u << QDQ_ISA_PORTABLE);
    if (fn == qdq_quantize_tile_portable && isa != QDQ_ISA_PORTABLE) return 0;  // has no rows
    fn(p, views, x, y, n);
    qdq_decode_int(p->y_dtype, y, got, n);
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i] && wrong++ < 5)
            print_error("chip %d, set %zu, to %s, isa %d, element %zu: want %d, got %d\n",
                        (int)p->numerics.multiply_add, set, qdq_dtype_name(p->y_dtype), (int)isa, i,
                        want[i], got[i]);
    return wrong;
}

// Runs every kernel that quantizes n elements of x, whose values are `real`.
static void compare_all(qdq_dtype from, const void *x, const float *real, size_t n, size_t set) {
    static const qdq_dtype codes[3] = {QDQ_INT32, QDQ_INT8, QDQ_UINT8};
    static int32_t want[ALL];
    uint32_t isas = qdq_cpu_isas();
    for (int kind = 0; kind < 24; kind++) {
        qdq_multiply_add chip = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE;
        qdq_dtype y = codes[kind / 8];
        qdq_quant_params p = {
            .numerics = numerics_of(chip, kind & 2, kind & 4, y), .x_dtype = from, .y_dtype = y};
        p.range = qdq_range_of(y, NULL, NULL, &p.numerics);
        for (size_t i = 0; i < n; i++)
            want[i] = qdq_quantize_one(&p.numerics, real[i], sets[set].scale, sets[set].zero_point,
                                       &p.range);
        for (int isa = 0; isa < 32; isa++)
            if (isas >> isa & 1)
                for (int lists = 0; lists < (isa == QDQ_ISA_PORTABLE ? 1 : 4); lists++) {
                    p.scale_is_inverse = lists / 2 && qdq_quantizes_by_chip_inverse(&p.numerics);
                    if (lists < 2 || p.scale_is_inverse)
                        assert_int_equal(compare(&p, (qdq_isa)isa, set, x, want, n, lists % 2), 0);
                }
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
    size_t step = unit_slow() ? 5 : 1;
    for (size_t set = 0; set < SETS; set += step) compare_all(QDQ_BFLOAT16, x, real, ALL, set);
}

// (k + 0.5 - z) * s, a few units in the last place away, and random patterns.
static void float32_next_to_ties_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    static float x[COUNT];
    uint64_t seed = 7;
    for (size_t set = 0; set < SETS; set += unit_slow() ? 5 : 1) {
        for (size_t i = 0; i < COUNT; i++) {
            uint64_t r = unit_random(&seed);
            float tie = ((float)((int)(r & 511) - 200) + 0.5f - (float)sets[set].zero_point);
            uint32_t bits = qdq_float_bits(tie * sets[set].scale) + (uint32_t)(r >> 9 & 15) - 8;
            x[i] = qdq_float_from_bits(r >> 60 ? bits : (uint32_t)(r >> 16));
        }
        compare_all(QDQ_FLOAT32, x, x, COUNT, set);
    }
}

// Small codes, int32 of any size, and the ends of the range.
static int32_t code_of(uint64_t r) {
    if (r % 64 == 0) return r & 64 ? INT32_MIN : INT32_MAX;
    return r & 1 ? (int32_t)(r >> 32) : (int32_t)(r >> 32 & 1023) - 512;
}

// Sums of 29 bits that Wormhole rounds in its own way occur among large codes.
static void requantize_gives_the_bits_of_the_definition(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    static const qdq_dtype codes[3] = {QDQ_INT32, QDQ_INT8, QDQ_UINT8};
    static int32_t x[COUNT], got[COUNT];
    static uint8_t y[COUNT * 4];
    uint64_t seed = 5;
    for (int kind = 0; kind < 12 * SETS; kind += unit_slow() ? 5 : 1) {
        qdq_multiply_add chip = kind & 1 ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE;
        qdq_quant_params p = {.x_dtype = QDQ_INT32, .y_dtype = codes[kind % 12 / 4]};
        p.numerics = numerics_of(chip, kind & 2, false, p.y_dtype);
        p.numerics.requantize_form = QDQ_REQUANTIZE_FUSED;
        p.numerics.zero_point_order = QDQ_ZERO_POINT_AFTER;
        p.numerics.bfloat16_load = QDQ_BFLOAT16_LOAD_EXACT;
        p.range = qdq_range_of(p.y_dtype, NULL, NULL, &p.numerics);
        const qdq_requantize_scales s = {sets[kind / 12].scale, sets[(kind + 5) % SETS].scale,
                                         sets[kind / 12].zero_point, (kind * 7) % 256 - 128};
        const uint32_t values[4] = {qdq_float_bits(s.in_scale), (uint32_t)s.in_zero_point,
                                    qdq_float_bits(s.out_scale), (uint32_t)s.out_zero_point};
        qdq_view views[4] = {{&values[0], 0}, {&values[1], 0}, {&values[2], 0}, {&values[3], 0}};
        for (size_t i = 0; i < COUNT; i++) x[i] = code_of(unit_random(&seed));
        for (int isa = 0; isa < 32; isa++) {
            if (!(qdq_cpu_isas() >> isa & 1)) continue;
            qdq_tile_fn *fn =
                qdq_quant_kernel(QDQ_FAMILY_REQUANTIZE, &p, 1u << isa | 1u << QDQ_ISA_PORTABLE);
            if (isa == QDQ_ISA_AVX2) assert_true(fn != qdq_requantize_tile_portable);
            fn(&p, views, x, y, COUNT);
            qdq_decode_int(p.y_dtype, y, got, COUNT);
            for (size_t i = 0; i < COUNT; i++)
                assert_int_equal(
                    got[i], qdq_requantize_one(&p.numerics, (float)x[i], x[i], true, &s, &p.range));
        }
    }
}

// NaN becomes infinity with its sign, zeros lose theirs.
static uint32_t as_lanes_give_it(uint32_t v) {
    if ((v & 0x7FFFFFFF) > 0x7F800000) return (v & 0x80000000) | 0x7F800000;
    return v & 0x7FFFFFFF ? v : 0;
}

// Operands close to cancellation, or short ones with exponents that agree, or any.
static void operands(uint64_t *seed, int i, uint32_t *x, uint32_t *y, uint32_t *z) {
    uint64_t a = unit_random(seed), b = unit_random(seed);
    *x = (uint32_t)a, *y = (uint32_t)(a >> 32), *z = (uint32_t)b;
    if (!(i % 4)) return;
    uint32_t mask = i % 4 == 1 ? 0xFFFFFFFF : 0xFFFFFC00;
    *x = (*x & 0x807FFFFF & mask) | (100 + (uint32_t)(b >> 60)) << 23;
    *y = (*y & 0x807FFFFF & mask) | (120 + (uint32_t)(b >> 56 & 15)) << 23;
    *z = (*z & 0x807FFFFF) | ((*x >> 23 & 0xFF) + (*y >> 23 & 0xFF) - 128 + (uint32_t)(b >> 54 & 3))
                                 << 23;
    if (i % 4 == 3)
        *z = (qdq_sfpmul(QDQ_MULTIPLY_ADD_WORMHOLE, *x, *y) ^ 0x80000000) +
             (uint32_t)(b >> 50 & 7) - 4;
}

static void the_multiply_add_without_branches_is_sfpmad(void **state) {
    (void)state;
    enum { COUNT = 3000000 };
    uint64_t seed = 3;
    for (int i = 0; i < COUNT; i += unit_slow() ? 7 : 1) {
        uint32_t x, y, z;
        operands(&seed, i, &x, &y, &z);
        int of_x = (int)(x >> 23 & 0xFF), of_y = (int)(y >> 23 & 0xFF),
            of_z = (int)(z >> 23 & 0xFF);
        if (of_y == 255 || of_z == 255 || (of_x == 255 && of_y == 0)) continue;
        int exponent = of_x && of_y ? of_x + of_y - 127 : 0;
        bool small = exponent < 28 && of_z < 28;
        for (int c = 0; c < 2; c++) {
            uint32_t want =
                qdq_sfpmad(c ? QDQ_MULTIPLY_ADD_BLACKHOLE : QDQ_MULTIPLY_ADD_WORMHOLE, x, y, z);
            uint32_t got = chip_mad(!c, true, x, y, z);
            if (small ? (got & 0x7FFFFFFF) >= 0x0F000000 || (want & 0x7FFFFFFF) >= 0x0F000000
                      : as_lanes_give_it(want) != as_lanes_give_it(got))
                fail_msg("%08x * %08x + %08x: want %08x, got %08x", x, y, z, want, got);
        }
    }
}

static void the_reciprocal_without_branches_is_that_of_the_chip(void **state) {
    (void)state;
    for (uint32_t v = 0; v < 0x7F800000; v += 1021)
        for (int sign = 0; sign < 2; sign++) {
            uint32_t s = v | (uint32_t)sign << 31;
            if (!chip_is_middling(s)) continue;
            assert_int_equal(chip_reciprocal(true, s),
                             qdq_sfp_reciprocal(QDQ_MULTIPLY_ADD_WORMHOLE, s));
            assert_int_equal(chip_reciprocal(false, s),
                             qdq_sfp_reciprocal(QDQ_MULTIPLY_ADD_BLACKHOLE, s));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_bfloat16_gives_the_bits_of_the_definition),
        cmocka_unit_test(float32_next_to_ties_gives_the_bits_of_the_definition),
        cmocka_unit_test(requantize_gives_the_bits_of_the_definition),
        cmocka_unit_test(the_multiply_add_without_branches_is_sfpmad),
        cmocka_unit_test(the_reciprocal_without_branches_is_that_of_the_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
