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

// An allocator that counts the bytes it has handed out.
typedef struct counter {
    size_t now, most, count;
} counter;

static void *count_alloc(void *self, size_t size, size_t align) {
    counter *c = self;
    c->now += size;
    c->count++;
    if (c->now > c->most) c->most = c->now;
    return qdq_alloc_array(qdq_allocator_or_default(NULL), size, 1, align);
}

static void count_free(void *self, void *ptr, size_t size) {
    ((counter *)self)->now -= size;
    qdq_free_array(qdq_allocator_or_default(NULL), ptr, size, 1);
}

// Arrays of 100 KB, between them others that are too large for a block. The pool adds few blocks
// for small arrays, and takes at most an eighth more than the arrays and a block of 16 MB.
static void a_large_pool_takes_blocks_of_huge_pages(void **state) {
    enum { COUNT = 1000, SMALL = 100 * 1000, LARGE = 3 * HUGE_PAGE };
    counter c = {0, 0, 0};
    qdq_allocator counting = {count_alloc, count_free, &c};
    qdq_mempool pool;
    size_t bytes = 0;
    (void)state;
    qdq_mempool_init(&pool, &counting);
    for (size_t i = 0; i < COUNT; i++) {
        size_t each = i % 100 == 99 ? LARGE : SMALL;
        char *array = qdq_mempool_uncleared(&pool, each, 1);
        check_alignment(array, 64);
        array[0] = array[each - 1] = 1;  // sanitizers see arrays beyond a block
        bytes += each;
    }
    assert_in_range(c.now, bytes, bytes + bytes / 8 + 8 * HUGE_PAGE);
    assert_int_equal(c.now, pool.taken);
    assert_true(c.count < 100);
    qdq_mempool_release(&pool);
    assert_int_equal(c.now, 0);
}

// Two arrays that grow in turn take their own size and, while one is copied, half of it.
static void a_growing_array_gives_its_old_block_back(void **state) {
    enum { COUNT = 1 << 17, USUAL = 32 * 1024 };
    counter c = {0, 0, 0};
    qdq_allocator counting = {count_alloc, count_free, &c};
    qdq_mempool pool;
    size_t *arrays[2] = {NULL, NULL}, capacity[2] = {0, 0};
    (void)state;
    qdq_mempool_init(&pool, &counting);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < 2; k++) {
            arrays[k] = qdq_mempool_grow(&pool, arrays[k], i, &capacity[k], sizeof **arrays);
            assert_non_null(arrays[k]);
            arrays[k][i] = 2 * i + k;
            if (i % 1000 == 0) assert_non_null(qdq_mempool_string(&pool, "name", 4));
        }
    size_t bytes = COUNT * sizeof **arrays;
    assert_true(c.now < 2 * bytes + 8 * USUAL);
    assert_true(c.most < 2 * bytes + bytes / 2 + 8 * USUAL);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < 2; k++) assert_int_equal(arrays[k][i], 2 * i + k);
    qdq_mempool_release(&pool);
    assert_int_equal(c.now, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_allocator_puts_large_memory_on_huge_pages),
        cmocka_unit_test(memory_of_a_pool_is_aligned_and_zero),
        cmocka_unit_test(sizes_that_no_memory_has_are_refused),
        cmocka_unit_test(a_large_pool_takes_blocks_of_huge_pages),
        cmocka_unit_test(a_growing_array_gives_its_old_block_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
