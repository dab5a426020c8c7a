// SPDX-License-Identifier: Apache-2.0
// Every kernel of matrix products gives the bits of the portable one, whose sums are checked
// against fmaf here: all counts of rows, depths to 128, products left out at random, odd numbers.
#include "ops/kernels/gemm.h"
#include "runtime/dtype.h"
#include "tests/ops/oracle.h"

enum { ROWS = QDQ_GEMM_ROWS, COLUMNS = QDQ_GEMM_COLUMNS, DEPTH = QDQ_GEMM_DEPTH };

typedef struct work {
    float a[DEPTH * COLUMNS], b[DEPTH * COLUMNS], c[3][ROWS * COLUMNS];
    int16_t x[DEPTH * COLUMNS], w[DEPTH * COLUMNS];
    int32_t sums[2][ROWS * COLUMNS];
    uint16_t keep[DEPTH];
} work;

static float number(uint64_t *seed) {
    static const float odd[4] = {-0.0f, 0x1p-149f, 0x1p-126f, 0x1p127f};
    uint64_t r = oracle_random(seed);
    if (r % 64 == 0) return odd[r >> 8 & 3];
    return (float)((int)(r >> 20 & 0xFFFFF) - 0x80000) / (float)(1 << (r >> 8 & 15));
}

static void fill(work *w, uint64_t *seed) {
    for (int i = 0; i < DEPTH * COLUMNS; i++) {
        w->a[i] = number(seed), w->b[i] = number(seed);
        w->x[i] = (int16_t)(oracle_random(seed) % 511 - 255);
        w->w[i] = (int16_t)(oracle_random(seed) % 511 - 255);
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        w->c[0][i] = w->c[1][i] = w->c[2][i] = number(seed);
        w->sums[0][i] = w->sums[1][i] = (int32_t)(oracle_random(seed) >> 16);
    }
    for (int k = 0; k < DEPTH; k++) w->keep[k] = (uint16_t)oracle_random(seed);
}

static void check_same(const char *name, const void *a, const void *b, size_t bytes) {
    if (memcmp(a, b, bytes) != 0) fail_msg("%s differs from the portable one", name);
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
            size_t rows = round % ROWS + 1, depth = round / ROWS == 2 ? DEPTH : 1 + round * 3;
            const uint16_t *keep = round % 2 ? w.keep : NULL;
            fill(&w, &seed);
            for (size_t r = 0; r < rows; r++)
                for (size_t j = 0; j < COLUMNS; j++)
                    for (size_t k = 0; k < depth; k++)
                        if (!keep || keep[k] >> r & 1)
                            w.c[2][r * COLUMNS + j] = fmaf(w.a[r * DEPTH + k], w.b[k * COLUMNS + j],
                                                           w.c[2][r * COLUMNS + j]);
            qdq_gemm_tile_portable(w.a, w.b, w.c[0], rows, depth, keep);
            kernels[i].tile(w.a, w.b, w.c[1], rows, depth, keep);
            check_same(kernels[i].name, w.c[0], w.c[2], sizeof w.c[0]);
            check_same(kernels[i].name, w.c[0], w.c[1], sizeof w.c[0]);
            qdq_gemm_lanes_portable(w.a, w.b, w.c[0], depth);
            kernels[i].lanes(w.a, w.b, w.c[1], depth);
            check_same(kernels[i].name, w.c[0], w.c[1], sizeof w.c[0]);
        }
    }
}

static void integer_tiles_are_exact(void **state) {
    static work w;
    uint64_t seed = 4;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            size_t rows = round % ROWS + 1, depth = round / ROWS == 2 ? DEPTH : 2 + round * 2;
            fill(&w, &seed);
            for (size_t r = 0; r < rows; r++)
                for (size_t j = 0; j < COLUMNS; j++) {
                    int64_t sum = w.sums[0][r * COLUMNS + j];
                    for (size_t k = 0; k < depth; k++)
                        sum += w.x[r * DEPTH + k] * w.w[k / 2 * 2 * COLUMNS + j * 2 + k % 2];
                    w.sums[0][r * COLUMNS + j] = (int32_t)(uint32_t)(uint64_t)sum;
                }
            kernels[i].integer(w.x, w.w, w.sums[1], rows, depth);
            check_same(kernels[i].name, w.sums[0], w.sums[1], sizeof w.sums[0]);
            qdq_gemm_integer_lanes_portable(w.x, w.w, w.sums[0], depth);
            kernels[i].integer_lanes(w.x, w.w, w.sums[1], depth);
            check_same(kernels[i].name, w.sums[0], w.sums[1], sizeof w.sums[0]);
        }
    }
}

