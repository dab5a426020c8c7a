// SPDX-License-Identifier: Apache-2.0
// Memory of pools and of the default allocator: alignment, zeros, and sizes around a huge page.
#include "runtime/base/mempool.h"
#include "tests/unit.h"

enum { HUGE_PAGE = 1 << 21 };

static void check_alignment(const void *memory, size_t align) {
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % align, 0);
}

static void the_default_allocator_puts_large_memory_on_huge_pages(void **state) {
    const qdq_allocator *libc = qdq_allocator_or_default(NULL);
    static const size_t sizes[] = {1, HUGE_PAGE - 1, HUGE_PAGE, HUGE_PAGE + 1, 5 * HUGE_PAGE + 7};
    static const size_t aligns[] = {1, 16, 64, 4096, 2 * HUGE_PAGE};
    (void)state;
    for (size_t s = 0; s < UNIT_COUNT(sizes); s++)
        for (size_t a = 0; a < UNIT_COUNT(aligns); a++) {
            char *memory = qdq_alloc_array(libc, sizes[s], 1, aligns[a]);
            check_alignment(memory, aligns[a]);
            if (sizes[s] >= HUGE_PAGE) check_alignment(memory, HUGE_PAGE);
            memset(memory, 0x5A, sizes[s]);  // sanitizers see an end that is too early
            qdq_free_array(libc, memory, sizes[s], 1);
        }
}

static void memory_of_a_pool_is_aligned_and_zero(void **state) {
    static const size_t sizes[] = {1, 63, 64, 65, 16 * 1024, HUGE_PAGE, 3 * HUGE_PAGE + 1};
    qdq_mempool pool;
    (void)state;
    qdq_mempool_init(&pool, NULL);
    for (size_t round = 0; round < 2; round++)
        for (size_t s = 0; s < UNIT_COUNT(sizes); s++) {
            char *memory = qdq_mempool_array(&pool, sizes[s], 1);
            check_alignment(memory, sizes[s] < 64 ? 16 : 64);
            for (size_t i = 0; i < sizes[s]; i++) assert_int_equal((int)memory[i], 0);
            memset(memory, 0x5A, sizes[s]);
        }
    qdq_mempool_release(&pool);
}

static void sizes_that_no_memory_has_are_refused(void **state) {
    const qdq_allocator *libc = qdq_allocator_or_default(NULL);
    (void)state;
    assert_null(qdq_alloc_array(libc, SIZE_MAX / 2, 3, 64));
    assert_null(qdq_alloc_array(libc, SIZE_MAX - 8, 1, 64));
    assert_null(qdq_alloc_array(libc, 0, 8, 64));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_allocator_puts_large_memory_on_huge_pages),
        cmocka_unit_test(memory_of_a_pool_is_aligned_and_zero),
        cmocka_unit_test(sizes_that_no_memory_has_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
