// SPDX-License-Identifier: Apache-2.0
// What the first target and another one do between values that both have: a node, or the nodes of
// the graph that a group takes the place of.
#ifndef QDQ_TOOLS_COMPARE_UNITS_UNIT_H
#define QDQ_TOOLS_COMPARE_UNITS_UNIT_H

#include "tools/lab/compare/units/piece.h"
#include "tools/lab/compare/units/target_pair.h"

typedef struct unit {
    target_pair *pair;
    const qdq_exec_options *exec_options;
    const char *isa;
    const node_value *outputs;  // without an id: not of this unit
    size_t output_count;
    piece first, other;   // `first` is open if the rewrites differ
    cone nodes;           // of the given graph
    bool same_form;       // both targets rewrite these nodes in the same way
    reason_list reasons;  // why the two may differ
} unit;

// EXIT_OK, or another exit code after a message; close it in either case. `outputs` must outlive
// the unit.
int unit_open(unit *u, target_pair *pair, const deployed *given, const node_value *outputs,
              size_t count, const qdq_exec_options *exec_options, const char *isa);
void unit_close(unit *u);

// Adds a reason for differences between rewrites that have no cause.
void unit_expect_difference(unit *u);

// Computes the unit as the other target does.
int unit_run_other(const unit *u, const feed *from, void *const *results);
// Computes the unit with the other target's choice for a set of its reasons. EXIT_OK, or another
// exit code after a message.
int unit_run(unit *u, uint32_t reasons, const feed *from, void *const *results);

// The op of the node that makes the unit's first output, in one of its two targets.
const char *unit_op(const unit *u, const deployed *in);
// The same in the target that rewrites the unit; "" if no target does.
const char *unit_group(const unit *u);

#endif
