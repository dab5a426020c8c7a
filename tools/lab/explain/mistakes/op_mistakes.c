// SPDX-License-Identifier: Apache-2.0
// Tries a node that is left out, so that an input passes, and another op with the same ports.
#include <stdio.h>
#include <string.h>

#include "tools/lab/explain/mistakes/trial.h"

void try_skipped_node(mistake_trial *t) {
    const qdq_graph *graph = document_replay(t->d)->form.graph;
    const qdq_tensor_info *y = &trial_output(t)->info;
    size_t op = trial_op(t);
    char detail[96];
    for (size_t i = 0; i < qdq_op_get(op).input_count; i++) {
        qdq_port_info port = qdq_op_input(op, i);
        qdq_dtype dtype;
        qdq_shape shape;
        if (port.variadic ||
            !qdq_value_type(graph, document_value(t->d, port.name), &dtype, &shape) ||
            dtype != y->dtype || !qdq_shape_equal(shape, y->shape) || !trial_begin(t))
            continue;
        snprintf(detail, sizeof detail, "the result is %s", port.name);
        if (document_pass(t->d, port.name, dtype)) trial_take(t, "skipped-node", detail);
    }
}

// True if two ops have the same input ports and one output.
static bool same_ports(size_t a, size_t b) {
    qdq_op_info one = qdq_op_get(a), other = qdq_op_get(b);
    bool same = a != b && one.input_count == other.input_count && one.output_count == 1 &&
                other.output_count == 1;
    for (size_t i = 0; same && i < one.input_count; i++)
        same = strcmp(qdq_op_input(a, i).name, qdq_op_input(b, i).name) == 0;
    return same;
}

void try_other_ops(mistake_trial *t) {
    size_t op = trial_op(t);
    char detail[96];
    for (size_t other = 0; other < qdq_op_count(); other++) {
        if (!same_ports(op, other) || !trial_begin(t)) continue;
        snprintf(detail, sizeof detail, "as %s", qdq_op_get(other).name);
        if (document_set_op(t->d, qdq_op_get(other).name)) trial_take(t, "wrong-op", detail);
    }
}
