// SPDX-License-Identifier: Apache-2.0
// A thread that watches over a command: it shows on a terminal how far long work has come, and has
// signals wait until a file is whole.
#ifndef QDQ_TOOLS_WATCH_H
#define QDQ_TOOLS_WATCH_H

#include <stdbool.h>

typedef struct watch watch;

// To be called before other threads start: SIGHUP, SIGINT and SIGTERM are blocked in all of them,
// and come to the watch, which ends the program as they would. `shows`: progress is shown. NULL
// where there is no such thread; every function below then does nothing.
watch *watch_start(bool shows);

// Whether progress is shown, so that it is worth working in smaller steps.
bool watch_shows(const watch *w);

// What is done now, as "node 3 of 652, ttnn". A second after the first call it is on stderr, with
// the seconds, until watch_clear.
__attribute__((format(printf, 2, 3))) void watch_tell(watch *w, const char *format, ...);

// Removes the line; the next watch_tell begins anew. To be called before anything is printed.
void watch_clear(watch *w);

// A signal between these two ends the program after the second.
void watch_hold_signals(watch *w);
void watch_release_signals(watch *w);

#endif
