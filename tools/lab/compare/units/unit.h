// SPDX-License-Identifier: Apache-2.0
// The work of the first target and of another target between values that both have: a node, or the
// nodes of the graph that a group replaces.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_UNIT_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_UNIT_H

#include "tools/lab/compare/units/piece.h"
#include "tools/lab/compare/units/target_pair.h"

typedef struct unit {
    target_pair *pair;
    const qdq_exec_options *exec_options;
    const char *isa;
    const node_value *outputs;  // an output without an id does not belong to the unit
    size_t output_count;
    piece first, other;   // `first` is open only if the rewrites differ
    cone nodes;           // nodes of the given graph
    bool same_form;       // both targets rewrite these nodes in the same way
    reason_list reasons;  // reasons for which the targets may differ
} unit;

// Opens the unit that computes `outputs`, which must outlive it. EXIT_OK, or another exit code
// after a message; close it in either case.
int unit_open(unit *u, target_pair *pair, const deployed *given, const node_value *outputs,
              size_t count, const qdq_exec_options *exec_options, const char *isa);
void unit_close(unit *u);

// Adds a reason for a difference that rewrites without a cause produce.
void unit_expect_difference(unit *u);

// Computes the unit as the other target does.
int unit_run_other(const unit *u, const feed *from, void *const *results);
// Computes the unit with the other target's choices for a set of reasons, and the first target's
// for all others. EXIT_OK, or another exit code after a message.
int unit_run(unit *u, uint32_t reasons, const feed *from, void *const *results);

// Returns the op of the node that computes the unit's first output in a target.
const char *unit_op(const unit *u, const deployed *in);
// Returns the same for the target that rewrites the unit; "" if neither does.
const char *unit_group(const unit *u);

#endif
