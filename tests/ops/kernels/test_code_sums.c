// SPDX-License-Identifier: Apache-2.0
// Sums of codes in registers give the codes of Dequantize, Add and Quantize one by one, for every
// pair of codes, at every length, and write nothing else.
#include <math.h>

#include "ops/kernels/kernel.h"
#include "ops/kernels/quantize/sums/code_sum.h"
#include "tests/unit.h"

enum { PAIRS = 256 * 256, GUARD = 64, ROUNDS = 60, LENGTHS = 3 * 64 + 2 };

typedef struct sum_case {
    qdq_dtype dtype;
    qdq_code_sum sum;
    qdq_quant_params quantize;
    uint32_t scale, zero_point;
} sum_case;

static int32_t code_at(const sum_case *c, uint8_t byte) {
    return c->dtype == QDQ_INT8 ? (int8_t)byte : byte;
}

static uint8_t want_of(const sum_case *c, uint8_t a, uint8_t b) {
    const qdq_code_operand *o = c->sum.operands;
    float x = (float)(code_at(c, a) - o[0].zero_point) * o[0].scale;
    float y = (float)(code_at(c, b) - o[1].zero_point) * o[1].scale, both = x + y;
    double q = (double)rintf(both / qdq_float_from_bits(c->scale)) + (int32_t)c->zero_point;
    double least = (double)c->quantize.range.quant_min, most = (double)c->quantize.range.quant_max;
    return (uint8_t)(int32_t)(q < least ? least : q > most ? most : q);
}

// Scales with ties, scales that round, and numbers beyond the range of codes.
static void set_case(sum_case *c, uint32_t isas, unsigned round, uint64_t *seed) {
    uint64_t r = unit_random(seed);
    int64_t least = round % 2 ? -128 : 0;
    *c = (sum_case){.dtype = round % 2 ? QDQ_INT8 : QDQ_UINT8};
    for (int i = 0; i < 2; i++)
        c->sum.operands[i] =
            (qdq_code_operand){c->dtype, ldexpf(1 + (float)(r >> 20 * i & 3) / 2, -(int)(r & 3)),
                               (int32_t)(least + (int64_t)(r >> (8 + 8 * i) & 255))};
    if (round % 3 == 1) c->sum.operands[0].scale = (float)(r >> 40 & 0xFFF) * 1e-3f + 1e-4f;
    if (round % 5 == 2) c->sum.operands[1].scale *= -0.3f;
    float scale = round % 3 ? (float)(r >> 50 & 0xFFF) * 2e-3f + 0.1f : 0.5f;
    c->scale = qdq_float_bits(scale);
    c->zero_point = (uint32_t)(least + (int64_t)(r >> 32 & 255));
    c->quantize = (qdq_quant_params){.x_dtype = QDQ_FLOAT32,
                                     .y_dtype = c->dtype,
                                     .range = {least, least + 255, least, least + 255, 0}};
    if (round % 7 == 3) c->quantize.range.quant_min += 40, c->quantize.range.quant_max -= 9;
    c->sum.quantize = qdq_quant_kernel(QDQ_FAMILY_QUANTIZE, &c->quantize, isas);
}

static void check(const sum_case *c, const uint8_t *a, const uint8_t *b, size_t n) {
    static uint8_t y[PAIRS + GUARD];
    const qdq_view other = {(const uint32_t *)(const void *)b, 1};
    memset(y, 0xA5, n + GUARD);
    qdq_code_sum_find (&c->sum)(&c->sum, &other, a, y, n);
    for (size_t i = 0; i < n; i++)
        if (y[i] != want_of(c, a[i], b[i]))
            fail_msg("%zu codes: %d and %d: got %d, want %d", n, a[i], b[i], y[i],
                     want_of(c, a[i], b[i]));
    for (size_t i = n; i < n + GUARD; i++) assert_int_equal(y[i], 0xA5);
}

static void every_pair_of_codes_has_the_code_of_its_sum(void **state) {
    static uint8_t a[PAIRS], b[PAIRS];
    uint64_t seed = 11;
    size_t checked = 0;
    (void)state;
    for (size_t i = 0; i < PAIRS; i++) a[i] = (uint8_t)(i % 256), b[i] = (uint8_t)(i / 256);
    for (size_t k = 0; qdq_isa_get(k).name; k++) {
        uint32_t isas;
        qdq_error err;
        if (!qdq_isa_get(k).available || !qdq_cpu_cap(qdq_isa_get(k).name, &isas, &err)) continue;
        for (unsigned round = 0; round < ROUNDS; round++) {
            sum_case c;
            set_case(&c, isas, round, &seed);
            c.sum.params = &c.quantize;
            c.sum.views[0] = (qdq_view){&c.scale, 0}, c.sum.views[1] = (qdq_view){&c.zero_point, 0};
            if (!qdq_code_sum_find(&c.sum)) continue;
            check(&c, a, b, PAIRS);
            for (size_t n = 0; round < 4 && n < LENGTHS; n++) check(&c, a + n * 7, b + n * 300, n);
            checked++;
        }
    }
    if (qdq_cpu_has_avx2()) assert_true(checked >= ROUNDS);
}

// Where 1/s overflows, or the zero point is no code, links stay apart.
static void other_parameters_are_not_taken(void **state) {
    uint64_t seed = 5;
    sum_case c;
    (void)state;
    set_case(&c, qdq_cpu_isas(), 0, &seed);
    c.sum.params = &c.quantize;
    c.sum.views[0] = (qdq_view){&c.scale, 0}, c.sum.views[1] = (qdq_view){&c.zero_point, 0};
    c.scale = qdq_float_bits(1e-30f);
    assert_null(qdq_code_sum_find(&c.sum));
    c.scale = qdq_float_bits(0.5f), c.zero_point = 256;
    assert_null(qdq_code_sum_find(&c.sum));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_codes_has_the_code_of_its_sum),
        cmocka_unit_test(other_parameters_are_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
