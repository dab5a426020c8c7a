// SPDX-License-Identifier: Apache-2.0
// The gemm kernels of bfloat16 on every instruction set against a model in double: every number of
// rows, randomly skipped products, sums that round, cancel, overflow or lie near the least normal
// number.
#include "tests/ops/kernels/gemm_parts.h"
#include "tests/ops/products/fused_model.h"

// Kinds of bfloat16 operands, by what their sums do.
typedef enum bfloat_kind {
    USUAL,    // near 1: sums round and cancel
    WIDE,     // any exponent: sums overflow
    BORDER,   // products near the least normal number
    SPECIAL,  // infinities, NaN, denormals and zeros among others
    TINY,     // products underflow: zeros have signs
    BFLOAT_KINDS,
} bfloat_kind;

static uint16_t bfloat(uint64_t *seed, bfloat_kind kind) {
    static const uint16_t odd[] = {0,      0x8000, 0x0001, 0x807F, 0x0080, 0x8080,
                                   0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0, 0x3F80};
    uint64_t r = unit_random(seed) >> 16;
    uint32_t sign = r & 1 ? 0x8000 : 0, mantissa = (uint32_t)(r >> 2) & (r >> 1 & 1 ? 0x7F : 0x41);
    uint32_t exponent = 125 + (uint32_t)(r >> 10) % 5;
    if (kind == SPECIAL && r >> 14 & 1) kind = USUAL;
    if (kind == SPECIAL && r >> 20 & 15) kind = TINY;
    if (kind == WIDE) exponent = 1 + (uint32_t)(r >> 16) % 254;
    if (kind == BORDER) exponent = 51 + (uint32_t)(r >> 16) % 16;
    if (kind == TINY) exponent = 1 + (uint32_t)(r >> 16) % 60;
    if (kind == SPECIAL || (kind == BORDER && !(r >> 26 & 3)))
        return odd[(r >> 30) % (kind == BORDER ? 6 : UNIT_COUNT(odd))];
    return (uint16_t)(sign | exponent << 7 | mantissa);
}

// What sums start with: never a denormal, as earlier sums are flushed.
static uint32_t first_sum(uint64_t *seed, bfloat_kind kind) {
    uint64_t r = unit_random(seed) >> 16;
    if (kind == BORDER) return (uint32_t)(r & 1) << 31 | (0x00800000 + (uint32_t)(r >> 8 & 3));
    if (kind == TINY || !(r & 15)) return (uint32_t)(r >> 8 & 1) << 31;
    return qdq_float_bits(number(seed) * 0x1p4f);
}

static void fill_bfloats(work *w, uint64_t *seed, bfloat_kind kind) {
    uint16_t pair[2];
    for (size_t i = 0; i < UNIT_COUNT(w->a) + UNIT_COUNT(w->b); i++) {
        bool in_a = i < UNIT_COUNT(w->a);
        pair[0] = bfloat(seed, kind), pair[1] = bfloat(seed, kind);
        // cancels the first product
        if (kind == USUAL && i % 2) pair[1] = pair[0] ^ (in_a ? 0x8000 : 0);
        memcpy(in_a ? &w->a[i] : &w->b[i - UNIT_COUNT(w->a)], pair, sizeof pair);
    }
    for (size_t i = 0; i < UNIT_COUNT(w->c[0]); i++)
        w->c[0][i] = w->c[1][i] = w->c[2][i] = first_sum(seed, kind);
    for (size_t i = 0; i < COLUMNS; i++) w->start[i] = first_sum(seed, kind);
    for (size_t k = 0; k < UNIT_COUNT(w->keep); k++) w->keep[k] = (uint16_t)unit_random(seed);
}

static float half_of(uint32_t word, size_t which) {
    return qdq_float_from_bits(which ? word & 0xFFFF0000 : word << 16);
}

// The wanted sums of a call.
static void want_bfloats(work *w, const qdq_gemm_part *p) {
    for (size_t r = 0; r < p->rows; r++)
        for (size_t j = 0; j < COLUMNS; j++) {
            float a[2 * STEPS], b[2 * STEPS];
            unsigned char has[2 * STEPS];
            for (size_t k = 0; k < 2 * p->steps; k++) {
                a[k] = half_of(w->a[r * STEPS + k / 2], k % 2);
                b[k] = half_of(w->b[k / 2 * COLUMNS + j], k % 2);
                has[k] = !p->keep || p->keep[k] >> r & 1;
            }
            float sum = qdq_float_from_bits(*first_of(w, p, r, j));
            w->c[2][r * STRIDE + j] = qdq_float_bits(fused_sum(a, b, has, 2 * p->steps, sum));
        }
}

// A NaN may have any bits: the epilogue makes them one NaN.
static void check_bfloats(const char *name, const uint32_t *got, const uint32_t *want, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float x = qdq_float_from_bits(got[i]), y = qdq_float_from_bits(want[i]);
        if (got[i] != want[i] && !(isnan(x) && isnan(y)))
            fail_msg("%s: sum %zu is %a, wanted %a", name, i, (double)x, (double)y);
    }
}

