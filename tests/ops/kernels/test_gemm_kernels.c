// SPDX-License-Identifier: Apache-2.0
// Every gemm kernel gives the bits of the portable one, and the portable sums are checked with fmaf
// here: every number of rows of a block, depths up to a k block, randomly skipped products, special
// numbers.
#include "tests/ops/kernels/gemm_parts.h"

static uint32_t float_word(uint64_t *seed) { return qdq_float_bits(number(seed)); }

static uint32_t pair_word(uint64_t *seed) {
    int16_t pair[2] = {(int16_t)(unit_random(seed) % 511 - 255),
                       (int16_t)(unit_random(seed) % 511 - 255)};
    uint32_t word;
    memcpy(&word, pair, sizeof word);
    return word;
}

static void tiles_are_chains_of_fused_multiply_adds(void **state) {
    static work w;
    uint64_t seed = 3;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            fill(&w, &seed, float_word, float_word);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            if (round % 2 && p.rows <= QDQ_GEMM_ROWS) p.keep = w.keep;
            for (size_t r = 0; r < p.rows; r++)
                for (size_t j = 0; j < COLUMNS; j++) {
                    float sum = qdq_float_from_bits(*first_of(&w, &p, r, j));
                    for (size_t k = 0; k < p.steps; k++)
                        if (!p.keep || p.keep[k] >> r & 1)
                            sum = fmaf(qdq_float_from_bits(w.a[r * STEPS + k]),
                                       qdq_float_from_bits(w.b[k * COLUMNS + j]), sum);
                    w.c[2][r * STRIDE + j] = qdq_float_bits(sum);
                }
            qdq_gemm_floats_portable(&p);
            check_same(kernels[i].name, w.c[0], w.c[2], sizeof w.c[0]);
            p.c = w.c[1];
            kernels[i].part[QDQ_GEMM_FLOATS](&p);
            check_same(kernels[i].name, w.c[0], w.c[1], sizeof w.c[0]);
        }
    }
}

static void half_a_panel_has_the_sums_of_a_whole_one(void **state) {
    static work w;
    uint64_t seed = 9;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; round < 3 * ROWS; round++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            fill(&w, &seed, float_word, float_word);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            qdq_gemm_floats_portable(&p);
            p.c = w.c[1], p.half = true;
            kernels[i].part[QDQ_GEMM_FLOATS](&p);
            for (size_t r = 0; r < p.rows; r++)
                check_same(kernels[i].name, w.c[0] + r * STRIDE, w.c[1] + r * STRIDE,
                           COLUMNS / 2 * sizeof w.c[0][0]);
        }
}

// The first columns of pairs and of codes with every number of columns; the others may have any
// sums.
static void missing_columns_change_no_other(void **state) {
    static const qdq_gemm_kind kinds[] = {QDQ_GEMM_INTEGERS, QDQ_GEMM_SATURATED_CODES};
    static work w;
    uint64_t seed = 10;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; round < 6 * ROWS; round++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            fill(&w, &seed, pair_word, any_word);
            qdq_gemm_part p = part_of(&w, round, w.c[0]);
            qdq_gemm_part_fn *fn = kernels[i].part[kinds[round % 2]];
            fn(&p);
            p.c = w.c[1], p.columns = unit_random(&seed) % COLUMNS + 1;
            p.half = p.columns <= COLUMNS / 2;
            fn(&p);
            for (size_t r = 0; r < p.rows; r++)
                check_same(kernels[i].name, w.c[0] + r * STRIDE, w.c[1] + r * STRIDE,
                           p.columns * sizeof w.c[0][0]);
        }
}

// The product of one step, of int16 pairs.
static int64_t pairs_of(uint32_t a, uint32_t b) {
    int16_t x[2], y[2];
    memcpy(x, &a, sizeof x), memcpy(y, &b, sizeof y);
    return (int64_t)x[0] * y[0] + (int64_t)x[1] * y[1];
}

static void integer_tiles_are_exact(void **state) {
    static work w;
    uint64_t seed = 4;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t round = 0; round < 3 * ROWS; round++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            fill(&w, &seed, pair_word, any_word);
            check_integers(&w, &kernels[i], QDQ_GEMM_INTEGERS, round, pairs_of);
        }
}

static void tiles_of_bytes_are_exact(void **state) {
    static work w;
    uint64_t seed = 5;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            // In turn: random bytes, bytes whose sums of products exceed 16 bits, the largest
            // products of one sign.
            fill(&w, &seed, round % 3 == 1 ? end_word : any_word, any_word);
            if (round % 3 == 2) {
                memset(w.a, 255, sizeof w.a);
                memset(w.b, round % 2 ? 0x80 : 0x7F, sizeof w.b);
            }
            check_integers(&w, &kernels[i], QDQ_GEMM_BYTES, round, fours_of);
        }
    }
}

// The two pairs of a step, each saturated to int16; x is unsigned.
static int64_t saturated_of(const int32_t *x, const int32_t *y) {
    int64_t sum = 0;
    for (int i = 0; i < 4; i += 2) {
        int64_t pair = (int64_t)x[i] * y[i] + (int64_t)x[i + 1] * y[i + 1];
        sum += pair > 32767 ? 32767 : pair < -32768 ? -32768 : pair;
    }
    return sum;
}

