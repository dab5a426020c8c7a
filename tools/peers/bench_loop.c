// SPDX-License-Identifier: Apache-2.0
// A timing loop in C, so that no peer pays for calls from Python. bench_worker.py compiles and
// calls it.
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <time.h>

// Every argument of a timed function fits a machine word; a function ignores those it does not
// have.
typedef void *call(void *, void *, void *, void *, void *, void *, void *, void *);

typedef struct timing {
    double seconds;  // of all calls
    long disturbed;  // how often the kernel took a CPU away in the meantime
} timing;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static long switches(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
}

void time_calls(call *fn, void *const *a, size_t count, timing *out) {
    long before = switches();
    double start = now();
    for (size_t i = 0; i < count; i++) fn(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    out->seconds = now() - start;
    out->disturbed = switches() - before;
}

//---- ONNX Runtime: a session from the bytes of a model ------------------------------------------

typedef struct session_words {
    void *(*create)(void *env, const void *model, size_t bytes, void *options, void **session);
    void (*release)(void *session);
    void *env;
    const void *model;
    size_t bytes;
    void *options;
} session_words;

void make_session(const session_words *w) {
    void *session = NULL;
    if (w->create(w->env, w->model, w->bytes, w->options, &session) == NULL) w->release(session);
}
