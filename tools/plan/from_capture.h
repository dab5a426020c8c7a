// SPDX-License-Identifier: Apache-2.0
// qdq plan --from-capture: compares the plan of a ttnn graph capture with what the device did.
#ifndef QDQ_TOOLS_PLAN_FROM_CAPTURE_H
#define QDQ_TOOLS_PLAN_FROM_CAPTURE_H

#include <qdq/graph.h>

#include "tools/options.h"

// Compiles a graph that was read from a capture and prints the differences. EXIT_FINDINGS if there
// are some.
int plan_from_capture(qdq_graph *graph, const options *opt);

#endif
