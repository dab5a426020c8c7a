// SPDX-License-Identifier: Apache-2.0
// Threads: each unit of work runs once, whichever thread takes it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "include/qdq/parallel.h"
#include "tests/unit.h"

enum { MOST = 3000 };

typedef struct counted {
    atomic_int runs[MOST];
    size_t count;
    const qdq_parallel *inner;  // called by each range
} counted;

static void count_range(void *context, size_t begin, size_t end) {
    counted *c = context;
    assert_true(begin < end && end <= c->count);
    for (size_t i = begin; i < end; i++) atomic_fetch_add(&c->runs[i], 1);
    counted *inner = calloc(1, sizeof *inner);
    assert_non_null(inner);
    inner->count = 5;
    if (c->inner) c->inner->run(c->inner->self, inner->count, count_range, inner);
    for (size_t i = 0; c->inner && i < inner->count; i++) assert_int_equal(inner->runs[i], 1);
    free(inner);
}

static void check_count(const qdq_parallel *parallel, size_t count, const qdq_parallel *inner) {
    counted *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->count = count;
    c->inner = inner;
    parallel->run(parallel->self, count, count_range, c);
    for (size_t i = 0; i < count; i++) assert_int_equal(c->runs[i], 1);
    free(c);
}

// Counts on both sides of each cut into shares and into chunks of a share.
static void check_counts(const qdq_parallel *parallel, size_t threads) {
    for (size_t count = 0; count <= 2 * threads + 1; count++) check_count(parallel, count, NULL);
    for (size_t chunk = 1; chunk <= 3; chunk++)
        for (size_t near = 0; near < 3; near++)
            check_count(parallel, 8 * threads * chunk + near - 1, NULL);
}

static void every_unit_runs_once_on_a_pool(void **state) {
    (void)state;
    for (int threads = 2; threads <= 70; threads += threads < 4 ? 1 : 33) {
        qdq_threads *pool = qdq_threads_create(threads, NULL, NULL);
        qdq_parallel parallel = qdq_parallel_threads(pool);
        assert_non_null(parallel.run);
        check_counts(&parallel, (size_t)threads);
        qdq_threads_destroy(pool);
    }
}

static void every_unit_runs_once_on_openmp(void **state) {
    (void)state;
    for (int threads = 2; threads <= 5; threads++) {
        qdq_parallel parallel = qdq_parallel_openmp(threads);
        if (parallel.run) check_counts(&parallel, (size_t)threads);
    }
}

static void one_thread_is_serial(void **state) {
    (void)state;
    qdq_threads *pool = qdq_threads_create(1, NULL, NULL);
    assert_non_null(pool);
    assert_null(qdq_parallel_threads(pool).run);
    qdq_threads_destroy(pool);
}

static void a_task_may_use_its_own_pool(void **state) {
    (void)state;
    qdq_threads *pool = qdq_threads_create(3, NULL, NULL);
    qdq_parallel parallel = qdq_parallel_threads(pool);
    for (size_t count = 1; count < 40; count++) check_count(&parallel, count, &parallel);
    qdq_threads_destroy(pool);
}

static void *call_often(void *self) {
    for (int i = 0; i < 300; i++) check_count(self, 100, NULL);
    return NULL;
}

static void callers_may_share_a_pool(void **state) {
    (void)state;
    enum { CALLERS = 3 };
    pthread_t callers[CALLERS];
    qdq_threads *pool = qdq_threads_create(2, NULL, NULL);
    qdq_parallel parallel = qdq_parallel_threads(pool);
    for (int i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, &parallel), 0);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    qdq_threads_destroy(pool);
}

// Each of two units waits for the other.
static void meet(void *context, size_t begin, size_t end) {
    atomic_int *arrived = context;
    atomic_fetch_add(arrived, (int)(end - begin));
    while (atomic_load(arrived) < 2) (void)sched_yield();
}

static void units_run_at_the_same_time(void **state) {
    (void)state;
    qdq_threads *pool = qdq_threads_create(2, NULL, NULL);
    qdq_parallel parallel = qdq_parallel_threads(pool);
    for (int i = 0; i < 100; i++) {
        atomic_int arrived = 0;
        parallel.run(parallel.self, 2, meet, &arrived);
        assert_int_equal(arrived, 2);
    }
    qdq_threads_destroy(pool);
}

typedef struct held_up {
    atomic_size_t done;
    size_t count;
} held_up;

// The thread of the first range waits until all other units are done.
static void hold_up(void *context, size_t begin, size_t end) {
    held_up *h = context;
    while (!begin && atomic_load(&h->done) < h->count - end) (void)sched_yield();
    atomic_fetch_add(&h->done, end - begin);
}

static void check_late_thread(qdq_parallel parallel) {
    held_up h = {.count = 100};
    parallel.run(parallel.self, h.count, hold_up, &h);
    assert_int_equal(h.done, h.count);
}

static void other_threads_do_the_work_of_one_that_is_late(void **state) {
    (void)state;
    qdq_threads *pool = qdq_threads_create(2, NULL, NULL);
    for (int i = 0; i < 100; i++) check_late_thread(qdq_parallel_threads(pool));
    qdq_threads_destroy(pool);
}

// The C library's memory, until `left` allocations were made.
static void *alloc_some(void *self, size_t size, size_t align) {
    size_t *left = self;
    return (*left)-- ? aligned_alloc(align, (size + align - 1) / align * align) : NULL;
}
static void free_some(void *self, void *ptr, size_t size) {
    (void)self, (void)size;
    free(ptr);
}

static void a_pool_takes_one_block_of_memory(void **state) {
    (void)state;
    size_t left = 0;
    qdq_error err = {0};
    qdq_allocator allocator = {alloc_some, free_some, &left};
    assert_null(qdq_threads_create(2, &allocator, &err));
    assert_int_equal(err.status, QDQ_ERR_MEMORY);
    left = 1;
    qdq_threads *pool = qdq_threads_create(2, &allocator, NULL);
    assert_non_null(pool);
    qdq_parallel parallel = qdq_parallel_threads(pool);
    check_counts(&parallel, 2);
    qdq_threads_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_unit_runs_once_on_a_pool),
        cmocka_unit_test(every_unit_runs_once_on_openmp),
        cmocka_unit_test(one_thread_is_serial),
        cmocka_unit_test(a_task_may_use_its_own_pool),
        cmocka_unit_test(callers_may_share_a_pool),
        cmocka_unit_test(units_run_at_the_same_time),
        cmocka_unit_test(other_threads_do_the_work_of_one_that_is_late),
        cmocka_unit_test(a_pool_takes_one_block_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
