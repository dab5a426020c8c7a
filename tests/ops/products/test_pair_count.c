// SPDX-License-Identifier: Apache-2.0
// The pairs of constant weights that can saturate, counted for each output column.
#include "ops/gemm/pairs/pair_sums.h"
#include "tests/unit.h"

enum { MATRICES = 2, K = 1029, N = 37, GROUPS = 3, OUTPUTS = 5, INPUTS = 7, TAPS = 6 };

// Whether a pair saturates with activations of 0 or 255, between which its sum is linear.
static bool saturates(int w0, int w1) {
    for (int a = 0; a < 4; a++) {
        int sum = (a & 1 ? 255 : 0) * w0 + (a & 2 ? 255 : 0) * w1;
        if (sum > 32767 || sum < -32768) return true;
    }
    return false;
}

static void fill(int8_t *w, size_t n) {
    uint64_t seed = 3;
    for (size_t i = 0; i < n; i++) w[i] = (int8_t)(unit_random(&seed) >> 20);
}

static void add_column(qdq_pair_count *want, size_t pairs) {
    want->pairs += pairs;
    want->columns += pairs != 0;
    if (pairs > want->most) want->most = pairs, want->worst = want->of_columns;
    want->of_columns++;
}

static void check_same(const qdq_pair_count *got, const qdq_pair_count *want) {
    assert_int_equal(got->pairs, want->pairs);
    assert_int_equal(got->columns, want->columns);
    assert_int_equal(got->of_columns, want->of_columns);
    assert_int_equal(got->most, want->most);
    assert_int_equal(got->worst, want->worst);
}

static void pairs_of_matrices_are_counted(void **state) {
    static int8_t w[MATRICES * K * N], turned[MATRICES * K * N];
    qdq_pair_count want = {0}, got;
    qdq_mempool mempool;
    (void)state;
    qdq_mempool_init(&mempool, NULL);
    fill(w, sizeof w);
    for (size_t k = 0; k < K; k++) w[k * N + 3] = 64;  // a column that never saturates
    for (size_t m = 0; m < MATRICES; m++)
        for (size_t j = 0; j < N; j++) {
            size_t pairs = 0;
            int8_t column[K + 1] = {0};
            for (size_t k = 0; k < K; k++) {
                column[k] = w[(m * K + k) * N + j];
                turned[(m * N + j) * K + k] = column[k];
            }
            for (size_t k = 0; k < K; k += 2) pairs += saturates(column[k], column[k + 1]);
            add_column(&want, pairs);
        }
    qdq_operand b = {.type = {QDQ_INT8, QDQ_SHAPE(MATRICES, K, N)}, .data = w};
    assert_true(qdq_pair_sums_count_matrix(&b, false, &mempool, &got));
    check_same(&got, &want);
    b.type.shape = QDQ_SHAPE(MATRICES, N, K), b.data = turned;
    assert_true(qdq_pair_sums_count_matrix(&b, true, &mempool, &got));
    check_same(&got, &want);
    assert_int_equal(got.columns, MATRICES * N - 1);
    qdq_mempool_release(&mempool);
}

static void pairs_of_windows_are_counted(void **state) {
    static int8_t w[GROUPS * OUTPUTS * INPUTS * TAPS];
    qdq_pair_count want = {0}, got;
    qdq_mempool mempool;
    (void)state;
    qdq_mempool_init(&mempool, NULL);
    fill(w, sizeof w);
    for (size_t o = 0; o < GROUPS * OUTPUTS; o++) {
        size_t pairs = 0;
        int8_t line[INPUTS * TAPS + 1] = {0};
        for (size_t i = 0; i < INPUTS; i++)
            for (size_t t = 0; t < TAPS; t++) line[t * INPUTS + i] = w[(o * INPUTS + i) * TAPS + t];
        for (size_t k = 0; k < INPUTS * TAPS; k += 2) pairs += saturates(line[k], line[k + 1]);
        add_column(&want, pairs);
    }
    qdq_operand of = {.type = {QDQ_INT8, QDQ_SHAPE(GROUPS * OUTPUTS, INPUTS, 2, 3)}, .data = w};
    qdq_operand zero = {.type = {QDQ_INT8, {0}}};
    assert_true(qdq_pair_sums_count_window(&of, &zero, GROUPS, &mempool, &got));
    check_same(&got, &want);
    assert_true(want.pairs > 0);
    qdq_mempool_release(&mempool);
}

static void other_weights_have_none(void **state) {
    static int8_t w[64];
    qdq_pair_count got;
    qdq_mempool mempool;
    (void)state;
    qdq_mempool_init(&mempool, NULL);
    memset(w, 127, sizeof w);
    qdq_operand unsigned_codes = {.type = {QDQ_UINT8, QDQ_SHAPE(8, 8)}, .data = w};
    qdq_operand computed = {.type = {QDQ_INT8, QDQ_SHAPE(8, 8)}};
    qdq_operand zero = {.type = {QDQ_INT8, {0}}};
    qdq_operand depthwise = {.type = {QDQ_INT8, QDQ_SHAPE(16, 1, 2, 2)}, .data = w};
    assert_true(qdq_pair_sums_count_matrix(&unsigned_codes, false, &mempool, &got));
    assert_int_equal(got.pairs, 0);
    assert_true(qdq_pair_sums_count_matrix(&computed, false, &mempool, &got));
    assert_int_equal(got.pairs, 0);
    assert_true(qdq_pair_sums_count_window(&depthwise, &zero, 16, &mempool, &got));
    assert_int_equal(got.pairs, 0);
    assert_true(qdq_pair_sums_count_window(&depthwise, &zero, 8, &mempool, &got));
    assert_int_equal(got.pairs, 32);
    static const int8_t alike[16] = {0}, unlike[16] = {[15] = 1};
    qdq_operand zeros = {.type = {QDQ_INT8, QDQ_SHAPE(16)}, .data = alike};
    assert_true(qdq_pair_sums_count_window(&depthwise, &zeros, 16, &mempool, &got));
    assert_int_equal(got.pairs, 0);
    zeros.data = unlike;
    assert_true(qdq_pair_sums_count_window(&depthwise, &zeros, 16, &mempool, &got));
    assert_int_equal(got.pairs, 32);
    qdq_mempool_release(&mempool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_of_matrices_are_counted),
        cmocka_unit_test(pairs_of_windows_are_counted),
        cmocka_unit_test(other_weights_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
