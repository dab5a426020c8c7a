// SPDX-License-Identifier: Apache-2.0
// qdq plan --emit-c: the graph that the target runs as a C file.
#ifndef QDQ_TOOLS_PLAN_EMIT_C_H
#define QDQ_TOOLS_PLAN_EMIT_C_H

#include "tools/common.h"

// Writes the file. EXIT_OK, or another exit code after a message.
int emit_c(qdq_graph *graph, const options *opt);

#endif
