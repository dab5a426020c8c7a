// SPDX-License-Identifier: Apache-2.0
// A graph that is loaded, compiled and has its inputs: what run, bench and compare begin with.
#ifndef QDQ_TOOLS_SESSION_H
#define QDQ_TOOLS_SESSION_H

#include "tools/options.h"

typedef struct session {
    qdq_graph *graph;
    qdq_plan *plan;
    qdq_exec *exec;
    qdq_exec_options exec_options;
} session;

// Loads and compiles what the options name. EXIT_OK, or another exit code after a message; close it
// in either case.
int session_start(session *s, const options *opt);
// The same, and fills the inputs from files or by --fill.
int session_open(session *s, const options *opt);
// The graph of a session with integer execution, or without, and the same inputs; it has no graph
// of its own and is closed first. EXIT_OK, or another exit code after a message; close it either
// way.
int session_open_mode(session *s, const session *of, const options *opt, bool fast);
// Runs it once the inputs are filled, step by step where it is shown how far that has come.
void session_run(const session *s, const options *opt);
void session_close(session *s);

#endif
