// SPDX-License-Identifier: Apache-2.0
// What stops a command: one sentence on stderr, and on stdout as JSON where --json asks for that.
//
// A process runs one command, which the first failure stops. It is kept here, as stderr and stdout
// are kept elsewhere: any function that fails can tell.
#ifndef QDQ_TOOLS_FAILURE_H
#define QDQ_TOOLS_FAILURE_H

#include <qdq/qdq.h>

// From now on the first failure goes to stdout as well: as an object of its own, or where the
// results of a command have begun (failure_wait) as a key of that.
void failure_to_json(void);
void failure_wait(void);

// Prints "qdq: SENTENCE" and returns the exit code of the status.
int tell_failure(qdq_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Prints "qdq COMMAND: SENTENCE; see `qdq help COMMAND`": the words of a call are wrong.
int tell_misuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Prints nothing on stderr: the findings of the targets that refuse the graph are there already.
int tell_refusal(const qdq_error *err, qdq_graph *graph, const char *const *targets, size_t count);
// Prints that there is no `what` of this name, which names there are, and the nearest.
int tell_unknown(const char *what, const char *name, const char *const *names, size_t count);

// Writes the key "error" if something failed that no JSON has told. False if nothing did.
bool json_failure(qdq_json *json);

#endif
