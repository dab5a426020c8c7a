// SPDX-License-Identifier: Apache-2.0
// Stores that bypass the cache copy like memcpy, from and to any alignment, and write nothing else.
#include "runtime/tiles/kernels/nontemporal.h"
#include "tests/unit.h"

enum { MOST = 700, LINE = 64 };

static void check_copy(qdq_stream_fn *copy, size_t to, size_t from, size_t bytes) {
    static unsigned char x[MOST + LINE];
    static _Alignas(LINE) unsigned char y[2][MOST + 3 * LINE];
    for (size_t i = 0; i < sizeof x; i++) x[i] = (unsigned char)(i * 37 + i / 256 + bytes);
    memset(y, 0xA5, sizeof y);
    memcpy(y[0] + LINE + to, x + from, bytes);
    copy(y[1] + LINE + to, x + from, bytes);
    qdq_stream_fence();
    if (memcmp(y[0], y[1], sizeof y[0]) != 0)
        fail_msg("%zu bytes from %zu to %zu", bytes, from, to);
}

static void copies_past_the_cache_equal_memcpy(void **state) {
    qdq_stream_fn *copies[] = {qdq_stream_copy, qdq_stream_find()};
    (void)state;
    for (size_t k = 0; k < UNIT_COUNT(copies); k++)
        for (size_t to = 0; to < LINE; to++)
            for (size_t bytes = 0; bytes <= MOST; bytes += bytes < 2 * LINE ? 1 : 61)
                check_copy(copies[k], to, bytes % 5, bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_past_the_cache_equal_memcpy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
