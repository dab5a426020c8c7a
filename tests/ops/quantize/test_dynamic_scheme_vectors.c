// SPDX-License-Identifier: Apache-2.0
// Published examples of MX and NVFP4, block by block: from torchao's tests, NVIDIA's
// Model-Optimizer and the OCP MX text. They also check the model of scheme_model.h, so that model
// and library cannot share a mistake.
#include "tests/ops/quantize/scheme_model.h"

enum { BLOCK = 32 };

static const grain rows = {QDQ_PER_GROUP, 0, {2, {1, BLOCK}}, {2, {1, BLOCK}}};
static const grain half_rows = {QDQ_PER_GROUP, 0, {2, {2, 16}}, {2, {1, 16}}};

static scheme_case new_case(const char *what, const grain *g, qdq_dtype from, qdq_dtype to,
                            qdq_scheme scheme) {
    return (scheme_case){what, g, from, to, scheme, .global_from = NOWHERE};
}

// Runs the case in strips and tiles; both must equal the model.
static const scheme_result *result_of(const scheme_case *c) {
    static scheme_result want, got;
    scheme_expect(c, &want);
    for (int materialize = 0; materialize < 2; materialize++) {
        scheme_run(c, &(qdq_compile_options){.materialize = materialize}, &got);
        scheme_compare(c, materialize ? " in tiles" : "", &got, &want);
    }
    return &got;
}

static uint32_t sign_bit(qdq_dtype dtype) { return dtype == QDQ_FLOAT32 ? 0x80000000u : 0x8000u; }

//---- Powers of two ----------------------------------------------------------

static const qdq_scheme modes[] = {QDQ_MX_FLOOR, QDQ_MX_CEIL, QDQ_MX_EVEN, QDQ_MX_RCEIL};

