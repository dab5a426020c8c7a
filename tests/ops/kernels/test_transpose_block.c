// SPDX-License-Identifier: Apache-2.0
// Transposing blocks: every element size, full blocks and remainders; nothing outside the block is
// read or written.
#include "ops/kernels/transpose_block.h"
#include "tests/ops/oracle.h"

enum { MOST = 35, ROOM = 5 };

static void check(size_t size, size_t rows, size_t n, size_t stride, uint64_t *seed) {
    const void *x[MOST];
    char *y = oracle_memory((MOST + 1) * stride * size);
    char *data[MOST];
    memset(y, 0x5A, (MOST + 1) * stride * size);
    for (size_t i = 0; i < rows; i++) {
        // exactly as long as needed, so that sanitizers see reads past the end
        x[i] = data[i] = oracle_memory(n * size + 1);
        for (size_t j = 0; j < n * size; j++) data[i][j] = (char)unit_random(seed);
    }
    qdq_transpose_block(size, x, rows, n, y, stride);
    for (size_t j = 0; j <= MOST; j++)
        for (size_t i = 0; i < stride; i++) {
            const char *at = y + (j * stride + i) * size;
            static const char untouched[8] = {0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A, 0x5A};
            const char *want = i < rows && j < n ? data[i] + j * size : untouched;
            if (memcmp(at, want, size) != 0)
                fail_msg("%zu rows of %zu elements of %zu bytes: [%zu, %zu]", rows, n, size, j, i);
        }
    for (size_t i = 0; i < rows; i++) free(data[i]);
    free(y);
}

static void rows_become_columns(void **state) {
    uint64_t seed = 8;
    (void)state;
    for (size_t size = 1; size <= 8; size *= 2)
        for (size_t rows = 0; rows <= MOST; rows++)
            for (size_t n = 0; n <= MOST; n++) {
                check(size, rows, n, rows + ROOM, &seed);
                if (rows) check(size, rows, n, rows, &seed);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_become_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
