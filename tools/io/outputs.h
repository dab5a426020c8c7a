// SPDX-License-Identifier: Apache-2.0
// Checks --output and --expect before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUTS_H
#define QDQ_TOOLS_IO_OUTPUTS_H

#include <qdq/exec.h>

typedef struct options options;

// Checks that each --output and --expect of `qdq run` names an output or a kept value, and a file:
// a writable one for --output, for --expect a readable one with a tensor for an output. Also checks
// the other options of --expect. EXIT_OK, or another exit code after a message.
int outputs_check(const qdq_graph *graph, const qdq_plan *plan, const options *opt);

#endif
