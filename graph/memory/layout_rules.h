// SPDX-License-Identifier: Apache-2.0
// Checks where values lie on a device by the rules of a target that has one.
#ifndef QDQ_GRAPH_MEMORY_LAYOUT_RULES_H
#define QDQ_GRAPH_MEMORY_LAYOUT_RULES_H

#include "graph/core/target.h"
#include "graph/memory/tensor_layouts.h"
#include "runtime/tenstorrent/buffer_layout.h"

// A value as a rule sees it.
typedef struct qdq_value_context {
    const qdq_graph *graph;
    const qdq_device *device;
    const qdq_tensor_layouts *layouts;
    const size_t *last_reader;  // by value: the last node that reads it; 0 if none does
    qdq_findings *findings;
    uint32_t id;
    const qdq_graph_value *value;
    const qdq_node *node;           // the producer; NULL: an input or a constant
    const qdq_given_layout *given;  // all false if nothing is
    const qdq_tensor_layout *layout;
    // The verdict of the memory model on its buffer. QDQ_MEMORY_FINE also if the value inherits
    // the config of its first operand, about which there is a finding already.
    qdq_memory_rule broken;
    const char *why;
} qdq_value_context;

// Applies the rules of `version` with a `check_value` to all values of a graph that says anything
// about memory. `device` NULL: there is nothing to check. False if memory runs out.
bool qdq_check_layouts(const qdq_graph *graph, const qdq_target_version *version,
                       const qdq_device *device, qdq_findings *findings);

// Adds a finding about the value, or about its producer. `port` may be NULL.
void qdq_report_value(const qdq_value_context *ctx, const qdq_rule *rule, const char *port,
                      const char *found, const char *wanted);

// Returns the layout of an input of the node; NULL if it is not connected.
const qdq_tensor_layout *qdq_input_layout(const qdq_value_context *ctx, size_t input);

#endif
