// SPDX-License-Identifier: Apache-2.0
// A pool of threads that belongs to the caller of the library.
//
// Waiting. A thread without work calls sched_yield up to YIELDS times and then sleeps. The steps of
// a network follow each other within microseconds, in which a sleeping thread would not wake; but
// OpenMP's threads turn for milliseconds, and take the processor from other processes.
//
// Late threads. The thread that calls run() takes part in its own job. When no chunk is left to
// take, it closes the job and waits only for threads that have joined it. A thread that did not
// wake in time, because other processes have the processor, finds the job closed, and costs
// nothing.
#include "runtime/base/threads/thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "include/qdq/parallel.h"
#include "runtime/base/error.h"
#include "runtime/base/mempool.h"
#include "runtime/base/posix.h"
#include "runtime/base/threads/work_shares.h"

enum { YIELDS = 300, STACK_BYTES = 4 << 20, MOST_THREADS = 1024 };

// `state` is OPEN while threads may join the job, plus JOINED for each thread that has joined and
// not left, plus JOB times the number of the job.
#define OPEN ((uint64_t)1)
#define JOINED ((uint64_t)2)
#define JOB ((uint64_t)1 << 32)

typedef struct worker {
    qdq_threads *pool;
    size_t number;  // from 1; the caller of run() is number 0
    pthread_t thread;
} worker;

struct qdq_threads {
    qdq_work_shares work;
    const qdq_allocator *allocator;
    _Atomic uint64_t state;
    atomic_flag busy;        // a caller is in run()
    atomic_bool stops;       // the pool is being destroyed
    atomic_bool waits;       // the caller sleeps until all have left
    atomic_size_t sleeping;  // workers
    pthread_mutex_t mutex;   // of both conditions
    pthread_cond_t opened, left;
    size_t worker_count, room;
    worker workers[];
};

//---- Workers ----------------------------------------------------------------

static uint64_t job_of(uint64_t state) { return state / JOB; }
static uint64_t joined_of(uint64_t state) { return state % JOB / JOINED; }

// True if a worker whose last job was `done` has work to do, or has to stop.
static bool has_news(qdq_threads *pool, uint64_t done) {
    uint64_t state = atomic_load(&pool->state);
    return ((state & OPEN) && job_of(state) != done) || atomic_load(&pool->stops);
}

static void wait_for_news(qdq_threads *pool, uint64_t done) {
    for (int i = 0; i < YIELDS; i++) {
        if (has_news(pool, done)) return;
        (void)sched_yield();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!has_news(pool, done)) pthread_cond_wait(&pool->opened, &pool->mutex);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->mutex);
}

// Joins the open job unless it is closed or number `done`. Sets `done` to its number.
static bool join(qdq_threads *pool, uint64_t *done) {
    uint64_t state = atomic_load(&pool->state);
    do {
        if (!(state & OPEN) || job_of(state) == *done) return false;
    } while (!atomic_compare_exchange_weak(&pool->state, &state, state + JOINED));
    *done = job_of(state);
    return true;
}

static void leave(qdq_threads *pool) {
    uint64_t state = atomic_fetch_sub(&pool->state, JOINED);
    if (joined_of(state) > 1 || !atomic_load(&pool->waits)) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->left);
    pthread_mutex_unlock(&pool->mutex);
}

static void *work(void *self) {
    const worker *w = self;
    qdq_threads *pool = w->pool;
    uint64_t done = 0;
    while (!atomic_load(&pool->stops)) {
        wait_for_news(pool, done);
        if (!join(pool, &done)) continue;
        qdq_work_shares_run(&pool->work, w->number);
        leave(pool);
    }
    return NULL;
}

//---- Jobs -------------------------------------------------------------------

// Opens the next job and wakes up to `wanted` workers.
static void open_job(qdq_threads *pool, size_t wanted) {
    uint64_t state = atomic_load(&pool->state);
    uint64_t job = (job_of(state) + 1) & UINT32_MAX;
    atomic_store(&pool->state, (job ? job : 1) * JOB + OPEN);
    if (!atomic_load(&pool->sleeping)) return;
    pthread_mutex_lock(&pool->mutex);
    size_t sleeping = atomic_load(&pool->sleeping);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < sleeping && i < wanted; i++) pthread_cond_signal(&pool->opened);
}

static bool all_have_left(qdq_threads *pool) { return !joined_of(atomic_load(&pool->state)); }

static void close_job(qdq_threads *pool) {
    atomic_fetch_and(&pool->state, ~OPEN);
    for (int i = 0; i < YIELDS; i++) {
        if (all_have_left(pool)) return;
        (void)sched_yield();
    }
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->waits, true);
    while (!all_have_left(pool)) pthread_cond_wait(&pool->left, &pool->mutex);
    atomic_store(&pool->waits, false);
    pthread_mutex_unlock(&pool->mutex);
}

// A second caller, or a task that calls run() itself, does its work alone.
static void run(void *self, size_t count, void (*task)(void *context, size_t begin, size_t end),
                void *context) {
    qdq_threads *pool = self;
    size_t threads = pool->worker_count + 1;
    if (threads > count) threads = count;
    if (threads <= 1 || atomic_flag_test_and_set_explicit(&pool->busy, memory_order_acquire)) {
        if (count) task(context, 0, count);
        return;
    }
    qdq_work_shares_cut(&pool->work, threads, count, task, context);
    open_job(pool, threads - 1);
    qdq_work_shares_run(&pool->work, 0);
    close_job(pool);
    atomic_flag_clear_explicit(&pool->busy, memory_order_release);
}

//---- The pool ---------------------------------------------------------------

// Starts workers as long as the system allows it.
static void start(qdq_threads *pool) {
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes)) return;
    (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);  // the process's handlers run on the process's threads
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->worker_count < pool->room; pool->worker_count++) {
        worker *w = &pool->workers[pool->worker_count];
        *w = (worker){.pool = pool, .number = pool->worker_count + 1};
        if (pthread_create(&w->thread, &attributes, work, w)) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

static size_t bytes_of(size_t room) { return sizeof(qdq_threads) + room * sizeof(worker); }

qdq_threads *qdq_threads_create(int threads, const qdq_allocator *allocator, qdq_error *err) {
    if (threads <= 0) threads = qdq_default_threads();
    size_t room = (size_t)(threads < MOST_THREADS ? threads : MOST_THREADS) - 1;
    allocator = qdq_allocator_or_default(allocator);
    qdq_threads *pool = qdq_alloc_array(allocator, 1, bytes_of(room), _Alignof(qdq_threads));
    if (!pool) {
        (void)qdq_fail_memory(err, bytes_of(room));
        return NULL;
    }
    *pool = (qdq_threads){.allocator = allocator, .room = room, .busy = ATOMIC_FLAG_INIT};
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->opened, NULL);
    pthread_cond_init(&pool->left, NULL);
    start(pool);
    return pool;
}

void qdq_threads_destroy(qdq_threads *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stops, true);
    pthread_cond_broadcast(&pool->opened);
    pthread_mutex_unlock(&pool->mutex);
    for (size_t i = 0; i < pool->worker_count; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->left);
    pthread_cond_destroy(&pool->opened);
    pthread_mutex_destroy(&pool->mutex);
    qdq_free_array(pool->allocator, pool, 1, bytes_of(pool->room));
}

qdq_parallel qdq_parallel_threads(qdq_threads *pool) {
    if (!pool || !pool->worker_count) return (qdq_parallel){0};
    return (qdq_parallel){run, pool, QDQ_PARALLEL_LEAST};
}