static void the_four_modes_choose_the_powers_of_the_comparison_table(void **state) {
    (void)state;
    static scheme_case c;
    static const struct {
        qdq_dtype to;
        double size;
        int power[4];
    } table[] = {
        {QDQ_FLOAT4_E2M1, 1.5, {-2, -1, -2, -2}}, {QDQ_FLOAT4_E2M1, 1.75, {-2, -1, -1, -1}},
        {QDQ_FLOAT4_E2M1, 3, {-1, 0, -1, -1}},    {QDQ_FLOAT4_E2M1, 3.5, {-1, 0, 0, 0}},
        {QDQ_FLOAT4_E2M1, 5, {0, 1, 0, 0}},       {QDQ_FLOAT4_E2M1, 6, {0, 1, 0, 0}},
        {QDQ_FLOAT4_E2M1, 6.5, {0, 1, 0, 1}},     {QDQ_FLOAT4_E2M1, 7, {0, 1, 1, 1}},
        {QDQ_FLOAT4_E2M1, 8, {1, 1, 1, 1}},       {QDQ_FLOAT8_E4M3FN, 240, {-1, 0, -1, 0}},
        {QDQ_FLOAT8_E4M3FN, 248, {-1, 0, 0, 0}},  {QDQ_FLOAT8_E4M3FN, 448, {0, 1, 0, 0}},
        {QDQ_FLOAT8_E4M3FN, 449, {0, 1, 0, 1}},   {QDQ_FLOAT8_E4M3FN, 480, {0, 1, 0, 1}},
        {QDQ_FLOAT8_E4M3FN, 496, {0, 1, 1, 1}},   {QDQ_FLOAT8_E4M3FN, 512, {1, 1, 1, 1}},
    };
    static const qdq_dtype floats[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    for (size_t t = 0; t < UNIT_COUNT(table); t++)
        for (size_t m = 0; m < 4; m++)
            for (size_t f = 0; f < 3; f++)
                for (int sign = 0; sign < 2; sign++) {
                    // bfloat16 has no 449
                    if (floats[f] == QDQ_BFLOAT16 && table[t].size == 449) continue;
                    c = new_case("modes", &rows, floats[f], table[t].to, modes[m]);
                    for (size_t i = 0; i < BLOCK; i++)
                        c.x[i] = bits_of(c.from, table[t].size * (double)i / 64);
                    c.x[7] = bits_of(c.from, sign ? -table[t].size : table[t].size);
                    assert_int_equal((int)result_of(&c)->scale[0] - MX_BIAS, table[t].power[m]);
                }
}

// Searches the neighbours of 6 * value for a float32 whose product with fl(1 / 6) has these bits.
static bool find_size(uint32_t bits, uint32_t *size) {
    double d = (double)unit_float_of_bits(bits);
    if (!isfinite(d)) return *size = bits, true;
    if (d > 0x1p125) return false;  // beyond the product of the greatest float32
    uint32_t middle = unit_bits_of_float((float)(6 * d));
    for (uint32_t i = 0; i < 9; i++) {
        *size = middle + i - (middle < 4 ? middle : 4);
        double product = oracle_mul((double)unit_float_of_bits(*size), oracle_div(1, 6));
        if (unit_bits_of_float((float)product) == bits) return true;
    }
    return false;
}

static void rceil_rounds_the_published_bits_up_to_the_published_bytes(void **state) {
    (void)state;
    static scheme_case c;
    static const struct {
        uint32_t bits, code;
    } table[] = {{0x00000000, 0},   {0x00000001, 0},   {0x00400000, 0},   {0x00400001, 1},
                 {0x007FFFFF, 1},   {0x00800000, 1},   {0x1F800000, 63},  {0x1F800001, 64},
                 {0x3F7FFFFF, 127}, {0x3F800000, 127}, {0x3F800001, 128}, {0x5F800000, 191},
                 {0x5F800001, 192}, {0x7F000000, 254}, {0x7F000001, 255}, {0x7F7FFFFF, 255},
                 {0x7F800000, 255}, {0x7FC00000, 255}};
    size_t found = 0;
    for (size_t t = 0; t < UNIT_COUNT(table); t++) {
        uint32_t size;
        if (!find_size(table[t].bits, &size)) continue;
        found++;
        c = new_case("rceil", &rows, QDQ_FLOAT32, QDQ_FLOAT4_E2M1, QDQ_MX_RCEIL);
        for (size_t i = 0; i < BLOCK; i++) c.x[i] = size;
        assert_int_equal(result_of(&c)->scale[0], table[t].code);
    }
    assert_int_equal(found, 15);  // all except the three beyond 2^125
}

//---- MXFP8 blocks -----------------------------------------------------------

// The first element of a block and the others; ONES: all others are 1, otherwise all are equal.
typedef struct mx_row {
    double first[2];  // as float32 and as bfloat16
    bool ones;
    // Scale, first element and other elements: floor and rceil, float32 and bfloat16.
    uint8_t want[4][3];
} mx_row;

#define MX_ALL(scale, first, others)                                              \
    {                                                                             \
        {scale, first, others}, {scale, first, others}, {scale, first, others}, { \
            scale, first, others                                                  \
        }                                                                         \
    }
#define MX_FLOOR_RCEIL(a, b, c, d, e, f)             \
    {                                                \
        {a, b, c}, {d, e, f}, {a, b, c}, { d, e, f } \
    }

// clang-format off
static const mx_row mx_rows[] = {
    {{0, 0},                        false, MX_ALL(0, 0x00, 0x00)},
    {{0x1p-126, 0x1p-126},          false, MX_ALL(0, 0x40, 0x40)},
    {{INFINITY, INFINITY},          true,  MX_ALL(255, 0x7F, 0x7F)},
    {{NAN, NAN},                    true,  MX_ALL(255, 0x7F, 0x7F)},
    {{448, 448},                    false, MX_ALL(127, 0x7E, 0x7E)},
    {{0x1.FFFFFEp127, 0x1.FEp127},  false, MX_FLOOR_RCEIL(246, 0x7E, 0x7E, 247, 0x78, 0x78)},
    {{0x1p-149, 0x1p-133},          false, {{0, 0x00, 0x00}, {0, 0x00, 0x00}, {0, 0x08, 0x08}, {0, 0x08, 0x08}}},
    {{0x1p-149, 0x1p-133},          true,  MX_ALL(119, 0x00, 0x78)},
    {{0x1.FFFFFEp127, 0x1.FEp127},  true,  MX_FLOOR_RCEIL(246, 0x7E, 0x00, 247, 0x78, 0x00)},
    {{0x1.C00002p1, 3.5},           false, {{120, 0x7E, 0x7E}, {121, 0x76, 0x76}, {120, 0x7E, 0x7E}, {120, 0x7E, 0x7E}}},
    {{0x1.FFFFFEp8, 512},           false, {{127, 0x7E, 0x7E}, {128, 0x78, 0x78}, {128, 0x78, 0x78}, {128, 0x78, 0x78}}},
    {{480, 480},                    false, MX_FLOOR_RCEIL(127, 0x7E, 0x7E, 128, 0x77, 0x77)},
};
// clang-format on

static void mxfp8_blocks_come_out_as_published(void **state) {
    (void)state;
    static scheme_case c;
    for (size_t t = 0; t < UNIT_COUNT(mx_rows); t++)
        for (int k = 0; k < 8; k++) {
            const mx_row *row = &mx_rows[t];
            const uint8_t *want = row->want[k & 3];
            bool wide = (k & 2) == 0, minus = k & 4;
            c = new_case("mxfp8", &rows, wide ? QDQ_FLOAT32 : QDQ_BFLOAT16, QDQ_FLOAT8_E4M3FN,
                         k & 1 ? QDQ_MX_RCEIL : QDQ_MX_FLOOR);
            uint32_t first = bits_of(c.from, row->first[!wide]);
            if (minus) first ^= sign_bit(c.from);
            for (size_t i = 0; i < BLOCK; i++) c.x[i] = i && row->ones ? bits_of(c.from, 1) : first;
            const scheme_result *got = result_of(&c);
            uint32_t sign = minus ? 0x80 : 0, others = row->ones ? 0 : sign;
            assert_int_equal(got->scale[0], want[0]);
            assert_true(same(c.to, got->y[0], want[1] | sign));
            for (size_t i = 1; i < BLOCK; i++) assert_true(same(c.to, got->y[i], want[2] | others));
        }
}

// [NaN, 1, 2, 3 | 4, 5, 6, 7] in blocks of 4.
static void a_nan_spoils_its_own_block_alone(void **state) {
    (void)state;
    static scheme_case c;
    static const grain fours = {QDQ_PER_GROUP, 0, {1, {8}}, {1, {4}}};
    for (size_t m = 0; m < 4; m++)
        for (unsigned t = 0; t < 3; t++) {
            static const qdq_dtype to[] = {QDQ_FLOAT8_E4M3FN, QDQ_FLOAT8_E5M2, QDQ_FLOAT4_E2M1};
            c = new_case("nan", &fours, QDQ_FLOAT32, to[t], modes[m]);
            for (size_t i = 0; i < 8; i++) c.x[i] = bits_of(c.from, i ? (double)i : (double)NAN);
            const scheme_result *got = result_of(&c);
            assert_int_equal(got->scale[0], MX_NAN);
            assert_int_not_equal(got->scale[1], MX_NAN);
            for (size_t i = 0; i < 4 && t < 2; i++)
                assert_true(small_is_nan(small_format_of(to[t]), got->y[i]));
        }
}

// Magnitudes and their codes; the block contains 6, so its scale is 1.
static void float4_elements_get_the_published_codes_and_keep_their_sign(void **state) {
    (void)state;
    static scheme_case c;
    static const double magnitudes[][5] = {{0, .1, .25, .25, .25},   {.4, .5, .6, .6, .6},
                                           {.75, .9, 1, 1.1, 1.25},  {1.4, 1.5, 1.6, 1.6, 1.6},
                                           {1.75, 1.9, 2, 2.1, 2.5}, {2.9, 3, 3.1, 3.1, 3.1},
                                           {3.5, 3.9, 4, 4.1, 5},    {5.9, 6, 6.1, 6.1, 6.1}};
    static const grain forties = {QDQ_PER_TENSOR, 0, {1, {41}}, {0}};
    for (int minus = 0; minus < 2; minus++) {
        c = new_case("float4", &forties, QDQ_FLOAT32, QDQ_FLOAT4_E2M1, QDQ_MX_FLOOR);
        c.x[40] = bits_of(c.from, 6);
        for (size_t i = 0; i < 40; i++)
            c.x[i] = bits_of(c.from, magnitudes[i / 5][i % 5]) ^ (minus ? sign_bit(c.from) : 0);
        const scheme_result *got = result_of(&c);
        assert_int_equal(got->scale[0], MX_BIAS);
        for (size_t i = 0; i < 40; i++) assert_int_equal(got->y[i], i / 5 + (minus ? 8 : 0));
    }
    static const grain pairs = {QDQ_PER_TENSOR, 0, {2, {2, 4}}, {0}};
    static const double x[8] = {0, .5, 4, -0.0, -0.0, 1, -6, 3};
    static const uint8_t packed[4] = {0x10, 0x86, 0x28, 0x5F};  // the first code in the low nibble
    c = new_case("packed", &pairs, QDQ_BFLOAT16, QDQ_FLOAT4_E2M1, QDQ_MX_FLOOR);
    for (size_t i = 0; i < 8; i++) c.x[i] = bits_of(c.from, x[i]);
    const scheme_result *got = result_of(&c);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(got->y[i], packed[i / 2] >> (i % 2 ? 4 : 0) & 15);
}

//---- NVFP4 ------------------------------------------------------------------

// A row of 16 values: 0, .1, -.2, ... 1.5.
static void nvfp4_of_one_and_of_two_levels_gives_the_published_block(void **state) {
    (void)state;
    static scheme_case c;
    static const uint8_t codes[16] = {0, 1, 10, 2, 11, 4, 12, 5, 13, 6, 14, 6, 14, 7, 15, 7};
    for (int two = 0; two < 2; two++) {
        c = new_case("nvfp4", &half_rows, QDQ_FLOAT32, QDQ_FLOAT4_E2M1, QDQ_NVFP4);
        c.global = 0x1.24924ap-11f;  // 1.5 / 2688 = 0.00055803574
        if (two) c.global_from = ATTRIBUTE;
        for (size_t i = 0; i < 32; i++) {
            float v = (float)((double)(i % 16) / 10);
            c.x[i] = unit_bits_of_float(i % 2 || i % 16 == 0 ? v : -v);
        }
        const scheme_result *got = result_of(&c);
        assert_int_equal(got->scale[0], two ? 0x7E : 0x28);
        for (size_t i = 0; i < 32; i++) assert_int_equal(got->y[i], codes[i % 16]);
    }
}

// A block of zeros has scale 1; a nearly zero block has the least scale.
static void nvfp4_scales_are_neither_zero_nor_beyond_448(void **state) {
    (void)state;
    static scheme_case c;
    static const struct {
        double size;
        uint32_t scale;
    } table[] = {{0, 0x38}, {-0.0, 0x38},    {NAN, 0x38},  {0x1p-149, 0x01}, {0x1p-30, 0x01},
                 {6, 0x38}, {6 * 448, 0x7E}, {1e30, 0x7E}, {INFINITY, 0x7E}};
    for (size_t t = 0; t < UNIT_COUNT(table); t++)
        for (int from = 0; from < 3; from++) {
            c = new_case("range", &half_rows, QDQ_FLOAT32, QDQ_FLOAT4_E2M1, QDQ_NVFP4);
            c.global = 1, c.global_dtype = QDQ_FLOAT32,
            c.global_from = (origin[]){ATTRIBUTE, INPUT, NOWHERE}[from];
            for (size_t i = 0; i < 32; i++) c.x[i] = bits_of(c.from, i % 3 ? 0 : table[t].size);
            const scheme_result *got = result_of(&c);
            assert_int_equal(got->scale[0], table[t].scale);
            assert_int_equal(got->scale[1], table[t].scale);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_four_modes_choose_the_powers_of_the_comparison_table),
        cmocka_unit_test(rceil_rounds_the_published_bits_up_to_the_published_bytes),
        cmocka_unit_test(mxfp8_blocks_come_out_as_published),
        cmocka_unit_test(a_nan_spoils_its_own_block_alone),
        cmocka_unit_test(float4_elements_get_the_published_codes_and_keep_their_sign),
        cmocka_unit_test(nvfp4_of_one_and_of_two_levels_gives_the_published_block),
        cmocka_unit_test(nvfp4_scales_are_neither_zero_nor_beyond_448),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
