// SPDX-License-Identifier: Apache-2.0
// Watches over a command on a thread that waits for signals and for the clock.
#include "tools/io/watch.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tools/check/text_width.h"
#include "tools/common.h"

enum { COLUMNS = 64, TICK_NANOSECONDS = 200000000 };

struct watch {
    sigset_t signals;      // signals that end the program
    pthread_mutex_t hold;  // locked while signals must wait
    pthread_mutex_t lock;  // protects the fields below
    bool shows, shown;
    double since;  // start of the work, by now(); 0: no work to show
    char text[512];
};

//---- The thread -------------------------------------------------------------

// Shows the work and its seconds. Returns the cursor to the start of the line, so that the next
// output overwrites it.
static void show(watch *w) {
    char cut[512];
    pthread_mutex_lock(&w->lock);
    double seconds = w->since > 0 ? now() - w->since : 0;
    if (seconds >= 1) {
        text_cut(w->text, COLUMNS, cut);
        fprintf(stderr, "\r\033[K%s, %.0f s\r", cut, seconds);
        fflush(stderr);
        w->shown = true;
    }
    pthread_mutex_unlock(&w->lock);
}

static void end_program(watch *w, int number) {
    pthread_mutex_lock(&w->hold);
    watch_clear(w);
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
    if (w->since == 0) w->since = now();
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

bool watch_shows(const watch *w) { return w && w->shows; }

void watch_hold_signals(watch *w) {
    if (w) pthread_mutex_lock(&w->hold);
}

void watch_release_signals(watch *w) {
    if (w) pthread_mutex_unlock(&w->hold);
}