static void split(uint32_t word, bool is_signed, int32_t *bytes) {
    for (int i = 0; i < 4; i++) {
        bytes[i] = (int32_t)(word >> 8 * i & 0xFF);
        if (is_signed && bytes[i] > 127) bytes[i] -= 256;
    }
}

static int64_t saturated_bytes_of(uint32_t a, uint32_t b) {
    int32_t x[4], y[4];
    split(a, false, x), split(b, true, y);
    return saturated_of(x, y);
}

static int64_t saturated_codes_of(uint32_t a, uint32_t b) {
    int32_t x[4], y[4];
    split(a, true, x), split(b, false, y);
    return saturated_of(x, y);
}

static void tiles_of_pairs_saturate(void **state) {
    static work w;
    uint64_t seed = 7;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            fill(&w, &seed, round % 2 ? end_word : any_word, any_word);
            check_integers(&w, &kernels[i], QDQ_GEMM_SATURATED_BYTES, round, saturated_bytes_of);
            check_integers(&w, &kernels[i], QDQ_GEMM_SATURATED_CODES, round, saturated_codes_of);
        }
    }
}

static void lanes_equal_the_portable_kernel(void **state) {
    static int16_t x[STEPS * COLUMNS], y[STEPS * COLUMNS];
    uint64_t seed = 6;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t depth = 1; depth <= STEPS; depth++) {
            float a[STEPS * COLUMNS], b[STEPS * COLUMNS], c[2][COLUMNS];
            int32_t sums[2][COLUMNS];
            for (size_t j = 0; j < STEPS * COLUMNS; j++) {
                a[j] = number(&seed), b[j] = number(&seed);
                x[j] = (int16_t)(unit_random(&seed) % 511 - 255);
                y[j] = (int16_t)(unit_random(&seed) % 511 - 255);
            }
            for (size_t j = 0; j < COLUMNS; j++) {
                c[0][j] = c[1][j] = number(&seed);
                sums[0][j] = sums[1][j] = (int32_t)any_word(&seed);
            }
            for (size_t k = 0; k < depth; k++)
                for (size_t j = 0; j < COLUMNS; j++) {
                    size_t at = k * COLUMNS + j;
                    c[0][j] = fmaf(a[at], b[at], c[0][j]);
                    sums[0][j] = (int32_t)((uint32_t)sums[0][j] + (uint32_t)(x[at] * y[at]));
                }
            kernels[i].lanes(a, b, c[1], depth);
            kernels[i].integer_lanes(x, y, sums[1], depth);
            check_same(kernels[i].name, c[0], c[1], sizeof c[0]);
            check_same(kernels[i].name, sums[0], sums[1], sizeof sums[0]);
        }
    }
}

// With scales of both signs, a bias, sums that overflow, and NaN.
static void sums_become_reals_by_one_product_and_one_sum(void **state) {
    enum { N = 2 * COLUMNS };
    uint64_t seed = 7;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 400; round++) {
            float scale[N], bias[N], expected[N];
            uint32_t sums[N];
            for (size_t j = 0; j < N; j++) {
                scale[j] = round % 8 == 7 ? INFINITY : number(&seed), bias[j] = number(&seed);
                if (unit_random(&seed) % 32 == 0) bias[j] = NAN;
                sums[j] = round % 2 ? any_word(&seed) : qdq_float_bits(bias[j] * 3);
                if (round % 2 && unit_random(&seed) % 8 == 0) sums[j] = 0;
                double v = round % 2 ? (double)(float)(int32_t)sums[j] * (double)scale[j]
                                     : (double)qdq_float_from_bits(sums[j]);
                float one = (float)v;
                if (round % 2) one += 0.0f;  // turns -0 into 0
                if (round & 2) one += bias[j];
                expected[j] = isnan(one) ? qdq_float_from_bits(0x7FC00000) : one;
            }
            uint32_t made[N + COLUMNS], *from = made + (round & 4 ? COLUMNS : 0);
            memcpy(from, sums, sizeof sums);
            kernels[i].reals(from, round % 2 ? scale : NULL, round & 2 ? bias : NULL, made, N);
            check_same(kernels[i].name, expected, made, sizeof expected);
        }
    }
}

// Rows of every length, in place, are what whole rows with repeated numbers become.
static void rows_become_reals_by_numbers_of_their_own(void **state) {
    enum { N = 2 * COLUMNS, FEW = 5 };
    uint64_t seed = 15;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t n = 1; qdq_cpu_isas() >> kernels[i].isa & 1 && n <= N; n++) {
            uint32_t sums[FEW * N];
            float scale[FEW], bias[FEW], expected[FEW * N];
            for (size_t j = 0; j < FEW * N; j++) sums[j] = any_word(&seed);
            for (size_t r = 0; r < FEW; r++) {
                scale[r] = number(&seed), bias[r] = r == n % FEW ? NAN : number(&seed);
                for (size_t j = 0; j < n; j++) {
                    float one = (float)((double)(float)(int32_t)sums[r * N + j] * (double)scale[r]);
                    one = one + 0.0f + bias[r];
                    expected[r * n + j] = isnan(one) ? qdq_float_from_bits(0x7FC00000) : one;
                }
            }
            kernels[i].real_rows(&(qdq_gemm_real_rows){sums, N, FEW, n, scale, bias, sums});
            check_same(kernels[i].name, expected, sums, FEW * n * sizeof *sums);
        }
}

