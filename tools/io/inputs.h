// SPDX-License-Identifier: Apache-2.0
// Fills the inputs of an exec from files or with random data.
#ifndef QDQ_TOOLS_IO_INPUTS_H
#define QDQ_TOOLS_IO_INPUTS_H

#include <qdq/exec.h>

typedef struct options options;

// Fills every input of the exec by --input, else by a file of results, else by --fill. Refuses an
// input that two --input name, or that two of them without NAME have. `graph`: the graph of the
// plan. EXIT_OK, or another exit code after a message.
int give_inputs(const qdq_graph *graph, const qdq_plan *plan, qdq_exec *exec, const options *opt);

#endif
