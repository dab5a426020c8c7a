// SPDX-License-Identifier: Apache-2.0
// The choices by which two targets may differ: groups of fields of the numerics, and rewrites of
// the graph.
#ifndef QDQ_TOOLS_LAB_COMPARE_UNITS_SWITCHES_H
#define QDQ_TOOLS_LAB_COMPARE_UNITS_SWITCHES_H

#include <qdq/numerics.h>

enum { MAX_SWITCHES = 32 };

// A group of fields that are switched together under one name.
typedef struct numerics_switch {
    const char *name;   // "tie"
    const char *group;  // the fields that QDQ_NUMERICS_FIELDS lists under this cause
    qdq_numerics to;    // holds the new values of these fields
} numerics_switch;

typedef struct switch_list {
    numerics_switch items[MAX_SWITCHES];
    size_t count;
    qdq_numerics from;  // applying all switches of the list to it gives the other numerics
} switch_list;

// Finds the switches that turn numerics `a` of a node into `b`; none if both compute the node in
// the same way. `makes_int`: the first output of the node is an integer.
switch_list find_switches(const qdq_numerics *a, const qdq_numerics *b, bool makes_int);
// Returns the numerics with a set of switches on; bit i is switch i.
qdq_numerics switched(const switch_list *list, uint32_t switches);

// Reasons for which two targets may differ at a unit. Bit i of a set is reason i.
typedef struct reason_list {
    const char *names[MAX_SWITCHES];
    size_t count;
    uint32_t rewrites;  // set of reasons that are causes of rewrites; others are switches of nodes
    uint32_t steps;     // set of reasons that are only names of steps, which no run switches
} reason_list;

// Adds a reason unless the list has it.
void add_reason(reason_list *list, const char *name, bool rewrite);
// Adds the name of a step unless the list has it, and returns its reason as a set; the empty set if
// the list is full.
uint32_t add_step_reason(reason_list *list, const char *name);
void add_switch_reasons(reason_list *list, const switch_list *node);
// Returns the switches of a node that belong to a set of reasons.
uint32_t switches_of_node(const reason_list *list, const switch_list *node, uint32_t reasons);

// Writes "tie + reciprocal" to `out`.
const char *cause_text(const reason_list *list, uint32_t reasons, char *out, size_t capacity);

#endif