static void bfloat_tiles_are_pairs_of_flushed_multiply_adds(void **state) {
    static work w;
    uint64_t seed = 7;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t round = 0; round < 6 * ROWS; round++) {
        bfloat_kind kind = round % BFLOAT_KINDS;
        fill_bfloats(&w, &seed, kind);
        qdq_gemm_part p = part_of(&w, round % (3 * ROWS), NULL);
        if (kind != USUAL && p.steps > 12) p.steps = 1 + round % 7;
        if (p.rows <= QDQ_GEMM_ROWS && round / ROWS % 2) p.keep = w.keep;
        want_bfloats(&w, &p);
        for (size_t i = 0; i < count; i++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            p.c = w.c[1];
            memcpy(w.c[1], w.c[0], sizeof w.c[1]);
            kernels[i].part[QDQ_GEMM_BFLOATS](&p);
            check_bfloats(kernels[i].name, w.c[1], w.c[2], UNIT_COUNT(w.c[1]));
        }
    }
}

// A column each: sums that start at 2^-126 or -0, to which either element of a pair adds. Half a
// unit of a 24-bit number below 2^-126 is 2^-151, half a denormal unit is 2^-150.
static void sums_that_round_up_to_the_least_normal_number_are_not_flushed(void **state) {
    static const struct {
        float start, b[2], want;  // b is multiplied by 2^-75
    } rows[] = {
        {0x1p-126f, {0, -0x1p-75f}, 0},
        {0x1p-126f, {0, -0x1p-76f}, 0x1p-126f},
        {0x1p-126f, {0, -0x1.02p-76f}, 0},
        {0x1p-126f, {0, -0x1.FEp-77f}, 0x1p-126f},
        {-0x1p-126f, {0x1p-75f, 0}, -0.0f},
        {-0x1p-126f, {0x1.FEp-77f, 0}, -0x1p-126f},
        {0x1p-126f, {0x1p-51f, -0x1p-75f}, 0x1p-126f},  // 0 first, then 2^-126
        {0x1p-126f, {-0x1p-74f, 0x1p-51f}, 0x1.FFFFFEp-126f},
        {-0.0f, {-0.0f, -0.0f}, -0.0f},
        {-0.0f, {0, -0.0f}, 0},
        {0, {0x1p-60f, 0x1p-60f}, 0},
        {0, {-0x1p-60f, -0x1p-60f}, -0.0f},
        {0, {-0x1p-60f, 0x1p-60f}, -0.0f},
        {1, {0x1p-127f, INFINITY}, INFINITY},
        {0x1p-126f, {0x1.8p-51f, -0x1p-51f}, 0x1.8p-126f},
    };
    static work w;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t j = 0; j < UNIT_COUNT(rows); j++) {
        w.start[j] = qdq_float_bits(rows[j].start);
        w.b[j] = qdq_float_bits(rows[j].b[0]) >> 16 | qdq_float_bits(rows[j].b[1]);
        w.c[2][j] = qdq_float_bits(rows[j].want);
    }
    w.a[0] = qdq_float_bits(0x1p-75f) >> 16 | qdq_float_bits(0x1p-75f);
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        qdq_gemm_part p = {
            .a = w.a, .b = w.b, .start = w.start, .c = w.c[1], .rows = 1, .steps = 1};
        kernels[i].part[QDQ_GEMM_BFLOATS](&p);
        check_bfloats(kernels[i].name, w.c[1], w.c[2], UNIT_COUNT(rows));
    }
}

// Products are added in the order of their k.
static void bfloat_lanes_are_flushed_multiply_adds(void **state) {
    static float a[STEPS * COLUMNS], b[STEPS * COLUMNS];
    uint64_t seed = 8;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 40 * BFLOAT_KINDS; round++) {
            bfloat_kind kind = round % BFLOAT_KINDS;
            size_t depth = 1 + round % 9;
            uint32_t sums[2][COLUMNS];
            float got[COLUMNS];
            for (size_t j = 0; j < depth * COLUMNS; j++) {
                a[j] = qdq_float_from_bits((uint32_t)bfloat(&seed, kind) << 16);
                b[j] = qdq_float_from_bits((uint32_t)bfloat(&seed, kind) << 16);
            }
            for (size_t j = 0; j < COLUMNS; j++) {
                float sum = got[j] = qdq_float_from_bits(first_sum(&seed, kind));
                for (size_t k = 0; k < depth; k++)
                    sum = fused_model(a[k * COLUMNS + j], b[k * COLUMNS + j], sum);
                sums[0][j] = qdq_float_bits(sum);
            }
            kernels[i].bfloat_lanes(a, b, got, depth);
            memcpy(sums[1], got, sizeof got);
            check_bfloats(kernels[i].name, sums[1], sums[0], COLUMNS);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bfloat_tiles_are_pairs_of_flushed_multiply_adds),
        cmocka_unit_test(sums_that_round_up_to_the_least_normal_number_are_not_flushed),
        cmocka_unit_test(bfloat_lanes_are_flushed_multiply_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
