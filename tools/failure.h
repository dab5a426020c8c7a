// SPDX-License-Identifier: Apache-2.0
// The failure that stops a command: one sentence on stderr, and with --json also an object on
// stdout.
//
// A process runs one command, which its first failure stops. The failure is process state, like
// stderr and stdout, so any function may report one.
#ifndef QDQ_TOOLS_FAILURE_H
#define QDQ_TOOLS_FAILURE_H

#include <qdq/device.h>
#include <qdq/graph.h>

#include "runtime/base/budget.h"
#include "runtime/base/json_writer.h"

// Lets the first failure also go to stdout: as an object, or as a key of the results if a command
// has begun to print them (failure_wait).
void failure_to_json(void);
void failure_wait(void);

// Lets messages about a lack of memory name --max-bytes if `memory` has refused a request. NULL
// ends this.
void failure_limit(const qdq_budget *memory);

// Prints "qdq: SENTENCE" and returns the exit code of the status.
int tell_failure(qdq_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Prints "qdq COMMAND: SENTENCE; see `qdq help COMMAND`" for a wrong command line.
int tell_misuse(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Records that targets refuse the graph. Prints nothing on stderr, where their findings already
// stand.
int tell_refusal(const qdq_error *err, qdq_graph *graph, const char *const *targets,
                 const qdq_device *const *devices, size_t count);
// Reports an unknown `name` of a kind of thing, `what`, with the nearest name and all names.
int tell_unknown(const char *what, const char *name, const char *const *names, size_t count);

// Writes the key "error" for a failure that no JSON has reported yet. False if there is none.
bool json_failure(qdq_json *json);

#endif
