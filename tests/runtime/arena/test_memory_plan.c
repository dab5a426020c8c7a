// SPDX-License-Identifier: Apache-2.0
// The memory planner: random lifetimes must not overlap in memory, and known graphs reach their
// known peaks.
#include "runtime/arena/memory_plan.h"
#include "tests/unit.h"

enum { STEPS = 24 };

static bool same_slot(const qdq_lifetime *all, size_t a, size_t b) {
    while (all[a].in_place_of != QDQ_NOT_IN_PLACE) a = all[a].in_place_of;
    while (all[b].in_place_of != QDQ_NOT_IN_PLACE) b = all[b].in_place_of;
    return a == b;
}

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

// The bytes alive in a step; values that share a slot count once.
static size_t live_in(const qdq_lifetime *all, size_t count, size_t step) {
    size_t live = 0;
    for (size_t i = 0; i < count; i++) {
        bool alive = all[i].first_step <= step && step <= all[i].last_step;
        bool counted = false;
        for (size_t k = 0; k < i; k++)
            counted |=
                all[k].first_step <= step && step <= all[k].last_step && same_slot(all, i, k);
        if (alive && !counted) live += aligned(all[i].bytes);
    }
    return live;
}

static void check_plan(qdq_lifetime *all, size_t count, double most) {
    qdq_mempool mempool;
    qdq_memory_plan plan;
    size_t peak = 0, end = 0;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_plan_memory(all, count, &mempool, &plan));
    for (size_t step = 0; step <= STEPS; step++)
        if (live_in(all, count, step) > peak) peak = live_in(all, count, step);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i].offset % QDQ_ARENA_ALIGN, 0);
        if (all[i].offset + aligned(all[i].bytes) > end)
            end = all[i].offset + aligned(all[i].bytes);
        for (size_t k = 0; k < i; k++) {
            if (same_slot(all, i, k)) {
                assert_int_equal(all[i].offset, all[k].offset);
                continue;
            }
            bool in_time =
                all[i].first_step <= all[k].last_step && all[k].first_step <= all[i].last_step;
            bool in_space = all[i].offset < all[k].offset + all[k].bytes &&
                            all[k].offset < all[i].offset + all[i].bytes;
            assert_false(in_time && in_space);
        }
    }
    assert_int_equal(plan.arena_bytes, end);
    assert_int_equal(plan.peak_live_bytes, peak);
    assert_true(plan.arena_bytes >= plan.peak_live_bytes);
    assert_true((double)plan.arena_bytes <= most * (double)plan.peak_live_bytes);
    qdq_mempool_release(&mempool);
}

static void no_two_live_values_overlap(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 2000; round++) {
        qdq_lifetime all[30];
        size_t count = 1 + unit_random(&random) % 30;
        for (size_t i = 0; i < count; i++) {
            size_t first = unit_random(&random) % STEPS;
            all[i] = (qdq_lifetime){first, first + unit_random(&random) % (STEPS - first),
                                    1 + unit_random(&random) % 5000, QDQ_NOT_IN_PLACE, 0};
        }
        check_plan(all, count, 2.0);
    }
}

// A chain in which some values take over the memory of their predecessor.
static void values_made_in_place_share_their_offset(void **state) {
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 500; round++) {
        qdq_lifetime all[STEPS];
        for (size_t i = 0; i < STEPS; i++) {
            all[i] =
                (qdq_lifetime){i, i + 1, 64 * (1 + unit_random(&random) % 8), QDQ_NOT_IN_PLACE, 0};
            if (i && unit_random(&random) % 2) {
                all[i].bytes = all[i - 1].bytes;
                all[i].in_place_of = i - 1;
            }
        }
        check_plan(all, STEPS, 1.10);
    }
}

static void a_chain_of_equal_values_needs_room_for_two(void **state) {
    (void)state;
    qdq_lifetime all[10];
    for (size_t i = 0; i < 10; i++) all[i] = (qdq_lifetime){i, i + 1, 2048, QDQ_NOT_IN_PLACE, 0};
    check_plan(all, 10, 1.0);
    assert_int_equal(all[9].offset, all[7].offset);
}

// How many places the planner looks at, for each value and each doubling of the number of values.
static double looks_each(qdq_lifetime *all, size_t count) {
    qdq_mempool mempool;
    qdq_memory_plan plan;
    size_t doublings = 0;
    while ((size_t)1 << doublings < count) doublings++;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_plan_memory(all, count, &mempool, &plan));
    assert_int_equal(plan.arena_bytes, plan.peak_live_bytes);
    qdq_mempool_release(&mempool);
    assert_true(plan.looks >= count);
    return (double)plan.looks / (double)count / (double)doublings;
}

static void chains_and_graphs_that_keep_all_cost_n_log_n(void **state) {
    (void)state;
    enum { COUNT = 50000 };
    qdq_lifetime *all = malloc(COUNT * sizeof *all);
    for (size_t count = 500; count <= COUNT; count *= 10) {
        uint64_t random = 3;
        for (size_t i = 0; i < count; i++)
            all[i] =
                (qdq_lifetime){i, i + 1, 64 * (1 + unit_random(&random) % 64), QDQ_NOT_IN_PLACE, 0};
        assert_true(looks_each(all, count) < 40);
        for (size_t i = 0; i < count; i++) all[i].last_step = count;
        assert_true(looks_each(all, count) < 40);
        // Branches of four values; the last value of each lives on.
        for (size_t i = 0; i < count; i++) all[i].last_step = i % 4 == 3 ? count : i + 1;
        assert_true(looks_each(all, count) < 40);
    }
    free(all);
}

