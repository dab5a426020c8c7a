// SPDX-License-Identifier: Apache-2.0
// Checks --output and --expect before anything is computed.
#ifndef QDQ_TOOLS_IO_OUTPUTS_H
#define QDQ_TOOLS_IO_OUTPUTS_H

#include <qdq/exec.h>

#include "tools/options.h"

// Each must name an output, and a file that can be written, or that can be read and has a tensor
// for an output. Also checks the other options of --expect. EXIT_OK, or another exit code after a
// message.
int outputs_check(const qdq_graph *graph, const qdq_plan *plan, const options *opt);

#endif
