// SPDX-License-Identifier: Apache-2.0
// A row of floats in fixed point: the digits stand for each element to half a unit, units are the
// least that hold a block, and every kernel gives the digits and sums of the portable one.
#include <math.h>

#include "runtime/numerics/dtype.h"
#include "tests/ops/kernels/gemm_parts.h"

enum { BLOCK = QDQ_GEMM_FIXED_DEPTH, MOST = QDQ_GEMM_FIXED_MOST, BLOCKS = 3, GROUPS = 16 * BLOCKS };

static float sign_of(uint64_t *seed) { return unit_random(seed) >> 30 & 1 ? -1.0F : 1.0F; }

// Elements of one magnitude or of all, among them the ends of the range of a unit, halves of units,
// denormals, zeros and the greatest float.
static void fill_block(uint64_t *seed, size_t round, float *a) {
    int exponent = (int)(unit_random(seed) >> 20 & 255) - 150;
    for (size_t k = 0; k < BLOCK; k++) {
        uint32_t r = (uint32_t)(unit_random(seed) >> 17);
        int place = round % 3 == 2 ? (int)(r % 250) - 149 : exponent;
        a[k] = sign_of(seed) * ldexpf((float)(r & 0xFFFFFF) / 2, place - 22);
        if (r >> 26 == 1) a[k] = 0;
    }
    if (round % 4 == 1) a[round % BLOCK] = sign_of(seed) * ldexpf(MOST, exponent);
    if (round % 4 == 2) a[round % BLOCK] = nextafterf(ldexpf(MOST, exponent), INFINITY);
    if (round % 16 == 3) a[round % BLOCK] = 0x1.fffffep127F;
    if (round % 16 == 7) memset(a, 0, BLOCK * sizeof *a);
    if (round % 16 == 11)
        for (size_t k = 0; k < BLOCK; k++)
            a[k] = ldexpf(a[k] < 0 ? -1.5F : 2.5F, -149 + (int)(k % 24));
}

static void check_block(const float *a, size_t n, const qdq_gemm_fixed_block *b) {
    double unit = (double)b->unit, most = 0;
    for (size_t k = 0; k < BLOCK; k++) {
        double is = b->digits[0][k] + 256.0 * b->digits[1][k] + 65536.0 * b->digits[2][k];
        double wanted = k < n ? (double)a[k] / unit : 0;
        assert_true(is == nearbyint(wanted));
        if (fabs(wanted) > most) most = fabs(wanted);
    }
    assert_true(most <= MOST && (unit == 0x1p-149 || 2 * most > MOST));
    for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
        for (size_t e = 0; e < QDQ_GEMM_FIXED_EIGHTHS; e++) {
            int sum = 0;
            for (size_t k = 0; k < QDQ_GEMM_EIGHTH; k++) sum += b->digits[i][e * 8 + k];
            assert_int_equal(b->sums[i][e], sum);
        }
}

static void digits_stand_for_the_elements_of_a_block(void **state) {
    uint64_t seed = 21;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; qdq_cpu_isas() >> kernels[i].isa & 1 && round < 600; round++) {
            float a[BLOCK];
            qdq_gemm_fixed_block block;
            size_t n = round % 5 ? BLOCK : 1 + round % BLOCK;
            fill_block(&seed, round, a);
            memset(&block, 0xA5, sizeof block);
            kernels[i].fix(a, n, &block);
            check_block(a, n, &block);
        }
}

static void elements_that_are_not_finite_have_no_digits(void **state) {
    static const uint32_t odd[] = {0x7F800000, 0xFF800000, 0x7FC00000, 0xFF800001};
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; qdq_cpu_isas() >> kernels[i].isa & 1 && k < BLOCK; k++) {
            float a[BLOCK] = {1};
            qdq_gemm_fixed_block block = {.unit = 1};
            a[k] = qdq_float_from_bits(odd[k % 4]);
            kernels[i].fix(a, BLOCK, &block);
            assert_true(block.unit == 0);
        }
}

//---- Products ---------------------------------------------------------------

typedef struct rows {
    qdq_gemm_fixed_block blocks[BLOCKS];
    qdq_gemm_fixed_group groups[GROUPS];
    uint8_t codes[BLOCKS * BLOCK * COLUMNS];
    float scales[GROUPS * COLUMNS], sums[2][COLUMNS];
    int16_t zeros[GROUPS * COLUMNS];
} rows;

// Groups of 8 to 128 k; the last one may end within a line of codes.
static size_t fill_groups(rows *w, uint64_t *seed, bool halves) {
    size_t count = 0;
    for (size_t b = 0; b < BLOCKS; b++) {
        float a[BLOCK];
        size_t depth = b + 1 < BLOCKS ? BLOCK : 1 + (unit_random(seed) >> 20) % BLOCK;
        fill_block(seed, unit_random(seed) >> 20 & 15, a);
        for (size_t k = 0; k < BLOCK; k++) a[k] = fmodf(a[k], 1e6F);
        qdq_gemm_fix_portable(a, depth, &w->blocks[b]);
        for (size_t k = 0, n; k < depth; k += n, count++) {
            n = 8 * (1 + (unit_random(seed) >> 20) % 16);
            if (n > depth - k) n = depth - k;
            qdq_gemm_fixed_group *g = &w->groups[count];
            *g = (qdq_gemm_fixed_group){.block = &w->blocks[b], .first = (uint32_t)k};
            g->lines = (uint32_t)(halves ? (n + 7) / 8 : (n + 3) / 4);
            g->scale = (uint32_t)count, g->zero = (uint32_t)(count / 2);
            for (size_t i = 0; i < QDQ_GEMM_DIGITS; i++)
                for (size_t at = k; at < k + n; at++) g->sums[i] += w->blocks[b].digits[i][at];
        }
    }
    return count;
}

static void sums_equal_the_portable_kernel(void **state) {
    static rows w;
    uint64_t seed = 22;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; qdq_cpu_isas() >> kernels[i].isa & 1 && round < 200; round++) {
            qdq_gemm_fixed_row row = {.groups = w.groups,
                                      .codes = w.codes,
                                      .halves = round & 1,
                                      .scales = w.scales,
                                      .scale_columns = round & 2 ? 1 : COLUMNS,
                                      .zeros = w.zeros,
                                      .zero_columns = round & 4 ? 1 : COLUMNS};
            row.count = fill_groups(&w, &seed, row.halves);
            for (size_t j = 0; j < sizeof w.codes; j++)
                w.codes[j] = round & 8 ? 255 : (uint8_t)(unit_random(&seed) >> 20);
            for (size_t j = 0; j < UNIT_COUNT(w.zeros); j++) {
                w.scales[j] = number(&seed);
                w.zeros[j] = (int16_t)((int)(unit_random(&seed) >> 20 & 0x7FFF) - 16384);
                if (round & 16) w.zeros[j] = 0;
            }
            for (size_t j = 0; j < COLUMNS; j++) w.sums[0][j] = w.sums[1][j] = number(&seed);
            row.sums = w.sums[0];
            qdq_gemm_fixed_portable(&row);
            row.sums = w.sums[1];
            kernels[i].fixed(&row);
            for (size_t j = 0; j < COLUMNS; j++)
                if (isnan(w.sums[0][j]) && isnan(w.sums[1][j])) w.sums[0][j] = w.sums[1][j];
            check_same(kernels[i].name, w.sums[0], w.sums[1], sizeof w.sums[0]);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_stand_for_the_elements_of_a_block),
        cmocka_unit_test(elements_that_are_not_finite_have_no_digits),
        cmocka_unit_test(sums_equal_the_portable_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
