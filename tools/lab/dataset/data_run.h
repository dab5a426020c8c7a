// SPDX-License-Identifier: Apache-2.0
// Runs a command on the samples of a data set: takes its shard, resumes, writes checkpoints and the
// final state.
#ifndef QDQ_TOOLS_LAB_DATASET_DATA_RUN_H
#define QDQ_TOOLS_LAB_DATASET_DATA_RUN_H

#include <qdq/exec.h>

#include "tools/lab/dataset/samples.h"
#include "tools/lab/dataset/shard.h"
#include "tools/lab/dataset/state.h"
#include "tools/session.h"

// The work of a command.
typedef struct data_run_task {
    const state_kind *kind;
    bool reports;  // print the report of the state at the end; else a line
    // Adds graphs, targets and the rows that follow from the graph to an empty state, and prepares
    // for samples. EXIT_OK, or another exit code after a message.
    int (*begin)(void *with, state *s);
    // Adds sample `index` of the data, whose inputs are in the exec of the session. EXIT_OK, or
    // another exit code after a message.
    int (*add)(void *with, state *s, size_t index);
} data_run_task;

// The values of the options.
typedef struct data_run_plan {
    const options *opt;
    const char *out;
    shard shard;
    size_t interval;  // seconds between checkpoints
} data_run_plan;

// Refuses -o, --shard, --resume and --checkpoint without --data; for commands that also run without
// a data set. EXIT_OK, or another exit code after a message.
int data_options_check(const options *opt);

// Reads and checks --data, --shard, --checkpoint and -o. EXIT_OK, or another exit code after a
// message.
int data_run_plan_read(const options *opt, data_run_plan *out);

// Runs a task, to which it passes `with`, on the samples for the inputs of a session, and writes
// its state. EXIT_OK, EXIT_FINDINGS if a sample could not be read or the report returns it, or
// another exit code after a message.
int data_run_start(const data_run_plan *plan, const data_run_task *task, const session *s,
                   void *with);

// Compiles a graph for a target, row-major and without a device, and adds both to a state. EXIT_OK,
// or another exit code after a message.
int data_run_add_target(state *s, qdq_graph *graph, const char *target, const options *opt,
                        const qdq_exec_options *exec_options);

// Writes a state while signals wait. A signal that ends the program later says what `saved` says of
// the file: "was written". EXIT_OK, or another exit code after a message.
int write_state(const state *s, const char *path, const char *saved, const options *opt);

#endif
