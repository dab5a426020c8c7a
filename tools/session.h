// SPDX-License-Identifier: Apache-2.0
// A loaded and compiled graph with its inputs: the common beginning of run, bench and compare.
#ifndef QDQ_TOOLS_SESSION_H
#define QDQ_TOOLS_SESSION_H

#include <qdq/exec.h>
#include <qdq/graph.h>

typedef struct options options;

typedef struct session {
    qdq_graph *graph;
    qdq_plan *plan;
    qdq_exec *exec;
    qdq_threads *threads;  // NULL: OpenMP's threads, or another session's
    qdq_exec_options exec_options;
    const qdq_report *report;  // for the target; lasts until the next call with the graph
} session;

// Loads and compiles the graph of the options. EXIT_OK, or another exit code after a message; close
// it in either case.
int session_start(session *s, const options *opt);
// Does the same for `target` instead of the target of the options.
int session_start_as(session *s, const options *opt, const char *target);
// The two halves of session_start_as: loads the graph, and compiles it for a target.
int session_load(session *s, const options *opt);
int session_compile(session *s, const options *opt, const char *target);
// Compiles the graph, whose findings are told, to read the inputs.
int session_compile_told(session *s, const options *opt, const char *target);
// True if core refuses a valid graph, which another target may take.
bool session_core_refuses(const session *s);
// Returns "core", or, if core refuses the graph, another target (NULL: the graph's own).
const char *session_core_or(const session *s, const char *target);
// Does the same as session_start_as for a graph whose nodes will run one by one as `target`: the
// plan, which only reads the inputs, is for session_core_or. Prints the core's findings alone,
// unless core refuses the graph; the session's report is for `target`.
int session_start_nodes(session *s, const options *opt, const char *target);
// Does the same as session_start, and fills the inputs from files or by --fill.
int session_open(session *s, const options *opt);
// Opens a session of the same graph and inputs, with integer execution if `fast` is true. It
// borrows the graph and must be closed before `of`. EXIT_OK, or another exit code after a message;
// close it in either case.
int session_open_mode(session *s, const session *of, const options *opt, bool fast);
// Allocates zeroed memory for all inputs and binds it to the exec, which must not outlive it. NULL
// after a message; session_free_inputs frees it.
void **session_bind_inputs(const session *s, int *code);
void session_free_inputs(const session *s, void **inputs);
// Fills all inputs by the options and copies their elements to memory that outlives the exec. NULL
// after a message.
void **session_take_inputs(session *s, const options *opt, int *code);
// Runs the exec once its inputs are filled, step by step if progress is shown.
void session_run(const session *s, const options *opt);
void session_close(session *s);

#endif