// All 16-bit codes. A NaN stays a NaN when widened, and becomes the one NaN when narrowed.
static void widening_and_narrowing_equal_the_portable_kernel(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_FLOAT32};
    static uint16_t codes[65536];
    static float wide[2][65536];
    static uint32_t narrow[2][65536];
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (int i = 0; i < 65536; i++) codes[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < UNIT_COUNT(dtypes); d++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            size_t n = dtypes[d] == QDQ_FLOAT32 ? 32768 : 65535;
            qdq_gemm_widen_portable(dtypes[d], codes, wide[0], n);
            kernels[i].widen(dtypes[d], codes, wide[1], n);
            for (size_t j = 0; j < n; j++) {
                if (isnan(wide[0][j]) && isnan(wide[1][j])) wide[0][j] = wide[1][j];
                assert_int_equal(qdq_float_bits(wide[0][j]), qdq_float_bits(wide[1][j]));
                // Numbers between two codes: at ties and next to them.
                uint32_t bits = qdq_float_bits(wide[0][j]) + (uint32_t)((j % 3 + 0x7FFF) * (j % 2));
                wide[0][j] = qdq_float_from_bits(bits);
                if (isnan(wide[0][j])) wide[0][j] = qdq_float_from_bits(0x7FC00000);
            }
            memset(narrow, 0xA5, sizeof narrow);
            qdq_gemm_narrow_portable(dtypes[d], wide[0], narrow[0], n);
            kernels[i].narrow(dtypes[d], wide[0], narrow[1], n);
            check_same(kernels[i].name, narrow[0], narrow[1], sizeof narrow[0]);
        }
}

// Rows of 32 codes with a parameter for each column or each row; some parameters are infinite,
// denormal or NaN.
static void decoded_weight_codes_equal_the_portable_kernel(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT32, QDQ_BFLOAT16, QDQ_FLOAT16};
    static uint8_t codes[DEPTH * COLUMNS];
    static float scale[DEPTH], zero[DEPTH], b[2][DEPTH * COLUMNS];
    uint64_t seed = 8;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 240; round++) {
            for (size_t j = 0; j < sizeof codes; j++) codes[j] = (uint8_t)(unit_random(&seed) >> 9);
            for (size_t j = 0; j < DEPTH; j++) {
                scale[j] = number(&seed);
                zero[j] = (float)((int)(unit_random(&seed) >> 20 & 511) - 128);
            }
            scale[round % COLUMNS] = qdq_float_from_bits(round % 2 ? 0x7F800000 : 0x7FC00000);
            qdq_gemm_weight_part part = {.codes = codes, .scale = scale, .zero = zero};
            part.dtype = dtypes[round % 3];
            part.halves = round / 3 % 2, part.by_row = round / 6 % 2;
            part.rows = round < 12 ? DEPTH : round % 40;
            memset(b, 0xA5, sizeof b);
            part.b = b[0];
            qdq_gemm_decode_portable(&part);
            part.b = b[1];
            kernels[i].decode(&part);
            for (size_t j = 0; j < part.rows * COLUMNS; j++)
                if (isnan(b[0][j]) && isnan(b[1][j])) b[0][j] = b[1][j];
            check_same(kernels[i].name, b[0], b[1], sizeof b[0]);
        }
    }
}

static void the_best_allowed_kernel_is_found(void **state) {
    (void)state;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    assert_ptr_equal(qdq_gemm_kernel_find(1u << QDQ_ISA_PORTABLE), &kernels[0]);
    for (size_t i = 0; i < count; i++)
        assert_ptr_equal(qdq_gemm_kernel_find(1u << kernels[i].isa | 1), &kernels[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_chains_of_fused_multiply_adds),
        cmocka_unit_test(half_a_panel_has_the_sums_of_a_whole_one),
        cmocka_unit_test(missing_columns_change_no_other),
        cmocka_unit_test(integer_tiles_are_exact),
        cmocka_unit_test(tiles_of_bytes_are_exact),
        cmocka_unit_test(tiles_of_pairs_saturate),
        cmocka_unit_test(lanes_equal_the_portable_kernel),
        cmocka_unit_test(sums_become_reals_by_one_product_and_one_sum),
        cmocka_unit_test(rows_become_reals_by_numbers_of_their_own),
        cmocka_unit_test(widening_and_narrowing_equal_the_portable_kernel),
        cmocka_unit_test(decoded_weight_codes_equal_the_portable_kernel),
        cmocka_unit_test(the_best_allowed_kernel_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