static void tiles_of_bytes_are_exact(void **state) {
    static uint8_t x[ROWS * DEPTH];
    static int8_t w[DEPTH * COLUMNS];
    static int32_t sums[2][ROWS * COLUMNS];
    uint64_t seed = 5;
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        if (!(qdq_cpu_isas() >> kernels[i].isa & 1) || !kernels[i].bytes) continue;
        for (size_t round = 0; round < 3 * ROWS; round++) {
            size_t rows = round % ROWS + 1, depth = round / ROWS == 2 ? DEPTH : 4 + round / 2 * 4;
            bool ends = round % 2;  // the largest products there are, all of one sign
            for (size_t k = 0; k < sizeof x; k++) x[k] = ends ? 255 : (uint8_t)oracle_random(&seed);
            for (size_t k = 0; k < sizeof w; k++)
                w[k] = (int8_t)(ends ? -128 : (int)(oracle_random(&seed) % 256) - 128);
            for (size_t r = 0; r < rows; r++)
                for (size_t j = 0; j < COLUMNS; j++) {
                    int64_t sum = sums[1][r * COLUMNS + j] = (int32_t)(oracle_random(&seed) >> 9);
                    for (size_t k = 0; k < depth; k++)
                        sum += x[r * DEPTH + k] * w[k / 4 * 4 * COLUMNS + j * 4 + k % 4];
                    sums[0][r * COLUMNS + j] = (int32_t)(uint32_t)(uint64_t)sum;
                }
            kernels[i].bytes(x, w, sums[1], rows, depth);
            check_same(kernels[i].name, sums[0], sums[1], rows * COLUMNS * sizeof sums[0][0]);
        }
    }
}

// Of all codes of 16 bits; a NaN is one on the way in, and the one NaN on the way out.
static void elements_are_widened_and_narrowed_as_the_portable_ones(void **state) {
    static const qdq_dtype dtypes[] = {QDQ_FLOAT16, QDQ_BFLOAT16, QDQ_FLOAT32};
    static uint16_t codes[65536];
    static float wide[2][65536];
    static uint32_t narrow[2][65536];
    size_t count;
    const qdq_gemm_kernel *kernels = qdq_gemm_kernels(&count);
    (void)state;
    for (int i = 0; i < 65536; i++) codes[i] = (uint16_t)i;
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < ORACLE_COUNT(dtypes); d++) {
            if (!(qdq_cpu_isas() >> kernels[i].isa & 1)) continue;
            size_t n = dtypes[d] == QDQ_FLOAT32 ? 32768 : 65535;
            qdq_gemm_widen_portable(dtypes[d], codes, wide[0], n);
            kernels[i].widen(dtypes[d], codes, wide[1], n);
            for (size_t j = 0; j < n; j++) {
                if (isnan(wide[0][j]) && isnan(wide[1][j])) wide[0][j] = wide[1][j];
                assert_int_equal(qdq_float_bits(wide[0][j]), qdq_float_bits(wide[1][j]));
                // Between two codes, at and beside ties.
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

// Rows of 32 codes with parameters of the columns or of the rows, among them infinite and denormal
// ones and the NaN that there may be.
static void codes_are_the_floats_of_the_portable_kernel(void **state) {
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
            for (size_t j = 0; j < sizeof codes; j++)
                codes[j] = (uint8_t)(oracle_random(&seed) >> 9);
            for (size_t j = 0; j < DEPTH; j++) {
                scale[j] = number(&seed);
                zero[j] = (float)((int)(oracle_random(&seed) >> 20 & 511) - 128);
            }
            scale[round % COLUMNS] = qdq_float_from_bits(round % 2 ? 0x7F800000 : 0x7FC00000);
            qdq_gemm_codes part = {.codes = codes, .scale = scale, .zero = zero};
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
        cmocka_unit_test(integer_tiles_are_exact),
        cmocka_unit_test(tiles_of_bytes_are_exact),
        cmocka_unit_test(elements_are_widened_and_narrowed_as_the_portable_ones),
        cmocka_unit_test(codes_are_the_floats_of_the_portable_kernel),
        cmocka_unit_test(the_best_allowed_kernel_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
