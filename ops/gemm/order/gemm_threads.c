// SPDX-License-Identifier: Apache-2.0
#include "ops/gemm/order/gemm_threads.h"

enum {
    ALIGNED = 16,           // columns of a thread are a multiple
    LEAST_WORK = 64 << 10,  // products for each thread
    MOST_THREADS = 16,
};

static size_t parts(size_t n, size_t of) { return (n + of - 1) / of; }

// Returns the number of threads that a product gets.
static size_t threads_of(const qdq_runtime_product *p, size_t threads) {
    double work = (double)p->m * (double)p->n * (double)p->k;
    double most = work < (double)LEAST_WORK * MOST_THREADS ? work / LEAST_WORK + 1 : MOST_THREADS;
    return most < (double)threads ? (size_t)most : threads;
}

// True if two orders give the same sums of k products. In eights the number of a row decides, which
// a cut changes.
static bool same_sums(const qdq_gemm_order *a, const qdq_gemm_order *b, size_t k) {
    if (a->sums != b->sums) return false;
    if (a->sums == QDQ_SUM_EIGHTS) return !a->by_rows || (a->count == b->count);
    return a->sums != QDQ_SUM_CHUNKS || a->chunk == b->chunk || (a->chunk >= k && b->chunk >= k);
}

// True if a thread with `m` rows and `n` columns has another order than the whole product.
static bool differs(const qdq_runtime_product *p, size_t m, size_t n) {
    qdq_runtime_product part = *p;
    part.m = m, part.n = n;
    part.together &= p->n == 1;  // a cut leaves the columns of B in its rows
    qdq_gemm_order whole = qdq_gemm_order_of(p), own = qdq_gemm_order_of(&part);
    return m && n && !same_sums(&whole, &own, p->k);
}

bool qdq_gemm_depends_on_threads(const qdq_runtime_product *p, size_t count, size_t threads) {
    size_t each = parts(threads_of(p, threads), count ? count : 1);
    bool cuts_n = p->n > p->m;
    size_t units = cuts_n ? parts(p->n, ALIGNED) : p->m;
    if (each > units) each = units;
    if (each < 2) return false;
    size_t fewer = units / each, more = parts(units, each), rest = units % each;
    if (!cuts_n) return differs(p, fewer, p->n) || (rest && differs(p, more, p->n));
    size_t last = p->n - (units - fewer) * ALIGNED;  // columns of the last thread
    return differs(p, p->m, fewer * ALIGNED) || (rest && differs(p, p->m, more * ALIGNED)) ||
           differs(p, p->m, last);
}

bool qdq_windows_depend_on_threads(const qdq_runtime_product *p, size_t threads) {
    size_t each = threads_of(p, threads);
    if (each < 2) return false;
    size_t step = parts(parts(p->n, each), ALIGNED) * ALIGNED;
    if (step >= p->n) return false;
    return differs(p, p->m, step) || differs(p, p->m, p->n - (p->n - 1) / step * step);
}
