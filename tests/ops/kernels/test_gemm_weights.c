// SPDX-License-Identifier: Apache-2.0
// Sums of int8 weights, against a sum for each element, and weights that are split: with their rest
// they are the weights before, and no pair of what is left or of the rest can saturate.
#include "ops/kernels/gemm/weights/gemm_weights.h"
#include "tests/ops/kernels/gemm_parts.h"

enum {
    FITS = 256,  // weights that the sums add in 16 bits
    STRETCH = 64,
    LINE_ROOM = COLUMNS + 3,
    LINES = 2 * FITS + 15,
    ROUNDS = 4000,
};

// Sizes in which `part` fits up to twice, with every remainder.
static size_t size_of(size_t round, size_t part) { return 1 + round % (3 * part); }

// Weights at the ends of int8, which sums overflow with first, small ones or any.
static int8_t weight(uint64_t *seed, size_t round) {
    static const int8_t ends[] = {-128, -127, 127, 64, -64, 0};
    uint64_t r = unit_random(seed);
    if (round % 4 == 0) return -128;
    if (round % 4 == 1) return ends[r % UNIT_COUNT(ends)];
    if (round % 4 == 2) return (int8_t)((int)(r % 140) - 70);
    return (int8_t)(uint8_t)r;
}

static void weights_add_up(void **state) {
    static int8_t x[3 * FITS];
    uint64_t seed = 31;
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t n = size_of(round, FITS);
        int32_t want = 0;
        for (size_t i = 0; i < sizeof x; i++) x[i] = weight(&seed, round);
        for (size_t i = 0; i < n; i++) want += x[i];
        assert_int_equal(qdq_gemm_sum_weights(x, n), want);
    }
}

static void lines_add_up(void **state) {
    static int8_t x[LINES * LINE_ROOM];
    uint64_t seed = 32;
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t rows = 1 + unit_random(&seed) % LINES, columns = COLUMNS;
        if (round & 8) columns = 1 + unit_random(&seed) % COLUMNS;
        int32_t sums[COLUMNS], want[COLUMNS];
        for (size_t i = 0; i < rows * LINE_ROOM; i++) x[i] = weight(&seed, round);
        for (size_t j = 0; j < COLUMNS; j++) sums[j] = want[j] = (int32_t)(j * 1000);
        for (size_t i = 0; i < rows * columns; i++)
            want[i % columns] += x[i / columns * LINE_ROOM + i % columns];
        qdq_gemm_sum_weight_lines(x, LINE_ROOM, rows, columns, sums);
        assert_memory_equal(sums, want, sizeof sums);
    }
}

// The sums of the positive and of the negative weights of a pair must not exceed 128 in size.
static bool saturates(const int8_t *pair) {
    int above = 0, below = 0;
    for (size_t i = 0; i < 2; i++) {
        above += pair[i] > 0 ? pair[i] : 0;
        below += pair[i] < 0 ? pair[i] : 0;
    }
    return above > 128 || below < -128;
}

static void check_split(const int8_t *before, const int8_t *left, const qdq_gemm_rest_step *rest,
                        size_t count) {
    int8_t all[QDQ_GEMM_ROW_BYTES], rests[QDQ_GEMM_ROW_BYTES] = {0};
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || rest[i].step > rest[i - 1].step);
        assert_true(rest[i].word != 0);
        memcpy(rests + rest[i].step * QDQ_GEMM_STEP_BYTES, &rest[i].word, QDQ_GEMM_STEP_BYTES);
    }
    for (size_t k = 0; k < sizeof all; k += 2) {
        assert_false(saturates(left + k));
        assert_false(saturates(rests + k));
    }
    for (size_t k = 0; k < sizeof all; k++) all[k] = (int8_t)(left[k] + rests[k]);
    assert_memory_equal(all, before, sizeof all);
}

static void split_weights_do_not_saturate(void **state) {
    static qdq_gemm_rest_step rest[STEPS + 1];
    uint64_t seed = 33;
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++) {
        size_t n = round % 3 ? size_of(round, STRETCH) : 1 + round % QDQ_GEMM_ROW_BYTES;
        int8_t row[QDQ_GEMM_ROW_BYTES] = {0}, before[QDQ_GEMM_ROW_BYTES];
        for (size_t i = 0; i < n; i++) row[i] = weight(&seed, round);
        memcpy(before, row, sizeof row);
        size_t most = qdq_gemm_count_rest(row, n), count = qdq_gemm_split_row(row, n, rest);
        assert_true(count <= most && most <= 2 * count);
        check_split(before, row, rest, count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_add_up),
        cmocka_unit_test(lines_add_up),
        cmocka_unit_test(split_weights_do_not_saturate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
