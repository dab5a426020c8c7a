// SPDX-License-Identifier: Apache-2.0
// Writes the run of a device plan in the form of ttnn's graph capture.
#ifndef QDQ_TOOLS_PLAN_CAPTURE_H
#define QDQ_TOOLS_PLAN_CAPTURE_H

#include <qdq/device_plan.h>

// Writes a JSON list of nodes in the order of execution, as ttnn.graph.end_graph_capture returns
// it. EXIT_OK, or another exit code after a message.
int capture_write(const qdq_device_plan *plan, const char *path);

#endif
