// SPDX-License-Identifier: Apache-2.0
// A thread that watches over a command: it shows the progress of long work on a terminal, and
// delays signals while a file is being written.
#ifndef QDQ_TOOLS_IO_WATCH_H
#define QDQ_TOOLS_IO_WATCH_H

#include <stdbool.h>

typedef struct watch watch;

// Starts the watch, before any other thread starts: SIGHUP, SIGINT and SIGTERM are blocked in all
// threads and delivered to the watch, which ends the program as they would. `shows`: show progress.
// NULL if the thread cannot start; the functions below then do nothing.
watch *watch_start(bool shows);

// True if progress is shown, so that smaller steps of work are worthwhile.
bool watch_shows(const watch *w);

// Names the current work, for example "node 3 of 652, ttnn". One second after the first call it
// appears on stderr with the elapsed seconds, until watch_clear, and, if "N of M" parts take more
// than ten seconds, with an estimate of the seconds left.
__attribute__((format(printf, 2, 3))) void watch_tell(watch *w, const char *format, ...);

// Removes the line; the next watch_tell starts anew. Call it before any output.
void watch_clear(watch *w);

// Says what a signal that ends the program leaves behind: "all.state.part has 5 of 9 samples". An
// empty text: the program ends without a word.
__attribute__((format(printf, 2, 3))) void watch_saved(watch *w, const char *format, ...);

// Delay signals: a signal that arrives between these two calls ends the program after the second.
void watch_hold_signals(watch *w);
void watch_release_signals(watch *w);

#endif