// Fails if two values that are alive at once overlap, and returns arena over peak.
static double ratio_of(qdq_lifetime *all, size_t count) {
    qdq_mempool mempool;
    qdq_memory_plan plan;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_plan_memory(all, count, &mempool, &plan));
    for (size_t i = 0; i < count; i++) {
        assert_true(all[i].offset + aligned(all[i].bytes) <= plan.arena_bytes);
        for (size_t k = 0; k < i; k++) {
            bool apart = all[i].first_step > all[k].last_step ||
                         all[k].first_step > all[i].last_step ||
                         all[i].offset >= all[k].offset + all[k].bytes ||
                         all[k].offset >= all[i].offset + all[i].bytes;
            if (!apart) fail_msg("values %zu and %zu overlap", i, k);
        }
    }
    qdq_mempool_release(&mempool);
    return (double)plan.arena_bytes / (double)plan.peak_live_bytes;
}

// A random length of life: short, up to the end, or mostly short.
static size_t life(int kind, uint64_t random, size_t left) {
    size_t most = kind == 0 ? 50 : kind == 1 ? left : random % 10 ? 4 : left;
    return (random >> 8) % (most < left ? most : left);
}

// The planner treats more than 4,096 values in another way than fewer: it goes on until it needs at
// most 1.05 times the peak, except in its last way.
static void thousands_of_random_lifetimes_need_little_more_than_the_peak(void **state) {
    (void)state;
    static const size_t counts[] = {1000, 4096, 4097, 9001};
    static qdq_lifetime all[9001];
    uint64_t random = 11;
    for (int kind = 0; kind < 3; kind++)
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
            for (size_t i = 0; i < counts[k]; i++) {
                size_t first = unit_random(&random) % counts[k];
                size_t bytes = unit_random(&random) % 4097;  // some have none
                all[i] = (qdq_lifetime){first,
                                        first + life(kind, unit_random(&random), counts[k] - first),
                                        bytes, QDQ_NOT_IN_PLACE, 0};
            }
            assert_true(ratio_of(all, counts[k]) <= (counts[k] > 4096 ? 1.05 : 1.1));
        }
}

static void no_values_need_no_memory(void **state) {
    (void)state;
    qdq_mempool mempool;
    qdq_memory_plan plan;
    qdq_mempool_init(&mempool, NULL);
    assert_true(qdq_plan_memory(NULL, 0, &mempool, &plan));
    assert_int_equal(plan.arena_bytes, 0);
    assert_int_equal(plan.peak_live_bytes, 0);
    qdq_mempool_release(&mempool);
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    qdq_lifetime all[] = {{0, 1, SIZE_MAX - 10, QDQ_NOT_IN_PLACE, 0},
                          {0, 1, SIZE_MAX / 2, QDQ_NOT_IN_PLACE, 0}};
    qdq_mempool mempool;
    qdq_memory_plan plan;
    qdq_mempool_init(&mempool, NULL);
    assert_false(qdq_plan_memory(all, 2, &mempool, &plan));
    qdq_mempool_release(&mempool);
}

// Values that overlap their neighbours alone fit in turn at the two ends of the greatest sum of
// two.
static void a_chain_of_any_sizes_needs_its_peak(void **state) {
    (void)state;
    static const size_t counts[] = {2, 100, 5000};
    static qdq_lifetime all[5000];
    uint64_t random = 12;
    for (size_t k = 0; k < UNIT_COUNT(counts); k++) {
        qdq_mempool mempool;
        qdq_memory_plan plan;
        size_t peak = 0;
        for (size_t i = 0; i < counts[k]; i++) {
            all[i] =
                (qdq_lifetime){i, i + 1, 64 * (1 + unit_random(&random) % 50), QDQ_NOT_IN_PLACE, 0};
            if (i && all[i - 1].bytes + all[i].bytes > peak) peak = all[i - 1].bytes + all[i].bytes;
        }
        qdq_mempool_init(&mempool, NULL);
        assert_true(qdq_plan_memory(all, counts[k], &mempool, &plan));
        assert_int_equal(plan.peak_live_bytes, peak);
        assert_int_equal(plan.arena_bytes, peak);
        qdq_mempool_release(&mempool);
    }
}

static void memory_may_run_out_at_any_time(void **state) {
    (void)state;
    static qdq_lifetime all[5000];
    unit_memory memory;
    qdq_mempool mempool;
    qdq_memory_plan plan;
    size_t fail_at = 0;
    for (bool done = false; !done;) {
        for (size_t i = 0; i < UNIT_COUNT(all); i++)
            all[i] = (qdq_lifetime){i, i + 40, 64, QDQ_NOT_IN_PLACE, 0};
        qdq_mempool_init(&mempool, unit_memory_init(&memory, ++fail_at));
        done = qdq_plan_memory(all, UNIT_COUNT(all), &mempool, &plan);
        assert_true(done == !mempool.failed);
        if (done) assert_int_equal(plan.arena_bytes, 41 * 64);
        qdq_mempool_release(&mempool);
        unit_memory_check(&memory);
    }
    assert_true(fail_at > 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_live_values_overlap),
        cmocka_unit_test(values_made_in_place_share_their_offset),
        cmocka_unit_test(a_chain_of_equal_values_needs_room_for_two),
        cmocka_unit_test(chains_and_graphs_that_keep_all_cost_n_log_n),
        cmocka_unit_test(thousands_of_random_lifetimes_need_little_more_than_the_peak),
        cmocka_unit_test(no_values_need_no_memory),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(a_chain_of_any_sizes_needs_its_peak),
        cmocka_unit_test(memory_may_run_out_at_any_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
