// SPDX-License-Identifier: Apache-2.0
// Watches over a command on a thread that waits for signals and for the clock.
#include "tools/io/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/check/text_width.h"
#include "tools/common.h"

// A line has at most 80 columns.
enum { COLUMNS = 64, COLUMNS_WITH_REST = 44, TICK_NANOSECONDS = 200000000 };
static const double least_estimated = 10;  // seconds of work for which the rest is shown

// Parts of a work that are alike, "N of M": their rate tells how long the rest takes.
typedef struct series {
    long long first, done, total;  // done: before the series was first seen, and now; total 0: none
    double begin, at;              // when each of these numbers was first seen, by now()
} series;

struct watch {
    sigset_t signals;      // signals that end the program
    pthread_mutex_t hold;  // locked while signals must wait
    pthread_mutex_t lock;  // protects the fields below
    bool shows, shown;
    double since;  // start of the work, by now(); 0: no work to show
    char text[512];
    series series;
    char saved[512];
};

//---- The rest of the work ---------------------------------------------------

// Finds the first "N of M" in a text.
static bool find_part(const char *text, long long *number, long long *total) {
    for (const char *at = text; *at; at += strspn(at, "0123456789")) {
        at += strcspn(at, "0123456789");
        if (*at && sscanf(at, "%18lld of %18lld", number, total) == 2) return true;
    }
    return false;
}

// Notes that part `number` of `total` begins.
static void note_part(series *s, long long number, long long total) {
    long long done = number - 1;
    if (s->total != total || done < s->done)
        *s = (series){done, done, total, now(), now()};
    else if (done > s->done)
        s->done = done, s->at = now();
}

// Returns the seconds that the parts after the finished ones will take; 0: unknown.
static double seconds_left(const series *s) {
    if (s->done <= s->first) return 0;
    double each = (s->at - s->begin) / (double)(s->done - s->first);
    double left = each * (double)(s->total - s->done) - (now() - s->at);
    return left > 1 ? left : 1;
}

// Writes ", about 40 s left", or nothing for short work.
static const char *rest_text(const series *s, double seconds, char out[64]) {
    double left = seconds_left(s);
    bool minutes = left >= 120;
    *out = '\0';
    if (left > 0 && seconds + left >= least_estimated)
        snprintf(out, 64, ", about %.0f %s left", minutes ? left / 60 : left,
                 minutes ? "min" : "s");
    return out;
}

//---- The thread -------------------------------------------------------------

// Shows the work and its seconds. Returns the cursor to the start of the line, so that the next
// output overwrites it.
static void show(watch *w) {
    char cut[512], rest[64];
    pthread_mutex_lock(&w->lock);
    double seconds = w->since > 0 ? now() - w->since : 0;
    if (seconds >= 1) {
        rest_text(&w->series, seconds, rest);
        text_cut(w->text, *rest ? COLUMNS_WITH_REST : COLUMNS, cut);
        fprintf(stderr, "\r\033[K%s, %.0f s%s\r", cut, seconds, rest);
        fflush(stderr);
        w->shown = true;
    }
    pthread_mutex_unlock(&w->lock);
}

static void end_program(watch *w, int number) {
    pthread_mutex_lock(&w->hold);
    watch_clear(w);
    pthread_mutex_lock(&w->lock);
    if (*w->saved) fprintf(stderr, "qdq: interrupted: %s\n", w->saved);
    pthread_mutex_unlock(&w->lock);
    signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &w->signals, NULL);
    raise(number);
}

static void *run_watch(void *self) {
    watch *w = self;
    const struct timespec tick = {.tv_nsec = TICK_NANOSECONDS};
    for (;;) {
        int number =
            w->shows ? sigtimedwait(&w->signals, NULL, &tick) : sigwaitinfo(&w->signals, NULL);
        if (number > 0)
            end_program(w, number);
        else if (w->shows)
            show(w);
    }
    return NULL;
}

//---- The program ------------------------------------------------------------

// Chooses the signals that the parent process does not ignore.
static void choose_signals(sigset_t *set) {
    static const int numbers[] = {SIGHUP, SIGINT, SIGTERM};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct sigaction action;
        if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, numbers[i]);
    }
}

watch *watch_start(bool shows) {
    pthread_t thread;
    watch *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->shows = shows;
    choose_signals(&w->signals);
    pthread_mutex_init(&w->hold, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_sigmask(SIG_BLOCK, &w->signals, NULL);
    if (pthread_create(&thread, NULL, run_watch, w) == 0) {
        pthread_detach(thread);
        return w;
    }
    pthread_sigmask(SIG_UNBLOCK, &w->signals, NULL);
    free(w);
    return NULL;
}

void watch_tell(watch *w, const char *format, ...) {
    if (!w || !w->shows) return;
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&w->lock);
    vsnprintf(w->text, sizeof w->text, format, args);
    long long number, total;
    if (w->since == 0) w->since = now(), w->series = (series){0};
    if (find_part(w->text, &number, &total)) note_part(&w->series, number, total);
    pthread_mutex_unlock(&w->lock);
    va_end(args);
}

void watch_clear(watch *w) {
    if (!w || !w->shows) return;
    pthread_mutex_lock(&w->lock);
    if (w->shown) fprintf(stderr, "\r\033[K");
    w->shown = false;
    w->since = 0;
    pthread_mutex_unlock(&w->lock);
}

void watch_saved(watch *w, const char *format, ...) {
    if (!w) return;
    va_list args;
    va_start(args, format);
    pthread_mutex_lock(&w->lock);
    vsnprintf(w->saved, sizeof w->saved, format, args);
    pthread_mutex_unlock(&w->lock);
    va_end(args);
}

bool watch_shows(const watch *w) { return w && w->shows; }

void watch_hold_signals(watch *w) {
    if (w) pthread_mutex_lock(&w->hold);
}

void watch_release_signals(watch *w) {
    if (w) pthread_mutex_unlock(&w->hold);
}
