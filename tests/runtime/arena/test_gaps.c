// SPDX-License-Identifier: Apache-2.0
// The search for room in an arena, against a map with one cell for each byte and step.
#include "runtime/arena/gaps.h"
#include "tests/unit.h"

enum { MOMENTS = 13, BYTES = 96 };

typedef bool map[MOMENTS][BYTES];

static bool is_free(map taken, size_t first, size_t last, size_t offset, size_t bytes) {
    for (size_t m = first; m <= last; m++)
        for (size_t i = 0; i < bytes; i++)
            if (offset + i < BYTES && taken[m][offset + i]) return false;
    return true;
}

// Takes free places at random and searches the whole map.
static void fill(qdq_gaps *gaps, uint64_t *random) {
    map taken = {{false}};
    for (int round = 0; round < 60; round++) {
        size_t first = unit_random(random) % MOMENTS,
               last = first + unit_random(random) % (MOMENTS - first),
               bytes = 1 + unit_random(random) % 9, cap = unit_random(random) % BYTES;
        size_t low = 0, high = cap;
        while (!is_free(taken, first, last, low, bytes)) low++;
        while (high >= bytes && !is_free(taken, first, last, high - bytes, bytes)) high--;
        assert_int_equal(qdq_gaps_lowest(gaps, first, last, bytes), low);
        assert_int_equal(qdq_gaps_highest(gaps, first, last, bytes, cap),
                         high >= bytes ? high - bytes : SIZE_MAX);
        size_t at = unit_random(random) % (BYTES - bytes);
        if (!is_free(taken, first, last, at, bytes)) continue;
        assert_true(qdq_gaps_take(gaps, first, last, at, bytes));
        for (size_t m = first; m <= last; m++) memset(&taken[m][at], true, bytes);
    }
}

static void the_lowest_and_the_highest_place_match_a_map(void **state) {
    (void)state;
    uint64_t random = 11;
    qdq_mempool mempool;
    qdq_gaps gaps;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_gaps_init(&gaps, &mempool, MOMENTS));
    for (int round = 0; round < 500; round++) {
        fill(&gaps, &random);
        qdq_gaps_clear(&gaps);
        assert_int_equal(qdq_gaps_lowest(&gaps, 0, MOMENTS - 1, BYTES), 0);
    }
    qdq_mempool_release(&mempool);
}

static void an_arena_may_have_a_single_step(void **state) {
    (void)state;
    qdq_mempool mempool;
    qdq_gaps gaps;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_gaps_init(&gaps, &mempool, 1));
    assert_true(qdq_gaps_take(&gaps, 0, 0, 0, 64));
    assert_true(qdq_gaps_take(&gaps, 0, 0, 128, 64));
    assert_int_equal(qdq_gaps_lowest(&gaps, 0, 0, 64), 64);
    assert_int_equal(qdq_gaps_lowest(&gaps, 0, 0, 65), 192);
    assert_int_equal(qdq_gaps_highest(&gaps, 0, 0, 64, 200), 64);
    assert_int_equal(qdq_gaps_highest(&gaps, 0, 0, 64, 256), 192);
    assert_int_equal(qdq_gaps_highest(&gaps, 0, 0, 65, 192), SIZE_MAX);
    qdq_mempool_release(&mempool);
}

// Spans apart from each other, so that the sets grow beyond a block of the pool.
static bool take_many(qdq_gaps *gaps, qdq_mempool *mempool) {
    bool done = qdq_gaps_init(gaps, mempool, 4);
    for (size_t i = 0; done && i < 2000; i++) done = qdq_gaps_take(gaps, i % 4, 3, 2 * i, 1);
    return done;
}

static void memory_may_run_out_at_any_time(void **state) {
    (void)state;
    unit_memory memory;
    qdq_mempool mempool;
    qdq_gaps gaps;
    size_t fail_at = 0;
    for (bool done = false; !done;) {
        qdq_mempool_init(&mempool, unit_memory_init(&memory, ++fail_at));
        done = take_many(&gaps, &mempool);
        assert_true(done == !mempool.failed);
        if (done) assert_int_equal(qdq_gaps_lowest(&gaps, 0, 3, 2), 3999);
        qdq_mempool_release(&mempool);
        unit_memory_check(&memory);
    }
    assert_true(fail_at > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_and_the_highest_place_match_a_map),
        cmocka_unit_test(an_arena_may_have_a_single_step),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
